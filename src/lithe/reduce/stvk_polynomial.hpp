#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/fem/model.hpp"
#include "lithe/reduce/reduced_elastic.hpp"

namespace lithe {

/// The energy of a St. Venant-Kirchhoff body in x = X + U q: a polynomial of degree four in q, exact.   [BJ05]
///
///   Psi = 1/2 q.K q + sum_{i>=j>=k} c_ijk q_i q_j q_k + sum_{i>=j>=k>=l} t_ijkl q_i q_j q_k q_l
///
/// Every monomial once: t has r^4/24 entries, read once per evaluation; as a matrix over pairs it would have six times as
/// many.
class StvkPolynomial {
public:
    /// The coefficients in plain order: i rises slowest, then j <= i, k <= j, l <= k.
    struct Data {
        MatX linear;                 ///< K, r x r, symmetric [N/m]
        std::vector<double> cubic;   ///< c, r (r + 1) (r + 2)/6
        std::vector<double> quartic; ///< t, r (r + 1) (r + 2) (r + 3)/24
    };

    /// Throws InputError when the body has another material, U is of another mesh, or r is above `largest_rank`.
    StvkPolynomial(const FemModel& model, const MatX& U, Progress& progress);
    /// Throws InputError for sizes that do not fit and for numbers that are not finite.
    explicit StvkPolynomial(const Data& data);
    static constexpr Index largest_rank = 120;

    Index rank() const { return linear_.rows(); }
    const MatX& rest_stiffness() const { return linear_; }
    Data data() const;

    /// Vectors of four must not lie across cache lines: that would double the time.
    using Aligned = std::vector<double, Eigen::aligned_allocator<double>>;

    /// Buffers, sized on first use.
    struct Work {
        Aligned from_cubic, from_quartic; ///< half of their Hessians, laid out in tiles
    };
    void evaluate(const VecX& q, ReducedElastic& out, Work& work) const;

private:
    MatX linear_;     ///< K, r x r
    Aligned cubic_;   ///< c: for each i the tiles of (j, k)
    Aligned quartic_; ///< t: for each (i, j) the tiles of (k, l)
};

} // namespace lithe
