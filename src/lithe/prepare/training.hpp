#pragma once
#include "lithe/prepare/prepare_body.hpp"

namespace lithe {

/// Displacements from the rest that a basis and a cubature are made from: 3n x count [m], zero at the pins; where no pins
/// hold the body, without its best rigid motion.
struct TrainingData {
    MatX snapshots;                 ///< of runs, then of files
    MatX shapes;                    ///< that somebody made: to be columns of the basis
    int runs = 0;                   ///< that were used, from the cache or not
    int cached = 0;                 ///< of these, found in the cache
    std::vector<std::string> notes; ///< which runs were skipped, and why
};

/// Does what scene.training (which must be there) asks for with one body of the scene, prepared as `parts`:
///
/// Run 0 is the scene as it is, in full space; in the others gravity, loads and the velocities at the start are turned by up
/// to a right angle times the jitter and made stronger or weaker by up to the jitter, and obstacles stand elsewhere by up to
/// the jitter times a tenth of the body's size, sideways. Other bodies are left out: bodies do not feel each other.
///
/// A finished run, solved or not, is kept in the folder `cache` (none when empty) under the hash of all that went into it, and not
/// repeated. A run that cannot be solved is skipped; InputError when fewer than half remain. Throws Interrupted when the
/// progress is told to stop; finished runs stay in the cache.
TrainingData run_training(const Scene& scene, const SceneBody& body, const BodyParts& parts,
                          const std::filesystem::path& cache, Progress& progress);

/// One column of these for positions x of the tets' vertices. [m]
VecX deformation(const BodyParts& parts, const Points& x);

/// Where the tets' vertices are when the surface that is embedded in them is there: by the least elastic energy. Affine motions come
/// out exactly, turns of any angle among them. Throws InputError when the surface does not say how all of the body moves.
Points extended_into_tets(const FullBodyModel& model, const Points& surface);

/// Snapshots of the body from a file of somebody's animation: a point cache (.pc2), a mesh, or a folder of meshes in the
/// order of their names. They have the vertices of the tets, or of the surface that is shown, in their order; a surface is
/// extended into the tets by the least elastic energy. Positions are those of the world or of the body's mesh file, whichever
/// is nearer to the rest. Throws InputError for vertices of another mesh, and where pinned ones move.
MatX read_snapshots(const std::filesystem::path& file, const SceneBody& body, const BodyParts& parts);

} // namespace lithe
