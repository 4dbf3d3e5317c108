#include "lithe/fem/elasticity.hpp"

#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "support/taylor.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

struct Scrambled {
    FemModel model;
    Points x;
};

/// A small body of one law, far from rest, with a few inverted tets.
Scrambled scrambled(const Material& material, double size = 0.2)
{
    Scrambled out{make_fem_model(box_tets({2, 3, 4}, {0.5, 0.6, 1.1}), material, 900.0), {}};
    Random random(4);
    out.x = random_rotation(random) * out.model.rest + noise(random, out.model.vertex_count(), size);
    return out;
}

std::vector<Material> all_materials()
{
    std::vector<Material> all;
    for (const MaterialKind kind : material_kinds())
        all.push_back(make_material({.kind = kind, .elastic = {1e4, 0.35}}));
    return all;
}

/// The plain formulas, tet by tet, in the order of the mesh: the reference for everything vectorised.
struct Reference {
    double Psi = 0.0;
    Points gradient;
    MatX K;
};
Reference reference(const TetMesh& mesh, const Material& material, const Points& x, Definiteness definiteness)
{
    Reference out{0.0, Points::Zero(3, x.cols()), MatX::Zero(3 * x.cols(), 3 * x.cols())};
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        const Eigen::Vector4i v = mesh.tets.col(t);
        Mat3 D, d;
        for (int a = 0; a < 3; ++a) {
            D.col(a) = mesh.vertices.col(v[a + 1]) - mesh.vertices.col(v[0]);
            d.col(a) = x.col(v[a + 1]) - x.col(v[0]);
        }
        const double volume = D.determinant() / 6.0;
        const Mat3 F = d * D.inverse();
        Eigen::Matrix<double, 4, 3> shape;
        shape.bottomRows<3>() = D.inverse();
        shape.row(0) = -shape.bottomRows<3>().colwise().sum();
        Eigen::Matrix<double, 9, 12> dFdx = Eigen::Matrix<double, 9, 12>::Zero();
        for (int a = 0; a < 4; ++a)
            for (int j = 0; j < 3; ++j) dFdx.block<3, 3>(3 * j, 3 * a) = shape(a, j) * Mat3::Identity();
        const auto [psi, P, H] = std::visit(
            [&](const auto& m) {
                return std::tuple(m.psi(F), m.P(F),
                                  definiteness == Definiteness::Exact ? m.dPdF(F) : m.dPdF_psd(F));
            },
            material);
        out.Psi += volume * psi;
        const Vec12 g = volume * dFdx.transpose() * vec(P);
        const Mat12 k = volume * dFdx.transpose() * H * dFdx;
        for (int a = 0; a < 4; ++a) {
            out.gradient.col(v[a]) += g.segment<3>(3 * a);
            for (int b = 0; b < 4; ++b) out.K.block<3, 3>(3 * v[a], 3 * v[b]) += k.block<3, 3>(3 * a, 3 * b);
        }
    }
    return out;
}

VecX flat(const Points& x)
{
    return Eigen::Map<const VecX>(x.data(), x.size());
}
Points points(const VecX& x)
{
    return Eigen::Map<const Points>(x.data(), 3, x.size() / 3);
}

bool same_bits(const SparseMatrix& A, const SparseMatrix& B)
{
    return A.nonZeros() == B.nonZeros() &&
           std::equal(A.valuePtr(), A.valuePtr() + A.nonZeros(), B.valuePtr());
}

} // namespace

TEST(Elasticity, MatchesThePlainFormulas)
{
    const TetMesh mesh = box_tets({2, 3, 4}, {0.5, 0.6, 1.1});
    for (const Material& material : all_materials()) {
        const Scrambled body = scrambled(material);
        ElasticWork work;
        Points gradient;
        SparseMatrix K;
        for (const Definiteness definiteness : {Definiteness::Exact, Definiteness::Projected}) {
            const Reference expected = reference(mesh, material, body.x, definiteness);
            EXPECT_NEAR(elastic_energy(body.model, body.x, work), expected.Psi, 1e-12 * expected.Psi);
            EXPECT_NEAR(elastic_gradient(body.model, body.x, gradient, work), expected.Psi,
                        1e-12 * expected.Psi);
            EXPECT_LT((gradient - expected.gradient).norm(), 1e-12 * expected.gradient.norm());
            elastic_hessian(body.model, body.x, definiteness, K, work);
            EXPECT_LT((MatX(K) - expected.K).norm(), 1e-9 * expected.K.norm()) << material.index();
        }
    }
}

TEST(Elasticity, DerivativesHaveTheirOrder)
{
    for (const Material& material : all_materials()) {
        const Scrambled body = scrambled(material, 0.02);
        Random random(9);
        ElasticWork work;
        Points gradient;
        SparseMatrix K;
        const auto energy = [&](const VecX& x) { return elastic_energy(body.model, points(x), work); };
        const auto slope = [&](const VecX& x) {
            (void)elastic_gradient(body.model, points(x), gradient, work);
            return flat(gradient);
        };
        const VecX d = random_vector(random, body.x.size()).normalized();
        const VecX g = slope(flat(body.x));
        elastic_hessian(body.model, body.x, Definiteness::Exact, K, work);
        EXPECT_GT(g.norm(), 1.0);
        EXPECT_GT(taylor_order_of_scalar(energy, g.dot(d), flat(body.x), d), 1.9);
        EXPECT_GT(taylor_order(slope, K * d, flat(body.x), d), 1.9) << material.index();
    }
}

// Acceptance M4: inner forces add up to nothing.
TEST(Elasticity, ForcesHaveNoNetForceAndNoNetTorque)
{
    for (const Material& material : all_materials()) {
        const Scrambled body = scrambled(material);
        ElasticWork work;
        Points g;
        (void)elastic_gradient(body.model, body.x, g, work);
        EXPECT_LT(g.rowwise().sum().norm(), 1e-10 * g.norm());
        Vec3 torque = Vec3::Zero();
        for (Index i = 0; i < g.cols(); ++i) torque += Vec3(body.x.col(i)).cross(Vec3(g.col(i)));
        if (std::holds_alternative<Linear>(material)) continue; // it is not blind to rotations
        EXPECT_LT(torque.norm(), 1e-10 * g.norm());
    }
}

TEST(Elasticity, StiffnessIsSymmetricToTheBit)
{
    const Scrambled body = scrambled(Corotational({1e4, 0.3}));
    ElasticWork work;
    SparseMatrix K;
    elastic_hessian(body.model, body.x, Definiteness::Projected, K, work);
    EXPECT_EQ((MatX(K) - MatX(K).transpose()).cwiseAbs().maxCoeff(), 0.0);
}

TEST(Elasticity, SameBitsForAllThreadsAndInstructions)
{
    for (const Material& material : all_materials()) {
        const Scrambled body = scrambled(material);
        ElasticWork work;
        Points g_0, g;
        SparseMatrix K_0, K;
        const double Psi_0 = elastic_gradient(body.model, body.x, g_0, work, SimdLevel::Scalar);
        elastic_hessian(body.model, body.x, Definiteness::Projected, K_0, work, SimdLevel::Scalar);
        for (const int threads : {1, 2, 4})
            for (const SimdLevel level : {SimdLevel::Scalar, SimdLevel::Avx2, best_simd_level()}) {
                const ThreadLimit limit(threads);
                EXPECT_EQ(elastic_gradient(body.model, body.x, g, work, level), Psi_0);
                elastic_hessian(body.model, body.x, Definiteness::Projected, K, work, level);
                EXPECT_TRUE(g == g_0);
                EXPECT_TRUE(same_bits(K, K_0));
            }
    }
}

TEST(Elasticity, RegionsHaveTheirOwnMaterials)
{
    TetMesh mesh = box_tets({3, 2, 2}, {1.0, 1.0, 1.0});
    const Material soft = Corotational({1e3, 0.3}), stiff = StableNeoHookean({1e5, 0.4});
    for (Index t = 0; t < mesh.tet_count(); ++t) mesh.regions.push_back(t % 3 == 0 ? 7 : 2);
    const RegionMaterial materials[] = {{2, soft, 1000.0}, {7, stiff, 2000.0}};
    const FemModel model = make_fem_model(mesh, materials);
    Random random(3);
    const Points x = mesh.vertices + noise(random, mesh.vertex_count(), 0.1);

    double expected = 0.0;
    for (const int label : {2, 7}) {
        TetMesh part = mesh;
        std::vector<int> kept;
        for (Index t = 0; t < mesh.tet_count(); ++t)
            if (mesh.regions[static_cast<std::size_t>(t)] == label) kept.push_back(static_cast<int>(t));
        part.tets = mesh.tets(Eigen::all, kept);
        expected += reference(part, label == 2 ? soft : stiff, x, Definiteness::Exact).Psi;
    }
    ElasticWork work;
    EXPECT_NEAR(elastic_energy(model, x, work), expected, 1e-12 * expected);
}
