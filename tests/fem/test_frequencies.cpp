// The first six free frequencies of a beam: mass and stiffness together, against Timoshenko's theory.
#include <cmath>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include "beams.hpp"
#include "lithe/fem/elasticity.hpp"
#include "lithe/math/sparse_cholesky.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double E = 1e7, nu = 0.3, rho = 1000.0; // [Pa], [-], [kg/m^3]
constexpr double L = 1.0, side = L / 20.0;        // [m]

/// Squared frequencies of the free Timoshenko beam, by Rayleigh-Ritz with Legendre polynomials for w and theta:
///
///   E I |theta'|^2 + k G A |w' - theta|^2   over   rho A |w|^2 + rho I |theta|^2
VecX timoshenko_eigenvalues()
{
    constexpr int n = 16; // polynomials each; the first modes have converged to all digits
    const double A = side * side, I = A * A / 12.0, G = E / (2.0 * (1.0 + nu));
    const double k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu); // Cowper's coefficient of a square section
    MatX K = MatX::Zero(2 * n, 2 * n), M = K;
    constexpr int points = 400; // midpoint rule on the energies; errors of 1e-6
    for (int q = 0; q < points; ++q) {
        const double s = -1.0 + 2.0 * (q + 0.5) / points, weight = L / points;
        VecX value(n), slope = VecX::Zero(n);
        for (int i = 0; i < n; ++i) value[i] = std::legendre(static_cast<unsigned>(i), s);
        for (int i = 1; i < n; ++i)
            slope[i] = i * value[i - 1] + s * slope[i - 1]; // P_i' = i P_(i-1) + s P_(i-1)'
        slope *= 2.0 / L;
        VecX bend = VecX::Zero(2 * n), shear(2 * n), w = VecX::Zero(2 * n), theta = VecX::Zero(2 * n);
        bend.tail(n) = slope;
        shear << slope, -value;
        w.head(n) = value;
        theta.tail(n) = value;
        K += weight * (E * I * bend * bend.transpose() + k * G * A * shear * shear.transpose());
        M += weight * (rho * A * w * w.transpose() + rho * I * theta * theta.transpose());
    }
    return Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

SparseMatrix mass_matrix(const FemModel& model)
{
    SparseMatrix M = model.pattern.zero;
    const StiffnessPattern& pattern = model.pattern;
    for (Index j = 0; j < model.vertex_count(); ++j)
        for (int b = pattern.column_start[static_cast<std::size_t>(j)];
             b < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++b)
            for (int c = 0; c < 3; ++c)
                M.coeffRef(3 * pattern.row[static_cast<std::size_t>(b)] + c, 3 * j + c) =
                    model.mass[static_cast<std::size_t>(b)];
    return M;
}

/// The smallest eigenvalues of K phi = lambda M phi by subspace iteration with (K + shift M)^-1 M.
VecX smallest_eigenvalues(const SparseMatrix& K, const SparseMatrix& M, double shift, Index count)
{
    SparseCholesky cholesky;
    EXPECT_EQ(cholesky.factorise(SparseMatrix(K + shift * M)), FactorStatus::Success);
    Random random(1);
    MatX X = random_matrix(random, K.rows(), count + 6);
    VecX values;
    for (int iteration = 0; iteration < 7; ++iteration) {
        X = M * X;
        cholesky.solve(X);
        const MatX small_K = X.transpose() * (K * X), small_M = X.transpose() * (M * X);
        const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> ritz(small_K, small_M);
        X = X * ritz.eigenvectors();
        values = ritz.eigenvalues();
    }
    return values.head(count);
}

} // namespace

TEST(Frequencies, FirstSixOfAFreeBeamAreTimoshenkos)
{
    const FemModel model =
        make_fem_model(box_tets({200, 10, 10}, {L, side, side}), Corotational({E, nu}), rho);
    ElasticWork work;
    SparseMatrix K;
    elastic_hessian(model, model.rest, Definiteness::Exact, K, work);
    const VecX theory = timoshenko_eigenvalues(); // two rigid motions first
    const VecX values = smallest_eigenvalues(K, mass_matrix(model), 0.1 * theory[2], 12);

    for (int i = 0; i < 6; ++i) EXPECT_LT(std::abs(values[i]), 1e-6 * theory[2]); // rigid motions
    for (int i = 0; i < 6; ++i) { // each bending mode in two planes
        const double expected = std::sqrt(theory[2 + i / 2]);
        EXPECT_NEAR(std::sqrt(values[6 + i]) / expected, 1.0, 0.03) << "mode " << i + 1;
    }
}
