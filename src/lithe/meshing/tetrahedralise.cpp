#include "lithe/meshing/tetrahedralise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/geometry/tet_quality.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/mended_body.hpp"
#include "lithe/meshing/pull_boundary.hpp"
#include "lithe/meshing/stuffing.hpp"
#include "lithe/meshing/surface_samples.hpp"
#include "lithe/meshing/thin_parts.hpp"
#include "lithe/meshing/tidy_solid.hpp"

namespace lithe {
namespace {

// Lengths in cells.
constexpr double smallest_hold_radius = 0.2;
constexpr double hold_radius = 0.5;     // parts and gaps are widened to twice this
constexpr double largest_offset = 0.1;  // of the level set, for the volume
constexpr double missed_distance = 0.6; // a point of the surface that is farther from the tets was lost
constexpr double web_distance =
    0.63; // a point of the boundary that is farther from the surface spans a hollow
constexpr double clear_of_surface = 0.15;
constexpr double wanted_distance = 0.68; // both ways
constexpr double pulled_distance =
    0.6; // a vertex of the boundary that is farther from the surface is pulled in
constexpr double sample_spacing = 0.25;
constexpr double thin_limit = 2.0;

constexpr double volume_tolerance = 0.002; // relative
constexpr double count_tolerance = 0.1;    // relative
constexpr double smallest_count = 30;
constexpr double largest_count = 1e8;
constexpr int most_runs = 24; // of the stuffing, until what there is must do: a scanned body takes 3 to 16
constexpr double bytes_per_tet = 370.0; // growth of the peak from 100k to 400k tets of one scanned body

/// While we work, the mesh is moved to the origin and scaled to about 1: far and tiny ones are then as good as any.
struct Frame {
    Vec3 centre;
    double size; ///< a power of two: scaling loses no bits

    explicit Frame(const Box3& box)
        : centre(box.center()), size(std::exp2(std::round(std::log2(box.diagonal().norm()))))
    {
    }
    Points enter(const Points& points) const { return (points.colwise() - centre) / size; }
    Points leave(const Points& points) const { return (points * size).colwise() + centre; }
};

/// Tets of a body with volume V and area A: 12 to a cell of its inside, and a layer of cut ones.
double expected_count(const MendedBody& body, double cell)
{
    return 12.0 * body.volume() / (cell * cell * cell) + 2.0 * body.area() / (cell * cell);
}

double expected_cell(const MendedBody& body, double count)
{
    double lo = 1e-12, hi = 1e3; // in the frame, where the body has size 1
    for (int i = 0; i < 100; ++i) {
        const double middle = std::sqrt(lo * hi);
        (expected_count(body, middle) > count ? lo : hi) = middle;
    }
    return hi;
}

/// Throws unless the options ask for something possible; else returns the cell to begin with, in the frame.
double first_cell(const MendedBody& body, const TetrahedraliseOptions& options, double size)
{
    if (options.cell && options.count) throw InputError("give a cell or a count of tets, not both");
    const auto memory = [](double count) { return count * bytes_per_tet / 1e9; };
    if (!options.cell) {
        const double count =
            static_cast<double>(options.count.value_or(TetrahedraliseOptions::default_count));
        if (!(count >= smallest_count))
            throw InputError(
                fmt::format("count = {} is too few for a body; take at least {}", count, smallest_count));
        if (count > largest_count)
            throw InputError(
                fmt::format("count = {:.3g} would take about {:.0f} GB of memory; take at most {:.3g}", count,
                            memory(count), largest_count));
        return expected_cell(body, count);
    }
    const double cell = require_positive("cell", *options.cell) / size;
    const double count = expected_count(body, cell);
    if (count < smallest_count)
        throw InputError(fmt::format("cell = {:.4g} is too coarse for this body; take at most {:.4g}",
                                     *options.cell, expected_cell(body, smallest_count) * size));
    if (count > largest_count)
        throw InputError(fmt::format(
            "cell = {:.4g} would make {:.3g} tets and take about {:.0f} GB of memory; take at least {:.4g}",
            *options.cell, count, memory(count), expected_cell(body, largest_count) * size));
    return cell;
}

/// The triangles of separate parts of the boundary with less than a hundredth of the volume.
std::vector<bool> loose_triangles(const TriangleMesh& boundary)
{
    UnionFind parts(static_cast<int>(boundary.vertex_count()));
    for (Index t = 0; t < boundary.triangle_count(); ++t)
        for (int c = 1; c < 3; ++c) parts.join(boundary.triangles(0, t), boundary.triangles(c, t));
    std::vector<double> volumes(static_cast<std::size_t>(boundary.vertex_count()), 0.0);
    double whole = 0.0;
    for (Index t = 0; t < boundary.triangle_count(); ++t) {
        const auto corner = [&](int c) -> Vec3 { return boundary.vertices.col(boundary.triangles(c, t)); };
        const double v = tet_volume(Vec3::Zero(), corner(0), corner(1), corner(2));
        volumes[static_cast<std::size_t>(parts.root(boundary.triangles(0, t)))] += v;
        whole += v;
    }
    std::vector<bool> loose(static_cast<std::size_t>(boundary.triangle_count()));
    for (Index t = 0; t < boundary.triangle_count(); ++t) {
        const double v = volumes[static_cast<std::size_t>(parts.root(boundary.triangles(0, t)))];
        loose[static_cast<std::size_t>(t)] = v > 0.0 && v < 0.01 * whole; // hollows have a negative volume
    }
    return loose;
}

/// One run: from the mended body to the mesh, all in the frame.
class Mesher {
public:
    Mesher(const MendedBody& body, Progress& progress) : body_(body), progress_(progress) {}

    void sample(double cell);
    void make(double level);
    void search_cell(double count);
    void fit();
    void make_and_fit()
    {
        make(0.0);
        fit();
    }
    void report(TetrahedraliseReport& report) const;
    TetMesh take_mesh() { return std::move(mesh_); }
    const TetMesh& mesh() const { return mesh_; }
    /// So many runs have been made that more would only cost time.
    bool tired() const { return runs_ >= most_runs; }

private:
    double cell() const { return lattice_->cell(); }
    double better_level() const;
    Index hold_missed_parts();
    Index hold(const SurfaceSample& sample, double limit);
    Index hold_beyond_webs(const TriangleMesh& boundary);
    void add_notes(TetrahedraliseReport& report) const;

    const MendedBody& body_;
    Progress& progress_;
    std::optional<LevelLattice> lattice_;
    std::vector<SurfaceSample> samples_; ///< of the body's surface, for this cell
    double hold_ = hold_radius;          ///< parts and gaps are widened to twice this [cells]
    double level_ = 0.0;
    int runs_ = 0;
    TetMesh mesh_;
    TidyReport tidy_;
};

void Mesher::sample(double cell)
{
    const double hold = hold_ * cell;
    lattice_.emplace([this, hold](const Vec3& x) { return body_.widened_distance(x, hold); },
                     bounds(body_.surface().vertices),
                     LatticeOptions{.cell = cell,
                                    .reach = hold + largest_offset * cell,
                                    .sampling = body_.closed() ? LatticeSampling::NearTheSurface
                                                               : LatticeSampling::Everywhere},
                     progress_);
    samples_.clear();
    level_ = 0.0;
}

void Mesher::make(double level)
{
    level_ = level;
    ++runs_;
    mesh_ = stuff(*lattice_, level, progress_);
    tidy_ = tidy_solid(mesh_);
    // Most vertices come in without any loss of quality; for the rest some is given.
    (void)pull_boundary(mesh_, body_.query(), {.distance = pulled_distance * cell(), .smallest_angle = 10.0});
    (void)pull_boundary(mesh_, body_.query(), {.distance = pulled_distance * cell(), .smallest_angle = 8.6});
}

/// Makes the cell finer or coarser until the count is met: a secant in logarithms, kept between the nearest cells
/// known to be too fine and too coarse. Counts of coarse lattices jump, so the nearest one is taken in the end.
void Mesher::search_cell(double count)
{
    double too_fine = 0.0, too_coarse = std::numeric_limits<double>::infinity();
    double best_cell = cell(), best_miss = std::numeric_limits<double>::infinity();
    const auto miss = [&] { return std::log(static_cast<double>(mesh_.tet_count()) / count); };
    for (int round = 0; round < 10 && !tired(); ++round) {
        make(0.0);
        const bool first_guess_is_off = round == 0 && std::abs(miss()) > 3.0 * count_tolerance;
        if (!first_guess_is_off) {
            fit();
            if (std::abs(miss()) < count_tolerance) return;
        }
        if (mesh_.tet_count() == 0) {
            too_coarse = cell();
            sample(std::max(0.7 * cell(), std::sqrt(too_fine * cell())));
            continue;
        }
        if (!first_guess_is_off && std::abs(miss()) < best_miss) {
            best_miss = std::abs(miss());
            best_cell = cell();
        }
        (miss() > 0.0 ? too_fine : too_coarse) = cell();
        double next = cell() * std::exp(miss() / 2.8); // between a solid (3) and a sheet (2)
        if (next <= too_fine || next >= too_coarse) next = std::sqrt(too_fine * too_coarse);
        sample(next);
    }
    sample(best_cell);
    make(0.0);
    fit();
}

/// Offsets the level set to the volume, and holds what the lattice missed.
void Mesher::fit()
{
    if (mesh_.tet_count() == 0) return;
    samples_ = sample_surface(body_.surface(), sample_spacing * cell());
    if (body_.overlaps()) // what lies inside the body bounds nothing
        std::erase_if(samples_, [this](const SurfaceSample& s) {
            return body_.query().inside(s.point + 1e-5 * cell() * s.normal);
        });
    for (int round = 0; round < 6 && !tired(); ++round) {
        const double level = better_level();
        const Index held = round > 0 || level == level_ ? hold_missed_parts() : 0;
        if (level == level_ && held == 0) break;
        make(level);
        if (mesh_.tet_count() == 0) return;
    }
    const bool too_much = level_ == -largest_offset * cell() && volume(mesh_) > 1.01 * body_.volume();
    if (!too_much || hold_ < smallest_hold_radius || tired()) return;
    hold_ *= 0.6; // so thin that widening makes too much of it
    sample(cell());
    make(0.0);
    if (mesh_.tet_count() > 0) return fit();
    hold_ /= 0.6; // nothing is left without it
    sample(cell());
    make(0.0);
}

/// Newton's method: the volume grows by the area of the boundary times the offset.
double Mesher::better_level() const
{
    const double missing = body_.volume() - volume(mesh_);
    if (std::abs(missing) < volume_tolerance * body_.volume()) return level_;
    const double limit = largest_offset * cell();
    return std::clamp(level_ + missing / area(boundary_surface(mesh_)), -limit, limit);
}

/// Holds lattice vertices where the surface is far from the boundary of the tets; returns how many of them are new.
/// Thin neighbours of what was missed are held with it, so that it hangs on to the rest.
Index Mesher::hold_missed_parts()
{
    const SurfaceQuery boundary(boundary_surface(mesh_));
    const std::vector<bool> loose = loose_triangles(boundary.mesh());
    std::vector<std::uint8_t> missed(samples_.size());
    parallel_for(static_cast<Index>(samples_.size()), 256, [&](Index i) {
        const std::size_t s = static_cast<std::size_t>(i);
        const auto closest = boundary.closest_point(samples_[s].point, missed_distance * cell());
        missed[s] = !closest || loose[static_cast<std::size_t>(closest->triangle)];
    });
    const auto box = [this](const SurfaceSample& s) {
        const Vec3 b = (s.point / cell()).array().floor();
        return std::array<int, 3>{static_cast<int>(b[0]), static_cast<int>(b[1]), static_cast<int>(b[2])};
    };
    std::set<std::array<int, 3>> around; // boxes of a cell that hold something missed, and their neighbours
    for (std::size_t s = 0; s < samples_.size(); ++s) {
        if (!missed[s]) continue;
        const auto b = box(samples_[s]);
        for (int n = 0; n < 27; ++n)
            around.insert({b[0] + n % 3 - 1, b[1] + n / 3 % 3 - 1, b[2] + n / 9 - 1});
    }
    Index held = 0;
    for (std::size_t s = 0; s < samples_.size() && !around.empty(); ++s)
        if (missed[s] || around.contains(box(samples_[s])))
            held += hold(samples_[s], missed[s] ? 2.0 * cell() : 2.0 * hold_ * cell());
    return held + hold_beyond_webs(boundary.mesh());
}

/// Faces of the boundary can span a hollow like a web: there, the lattice vertices that are clear of the surface are
/// kept off it.
Index Mesher::hold_beyond_webs(const TriangleMesh& boundary)
{
    const std::vector<SurfaceSample> samples = sample_surface(boundary, sample_spacing * cell());
    std::vector<std::uint8_t> far(samples.size());
    parallel_for(static_cast<Index>(samples.size()), 256, [&](Index i) {
        const std::size_t s = static_cast<std::size_t>(i);
        far[s] = !body_.query().closest_point(samples[s].point, web_distance * cell());
    });
    Index held = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        if (!far[s]) continue;
        const bool inside = body_.query().inside(samples[s].point);
        for (int n = 0; n < 27; ++n) {
            const Vec3 step = 0.5 * cell() * Vec3(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
            const std::int64_t slot = lattice_->nearest_slot(samples[s].point + step);
            if (slot < 0 || lattice_->is_held(slot)) continue;
            if ((inside ? -1.0 : 1.0) * lattice_->value(slot) < clear_of_surface * cell()) continue;
            inside ? lattice_->hold_inside(slot) : lattice_->hold_outside(slot);
            ++held;
        }
    }
    return held;
}

/// Holds the vertex in the middle of the thinner of the two sides, the body behind the surface or the gap before it, if
/// that is thinner than `limit`.
Index Mesher::hold(const SurfaceSample& sample, double limit)
{
    using Side = MendedBody::Side;
    constexpr double none = std::numeric_limits<double>::infinity();
    const double body = body_.depth(sample.point, -sample.normal, Side::Inside, limit).value_or(none);
    const double gap = body_.depth(sample.point, sample.normal, Side::Outside, limit).value_or(none);
    if (!(std::min(body, gap) < limit)) return 0;
    const bool inside = body <= gap;
    const double middle = 0.5 * std::min({body, gap, cell()});
    const std::int64_t slot =
        lattice_->nearest_slot(sample.point + (inside ? -middle : middle) * sample.normal);
    if (slot < 0 || lattice_->is_held(slot)) return 0;
    inside ? lattice_->hold_inside(slot) : lattice_->hold_outside(slot);
    return 1;
}

void Mesher::report(TetrahedraliseReport& report) const
{
    progress_.begin("measure", 3);
    const TriangleMesh boundary = boundary_surface(mesh_);
    report.cell = cell();
    report.level_offset = level_ / cell();
    report.tets = mesh_.tet_count();
    report.parts = tidy_.parts;
    report.smallest_dihedral = smallest_dihedral_angle(mesh_);
    if (body_.volume_is_exact()) report.volume_ratio = volume(mesh_) / body_.volume();
    report.surface_to_tets = largest_distance(samples_, SurfaceQuery(boundary)) / cell();
    progress_.advance();
    report.tets_to_surface =
        largest_distance(sample_surface(boundary, sample_spacing * cell()), body_.query()) / cell();
    progress_.advance();
    report.thin_parts = find_thin_parts(body_, samples_, thin_limit * cell());
    const double measured = static_cast<double>(report.tets) / expected_count(body_, cell());
    for (ThinPart& part :
         report.thin_parts) // thin bodies have more cut tets than others: a tenth more, to be safe
        part.count = static_cast<Index>(1.1 * measured * expected_count(body_, part.thickness / thin_limit));
    progress_.end();
    add_notes(report);
}

void Mesher::add_notes(TetrahedraliseReport& report) const
{
    report.assumptions = body_.notes();
    if (tidy_.dropped_parts > 0)
        report.assumptions.push_back(fmt::format("dropped {} of at most a ten-thousandth of the volume",
                                                 counted(tidy_.dropped_parts, "separate crumb")));
    if (tidy_.parts > 1)
        report.assumptions.push_back(fmt::format("the tets are {} separate bodies", tidy_.parts));
    const bool widened =
        std::any_of(report.thin_parts.begin(), report.thin_parts.end(),
                    [this](const ThinPart& part) { return part.thickness < 2.0 * hold_radius * cell(); });
    if (widened)
        report.assumptions.push_back(
            "parts thinner than a cell were widened to about a cell, not to lose them");
}

TetrahedraliseResult finish(Mesher& mesher)
{
    if (mesher.mesh().tet_count() == 0)
        throw InputError("the body is thinner than the lattice everywhere; take more tets or a smaller cell");
    TetrahedraliseResult result;
    mesher.report(result.report);
    result.mesh = mesher.take_mesh();
    return result;
}

double worst_distance(const TetrahedraliseReport& report)
{
    return std::max(report.surface_to_tets, report.tets_to_surface);
}

/// Where lattice and body meet unluckily, a cell that is a little smaller often does better.
void try_other_lattices(const MendedBody& body, Progress& progress, TetrahedraliseResult& result)
{
    const double cell = result.report.cell;
    for (int attempt = 1; attempt <= 3 && worst_distance(result.report) > wanted_distance; ++attempt) {
        Mesher mesher(body, progress);
        mesher.sample(cell * (1.0 - 0.01 * attempt));
        mesher.make_and_fit();
        if (mesher.mesh().tet_count() == 0) return;
        TetrahedraliseResult other = finish(mesher);
        if (worst_distance(other.report) < worst_distance(result.report)) result = std::move(other);
    }
}

/// From the frame back to the caller's units.
void leave_frame(const Frame& frame, TetrahedraliseResult& result)
{
    result.mesh.vertices = frame.leave(result.mesh.vertices);
    result.report.cell *= frame.size;
    for (ThinPart& part : result.report.thin_parts) {
        part.centre = part.centre * frame.size + frame.centre;
        part.thickness *= frame.size;
    }
}

} // namespace

TetrahedraliseResult tetrahedralise(TriangleMesh surface, const TetrahedraliseOptions& options,
                                    Progress& progress)
{
    require_valid(surface);
    surface.fields.clear();
    drop_unused_vertices(surface);
    if (surface.triangle_count() == 0) throw InputError("the surface has no triangles");
    std::vector<std::string> mended;
    surface = mend(std::move(surface), mended);
    const Frame frame(bounds(surface.vertices));
    surface.vertices = frame.enter(surface.vertices);
    const MendedBody body(std::move(surface));

    const double cell = first_cell(body, options, frame.size);
    Mesher mesher(body, progress);
    mesher.sample(cell);
    if (options.cell)
        mesher.make_and_fit();
    else
        mesher.search_cell(static_cast<double>(options.count.value_or(TetrahedraliseOptions::default_count)));
    TetrahedraliseResult result = finish(mesher);
    if (!options.cell && !mesher.tired()) try_other_lattices(body, progress, result);
    leave_frame(frame, result);
    result.report.assumptions.insert(result.report.assumptions.begin(), mended.begin(), mended.end());
    if (options.count &&
        std::abs(static_cast<double>(result.report.tets) / static_cast<double>(*options.count) - 1.0) > 0.2)
        result.report.assumptions.push_back(fmt::format(
            "{} tets were asked for, but no lattice that holds this body has about as many", *options.count));
    return result;
}

} // namespace lithe
