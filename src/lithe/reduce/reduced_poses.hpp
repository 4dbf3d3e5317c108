#pragma once
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/cubature_training.hpp"

namespace lithe {

/// Which loads random poses come from.
enum class PoseLoads {
    All,   ///< heat, few modes and pushes: what a cubature must know
    Pushes ///< only pushes at vertices: what a basis is judged by, since it need not know what no load excites
};

struct RandomPoseOptions {
    Index training = 150, held_out = 50; ///< how many, > 0 and >= 0
    /// Between them lies the Green strain that a tenth of the body would exceed if it were linear; 0 < smallest <= largest
    double smallest_strain = 0.01, largest_strain = 0.3;
    PoseLoads loads = PoseLoads::All;
    std::uint64_t seed = 1;
};

/// Poses for training a cubature that need no run in full space. A pose of a motion is an equilibrium under its loads
/// and its inertia, so these are equilibria of the reduced body under random loads, in turn:
///
///   f = K V diag(lambda^-p) xi, p in [1/2, 1]   from heat (every mode has the same energy) to loads without preference,
///   the same with one to three modes            what a motion looks like when few of them ring,
///   f = U_v^T d                                 a push at a random vertex: contact,
///
/// with K V = V diag(lambda) and xi normal; each scaled to a strain that is drawn evenly on the logarithmic scale. Without
/// the equilibrium, a stiff combination of soft modes (bending without the stretch that undoes its growth) would have
/// stresses that no motion has. The bodies that are solved have about 1000 tets, taken evenly by volume: good
/// enough to pose, and the same time for every mesh. A load that turns more than a hundredth of them inside out is halved.
///
/// The columns of U are mass-orthonormal. Same poses for any number of threads. Throws InputError for options out of range.
CubaturePoses random_poses(const FemModel& model, const MatX& U, const RandomPoseOptions& options,
                           Progress& progress);

struct SnapshotPoseOptions {
    Index training = 150, held_out = 50; ///< how many, > 0 and >= 0
    double jitter = 0.3;                 ///< deviation of a jittered coordinate, of its root mean square; > 0
    std::uint64_t seed = 1;
};

/// Poses from displacements that a full body had (3n x count [m]), projected, since what is outside of the basis must not
/// be in the forces. Three in five are projections, as far as there are enough, the others such with every coordinate
/// jittered. Held out are projections that are not trained on, and jittered ones of their own. Those that hardly move are
/// left out. The basis is mass-orthonormal; throws InputError for another, and for too few displacements.
CubaturePoses snapshot_poses(const FemModel& model, const Basis& basis, const MatX& displacements,
                             const SnapshotPoseOptions& options);

} // namespace lithe
