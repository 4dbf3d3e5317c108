#include "lithe/reduce/bone_model.hpp"
#include "lithe/reduce/model_io.hpp"

namespace lithe {
namespace {

using namespace model_io;

constexpr std::int32_t content_version = 1;
constexpr double weight_rounding = 1e-9; ///< by which the weights of a vertex may miss one

std::string numbered(const char* group, std::size_t k)
{
    return fmt::format("{}/{}/", group, k);
}

// --- writing -----------------------------------------------------------------------------------------------------

void write_skin(ArchiveWriter& out, const std::string& group, const SkinBone& skin)
{
    out.write(group + "/vertices", skin.vertices, packed);
    out.write(group + "/weights", skin.weights);
    out.write(group + "/rest", skin.rest, {.unit = "m"});
    write_rows(out, group + "/basis", skin.basis);
}

/// Points as the columns of one matrix, their rows as those of another.
void write_points(ArchiveWriter& out, const std::string& group, const PreparedBoneJoint& joint,
                  BonePoint PreparedBoneJoint::Point::* side)
{
    const auto count = static_cast<Index>(joint.points.size());
    const Index r = count > 0 ? (joint.points.front().*side).S.cols() : 0;
    Points X(3, count);
    MatX S(3 * count, r);
    for (Index p = 0; p < count; ++p) {
        const BonePoint& point = joint.points[static_cast<std::size_t>(p)].*side;
        X.col(p) = point.X;
        S.middleRows(3 * p, 3) = point.S;
    }
    out.write(group + "/rest", X, {.unit = "m"});
    out.write(group + "/basis", S);
}

void write_bones(ArchiveWriter& out, const BoneModel& model)
{
    std::vector<std::string> names;
    std::vector<std::int32_t> parents;
    for (const PreparedBone& bone : model.bones) {
        names.push_back(bone.name);
        parents.push_back(bone.parent);
    }
    out.write_texts("bones/names", names);
    out.write("bones/parents", parents);
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const std::string at = numbered("bone", k);
        write_reduced(out, at, model.bones[k].reduced);
        write_tensors(out, at, model.bones[k].tensors);
        write_skin(out, at + "shown", model.shown.skin[k]);
        write_skin(out, at + "collision", model.collision.skin[k]);
        if (model.bones[k].volume) write_volume(out, at, *model.bones[k].volume);
    }
}

void write_joints(ArchiveWriter& out, const std::vector<PreparedBoneJoint>& joints)
{
    Eigen::Matrix<std::int32_t, 2, Eigen::Dynamic> bones(2, static_cast<Index>(joints.size()));
    for (std::size_t k = 0; k < joints.size(); ++k) {
        bones.col(static_cast<Index>(k)) << joints[k].a, joints[k].b;
        write_points(out, numbered("joint", k) + "a", joints[k], &PreparedBoneJoint::Point::a);
        write_points(out, numbered("joint", k) + "b", joints[k], &PreparedBoneJoint::Point::b);
    }
    out.write("joints/bones", bones);
}

// --- reading -----------------------------------------------------------------------------------------------------

std::vector<PreparedBone> read_bones(const ModelReader& in, const std::vector<RegionParameters>& materials)
{
    const std::vector<std::string> names = in.archive().read_texts("bones/names");
    if (names.empty()) in.fail("bones/names", "is empty; a character needs a bone");
    const auto parents =
        in.archive().read<std::vector<std::int32_t>>("bones/parents", {static_cast<Index>(names.size())});
    std::vector<PreparedBone> out;
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (parents[k] < -1 || parents[k] >= static_cast<int>(k))
            in.fail("bones/parents",
                    fmt::format("has {} for bone {}: parents come before their children", parents[k], k));
        const std::string at = numbered("bone", k);
        PreparedBone bone{.name = names[k],
                          .parent = parents[k],
                          .reduced = read_reduced(in, at, materials),
                          .tensors = {},
                          .volume = nullptr};
        bone.tensors = read_tensors(in, at, bone.reduced.M);
        if (!(bone.tensors.mass > 0.0)) in.fail(at + "tensors/mass", "is not above zero");
        out.push_back(std::move(bone));
    }
    return out;
}

SkinBone read_skin(const ModelReader& in, const std::string& group, Index vertex_count, Index rank)
{
    SkinBone out;
    out.vertices = in.indices<std::vector<int>>(group + "/vertices", {}, vertex_count);
    for (std::size_t i = 1; i < out.vertices.size(); ++i)
        if (out.vertices[i] <= out.vertices[i - 1]) in.fail(group + "/vertices", "is not rising");
    const auto n = static_cast<Index>(out.vertices.size());
    out.weights = in.numbers<VecX>(group + "/weights", {n});
    if (n > 0 && !(out.weights.minCoeff() > 0.0))
        in.fail(group + "/weights", "has a weight that is not above zero");
    out.rest = in.numbers<Points>(group + "/rest", {3, n});
    out.basis = read_rows(in, group + "/basis", n, rank);
    return out;
}

/// Nothing in files that were written before bones kept their tets.
void read_volumes(const ModelReader& in, BoneModel& model)
{
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const std::string at = numbered("bone", k);
        if (!in.archive().has(at + "volume")) continue;
        PreparedVolume volume = read_volume(in, at);
        if (volume.U.cols() != model.bones[k].rank())
            in.fail(at + "volume/basis", fmt::format("has {} columns, and the bone {} coordinates",
                                                     volume.U.cols(), model.bones[k].rank()));
        if (volume.embedding.point_count() != static_cast<Index>(model.shown.skin[k].vertices.size()))
            in.fail(at + "volume/embedding_corners", "is not of the vertices that follow the bone");
        model.bones[k].volume = std::make_shared<const PreparedVolume>(std::move(volume));
    }
}

BoneSurface read_surface(const ModelReader& in, const std::string& name,
                         const std::vector<PreparedBone>& bones)
{
    BoneSurface out{.rest = read_mesh(in, name), .skin = {}};
    VecX sum = VecX::Zero(out.rest.vertex_count());
    for (std::size_t k = 0; k < bones.size(); ++k) {
        out.skin.push_back(
            read_skin(in, numbered("bone", k) + name, out.rest.vertex_count(), bones[k].rank()));
        sum(out.skin.back().vertices) += out.skin.back().weights;
    }
    for (Index v = 0; v < sum.size(); ++v)
        if (!(std::abs(sum[v] - 1.0) < weight_rounding))
            in.fail(
                name + "/vertices",
                fmt::format("vertex {}: its weights sum to {:.6g}, not to one; prepare the character again",
                            v, sum[v]));
    return out;
}

std::vector<BonePoint> read_points(const ModelReader& in, const std::string& group, Index rank)
{
    const Points X = in.numbers<Points>(group + "/rest", {3, any_size});
    if (X.cols() == 0) in.fail(group + "/rest", "is empty; a joint needs a point");
    const MatX S = in.numbers<MatX>(group + "/basis", {3 * X.cols(), rank});
    std::vector<BonePoint> out;
    for (Index p = 0; p < X.cols(); ++p) out.push_back({X.col(p), S.middleRows(3 * p, 3)});
    return out;
}

std::vector<PreparedBoneJoint> read_joints(const ModelReader& in, const std::vector<PreparedBone>& bones)
{
    using Pairs = Eigen::Matrix<std::int32_t, 2, Eigen::Dynamic>;
    const auto pairs = in.indices<Pairs>("joints/bones", {2, any_size}, static_cast<Index>(bones.size()));
    std::vector<PreparedBoneJoint> out;
    for (Index k = 0; k < pairs.cols(); ++k) {
        const std::string at = numbered("joint", static_cast<std::size_t>(k));
        PreparedBoneJoint joint{.a = pairs(0, k), .b = pairs(1, k), .points = {}};
        if (joint.a == joint.b)
            in.fail("joints/bones", fmt::format("joint {} holds bone {} to itself", k, joint.a));
        const auto a = read_points(in, at + "a", bones[static_cast<std::size_t>(joint.a)].rank());
        const auto b = read_points(in, at + "b", bones[static_cast<std::size_t>(joint.b)].rank());
        if (a.size() != b.size())
            in.fail(at + "b/rest", fmt::format("has {} points, and the other side {}", b.size(), a.size()));
        for (std::size_t p = 0; p < a.size(); ++p) joint.points.push_back({a[p], b[p]});
        out.push_back(std::move(joint));
    }
    return out;
}

} // namespace

void write_bone_model(const std::filesystem::path& file, const BoneModel& model)
{
    LITHE_ASSERT(model.shown.skin.size() == model.bones.size() &&
                 model.collision.skin.size() == model.bones.size());
    ArchiveWriter out;
    write_head(out, "bones", content_version, model.name);
    write_materials(out, model.materials);
    write_bones(out, model);
    write_joints(out, model.joints);
    write_mesh(out, "shown", model.shown.rest);
    write_mesh(out, "collision", model.collision.rest);
    write_record(out, model.record);
    out.save(file, model.record.inputs);
}

BoneModel read_bone_model(const std::filesystem::path& file)
{
    const ModelReader in(file);
    in.require("bones", content_version);
    BoneModel out;
    out.name = in.archive().read_text("model/name");
    out.materials = read_materials(in);
    out.bones = read_bones(in, out.materials);
    out.joints = read_joints(in, out.bones);
    out.shown = read_surface(in, "shown", out.bones);
    out.collision = read_surface(in, "collision", out.bones);
    read_volumes(in, out);
    out.record = read_record(in);
    return out;
}

std::string model_kind(const std::filesystem::path& file)
{
    return ModelReader(file).kind();
}

} // namespace lithe
