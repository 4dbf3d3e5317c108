#include "command.hpp"

namespace lithe::cli {

void add_bench_command(CLI::App&, Session&) {}

} // namespace lithe::cli
