#pragma once
#include <vector>

#include "lithe/fem/model.hpp"
#include "lithe/math/sparse_cholesky.hpp"

namespace lithe {

/// Stiffness and mass of a body at rest, with its pins and its rigid motions, factorised once and ready to be solved with.
///
/// Factorised is K + s M, with s = 0 where pins leave no rigid motion, else a small s > 0 (1e-6 of the body's lowest
/// eigenvalue, estimated); `solve` removes the effect of s. One object serves one thread.
class RestSystem {
public:
    /// Throws InputError for a pinned vertex that does not exist, a body without a free vertex, and a material whose
    /// stiffness at rest is not positive semidefinite.
    RestSystem(const FemModel& model, std::vector<int> pinned_vertices = {});

    const FemModel& model() const { return *model_; }
    const SparseMatrix& stiffness() const { return K_; } ///< at rest, without pins [N/m]
    const std::vector<int>& pinned_vertices() const { return pinned_vertices_; }
    /// Infinitesimal rigid motions of each connected part that leave the pins where they are: 3n x k, mass-orthonormal.
    const MatX& rigid_motions() const { return rigid_; }
    Index component_count() const { return component_count_; }
    /// The coordinates that are neither pinned nor rigid: the largest rank of a basis.
    Index elastic_freedoms() const;
    double shift() const { return shift_; } ///< s [1/s^2]

    void clear_pins(Eigen::Ref<MatX> X) const;   ///< zero at the pins
    void remove_rigid(Eigen::Ref<MatX> X) const; ///< X -= R R^T M X
    /// B becomes (K + s M)^-1 B, zero at the pins.
    void solve_shifted(MatX& B);
    /// Displacements [m] under the forces B [N] with small strains: K X = B with X zero at the pins and free of rigid
    /// motion; the part of B that would only move the body rigidly is left out. Returns the largest relative residual.
    double solve(MatX& B);

private:
    void find_rigid_motions();
    void factorise();

    const FemModel* model_;
    std::vector<int> pinned_vertices_;
    std::vector<unsigned char> pinned_;
    SparseMatrix K_;
    SparseCholesky cholesky_;
    MatX rigid_;
    MatX mass_rigid_; ///< M R, zero at the pins
    Index component_count_ = 0;
    double shift_ = 0.0;
};

} // namespace lithe
