#include "lithe/math/block_ldlt.hpp"

#include <algorithm>

#include <Eigen/OrderingMethods>

#include "lithe/core/error.hpp"
#include "lithe/math/sparse.hpp"

namespace lithe {
namespace {

/// Approximate minimum degree on the graph of the blocks.
std::vector<int> elimination_order(const BlockMatrix& A)
{
    const Index n = A.size();
    std::vector<Triplet> entries;
    for (int c = 0; c < n; ++c)
        for (int k = A.start[c]; k < A.start[c + 1]; ++k) {
            entries.emplace_back(A.row[k], c, 1.0);
            if (A.row[k] != c) entries.emplace_back(c, A.row[k], 1.0);
        }
    SparseMatrix graph(n, n);
    graph.setFromTriplets(entries.begin(), entries.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> places;
    Eigen::AMDOrdering<int>()(graph, places);
    return {places.indices().data(), places.indices().data() + n};
}

/// Below the diagonal, in the order of elimination: the rows of each column of A.
std::vector<std::vector<int>> lower_rows(const BlockMatrix& A, const std::vector<int>& place)
{
    std::vector<std::vector<int>> rows(place.size());
    for (int c = 0; c < A.size(); ++c)
        for (int k = A.start[c]; k < A.start[c + 1]; ++k) {
            const int i = place[A.row[k]], j = place[c];
            if (i != j) rows[std::min(i, j)].push_back(std::max(i, j));
        }
    return rows;
}

} // namespace

void multiply_add(const BlockMatrix& A, const Eigen::Matrix3Xd& x, Eigen::Matrix3Xd& y)
{
    for (int c = 0; c < A.size(); ++c)
        for (int k = A.start[c]; k < A.start[c + 1]; ++k) {
            const int r = A.row[k];
            y.col(r) += A.value[k] * x.col(c);
            if (r != c) y.col(c) += A.value[k].transpose() * x.col(r);
        }
}

void BlockLdlt::analyse(const BlockMatrix& A)
{
    pattern_start_ = A.start;
    pattern_row_ = A.row;
    order_ = elimination_order(A);
    place_.resize(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = static_cast<int>(k);

    // A column of L has the rows of A's, and those of the columns whose first row it is.
    std::vector<std::vector<int>> rows = lower_rows(A, place_);
    start_ = {0};
    row_.clear();
    for (std::size_t j = 0; j < rows.size(); ++j) {
        std::vector<int>& own = rows[j];
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
        row_.insert(row_.end(), own.begin(), own.end());
        start_.push_back(static_cast<int>(row_.size()));
        if (!own.empty()) rows[own[0]].insert(rows[own[0]].end(), own.begin() + 1, own.end());
    }
    L_.resize(row_.size());
    D_inverse_.resize(order_.size());
    D_inverse_root_.resize(order_.size());
}

bool BlockLdlt::factorise(const BlockMatrix& A)
{
    if (A.start != pattern_start_ || A.row != pattern_row_) analyse(A);
    const int n = static_cast<int>(A.size());
    for (PaddedBlock& block : L_) block.setZero();
    std::vector<Mat3> D(order_.size(), Mat3::Zero());
    std::vector<int> slot(order_.size()); // of a row in the column at hand

    // The blocks of A where those of L come.
    for (int j = 0; j < n; ++j) {
        for (int k = start_[j]; k < start_[j + 1]; ++k) slot[row_[k]] = k;
        const int c = order_[j];
        for (int k = A.start[c]; k < A.start[c + 1]; ++k)
            if (const int i = place_[A.row[k]]; i == j)
                D[j] = A.value[k];
            else if (i > j)
                L_[slot[i]].topRows<3>() = A.value[k];
    }
    for (int c = 0; c < n; ++c) // blocks whose mirror image is below the diagonal of L
        for (int k = A.start[c]; k < A.start[c + 1]; ++k) {
            const int i = place_[A.row[k]], j = place_[c];
            if (i >= j) continue;
            const auto* found = std::lower_bound(&row_[start_[i]], row_.data() + start_[i + 1], j);
            L_[static_cast<std::size_t>(found - row_.data())].topRows<3>() = A.value[k].transpose();
        }

    // Column j is done once those before it have been taken off; then it is taken off those after it.
    for (int j = 0; j < n; ++j) {
        const Eigen::LLT<Mat3> llt(D[j]);
        if (!D[j].allFinite() || llt.info() != Eigen::Success) return false;
        D_inverse_root_[j] = Mat3(llt.matrixL()).inverse();
        D_inverse_[j] = D_inverse_root_[j].transpose() * D_inverse_root_[j];
        for (int a = start_[j]; a < start_[j + 1]; ++a) {
            const Mat3 scaled = L_[a].topRows<3>() * D_inverse_[j]; // L of this block
            const int target = row_[a];
            for (int k = start_[target]; k < start_[target + 1]; ++k) slot[row_[k]] = k;
            D[target].noalias() -= scaled * L_[a].topRows<3>().transpose();
            for (int b = a + 1; b < start_[j + 1]; ++b)
                L_[slot[row_[b]]].topRows<3>().noalias() -= L_[b].topRows<3>() * scaled.transpose();
        }
        for (int a = start_[j]; a < start_[j + 1]; ++a)
            L_[a].topRows<3>() = (L_[a].topRows<3>() * D_inverse_[j]).eval();
    }
    return true;
}

void BlockLdlt::forward(Work& x) const
{
    const int n = static_cast<int>(order_.size());
    for (int j = 0; j < n; ++j) {
        const double a = x[j][0], b = x[j][1], c = x[j][2];
        for (int k = start_[j]; k < start_[j + 1]; ++k)
            x[row_[k]] -= a * L_[k].col(0) + b * L_[k].col(1) + c * L_[k].col(2);
    }
}

void BlockLdlt::backward(Work& x) const
{
    for (int j = static_cast<int>(order_.size()) - 1; j >= 0; --j) {
        PaddedBlock sums = PaddedBlock::Zero();
        for (int k = start_[j]; k < start_[j + 1]; ++k)
            for (int c = 0; c < 3; ++c) sums.col(c) += L_[k].col(c).cwiseProduct(x[row_[k]]);
        x[j].head<3>() -= sums.colwise().sum().transpose();
    }
}

void BlockLdlt::solve(Eigen::Ref<Eigen::Matrix3Xd> x, Work& work) const
{
    LITHE_ASSERT_HEAVY(x.cols() == size());
    work.resize(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) work[k] << x.col(order_[k]), 0.0;
    forward(work);
    for (std::size_t k = 0; k < order_.size(); ++k)
        work[k].head<3>() = (D_inverse_[k] * work[k].head<3>()).eval();
    backward(work);
    for (std::size_t k = 0; k < order_.size(); ++k) x.col(order_[k]) = work[k].head<3>();
}

void BlockLdlt::half_solve(Eigen::Ref<Eigen::Matrix3Xd> x, Work& work) const
{
    work.resize(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) work[k] << x.col(order_[k]), 0.0;
    forward(work);
    for (std::size_t k = 0; k < order_.size(); ++k)
        x.col(static_cast<Index>(k)) = D_inverse_root_[k] * work[k].head<3>();
}

} // namespace lithe
