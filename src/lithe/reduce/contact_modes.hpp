#pragma once
#include <vector>

#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/rest_system.hpp"

namespace lithe {

/// Vertices of the body that a contact presses on together.
using SurfacePatch = std::vector<int>;

/// Cuts a surface (outward triangles over the vertices of the body) into `count` patches of about the same width: centres one
/// by one, each farthest from those before along the edges, and every vertex to the nearest. Every connected part gets
/// one before any gets two, as far as they last. Throws InputError when there are fewer vertices than patches, or no patch.
std::vector<SurfacePatch> surface_patches(const Points& rest, const Triangles& surface, Index count);

/// Static contact modes: how the body gives way, with small strains, when a patch is pressed,
///
///   K u = f,   f_v = A_v e / sum A   on the vertices v of the patch, A_v the area around each,
///
/// for e along x, y and z: three columns per patch, mass-orthonormal in the order of the patches, zero at the pins and
/// without rigid motion. Modes of vibration know nothing of loads that are this local. A patch whose vertices are all pinned
/// adds nothing. Throws InputError for a vertex that is not on the surface, an empty patch, and when nothing is left.
Basis contact_modes(RestSystem& system, const Triangles& surface, const std::vector<SurfacePatch>& patches);

} // namespace lithe
