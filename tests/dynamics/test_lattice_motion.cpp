#include "lithe/dynamics/lattice_motion.hpp"

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/progress.hpp"
#include "lithe/core/random.hpp"
#include "lithe/dynamics/lattice_reference.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/reduce/make_lattice_model.hpp"
#include "support/lattice_beams.hpp"

using namespace lithe;

namespace {

constexpr double degree = 0.017453292519943295;

test::LatticeBeam small_beam()
{
    return {.across = 2, .along = 6, .cell = 0.1, .twist_radius = 0.05};
}

/// A state moved as a whole.
Points moved(const LatticeSystem& system, const RigidPose& motion)
{
    Points x = Points::Zero(3, system.count());
    for (Index f = 0; f < system.coarse_count(); ++f) x.col(f) = motion.apply(system.rest.col(f));
    return x;
}

/// Of the flesh, about the bones. [J]
double mechanical_energy(LatticeReference& reference, const LatticeSystem& system, const LatticeState& state)
{
    return reference.energy(state.x) + 0.5 * state.v.cwiseProduct(state.v * system.M).sum();
}

TEST(LatticeSystem, MassesAreThoseOfTheBody)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    const double mass = beam.density * 0.2 * 0.2 * 0.6;
    EXPECT_NEAR(system->mass, mass, 1e-10);
    EXPECT_NEAR(system->M.sum(), mass, 1e-10);
}

TEST(LatticeSystem, StiffnessAnnihilatesRigidMotions)
{
    const auto system = test::system_of({.across = 2, .along = 4, .levels = 1, .integration_levels = 2});
    const Vec3 omega(0.3, -0.5, 0.8);
    Points d = Points::Zero(3, system->count()), f = d;
    for (Index a = 0; a < system->coarse_count(); ++a)
        d.col(a) = Vec3(0.1, 0.2, -0.3) + omega.cross(Vec3(system->rest.col(a)));
    double scale = 0.0;
    for (const LatticeCellIntegrals& cell : system->cells)
        for (const LatticePair& pair : cell.pairs) {
            f.col(pair.a) += pair.K * d.col(pair.b);
            if (pair.a != pair.b) f.col(pair.b) += pair.K.transpose() * d.col(pair.a);
            scale = std::max(scale, pair.K.norm() * d.norm());
        }
    EXPECT_GT(scale, 0.0);
    EXPECT_LE(f.cwiseAbs().maxCoeff(), 1e-10 * scale);
}

/// A ball in a coarse box of tets, by the distance to its surface.
TEST(LatticeSystem, MassOfARoundBodyIsWithinTwoPercent)
{
    const test::LatticeBeam box{.across = 4, .along = 4, .cell = 0.5};
    TriangleMesh ball = make_sphere(0.8, 0.05);
    ball.vertices.colwise() += Vec3(0.0, 0.0, 1.0);
    Progress progress;
    const TetMesh tets = finest_tets(subdivided(test::lattice_of(box), 2));
    const std::vector<float> fractions = inside_fractions(tets, ball, progress);
    double inside = 0.0;
    for (Index t = 0; t < tets.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
        inside +=
            static_cast<double>(fractions[static_cast<std::size_t>(t)]) * tet_volume(x(0), x(1), x(2), x(3));
    }
    EXPECT_NEAR(inside, volume(ball), 0.005 * volume(ball));
}

TEST(LatticeMotion, RigidMotionOfTheSkeletonMakesNoForce)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeMotion motion(system);
    const RigidPose pose{Quat(Eigen::AngleAxisd(2.0, Vec3(1.0, 2.0, 3.0).normalized())),
                         Vec3(3.0, -2.0, 1.0)};
    LatticeState state = rest_state(*system, test::bent(beam, 0.0, pose)), next;
    EXPECT_LE((state.x - moved(*system, pose)).cwiseAbs().maxCoeff(), 1e-14);
    motion.step(state, {test::bent(beam, 0.0, pose), test::bent(beam, 0.0, pose)}, {.h = 0.01}, next);
    EXPECT_LE((next.x - state.x).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE(next.v.cwiseAbs().maxCoeff(), 1e-12 / 0.01);
}

TEST(LatticeMotion, BonesAreExactlyWhereTheJointsBringThem)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeMotion motion(system);
    LatticeState state = rest_state(*system, test::bent(beam, 0.0)), next;
    motion.step(state, {test::bent(beam, 0.0), test::bent(beam, 0.5)}, {.h = 0.02, .gravity = {0, -9.81, 0}},
                next);
    const std::vector<RigidPose> joints = test::bent(beam, 0.5);
    for (int z = 0; z <= beam.along; ++z) {
        const int v = beam.vertex(1, 1, z);
        const RigidPose& joint = joints[z >= beam.along / 2 ? 1 : 0];
        EXPECT_LE((next.x.col(v) - joint.apply(system->rest.col(v))).norm(), 1e-15);
    }
}

/// The small deformation of a turned beam is that of one at rest, turned: whatever the angle.
TEST(LatticeMotion, TheStepDoesNotDependOnTheAngleOfTheBones)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeReference corotational(system, MaterialKind::Corotational);
    Random random(3);
    Points d = Points::Zero(3, system->count());
    for (int f = 0; f < static_cast<int>(system->count()); ++f)
        if (!system->held[static_cast<std::size_t>(f)])
            for (double& value : d.col(f)) value = 1e-4 * random.uniform(-1.0, 1.0);

    Points first;
    double smallest = 1e300, largest = 0.0;
    for (const double angle : {0.0, 30.0, 60.0, 90.0, 180.0}) {
        const Quat R(Eigen::AngleAxisd(angle * degree, Vec3(1.0, 1.0, 0.0).normalized()));
        const std::vector<RigidPose> joints = test::bent(beam, 0.0, {R, Vec3::Zero()});
        LatticeMotion motion(system);
        LatticeState state = rest_state(*system, joints), next;
        state.x += R.toRotationMatrix() * d;
        motion.step(state, {joints, joints}, {.h = 0.01}, next);
        const Points back = R.conjugate().toRotationMatrix() * next.x;
        if (angle == 0.0) first = back;
        EXPECT_LE((back - first).norm(), 1e-12 * first.norm());

        // The force of the regions against that of the corotational tets.
        const Points exact = R.conjugate().toRotationMatrix() * corotational.gradient(state.x);
        const SparseMatrix K = corotational.hessian(system->rest, Definiteness::Exact);
        const Points linear = VecX(K * VecX(d.reshaped())).reshaped(3, d.cols());
        const double error = (linear - exact).norm() / exact.norm();
        smallest = std::min(smallest, error);
        largest = std::max(largest, error);
    }
    EXPECT_LT(largest, 0.01);
    EXPECT_LT(largest / smallest, 1.01);
}

TEST(LatticeMotion, DampingTakesEnergyAndGravityPullsDown)
{
    test::LatticeBeam beam = small_beam();
    LatticeModel model = test::model_of(beam);
    model.settings.damping = 5.0;
    const auto system = std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(model)));
    LatticeMotion motion(system);
    LatticeReference reference(system, MaterialKind::Linear);
    const LatticePose still{test::bent(beam, 0.0), test::bent(beam, 0.0)};
    LatticeState state = rest_state(*system, still.start), next;
    for (int f = 0; f < static_cast<int>(system->count()); ++f)
        if (!system->held[static_cast<std::size_t>(f)]) state.v.col(f) = Vec3(0.3, 0.0, 0.0);
    double energy = mechanical_energy(reference, *system, state);
    for (int k = 0; k < 20; ++k) {
        motion.step(state, still, {.h = 1e-3}, next);
        std::swap(state, next);
        const double now = mechanical_energy(reference, *system, state);
        EXPECT_LT(now, energy);
        energy = now;
    }
    LatticeState rest = rest_state(*system, still.start);
    motion.step(rest, still, {.h = 1e-3, .gravity = {0.0, -9.81, 0.0}}, next);
    EXPECT_LT((next.v * system->first).y(), 0.0);
}

TEST(LatticeMotion, SettlesWhereTheLinearReferenceIsInEquilibrium)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeMotion motion(system);
    LatticeReference linear(system, MaterialKind::Linear);
    const LatticePose still{test::bent(beam, 0.0), test::bent(beam, 0.0)};
    LatticeState state = rest_state(*system, still.start), next;
    const Vec3 gravity(0.0, -9.81, 0.0);
    for (int k = 0; k < 400; ++k) {
        motion.step(state, still, {.h = 0.05, .gravity = gravity}, next);
        std::swap(state, next);
    }
    Points x = rest_state(*system, still.start).x;
    ASSERT_TRUE(linear.equilibrium(still.start, gravity, x).converged);
    // The regions have free borders where they are cut, so they are softer than the whole.
    EXPECT_LE(linear.distance(x, state.x), 0.1 * linear.distance(x, system->rest));
}

TEST(LatticeMotion, TargetsAreMetAndContradictionsDropped)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeMotion motion(system);
    const LatticePose still{test::bent(beam, 0.0), test::bent(beam, 0.0)};
    const LatticeState state = rest_state(*system, still.start);
    LatticeState next;
    const int a = beam.vertex(0, 0, 6), b = beam.vertex(0, 1, 3), c = beam.vertex(1, 0, 3);
    const Vec3 pulled = state.x.col(a) + Vec3(0.02, 0.0, 0.01);
    const Vec3 between = 0.5 * (state.x.col(b) + state.x.col(c)) + Vec3(0.0, 0.01, 0.0);
    const std::vector<LatticeTarget> targets = {
        {{{a}, {1.0}}, pulled}, {{{b, c}, {0.5, 0.5}}, between}, {{{a}, {1.0}}, pulled}};
    motion.step(state, still, {.h = 0.01, .targets = targets}, next);
    EXPECT_LE((next.x.col(a) - pulled).norm(), 1e-10);
    EXPECT_LE((0.5 * (next.x.col(b) + next.x.col(c)) - between).norm(), 1e-10);
    for (int z = 0; z <= beam.along; ++z) // bones give way to nobody
        EXPECT_EQ(next.x.col(beam.vertex(1, 1, z)), state.x.col(beam.vertex(1, 1, z)));
}

TEST(LatticeMotion, AnswersAreSymmetricAndTheColumnsOfTheCompliance)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    LatticeMotion motion(system);
    const LatticePose pose{test::bent(beam, 0.2), test::bent(beam, 0.3)};
    LatticeState state = rest_state(*system, pose.start), next;
    motion.step(state, pose, {.h = 0.01}, next);
    const std::vector<LatticePoint> points = {{{beam.vertex(0, 0, 5)}, {1.0}},
                                              {{beam.vertex(2, 1, 3), beam.vertex(2, 2, 3)}, {0.3, 0.7}}};
    const MatX W = motion.compliance(points);
    EXPECT_LE((W - W.transpose()).norm(), 1e-14 * W.norm());
    Points impulses = Points::Zero(3, system->count()), dv;
    impulses.col(beam.vertex(0, 0, 5)) = Vec3(1.0, 2.0, 3.0);
    motion.answer(impulses, dv);
    const Vec3 there = 0.3 * dv.col(beam.vertex(2, 1, 3)) + 0.7 * dv.col(beam.vertex(2, 2, 3));
    EXPECT_LE((W.block<3, 3>(3, 0) * Vec3(1.0, 2.0, 3.0) - there).norm(), 1e-13 * W.norm());
}

TEST(LatticeMotion, TheSameBitsForAnyNumberOfThreads)
{
    const test::LatticeBeam beam = small_beam();
    const auto system = test::system_of(beam);
    Points results[2];
    for (const int threads : {1, 2}) {
        const ThreadLimit limit(threads);
        LatticeMotion motion(system);
        LatticeState state = rest_state(*system, test::bent(beam, 0.0)), next;
        for (int k = 0; k < 5; ++k) {
            motion.step(state, {test::bent(beam, 0.1 * k), test::bent(beam, 0.1 * (k + 1))},
                        {.h = 0.02, .gravity = {0, -9.81, 0}}, next);
            std::swap(state, next);
        }
        results[threads - 1] = state.x;
    }
    EXPECT_EQ(results[0], results[1]);
}

} // namespace
