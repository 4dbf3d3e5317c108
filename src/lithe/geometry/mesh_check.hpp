#pragma once
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/tet_quality.hpp"

namespace lithe {

/// Something about a mesh that will make trouble, in plain words.
struct Fault {
    std::string name;   ///< stable, for programs: "open", "self_intersections", ...
    Index count;        ///< how often
    std::string what;   ///< what is wrong, and where for the first
    std::string advice; ///< what to do about it, with options of `lithe mesh`
};

/// What a triangle mesh is, and what is wrong with it.
struct SurfaceReport {
    Index vertices = 0;
    Index triangles = 0;
    Index edges = 0;
    Box3 bounds;
    double area = 0.0;   ///< [m^2]
    double volume = 0.0; ///< by the divergence theorem; means something only for closed surfaces [m^3]

    bool watertight = false;           ///< has triangles, and no edge belongs to just one of them
    bool manifold = false;             ///< every edge has one or two triangles, every vertex one fan of them
    bool consistently_oriented = true; ///< neighbours agree about the outside
    bool outward =
        false; ///< watertight, consistent, and every part encloses a positive volume or is a cavity in one that does

    Index non_manifold_edges = 0; ///< three triangles or more
    std::pair<int, int> first_non_manifold_edge = {-1, -1};
    Index non_manifold_vertices = 0; ///< where fans of triangles meet that share no edge
    int first_non_manifold_vertex = -1;
    Index inconsistent_edges = 0; ///< whose two triangles disagree
    Index boundary_edges = 0;     ///< one triangle
    Index boundary_loops = 0;     ///< connected pieces of boundary
    Index longest_loop_edges = 0;
    double longest_loop_length = 0.0; ///< of the loop with most edges [m]

    Index components = 0;           ///< parts that share no vertex
    Index closed_components = 0;    ///< of these: without boundary, manifold, orientable
    Index inward_components = 0;    ///< closed parts with negative volume that lie in no other: inside out
    Index cavities = 0;             ///< closed parts with negative volume inside another
    Index non_orientable = 0;       ///< one-sided parts, like a Moebius strip
    Index genus = 0;                ///< handles of the closed parts, together
    Index euler_characteristic = 0; ///< vertices - edges + triangles, of the vertices in use

    Index unreferenced_vertices = 0;
    Index duplicate_vertices = 0;   ///< at exactly the place of an earlier one
    Index duplicate_triangles = 0;  ///< with exactly the corners of an earlier one
    Index degenerate_triangles = 0; ///< without area, by the exact sign
    int first_degenerate_triangle = -1;
    double smallest_angle = 180.0; ///< of any triangle [degrees]

    Index self_intersections = 0; ///< pairs without a common edge that share more than a vertex
    Index self_intersections_sharing_vertex = 0; ///< of these: pairs with a common vertex
    std::pair<int, int> first_self_intersection = {-1, -1};
    Index folded_edges = 0; ///< whose two triangles lie on top of each other

    std::vector<Fault> faults; ///< empty: fit for everything
};

/// Throws InputError for an index out of range or a coordinate that is not finite.
SurfaceReport check_surface(const TriangleMesh& mesh);

/// What a tet mesh is, and what is wrong with it.
struct TetReport {
    Index vertices = 0;
    Index tets = 0;
    Box3 bounds;
    double volume = 0.0; ///< signed [m^3]
    TetQuality quality;

    Index regions = 0;    ///< different labels; 1 when there are none
    Index components = 0; ///< parts that share no vertex
    Index unreferenced_vertices = 0;
    Index duplicate_vertices = 0;
    Index duplicate_tets = 0;
    Index overfull_faces = 0; ///< shared by three tets or more
    Index boundary_triangles = 0;
    double boundary_area = 0.0; ///< [m^2]
    Index boundary_genus = 0;
    Index boundary_components = 0;
    Index boundary_non_manifold_edges = 0;
    Index boundary_non_manifold_vertices = 0;

    std::vector<Fault> faults;
};

/// Throws InputError for an index out of range or a coordinate that is not finite.
TetReport check_tets(const TetMesh& mesh);

} // namespace lithe
