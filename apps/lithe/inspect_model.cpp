#include "inspect_model.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lithe/prepare/prepare_model.hpp"
#include "lithe/reduce/lattice_model_io.hpp"
#include "lithe/reduce/modes.hpp"

namespace lithe::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string elastic_name(const ElasticModel& elastic)
{
    if (std::holds_alternative<LinearElastic>(elastic)) return "linear";
    if (std::holds_alternative<StvkPolynomial>(elastic)) return "polynomial";
    return "cubature";
}

Json json_of(const VecX& values)
{
    return std::vector<double>(values.begin(), values.end());
}

Json materials_json(const std::vector<RegionParameters>& materials)
{
    Json out = Json::array();
    for (const RegionParameters& region : materials)
        out.push_back({{"label", region.label},
                       {"kind", material_name(region.material.kind)},
                       {"young", region.material.elastic.young_modulus},
                       {"poisson", region.material.elastic.poisson_ratio},
                       {"density", region.density}});
    return out;
}

/// Smallest and largest Hz, of the modes that the basis was made from.
std::string frequency_range(const ReductionRecord& record)
{
    const VecX hz = frequencies(record.eigenvalues);
    return hz.size() == 0
               ? "no modes"
               : fmt::format("{} modes from {:.4g} to {:.4g} Hz", hz.size(), hz[0], hz[hz.size() - 1]);
}

const char* freshness_text(Freshness freshness)
{
    switch (freshness) {
    case Freshness::Fresh:
        return "unchanged since";
    case Freshness::Stale:
        return "CHANGED since: prepare the model again";
    case Freshness::Unknown:
        break;
    }
    return "not here to compare with";
}

Json freshness_json(Freshness freshness)
{
    if (freshness == Freshness::Unknown) return nullptr;
    return freshness == Freshness::Stale;
}

template <class... Args>
void row(std::string_view name, fmt::format_string<Args...> format, Args&&... args)
{
    fmt::print("  {:<20}{}\n", name, fmt::format(format, std::forward<Args>(args)...));
}

void print_errors(const PreparedModel& model)
{
    const ReductionRecord& record = model.record;
    if (record.training_poses == 0)
        row("elastic error", "none: the elasticity of the basis is exact{}",
            std::holds_alternative<LinearElastic>(model.reduced.elastic) ? " for small displacements" : "");
    else
        row("elastic error",
            "{:.2f} % on {} held-out poses, {:.2f} % on {} trained ones (asked for: {:.2f} %)",
            100.0 * record.held_out_error, record.held_out_poses, 100.0 * record.training_error,
            record.training_poses, 100.0 * record.tolerance);
    for (std::size_t i = 0; i < record.ranks.size(); ++i)
        if (record.ranks[i] == model.rank())
            row("basis error", "{:.2f} % at this rank", 100.0 * record.rank_errors[i]);
}

} // namespace

std::string elasticity_text(const PreparedModel& model, const PreparedVolume& volume)
{
    const std::string name = elastic_name(model.reduced.elastic);
    if (volume.cubature.size() == 0) return name;
    return fmt::format("{} at {} of {} tets", name, volume.cubature.size(), volume.mesh.tet_count());
}

void print_model(const std::string& file, const PreparedModel& model, const PreparedVolume& volume)
{
    const Vec3 size = bounds(volume.mesh.vertices).sizes();
    fmt::print("{}: reduced model of {}, {} coordinates instead of {}\n", file, model.name, model.rank(),
               3 * volume.mesh.vertex_count());
    row("made from", "{} ({})", model.record.source, freshness_text(freshness(model.record, file)));
    row("settings", "{}", model.record.settings);
    row("body", "{} tets on {} vertices, {:.4g} x {:.4g} x {:.4g} m, {:.4g} kg ({} mass)",
        volume.mesh.tet_count(), volume.mesh.vertex_count(), size[0], size[1], size[2], model.tensors.mass,
        model.mass_kind == MassKind::Lumped ? "lumped" : "consistent");
    row("surface", "{} triangles on {} vertices{}", model.shown.rest.triangle_count(),
        model.shown.rest.vertex_count(), model.boundary ? ", embedded in the tets" : "");
    row("held", "{}",
        model.pinned ? fmt::format("{} vertices pinned", volume.pins.size()) : "by its frame only (no pins)");
    row("basis", "{}", model.record.basis);
    row("spectrum", "{}", frequency_range(model.record));
    row("elasticity", "{}", elasticity_text(model, volume));
    print_errors(model);
    std::error_code ignored;
    row("file", "{:.1f} MB", static_cast<double>(std::filesystem::file_size(file, ignored)) / 1e6);
}

std::string model_json(const std::string& file, const PreparedModel& model, const PreparedVolume& volume,
                       const StageTimes& times)
{
    const ReductionRecord& record = model.record;
    Json out = {
        {"file", file},
        {"kind", "reduced"},
        {"name", model.name},
        {"rank", model.rank()},
        {"source", record.source},
        {"stale", freshness_json(freshness(model.record, file))},
        {"settings", record.settings},
        {"inputs", fmt::format("{:016x}", record.inputs)},
        {"tets", volume.mesh.tet_count()},
        {"vertices", volume.mesh.vertex_count()},
        {"surface",
         {{"triangles", model.shown.rest.triangle_count()}, {"vertices", model.shown.rest.vertex_count()}}},
        {"mass", model.tensors.mass},
        {"mass_kind", model.mass_kind == MassKind::Lumped ? "lumped" : "consistent"},
        {"damping", {model.reduced.damping.mass, model.reduced.damping.stiffness}},
        {"pinned_vertices", volume.pins.size()},
        {"materials", materials_json(model.materials)},
        {"basis", record.basis},
        {"frequencies", json_of(frequencies(record.eigenvalues))},
        {"singular_values", json_of(record.singular_values)},
        {"elastic", elastic_name(model.reduced.elastic)},
        {"points", volume.cubature.size()},
        {"tolerance", record.tolerance},
        {"training_error", record.training_error},
        {"held_out_error", record.held_out_error},
        {"poses", {{"training", record.training_poses}, {"held_out", record.held_out_poses}}},
        {"error_by_points",
         {{"points", record.point_counts},
          {"training", record.training_errors},
          {"held_out", record.held_out_errors}}},
        {"error_by_rank", {{"rank", record.ranks}, {"error", record.rank_errors}}}};
    for (const StageTimes::Stage& stage : times.stages()) out["seconds"][stage.name] = stage.seconds;
    return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

void print_bones(const std::string& file, const BoneModel& model)
{
    const Vec3 size = bounds(model.shown.rest.vertices).sizes();
    fmt::print("{}: character {} of {} bones, {} coordinates\n", file, model.name, model.bones.size(),
               model.freedoms());
    row("made from", "{} ({})", model.record.source, freshness_text(freshness(model.record, file)));
    row("settings", "{}", model.record.settings);
    row("body", "{:.4g} x {:.4g} x {:.4g} m, {:.4g} kg", size[0], size[1], size[2], model.mass());
    row("surface", "{} triangles on {} vertices", model.shown.rest.triangle_count(),
        model.shown.rest.vertex_count());
    row("collides by", "{} triangles on {} vertices", model.collision.rest.triangle_count(),
        model.collision.rest.vertex_count());
    std::error_code ignored;
    row("file", "{:.1f} MB", static_cast<double>(std::filesystem::file_size(file, ignored)) / 1e6);

    std::size_t wide = 4;
    for (const PreparedBone& bone : model.bones) wide = std::max(wide, bone.name.size());
    fmt::print("  {:<{}}  {:<{}}  {:>9}  {:>4}  {:>9}  {:>6}\n", "bone", wide, "parent", wide, "mass", "rank",
               "lowest", "points");
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const PreparedBone& bone = model.bones[k];
        const VecX hz = rest_frequencies(bone);
        const auto joint = std::ranges::find(model.joints, static_cast<int>(k), &PreparedBoneJoint::b);
        fmt::print("  {:<{}}  {:<{}}  {:>6.3g} kg  {:>4}  {:>9}  {:>6}\n", bone.name, wide,
                   bone.parent < 0 ? "" : model.bones[static_cast<std::size_t>(bone.parent)].name, wide,
                   bone.tensors.mass, bone.rank(),
                   hz.size() == 0 ? std::string("rigid") : fmt::format("{:.3g} Hz", hz[0]),
                   joint == model.joints.end() ? 0 : joint->points.size());
    }
}

std::string bones_json(const std::string& file, const BoneModel& model, const StageTimes& times)
{
    const auto surface = [](const BoneSurface& s) {
        return Json{{"triangles", s.rest.triangle_count()}, {"vertices", s.rest.vertex_count()}};
    };
    Json out = {{"file", file},
                {"kind", "bones"},
                {"name", model.name},
                {"source", model.record.source},
                {"stale", freshness_json(freshness(model.record, file))},
                {"settings", model.record.settings},
                {"inputs", fmt::format("{:016x}", model.record.inputs)},
                {"mass", model.mass()},
                {"coordinates", model.freedoms()},
                {"materials", materials_json(model.materials)},
                {"surface", surface(model.shown)},
                {"collision", surface(model.collision)},
                {"bones", Json::array()},
                {"joints", Json::array()}};
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const PreparedBone& bone = model.bones[k];
        out["bones"].push_back(
            {{"name", bone.name},
             {"parent",
              bone.parent < 0 ? Json() : Json(model.bones[static_cast<std::size_t>(bone.parent)].name)},
             {"mass", bone.tensors.mass},
             {"rank", bone.rank()},
             {"elastic", elastic_name(bone.reduced.elastic)},
             {"damping", {bone.reduced.damping.mass, bone.reduced.damping.stiffness}},
             {"frequencies", json_of(rest_frequencies(bone))},
             {"skin_vertices", model.shown.skin[k].vertices.size()}});
    }
    for (const PreparedBoneJoint& joint : model.joints)
        out["joints"].push_back({{"a", model.bones[static_cast<std::size_t>(joint.a)].name},
                                 {"b", model.bones[static_cast<std::size_t>(joint.b)].name},
                                 {"points", joint.points.size()}});
    for (const StageTimes::Stage& stage : times.stages()) out["seconds"][stage.name] = stage.seconds;
    return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

void print_lattice(const std::string& file, const LatticeModel& model)
{
    const Vec3 size = bounds(model.shown.rest.vertices).sizes();
    fmt::print("{}: character {} in a lattice of {} vertices and {} cells, {} regions\n", file, model.name,
               model.lattice.vertices.size(), model.lattice.cells.size(), model.regions.size());
    row("made from", "{} ({})", model.record.source, freshness_text(freshness(model.record, file)));
    row("settings", "{}", model.record.settings);
    row("body", "{:.4g} x {:.4g} x {:.4g} m", size[0], size[1], size[2]);
    row("surface", "{} triangles on {} vertices", model.shown.rest.triangle_count(),
        model.shown.rest.vertex_count());
    row("collides by", "{} triangles on {} vertices", model.collision.rest.triangle_count(),
        model.collision.rest.vertex_count());
    row("bones", "{} on edges, {} held by points", model.lattice.bones.size(), model.held_bones.size());
    row("levels", "0 to {}, integrals on level {}", model.levels, model.integration_levels);
    for (const RegionParameters& material : model.materials)
        row("material", "{}: young {:.4g} Pa, poisson {:.3g}, {:.4g} kg/m^3", material.label,
            material.material.elastic.young_modulus, material.material.elastic.poisson_ratio,
            material.density);
    row("damping", "{:.3g} 1/s", model.settings.damping);
    std::error_code ignored;
    row("file", "{:.1f} MB", static_cast<double>(std::filesystem::file_size(file, ignored)) / 1e6);
}

std::string lattice_json(const std::string& file, const LatticeModel& model, const StageTimes& times)
{
    const auto surface = [](const LatticeSurface& s) {
        return Json{{"triangles", s.rest.triangle_count()}, {"vertices", s.rest.vertex_count()}};
    };
    Json out = {{"file", file},
                {"kind", "lattice"},
                {"name", model.name},
                {"source", model.record.source},
                {"stale", freshness_json(freshness(model.record, file))},
                {"settings", model.record.settings},
                {"inputs", fmt::format("{:016x}", model.record.inputs)},
                {"vertices", model.lattice.vertices.size()},
                {"cells", model.lattice.cells.size()},
                {"levels", model.levels},
                {"integration_levels", model.integration_levels},
                {"damping", model.settings.damping},
                {"materials", materials_json(model.materials)},
                {"surface", surface(model.shown)},
                {"collision", surface(model.collision)},
                {"joints", model.skeleton.joint_count()},
                {"bones", Json::array()},
                {"held_bones", Json::array()},
                {"regions", Json::array()}};
    for (const LatticeBone& bone : model.lattice.bones)
        out["bones"].push_back({{"name", bone.name}, {"edges", bone.vertices.size() - 1}});
    for (const HeldBone& bone : model.held_bones) out["held_bones"].push_back(bone.name);
    for (const LatticeRegion& region : model.regions) out["regions"].push_back(region.name);
    for (const StageTimes::Stage& stage : times.stages()) out["seconds"][stage.name] = stage.seconds;
    return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

void inspect_model(const std::string& file, ReportStyle style)
{
    if (model_kind(file) == "bones") {
        const BoneModel model = read_bone_model(file);
        if (style == ReportStyle::Json)
            fmt::print("{}\n", bones_json(file, model));
        else
            print_bones(file, model);
        return;
    }
    if (model_kind(file) == "lattice") {
        const LatticeModel model = read_lattice_model(file);
        if (style == ReportStyle::Json)
            fmt::print("{}\n", lattice_json(file, model));
        else
            print_lattice(file, model);
        return;
    }
    const auto [model, volume] = read_model_file(file);
    if (style == ReportStyle::Json)
        fmt::print("{}\n", model_json(file, model, volume));
    else
        print_model(file, model, volume);
}

} // namespace lithe::cli
