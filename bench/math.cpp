#include "suite.hpp"

#include <Eigen/SVD>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe::bench {
namespace {

std::vector<Mat3> random_matrices(int count)
{
    Random random(1);
    std::vector<Mat3> matrices(static_cast<std::size_t>(count));
    for (Mat3& F : matrices)
        for (double& entry : F.reshaped()) entry = random.normal();
    return matrices;
}

Mat3Batch batch_of(const std::vector<Mat3>& matrices)
{
    Mat3Batch batch(std::ssize(matrices));
    for (Index k = 0; k < batch.size(); ++k) batch.set(k, matrices[static_cast<std::size_t>(k)]);
    return batch;
}

/// A Laplacian on n^3 points with three unknowns each, coupled like an elastic body's.
SparseMatrix elastic_grid(int n)
{
    std::vector<Eigen::Triplet<double>> entries;
    const auto point = [n](int i, int j, int k) { return (k * n + j) * n + i; };
    const auto couple = [&](int a, int b) {
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) {
                const double value = r == c ? 1.0 : 0.2;
                entries.emplace_back(3 * a + r, 3 * b + c, -value);
                entries.emplace_back(3 * b + r, 3 * a + c, -value);
                entries.emplace_back(3 * a + r, 3 * a + c, value);
                entries.emplace_back(3 * b + r, 3 * b + c, value);
            }
    };
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                if (i + 1 < n) couple(point(i, j, k), point(i + 1, j, k));
                if (j + 1 < n) couple(point(i, j, k), point(i, j + 1, k));
                if (k + 1 < n) couple(point(i, j, k), point(i, j, k + 1));
                for (int r = 0; r < 3; ++r)
                    entries.emplace_back(3 * point(i, j, k) + r, 3 * point(i, j, k) + r, 0.1);
            }
    SparseMatrix A(3 * n * n * n, 3 * n * n * n);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

void bench_svd(SuiteReport& report, Progress& progress)
{
    constexpr int count = 1 << 16;
    const ThreadLimit one(1);
    const std::vector<Mat3> matrices = random_matrices(count);
    const Mat3Batch F = batch_of(matrices);
    Mat3Batch U, V, R;
    Vec3Batch sigma;

    double sink = 0.0;
    const Timing eigen = measure(5, progress, [&] {
        for (const Mat3& A : matrices)
            sink += Eigen::JacobiSVD<Mat3>(A, Eigen::ComputeFullU | Eigen::ComputeFullV).singularValues()[0];
    });
    const Timing svd = measure(9, progress, [&] { svd3(F, U, sigma, V); });
    const Timing polar = measure(9, progress, [&] { polar_rotations(F, R); });
    const Timing scalar = measure(5, progress, [&] { svd3(F, U, sigma, V, SimdLevel::Scalar); });

    const std::string where = best_simd_level() == SimdLevel::Avx512 ? "AVX-512" : "AVX2";
    const double ns = 1e9 / count;
    const Peer peer = {"Eigen::JacobiSVD", ns * eigen.median + 0.0 * sink};
    report.results.push_back(
        result("svd3_ns", svd, ns, "ns/matrix", "signed SVD, one core, " + where + "; bound by arithmetic"));
    report.results.back().peer = peer;
    report.results.push_back(
        result("svd3_scalar_ns", scalar, ns, "ns/matrix", "the same formula without vectors, one core"));
    report.results.back().peer = peer;
    report.results.push_back(result("polar_rotation_ns", polar, ns, "ns/matrix",
                                    "rotation of the polar decomposition, one core, " + where));
}

void bench_cholesky(SuiteReport& report, Progress& progress)
{
    const SparseMatrix A = elastic_grid(22);
    const auto factorise_with = [&](CholeskyLibrary library) {
        SparseCholesky cholesky(library);
        cholesky.analyse(A);
        return measure(5, progress, [&] { (void)cholesky.factorise(A); });
    };
    const Timing ours = factorise_with(default_cholesky_library());
    report.results.push_back(
        result("cholesky_factor_s", ours, 1.0, "s",
               "numeric factorisation of 31,944 unknowns on a 22^3 grid, order and symbolic phase reused"));
    if (default_cholesky_library() != CholeskyLibrary::Eigen)
        report.results.back().peer =
            Peer{"Eigen simplicial, same order", factorise_with(CholeskyLibrary::Eigen).median};

    SparseCholesky cholesky;
    (void)cholesky.factorise(A);
    const VecX right = VecX::Ones(A.rows());
    MatX x = right;
    const Timing solve = measure(9, progress, [&] {
        x = right;
        cholesky.solve(x);
    });
    report.results.push_back(
        result("cholesky_solve_ms", solve, 1e3, "ms", "one right-hand side; bound by reading the factor"));
}

} // namespace

SuiteReport bench_math(Progress& progress)
{
    SuiteReport report;
    bench_svd(report, progress);
    bench_cholesky(report, progress);
    return report;
}

} // namespace lithe::bench
