#include <exception>
#include <new>

#include "command.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/version.hpp"

namespace {

enum ExitStatus { Done = 0, Failed = 1, BadInput = 2 };

std::string version_text()
{
#ifdef LITHE_GPL
    return "lithe " LITHE_VERSION " (with CGAL and CHOLMOD: this program is under the GPL, version 3)";
#else
    return "lithe " LITHE_VERSION " (Apache-2.0)";
#endif
}

int run(int argc, char** argv)
{
    using namespace lithe::cli;
    CLI::App app("Lithe: fast deformable bodies", "lithe");
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);

    Session session;
    add_demo_command(app, session);
    add_mesh_command(app, session);
    add_rig_command(app, session);
    add_prepare_command(app, session);
    add_inspect_command(app, session);
    add_simulate_command(app, session);
#ifdef LITHE_VIEWER
    add_view_command(app, session);
#endif
    add_render_command(app, session);
    add_bench_command(app, session);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? Done : BadInput;
    }
    return Done;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const lithe::InputError& error) {
        fmt::print(stderr, "lithe: {}\n", error.what());
        return BadInput;
    } catch (const lithe::Interrupted&) {
        fmt::print(stderr, "\nlithe: interrupted; nothing half-written was left\n");
        return Failed;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "lithe: out of memory; ask for fewer elements\n");
        return Failed;
    } catch (const std::exception& error) {
        fmt::print(stderr, "lithe: {}\n", error.what());
        return Failed;
    }
}
