#include <cmath>

#include <Eigen/SparseCholesky>

#include "lithe/math/cholesky_backend.hpp"

namespace lithe::detail {
namespace {

using Llt = Eigen::SimplicialLLT<SparseMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>>;

/// Opens the column counts of the symbolic phase, which Eigen keeps to itself. Right after that phase they are
/// without the diagonal (after a factorisation, with it).
class CountingLlt : public Llt {
public:
    VecX analysed_column_counts() const { return m_nonZerosPerCol.cast<double>().array() + 1.0; }
};

class EigenCholesky final : public CholeskyBackend {
public:
    void analyse(const SparseMatrix& upper) override
    {
        llt_.analyzePattern(upper);
        const VecX counts = llt_.analysed_column_counts();
        nonzeros_ = counts.sum();
        flops_ = counts.squaredNorm();
    }

    bool factorise(const SparseMatrix& upper) override
    {
        llt_.factorize(upper);
        if (llt_.info() != Eigen::Success) return false;
        // A NaN pivot (from overflow) is not caught by Eigen's test d <= 0.
        const SparseMatrix& L = llt_.matrixL().nestedExpression();
        for (Index j = 0; j < L.cols(); ++j)
            if (!std::isfinite(L.valuePtr()[L.outerIndexPtr()[j]])) return false;
        return true;
    }

    void solve_in_place(Eigen::Ref<MatX> B) override
    {
        llt_.matrixL().solveInPlace(B);
        llt_.matrixU().solveInPlace(B);
    }

    double factor_nonzeros() const override { return nonzeros_; }
    double factor_flops() const override { return flops_; }

private:
    CountingLlt llt_;
    double nonzeros_ = 0.0, flops_ = 0.0;
};

} // namespace

std::unique_ptr<CholeskyBackend> make_eigen_cholesky()
{
    return std::make_unique<EigenCholesky>();
}

} // namespace lithe::detail
