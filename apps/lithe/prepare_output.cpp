#include "prepare_output.hpp"

#include "inspect_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/memory.hpp"
#include "lithe/reduce/bullet_files.hpp"
#include "lithe/render/model_report.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;

constexpr Index shape_count = 8; ///< drawn

std::string percent(double share)
{
    return fmt::format("{:.3g} %", 100.0 * share);
}

std::string megabytes(double bytes)
{
    return fmt::format("{:.3g} MB", bytes / 1e6);
}

std::vector<ReportFact> facts_of(const PreparedModel& model, const PreparedVolume& volume,
                                 const fs::path& file)
{
    const ReductionRecord& record = model.record;
    const Vec3 size = bounds(volume.mesh.vertices).sizes();
    std::vector<ReportFact> facts = {
        {"made from", record.source},
        {"tets", fmt::format("{} on {} vertices", volume.mesh.tet_count(), volume.mesh.vertex_count())},
        {"surface", fmt::format("{} triangles", model.shown.rest.triangle_count())},
        {"size", fmt::format("{:.3g} × {:.3g} × {:.3g} m", size[0], size[1], size[2])},
        {"mass", fmt::format("{:.4g} kg", model.tensors.mass)},
        {"held", model.pinned ? fmt::format("{} vertices pinned", volume.pins.size()) : "free"},
        {"coordinates", fmt::format("{} instead of {}", model.rank(), 3 * volume.mesh.vertex_count())},
        {"elasticity", elasticity_text(model, volume)}};
    if (record.held_out_poses > 0) {
        facts.push_back({"error, held out", fmt::format("{} ({} poses)", percent(record.held_out_error),
                                                        record.held_out_poses)});
        facts.push_back({"error, training", fmt::format("{} ({} poses)", percent(record.training_error),
                                                        record.training_poses)});
        facts.push_back({"tolerance", percent(record.tolerance)});
    }
    std::error_code ignored;
    facts.push_back({"file", megabytes(static_cast<double>(fs::file_size(file, ignored)))});
    facts.push_back({"peak memory", megabytes(static_cast<double>(peak_memory_bytes()))});
    facts.push_back({"basis", record.basis});
    facts.push_back({"settings", record.settings});
    return facts;
}

void set_points(const PreparedVolume& volume, ModelReport& report)
{
    const TetMesh& mesh = volume.mesh;
    report.points.resize(3, volume.cubature.size());
    report.weights.resize(volume.cubature.size());
    for (Index k = 0; k < report.points.cols(); ++k) {
        const Points corners = mesh.vertices(Eigen::all, mesh.tets.col(volume.cubature.tets[k]));
        report.points.col(k) = corners.rowwise().mean();
        report.weights[k] = volume.cubature.weights[k] *
                            tet_volume(corners.col(0), corners.col(1), corners.col(2), corners.col(3));
    }
}

/// The first columns of the basis; those of a linear model are its modes.
void set_shapes(const PreparedModel& model, ModelReport& report)
{
    const bool modes = std::holds_alternative<LinearElastic>(model.reduced.elastic);
    report.surface = model.shown.rest;
    for (Index k = 0; k < std::min(shape_count, model.rank()); ++k)
        report.shapes.push_back(
            {modes && k < report.frequencies.size()
                 ? fmt::format("mode {}, {:.3g} Hz", k + 1, report.frequencies[k])
                 : fmt::format("shape {}", k + 1),
             model.shown.basis.col(k).cast<double>().reshaped(3, report.surface.vertex_count())});
}

void set_curves(const ReductionRecord& record, ModelReport& report)
{
    report.frequencies = frequencies(record.eigenvalues);
    report.singular_values = record.singular_values;
    report.tolerance = record.tolerance;
    report.point_counts.assign(record.point_counts.begin(), record.point_counts.end());
    report.training_errors = record.training_errors;
    report.held_out_errors = record.held_out_errors;
    report.ranks.assign(record.ranks.begin(), record.ranks.end());
    report.rank_errors = record.rank_errors;
}

/// What a unit of a bone's coordinate does to the skin.
Points skin_displacement(const BoneSurface& surface, std::size_t bone, Index coordinate)
{
    const SkinBone& skin = surface.skin[bone];
    Points out = Points::Zero(3, surface.rest.vertex_count());
    for (Index i = 0; i < skin.weights.size(); ++i)
        out.col(skin.vertices[static_cast<std::size_t>(i)]) =
            skin.weights[i] * skin.basis.block<3, 1>(3 * i, coordinate).cast<double>();
    return out;
}

std::vector<ReportFact> facts_of(const BoneModel& model, const fs::path& file)
{
    const Vec3 size = bounds(model.shown.rest.vertices).sizes();
    std::error_code ignored;
    std::vector<ReportFact> facts = {
        {"made from", model.record.source},
        {"size", fmt::format("{:.3g} × {:.3g} × {:.3g} m", size[0], size[1], size[2])},
        {"mass", fmt::format("{:.4g} kg", model.mass())},
        {"surface", fmt::format("{} triangles", model.shown.rest.triangle_count())},
        {"collides by", fmt::format("{} triangles", model.collision.rest.triangle_count())},
        {"coordinates", std::to_string(model.freedoms())},
        {"joints", std::to_string(model.joints.size())},
        {"file", megabytes(static_cast<double>(fs::file_size(file, ignored)))},
        {"peak memory", megabytes(static_cast<double>(peak_memory_bytes()))},
        {"settings", model.record.settings}};
    for (const PreparedBone& bone : model.bones)
        facts.push_back(
            {"bone " + bone.name,
             fmt::format("{:.3g} kg, {}", bone.tensors.mass,
                         bone.rank() == 0 ? std::string("rigid")
                                          : fmt::format("{} coordinates from {:.3g} Hz", bone.rank(),
                                                        rest_frequencies(bone)[0]))});
    return facts;
}

std::vector<ReportFact> facts_of(const LatticeModel& model, const fs::path& file)
{
    const Vec3 size = bounds(model.shown.rest.vertices).sizes();
    std::error_code ignored;
    std::vector<ReportFact> facts = {
        {"made from", model.record.source},
        {"size", fmt::format("{:.3g} × {:.3g} × {:.3g} m", size[0], size[1], size[2])},
        {"surface", fmt::format("{} triangles", model.shown.rest.triangle_count())},
        {"collides by", fmt::format("{} triangles", model.collision.rest.triangle_count())},
        {"lattice",
         fmt::format("{} vertices, {} cells", model.lattice.vertices.size(), model.lattice.cells.size())},
        {"bones",
         fmt::format("{} on edges, {} held by points", model.lattice.bones.size(), model.held_bones.size())},
        {"regions", std::to_string(model.regions.size())},
        {"levels", std::to_string(model.levels)},
        {"file", megabytes(static_cast<double>(fs::file_size(file, ignored)))},
        {"peak memory", megabytes(static_cast<double>(peak_memory_bytes()))},
        {"settings", model.record.settings}};
    for (const RegionParameters& material : model.materials)
        facts.push_back({fmt::format("material {}", material.label),
                         fmt::format("young {:.4g} Pa, {:.4g} kg/m³", material.material.elastic.young_modulus,
                                     material.density)});
    return facts;
}

} // namespace

void write_bones_report(const fs::path& page, const fs::path& model_file, const BoneModel& model,
                        const StageTimes& times, Progress& progress)
{
    AtomicFile file(page);
    ModelReport report{.title = model.name};
    report.summary =
        fmt::format("A character of {} bones, {} coordinates.", model.bones.size(), model.freedoms());
    report.facts = facts_of(model, model_file);
    report.surface = model.shown.rest;
    std::vector<double> all;
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const VecX hz = rest_frequencies(model.bones[k]);
        all.insert(all.end(), hz.begin(), hz.end());
        if (hz.size() > 0 && static_cast<Index>(report.shapes.size()) < shape_count)
            report.shapes.push_back({fmt::format("{}, {:.3g} Hz", model.bones[k].name, hz[0]),
                                     skin_displacement(model.shown, k, 0)});
    }
    std::ranges::sort(all);
    report.frequencies = Eigen::Map<const VecX>(all.data(), static_cast<Index>(all.size()));
    for (const StageTimes::Stage& stage : times.stages())
        report.stages.push_back({stage.name, stage.seconds});
    file.write(to_html(make_report(report, {}, progress)));
    file.commit();
}

void write_lattice_report(const fs::path& page, const fs::path& model_file, const LatticeModel& model,
                          const StageTimes& times, Progress& progress)
{
    AtomicFile file(page);
    ModelReport report{.title = model.name};
    report.summary = fmt::format("A character with flesh in a lattice of {} vertices and {} cells.",
                                 model.lattice.vertices.size(), model.lattice.cells.size());
    report.facts = facts_of(model, model_file);
    report.surface = model.shown.rest;
    report.points.resize(3, static_cast<Index>(model.lattice.vertices.size()));
    for (Index v = 0; v < report.points.cols(); ++v)
        report.points.col(v) = model.lattice.vertices[static_cast<std::size_t>(v)];
    report.weights = VecX::Ones(report.points.cols());
    for (const StageTimes::Stage& stage : times.stages())
        report.stages.push_back({stage.name, stage.seconds});
    file.write(to_html(make_report(report, {}, progress)));
    file.commit();
}

void write_prepare_report(const fs::path& page, const fs::path& model_file, const Reduction& reduction,
                          Progress& progress)
{
    AtomicFile file(page); // known to be writable before anything is drawn
    const PreparedModel& model = reduction.model;
    ModelReport report{.title = model.name};
    report.summary = fmt::format("A reduced model: {} coordinates, {}.", model.rank(),
                                 elasticity_text(model, reduction.volume));
    report.facts = facts_of(model, reduction.volume, model_file);
    report.rank = model.rank();
    set_curves(model.record, report);
    set_points(reduction.volume, report);
    set_shapes(model, report);
    for (const StageTimes::Stage& stage : reduction.times.stages())
        report.stages.push_back({stage.name, stage.seconds});
    file.write(to_html(make_report(report, {}, progress)));
    file.commit();
}

void write_bullet(const fs::path& folder, const Reduction& reduction, Progress& progress)
{
    const FemModel model = make_fem_model(reduction.volume.mesh, region_materials(reduction.model.materials),
                                          {.mass = MassKind::Lumped});
    RestSystem system(model);
    const Modes modes = linear_modes(system, {.count = reduction.model.rank()}, progress);
    write_bullet_files(folder, make_bullet_model(reduction.volume.mesh, model, modes));
}

} // namespace lithe::cli
