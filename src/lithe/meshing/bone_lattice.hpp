#pragma once
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/control_lattice.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A bone as a straight line, at rest.
struct BoneLine {
    std::string name;
    Vec3 head = Vec3::Zero(), tail = Vec3::Zero(); ///< [m], not at one place
};

struct BoneLatticeOptions {
    Index vertices = 150; ///< about how many, those on the bones included; at least what the bones need
};

struct BoneLattice {
    ControlLattice lattice;   ///< of tets; its bones are the lines, in their order
    std::string failure = {}; ///< why no edges can lie on these bones; the lattice is then empty
};

/// A coarse lattice around a closed surface, with the bones on its edges.
///
/// Vertices lie on the bones and around the body, denser where it is thin (its distance to the bones is the measure), a share of their
/// spacing off its surface. Their Delaunay tets (PointTets) are made to have every bone as a chain of edges by splitting bones;
/// the lattice is those that come near the body or hold a bone. So the body is strictly inside.
/// The same bits for any number of threads.
BoneLattice bone_lattice(const TriangleMesh& body, const std::vector<BoneLine>& bones,
                         const BoneLatticeOptions& options, Progress& progress);

/// The cells of a regular grid that come near the body, of about so many vertices; without bones.
ControlLattice grid_lattice(const TriangleMesh& body, Index vertices, Progress& progress);

} // namespace lithe
