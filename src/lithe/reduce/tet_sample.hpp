#pragma once
#include "lithe/reduce/cubature.hpp"

namespace lithe {

/// About 1000 tets that stand for the same volume each: one wherever the volume, summed in the order of the mesh, passes
/// the next mark (meshes are numbered by neighbourhood, so they are spread over the body); all tets of a smaller body. Good
/// enough to pose a body and to compare bases, at the same cost for every mesh; not for a simulation.
struct TetSample {
    Cubature cubature;
    std::vector<Index> slots; ///< of its tets
};
TetSample sample_tets(const FemModel& model);

} // namespace lithe
