#include "lithe/contact/joint_system.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "contact/impulse_bodies.hpp"
#include "lithe/contact/joint_order.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "support/message_of.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

Vec3 random_point(Random& random)
{
    return random_vector(random, 3);
}

/// Bones along x, each held to the next at three points around the place where they meet.
PlainBodies chain(Random& random, int count, Index modes)
{
    PlainBodies bodies;
    for (int b = 0; b < count; ++b)
        bodies.push_back({.mass = random.uniform(0.5, 2.0),
                          .inertia = Vec3(0.1, 0.2, 0.2),
                          .centre = Vec3(b, 0.0, 0.0),
                          .v = random_point(random),
                          .omega = random_point(random),
                          .modal = random_vector(random, modes)});
    return bodies;
}

void link_chain(ImpulseProblem& problem, const PlainBodies& bodies)
{
    for (int b = 1; b < static_cast<int>(bodies.size()); ++b)
        for (const Vec3& around : {Vec3(0.0, 0.1, 0.0), Vec3(0.0, -0.05, 0.1), Vec3(0.0, -0.05, -0.1)})
            add_joint(problem, bodies, b, b - 1, Vec3(b - 0.5, 0.0, 0.0) + around);
}

double largest_gap_rate(const PlainBodies& bodies)
{
    double worst = 0.0;
    for (std::size_t b = 1; b < bodies.size(); ++b)
        for (const Vec3& around : {Vec3(0.0, 0.1, 0.0), Vec3(0.0, -0.05, 0.1), Vec3(0.0, -0.05, -0.1)}) {
            const Vec3 point = Vec3(double(b) - 0.5, 0.0, 0.0) + around;
            worst = std::max(worst, (bodies[b].velocity(point) - bodies[b - 1].velocity(point)).norm());
        }
    return worst;
}

/// Nodes above each node when the graph is eliminated in this order: the most of all.
int longest_way_up(const Graph& graph, const EliminationOrder& order)
{
    const auto count = graph.size();
    std::vector<std::size_t> position(count);
    for (std::size_t k = 0; k < count; ++k) position[std::size_t(order.nodes[k])] = k;
    std::vector<std::vector<char>> later(count, std::vector<char>(count, 0));
    std::vector<int> height(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
        for (const int neighbour : graph[std::size_t(order.nodes[k])])
            later[k][position[std::size_t(neighbour)]] = 1;
        std::size_t parent = k + 1;
        while (parent < count && !later[k][parent]) ++parent;
        if (parent == count) continue;
        for (std::size_t i = parent + 1; i < count; ++i)
            if (later[k][i]) later[parent][i] = 1;
        height[parent] = std::max(height[parent], height[k] + 1);
    }
    return *std::max_element(height.begin(), height.end());
}

} // namespace

TEST(JointOrder, WaysUpAreAsLongAsLogarithms)
{
    Graph path(63);
    for (int i = 0; i + 1 < 63; ++i) {
        path[std::size_t(i)].push_back(i + 1);
        path[std::size_t(i + 1)].push_back(i);
    }
    const EliminationOrder order = separator_order(path);
    EXPECT_EQ(longest_way_up(path, order), 5); // 63 = 2^6 - 1
    EXPECT_EQ(order.first_piece, (std::vector<int>{0, 63}));
    // pieces stay together, and every node comes once
    Graph pieces(6);
    for (const auto& [a, b] : {std::pair{0, 3}, {3, 5}, {1, 4}}) {
        pieces[std::size_t(a)].push_back(b);
        pieces[std::size_t(b)].push_back(a);
    }
    const EliminationOrder apart = separator_order(pieces);
    EXPECT_EQ(apart.first_piece, (std::vector<int>{0, 3, 5, 6}));
    EXPECT_EQ(apart.nodes, (std::vector<int>{0, 5, 3, 4, 1, 2}));
}

TEST(JointSystem, SolvesAsTheDenseMatrixDoes)
{
    // A tree with a closed ring, a bond of many points and a second piece; soft joints.
    Random random(3);
    PlainBodies bodies = chain(random, 12, 7);
    ImpulseProblem problem;
    add_bodies(problem, bodies);
    const auto pairs = {std::pair{0, 1}, {1, 2}, {1, 3},  {3, 4}, {4, 0}, {4, 5}, {1, 2},
                        {7, 8},          {8, 9}, {9, 11}, {1, 2}, {1, 2}, {1, 2}, {1, 2}};
    const auto count = static_cast<Index>(pairs.size());
    for (const auto& [a, b] : pairs) add_joint(problem, bodies, a, b, random_point(random), random.uniform());
    JointSystem system;
    system.analyse(problem);
    ASSERT_EQ(system.articulation_count(), 2);
    EXPECT_EQ(system.articulation_of(6), -1);
    EXPECT_EQ(system.articulation_of(0), system.articulation_of(5));
    EXPECT_NE(system.articulation_of(0), system.articulation_of(7));

    const MatX J = dense_rows(problem, problem.joint_rows());
    MatX D = J * J.transpose();
    for (Index k = 0; k < count; ++k) {
        const double own = D.block<3, 3>(3 * k, 3 * k).trace() / 3.0;
        D.diagonal().segment<3>(3 * k).array() += problem.joints[std::size_t(k)].compliance + 1e-9 * own;
    }
    const VecX b = random_vector(random, 3 * count);
    const VecX expected = D.ldlt().solve(b);
    std::vector<double> x(std::size_t(system.size()), 0.0);
    for (int k = 0; k < count; ++k) Vec3::Map(x.data() + system.row(k)) = b.segment<3>(3 * k);
    for (int a = 0; a < 2; ++a) {
        ASSERT_TRUE(system.factorise(problem, a));
        system.solve(a, x.data());
    }
    for (int k = 0; k < count; ++k)
        EXPECT_LT((Vec3::Map(x.data() + system.row(k)) - expected.segment<3>(3 * k)).norm(),
                  1e-10 * expected.norm());
}

TEST(JointSystem, ChainOfFiftyHoldsAtOnce)
{
    for (const Index modes : {Index(0), Index(4), Index(12)}) {
        Random random(5);
        PlainBodies bodies = chain(random, 50, modes);
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        link_chain(problem, bodies);
        const Vec3 P = momentum(bodies), L = angular_momentum(bodies);
        const double E = energy(bodies), before = largest_gap_rate(bodies);
        ImpulseSolver solver;
        solver.prepare(problem);
        const ImpulseReport report = solver.solve(problem, {});
        EXPECT_EQ(report.status, ImpulseStatus::Converged);
        EXPECT_EQ(report.sweeps, 0);
        give(solver, bodies);
        EXPECT_GT(before, 1.0);
        EXPECT_LT(report.joint_residual, 1e-12);
        EXPECT_LT(largest_gap_rate(bodies), 1e-12) << modes;
        EXPECT_LT(energy(bodies), E); // a projection
        EXPECT_LT((momentum(bodies) - P).norm(), 1e-11 * (1.0 + P.norm()));
        EXPECT_LT((angular_momentum(bodies) - L).norm(), 1e-11 * (1.0 + L.norm()));
    }
}

TEST(JointSystem, ContradictingJointsShareTheError)
{
    // Three points on two rigid bodies: rank 6 of 9. Wanted velocities that no rigid motion has cannot be met.
    PlainBodies bodies{{.centre = Vec3(0, 0, 0)}, {.centre = Vec3(1, 0, 0)}};
    ImpulseProblem problem;
    add_bodies(problem, bodies);
    add_joint(problem, bodies, 1, 0, Vec3(0.5, 0.1, 0.0));
    add_joint(problem, bodies, 1, 0, Vec3(0.5, -0.1, 0.0));
    add_joint(problem, bodies, 1, 0, Vec3(0.5, 0.0, 0.1));
    problem.joints[0].velocity = Vec3(0.0, 1e-3, 0.0);
    problem.joints[1].velocity = Vec3(0.0, -1e-3, 0.0); // the two points shall part
    ImpulseSolver solver;
    solver.prepare(problem);
    const ImpulseReport report = solver.solve(problem, {});
    EXPECT_NEAR(report.joint_residual, 1e-3, 1e-4);
    const Vec3 P = momentum(bodies), L = angular_momentum(bodies);
    give(solver, bodies);
    EXPECT_LT(bodies[0].v.norm() + bodies[1].v.norm() + bodies[1].omega.norm(), 2e-3);
    EXPECT_LT((momentum(bodies) - P).norm() + (angular_momentum(bodies) - L).norm(), 1e-11);
}

TEST(JointSystem, HoldsLightAndHeavyBodies)
{
    // Light bones between heavy ones: three points each over a thousand in mass, one point over a million.
    for (const double ratio : {1e3, 1e6}) {
        Random random(7);
        PlainBodies bodies = chain(random, 6, 3);
        for (const std::size_t b : {1u, 3u, 4u}) {
            bodies[b].mass *= ratio;
            bodies[b].inertia *= ratio;
            bodies[b].modal /= std::sqrt(ratio);
        }
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        if (ratio < 1e4)
            link_chain(problem, bodies);
        else
            for (int b = 1; b < 6; ++b) add_joint(problem, bodies, b, b - 1, Vec3(b - 0.5, 0.1, 0.0));
        ImpulseSolver solver;
        solver.prepare(problem);
        EXPECT_LT(solver.solve(problem, {}).joint_residual, 1e-11) << ratio;
    }
}

TEST(JointSystem, SoftJointIsAnImplicitSpring)
{
    // Two masses on a damped spring, implicit Euler: v+ = v - (h k (x + h v+) + c v+) h / m  for the relative motion.
    const double k = 300.0, c = 2.0, h = 0.01, x = 0.05, v = 0.4;
    PlainBodies bodies{{.mass = 2.0, .v = Vec3(v, 0, 0)}, {.mass = 3.0}};
    const double m = 2.0 * 3.0 / 5.0;
    const double expected = (v - h * k * x / m) / (1.0 + (h * h * k + h * c) / m);
    const SoftJoint soft = soft_joint(k, c, h);
    EXPECT_DOUBLE_EQ(soft.compliance, 1.0 / (h * h * k + h * c));
    ImpulseProblem problem;
    add_bodies(problem, bodies);
    const int joint = add_joint(problem, bodies, 0, 1, Vec3::Zero(), soft.compliance);
    problem.joints[std::size_t(joint)].velocity += soft.stretch_rate * Vec3(x, 0.0, 0.0);
    ImpulseSolver solver;
    solver.prepare(problem);
    EXPECT_LT(solver.solve(problem, {}).joint_residual, 1e-14);
    give(solver, bodies);
    EXPECT_NEAR(bodies[0].v[0] - bodies[1].v[0], expected, 1e-14);
    EXPECT_NEAR(problem.joints[0].impulse[0], -h * (k * (x + h * expected) + c * expected), 1e-13);
    for (const auto& [stiffness, damping] : {std::pair{0.0, 0.0}, {-1.0, 2.0}, {1.0, -0.1}})
        EXPECT_THROW((void)soft_joint(stiffness, damping, h), InputError);
    EXPECT_THROW((void)soft_joint(1.0, 1.0, 0.0), InputError);
}

TEST(JointSystem, JointsActAloneAfterContacts)
{
    // Two chains and a body that hangs on nothing are hit. Then the joints of one chain and of that body act alone, by other
    // velocities: as if there were nothing else; the other chain keeps what it has.
    Random random(17);
    const PlainBodies bodies = chain(random, 8, 3);
    const auto link = [&](ImpulseProblem& problem) {
        add_bodies(problem, bodies);
        for (const int b : {1, 2, 4, 5, 6}) add_joint(problem, bodies, b, b - 1, Vec3(b - 0.5, 0.1, 0.0));
    };
    ImpulseProblem problem, alone;
    link(problem);
    link(alone);
    for (const int b : {1, 7}) {
        const Vec3 point(b, 0.2, 0.1),
            towards = bodies[5].velocity(point) - bodies[std::size_t(b)].velocity(point);
        add_contact(problem, bodies, b, 5, point,
                    {.normal = towards.normalized(), .gap_rate = -5.0, .friction = 0.5});
    }
    for (ImpulseJoint& joint : alone.joints) joint.velocity = Vec3(random.uniform(), random.uniform(), 1.0);
    ImpulseSolver solver, other;
    solver.prepare(problem);
    (void)solver.solve(problem, {});
    const VecX kept = solver.change(1);
    for (std::size_t k = 2; k < 5; ++k) problem.joints[k].velocity = alone.joints[k].velocity;
    EXPECT_GT(solver.change(7).norm(), 1e-3);
    solver.solve_joints_alone(3, 8, problem);
    other.prepare(alone);
    (void)other.solve(alone, {.joint_passes = 1});
    EXPECT_EQ(solver.change(1), kept);
    EXPECT_GT(kept.norm(), 1e-3);
    EXPECT_EQ(solver.change(7).norm(), 0.0);
    for (int b = 3; b < 7; ++b) {
        EXPECT_GT(other.change(b).norm(), 1e-3);
        EXPECT_LT((solver.change(b) - other.change(b)).norm(), 1e-12 * other.change(b).norm()) << b;
    }
}

/// As far better as they have to be, and no better.
TEST(JointSystem, JointsAreMetFarBetterThanContacts)
{
    Random random(23);
    const PlainBodies bodies = chain(random, 13, 3); // the last hangs on nothing
    const auto residual = [&](double tolerance) {
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        for (int b = 1; b < 12; ++b) add_joint(problem, bodies, b, b - 1, Vec3(b - 0.5, 0.1, 0.0));
        double speed = 0.0;
        for (const int b : {0, 4, 8}) {
            const Vec3 point(b, 0.2, 0.1),
                towards = bodies[12].velocity(point) - bodies[std::size_t(b)].velocity(point);
            add_contact(problem, bodies, b, 12, point,
                        {.normal = towards.normalized(), .gap_rate = -5.0, .friction = 0.5});
            speed = std::max(speed, 5.0 + towards.norm());
        }
        ImpulseSolver solver;
        solver.prepare(problem);
        const ImpulseReport report =
            solver.solve(problem, {.tolerance = tolerance, .max_sweeps = 5000, .joint_passes = 10});
        EXPECT_EQ(report.status, ImpulseStatus::Converged);
        EXPECT_LT(report.joint_residual, 1e-4 * tolerance * 10.0 * speed);
        return report.joint_residual;
    };
    EXPECT_LT(residual(1e-9), 1e-12);
    EXPECT_LT(residual(1e-9), 0.1 * residual(1e-2));
}

TEST(JointSystem, SaysThatAJointIsNotFinite)
{
    for (const int count : {2, 4}) {
        Random random(29);
        const PlainBodies bodies = chain(random, count, 2);
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        for (int b = 1; b < count; ++b) add_joint(problem, bodies, b, b - 1, Vec3(b - 0.5, 0.1, 0.0));
        problem.joints.back().velocity[2] = std::numeric_limits<double>::quiet_NaN();
        ImpulseSolver solver;
        solver.prepare(problem);
        EXPECT_EQ(solver.solve(problem, {}).status, ImpulseStatus::NotFinite) << count;
        for (int b = 0; b < count; ++b) EXPECT_EQ(solver.change(b).norm(), 0.0);
    }
}

TEST(JointSystem, NoticesOtherJoints)
{
    // The same solver for one chain, a longer one, and the first again.
    Random random(11);
    ImpulseSolver solver;
    for (const int count : {5, 9, 5}) {
        PlainBodies bodies = chain(random, count, 2);
        ImpulseProblem problem;
        add_bodies(problem, bodies);
        link_chain(problem, bodies);
        solver.prepare(problem);
        EXPECT_LT(solver.solve(problem, {}).joint_residual, 1e-12);
        give(solver, bodies);
        EXPECT_LT(largest_gap_rate(bodies), 1e-12);
    }
}

TEST(JointSystem, AnyArticulationsMayTakePart)
{
    // Two kinds of chains side by side; the same solver for all, some, others, and all again.
    Random random(13);
    ImpulseSolver solver;
    for (const std::vector<int>& lengths :
         {std::vector{5, 3, 5, 3}, std::vector{5}, std::vector{3, 3}, std::vector{3, 5, 5, 3}}) {
        std::vector<PlainBodies> chains;
        ImpulseProblem problem;
        for (const int length : lengths) chains.push_back(chain(random, length, 2));
        PlainBodies all;
        for (const PlainBodies& one : chains) all.insert(all.end(), one.begin(), one.end());
        add_bodies(problem, all);
        int first = 0;
        for (const int length : lengths) {
            for (int k = 1; k < length; ++k)
                add_joint(problem, all, first + k - 1, first + k, random_point(random));
            first += length;
        }
        solver.prepare(problem);
        EXPECT_LT(solver.solve(problem, {}).joint_residual, 1e-12);
        // as every chain alone does
        const MatX J = dense_rows(problem, problem.joint_rows());
        VecX u(3 * static_cast<Index>(problem.joints.size()));
        for (std::size_t k = 0; k < problem.joints.size(); ++k)
            u.segment<3>(3 * static_cast<Index>(k)) = problem.joints[k].velocity;
        EXPECT_GT(u.norm(), 0.1);
        VecX changes(J.cols());
        Index next = 0;
        for (int body = 0; body < problem.body_count(); ++body) {
            changes.segment(next, problem.body_size(body)) = solver.change(body);
            next += problem.body_size(body);
        }
        EXPECT_LT((J * changes + u).norm(), 1e-11 * u.norm());
    }
}
