#pragma once
#include <span>
#include <vector>

#include "lithe/body/body.hpp"

namespace lithe::test {

/// A body of one mover in a problem of its own: its factor at some points, 3k x m.
inline MatX factor_of(Body& body, std::span<const BodyPoint> points, ResponseKind kind)
{
    std::vector<Touch> touches;
    for (const BodyPoint& point : points) touches.push_back({point, body.motion(point).position});
    ImpulseProblem problem;
    body.join(touches, kind, problem);
    if (problem.body_count() == 0) return MatX(3 * static_cast<Index>(points.size()), 0);
    MatX F(3 * static_cast<Index>(points.size()), problem.body_size(0));
    for (std::size_t k = 0; k < points.size(); ++k) {
        problem.add_joint({});
        (void)body.couple(k, 1.0, problem);
        F.middleRows<3>(3 * static_cast<Index>(k)) = problem.block(0);
    }
    return F;
}

/// Velocities of the points per impulses there, 3k x 3k. [1/kg]
inline MatX compliance_of(Body& body, std::span<const BodyPoint> points,
                          ResponseKind kind = ResponseKind::Implicit)
{
    const MatX F = factor_of(body, points, kind);
    return F * F.transpose();
}

/// Gives the body impulses at points. [N s]
inline void apply_impulses(Body& body, std::span<const BodyPoint> points, std::span<const Vec3> impulses,
                           ResponseKind kind = ResponseKind::Implicit)
{
    const MatX F = factor_of(body, points, kind);
    VecX a = VecX::Zero(F.cols());
    for (std::size_t k = 0; k < points.size(); ++k)
        a += F.middleRows<3>(3 * static_cast<Index>(k)).transpose() * impulses[k];
    if (F.cols() > 0) body.take(0, a);
}

} // namespace lithe::test
