#include "command.hpp"

#include <map>

#include "lithe/core/error.hpp"

namespace lithe::cli {

CLI::App* add_command(CLI::App& app, Session& session, const std::string& name, const std::string& what,
                      std::function<void()> run)
{
    CLI::App* command = app.add_subcommand(name, what);
    command->add_flag("--quiet", session.quiet, "print nothing but errors and what was asked for");
    command->add_option("--threads", session.threads, "number of threads (default: all cores)")
        ->check(CLI::Range(1, 1024));
    command->callback([&session, run = std::move(run)] {
        const ThreadLimit limit(session.threads);
        run();
    });
    return command;
}

void add_read_options(CLI::App& command, ReadOptions& options)
{
    static const std::map<std::string, UpAxis> axes = {{"y", UpAxis::Y}, {"z", UpAxis::Z}};
    command.add_option("--scale", options.scale, "metres per unit of the file (0.01 for centimetres)")
        ->check(CLI::PositiveNumber);
    command.add_option("--up", options.up, "axis that points up in the file")
        ->transform(CLI::CheckedTransformer(axes, CLI::ignore_case))
        ->default_str("y")
        ->type_name("y|z");
}

std::pair<int, int> parse_size(const std::string& text)
{
    int width = 0, height = 0, end = 0;
    if (std::sscanf(text.c_str(), "%6dx%6d%n", &width, &height, &end) != 2 ||
        end != static_cast<int>(text.size()))
        throw InputError(fmt::format("--size {}: give width and height in pixels, as 1280x720", text));
    return {width, height};
}

} // namespace lithe::cli
