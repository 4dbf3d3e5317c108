#include "lithe/rig/rig_files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/number_source.hpp"
#include "lithe/geometry/make_shape.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

/// How many bytes the letter that begins here has in UTF-8, or 0 when none begins here.
std::size_t utf8_length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80   ? 1
                               : byte(0) < 0xc2 ? 0
                               : byte(0) < 0xe0 ? 2
                               : byte(0) < 0xf0 ? 3
                               : byte(0) < 0xf5 ? 4
                                                : 0;
    if (text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
    const bool no_letter = (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf4 && byte(1) > 0x8f);
    return overlong || no_letter ? 0 : length;
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// A motion by its file, and which of the file's clips.
struct ClipFile {
    fs::path file;
    std::string clip; ///< its name or number
};

ClipFile clip_file(const std::string& text)
{
    const std::size_t mark = text.rfind('#');
    if (mark == text.npos || fs::exists(text)) return {text, "0"};
    return {text.substr(0, mark), text.substr(mark + 1)};
}

bool is_close(const JointTransform& a, const JointTransform& b)
{
    const double size = a.translation.norm() + b.translation.norm();
    return (a.translation - b.translation).norm() <= 1e-9 * size && (a.scale - b.scale).norm() <= 1e-9 &&
           std::abs(a.rotation.dot(b.rotation)) >= 1.0 - 1e-12;
}

/// Whether a clip of one moves the other alike.
bool is_same(const Skeleton& a, const Skeleton& b)
{
    const auto same_joint = [](const Joint& x, const Joint& y) {
        return x.name == y.name && x.parent == y.parent && is_close(x.rest, y.rest);
    };
    return std::equal(a.joints.begin(), a.joints.end(), b.joints.begin(), b.joints.end(), same_joint);
}

} // namespace

Affine3 file_placement(const ReadOptions& options)
{
    const double scale = require_between("scale", options.scale, 1e-100, 1e100);
    Mat3 upright = Mat3::Identity();
    if (options.up == UpAxis::Z) upright << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    Affine3 placement = Affine3::Identity();
    placement.linear() = scale * upright;
    return placement;
}

std::string utf8_name(std::string_view name)
{
    if (is_utf8(name)) return std::string(name);
    std::string letters;
    for (const char c : name) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x80) {
            letters += c;
        } else {
            letters += static_cast<char>(0xc0 | code >> 6);
            letters += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    return letters;
}

Character read_shape_rig(const fs::path& file, const ReadOptions& options, std::optional<double> cell)
{
    Character character{.file = file};
    Skeleton& skeleton = character.skeleton;
    skeleton.placement = file_placement(options);
    const std::optional<ShapeModel> model = find_shape_model(file.string());
    if (!model)
        throw InputError({.file = file}, "is a shape without a skeleton; fit one with 'lithe rig --fit'");
    for (const ShapeJoint& joint : model->joints) {
        const Vec3 origin = joint.parent < 0 ? Vec3(Vec3::Zero()) : model->joints[joint.parent].position;
        skeleton.joints.push_back({joint.name, joint.parent, {.translation = joint.position - origin}});
    }
    Progress progress;
    character.surface = make_shape(file.string(), cell, progress);
    Points& X = character.surface.vertices;
    X = skeleton.placement * X;
    character.parts.push_back({.name = utf8_name(file.stem().string()),
                               .vertex_count = X.cols(),
                               .triangle_count = character.surface.triangle_count()});
    return character;
}

Clip read_clip(const std::string& text, const Character& character, std::vector<std::string>& notes)
{
    const auto [file, wanted] = clip_file(text);
    if (io::lower_case(file.string()).ends_with(".anim.txt"))
        return parse_clip(io::read_bytes(file), file, character.skeleton, character.bones, notes);
    if (!holds_character(file))
        throw InputError({.file = file},
                         "is no motion by its ending; known are .bvh .anim.txt .glb and .gltf");

    const Character source = read_character(file);
    if (source.clips.empty()) throw InputError({.file = file}, "has no motion in it; choose another file");
    const Clip* clip = nullptr;
    try {
        clip = &find_clip(source.clips, wanted);
    } catch (const InputError& error) {
        throw InputError({.file = file}, error.what());
    }
    if (is_same(source.skeleton, character.skeleton)) return *clip;
    return retargeted(*clip, source.skeleton, character.skeleton, notes);
}

} // namespace lithe
