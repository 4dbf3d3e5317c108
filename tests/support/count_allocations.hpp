#pragma once

namespace lithe::test {

/// How often this program has called operator new so far, in any thread. Add count_allocations.cpp to the test to
/// have it. Eigen's buffers do not pass here; compare the addresses of theirs.
long allocation_count();

} // namespace lithe::test
