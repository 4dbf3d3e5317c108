#include "lithe/fem/loads.hpp"

#include <cmath>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {

void add_gravity(const FemModel& model, const Vec3& gravity, Points& force)
{
    LITHE_ASSERT(force.cols() == model.vertex_count());
    if (!gravity.allFinite()) throw InputError("gravity is not finite");
    force.noalias() += gravity * model.vertex_mass.transpose();
}

void add_point_force(int vertex, const Vec3& point_force, Points& force)
{
    if (vertex < 0 || vertex >= force.cols())
        throw InputError("a force acts on vertex " + std::to_string(vertex) + ", but the body has " +
                         std::to_string(force.cols()));
    if (!point_force.allFinite())
        throw InputError("the force on vertex " + std::to_string(vertex) + " is not finite");
    force.col(vertex) += point_force;
}

void add_pressure(const Triangles& surface, const Points& x, double pressure, Points& force)
{
    LITHE_ASSERT(force.cols() == x.cols());
    if (!std::isfinite(pressure)) throw InputError("pressure is not finite");
    for (Index t = 0; t < surface.cols(); ++t) {
        const int i = surface(0, t), j = surface(1, t), k = surface(2, t);
        const Vec3 e_1 = x.col(j) - x.col(i), e_2 = x.col(k) - x.col(i);
        const Vec3 third = -pressure / 6.0 * e_1.cross(e_2); // n A = e_1 x e_2 / 2
        for (const int v : {i, j, k}) force.col(v) += third;
    }
}

void add_wind(const Triangles& surface, const Points& x, const Points& v, const WindLoad& wind, Points& force)
{
    LITHE_ASSERT(force.cols() == x.cols() && v.cols() == x.cols());
    if (!wind.velocity.allFinite()) throw InputError("the velocity of the wind is not finite");
    (void)require_positive("air_density", wind.air_density);
    if (!(wind.drag >= 0.0) || !std::isfinite(wind.drag))
        throw InputError("drag = " + std::to_string(wind.drag) + " must be at least 0 and finite");
    for (Index t = 0; t < surface.cols(); ++t) {
        const int i = surface(0, t), j = surface(1, t), k = surface(2, t);
        const Vec3 normal = Vec3(x.col(j) - x.col(i)).cross(Vec3(x.col(k) - x.col(i)));
        const double twice_area = normal.norm();
        const Vec3 u = wind.velocity - (v.col(i) + v.col(j) + v.col(k)) / 3.0;
        const double head_on = u.dot(normal); // u.n 2A
        if (!(head_on < 0.0)) continue;
        const double ram = 0.5 * wind.air_density * wind.drag * std::pow(head_on / twice_area, 2);
        const Vec3 third = -ram / 6.0 * normal;
        for (const int corner : {i, j, k}) force.col(corner) += third;
    }
}

double potential_energy(const FemModel& model, const Points& force, const FemState& state)
{
    return -force.cwiseProduct(state.x - model.rest).sum();
}

} // namespace lithe
