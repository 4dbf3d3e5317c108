#pragma once
#include "lithe/math/batch.hpp"
#include "lithe/math/types.hpp"

namespace lithe {

/// F = U diag(sigma) V^T with U and V proper rotations (det 1). |sigma| falls, and only the last may be below
/// zero: it has the sign of det F. So an inverted element has exactly one negative stretch, the smallest.  [ITF04]
struct Svd3 {
    Mat3 U;
    Vec3 sigma;
    Mat3 V;
};

/// Signed singular value decomposition by one-sided Jacobi rotations, accurate to a few units in the last place
/// of |F|, for singular, repeated, tiny and huge values too (values below 1e-60 |F| come back as zero).
/// One NaN or infinite entry makes every result NaN.
Svd3 svd3(const Mat3& F);

/// F = R S with R a proper rotation and S symmetric; S has the signed stretches as its eigenvalues.
struct Polar3 {
    Mat3 R;
    Mat3 S;
};
Polar3 polar3(const Mat3& F);

/// The R of polar3 alone: the rotation closest to F. Not unique where the two smallest signed singular values sum
/// to zero; one of the closest is returned then.
Mat3 polar_rotation(const Mat3& F);

/// d vec(R) / d vec(F) of the polar rotation. Infinite or NaN where the rotation is not unique.
///
///   dR = R [w],   (tr(S) I - S) w = axis of (R^T dF - dF^T R)
Mat9 polar_rotation_derivative(const Polar3& polar);

/// The same for many matrices at once, on all threads, with the vector instructions of `level`. The bits of each
/// result depend on its own matrix alone: not on the level, its neighbours or the number of threads, and they are
/// those of the functions for one matrix above. Results are resized as needed.
void svd3(const Mat3Batch& F, Mat3Batch& U, Vec3Batch& sigma, Mat3Batch& V,
          SimdLevel level = best_simd_level());
void polar_rotations(const Mat3Batch& F, Mat3Batch& R, SimdLevel level = best_simd_level());

/// For matrices that lie one after the other: gathers them in blocks of eight on the way. R may be F.
void polar_rotations(std::span<const Mat3> F, std::span<Mat3> R, SimdLevel level = best_simd_level());

/// For loops that do more with a block than rotate it: `blocks` blocks of a Mat3Batch, on this thread.
void polar_rotations_of_blocks(const double* F, double* R, Index blocks, SimdLevel level);

} // namespace lithe
