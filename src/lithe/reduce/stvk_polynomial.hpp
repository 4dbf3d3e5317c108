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
/// with fully symmetric coefficients, each stored once: those of i >= j >= k >= l, in tiles of four rows k (padded with
/// zeros). T then has r^4/24 entries and is read once per evaluation; as a matrix over pairs it would have six times as
/// many. Four rows at a time are twice as fast as one.
class StvkPolynomial {
public:
    /// Throws InputError when the body has another material, U is of another mesh, or r is above `largest_rank`.
    StvkPolynomial(const FemModel& model, const MatX& U, Progress& progress);
    static constexpr Index largest_rank = 120;

    Index rank() const { return linear_.rows(); }
    const MatX& rest_stiffness() const { return linear_; }

    /// Buffers, sized on first use.
    struct Work {
        std::vector<double> q;              ///< padded
        std::vector<double> cubic;          ///< T contracted with q, laid out as C
        std::vector<double> from_C, from_T; ///< matrices that C and T make with q, laid out in tiles
        VecX product;
    };
    void evaluate(const VecX& q, ReducedElastic& out, Work& work) const;

private:
    void set_coefficients(const MatX& H);

    MatX linear_;                    ///< K, r x r
    std::vector<double> cubic_;      ///< C: for each i the tiles of (k, l)
    std::vector<double> quartic_;    ///< T: for each (i, j) the tiles of (k, l)
    std::vector<std::size_t> start_; ///< of i in cubic_
};

} // namespace lithe
