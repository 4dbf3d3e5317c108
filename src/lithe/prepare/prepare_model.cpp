#include "lithe/prepare/prepare_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/hash.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/prepare/training.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

std::string describe(const RegionParameters& region)
{
    const MaterialParameters& material = region.material;
    std::string out =
        fmt::format("{} young {:.6g} poisson {:.6g} density {:.6g}", material_name(material.kind),
                    material.elastic.young_modulus, material.elastic.poisson_ratio, region.density);
    if (material.mooney_ratio) out += fmt::format(" mooney_ratio {:.6g}", *material.mooney_ratio);
    if (material.limit_stretch) out += fmt::format(" limit_stretch {:.6g}", *material.limit_stretch);
    return out;
}

/// All that was asked for, in one line.
std::string describe(const SceneBody& body, const BodyParts& parts, const SceneReduction& options)
{
    const FemModel& fem = parts.model.fem;
    std::vector<std::string> materials;
    for (const RegionParameters& region : parts.materials) materials.push_back(describe(region));
    std::size_t pinned = 0;
    for (const LedVertices& pin : parts.model.pins) pinned += pin.vertices.size();
    return fmt::format("{} tets, scale {:.6g}, {} up; {}; {} mass; damping {:.6g} {:.6g}; {} vertices "
                       "pinned; {} elastic; {} rule; rank {}; tolerance "
                       "{:.6g}; poses {}; seed {}; {} contact modes",
                       parts.model.shown.volume.tet_count(), body.source.read.scale,
                       body.source.read.up == UpAxis::Z ? 'z' : 'y', fmt::join(materials, ", "),
                       name_of(fem.mass_kind, mass_kinds), fem.damping.mass, fem.damping.stiffness, pinned,
                       name_of(options.elastic, elastic_choices), name_of(options.rule, cubature_rules),
                       options.rank ? std::to_string(*options.rank) : "auto", options.tolerance,
                       options.poses ? std::to_string(*options.poses) : "by rank", options.seed,
                       options.contact_modes);
}

std::uint64_t hash_of_inputs(std::uint64_t source, const std::string& settings)
{
    return hash_bytes(fmt::format("{:016x} {}", source, settings));
}

/// What the body is made from, without the folder that it was in.
std::string source_name(const SceneSource& source)
{
    if (const auto* file = std::get_if<fs::path>(&source.from)) return file->filename().string();
    return std::get<std::string>(source.from);
}

/// Where finished runs are kept: where the training says, else in a folder beside the scene; nowhere for a scene that is
/// not a file.
fs::path training_folder(const Scene& scene)
{
    if (!scene.training->cache.empty()) return scene.training->cache;
    if (scene.file.empty()) return {};
    return scene.file.parent_path() / (scene.file.stem().string() + "_training");
}

/// What the scene's training gives; nothing without.
TrainingData train(const Scene& scene, const SceneBody& body, const BodyParts& parts, Progress& progress)
{
    if (scene.training) return run_training(scene, body, parts, training_folder(scene), progress);
    const Index rows = parts.model.fem.rest.size();
    return {.snapshots = MatX(rows, 0), .shapes = MatX(rows, 0), .notes = {}};
}

std::string describe(const TrainingData& data)
{
    if (data.snapshots.cols() + data.shapes.cols() == 0) return "";
    const auto hash = [](const MatX& A) {
        return hash_numbers({A.data(), static_cast<std::size_t>(A.size())});
    };
    return fmt::format("; {} runs, {} snapshots ({:016x}), {} shapes ({:016x})", data.runs,
                       data.snapshots.cols(), hash(data.snapshots), data.shapes.cols(), hash(data.shapes));
}

/// The file without its ending; "bunny" for bunny.mesh.gz.
std::string mesh_name(const fs::path& file)
{
    return (file.extension() == ".gz" ? file.stem() : file).stem().string();
}

} // namespace

Reduction prepare_model(const Scene& scene, const SceneBody& body, Progress& progress)
{
    const SceneReduction options = body.reduction.value_or(SceneReduction());
    std::vector<std::string> notes;
    StageTimes times;
    const BodyParts parts = [&] {
        const auto time = times.measure("mesh");
        return prepare_parts(scene, body, progress, notes);
    }();
    const TrainingData training = [&] {
        const auto time = times.measure("training");
        return train(scene, body, parts, progress);
    }();
    notes.insert(notes.end(), training.notes.begin(), training.notes.end());
    Reduction out = at_place(options.place.file.empty() ? body.place : options.place, [&] {
        return reduce_body(parts, options, training, std::move(times), progress);
    });
    ReductionRecord& record = out.model.record;
    record.settings = describe(body, parts, options) + describe(training);
    record_source(body.source, record);
    out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
    return out;
}

Scene model_scene(const SceneSource& source)
{
    Scene scene;
    SceneBody body;
    const auto* file = std::get_if<fs::path>(&source.from);
    body.name = file ? mesh_name(*file) : "body";
    body.source = source;
    scene.bodies.push_back(std::move(body));
    return scene;
}

void record_source(const SceneSource& source, ReductionRecord& record)
{
    record.source = source_name(source);
    record.inputs = hash_of_inputs(source_hash(source), record.settings);
}

Freshness freshness(const ReductionRecord& record, const fs::path& model_file)
{
    std::error_code ignored;
    for (const fs::path& folder : {model_file.parent_path(), fs::path(".")}) {
        const fs::path source = folder / record.source;
        if (!fs::is_regular_file(source, ignored)) continue;
        return hash_of_inputs(hash_bytes(io::read_bytes(source)), record.settings) == record.inputs
                   ? Freshness::Fresh
                   : Freshness::Stale;
    }
    return Freshness::Unknown;
}

} // namespace lithe
