#include "lithe/reduce/reduced_model.hpp"

#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

void require_size(const FemModel& model, const MatX& U)
{
    if (U.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(U.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
}

Index rank_of(const ElasticModel& elastic)
{
    if (const auto* linear = std::get_if<LinearElastic>(&elastic)) return linear->K.rows();
    if (const auto* polynomial = std::get_if<StvkPolynomial>(&elastic)) return polynomial->rank();
    return std::get<CubatureElastic>(elastic).rank();
}

void evaluate_linear(const LinearElastic& linear, const VecX& q, ReducedElastic& out)
{
    out.gradient.noalias() = linear.K * q;
    out.energy = 0.5 * out.gradient.dot(q);
    out.stiffness = linear.K;
}

} // namespace

LinearElastic make_linear_elastic(const FemModel& model, const MatX& U)
{
    require_size(model, U);
    ElasticWork work;
    SparseMatrix K;
    elastic_hessian(model, model.rest, Definiteness::Exact, K, work);
    const MatX K_r = transposed_product(U, stiffness_product(K, U));
    return {0.5 * (K_r + K_r.transpose())};
}

void evaluate_gradient(const ElasticModel& elastic, const VecX& q, ReducedElastic& out,
                       ReducedElasticWork& work)
{
    if (const auto* linear = std::get_if<LinearElastic>(&elastic))
        evaluate_linear(*linear, q, out);
    else if (const auto* polynomial = std::get_if<StvkPolynomial>(&elastic))
        polynomial->evaluate(q, out, work.polynomial);
    else
        std::get<CubatureElastic>(elastic).evaluate(q, out, work.cubature);
}

void evaluate_stiffness(const ElasticModel& elastic, const VecX& q, ReducedElastic& out,
                        ReducedElasticWork& work)
{
    if (const auto* cubature = std::get_if<CubatureElastic>(&elastic))
        cubature->evaluate(q, Definiteness::Projected, out, work.cubature);
    else
        evaluate_gradient(elastic, q, out, work);
}

ReducedModel make_reduced_model(const FemModel& model, const MatX& U, ElasticModel elastic)
{
    require_size(model, U);
    if (rank_of(elastic) != U.cols())
        throw InputError("the elastic model has rank " + std::to_string(rank_of(elastic)) + ", the basis " +
                         std::to_string(U.cols()));
    const MatX M = transposed_product(U, mass_product(model, U));
    return {.M = 0.5 * (M + M.transpose()), .elastic = std::move(elastic), .damping = model.damping};
}

VecX reduced_force(const MatX& U, const Points& force)
{
    LITHE_ASSERT(U.rows() == force.size());
    return transposed_product(U, Eigen::Map<const MatX>(force.data(), force.size(), 1));
}

ReducedState rest_state(const ReducedModel& model)
{
    const VecX zero = VecX::Zero(model.rank());
    return {.q = zero, .v = zero, .a = zero};
}

void reconstruct(const Points& rest, const MatX& U, const VecX& q, Points& x)
{
    LITHE_ASSERT(U.rows() == rest.size() && U.cols() == q.size());
    x.resize(3, rest.cols());
    Eigen::Map<VecX> flat(x.data(), x.size());
    const Eigen::Map<const VecX> flat_rest(rest.data(), rest.size());
    parallel_blocks(U.rows(), 1536, [&](Index begin, Index end) {
        flat.segment(begin, end - begin) = flat_rest.segment(begin, end - begin);
        flat.segment(begin, end - begin).noalias() += U.middleRows(begin, end - begin) * q;
    });
}

} // namespace lithe
