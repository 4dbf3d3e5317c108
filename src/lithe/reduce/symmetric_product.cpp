#include "lithe/reduce/symmetric_product.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/reduce/lane_sums.hpp"

namespace lithe {
namespace {

constexpr Index tile_rows = 4, tile_columns = 3; // twelve sums and four operands: all registers of AVX2

/// Entries (i .. i + 3, j .. j + 2) of A^T B; columns beyond the last are computed as the last and not stored.
void set_tile(const MatX& A, const MatX& B, Index i, Index j, MatX& K)
{
    const Index last = A.cols() - 1;
    const double *a[tile_rows], *b[tile_columns];
    for (Index s = 0; s < tile_rows; ++s) a[s] = A.col(std::min(i + s, last)).data();
    for (Index t = 0; t < tile_columns; ++t) b[t] = B.col(std::min(j + t, last)).data();
    Lanes4 sum[tile_rows][tile_columns];
    for (auto& row : sum)
        for (Lanes4& entry : row) entry = Lanes4(0.0);
    for (Index p = 0; p < A.rows(); p += Lanes4::width) {
        const Lanes4 b_0 = Lanes4::load(b[0] + p), b_1 = Lanes4::load(b[1] + p), b_2 = Lanes4::load(b[2] + p);
        for (Index s = 0; s < tile_rows; ++s) {
            const Lanes4 a_s = Lanes4::load(a[s] + p);
            sum[s][0] = fma(a_s, b_0, sum[s][0]);
            sum[s][1] = fma(a_s, b_1, sum[s][1]);
            sum[s][2] = fma(a_s, b_2, sum[s][2]);
        }
    }
    for (Index s = 0; s < tile_rows; ++s)
        for (Index t = 0; t < tile_columns; ++t)
            if (i + s <= last && j + t <= i + s) K(i + s, j + t) = K(j + t, i + s) = sum_of(sum[s][t]);
}

} // namespace

void symmetric_product(const MatX& A, const MatX& B, MatX& K)
{
    LITHE_ASSERT(A.rows() == B.rows() && A.cols() == B.cols() && A.rows() % Lanes4::width == 0);
    K.resize(A.cols(), A.cols());
    for (Index i = 0; i < A.cols(); i += tile_rows)
        for (Index j = 0; j < std::min(i + tile_rows, A.cols()); j += tile_columns) set_tile(A, B, i, j, K);
}

} // namespace lithe
