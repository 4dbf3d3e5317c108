#include "lithe/math/psd.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "lithe/math/svd3.hpp"

namespace lithe {
namespace {

template <class Matrix>
Matrix project_through_eigenvalues(const Matrix& A)
{
    const Matrix symmetric = 0.5 * (A + A.transpose());
    if (Eigen::LLT<Matrix>(symmetric).info() == Eigen::Success) return symmetric;
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(symmetric);
    const Matrix& V = eigen.eigenvectors();
    return V * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * V.transpose();
}

/// By its leading minors, with room for their rounding: false for some that are barely definite.
bool clearly_definite(const Mat3& A)
{
    const double scale = A.diagonal().maxCoeff();
    const double minor = A(0, 0) * A(1, 1) - A(0, 1) * A(0, 1);
    return A(0, 0) > 1e-12 * scale && minor > 1e-12 * scale * scale &&
           A.determinant() > 1e-12 * scale * scale * scale;
}

} // namespace

Mat3 project_psd(const Mat3& A)
{
    const Mat3 symmetric = 0.5 * (A + A.transpose());
    if (clearly_definite(symmetric)) return symmetric;
    const Svd3 svd = svd3(symmetric);
    const Mat3 magnitude = svd.V * svd.sigma.cwiseAbs().asDiagonal() * svd.V.transpose();
    return 0.5 * (symmetric + magnitude);
}

Mat9 project_psd(const Mat9& A)
{
    return project_through_eigenvalues(A);
}
Mat12 project_psd(const Mat12& A)
{
    return project_through_eigenvalues(A);
}

} // namespace lithe
