#include "lithe/reduce/frame_tensors.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framed_rigs.hpp"
#include "lithe/core/error.hpp"
#include "support/count_mallocs.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using namespace lithe::test;
using testing::ElementsAre;
using testing::HasSubstr;

double relative(const MatX& found, const MatX& wanted)
{
    return (found - wanted).norm() / wanted.norm();
}

double orthonormality_error(const FrameTensors& tensors)
{
    return (tensors.Mq - MatX::Identity(tensors.rank(), tensors.rank())).cwiseAbs().maxCoeff();
}

/// A bar with a basis at random, which moves its centre and turns it.
FramedRig random_rig(MassKind kind)
{
    FemModel fem =
        make_fem_model(box_tets({3, 1, 2}, {0.7, 0.3, 0.4}), Linear({1e6, 0.3}), 1000.0, {.mass = kind});
    Random random(3);
    MatX S = random_matrix(random, 3 * fem.vertex_count(), 5);
    return make_framed_rig(std::move(fem), std::move(S));
}

} // namespace

TEST(FrameTensors, ModesNeitherMoveNorTurnTheBody)
{
    const std::array<std::array<double, 6>, 2> omegas{
        {{21.66, 26.71, 47.62, 49.61, 52.60, 60.62}, {20.32, 24.63, 38.51, 46.35, 48.84, 53.18}}};
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FramedRig beam = make_beam(10, 1e6, kind);
        EXPECT_LT(beam.tensors.linear.cwiseAbs().maxCoeff(), 1e-10);
        EXPECT_LT(beam.tensors.first.bottomRows<3>().cwiseAbs().maxCoeff(), 1e-10);
        EXPECT_NEAR(beam.tensors.mass, 240.0, 1e-9);
        for (std::size_t a = 0; a < 6; ++a)
            EXPECT_NEAR(std::sqrt(beam.eigenvalues[static_cast<Index>(a)]),
                        omegas[kind == MassKind::Lumped][a], 0.006);
    }
    // The modes of one mass turn the body when they are measured with the other.
    FramedRig mixed = make_beam(10);
    mixed.fem = make_fem_model(box_tets({8, 2, 2}, {2.0, 0.4, 0.3}), Linear({1e6, 0.3}), 1000.0,
                               {.mass = MassKind::Lumped});
    EXPECT_GT(make_frame_tensors(mixed.fem, mixed.S).first.bottomRows<3>().cwiseAbs().maxCoeff(), 0.1);
}

TEST(FrameTensors, OfABoxIsItsInertia)
{
    const Vec3 moments = inertia_of(make_beam(1).tensors.J0).diagonal();
    EXPECT_LT((moments - Vec3(5.0, 81.8, 83.2)).norm(), 1e-10); // m/12 (a^2 + b^2)
}

TEST(FrameTensors, AgreeWithSumsOverPairsOfNodes)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FramedRig rig = random_rig(kind);
        Random random(7);
        const VecX q = 0.1 * random_vector(random, 5), u = random_vector(random, 5);
        const Vec3 Omega = random_vector(random, 3);
        FrameConfiguration at;
        configure(rig.tensors, q, at);
        const Points p = shape_of(rig, q);
        EXPECT_LT(relative(at.I, inertia_sum(rig, p)), 1e-12);
        EXPECT_LT(relative(at.B(), coupling_sum(rig, p)), 1e-12);
        EXPECT_LT(relative(at.H, inertia_sum(rig, p).inverse() * coupling_sum(rig, p)), 1e-12);
        EXPECT_LT(relative(rig.tensors.Mq, rig.S.transpose() * mass_product(rig.fem, rig.S)), 1e-12);

        // I is a polynomial of degree two, whose central differences are exact.
        MatX c(5, 1), gradient(3, 5);
        Mat3 rate = Mat3::Zero();
        for (Index a = 0; a < 5; ++a) {
            const VecX e = VecX::Unit(5, a);
            const Mat3 dI =
                0.5 * (inertia_sum(rig, shape_of(rig, q + e)) - inertia_sum(rig, shape_of(rig, q - e)));
            rate += u[a] * dI;
            gradient.col(a) = dI * Omega;
            c(a) = 0.5 * Omega.dot(dI * Omega);
        }
        EXPECT_LT(relative(at.inertia_rate(u), rate), 1e-12);
        VecX centrifugal;
        at.centrifugal(Omega, centrifugal);
        EXPECT_LT(relative(centrifugal, c), 1e-12);
        Rows3 found;
        at.inertia_gradient(Omega, found);
        EXPECT_LT(relative(found, gradient), 1e-12);
    }
}

TEST(FrameTensors, KnowWhatSpinDoesToTheCoordinates)
{
    const FramedRig rig = random_rig(MassKind::Consistent);
    Random random(8);
    const VecX q = 0.1 * random_vector(random, 5), u = random_vector(random, 5);
    const Vec3 Omega = random_vector(random, 3);
    MatX G, wanted(5, 5), stiffness, stiffness_wanted(5, 5);
    for (Index a = 0; a < 5; ++a)
        for (Index b = 0; b < 5; ++b)
            wanted(a, b) = Omega.dot(moment_sum(rig, column(rig, b), column(rig, a)));
    gyroscopic(rig.tensors, Omega, G);
    EXPECT_LT(relative(G, wanted), 1e-12);
    EXPECT_LT((G + G.transpose()).norm(), 1e-12 * G.norm());
    Rows9 rates;
    frame_rates(rig.tensors, u, rates);
    EXPECT_LT(relative(rates.bottomRows<3>().transpose() * Omega, G * u), 1e-12);

    FrameConfiguration at;
    VecX up, down;
    for (Index a = 0; a < 5; ++a) { // c is linear in q
        configure(rig.tensors, q + VecX::Unit(5, a), at);
        at.centrifugal(Omega, up);
        configure(rig.tensors, q - VecX::Unit(5, a), at);
        at.centrifugal(Omega, down);
        stiffness_wanted.col(a) = 0.5 * (up - down);
    }
    centrifugal_stiffness(rig.tensors, Omega, stiffness);
    EXPECT_LT(relative(stiffness, stiffness_wanted), 1e-12);
}

TEST(FrameTensors, TellMomentaInTheAxesOfTheModel)
{
    const FramedRig rig = random_rig(MassKind::Consistent);
    Random random(9);
    const VecX q = 0.1 * random_vector(random, 5), u = random_vector(random, 5);
    const Points x = shape_of(rig, q).colwise() + rig.tensors.centre, v = shape_of(rig, u) - rig.X;
    Vec3 L = rig.tensors.angular() * u;
    for (int c = 0; c < 3; ++c) L[c] += q.dot(rig.tensors.quadratic(c) * u);
    EXPECT_LT(relative(L, moment_sum(rig, x, v)), 1e-12);
    EXPECT_LT(relative(rig.tensors.linear * u, v * rig.mass.rowwise().sum()), 1e-12);
    EXPECT_LT(relative(rig.tensors.mass * rig.tensors.centre + rig.tensors.linear * q,
                       x * rig.mass.rowwise().sum()),
              1e-12);
}

TEST(FrameTensors, AreThoseOfTheKnownCube)
{
    const FramedRig cube = make_oracle(MassKind::Consistent);
    MatX Mq(3, 3), Kr(3, 3), B(3, 3), I(3, 3);
    Mq << 1.0 / 6, 0, 1.0 / 60, 0, 1.0 / 6, 0, 1.0 / 60, 0, 7.0 / 6;
    Kr << 432.6923076923077, -48.07692307692307, 112.17948717948721, -48.07692307692307, 432.6923076923077,
        48.07692307692309, 112.17948717948721, 48.07692307692309, 817.3076923076922;
    B << 0, 0, 1, 0, 0, 0, 0.1 / 60, 0.35 / 60, 0.1 / 60;
    I << 2.024166666666667, 0.0005833333333332762, 0, 0.0005833333333332762, 2.0339166666666664, -0.15, 0,
        -0.15, 2.0130833333333333;
    EXPECT_LT((cube.tensors.Mq - Mq).norm(), 1e-14);
    EXPECT_LT((cube.elastic.K - Kr).norm(), 1e-10);
    FrameConfiguration at;
    configure(cube.tensors, Vec3(0.2, -0.1, 0.15), at);
    EXPECT_LT((at.B() - B).norm(), 1e-14);
    EXPECT_LT((at.I - I).norm(), 1e-13);

    const FramedRig lumped = make_oracle(MassKind::Lumped);
    configure(lumped.tensors, Vec3(0.2, -0.1, 0.15), at);
    I << 6.3741666666666665, -0.9941666666666666, -1.15, -0.9941666666666666, 6.4191666666666665, -1.45,
        -1.15, -1.45, 6.058333333333334;
    B << 0, 0, 3, 0, 0, -1, 1.0 / 60, 3.5 / 60, 1.0 / 60;
    EXPECT_LT((at.B() - B).norm(), 1e-13);
    EXPECT_LT((at.I - I).norm(), 1e-13);
}

TEST(FrameConfiguration, BetweenTwoIsThatOfTheirMiddle)
{
    const FramedRig rig = random_rig(MassKind::Consistent);
    Random random(11);
    const VecX q_a = random_vector(random, 5), q_b = random_vector(random, 5), q = 0.5 * (q_a + q_b);
    FrameConfiguration a, b, wanted, found;
    frame_rows(rig.tensors, q_a, a.W);
    frame_rows(rig.tensors, q_b, b.W);
    found.W = 0.5 * (a.W + b.W);
    configure(rig.tensors, q, wanted);
    configure_from_rows(rig.tensors, q, found);
    EXPECT_LT(relative(found.I, wanted.I), 1e-14);
    EXPECT_LT(relative(found.H, wanted.H), 1e-13);

    const MallocCounter counter;
    configure(rig.tensors, q, wanted);
    configure_from_rows(rig.tensors, q, found);
    EXPECT_EQ(counter.count(), 0);
}

TEST(FramedBasis, LosesWhatTheFrameCanDoAndWhatDepends)
{
    const FramedRig rig = random_rig(MassKind::Consistent);
    Random random(13);
    const Index rows = rig.S.rows();
    MatX U(rows, 6);
    U.col(0) = random_vector(random, rows);
    U.col(1) = random_vector(random, rows);
    for (Index i = 0; i < rows / 3; ++i) { // a turn about a point elsewhere, with a shift
        U.col(2).segment<3>(3 * i) = Vec3(1, 2, 3).cross(rig.fem.rest.col(i)) + Vec3(0.3, 0.0, -1.0);
        U.col(3).segment<3>(3 * i) = Vec3(0, -4, 1);
    }
    U.col(4) = U.col(0) - 2.0 * U.col(1) + 0.7 * U.col(2);
    U.col(5) = random_vector(random, rows);
    for (const FrameAxes axes : {FrameAxes::AsGiven, FrameAxes::StiffnessDiagonal}) {
        const FramedBasis basis = make_framed_basis(rig.fem, U, axes);
        EXPECT_THAT(basis.dropped, ElementsAre(2, 3, 4));
        const FrameTensors tensors = make_frame_tensors(rig.fem, basis.S);
        EXPECT_LT(orthonormality_error(tensors), 1e-12);
        EXPECT_LT(tensors.linear.cwiseAbs().maxCoeff(), 1e-10);
        EXPECT_LT(tensors.first.bottomRows<3>().cwiseAbs().maxCoeff(), 1e-10);
        EXPECT_LT((basis.centre - tensors.centre).norm(), 1e-14);

        // Nothing but rigid motion was lost: with it, the columns span what was given.
        MatX all(rows, 9);
        all.leftCols<3>() = basis.S;
        for (Index i = 0; i < rows / 3; ++i) {
            all.block<3, 3>(3 * i, 3) = Mat3::Identity();
            all.block<3, 3>(3 * i, 6) = skew(rig.fem.rest.col(i));
        }
        EXPECT_LT((all * all.colPivHouseholderQr().solve(U) - U).norm(), 1e-10 * U.norm());
        if (axes == FrameAxes::AsGiven) continue;
        const MatX K = make_linear_elastic(rig.fem, basis.S).K;
        EXPECT_LT((K - MatX(basis.eigenvalues.asDiagonal())).norm(), 1e-10 * K.norm());
        EXPECT_TRUE(std::is_sorted(basis.eigenvalues.begin(), basis.eigenvalues.end()));
    }
}

TEST(FramedBasis, OfAllDisplacementsHasSixLess)
{
    const FemModel fem = make_fem_model(box_tets({1, 1, 1}, Vec3::Ones()), Linear({1e6, 0.3}), 1000.0);
    const FramedBasis basis = make_framed_basis(fem, MatX::Identity(24, 24), FrameAxes::StiffnessDiagonal);
    EXPECT_EQ(basis.S.cols(), 18);
    EXPECT_NEAR(std::sqrt(basis.eigenvalues[0]), 94.1, 0.05);
}

TEST(FramedBasis, OfNoColumnsIsThatOfARigidBody)
{
    const FemModel fem = make_fem_model(box_tets({1, 1, 1}, Vec3::Ones()), Linear({1e6, 0.3}), 1000.0);
    const FramedBasis basis = make_framed_basis(fem, MatX(24, 0), FrameAxes::StiffnessDiagonal);
    EXPECT_EQ(basis.S.cols(), 0);
    FrameConfiguration at;
    configure(make_frame_tensors(fem, basis.S), VecX(0), at);
    EXPECT_LT((at.I - 1000.0 / 6.0 * Mat3::Identity()).norm(), 1e-10);
}

TEST(FramedBasis, RefusesLinesAndOtherMeshes)
{
    const FemModel needle =
        make_fem_model(box_tets({1, 1, 1}, {1.0, 1e-5, 1e-5}), Linear({1e6, 0.3}), 1000.0);
    EXPECT_THAT(message_of([&] { make_framed_basis(needle, MatX::Identity(24, 2)); }), HasSubstr("spinning"));
    const FemModel thin = make_fem_model(box_tets({1, 1, 1}, {1.0, 1e-4, 1e-4}), Linear({1e6, 0.3}), 1000.0);
    EXPECT_NO_THROW(make_framed_basis(thin, MatX::Identity(24, 2)));
    EXPECT_THAT(message_of([&] { make_framed_basis(thin, MatX::Identity(27, 2)); }),
                HasSubstr("another mesh"));
    MatX bad = MatX::Identity(24, 2);
    bad(3, 1) = std::nan("");
    EXPECT_THAT(message_of([&] { make_framed_basis(thin, bad); }), HasSubstr("not finite"));
}

} // namespace lithe
