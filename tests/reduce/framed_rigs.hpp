#pragma once
#include "fem/beams.hpp"
#include "lithe/math/rotation.hpp"
#include "lithe/reduce/frame_tensors.hpp"
#include "lithe/reduce/modes.hpp"
#include "lithe/reduce/reduced_model.hpp"
#include "lithe/reduce/tall_products.hpp"

namespace lithe::test {

/// A free body with a basis for its frame, and all that brute force needs.
struct FramedRig {
    FemModel fem;
    MatX S;               ///< 3n x r
    VecX eigenvalues;     ///< omega^2; empty for bases that are not of modes
    Points X;             ///< from the centre of mass, 3 x n
    MatX mass;            ///< scalar mass matrix, n x n
    FrameTensors tensors; ///< of S
    LinearElastic elastic;

    Index rank() const { return S.cols(); }
    Rows3 rows(Index node) const { return S.middleRows<3>(3 * node); }
};

inline MatX scalar_mass(const FemModel& fem)
{
    const Index n = fem.vertex_count();
    MatX unit = MatX::Zero(3 * n, n);
    for (Index i = 0; i < n; ++i) unit(3 * i, i) = 1.0;
    return mass_product(fem, unit)(Eigen::seq(0, Eigen::last, 3), Eigen::all);
}

inline FramedRig make_framed_rig(FemModel fem, MatX S, VecX eigenvalues = {})
{
    FramedRig out{std::move(fem), std::move(S),   std::move(eigenvalues), Points(),
                  MatX(),         FrameTensors(), LinearElastic()};
    out.tensors = make_frame_tensors(out.fem, out.S);
    out.X = out.fem.rest.colwise() - out.tensors.centre;
    out.mass = scalar_mass(out.fem);
    out.elastic = make_linear_elastic(out.fem, out.S);
    return out;
}

inline FramedRig make_modal_rig(const TetMesh& mesh, double young, Index rank, const FemOptions& options = {})
{
    FemModel fem = make_fem_model(mesh, Linear({young, 0.3}), 1000.0, options);
    RestSystem system(fem);
    Progress progress;
    const Modes modes = linear_modes(system, {.count = rank}, progress);
    FramedBasis basis = make_framed_basis(fem, modes.basis.U, FrameAxes::StiffnessDiagonal);
    return make_framed_rig(std::move(fem), std::move(basis.S), std::move(basis.eigenvalues));
}

/// 2 x 0.4 x 0.3 m, 240 kg, 81 nodes.
inline FramedRig make_beam(Index rank, double young = 1e6, MassKind mass = MassKind::Consistent)
{
    return make_modal_rig(box_tets({8, 2, 2}, {2.0, 0.4, 0.3}), young, rank, {.mass = mass});
}

/// 1 m, 1000 kg, eight nodes; of rank 18 its basis is complete.
inline FramedRig make_cube(Index rank, double young = 1e6, MassKind mass = MassKind::Consistent)
{
    return make_modal_rig(box_tets({1, 1, 1}, {1.0, 1.0, 1.0}), young, rank, {.mass = mass});
}

/// A unit cube of 12 kg in three polynomial shapes, one of which turns it: known by numbers.
inline FramedRig make_oracle(MassKind mass)
{
    TetMesh mesh;
    mesh.vertices.resize(3, 8);
    for (int i = 0; i < 8; ++i) mesh.vertices.col(i) = Vec3(i / 4 - 0.5, i / 2 % 2 - 0.5, i % 2 - 0.5);
    mesh.tets.resize(4, 6);
    mesh.tets << 0, 0, 0, 0, 0, 0, 4, 4, 2, 2, 1, 1, 6, 7, 7, 3, 5, 7, 7, 5, 6, 7, 7, 3;
    FemModel fem = make_fem_model(mesh, Linear({1000.0, 0.3}), 12.0, {.mass = mass});
    MatX S(24, 3);
    for (Index i = 0; i < 8; ++i) {
        const Vec3 X = mesh.vertices.col(i);
        S.middleRows<3>(3 * i) << X[0] * X[1], 0.0, X[2] * X[0], //
            0.0, X[1] * X[2], 0.0,                               //
            0.0, X[0] * X[0], X[1];
    }
    const FrameTensors sums = make_frame_tensors(fem, S);
    for (Index i = 0; i < 8; ++i) S.middleRows<3>(3 * i) -= sums.linear / sums.mass;
    return make_framed_rig(std::move(fem), std::move(S));
}

/// p = X + S q, of all nodes in the frame.
inline Points shape_of(const FramedRig& rig, const VecX& q)
{
    const VecX u = rig.S * q;
    return rig.X + Eigen::Map<const Points>(u.data(), 3, rig.X.cols());
}

/// sum mass_ij a_i b_j^T
inline Mat3 mass_sum(const FramedRig& rig, const Points& a, const Points& b)
{
    return a * rig.mass * b.transpose();
}

/// sum mass_ij a_i x b_j
inline Vec3 moment_sum(const FramedRig& rig, const Points& a, const Points& b)
{
    return -2.0 * axial(mass_sum(rig, a, b));
}

inline Mat3 inertia_sum(const FramedRig& rig, const Points& p)
{
    const Mat3 J = mass_sum(rig, p, p);
    return J.trace() * Mat3::Identity() - J;
}

inline Points column(const FramedRig& rig, Index a)
{
    const VecX s = rig.S.col(a);
    return Eigen::Map<const Points>(s.data(), 3, rig.X.cols());
}

/// B by nodes: column a is sum p x S_a.
inline MatX coupling_sum(const FramedRig& rig, const Points& p)
{
    MatX B(3, rig.rank());
    for (Index a = 0; a < rig.rank(); ++a) B.col(a) = moment_sum(rig, p, column(rig, a));
    return B;
}

/// Coordinates at random that move no node by more than `size` [m].
inline VecX random_shape(Random& random, const FramedRig& rig, double size)
{
    VecX q = random_vector(random, rig.rank());
    const Points u = shape_of(rig, q) - rig.X;
    return size / u.colwise().norm().maxCoeff() * q;
}

} // namespace lithe::test
