#include "lithe/math/sparse_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lithe/core/error.hpp"
#include "lithe/math/cholesky_backend.hpp"
#include "lithe/math/ordering.hpp"

namespace lithe {
namespace {

std::unique_ptr<detail::CholeskyBackend> make_backend(CholeskyLibrary library)
{
    if (library == CholeskyLibrary::Eigen) return detail::make_eigen_cholesky();
#ifdef LITHE_GPL
    return detail::make_cholmod_cholesky();
#else
    throw InputError("this build has no CHOLMOD; build with LITHE_GPL=ON or use CholeskyLibrary::Eigen");
#endif
}

/// The pattern of a matrix, to recognise it.
struct Pattern {
    std::vector<int> start, row;

    explicit Pattern(const SparseMatrix& A)
        : start(A.outerIndexPtr(), A.outerIndexPtr() + A.cols() + 1),
          row(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros())
    {
    }
    Pattern() = default;
    bool matches(const SparseMatrix& A) const
    {
        return A.isCompressed() && A.rows() == A.cols() && static_cast<Index>(start.size()) == A.cols() + 1 &&
               static_cast<Index>(row.size()) == A.nonZeros() &&
               std::equal(start.begin(), start.end(), A.outerIndexPtr()) &&
               std::equal(row.begin(), row.end(), A.innerIndexPtr());
    }
};

/// The upper triangle of P A P^T, and where in A each of its entries comes from.
struct PermutedUpper {
    SparseMatrix matrix;
    std::vector<int> source;
};

PermutedUpper permuted_upper(const SparseMatrix& A, const std::vector<int>& order)
{
    const int n = static_cast<int>(A.cols());
    std::vector<int> position(order.size());
    for (int k = 0; k < n; ++k) position[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;

    // For rows k in turn, entry (k, i) with i >= k joins column i: so each column is sorted when all are in.
    std::vector<int> next(order.size() + 1, 0);
    const auto for_each_entry = [&](const auto& visit) {
        for (int k = 0; k < n; ++k) {
            const int column = order[static_cast<std::size_t>(k)];
            for (int p = A.outerIndexPtr()[column]; p < A.outerIndexPtr()[column + 1]; ++p) {
                const int i = position[static_cast<std::size_t>(A.innerIndexPtr()[p])];
                if (i >= k) visit(k, i, p);
            }
        }
    };
    for_each_entry([&](int, int i, int) { ++next[static_cast<std::size_t>(i) + 1]; });
    for (int i = 0; i < n; ++i) next[static_cast<std::size_t>(i) + 1] += next[static_cast<std::size_t>(i)];

    PermutedUpper upper;
    upper.matrix.resize(n, n);
    upper.matrix.resizeNonZeros(next.back());
    std::copy(next.begin(), next.end(), upper.matrix.outerIndexPtr());
    upper.source.resize(static_cast<std::size_t>(next.back()));
    for_each_entry([&](int k, int i, int p) {
        const int at = next[static_cast<std::size_t>(i)]++;
        upper.matrix.innerIndexPtr()[at] = k;
        upper.source[static_cast<std::size_t>(at)] = p;
    });
    return upper;
}

} // namespace

struct SparseCholesky::Parts {
    std::unique_ptr<detail::CholeskyBackend> backend;
    Pattern pattern;
    std::vector<int> mirror; ///< of each nonzero of A, the place of its transpose
    std::vector<int> order;
    PermutedUpper upper;
    MatX panel; ///< right-hand sides in elimination order
    int analysis_count = 0;
    bool has_factor = false;
};

CholeskyLibrary default_cholesky_library()
{
#ifdef LITHE_GPL
    return CholeskyLibrary::Cholmod;
#else
    return CholeskyLibrary::Eigen;
#endif
}

SparseCholesky::SparseCholesky(CholeskyLibrary library) : parts_(std::make_unique<Parts>())
{
    parts_->backend = make_backend(library);
}
SparseCholesky::~SparseCholesky() = default;
SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;

void SparseCholesky::analyse(const SparseMatrix& A)
{
    analyse(A, nested_dissection(A));
}

void SparseCholesky::analyse(const SparseMatrix& A, std::vector<int> order)
{
    Parts& parts = *parts_;
    std::vector<int> mirror = transposed_places(A);
    require_permutation(order, A.cols());
    parts.has_factor = false;
    parts.pattern = Pattern(A);
    parts.mirror = std::move(mirror);
    parts.order = std::move(order);
    parts.upper = permuted_upper(A, parts.order);
    std::fill_n(parts.upper.matrix.valuePtr(), parts.upper.matrix.nonZeros(), 0.0);
    parts.backend->analyse(parts.upper.matrix);
    ++parts.analysis_count;
}

FactorStatus SparseCholesky::factorise(const SparseMatrix& A)
{
    Parts& parts = *parts_;
    if (!parts.pattern.matches(A)) analyse(A);
    parts.has_factor = false;

    const double* value = A.valuePtr();
    double largest = 0.0;
    for (Index p = 0; p < A.nonZeros(); ++p) {
        if (!std::isfinite(value[p])) return FactorStatus::NotFinite;
        largest = std::max(largest, std::abs(value[p]));
    }
    for (Index p = 0; p < A.nonZeros(); ++p)
        if (std::abs(value[p] - value[parts.mirror[static_cast<std::size_t>(p)]]) > 1e-9 * largest)
            throw InputError("the matrix is not symmetric: " + std::to_string(value[p]) + " in row " +
                             std::to_string(A.innerIndexPtr()[p]) + " has a different mirror image");

    double* target = parts.upper.matrix.valuePtr();
    for (std::size_t k = 0; k < parts.upper.source.size(); ++k) target[k] = value[parts.upper.source[k]];
    parts.has_factor = parts.backend->factorise(parts.upper.matrix);
    return parts.has_factor ? FactorStatus::Success : FactorStatus::NotPositiveDefinite;
}

void SparseCholesky::solve(Eigen::Ref<MatX> B)
{
    Parts& parts = *parts_;
    if (!parts.has_factor)
        throw InputError("solve: there is no factor; call factorise and look at its status");
    if (B.rows() != size())
        throw InputError("solve: the right-hand side has " + std::to_string(B.rows()) + " rows, the matrix " +
                         std::to_string(size()));
    // Panels keep the copies in the cache, and are as wide as the dense kernels need.
    constexpr Index panel_width = 32;
    for (Index first = 0; first < B.cols(); first += panel_width) {
        const Index width = std::min(panel_width, B.cols() - first);
        if (parts.panel.rows() != size() || parts.panel.cols() < width) parts.panel.resize(size(), width);
        auto panel = parts.panel.leftCols(width);
        for (Index c = 0; c < width; ++c)
            for (Index k = 0; k < size(); ++k)
                panel(k, c) = B(parts.order[static_cast<std::size_t>(k)], first + c);
        parts.backend->solve_in_place(panel);
        for (Index c = 0; c < width; ++c)
            for (Index k = 0; k < size(); ++k)
                B(parts.order[static_cast<std::size_t>(k)], first + c) = panel(k, c);
    }
}

Index SparseCholesky::size() const
{
    return static_cast<Index>(parts_->order.size());
}
bool SparseCholesky::has_factor() const
{
    return parts_->has_factor;
}
const std::vector<int>& SparseCholesky::order() const
{
    return parts_->order;
}
double SparseCholesky::factor_nonzeros() const
{
    return parts_->backend->factor_nonzeros();
}
double SparseCholesky::factor_flops() const
{
    return parts_->backend->factor_flops();
}
int SparseCholesky::analysis_count() const
{
    return parts_->analysis_count;
}

} // namespace lithe
