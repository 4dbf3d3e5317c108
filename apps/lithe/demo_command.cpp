#include "command.hpp"

namespace lithe::cli {

void add_demo_command(CLI::App&, Session&) {}

} // namespace lithe::cli
