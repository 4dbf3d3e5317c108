#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/core/timer.hpp"

namespace lithe::bench {

/// Median and spread over the runs of one measurement.
struct Timing {
    double median, fastest, slowest; ///< [s]
    int runs;
};

/// Another way to the same answer, measured in the same run.
struct Peer {
    std::string name;
    double value; ///< in the unit of the result
};

struct Result {
    std::string name;
    double value;
    std::string unit;
    std::string note; ///< what was measured, on what, and what bounds it
    double low, high; ///< spread over the runs, in the unit of the value
    int runs;
    std::optional<Peer> peer = {};
};

struct SuiteReport {
    std::vector<Result> results;
    std::vector<std::string> skipped; ///< what was not measured, and why
};

struct Suite {
    std::string name;
    std::string what;
    SuiteReport (*run)(Progress& progress);
};

/// All suites, in the order of the rooms.
std::span<const Suite> suites();

SuiteReport bench_math(Progress& progress);
SuiteReport bench_geometry(Progress& progress);
SuiteReport bench_rig(Progress& progress);
SuiteReport bench_fem(Progress& progress);
SuiteReport bench_reduce(Progress& progress);
SuiteReport bench_lattice(Progress& progress);
SuiteReport bench_momentum(Progress& progress);
SuiteReport bench_meshing(Progress& progress);
SuiteReport bench_render(Progress& progress);

/// How long a character of 20k triangles takes to get its lattice; of the suite "lattice".
Result lattice_preparation(Progress& progress);

/// The tets of armadillo_52k, which belong to two suites.
void bench_tets(SuiteReport& report, Progress& progress);

/// Calls `work` once to warm up and `runs` times on the clock.
template <class Work>
Timing measure(int runs, Progress& progress, const Work& work)
{
    std::vector<double> seconds;
    for (int i = -1; i < runs; ++i) {
        progress.check();
        const Stopwatch watch;
        work();
        if (i >= 0) seconds.push_back(watch.seconds());
    }
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds.front(), seconds.back(), runs};
}

/// A result whose value is the time of `timing` times `per` (1e6 / count for microseconds an item).
inline Result result(std::string name, const Timing& timing, double per, std::string unit, std::string note)
{
    return {std::move(name),      per * timing.median,  std::move(unit), std::move(note),
            per * timing.fastest, per * timing.slowest, timing.runs};
}

/// A file of the optional data set (LITHE_DATA, in the environment or as configured), or empty.
std::string data_file(const std::string& name);

} // namespace lithe::bench
