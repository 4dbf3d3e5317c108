#pragma once
#include <concepts>

#include "lithe/material/elastic_constants.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe {

/// A material is pure functions of the deformation gradient F; vec() stacks columns.
template <class M>
concept Hyperelastic = requires(const M& m, const Mat3& F) {
    { m.psi(F) } -> std::same_as<double>;    // energy density, zero at rest   [J/m^3]
    { m.P(F) } -> std::same_as<Mat3>;        // first Piola stress dpsi/dF     [Pa]
    { m.dPdF(F) } -> std::same_as<Mat9>;     // d vec(P) / d vec(F)            [Pa]
    { m.dPdF_psd(F) } -> std::same_as<Mat9>; // its nearest positive semidefinite matrix (Frobenius) [Pa]
};

/// psi(sigma) and what the eigen-system of its 9 x 9 Hessian is made of. Entry k of `flip` and `twist` belongs to
/// the pair (i, j) of the other two axes. The laws give these two in closed form, free of 0/0.
struct StretchDerivatives {
    double psi = 0.0;
    Vec3 gradient = Vec3::Zero(); ///< psi_i = dpsi/dsigma_i
    Mat3 hessian = Mat3::Zero();  ///< psi_ij; its eigenpairs are the scaling modes
    Vec3 flip = Vec3::Zero();  ///< (psi_i - psi_j) / (sigma_i - sigma_j), mode U (E_ij + E_ji) V^T / sqrt 2
    Vec3 twist = Vec3::Zero(); ///< (psi_i + psi_j) / (sigma_i + sigma_j), mode U (E_ij - E_ji) V^T / sqrt 2
};

/// An isotropic law is a symmetric function of the signed stretches sigma_0 >= sigma_1 >= |sigma_2|.
template <class M>
concept StretchLaw = requires(const M& m, const Vec3& sigma) {
    { m.stretch_derivatives(sigma) } -> std::same_as<StretchDerivatives>;
};

/// Clamps all nine eigenvalues at zero: the best positive semidefinite approximation of the Hessian in the
/// Frobenius norm, since the modes are orthonormal.                                        [SdGK19]
void project_psd(StretchDerivatives& d);

/// sum_k lambda_k vec(Q_k) vec(Q_k)^T over the nine modes.
Mat9 principal_hessian(const Svd3& svd, const StretchDerivatives& d);

/// The four functions of a material from its `stretch_derivatives`: the one code path of all isotropic laws.
template <class Law>
class Isotropic {
public:
    double psi(const Mat3& F) const { return law().stretch_derivatives(svd3(F).sigma).psi; }

    Mat3 P(const Mat3& F) const
    {
        const Svd3 svd = svd3(F);
        return svd.U * law().stretch_derivatives(svd.sigma).gradient.asDiagonal() * svd.V.transpose();
    }

    Mat9 dPdF(const Mat3& F) const
    {
        const Svd3 svd = svd3(F);
        return principal_hessian(svd, law().stretch_derivatives(svd.sigma));
    }

    Mat9 dPdF_psd(const Mat3& F) const
    {
        const Svd3 svd = svd3(F);
        StretchDerivatives d = law().stretch_derivatives(svd.sigma);
        project_psd(d);
        return principal_hessian(svd, d);
    }

private:
    friend Law; // only the law itself can derive from this
    Isotropic() = default;
    const Law& law() const { return static_cast<const Law&>(*this); }
};

/// psi as a function of I_1 = sum sigma_i^2, I_2 = sum_{i<j} sigma_i^2 sigma_j^2, J = sigma_0 sigma_1 sigma_2,
/// and its derivatives. These three are polynomials of F, so such a law is smooth wherever psi(I_1, I_2, J) is.
struct InvariantDerivatives {
    double psi = 0.0;
    double d1 = 0.0, d2 = 0.0, dJ = 0.0;    ///< by I_1, I_2, J
    double d11 = 0.0, d1J = 0.0, d2J = 0.0; ///< no law here has d12 or d22
    double dJJ = 0.0;
};

/// Chain rule from the invariants to the stretches.
StretchDerivatives stretch_derivatives(const InvariantDerivatives& d, const Vec3& sigma);

} // namespace lithe
