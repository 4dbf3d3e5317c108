#pragma once
#include <vector>

#include "lithe/meshing/mended_body.hpp"
#include "lithe/meshing/surface_samples.hpp"
#include "lithe/meshing/tetrahedralise.hpp"

namespace lithe {

/// The regions of a surface behind which the body is thinner than `limit` [m], largest first, at most 20 of those with
/// more than a ten-thousandth of the area. `count` is left 0.
///
/// The thickness at a sample is the way along its normal to the opposite wall. A wall that is not
/// opposite (turned by more than 60 degrees) bounds a corner, not a thin part.
std::vector<ThinPart> find_thin_parts(const MendedBody& body, const std::vector<SurfaceSample>& samples,
                                      double limit);

} // namespace lithe
