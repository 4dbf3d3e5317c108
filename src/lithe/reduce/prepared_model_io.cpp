#include "lithe/reduce/model_io.hpp"

namespace lithe {
namespace {

using namespace model_io;

constexpr std::int32_t content_version = 2;

// --- writing -----------------------------------------------------------------------------------------------------

void write_surface(ArchiveWriter& out, const std::string& group, const ReducedSurface& surface)
{
    write_mesh(out, group, surface.rest);
    write_rows(out, group + "/basis", surface.basis);
}

// --- reading -----------------------------------------------------------------------------------------------------

ReducedSurface read_surface(const ModelReader& in, const std::string& group, Index r)
{
    TriangleMesh rest = read_mesh(in, group);
    SurfaceBasis basis = read_rows(in, group + "/basis", rest.vertex_count(), r);
    return {.rest = std::move(rest), .basis = std::move(basis)};
}

MassKind read_mass_kind(const ModelReader& in)
{
    const std::string kind = in.archive().read_text("model/mass");
    if (kind != "consistent" && kind != "lumped")
        in.fail("model/mass", "is '" + kind + "'; it must be consistent or lumped");
    return kind == "lumped" ? MassKind::Lumped : MassKind::Consistent;
}

PreparedModel read_model(const ModelReader& in)
{
    in.require("reduced", content_version);
    std::vector<RegionParameters> materials = read_materials(in);
    ReducedModel reduced = read_reduced(in, "", materials);
    const Index r = reduced.rank();
    if (r == 0) in.fail("reduced/mass", "is empty");
    FrameTensors tensors = read_tensors(in, "", reduced.M);
    PreparedModel out{.name = in.archive().read_text("model/name"),
                      .reduced = std::move(reduced),
                      .tensors = std::move(tensors),
                      .shown = read_surface(in, "surface", r),
                      .boundary = {},
                      .contact_stiffness = in.number("model/contact_stiffness"),
                      .pinned = in.archive().read<std::int32_t>("model/pinned") != 0,
                      .mass_kind = read_mass_kind(in),
                      .materials = std::move(materials),
                      .record = read_record(in)};
    if (in.archive().has("boundary")) out.boundary = read_surface(in, "boundary", r);
    if (!(out.contact_stiffness > 0.0)) in.fail("model/contact_stiffness", "is not above zero");
    return out;
}

} // namespace

void write_model(const std::filesystem::path& file, const PreparedModel& model, const PreparedVolume& volume)
{
    ArchiveWriter out;
    write_head(out, "reduced", content_version, model.name);
    out.write("model/pinned", static_cast<std::int32_t>(model.pinned));
    out.write_text("model/mass", model.mass_kind == MassKind::Lumped ? "lumped" : "consistent");
    out.write("model/contact_stiffness", model.contact_stiffness, {.unit = "Pa/m"});
    write_materials(out, model.materials);
    write_reduced(out, "", model.reduced);
    write_tensors(out, "", model.tensors);
    write_surface(out, "surface", model.shown);
    if (model.boundary) write_surface(out, "boundary", *model.boundary);
    write_record(out, model.record);
    write_volume(out, "", volume);
    out.save(file, model.record.inputs);
}

PreparedModel read_model(const std::filesystem::path& file)
{
    return read_model(ModelReader(file));
}

ModelFile read_model_file(const std::filesystem::path& file)
{
    const ModelReader in(file);
    return {read_model(in), read_volume(in, "")};
}

} // namespace lithe
