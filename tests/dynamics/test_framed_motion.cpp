#include "lithe/dynamics/framed_motion.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "reduce/framed_rigs.hpp"
#include "support/count_mallocs.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using namespace lithe::test;
using testing::HasSubstr;

FramedModel model_of(const FramedRig& rig, const RayleighDamping& damping = {})
{
    return make_framed_model(rig.tensors, rig.elastic, damping);
}

FramedModel rigid_model(const FramedRig& rig)
{
    return make_framed_model(make_frame_tensors(rig.fem, MatX(rig.S.rows(), 0)), LinearElastic{MatX(0, 0)});
}

FramedOptions theta_options(double theta)
{
    return {.scheme = FramedScheme::Theta, .theta = theta};
}

/// Somewhere, turned, bent by `size` [m] and moving.
FramedState random_state(Random& random, const FramedRig& rig, double size)
{
    return {.frame = {Quat(random_rotation(random)), Vec3(random_vector(random, 3))},
            .v = random_vector(random, 3),
            .L = 40.0 * random_vector(random, 3),
            .q = random_shape(random, rig, size),
            .qdot = 10.0 * random_shape(random, rig, size)};
}

/// What a body is when all of its nodes are looked at, with Omega in the frame.
struct Nodes {
    Points x, v;
    Vec3 P, L; ///< L about the centre of mass
    double kinetic;
};
Nodes nodes_of(const FramedRig& rig, const FramedState& state, const Vec3& Omega)
{
    const Mat3 R = state.frame.rotation.toRotationMatrix();
    const Points p = shape_of(rig, state.q), u = shape_of(rig, state.qdot) - rig.X;
    Nodes out;
    out.x = (R * p).colwise() + state.frame.translation;
    out.v = (R * (skew(Omega) * p + u)).colwise() + state.v;
    out.P = out.v * rig.mass.rowwise().sum();
    out.L = moment_sum(rig, out.x.colwise() - state.frame.translation, out.v.colwise() - state.v);
    out.kinetic = 0.5 * mass_sum(rig, out.v, out.v).trace();
    return out;
}
Nodes nodes_of(const FramedRig& rig, const FramedMotion& motion)
{
    return nodes_of(rig, motion.state(), motion.Omega());
}
Vec3 angular_momentum(const FramedRig& rig, const FramedMotion& motion) ///< about the world's origin
{
    const Nodes nodes = nodes_of(rig, motion);
    return moment_sum(rig, nodes.x, nodes.v);
}

double relative(const MatX& found, const MatX& wanted)
{
    return (found - wanted).norm() / wanted.norm();
}

MatX mass_of(const FramedMotion& motion) ///< Mt
{
    const FrameConfiguration& at = motion.configuration();
    return motion.model().tensors.Mq - at.B().transpose() * at.I.inverse() * at.B();
}

/// F of a node, at its own place.
Rows3 factor_at(const FramedRig& rig, const FramedMotion& motion, const FrameResponse& response, Index node)
{
    Rows3 F;
    response.factor(motion.arm(rig.X.col(node), rig.rows(node)), rig.rows(node), F);
    return F;
}

/// 1/mass - [r_m] I^-1 [r_k] + St_m N^-1 St_k^T, in the world.
Mat3 response_by_definition(const FramedRig& rig, const FramedMotion& motion, const MatX& N, Index m, Index k)
{
    const FrameConfiguration& at = motion.configuration();
    const Mat3 R = motion.state().frame.rotation.toRotationMatrix();
    const auto arm = [&](Index i) { return skew(motion.arm(rig.X.col(i), rig.rows(i))); };
    const auto rows = [&](Index i) -> MatX { return rig.rows(i) + arm(i) * at.I.inverse() * at.B(); };
    const Mat3 K = Mat3::Identity() / rig.tensors.mass - arm(m) * at.I.inverse() * arm(k) +
                   rows(m) * N.llt().solve(rows(k).transpose());
    return R * K * R.transpose();
}

void step(FramedMotion& motion, double h, const FramedLoad& load = {})
{
    EXPECT_TRUE(motion.predict(h, load).solved);
    EXPECT_TRUE(motion.advance().solved);
}

/// The equations of motion as they are, for a body without loads: d/dt of (R, q, qdot) at constant L.
struct Flow {
    Mat3 R;
    VecX q, qdot;
    Vec3 Omega = Vec3::Zero(); ///< that goes with it

    Flow plus(double h, const Flow& rate) const
    {
        return {R + h * rate.R, q + h * rate.q, qdot + h * rate.qdot};
    }
};
Flow rate_of(const FramedRig& rig, const Vec3& L, Flow& at)
{
    FrameConfiguration configuration;
    configure(rig.tensors, at.q, configuration);
    const Vec3 l = at.R.transpose() * L;
    at.Omega = configuration.I_inverse * (l - configuration.B() * at.qdot);
    MatX G;
    VecX force;
    gyroscopic(rig.tensors, at.Omega, G);
    configuration.centrifugal(at.Omega, force);
    force -= rig.elastic.K * at.q + 2.0 * G * at.qdot;
    force +=
        configuration.H.transpose() * (at.Omega.cross(l) + configuration.inertia_rate(at.qdot) * at.Omega);
    const MatX Mt = rig.tensors.Mq - configuration.B().transpose() * configuration.H;
    return {at.R * skew(at.Omega), at.qdot, Mt.llt().solve(force)};
}
/// One step of Runge and Kutta.
Flow runge_kutta(const FramedRig& rig, const Vec3& L, Flow at, double h)
{
    const Flow k1 = rate_of(rig, L, at);
    Flow at_2 = at.plus(0.5 * h, k1);
    const Flow k2 = rate_of(rig, L, at_2);
    Flow at_3 = at.plus(0.5 * h, k2);
    const Flow k3 = rate_of(rig, L, at_3);
    Flow at_4 = at.plus(h, k3);
    const Flow k4 = rate_of(rig, L, at_4);
    Flow out = at.plus(h / 6.0, k1).plus(h / 3.0, k2).plus(h / 3.0, k3).plus(h / 6.0, k4);
    rate_of(rig, L, out);
    return out;
}
Flow flow_of(const FramedRig& rig, const FramedState& state)
{
    Flow out{state.frame.rotation.toRotationMatrix(), state.q, state.qdot};
    rate_of(rig, state.L, out);
    return out;
}
Flow flow_after(const FramedRig& rig, const FramedState& state, double h, int steps)
{
    Flow at = flow_of(rig, state);
    for (int i = 0; i < steps; ++i) at = runge_kutta(rig, state.L, at, h);
    return at;
}
Nodes nodes_of(const FramedRig& rig, const Flow& flow)
{
    FramedState state;
    state.frame.rotation = Quat(flow.R);
    state.q = flow.q;
    state.qdot = flow.qdot;
    return nodes_of(rig, state, flow.Omega);
}
double energy_of(const FramedRig& rig, const Flow& flow)
{
    return nodes_of(rig, flow).kinetic + 0.5 * flow.q.dot(rig.elastic.K * flow.q);
}

/// Spun by `spin` [rad/s] about an axis askew, bent by 0.05 m.
FramedState spun(const FramedRig& rig, double spin)
{
    Random random(21);
    FramedState state = rest_state(model_of(rig));
    state.q = random_shape(random, rig, 0.05);
    FrameConfiguration at;
    configure(rig.tensors, state.q, at);
    state.L = spin * at.I * Vec3(0.2, 1.0, 0.3).normalized();
    return state;
}

/// With that angular momentum and the shape at rest: no vibration, and about the axis of the largest inertia. What was bent at the
/// start is damped away, and how much that is depends on the signs of the modes, which are the machine's.
double least_energy(const FramedRig& rig, const Vec3& L)
{
    const Mat3 I = inertia_of(rig.tensors.J0);
    return 0.5 * L.squaredNorm() / Eigen::SelfAdjointEigenSolver<Mat3>(I).eigenvalues()[2];
}

const FramedRig& beam_8()
{
    static const FramedRig beam = make_beam(8);
    return beam;
}

const FramedState& oracle_state()
{
    static const FramedState state{.frame = {exp_quat(Vec3(0.3, -0.2, 0.5)), Vec3(1, 2, 3)},
                                   .v = Vec3(0.1, 0.2, -0.3),
                                   .L = Vec3(0.4, -0.6, 0.8),
                                   .q = Vec3(0.2, -0.1, 0.15),
                                   .qdot = Vec3(0.5, 1.0, -0.7)};
    return state;
}

} // namespace

TEST(FramedMotion, AgreesWithTheKnownCube)
{
    const FramedRig cube = make_oracle(MassKind::Consistent);
    const FramedModel model = model_of(cube);
    FramedMotion motion(model, oracle_state());
    EXPECT_LT((motion.Omega() - Vec3(0.48820259727300236, -0.22126815960031174, 0.4286188915487987)).norm(),
              1e-13);
    const Vec3 turning = motion.configuration().H * motion.state().qdot;
    EXPECT_LT((turning - Vec3(-0.34582141277711653, 0.00030233659460940176, 0.0027546552084404857)).norm(),
              1e-13);
    VecX c;
    motion.configuration().centrifugal(motion.Omega(), c);
    EXPECT_LT((c - Vec3(0.008157436652776757, -0.006404127310048079, 0.14434730297641649)).norm(), 1e-13);
    MatX G;
    gyroscopic(cube.tensors, motion.Omega(), G);
    const Vec3 coriolis = -2.0 * G * motion.state().qdot;
    EXPECT_LT((coriolis - Vec3(0.014287296384959949, 0.0028574592769919833, 0.014287296384959965)).norm(),
              1e-13);
    EXPECT_NEAR(motion.energy().kinetic(), 1.3748727573603503, 1e-12);
    EXPECT_NEAR(motion.energy().total(), 24.99266121889881, 1e-10);
    const Nodes nodes = nodes_of(cube, motion);
    EXPECT_LT((nodes.x.col(0) - Vec3(0.9437454041015109, 1.5637771435930286, 2.2259302816429716)).norm(),
              1e-13);
    EXPECT_LT((nodes.v.col(0) - Vec3(0.24252916255281531, 0.5542754951751216, -0.1577933002997637)).norm(),
              1e-13);

    const FrameResponse& response = motion.bare_response(1e-3);
    const Rows3 F_0 = factor_at(cube, motion, response, 0), F_7 = factor_at(cube, motion, response, 7);
    Mat3 K_00, K_70;
    K_00 << 0.7469168062758114, -0.06783202463293557, -0.11210805814937286, -0.06783202463293553,
        0.547038114919546, -0.0826491172473859, -0.1121080581493729, -0.08264911724738586,
        0.29784832805231376;
    K_70 << -0.1496244901420359, 0.021520860557039116, 0.050604478501725336, 0.13222632230297782,
        -0.11351764986759508, 0.14297307356047398, 0.229859088767478, 0.182304633844595, -0.1344573452325545;
    EXPECT_LT((F_0 * F_0.transpose() - K_00).norm(), 1e-13);
    EXPECT_LT((F_7 * F_0.transpose() - K_70).norm(), 1e-13);

    motion.apply_bare(F_0.transpose() * Vec3(1.0, -2.0, 0.5));
    EXPECT_LT((motion.state().v - Vec3(0.18333333333333335, 1.0 / 30.0, -0.2583333333333333)).norm(), 1e-14);
    EXPECT_LT((motion.state().L - Vec3(-1.3662508649175424, -1.345942420407784, 1.3487320482039498)).norm(),
              1e-13);
    EXPECT_LT(
        (motion.state().qdot - Vec3(0.5526249614369606, -1.0696910423823667, -0.17721222373067347)).norm(),
        1e-12);
    EXPECT_NEAR(motion.energy().kinetic(), 2.096979090835148, 1e-12);
    const Points v = nodes_of(cube, motion).v;
    EXPECT_LT((v.col(0) - Vec3(1.0690559890198115, -0.6489573179205992, 0.04432104007179183)).norm(), 1e-12);
    EXPECT_LT((v.col(7) - Vec3(-0.44691093779635505, 0.5704949814738621, -0.5595879138933859)).norm(), 1e-12);
}

TEST(FramedMotion, TakesTheStepsOfTheKnownCube)
{
    const auto check = [](MassKind kind, const Vec3& q, const Vec3& qdot, const Vec3& first_row,
                          double energy) {
        const FramedRig cube = make_oracle(kind);
        const FramedModel model = model_of(cube);
        FramedMotion motion(model, oracle_state());
        for (int i = 0; i < 10; ++i) step(motion, 0.01);
        EXPECT_LT((motion.state().q - q).norm(), 1e-12);
        EXPECT_LT((motion.state().qdot - qdot).norm(), 1e-10);
        const Mat3 R = motion.state().frame.rotation.toRotationMatrix();
        EXPECT_LT((R.row(0).transpose() - first_row).norm(), 1e-12);
        EXPECT_NEAR(motion.energy().total(), energy, 1e-10);
        EXPECT_LT((nodes_of(cube, motion).L - Vec3(0.4, -0.6, 0.8)).norm(), 1e-13);
    };
    check(MassKind::Consistent, Vec3(0.03515323105469968, 0.000438106648235485, -0.07610376455472338),
          Vec3(3.59838990211002, -0.9927970181516453, 1.0245730397277846),
          Vec3(0.8331721079228107, -0.5488183365978242, -0.0679902345448154), 5.042531865275247);
    check(MassKind::Lumped, Vec3(-0.11381087099054885, 0.07757809848861702, -0.07090021110611333),
          Vec3(-2.0686780348289733, 0.4401472887160614, -2.169474829671765),
          Vec3(0.8417627896546164, -0.5350994174717343, -0.07144241999183447), 15.26676820531743);
}

TEST(FramedMotion, HasTheMomentaAndTheEnergyOfItsNodes)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FramedRig beam = make_beam(10, 1e6, kind);
        const FramedModel model = model_of(beam);
        Random random(1);
        FramedMotion motion(model, random_state(random, beam, 0.3));
        const Nodes nodes = nodes_of(beam, motion);
        EXPECT_LT(relative(nodes.L, motion.state().L), 1e-12);
        EXPECT_LT(relative(nodes.P, motion.linear_momentum()), 1e-12);
        EXPECT_LT(relative(moment_sum(beam, nodes.x, nodes.v), motion.angular_momentum()), 1e-12);
        EXPECT_NEAR(motion.energy().kinetic(), nodes.kinetic, 1e-12 * nodes.kinetic);
        EXPECT_GT(motion.energy().vibration, 0.01 * nodes.kinetic);
    }
}

TEST(FramedMotion, AnswersImpulsesAsTheDefinitionSays)
{
    Random random(2);
    for (const bool eigenmodes : {true, false}) { // diagonal, and factorised
        FramedRig beam = make_beam(10);
        if (!eigenmodes) beam = make_framed_rig(beam.fem, beam.S * random_matrix(random, 10, 10));
        const FramedModel model = model_of(beam, {.mass = 0.3, .stiffness = 1e-3});
        EXPECT_EQ(model.diagonal(), eigenmodes);
        FramedMotion motion(model, random_state(random, beam, 0.3));
        const FrameResponse& bare = motion.bare_response(1e-4);
        const Mat3 K = response_by_definition(beam, motion, mass_of(motion), 3, 3);
        const Mat3 cross = response_by_definition(beam, motion, mass_of(motion), 70, 3);
        const Rows3 F_3 = factor_at(beam, motion, bare, 3), F_70 = factor_at(beam, motion, bare, 70);
        EXPECT_LT(relative(F_3 * F_3.transpose(), K), 1e-12);
        EXPECT_LT(relative(F_70 * F_3.transpose(), cross), 1e-12);

        const double h = 1.0 / 60.0;
        const MatX& Kr = beam.elastic.K;
        const MatX N = mass_of(motion) + h * (0.3 * beam.tensors.Mq + 1e-3 * Kr) + h * h * Kr;
        ASSERT_TRUE(motion.predict(h).solved);
        const Rows3 E_3 = factor_at(beam, motion, motion.response(), 3),
                    E_70 = factor_at(beam, motion, motion.response(), 70);
        EXPECT_LT(relative(E_3 * E_3.transpose(), response_by_definition(beam, motion, N, 3, 3)), 1e-12);
        EXPECT_LT(relative(E_70 * E_3.transpose(), response_by_definition(beam, motion, N, 70, 3)), 1e-12);

        // What is applied is what was promised.
        const Vec3 j(300.0, -200.0, 500.0), arm = motion.arm(beam.X.col(70), beam.rows(70));
        const Vec3 before = motion.velocity(arm, beam.rows(70));
        motion.apply(E_3.transpose() * j);
        const Vec3 after = motion.velocity(arm, beam.rows(70));
        EXPECT_LT(relative(after - before, E_70 * (E_3.transpose() * j)), 1e-12);
        EXPECT_GT((after - before).norm(), 0.1);
    }
}

TEST(FramedMotion, ImpulsesDoTheWorkOfTheirPoint)
{
    const FramedRig beam = make_beam(10);
    const FramedModel model = model_of(beam);
    Random random(3);
    for (int i = 0; i < 20; ++i) {
        FramedMotion motion(model, random_state(random, beam, 0.5));
        const Index node = static_cast<Index>(random.index(81));
        const Rows3 F = factor_at(beam, motion, motion.bare_response(1e-4), node);
        const Vec3 j = 100.0 * random_vector(random, 3);
        const Nodes before = nodes_of(beam, motion);
        motion.apply_bare(F.transpose() * j);
        const Nodes after = nodes_of(beam, motion);
        const double work = 0.5 * j.dot(before.v.col(node) + after.v.col(node));
        EXPECT_NEAR(after.kinetic - before.kinetic, work, 1e-12 * before.kinetic);
        EXPECT_LT((after.P - before.P - j).norm(), 1e-11);
        const Vec3 arm = before.x.col(node) - motion.state().frame.translation;
        EXPECT_LT((after.L - before.L - arm.cross(j)).norm(), 1e-11 * arm.cross(j).norm());
        EXPECT_LT(relative(after.v.col(node) - before.v.col(node), F * F.transpose() * j), 1e-12);
    }
}

TEST(FramedMotion, WithACompleteBasisAnswersAsFreeNodes)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FramedRig cube = make_cube(18, 1e6, kind);
        const FramedModel model = model_of(cube);
        Random random(4);
        FramedMotion motion(model, random_state(random, cube, 0.3));
        const MatX inverse = cube.mass.inverse();
        const FrameResponse& bare = motion.bare_response(1e-5);
        for (const Index k : {0, 3}) {
            const Rows3 F_k = factor_at(cube, motion, bare, k), F_5 = factor_at(cube, motion, bare, 5);
            const double scale = inverse(k, k);
            EXPECT_LT((F_k * F_k.transpose() - scale * Mat3::Identity()).norm(), 1e-12 * scale);
            EXPECT_LT((F_5 * F_k.transpose() - inverse(5, k) * Mat3::Identity()).norm(), 1e-12 * scale);
        }
    }
}

TEST(FramedMotion, StiffModesDoNotAnswerImpacts)
{
    const FramedRig beam = make_beam(10, 1e8); // the lowest of 217 rad/s
    const FramedModel model = model_of(beam);
    Random random(5);
    const FramedState state = random_state(random, beam, 0.1);
    FramedMotion motion(model, state);
    const double h = 1.0 / 400.0;
    ASSERT_LT(h * model.lowest_frequency, 1.0);
    ASSERT_GT(h * model.highest_frequency, 1.0);
    VecX n = VecX::Ones(10);
    for (Index a = 0; a < 10; ++a)
        if (h * h * beam.eigenvalues[a] > 1.0) n[a] = 1e8;
    const FrameConfiguration& at = motion.configuration();
    const MatX N = MatX(n.asDiagonal()) - at.B().transpose() * at.H;
    const Rows3 F = factor_at(beam, motion, motion.bare_response(h), 7);
    EXPECT_LT(relative(F * F.transpose(), response_by_definition(beam, motion, N, 7, 7)), 1e-12);
    // It gets the work that is done on it, and not a bit more of the momenta.
    const Vec3 j(0.0, 500.0, 0.0);
    const Nodes before = nodes_of(beam, motion);
    const auto velocity = [&] {
        const Rows3 S = beam.S.middleRows<3>(21);
        return motion.bare_velocity(motion.arm_to(before.x.col(7)), S);
    };
    const Vec3 v_0 = velocity();
    motion.apply_bare(F.transpose() * j);
    const Nodes after = nodes_of(beam, motion);
    (void)motion.bare_response(h);
    EXPECT_GT((v_0 - before.v.col(7)).norm(), 0.01); // the stiff ones do move there
    const double work = 0.5 * j.dot(v_0 + velocity());
    EXPECT_NEAR(after.kinetic - before.kinetic, work, 1e-6 * std::abs(work));
    EXPECT_LT(relative(after.P - before.P, j), 1e-11);
    EXPECT_LT(relative(after.L - before.L, (before.x.col(7) - state.frame.translation).cross(j)), 1e-11);
}

TEST(FramedMotion, KeepsMomentaWhileItVibrates)
{
    const FramedRig beam = make_beam(10);
    const FramedModel model = model_of(beam, {.mass = 0.1, .stiffness = 1e-3});
    Random random(6);
    const FramedState state = random_state(random, beam, 0.2);
    for (const FramedOptions& options : {FramedOptions{}, theta_options(0.5), theta_options(1.0)}) {
        FramedMotion motion(model, state, options);
        const Nodes before = nodes_of(beam, motion);
        for (int i = 0; i < 200; ++i) step(motion, 1.0 / 120.0);
        const Nodes after = nodes_of(beam, motion);
        EXPECT_LT(relative(after.P, before.P), 1e-11);
        EXPECT_LT(relative(after.L, before.L), 1e-11);
        EXPECT_GT((after.x - before.x).norm(), 1.0);
    }
}

// A cube let go from a random shape at L = 0. Uncorrected, its frame would not turn: that is a frame held at rest.
TEST(FramedMotion, CubeThatVibratesKeepsNoAngularMomentum)
{
    for (const double young : {1e6, 1e5}) {
        const FramedRig cube = make_cube(18, young);
        const FramedModel model = model_of(cube);
        Random random(7);
        FramedState state = rest_state(model);
        state.q = random_shape(random, cube, 0.1);
        FramedMotion motion(model, state), held(model, state, {.frame = FrameKind::Prescribed});
        double corrected = 0.0, uncorrected = 0.0;
        for (int i = 0; i < 4 * 480; ++i) {
            step(motion, 1.0 / 480.0);
            EXPECT_TRUE(held.predict(1.0 / 480.0, PrescribedFrame{}, VecX()).solved);
            EXPECT_TRUE(held.advance().solved);
            if (i % 8 != 0 && i > 100) continue; // of nodes, once in a while
            corrected = std::max(corrected, nodes_of(cube, motion).L.norm());
            uncorrected = std::max(uncorrected, nodes_of(cube, held).L.norm());
        }
        EXPECT_LT(corrected, 1e-10);
        EXPECT_GT(uncorrected, 1.0);
        EXPECT_LT(held.state().frame.rotation.angularDistance(Quat::Identity()), 1e-14);
    }
}

/// Momentum and energy that it tells are those of its nodes; spun up, it loses the one and the other.
TEST(FramedMotion, ANaiveFrameMakesAngularMomentumAndOwnsUpToIt)
{
    const FramedRig cube = make_cube(18, 1e5);
    const FramedModel model = model_of(cube);
    Random random(7);
    for (const double spin : {0.0, 2.0}) {
        FramedState state = rest_state(model);
        state.q = random_shape(random, cube, 0.1);
        state.L = spin * 170.0 * Vec3(0.3, 1.0, 0.2);
        FramedMotion naive(model, state, {.spin = SpinRule::Naive}), exact(model, state);
        const Vec3 first = naive.angular_momentum();
        double made = 0.0;
        for (int i = 0; i < 480; ++i) {
            step(naive, 1.0 / 480.0);
            step(exact, 1.0 / 480.0);
            made = std::max(made, (naive.angular_momentum() - first).norm());
            if (i % 40 != 0) continue;
            const Nodes nodes = nodes_of(cube, naive);
            EXPECT_LT((naive.angular_momentum() - nodes.L).norm(), 1e-11 * (1.0 + state.L.norm()));
            EXPECT_NEAR(naive.energy().kinetic(), nodes.kinetic, 1e-11 * nodes.kinetic);
        }
        EXPECT_GT(made, 1.0);
        EXPECT_LT((nodes_of(cube, exact).L - first).norm(), 1e-10);
    }
    EXPECT_THROW(
        FramedMotion(model, rest_state(model), {.frame = FrameKind::Prescribed, .spin = SpinRule::Naive}),
        InputError);
    EXPECT_THROW(
        FramedMotion(model, rest_state(model), {.scheme = FramedScheme::Theta, .spin = SpinRule::Naive}),
        InputError);
}

TEST(FramedMotion, ShapesThatComeBackLeaveItTurned)
{
    const FramedRig cube = make_cube(18);
    const FramedModel model = model_of(cube);
    Random random(7);
    FramedState state = rest_state(model);
    state.q = random_shape(random, cube, 0.1);
    FramedMotion damped(model, state), undamped(model, state, theta_options(0.5));
    double largest = 0.0;
    for (int i = 0; i < 4 * 480; ++i) {
        step(damped, 1.0 / 480.0);
        step(undamped, 1.0 / 480.0);
        largest = std::max(largest, undamped.state().frame.rotation.angularDistance(Quat::Identity()));
    }
    constexpr double degree = std::numbers::pi / 180.0;
    EXPECT_LT(damped.state().q.norm(), 1e-3 * state.q.norm()); // back in shape
    EXPECT_GT(damped.state().frame.rotation.angularDistance(Quat::Identity()), 0.01 * degree);
    EXPECT_GT(largest, 0.1 * degree);
}

TEST(FramedMotion, ItsEquationsKeepTheEnergy)
{
    const FramedRig& beam = beam_8();
    const FramedState state = spun(beam, 6.0);
    const double energy = energy_of(beam, flow_of(beam, state));
    const auto loss = [&](double h) {
        const Flow end = flow_after(beam, state, h, static_cast<int>(std::lround(0.4 / h)));
        return std::abs(energy_of(beam, end) / energy - 1.0);
    };
    const double coarse = loss(4e-3), fine = loss(2e-3);
    EXPECT_NEAR(coarse / fine, 32.0, 6.0); // fifth order
    EXPECT_LT(fine, 1e-3);
}

TEST(FramedMotion, ItsEquationsAreThoseOfTheNodes)
{
    const FramedRig& beam = beam_8();
    FramedState state = spun(beam, 8.0);
    Random random(23);
    state.qdot = random_shape(random, beam, 3.0);
    // S^T R^T M xddot + K q = 0, with accelerations from differences of the nodes' velocities
    const auto residual = [&](double h) {
        const Flow at = flow_of(beam, state);
        const Points dv = nodes_of(beam, runge_kutta(beam, state.L, at, h)).v -
                          nodes_of(beam, runge_kutta(beam, state.L, at, -h)).v;
        const Points force = at.R.transpose() * dv * beam.mass / (2.0 * h);
        const VecX modal = beam.S.transpose() * Eigen::Map<const VecX>(force.data(), force.size());
        return (modal + beam.elastic.K * at.q).norm();
    };
    Flow at = flow_of(beam, state);
    MatX G;
    gyroscopic(beam.tensors, at.Omega, G);
    const double coriolis = (2.0 * G * at.qdot).norm();
    const double coarse = residual(1e-3), fine = residual(5e-4);
    EXPECT_NEAR(coarse / fine, 4.0, 0.1);
    EXPECT_LT(fine, 0.02 * coriolis);
}

TEST(FramedMotion, ConvergesToTheMotionOfItsEquations)
{
    const FramedRig& beam = beam_8();
    const FramedModel model = model_of(beam);
    const FramedState state = spun(beam, 6.0);
    const Points wanted = nodes_of(beam, flow_after(beam, state, 2.5e-4, 1000)).x;
    const auto error = [&](const FramedOptions& options, double h) {
        FramedMotion motion(model, state, options);
        for (int i = 0; i < static_cast<int>(std::lround(0.25 / h)); ++i) step(motion, h);
        return (nodes_of(beam, motion).x - wanted).colwise().norm().maxCoeff();
    };
    const double euler = error({}, 2.5e-4) / error({}, 1.25e-4);
    EXPECT_NEAR(euler, 2.0, 0.2);
    const double midpoint = error(theta_options(0.5), 2e-3) / error(theta_options(0.5), 1e-3);
    EXPECT_NEAR(midpoint, 4.0, 0.25);
    EXPECT_LT(error(theta_options(0.5), 1e-3), 1e-3);
    const double damped = error(theta_options(1.0), 2.5e-4) / error(theta_options(1.0), 1.25e-4);
    EXPECT_NEAR(damped, 2.0, 0.2);
}

TEST(FramedMotion, ThetaIsOfSecondOrderUnderLoadsToo)
{
    const FramedRig& beam = beam_8();
    const FramedModel model = model_of(beam, {.mass = 0.5, .stiffness = 1e-3});
    const FramedState state = spun(beam, 3.0);
    FramedLoad load{
        .force = {10.0, -2000.0, 5.0}, .torque = {20.0, 100.0, -50.0}, .modal = VecX::Constant(8, 20.0)};
    const auto end = [&](double h) {
        FramedMotion motion(model, state, theta_options(0.5));
        for (int i = 0; i < static_cast<int>(std::lround(0.24 / h)); ++i) step(motion, h, load);
        return nodes_of(beam, motion).x;
    };
    const Points a = end(4e-3), b = end(2e-3), c = end(1e-3);
    EXPECT_NEAR((a - b).norm() / (b - c).norm(), 4.0, 0.4);
    EXPECT_GT((a - b).norm(), 1e-6);
}

TEST(FramedMotion, RigidBodySpinsOnWithItsEnergy)
{
    const FramedModel model = rigid_model(beam_8());
    for (const FramedOptions& options : {FramedOptions{}, theta_options(0.5)}) {
        FramedState state = rest_state(model);
        const Mat3 I = inertia_of(model.tensors.J0);
        state.L = I * Vec3(0.01, 6.0, 0.02); // about the middle axis, which does not hold
        FramedMotion motion(model, state, options);
        const double energy = motion.energy().kinetic();
        double least = 1.0, most = 1.0, lowest = 1.0;
        for (int i = 0; i < 600; ++i) {
            step(motion, 1.0 / 60.0);
            least = std::min(least, motion.energy().kinetic() / energy);
            most = std::max(most, motion.energy().kinetic() / energy);
            lowest = std::min(lowest, motion.Omega()[1] / 6.0);
        }
        EXPECT_LT(most - least, 1e-3);
        EXPECT_LT(lowest, -0.9); // it tumbled
        EXPECT_LT(relative(motion.state().L, state.L), 1e-15);
    }
}

TEST(FramedMotion, TurnsTheFrameAtAnySpin)
{
    const FramedModel model = rigid_model(beam_8());
    FramedState state = rest_state(model);
    for (const double spin : {48.0, 300.0, 3e4}) {
        state.L = inertia_of(model.tensors.J0) * Vec3(0.3 * spin, spin, 0.1 * spin);
        FramedMotion motion(model, state);
        for (int i = 0; i < 60; ++i) {
            ASSERT_TRUE(motion.predict(1.0 / 30.0).solved);
            const FramedReport report = motion.advance();
            if (spin < 50.0) {
                EXPECT_LE(report.turn_iterations, 8);
            }
            ASSERT_TRUE(motion.state().frame.rotation.coeffs().allFinite());
            EXPECT_NEAR(motion.state().frame.rotation.norm(), 1.0, 1e-14);
        }
        EXPECT_EQ(motion.state().L, state.L);
    }
}

TEST(FramedMotion, StaysTogetherAtSpinsAboveItsFrequencies)
{
    const FramedRig& beam = beam_8();
    const FramedModel model = model_of(beam);
    for (const double share : {0.1, 0.3, 0.6, 1.2}) {
        for (const FramedOptions& options : {FramedOptions{}, theta_options(0.5), theta_options(1.0)}) {
            const FramedState state = spun(beam, share * model.lowest_frequency);
            FramedMotion motion(model, state, options);
            const double energy = motion.energy().total();
            double most = 1.0, last = 1.0;
            for (int i = 0; i < 180; ++i) {
                const FramedReport report = motion.predict(1.0 / 60.0);
                EXPECT_TRUE(report.solved);
                if (i == 0) {
                    EXPECT_NEAR(report.spin, share, 1e-12);
                }
                EXPECT_TRUE(motion.advance().solved);
                last = motion.energy().total() / energy;
                most = std::max(most, last);
            }
            EXPECT_LT(most, options.scheme == FramedScheme::Theta && options.theta < 1.0 ? 1.05 : 1.001);
            const bool damps = options.scheme == FramedScheme::BackwardEuler || options.theta == 1.0;
            // fast spins widen the body, and so slow it
            EXPECT_GT(last, damps ? 0.8 * least_energy(beam, state.L) / energy : 0.95);
            EXPECT_LT(relative(nodes_of(beam, motion).L, state.L), 1e-11);
        }
    }
}

// Without elasticity and at rest, the first step shows the acceleration under a force at a node.
TEST(FramedMotion, AcceleratesAsTheWholeSystemDoes)
{
    FramedRig beam = beam_8();
    beam.elastic.K.setZero();
    const FramedModel model = model_of(beam);
    Random random(31);
    FramedState state = rest_state(model, {Quat(random_rotation(random)), Vec3::Zero()});
    state.q = random_shape(random, beam, 0.3);
    const Mat3 R = state.frame.rotation.toRotationMatrix();
    const Vec3 force(300.0, -100.0, 200.0);
    const double h = 1e-3;
    for (const FramedOptions& options : {FramedOptions{}, theta_options(1.0)}) {
        FramedMotion motion(model, state, options);
        const Vec3 arm = motion.arm(beam.X.col(5), beam.rows(5));
        const FramedLoad load{.force = force,
                              .torque = (R * arm).cross(force),
                              .modal = beam.rows(5).transpose() * (R.transpose() * force)};
        // [I B; B^T Mq] (Omegadot, qddot) = (torque, modal force)
        const FrameConfiguration& at = motion.configuration();
        MatX system(11, 11);
        system << at.I, at.B(), at.B().transpose(), model.tensors.Mq;
        VecX right(11);
        right << R.transpose() * load.torque, load.modal;
        const VecX wanted = system.llt().solve(right);
        ASSERT_TRUE(motion.predict(h, load).solved);
        const Rows3 none = Rows3::Zero(3, 8);
        const Vec3 velocity = motion.velocity(arm, beam.rows(5)), carried = motion.velocity(arm, none);
        const double tolerance = options.scheme == FramedScheme::Theta ? 1e-3 : 1e-12; // at q_0, or half way
        EXPECT_LT(relative(R.transpose() * (velocity - carried), h * beam.rows(5) * wanted.tail(8)),
                  tolerance);
        EXPECT_LT(relative(R.transpose() * (carried - h * force / 240.0), h * wanted.head<3>().cross(arm)),
                  tolerance);
    }
}

TEST(FramedMotion, TwoBodiesExchangeImpulsesAtACommonPoint)
{
    const FramedRig beam = make_beam(10), cube = make_cube(18);
    const FramedModel beam_model = model_of(beam, {.stiffness = 1e-3}), cube_model = model_of(cube);
    const double h = 1.0 / 60.0;
    for (const FramedOptions& options : {FramedOptions{}, theta_options(0.5), theta_options(0.8)}) {
        Random random(41);
        FramedMotion a(beam_model, random_state(random, beam, 0.2), options);
        FramedMotion b(cube_model, random_state(random, cube, 0.1), options);
        const Vec3 P = a.linear_momentum() + b.linear_momentum();
        const Vec3 L = angular_momentum(beam, a) + angular_momentum(cube, b);
        const Rows3 S_a = beam.rows(80), S_b = cube.rows(2);
        const auto stop = [&](const FrameResponse& r_a, const FrameResponse& r_b, const auto& apply) {
            const Vec3 x_a = a.position(a.arm(beam.X.col(80), S_a)),
                       x_b = b.position(b.arm(cube.X.col(2), S_b));
            const Vec3 x = 0.5 * (x_a + x_b), arm_a = a.arm_to(x), arm_b = b.arm_to(x);
            Rows3 F_a, F_b;
            r_a.factor(arm_a, S_a, F_a);
            r_b.factor(arm_b, S_b, F_b);
            const Vec3 u_a = a.velocity(arm_a, S_a), u = u_a - b.velocity(arm_b, S_b);
            const Vec3 j = -(F_a * F_a.transpose() + F_b * F_b.transpose()).llt().solve(u);
            apply(VecX(F_a.transpose() * j), VecX(-F_b.transpose() * j));
            EXPECT_GT((x_a - x_b).norm(), 0.1);
            const double speed = std::max(u_a.norm(), u.norm()); // of which u may be a small difference
            EXPECT_LT((a.velocity(arm_a, S_a) - b.velocity(arm_b, S_b)).norm(), 1e-12 * speed);
        };
        for (int i = 0; i < 20; ++i) {
            stop(a.bare_response(h), b.bare_response(h), [&](const VecX& x, const VecX& y) {
                a.apply_bare(x);
                b.apply_bare(y);
            });
            ASSERT_TRUE(a.predict(h).solved);
            ASSERT_TRUE(b.predict(h).solved);
            stop(a.response(), b.response(), [&](const VecX& x, const VecX& y) {
                a.apply(x);
                b.apply(y);
            });
            EXPECT_TRUE(a.advance().solved);
            EXPECT_TRUE(b.advance().solved);
        }
        EXPECT_LT((a.linear_momentum() + b.linear_momentum() - P).norm(), 1e-11 * P.norm());
        EXPECT_LT((nodes_of(beam, a).P + nodes_of(cube, b).P - P).norm(), 1e-11 * P.norm());
        EXPECT_LT((angular_momentum(beam, a) + angular_momentum(cube, b) - L).norm(), 1e-11 * L.norm());
    }
}

/// Drops a beam on the plane y = 0, without friction. Largest gain of energy in a step over what it had, and how deep it sank.
struct Drop {
    double gain = 0.0, depth = 0.0, most = 0.0;
    int touches = 0;
};
Drop drop_beam(const FramedRig& beam, const FramedModel& model, const FramedOptions& options)
{
    const double h = 1.0 / 60.0, g = 9.81;
    FramedState state = rest_state(model, {exp_quat(Vec3(0.1, 0.3, 0.25)), Vec3(0.0, 0.9, 0.0)});
    FramedMotion motion(model, state, options);
    const auto total = [&] {
        return motion.energy().total() + g * 240.0 * motion.state().frame.translation.y();
    };
    const double first = total();
    double last = first;
    Drop out;
    std::vector<Rows3> factors;
    std::vector<double> gaps, impulses;
    for (int i = 0; i < 90; ++i) {
        EXPECT_TRUE(motion.predict(h, {.force = {0.0, -240.0 * g, 0.0}}).solved);
        factors.clear();
        gaps.clear();
        VecX a = VecX::Zero(motion.response().size()), u(81);
        for (Index k = 0; k < 81; ++k) {
            const Vec3 arm = motion.arm(beam.X.col(k), beam.rows(k));
            const double y = motion.position(arm).y();
            if (y > 0.15) continue;
            u[static_cast<Index>(factors.size())] = motion.velocity(arm, beam.rows(k)).y();
            factors.push_back(factor_at(beam, motion, motion.response(), k));
            gaps.push_back(std::max(y, 0.0) / h);
            out.depth = std::max(out.depth, -y);
        }
        impulses.assign(factors.size(), 0.0);
        for (int sweep = 0; sweep < 300; ++sweep)
            for (std::size_t c = 0; c < factors.size(); ++c) {
                const auto f = factors[c].row(1);
                const double velocity = u[static_cast<Index>(c)] + f.dot(a) + gaps[c];
                const double next = std::max(0.0, impulses[c] - velocity / f.squaredNorm());
                a += (next - impulses[c]) * f.transpose();
                impulses[c] = next;
                if (next > 0.0) ++out.touches;
            }
        motion.apply(a);
        EXPECT_TRUE(motion.advance().solved);
        const double now = total();
        out.gain = std::max(out.gain, (now - last) / first);
        out.most = std::max(out.most, now / first);
        last = now;
    }
    return out;
}

TEST(FramedMotion, ImplicitImpulsesNeverAddEnergy)
{
    for (const double young : {1e6, 1e8, 1e10}) {
        const FramedRig beam = make_beam(10, young);
        const FramedModel model = model_of(beam, {.stiffness = 1e-4});
        for (const FramedOptions& options : {FramedOptions{}, theta_options(1.0)}) {
            const Drop drop = drop_beam(beam, model, options);
            EXPECT_LT(drop.gain, 1e-9) << young;
            EXPECT_LT(drop.depth, 5e-3);
            EXPECT_GT(drop.touches, 100);
        }
        // Half way, they do no work at a point that stands still; what is left is the error of the scheme.
        EXPECT_LT(drop_beam(beam, model, theta_options(0.5)).most, 1.02) << young;
    }
}

TEST(FramedMotion, NonlinearElasticityKeepsMomentaAndEnergy)
{
    const TetMesh mesh = box_tets({4, 1, 1}, {2.0, 0.4, 0.3});
    const FemModel fem = make_fem_model(mesh, StVenantKirchhoff({1e6, 0.3}), 1000.0);
    RestSystem system(fem);
    Progress progress;
    const MatX U = linear_modes(system, {.count = 8}, progress).basis.U;
    const MatX S = make_framed_basis(fem, U, FrameAxes::StiffnessDiagonal).S;
    const FramedRig rig = make_framed_rig(fem, S);
    const std::vector<ElasticModel> models{StvkPolynomial(fem, S, progress),
                                           CubatureElastic(fem, S, all_tets(fem))};
    std::vector<VecX> ends;
    for (const ElasticModel& elastic : models) {
        const FramedModel model = make_framed_model(rig.tensors, elastic);
        EXPECT_NEAR(relative(model.rest_stiffness, rig.elastic.K), 0.0, 1e-9);
        for (const FramedOptions& options : {FramedOptions{}, theta_options(0.5), theta_options(1.0)}) {
            FramedState state = spun(rig, 10.0);
            Random random(51);
            state.q = random_shape(random, rig, 0.2);
            FramedMotion motion(model, state, options);
            const double energy = motion.energy().total();
            double most = 1.0, last = 0.0;
            for (int i = 0; i < 120; ++i) {
                step(motion, 1.0 / 240.0);
                last = motion.energy().total() / energy;
                most = std::max(most, last);
            }
            EXPECT_LT(relative(nodes_of(rig, motion).L, state.L), 1e-11);
            EXPECT_LT(most, 1.02);
            if (options.scheme == FramedScheme::Theta && options.theta < 1.0) {
                EXPECT_GT(last, 0.98);
            }
            ends.push_back(motion.state().q);
        }
    }
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_LT(relative(ends[3 + i], ends[i]), 1e-3); // the same elasticity
}

TEST(FramedMotion, NonlinearStepsSolveTheirEquation)
{
    const FemModel fem =
        make_fem_model(box_tets({3, 1, 1}, {1.0, 0.3, 0.3}), StVenantKirchhoff({1e5, 0.3}), 1000.0);
    RestSystem system(fem);
    Progress progress;
    const MatX S = make_framed_basis(fem, linear_modes(system, {.count = 6}, progress).basis.U).S;
    const FramedRig rig = make_framed_rig(fem, S);
    const FramedModel model =
        make_framed_model(rig.tensors, StvkPolynomial(fem, S, progress), {.mass = 0.2, .stiffness = 2e-3});
    FramedState state = rest_state(model);
    Random random(52);
    state.q = random_shape(random, rig, 0.2);
    const double h = 1.0 / 60.0;
    FramedMotion motion(model, state, {.newton = {.decrement = 1e-20}});
    const MatX Mt = mass_of(motion);
    const FramedReport report = motion.predict(h);
    EXPECT_TRUE(report.solved);
    EXPECT_GT(report.iterations, 2);
    const VecX q = motion.end().q, u = (q - state.q) / h;
    ReducedElastic at, start;
    ReducedElasticWork work;
    evaluate_gradient(model.elastic, q, at, work);
    evaluate_stiffness(model.elastic, state.q, start, work);
    const VecX damping = 0.2 * (rig.tensors.Mq * u) + 2e-3 * (start.stiffness * u);
    EXPECT_LT((Mt * u + h * (damping + at.gradient)).norm(), 1e-7 * (h * at.gradient).norm());

    // One full step is the linear one: close, and not the same.
    FramedMotion once(model, state, {.newton = {.max_iterations = 1}});
    EXPECT_EQ(once.predict(h).iterations, 1);
    const double apart = relative(once.end().q, q);
    EXPECT_GT(apart, 1e-6);
    EXPECT_LT(apart, 0.3);
}

// In a frame that turns evenly, |qdot|^2/2 + Psi - Omega . I Omega/2 is kept.
TEST(FramedMotion, LivesInAPrescribedFrame)
{
    const FramedRig& beam = beam_8();
    const FramedModel model = model_of(beam);
    const Vec3 omega(1.0, 4.0, 2.0);
    FramedState state = spun(beam, 0.0);
    const auto drift = [&](double h) {
        FramedMotion motion(model, state, {.frame = FrameKind::Prescribed});
        const auto jacobi = [&](const Vec3& Omega) {
            const VecX& u = motion.state().qdot;
            return 0.5 * u.squaredNorm() + motion.energy().elastic -
                   0.5 * Omega.dot(motion.configuration().I * Omega);
        };
        const double first = jacobi(omega);
        for (int i = 1; i <= static_cast<int>(std::lround(0.1 / h)); ++i) {
            const PrescribedFrame frame{.pose_1 = {exp_quat(i * h * omega), Vec3::Zero()},
                                        .angular_velocity = omega};
            EXPECT_TRUE(motion.predict(h, frame, VecX()).solved);
            EXPECT_TRUE(motion.advance().solved);
        }
        const Nodes nodes = nodes_of(beam, motion);
        EXPECT_LT(relative(nodes.L, motion.state().L), 1e-12);
        EXPECT_NEAR(motion.energy().kinetic(), nodes.kinetic, 1e-11 * nodes.kinetic);
        return (jacobi(omega) - first) / motion.energy().elastic;
    };
    const double coarse = drift(1e-4), fine = drift(5e-5);
    EXPECT_LT(fine, 0.0); // backward Euler damps, in first order
    EXPECT_LT(std::abs(2.0 * fine - coarse), 0.05 * std::abs(fine));
}

TEST(FramedMotion, PrescribedFramesPushTheCoordinates)
{
    const FramedRig& beam = beam_8();
    const FramedModel model = model_of(beam);
    Random random(61);
    FramedState state = spun(beam, 0.0);
    state.frame.rotation = Quat(random_rotation(random));
    state.qdot = random_shape(random, beam, 0.5);
    const Vec3 omega(1.0, 4.0, 2.0), alpha(-30.0, 20.0, 50.0);
    const Mat3 R = state.frame.rotation.toRotationMatrix();
    const Points p = shape_of(beam, state.q), w = shape_of(beam, state.qdot) - beam.X;
    // By nodes: S^T M (qddot S + alpha x p + omega x (omega x p) + 2 omega x w) + K q = 0, in the frame
    const Mat3 O = skew(R.transpose() * omega), A = skew(R.transpose() * alpha);
    const Points forces = -(A * p + O * O * p + 2.0 * O * w) * beam.mass;
    const VecX wanted =
        beam.S.transpose() * Eigen::Map<const VecX>(forces.data(), forces.size()) - beam.elastic.K * state.q;
    const double h = 1e-6;
    FramedMotion motion(model, state, {.frame = FrameKind::Prescribed});
    ASSERT_TRUE(motion
                    .predict(h,
                             {.pose_1 = state.frame,
                              .velocity = {1.0, 2.0, 3.0},
                              .angular_velocity = omega,
                              .angular_acceleration = alpha},
                             VecX())
                    .solved);
    const VecX u = (motion.end().q - state.q) / h;
    EXPECT_LT(relative((u - state.qdot) / h, wanted), 1e-3);

    // It answers impulses with its coordinates alone: R S N^-1 S^T R^T.
    const Rows3 F = factor_at(beam, motion, motion.response(), 4);
    const MatX N = beam.tensors.Mq + h * h * beam.elastic.K;
    EXPECT_LT(relative(F * F.transpose(),
                       R * beam.rows(4) * N.inverse() * beam.rows(4).transpose() * R.transpose()),
              1e-12);
    motion.apply(F.transpose() * Vec3(1.0, 2.0, 3.0));
    EXPECT_TRUE(motion.advance().solved);
    EXPECT_EQ(motion.state().v, Vec3(1.0, 2.0, 3.0));
}

TEST(FramedMotion, RaisesWhatIsAlmostSingularAndSaysSo)
{
    const FramedRig cube = make_cube(18);
    const FramedModel model = model_of(cube);
    Random random(71);
    FramedState state = rest_state(model);
    state.L = Vec3(1.0, 2.0, 3.0);
    // All but turned inside out along one direction: its inertia is that of a line.
    VecX inward(24);
    for (Index i = 0; i < 8; ++i) inward.segment<3>(3 * i) = Vec3(0.0, -cube.X(1, i), -cube.X(2, i));
    state.q = 0.99999 * cube.S.transpose() * mass_product(cube.fem, inward);
    FramedMotion motion(model, state);
    const FramedReport report = motion.predict(1.0 / 60.0);
    EXPECT_TRUE(report.guarded);
    (void)motion.advance();
    EXPECT_TRUE(motion.state().q.allFinite());
    EXPECT_TRUE(motion.Omega().allFinite());
    EXPECT_EQ(motion.state().L, state.L);

    state.q = random_shape(random, cube, 0.1);
    motion.set_state(state);
    EXPECT_FALSE(motion.predict(1.0 / 60.0).guarded);
}

TEST(FramedMotion, AllocatesNothing)
{
    if (!MallocCounter::works()) GTEST_SKIP();
    Random random(81);
    FramedRig beam = make_beam(20);
    for (const bool eigenmodes : {true, false}) {
        if (!eigenmodes) beam = make_framed_rig(beam.fem, beam.S * random_matrix(random, 20, 20));
        const FramedModel model = model_of(beam, {.mass = 0.1, .stiffness = 1e-3});
        FramedLoad load{.force = {1.0, 2.0, 3.0}, .torque = {3.0, 2.0, 1.0}, .modal = VecX::Ones(20)};
        const Rows3 S = beam.rows(5);
        for (const FramedOptions& options :
             {FramedOptions{}, theta_options(0.5), FramedOptions{.frame = FrameKind::Prescribed}}) {
            FramedMotion motion(model, random_state(random, beam, 0.1), options);
            Rows3 F;
            VecX a;
            bool solved = true;
            const auto go = [&] {
                for (int stage = 0; stage < 2; ++stage) {
                    if (stage == 1 && options.frame == FrameKind::Prescribed)
                        solved = motion.predict(0.01, PrescribedFrame{}, load.modal).solved && solved;
                    else if (stage == 1)
                        solved = motion.predict(0.01, load).solved && solved;
                    const FrameResponse& response =
                        stage == 0 ? motion.bare_response(0.01) : motion.response();
                    response.factor(motion.arm(beam.X.col(5), S), S, F);
                    a.noalias() = F.transpose() * Vec3(1.0, 2.0, 3.0);
                    if (stage == 0)
                        motion.apply_bare(a);
                    else
                        motion.apply(a);
                }
                solved = motion.advance().solved && solved;
                solved = motion.energy().total() > 0.0 && solved;
            };
            go();
            const MallocCounter counter;
            for (int i = 0; i < 5; ++i) go();
            EXPECT_EQ(counter.count(), 0) << static_cast<int>(options.scheme) << eigenmodes;
            EXPECT_TRUE(solved);
        }
    }
}

TEST(FramedModel, RefusesWhatDoesNotFit)
{
    const FramedRig& beam = beam_8();
    EXPECT_THAT(message_of([&] { make_framed_model(beam.tensors, LinearElastic{MatX::Identity(3, 3)}); }),
                HasSubstr("rank 3"));
    MatX S = beam.S;
    for (Index i = 0; i < 81; ++i) S.col(2).segment<3>(3 * i) += Vec3(0.01, 0.0, 0.0);
    EXPECT_THAT(message_of([&] { make_framed_model(make_frame_tensors(beam.fem, S), beam.elastic); }),
                HasSubstr("column 2 of the basis moves the centre of mass"));
    // Columns that are independent, of which one turns the body.
    for (Index i = 0; i < 81; ++i) S.col(2).segment<3>(3 * i) = Vec3(0, 0, 1).cross(Vec3(beam.X.col(i)));
    const FrameTensors turning = make_frame_tensors(beam.fem, S);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(turning.Mq).eigenvalues()[0], 0.9);
    EXPECT_THAT(message_of([&] { make_framed_model(turning, beam.elastic); }), HasSubstr("turn the body"));
    S.col(2) = S.col(1);
    EXPECT_THAT(message_of([&] { make_framed_model(make_frame_tensors(beam.fem, S), beam.elastic); }),
                HasSubstr("depend on each other"));

    const FramedModel model = model_of(beam);
    for (const double theta : {0.4, 1.1, std::nan("")})
        EXPECT_THROW(FramedMotion(model, rest_state(model), theta_options(theta)), InputError);
    EXPECT_THROW(FramedMotion(model, FramedState{}), InputError);
}

} // namespace lithe
