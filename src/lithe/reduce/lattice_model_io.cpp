#include "lithe/reduce/lattice_model_io.hpp"

#include <cstring>

#include "lithe/geometry/lattice_cells.hpp"
#include "lithe/geometry/lattice_check.hpp"
#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/reduce/model_io.hpp"

namespace lithe {
namespace {

using namespace model_io;

constexpr std::int32_t content_version = 1;
constexpr double weight_rounding = 1e-9; ///< by which the weights of a vertex may miss one
constexpr int most_levels = 6;
constexpr double rotation_rounding = 1e-6; ///< by which a unit quaternion may miss its length

using Cells = Eigen::Matrix<std::int32_t, 8, Eigen::Dynamic>;
using Affines = Eigen::Matrix<double, 12, Eigen::Dynamic>;
using Locals = Eigen::Matrix<double, 10, Eigen::Dynamic>;

// --- writing -----------------------------------------------------------------------------------------------------

Points columns(const std::vector<Vec3>& points)
{
    Points out(3, static_cast<Index>(points.size()));
    for (Index v = 0; v < out.cols(); ++v) out.col(v) = points[static_cast<std::size_t>(v)];
    return out;
}

/// Lists of different lengths as one, and where each of them ends.
struct JoinedLists {
    std::vector<std::int32_t> all, ends;
    void add(const std::vector<int>& list)
    {
        all.insert(all.end(), list.begin(), list.end());
        ends.push_back(static_cast<std::int32_t>(all.size()));
    }
};

void write_lattice(ArchiveWriter& out, const ControlLattice& lattice)
{
    Cells cells(8, static_cast<Index>(lattice.cells.size()));
    for (Index c = 0; c < cells.cols(); ++c)
        for (int k = 0; k < 8; ++k)
            cells(k, c) = lattice.cells[static_cast<std::size_t>(c)].vertices[static_cast<std::size_t>(k)];
    std::vector<std::string> names;
    JoinedLists chains;
    for (const LatticeBone& bone : lattice.bones) {
        names.push_back(bone.name);
        chains.add(bone.vertices);
    }
    out.write("lattice/vertices", columns(lattice.vertices), {.unit = "m"});
    out.write("lattice/cells", cells, packed);
    out.write_texts("lattice/bones/names", names);
    out.write("lattice/bones/vertices", chains.all);
    out.write("lattice/bones/ends", chains.ends);
}

void write_skeleton(ArchiveWriter& out, const Skeleton& skeleton)
{
    std::vector<std::string> names;
    std::vector<std::int32_t> parents;
    Locals rest(10, skeleton.joint_count());
    for (Index j = 0; j < rest.cols(); ++j) {
        const Joint& joint = skeleton.joints[static_cast<std::size_t>(j)];
        names.push_back(joint.name);
        parents.push_back(joint.parent);
        rest.col(j) << joint.rest.translation, joint.rest.rotation.coeffs(), joint.rest.scale;
    }
    out.write_texts("skeleton/names", names);
    out.write("skeleton/parents", parents);
    out.write("skeleton/rest", rest);
    out.write("skeleton/placement", MatX(skeleton.placement.affine()));
}

void write_bind(ArchiveWriter& out, const std::vector<Affine3>& bind)
{
    Affines columns(12, static_cast<Index>(bind.size()));
    for (Index j = 0; j < columns.cols(); ++j)
        columns.col(j) = bind[static_cast<std::size_t>(j)].affine().reshaped();
    out.write("skeleton/bind", columns);
}

void write_held_bones(ArchiveWriter& out, const std::vector<HeldBone>& bones)
{
    std::vector<std::string> names;
    std::vector<std::int32_t> joints;
    std::vector<Vec3> heads, tails;
    for (const HeldBone& bone : bones) {
        names.push_back(bone.name);
        joints.push_back(bone.joint);
        heads.push_back(bone.head);
        tails.push_back(bone.tail);
    }
    out.write_texts("held_bones/names", names);
    out.write("held_bones/joints", joints);
    out.write("held_bones/heads", columns(heads), {.unit = "m"});
    out.write("held_bones/tails", columns(tails), {.unit = "m"});
}

void write_regions(ArchiveWriter& out, const std::vector<LatticeRegion>& regions)
{
    std::vector<std::string> names;
    std::vector<std::int32_t> joints;
    MatX weights(regions.front().weights.size(), static_cast<Index>(regions.size()));
    for (std::size_t r = 0; r < regions.size(); ++r) {
        names.push_back(regions[r].name);
        joints.push_back(regions[r].joint);
        weights.col(static_cast<Index>(r)) = regions[r].weights;
    }
    out.write_texts("regions/names", names);
    out.write("regions/joints", joints);
    out.write("regions/weights", weights, packed);
}

void write_surface(ArchiveWriter& out, const std::string& name, const LatticeSurface& surface)
{
    write_mesh(out, name, surface.rest);
    out.write(name + "/embedding/tets", surface.embedding.tet, packed);
    out.write(name + "/embedding/corners", surface.embedding.corners, packed);
    out.write(name + "/embedding/weights", surface.embedding.weights);
}

void write_settings(ArchiveWriter& out, const LatticeModel& model)
{
    out.write("settings/damping", model.settings.damping, {.unit = "1/s"});
    out.write("settings/twist_radius", model.settings.twist_radius, {.unit = "m"});
    out.write("settings/twist_stiffness", model.settings.twist_stiffness, {.unit = "N/m^5"});
    out.write("settings/refine_strain", model.settings.refine_strain);
    out.write("settings/most_functions", static_cast<std::int32_t>(model.settings.most_functions));
    out.write("settings/levels", static_cast<std::int32_t>(model.levels));
    out.write("settings/integration_levels", static_cast<std::int32_t>(model.integration_levels));
}

void write_character(ArchiveWriter& out, const ModelCharacter& character)
{
    // A .glb is a number of words of four bytes long.
    std::vector<std::int32_t> words(character.glb.size() / sizeof(std::int32_t));
    LITHE_ASSERT(words.size() * sizeof(std::int32_t) == character.glb.size());
    if (!words.empty()) std::memcpy(words.data(), character.glb.data(), character.glb.size());
    out.write("character/glb", words, packed);
    out.write("character/scale", character.read.scale, {.unit = "m"});
    out.write("character/up", static_cast<std::int32_t>(character.read.up));
}

// --- reading -----------------------------------------------------------------------------------------------------

LatticeCell cell_of(const ModelReader& in, const Eigen::Matrix<std::int32_t, 8, 1>& column, Index c)
{
    LatticeCell cell;
    int count = 0;
    for (int k = 0; k < 8; ++k) {
        cell.vertices[static_cast<std::size_t>(k)] = column[k];
        count += column[k] >= 0;
    }
    if (count != 4 && count != 6 && count != 8)
        in.fail("lattice/cells",
                fmt::format("cell {} has {} corners; a tet has 4, a prism 6, a hex 8", c, count));
    cell.kind = count == 4   ? LatticeCellKind::Tet
                : count == 6 ? LatticeCellKind::Prism
                             : LatticeCellKind::Hex;
    return cell;
}

ControlLattice read_lattice(const ModelReader& in)
{
    ControlLattice out;
    const Points x = in.numbers<Points>("lattice/vertices", {3, any_size});
    for (Index v = 0; v < x.cols(); ++v) out.vertices.emplace_back(x.col(v));
    const Cells cells = in.archive().read<Cells>("lattice/cells", {8, any_size});
    for (Index c = 0; c < cells.cols(); ++c) out.cells.push_back(cell_of(in, cells.col(c), c));

    const std::vector<std::string> names = in.archive().read_texts("lattice/bones/names");
    const auto count = static_cast<Index>(names.size());
    const auto all = in.indices<std::vector<int>>("lattice/bones/vertices", {}, x.cols());
    const auto ends = in.archive().read<std::vector<std::int32_t>>("lattice/bones/ends", {count});
    for (std::size_t b = 0, from = 0; b < names.size(); ++b) {
        const auto to = static_cast<std::size_t>(ends[b]);
        if (ends[b] < 0 || to < from || to > all.size()) in.fail("lattice/bones/ends", "is not rising");
        out.bones.push_back(
            {names[b], {all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + ends[b]}});
        from = to;
    }
    if (const auto fault = first_fault(out)) in.fail("lattice", "is not fit for use: " + *fault);
    return out;
}

Skeleton read_skeleton(const ModelReader& in)
{
    Skeleton out;
    const std::vector<std::string> names = in.archive().read_texts("skeleton/names");
    const auto count = static_cast<Index>(names.size());
    const auto parents = in.archive().read<std::vector<std::int32_t>>("skeleton/parents", {count});
    const Locals rest = in.numbers<Locals>("skeleton/rest", {10, count});
    for (Index j = 0; j < count; ++j) {
        const auto k = static_cast<std::size_t>(j);
        if (parents[k] < -1 || parents[k] >= j)
            in.fail("skeleton/parents",
                    fmt::format("has {} for joint {}: parents come before their children", parents[k], j));
        const Quat rotation(Vec4(rest.block<4, 1>(3, j)));
        if (!(std::abs(rotation.norm() - 1.0) < rotation_rounding))
            in.fail("skeleton/rest", fmt::format("joint {}: its rotation is not of unit length", j));
        out.joints.push_back(
            {names[k], parents[k], {rest.block<3, 1>(0, j), rotation, rest.block<3, 1>(7, j)}});
    }
    out.placement.affine() = in.numbers<Eigen::Matrix<double, 3, 4>>("skeleton/placement", {3, 4});
    return out;
}

std::vector<Affine3> read_bind(const ModelReader& in, Index joint_count)
{
    std::vector<Affine3> out;
    const Affines columns = in.numbers<Affines>("skeleton/bind", {12, joint_count});
    for (Index j = 0; j < joint_count; ++j) {
        Affine3& bind = out.emplace_back(Affine3::Identity());
        bind.affine() = columns.col(j).reshaped(3, 4);
        if (!(std::abs(bind.linear().determinant()) > 0.0))
            in.fail("skeleton/bind", fmt::format("joint {} has lost a dimension", j));
    }
    return out;
}

std::vector<HeldBone> read_held_bones(const ModelReader& in, Index joint_count)
{
    const std::vector<std::string> names = in.archive().read_texts("held_bones/names");
    const auto count = static_cast<Index>(names.size());
    const auto joints = in.indices<std::vector<int>>("held_bones/joints", {count}, joint_count);
    const Points heads = in.numbers<Points>("held_bones/heads", {3, count});
    const Points tails = in.numbers<Points>("held_bones/tails", {3, count});
    std::vector<HeldBone> out;
    for (Index b = 0; b < count; ++b)
        out.push_back({names[static_cast<std::size_t>(b)], joints[static_cast<std::size_t>(b)], heads.col(b),
                       tails.col(b)});
    return out;
}

std::vector<LatticeRegion> read_regions(const ModelReader& in, Index vertices, Index joint_count)
{
    const std::vector<std::string> names = in.archive().read_texts("regions/names");
    if (names.empty()) in.fail("regions/names", "is empty; a lattice needs a region");
    const auto count = static_cast<Index>(names.size());
    const auto joints = in.indices<std::vector<int>>("regions/joints", {count}, joint_count);
    const MatX weights = in.numbers<MatX>("regions/weights", {vertices, count});
    if (weights.minCoeff() < 0.0) in.fail("regions/weights", "has a weight below zero");
    if (!((weights.rowwise().sum().array() - 1.0).abs().maxCoeff() < weight_rounding))
        in.fail("regions/weights", "does not sum to one at every vertex; prepare the character again");
    std::vector<LatticeRegion> out;
    for (Index r = 0; r < count; ++r)
        out.push_back(
            {names[static_cast<std::size_t>(r)], joints[static_cast<std::size_t>(r)], weights.col(r)});
    return out;
}

LatticeSurface read_surface(const ModelReader& in, const std::string& name, const TetMesh& tets)
{
    LatticeSurface out{.rest = read_mesh(in, name), .embedding = {}};
    const Index n = out.rest.vertex_count();
    out.embedding.tet = in.indices<std::vector<int>>(name + "/embedding/tets", {n}, tets.tet_count());
    out.embedding.corners = in.indices<Tets>(name + "/embedding/corners", {4, n}, tets.vertex_count());
    out.embedding.weights =
        in.numbers<Eigen::Matrix<double, 4, Eigen::Dynamic>>(name + "/embedding/weights", {4, n});
    return out;
}

int read_count(const ModelReader& in, const std::string& path, int low, int high)
{
    const int value = in.archive().read<std::int32_t>(path);
    if (value < low || value > high) in.fail(path, fmt::format("is {}, not in {} to {}", value, low, high));
    return value;
}

void read_settings(const ModelReader& in, LatticeModel& out)
{
    out.settings.damping = in.number("settings/damping");
    out.settings.twist_radius = in.number("settings/twist_radius");
    out.settings.twist_stiffness = in.number("settings/twist_stiffness");
    out.settings.refine_strain = in.number("settings/refine_strain");
    out.settings.most_functions = read_count(in, "settings/most_functions", 0, 1'000'000);
    out.levels = read_count(in, "settings/levels", 0, most_levels);
    out.integration_levels =
        read_count(in, "settings/integration_levels", std::max(1, out.levels), most_levels);
}

ModelCharacter read_character(const ModelReader& in)
{
    ModelCharacter out;
    const auto words = in.archive().read<std::vector<std::int32_t>>("character/glb", {any_size});
    out.glb.assign(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::int32_t));
    out.read.scale = in.number("character/scale");
    if (!(out.read.scale > 0.0)) in.fail("character/scale", "is not above zero");
    out.read.up = static_cast<UpAxis>(read_count(in, "character/up", 0, 1));
    return out;
}

void read_integrals(const ModelReader& in, Index tet_count, LatticeModel& out)
{
    out.fractions = in.archive().read<std::vector<float>>("integrals/fractions", {tet_count});
    for (const float f : out.fractions)
        if (!(f >= 0.0F && f <= 1.0F)) in.fail("integrals/fractions", "has a share that is not in 0 to 1");
    const auto materials = in.indices<std::vector<int>>("integrals/materials", {tet_count},
                                                        static_cast<Index>(out.materials.size()));
    out.tet_materials.assign(materials.begin(), materials.end());
}

} // namespace

void write_lattice_model(const std::filesystem::path& file, const LatticeModel& model)
{
    LITHE_ASSERT(!model.regions.empty() && model.bone_joints.size() == model.lattice.bones.size());
    ArchiveWriter out;
    write_head(out, "lattice", content_version, model.name);
    write_materials(out, model.materials);
    write_settings(out, model);
    write_lattice(out, model.lattice);
    write_skeleton(out, model.skeleton);
    write_bind(out, model.bind);
    out.write("lattice/bones/joints", model.bone_joints);
    write_held_bones(out, model.held_bones);
    write_regions(out, model.regions);
    out.write("integrals/fractions", model.fractions, packed);
    out.write("integrals/materials",
              std::vector<std::int32_t>(model.tet_materials.begin(), model.tet_materials.end()), packed);
    write_surface(out, "shown", model.shown);
    write_surface(out, "collision", model.collision);
    write_character(out, model.character);
    write_record(out, model.record);
    out.save(file, model.record.inputs);
}

LatticeModel read_lattice_model(const std::filesystem::path& file)
{
    const ModelReader in(file);
    in.require("lattice", content_version);
    LatticeModel out;
    out.name = in.archive().read_text("model/name");
    out.materials = read_materials(in);
    read_settings(in, out);
    out.lattice = read_lattice(in);
    out.skeleton = read_skeleton(in);
    const Index joint_count = out.skeleton.joint_count();
    out.bind = read_bind(in, joint_count);
    out.bone_joints = in.indices<std::vector<int>>(
        "lattice/bones/joints", {static_cast<Index>(out.lattice.bones.size())}, joint_count);
    out.held_bones = read_held_bones(in, joint_count);
    out.regions = read_regions(in, static_cast<Index>(out.lattice.vertices.size()), joint_count);
    const TetMesh tets = finest_tets(subdivided(out.lattice, out.integration_levels));
    read_integrals(in, tets.tet_count(), out);
    out.shown = read_surface(in, "shown", tets);
    out.collision = read_surface(in, "collision", tets);
    out.character = read_character(in);
    out.record = read_record(in);
    return out;
}

} // namespace lithe
