#include "lithe/reduce/tall_products.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr Index rows_per_block = 2048;

/// Calls f(column, begin, end) for blocks of `count` rows in every column, on all threads.
template <class F>
void for_each_piece(Index columns, Index count, Index block, const F& f)
{
    const Index blocks = (count + block - 1) / block;
    parallel_for(columns * blocks, 1, [&](Index task) {
        const Index begin = task % blocks * block;
        f(task / blocks, begin, std::min(begin + block, count));
    });
}

} // namespace

MatX transposed_product(const TallRef& A, const TallRef& B)
{
    LITHE_ASSERT(A.rows() == B.rows());
    const auto part = [&](Index begin, Index end) {
        return MatX(A.middleRows(begin, end - begin).transpose() * B.middleRows(begin, end - begin));
    };
    const auto join = [](const MatX& a, const MatX& b) { return MatX(a + b); };
    const MatX zero = MatX::Zero(A.cols(), B.cols());
    return parallel_reduce(A.rows(), rows_per_block, zero, part, join);
}

MatX tall_product(const TallRef& A, const MatX& C)
{
    MatX B = MatX::Zero(A.rows(), C.cols());
    subtract_product(A, -C, B);
    return B;
}

void subtract_product(const TallRef& A, const MatX& C, Eigen::Ref<MatX> B)
{
    LITHE_ASSERT(A.rows() == B.rows() && A.cols() == C.rows() && C.cols() == B.cols());
    if (C.size() == 0) return;
    parallel_blocks(A.rows(), rows_per_block, [&](Index begin, Index end) {
        B.middleRows(begin, end - begin).noalias() -= A.middleRows(begin, end - begin) * C;
    });
}

MatX mass_product(const FemModel& model, const TallRef& X)
{
    LITHE_ASSERT(X.rows() == 3 * model.vertex_count());
    MatX Y(X.rows(), X.cols());
    const StiffnessPattern& pattern = model.pattern;
    for_each_piece(X.cols(), model.vertex_count(), 1024, [&](Index column, Index begin, Index end) {
        const double* x = X.col(column).data();
        for (Index j = begin; j < end; ++j) {
            Vec3 sum = Vec3::Zero();
            for (int k = pattern.column_start[static_cast<std::size_t>(j)];
                 k < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++k)
                sum += model.mass[static_cast<std::size_t>(k)] *
                       Eigen::Map<const Vec3>(x + 3 * pattern.row[static_cast<std::size_t>(k)]);
            Y.block<3, 1>(3 * j, column) = sum;
        }
    });
    return Y;
}

MatX stiffness_product(const SparseMatrix& K, const TallRef& X)
{
    LITHE_ASSERT(K.cols() == X.rows());
    MatX Y(X.rows(), X.cols());
    for_each_piece(X.cols(), K.cols(), 2048, [&](Index column, Index begin, Index end) {
        const double* x = X.col(column).data();
        for (Index j = begin; j < end; ++j) {
            double sum = 0.0;
            for (int p = K.outerIndexPtr()[j]; p < K.outerIndexPtr()[j + 1]; ++p)
                sum += K.valuePtr()[p] * x[K.innerIndexPtr()[p]];
            Y(j, column) = sum;
        }
    });
    return Y;
}

} // namespace lithe
