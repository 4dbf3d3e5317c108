#include "lithe/rig/body_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/distance_field.hpp"

namespace lithe {
namespace {

constexpr double default_cells = 100.0; // along the longest side
constexpr double most_points = 4.0e5;   // of the first grid's box
constexpr double whole_enough = 0.98;   // share of the inside that hangs together
constexpr double most_grid_points = 4.0e6;
constexpr int fewest_points = 30;

double first_cell(const Box3& box)
{
    const double longest = box.sizes().maxCoeff();
    const double bulk = box.sizes().cwiseMax(longest / default_cells).prod();
    return std::max(longest / default_cells, std::cbrt(bulk / most_points));
}

/// The steps to the 26 neighbours in a grid, and their lengths in cells.
struct Steps {
    std::array<int, 26> offset;
    std::array<double, 26> length;
    explicit Steps(const Eigen::Vector3i& size)
    {
        std::size_t n = 0;
        for (int k = -1; k <= 1; ++k)
            for (int j = -1; j <= 1; ++j)
                for (int i = -1; i <= 1; ++i) {
                    if (i == 0 && j == 0 && k == 0) continue;
                    offset[n] = (k * size[1] + j) * size[0] + i;
                    length[n++] = std::sqrt(static_cast<double>(i * i + j * j + k * k));
                }
    }
};

} // namespace

BodyGraph::BodyGraph(const TriangleMesh& closed_surface, double cell, Progress& progress)
{
    const Box3 box = bounds(closed_surface.vertices);
    const bool chosen = cell == 0.0;
    cell_ = chosen ? first_cell(box) : require_positive("cell", cell);
    const double longest = box.sizes().maxCoeff();
    const double total = (box.sizes() / cell_).array().prod();
    if (total > most_grid_points)
        throw InputError(
            fmt::format("the cell is too fine for this body; use at least 1/{:.0f} of its longest side",
                        std::floor(longest / cell_ * std::cbrt(most_grid_points / total))));
    collect(closed_surface, progress);
    double kept = keep_largest_part();
    for (int finer = 0; chosen && finer < 2 && kept < whole_enough; ++finer) {
        cell_ *= 0.65;
        collect(closed_surface, progress);
        kept = keep_largest_part();
    }
    if (count() < fewest_points)
        throw InputError(fmt::format(
            "the body is thinner than the cells in which it is looked at (1/{:.0f} of its longest "
            "side); give a smaller cell or a thicker body",
            longest / cell_));
}

/// All grid points inside the surface.
void BodyGraph::collect(const TriangleMesh& surface, Progress& progress)
{
    const DistanceField field(SurfaceQuery(surface), {.cell = cell_, .margin = cell_}, progress);
    size_ = field.size();
    origin_ = field.box().min();
    node_.clear();
    depth_.clear();
    point_.assign(static_cast<std::size_t>(size_.cast<Index>().prod()), -1);
    std::vector<Vec3> places;
    for (int k = 1; k + 1 < size_[2]; ++k)
        for (int j = 1; j + 1 < size_[1]; ++j)
            for (int i = 1; i + 1 < size_[0]; ++i) {
                const Vec3 x = origin_ + cell_ * Vec3(i, j, k);
                const double depth = -field.distance(x);
                if (!(depth > 1e-3 * cell_)) continue;
                const int node = (k * size_[1] + j) * size_[0] + i;
                point_[static_cast<std::size_t>(node)] = static_cast<int>(node_.size());
                node_.push_back(node);
                depth_.push_back(depth);
                places.push_back(x);
            }
    places_.resize(3, std::ssize(places));
    for (Index p = 0; p < places_.cols(); ++p) places_.col(p) = places[static_cast<std::size_t>(p)];
}

/// Returns its share of all points.
double BodyGraph::keep_largest_part()
{
    const Steps steps(size_);
    std::vector<int> part(node_.size(), -1), sizes;
    for (int seed = 0; seed < count(); ++seed) {
        if (part[static_cast<std::size_t>(seed)] >= 0) continue;
        const int label = static_cast<int>(sizes.size());
        std::vector<int> found = {seed};
        part[static_cast<std::size_t>(seed)] = label;
        for (std::size_t i = 0; i < found.size(); ++i)
            for (const int offset : steps.offset) {
                const int next =
                    point_[static_cast<std::size_t>(node_[static_cast<std::size_t>(found[i])] + offset)];
                if (next < 0 || part[static_cast<std::size_t>(next)] >= 0) continue;
                part[static_cast<std::size_t>(next)] = label;
                found.push_back(next);
            }
        sizes.push_back(static_cast<int>(found.size()));
    }
    if (sizes.empty()) return 0.0;

    const int largest = static_cast<int>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    const auto all = static_cast<double>(node_.size());
    std::size_t kept = 0;
    for (std::size_t p = 0; p < node_.size(); ++p) {
        const bool keep = part[p] == largest;
        point_[static_cast<std::size_t>(node_[p])] = keep ? static_cast<int>(kept) : -1;
        if (!keep) continue;
        node_[kept] = node_[p];
        depth_[kept] = depth_[p];
        places_.col(static_cast<Index>(kept)) = places_.col(static_cast<Index>(p));
        ++kept;
    }
    node_.resize(kept);
    depth_.resize(kept);
    places_.conservativeResize(3, static_cast<Index>(kept));
    centroid_ = places_.rowwise().mean();
    return static_cast<double>(kept) / all;
}

int BodyGraph::deepest() const
{
    return static_cast<int>(std::max_element(depth_.begin(), depth_.end()) - depth_.begin());
}

int BodyGraph::nearest(const Vec3& x) const
{
    Index nearest = 0;
    (places_.colwise() - x).colwise().squaredNorm().minCoeff(&nearest);
    return static_cast<int>(nearest);
}

bool BodyGraph::contains(const Vec3& x) const
{
    const Vec3 at = ((x - origin_) / cell_).array().round();
    if ((at.array() < 0.0).any() || (at.array() >= size_.cast<double>().array()).any()) return false;
    const Eigen::Vector3i node = at.cast<int>();
    return point_[static_cast<std::size_t>((node[2] * size_[1] + node[1]) * size_[0] + node[0])] >= 0;
}

BodyGraph::Search BodyGraph::search(const std::vector<int>& sources, Metric metric) const
{
    const Steps steps(size_);
    Search result;
    result.distance.assign(node_.size(), std::numeric_limits<double>::infinity());
    result.before.assign(node_.size(), -1);

    using Entry = std::pair<double, int>; // equal distances: the lower index first
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const int source : sources) {
        result.distance[static_cast<std::size_t>(source)] = 0.0;
        queue.emplace(0.0, source);
    }
    const auto slowness = [&](std::size_t point) {
        const double depth = std::max(depth_[point], 0.5 * cell_);
        return metric == Metric::Length ? 1.0 : 1.0 / (depth * depth);
    };
    while (!queue.empty()) {
        const auto [distance, point] = queue.top();
        queue.pop();
        const auto from = static_cast<std::size_t>(point);
        if (distance > result.distance[from]) continue;
        for (std::size_t s = 0; s < steps.offset.size(); ++s) {
            const int next = point_[static_cast<std::size_t>(node_[from] + steps.offset[s])];
            if (next < 0) continue;
            const auto to = static_cast<std::size_t>(next);
            const double there = distance + 0.5 * steps.length[s] * cell_ * (slowness(from) + slowness(to));
            if (!(there < result.distance[to])) continue;
            result.distance[to] = there;
            result.before[to] = point;
            queue.emplace(there, next);
        }
    }
    return result;
}

std::vector<int> BodyGraph::way(const Search& search, int target)
{
    std::vector<int> way;
    for (int p = target; p >= 0; p = search.before[static_cast<std::size_t>(p)]) way.push_back(p);
    std::reverse(way.begin(), way.end());
    return way;
}

} // namespace lithe
