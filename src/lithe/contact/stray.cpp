#include "lithe/contact/stray.hpp"

#include <algorithm>
#include <cmath>

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

MeanWays mean_ways(const ChangedWays& ways, std::span<const int> vertices)
{
    MeanWays mean;
    if (vertices.empty()) return mean;
    for (const int v : vertices) {
        mean.then += way_then(ways, v);
        mean.now += way_now(ways, v);
    }
    mean.then /= static_cast<double>(vertices.size());
    mean.now /= static_cast<double>(vertices.size());
    for (const int v : vertices) {
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

double stray(const ChangedWays& a, std::span<const int> of_a, const MeanWays& b)
{
    double farthest = 0.0;
    for (const int v : of_a) farthest = std::max(farthest, stray(a, v, b));
    return farthest;
}

} // namespace

double change(const ChangedWays& ways)
{
    return std::sqrt((ways.now.end - ways.end_then).colwise().squaredNorm().maxCoeff());
}

double stray(const ChangedWays& a, std::span<const int> of_a, const ChangedWays& b, std::span<const int> of_b)
{
    return stray(a, of_a, mean_ways(b, of_b));
}

double stray(const ChangedWays& a, std::span<const int> of_a, const Vec3& way_b)
{
    return stray(a, of_a, MeanWays{.then = way_b, .now = way_b});
}

} // namespace lithe
