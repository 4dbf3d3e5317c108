#include "command.hpp"

namespace lithe::cli {

void add_inspect_command(CLI::App&, Session&) {}

} // namespace lithe::cli
