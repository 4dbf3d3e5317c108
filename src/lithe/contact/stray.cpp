#include "lithe/contact/stray.hpp"

#include <algorithm>

namespace lithe {
namespace {

/// How a part of a surface moves, seen as a whole.
struct MeanWays {
    Vec3 then = Vec3::Zero(), now = Vec3::Zero();
    double stir = 0.0;   ///< how far single vertices went from the mean [m]
    double change = 0.0; ///< by how much that has changed [m]
};

Vec3 way_then(const ChangedWays& ways, Index v)
{
    return ways.end_then.col(v) - ways.now.start.col(v);
}
Vec3 way_now(const ChangedWays& ways, Index v)
{
    return ways.now.end.col(v) - ways.now.start.col(v);
}

bool is_in(const Box3& box, const ChangedWays& ways, Index v)
{
    return box.contains(Vec3(ways.now.start.col(v))) || box.contains(Vec3(ways.now.end.col(v)));
}

MeanWays mean_ways(const ChangedWays& ways, const Box3& where)
{
    MeanWays mean;
    double count = 0.0;
    for (Index v = 0; v < ways.now.start.cols(); ++v) {
        if (!is_in(where, ways, v)) continue;
        mean.then += way_then(ways, v);
        mean.now += way_now(ways, v);
        count += 1.0;
    }
    if (count == 0.0) return mean;
    mean.then /= count;
    mean.now /= count;
    for (Index v = 0; v < ways.now.start.cols(); ++v) {
        if (!is_in(where, ways, v)) continue;
        const Vec3 then = way_then(ways, v) - mean.then, now = way_now(ways, v) - mean.now;
        mean.stir = std::max(mean.stir, then.norm());
        mean.change = std::max(mean.change, (now - then).norm());
    }
    return mean;
}

/// With r the way of a vertex seen from the mean of b, and t r its point nearest to the way r' of now, no point of b sees the
/// vertex end farther than  |r' - t r| + (1 - t) stir + change  from its old way.
double stray(const ChangedWays& a, Index v, const MeanWays& b)
{
    const Vec3 then = way_then(a, v) - b.then, now = way_now(a, v) - b.now;
    const double square = then.squaredNorm();
    const double t = square > 0.0 ? std::clamp(now.dot(then) / square, 0.0, 1.0) : 1.0;
    return (now - t * then).norm() + (1.0 - t) * b.stir + b.change;
}

} // namespace

double stray(const ChangedWays& a, const ChangedWays& b, const Box3& where)
{
    const MeanWays mean = mean_ways(b, where);
    double farthest = 0.0;
    for (Index v = 0; v < a.now.start.cols(); ++v)
        if (is_in(where, a, v)) farthest = std::max(farthest, stray(a, v, mean));
    return farthest;
}

double stray(const ChangedWays& a, const Vec3& way_b)
{
    const MeanWays mean{.then = way_b, .now = way_b};
    double farthest = 0.0;
    for (Index v = 0; v < a.now.start.cols(); ++v) farthest = std::max(farthest, stray(a, v, mean));
    return farthest;
}

} // namespace lithe
