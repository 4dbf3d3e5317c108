// Plain-text rigs: NAME.skel.txt, NAME.weights.txt and NAME.CLIP.anim.txt (docs/rig-files.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/text_scanner.hpp"
#include "lithe/rig/rig_files.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view skeleton_ending = ".skel.txt";
constexpr std::string_view clip_ending = ".anim.txt";
constexpr double largest_number = 1e12;     ///< in a rig; beyond it products of matrices lose all digits
constexpr double shear_worth_a_note = 1e-3; ///< of the length of the matrix

double checked(double value, const io::TextScanner& scan)
{
    if (!(std::abs(value) <= largest_number))
        scan.fail(fmt::format("found the number {:g}; those of a rig lie between -{:g} and {:g}", value,
                              largest_number, largest_number));
    return value;
}

/// "KEY COUNT": the count, of items that take at least so many bytes each.
int counted(io::TextScanner& scan, std::string_view key, std::size_t least_bytes)
{
    scan.expect(key);
    return scan.claim(scan.integer(), least_bytes, key);
}

void expect_end(io::TextScanner& scan, const std::string& last)
{
    if (!scan.at_end())
        scan.fail(fmt::format("found {} after {}; mend the count at the beginning, or remove it",
                              io::in_quotes(scan.word()), last));
}

// ---- skeletons

/// In a skeleton a comment is a whole line: names may hold any letter.
void skip_comments(io::TextScanner& scan)
{
    while (!scan.at_end() && scan.peek().starts_with('#')) (void)scan.line();
}

/// One line: index parent name px py pz R (row by row). Names may have blanks in them, or be empty.
struct JointLine {
    std::string_view text;
    std::vector<std::string_view> words = {};
    io::TextScanner scan; ///< for its place and its numbers

    JointLine(std::string_view line, const Place& place)
        : text(line), scan(line, place.file, {.comment = '\0', .line = place.line})
    {
        for (std::string_view word = scan.word_in_line(); !word.empty(); word = scan.word_in_line())
            words.push_back(word);
    }

    static constexpr std::size_t before = 2, after = 12; ///< words around the name
    double number(std::size_t i) const
    {
        return checked(scan.to_real(words[words.size() - after + i]), scan);
    }
    std::string name() const
    {
        if (words.size() == before + after) return "";
        const char* begin = words[before].data();
        const std::string_view last = words[words.size() - after - 1];
        return utf8_name({begin, static_cast<std::size_t>(last.data() + last.size() - begin)});
    }
};

/// Checks the line of joint `index`, and gives its frame in the model.
Affine3 model_frame(const JointLine& line, int index)
{
    if (line.words.size() < line.before + line.after)
        line.scan.fail(
            fmt::format("a joint needs its number, parent, name, 3 numbers of its place and 9 of its "
                        "orientation; here are {} words",
                        line.words.size()));
    if (line.scan.to_integer(line.words[0]) != index)
        line.scan.fail(fmt::format("found joint {} where joint {} should stand; they are numbered from 0 "
                                   "without gaps",
                                   io::in_quotes(line.words[0]), index));
    Affine3 frame;
    for (int i = 0; i < 3; ++i) {
        frame.translation()[i] = line.number(i);
        for (int k = 0; k < 3; ++k) frame.linear()(i, k) = line.number(3 + 3 * i + k);
    }
    const Mat3 R = frame.linear();
    if (!((R.transpose() * R).isIdentity(1e-3) && R.determinant() > 0.0))
        line.scan.fail(fmt::format("the orientation of joint {} is no rotation; its columns must be at right "
                                   "angles, right-handed and of length 1",
                                   index));
    frame.linear() = decomposed(frame).rotation.toRotationMatrix(); // without the rounding of the digits
    return frame;
}

int parent_of(const JointLine& line, int index)
{
    const std::int64_t parent = line.scan.to_integer(line.words[1]);
    if (parent < -1 || parent >= index)
        line.scan.fail(fmt::format("joint {} has the parent {}; a parent stands above its children, a root "
                                   "has -1",
                                   index, parent));
    return static_cast<int>(parent);
}

// ---- clips

/// One bone for each joint, bound at rest.
std::vector<Bone> joint_bones(const Skeleton& skeleton)
{
    const std::vector<Affine3> world = world_transforms(skeleton, rest_pose(skeleton));
    std::vector<Bone> bones;
    for (int j = 0; j < skeleton.joint_count(); ++j) bones.push_back({j, world[j].inverse()});
    return bones;
}

/// The matrix that undoes A as far as it can be undone: a joint may be scaled to nothing.
Affine3 undone(const Affine3& A)
{
    constexpr double nothing = 1e-30;
    Affine3 inverse;
    inverse.linear().setZero();
    if (A.linear().norm() > nothing)
        inverse.linear() = A.linear().completeOrthogonalDecomposition().pseudoInverse();
    inverse.translation() = -(inverse.linear() * A.translation());
    return inverse;
}

struct MatrixFrames {
    double fps = 0.0;
    int frames = 0, bones = 0;
    std::vector<Affine3> matrices = {}; ///< frame by frame

    const Affine3& at(int frame, int bone) const
    {
        return matrices[static_cast<std::size_t>(frame) * bones + bone];
    }
};

MatrixFrames read_matrices(io::TextScanner& scan, std::size_t bone_count)
{
    constexpr std::size_t least_matrix = 24; // twelve digits and blanks
    MatrixFrames clip;
    scan.expect("fps");
    clip.fps = scan.real();
    if (!(clip.fps > 0.0 && clip.fps <= 1e6))
        scan.fail(fmt::format("fps = {} must be above 0 and at most 1e6", clip.fps));
    scan.expect("frames");
    const std::int64_t frames = scan.integer();
    clip.bones = counted(scan, "joints", least_matrix);
    if (static_cast<std::size_t>(clip.bones) != bone_count)
        scan.fail(
            fmt::format("has motions of {} joints, but the skeleton has {}; they do not belong together",
                        clip.bones, bone_count));
    clip.frames = scan.claim(frames, 8 + least_matrix * bone_count, "frames");
    if (clip.frames == 0) scan.fail("has no frames; a clip has at least one");

    clip.matrices.resize(static_cast<std::size_t>(clip.frames) * bone_count);
    for (int f = 0; f < clip.frames; ++f) {
        scan.expect("frame");
        if (const std::int64_t number = scan.integer(); number != f)
            scan.fail(fmt::format("found frame {} where frame {} should stand", number, f));
        for (int b = 0; b < clip.bones; ++b)
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 4; ++k)
                    clip.matrices[static_cast<std::size_t>(f) * bone_count + b].matrix()(i, k) =
                        checked(scan.real(), scan);
    }
    expect_end(scan, fmt::format("the last of {} frames", clip.frames));
    return clip;
}

/// Turns frames of joints in the model into tracks of joints in their parents. Each joint is fitted in the parent as the
/// tracks make it, not as the file has it: so the rounding of the file's digits does not add up along a chain.
class TrackFitter {
public:
    TrackFitter(const Skeleton& skeleton, int frames, double fps)
        : skeleton_(skeleton), frames_(frames), fps_(fps), model_(skeleton.joints.size())
    {
    }

    /// The joint keeps its place in its parent.
    void rest(int joint)
    {
        std::vector<Affine3>& model = model_[joint];
        for (int f = 0; f < frames_; ++f)
            model.push_back(parent(joint, f) * skeleton_.joints[joint].rest.matrix());
    }

    /// The joint is where `target(frame)` says.
    JointTracks fit(int joint, const auto& target)
    {
        const JointTransform& rest = skeleton_.joints[joint].rest;
        std::vector<double> times;
        Track<Vec3> translation, scale;
        Track<Quat> rotation;
        bool moves = false, is_scaled = false;
        for (int f = 0; f < frames_; ++f) {
            const Affine3 wanted = undone(parent(joint, f)) * target(f);
            const JointTransform local = decomposed(wanted);
            note_shear(joint, wanted, local);
            times.push_back(f / fps_);
            translation.values.push_back(local.translation);
            rotation.values.push_back(local.rotation);
            scale.values.push_back(local.scale);
            moves = moves || local.translation != rest.translation;
            is_scaled = is_scaled || local.scale != rest.scale;
            model_[joint].push_back(parent(joint, f) * local.matrix());
        }
        make_continuous(rotation.values);
        translation.times = rotation.times = scale.times = std::move(times);
        JointTracks tracks{.joint = joint, .rotation = std::move(rotation)};
        if (moves) tracks.translation = std::move(translation);
        if (is_scaled) tracks.scale = std::move(scale);
        return tracks;
    }

    void add_notes(std::vector<std::string>& notes) const
    {
        if (worst_ > shear_worth_a_note)
            notes.push_back(
                fmt::format("joint '{}' is sheared by up to {:.2g}, which joints cannot follow; its motion "
                            "is the nearest without shear",
                            skeleton_.joints[worst_joint_].name, worst_));
    }

private:
    Affine3 parent(int joint, int frame) const
    {
        const int above = skeleton_.joints[joint].parent;
        return above < 0 ? Affine3(Affine3::Identity()) : model_[above][frame];
    }

    void note_shear(int joint, const Affine3& wanted, const JointTransform& local)
    {
        const double missed = (wanted.linear() - local.matrix().linear()).norm();
        const double share = missed > 0.0 ? missed / wanted.linear().norm() : 0.0;
        if (share <= worst_) return;
        worst_ = share;
        worst_joint_ = joint;
    }

    const Skeleton& skeleton_;
    int frames_;
    double fps_;
    std::vector<std::vector<Affine3>> model_; ///< of each joint, a frame per entry, in the model
    double worst_ = 0.0;
    int worst_joint_ = 0;
};

/// "walk" of "cow.walk.anim.txt".
std::string clip_name(const fs::path& file)
{
    std::string name = file.filename().string();
    if (name.ends_with(clip_ending)) name.resize(name.size() - clip_ending.size());
    return utf8_name(name.substr(name.rfind('.') + 1)); // the whole when there is no dot
}

// ---- weights

struct Influence {
    int bone;
    double weight;
};

void check_bones_once(std::vector<Influence> influences, const io::TextScanner& scan)
{
    std::sort(influences.begin(), influences.end(),
              [](const Influence& a, const Influence& b) { return a.bone < b.bone; });
    const auto twice =
        std::adjacent_find(influences.begin(), influences.end(),
                           [](const Influence& a, const Influence& b) { return a.bone == b.bone; });
    if (twice != influences.end())
        scan.fail(fmt::format("joint {} has two weights at this vertex; add them up", twice->bone));
}

/// "n  bone weight  bone weight ...": heaviest first, at most most_influences of them, normalised.
std::vector<Influence> read_influences(io::TextScanner& scan, Index bone_count)
{
    const int count = scan.claim(scan.integer(), 4, "influences");
    std::vector<Influence> influences;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        const std::int64_t bone = scan.integer();
        const double weight = scan.real();
        if (bone < 0 || bone >= bone_count)
            scan.fail(
                fmt::format("joint {} does not exist; there are {}, numbered from 0", bone, bone_count));
        if (!(weight >= 0.0 && weight <= largest_number))
            scan.fail(fmt::format("found the weight {}; weights are not below 0", weight));
        influences.push_back({static_cast<int>(bone), weight});
    }
    check_bones_once(influences, scan);
    std::sort(influences.begin(), influences.end(), [](const Influence& a, const Influence& b) {
        return a.weight > b.weight || (a.weight == b.weight && a.bone < b.bone);
    });
    if (influences.size() > most_influences) influences.resize(most_influences);
    std::erase_if(influences, [](const Influence& one) { return one.weight == 0.0; });
    for (const Influence& one : influences) sum += one.weight;
    if (!(sum > 0.0)) scan.fail("a vertex follows no joint; give it a weight above 0");
    for (Influence& one : influences) one.weight /= sum;
    return influences;
}

// ---- files side by side

/// The clips that lie beside a rig "cow": "walk" in cow.walk.anim.txt.
std::map<std::string, fs::path> clip_files(const fs::path& folder, const std::string& stem)
{
    std::map<std::string, fs::path> files;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error)) {
        std::string name = entry.path().filename().string();
        if (!name.starts_with(stem + ".") || !name.ends_with(clip_ending)) continue;
        if (name.size() <= stem.size() + 1 + clip_ending.size()) continue;
        name = name.substr(stem.size() + 1, name.size() - stem.size() - 1 - clip_ending.size());
        files.emplace(name, folder / entry.path().filename());
    }
    if (error)
        throw InputError({.file = folder},
                         "cannot be listed, to find the clips of a rig: " + error.message());
    return files;
}

void read_surface_and_weights(Character& character, const fs::path& base, const ReadOptions& options)
{
    const fs::path surface_file = base.string() + ".obj", weights_file = base.string() + ".weights.txt";
    TriangleMesh& surface = character.surface;
    if (!fs::exists(surface_file)) {
        if (fs::exists(weights_file))
            character.notes.push_back(
                fmt::format("there is no {}; its weights were not read", surface_file.filename().string()));
        return;
    }
    surface = read_surface(surface_file, options);
    if (fs::exists(weights_file)) {
        character.weights = parse_weights(io::read_bytes(weights_file), weights_file,
                                          static_cast<Index>(character.bones.size()));
        if (character.weights.vertex_count() != surface.vertex_count())
            throw InputError(
                {.file = weights_file},
                fmt::format("has weights for {} vertices, but {} has {}; they do not belong together",
                            character.weights.vertex_count(), surface_file.filename().string(),
                            surface.vertex_count()));
    }
    character.parts.push_back({.name = utf8_name(base.filename().string()),
                               .vertex_count = surface.vertex_count(),
                               .triangle_count = surface.triangle_count(),
                               .skinned = character.weights.vertex_count() > 0});
}

// ---- writing

/// A clip's name as a part of a file's name.
std::string file_name(std::string name)
{
    std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; }, '_');
    return name;
}

std::string skeleton_text(const Skeleton& skeleton, const std::vector<Affine3>& frames)
{
    std::string text = fmt::format(
        "# skel v1 (y-up). Per joint: index parent name  px py pz (joint origin in BIND pose, model "
        "space)  R(3x3 row-major bind orientation, columns normalised)\njoints {}\n",
        skeleton.joint_count());
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        std::string name = skeleton.joints[j].name;
        std::replace_if(name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
        text += fmt::format("{} {} {} ", j, skeleton.joints[j].parent, name);
        for (const double x : frames[j].translation()) text += fmt::format(" {:.9g}", x);
        text += ' ';
        const Mat3 R = decomposed(frames[j]).rotation.toRotationMatrix();
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) text += fmt::format(" {:.9g}", R(i, k));
        text += '\n';
    }
    return text;
}

/// Where every joint is when the surface is at rest: where its bone was bound, else at rest in its parent.
std::vector<Affine3> bound_frames(const Character& character)
{
    const Skeleton& skeleton = character.skeleton;
    std::vector<const Bone*> bone_of_joint(skeleton.joints.size(), nullptr);
    for (const Bone& bone : character.bones) {
        const Bone*& known = bone_of_joint[bone.joint];
        if (known && !known->inverse_bind.isApprox(bone.inverse_bind, 1e-6))
            throw InputError({.file = character.file},
                             fmt::format("joint '{}' is bound in two ways, which a text rig cannot hold; "
                                         "write a .glb",
                                         skeleton.joints[bone.joint].name));
        known = &bone;
    }
    std::vector<Affine3> frames;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        const auto& [name, parent, rest] = skeleton.joints[j];
        const Affine3 above = parent < 0 ? skeleton.placement : frames[parent];
        frames.push_back(bone_of_joint[j] ? undone(bone_of_joint[j]->inverse_bind) : above * rest.matrix());
    }
    return frames;
}

/// By joint instead of by bone.
SkinWeights joint_weights(const Character& character)
{
    SkinWeights weights = character.weights;
    for (int& bone : weights.bones.reshaped()) bone = character.bones[bone].joint;
    return weights;
}

} // namespace

Skeleton parse_skeleton(std::string_view text, const fs::path& name)
{
    io::TextScanner scan(text, name, {.comment = '\0'});
    skip_comments(scan);
    const int count = counted(scan, "joints", 2 * (JointLine::before + JointLine::after));
    if (count == 0) scan.fail("has no joints; a skeleton has at least one");

    Skeleton skeleton;
    std::vector<Affine3> model; // frames of the joints so far
    for (skip_comments(scan); !scan.at_end(); skip_comments(scan)) {
        const Place place = scan.place();
        const JointLine line(scan.line(), place);
        const int index = skeleton.joint_count();
        if (index == count)
            line.scan.fail(fmt::format("found {} after the last of {} joints; mend the count, or remove it",
                                       io::in_quotes(line.text), count));
        model.push_back(model_frame(line, index));
        const int parent = parent_of(line, index);
        const Affine3 local = parent < 0 ? model.back() : model[parent].inverse() * model.back();
        skeleton.joints.push_back(
            {line.name(),
             parent,
             {.translation = local.translation(), .rotation = Quat(Mat3(local.linear())).normalized()}});
    }
    if (skeleton.joint_count() < count)
        scan.fail(
            fmt::format("ends after {} of {} joints; the file is cut short", skeleton.joint_count(), count));
    return skeleton;
}

SkinWeights parse_weights(std::string_view text, const fs::path& name, Index bone_count)
{
    io::TextScanner scan(text, name);
    const int vertices = counted(scan, "vertices", 6); // "1 0 1" and a blank
    scan.expect("joints");
    if (const std::int64_t joints = scan.integer(); joints != bone_count)
        scan.fail(
            fmt::format("has weights for {} joints, but the skeleton has {}; they do not belong together",
                        joints, bone_count));
    std::vector<std::vector<Influence>> all;
    std::size_t slots = 1;
    for (int v = 0; v < vertices; ++v) {
        all.push_back(read_influences(scan, bone_count));
        slots = std::max(slots, all.back().size());
    }
    expect_end(scan, fmt::format("the last of {} vertices", vertices));

    SkinWeights weights;
    weights.bones.setZero(static_cast<Index>(slots), vertices);
    weights.weights.setZero(static_cast<Index>(slots), vertices);
    for (int v = 0; v < vertices; ++v)
        for (std::size_t s = 0; s < all[v].size(); ++s) {
            weights.bones(static_cast<Index>(s), v) = all[v][s].bone;
            weights.weights(static_cast<Index>(s), v) = all[v][s].weight;
        }
    return weights;
}

Clip parse_clip(std::string_view text, const fs::path& name, const Skeleton& skeleton,
                const std::vector<Bone>& given_bones, std::vector<std::string>& notes)
{
    const std::vector<Bone> bones = given_bones.empty() ? joint_bones(skeleton) : given_bones;
    io::TextScanner scan(text, name);
    const MatrixFrames frames = read_matrices(scan, bones.size());

    std::vector<int> bone_of_joint(skeleton.joints.size(), -1);
    for (std::size_t b = 0; b < bones.size(); ++b) bone_of_joint[bones[b].joint] = static_cast<int>(b);
    const Affine3 to_model = skeleton.placement.inverse();

    Clip clip{.name = clip_name(name)};
    TrackFitter fitter(skeleton, frames.frames, frames.fps);
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        const int b = bone_of_joint[j];
        if (b < 0) {
            fitter.rest(j);
            continue;
        }
        const Affine3 bound = to_model * undone(bones[b].inverse_bind); // the joint's frame in the model
        clip.joints.push_back(fitter.fit(j, [&](int f) { return frames.at(f, b) * bound; }));
    }
    fitter.add_notes(notes);
    return clip;
}

std::string skeleton_text(const Skeleton& skeleton)
{
    return skeleton_text(skeleton, world_transforms(skeleton, rest_pose(skeleton)));
}

std::string weights_text(const SkinWeights& weights, Index bone_count)
{
    std::string text = fmt::format("# skinning weights of the vertices: n  joint weight  joint weight ...\n"
                                   "vertices {} joints {}\n",
                                   weights.vertex_count(), bone_count);
    for (Index v = 0; v < weights.vertex_count(); ++v) {
        text += fmt::format("{}", (weights.weights.col(v).array() > 0.0).count());
        for (Index s = 0; s < weights.slots(); ++s)
            if (weights.weights(s, v) > 0.0)
                text += fmt::format(" {} {:.9g}", weights.bones(s, v), weights.weights(s, v));
        text += '\n';
    }
    return text;
}

std::string clip_text(const Clip& clip, const Skeleton& skeleton, const std::vector<Bone>& given_bones,
                      double fps)
{
    const std::vector<Bone> bones = given_bones.empty() ? joint_bones(skeleton) : given_bones;
    const double last = std::floor(clip.duration() * require_positive("fps", fps) + 1e-6);
    constexpr double most_frames = 1e6;
    if (!(last < most_frames))
        throw InputError(fmt::format("clip '{}' would have {:g} frames at {:g} fps; choose fewer than {:g}",
                                     clip.name, last + 1.0, fps, most_frames));
    std::string text =
        fmt::format("# anim v1: per frame, per joint one line: 3x4 row-major skinning matrix in model "
                    "space (bind -> posed)\nfps {:.9g} frames {} joints {}\n",
                    fps, static_cast<int>(last) + 1, bones.size());
    Pose pose;
    std::vector<Affine3> world;
    for (int f = 0; f <= static_cast<int>(last); ++f) {
        pose_at(skeleton, clip, clip.begin() + f / fps, pose);
        world_transforms(skeleton, pose, world);
        text += fmt::format("frame {}\n", f);
        for (const Bone& bone : bones) {
            const Affine3 M = world[bone.joint] * bone.inverse_bind;
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 4; ++k)
                    text += fmt::format("{:.9g}{}", M.matrix()(i, k), i + k < 5 ? ' ' : '\n');
        }
    }
    return text;
}

Character read_text_rig(const fs::path& file, const ReadOptions& options)
{
    const std::string path = file.string();
    if (!io::lower_case(path).ends_with(skeleton_ending))
        throw InputError({.file = file}, "is not named NAME.skel.txt, as the skeleton of a text rig is");
    const fs::path base = path.substr(0, path.size() - skeleton_ending.size());

    Character character{.file = file};
    character.skeleton = parse_skeleton(io::read_bytes(file), file);
    character.skeleton.placement = file_placement(options);
    character.bones = joint_bones(character.skeleton);
    read_surface_and_weights(character, base, options);
    for (const auto& [name, clip] : clip_files(file.parent_path(), base.filename().string())) {
        character.clips.push_back(
            parse_clip(io::read_bytes(clip), clip, character.skeleton, character.bones, character.notes));
        character.clips.back().name = utf8_name(name);
    }
    return character;
}

void write_text_rig(const fs::path& file, const Character& character, double fps)
{
    const std::string path = file.string();
    const std::string base = path.substr(0, path.size() - skeleton_ending.size());
    const std::vector<Affine3> frames = bound_frames(character);
    std::vector<Bone> bones;
    for (int j = 0; j < character.skeleton.joint_count(); ++j) bones.push_back({j, undone(frames[j])});

    if (character.surface.triangle_count() > 0) write_surface(base + ".obj", character.surface);
    if (character.weights.vertex_count() > 0)
        write_file(base + ".weights.txt", weights_text(joint_weights(character), std::ssize(bones)));
    for (const Clip& clip : character.clips)
        write_file(fmt::format("{}.{}{}", base, file_name(clip.name), clip_ending),
                   clip_text(clip, character.skeleton, bones, fps));
    write_file(file, skeleton_text(character.skeleton, frames));
}

} // namespace lithe
