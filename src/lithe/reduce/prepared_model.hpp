#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/geometry/embedding.hpp"
#include "lithe/reduce/basis.hpp"
#include "lithe/reduce/frame_tensors.hpp"
#include "lithe/reduce/reduced_model.hpp"

namespace lithe {

/// The rows of a basis at the vertices of a surface: 3 s x r, row 3 i + c is coordinate c of vertex i. Float, and a vertex's
/// rows together: half the bytes of what is read most, and one vertex is one stretch of memory.
using SurfaceBasis = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A surface that follows the coordinates: x = X + U q.
struct ReducedSurface {
    TriangleMesh rest;
    SurfaceBasis basis;

    Index rank() const { return basis.cols(); }
};

/// The surface whose vertices are embedded in the tets that U belongs to.
ReducedSurface make_reduced_surface(TriangleMesh rest, const Embedding& embedding, const MatX& U);

/// x = X + U q of all vertices, on all threads; same bits for any number of them.
void reconstruct(const ReducedSurface& surface, const VecX& q, Points& x);
/// The same for some vertices: x becomes 3 x vertices.size(). On one thread.
void reconstruct(const ReducedSurface& surface, std::span<const int> vertices, const VecX& q, Points& x);

/// What a part of the body is made of, as it was given.
struct RegionParameters {
    int label = 0;
    MaterialParameters material = {};
    double density = 1000.0; ///< [kg/m^3]
};

/// How a model was made and how wrong it is: for people, reports and checks; no step reads it.
struct ReductionRecord {
    std::string source = {};   ///< the file or shape that it was made from
    std::string settings = {}; ///< what was asked for, in one line
    std::string basis = {};    ///< Basis::provenance
    std::uint64_t inputs = 0;  ///< hash of all of it
    VecX eigenvalues = {};     ///< omega^2 of the linear modes under the basis [1/s^2]; none without modes
    VecX singular_values = {}; ///< of the principal directions that the basis was cut from; none without
    Index training_poses = 0, held_out_poses = 0;
    double tolerance = 0.0; ///< of the cubature's error; 0 where the elasticity is exact
    double training_error = 0.0, held_out_error = 0.0;
    std::vector<Index> point_counts = {};                           ///< while points were added ...
    std::vector<double> training_errors = {}, held_out_errors = {}; ///< ... the errors with them
    std::vector<Index> ranks = {};                                  ///< that were tried or measured ...
    std::vector<double> rank_errors = {}; ///< ... how well bases of that rank do on held-out poses
};

/// A body made ready for real time: all that does not change while it moves, nothing of the size of its tets.
struct PreparedModel {
    std::string name;
    ReducedModel reduced;
    FrameTensors tensors;                   ///< sums over its mass
    ReducedSurface shown;                   ///< what is drawn; may carry the field "color"
    std::optional<ReducedSurface> boundary; ///< of the tets, which touches; none where it is the shown one
    double contact_stiffness = 0.0;         ///< k that fits the body [Pa/m], > 0
    bool pinned = false;                    ///< its pins hold it in space; else nothing does but its frame
    MassKind mass_kind = MassKind::Consistent;
    std::vector<RegionParameters> materials;
    ReductionRecord record;

    Index rank() const { return reduced.rank(); }
    const ReducedSurface& touching() const { return boundary ? *boundary : shown; }
};

/// The tets behind a model, for those who need them: comparison with full space, and inspection.
struct PreparedVolume {
    TetMesh mesh;          ///< labelled as in PreparedModel::materials
    std::vector<int> pins; ///< vertices that do not move, rising
    MatX U;                ///< 3n x r
    Cubature cubature;     ///< empty where the elasticity is exact
    Embedding embedding;   ///< of the shown surface
};

/// Both as one .lithe file (docs/model-files.md). Writes the file whole or not at all.
void write_model(const std::filesystem::path& file, const PreparedModel& model, const PreparedVolume& volume);
/// Throws InputError, with the file and what is wrong, for one that is damaged, of another kind or of a newer version.
PreparedModel read_model(const std::filesystem::path& file);

/// A whole file.
struct ModelFile {
    PreparedModel model;
    PreparedVolume volume;
};
ModelFile read_model_file(const std::filesystem::path& file);

/// Its materials as solvers want them.
std::vector<RegionMaterial> region_materials(const std::vector<RegionParameters>& regions);

} // namespace lithe
