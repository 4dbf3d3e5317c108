#include "lithe/contact/impulse_solver.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "contact/impulse_bodies.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr ImpulseOptions exact{.tolerance = 1e-12, .max_sweeps = 20000};

Vec3 random_point(Random& random)
{
    return random_vector(random, 3);
}

PlainBody random_body(Random& random, Index modes)
{
    return {.mass = random.uniform(0.5, 2.0),
            .inertia = Vec3{random.uniform(0.1, 0.3), random.uniform(0.1, 0.3), random.uniform(0.1, 0.3)},
            .centre = random_point(random),
            .v = random_point(random),
            .omega = random_point(random),
            .modal = random_vector(random, modes)};
}

/// A heap of bodies with contacts between random pairs; nothing is kinematic.
struct Heap {
    PlainBodies bodies;
    ImpulseProblem problem;

    Heap(Random& random, int body_count, int contact_count, Index modes, double mu)
    {
        for (int b = 0; b < body_count; ++b) bodies.push_back(random_body(random, modes));
        add_bodies(problem, bodies);
        for (int c = 0; c < contact_count; ++c) {
            const auto a = static_cast<int>(random.index(std::uint64_t(body_count)));
            const auto b =
                (a + 1 + static_cast<int>(random.index(std::uint64_t(body_count - 1)))) % body_count;
            const Vec3 normal = random_point(random).normalized(), place = random_point(random);
            add_contact(problem, bodies, a, b, place, {.normal = normal, .friction = mu});
        }
    }
};

/// The largest violation of Coulomb's law over all contacts, by the motion of the bodies after the solve.
double worst_violation(const ImpulseProblem& problem, const MatX& G, const VecX& a)
{
    double impulse = 0.0, speed = 0.0, worst = 0.0;
    for (const ImpulseContact& c : problem.contacts) {
        impulse = std::max(impulse, c.impulse.norm());
        speed = std::max(speed, c.velocity.norm());
    }
    const VecX change = G * a;
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
        const ImpulseContact& c = problem.contacts[i];
        const Vec3 w = c.velocity + c.gap_rate * c.normal + change.segment<3>(static_cast<Index>(3 * i));
        worst = std::max(worst, coulomb_violation(c.normal, c.friction, c.impulse, w, impulse, speed));
    }
    return worst;
}

VecX all_changes(const ImpulseSolver& solver, int bodies)
{
    std::vector<double> all;
    for (int b = 0; b < bodies; ++b)
        for (const double x : solver.change(b)) all.push_back(x);
    return Eigen::Map<const VecX>(all.data(), static_cast<Index>(all.size()));
}

Vec3 project_on_cone(const Vec3& j, const Vec3& n, double mu)
{
    const double j_n = j.dot(n);
    const Vec3 j_t = j - j_n * n;
    const double size = j_t.norm();
    if (size <= mu * j_n) return j;
    if (mu * size <= -j_n) return Vec3::Zero();
    return (j_n + mu * size) / (1.0 + mu * mu) * (n + mu * j_t / size);
}

/// Brute force on the dense response: all contacts at once by projected steps, as slow as it is simple.
VecX project_until_still(const MatX& K, const VecX& u, const ImpulseProblem& problem)
{
    const double rho = 0.5 / Eigen::SelfAdjointEigenSolver<MatX>(K).eigenvalues().maxCoeff();
    VecX j = VecX::Zero(u.size());
    for (int i = 0; i < 1000000; ++i) {
        const VecX w = u + K * j;
        VecX next(u.size());
        for (std::size_t c = 0; c < problem.contacts.size(); ++c) {
            const Vec3& n = problem.contacts[c].normal;
            const auto k = static_cast<Index>(3 * c);
            const double mu = problem.contacts[c].friction;
            const Vec3 w_c = w.segment<3>(k);
            const double slide = (w_c - w_c.dot(n) * n).norm();
            next.segment<3>(k) = project_on_cone(j.segment<3>(k) - rho * (w_c + mu * slide * n), n, mu);
        }
        const double moved = (next - j).norm();
        j = next;
        if (moved < 1e-15 * j.norm()) break;
    }
    return j;
}

VecX stacked_velocities(const ImpulseProblem& problem)
{
    VecX u(3 * static_cast<Index>(problem.contacts.size()));
    for (std::size_t c = 0; c < problem.contacts.size(); ++c)
        u.segment<3>(static_cast<Index>(3 * c)) =
            problem.contacts[c].velocity + problem.contacts[c].gap_rate * problem.contacts[c].normal;
    return u;
}
VecX stacked_impulses(const ImpulseProblem& problem)
{
    VecX j(3 * static_cast<Index>(problem.contacts.size()));
    for (std::size_t c = 0; c < problem.contacts.size(); ++c)
        j.segment<3>(static_cast<Index>(3 * c)) = problem.contacts[c].impulse;
    return j;
}

/// Boxes of one metre and 1 kg, one on the other on a kinematic floor, four contacts each; they fall for h seconds.
struct Stack {
    PlainBodies bodies;
    ImpulseProblem problem;

    explicit Stack(int boxes, double h = 0.01)
    {
        bodies.push_back({.mass = 0.0});
        for (int b = 0; b < boxes; ++b)
            bodies.push_back({.inertia = Vec3::Constant(1.0 / 6.0),
                              .centre = Vec3(0.0, 0.0, 0.5 + b),
                              .v = Vec3(0.0, 0.0, -9.81 * h)});
        add_bodies(problem, bodies);
        for (int b = 0; b < boxes; ++b)
            for (const double x : {-0.5, 0.5})
                for (const double y : {-0.5, 0.5})
                    add_contact(problem, bodies, b + 1, b, Vec3(x, y, b), {.friction = 0.5});
    }
};

} // namespace

TEST(ImpulseSolver, OneContactIsCoulombs)
{
    Random random(3);
    for (int i = 0; i < 100; ++i) {
        Heap heap(random, 2, 1, 5, 0.4);
        const MatX G = dense_rows(heap.problem, heap.problem.contact_rows());
        ImpulseSolver solver;
        solver.prepare(heap.problem);
        const ImpulseReport report = solver.solve(heap.problem, exact);
        EXPECT_EQ(report.status, ImpulseStatus::Converged);
        EXPECT_LE(report.sweeps, 3);
        const ImpulseContact& c = heap.problem.contacts[0];
        const Mat3 K = G * G.transpose();
        const Vec3 j = CoulombContact(K, c.normal, 0.4, K.trace() / 3.0).solve(c.velocity).impulse;
        EXPECT_LT((c.impulse - j).norm(), 1e-13 * (1.0 + j.norm()));
    }
}

TEST(ImpulseSolver, ManyContactsAgreeWithBruteForce)
{
    for (const double mu : {0.0, 0.3}) {
        Random random(5);
        for (int i = 0; i < 10; ++i) {
            Heap heap(random, 4, 6, 8, mu);
            heap.problem.contacts[0].gap_rate = 0.2;
            const MatX G = dense_rows(heap.problem, heap.problem.contact_rows());
            const VecX expected =
                project_until_still(G * G.transpose(), stacked_velocities(heap.problem), heap.problem);
            ImpulseSolver solver;
            solver.prepare(heap.problem);
            EXPECT_EQ(solver.solve(heap.problem, exact).status, ImpulseStatus::Converged);
            EXPECT_GT(expected.norm(), 0.01);
            EXPECT_LT((stacked_impulses(heap.problem) - expected).norm(), 1e-9 * expected.norm())
                << mu << ' ' << i;
            EXPECT_LT((all_changes(solver, 4) - G.transpose() * expected).norm(), 1e-9 * expected.norm());
        }
    }
}

TEST(ImpulseSolver, ContactsFeelTheJointsBehindThem)
{
    // Brute force: the response of the contacts with all joints held, (1 - J^T (J J^T)^-1 J).
    Random random(7);
    for (const double compliance : {0.0, 0.7}) {
        for (int i = 0; i < 10; ++i) {
            Heap heap(random, 7, 8, 6, 0.3);
            // a tree of six joints, and a body on its own
            for (int b = 1; b < 6; ++b)
                add_joint(heap.problem, heap.bodies, b, (b - 1) / 2, random_point(random), compliance);
            const MatX G = dense_rows(heap.problem, heap.problem.contact_rows());
            const MatX J = dense_rows(heap.problem, heap.problem.joint_rows());
            VecX u_joint(J.rows());
            for (std::size_t k = 0; k < heap.problem.joints.size(); ++k)
                u_joint.segment<3>(static_cast<Index>(3 * k)) = heap.problem.joints[k].velocity;
            MatX D = J * J.transpose();
            D.diagonal().array() += compliance;
            const MatX response = G * G.transpose() - G * J.transpose() * D.ldlt().solve(J * G.transpose());
            const VecX u = stacked_velocities(heap.problem) - G * J.transpose() * D.ldlt().solve(u_joint);
            const VecX expected = project_until_still(response, u, heap.problem);

            ImpulseSolver solver;
            solver.prepare(heap.problem);
            const ImpulseReport report = solver.solve(heap.problem, exact);
            EXPECT_EQ(report.status, ImpulseStatus::Converged);
            EXPECT_LT(report.joint_residual, 1e-13);
            EXPECT_LT((stacked_impulses(heap.problem) - expected).norm(), 2e-8 * expected.norm()) << i;
            EXPECT_LT(worst_violation(heap.problem, G, all_changes(solver, 7)), 1e-8);
        }
    }
}

TEST(ImpulseSolver, MomentumIsKeptAndEnergyOnlyLost)
{
    Random random(11);
    for (int i = 0; i < 20; ++i) {
        Heap heap(random, 6, 12, 10, 0.5);
        for (int b = 1; b < 4; ++b) add_joint(heap.problem, heap.bodies, b, b - 1, random_point(random));
        const Vec3 P = momentum(heap.bodies), L = angular_momentum(heap.bodies);
        const double E = energy(heap.bodies);
        ImpulseSolver solver;
        solver.prepare(heap.problem);
        // Momentum does not wait for convergence.
        (void)solver.solve(heap.problem, {.tolerance = 1e-9, .max_sweeps = i < 10 ? 2 : 1000});
        give(solver, heap.bodies);
        EXPECT_LT((momentum(heap.bodies) - P).norm(), 1e-11 * (1.0 + P.norm()));
        EXPECT_LT((angular_momentum(heap.bodies) - L).norm(), 1e-11 * (1.0 + L.norm()));
        if (i >= 10) {
            EXPECT_LT(energy(heap.bodies), E);
        }
    }
}

/// Far more contacts than bodies: impulses that hold each other are mixed with large weights.
TEST(ImpulseSolver, MixingLeavesNoMomentum)
{
    Random random(12);
    for (int i = 0; i < 20; ++i) {
        Heap heap(random, 2, 60, 0, 0.8);
        ImpulseSolver solver;
        solver.prepare(heap.problem);
        (void)solver.solve(heap.problem, {.tolerance = 0.0, .max_sweeps = 500});
        const MatX G = dense_rows(heap.problem, heap.problem.contact_rows());
        const VecX j = stacked_impulses(heap.problem), a = all_changes(solver, 2);
        EXPECT_LT((a - G.transpose() * j).norm(), 5e-16 * G.norm() * j.norm());
    }
}

/// Wherever it stops, with a mixture that did harm too, the report is of what it leaves: one more sweep changes about as much.
TEST(ImpulseSolver, ResidualIsThatOfTheImpulsesThatRemain)
{
    Random random(13);
    double largest = 0.0;
    for (int i = 0; i < 20; ++i) {
        const Heap heap(random, 6, 60, 0, 0.8);
        for (int sweeps = 2; sweeps < 30; ++sweeps) {
            ImpulseProblem problem = heap.problem;
            ImpulseSolver solver;
            solver.prepare(problem);
            const ImpulseReport report = solver.solve(problem, {.tolerance = 1e-12, .max_sweeps = sweeps});
            if (report.status != ImpulseStatus::SweepLimit) break;
            const double next = solver.solve(problem, {.tolerance = 0.0, .max_sweeps = 1}).residual;
            largest = std::max(largest, report.residual / next);
        }
    }
    EXPECT_LT(largest, 10.0);
}

TEST(ImpulseSolver, BoxOnAnInclineSlidesOrStays)
{
    const double g = 9.81, h = 0.01, angle = 0.4;
    const Vec3 n(std::sin(angle), 0.0, std::cos(angle)), down(std::cos(angle), 0.0, -std::sin(angle));
    for (const double mu : {0.2, std::tan(angle) + 0.05}) {
        PlainBodies bodies{
            {.mass = 0.0},
            {.mass = 3.0, .inertia = Vec3(0.9, 0.7, 0.8), .centre = 0.2 * n, .v = Vec3(0.0, 0.0, -g * h)}};
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        for (const double s : {-0.5, 0.5})
            for (const double y : {-0.4, 0.4})
                add_contact(problem, bodies, 1, 0, s * down + Vec3(0.0, y, 0.0),
                            {.normal = n, .friction = mu});
        ImpulseSolver solver;
        solver.prepare(problem);
        EXPECT_EQ(solver.solve(problem, exact).status, ImpulseStatus::Converged);
        give(solver, bodies);
        const double pull = g * h * std::sin(angle) - mu * g * h * std::cos(angle);
        EXPECT_LT((bodies[1].v - std::max(0.0, pull) * down).norm(), 1e-11) << mu;
        EXPECT_LT(bodies[1].omega.norm(), 1e-10) << mu;
    }
}

TEST(ImpulseSolver, LightBodyCarriesHeavyOne)
{
    // A million to one: the light box ends between two contacts that both carry the heavy one.
    Stack stack(2);
    stack.bodies[2].mass = 1e6;
    stack.bodies[2].inertia *= 1e6;
    ImpulseProblem problem;
    add_bodies(problem, stack.bodies);
    for (int b = 0; b < 2; ++b)
        add_contact(problem, stack.bodies, b + 1, b, Vec3(0.0, 0.0, b), {.friction = 0.5});
    ImpulseSolver solver;
    solver.prepare(problem);
    const ImpulseReport report = solver.solve(problem, {.tolerance = 1e-12, .max_sweeps = 100});
    EXPECT_EQ(report.status, ImpulseStatus::Converged) << report.sweeps << ' ' << report.residual;
    give(solver, stack.bodies);
    EXPECT_LT(stack.bodies[1].v.norm(), 1e-4);
    EXPECT_LT(stack.bodies[2].v.norm(), 1e-6);
    // and the other way round it is easy
    PlainBodies easy{{.mass = 0.0}, {.mass = 1e6, .v = Vec3(0, 0, -1)}, {.mass = 1.0, .v = Vec3(0, 0, -1)}};
    ImpulseProblem light_on_heavy;
    add_bodies(light_on_heavy, easy);
    for (int b = 0; b < 2; ++b) add_contact(light_on_heavy, easy, b + 1, b, Vec3::Zero(), {});
    solver.prepare(light_on_heavy);
    EXPECT_EQ(solver.solve(light_on_heavy, exact).status, ImpulseStatus::Converged);
    give(solver, easy);
    EXPECT_LT(easy[1].v.norm() + easy[2].v.norm(), 1e-11);
}

TEST(ImpulseSolver, LightBoxCarriesHeavyOneOnItsCorners)
{
    for (const double ratio : {1e3, 1e6}) {
        Stack stack(3);
        stack.bodies[3].mass = ratio;
        stack.bodies[3].inertia *= ratio;
        ImpulseProblem problem;
        add_bodies(problem, stack.bodies);
        for (int b = 0; b < 3; ++b)
            for (const double x : {-0.5, 0.5})
                for (const double y : {-0.5, 0.5})
                    add_contact(problem, stack.bodies, b + 1, b, Vec3(x, y, b), {.friction = 0.5});
        ImpulseSolver solver;
        solver.prepare(problem);
        const ImpulseReport report = solver.solve(problem, {});
        EXPECT_EQ(report.status, ImpulseStatus::Converged) << report.sweeps << ' ' << report.residual;
        EXPECT_EQ(report.touching, 12);
        give(solver, stack.bodies);
        for (const PlainBody& body : stack.bodies)
            EXPECT_LT(body.v.norm() + body.omega.norm(), 1e-3 * 9.81 * 0.01) << ratio;
    }
}

TEST(ImpulseSolver, StackOfTenNeedsFewSweeps)
{
    Stack stack(10);
    ImpulseSolver solver;
    solver.prepare(stack.problem);
    const ImpulseReport cold = solver.solve(stack.problem, {.tolerance = 1e-9, .max_sweeps = 2000});
    EXPECT_EQ(cold.status, ImpulseStatus::Converged);
    EXPECT_LT(cold.sweeps, 50); // plain Gauss-Seidel: more than 5000, mixed: 342
    EXPECT_EQ(cold.touching, 40);
    PlainBodies after = stack.bodies;
    give(solver, after);
    for (const PlainBody& body : after) EXPECT_LT(body.v.norm() + body.omega.norm(), 1e-7);
    // The same again starts from the answer.
    const ImpulseReport warm = solver.solve(stack.problem, {.tolerance = 1e-6, .max_sweeps = 1000});
    EXPECT_LE(warm.sweeps, 3);
}

TEST(ImpulseSolver, SkinContactKnowsSharedBodies)
{
    // Both sides ride on the same two bodies, blended: the cross terms decide.
    Random random(13);
    for (int i = 0; i < 50; ++i) {
        PlainBodies bodies{random_body(random, 7), random_body(random, 4)};
        const Vec3 point_a = random_point(random), point_b = random_point(random);
        const double w_a = random.uniform(), w_b = random.uniform();
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        const auto skin_velocity = [&](const PlainBodies& now) -> Vec3 {
            return w_a * now[0].velocity(point_a) + (1.0 - w_a) * now[1].velocity(point_a) -
                   w_b * now[0].velocity(point_b) - (1.0 - w_b) * now[1].velocity(point_b);
        };
        const Vec3 u = skin_velocity(bodies);
        problem.add_contact({.normal = -u.normalized(), .velocity = u, .friction = 100.0});
        problem.block(0) += w_a * bodies[0].factor(point_a);
        problem.block(0) -= w_b * bodies[0].factor(point_b);
        problem.block(1) += (1.0 - w_a) * bodies[1].factor(point_a);
        problem.block(1) -= (1.0 - w_b) * bodies[1].factor(point_b);
        EXPECT_EQ(problem.contact_rows().blocks.size(), 2u);
        ImpulseSolver solver;
        solver.prepare(problem);
        EXPECT_EQ(solver.solve(problem, exact).status, ImpulseStatus::Converged);
        give(solver, bodies);
        EXPECT_LT(skin_velocity(bodies).norm(), 1e-12 * u.norm()) << i;
    }
}

TEST(ImpulseSolver, CommonPointKeepsAngularMomentumAcrossAGap)
{
    // Material points a centimetre apart; both sides feel the impulse at the middle.
    Random random(17);
    PlainBodies bodies{random_body(random, 6), random_body(random, 3)};
    const Vec3 a = random_point(random), b = a + Vec3(0.0, 0.006, 0.008), middle = 0.5 * (a + b);
    const Vec3 u = bodies[0].velocity(a, middle) - bodies[1].velocity(b, middle);
    ImpulseProblem problem;
    add_bodies(problem, bodies);
    problem.add_contact({.normal = -u.normalized(), .velocity = u, .friction = 0.5});
    problem.block(0) += bodies[0].factor(a, middle);
    problem.block(1) -= bodies[1].factor(b, middle);
    const Vec3 P = momentum(bodies), L = angular_momentum(bodies);
    ImpulseSolver solver;
    solver.prepare(problem);
    (void)solver.solve(problem, exact);
    give(solver, bodies);
    EXPECT_GT(problem.contacts[0].impulse.norm(), 0.01);
    EXPECT_LT((momentum(bodies) - P).norm(), 1e-14);
    EXPECT_LT((angular_momentum(bodies) - L).norm(), 1e-14);
}

TEST(ImpulseSolver, LimitsAndMotorsStayInTheirBounds)
{
    PlainBodies bodies{{.mass = 0.0}, {.mass = 2.0, .v = Vec3(-1.0, 3.0, 5.0)}};
    const auto solve = [&](ImpulseLimit limit, int axis) {
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        limit.velocity += bodies[1].v[axis];
        problem.add_limit(limit);
        problem.block(1) += bodies[1].factor(Vec3::Zero()).row(axis);
        ImpulseSolver solver;
        solver.prepare(problem);
        EXPECT_EQ(solver.solve(problem, exact).status, ImpulseStatus::Converged);
        EXPECT_NEAR(solver.change(1)[axis], problem.limits[0].impulse / std::sqrt(2.0), 1e-15);
        return problem.limits[0].impulse;
    };
    EXPECT_NEAR(solve({}, 0), 2.0, 1e-15);                 // the limit holds
    EXPECT_EQ(solve({}, 1), 0.0);                          // it leaves the limit
    EXPECT_NEAR(solve({.velocity = 0.75}, 0), 0.5, 1e-15); // half a gap left
    EXPECT_NEAR(solve({.velocity = -4.0, .lower = -1.0, .upper = 1.5}, 1), 1.5,
                1e-15); // a motor at its limit
    EXPECT_NEAR(solve({.velocity = -4.0, .lower = -9.0, .upper = 9.0}, 2), -2.0,
                1e-15);                                     // and one that reaches 4 m/s
    EXPECT_NEAR(solve({.compliance = 0.5}, 0), 1.0, 1e-15); // as soft as the body is light
}

TEST(ImpulseSolver, SpheresBounce)
{
    // Newton's law for two bodies, as Poisson's is the same without friction.
    for (const double e : {0.3, 1.0}) {
        PlainBodies bodies{{.mass = 2.0, .centre = Vec3(1, 0, 0), .v = Vec3(-1, 0, 0)},
                           {.mass = 3.0, .centre = Vec3(-1, 0, 0), .v = Vec3(2, 0, 0)}};
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        add_contact(problem, bodies, 0, 1, Vec3::Zero(), {.normal = Vec3::UnitX(), .restitution = e});
        ImpulseSolver solver;
        solver.prepare(problem);
        (void)solver.solve(problem, exact);
        solver.bounce(problem);
        give(solver, bodies);
        EXPECT_NEAR(bodies[0].v[0] - bodies[1].v[0], 3.0 * e, 1e-14);
        EXPECT_NEAR(momentum(bodies)[0], 4.0, 1e-14);
    }
}

TEST(ImpulseSolver, BouncesNeverGainEnergy)
{
    Random random(19);
    double largest = 0.0;
    for (int i = 0; i < 60; ++i) {
        Heap heap(random, 5, 8, 6, i % 3 == 0 ? 0.0 : 0.6);
        if (i % 2) add_joint(heap.problem, heap.bodies, 1, 0, random_point(random));
        for (ImpulseContact& c : heap.problem.contacts) c.restitution = i % 4 < 2 ? 1.0 : random.uniform();
        ImpulseSolver solver;
        solver.prepare(heap.problem);
        ASSERT_EQ(solver.solve(heap.problem, exact).status, ImpulseStatus::Converged);
        PlainBodies pressed = heap.bodies;
        give(solver, pressed);
        solver.bounce(heap.problem);
        PlainBodies after = heap.bodies;
        give(solver, after);
        EXPECT_LE(energy(after), energy(heap.bodies) * (1.0 + 1e-12)) << i;
        if (i % 3 == 0) { // what slides may lose more
            EXPECT_GT(energy(after), energy(pressed)) << i;
        }
        EXPECT_LT((momentum(after) - momentum(heap.bodies)).norm(), 1e-11);
        EXPECT_LT((angular_momentum(after) - angular_momentum(heap.bodies)).norm(), 1e-11);
        largest = std::max(largest, energy(after) / energy(heap.bodies));
        if (i % 2) {
            // the joint still holds
            const MatX J = dense_rows(heap.problem, heap.problem.joint_rows());
            EXPECT_LT((J * all_changes(solver, 5) + heap.problem.joints[0].velocity).norm(), 1e-12);
        }
    }
    EXPECT_GT(largest, 0.5);
}

TEST(ImpulseSolver, ContactsThatNothingAnswersGetNothing)
{
    PlainBodies bodies{{.mass = 0.0, .v = Vec3(0, 0, -1)}, {.mass = 0.0}, {.v = Vec3(0, 0, -1)}};
    ImpulseProblem problem;
    add_bodies(problem, bodies);
    add_contact(problem, bodies, 0, 1, Vec3::Zero(), {.friction = 0.5, .impulse = Vec3::Ones()});
    add_joint(problem, bodies, 0, 1, Vec3::Zero());
    // a bone that joints pin to the world at three points cannot be pushed; it must not be torn out either
    for (const Vec3& p : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}) add_joint(problem, bodies, 2, 1, p);
    add_contact(problem, bodies, 2, 1, Vec3::Zero(), {.friction = 0.5, .impulse = Vec3::Ones()});
    ImpulseSolver solver;
    solver.prepare(problem);
    const ImpulseReport report = solver.solve(problem, exact);
    EXPECT_EQ(report.status, ImpulseStatus::Converged);
    EXPECT_EQ(report.islands, 1);
    EXPECT_EQ(problem.contacts[1].impulse, Vec3::Zero());
    EXPECT_LT(report.joint_residual, 1e-12);
    give(solver, bodies);
    EXPECT_LT(bodies[2].v.norm(), 1e-12);
}

TEST(ImpulseSolver, SaysWhenItStopsEarlyOrCannotStart)
{
    Stack stack(10);
    ImpulseSolver solver;
    solver.prepare(stack.problem);
    const ImpulseReport early = solver.solve(stack.problem, {.tolerance = 1e-9, .max_sweeps = 3});
    EXPECT_EQ(early.status, ImpulseStatus::SweepLimit);
    EXPECT_EQ(early.sweeps, 3);
    EXPECT_GT(early.residual, 1e-9);

    PlainBodies bodies{{}, {}};
    ImpulseProblem broken;
    add_bodies(broken, bodies);
    add_joint(broken, bodies, 0, 1, Vec3::Zero());
    broken.block(0)(0, 0) = std::numeric_limits<double>::quiet_NaN();
    solver.prepare(broken);
    EXPECT_EQ(solver.solve(broken, exact).status, ImpulseStatus::NotFinite);
    EXPECT_EQ(solver.change(0).norm() + solver.change(1).norm(), 0.0);
}

namespace {

/// Several islands of jointed bodies with contacts among them.
Heap islands(int count)
{
    Random random(23);
    Heap all(random, 6 * count, 0, 9, 0.0);
    for (int i = 0; i < count; ++i) {
        for (int b = 1; b < 6; ++b)
            add_joint(all.problem, all.bodies, 6 * i + b, 6 * i + b - 1, random_point(random));
        for (int c = 0; c < 10; ++c) {
            const int a = static_cast<int>(random.index(6)), b = (a + 2) % 6;
            add_contact(all.problem, all.bodies, 6 * i + a, 6 * i + b, random_point(random),
                        {.normal = random_point(random).normalized(), .friction = 0.4});
        }
        all.problem.add_limit({.velocity = -1.0});
        all.problem.block(6 * i) += random_matrix(random, 1, 15);
    }
    return all;
}

} // namespace

TEST(ImpulseSolver, SameBitsForAnyNumberOfThreads)
{
    VecX first;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        Heap all = islands(40);
        ImpulseSolver solver;
        solver.prepare(all.problem);
        const ImpulseReport report = solver.solve(all.problem, {});
        EXPECT_EQ(report.islands, 40);
        const VecX a = all_changes(solver, 240);
        if (threads == 1) first = a;
        EXPECT_TRUE((a.array() == first.array()).all());
        EXPECT_GT(a.norm(), 1.0);
    }
}

TEST(ImpulseSolver, SecondStepAllocatesNothing)
{
    if (!MallocCounter::works()) GTEST_SKIP() << "a sanitizer has replaced malloc";
    const ThreadLimit limit(1);
    const Heap source = islands(3);
    ImpulseProblem problem;
    ImpulseSolver solver;
    const auto step = [&] {
        // The same problem, block by block.
        problem.clear();
        for (const PlainBody& body : source.bodies) problem.add_body(body.size());
        const auto copy = [&](const ConstraintRows& rows, int c) {
            for (int b = rows.begin(c); b < rows.end(c); ++b) {
                const auto& block = rows.blocks[std::size_t(b)];
                RowBlock target = problem.block(block.body);
                for (Index r = 0; r < target.rows(); ++r)
                    for (Index k = 0; k < target.cols(); ++k)
                        target(r, k) = rows.values[std::size_t(block.offset + r * padded(target.cols()) + k)];
            }
        };
        for (std::size_t c = 0; c < source.problem.contacts.size(); ++c) {
            problem.add_contact(source.problem.contacts[c]);
            copy(source.problem.contact_rows(), int(c));
        }
        for (std::size_t c = 0; c < source.problem.joints.size(); ++c) {
            problem.add_joint(source.problem.joints[c]);
            copy(source.problem.joint_rows(), int(c));
        }
        for (std::size_t c = 0; c < source.problem.limits.size(); ++c) {
            problem.add_limit(source.problem.limits[c]);
            copy(source.problem.limit_rows(), int(c));
        }
        solver.prepare(problem);
        (void)solver.solve(problem, {});
        solver.bounce(problem);
    };
    step();
    const VecX first = all_changes(solver, 18);
    long count = 0;
    {
        const MallocCounter counter;
        step();
        count = counter.count();
    }
    EXPECT_EQ(count, 0);
    EXPECT_TRUE((all_changes(solver, 18).array() == first.array()).all());
}
