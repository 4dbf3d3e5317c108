#pragma once
#include "lithe/fem/model.hpp"

namespace lithe {

/// Loads are plain functions that add nodal forces [N] to `force`, 3 x n.

/// Weight: m_i g at every vertex, exact for both kinds of mass. `gravity` [m/s^2].
void add_gravity(const FemModel& model, const Vec3& gravity, Points& force);

/// One force [N] at one vertex. Throws InputError when there is no such vertex.
void add_point_force(int vertex, const Vec3& point_force, Points& force);

/// Pressure [Pa] on a part of the surface, outward triangles over the vertices of the body: a third of -p A n at
/// each corner, at the positions x. It follows the surface; a step takes it as constant while it lasts. On a closed surface
/// it is the gradient of -p V.
void add_pressure(const Triangles& surface, const Points& x, double pressure, Points& force);

/// -force . u with u the displacement from the rest: the potential of constant forces [J].
double potential_energy(const FemModel& model, const Points& force, const FemState& state);

} // namespace lithe
