#include "lithe/dynamics/lattice_corotation.hpp"

#include "lithe/math/svd3.hpp"

namespace lithe {
namespace {

/// Change of the solution that does not matter, relative to the right-hand side.
constexpr CgOptions cg_options{.max_iterations = 100, .relative_residual = 1e-8};

} // namespace

LatticeCorotation::LatticeCorotation(std::shared_ptr<const LatticeSystem> system)
    : system_(std::move(system)), only_region_(system_->cells.size(), -1), samples_(system_->cells.size()),
      rotations_(system_->cells.size(), Mat3::Identity())
{
    std::vector<int> regions(system_->cells.size(), 0);
    for (std::size_t i = 0; i < system_->regions.size(); ++i)
        for (const int c : system_->regions[i].cells) {
            only_region_[static_cast<std::size_t>(c)] =
                regions[static_cast<std::size_t>(c)]++ == 0 ? static_cast<int>(i) : -1;
        }
    for (std::size_t s = 0; s < system_->strains.size(); ++s)
        samples_[static_cast<std::size_t>(system_->strains[s].cell)].push_back(static_cast<int>(s));
}

void LatticeCorotation::set_rotations(const LatticePose& pose, const Points& x)
{
    for (std::size_t c = 0; c < rotations_.size(); ++c) {
        if (const int region = only_region_[c]; region >= 0) {
            const int joint = system_->regions[static_cast<std::size_t>(region)].joint;
            rotations_[c] = pose.end[static_cast<std::size_t>(joint)].rotation.toRotationMatrix();
            continue;
        }
        Mat3 F = Mat3::Zero();
        for (const int s : samples_[c]) {
            const StrainSample& sample = system_->strains[static_cast<std::size_t>(s)];
            for (std::size_t k = 0; k < sample.functions.size(); ++k)
                F += sample.volume * x.col(sample.functions[k]) *
                     sample.gradients.col(static_cast<Index>(k)).transpose();
        }
        if (!samples_[c].empty()) rotations_[c] = polar_rotation(F);
    }
}

void LatticeCorotation::multiply(const Points& x, Points& y) const
{
    y.setZero(3, x.cols());
    for (std::size_t c = 0; c < system_->cells.size(); ++c) {
        const LatticeCellIntegrals& cell = system_->cells[c];
        const Mat3 &R = rotations_[c], R_T = R.transpose();
        for (const LatticePair& pair : cell.pairs) {
            if (!present_[static_cast<std::size_t>(pair.a)] || !present_[static_cast<std::size_t>(pair.b)])
                continue;
            y.col(pair.a) +=
                mass_factor_ * pair.mass * x.col(pair.b) + h_ * h_ * (R * (pair.K * (R_T * x.col(pair.b))));
            if (pair.a != pair.b)
                y.col(pair.b) += mass_factor_ * pair.mass * x.col(pair.a) +
                                 h_ * h_ * (R * (pair.K.transpose() * (R_T * x.col(pair.a))));
        }
        for (const LatticeTwist& twist : cell.twists) {
            if (!present_[static_cast<std::size_t>(twist.a)] || !present_[static_cast<std::size_t>(twist.b)])
                continue;
            y.col(twist.a) += h_ * h_ * k_t_ * twist.value * x.col(twist.b);
            if (twist.a != twist.b) y.col(twist.b) += h_ * h_ * k_t_ * twist.value * x.col(twist.a);
        }
    }
    for (int f = 0; f < static_cast<int>(x.cols()); ++f)
        if (!moves(f)) y.col(f).setZero();
}

Points LatticeCorotation::right_side(const LatticeState& now, const LatticePose& pose,
                                     const LatticeLoading& loading) const
{
    const double mu = system_->model->settings.damping;
    Points u = Points::Zero(3, system_->count()); // of the regions as rigid bodies
    for (const RegionSpace& region : system_->regions) {
        const RigidPose &T0 = pose.start[static_cast<std::size_t>(region.joint)],
                        &T1 = pose.end[static_cast<std::size_t>(region.joint)];
        for (std::size_t k = 0; k < region.functions.size(); ++k)
            if (const int f = region.functions[k]; f < static_cast<int>(system_->coarse_count())) {
                const Vec3 r = system_->rest.col(f);
                u.col(f) += region.weights[k] / h_ * (T1.apply(r) - T0.apply(r));
            }
    }
    Points b = (mass_factor_ * now.x + h_ * now.v + h_ * h_ * mu * u) * system_->M +
               h_ * h_ * loading.gravity * system_->first.transpose();
    if (loading.force.cols() > 0) b += h_ * h_ * loading.force;
    for (std::size_t c = 0; c < system_->cells.size(); ++c) {
        for (const LatticePair& pair : system_->cells[c].pairs) {
            b.col(pair.a) += h_ * h_ * (rotations_[c] * (pair.K * system_->rest.col(pair.b)));
            if (pair.a != pair.b)
                b.col(pair.b) += h_ * h_ * (rotations_[c] * (pair.K.transpose() * system_->rest.col(pair.a)));
        }
        for (const LatticeTwist& twist : system_->cells[c].twists) {
            const RigidPose& T = pose.end[static_cast<std::size_t>(twist.joint)];
            const auto goal = [&](int f) {
                return f < static_cast<int>(system_->coarse_count()) ? T.apply(system_->rest.col(f))
                                                                     : Vec3(Vec3::Zero());
            };
            b.col(twist.a) += h_ * h_ * k_t_ * twist.value * goal(twist.b);
            if (twist.a != twist.b) b.col(twist.b) += h_ * h_ * k_t_ * twist.value * goal(twist.a);
        }
    }
    return b;
}

/// Of the change dx: the functions that do not move are out of it.
LinearConstraints LatticeCorotation::constraints_of(const LatticeLoading& loading, const Points& x) const
{
    const auto count = static_cast<Index>(loading.targets.size());
    if (count == 0) return {};
    MatX C = MatX::Zero(3 * system_->count(), 3 * count);
    VecX a(3 * count);
    for (Index p = 0; p < count; ++p) {
        const LatticeTarget& target = loading.targets[static_cast<std::size_t>(p)];
        Vec3 now = Vec3::Zero();
        for (std::size_t k = 0; k < target.point.functions.size(); ++k) {
            const int f = target.point.functions[k];
            now += target.point.weights[k] * x.col(f);
            if (moves(f)) C.block<3, 3>(3 * f, 3 * p) += target.point.weights[k] * Mat3::Identity();
        }
        a.segment<3>(3 * p) = target.place - now;
    }
    return {C, a};
}

ProjectedCgReport LatticeCorotation::solve(const LatticeState& now, const LatticePose& pose,
                                           const LatticeLoading& loading, const LinearMap& preconditioner,
                                           Points& x)
{
    h_ = loading.h;
    mass_factor_ = 1.0 + h_ * system_->model->settings.damping;
    k_t_ = system_->model->settings.twist_stiffness;
    present_.assign(now.active.begin(), now.active.end());
    moves_.assign(now.active.size(), 0);
    for (std::size_t f = 0; f < moves_.size(); ++f) moves_[f] = now.active[f] == Active && !system_->held[f];
    set_rotations(pose, x);

    // A dx = b - A x, so that what is given stays.
    Points r = right_side(now, pose, loading), Ax;
    multiply(x, Ax);
    r -= Ax;
    for (int f = 0; f < static_cast<int>(r.cols()); ++f)
        if (!moves(f)) r.col(f).setZero();
    Points in, out;
    const auto A = [&](const VecX& v, VecX& Av) {
        in = v.reshaped(3, system_->count());
        multiply(in, out);
        Av = out.reshaped();
    };
    const VecX b = r.reshaped();
    VecX dx = VecX::Zero(b.size());
    const ProjectedCgReport report =
        solve_projected(A, b, constraints_of(loading, x), preconditioner, cg_options, dx);
    x += dx.reshaped(3, system_->count());
    return report;
}

} // namespace lithe
