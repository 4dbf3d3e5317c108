#pragma once
#include <numeric>
#include <vector>

namespace lithe {

/// Disjoint sets of 0 ... count - 1; the root of a set is its smallest member.
class UnionFind {
public:
    explicit UnionFind(int count = 0) { reset(count); }
    /// Each is a set of its own again. Keeps its memory.
    void reset(int count)
    {
        parent_.resize(static_cast<std::size_t>(count));
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    int size() const { return static_cast<int>(parent_.size()); }
    int root(int i)
    {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(int i, int j)
    {
        i = root(i);
        j = root(j);
        if (i < j) parent_[j] = i;
        if (j < i) parent_[i] = j;
    }

private:
    std::vector<int> parent_;
};

} // namespace lithe
