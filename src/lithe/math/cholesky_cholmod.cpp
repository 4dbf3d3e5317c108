#include <cmath>

#include <cholmod.h>

#include "lithe/core/error.hpp"
#include "lithe/math/cholesky_backend.hpp"

extern "C" {
void openblas_set_num_threads(int count);
int omp_get_max_active_levels();
void omp_set_max_active_levels(int levels);
}

namespace lithe::detail {
namespace {

/// The bits of OpenBLAS change with the number of its threads; ours must not. Parallelism is ours alone.
void use_one_blas_thread()
{
    static const bool done = (openblas_set_num_threads(1), true);
    (void)done;
}

/// While this lives, OpenMP runs on the calling thread alone. CHOLMOD asks it for four threads whatever the machine: they wait for
/// each other by spinning, and cost a small factorisation more than half of its time.
class SerialOpenMp {
public:
    SerialOpenMp() : levels_(omp_get_max_active_levels()) { omp_set_max_active_levels(0); }
    ~SerialOpenMp() { omp_set_max_active_levels(levels_); }
    SerialOpenMp(const SerialOpenMp&) = delete;
    SerialOpenMp& operator=(const SerialOpenMp&) = delete;

private:
    int levels_;
};

cholmod_sparse view_of(const SparseMatrix& upper)
{
    cholmod_sparse view = {};
    view.nrow = static_cast<std::size_t>(upper.rows());
    view.ncol = static_cast<std::size_t>(upper.cols());
    view.nzmax = static_cast<std::size_t>(upper.nonZeros());
    view.p = const_cast<int*>(upper.outerIndexPtr());
    view.i = const_cast<int*>(upper.innerIndexPtr());
    view.x = const_cast<double*>(upper.valuePtr());
    view.stype = 1;
    view.itype = CHOLMOD_INT;
    view.xtype = CHOLMOD_REAL;
    view.dtype = CHOLMOD_DOUBLE;
    view.sorted = 1;
    view.packed = 1;
    return view;
}

/// CHOLMOD's supernodal factorisation [CDHR08], whose dense blocks go through BLAS.
class CholmodCholesky final : public CholeskyBackend {
public:
    CholmodCholesky()
    {
        use_one_blas_thread();
        cholmod_start(&common_);
        common_.print = 0;
        common_.useGPU = 0;
        common_.supernodal = CHOLMOD_SUPERNODAL;
        common_.quick_return_if_not_posdef = 1;
        common_.nmethods = 1; // the order is ours; CHOLMOD only postorders it, which gives its supernodes
        common_.method[0].ordering = CHOLMOD_NATURAL;
        common_.postorder = 1;
    }
    ~CholmodCholesky() override
    {
        cholmod_free_factor(&factor_, &common_);
        for (cholmod_dense** buffer : {&x_, &y_, &e_}) cholmod_free_dense(buffer, &common_);
        cholmod_finish(&common_);
    }
    CholmodCholesky(const CholmodCholesky&) = delete;
    CholmodCholesky& operator=(const CholmodCholesky&) = delete;

    void analyse(const SparseMatrix& upper) override
    {
        cholmod_sparse view = view_of(upper);
        cholmod_free_factor(&factor_, &common_);
        factor_ = cholmod_analyze(&view, &common_);
        require_resources();
        LITHE_ASSERT(factor_ != nullptr);
        nonzeros_ = common_.lnz;
        flops_ = common_.fl;
    }

    bool factorise(const SparseMatrix& upper) override
    {
        const SerialOpenMp serial;
        cholmod_sparse view = view_of(upper);
        cholmod_factorize(&view, factor_, &common_);
        require_resources();
        return common_.status == CHOLMOD_OK && factor_->minor == factor_->n && pivots_are_finite();
    }

    void solve_in_place(Eigen::Ref<MatX> B) override
    {
        cholmod_dense view = {};
        view.nrow = static_cast<std::size_t>(B.rows());
        view.ncol = static_cast<std::size_t>(B.cols());
        view.d = static_cast<std::size_t>(B.outerStride());
        view.nzmax = view.d * view.ncol;
        view.x = B.data();
        view.xtype = CHOLMOD_REAL;
        view.dtype = CHOLMOD_DOUBLE;
        const int solved =
            cholmod_solve2(CHOLMOD_A, factor_, &view, nullptr, &x_, nullptr, &y_, &e_, &common_);
        require_resources();
        LITHE_ASSERT(solved);
        B = Eigen::Map<const MatX>(static_cast<const double*>(x_->x), B.rows(), B.cols());
    }

    double factor_nonzeros() const override { return nonzeros_; }
    double factor_flops() const override { return flops_; }

private:
    void require_resources() const
    {
        if (common_.status == CHOLMOD_OUT_OF_MEMORY) throw std::bad_alloc();
        if (common_.status == CHOLMOD_TOO_LARGE)
            throw InputError(
                "the factor has more than 2^31 entries; use fewer unknowns or an iterative solver");
    }

    /// BLAS may let NaN (from overflow) pass its test of the pivots.
    bool pivots_are_finite() const
    {
        const auto* columns = static_cast<const int*>(factor_->super);
        const auto* rows = static_cast<const int*>(factor_->pi);
        const auto* values = static_cast<const int*>(factor_->px);
        const auto* x = static_cast<const double*>(factor_->x);
        for (std::size_t s = 0; s < factor_->nsuper; ++s) {
            const int height = rows[s + 1] - rows[s];
            for (int j = 0; j < columns[s + 1] - columns[s]; ++j)
                if (!std::isfinite(x[values[s] + j * static_cast<std::ptrdiff_t>(height) + j])) return false;
        }
        return true;
    }

    cholmod_common common_ = {};
    cholmod_factor* factor_ = nullptr;
    cholmod_dense *x_ = nullptr, *y_ = nullptr, *e_ = nullptr; ///< kept between solves of the same width
    double nonzeros_ = 0.0, flops_ = 0.0;
};

} // namespace

std::unique_ptr<CholeskyBackend> make_cholmod_cholesky()
{
    return std::make_unique<CholmodCholesky>();
}

} // namespace lithe::detail
