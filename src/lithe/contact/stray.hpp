#pragma once
#include "lithe/contact/collision_surface.hpp"

namespace lithe {

/// The ways of a surface in a step: as they are, and the ends of those on which contacts were looked for.
struct ChangedWays {
    const SweptSurface& now;
    const Points& end_then; ///< start is the same
};

/// How far vertices now end from where they were looked at. No pair strays by more than both of its sides change. [m]
double change(const ChangedWays& ways);

/// How far vertices of `a`, seen from those of `b`, may now end from the ways on which they were looked at: not at all when
/// nothing has changed, nor when the surfaces go the same ways but not to their ends. An upper bound. [m]
double stray(const ChangedWays& a, std::span<const int> of_a, const ChangedWays& b,
             std::span<const int> of_b);
/// From what goes `way_b` as a whole, then as now.
double stray(const ChangedWays& a, std::span<const int> of_a, const Vec3& way_b);

} // namespace lithe
