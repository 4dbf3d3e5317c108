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

} // namespace

Mat3 project_psd(const Mat3& A)
{
    const Mat3 symmetric = 0.5 * (A + A.transpose());
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
