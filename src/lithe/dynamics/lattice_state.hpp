#pragma once
#include <span>

#include "lithe/dynamics/lattice_system.hpp"
#include "lithe/reduce/lattice_scheme.hpp"

namespace lithe {

/// What a function takes part in.
enum Activity : char {
    Inactive, ///< in nothing
    Active,   ///< in the motion
    Leaving   ///< its coefficient is led to zero
};

/// Steps for which a function must not have been needed before it leaves, and for which it stays as it is after a change.
constexpr int least_stay = 10;

/// All that must be saved to go on.
struct LatticeState {
    Points
        x; ///< coefficients: places of the vertices of level 0, displacements of details; 3 x functions [m]
    Points v; ///< their rates [m/s]
    /// Activity of each function; x and v of inactive ones are zero, or follow the bones.
    std::vector<char> active;
    // of adaptation (lattice_adapt.hpp)
    int steps = 0;          ///< so far
    std::vector<int> calm;  ///< steps for which a function has not been needed
    std::vector<int> since; ///< the step in which a function came or began to go; long ago at first
};

/// Where the joints are at the two ends of a step, from rest; by joint of the skeleton.
struct LatticePose {
    std::vector<RigidPose> start, end;
};

/// A point that has to be somewhere at the end of a step.
struct LatticeTarget {
    LatticePoint point;
    Vec3 place = Vec3::Zero(); ///< [m]
};

/// What acts on a lattice in one step.
struct LatticeLoading {
    double h = 0.0; ///< [s]
    Vec3 gravity = Vec3::Zero();
    Points force = {}; ///< on the functions beside gravity [N]; none when empty
    std::span<const LatticeTarget> targets = {};
    LatticeScheme scheme = LatticeScheme::Blended;
};

} // namespace lithe
