#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// Which vector instructions a kernel uses. All give the same bits; the slower ones are for tests and measurements.
enum class SimdLevel { Scalar, Avx2, Avx512 };

/// The best that this CPU has.
SimdLevel best_simd_level();

/// Many small matrices, laid out for vector instructions: blocks of eight matrices, and in a block one array of
/// eight doubles per entry. Entry (i, j) of matrix k is at
///
///   data[(k / 8) * 8 * Rows * Cols + (i + Rows * j) * 8 + k % 8].
///
/// Against one array per entry over all matrices, a block is contiguous: one stream to prefetch instead of nine.
/// The last block is filled up with zeros; kernels work on whole blocks.
template <int Rows, int Cols>
class LaneBatch {
public:
    using Matrix = Eigen::Matrix<double, Rows, Cols>;
    static constexpr Index lane_count = 8;
    static constexpr Index block_size = lane_count * Rows * Cols; ///< doubles in a block

    LaneBatch() = default;
    explicit LaneBatch(Index count) { resize(count); }

    /// Content means nothing after a change of size, except that the padding is zero.
    void resize(Index count)
    {
        if (count == count_) return;
        count_ = count;
        data_.assign(static_cast<std::size_t>(block_count() * block_size), 0.0);
    }
    Index size() const { return count_; }
    Index block_count() const { return (count_ + lane_count - 1) / lane_count; }

    double* block(Index b) { return data_.data() + b * block_size; }
    const double* block(Index b) const { return data_.data() + b * block_size; }

    void set(Index k, const Matrix& A)
    {
        double* lane = block(k / lane_count) + k % lane_count;
        for (int e = 0; e < Rows * Cols; ++e) lane[lane_count * e] = A.data()[e];
    }
    Matrix get(Index k) const
    {
        const double* lane = block(k / lane_count) + k % lane_count;
        Matrix A;
        for (int e = 0; e < Rows * Cols; ++e) A.data()[e] = lane[lane_count * e];
        return A;
    }

private:
    Index count_ = 0;
    std::vector<double, Eigen::aligned_allocator<double>> data_;
};

using Mat3Batch = LaneBatch<3, 3>;
using Vec3Batch = LaneBatch<3, 1>;

} // namespace lithe
