#pragma once
#include <type_traits>
#include <vector>

#include "lithe/math/sparse.hpp"

namespace lithe {

/// A reference to something that computes y = A x: any callable f(const VecX& x, VecX& y). Does not own it, and
/// does not allocate; the callable must outlive the call that it is passed to.
class LinearMap {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, LinearMap>)
    LinearMap(const F& f) // NOLINT: meant to convert
        : object_(&f),
          call_([](const void* object, const VecX& x, VecX& y) { (*static_cast<const F*>(object))(x, y); })
    {
    }
    void operator()(const VecX& x, VecX& y) const { call_(object_, x, y); }

private:
    const void* object_;
    void (*call_)(const void*, const VecX&, VecX&);
};

/// z = r: no preconditioner.
struct IdentityPreconditioner {
    void operator()(const VecX& r, VecX& z) const { z = r; }
};

/// z = D^-1 r with D the diagonal of A. Entries of D that are not above zero count as one: A is then not positive
/// definite, and the solver will say so.
class JacobiPreconditioner {
public:
    explicit JacobiPreconditioner(const SparseMatrix& A) { compute(A); }
    void compute(const SparseMatrix& A);
    void operator()(const VecX& r, VecX& z) const;

private:
    VecX inverse_;
};

/// z = D^-1 r with D the 3x3 blocks on the diagonal of A, one per vertex. Blocks that are not positive definite
/// count as the identity. Throws InputError when the size of A is not a multiple of three.
class BlockJacobiPreconditioner {
public:
    explicit BlockJacobiPreconditioner(const SparseMatrix& A) { compute(A); }
    void compute(const SparseMatrix& A);
    void operator()(const VecX& r, VecX& z) const;

private:
    Eigen::Matrix<double, 3, Eigen::Dynamic> inverse_; ///< 3 x 3n, a block per vertex
};

struct CgOptions {
    int max_iterations = 1000;       ///< > 0
    double relative_residual = 1e-8; ///< |b - A x| / |b| at which to stop, > 0
};

enum class CgStatus {
    Converged,
    IterationLimit,      ///< x is the last iterate
    NotPositiveDefinite, ///< a direction with p.Ap <= 0, or a preconditioner with r.z <= 0; x is the last iterate
    NotFinite            ///< NaN or infinity in b, x, A or the preconditioner; x is the last finite iterate
};

struct [[nodiscard]] CgReport {
    CgStatus status = CgStatus::IterationLimit;
    int iterations = 0;
    double relative_residual = 0.0; ///< |b - A x| / |b|; recomputed from x where Converged
};

/// Buffers, sized on first use; their content means nothing between calls.
struct CgWork {
    VecX r, z, p, Ap;
    std::vector<double> partial;
};

/// Solves A x = b for symmetric positive definite A, from the x that is given.              [HS52]
///
///   r = b - A x,  z = M^-1 r,  p = z + (r.z / r_0.z_0) p,  x += (r.z / p.Ap) p
///
/// Where the residual that is carried along says "converged", the true one is computed; if that does not agree,
/// the iteration starts anew from x. Allocates nothing after the first call with `work`; same bits for any number
/// of threads when A and the preconditioner keep to that.
CgReport conjugate_gradient(LinearMap A, LinearMap preconditioner, const VecX& b, const CgOptions& options,
                            VecX& x, CgWork& work);

} // namespace lithe
