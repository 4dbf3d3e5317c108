#include "lithe/dynamics/lattice_reference.hpp"

#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/math/sparse_cholesky.hpp"

namespace lithe {
namespace {

/// Every number of a matrix as a block c I (3 x 3).
SparseMatrix for_three_axes(const SparseMatrix& scalar)
{
    std::vector<Triplet> entries;
    for (Index c = 0; c < scalar.outerSize(); ++c)
        for (SparseMatrix::InnerIterator it(scalar, c); it; ++it)
            for (int axis = 0; axis < 3; ++axis)
                entries.emplace_back(static_cast<int>(3 * it.row()) + axis,
                                     static_cast<int>(3 * it.col()) + axis, it.value());
    SparseMatrix out(3 * scalar.rows(), 3 * scalar.cols());
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
}

/// The rows and columns of some functions, three each.
SparseMatrix restricted(const SparseMatrix& A, const std::vector<int>& functions)
{
    std::vector<int> place(static_cast<std::size_t>(A.cols() / 3), -1);
    for (std::size_t k = 0; k < functions.size(); ++k)
        place[static_cast<std::size_t>(functions[k])] = static_cast<int>(k);
    std::vector<Triplet> entries;
    for (int c = 0; c < A.outerSize(); ++c)
        for (SparseMatrix::InnerIterator it(A, c); it; ++it) {
            const int r = static_cast<int>(it.row());
            const int i = place[static_cast<std::size_t>(r / 3)], j = place[static_cast<std::size_t>(c / 3)];
            if (i >= 0 && j >= 0) entries.emplace_back(3 * i + r % 3, 3 * j + c % 3, it.value());
        }
    const auto n = 3 * static_cast<Index>(functions.size());
    SparseMatrix out(n, n);
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
}

std::vector<RegionMaterial> materials_as(const LatticeModel& model, MaterialKind kind)
{
    std::vector<RegionMaterial> out;
    for (std::size_t m = 0; m < model.materials.size(); ++m)
        out.push_back({static_cast<int>(m),
                       make_material({.kind = kind, .elastic = model.materials[m].material.elastic}),
                       model.materials[m].density});
    return out;
}

/// Less of a tet is less of its energy.
void scale_volumes(const std::vector<float>& fractions, Elements& elements)
{
    for (std::size_t slot = 0; slot < elements.tet_of_slot.size(); ++slot)
        if (const int t = elements.tet_of_slot[slot]; t >= 0)
            elements.batches[slot / TetBatch::lane_count].volume[slot % TetBatch::lane_count] *=
                static_cast<double>(fractions[static_cast<std::size_t>(t)]);
}

} // namespace

LatticeReference::LatticeReference(std::shared_ptr<const LatticeSystem> system, MaterialKind kind)
    : system_(std::move(system))
{
    const LatticeModel& model = *system_->model;
    const LatticeLevels levels = subdivided(model.lattice, model.integration_levels);
    const LatticeBasis basis = hierarchical_basis(levels, model.levels);
    const TetMesh all = finest_tets(levels);

    std::vector<int> kept, place(static_cast<std::size_t>(all.vertex_count()), -1), vertices;
    std::vector<float> fractions;
    for (int t = 0; t < static_cast<int>(all.tet_count()); ++t) {
        if (model.fractions[static_cast<std::size_t>(t)] == 0.0F) continue;
        kept.push_back(t);
        fractions.push_back(model.fractions[static_cast<std::size_t>(t)]);
        tets_.regions.push_back(model.tet_materials[static_cast<std::size_t>(t)]);
        for (const int v : all.tets.col(t))
            if (place[static_cast<std::size_t>(v)] < 0) {
                place[static_cast<std::size_t>(v)] = static_cast<int>(vertices.size());
                vertices.push_back(v);
            }
    }
    tets_.vertices = all.vertices(Eigen::all, vertices);
    tets_.tets = all.tets(Eigen::all, kept);
    for (int& v : tets_.tets.reshaped()) v = place[static_cast<std::size_t>(v)];
    for (Index t = 0; t < tets_.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets_.vertices.col(tets_.tets(k, t))); };
        tet_volumes_.push_back(tet_volume(x(0), x(1), x(2), x(3)) *
                               static_cast<double>(fractions[static_cast<std::size_t>(t)]));
    }
    fem_ = make_fem_model(tets_, materials_as(model, kind));
    scale_volumes(fractions, fem_.elements);

    std::vector<Triplet> rows;
    for (std::size_t v = 0; v < vertices.size(); ++v)
        for (SparseRows::InnerIterator it(basis.values, vertices[v]); it; ++it)
            rows.emplace_back(static_cast<int>(v), static_cast<int>(it.col()), it.value());
    P_.resize(static_cast<Index>(vertices.size()), basis.count());
    P_.setFromTriplets(rows.begin(), rows.end());

    std::vector<Triplet> twists;
    for (const LatticeCellIntegrals& cell : system_->cells)
        for (const LatticeTwist& t : cell.twists) {
            twists.emplace_back(t.a, t.b, model.settings.twist_stiffness * t.value);
            if (t.a != t.b) twists.emplace_back(t.b, t.a, model.settings.twist_stiffness * t.value);
        }
    twist_.resize(system_->count(), system_->count());
    twist_.setFromTriplets(twists.begin(), twists.end());
    for (int f = 0; f < static_cast<int>(system_->count()); ++f)
        if (system_->in_body(f) && !system_->held[static_cast<std::size_t>(f)]) unknown_.push_back(f);
}

double LatticeReference::energy(const Points& x)
{
    return elastic_energy(fem_, x * P_.transpose(), work_);
}

Points LatticeReference::gradient(const Points& x)
{
    Points at_vertices;
    elastic_gradient(fem_, x * P_.transpose(), at_vertices, work_);
    return at_vertices * P_;
}

SparseMatrix LatticeReference::hessian(const Points& x, Definiteness definiteness)
{
    SparseMatrix K;
    elastic_hessian(fem_, x * P_.transpose(), definiteness, K, work_);
    const SparseMatrix P3 = for_three_axes(P_);
    return SparseMatrix(P3.transpose() * SparseMatrix(K * P3));
}

/// sum over joints of  k_t T (x - T_j(r)).
Points LatticeReference::twist_gradient(const std::vector<RigidPose>& joints, const Points& x) const
{
    Points g = Points::Zero(3, x.cols());
    const auto away = [&](int f, int joint) {
        if (f >= static_cast<int>(system_->coarse_count())) return Vec3(x.col(f));
        return Vec3(x.col(f) - joints[static_cast<std::size_t>(joint)].apply(system_->rest.col(f)));
    };
    const double k_t = system_->model->settings.twist_stiffness;
    for (const LatticeCellIntegrals& cell : system_->cells)
        for (const LatticeTwist& t : cell.twists) {
            g.col(t.a) += k_t * t.value * away(t.b, t.joint);
            if (t.a != t.b) g.col(t.b) += k_t * t.value * away(t.a, t.joint);
        }
    return g;
}

double LatticeReference::twist_energy(const std::vector<RigidPose>& joints, const Points& x) const
{
    const auto away = [&](int f, int joint) {
        if (f >= static_cast<int>(system_->coarse_count())) return Vec3(x.col(f));
        return Vec3(x.col(f) - joints[static_cast<std::size_t>(joint)].apply(system_->rest.col(f)));
    };
    double sum = 0.0;
    for (const LatticeCellIntegrals& cell : system_->cells)
        for (const LatticeTwist& t : cell.twists)
            sum += (t.a == t.b ? 0.5 : 1.0) * t.value * away(t.a, t.joint).dot(away(t.b, t.joint));
    return system_->model->settings.twist_stiffness * sum;
}

void LatticeReference::set_fixed(const std::vector<RigidPose>& joints, Points& x) const
{
    for (const LatticeHold& hold : system_->holds) x.col(hold.function) = target(hold, joints);
}

LatticeSolveReport LatticeReference::minimise(const std::vector<RigidPose>& joints, const Vec3& gravity,
                                              const Inertia& inertia, Points& x)
{
    set_fixed(joints, x);
    const SparseMatrix twist = for_three_axes(twist_);
    const SparseMatrix M = for_three_axes(system_->M);
    const auto objective = [&](const Points& at) {
        double sum = energy(at) + twist_energy(joints, at) - gravity.dot(at * system_->first);
        if (inertia.mass_factor > 0.0)
            sum += 0.5 * inertia.mass_factor * at.cwiseProduct(at * system_->M).sum() -
                   at.cwiseProduct(inertia.pull).sum();
        return sum;
    };
    LatticeSolveReport report;
    double first = 0.0;
    SparseCholesky cholesky;
    for (; report.iterations < 200; ++report.iterations) {
        Points g = gradient(x) + twist_gradient(joints, x) - gravity * system_->first.transpose();
        if (inertia.mass_factor > 0.0) g += inertia.mass_factor * (x * system_->M) - inertia.pull;
        SparseMatrix A = hessian(x, Definiteness::Projected) + twist;
        if (inertia.mass_factor > 0.0) A += inertia.mass_factor * M;
        const SparseMatrix A_uu = restricted(A, unknown_);
        if (cholesky.factorise(A_uu) != FactorStatus::Success) return report;
        VecX step(3 * static_cast<Index>(unknown_.size()));
        for (std::size_t k = 0; k < unknown_.size(); ++k)
            step.segment<3>(3 * static_cast<Index>(k)) = -g.col(unknown_[k]);
        const VecX b = step;
        cholesky.solve(step);
        const double decrement = b.dot(step);
        if (report.iterations == 0) first = std::max(decrement, 1e-300);
        report.residual = decrement / first;
        Points trial = x;
        const double start = objective(x);
        double length = 1.0;
        for (int halvings = 0; halvings < 30; ++halvings, length *= 0.5) {
            for (std::size_t k = 0; k < unknown_.size(); ++k)
                trial.col(unknown_[k]) =
                    x.col(unknown_[k]) + length * step.segment<3>(3 * static_cast<Index>(k));
            if (objective(trial) <= start - 1e-4 * length * decrement + 1e-12 * std::abs(start)) break;
        }
        x = trial;
        if (report.residual < 1e-14) {
            report.converged = true;
            return report;
        }
    }
    return report;
}

LatticeSolveReport LatticeReference::equilibrium(const std::vector<RigidPose>& joints, const Vec3& gravity,
                                                 Points& x)
{
    return minimise(joints, gravity, {}, x);
}

LatticeSolveReport LatticeReference::step(const LatticeState& now, const std::vector<RigidPose>& joints,
                                          double h, const Vec3& gravity, LatticeState& next)
{
    const double mu = system_->model->settings.damping;
    const Inertia inertia{.mass_factor = (1.0 + h * mu) / (h * h),
                          .pull = ((1.0 + h * mu) / (h * h) * now.x + now.v / h) * system_->M};
    next = now;
    next.x += h * now.v;
    const LatticeSolveReport report = minimise(joints, gravity, inertia, next.x);
    next.v = (next.x - now.x) / h;
    return report;
}

double LatticeReference::volume(const Points& x) const
{
    const Points at = x * P_.transpose();
    double sum = 0.0;
    for (Index t = 0; t < tets_.tet_count(); ++t) {
        const auto now = [&](int k) { return Vec3(at.col(tets_.tets(k, t))); };
        const auto rest = [&](int k) { return Vec3(tets_.vertices.col(tets_.tets(k, t))); };
        sum += tet_volumes_[static_cast<std::size_t>(t)] * tet_volume(now(0), now(1), now(2), now(3)) /
               tet_volume(rest(0), rest(1), rest(2), rest(3));
    }
    return sum;
}

double LatticeReference::distance(const Points& x, const Points& y) const
{
    const Points d = x - y;
    return std::sqrt(d.cwiseProduct(d * system_->M).sum() / system_->mass);
}

} // namespace lithe
