#pragma once
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// Points that move with a tet mesh: each is a weighted sum of the four corners of one tet. So a fine surface follows
/// a coarse simulation.
struct Embedding {
    std::vector<int> tet; ///< of each point
    Tets corners;         ///< vertices of that tet, a column per point
    Eigen::Matrix<double, 4, Eigen::Dynamic>
        weights; ///< their barycentric weights: sum 1; all >= 0 for points inside

    Index outside = 0;     ///< points outside all tets, by more than rounding: their weights extrapolate
    double farthest = 0.0; ///< of these, the largest distance to the mesh [m]
    int farthest_point = -1;

    Index point_count() const { return corners.cols(); }
};

/// Finds for each point the tet that holds it, or else the nearest one. Where several hold it, the one in which it
/// is deepest; of equal ones, the first. Tets without volume are not used; inverted ones are as good as others.
/// Throws InputError when there is no tet with volume, or a coordinate is not finite.
Embedding embed(const Points& points, const TetMesh& mesh);

/// Points that are vertices of the tet mesh themselves: each follows its vertex exactly. Throws InputError for a vertex
/// that has no tet.
Embedding embed_vertices(const std::vector<int>& vertices, const TetMesh& mesh);

/// The points for moved vertices of the tet mesh. An affine motion of the vertices moves the points by the same map.
Points deform(const Embedding& embedding, const Points& tet_vertices);
/// The same into a buffer, which is resized when needed; allocates nothing when it fits.
void deform(const Embedding& embedding, const Points& tet_vertices, Points& points);

} // namespace lithe
