#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// On all sides, `by` [m].
inline Box3 widened(const Box3& box, double by)
{
    return {box.min().array() - by, box.max().array() + by};
}

/// More than rounding moves a point of the box, far from the origin too. [m]
inline double rounding_in(const Box3& box)
{
    return 1e-12 * (box.diagonal().norm() + box.center().norm());
}

/// So that it holds its points however rounding places them.
inline Box3 widened_by_rounding(const Box3& box)
{
    return box.isEmpty() ? box : widened(box, rounding_in(box));
}

} // namespace lithe
