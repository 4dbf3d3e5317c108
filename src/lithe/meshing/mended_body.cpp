#include "lithe/meshing/mended_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/repair.hpp"
#include "lithe/meshing/surface_samples.hpp"

namespace lithe {
namespace {

constexpr double weld_share = 1e-9;      // of the size: vertices nearer than that are one
constexpr double largest_lid = 0.45;     // of the area: more than that to close, and it was a sheet
constexpr double smallest_volume = 1e-7; // in units of area^1.5; a sphere has 0.094
constexpr double least_buried = 0.02;    // of the area: less may be a self-intersection as in any scan

[[noreturn]] void refuse_sheet()
{
    throw InputError(
        "the surface encloses no volume (an open sheet?); close it or give it a thickness first");
}

/// What the samples say about the surface: which share of it lies inside the solid, and the volume within the rest.
struct Exposure {
    double buried = 0.0; ///< share of the area, in [0, 1]
    double volume = 0.0; ///< by the divergence theorem [m^3]
};

Exposure measure_exposure(const SurfaceQuery& query, const std::vector<SurfaceSample>& samples, double skin)
{
    const Vec3 centre = bounds(query.mesh().vertices).center();
    struct Sums {
        double area = 0.0, buried = 0.0, volume = 0.0;
    };
    const Sums sums = parallel_reduce(
        static_cast<Index>(samples.size()), 64, Sums{},
        [&](Index begin, Index end) {
            Sums part;
            for (Index i = begin; i < end; ++i) {
                const SurfaceSample& s = samples[static_cast<std::size_t>(i)];
                const bool outer = !query.inside(s.point + skin * s.normal);
                part.area += s.area;
                if (!outer) part.buried += s.area;
                if (outer && query.inside(s.point - skin * s.normal))
                    part.volume += (s.point - centre).dot(s.normal) * s.area / 3.0;
            }
            return part;
        },
        [](const Sums& a, const Sums& b) {
            return Sums{a.area + b.area, a.buried + b.buried, a.volume + b.volume};
        });
    return {sums.buried / sums.area, sums.volume};
}

} // namespace

TriangleMesh mend(TriangleMesh surface, std::vector<std::string>& notes)
{
    require_valid(surface);
    const auto add = [&notes](const std::vector<std::string>& more) {
        notes.insert(notes.end(), more.begin(), more.end());
    };
    add(weld(surface, weld_share * bounds(surface.vertices).diagonal().norm()).notes);
    add(drop_degenerate(surface).notes);
    add(orient(surface).notes);
    if (surface.triangle_count() == 0) refuse_sheet();
    if (count_edges(surface.triangles).border == 0) return surface;

    const double open_area = area(surface);
    add(fill_holes(surface, std::numeric_limits<Index>::max()).notes);
    if (area(surface) - open_area > largest_lid * area(surface)) refuse_sheet();
    add(orient(surface).notes);
    return surface;
}

MendedBody::MendedBody(TriangleMesh mended) : query_(std::move(mended))
{
    const EdgeCensus edges = count_edges(this->surface().triangles);
    area_ = lithe::area(this->surface());
    volume_ = lithe::volume(this->surface());
    closed_ = edges.border == 0 && edges.inconsistent == 0;
    estimate_volume();
    if (!(volume_ > smallest_volume * std::pow(area_, 1.5))) refuse_sheet();
}

/// Replaces the volume of the triangles by that of the solid where they differ.
void MendedBody::estimate_volume()
{
    const double size = bounds(surface().vertices).diagonal().norm();
    std::vector<SurfaceSample> samples = sample_surface(surface(), std::sqrt(area_ / 2000.0));
    std::erase_if(samples, [](const SurfaceSample& s) { return s.area == 0.0; });
    std::vector<SurfaceSample> few;
    for (std::size_t i = 0; i < samples.size(); i += std::max<std::size_t>(1, samples.size() / 4000))
        few.push_back(samples[i]);

    const double buried = measure_exposure(query_, few, 1e-5 * size).buried;
    if (closed_ && buried < least_buried) return;
    volume_is_exact_ = false;
    overlaps_ = buried >= least_buried;
    volume_ = measure_exposure(query_, samples, 1e-5 * size).volume;
    if (overlaps_)
        notes_.push_back(fmt::format(
            "{:.0f} % of the surface lies inside the body (overlapping shells): they were united, "
            "and the volume is an estimate",
            100.0 * buried));
    if (!closed_)
        notes_.push_back(
            "the surface still has openings or contradicting sides: what is inside was decided by winding "
            "numbers, and the volume is an estimate");
}

std::optional<double> MendedBody::depth(const Vec3& point, const Vec3& direction, Side side,
                                        double limit) const
{
    const double skin = 1e-5 * limit;
    const auto wall = query_.cast_ray(point + skin * direction, direction, limit);
    if (!wall) return {};
    if (!overlaps_) return wall->t + skin; // every wall is one; a few self-intersections are opened like gaps
    const bool wanted = side == Side::Inside;
    const bool through = query_.inside(point + (0.5 * wall->t + skin) * direction) == wanted;
    const bool ends = query_.inside(point + (wall->t + 2.0 * skin) * direction) != wanted;
    return through && ends ? std::optional(wall->t + skin) : std::nullopt;
}

double MendedBody::widened_distance(const Vec3& x, double hold) const
{
    const ClosestPoint closest = query_.closest_point(x);
    const bool inside = query_.inside(x);
    const double distance = inside ? -closest.distance : closest.distance;
    if (closest.distance >= hold || closest.distance < 1e-9 * hold) return distance;

    const Vec3 onward = (closest.point - x) / closest.distance;
    const auto behind = depth(closest.point, onward, inside ? Side::Outside : Side::Inside, 2.0 * hold);
    if (!behind) return distance;
    const auto back = query_.cast_ray(x, -onward, *behind);
    if (back && back->t + closest.distance < *behind) return distance;
    const double widening = hold - 0.5 * *behind;
    return inside ? distance + widening : distance - widening;
}

} // namespace lithe
