#pragma once
#include <vector>

#include <Eigen/Core>

namespace lithe {

/// Aligned, and what room is only made for is not set to zero.
template <class T>
struct RoomAllocator : Eigen::aligned_allocator<T> {
    template <class U>
    struct rebind {
        using other = RoomAllocator<U>;
    };
    template <class U>
    void construct(U* at)
    {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class From>
    void construct(U* at, const From& from)
    {
        ::new (static_cast<void*>(at)) U(from);
    }
};

/// Aligned, so that Eigen sums in the same order wherever the memory comes from: same input, same bits. For sizes that go up and down
/// from problem to problem: `resize` writes nothing, so all that is used has to be written first.
using AlignedNumbers = std::vector<double, RoomAllocator<double>>;

} // namespace lithe
