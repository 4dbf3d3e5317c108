// Biovision's hierarchy: a tree of joints by their offsets, then a line of channel values per frame.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/io/text_scanner.hpp"
#include "lithe/rig/rig_files.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest = 1000; ///< joints below each other; people have about 10
constexpr double largest_number = 1e12;
constexpr double degree = 3.14159265358979323846 / 180.0;

/// Three positions, then three rotations.
const std::vector<std::string> channel_names = {"xposition", "yposition", "zposition",
                                                "xrotation", "yrotation", "zrotation"};

class BvhReader {
public:
    BvhReader(std::string_view text, const fs::path& name)
        : name_(name), scan_(without_mark(text), name, {.comment = '\0'})
    {
    }

    Character read(const ReadOptions& options)
    {
        character_.file = name_;
        character_.skeleton.placement = file_placement(options);
        expect("HIERARCHY");
        const bool has_motion = hierarchy();
        note_repeated_names();
        stand_up(options.up == UpAxis::Y ? 1 : 2);
        if (has_motion)
            motion();
        else
            character_.notes.push_back("there is no MOTION; only the skeleton was read");
        return std::move(character_);
    }

private:
    static std::string_view without_mark(std::string_view text)
    {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
        return text;
    }

    void expect(std::string_view wanted);
    double number();

    // -- hierarchy
    bool hierarchy();
    void item(std::string_view word);
    std::string name_and_brace();
    void open_joint(std::string name);
    void open_end_site();
    void close();
    void offset();
    void channels();
    void note_repeated_names();
    void stand_up(int up);

    // -- motion
    std::string after(std::string_view key, std::string_view form);
    void motion();
    std::vector<JointTracks> empty_tracks(int frames, double frame_time) const;
    void frame(std::vector<JointTracks>& tracks);

    struct Body {
        Vec3 offset = Vec3::Zero();
        bool has_offset = false, has_channels = false, is_end = false;
        std::vector<int> channels = {}; ///< numbers of channel_names, as listed
    };
    const std::string& joint_name(int joint) const { return character_.skeleton.joints[joint].name; }
    Body& innermost() { return bodies_[open_.back()]; }

    fs::path name_;
    io::TextScanner scan_;
    Character character_;
    std::vector<Body> bodies_; ///< of each joint
    std::vector<int> open_;    ///< joints whose brace is not closed yet, outermost first
    int channel_count_ = 0;
};

void BvhReader::expect(std::string_view wanted)
{
    const std::string_view found = scan_.word();
    if (found.empty()) scan_.fail(fmt::format("ends where {} should follow; the file is cut short", wanted));
    if (io::lower_case(found) != io::lower_case(wanted))
        scan_.fail(fmt::format("found {} where {} should stand", io::in_quotes(found), wanted));
}

double BvhReader::number()
{
    const double value = scan_.real();
    if (!(std::abs(value) <= largest_number))
        scan_.fail(fmt::format("found the number {:g}; those of a motion lie between -{:g} and {:g}", value,
                               largest_number, largest_number));
    return value;
}

/// Reads the trees; whether MOTION follows.
bool BvhReader::hierarchy()
{
    for (;;) {
        const std::string_view word = scan_.word();
        const std::string key = io::lower_case(word);
        if (!open_.empty()) {
            item(word);
        } else if (key == "root") {
            open_joint(name_and_brace());
        } else if (key == "motion" || key.empty()) {
            if (bodies_.empty()) scan_.fail("has no ROOT; a skeleton begins with 'ROOT NAME {'");
            return !key.empty();
        } else {
            scan_.fail(fmt::format("found {} where ROOT or MOTION should stand", io::in_quotes(word)));
        }
    }
}

/// One thing inside the braces of a joint.
void BvhReader::item(std::string_view word)
{
    const std::string key = io::lower_case(word);
    if (key == "joint")
        open_joint(name_and_brace());
    else if (key == "end")
        open_end_site();
    else if (key == "offset")
        offset();
    else if (key == "channels")
        channels();
    else if (key == "}")
        close();
    else if (key.empty())
        scan_.fail(fmt::format("ends inside of joint {}; a '}}' is missing, or the file is cut short",
                               io::in_quotes(joint_name(open_.back()))));
    else
        scan_.fail(fmt::format("found {} inside of joint {}; OFFSET, CHANNELS, JOINT, End Site or }} may "
                               "stand there",
                               io::in_quotes(word), io::in_quotes(joint_name(open_.back()))));
}

/// The words up to the end of the line or a brace, which may stand on the next line.
std::string BvhReader::name_and_brace()
{
    std::string name;
    for (std::string_view word = scan_.word_in_line(); !word.empty(); word = scan_.word_in_line()) {
        const bool brace = word.ends_with('{');
        if (brace) word.remove_suffix(1);
        if (!name.empty() && !word.empty()) name += ' ';
        name += word;
        if (brace) return utf8_name(name);
    }
    expect("{");
    return utf8_name(name);
}

void BvhReader::open_joint(std::string name)
{
    if (!open_.empty() && innermost().is_end)
        scan_.fail("a JOINT stands inside of an End Site, which has no joints below it");
    if (open_.size() == deepest)
        scan_.fail(fmt::format("more than {} joints are nested; the file is damaged", deepest));
    character_.skeleton.joints.push_back({std::move(name), open_.empty() ? -1 : open_.back(), {}});
    open_.push_back(static_cast<int>(bodies_.size()));
    bodies_.emplace_back();
}

void BvhReader::open_end_site()
{
    const std::string site = name_and_brace();
    if (io::lower_case(site) != "site")
        scan_.fail(fmt::format("found {} after 'End'; 'End Site' was expected", io::in_quotes(site)));
    open_joint(joint_name(open_.back()) + " end");
    innermost().is_end = true;
}

void BvhReader::close()
{
    if (!innermost().has_offset)
        scan_.fail(fmt::format("joint {} has no OFFSET; add 'OFFSET X Y Z', where it is in its parent",
                               io::in_quotes(joint_name(open_.back()))));
    character_.skeleton.joints[open_.back()].rest.translation = innermost().offset;
    open_.pop_back();
}

void BvhReader::offset()
{
    Body& body = innermost();
    if (std::exchange(body.has_offset, true))
        scan_.fail(fmt::format("joint {} has two OFFSETs", io::in_quotes(joint_name(open_.back()))));
    for (double& value : body.offset) value = number();
}

void BvhReader::channels()
{
    Body& body = innermost();
    if (body.is_end) scan_.fail("an End Site has CHANNELS; only joints move");
    if (std::exchange(body.has_channels, true))
        scan_.fail(fmt::format("joint {} has CHANNELS twice", io::in_quotes(joint_name(open_.back()))));
    const int count = scan_.claim(scan_.integer(), 10, "channels");
    std::array<bool, 3> has_position{};
    for (int c = 0; c < count; ++c) {
        const std::string_view word = scan_.word();
        const auto found = std::find(channel_names.begin(), channel_names.end(), io::lower_case(word));
        if (found == channel_names.end())
            scan_.fail(fmt::format("found {} as channel {} of {}{}", io::in_quotes(word), c + 1, count,
                                   did_you_mean(io::lower_case(word), channel_names)));
        const int channel = static_cast<int>(found - channel_names.begin());
        if (channel < 3 && std::exchange(has_position[channel], true))
            scan_.fail(fmt::format("joint {} has the channel {} twice",
                                   io::in_quotes(joint_name(open_.back())), word));
        body.channels.push_back(channel);
    }
    channel_count_ += count;
}

void BvhReader::note_repeated_names()
{
    std::set<std::string_view> seen;
    for (const Joint& joint : character_.skeleton.joints)
        if (!seen.insert(joint.name).second) {
            character_.notes.push_back(
                fmt::format("several joints are named {}; whoever asks by name finds the first",
                            io::in_quotes(joint.name)));
            return;
        }
}

/// Puts the roots whose place at rest the file leaves open so high that their lowest joint is on the ground.
void BvhReader::stand_up(int up)
{
    std::vector<Joint>& joints = character_.skeleton.joints;
    std::vector<double> height(joints.size()),
        lowest(joints.size(), 0.0); // above the root; the latter of roots
    std::vector<int> root(joints.size());
    for (int j = 0; j < static_cast<int>(joints.size()); ++j) {
        const int parent = joints[j].parent;
        root[j] = parent < 0 ? j : root[parent];
        if (parent >= 0) height[j] = height[parent] + bodies_[j].offset[up];
        lowest[root[j]] = std::min(lowest[root[j]], height[j]);
    }
    for (std::size_t j = 0; j < joints.size(); ++j) {
        const std::vector<int>& channels = bodies_[j].channels;
        const bool rises = std::find(channels.begin(), channels.end(), up) != channels.end();
        if (joints[j].parent < 0 && rises && bodies_[j].offset.isZero(0.0))
            joints[j].rest.translation[up] = -lowest[j];
    }
}

/// What stands behind "Frames:" or "Frame Time:", however it is spaced.
std::string BvhReader::after(std::string_view key, std::string_view form)
{
    if (scan_.at_end()) scan_.fail(fmt::format("ends where '{}' should follow; the file is cut short", form));
    std::string compact;
    for (std::string_view word = scan_.word_in_line(); !word.empty(); word = scan_.word_in_line())
        compact += io::lower_case(word);
    if (!compact.starts_with(key))
        scan_.fail(fmt::format("found {} where '{}' should stand", io::in_quotes(compact), form));
    return compact.substr(key.size());
}

void BvhReader::motion()
{
    const std::int64_t claimed = scan_.to_integer(after("frames:", "Frames: COUNT"));
    const double frame_time = scan_.to_real(after("frametime:", "Frame Time: SECONDS"));
    if (!(frame_time > 0.0 && frame_time <= 1e6) && claimed > 1)
        scan_.fail(fmt::format("Frame Time is {}; write the seconds between two frames, such as 0.0083333",
                               frame_time));
    const int frames = scan_.claim(claimed, 2 * static_cast<std::size_t>(channel_count_), "frames");

    Clip clip{.name = utf8_name(name_.stem().string()), .joints = empty_tracks(frames, frame_time)};
    for (int f = 0; f < frames && channel_count_ > 0; ++f) {
        frame(clip.joints);
        if (const std::string_view more = scan_.word_in_line(); !more.empty())
            scan_.fail(
                fmt::format("frame {} goes on with {} after its {} numbers; every frame begins on a new "
                            "line",
                            f, io::in_quotes(more), channel_count_));
    }
    if (!scan_.at_end())
        scan_.fail(fmt::format("found {} after the last of {} frames of {} numbers; mend 'Frames:'",
                               io::in_quotes(scan_.word()), frames, channel_count_));
    for (JointTracks& tracks : clip.joints)
        if (tracks.rotation) make_continuous(tracks.rotation->values);
    if (clip.joints.empty())
        character_.notes.push_back("the MOTION moves nothing; only the skeleton was read");
    else
        character_.clips.push_back(std::move(clip));
}

/// With the times of the frames, for the joints and channels that move.
std::vector<JointTracks> BvhReader::empty_tracks(int frames, double frame_time) const
{
    std::vector<JointTracks> tracks;
    for (std::size_t j = 0; j < bodies_.size(); ++j) {
        const std::vector<int>& channels = bodies_[j].channels;
        if (channels.empty() || frames == 0) continue;
        std::vector<double> times(frames);
        for (int f = 0; f < frames; ++f) times[f] = f * frame_time;
        JointTracks& joint = tracks.emplace_back(JointTracks{.joint = static_cast<int>(j)});
        if (std::any_of(channels.begin(), channels.end(), [](int c) { return c < 3; }))
            joint.translation = Track<Vec3>{Interpolation::Linear, times, {}};
        if (std::any_of(channels.begin(), channels.end(), [](int c) { return c >= 3; }))
            joint.rotation = Track<Quat>{Interpolation::Linear, std::move(times), {}};
    }
    return tracks;
}

/// Reads the numbers of one frame.
void BvhReader::frame(std::vector<JointTracks>& tracks)
{
    for (JointTracks& joint : tracks) {
        const Body& body = bodies_[joint.joint];
        Vec3 translation = body.offset;
        Quat rotation = Quat::Identity();
        for (const int channel : body.channels) {
            const double value = number();
            if (channel < 3)
                translation[channel] = value;
            else
                rotation = rotation * Quat(Eigen::AngleAxisd(value * degree, Vec3::Unit(channel - 3)));
        }
        if (joint.translation) joint.translation->values.push_back(translation);
        if (joint.rotation) joint.rotation->values.push_back(rotation.normalized());
    }
}

} // namespace

Character parse_bvh(std::string_view text, const fs::path& name, const ReadOptions& options)
{
    return BvhReader(text, name).read(options);
}

Character read_bvh(const fs::path& file, const ReadOptions& options)
{
    return parse_bvh(io::read_bytes(file), file, options);
}

} // namespace lithe
