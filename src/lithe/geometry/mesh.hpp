#pragma once
#include <string>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

using Points = Eigen::Matrix<double, 3, Eigen::Dynamic>; ///< columns are points [m]
using Triangles = Eigen::Matrix<int, 3, Eigen::Dynamic>; ///< corners, counter-clockwise from outside
using Tets = Eigen::Matrix<int, 4, Eigen::Dynamic>;      ///< corners, det[x1-x0, x2-x0, x3-x0] > 0

/// A quantity given at every vertex: "color" (3 rows, each in [0, 1]), a displacement, a temperature.
struct VertexField {
    std::string name;
    MatX values; ///< components x vertices
};

/// The field "color" of three rows, or null.
const VertexField* find_color(const std::vector<VertexField>& fields);

struct TriangleMesh {
    Points vertices;
    Triangles triangles;
    std::vector<VertexField> fields = {};

    Index vertex_count() const { return vertices.cols(); }
    Index triangle_count() const { return triangles.cols(); }
};

struct TetMesh {
    Points vertices;
    Tets tets;
    std::vector<int> regions = {}; ///< empty, or one label per tet
    std::vector<VertexField> fields = {};

    Index vertex_count() const { return vertices.cols(); }
    Index tet_count() const { return tets.cols(); }
};

/// The smallest box around the points; empty for none.
Box3 bounds(const Points& points);

/// The signed volume of one tet, above zero when its corners are in the house order. [m^3]
double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Enclosed volume by the divergence theorem; exact for closed surfaces, oriented outward. [m^3]
double volume(const TriangleMesh& mesh);
double volume(const TetMesh& mesh);
double area(const TriangleMesh& mesh); ///< [m^2]

/// Area-weighted, one unit column per vertex (zero where a vertex has no area around it).
Points vertex_normals(const TriangleMesh& mesh);

/// The faces that belong to one tet only, outward. Vertices that no face uses are dropped; fields follow.
TriangleMesh boundary_surface(const TetMesh& mesh);
/// The same, and for each surface vertex the tet-mesh vertex that it is.
TriangleMesh boundary_surface(const TetMesh& mesh, std::vector<int>& origin);

/// Drops the vertices that nothing uses; keeps the order of the rest. Fields follow.
void drop_unused_vertices(TriangleMesh& mesh);
void drop_unused_vertices(TetMesh& mesh);

} // namespace lithe
