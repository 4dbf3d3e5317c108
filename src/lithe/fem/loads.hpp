#pragma once
#include <variant>

#include "lithe/fem/model.hpp"

namespace lithe {

/// A force shared evenly by some vertices.
struct ForceLoad {
    Vec3 force = Vec3::Zero(); ///< in all [N]
};
/// Pressure on some faces of the surface, inward when above zero.
struct PressureLoad {
    double pressure = 0.0; ///< [Pa]
};
/// Wind on some faces of the surface.
struct WindLoad {
    Vec3 velocity = Vec3::Zero(); ///< of the air [m/s]
    double air_density = 1.2;     ///< [kg/m^3], > 0
    double drag = 1.0;            ///< coefficient of the faces, >= 0
};
using Load = std::variant<ForceLoad, PressureLoad, WindLoad>;

/// Pressure that is part of a solve: it follows the surface and turns with it while Newton's method moves it.
struct SurfacePressure {
    const Triangles* surface = nullptr; ///< outward, over the vertices of the body; need not be closed
    double pressure = 0.0;              ///< inward when above zero [Pa]
};

/// Loads are plain functions that add nodal forces [N] to `force`, 3 x n.

/// Weight: m_i g at every vertex, exact for both kinds of mass. `gravity` [m/s^2].
void add_gravity(const FemModel& model, const Vec3& gravity, Points& force);

/// One force [N] at one vertex. Throws InputError when there is no such vertex.
void add_point_force(int vertex, const Vec3& point_force, Points& force);

/// Pressure [Pa] on a part of the surface, outward triangles over the vertices of the body: a third of -p A n at
/// each corner, at the positions x. It follows the surface; a step takes it as constant while it lasts. On a closed surface
/// it is the gradient of -p V.
void add_pressure(const Triangles& surface, const Points& x, double pressure, Points& force);

/// Wind on a part of the surface, outward triangles: faces that meet the air feel its ram pressure,
///
///   f = -rho/2 c_d A (u.n)^2 n  where u.n < 0,   u = wind - velocity of the face,
///
/// a third at each corner, at positions x and velocities v; faces in the lee feel nothing. A sphere then has a drag
/// coefficient of c_d/2, a flat plate c_d. Throws InputError for air density or drag out of range.
void add_wind(const Triangles& surface, const Points& x, const Points& v, const WindLoad& wind,
              Points& force);

/// -force . u with u the displacement from the rest: the potential of constant forces [J].
double potential_energy(const FemModel& model, const Points& force, const FemState& state);

} // namespace lithe
