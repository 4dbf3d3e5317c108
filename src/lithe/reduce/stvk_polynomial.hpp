#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/fem/model.hpp"
#include "lithe/reduce/reduced_elastic.hpp"

namespace lithe {

/// The energy of a St. Venant-Kirchhoff body in x = X + U q: a polynomial of degree four in q, exact.   [BJ05]
///
///   Psi = 1/2 K_ij q_i q_j + 1/6 C_ijk q_i q_j q_k + 1/24 T_ijkl q_i q_j q_k q_l
///
/// with fully symmetric coefficients, each stored once: those of i >= j >= k >= l, rows over the last index, padded to
/// whole vectors. Stored once, T has r^4/24 entries and is read once per evaluation; as a matrix over pairs it
/// would have six times as many.
class StvkPolynomial {
public:
    /// Throws InputError when the body has another material, U is of another mesh, or r is above `largest_rank`.
    StvkPolynomial(const FemModel& model, const MatX& U, Progress& progress);
    static constexpr Index largest_rank = 120;

    Index rank() const { return linear_.rows(); }
    const MatX& rest_stiffness() const { return linear_; }

    /// Buffers, sized on first use.
    struct Work {
        std::vector<double> cubic; ///< T contracted with q
        std::vector<double> q;     ///< padded
        MatX quadratic_of_C, quadratic_of_T;
    };
    void evaluate(const VecX& q, ReducedElastic& out, Work& work) const;

private:
    void set_coefficients(const MatX& H);

    MatX linear_;                     ///< K, r x r
    std::vector<double> cubic_;       ///< C, rows of (i, j)
    std::vector<double> quartic_;     ///< T, rows of (i, j, k)
    std::vector<std::size_t> row_of_; ///< of (i, j): start in cubic_
};

} // namespace lithe
