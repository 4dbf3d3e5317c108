#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// On all sides, `by` [m].
inline Box3 widened(const Box3& box, double by)
{
    return {box.min().array() - by, box.max().array() + by};
}

/// So that it holds its points however rounding places them, far from the origin too.
inline Box3 widened_by_rounding(const Box3& box)
{
    if (box.isEmpty()) return box;
    return widened(box, 1e-12 * (box.diagonal().norm() + box.center().norm()));
}

} // namespace lithe
