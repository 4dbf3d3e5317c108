#include "lithe/reduce/reduced_poses.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/reduce/deformation_rows.hpp"
#include "lithe/reduce/reduced_solve.hpp"
#include "lithe/reduce/tet_sample.hpp"

namespace lithe {
namespace {

constexpr double exceeding = 0.1; ///< the share of the volume that may exceed the strain of a pose
constexpr double most_inverted = 0.01;

/// What a pose does to the sampled tets.
struct Deformation {
    double strain;   ///< that a tenth of them exceed
    double inverted; ///< share of them
};

class PoseSampler {
public:
    PoseSampler(const FemModel& model, const MatX& U, const RandomPoseOptions& options)
        : U_(U), options_(options), sample_(sample_tets(model)),
          reduced_{.M = MatX::Identity(U.cols(), U.cols()),
                   .elastic = CubatureElastic(model, U, sample_.cubature)},
          B_(9 * sample_.cubature.size(), U.cols())
    {
        MatX rows(9, U.cols());
        for (std::size_t k = 0; k < sample_.slots.size(); ++k) {
            set_deformation_rows(model.elements, U, sample_.slots[k], rows);
            B_.middleRows<9>(9 * static_cast<Index>(k)) = rows;
        }
        ReducedElastic at;
        CubatureElastic::Work work;
        std::get<CubatureElastic>(reduced_.elastic)
            .evaluate(VecX::Zero(U.cols()), Definiteness::Projected, at, work);
        K_ = at.stiffness;
        const Eigen::SelfAdjointEigenSolver<MatX> eigen(K_);
        V_ = eigen.eigenvectors();
        lambda_ = eigen.eigenvalues().cwiseMax(1e-12 * eigen.eigenvalues().maxCoeff());
        for (Index v = 0; v < model.vertex_count(); ++v)
            if (!U.middleRows<3>(3 * v).isZero(0.0)) moving_.push_back(v);
    }

    /// One pose of its own seed and kind.
    VecX draw(std::uint64_t seed, Index kind, ReducedWork& work) const
    {
        Random random(seed);
        const VecX direction = draw_direction(random, kind);
        const double ratio = options_.largest_strain / options_.smallest_strain;
        const double strain = options_.smallest_strain * std::pow(ratio, random.uniform());
        const VecX linear = amplitude(direction, strain) * direction;
        ReducedState state{.q = VecX::Zero(U_.cols()), .v = VecX::Zero(U_.cols()), .a = {}};
        for (double share = 1.0; share > 0.05; share *= 0.5) {
            if (solve_static(reduced_, share * (K_ * linear), newton_, state, work).converged() &&
                acceptable(state.q))
                return state.q;
            state.q.setZero();
        }
        return amplitude(direction, options_.smallest_strain) * direction;
    }

private:
    /// The linear response to a load, of any length.
    VecX draw_direction(Random& random, Index kind) const
    {
        if (kind % 3 == 2 || options_.loads == PoseLoads::Pushes) return push_response(random);
        const Index r = lambda_.size();
        const double p = random.uniform(0.5, 1.0);
        VecX amplitudes = VecX::NullaryExpr(r, [&] { return random.normal(); });
        amplitudes.array() *= (lambda_ / lambda_[0]).array().pow(-p);
        if (kind % 3 == 1) {
            VecX few = VecX::Zero(r);
            for (std::uint64_t k = 0, count = 1 + random.index(3); k < count; ++k) {
                // squared: soft modes more often
                const double at = random.uniform();
                const auto mode = static_cast<Index>(at * at * static_cast<double>(r));
                few[mode] = amplitudes[mode] * std::sqrt(lambda_[mode] / lambda_[0]);
            }
            amplitudes = few;
        }
        return V_ * amplitudes;
    }

    VecX push_response(Random& random) const
    {
        const Index v = moving_[random.index(moving_.size())];
        const Vec3 push(random.normal(), random.normal(), random.normal());
        const VecX load = V_.transpose() * (U_.middleRows<3>(3 * v).transpose() * push);
        return V_ * load.cwiseQuotient(lambda_);
    }

    Deformation deformation(const VecX& F_minus_I) const
    {
        std::vector<double> strains(sample_.slots.size());
        Index inverted = 0;
        for (std::size_t k = 0; k < strains.size(); ++k) {
            const Mat3 F =
                Mat3::Identity() + Eigen::Map<const Mat3>(F_minus_I.data() + 9 * static_cast<Index>(k));
            strains[k] = 0.5 * (F.transpose() * F - Mat3::Identity()).norm();
            if (F.determinant() <= 0.0) ++inverted;
        }
        const auto place = strains.begin() + static_cast<std::ptrdiff_t>((1.0 - exceeding) *
                                                                         static_cast<double>(strains.size()));
        std::ranges::nth_element(strains, place);
        return {*place, static_cast<double>(inverted) / static_cast<double>(strains.size())};
    }

    bool acceptable(const VecX& q) const
    {
        const Deformation found = deformation(B_ * q);
        return q.allFinite() && found.strain > 0.1 * options_.smallest_strain &&
               found.strain < 1.5 * options_.largest_strain && found.inverted <= most_inverted;
    }

    /// The factor at which the linear response has that strain, taken as linear: what is displaced is often turned as
    /// well, and squares of turns are no strain.
    double amplitude(const VecX& direction, double strain) const
    {
        const VecX F = B_ * direction;
        const double small = 1e-4 / F.cwiseAbs().maxCoeff(); // the squares vanish, and rounding does not show
        return strain * small / deformation(small * F).strain;
    }

    const MatX& U_;
    const RandomPoseOptions& options_;
    TetSample sample_;
    ReducedModel reduced_;
    MatX B_; ///< of the sample: vec F - vec I = B q, 9 m x r
    MatX K_, V_;
    VecX lambda_;
    std::vector<Index> moving_; ///< vertices that the basis moves
    ReducedNewtonOptions newton_ = {.max_iterations = 40, .decrement = 1e-4};
};

void require_counts(Index training, Index held_out)
{
    if (training < 1) throw InputError("training a cubature needs at least one pose");
    if (held_out < 0) throw InputError("the number of poses to hold out must not be negative");
}

} // namespace

CubaturePoses random_poses(const FemModel& model, const MatX& U, const RandomPoseOptions& options,
                           Progress& progress)
{
    require_counts(options.training, options.held_out);
    (void)require_positive("smallest_strain", options.smallest_strain);
    (void)require_positive("largest_strain", options.largest_strain);
    if (options.smallest_strain > options.largest_strain)
        throw InputError("smallest_strain must not be above largest_strain");
    const PoseSampler sampler(model, U, options);
    const Index count = options.training + options.held_out;
    Random random(options.seed);
    std::vector<std::uint64_t> seeds(static_cast<std::size_t>(count));
    for (std::uint64_t& seed : seeds) seed = random.bits();
    MatX poses(U.cols(), count);
    progress.begin("poses", count);
    parallel_blocks(count, 4, [&](Index begin, Index end) {
        ReducedWork work;
        for (Index t = begin; t < end; ++t) {
            poses.col(t) = sampler.draw(seeds[static_cast<std::size_t>(t)], t, work);
            progress.advance();
        }
    });
    progress.end();
    return {poses.leftCols(options.training), poses.rightCols(options.held_out)};
}

namespace {

/// `count` of the columns, evenly spread.
MatX evenly(const MatX& columns, Index count)
{
    MatX out(columns.rows(), count);
    for (Index k = 0; k < count; ++k) out.col(k) = columns.col(k * columns.cols() / count);
    return out;
}

/// Three in five of `count` as they are, the others jittered.
MatX with_jittered(const MatX& q, Index count, const VecX& deviation, Random& random)
{
    const Index plain = std::min(q.cols(), (3 * count + 4) / 5);
    MatX out(q.rows(), count);
    out.leftCols(plain) = evenly(q, plain);
    for (Index k = plain; k < count; ++k) {
        out.col(k) = q.col(static_cast<Index>(random.index(static_cast<std::uint64_t>(q.cols()))));
        for (Index i = 0; i < q.rows(); ++i) out(i, k) += deviation[i] * random.normal();
    }
    return out;
}

/// Moves a share of them over, drawn at random: every so many could be the same phase of a motion each time.
void hold_out(double share, Random& random, std::vector<Index>& from, std::vector<Index>& to)
{
    const auto count = static_cast<std::size_t>(std::lround(share * static_cast<double>(from.size())));
    for (std::size_t k = 0; k < count; ++k) {
        const auto drawn = from.begin() + static_cast<std::ptrdiff_t>(random.index(from.size()));
        to.push_back(*drawn);
        from.erase(drawn);
    }
    std::ranges::sort(to);
}

} // namespace

CubaturePoses snapshot_poses(const FemModel& model, const Basis& basis, const MatX& displacements,
                             const SnapshotPoseOptions& options)
{
    require_counts(options.training, options.held_out);
    (void)require_positive("jitter", options.jitter);
    const MatX q = project(model, basis, displacements);
    const VecX lengths = q.colwise().norm();
    const double least = 1e-3 * (q.cols() > 0 ? lengths.maxCoeff() : 0.0);
    std::vector<Index> trained, held_out;
    for (Index t = 0; t < q.cols(); ++t)
        if (lengths[t] > least) trained.push_back(t);
    Random random(options.seed);
    hold_out(static_cast<double>(options.held_out) / static_cast<double>(options.training + options.held_out),
             random, trained, held_out);
    if (trained.empty() || (options.held_out > 0 && held_out.empty()))
        throw InputError("too few of the " + std::to_string(q.cols()) +
                         " snapshots move the body to train with some and test with others; give more");
    const VecX deviation = options.jitter * q.rowwise().norm() /
                           std::sqrt(static_cast<double>(trained.size() + held_out.size()));
    CubaturePoses out;
    out.training = with_jittered(q(Eigen::all, trained), options.training, deviation, random);
    if (options.held_out > 0)
        out.held_out = with_jittered(q(Eigen::all, held_out), options.held_out, deviation, random);
    return out;
}

} // namespace lithe
