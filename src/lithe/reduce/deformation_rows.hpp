#pragma once
#include "lithe/fem/elements.hpp"

namespace lithe {

/// B of one tet: vec(F) = vec(I) + B q for x = X + U q; 9 x r.
inline void set_deformation_rows(const Elements& elements, const MatX& U, Index slot, Eigen::Ref<MatX> B)
{
    const TetBatch& batch = elements.batches[static_cast<std::size_t>(slot / TetBatch::lane_count)];
    const int lane = static_cast<int>(slot % TetBatch::lane_count);
    Mat3 inverse_rest;
    for (int e = 0; e < 9; ++e) inverse_rest.data()[e] = batch.inverse_rest[e][lane];
    for (Index k = 0; k < U.cols(); ++k) {
        const double* u = U.col(k).data();
        const Eigen::Map<const Vec3> u_0(u + 3 * static_cast<Index>(batch.corner[0][lane]));
        Mat3 D;
        for (int a = 0; a < 3; ++a)
            D.col(a) = Eigen::Map<const Vec3>(u + 3 * static_cast<Index>(batch.corner[a + 1][lane])) - u_0;
        Eigen::Map<Mat3>(B.col(k).data()).noalias() = D * inverse_rest;
    }
}

inline double rest_volume(const Elements& elements, Index slot)
{
    return elements.batches[static_cast<std::size_t>(slot / TetBatch::lane_count)]
        .volume[slot % TetBatch::lane_count];
}

} // namespace lithe
