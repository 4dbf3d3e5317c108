#include "lithe/contact/cone_newton.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

/// Bodies of eight numbers each, and contacts between two of them.
struct Problem {
    static constexpr Index size = 8;
    std::vector<Eigen::Matrix<double, 3, size, Eigen::RowMajor>> blocks;
    std::vector<ConstraintLink> links;
    std::vector<ConeNewton::Contact> contacts;
    Index bodies;

    /// `weight` is the square root of the mass of every other body.
    Problem(Random& random, int body_count, int contact_count, double mu, double weight, Index begin)
        : bodies(body_count)
    {
        const auto count = static_cast<std::size_t>(contact_count);
        blocks.reserve(2 * count); // links and contacts point into these
        links.reserve(2 * count);
        const VecX free = random_vector(random, size * bodies); // with these numbers all would part
        for (int c = 0; c < contact_count; ++c) {
            const Index a = c % body_count, b = (c + 1) % body_count;
            const Vec3 n = Vec3(random_vector(random, 3)).normalized();
            Vec3 velocity = random.uniform(0.0, 0.1) * n;
            double response = 0.0;
            for (const Index body : {a, b}) {
                blocks.emplace_back(random_matrix(random, 3, size) / (body % 2 == 0 ? weight : 1.0));
                links.push_back({blocks.back().data(), begin + size * body, size});
                response += blocks.back().squaredNorm() / 3.0;
                velocity -= blocks.back() * free.segment<size>(size * body);
            }
            contacts.push_back({.blocks = {links.data() + links.size() - 2, 2},
                                .velocity = velocity,
                                .normal = n,
                                .friction = mu,
                                .response = response,
                                .impulse = Vec3::Zero()});
        }
    }
};

} // namespace

/// Without friction the impulses are exact, however heavy bodies are. With friction, what slides is found by and by: impulses
/// are in their cones and bring no energy.
TEST(ConeNewton, FindsTheImpulsesOfAllContacts)
{
    const auto rows = [](const ConstraintLink& link) {
        return Eigen::Map<const Eigen::Matrix<double, 3, Problem::size, Eigen::RowMajor>>(link.block);
    };
    Random random(5);
    int touching = 0;
    for (const double mu : {0.0, 0.2})
        for (const double weight : {1.0, 1e3})
            for (int i = 0; i < 20; ++i) {
                const Index begin = 3 * i; // of the numbers of an island
                Problem problem(random, 3, 4 + i, mu, weight, begin);
                const VecX still = VecX::Zero(Problem::size * problem.bodies);
                ConeNewton newton;
                ASSERT_TRUE(newton.solve(problem.contacts, begin, still.size(), still.data(), 1e-7));
                VecX a = still;
                for (const auto& contact : problem.contacts)
                    for (const ConstraintLink& link : contact.blocks)
                        a.segment<Problem::size>(link.numbers - begin) +=
                            rows(link).transpose() * contact.impulse;
                double energy = 0.5 * a.squaredNorm();
                for (const auto& contact : problem.contacts) {
                    const Vec3 &n = contact.normal, &j = contact.impulse;
                    Vec3 w = contact.velocity;
                    for (const ConstraintLink& link : contact.blocks)
                        w += rows(link) * a.segment<Problem::size>(link.numbers - begin);
                    const double j_n = j.dot(n), w_n = w.dot(n);
                    EXPECT_LE((j - j_n * n).norm(), mu * j_n + 1e-12 * (1.0 + j_n));
                    energy += j.dot(contact.velocity);
                    touching += j_n > 0.0;
                    if (mu > 0.0) continue;
                    EXPECT_GE(w_n, -1e-6);
                    EXPECT_NEAR(j_n * w_n, 0.0, 1e-6 * (1.0 + j_n));
                }
                EXPECT_LT(energy, 1e-12);
            }
    EXPECT_GT(touching, 300);
}

/// A mass of one that comes down and slides: it loses what it comes down with, and friction takes mu as much.
TEST(ConeNewton, WhatSlidesDoesNotPart)
{
    Eigen::Matrix<double, 3, Problem::size, Eigen::RowMajor> G = decltype(G)::Identity();
    const ConstraintLink link{G.data(), 0, Problem::size};
    ConeNewton::Contact contact{.blocks = {&link, 1},
                                .velocity = Vec3(2, 0, -1),
                                .normal = Vec3::UnitZ(),
                                .friction = 0.5,
                                .response = 1.0,
                                .impulse = Vec3::Zero()};
    const VecX still = VecX::Zero(Problem::size);
    ASSERT_TRUE(ConeNewton().solve({&contact, 1}, 0, still.size(), still.data(), 1e-9));
    EXPECT_LT((contact.impulse - Vec3(-0.5, 0, 1)).norm(), 1e-6);
}

TEST(ConeNewton, RefusesWhatIsNotFinite)
{
    Random random(6);
    Problem problem(random, 2, 3, 0.5, 1.0, 0);
    problem.contacts[1].velocity[0] = std::nan("");
    const VecX still = VecX::Zero(Problem::size * problem.bodies);
    EXPECT_FALSE(ConeNewton().solve(problem.contacts, 0, still.size(), still.data(), 1e-6));
}
