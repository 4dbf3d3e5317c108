#include "command.hpp"

namespace lithe::cli {

void add_mesh_command(CLI::App&, Session&) {}

} // namespace lithe::cli
