#include "posed_character.hpp"

#include "lithe/prepare/prepare_character.hpp"

namespace lithe::cli {
namespace {

Character load(const std::filesystem::path& file, const PosedOptions& options, Session& session)
{
    Character character = read_character(file, options.read);
    if (options.bones || character.surface.triangle_count() == 0) return character;
    std::vector<std::string> notes;
    character = load_character({.from = file, .read = options.read, .place = {}}, session.progress(), notes);
    for (const std::string& note : notes) session.say("{}\n", note);
    return character;
}

Clip choose(const Character& character, const std::optional<std::string>& wanted, Session& session)
{
    if (!wanted) return character.clips.empty() ? Clip() : character.clips.front();
    std::vector<std::string> notes;
    Clip clip = find_or_read_clip(*wanted, character, notes);
    for (const std::string& note : notes) session.say("{}\n", note);
    return clip;
}

/// Six corners around the line from a to b, thickest near a.
void add_bone(const Vec3& a, const Vec3& b, std::vector<Vec3>& corners, std::vector<Eigen::Vector3i>& faces)
{
    const double length = (b - a).norm();
    if (!(length > 0.0)) return;
    const Vec3 along = (b - a) / length, side = along.unitOrthogonal(), other = along.cross(side);
    const Vec3 belly = a + 0.15 * (b - a);
    const double thick = 0.08 * length;
    const auto first = static_cast<int>(corners.size());
    for (const Vec3& corner : {a, b, Vec3(belly + thick * side), Vec3(belly + thick * other),
                               Vec3(belly - thick * side), Vec3(belly - thick * other)})
        corners.push_back(corner);
    for (int k = 0; k < 4; ++k) {
        const int here = first + 2 + k, next = first + 2 + (k + 1) % 4;
        faces.emplace_back(first, next, here);
        faces.emplace_back(first + 1, here, next);
    }
}

} // namespace

TriangleMesh bone_shapes(const Skeleton& skeleton, const std::vector<Affine3>& world)
{
    std::vector<Vec3> corners;
    std::vector<Eigen::Vector3i> faces;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j)
        if (const int parent = skeleton.joints[j].parent; parent >= 0)
            add_bone(world[static_cast<std::size_t>(parent)].translation(), world[j].translation(), corners,
                     faces);
    TriangleMesh out{Points(3, static_cast<Index>(corners.size())),
                     Triangles(3, static_cast<Index>(faces.size()))};
    for (std::size_t v = 0; v < corners.size(); ++v) out.vertices.col(static_cast<Index>(v)) = corners[v];
    for (std::size_t f = 0; f < faces.size(); ++f) out.triangles.col(static_cast<Index>(f)) = faces[f];
    return out;
}

PosedCharacter::PosedCharacter(const std::filesystem::path& file, const PosedOptions& options,
                               Session& session)
    : character_(load(file, options, session)), clip_(choose(character_, options.clip, session)),
      options_(options)
{
    if (character_.surface.triangle_count() == 0) options_.bones = true;
}

MeshFile PosedCharacter::at(double t) const
{
    const Skeleton& skeleton = character_.skeleton;
    const std::vector<Affine3> world = world_transforms(skeleton, pose_at(skeleton, clip_, t));
    if (options_.bones) {
        TriangleMesh bones = bone_shapes(skeleton, world);
        return {.vertices = std::move(bones.vertices), .triangles = std::move(bones.triangles)};
    }
    Points x;
    skin(options_.skinning, character_.weights, bone_transforms(character_.bones, world),
         morphed_surface(character_, &clip_, t), x);
    return {.vertices = std::move(x),
            .triangles = character_.surface.triangles,
            .fields = character_.surface.fields};
}

} // namespace lithe::cli
