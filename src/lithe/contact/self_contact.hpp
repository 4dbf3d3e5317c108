#pragma once
#include <vector>

#include "lithe/contact/contact_model.hpp"
#include "lithe/geometry/bvh.hpp"

namespace lithe {

/// A vertex of the surface that is inside the body where it should not be, and the point of the surface that it has to
/// leave by: a force k d on it, and the opposite one on the triangle. While a solve moves x, the pair keeps its triangle,
/// its weights and its direction, and pushes along that only.
struct SelfPair {
    int vertex;                  ///< v_p, of the body
    std::array<int, 3> triangle; ///< vertices of the body
    Vec3 weights;                ///< beta: v_s = sum beta_i x_i
    Vec3 normal;                 ///< unit, from v_p to v_s when it was found
    double stiffness;            ///< k times the mean of the areas of vertex and triangle [N/m]

    /// d = v_s - v_p
    Vec3 offset(const Points& x) const
    {
        return weights[0] * x.col(triangle[0]) + weights[1] * x.col(triangle[1]) +
               weights[2] * x.col(triangle[2]) - x.col(vertex);
    }
};

/// Buffers, sized on first use.
struct SelfDetectionWork {
    Bvh bvh;
    std::vector<Box3> boxes;
    std::vector<SelfPair> found; ///< a slot per surface vertex; vertex is -1 where there is none
};

/// The pairs at positions x, by rising vertex, into `pairs`: surface vertices inside a tet that they are not part of,
/// taken back to rest, from there to the nearest point of the rest surface. Tets that are inverted are not looked into;
/// of several tets the first counts; surface triangles with the vertex or a neighbour of it are not its enemies.
void detect_self_contact(const SelfContactModel& model, double stiffness, const Points& x,
                         std::vector<SelfPair>& pairs, SelfDetectionWork& work);

} // namespace lithe
