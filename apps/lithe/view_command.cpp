#include "command.hpp"

#include <filesystem>

#include "lithe/core/error.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "lithe/server/web_server.hpp"

namespace lithe::cli {
namespace {

struct ViewOptions {
    std::string input = "drop";
    std::optional<std::string> host;
    unsigned short port = 8123;
    std::string folder = "out/view";
    bool paused = false;
    int recording_megabytes = 256;
    ReadOptions read;
};

/// A built-in scene by its name, or the scene of a file. What is wrong with the file itself is said here, before anybody opens
/// a page.
SceneOrigin open_input(const ViewOptions& options)
{
    for (const BuiltinScene& scene : builtin_scenes())
        if (scene.name == options.input) return open_builtin_scene(options.input);
    return open_scene(options.input, options.read);
}

void run_view(const ViewOptions& options, Session& session)
{
    const SceneOrigin origin = open_input(options);
    ServerOptions server_options{
        .port = options.port,
        .live = {.output = options.folder,
                 .paused = options.paused,
                 .recording_bytes = static_cast<std::size_t>(options.recording_megabytes) << 20}};
    if (options.host) {
        server_options.host = *options.host;
        server_options.token = random_token();
    }
    WebServer server(std::move(server_options));
    server.live().load([origin] { return origin; });
    session.say("{}\nopen {}\n", origin.scene.title, server.address());
    if (!options.host)
        session.say(
            "from another machine: ssh -L {0}:localhost:{0} THIS_MACHINE, then the same address there\n",
            server.port());
    session.say("Ctrl-C ends it\n");
    std::fflush(stdout);
    server.run(session.stop_token());
}

} // namespace

void add_view_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command =
        add_command(app, session, "view", "run a scene live in the browser, to look at and to touch",
                    [options, &session] { run_view(*options, session); });
    command
        ->add_option("scene", options->input,
                     "scene (.toml), built-in scene by name, mesh, model or character")
        ->capture_default_str();
    command->add_option("--port", options->port, "where the page is; 0: any that is free")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    command->add_option(
        "--host", options->host,
        "listen at this address for other machines, too; the page's address then has a secret token "
        "(default: this machine only)");
    command->add_option("-o,--output", options->folder, "folder for what is saved or dropped on the page")
        ->capture_default_str();
    command->add_flag("--paused", options->paused, "wait for the play button");
    command
        ->add_option(
            "--recording", options->recording_megabytes,
            "how much is kept of frames, to look at again, and as much of states, to go on from [MB]")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    add_read_options(*command, options->read);
}

} // namespace lithe::cli
