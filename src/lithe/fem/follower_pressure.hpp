#pragma once
#include <span>

#include "lithe/fem/loads.hpp"

namespace lithe {

/// Pressure inside a solve. With V the volume between the surface and a point c,
///
///   Phi_p(x) = p V(x) + b.(x - x_start),   dV/dx_i = sum over triangles (x_j - c) x (x_k - c) / 6
///
/// On a closed surface b is zero and Phi_p is the potential of the pressure. On an open one its force has none: the part that
/// p V misses, along the rim, is frozen in b and renewed at every iterate.
struct PressureWork {
    Vec3 centre = Vec3::Zero(); ///< c
    Points start;               ///< x_start
    Points rim;                 ///< b, 3 x n [N]
};

/// Throws InputError for a pressure that is not finite, and for no surface or one outside the body's vertices.
void begin_pressure(std::span<const SurfacePressure> pressures, const Points& x, PressureWork& work);

/// Phi_p [J]; adds its gradient.
double add_pressure_gradient(std::span<const SurfacePressure> pressures, const Points& x, Points& gradient,
                             const PressureWork& work);

/// Renews b at x: returns the change of Phi_p and adds that of its gradient.
double refresh_pressure(std::span<const SurfacePressure> pressures, const Points& x, Points& gradient,
                        PressureWork& work);

/// The symmetric part of the derivative of one triangle's pressure on its corners; 3 x 3 blocks by corner. Its sum over
/// a closed surface is d2(p V)/dx2. Alone it is indefinite.
Mat9 pressure_stiffness(const Vec3& a, const Vec3& b, const Vec3& c, double pressure);

} // namespace lithe
