#include "command.hpp"

namespace lithe::cli {

void add_render_command(CLI::App&, Session&) {}

} // namespace lithe::cli
