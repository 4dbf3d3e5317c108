// The only translation unit that sees CGAL: it takes a minute to compile and its licence is the GPL.
#include "lithe/meshing/cgal/delaunay.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Mesh_complex_3_in_triangulation_3.h>
#include <CGAL/Mesh_criteria_3.h>
#include <CGAL/Mesh_triangulation_3.h>
#include <CGAL/Polyhedral_mesh_domain_with_features_3.h>
#include <CGAL/Surface_mesh.h>
#include <CGAL/make_mesh_3.h>
#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/intersections.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/point_grid.hpp"
#include "lithe/meshing/repair.hpp"

namespace lithe {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Polyhedron = CGAL::Surface_mesh<Kernel::Point_3>;
using Domain = CGAL::Polyhedral_mesh_domain_with_features_3<Kernel, Polyhedron>;
using Triangulation = CGAL::Mesh_triangulation_3<Domain, CGAL::Default, CGAL::Sequential_tag>::type;
using Complex =
    CGAL::Mesh_complex_3_in_triangulation_3<Triangulation, Domain::Corner_index, Domain::Curve_index>;
using Criteria = CGAL::Mesh_criteria_3<Triangulation>;
namespace parameters = CGAL::parameters;

std::string place_of(const TriangleMesh& mesh, int h)
{
    const int a = half_edge_from(mesh.triangles, h), b = half_edge_to(mesh.triangles, h);
    const Vec3 x = 0.5 * (mesh.vertices.col(a) + mesh.vertices.col(b));
    return fmt::format("the edge between vertices {} and {} near ({:.4g}, {:.4g}, {:.4g})", a, b, x[0], x[1],
                       x[2]);
}

/// The surface with its triangles facing alike, without unused vertices; throws InputError when it bounds no solid.
TriangleMesh checked_surface(const TriangleMesh& surface)
{
    require_valid(surface);
    if (surface.triangle_count() == 0) throw InputError("the surface has no triangles");
    TriangleMesh mesh = surface;
    (void)orient(mesh);
    const std::vector<int> twins = half_edge_twins(mesh.triangles);
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (twins[h] == border_edge)
            throw InputError("the surface is open at " + place_of(mesh, h) +
                             "; close it with --fill-holes or use --mesher stuffing");
        if (twins[h] == non_manifold_edge)
            throw InputError("the surface is not manifold at " + place_of(mesh, h) +
                             ": more than two triangles or a triangle without area; use --mesher stuffing");
        if (half_edge_from(mesh.triangles, h) == half_edge_from(mesh.triangles, twins[h]))
            throw InputError("the surface has one side only, seen at " + place_of(mesh, h) +
                             "; use --mesher stuffing");
    }
    drop_unused_vertices(mesh);
    const std::vector<SelfIntersection> crossings = self_intersections(mesh);
    if (!crossings.empty())
        throw InputError(
            fmt::format("the surface crosses itself: {}, the first of triangles {} and {} (counted from 0); "
                        "use --mesher stuffing",
                        counted(static_cast<Index>(crossings.size()), "pair"), crossings.front().first,
                        crossings.front().second));
    return mesh;
}

/// Whether the edges sharper than `angle` [degrees] form a network worth protecting, as on machine parts and boxes. On scanned and
/// coarse organic surfaces they are loose pieces with dangling ends, which would only force tiny tets.
bool has_sharp_network(const TriangleMesh& mesh, double angle)
{
    const std::vector<int> twins = half_edge_twins(mesh.triangles);
    const auto normal = [&](int t) {
        const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
        const Vec3 ab = mesh.vertices.col(mesh.triangles(1, t)) - a,
                   ac = mesh.vertices.col(mesh.triangles(2, t)) - a;
        return Vec3(ab.cross(ac).normalized());
    };
    const double least_cosine = std::cos(angle * std::numbers::pi / 180.0);
    std::vector<int> sharp_edges(static_cast<std::size_t>(mesh.vertex_count()), 0);
    Index edges = 0;
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        if (twins[h] < h || normal(h / 3).dot(normal(twins[h] / 3)) > least_cosine) continue;
        ++edges;
        ++sharp_edges[half_edge_from(mesh.triangles, h)];
        ++sharp_edges[half_edge_to(mesh.triangles, h)];
    }
    const Index ends = std::count(sharp_edges.begin(), sharp_edges.end(), 1);
    return edges > 0 && static_cast<double>(ends) <= 0.05 * static_cast<double>(edges);
}

Polyhedron to_polyhedron(const TriangleMesh& mesh)
{
    Polyhedron polyhedron;
    std::vector<Polyhedron::Vertex_index> vertices;
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        vertices.push_back(
            polyhedron.add_vertex({mesh.vertices(0, v), mesh.vertices(1, v), mesh.vertices(2, v)}));
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const auto c = mesh.triangles.col(t);
        if (polyhedron.add_face(vertices[c[0]], vertices[c[1]], vertices[c[2]]) == Polyhedron::null_face())
            throw InputError(fmt::format(
                "the surface is not manifold at a corner of triangle {} (counted from 0): parts touch at a "
                "single vertex; use --mesher stuffing",
                t));
    }
    return polyhedron;
}

/// CGAL reports on the standard error stream unless told otherwise, process-wide; here only exceptions speak.
class QuietCgal {
public:
    QuietCgal() : error_(CGAL::set_error_handler(ignore)), warning_(CGAL::set_warning_handler(ignore)) {}
    ~QuietCgal()
    {
        CGAL::set_error_handler(error_);
        CGAL::set_warning_handler(warning_);
    }
    QuietCgal(const QuietCgal&) = delete;
    QuietCgal& operator=(const QuietCgal&) = delete;

private:
    static void ignore(const char*, const char*, const char*, int, const char*) {}
    CGAL::Failure_function error_, warning_;
};

/// Number of the connected part of each vertex (the smallest vertex of the part).
std::vector<int> vertex_parts(const TriangleMesh& mesh)
{
    UnionFind parts(static_cast<int>(mesh.vertex_count()));
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 1; k < 3; ++k) parts.join(mesh.triangles(0, t), mesh.triangles(k, t));
    std::vector<int> result(static_cast<std::size_t>(mesh.vertex_count()));
    for (int v = 0; v < mesh.vertex_count(); ++v) result[v] = parts.root(v);
    return result;
}

/// Vertices of the surface to start from, about a cell apart. Every connected part gets some, however small it is: the
/// refinement finds only the parts that it has points on.
std::vector<Vec3> starting_points(const TriangleMesh& mesh, double cell)
{
    const std::vector<int> part = vertex_parts(mesh);
    std::unordered_map<int, Box3> boxes;
    for (int v = 0; v < mesh.vertex_count(); ++v) boxes[part[v]].extend(Vec3(mesh.vertices.col(v)));

    PointGrid chosen(mesh.vertices, cell);
    std::vector<Vec3> points;
    std::unordered_map<int, std::vector<int>> chosen_of; // by part, for parts smaller than a few cells
    for (int v = 0; v < mesh.vertex_count(); ++v) {
        const Vec3 x = mesh.vertices.col(v);
        const double size = boxes[part[v]].diagonal().norm();
        bool far_enough = true;
        if (size > 4.0 * cell) {
            far_enough = chosen.nearest(x) < 0;
        } else {
            for (const int u : chosen_of[part[v]])
                far_enough = far_enough && (mesh.vertices.col(u) - x).norm() > 0.25 * size;
            if (far_enough) chosen_of[part[v]].push_back(v);
        }
        if (!far_enough) continue;
        chosen.insert(v);
        points.push_back(x);
    }
    return points;
}

/// Protects the sharp edges, then inserts the starting points that lie outside of the protecting balls.
void initialize(Complex& complex, const Domain& domain, const Criteria& criteria,
                const std::vector<Vec3>& points, double cell)
{
    CGAL::Mesh_3::internal::init_c3t3_with_features(complex, domain, criteria);
    std::vector<std::pair<Kernel::Point_3, Domain::Index>> some; // to learn how the domain names its surface
    domain.construct_initial_points_object()(std::back_inserter(some), 1);
    LITHE_ASSERT(!some.empty());

    auto& triangulation = complex.triangulation();
    for (const Vec3& x : points) {
        const Kernel::Point_3 p(x[0], x[1], x[2]);
        const Triangulation::Weighted_point weighted(p);
        if (triangulation.number_of_vertices() > 0 && complex.number_of_edges_in_complex() > 0) {
            const auto near = triangulation.nearest_power_vertex(p);
            const double power = CGAL::squared_distance(p, near->point().point()) - near->point().weight();
            if (power < 0.1 * cell * cell) continue;
        }
        const auto v = triangulation.insert(weighted);
        if (v == Triangulation::Vertex_handle()) continue;
        complex.set_dimension(v, 2);
        complex.set_index(v, some.front().second);
    }
}

/// Far more vertices than a healthy run needs for this size of cells. At sharp edges that are not protected the criteria can
/// contradict each other, and the refinement would go on for ever.
std::size_t vertex_limit(const TriangleMesh& mesh, double cell)
{
    const double expected = volume(mesh) / (cell * cell * cell) + area(mesh) / (cell * cell);
    return static_cast<std::size_t>(std::min(20.0 * expected, 1e8)) + 10000;
}

enum class Demands { All, SizesOnly };

/// One run of the refinement; nothing when it does not come to an end.
std::optional<Complex> try_refine(const Domain& domain, const TriangleMesh& mesh, double cell,
                                  Demands demands)
{
    const bool all = demands == Demands::All;
    const double facet_angle = all ? 25.0 : 0.0, radius_edge_ratio = 2.0,
                 surface_distance = 0.1; // the last in cells
    const Criteria criteria(
        parameters::edge_size = cell, parameters::facet_angle = facet_angle, parameters::facet_size = cell,
        parameters::facet_distance = surface_distance * cell,
        parameters::cell_radius_edge_ratio = all ? radius_edge_ratio : 0.0, parameters::cell_size = cell);
    Complex complex;
    initialize(complex, domain, criteria, starting_points(mesh, cell), cell);
    CGAL::Mesh_error_code code = CGAL::CGAL_MESH_3_NO_ERROR;
    CGAL::refine_mesh_3(
        complex, domain, criteria, all ? parameters::manifold() : parameters::non_manifold(),
        parameters::no_perturb(), parameters::no_exude(), parameters::no_reset_c3t3(),
        parameters::mesh_3_options(parameters::maximal_number_of_vertices = vertex_limit(mesh, cell),
                                   parameters::pointer_to_error_code = &code));
    if (code != CGAL::CGAL_MESH_3_NO_ERROR) return std::nullopt;
    return complex;
}

/// One run, without the improvement of slivers: with all demands, or if that does not end, on sizes only.
Complex refine(const Domain& domain, const TriangleMesh& mesh, double cell)
{
    for (const Demands demands : {Demands::All, Demands::SizesOnly})
        if (std::optional<Complex> complex = try_refine(domain, mesh, cell, demands))
            return std::move(*complex);
    throw InputError(fmt::format(
        "Delaunay refinement does not come to an end at cell size {:.3g}: the surface has sharp edges or "
        "sheets that nearly touch; use --mesher stuffing",
        cell));
}

/// Raises the smallest dihedral angles. Bounds on the angle, none on the time, so that the result does not depend on the machine.
void improve(Complex& complex, const Domain& domain)
{
    constexpr double sliver_bound = 12.0; // [degrees]
    CGAL::perturb_mesh_3(complex, domain, parameters::sliver_bound = sliver_bound);
    CGAL::exude_mesh_3(complex, parameters::sliver_bound = sliver_bound);
}

TetMesh to_tets(const Complex& complex)
{
    TetMesh mesh;
    mesh.tets.resize(4, static_cast<Index>(complex.number_of_cells_in_complex()));
    std::unordered_map<Triangulation::Vertex_handle, int> number;
    std::vector<Vec3> vertices;
    Index t = 0;
    for (auto cell = complex.cells_in_complex_begin(); cell != complex.cells_in_complex_end(); ++cell, ++t)
        for (int k = 0; k < 4; ++k) {
            const auto [entry, is_new] = number.emplace(cell->vertex(k), static_cast<int>(vertices.size()));
            const auto& x = cell->vertex(k)->point();
            if (is_new) vertices.emplace_back(x.x(), x.y(), x.z());
            mesh.tets(k, t) = entry->second;
        }
    mesh.vertices.resize(3, static_cast<Index>(vertices.size()));
    for (std::size_t v = 0; v < vertices.size(); ++v) mesh.vertices.col(static_cast<Index>(v)) = vertices[v];
    for (Index i = 0; i < mesh.tet_count(); ++i) {
        const auto c = mesh.tets.col(i);
        if (tet_volume(mesh.vertices.col(c[0]), mesh.vertices.col(c[1]), mesh.vertices.col(c[2]),
                       mesh.vertices.col(c[3])) < 0.0)
            std::swap(mesh.tets(2, i), mesh.tets(3, i));
    }
    return mesh;
}

/// Refines until the number of tets is near `count`: a coarse run first, then steps along the line through the last two runs in
/// log(cell), log(count).
Complex refine_to_count(const Domain& domain, const TriangleMesh& mesh, Index count, Progress& progress)
{
    constexpr double tets_per_cell = 4.45; // of volume cell^3, measured in a sphere
    constexpr double coarse = 8.0, close_enough = 0.1;
    constexpr int max_runs = 8;
    const double wanted = std::log(static_cast<double>(count));

    double cell =
        std::cbrt(tets_per_cell * volume(mesh) / std::max(static_cast<double>(count) / coarse, 500.0));
    double slope = -3.0, last_cell = 0.0, last_count = 0.0;
    std::optional<Complex> best;
    double best_miss = std::numeric_limits<double>::infinity();
    for (int run = 0; run < max_runs && best_miss > close_enough; ++run) {
        progress.check();
        Complex complex = refine(domain, mesh, cell);
        const double log_count =
            std::log(static_cast<double>(std::max<std::size_t>(1, complex.number_of_cells_in_complex())));
        if (run > 0 && std::log(cell) != last_cell)
            slope = std::clamp((log_count - last_count) / (std::log(cell) - last_cell), -4.0, -1.0);
        last_cell = std::log(cell);
        last_count = log_count;
        const double miss = std::abs(log_count - wanted);
        if (miss < best_miss) {
            best_miss = miss;
            best.emplace(std::move(complex));
        }
        cell *= std::exp((wanted - log_count) / slope);
        progress.advance();
    }
    return std::move(*best);
}

Complex build_complex(const TriangleMesh& mesh, const DelaunayOptions& options, Progress& progress)
{
    const Polyhedron polyhedron = to_polyhedron(mesh);
    CGAL::Random random(0);
    Domain domain(polyhedron, &random);
    if (options.feature_angle < 180.0 && has_sharp_network(mesh, options.feature_angle))
        domain.detect_features(options.feature_angle);
    Complex complex = options.cell ? refine(domain, mesh, require_positive("cell", *options.cell))
                                   : refine_to_count(domain, mesh, *options.count, progress);
    progress.check();
    improve(complex, domain);
    return complex;
}

} // namespace

bool delaunay_available()
{
    return true;
}

TetMesh delaunay_tets(const TriangleMesh& surface, const DelaunayOptions& options, Progress& progress)
{
    if (options.cell.has_value() == options.count.has_value())
        throw InputError("the Delaunay mesher needs either a cell size or a number of tets");
    if (options.count && *options.count < 1)
        throw InputError(fmt::format("count = {} must be at least 1", *options.count));
    if (!(options.feature_angle > 0.0 && options.feature_angle <= 180.0))
        throw InputError(fmt::format("feature_angle = {} must lie in (0, 180]", options.feature_angle));
    const TriangleMesh mesh = checked_surface(surface);

    progress.begin("Delaunay refinement", 4);
    const QuietCgal quiet;
    try {
        TetMesh tets = to_tets(build_complex(mesh, options, progress));
        progress.end();
        return tets;
    } catch (const CGAL::Failure_exception& failure) {
        throw InputError("CGAL cannot mesh this surface (" + failure.message() + "); use --mesher stuffing");
    }
}

} // namespace lithe
