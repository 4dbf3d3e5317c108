#include "lithe/fem/follower_pressure.hpp"

#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

Mat3 cross_matrix(const Vec3& a)
{
    Mat3 A;
    A << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
    return A;
}

void require_usable(const SurfacePressure& load, Index vertex_count)
{
    if (!std::isfinite(load.pressure)) throw InputError("pressure is not finite");
    if (!load.surface) throw InputError("a pressure has no surface to act on");
    if (load.surface->size() > 0 &&
        (load.surface->minCoeff() < 0 || load.surface->maxCoeff() >= vertex_count))
        throw InputError("a pressure acts on a triangle outside the body");
}

} // namespace

void begin_pressure(std::span<const SurfacePressure> pressures, const Points& x, PressureWork& work)
{
    for (const SurfacePressure& load : pressures) require_usable(load, x.cols());
    work.centre = x.rowwise().mean();
    work.start = x;
    work.rim.setZero(3, x.cols());
}

double add_pressure_gradient(std::span<const SurfacePressure> pressures, const Points& x, Points& gradient,
                             const PressureWork& work)
{
    double energy = work.rim.cwiseProduct(x - work.start).sum();
    gradient += work.rim;
    for (const SurfacePressure& load : pressures)
        for (Index t = 0; t < load.surface->cols(); ++t) {
            const Eigen::Vector3i corner = load.surface->col(t);
            Mat3 r;
            for (int a = 0; a < 3; ++a) r.col(a) = x.col(corner[a]) - work.centre;
            energy += load.pressure / 6.0 * r.determinant();
            for (int a = 0; a < 3; ++a)
                gradient.col(corner[a]) += load.pressure / 6.0 * r.col((a + 1) % 3).cross(r.col((a + 2) % 3));
        }
    return energy;
}

double refresh_pressure(std::span<const SurfacePressure> pressures, const Points& x, Points& gradient,
                        PressureWork& work)
{
    const double before = work.rim.cwiseProduct(x - work.start).sum();
    gradient -= work.rim;
    work.rim.setZero();
    for (const SurfacePressure& load : pressures)
        for (Index t = 0; t < load.surface->cols(); ++t) {
            const Eigen::Vector3i corner = load.surface->col(t);
            Mat3 r;
            for (int a = 0; a < 3; ++a) r.col(a) = x.col(corner[a]) - work.centre;
            const Vec3 twice_area = (r.col(1) - r.col(0)).cross(r.col(2) - r.col(0));
            for (int a = 0; a < 3; ++a)
                work.rim.col(corner[a]) +=
                    load.pressure / 6.0 * (twice_area - r.col((a + 1) % 3).cross(r.col((a + 2) % 3)));
        }
    gradient += work.rim;
    return work.rim.cwiseProduct(x - work.start).sum() - before;
}

Mat9 pressure_stiffness(const Vec3& a, const Vec3& b, const Vec3& c, double pressure)
{
    // gradient p/6 N at each corner, dN/dx_a = [e_a]x with e_a the edge opposite of a
    const Vec3 edge[3] = {c - b, a - c, b - a};
    Mat9 K = Mat9::Zero();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (i != j) K.block<3, 3>(3 * i, 3 * j) = pressure / 12.0 * cross_matrix(edge[j] - edge[i]);
    return K;
}

} // namespace lithe
