#include "lithe/contact/continuous.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/geometry/surface_query.hpp"

namespace lithe {
namespace {

constexpr int most_advances =
    250; ///< most pairs take two or three; those that still creep then count as touching
constexpr double still = 1e-6; ///< cosine between offset and motion at which they are at right angles

double clamped(double x)
{
    return std::clamp(x, 0.0, 1.0);
}

/// Until when the plane across `direction` keeps all corners of the difference a - b farther than `aim` from the
/// origin: each corner's height n.(x + s dx) is linear in s, and above `aim` now.
template <std::size_t N>
double safe_until(const std::array<MovingPoint, N>& corners, const Vec3& direction, double aim, double s)
{
    double until = std::numeric_limits<double>::infinity();
    for (const MovingPoint& corner : corners) {
        const double rate = direction.dot(corner.dx);
        if (rate >= 0.0) continue;
        until = std::min(until, s + std::max(0.0, (direction.dot(corner.at(s)) - aim) / -rate));
    }
    return until;
}

/// Conservative advancement of the convex difference a - b, with corners that move on straight lines, towards the
/// origin. `nearest(s, out)` finds its point nearest to the origin and how that point moves.
template <std::size_t N, class Nearest>
class Advance {
public:
    Advance(const std::array<MovingPoint, N>& corners, const Nearest& nearest, const ApproachLimits& limits)
        : corners_(corners), nearest_(nearest), limits_(limits)
    {
    }

    Approach run()
    {
        look(0.0);
        if (!advance(limits_.reach, 0.995 * limits_.reach)) return {};
        const double entered = at_.time;
        if (advance(limits_.thickness + limits_.tolerance, limits_.thickness + 0.5 * limits_.tolerance)) {
            at_.kind = Approach::Kind::Touches;
            return at_;
        }
        seek_least(entered, [&](double s) { return rate(s); }); // convex as long as the features do not turn
        best_.kind = Approach::Kind::Passes;
        return best_;
    }

private:
    void look(double s)
    {
        at_.time = s;
        nearest_(s, at_);
        distance_ = at_.offset.norm();
        if (distance_ >= best_distance_) return;
        best_ = at_;
        best_distance_ = distance_;
    }

    /// Goes on until the distance is at most `goal`; false when it stays above `aim` until the end.
    bool advance(double goal, double aim)
    {
        for (int i = 0; i < most_advances && distance_ > goal; ++i) {
            const double next = safe_until(corners_, at_.offset / distance_, aim, at_.time);
            if (next > 1.0) return false;
            look(next);
        }
        return true;
    }

    /// Half the rate of the square of the distance; linear between two changes of features.
    double rate(double s)
    {
        look(s);
        const double r = at_.offset.dot(at_.motion);
        return std::abs(r) > still * distance_ * at_.motion.norm() ? r : 0.0;
    }

    const std::array<MovingPoint, N>& corners_;
    const Nearest& nearest_;
    const ApproachLimits& limits_;
    Approach at_, best_; ///< now, and the nearest of all that were looked at
    double distance_ = 0.0, best_distance_ = std::numeric_limits<double>::infinity();
};

MovingPoint difference(const MovingPoint& a, const MovingPoint& b)
{
    return {a.x - b.x, a.dx - b.dx};
}

} // namespace

Approach approach(const MovingPoint& a, const std::array<MovingPoint, 3>& b, const ApproachLimits& limits)
{
    const std::array<MovingPoint, 3> corners = {difference(a, b[0]), difference(a, b[1]),
                                                difference(a, b[2])};
    const auto nearest = [&](double s, Approach& out) {
        const ClosestPoint closest =
            closest_point_on_triangle(Vec3::Zero(), corners[0].at(s), corners[1].at(s), corners[2].at(s));
        out.offset = closest.point;
        out.weights_b = closest.barycentric;
        out.motion = out.weights_b[0] * corners[0].dx + out.weights_b[1] * corners[1].dx +
                     out.weights_b[2] * corners[2].dx;
    };
    return Advance<3, decltype(nearest)>(corners, nearest, limits).run();
}

Approach approach(const std::array<MovingPoint, 2>& a, const std::array<MovingPoint, 2>& b,
                  const ApproachLimits& limits)
{
    const std::array<MovingPoint, 4> corners = {difference(a[0], b[0]), difference(a[0], b[1]),
                                                difference(a[1], b[0]), difference(a[1], b[1])};
    const auto nearest = [&](double s, Approach& out) {
        const SegmentPair at = closest_on_segments(a[0].at(s), a[1].at(s), b[0].at(s), b[1].at(s));
        out.weights_a = Vec3(1.0 - at.s, at.s, 0.0);
        out.weights_b = Vec3(1.0 - at.t, at.t, 0.0);
        const auto mixed = [&](const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
            return Vec3((a0 + at.s * (a1 - a0)) - (b0 + at.t * (b1 - b0)));
        };
        out.offset = mixed(a[0].at(s), a[1].at(s), b[0].at(s), b[1].at(s));
        out.motion = mixed(a[0].dx, a[1].dx, b[0].dx, b[1].dx);
    };
    return Advance<4, decltype(nearest)>(corners, nearest, limits).run();
}

SegmentPair closest_on_segments(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1)
{
    const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
    const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
    if (uu <= 0.0) return {0.0, vv > 0.0 ? clamped(vw / vv) : 0.0};
    if (vv <= 0.0) return {clamped(-uw / uu), 0.0};
    const double sine2 = uu * vv - uv * uv; // of the angle, times both lengths
    double s = sine2 > 1e-14 * uu * vv ? clamped((uv * vw - uw * vv) / sine2) : 0.0;
    double t = (uv * s + vw) / vv;
    if (t < 0.0 || t > 1.0) {
        t = clamped(t);
        s = clamped((uv * t - uw) / uu);
    }
    return {s, t};
}

} // namespace lithe
