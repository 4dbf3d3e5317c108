#include "lithe/geometry/mesh_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/intersections.hpp"
#include "lithe/geometry/predicates.hpp"
#include "lithe/geometry/surface_topology.hpp"

namespace lithe {
namespace {

template <class Corners>
void require_usable(const Points& vertices, const Corners& corners)
{
    if (!vertices.allFinite()) throw InputError("the mesh has a coordinate that is not finite");
    if (corners.cols() > 0 && (corners.minCoeff() < 0 || corners.maxCoeff() >= vertices.cols()))
        throw InputError(fmt::format("the mesh has a corner outside its {} vertices", vertices.cols()));
}

/// How many columns equal an earlier one.
template <class Columns>
Index count_duplicates(const Columns& columns)
{
    using Column = std::array<typename Columns::Scalar, static_cast<std::size_t>(Columns::RowsAtCompileTime)>;
    std::vector<Column> sorted(static_cast<std::size_t>(columns.cols()));
    for (Index i = 0; i < columns.cols(); ++i)
        for (Index k = 0; k < columns.rows(); ++k)
            sorted[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = columns(k, i);
    std::sort(sorted.begin(), sorted.end());
    return static_cast<Index>(sorted.end() - std::unique(sorted.begin(), sorted.end()));
}

/// The corners of each element in increasing order, so that equal elements compare equal.
template <class Corners>
Corners sorted_corners(Corners corners)
{
    for (Index i = 0; i < corners.cols(); ++i) std::sort(corners.col(i).begin(), corners.col(i).end());
    return corners;
}

template <class Corners>
Index count_unreferenced(const Corners& corners, Index vertex_count)
{
    std::vector<char> used(static_cast<std::size_t>(vertex_count), 0);
    for (const int v : corners.reshaped()) used[static_cast<std::size_t>(v)] = 1;
    return static_cast<Index>(std::count(used.begin(), used.end(), 0));
}

Vec3 corner(const TriangleMesh& mesh, Index t, int k)
{
    return mesh.vertices.col(mesh.triangles(k, t));
}

// --- surfaces ---

void count_edges(const TriangleMesh& mesh, const SurfaceTopology& topology, SurfaceReport& report)
{
    report.edges = static_cast<Index>(topology.edges.size());
    for (const SurfaceEdge& edge : topology.edges) {
        if (edge.count == 1) ++report.boundary_edges;
        if (edge.count > 2 && report.non_manifold_edges++ == 0)
            report.first_non_manifold_edge = {edge.a, edge.b};
        if (edge.count != 2) continue;
        const int h = topology.half_edges[edge.first], g = topology.half_edges[edge.first + 1];
        report.inconsistent_edges += mesh.triangles(h % 3, h / 3) == mesh.triangles(g % 3, g / 3);
        report.folded_edges +=
            folded_at_edge(mesh.vertices.col(edge.a), mesh.vertices.col(edge.b),
                           corner(mesh, h / 3, (h + 2) % 3), corner(mesh, g / 3, (g + 2) % 3));
    }
    for (std::size_t v = 0; v < topology.fans.size(); ++v)
        if (topology.fans[v] > 1 && report.non_manifold_vertices++ == 0)
            report.first_non_manifold_vertex = static_cast<int>(v);
    report.watertight = mesh.triangle_count() > 0 && report.boundary_edges == 0;
    report.manifold = report.non_manifold_edges == 0 && report.non_manifold_vertices == 0;
    report.consistently_oriented = report.inconsistent_edges == 0;
}

/// Pieces of boundary: edges of one triangle, joined where they share a vertex.
void measure_loops(const TriangleMesh& mesh, const SurfaceTopology& topology, SurfaceReport& report)
{
    std::vector<int> parent(static_cast<std::size_t>(mesh.vertex_count()));
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int i) {
        while (parent[static_cast<std::size_t>(i)] != i)
            i = parent[static_cast<std::size_t>(i)] =
                parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
        return i;
    };
    for (const SurfaceEdge& edge : topology.edges)
        if (edge.count == 1) parent[static_cast<std::size_t>(root(edge.a))] = root(edge.b);

    struct Loop {
        Index edges = 0;
        double length = 0.0;
    };
    std::vector<Loop> loops(static_cast<std::size_t>(mesh.vertex_count()));
    for (const SurfaceEdge& edge : topology.edges) {
        if (edge.count != 1) continue;
        Loop& loop = loops[static_cast<std::size_t>(root(edge.a))];
        ++loop.edges;
        loop.length += (mesh.vertices.col(edge.a) - mesh.vertices.col(edge.b)).norm();
    }
    for (const Loop& loop : loops) {
        report.boundary_loops += loop.edges > 0;
        if (loop.edges <= report.longest_loop_edges) continue;
        report.longest_loop_edges = loop.edges;
        report.longest_loop_length = loop.length;
    }
}

struct Component {
    Index vertices = 0, edges = 0, triangles = 0;
    bool closed = true; ///< without boundary, manifold, orientable
    double volume = 0.0;
    Box3 box;
};

std::vector<Component> gather_components(const TriangleMesh& mesh, const SurfaceTopology& topology)
{
    std::vector<Component> parts(static_cast<std::size_t>(topology.component_count));
    const auto part_of = [&](int v) -> Component& {
        return parts[static_cast<std::size_t>(topology.component[static_cast<std::size_t>(v)])];
    };
    const Vec3 o = mesh.vertex_count() > 0 ? Vec3(bounds(mesh.vertices).center()) : Vec3(Vec3::Zero());
    for (int v = 0; v < mesh.vertex_count(); ++v) {
        if (topology.component[static_cast<std::size_t>(v)] < 0) continue;
        Component& part = part_of(v);
        ++part.vertices;
        part.box.extend(mesh.vertices.col(v));
        if (topology.fans[static_cast<std::size_t>(v)] != 1) part.closed = false;
    }
    for (const SurfaceEdge& edge : topology.edges) {
        ++part_of(edge.a).edges;
        if (edge.count != 2) part_of(edge.a).closed = false;
    }
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        Component& part = part_of(mesh.triangles(0, t));
        ++part.triangles;
        part.volume += tet_volume(o, corner(mesh, t, 0), corner(mesh, t, 1), corner(mesh, t, 2));
    }
    for (std::size_t c = 0; c < parts.size(); ++c)
        if (topology.one_sided[c]) parts[c].closed = false;
    return parts;
}

void judge_components(const TriangleMesh& mesh, const SurfaceTopology& topology, SurfaceReport& report)
{
    const std::vector<Component> parts = gather_components(mesh, topology);
    report.components = topology.component_count;
    report.non_orientable =
        static_cast<Index>(std::count(topology.one_sided.begin(), topology.one_sided.end(), true));
    for (const Component& part : parts) {
        const Index euler = part.vertices - part.edges + part.triangles;
        report.euler_characteristic += euler;
        if (!part.closed) continue;
        ++report.closed_components;
        report.genus += (2 - euler) / 2;
        if (part.volume >= 0.0) continue;
        // a cavity lies in the box of a part that encloses more than it
        const bool cavity = std::any_of(parts.begin(), parts.end(), [&](const Component& other) {
            return other.closed && other.volume > -part.volume && other.box.contains(part.box);
        });
        ++(cavity ? report.cavities : report.inward_components);
    }
    report.outward = report.watertight && report.consistently_oriented && report.inward_components == 0 &&
                     report.volume > 0.0;
}

struct Shapes {
    Index degenerate = 0;
    int first = -1;
    double smallest_angle = 180.0;
};

/// The smallest angle of a triangle. [degrees]
double smallest_angle(const Vec3& a, const Vec3& b, const Vec3& c)
{
    const auto at = [](const Vec3& p, const Vec3& q, const Vec3& r) {
        return std::atan2((q - p).cross(r - p).norm(), (q - p).dot(r - p));
    };
    return std::min({at(a, b, c), at(b, c, a), at(c, a, b)}) * (180.0 / std::numbers::pi);
}

void measure_shapes(const TriangleMesh& mesh, SurfaceReport& report)
{
    const auto fold = [&](Index begin, Index end) {
        Shapes shapes;
        for (Index t = begin; t < end; ++t) {
            const Vec3 a = corner(mesh, t, 0), b = corner(mesh, t, 1), c = corner(mesh, t, 2);
            shapes.smallest_angle = std::min(shapes.smallest_angle, smallest_angle(a, b, c));
            if (collinear(a, b, c) && shapes.degenerate++ == 0) shapes.first = static_cast<int>(t);
        }
        return shapes;
    };
    const auto join = [](const Shapes& a, const Shapes& b) {
        return Shapes{a.degenerate + b.degenerate, a.first >= 0 ? a.first : b.first,
                      std::min(a.smallest_angle, b.smallest_angle)};
    };
    const Shapes shapes = parallel_reduce(mesh.triangle_count(), 2048, Shapes{}, fold, join);
    report.degenerate_triangles = shapes.degenerate;
    report.first_degenerate_triangle = shapes.first;
    report.smallest_angle = shapes.smallest_angle;
}

void find_self_intersections(const TriangleMesh& mesh, SurfaceReport& report)
{
    const std::vector<SelfIntersection> pairs = self_intersections(mesh);
    report.self_intersections = static_cast<Index>(pairs.size());
    for (const SelfIntersection& pair : pairs)
        report.self_intersections_sharing_vertex += pair.shared_vertex >= 0;
    if (!pairs.empty()) report.first_self_intersection = {pairs[0].first, pairs[0].second};
}

// --- words ---

/// "1 edge", "3 edges"
std::string counted(Index count, const char* one, const char* many)
{
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string place(const Vec3& p)
{
    return fmt::format("({:.6g}, {:.6g}, {:.6g})", p[0], p[1], p[2]);
}

/// Most bodies are between a centimetre and ten metres; models in millimetres or centimetres look like giants.
void add_unit_fault(const Box3& box, std::vector<Fault>& faults)
{
    if (box.isEmpty()) return;
    const double size = box.sizes().maxCoeff();
    if (size > 100.0)
        faults.push_back({"unit", 1,
                          fmt::format("it is {:.4g} m across: perhaps its unit is the millimetre", size),
                          "if so, `--scale 0.001` makes metres of it; for centimetres, `--scale 0.01`"});
    else if (size > 10.0)
        faults.push_back({"unit", 1,
                          fmt::format("it is {:.4g} m across: perhaps its unit is the centimetre", size),
                          "if so, `--scale 0.01` makes metres of it; for millimetres, `--scale 0.001`"});
    else if (size < 0.01 && size > 0.0)
        faults.push_back(
            {"unit", 1,
             fmt::format("it is only {:.4g} m across: perhaps its unit is larger than the metre", size),
             "if so, `--scale 1000` turns kilometres into metres; or choose the factor that makes it its "
             "true size"});
}

void add_boundary_faults(const SurfaceReport& r, std::vector<Fault>& faults)
{
    if (r.duplicate_vertices > 0) {
        const char* effect = r.boundary_edges > 0 ? "; this can tear a surface apart along its seams" : "";
        faults.push_back({"duplicate_vertices", r.duplicate_vertices,
                          fmt::format("{} at exactly the place of another{}",
                                      counted(r.duplicate_vertices, "vertex is", "vertices are"), effect),
                          "`--weld` merges them"});
    }
    if (r.boundary_edges == 0) return;
    faults.push_back(
        {"open", r.boundary_loops,
         fmt::format("the surface is not closed: {} with {} in all; the longest has {} over {:.4g} m",
                     counted(r.boundary_loops, "hole", "holes"), counted(r.boundary_edges, "edge", "edges"),
                     counted(r.longest_loop_edges, "edge", "edges"), r.longest_loop_length),
         fmt::format(
             "{}`--fill-holes={}` closes them; `--tets` works without that, and guesses what is inside",
             r.duplicate_vertices > 0 ? "first try `--weld`; then " : "", r.longest_loop_edges)});
}

void add_manifold_faults(const TriangleMesh& mesh, const SurfaceReport& r, std::vector<Fault>& faults)
{
    if (r.non_manifold_edges > 0) {
        const auto [a, b] = r.first_non_manifold_edge;
        faults.push_back(
            {"non_manifold_edges", r.non_manifold_edges,
             fmt::format("{} three triangles or more; the first joins vertices {} and {} near {}",
                         counted(r.non_manifold_edges, "edge has", "edges have"), a, b,
                         place(0.5 * (mesh.vertices.col(a) + mesh.vertices.col(b)))),
             "`--weld` removes doubled triangles and inner walls; if that is not enough, `--tets` makes a "
             "clean solid whose "
             "boundary can be used instead"});
    }
    if (r.non_manifold_vertices > 0)
        faults.push_back(
            {"non_manifold_vertices", r.non_manifold_vertices,
             fmt::format("at {} the surface touches itself in a single point; the first is vertex {} at {}",
                         counted(r.non_manifold_vertices, "vertex", "vertices"), r.first_non_manifold_vertex,
                         place(mesh.vertices.col(r.first_non_manifold_vertex))),
             "`--tets` copes with that; for a clean surface, take the boundary of its tets"});
}

void add_orientation_faults(const SurfaceReport& r, std::vector<Fault>& faults)
{
    if (r.non_orientable > 0)
        faults.push_back({"one_sided", r.non_orientable,
                          fmt::format("{} one-sided, like a Moebius strip: there is no outside",
                                      counted(r.non_orientable, "part is", "parts are")),
                          "remodel it, or give it thickness; it encloses nothing"});
    else if (!r.consistently_oriented)
        faults.push_back(
            {"inconsistent", r.inconsistent_edges,
             fmt::format("the triangles on both sides of {} disagree about which side is outside",
                         counted(r.inconsistent_edges, "edge", "edges")),
             "`--orient` turns them round"});
    else if (r.inward_components > 0)
        faults.push_back({"inside_out", r.inward_components,
                          fmt::format("{} inside out: the triangles face inward",
                                      counted(r.inward_components, "closed part is", "closed parts are")),
                          "`--orient` turns them round"});
}

void add_triangle_faults(const TriangleMesh& mesh, const SurfaceReport& r, std::vector<Fault>& faults)
{
    if (r.degenerate_triangles > 0)
        faults.push_back(
            {"degenerate_triangles", r.degenerate_triangles,
             fmt::format("{} no area; the first is triangle {} at {}",
                         counted(r.degenerate_triangles, "triangle has", "triangles have"),
                         r.first_degenerate_triangle, place(corner(mesh, r.first_degenerate_triangle, 0))),
             "`--weld` removes those with a repeated corner; `--tets` ignores the others"});
    if (r.duplicate_triangles > 0)
        faults.push_back({"duplicate_triangles", r.duplicate_triangles,
                          fmt::format("{} twice", counted(r.duplicate_triangles, "triangle is there",
                                                          "triangles are there")),
                          "`--weld` keeps one of each"});
    if (r.self_intersections > 0) {
        const auto [i, j] = r.first_self_intersection;
        faults.push_back(
            {"self_intersections", r.self_intersections,
             fmt::format("the surface passes through itself: {} of triangles, first {} and {} at {}",
                         counted(r.self_intersections, "pair", "pairs"), i, j, place(corner(mesh, i, 0))),
             "no harm for pictures, nor for `--tets` with the default mesher, which joins what overlaps; "
             "`--mesher delaunay` may refuse it"});
    }
    if (r.folded_edges > 0)
        faults.push_back({"folded_edges", r.folded_edges,
                          fmt::format("at {} two triangles are folded flat onto each other",
                                      counted(r.folded_edges, "edge", "edges")),
                          "usually harmless; `--simplify` with a slightly smaller count often removes them"});
    if (r.unreferenced_vertices > 0)
        faults.push_back({"unreferenced_vertices", r.unreferenced_vertices,
                          fmt::format("{} not used by any triangle",
                                      counted(r.unreferenced_vertices, "vertex is", "vertices are")),
                          "harmless; writing the mesh anew with `lithe mesh` and `--weld` drops them"});
}

std::vector<Fault> surface_faults(const TriangleMesh& mesh, const SurfaceReport& report)
{
    std::vector<Fault> faults;
    if (mesh.triangle_count() == 0)
        return {{"empty", 1, "there are no triangles",
                 "look at how the file was exported: it may hold only points or lines"}};
    add_boundary_faults(report, faults);
    add_manifold_faults(mesh, report, faults);
    add_orientation_faults(report, faults);
    add_triangle_faults(mesh, report, faults);
    add_unit_fault(report.bounds, faults);
    return faults;
}

// --- tets ---

constexpr double poor_dihedral = 5.0; ///< [degrees] below this, simulations become stiff and inaccurate

/// Faces that belong to three tets or more.
Index count_overfull_faces(const Tets& tets)
{
    constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    std::vector<std::array<int, 3>> keys;
    keys.reserve(static_cast<std::size_t>(4 * tets.cols()));
    for (Index t = 0; t < tets.cols(); ++t)
        for (const auto& face : faces) {
            std::array<int, 3> key = {tets(face[0], t), tets(face[1], t), tets(face[2], t)};
            std::sort(key.begin(), key.end());
            keys.push_back(key);
        }
    std::sort(keys.begin(), keys.end());
    Index overfull = 0;
    for (std::size_t i = 0, j; i < keys.size(); i = j) {
        for (j = i + 1; j < keys.size() && keys[j] == keys[i];) ++j;
        overfull += j - i > 2;
    }
    return overfull;
}

Index count_tet_components(const TetMesh& mesh)
{
    Triangles faces(3, 2 * mesh.tet_count()); // two faces of a tet hold all of its corners
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        faces.col(2 * t) = mesh.tets.col(t).head<3>();
        faces.col(2 * t + 1) = mesh.tets.col(t).tail<3>();
    }
    return surface_topology(faces, mesh.vertex_count()).component_count;
}

void check_boundary(const TetMesh& mesh, TetReport& report)
{
    const TriangleMesh surface = boundary_surface(mesh);
    const SurfaceTopology topology = surface_topology(surface.triangles, surface.vertex_count());
    SurfaceReport boundary;
    count_edges(surface, topology, boundary);
    judge_components(surface, topology, boundary);
    report.boundary_triangles = surface.triangle_count();
    report.boundary_area = area(surface);
    report.boundary_genus = boundary.genus;
    report.boundary_components = boundary.components;
    report.boundary_non_manifold_edges = boundary.non_manifold_edges;
    report.boundary_non_manifold_vertices = boundary.non_manifold_vertices;
}

void add_volume_faults(const TetMesh& mesh, const TetReport& r, std::vector<Fault>& faults)
{
    const TetQuality& q = r.quality;
    const auto worst = [&] { return place(mesh.vertices.col(mesh.tets(0, q.worst_tet))); };
    if (q.inverted == r.tets)
        faults.push_back({"inverted", q.inverted,
                          "all tets are inverted: the file numbers their corners the other way round",
                          "`--flip-tets` exchanges two corners of each"});
    else if (q.inverted > 0)
        faults.push_back({"inverted", q.inverted,
                          fmt::format("{} inverted (negative volume); the worst is tet {} at {}",
                                      counted(q.inverted, "tet is", "tets are"), q.worst_tet, worst()),
                          "`--flip-tets` exchanges two corners of each; if they were turned over by a "
                          "deformation, mesh the "
                          "surface anew with `--tets`"});
    if (q.flat > 0)
        faults.push_back({"flat", q.flat,
                          fmt::format("{} no volume", counted(q.flat, "tet has", "tets have")),
                          "mesh the surface anew with `--tets`"});
    if (q.inverted == 0 && q.flat == 0 && q.smallest_dihedral < poor_dihedral)
        faults.push_back(
            {"poor_quality", 1,
             fmt::format("the smallest dihedral angle is {:.3g} degrees; the worst is tet {} at {}",
                         q.smallest_dihedral, q.worst_tet, worst()),
             "angles below 5 degrees make simulations stiff and inaccurate: mesh the surface anew with "
             "`--tets`"});
}

void add_structure_faults(const TetReport& r, std::vector<Fault>& faults)
{
    if (r.duplicate_vertices > 0)
        faults.push_back({"duplicate_vertices", r.duplicate_vertices,
                          fmt::format("{} at exactly the place of another: the body may be torn there",
                                      counted(r.duplicate_vertices, "vertex is", "vertices are")),
                          "weld them where the mesh comes from, or mesh its surface anew with `--tets`"});
    if (r.duplicate_tets > 0)
        faults.push_back(
            {"duplicate_tets", r.duplicate_tets,
             fmt::format("{} twice", counted(r.duplicate_tets, "tet is there", "tets are there")),
             "remove the copies where the mesh comes from"});
    if (r.overfull_faces > 0)
        faults.push_back({"overfull_faces", r.overfull_faces,
                          fmt::format("{} to three tets or more: tets overlap",
                                      counted(r.overfull_faces, "face belongs", "faces belong")),
                          "mesh the surface anew with `--tets`"});
    const Index pinched = r.boundary_non_manifold_edges + r.boundary_non_manifold_vertices;
    if (pinched > 0)
        faults.push_back(
            {"non_manifold_boundary", pinched,
             fmt::format("the body hangs together by {} and {} only",
                         counted(r.boundary_non_manifold_edges, "edge", "edges"),
                         counted(r.boundary_non_manifold_vertices, "vertex", "vertices")),
             "these act as frictionless hinges: mesh the surface anew with `--tets` and a larger `--count`"});
    if (r.unreferenced_vertices > 0)
        faults.push_back(
            {"unreferenced_vertices", r.unreferenced_vertices,
             fmt::format("{} not used by any tet",
                         counted(r.unreferenced_vertices, "vertex is", "vertices are")),
             "a simulation would find no mass there; `lithe mesh` drops them when it writes the mesh anew"});
}

} // namespace

SurfaceReport check_surface(const TriangleMesh& mesh)
{
    require_usable(mesh.vertices, mesh.triangles);
    SurfaceReport report;
    report.vertices = mesh.vertex_count();
    report.triangles = mesh.triangle_count();
    report.bounds = bounds(mesh.vertices);
    report.area = area(mesh);
    report.volume = volume(mesh);
    report.unreferenced_vertices = count_unreferenced(mesh.triangles, mesh.vertex_count());
    report.duplicate_vertices = count_duplicates(mesh.vertices);
    report.duplicate_triangles = count_duplicates(sorted_corners(mesh.triangles));

    const SurfaceTopology topology = surface_topology(mesh.triangles, mesh.vertex_count());
    count_edges(mesh, topology, report);
    measure_loops(mesh, topology, report);
    judge_components(mesh, topology, report);
    measure_shapes(mesh, report);
    find_self_intersections(mesh, report);
    report.faults = surface_faults(mesh, report);
    return report;
}

TetReport check_tets(const TetMesh& mesh)
{
    require_usable(mesh.vertices, mesh.tets);
    TetReport report;
    report.vertices = mesh.vertex_count();
    report.tets = mesh.tet_count();
    report.bounds = bounds(mesh.vertices);
    report.volume = volume(mesh);
    report.quality = tet_quality(mesh);
    report.regions = std::max<Index>(
        1, static_cast<Index>(std::set<int>(mesh.regions.begin(), mesh.regions.end()).size()));
    report.components = count_tet_components(mesh);
    report.unreferenced_vertices = count_unreferenced(mesh.tets, mesh.vertex_count());
    report.duplicate_vertices = count_duplicates(mesh.vertices);
    report.duplicate_tets = count_duplicates(sorted_corners(mesh.tets));
    report.overfull_faces = count_overfull_faces(mesh.tets);
    if (mesh.tet_count() == 0) {
        report.faults = {{"empty", 1, "there are no tets", "`--tets` makes them from a surface"}};
        return report;
    }
    check_boundary(mesh, report);
    add_volume_faults(mesh, report, report.faults);
    add_structure_faults(report, report.faults);
    add_unit_fault(report.bounds, report.faults);
    return report;
}

} // namespace lithe
