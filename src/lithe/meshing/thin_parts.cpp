#include "lithe/meshing/thin_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "lithe/core/parallel.hpp"
#include "lithe/core/union_find.hpp"

namespace lithe {
namespace {

constexpr std::size_t most_parts = 20;
constexpr double smallest_share = 1e-4;

Vec3 triangle_normal(const TriangleMesh& mesh, int t)
{
    const Vec3 a = mesh.vertices.col(mesh.triangles(0, t));
    const Vec3 b = mesh.vertices.col(mesh.triangles(1, t)), c = mesh.vertices.col(mesh.triangles(2, t));
    return (b - a).cross(c - a).normalized();
}

/// The thickness behind a sample, or `limit` when it is not less.
double thickness(const MendedBody& body, const SurfaceSample& sample, double limit)
{
    const auto depth = body.depth(sample.point, -sample.normal, MendedBody::Side::Inside, limit);
    if (!depth || *depth >= limit) return limit;
    const int wall = body.query().closest_point(sample.point - *depth * sample.normal).triangle;
    return triangle_normal(body.surface(), wall).dot(-sample.normal) < 0.5 ? limit : *depth;
}

struct ThinSample {
    const SurfaceSample* sample;
    double thickness;
    std::array<int, 3> box; ///< of a grid as fine as the limit
};

std::vector<ThinSample> thin_samples(const MendedBody& body, const std::vector<SurfaceSample>& samples,
                                     double limit)
{
    std::vector<double> all(samples.size());
    parallel_for(static_cast<Index>(samples.size()), 256, [&](Index i) {
        const std::size_t s = static_cast<std::size_t>(i);
        all[s] = samples[s].area > 0.0 ? thickness(body, samples[s], limit) : limit;
    });
    const Vec3 origin = bounds(body.surface().vertices).min();
    std::vector<ThinSample> thin;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        if (all[s] >= limit) continue;
        const Vec3 box = ((samples[s].point - origin) / limit).array().floor();
        thin.push_back({&samples[s],
                        all[s],
                        {static_cast<int>(box[0]), static_cast<int>(box[1]), static_cast<int>(box[2])}});
    }
    return thin;
}

/// Samples in the same or in touching boxes belong together.
std::vector<int> cluster(const std::vector<ThinSample>& thin)
{
    std::map<std::array<int, 3>, int> first; // sample of each box
    UnionFind sets(static_cast<int>(thin.size()));
    for (int i = 0; i < static_cast<int>(thin.size()); ++i)
        sets.join(i, first.try_emplace(thin[static_cast<std::size_t>(i)].box, i).first->second);
    for (const auto& [box, i] : first)
        for (int n = 0; n < 27; ++n) {
            const auto other = first.find({box[0] + n % 3 - 1, box[1] + n / 3 % 3 - 1, box[2] + n / 9 - 1});
            if (other != first.end()) sets.join(i, other->second);
        }
    std::vector<int> label(thin.size());
    for (int i = 0; i < static_cast<int>(thin.size()); ++i) label[static_cast<std::size_t>(i)] = sets.root(i);
    return label;
}

/// The thickness below which a quarter of the area lies.
double lower_quartile(std::vector<const ThinSample*>& part, double area)
{
    std::stable_sort(part.begin(), part.end(),
                     [](const ThinSample* a, const ThinSample* b) { return a->thickness < b->thickness; });
    double below = 0.0;
    for (const ThinSample* s : part)
        if ((below += s->sample->area) >= 0.25 * area) return s->thickness;
    return part.back()->thickness;
}

} // namespace

std::vector<ThinPart> find_thin_parts(const MendedBody& body, const std::vector<SurfaceSample>& samples,
                                      double limit)
{
    const std::vector<ThinSample> thin = thin_samples(body, samples, limit);
    const std::vector<int> label = cluster(thin);
    std::map<int, std::vector<const ThinSample*>> groups;
    for (std::size_t i = 0; i < thin.size(); ++i) groups[label[i]].push_back(&thin[i]);

    const double whole = area(body.surface());
    std::vector<ThinPart> parts;
    for (auto& [root, group] : groups) {
        ThinPart part;
        double part_area = 0.0;
        for (const ThinSample* s : group) {
            part_area += s->sample->area;
            part.centre += s->sample->area * (s->sample->point - 0.5 * s->thickness * s->sample->normal);
        }
        part.centre /= part_area;
        part.share = part_area / whole;
        part.thickness = lower_quartile(group, part_area);
        if (part.share >= smallest_share) parts.push_back(part);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const ThinPart& a, const ThinPart& b) { return a.share > b.share; });
    if (parts.size() > most_parts) parts.resize(most_parts);
    return parts;
}

} // namespace lithe
