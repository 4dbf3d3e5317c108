#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "lithe/core/error.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {
namespace {

constexpr std::int32_t content_version = 2;
constexpr DataOptions packed{.packing = Packing::Deflate};

// --- writing -----------------------------------------------------------------------------------------------------

void write_surface(ArchiveWriter& out, const std::string& group, const ReducedSurface& surface)
{
    out.write(group + "/vertices", surface.rest.vertices, {.unit = "m"});
    out.write(group + "/triangles", surface.rest.triangles, packed);
    const Eigen::Map<const Eigen::MatrixXf> rows(surface.basis.data(), surface.basis.cols(),
                                                 surface.basis.rows());
    out.write(group + "/basis", rows);
    if (const VertexField* color = find_color(surface.rest.fields))
        out.write(group + "/color", color->values);
}

void write_materials(ArchiveWriter& out, const std::vector<RegionParameters>& materials)
{
    constexpr double absent = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int32_t> labels;
    std::vector<std::string> kinds;
    MatX numbers(5, static_cast<Index>(materials.size()));
    for (const RegionParameters& region : materials) {
        const MaterialParameters& material = region.material;
        numbers.col(static_cast<Index>(labels.size())) << material.elastic.young_modulus,
            material.elastic.poisson_ratio, region.density, material.mooney_ratio.value_or(absent),
            material.limit_stretch.value_or(absent);
        labels.push_back(region.label);
        kinds.emplace_back(material_name(material.kind));
    }
    out.write("material/labels", labels);
    out.write_texts("material/kinds", kinds);
    out.write("material/young", VecX(numbers.row(0).transpose()), {.unit = "Pa"});
    out.write("material/poisson", VecX(numbers.row(1).transpose()));
    out.write("material/density", VecX(numbers.row(2).transpose()), {.unit = "kg/m^3"});
    out.write("material/mooney_ratio", VecX(numbers.row(3).transpose()));
    out.write("material/limit_stretch", VecX(numbers.row(4).transpose()));
}

void write_elastic(ArchiveWriter& out, const ElasticModel& elastic)
{
    if (const auto* linear = std::get_if<LinearElastic>(&elastic)) {
        out.write_text("elastic/kind", "linear");
        out.write("elastic/stiffness", linear->K);
    } else if (const auto* polynomial = std::get_if<StvkPolynomial>(&elastic)) {
        const StvkPolynomial::Data data = polynomial->data();
        out.write_text("elastic/kind", "stvk_polynomial");
        out.write("elastic/stiffness", data.linear);
        out.write("elastic/cubic", data.cubic);
        out.write("elastic/quartic", data.quartic);
    } else {
        const CubatureElastic::Data data = std::get<CubatureElastic>(elastic).data();
        out.write_text("elastic/kind", "cubature");
        out.write("elastic/deformation", data.B);
        out.write("elastic/weights", data.weight, {.unit = "m^3"});
        out.write("elastic/regions", data.region);
    }
}

void write_tensors(ArchiveWriter& out, const FrameTensors& tensors)
{
    out.write("tensors/mass", tensors.mass, {.unit = "kg"});
    out.write("tensors/centre", tensors.centre, {.unit = "m"});
    out.write("tensors/linear", MatX(tensors.linear));
    out.write("tensors/inertia", VecX(tensors.J0));
    out.write("tensors/first", MatX(tensors.first));
    out.write("tensors/second", tensors.second, packed);
}

void write_record(ArchiveWriter& out, const ReductionRecord& record)
{
    const auto counts = [](const std::vector<Index>& values) {
        return std::vector<std::int64_t>(values.begin(), values.end());
    };
    out.write_text("record/source", record.source);
    out.write_text("record/settings", record.settings);
    out.write_text("record/basis", record.basis);
    out.write("record/eigenvalues", record.eigenvalues, {.unit = "1/s^2"});
    out.write("record/singular_values", record.singular_values);
    out.write("record/poses", counts({record.training_poses, record.held_out_poses}));
    out.write("record/tolerance", record.tolerance);
    out.write("record/training_error", record.training_error);
    out.write("record/held_out_error", record.held_out_error);
    out.write("record/point_counts", counts(record.point_counts));
    out.write("record/training_errors", record.training_errors);
    out.write("record/held_out_errors", record.held_out_errors);
    out.write("record/ranks", counts(record.ranks));
    out.write("record/rank_errors", record.rank_errors);
}

void write_volume(ArchiveWriter& out, const PreparedVolume& volume)
{
    out.write("volume/vertices", volume.mesh.vertices, {.unit = "m"});
    out.write("volume/tets", volume.mesh.tets, packed);
    out.write("volume/regions", volume.mesh.regions, packed);
    out.write("volume/pins", volume.pins, packed);
    out.write("volume/basis", volume.U);
    out.write("volume/cubature_tets", volume.cubature.tets);
    out.write("volume/cubature_weights", volume.cubature.weights);
    out.write("volume/embedding_corners", volume.embedding.corners, packed);
    out.write("volume/embedding_weights", volume.embedding.weights);
}

// --- reading -----------------------------------------------------------------------------------------------------

/// Reads with checks of the content: what the container cannot know.
class ModelReader {
public:
    explicit ModelReader(const std::filesystem::path& file) : in_(file), file_(file)
    {
        if (!in_.has("model/kind"))
            fail("model/kind", "is missing: this is no prepared model; make one with `lithe prepare`");
        if (const std::string kind = in_.read_text("model/kind"); kind != "reduced")
            fail("model/kind", "is '" + kind + "', which this version does not know");
        if (const auto version = in_.read<std::int32_t>("model/version"); version != content_version)
            fail("model/version",
                 fmt::format("is {}, this version of Lithe reads {}; prepare the model again", version,
                             content_version));
    }

    const ArchiveReader& archive() const { return in_; }

    [[noreturn]] void fail(std::string_view path, const std::string& what) const
    {
        throw InputError({.file = file_.string()}, fmt::format("'{}' {}", path, what));
    }

    /// Numbers that must all be finite.
    template <class T>
    T numbers(std::string_view path, const Shape& shape) const
    {
        T values = in_.read<T>(path, shape);
        if (!values.allFinite()) fail(path, "has numbers that are not finite; prepare the model again");
        return values;
    }
    double number(std::string_view path) const
    {
        const auto value = in_.read<double>(path);
        if (!std::isfinite(value)) fail(path, "is not finite; prepare the model again");
        return value;
    }

    /// Indices that must all be in [0, limit).
    template <class T>
    T indices(const std::string& path, const Shape& shape, Index limit) const
    {
        T values = in_.read<T>(path, shape);
        for (Index i = 0; i < static_cast<Index>(values.size()); ++i)
            if (values.data()[i] < 0 || values.data()[i] >= limit)
                fail(path, fmt::format("refers to {}, but there are {} only", values.data()[i], limit));
        return values;
    }

    std::vector<Index> counts(std::string_view path) const
    {
        const auto values = in_.read<std::vector<std::int64_t>>(path, {});
        return {values.begin(), values.end()};
    }

private:
    ArchiveReader in_;
    std::filesystem::path file_;
};

ReducedSurface read_surface(const ModelReader& in, const std::string& group, Index r)
{
    ReducedSurface out;
    out.rest.vertices = in.numbers<Points>(group + "/vertices", {3, any_size});
    const Index n = out.rest.vertex_count();
    out.rest.triangles = in.indices<Triangles>(group + "/triangles", {3, any_size}, n);
    const auto rows = in.numbers<Eigen::MatrixXf>(group + "/basis", {r, 3 * n});
    out.basis = Eigen::Map<const SurfaceBasis>(rows.data(), 3 * n, r);
    if (in.archive().has(group + "/color"))
        out.rest.fields.push_back({"color", in.numbers<MatX>(group + "/color", {3, n})});
    return out;
}

std::vector<RegionParameters> read_materials(const ModelReader& in)
{
    const auto labels = in.archive().read<std::vector<std::int32_t>>("material/labels", {});
    const Index n = static_cast<Index>(labels.size());
    if (n == 0) in.fail("material/labels", "is empty; a model needs a material");
    const std::vector<std::string> kinds = in.archive().read_texts("material/kinds", n);
    const VecX young = in.numbers<VecX>("material/young", {n});
    const VecX poisson = in.numbers<VecX>("material/poisson", {n});
    const VecX density = in.numbers<VecX>("material/density", {n});
    const VecX mooney = in.archive().read<VecX>("material/mooney_ratio", {n});
    const VecX stretch = in.archive().read<VecX>("material/limit_stretch", {n});
    const auto given = [](double value) {
        return std::isnan(value) ? std::nullopt : std::optional<double>(value);
    };
    std::vector<RegionParameters> out;
    for (Index i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out.push_back({.label = labels[at],
                       .material = {.kind = material_kind(kinds[at]),
                                    .elastic = {young[i], poisson[i]},
                                    .mooney_ratio = given(mooney[i]),
                                    .limit_stretch = given(stretch[i])},
                       .density = density[i]});
    }
    return out;
}

ElasticModel read_elastic(const ModelReader& in, const std::vector<RegionParameters>& materials, Index r)
{
    const std::string kind = in.archive().read_text("elastic/kind");
    if (kind == "linear") return LinearElastic{in.numbers<MatX>("elastic/stiffness", {r, r})};
    if (kind == "stvk_polynomial")
        return StvkPolynomial({.linear = in.numbers<MatX>("elastic/stiffness", {r, r}),
                               .cubic = in.archive().read<std::vector<double>>("elastic/cubic", {}),
                               .quartic = in.archive().read<std::vector<double>>("elastic/quartic", {})});
    if (kind != "cubature") in.fail("elastic/kind", "is '" + kind + "', which this version does not know");
    CubatureElastic::Data data{
        .B = in.numbers<MatX>("elastic/deformation", {any_size, r}),
        .weight = in.numbers<VecX>("elastic/weights", {}),
        .region = in.indices<std::vector<int>>("elastic/regions", {}, static_cast<Index>(materials.size())),
        .materials = {}};
    for (const RegionMaterial& region : region_materials(materials))
        data.materials.push_back(region.material);
    return CubatureElastic(data);
}

FrameTensors read_tensors(const ModelReader& in, const MatX& M)
{
    const Index r = M.rows();
    FrameTensors out;
    out.mass = in.number("tensors/mass");
    out.centre = in.numbers<Vec3>("tensors/centre", {3});
    out.linear = in.numbers<MatX>("tensors/linear", {3, r});
    out.J0 = in.numbers<VecX>("tensors/inertia", {6});
    out.first = in.numbers<MatX>("tensors/first", {9, r});
    out.second = in.numbers<MatX>("tensors/second", {9 * r, r});
    out.Mq = M;
    return out;
}

ReductionRecord read_record(const ModelReader& in)
{
    const ArchiveReader& archive = in.archive();
    const std::vector<Index> poses = in.counts("record/poses");
    if (poses.size() != 2) in.fail("record/poses", "must be two counts");
    return {.source = archive.read_text("record/source"),
            .settings = archive.read_text("record/settings"),
            .basis = archive.read_text("record/basis"),
            .inputs = archive.info().inputs,
            .eigenvalues = archive.read<VecX>("record/eigenvalues", {}),
            .singular_values = archive.read<VecX>("record/singular_values", {}),
            .training_poses = poses[0],
            .held_out_poses = poses[1],
            .tolerance = archive.read<double>("record/tolerance"),
            .training_error = archive.read<double>("record/training_error"),
            .held_out_error = archive.read<double>("record/held_out_error"),
            .point_counts = in.counts("record/point_counts"),
            .training_errors = archive.read<std::vector<double>>("record/training_errors", {}),
            .held_out_errors = archive.read<std::vector<double>>("record/held_out_errors", {}),
            .ranks = in.counts("record/ranks"),
            .rank_errors = archive.read<std::vector<double>>("record/rank_errors", {})};
}

MassKind read_mass_kind(const ModelReader& in)
{
    const std::string kind = in.archive().read_text("model/mass");
    if (kind != "consistent" && kind != "lumped")
        in.fail("model/mass", "is '" + kind + "'; it must be consistent or lumped");
    return kind == "lumped" ? MassKind::Lumped : MassKind::Consistent;
}

ReducedModel read_reduced(const ModelReader& in, const std::vector<RegionParameters>& materials)
{
    MatX M = in.numbers<MatX>("reduced/mass", {any_size, any_size});
    const Index r = M.rows();
    if (r == 0 || M.cols() != r) in.fail("reduced/mass", "is not a square matrix");
    const Eigen::Vector2d damping = in.numbers<Eigen::Vector2d>("reduced/damping", {2});
    return {.M = std::move(M),
            .elastic = read_elastic(in, materials, r),
            .damping = {.mass = damping[0], .stiffness = damping[1]}};
}

PreparedModel read_model(const ModelReader& in)
{
    std::vector<RegionParameters> materials = read_materials(in);
    ReducedModel reduced = read_reduced(in, materials);
    const Index r = reduced.rank();
    FrameTensors tensors = read_tensors(in, reduced.M);
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

PreparedVolume read_volume(const ModelReader& in)
{
    PreparedVolume out;
    out.mesh.vertices = in.numbers<Points>("volume/vertices", {3, any_size});
    const Index n = out.mesh.vertex_count();
    out.mesh.tets = in.indices<Tets>("volume/tets", {4, any_size}, n);
    out.mesh.regions = in.archive().read<std::vector<int>>("volume/regions", {});
    if (!out.mesh.regions.empty() && static_cast<Index>(out.mesh.regions.size()) != out.mesh.tet_count())
        in.fail("volume/regions", "must be empty or have one label per tet");
    out.pins = in.indices<std::vector<int>>("volume/pins", {}, n);
    out.U = in.numbers<MatX>("volume/basis", {3 * n, any_size});
    out.cubature.tets = in.indices<std::vector<int>>("volume/cubature_tets", {}, out.mesh.tet_count());
    out.cubature.weights =
        in.numbers<VecX>("volume/cubature_weights", {static_cast<Index>(out.cubature.tets.size())});
    out.embedding.corners = in.indices<Tets>("volume/embedding_corners", {4, any_size}, n);
    out.embedding.weights = in.numbers<Eigen::Matrix<double, 4, Eigen::Dynamic>>(
        "volume/embedding_weights", {4, out.embedding.corners.cols()});
    return out;
}

} // namespace

void write_model(const std::filesystem::path& file, const PreparedModel& model, const PreparedVolume& volume)
{
    ArchiveWriter out;
    out.write_text("model/kind", "reduced");
    out.write("model/version", content_version);
    out.write_text("model/name", model.name);
    out.write("model/pinned", static_cast<std::int32_t>(model.pinned));
    out.write_text("model/mass", model.mass_kind == MassKind::Lumped ? "lumped" : "consistent");
    out.write("model/contact_stiffness", model.contact_stiffness, {.unit = "Pa/m"});
    write_materials(out, model.materials);
    out.write("reduced/mass", model.reduced.M, {.unit = "kg"});
    out.write("reduced/damping",
              Eigen::Vector2d(model.reduced.damping.mass, model.reduced.damping.stiffness));
    write_elastic(out, model.reduced.elastic);
    write_tensors(out, model.tensors);
    write_surface(out, "surface", model.shown);
    if (model.boundary) write_surface(out, "boundary", *model.boundary);
    write_record(out, model.record);
    write_volume(out, volume);
    out.save(file, model.record.inputs);
}

PreparedModel read_model(const std::filesystem::path& file)
{
    return read_model(ModelReader(file));
}

ModelFile read_model_file(const std::filesystem::path& file)
{
    const ModelReader in(file);
    return {read_model(in), read_volume(in)};
}

} // namespace lithe
