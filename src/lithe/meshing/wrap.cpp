#include "lithe/meshing/wrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/intersections.hpp"
#include "lithe/geometry/isosurface.hpp"
#include "lithe/geometry/surface_topology.hpp"
#include "lithe/geometry/unit_frame.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/mended_body.hpp"
#include "lithe/meshing/repair.hpp"
#include "lithe/meshing/sampled_field.hpp"
#include "lithe/meshing/surface_pieces.hpp"
#include "lithe/meshing/surface_samples.hpp"

namespace lithe {
namespace {

constexpr double weld_share = 1e-7; // of the size: what single precision leaves between doubled vertices
constexpr double default_cells = 96.0;
constexpr double most_cells = 400.0, fewest_cells = 4.0; // along the longest side
constexpr double large_part = 0.05; // of the kept part: what floats free and is larger gets a note of its own

[[noreturn]] void refuse_empty()
{
    throw InputError(
        "the surface encloses nothing: it is an open sheet or has no area; close it or give it a "
        "thickness first");
}

double require_length(const char* name, double value)
{
    if (!(value >= 0.0) || !std::isfinite(value))
        throw InputError(fmt::format("{} = {} must be finite and not negative", name, value));
    return value;
}

/// The options with their defaults filled in for a surface of that size.
WrapOptions settled(const WrapOptions& options, double longest)
{
    WrapOptions result = options;
    if (result.cell == 0.0) result.cell = longest / default_cells;
    if (result.bridge == 0.0) result.bridge = 2.0 * result.cell;
    return result;
}

/// Of each triangle, by the vertices that it shares with others.
struct Shells {
    std::vector<int> of; ///< shell of each triangle
    std::vector<Box3> boxes;
    std::vector<double> areas;
    Index count() const { return static_cast<Index>(boxes.size()); }
    int largest() const
    {
        return static_cast<int>(std::max_element(areas.begin(), areas.end()) - areas.begin());
    }
};

Shells find_shells(const TriangleMesh& mesh)
{
    const SurfaceTopology topology = surface_topology(mesh.triangles, mesh.vertex_count());
    Shells shells;
    shells.boxes.resize(static_cast<std::size_t>(topology.component_count));
    shells.areas.assign(shells.boxes.size(), 0.0);
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const auto corner = mesh.triangles.col(t);
        const Vec3 a = mesh.vertices.col(corner[0]), b = mesh.vertices.col(corner[1]),
                   c = mesh.vertices.col(corner[2]);
        const int shell = topology.component[static_cast<std::size_t>(corner[0])];
        shells.of.push_back(shell);
        shells.boxes[static_cast<std::size_t>(shell)].extend(a).extend(b).extend(c);
        shells.areas[static_cast<std::size_t>(shell)] += 0.5 * (b - a).cross(c - a).norm();
    }
    return shells;
}

/// Doubled vertices become one, triangles without area go.
TriangleMesh welded(const TriangleMesh& surface, WrapReport& report)
{
    require_valid(surface);
    TriangleMesh mesh = surface;
    drop_unused_vertices(mesh);
    if (mesh.triangle_count() == 0) refuse_empty();
    report.seam_vertices = weld(mesh, weld_share * bounds(mesh.vertices).diagonal().norm()).welded_vertices;
    (void)drop_degenerate(mesh);
    drop_unused_vertices(mesh);
    if (mesh.triangle_count() == 0 || !(area(mesh) > 0.0)) refuse_empty();
    if (report.seam_vertices > 0)
        report.notes.push_back(
            fmt::format("{} on seams welded", counted(report.seam_vertices, "doubled vertex")));
    return mesh;
}

/// Which shells hang together with the largest one when boxes nearer than `gap` do.
std::vector<char> main_cluster(const Shells& shells, double gap)
{
    const std::size_t count = shells.boxes.size();
    std::vector<std::size_t> by_start(count);
    std::iota(by_start.begin(), by_start.end(), std::size_t{0});
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
        return shells.boxes[a].min()[0] < shells.boxes[b].min()[0];
    });
    std::vector<std::size_t> parent(count);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Box3& a = shells.boxes[by_start[i]];
        for (std::size_t j = i + 1; j < count && shells.boxes[by_start[j]].min()[0] <= a.max()[0] + gap; ++j)
            if (a.exteriorDistance(shells.boxes[by_start[j]]) <= gap)
                parent[root(by_start[j])] = root(by_start[i]);
    }
    std::vector<char> keep(count);
    const std::size_t largest = root(static_cast<std::size_t>(shells.largest()));
    for (std::size_t i = 0; i < count; ++i) keep[i] = root(i) == largest;
    return keep;
}

/// The shells that can become part of one body with the largest one. What they leave out is so far away that no
/// bridge reaches it, and must not make the grid coarser.
std::vector<char> reachable_shells(const Shells& shells, const WrapOptions& options)
{
    double longest = shells.boxes[static_cast<std::size_t>(shells.largest())].sizes().maxCoeff();
    for (;;) {
        const WrapOptions sizes = settled(options, longest);
        std::vector<char> keep = main_cluster(shells, sizes.bridge + 2.0 * sizes.offset + 2.0 * sizes.cell);
        Box3 box;
        for (std::size_t i = 0; i < keep.size(); ++i)
            if (keep[i]) box.extend(shells.boxes[i]);
        if (!(box.sizes().maxCoeff() > longest)) return keep; // grows a finite number of times
        longest = box.sizes().maxCoeff();
    }
}

void note_dropped(Index count, Index large, const char* what, WrapReport& report)
{
    report.dropped_parts += count;
    if (count - large > 0)
        report.notes.push_back(
            fmt::format("{} {} dropped", counted(count - large, "small separate part"), what));
    if (large > 0)
        report.notes.push_back(
            fmt::format("{} {} left out: only the largest is one body; wrap them one by one",
                        counted(large, "large separate part"), what));
}

/// Leaves out what floats free of the largest shell.
TriangleMesh without_far_parts(TriangleMesh mesh, const WrapOptions& options, WrapReport& report)
{
    const Shells shells = find_shells(mesh);
    report.shells = shells.count();
    report.open_edges = count_edges(mesh.triangles).border;
    if (shells.count() == 1) return mesh;

    const std::vector<char> reached = reachable_shells(shells, options);
    Index dropped = 0, large = 0;
    const double reference = shells.areas[static_cast<std::size_t>(shells.largest())];
    for (std::size_t i = 0; i < reached.size(); ++i) {
        dropped += !reached[i];
        large += !reached[i] && shells.areas[i] > large_part * reference;
    }
    if (dropped == 0) return mesh;
    note_dropped(dropped, large, "far away", report);
    std::vector<char> keep;
    for (const int shell : shells.of) keep.push_back(reached[static_cast<std::size_t>(shell)]);
    return selected(mesh, keep);
}

/// Whether the surface is one closed shell already; then it is turned outward.
bool is_closed_shell(TriangleMesh& mesh, WrapReport& report)
{
    const SurfaceTopology topology = surface_topology(mesh.triangles, mesh.vertex_count());
    if (topology.component_count != 1 || topology.one_sided[0]) return false;
    const auto two_triangles = [](const SurfaceEdge& edge) { return edge.count == 2; };
    if (!std::all_of(topology.edges.begin(), topology.edges.end(), two_triangles)) return false;
    if (!std::all_of(topology.fans.begin(), topology.fans.end(), [](int fans) { return fans == 1; }))
        return false;

    TriangleMesh outward = mesh;
    const OrientReport turned = orient(outward);
    const Index crossings = static_cast<Index>(self_intersections(outward).size());
    if (crossings > 0 && MendedBody(outward).overlaps()) return false;
    mesh = std::move(outward);
    if (crossings > 0)
        report.notes.push_back(
            fmt::format("it is closed, but crosses itself in {}; kept", counted(crossings, "place")));
    if (turned.turned > 0)
        report.notes.push_back(fmt::format("{} turned outward", counted(turned.turned, "triangle")));
    return true;
}

/// The union of solid pieces and thickened sheets, as a signed distance.
class Union {
public:
    Union(const TriangleMesh& surface, double cell) : half_(0.5 * cell)
    {
        const std::vector<SurfacePiece> pieces = solid_pieces(surface, 0.1 * cell);
        for (const SurfacePiece& piece : pieces) {
            lids_ += piece.lids;
            open_ = std::max(open_, piece.open_length);
            ++(piece.kind == SurfacePiece::Kind::Solid ? solid_count_ : sheet_count_);
        }
        if (solid_count_ > 0) solid_.emplace(joined(pieces, SurfacePiece::Kind::Solid));
        if (sheet_count_ > 0) sheets_.emplace(joined(pieces, SurfacePiece::Kind::Sheet));
    }

    /// Negative inside; parts thinner than a cell count as that thick.
    double distance(const Vec3& x) const
    {
        const double infinity = std::numeric_limits<double>::infinity();
        const double solid = solid_ ? solid_->widened_distance(x, half_) : infinity;
        if (!sheets_ || solid < -half_) return solid;
        const auto sheet = sheets_->closest_point(x, solid + half_);
        return sheet ? std::min(solid, sheet->distance - half_) : solid;
    }
    /// How far `distance` may be from a signed distance: sheets and thin parts are widened by half a cell, and across an opening
    /// that could not be closed the sign changes as far from the surface as a quarter of its rim.
    double slack() const { return half_ + 0.25 * open_; }

    Index lids() const { return lids_; }
    Index solid_count() const { return solid_count_; }
    Index sheet_count() const { return sheet_count_; }

private:
    double half_, open_ = 0.0;
    Index lids_ = 0, solid_count_ = 0, sheet_count_ = 0;
    std::optional<MendedBody> solid_;
    std::optional<SurfaceQuery> sheets_;
};

struct Loose {
    Index hollows = 0; ///< inner walls
    Index parts = 0;   ///< that float free
    Index large = 0;   ///< of these
};

/// Keeps the component that encloses most; hollows inside are filled by that.
Loose keep_largest(TriangleMesh& mesh)
{
    const SurfaceTopology topology = surface_topology(mesh.triangles, mesh.vertex_count());
    std::vector<double> volumes(static_cast<std::size_t>(topology.component_count), 0.0);
    const auto component = [&](Index t) {
        return static_cast<std::size_t>(topology.component[static_cast<std::size_t>(mesh.triangles(0, t))]);
    };
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
        const auto corner = mesh.triangles.col(t);
        volumes[component(t)] += tet_volume(Vec3::Zero(), mesh.vertices.col(corner[0]),
                                            mesh.vertices.col(corner[1]), mesh.vertices.col(corner[2]));
    }
    const auto largest =
        static_cast<std::size_t>(std::max_element(volumes.begin(), volumes.end()) - volumes.begin());
    Loose loose;
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        if (i == largest) continue;
        ++(volumes[i] < 0.0 ? loose.hollows : loose.parts);
        loose.large += volumes[i] > large_part * volumes[largest];
    }
    std::vector<char> keep;
    for (Index t = 0; t < mesh.triangle_count(); ++t) keep.push_back(component(t) == largest);
    mesh = selected(mesh, keep);
    return loose;
}

struct Closed {
    TriangleMesh surface;
    Loose loose;
};

/// The isosurface of a function that takes long, from samples at distances of `spacing`.
TriangleMesh extract(const ImplicitFunction& f, const Box3& box, double cell, double spacing,
                     Progress& progress)
{
    const SampledField field(f, box, {.spacing = spacing, .band = 0.7 * cell}, progress);
    return isosurface(field.function(), box, cell, progress);
}

/// The union with openings up to `bridge` closed over: grown by half of that and shrunk again.
///
///   grown:  u(x) < r,   closed:  d(x, grown) + r < 0,   r = bridge / 2
///
/// Growing fills narrow gaps, and shrinking does not open them again: the closing of mathematical morphology. It never takes
/// away from the union, and the union is added again for what the grid lost of it.
Closed close_over(const Union& body, const Box3& box, const WrapOptions& sizes, Progress& progress)
{
    const double r = 0.5 * sizes.bridge, room = r + sizes.offset + 2.0 * sizes.cell;
    const Box3 around(box.min() - Vec3::Constant(room), box.max() + Vec3::Constant(room));
    const ImplicitFunction more = {.value = [&](const Vec3& x) { return body.distance(x) - r; },
                                   .slack = body.slack()};
    TriangleMesh grown = extract(more, around, sizes.cell, sizes.cell, progress);
    const Loose first = keep_largest(grown);
    if (body.solid_count() == 0 && first.hollows == 0) refuse_empty();

    // what is inside the grown body by a clear margin needs no winding number, if all of the body is there
    const SurfaceQuery outer(std::move(grown));
    const double surely_inside =
        first.parts == 0 ? r - 0.5 * sizes.cell : -std::numeric_limits<double>::infinity();
    const auto value = [&](const Vec3& x) {
        const double u = body.distance(x);
        const double d = u < surely_inside ? -outer.closest_point(x).distance : outer.signed_distance(x);
        return std::min(d + r, u) - sizes.offset;
    };
    // finer than a cell, since sheets are a cell thick
    Closed result;
    result.surface =
        extract({.value = value, .slack = body.slack()}, around, sizes.cell, 0.5 * sizes.cell, progress);
    result.loose = keep_largest(result.surface);
    result.loose.hollows += first.hollows;
    return result;
}

void require_fitting(const WrapOptions& sizes, double longest)
{
    const double cells = longest / sizes.cell;
    if (cells > most_cells)
        throw InputError(
            fmt::format("cell = {:.4g} m is too fine for a surface of {:.4g} m; use at least {:.3g} m",
                        sizes.cell, longest, 1.01 * longest / most_cells));
    if (cells < fewest_cells)
        throw InputError(
            fmt::format("cell = {:.4g} m is too coarse for a surface of {:.4g} m; use at most {:.3g} m",
                        sizes.cell, longest, longest / fewest_cells));
}

void describe(const Union& body, const Loose& loose, WrapReport& report)
{
    const auto note = [&](Index count, const std::string& words) {
        if (count > 0) report.notes.push_back(words);
    };
    if (body.solid_count() > 1)
        report.notes.push_back(fmt::format("{} united", counted(body.solid_count(), "solid part")));
    note(body.lids(), fmt::format("{} closed", counted(body.lids(), "opening")));
    note(body.sheet_count(), fmt::format("{} given a thickness", counted(body.sheet_count(), "sheet")));
    note(loose.hollows, fmt::format("{} filled", counted(loose.hollows, "hollow")));
    note_dropped(loose.parts, loose.large, "not connected to the body", report);
}

/// Both distances between the surface and its wrap, at samples.
void measure(const TriangleMesh& surface, const TriangleMesh& wrap, double spacing, WrapReport& report)
{
    const SurfaceQuery inner(surface), outer(wrap);
    report.farthest = largest_distance(sample_surface(wrap, spacing), inner);
    const std::vector<SurfaceSample> samples = sample_surface(surface, spacing);
    report.uncovered = parallel_reduce(
        std::ssize(samples), 256, 0.0,
        [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            double most = 0.0;
            for (std::ptrdiff_t i = begin; i < end; ++i)
                most = std::max(most, outer.signed_distance(samples[static_cast<std::size_t>(i)].point));
            return most;
        },
        [](double a, double b) { return std::max(a, b); });
}

} // namespace

Wrap wrap(const TriangleMesh& surface, const WrapOptions& options, Progress& progress)
{
    (void)require_length("cell", options.cell);
    (void)require_length("bridge", options.bridge);
    const bool is_offset = require_length("offset", options.offset) > 0.0;

    Wrap result;
    WrapReport& report = result.report;
    TriangleMesh mesh = without_far_parts(welded(surface, report), options, report);
    progress.check();
    if (!is_offset && is_closed_shell(mesh, report)) {
        report.was_closed = true;
        result.surface = std::move(mesh);
        return result;
    }

    const UnitFrame frame(mesh);
    WrapOptions sizes = settled(options, frame.size);
    require_fitting(sizes, frame.size);
    sizes = {.cell = frame.inward(sizes.cell),
             .offset = frame.inward(sizes.offset),
             .bridge = frame.inward(sizes.bridge)};
    const TriangleMesh unit = frame.inward(mesh);
    const Union body(unit, sizes.cell);
    Closed closed = close_over(body, bounds(unit.vertices), sizes, progress);

    describe(body, closed.loose, report);
    measure(unit, closed.surface, sizes.cell, report);
    report.farthest *= frame.size;
    report.uncovered *= frame.size;
    frame.outward(closed.surface);
    result.surface = std::move(closed.surface);
    return result;
}

} // namespace lithe
