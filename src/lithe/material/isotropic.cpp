#include "lithe/material/isotropic.hpp"

#include "lithe/math/psd.hpp"

namespace lithe {

void project_psd(StretchDerivatives& d)
{
    d.flip = d.flip.cwiseMax(0.0);
    d.twist = d.twist.cwiseMax(0.0);
    d.hessian = project_psd(d.hessian);
}

Mat9 principal_hessian(const Svd3& svd, const StretchDerivatives& d)
{
    // In the frame, entry (i, j) of U^T dF V sits at i + 3 j; only ii-jj and ij-ji couple.
    Mat9 H = Mat9::Zero();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            H(4 * i, 4 * j) = d.hessian(i, j);
            if (i == j) continue;
            const int k = 3 - i - j;
            H(i + 3 * j, i + 3 * j) = 0.5 * (d.flip[k] + d.twist[k]);
            H(i + 3 * j, j + 3 * i) = 0.5 * (d.flip[k] - d.twist[k]);
        }
    Mat9 T; // vec(U X V^T) = T vec(X)
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) T.block<3, 3>(3 * i, 3 * j) = svd.V(i, j) * svd.U;
    return T * H * T.transpose();
}

StretchDerivatives stretch_derivatives(const InvariantDerivatives& d, const Vec3& sigma)
{
    const Vec3 s2 = sigma.cwiseAbs2();
    const double I1 = s2.sum();
    const Vec3 dI1 = 2.0 * sigma;
    const Vec3 dI2 = 2.0 * sigma.cwiseProduct(Vec3::Constant(I1) - s2);
    const Vec3 dJ(sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]);

    StretchDerivatives out;
    out.psi = d.psi;
    out.gradient = d.d1 * dI1 + d.d2 * dI2 + d.dJ * dJ;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double ddI1 = i == j ? 2.0 : 0.0;
            const double ddI2 = i == j ? 2.0 * (I1 - s2[i]) : 4.0 * sigma[i] * sigma[j];
            const double ddJ = i == j ? 0.0 : sigma[3 - i - j];
            out.hessian(i, j) = d.d1 * ddI1 + d.d2 * ddI2 + d.dJ * ddJ + d.d11 * dI1[i] * dI1[j] +
                                d.d1J * (dI1[i] * dJ[j] + dJ[i] * dI1[j]) +
                                d.d2J * (dI2[i] * dJ[j] + dJ[i] * dI2[j]) + d.dJJ * dJ[i] * dJ[j];
        }
    // (psi_i -+ psi_j) / (sigma_i -+ sigma_j), divided out by hand
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double product = sigma[i] * sigma[j];
        out.flip[k] = 2.0 * (d.d1 + d.d2 * (s2[k] - product)) - d.dJ * sigma[k];
        out.twist[k] = 2.0 * (d.d1 + d.d2 * (s2[k] + product)) + d.dJ * sigma[k];
    }
    return out;
}

} // namespace lithe
