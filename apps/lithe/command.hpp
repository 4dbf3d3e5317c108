#pragma once
#include <cstdio>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lithe/core/interrupt.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/scene/scene.hpp"

namespace lithe::cli {

/// What all commands share: how much to print, how many threads, and the user's wish to stop.
class Session {
public:
    bool quiet = false;
    int threads = 0; ///< 0: all cores

    /// Hand this to long work; it shows progress on stderr and stops on Ctrl-C.
    Progress& progress() { return progress_; }
    /// The user's wish to stop.
    std::stop_token stop_token() const { return interrupt_.token(); }

    /// A line for people on stdout; silent with --quiet.
    template <class... Args>
    void say(fmt::format_string<Args...> format, Args&&... args) const
    {
        if (!quiet) fmt::print(format, std::forward<Args>(args)...);
    }

private:
    InterruptGuard interrupt_;
    ProgressPrinter printer_{stderr, ProgressPrinter::style_for(stderr)};
    Progress progress_{[this](const ProgressEvent& event) {
                           if (!quiet) printer_(event);
                       },
                       interrupt_.token()};
};

/// Adds the subcommand `name`, which calls `run` with the options parsed and the thread limit in force.
/// --quiet and --threads are there for every command; the command adds its own options to what is returned.
CLI::App* add_command(CLI::App& app, Session& session, const std::string& name, const std::string& what,
                      std::function<void()> run);

/// --scale and --up, on every command that reads a mesh.
void add_read_options(CLI::App& command, ReadOptions& options);

/// Takes the names of the choices.
template <class T, std::size_t n>
CLI::CheckedTransformer one_of(const Choices<T, n>& choices)
{
    return CLI::CheckedTransformer(std::map<std::string, T>(choices.begin(), choices.end()));
}

/// "1280x720": width and height in pixels. Throws InputError.
std::pair<int, int> parse_size(const std::string& text);

void add_bench_command(CLI::App& app, Session& session);
void add_demo_command(CLI::App& app, Session& session);
void add_inspect_command(CLI::App& app, Session& session);
void add_mesh_command(CLI::App& app, Session& session);
void add_prepare_command(CLI::App& app, Session& session);
void add_render_command(CLI::App& app, Session& session);
void add_rig_command(CLI::App& app, Session& session);
void add_simulate_command(CLI::App& app, Session& session);
void add_view_command(CLI::App& app, Session& session); ///< only with LITHE_VIEWER

} // namespace lithe::cli
