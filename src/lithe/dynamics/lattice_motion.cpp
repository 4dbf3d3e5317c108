#include "lithe/dynamics/lattice_motion.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// Singular values of constraints below this share of the largest are contradictions, and dropped.
constexpr double dependent = 1e-8;
/// Of the coefficient of a function that leaves, per step.
constexpr double decay = 0.5;

bool is_coarse(const LatticeSystem& system, int function)
{
    return system.functions[static_cast<std::size_t>(function)].level == 0;
}

Vec3 place(const LatticePoint& point, const Points& x)
{
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < point.functions.size(); ++k)
        sum += point.weights[k] * x.col(point.functions[k]);
    return sum;
}

void move_loose(const LatticeSystem& system, const std::vector<RigidPose>& joints, Points& x)
{
    for (const auto& [f, joint, weight] : system.loose) x.col(f).setZero();
    for (const auto& [f, joint, weight] : system.loose)
        x.col(f) += weight * joints[static_cast<std::size_t>(joint)].apply(system.rest.col(f));
}

} // namespace

void follow(const SparseRows& map, const Points& coefficients, Points& x)
{
    x.resize(3, map.rows());
    parallel_for(map.rows(), 2048, [&](Index row) {
        Vec3 sum = Vec3::Zero();
        for (SparseRows::InnerIterator it(map, row); it; ++it) sum += it.value() * coefficients.col(it.col());
        x.col(row) = sum;
    });
}

SparseRows active_columns(const SparseRows& map, const std::vector<char>& active)
{
    SparseRows kept = map;
    kept.prune(
        [&](Index, Index column, double) { return active[static_cast<std::size_t>(column)] != Inactive; });
    return kept;
}

double elastic_energy(const LatticeSystem& system, const std::vector<RigidPose>& joints, const Points& x)
{
    // Of each cell, the weights of its regions at its functions of level 0.
    std::vector<double> sums(system.cells.size(), 0.0);
    std::vector<double> energies(system.cells.size(), 0.0);
    Points d(3, system.count());
    VecX W(system.count());
    for (const RegionSpace& region : system.regions) {
        const RigidPose& joint = joints[static_cast<std::size_t>(region.joint)];
        const Mat3 R_T = joint.rotation.conjugate().toRotationMatrix();
        d.setZero();
        W.setZero();
        for (std::size_t k = 0; k < region.functions.size(); ++k) {
            const int f = region.functions[k];
            d.col(f) = is_coarse(system, f) ? Vec3(R_T * (x.col(f) - joint.translation) - system.rest.col(f))
                                            : Vec3(R_T * x.col(f));
            W[f] = region.weights[k];
        }
        for (const int c : region.cells) {
            const LatticeCellIntegrals& cell = system.cells[static_cast<std::size_t>(c)];
            double energy = 0.0, weight = 0.0;
            for (const int f : cell.functions)
                if (is_coarse(system, f)) weight += W[f];
            for (const LatticePair& pair : cell.pairs)
                energy += (pair.a == pair.b ? 0.5 : 1.0) * d.col(pair.a).dot(pair.K * d.col(pair.b));
            sums[static_cast<std::size_t>(c)] += weight;
            energies[static_cast<std::size_t>(c)] += weight * energy;
        }
    }
    double total = 0.0;
    for (std::size_t c = 0; c < sums.size(); ++c)
        if (sums[c] > 0.0) total += energies[c] / sums[c];
    return total;
}

LatticeState rest_state(const LatticeSystem& system, const std::vector<RigidPose>& joints)
{
    LatticeState state{.x = Points::Zero(3, system.count()),
                       .v = Points::Zero(3, system.count()),
                       .active = std::vector<char>(system.functions.size(), Inactive),
                       .calm = std::vector<int>(system.functions.size(), 0),
                       .since = std::vector<int>(system.functions.size(), -least_stay)};
    for (int f = 0; f < static_cast<int>(system.coarse_count()); ++f)
        if (system.in_body(f) || system.held[static_cast<std::size_t>(f)])
            state.active[static_cast<std::size_t>(f)] = Active;
    for (const RegionSpace& region : system.regions)
        for (std::size_t k = 0; k < region.functions.size(); ++k)
            if (const int f = region.functions[k]; is_coarse(system, f))
                state.x.col(f) += region.weights[k] *
                                  joints[static_cast<std::size_t>(region.joint)].apply(system.rest.col(f));
    for (const LatticeHold& hold : system.holds) state.x.col(hold.function) = target(hold, joints);
    move_loose(system, joints, state.x);
    return state;
}

LatticeMotion::LatticeMotion(std::shared_ptr<const LatticeSystem> system)
    : system_(std::move(system)), corotation_(system_), regions_(system_->regions.size()),
      hold_targets_(system_->holds.size()), hold_of_(system_->functions.size(), -1)
{
    for (std::size_t k = 0; k < system_->holds.size(); ++k)
        hold_of_[static_cast<std::size_t>(system_->holds[k].function)] = static_cast<int>(k);
}

/// Factorises the regions whose active functions, or whose step, are others than before.
void LatticeMotion::prepare(const std::vector<char>& active, double h)
{
    const LatticeSettings& settings = system_->model->settings;
    const LatticeStepConstants constants{h, settings.damping, settings.twist_stiffness};
    const bool same_constants = constants == prepared_constants_;
    if (same_constants && active == prepared_active_) return;
    const auto is_same = [&](int f) {
        const auto k = static_cast<std::size_t>(f);
        return active[k] == prepared_active_[k];
    };
    std::vector<int> stale;
    for (std::size_t i = 0; i < regions_.size(); ++i)
        if (!same_constants || !std::ranges::all_of(system_->regions[i].functions, is_same))
            stale.push_back(static_cast<int>(i));
    prepared_active_ = active;
    prepared_constants_ = constants;
    parallel_for(static_cast<Index>(stale.size()), 1, [&](Index k) {
        const auto i = static_cast<std::size_t>(stale[static_cast<std::size_t>(k)]);
        regions_[i].system.build(*system_, system_->regions[i], active, constants);
        regions_[i].work.force.setZero(3, regions_[i].system.unknown_count());
    });
    factorisations_ += static_cast<int>(stale.size());
}

void LatticeMotion::solve_region(std::size_t i, const LatticeState& now, const LatticePose& pose,
                                 const LatticeLoading& loading)
{
    RegionRuntime& region = regions_[i];
    LatticeRegionWork& work = region.work;
    const auto joint = static_cast<std::size_t>(system_->regions[i].joint);
    const RigidPose &T0 = pose.start[joint], &T1 = pose.end[joint];
    const Mat3 R = T1.rotation.toRotationMatrix(), R_T = R.transpose(), R0 = T0.rotation.toRotationMatrix();
    const Mat3 turned = R_T * R0; // of the start, seen from the end
    const Vec3 moved = R_T * (T0.translation - T1.translation);
    region.R = R;

    const std::vector<int>& nodes = region.system.nodes();
    const auto n = static_cast<Index>(nodes.size());
    for (Eigen::Matrix3Xd* values : {&work.d, &work.v, &work.u, &work.d_new}) values->resize(3, n);
    for (Index k = 0; k < n; ++k) {
        const int f = nodes[static_cast<std::size_t>(k)];
        work.v.col(k).noalias() = R_T * now.v.col(f);
        if (is_coarse(*system_, f)) {
            const Vec3 r = system_->rest.col(f);
            work.d.col(k) = R_T * (now.x.col(f) - T1.translation) - r;
            work.u.col(k) = (r - turned * r - moved) / loading.h;
        } else {
            work.d.col(k).noalias() = R_T * now.x.col(f);
            work.u.col(k).setZero();
        }
    }
    for (Index k = region.system.unknown_count(); k < n; ++k) {
        const int f = nodes[static_cast<std::size_t>(k)];
        if (const int hold = hold_of_[static_cast<std::size_t>(f)]; hold >= 0)
            work.d_new.col(k) =
                R_T * (hold_targets_[static_cast<std::size_t>(hold)] - T1.translation) - system_->rest.col(f);
        else
            work.d_new.col(k) = decay * work.d.col(k);
    }
    if (loading.force.cols() > 0)
        for (Index k = 0; k < region.system.unknown_count(); ++k)
            work.force.col(k) = region.system.shares()[static_cast<std::size_t>(k)] *
                                (R_T * loading.force.col(nodes[static_cast<std::size_t>(k)]));
    work.held.resize(3, static_cast<Index>(system_->held_targets.size()));
    for (Index p = 0; p < work.held.cols(); ++p) {
        const LatticeHold& hold = system_->held_targets[static_cast<std::size_t>(p)];
        work.held.col(p) = R_T * (target(hold, pose.end) - T1.translation) - hold.a;
    }
    work.gravity = R_T * loading.gravity;
    region.system.solve(work);
}

void LatticeMotion::blend(const LatticePose& pose, LatticeState& next) const
{
    next.x.setZero(3, system_->count());
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const RegionRuntime& region = regions_[i];
        const Vec3& t = pose.end[static_cast<std::size_t>(system_->regions[i].joint)].translation;
        const std::vector<int>& nodes = region.system.nodes();
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const int f = nodes[k];
            const double W = region.system.weights()[k];
            const Vec3 d = region.work.d_new.col(static_cast<Index>(k));
            next.x.col(f) += is_coarse(*system_, f) ? Vec3(W * (region.R * (system_->rest.col(f) + d) + t))
                                                    : Vec3(W * (region.R * d));
        }
    }
    for (std::size_t k = 0; k < system_->holds.size(); ++k)
        next.x.col(system_->holds[k].function) = hold_targets_[k];
    move_loose(*system_, pose.end, next.x);
}

void LatticeMotion::step(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading,
                         LatticeState& next)
{
    prepare(now.active, loading.h);
    for (std::size_t k = 0; k < system_->holds.size(); ++k)
        hold_targets_[k] = target(system_->holds[k], pose.end);
    parallel_for(static_cast<Index>(regions_.size()), 1,
                 [&](Index i) { solve_region(static_cast<std::size_t>(i), now, pose, loading); });
    next.active = now.active;
    next.steps = now.steps;
    next.calm = now.calm;
    next.since = now.since;
    blend(pose, next);
    if (!system_->held_points.empty()) hold_points(pose, next.x);
    if (loading.scheme == LatticeScheme::Corotated)
        corotate(now, pose, loading, next.x);
    else if (!loading.targets.empty())
        meet_targets(loading.targets, next.x);
    next.v = (next.x - now.x) / loading.h;
}

void LatticeMotion::corotate(const LatticeState& now, const LatticePose& pose, const LatticeLoading& loading,
                             Points& x)
{
    Points r3, z3;
    const auto blended_answer = [&](const VecX& r, VecX& z) {
        r3 = r.reshaped(3, system_->count());
        answer(r3, z3);
        z = z3.reshaped();
    };
    corotation_report_ = corotation_.solve(now, pose, loading, blended_answer, x);
}

void LatticeMotion::hold_points(const LatticePose& pose, Points& x)
{
    const auto points = static_cast<Index>(system_->held_points.size());
    if (held_map_.size() == 0) {
        MatX C = MatX::Zero(system_->count(), points), N = C;
        for (Index p = 0; p < points; ++p) {
            const LatticePoint& point = system_->held_points[static_cast<std::size_t>(p)];
            for (std::size_t k = 0; k < point.functions.size(); ++k) {
                const int f = point.functions[k];
                if (!is_coarse(*system_, f) || !system_->in_body(f)) continue;
                C(f, p) = point.weights[k];
                N(f, p) = point.weights[k] / system_->first[f];
            }
        }
        Eigen::CompleteOrthogonalDecomposition<MatX> inverse;
        inverse.setThreshold(dependent);
        inverse.compute(C.transpose() * N);
        held_map_ = N * inverse.pseudoInverse();
    }
    MatX missing(points, 3);
    for (Index p = 0; p < points; ++p) {
        const auto k = static_cast<std::size_t>(p);
        missing.row(p) =
            (target(system_->held_targets[k], pose.end) - place(system_->held_points[k], x)).transpose();
    }
    x += (held_map_ * missing).transpose();
}

/// x+ = x + B C j,  C^T B C j = place - C^T x.
void LatticeMotion::meet_targets(std::span<const LatticeTarget> targets, Points& x)
{
    std::vector<LatticePoint> points;
    VecX missing(3 * static_cast<Index>(targets.size()));
    for (std::size_t k = 0; k < targets.size(); ++k) {
        points.push_back(targets[k].point);
        missing.segment<3>(3 * static_cast<Index>(k)) = targets[k].place - place(targets[k].point, x);
    }
    Eigen::CompleteOrthogonalDecomposition<MatX> inverse;
    inverse.setThreshold(dependent);
    inverse.compute(compliance(points));
    const VecX j = inverse.solve(missing);
    Points impulses = Points::Zero(3, system_->count()), dx;
    for (std::size_t p = 0; p < points.size(); ++p)
        for (std::size_t k = 0; k < points[p].functions.size(); ++k)
            impulses.col(points[p].functions[k]) +=
                points[p].weights[k] * j.segment<3>(3 * static_cast<Index>(p));
    answer(impulses, dx);
    x += dx;
}

MatX LatticeMotion::compliance(std::span<const LatticePoint> points)
{
    const auto size = 3 * static_cast<Index>(points.size());
    MatX W = MatX::Zero(size, size);
    for (RegionRuntime& region : regions_) {
        const Index n = region.system.unknown_count();
        std::vector<Index> touched;
        std::vector<Eigen::Matrix3Xd> columns; // half answers to the axes of the region, three per point
        for (std::size_t p = 0; p < points.size(); ++p) {
            Eigen::Matrix3Xd load = Eigen::Matrix3Xd::Zero(3, n);
            for (std::size_t k = 0; k < points[p].functions.size(); ++k)
                if (const int at = region.system.place(points[p].functions[k]); at >= 0 && at < n)
                    load(0, at) = points[p].weights[k] *
                                  std::sqrt(region.system.weights()[static_cast<std::size_t>(at)]);
            if (load.isZero(0.0)) continue;
            touched.push_back(static_cast<Index>(p));
            for (int axis = 0; axis < 3; ++axis) {
                Eigen::Matrix3Xd& column = columns.emplace_back(Eigen::Matrix3Xd::Zero(3, n));
                column.row(axis) = load.row(0);
                region.system.half_answer(column, region.work.solve);
            }
        }
        if (touched.empty()) continue;
        MatX H(3 * n, static_cast<Index>(columns.size()));
        for (std::size_t c = 0; c < columns.size(); ++c) H.col(static_cast<Index>(c)) = columns[c].reshaped();
        const MatX gram = H.transpose() * H;
        for (std::size_t a = 0; a < touched.size(); ++a)
            for (std::size_t b = 0; b < touched.size(); ++b)
                W.block<3, 3>(3 * touched[a], 3 * touched[b]) +=
                    region.R * gram.block<3, 3>(3 * static_cast<Index>(a), 3 * static_cast<Index>(b)) *
                    region.R.transpose();
    }
    return W;
}

void LatticeMotion::answer(const Points& impulses, Points& dv)
{
    dv.setZero(3, system_->count());
    for (RegionRuntime& region : regions_) {
        const Index n = region.system.unknown_count();
        const std::vector<int>& nodes = region.system.nodes();
        const auto root = [&](Index k) {
            return std::sqrt(region.system.weights()[static_cast<std::size_t>(k)]);
        };
        Eigen::Matrix3Xd x(3, n);
        for (Index k = 0; k < n; ++k)
            x.col(k) = root(k) * (region.R.transpose() * impulses.col(nodes[static_cast<std::size_t>(k)]));
        if (x.isZero(0.0)) continue;
        region.system.answer(x, region.work.solve);
        for (Index k = 0; k < n; ++k)
            dv.col(nodes[static_cast<std::size_t>(k)]) += root(k) * (region.R * x.col(k));
    }
}

Index LatticeMotion::factor_blocks() const
{
    Index sum = 0;
    for (const RegionRuntime& region : regions_) sum += region.system.factor_blocks();
    return sum;
}

} // namespace lithe
