#include "lithe/rig/gltf_character.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_scene.hpp"
#include "lithe/rig/skinning.hpp"

namespace lithe {
namespace {

using namespace gltf;

/// A mesh may be used by many nodes: what the surface may grow to, triangles and morph targets included.
constexpr Index most_vertices = 20'000'000;

/// How a vertex follows bones, while they are collected.
struct Influence {
    int bone;
    double weight;
};

/// Corners of triangles from those of a list, a strip (5) or a fan (6). Every second triangle of a strip is turned round;
/// triangles of strips and fans that are only there to join others (two equal corners) are left out.
Triangles triangles_of(const std::vector<std::uint32_t>& corners, int mode)
{
    const auto count = static_cast<Index>(corners.size());
    const Index triangle_count = mode == 4 ? count / 3 : std::max<Index>(count - 2, 0);
    Triangles triangles(3, triangle_count);
    Index kept = 0;
    for (Index t = 0; t < triangle_count; ++t) {
        const auto corner = [&](Index i) { return static_cast<int>(corners[static_cast<std::size_t>(i)]); };
        Eigen::Vector3i triangle;
        if (mode == 4)
            triangle << corner(3 * t), corner(3 * t + 1), corner(3 * t + 2);
        else if (mode == 5)
            triangle << corner(t), corner(t + 1 + t % 2), corner(t + 2 - t % 2);
        else
            triangle << corner(0), corner(t + 1), corner(t + 2);
        const bool joins =
            triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0];
        if (mode == 4 || !joins) triangles.col(kept++) = triangle;
    }
    triangles.conservativeResize(3, kept);
    return triangles;
}

/// Heaviest first, each bone once, at most `most_influences`, summing to one. Empty when there is no weight. Returns
/// whether some had to be left out.
bool settle(std::vector<Influence>& influences)
{
    std::erase_if(influences, [](const Influence& i) { return !(i.weight > 0.0); });
    std::stable_sort(influences.begin(), influences.end(),
                     [](const Influence& a, const Influence& b) { return a.bone < b.bone; });
    std::vector<Influence> merged;
    for (const Influence& i : influences)
        if (!merged.empty() && merged.back().bone == i.bone)
            merged.back().weight += i.weight;
        else
            merged.push_back(i);
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
    const bool too_many = merged.size() > most_influences;
    if (too_many) merged.resize(most_influences);
    double sum = 0.0;
    for (const Influence& i : merged) sum += i.weight;
    for (Influence& i : merged) i.weight /= sum;
    influences = std::move(merged);
    return too_many;
}

SkinWeights packed(const std::vector<std::vector<Influence>>& influences)
{
    std::size_t slots = 1;
    for (const auto& of_vertex : influences) slots = std::max(slots, of_vertex.size());
    const auto rows = static_cast<Index>(slots), columns = static_cast<Index>(influences.size());
    SkinWeights weights{Eigen::MatrixXi::Zero(rows, columns), MatX::Zero(rows, columns)};
    for (Index v = 0; v < columns; ++v)
        for (Index s = 0; s < static_cast<Index>(influences[v].size()); ++s) {
            weights.bones(s, v) = influences[v][s].bone;
            weights.weights(s, v) = influences[v][s].weight;
        }
    return weights;
}

/// Collects the meshes of the scene into one surface with bones and weights.
class SurfaceReader {
public:
    SurfaceReader(const GltfDocument& document, const SceneNodes& scene, Character& character)
        : document_(document), scene_(scene), character_(character),
          places_(document, scene, character.skeleton), colors_(document)
    {
    }

    void read()
    {
        check_size();
        for (int joint = 0; joint < character_.skeleton.joint_count(); ++joint) {
            const Json& node = document_.list("nodes")[scene_.node[joint]];
            const int mesh = int_at(node, "mesh", -1);
            if (mesh < 0) continue;
            const auto primitives = static_cast<int>(document_.list("meshes")[mesh]["primitives"].size());
            for (int p = 0; p < primitives; ++p) read_primitive(joint, mesh, p);
        }
        assemble();
        add_notes();
    }

private:
    struct Piece {
        Points vertices;
        Triangles triangles;
        MatX color;
    };

    void check_size() const;
    void read_primitive(int joint, int mesh, int primitive);
    Piece read_geometry(const Json& primitive, const Affine3& to_world);
    void read_morphs(const Json& primitive, const Affine3& to_world, SurfacePart& part);
    void read_weights(const Json& attributes, int skin, Index vertex_count);
    void follow_rigidly(int joint, const Affine3& to_world, Index vertex_count);
    const std::vector<int>& bones_of_skin(int skin);
    int bone(int joint, const Affine3& inverse_bind);
    std::string part_name(int joint, int mesh, int primitive) const;
    void assemble();
    void add_notes();

    const GltfDocument& document_;
    const SceneNodes& scene_;
    Character& character_;
    RestPlaces places_;
    PrimitiveColors colors_;
    std::vector<Piece> pieces_;
    std::vector<std::vector<Influence>> influences_; ///< of each vertex
    std::vector<std::vector<int>> bones_of_skin_;    ///< those asked for: the bone of each joint of a skin
    std::vector<std::vector<int>> bones_of_joint_;
    Index vertex_count_ = 0, triangle_count_ = 0;
    Index points_and_lines_ = 0, weightless_ = 0, cut_ = 0;
};

void SurfaceReader::read_primitive(int joint, int mesh, int primitive)
{
    const Json& node = document_.list("nodes")[scene_.node[joint]];
    const Json& json = document_.list("meshes")[mesh]["primitives"][primitive];
    const int mode = int_at(json, "mode", 4);
    if (mode < 4) {
        ++points_and_lines_;
        return;
    }
    const int skin = json["attributes"].contains("JOINTS_0") ? int_at(node, "skin", -1) : -1;
    const Affine3 to_world = skin < 0 ? places_.of_joint(joint) : places_.of_skin(skin);

    Piece piece = read_geometry(json, to_world);
    SurfacePart part{.name = part_name(joint, mesh, primitive),
                     .joint = joint,
                     .mesh = mesh,
                     .primitive = primitive,
                     .first_vertex = vertex_count_,
                     .vertex_count = piece.vertices.cols(),
                     .first_triangle = triangle_count_,
                     .triangle_count = piece.triangles.cols(),
                     .skinned = skin >= 0,
                     .morph_rest = rest_weights(document_, scene_.node[joint])};
    read_morphs(json, to_world, part);
    if (part.skinned)
        read_weights(json["attributes"], skin, part.vertex_count);
    else
        follow_rigidly(joint, to_world, part.vertex_count);
    vertex_count_ += part.vertex_count;
    triangle_count_ += part.triangle_count;
    character_.parts.push_back(std::move(part));
    pieces_.push_back(std::move(piece));
}

/// Counts before anything is made of that size.
void SurfaceReader::check_size() const
{
    const auto count = [&](int accessor) {
        return document_.list("accessors")[accessor]["count"].get<Index>();
    };
    Index total = 0;
    for (const int node : scene_.node) {
        const int mesh = int_at(document_.list("nodes")[node], "mesh", -1);
        if (mesh < 0) continue;
        for (const Json& primitive : document_.list("meshes")[mesh]["primitives"]) {
            const Index targets = rest_weights(document_, node).size();
            total += (1 + targets) * count(primitive["attributes"]["POSITION"].get<int>());
            if (const int indices = int_at(primitive, "indices", -1); indices >= 0)
                total += count(indices) / 3;
        }
        if (total > most_vertices)
            throw InputError(
                {.file = document_.file()},
                fmt::format("its meshes, as often as nodes use them, have more than {} vertices; "
                            "use fewer or simpler ones",
                            most_vertices));
    }
}

SurfaceReader::Piece SurfaceReader::read_geometry(const Json& primitive, const Affine3& to_world)
{
    Piece piece;
    const MatX positions = document_.numbers(primitive["attributes"]["POSITION"].get<int>());
    piece.vertices = to_world * Points(positions);
    if (!piece.vertices.allFinite() || (piece.vertices.array().abs() > largest_coordinate).any())
        throw InputError(
            {.file = document_.file()},
            fmt::format("has coordinates beyond {:g}; choose a smaller scale", largest_coordinate));
    std::vector<std::uint32_t> corners;
    if (const int accessor = int_at(primitive, "indices", -1); accessor >= 0) {
        corners = document_.indices(accessor);
    } else {
        corners.resize(static_cast<std::size_t>(positions.cols()));
        std::iota(corners.begin(), corners.end(), 0u);
    }
    piece.triangles = triangles_of(corners, int_at(primitive, "mode", 4));
    // A map that mirrors turns the surface inside out.
    if (to_world.linear().determinant() < 0.0) piece.triangles.row(1).swap(piece.triangles.row(2));
    piece.color = colors_.of(primitive, positions.cols(), character_.notes);
    return piece;
}

void SurfaceReader::read_morphs(const Json& primitive, const Affine3& to_world, SurfacePart& part)
{
    const Json* targets = find(primitive, {"targets"});
    if (!targets) return;
    for (const Json& target : *targets) {
        const int accessor = int_at(target, "POSITION", -1);
        if (accessor < 0)
            part.morphs.push_back(Points::Zero(3, part.vertex_count));
        else
            part.morphs.push_back(to_world.linear() * Points(document_.numbers(accessor)));
    }
}

void SurfaceReader::read_weights(const Json& attributes, int skin, Index vertex_count)
{
    const std::vector<int>& bones = bones_of_skin(skin);
    const auto first = static_cast<Index>(influences_.size());
    influences_.resize(influences_.size() + static_cast<std::size_t>(vertex_count));
    for (int set = 0;; ++set) {
        const int joints = int_at(attributes, fmt::format("JOINTS_{}", set).c_str(), -1);
        const int weights = int_at(attributes, fmt::format("WEIGHTS_{}", set).c_str(), -1);
        if (joints < 0 || weights < 0) break;
        const MatX j = document_.numbers(joints), w = document_.numbers(weights);
        for (Index v = 0; v < vertex_count; ++v)
            for (Index s = 0; s < j.rows(); ++s)
                if (w(s, v) > 0.0)
                    influences_[first + v].push_back({bones[static_cast<std::size_t>(j(s, v))], w(s, v)});
    }
    for (Index v = 0; v < vertex_count; ++v) {
        std::vector<Influence>& influences = influences_[first + v];
        cut_ += settle(influences);
        if (!influences.empty()) continue;
        influences.push_back({bones.front(), 1.0});
        ++weightless_;
    }
}

void SurfaceReader::follow_rigidly(int joint, const Affine3& to_world, Index vertex_count)
{
    const Influence all{bone(joint, to_world.inverse()), 1.0};
    influences_.resize(influences_.size() + static_cast<std::size_t>(vertex_count), {all});
}

/// From the rest surface:  world_j inverse_bind X' = world_j IBM_j X  with  X' = to_world X.
const std::vector<int>& SurfaceReader::bones_of_skin(int skin)
{
    bones_of_skin_.resize(places_.skins().size());
    std::vector<int>& bones = bones_of_skin_[skin];
    const FileSkin& of_file = places_.skins()[skin];
    const Affine3 to_mesh = places_.of_skin(skin).inverse();
    if (bones.empty())
        for (std::size_t i = 0; i < of_file.joints.size(); ++i)
            bones.push_back(bone(of_file.joints[i], of_file.inverse_bind[i] * to_mesh));
    return bones;
}

/// The bone of that joint and matrix, which may be there already.
int SurfaceReader::bone(int joint, const Affine3& inverse_bind)
{
    std::vector<Bone>& bones = character_.bones;
    bones_of_joint_.resize(character_.skeleton.joints.size());
    for (const int b : bones_of_joint_[joint])
        if (bones[b].inverse_bind.matrix() == inverse_bind.matrix()) return b;
    bones.push_back({joint, inverse_bind});
    bones_of_joint_[joint].push_back(static_cast<int>(bones.size()) - 1);
    return bones_of_joint_[joint].back();
}

/// That of the mesh, else of the node; with that of the material where the mesh has several primitives.
std::string SurfaceReader::part_name(int joint, int mesh, int primitive) const
{
    const Json& json = document_.list("meshes")[mesh];
    const std::string name = name_of(json, character_.skeleton.joints[joint].name);
    if (json["primitives"].size() == 1) return name;
    const int material = int_at(json["primitives"][primitive], "material", -1);
    const std::string number = std::to_string(primitive);
    return name + "/" + (material < 0 ? number : name_of(document_.list("materials")[material], number));
}

void SurfaceReader::assemble()
{
    TriangleMesh& surface = character_.surface;
    surface.vertices.resize(3, vertex_count_);
    surface.triangles.resize(3, triangle_count_);
    MatX color(3, vertex_count_);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        const SurfacePart& part = character_.parts[p];
        surface.vertices.middleCols(part.first_vertex, part.vertex_count) = pieces_[p].vertices;
        surface.triangles.middleCols(part.first_triangle, part.triangle_count) =
            pieces_[p].triangles.array() + static_cast<int>(part.first_vertex);
        color.middleCols(part.first_vertex, part.vertex_count) = pieces_[p].color;
    }
    if (colors_.found()) surface.fields.push_back({"color", std::move(color)});
    if (vertex_count_ > 0) character_.weights = packed(influences_);
}

/// How far the skeleton at rest carries the surface away from the bind pose, relative to the longest side.
double rest_offset(const Character& character)
{
    const Box3 box = bounds(character.surface.vertices);
    if (character.surface.vertex_count() == 0 || !(box.sizes().maxCoeff() > 0.0)) return 0.0;
    const std::vector<Affine3> M =
        bone_transforms(character.bones, world_transforms(character.skeleton, rest_pose(character.skeleton)));
    Points x;
    skin(SkinningMethod::Linear, character.weights, M, character.surface.vertices, x);
    return (x - character.surface.vertices).colwise().norm().maxCoeff() / box.sizes().maxCoeff();
}

void SurfaceReader::add_notes()
{
    std::vector<std::string>& notes = character_.notes;
    if (points_and_lines_ > 0)
        notes.push_back(fmt::format("{} primitives of points or lines are left out", points_and_lines_));
    if (cut_ > 0)
        notes.push_back(fmt::format("{} vertices follow more than {} bones; the heaviest {} are kept", cut_,
                                    most_influences, most_influences));
    if (weightless_ > 0)
        notes.push_back(
            fmt::format("{} vertices of skinned meshes have no weights; they follow the first joint "
                        "of their skin",
                        weightless_));
    constexpr double noticeable = 0.01;
    if (const double offset = rest_offset(character_); offset > noticeable)
        notes.push_back(fmt::format("the pose at rest differs from the one in which the skin was bound, by "
                                    "{:.2g} of the size; the surface is that of the bind pose",
                                    offset));
}

} // namespace

Character gltf_character(std::shared_ptr<const GltfDocument> document, const ReadOptions& options)
{
    LITHE_ASSERT(document != nullptr);
    Character character{.file = document->file()};
    const SceneNodes scene = scene_nodes(*document);
    character.skeleton = read_skeleton(*document, scene, options, character.notes);
    SurfaceReader(*document, scene, character).read();
    character.clips = read_clips(*document, scene, character.notes);
    character.source = std::move(document);
    return character;
}

} // namespace lithe
