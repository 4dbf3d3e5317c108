#include "command.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "lithe/core/error.hpp"
#include "lithe_commit.hpp"
#include "suite.hpp"

namespace lithe::cli {
namespace {

using nlohmann::json;

struct BenchOptions {
    std::string suite = "all";
    bool json = false;
};

std::string cpu_name()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

json to_json(const bench::Result& result)
{
    json row = {{"name", result.name}, {"value", result.value}, {"unit", result.unit}, {"note", result.note},
                {"low", result.low},   {"high", result.high},   {"runs", result.runs}};
    if (result.peer) {
        row["peer"] = {{"name", result.peer->name}, {"value", result.peer->value}};
        row["ratio"] = result.peer->value / result.value;
    }
    return row;
}

json to_json(const std::string& suite, const bench::SuiteReport& report)
{
    json results = json::array();
    for (const bench::Result& result : report.results) results.push_back(to_json(result));
    return {{"version", 1},
            {"suite", suite},
            {"commit", LITHE_COMMIT},
            {"cpu", cpu_name()},
            {"threads", thread_count()},
            {"results", results},
            {"skipped", report.skipped}};
}

void print_table(const bench::SuiteReport& report)
{
    for (const bench::Result& r : report.results) {
        fmt::print("{:<34} {:>10.4g} {:<10} [{:.4g} .. {:.4g}, {} runs]", r.name, r.value, r.unit, r.low,
                   r.high, r.runs);
        if (r.peer) fmt::print("  {:.2f}x {}", r.peer->value / r.value, r.peer->name);
        fmt::print("\n{:<34} {}\n", "", r.note);
    }
    for (const std::string& what : report.skipped) fmt::print("skipped: {}\n", what);
}

void append(bench::SuiteReport& all, bench::SuiteReport part)
{
    std::move(part.results.begin(), part.results.end(), std::back_inserter(all.results));
    std::move(part.skipped.begin(), part.skipped.end(), std::back_inserter(all.skipped));
}

void run_bench(const BenchOptions& options, Session& session)
{
    bench::SuiteReport report;
    for (const bench::Suite& suite : bench::suites())
        if (options.suite == "all" || options.suite == suite.name)
            append(report, suite.run(session.progress()));
    if (options.json)
        fmt::print("{}\n",
                   to_json(options.suite, report).dump(2, ' ', false, json::error_handler_t::replace));
    else
        print_table(report);
}

} // namespace

void add_bench_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command =
        add_command(app, session, "bench", "measure speed: medians and spreads, as a table or JSON",
                    [options, &session] { run_bench(*options, session); });
    std::string names = "all";
    std::vector<std::string> allowed = {"all"};
    for (const bench::Suite& suite : bench::suites()) {
        names += ", " + suite.name + " (" + suite.what + ")";
        allowed.push_back(suite.name);
    }
    command->add_option("suite", options->suite, "which suite: " + names)->check(CLI::IsMember(allowed));
    command->add_flag("--json", options->json, "print one JSON object");
}

} // namespace lithe::cli
