#pragma once
#include <array>

#include "lithe/math/types.hpp"

namespace lithe {

/// A point on its straight way through a step: x + s dx, s from 0 to 1.
struct MovingPoint {
    Vec3 x;  ///< at the start [m]
    Vec3 dx; ///< until the end [m]
    Vec3 at(double s) const { return x + s * dx; }
};

struct ApproachLimits {
    double reach;     ///< farther apart than this is not of interest [m]
    double thickness; ///< distance at which two features touch [m], >= 0
    double tolerance; ///< so much farther apart they touch as well [m], > 0, below reach - thickness
};

/// How near two features come to each other on their ways.
struct Approach {
    enum class Kind {
        Clear,   ///< never within reach
        Passes,  ///< within reach, but they do not touch: as they are when they are nearest
        Touches, ///< as they are when they touch first
    };
    Kind kind = Kind::Clear;
    double time = 0.0;          ///< s
    Vec3 offset = Vec3::Zero(); ///< from the nearest point of b to that of a, at that time [m]
    Vec3 weights_a = {1, 0, 0}; ///< of the nearest point of a in its corners
    Vec3 weights_b = {1, 0, 0}; ///< of b
    Vec3 motion = Vec3::Zero(); ///< of a against b at these points over the whole step [m]
};

/// A vertex a against a triangle b, and an edge against an edge. No touch is missed: time goes on only as far as a
/// plane between the two is sure to keep them apart. Triangles without area and edges without length are points or
/// segments.
Approach approach(const MovingPoint& a, const std::array<MovingPoint, 3>& b, const ApproachLimits& limits);
Approach approach(const std::array<MovingPoint, 2>& a, const std::array<MovingPoint, 2>& b,
                  const ApproachLimits& limits);

/// The nearest points of two segments: a0 + s (a1 - a0) and b0 + t (b1 - b0).  [Eri05]
struct SegmentPair {
    double s, t; ///< each in [0, 1]
};
SegmentPair closest_on_segments(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

/// Goes to the first moment after `first` at which a convex function on [0, 1] is least: `rate(s)` is its derivative
/// there, or 0 when that is small enough. Secants with Illinois' halving, since derivatives here are nearly linear.
template <class Rate>
void seek_least(double first, const Rate& rate)
{
    constexpr int most_secants = 40;
    double near = first, far = 1.0, near_rate = rate(near);
    if (near_rate >= 0.0) return;
    double far_rate = rate(far);
    for (int i = 0; i < most_secants && far_rate > 0.0; ++i) {
        const double s = (near * far_rate - far * near_rate) / (far_rate - near_rate), r = rate(s);
        if (r == 0.0) return;
        if (r > 0.0) {
            far = s;
            far_rate = r;
            near_rate *= 0.5;
        } else {
            near = s;
            near_rate = r;
            far_rate *= 0.5;
        }
    }
}

} // namespace lithe
