#include "lithe/contact/coulomb.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/math/rotation.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// A contact of a beam of 240 kg with four modes, bent at random: K is lopsided, as deformable bodies make it.
struct RandomContact {
    Mat3 K;
    Vec3 normal, u;

    explicit RandomContact(Random& random)
    {
        const Vec3 half(1.0, 0.2, 0.15), inertia(5.0, 81.8, 83.2);
        const Vec3 r = half.cwiseProduct(random_vector(random, 3));
        const MatX S = 0.1 * random_matrix(random, 3, 4);
        K = Mat3::Identity() / 240.0 - skew(r) * inertia.cwiseInverse().asDiagonal() * skew(r) +
            S * S.transpose();
        normal = Vec3(random_vector(random, 3)).normalized();
        u = random_vector(random, 3);
        if (u.dot(normal) > 0.0) u = -u;
    }
};

double scale(const Mat3& K)
{
    return K.trace() / 3.0;
}
Vec3 tangential(const Vec3& v, const Vec3& n)
{
    return v - v.dot(n) * n;
}

/// How far j is from Coulomb's law, against the size of u: cone, signs, complementarity, direction of friction.
double violation(const Mat3& K, const Vec3& n, const Vec3& u, double mu, const Vec3& j)
{
    const Vec3 w = u + K * j, j_t = tangential(j, n), w_t = tangential(w, n);
    const double speed = u.norm(), impulse = std::max(j.norm(), 1e-300);
    double worst =
        std::max({0.0, -j.dot(n) / impulse, -w.dot(n) / speed, (j_t.norm() - mu * j.dot(n)) / impulse});
    worst = std::max(worst, std::abs(j.dot(n) * w.dot(n)) / (impulse * speed));
    // maximal dissipation: j_t . w_t = -mu j_n |w_t|
    return std::max(worst, std::abs(j_t.dot(w_t) + mu * j.dot(n) * w_t.norm()) / (impulse * speed));
}

Vec3 project_on_cone(const Vec3& j, const Vec3& n, double mu)
{
    const double j_n = j.dot(n);
    const Vec3 j_t = tangential(j, n);
    const double size = j_t.norm();
    if (size <= mu * j_n) return j;
    if (mu * size <= -j_n) return Vec3::Zero();
    const double onto = (j_n + mu * size) / (1.0 + mu * mu);
    return onto * (n + mu * j_t / size);
}

/// An independent solver: the bipotential of de Saxce and Feng, j = projection of j - rho (w + mu |w_t| n) on the cone.
Vec3 project_until_still(const Mat3& K, const Vec3& n, const Vec3& u, double mu)
{
    const double rho = 1.0 / ((1.0 + mu) * Eigen::SelfAdjointEigenSolver<Mat3>(K).eigenvalues()[2]);
    Vec3 j = Vec3::Zero();
    for (int i = 0; i < 200000; ++i) {
        const Vec3 w = u + K * j;
        const Vec3 next = project_on_cone(j - rho * (w + mu * tangential(w, n).norm() * n), n, mu);
        const double moved = (next - j).norm();
        j = next;
        if (moved <= 1e-16 * j.norm()) break;
    }
    return j;
}

} // namespace

TEST(Coulomb, RandomContactsObeyTheLaw)
{
    for (const double mu : {0.3, 1.0}) {
        Random random(7);
        int energy_gain = 0, pulling = 0, reversal = 0, outside = 0, sliding = 0, pulling_stick = 0;
        for (int i = 0; i < 3000; ++i) {
            const RandomContact c(random);
            const ContactImpulse found = CoulombContact(c.K, c.normal, mu, scale(c.K)).solve(c.u);
            const Vec3 j = found.impulse, w = c.u + c.K * j;
            const double energy = j.dot(c.u + w) / 2.0;
            energy_gain += energy > -0.5 * (1.0 - 1e-12) * j.dot(c.K * j);
            pulling += j.dot(c.normal) < 0.0;
            reversal += tangential(j, c.normal).dot(tangential(w, c.normal)) > 1e-12 * j.norm() * c.u.norm();
            outside += tangential(j, c.normal).norm() > mu * j.dot(c.normal) * (1.0 + 1e-12);
            sliding += found.state == ContactState::Sliding;
            pulling_stick += c.K.llt().solve(-c.u).dot(c.normal) < 0.0;
            EXPECT_LT(violation(c.K, c.normal, c.u, mu, j), 1e-11) << i;
        }
        EXPECT_EQ(energy_gain, 0);
        EXPECT_EQ(pulling, 0);
        EXPECT_EQ(reversal, 0);
        EXPECT_EQ(outside, 0);
        EXPECT_GT(sliding, 500);
        EXPECT_GT(3000 - sliding, 100);
        EXPECT_GT(pulling_stick, 100); // these contacts are lopsided enough to matter
    }
}

TEST(Coulomb, AgreesWithTheBipotential)
{
    Random random(11);
    for (int i = 0; i < 800; ++i) {
        const RandomContact c(random);
        const double mu = i % 2 ? 0.3 : 1.0;
        const Vec3 j = CoulombContact(c.K, c.normal, mu, scale(c.K)).solve(c.u).impulse;
        const Vec3 expected = project_until_still(c.K, c.normal, c.u, mu);
        EXPECT_LT((j - expected).norm(), 2e-10 * expected.norm()) << i << " mu " << mu;
    }
}

TEST(Coulomb, StartChangesNothing)
{
    Random random(13);
    int sliding = 0;
    for (int i = 0; i < 2000; ++i) {
        const RandomContact c(random);
        const CoulombContact contact(c.K, c.normal, 0.4, scale(c.K));
        const ContactImpulse exact = contact.solve(c.u);
        const Vec3 near = exact.impulse + 0.1 * exact.impulse.norm() * Vec3(random_vector(random, 3));
        for (const Vec3& j : {near, Vec3(-exact.impulse), Vec3(Vec3::Zero())}) {
            const ContactImpulse found = contact.solve_again(c.u + c.K * j, j);
            EXPECT_EQ(found.state, exact.state);
            EXPECT_LT((found.impulse - exact.impulse).norm(), 1e-12 * (1e-12 + exact.impulse.norm())) << i;
        }
        sliding += exact.state == ContactState::Sliding;
    }
    EXPECT_GT(sliding, 500);
}

TEST(Coulomb, SphereOnPlaneKnownAnswers)
{
    // A solid sphere of mass m and radius R touches the plane below it: K_nn = 1/m, K_tt = 1/m + R^2/I = 3.5/m.
    const double m = 2.0;
    const Mat3 K = Vec3(3.5 / m, 3.5 / m, 1.0 / m).asDiagonal();
    const Vec3 n = Vec3::UnitZ();
    // Slow sideways: it sticks, and sheds 2/7 of its speed.
    const ContactImpulse stick = CoulombContact(K, n, 0.5, 1.0).solve(Vec3(0.3, 0.0, -1.0));
    EXPECT_EQ(stick.state, ContactState::Sticking);
    EXPECT_NEAR((stick.impulse - Vec3(-0.3 * m / 3.5, 0.0, m)).norm(), 0.0, 1e-15);
    // Fast sideways: j_t = mu m v_n against the motion.
    const ContactImpulse slip = CoulombContact(K, n, 0.5, 1.0).solve(Vec3(3.0, 4.0, -1.0));
    EXPECT_EQ(slip.state, ContactState::Sliding);
    EXPECT_NEAR((slip.impulse - Vec3(-0.6 * 0.5 * m, -0.8 * 0.5 * m, m)).norm(), 0.0, 1e-14);
    // Leaving, and resting exactly: no impulse.
    EXPECT_EQ(CoulombContact(K, n, 0.5, 1.0).solve(Vec3(1.0, 0.0, 0.1)).state, ContactState::Separating);
    EXPECT_EQ(CoulombContact(K, n, 0.5, 1.0).solve(Vec3::Zero()).impulse, Vec3::Zero());
    // Without friction nothing happens along the plane.
    EXPECT_EQ(CoulombContact(K, n, 0.0, 1.0).solve(Vec3(3.0, 4.0, -1.0)).impulse, Vec3(0.0, 0.0, m));
}

TEST(Coulomb, HoldsOverTwelveOrdersOfMass)
{
    Random random(17);
    for (int i = 0; i < 500; ++i) {
        RandomContact c(random);
        for (const double factor : {1e-6, 1e6}) {
            const CoulombContact contact(factor * c.K, c.normal, 0.6, factor * scale(c.K));
            EXPECT_LT(violation(factor * c.K, c.normal, c.u, 0.6, contact.solve(c.u).impulse), 1e-11);
        }
        // One tangent is a million times harder to move than the normal.
        const Mat3 axes = random_rotation(random);
        const Mat3 K = axes * Vec3(1.0, 1e-6, 0.3).asDiagonal() * axes.transpose();
        EXPECT_LT(
            violation(K, c.normal, c.u, 0.6, CoulombContact(K, c.normal, 0.6, scale(K)).solve(c.u).impulse),
            1e-8);
    }
}

TEST(Coulomb, ImmovableContactsGetNoImpulse)
{
    const Vec3 u(0.1, 0.2, -1.0), n = Vec3::UnitZ();
    EXPECT_EQ(CoulombContact(Mat3::Zero(), n, 0.5, 0.0).solve(u).impulse, Vec3::Zero());
    EXPECT_EQ(CoulombContact(Vec3(1.0, 1.0, 0.0).asDiagonal(), n, 0.5, 1.0).solve(u).impulse, Vec3::Zero());
    EXPECT_FALSE(CoulombContact(Mat3::Zero(), n, 0.5, 1.0).movable());
    // Movable along the normal only: the normal part is exact, friction stays in its cone.
    const Vec3 j = CoulombContact(Vec3(0.0, 0.0, 2.0).asDiagonal(), n, 0.5, 2.0).solve(u).impulse;
    EXPECT_NEAR(j[2], 0.5, 1e-8);
    EXPECT_LE(j.head<2>().norm(), 0.5 * j[2] * (1.0 + 1e-12));
}

TEST(Coulomb, RestitutionGivesBackAndNeverGains)
{
    for (const double mu : {0.0, 0.3, 1.0}) {
        for (const double e : {0.0, 0.5, 1.0}) {
            Random random(23);
            for (int i = 0; i < 1000; ++i) {
                const RandomContact c(random);
                const CoulombContact contact(c.K, c.normal, mu, scale(c.K));
                const ContactImpulse pressed = contact.solve(c.u);
                const Vec3 j = contact.bounce(c.u, pressed, e), w = c.u + c.K * j;
                EXPECT_LE(j.dot(c.u + w), 1e-12 * j.norm() * c.u.norm());
                EXPECT_LE(tangential(j, c.normal).norm(), mu * j.dot(c.normal) + 1e-12 * j.norm());
                EXPECT_NEAR(j.dot(c.normal), (1.0 + e) * pressed.impulse.dot(c.normal), 1e-12 * j.norm());
                if (mu == 0.0) {
                    EXPECT_NEAR(w.dot(c.normal), -e * c.u.dot(c.normal), 1e-12);
                }
            }
        }
    }
}

TEST(Coulomb, ElasticBounceWithoutFrictionKeepsTheEnergy)
{
    Random random(29);
    for (int i = 0; i < 200; ++i) {
        const RandomContact c(random);
        const CoulombContact contact(c.K, c.normal, 0.0, scale(c.K));
        const Vec3 j = contact.bounce(c.u, contact.solve(c.u), 1.0);
        EXPECT_NEAR(j.dot(c.u + c.u + c.K * j), 0.0, 1e-13 * j.norm());
    }
}
