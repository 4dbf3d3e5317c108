#include "lithe/rig/centre_lines.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr int smoothing_passes = 12;
constexpr int steps = 200;               ///< in which a line is looked through
constexpr double least_prominence = 1.4; // of the radius where the limb starts
constexpr double least_extent = 1.0 / 14.0;
constexpr std::size_t most_limbs = 16;

int farthest(const BodyGraph::Search& search)
{
    return static_cast<int>(std::max_element(search.distance.begin(), search.distance.end()) -
                            search.distance.begin());
}

} // namespace

CentreLine::CentreLine(const BodyGraph& graph, const std::vector<int>& way)
{
    LITHE_ASSERT(!way.empty());
    for (const int point : way) {
        places_.push_back(graph.place(point));
        depths_.push_back(graph.depth(point));
    }
    for (int pass = 0; pass < smoothing_passes; ++pass) {
        Vec3 before = places_.front();
        for (std::size_t i = 1; i + 1 < places_.size(); ++i) {
            const Vec3 here = places_[i];
            places_[i] = 0.25 * before + 0.5 * here + 0.25 * places_[i + 1];
            before = here;
        }
    }
    along_.push_back(0.0);
    for (std::size_t i = 1; i < places_.size(); ++i)
        along_.push_back(along_.back() + (places_[i] - places_[i - 1]).norm());
}

Vec3 CentreLine::at(double share) const
{
    const double s = std::clamp(share, 0.0, 1.0) * length();
    const auto after = std::upper_bound(along_.begin(), along_.end(), s);
    if (after == along_.end()) return places_.back();
    const auto i = static_cast<std::size_t>(after - along_.begin()); // at least 1: the first is 0
    const double t = (s - along_[i - 1]) / (along_[i] - along_[i - 1]);
    return (1.0 - t) * places_[i - 1] + t * places_[i];
}

double CentreLine::depth(double share) const
{
    const double s = std::clamp(share, 0.0, 1.0) * length();
    const auto at = std::lower_bound(along_.begin(), along_.end(), s);
    return depths_[std::min(static_cast<std::size_t>(at - along_.begin()), depths_.size() - 1)];
}

double CentreLine::mean_depth(double from, double to) const
{
    double sum = 0.0;
    for (int i = 0; i < steps; ++i) sum += depth(from + (to - from) * (i + 0.5) / steps);
    return sum / steps;
}

double CentreLine::thinnest(double from, double to) const
{
    double best = from;
    for (int i = 1; i <= steps; ++i) {
        const double share = from + (to - from) * i / steps;
        if (depth(share) < depth(best)) best = share;
    }
    return best;
}

double CentreLine::bend(double from, double to, double tolerance) const
{
    const Vec3 a = at(from), chord = (at(to) - a).normalized();
    double best = to, most = tolerance * length();
    for (int i = 1; i < steps; ++i) {
        const double share = from + (to - from) * i / steps;
        const Vec3 d = at(share) - a;
        const double away = (d - d.dot(chord) * chord).norm();
        if (away <= most) continue;
        most = away;
        best = share;
    }
    return best;
}

std::vector<Limb> find_limbs(const BodyGraph& graph, Progress& progress)
{
    using enum BodyGraph::Metric;
    progress.begin("limbs", most_limbs);
    std::vector<Limb> limbs;
    std::vector<int> lines = {graph.deepest()};
    double extent = 0.0;
    while (limbs.size() < most_limbs) {
        const BodyGraph::Search lengths = graph.search(lines, Length);
        const int tip = farthest(lengths);
        const double length = lengths.distance[static_cast<std::size_t>(tip)];
        extent = std::max(extent, 2.0 * length); // the first is the longest: about half of the body
        const std::vector<int> way = BodyGraph::way(graph.search(lines, Centred), tip);
        if (length < least_prominence * graph.depth(way.front()) || length < least_extent * extent) break;
        limbs.push_back({tip, length});
        lines.insert(lines.end(), way.begin() + 1, way.end());
        progress.advance();
    }
    progress.end();
    return limbs;
}

std::size_t common_points(const std::vector<int>& a, const std::vector<int>& b)
{
    const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    (void)other;
    return static_cast<std::size_t>(end - a.begin());
}

} // namespace lithe
