#pragma once
#include <memory>

#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/math/block_ldlt.hpp"
#include "lithe/reduce/lattice_model.hpp"

namespace lithe {

/// The share of one cell of level 0 in the integrals over two functions a >= b.
struct LatticePair {
    int a, b;
    double mass; ///< int rho phi^a phi^b [kg]
    Mat3 K;      ///< int lambda g_a g_b^T + mu (g_b g_a^T + g_a.g_b I) [N/m]
};

/// The same over the flesh that turns with the bones of one joint: int phi^a phi^b [m^3].
struct LatticeTwist {
    int joint, a, b;
    double value;
};

struct LatticeCellIntegrals {
    std::vector<int> functions;     ///< that are not zero in it, rising
    std::vector<double> first;      ///< of each, int rho phi [kg]
    std::vector<LatticePair> pairs; ///< by rising b, then a
    std::vector<LatticeTwist> twists;
    double volume = 0.0; ///< of the body in it [m^3]

    bool empty() const { return pairs.empty(); }
};

/// Where a vertex of level 0 on a bone has to be: between the places to which two joints carry two points.
struct LatticeHold {
    int function = 0;
    int joint_a = 0, joint_b = 0;
    Vec3 a = Vec3::Zero(), b = Vec3::Zero(); ///< at rest [m]
    double s = 0.0;                          ///< 0: at a; 1: at b
};

/// A point held by a constraint: its place is a sum over functions.
struct LatticePoint {
    std::vector<int> functions;
    std::vector<double> weights;
};

/// A sample of the strain: the mean gradients of the functions over the body in a small hex, or in a cell.
struct StrainSample {
    int cell = 0;        ///< of level 0
    double volume = 0.0; ///< of the body there [m^3]
    std::vector<int> functions;
    Points gradients; ///< of these [1/m]
};

/// A region as a set of cells and functions.
struct RegionSpace {
    int joint = 0;
    std::vector<int> cells;      ///< all whose corners it has a share of, and that hold some of the body
    std::vector<int> functions;  ///< that are not zero there, rising
    std::vector<double> weights; ///< W^i of them, > 0; over all regions they sum to 1
};

/// All of a lattice model that does not change while it moves: integrals for all functions that could become active.
struct LatticeSystem {
    std::shared_ptr<const LatticeModel> model;
    std::vector<LatticeFunction> functions;
    Points rest;              ///< r of each function: the vertex for level 0, zero for details [m]
    std::vector<double> size; ///< of each: of the cells that it is spread over [m]
    VecX first;               ///< int rho phi of each [kg]; zero where the body is not
    VecX support;             ///< of each, the share of int phi that is inside the body
    std::vector<char> held;   ///< those on bones, whose coefficients are given
    std::vector<LatticeCellIntegrals> cells;
    std::vector<RegionSpace> regions;
    std::vector<LatticeHold> holds;
    /// A function of level 0 that the body does not reach, and what carries it: surfaces without volume may hang on it.
    struct Loose {
        int function, joint;
        double weight;
    };
    std::vector<Loose> loose;
    std::vector<LatticePoint> held_points; ///< along the bones that are no edges ...
    std::vector<LatticeHold> held_targets; ///< ... and where they have to be; `function` is not used
    SparseRows shown, collision;           ///< from coefficients to the vertices of the surfaces
    SparseRows at_vertices;                ///< at the vertex of each function
    std::vector<StrainSample> strains;
    /// The lattice subdivided once, in tets: where places are looked up; and its vertices by those of level 0.
    TetMesh once;
    SparseRows once_from_coarse;
    SparseMatrix M;    ///< of all functions, a number for all three axes [kg]
    double mass = 0.0; ///< [kg]

    Index count() const { return static_cast<Index>(functions.size()); }
    Index coarse_count() const { return static_cast<Index>(model->lattice.vertices.size()); }
    bool in_body(int function) const { return first[function] > 0.0; }
};
LatticeSystem make_lattice_system(std::shared_ptr<const LatticeModel> model);

/// How far a joint has carried its flesh from where it was bound, at each joint of the skeleton.
std::vector<RigidPose> joint_motions(const Skeleton& skeleton, const std::vector<Affine3>& bind,
                                     const std::vector<Affine3>& now);

/// Where held vertices or points have to be. [m]
Vec3 target(const LatticeHold& hold, const std::vector<RigidPose>& motions);

} // namespace lithe
