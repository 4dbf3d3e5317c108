#include "lithe/reduce/model_io.hpp"

#include <limits>

namespace lithe::model_io {
namespace {

void write_elastic(ArchiveWriter& out, const std::string& at, const ElasticModel& elastic)
{
    if (const auto* linear = std::get_if<LinearElastic>(&elastic)) {
        out.write_text(at + "elastic/kind", "linear");
        out.write(at + "elastic/stiffness", linear->K);
    } else if (const auto* polynomial = std::get_if<StvkPolynomial>(&elastic)) {
        const StvkPolynomial::Data data = polynomial->data();
        out.write_text(at + "elastic/kind", "stvk_polynomial");
        out.write(at + "elastic/stiffness", data.linear);
        out.write(at + "elastic/cubic", data.cubic);
        out.write(at + "elastic/quartic", data.quartic);
    } else {
        const CubatureElastic::Data data = std::get<CubatureElastic>(elastic).data();
        out.write_text(at + "elastic/kind", "cubature");
        out.write(at + "elastic/deformation", data.B);
        out.write(at + "elastic/weights", data.weight, {.unit = "m^3"});
        out.write(at + "elastic/regions", data.region);
    }
}

ElasticModel read_elastic(const ModelReader& in, const std::string& at,
                          const std::vector<RegionParameters>& materials, Index r)
{
    const std::string kind = in.archive().read_text(at + "elastic/kind");
    if (kind == "linear") return LinearElastic{in.numbers<MatX>(at + "elastic/stiffness", {r, r})};
    if (kind == "stvk_polynomial")
        return StvkPolynomial(
            {.linear = in.numbers<MatX>(at + "elastic/stiffness", {r, r}),
             .cubic = in.archive().read<std::vector<double>>(at + "elastic/cubic", {}),
             .quartic = in.archive().read<std::vector<double>>(at + "elastic/quartic", {})});
    if (kind != "cubature")
        in.fail(at + "elastic/kind", "is '" + kind + "', which this version does not know");
    CubatureElastic::Data data{.B = in.numbers<MatX>(at + "elastic/deformation", {any_size, r}),
                               .weight = in.numbers<VecX>(at + "elastic/weights", {}),
                               .region = in.indices<std::vector<int>>(at + "elastic/regions", {},
                                                                      static_cast<Index>(materials.size())),
                               .materials = {}};
    for (const RegionMaterial& region : region_materials(materials))
        data.materials.push_back(region.material);
    return CubatureElastic(data);
}

} // namespace

// --- writing -----------------------------------------------------------------------------------------------------

void write_head(ArchiveWriter& out, std::string_view kind, std::int32_t version, const std::string& name)
{
    out.write_text("model/kind", kind);
    out.write("model/version", version);
    out.write_text("model/name", name);
}

void write_mesh(ArchiveWriter& out, const std::string& group, const TriangleMesh& mesh)
{
    out.write(group + "/vertices", mesh.vertices, {.unit = "m"});
    out.write(group + "/triangles", mesh.triangles, packed);
    if (const VertexField* color = find_color(mesh.fields)) out.write(group + "/color", color->values);
}

void write_rows(ArchiveWriter& out, const std::string& path, const SurfaceBasis& rows)
{
    out.write(path, Eigen::Map<const Eigen::MatrixXf>(rows.data(), rows.cols(), rows.rows()));
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

void write_reduced(ArchiveWriter& out, const std::string& at, const ReducedModel& reduced)
{
    out.write(at + "reduced/mass", reduced.M, {.unit = "kg"});
    out.write(at + "reduced/damping", Eigen::Vector2d(reduced.damping.mass, reduced.damping.stiffness));
    write_elastic(out, at, reduced.elastic);
}

void write_tensors(ArchiveWriter& out, const std::string& at, const FrameTensors& tensors)
{
    out.write(at + "tensors/mass", tensors.mass, {.unit = "kg"});
    out.write(at + "tensors/centre", tensors.centre, {.unit = "m"});
    out.write(at + "tensors/linear", MatX(tensors.linear));
    out.write(at + "tensors/inertia", VecX(tensors.J0));
    out.write(at + "tensors/first", MatX(tensors.first));
    out.write(at + "tensors/second", tensors.second, packed);
}

void write_volume(ArchiveWriter& out, const std::string& at, const PreparedVolume& volume)
{
    out.write(at + "volume/vertices", volume.mesh.vertices, {.unit = "m"});
    out.write(at + "volume/tets", volume.mesh.tets, packed);
    out.write(at + "volume/regions", volume.mesh.regions, packed);
    out.write(at + "volume/pins", volume.pins, packed);
    out.write(at + "volume/basis", volume.U);
    out.write(at + "volume/cubature_tets", volume.cubature.tets);
    out.write(at + "volume/cubature_weights", volume.cubature.weights);
    out.write(at + "volume/embedding_corners", volume.embedding.corners, packed);
    out.write(at + "volume/embedding_weights", volume.embedding.weights);
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

// --- reading -----------------------------------------------------------------------------------------------------

std::string ModelReader::kind() const
{
    if (!in_.has("model/kind"))
        fail("model/kind", "is missing: this is no prepared model; make one with `lithe prepare`");
    return in_.read_text("model/kind");
}

void ModelReader::require(std::string_view wanted, std::int32_t version) const
{
    const std::string found = kind();
    if (found != wanted && (found == "bones" || found == "reduced"))
        fail("model/kind", found == "bones"
                               ? "is 'bones': a character of several bones, where a model of one "
                                 "body is needed"
                               : "is 'reduced': a model of one body, where a character of "
                                 "several bones is needed; make one with `lithe prepare --bones`");
    if (found != wanted) fail("model/kind", "is '" + found + "', which this version does not know");
    if (const auto written = in_.read<std::int32_t>("model/version"); written != version)
        fail("model/version",
             fmt::format("is {}, this version of Lithe reads {}; prepare the model again", written, version));
}

double ModelReader::number(std::string_view path) const
{
    const auto value = in_.read<double>(path);
    if (!std::isfinite(value)) fail(path, "is not finite; prepare the model again");
    return value;
}

std::vector<Index> ModelReader::counts(std::string_view path) const
{
    const auto values = in_.read<std::vector<std::int64_t>>(path, {});
    return {values.begin(), values.end()};
}

TriangleMesh read_mesh(const ModelReader& in, const std::string& group)
{
    TriangleMesh out;
    out.vertices = in.numbers<Points>(group + "/vertices", {3, any_size});
    const Index n = out.vertex_count();
    out.triangles = in.indices<Triangles>(group + "/triangles", {3, any_size}, n);
    if (in.archive().has(group + "/color"))
        out.fields.push_back({"color", in.numbers<MatX>(group + "/color", {3, n})});
    return out;
}

SurfaceBasis read_rows(const ModelReader& in, const std::string& path, Index vertices, Index rank)
{
    const auto rows = in.numbers<Eigen::MatrixXf>(path, {rank, 3 * vertices});
    return Eigen::Map<const SurfaceBasis>(rows.data(), 3 * vertices, rank);
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

ReducedModel read_reduced(const ModelReader& in, const std::string& at,
                          const std::vector<RegionParameters>& materials)
{
    MatX M = in.numbers<MatX>(at + "reduced/mass", {any_size, any_size});
    const Index r = M.rows();
    if (M.cols() != r) in.fail(at + "reduced/mass", "is not a square matrix");
    const Eigen::Vector2d damping = in.numbers<Eigen::Vector2d>(at + "reduced/damping", {2});
    return {.M = std::move(M),
            .elastic = read_elastic(in, at, materials, r),
            .damping = {.mass = damping[0], .stiffness = damping[1]}};
}

FrameTensors read_tensors(const ModelReader& in, const std::string& at, const MatX& M)
{
    const Index r = M.rows();
    FrameTensors out;
    out.mass = in.number(at + "tensors/mass");
    out.centre = in.numbers<Vec3>(at + "tensors/centre", {3});
    out.linear = in.numbers<MatX>(at + "tensors/linear", {3, r});
    out.J0 = in.numbers<VecX>(at + "tensors/inertia", {6});
    out.first = in.numbers<MatX>(at + "tensors/first", {9, r});
    out.second = in.numbers<MatX>(at + "tensors/second", {9 * r, r});
    out.Mq = M;
    return out;
}

PreparedVolume read_volume(const ModelReader& in, const std::string& at)
{
    PreparedVolume out;
    out.mesh.vertices = in.numbers<Points>(at + "volume/vertices", {3, any_size});
    const Index n = out.mesh.vertex_count();
    out.mesh.tets = in.indices<Tets>(at + "volume/tets", {4, any_size}, n);
    out.mesh.regions = in.archive().read<std::vector<int>>(at + "volume/regions", {});
    if (!out.mesh.regions.empty() && static_cast<Index>(out.mesh.regions.size()) != out.mesh.tet_count())
        in.fail(at + "volume/regions", "must be empty or have one label per tet");
    out.pins = in.indices<std::vector<int>>(at + "volume/pins", {}, n);
    out.U = in.numbers<MatX>(at + "volume/basis", {3 * n, any_size});
    out.cubature.tets = in.indices<std::vector<int>>(at + "volume/cubature_tets", {}, out.mesh.tet_count());
    out.cubature.weights =
        in.numbers<VecX>(at + "volume/cubature_weights", {static_cast<Index>(out.cubature.tets.size())});
    out.embedding.corners = in.indices<Tets>(at + "volume/embedding_corners", {4, any_size}, n);
    out.embedding.weights = in.numbers<Eigen::Matrix<double, 4, Eigen::Dynamic>>(
        at + "volume/embedding_weights", {4, out.embedding.corners.cols()});
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

} // namespace lithe::model_io
