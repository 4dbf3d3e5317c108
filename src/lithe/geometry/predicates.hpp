#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

// The signs of determinants of the coordinates as given: exact, never a matter of rounding, as long as no product
// of three coordinate differences overflows or falls below the smallest normal number (coordinates between about
// 1e-70 and 1e70, and zero, are safe). Most calls are decided by a filter in plain arithmetic;
// the rest by sums of doubles that represent the determinant without error.                              [She97]

/// Sign of det[b - a, c - a]: +1 when a, b, c turn counter-clockwise, 0 when they are collinear.
int orient2d(const Vec2& a, const Vec2& b, const Vec2& c);

/// Sign of det[b - a, c - a, d - a]: +1 when tet abcd has positive volume (d on the side to which the normal
/// of abc points), 0 when the four points are coplanar.
int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// +1 when e lies inside the sphere through the corners of tet abcd of positive volume, -1 outside, 0 on it. Products of five
/// coordinate differences must neither overflow nor fall below the smallest normal number (about 1e-50 to 1e50).
int in_sphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e);

/// Whether a, b, c lie on one line.
bool collinear(const Vec3& a, const Vec3& b, const Vec3& c);

} // namespace lithe
