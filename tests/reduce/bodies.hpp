#pragma once
#include "fem/beams.hpp"
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe::test {

/// A bar along x with cells of one size; soft, so that loads of newtons bend it.
inline FemModel bar_model(const Eigen::Vector3i& cells, const Material& material = Corotational({1e5, 0.4}),
                          const FemOptions& options = {})
{
    return make_fem_model(box_tets(cells, 0.1 * cells.cast<double>()), material, 1000.0, options);
}

/// max |U^T M V - expected|
inline double gram_error(const FemModel& model, const MatX& U, const MatX& V, const MatX& expected)
{
    return (U.transpose() * mass_product(model, V) - expected).cwiseAbs().maxCoeff();
}

inline double orthonormality_error(const FemModel& model, const MatX& U)
{
    return gram_error(model, U, U, MatX::Identity(U.cols(), U.cols()));
}

/// The largest mass norm of what the columns of A (mass norm one) have outside the span of U (mass-orthonormal).
inline double outside_span(const FemModel& model, const MatX& U, const MatX& A)
{
    const MatX rest = A - U * (U.transpose() * mass_product(model, A));
    return std::sqrt(rest.cwiseProduct(mass_product(model, rest)).colwise().sum().maxCoeff());
}

inline MatX dense_mass(const FemModel& model)
{
    return mass_product(model, MatX::Identity(3 * model.vertex_count(), 3 * model.vertex_count()));
}

} // namespace lithe::test
