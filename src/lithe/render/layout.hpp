#pragma once
#include <span>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// How several things share a picture.
enum class Arrangement {
    AsIs, ///< where their coordinates say
    Row,  ///< side by side along x, on one ground
    Grid, ///< in rows and columns, scaled to the same size
};

/// x becomes scale * x + shift.
struct Placement {
    double scale = 1.0;
    Vec3 shift = Vec3::Zero(); ///< [m]
};

/// One placement per box; boxes that are not empty.
std::vector<Placement> arrange(std::span<const Box3> boxes, Arrangement arrangement);

} // namespace lithe
