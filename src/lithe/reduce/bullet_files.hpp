#pragma once
#include <filesystem>

#include "lithe/reduce/modes.hpp"

namespace lithe {

/// A reduced deformable body as Bullet 3 reads it from files (docs/bullet-files.md): linear modes in a moving frame.
struct BulletModel {
    TetMesh mesh;     ///< mesh.vtk; regions are kept, fields are not
    VecX node_mass;   ///< M_diag_mat.bin: lumped, one per vertex [kg], > 0
    VecX eigenvalues; ///< eigenvalues.bin: omega^2, rising [1/s^2], > 0
    VecX stiffness;   ///< K_r_diag_mat.bin: phi^T K phi, which is what Bullet steps with [1/s^2]
    VecX mass;        ///< M_r_diag_mat.bin: phi^T M phi; Bullet takes it for 1
    MatX modes;       ///< modes.bin: phi, 3n x r; entry 3 i + c is coordinate c of vertex i

    Index rank() const { return modes.cols(); }
};

/// The modes of a body of this mesh as Bullet needs them. Throws InputError when Bullet cannot use them: mass that is not
/// lumped, modes of a pinned body (Bullet pins nodes itself, and gravity would not bend the body), or of several parts
/// (Bullet gives a body one frame).
BulletModel make_bullet_model(const TetMesh& mesh, const FemModel& model, const Modes& modes);

/// Writes the six files into the folder, all or none; makes the folder where its parent exists.
void write_bullet_files(const std::filesystem::path& folder, const BulletModel& model);

/// Reads them back, also from other programs: the mesh is the one .vtk file of the folder, M_r may be missing. Throws
/// InputError, with the file and what is wrong, for files that are missing, cut off or of another mesh.
BulletModel read_bullet_files(const std::filesystem::path& folder);

} // namespace lithe
