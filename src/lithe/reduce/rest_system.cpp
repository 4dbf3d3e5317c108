#include "lithe/reduce/rest_system.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "lithe/core/error.hpp"
#include "lithe/fem/elasticity.hpp"
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe {
namespace {

/// For every vertex the number of its connected part.
std::vector<int> components_of(const StiffnessPattern& pattern, int& count)
{
    std::vector<int> component(pattern.column_start.size() - 1, -1);
    std::vector<int> stack;
    count = 0;
    for (std::size_t start = 0; start < component.size(); ++start) {
        if (component[start] >= 0) continue;
        component[start] = count;
        stack.push_back(static_cast<int>(start));
        while (!stack.empty()) {
            const auto j = static_cast<std::size_t>(stack.back());
            stack.pop_back();
            for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
                const int i = pattern.row[static_cast<std::size_t>(k)];
                if (component[static_cast<std::size_t>(i)] >= 0) continue;
                component[static_cast<std::size_t>(i)] = count;
                stack.push_back(i);
            }
        }
        ++count;
    }
    return component;
}

Box3 box_of(const Points& x)
{
    return {Vec3(x.rowwise().minCoeff()), Vec3(x.rowwise().maxCoeff())};
}

/// Displacement of a point at y (of size one) under the six rigid motions: 3 x 6.
Eigen::Matrix<double, 3, 6> rigid_displacements(const Vec3& y)
{
    Eigen::Matrix<double, 3, 6> D;
    D.leftCols<3>().setIdentity();
    for (int axis = 0; axis < 3; ++axis) D.col(3 + axis) = Vec3::Unit(axis).cross(y);
    return D;
}

/// The rigid motions of the points y that leave those of `pins` in place, as coefficients of the six: 6 x k.
MatX unpinned_motions(const Points& y, const std::vector<int>& pins)
{
    if (pins.empty()) return MatX::Identity(6, 6);
    MatX at_pins(3 * static_cast<Index>(pins.size()), 6);
    for (std::size_t p = 0; p < pins.size(); ++p)
        at_pins.middleRows<3>(3 * static_cast<Index>(p)) = rigid_displacements(y.col(pins[p]));
    const MatX normal = at_pins.transpose() * at_pins;
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(normal);
    Index count = 0;
    while (count < 6 && eigen.eigenvalues()[count] < 1e-12 * eigen.eigenvalues()[5]) ++count;
    return eigen.eigenvectors().leftCols(count);
}

/// All displacement fields of degree two at most, in coordinates y of size one: 3n x 30.
MatX quadratic_fields(const Points& y)
{
    MatX A = MatX::Zero(3 * y.cols(), 30);
    for (Index i = 0; i < y.cols(); ++i) {
        const double a = y(0, i), b = y(1, i), c = y(2, i);
        const double monomials[10] = {1.0, a, b, c, a * a, b * b, c * c, a * b, b * c, c * a};
        for (int m = 0; m < 10; ++m)
            for (int k = 0; k < 3; ++k) A(3 * i + k, 3 * m + k) = monomials[m];
    }
    return A;
}

/// An upper bound of the lowest eigenvalue of the free body above zero, by Rayleigh-Ritz with quadratic fields: they
/// stretch, shear, bend and twist.
double lowest_eigenvalue_estimate(const FemModel& model, const SparseMatrix& K, const Points& y)
{
    const MatX Q = mass_qr(model, quadratic_fields(y)).Q;
    const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(transposed_product(Q, stiffness_product(K, Q)),
                                                            Eigen::EigenvaluesOnly)
                            .eigenvalues();
    const double zero =
        1e-9 * values[values.size() - 1]; // bodies more slender than 1:1000 are not met in practice
    return *std::find_if(values.begin(), values.end() - 1, [&](double value) { return value > zero; });
}

/// K + s M with rows and columns of pinned vertices replaced by those of the identity.
SparseMatrix shifted_matrix(const FemModel& model, const SparseMatrix& K, double s,
                            const std::vector<unsigned char>& pinned)
{
    SparseMatrix S = K;
    const StiffnessPattern& pattern = model.pattern;
    for (std::size_t j = 0; j < pinned.size(); ++j) {
        const int start = pattern.column_start[j], stride = 3 * (pattern.column_start[j + 1] - start);
        for (int k = start; k < pattern.column_start[j + 1]; ++k) {
            const auto i = static_cast<std::size_t>(pattern.row[static_cast<std::size_t>(k)]);
            double* block = S.valuePtr() + 9 * static_cast<std::ptrdiff_t>(start) + 3 * (k - start);
            for (int c = 0; c < 3; ++c) {
                if (pinned[i] || pinned[j])
                    for (int r = 0; r < 3; ++r) block[r + stride * c] = i == j && r == c ? 1.0 : 0.0;
                else
                    block[c + stride * c] += s * model.mass[static_cast<std::size_t>(k)];
            }
        }
    }
    return S;
}

} // namespace

RestSystem::RestSystem(const FemModel& model, std::vector<int> pinned_vertices)
    : model_(&model), pinned_vertices_(std::move(pinned_vertices)),
      pinned_(static_cast<std::size_t>(model.vertex_count()), 0)
{
    for (const int v : pinned_vertices_) {
        if (v < 0 || v >= model.vertex_count())
            throw InputError("pinned vertex " + std::to_string(v) + " does not exist: the body has " +
                             std::to_string(model.vertex_count()));
        pinned_[static_cast<std::size_t>(v)] = 1;
    }
    if (std::ranges::find(pinned_, 0) == pinned_.end())
        throw InputError("every vertex of the body is pinned: nothing can move; pin fewer");
    ElasticWork work;
    elastic_hessian(model, model.rest, Definiteness::Exact, K_, work);
    find_rigid_motions();
    factorise();
}

void RestSystem::find_rigid_motions()
{
    int count = 0;
    const std::vector<int> component = components_of(model_->pattern, count);
    component_count_ = count;
    std::vector<std::vector<int>> members(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < component.size(); ++i)
        members[static_cast<std::size_t>(component[i])].push_back(static_cast<int>(i));

    MatX motions = MatX::Zero(3 * model_->vertex_count(), 6 * component_count_);
    Index used = 0;
    for (const std::vector<int>& part : members) {
        const Box3 box = box_of(model_->rest(Eigen::all, part));
        Points y = (model_->rest(Eigen::all, part).colwise() - box.center()) / box.diagonal().norm();
        std::vector<int> pins;
        for (std::size_t k = 0; k < part.size(); ++k)
            if (pinned_[static_cast<std::size_t>(part[k])]) pins.push_back(static_cast<int>(k));
        const MatX coefficients = unpinned_motions(y, pins);
        for (std::size_t k = 0; k < part.size(); ++k)
            motions.block(3 * part[k], used, 3, coefficients.cols()) =
                rigid_displacements(y.col(static_cast<Index>(k))) * coefficients;
        used += coefficients.cols();
    }
    clear_pins(motions);
    rigid_ = mass_qr(*model_, motions.leftCols(used)).Q;
    mass_rigid_ = mass_product(*model_, rigid_);
    clear_pins(mass_rigid_);
}

void RestSystem::factorise()
{
    const auto succeeds = [&](double s) {
        shift_ = s;
        return cholesky_.factorise(shifted_matrix(*model_, K_, s, pinned_)) == FactorStatus::Success;
    };
    if (rigid_.cols() == 0 && succeeds(0.0)) return;
    const Box3 box = box_of(model_->rest);
    const Points y = (model_->rest.colwise() - box.center()) / box.diagonal().norm();
    // Small enough that solve() needs few corrections; rigid motions, where the factor is ill-conditioned, are removed.
    if (!succeeds(1e-6 * lowest_eigenvalue_estimate(*model_, K_, y)))
        throw InputError(
            "the stiffness of the body at rest is not positive; check its materials and its tets");
}

Index RestSystem::elastic_freedoms() const
{
    return 3 * std::ranges::count(pinned_, 0) - rigid_.cols();
}

void RestSystem::clear_pins(Eigen::Ref<MatX> X) const
{
    for (const int v : pinned_vertices_) X.middleRows<3>(3 * v).setZero();
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is a view, and X is written through it
void RestSystem::remove_rigid(Eigen::Ref<MatX> X) const
{
    subtract_product(rigid_, transposed_product(mass_rigid_, X), X);
}

void RestSystem::solve_shifted(MatX& B)
{
    clear_pins(B);
    cholesky_.solve(B);
}

double RestSystem::solve(MatX& B)
{
    clear_pins(B);
    subtract_product(mass_rigid_, transposed_product(rigid_, B), B);
    const VecX norms = B.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
    MatX X = MatX::Zero(B.rows(), B.cols());
    // Each correction shrinks the error by s/(lambda + s) with lambda at least the lowest eigenvalue.
    constexpr int max_corrections = 20;
    double residual = 1.0;
    for (int k = 0; k < max_corrections; ++k) {
        MatX correction = B;
        if (k > 0) correction -= stiffness_product(K_, X);
        clear_pins(correction);
        const double last = residual;
        residual = (correction.colwise().norm().transpose().array() / norms.array()).maxCoeff();
        if (k > 0 && (residual < 1e-11 || residual > 0.5 * last)) break;
        solve_shifted(correction);
        remove_rigid(correction);
        X += correction;
    }
    B = X;
    return residual;
}

} // namespace lithe
