#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

// Simple shapes in closed form, centred on the origin, axis along y (a beam's along x). Their vertices lie on the
// true surface; `cell` [m] is about the length of an edge. Every size must be positive and finite; a shape of more
// than `max_shape_triangles` (or tets) is refused. All throw InputError.

inline constexpr Index max_shape_triangles = 20'000'000;

TriangleMesh make_box(const Vec3& size, double cell);
TriangleMesh make_sphere(double radius, double cell);
/// `length` runs between the centres of the two end balls.
TriangleMesh make_capsule(double radius, double length, double cell);
TriangleMesh make_cylinder(double radius, double length, double cell);
/// `major` is the radius of the ring, `minor` of the tube; minor < major.
TriangleMesh make_torus(double major, double minor, double cell);

/// A box as a regular grid of cells with six tets each (Kuhn's division, the same in every cell).
TetMesh make_box_tets(const Vec3& size, double cell);

} // namespace lithe
