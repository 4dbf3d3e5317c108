#pragma once
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// A symmetric matrix of 3 x 3 blocks, columns together: its lower triangle with the diagonal. Rows rise in each column.
struct BlockMatrix {
    std::vector<int> start; ///< n + 1
    std::vector<int> row;
    std::vector<Mat3> value;

    Index size() const { return static_cast<Index>(start.size()) - 1; } ///< n, in blocks
    Index block_count() const { return static_cast<Index>(row.size()); }
};

/// y += A x for both triangles.
void multiply_add(const BlockMatrix& A, const Eigen::Matrix3Xd& x, Eigen::Matrix3Xd& y);

/// A = P^T L D L^T P in blocks, for positive definite A of some hundred blocks that is solved for one vector many times: no
/// scratch, no calls, four numbers at a time. Large matrices are the business of SparseCholesky.
class BlockLdlt {
public:
    /// False when A is not positive definite, or not finite; then there is no factor. The order, of approximate minimum degree, is
    /// kept while the pattern stays the same.
    [[nodiscard]] bool factorise(const BlockMatrix& A);

    /// x becomes A^-1 x. Const and without scratch of its own: `work` is sized on first use.
    using Work = std::vector<Vec4>;
    void solve(Eigen::Ref<Eigen::Matrix3Xd> x, Work& work) const;
    /// Only the first half: x becomes y with  A^-1 = (x to y)^T (x to y).
    void half_solve(Eigen::Ref<Eigen::Matrix3Xd> x, Work& work) const;

    Index size() const { return static_cast<Index>(order_.size()); }
    Index factor_blocks() const { return static_cast<Index>(row_.size()); }

private:
    using PaddedBlock = Eigen::Matrix<double, 4, 3>; ///< the last row is zero

    void analyse(const BlockMatrix& A);
    void forward(Work& x) const;
    void backward(Work& x) const;

    std::vector<int> pattern_start_, pattern_row_; ///< that was analysed
    std::vector<int> order_, place_;               ///< block order_[k] is eliminated k-th; its inverse
    std::vector<int> start_, row_;                 ///< of L without its diagonal, columns together
    std::vector<PaddedBlock> L_;
    std::vector<Mat3> D_inverse_, D_inverse_root_; ///< D^-1 = C^T C with the second
};

} // namespace lithe
