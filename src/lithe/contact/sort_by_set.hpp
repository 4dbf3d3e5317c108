#pragma once
#include <cstddef>
#include <vector>

namespace lithe {

/// Sorts items 0 .. count-1 by the sets that they belong to, rising within each. The first of set i is set through `start(i)`, which
/// has room for one set more. Items without a set (-1) are left out.
template <class SetOf, class Start>
void sort_by_set(int count, std::size_t sets, const SetOf& set_of, const Start& start,
                 std::vector<int>& order)
{
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (std::size_t i = 0; i <= sets; ++i) start(i) = 0;
    for (int c = 0; c < count; ++c)
        if (const int set = set_of(c); set >= 0) ++start(at(set) + 1);
    for (std::size_t i = 0; i < sets; ++i) start(i + 1) += start(i);
    order.resize(at(start(sets)));
    for (int c = 0; c < count; ++c)
        if (const int set = set_of(c); set >= 0) order[at(start(at(set))++)] = c;
    for (std::size_t i = sets; i > 0; --i) start(i) = start(i - 1);
    start(0) = 0;
}

} // namespace lithe
