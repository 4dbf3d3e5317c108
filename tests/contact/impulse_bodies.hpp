#pragma once
// Bodies written by hand for the tests of the impulse solver: a frame with a mass and an inertia along the axes of
// the world, and a few modes whose shapes are waves.
#include <cmath>
#include <vector>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/contact/impulse_solver.hpp"
#include "lithe/math/rotation.hpp"

namespace lithe::test {

struct PlainBody {
    double mass = 1.0; ///< 0: kinematic
    Vec3 inertia = Vec3::Ones();
    Vec3 centre = Vec3::Zero();
    Vec3 v = Vec3::Zero(), omega = Vec3::Zero();
    VecX modal = VecX(0); ///< velocities of modes of unit mass

    Index size() const { return mass > 0.0 ? 6 + modal.size() : 0; }
    /// Shape of the modes at a material point, 3 x r.
    MatX shape(const Vec3& point) const
    {
        MatX S(3, modal.size());
        for (Index k = 0; k < S.cols(); ++k) {
            const Vec3 phase =
                static_cast<double>(k + 1) * (point - centre) + Vec3(0.3, 1.1, 2.3) * double(k);
            S.col(k) = 0.3 / std::sqrt(mass) * phase.array().sin();
        }
        return S;
    }
    /// The factor of the material point for impulses that act at `at`; usually the same place.
    MatX factor(const Vec3& point, const Vec3& at) const
    {
        MatX F(3, size());
        if (mass == 0.0) return F;
        F << Mat3::Identity() / std::sqrt(mass),
            -skew(at - centre) * inertia.cwiseSqrt().cwiseInverse().asDiagonal(), shape(point);
        return F;
    }
    MatX factor(const Vec3& point) const { return factor(point, point); }
    Vec3 velocity(const Vec3& point, const Vec3& at) const
    {
        return v + omega.cross(at - centre) + shape(point) * modal;
    }
    Vec3 velocity(const Vec3& point) const { return velocity(point, point); }
    /// What the solver found.
    template <class Change>
    void give(const Change& a)
    {
        if (mass == 0.0) return;
        v += a.template head<3>() / std::sqrt(mass);
        omega += a.template segment<3>(3).cwiseQuotient(inertia.cwiseSqrt());
        modal += a.tail(modal.size());
    }

    double energy() const
    {
        return 0.5 * (mass * v.squaredNorm() + omega.dot(inertia.cwiseProduct(omega)) + modal.squaredNorm());
    }
    Vec3 momentum() const { return mass * v; }
    Vec3 angular_momentum() const { return centre.cross(mass * v) + inertia.cwiseProduct(omega); }
};

using PlainBodies = std::vector<PlainBody>;

inline double energy(const PlainBodies& bodies)
{
    double sum = 0.0;
    for (const PlainBody& body : bodies) sum += body.energy();
    return sum;
}
inline Vec3 momentum(const PlainBodies& bodies)
{
    Vec3 sum = Vec3::Zero();
    for (const PlainBody& body : bodies) sum += body.momentum();
    return sum;
}
inline Vec3 angular_momentum(const PlainBodies& bodies)
{
    Vec3 sum = Vec3::Zero();
    for (const PlainBody& body : bodies) sum += body.angular_momentum();
    return sum;
}

inline void add_bodies(ImpulseProblem& problem, const PlainBodies& bodies)
{
    for (const PlainBody& body : bodies) problem.add_body(body.size());
}

/// A contact between bodies a and b at one place of the world.
inline int add_contact(ImpulseProblem& problem, const PlainBodies& bodies, int a, int b, const Vec3& point,
                       ImpulseContact contact)
{
    const auto &body_a = bodies[std::size_t(a)], &body_b = bodies[std::size_t(b)];
    contact.velocity = body_a.velocity(point) - body_b.velocity(point);
    const int c = problem.add_contact(contact);
    problem.block(a) += body_a.factor(point);
    problem.block(b) -= body_b.factor(point);
    return c;
}

inline int add_joint(ImpulseProblem& problem, const PlainBodies& bodies, int a, int b, const Vec3& point,
                     double compliance = 0.0)
{
    const auto &body_a = bodies[std::size_t(a)], &body_b = bodies[std::size_t(b)];
    const int j = problem.add_joint(
        {.velocity = body_a.velocity(point) - body_b.velocity(point), .compliance = compliance});
    problem.block(a) += body_a.factor(point);
    problem.block(b) -= body_b.factor(point);
    return j;
}

inline void give(const ImpulseSolver& solver, PlainBodies& bodies)
{
    for (std::size_t b = 0; b < bodies.size(); ++b) bodies[b].give(solver.change(static_cast<int>(b)));
}

/// All rows of a kind as one dense matrix over the numbers of all bodies.
inline MatX dense_rows(const ImpulseProblem& problem, const ConstraintRows& rows)
{
    std::vector<Index> start;
    Index width = 0;
    for (int body = 0; body < problem.body_count(); ++body) {
        start.push_back(width);
        width += problem.body_size(body);
    }
    const auto count = static_cast<int>(rows.first.size());
    MatX G = MatX::Zero(rows.rows * count, width);
    for (int c = 0; c < count; ++c)
        for (int b = rows.begin(c); b < rows.end(c); ++b) {
            const auto& block = rows.blocks[std::size_t(b)];
            const Index size = problem.body_size(block.body);
            for (int r = 0; r < rows.rows; ++r)
                G.row(rows.rows * c + r).segment(start[std::size_t(block.body)], size) =
                    Eigen::Map<const VecX>(rows.values.data() + block.offset + r * padded(size), size)
                        .transpose();
        }
    return G;
}

/// How far impulse j and velocity w of a contact (the gap rate included) are from Coulomb's law: in units of impulse
/// and speed that the caller names.
inline double coulomb_violation(const Vec3& n, double mu, const Vec3& j, const Vec3& w, double impulse,
                                double speed)
{
    const double j_n = j.dot(n), w_n = w.dot(n);
    const Vec3 j_t = j - j_n * n, w_t = w - w_n * n;
    double worst = std::max({0.0, -j_n / impulse, -w_n / speed, (j_t.norm() - mu * j_n) / impulse});
    worst = std::max(worst, std::abs(j_n * w_n) / (impulse * speed));
    return std::max(worst, std::abs(j_t.dot(w_t) + mu * j_n * w_t.norm()) / (impulse * speed));
}

} // namespace lithe::test
