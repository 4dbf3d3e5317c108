#pragma once
#include <span>
#include <string>
#include <vector>

#include "lithe/fem/model.hpp"

namespace lithe {

/// What made the columns of a basis.
enum class BasisKind {
    Modes,            ///< eigenvectors of stiffness and mass
    ModalDerivatives, ///< how modes change with the deformation
    Snapshots,        ///< principal components of displacements
    Shapes,           ///< displacements as somebody gave them
    ContactModes,     ///< responses to loads on patches of the surface
    Union             ///< of several
};
const char* to_string(BasisKind kind);

/// x = X + U q, whatever made U.
struct Basis {
    MatX U = {}; ///< 3n x r; entry 3 i + c is coordinate c of vertex i
    BasisKind kind = BasisKind::Shapes;
    std::string provenance = {};   ///< one line for people: how it was made
    bool mass_orthonormal = false; ///< U^T M U = I, with the mass of the body that it was made for

    Index rank() const { return U.cols(); }
};

/// A = Q R in the inner product of M, without the columns of A that the ones before them span.
struct MassQr {
    MatX Q;                  ///< 3n x r, Q^T M Q = I
    MatX R;                  ///< r x columns of A; upper staircase
    std::vector<Index> kept; ///< the columns of A that are not dropped, in their order
};

/// A column is dropped when what the columns before it leave of it is at most this share of its norm.
inline constexpr double dependent_share = 1e-6;

/// Blocked Gram-Schmidt, every projection done twice, so that Q^T M Q = I to rounding. Same bits for any number of threads.
/// Throws InputError when A is not of the body's size or not finite.
MassQr mass_qr(const FemModel& model, const MatX& A, double dependent = dependent_share);

/// The part of W outside the span of Q (mass-orthonormal, may have no columns), mass-orthonormal:
///   W = Q C + Q_new R up to what was dropped, by the same rule as mass_qr.
struct MassQrBlock {
    MatX Q_new, C, R;
    std::vector<Index> kept;
};
MassQrBlock mass_qr_block(const FemModel& model, const Eigen::Ref<const MatX>& Q, MatX W, double dependent);

/// The same basis, mass-orthonormal, without dependent columns.
Basis mass_orthonormalised(const FemModel& model, const Basis& basis, double dependent = dependent_share);

/// The span of all of them, mass-orthonormal. What comes first survives: the leading columns span the first basis (and
/// are its columns, bit for bit, when it is mass-orthonormal); columns are dropped from the back.
Basis join(const FemModel& model, std::span<const Basis> bases, double dependent = dependent_share);

/// How much of a set of columns to keep.
struct Truncation {
    double lost_energy = 1e-6; ///< share of sum |column|_M^2 that may be lost, in [0, 1)
    Index max_rank = 0;        ///< 0: as many as the energy asks for
};

/// Principal directions in the inner product of M (the mass-SVD), strongest first: the basis of its rank that
/// represents the columns best in the mass norm. No mean is subtracted, so that q = 0 is the rest.
struct PrincipalBasis {
    Basis basis;
    VecX singular_values; ///< of all directions, also those cut off [m sqrt(kg)]
    double lost_energy;   ///< the share that the cut loses
};
PrincipalBasis principal_basis(const FemModel& model, const MatX& columns, const Truncation& truncation = {});

/// The mass-SVD of displacements from the rest, 3n x count [m]. Throws InputError when they are of another mesh, not
/// finite or all zero.
PrincipalBasis snapshot_basis(const FemModel& model, const MatX& displacements,
                              const Truncation& truncation = {});

/// q with the least mass-norm of x - X - U q: U^T M (x - X) for a mass-orthonormal basis (InputError for another).
MatX project(const FemModel& model, const Basis& basis, const MatX& displacements);

} // namespace lithe
