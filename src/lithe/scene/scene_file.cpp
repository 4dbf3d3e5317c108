#include "lithe/scene/scene.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/hash.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/rig/character.hpp"
#include "lithe/scene/scene_keys.hpp"
#include "lithe/scene/toml_reader.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

constexpr double degree = 3.14159265358979323846 / 180.0;

constexpr int most_frames = 1'000'000;
constexpr int most_substeps = 10'000;
constexpr int most_iterations = 10'000;
constexpr int most_rank = 10'000;
constexpr int most_poses = 100'000;
constexpr int most_runs = 10'000; // of training
constexpr int most_tets = 100'000'000;
constexpr std::size_t most_things = 10'000; // bodies, and obstacles
constexpr std::size_t most_groups = 63;
constexpr std::size_t most_keys = 1'000'000; // of one motion
constexpr Range any_turn{-360'000.0, 360'000.0};

// Keys that exclude each other.
using Keys = std::string_view[];
constexpr Keys sources = {"mesh", "shape"}, character_sources = {"file", "shape"},
               body_sources = {"mesh", "shape", "model"}, sizes = {"rank", "auto"},
               resolutions = {"tets", "cell"}, parts = {"label", "color"}, motor_goals = {"speed", "angle"},
               loads = {"force", "pressure", "wind"}, selectors = {"box", "sphere", "vertices", "color"};

constexpr Choices<LinearSolver, 3> linear_solvers = {
    {{"automatic", LinearSolver::Automatic},
     {"cholesky", LinearSolver::Cholesky},
     {"conjugate_gradient", LinearSolver::ConjugateGradient}}};
constexpr Choices<UpAxis, 2> up_axes = {{{"y", UpAxis::Y}, {"z", UpAxis::Z}}};
const Choices<Method, 4> methods = {{{method_name(Method::BackwardEuler), Method::BackwardEuler},
                                     {method_name(Method::Newmark), Method::Newmark},
                                     {method_name(Method::QuasiStatic), Method::QuasiStatic},
                                     {method_name(Method::Static), Method::Static}}};

/// Refuses a key that something else in the table leaves without effect.
void require_use(const TableReader& t, std::string_view key, bool has_use, std::string_view belongs_to)
{
    if (t.has(key) && !has_use) t.fail_at(key, fmt::format("{} belongs to {}; remove it", key, belongs_to));
}

// ---- [time], [world], [solver]

SceneTime read_time(TableReader t)
{
    SceneTime time;
    std::optional<int> frames;
    t.read("fps", time.fps, as::number(quantity::rate, from_to(1e-3, 1e6)));
    t.read("substeps", time.substeps, as::integer(1, most_substeps));
    t.read("frames", frames, as::integer(0, most_frames));
    t.read("method", time.method, as::choice(methods));
    t.read("newmark_beta", time.newmark_beta,
           as::number(quantity::number, {.low = 0.0, .high = 0.5, .low_end = Range::End::Open}));
    t.read("newmark_gamma", time.newmark_gamma, as::number(quantity::number, from_to(0.5, 1.0)));
    t.finish();
    for (const char* key : {"newmark_beta", "newmark_gamma"})
        require_use(t, key, time.method == Method::Newmark, "method = \"newmark\"");
    time.frames = frames.value_or(time.method == Method::Static ? 1 : time.frames);
    return time;
}

/// [world]
struct WrittenWorld {
    Vec3 gravity = Scene().gravity; ///< [m/s^2]
    bool sleep = false;
};

WrittenWorld read_world(TableReader t)
{
    WrittenWorld world;
    t.read("gravity", world.gravity, as::vector(quantity::acceleration));
    t.read("sleep", world.sleep, as::boolean());
    t.finish();
    return world;
}

/// [solver]
struct WrittenSolver {
    NewtonOptions newton = {};
    ImpulseOptions impulses = {};
};

WrittenSolver read_solver(TableReader t)
{
    WrittenSolver out;
    NewtonOptions& solver = out.newton;
    t.read("tolerance", solver.decrement, as::number(quantity::number, inside(0.0, 1.0)));
    t.read("max_iterations", solver.max_iterations, as::integer(1, most_iterations));
    t.read("linear", solver.linear_solver, as::choice(linear_solvers));
    t.read("impulse_tolerance", out.impulses.tolerance, as::number(quantity::number, inside(0.0, 1.0)));
    t.read("impulse_sweeps", out.impulses.max_sweeps, as::integer(1, most_iterations));
    t.finish();
    return out;
}

// ---- materials

MaterialKind read_kind(const TomlValue& value)
{
    std::vector<std::string_view> names;
    for (const MaterialKind kind : material_kinds()) names.push_back(material_name(kind));
    return material_kinds()[value.choice(names)];
}

SceneMaterial read_material_table(TableReader t)
{
    SceneMaterial material;
    material.place = t.place();
    t.read("kind", material.kind, read_kind);
    t.read("young", material.young, as::number(quantity::pressure, above(0.0)));
    t.read("poisson", material.poisson, as::number(quantity::number, inside(-1.0, 0.5)));
    t.read("density", material.density, as::number(quantity::density, above(0.0)));
    t.read("mooney_ratio", material.mooney_ratio, as::number(quantity::number, at_least(0.0)));
    t.read("limit_stretch", material.limit_stretch, as::number(quantity::number, above(1.0)));
    t.finish();
    require_use(t, "mooney_ratio", material.kind == MaterialKind::MooneyRivlin, "kind = \"mooney_rivlin\"");
    require_use(t, "limit_stretch", material.kind == MaterialKind::ArrudaBoyce, "kind = \"arruda_boyce\"");
    return material;
}

using MaterialTable = std::map<std::string, SceneMaterial, std::less<>>;

/// Names appear in messages, reports and files for other programs.
void require_short_name(const TomlValue& value, const std::string& name)
{
    if (shortened(name) != name) value.fail("is not a name: at most 60 printable characters");
}

MaterialTable read_materials(TableReader t)
{
    MaterialTable materials;
    for (const TomlValue& entry : t.entries()) {
        if (!entry.is_table())
            entry.fail("is not a material; name the table, as in [material.rubber], and the body: material = "
                       "\"rubber\"");
        require_short_name(entry, entry.name());
        materials.emplace(entry.name(),
                          read_material_table(entry.table(fmt::format("[material.{}]", entry.name()))));
    }
    return materials;
}

/// The name of a [material.NAME] or of a kind, or a table.
SceneMaterial read_material(const TomlValue& value, const MaterialTable& materials)
{
    if (!value.is_text()) {
        if (!value.is_table()) value.fail_type("the name of a material or a table");
        return read_material_table(value.table("", "material"));
    }
    const std::string name = value.text();
    if (const auto found = materials.find(name); found != materials.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, material] : materials) names.push_back(known);
    for (const MaterialKind kind : material_kinds()) {
        if (material_name(kind) == name) return {.kind = kind, .place = value.place()};
        names.emplace_back(material_name(kind));
    }
    value.fail("is neither the name of a [material.NAME] nor a kind" + did_you_mean(name, names));
}

// ---- where things are

/// Angles about the fixed axes [rad], x first, then y, then z.
Quat rotation_of(const Vec3& angles)
{
    return Eigen::AngleAxisd(angles[2], Vec3::UnitZ()) * Eigen::AngleAxisd(angles[1], Vec3::UnitY()) *
           Eigen::AngleAxisd(angles[0], Vec3::UnitX());
}

/// A pose as people write it.
struct WrittenPose {
    Vec3 translation = Vec3::Zero(); ///< [m]
    Vec3 angles = Vec3::Zero();      ///< [rad]
    RigidPose pose() const { return {rotation_of(angles), translation}; }
};

void read_pose(TableReader& t, std::string_view translation, WrittenPose& pose)
{
    t.read(translation, pose.translation, as::vector(quantity::length));
    t.read("rotation", pose.angles, as::vector(quantity::angle, any_turn));
}

/// Poses over time whose angles are interpolated as written: turns of more than a quarter are cut into smaller ones,
/// since Keyframes goes the short way round, and the way of a whole turn would be none.
class MotionBuilder {
public:
    void add(double time, const WrittenPose& next)
    {
        if (!times_.empty()) add_pieces(time, next);
        push(time, next);
        last_ = next;
    }
    std::size_t size() const { return times_.size(); }
    double last_time() const { return times_.back(); }
    Keyframes<RigidPose> build() && { return {std::move(times_), std::move(poses_)}; }

private:
    void add_pieces(double time, const WrittenPose& next)
    {
        constexpr double quarter = 90.0 * degree * (1.0 + 1e-9); // 90 written is not more than a quarter
        const double turn = (next.angles - last_.angles).cwiseAbs().maxCoeff();
        const int pieces = std::max(1, static_cast<int>(std::ceil(turn / quarter)));
        const double time_0 = times_.back();
        for (int i = 1; i < pieces; ++i) {
            const double s = static_cast<double>(i) / pieces, t = interpolated(time_0, time, s);
            if (t <= times_.back() || t >= time) continue; // shorter than the digits of time
            push(t, {interpolated(last_.translation, next.translation, s),
                     interpolated(last_.angles, next.angles, s)});
        }
    }
    void push(double time, const WrittenPose& pose)
    {
        times_.push_back(time);
        poses_.push_back(pose.pose());
    }

    std::vector<double> times_;
    std::vector<RigidPose> poses_;
    WrittenPose last_;
};

void require_rising(const TomlValue& time, double value, double before)
{
    if (value <= before) time.fail(fmt::format("must be after the time before it, {} s", before));
}

/// [{time, TRANSLATION, rotation}, ...]; what an entry leaves out is as in `rest`.
Keyframes<RigidPose> read_motion(const TomlValue& value, std::string_view translation,
                                 const WrittenPose& rest)
{
    MotionBuilder motion;
    for (std::size_t i = 0, count = value.table_count(); i < count; ++i) {
        TableReader t = value.table(i);
        WrittenPose pose = rest;
        const auto time = t.find("time");
        read_pose(t, translation, pose);
        t.finish();
        t.require("time");
        const double seconds = time->number(quantity::time, {});
        if (motion.size() > 0) require_rising(*time, seconds, motion.last_time());
        motion.add(seconds, pose);
        if (motion.size() > most_keys)
            t.fail(fmt::format("the motion turns too often; at most {} quarter turns and keys", most_keys));
    }
    if (motion.size() == 0) value.fail("needs at least one entry, as in [{time = 0}]");
    return std::move(motion).build();
}

/// A number, or [[time, factor], ...].
Keyframes<double> read_factor(const TomlValue& value)
{
    const std::string wanted = "a number or pairs of time and factor, as in [[0, 0], [1, 1]]";
    if (!value.is_list()) {
        if (value.is_text() || value.is_table()) value.fail_type(wanted);
        return value.number(quantity::number, {});
    }
    std::vector<double> times, factors;
    for (std::size_t i = 0, count = value.length(wanted); i < count; ++i) {
        const std::vector<TomlValue> pair =
            value.item(i).items(2, "a pair of time and factor, as in [1, 0.5]");
        const double time = pair[0].number(quantity::time, {});
        if (!times.empty()) require_rising(pair[0], time, times.back());
        times.push_back(time);
        factors.push_back(pair[1].number(quantity::number, {}));
    }
    if (times.empty()) value.fail("needs at least one pair, as in [[0, 1]]");
    return {std::move(times), std::move(factors)};
}

// ---- which vertices

BoxSelector read_box(const TomlValue& value)
{
    const std::string wanted = "two corners, as in [[0, 0, 0], [1, 1, 1]]";
    const std::vector<TomlValue> corners = value.items(2, wanted);
    const Range side{.infinity = Range::Infinity::Allow};
    const BoxSelector box{corners[0].vector(quantity::length, side),
                          corners[1].vector(quantity::length, side)};
    if ((box.low.array() > box.high.array()).any())
        corners[1].fail("must not be below the first corner in x, y or z");
    return box;
}

SphereSelector read_sphere(const TomlValue& value)
{
    TableReader t = value.table();
    SphereSelector sphere{Vec3::Zero(), 0.0};
    t.read("centre", sphere.centre, as::vector(quantity::length));
    t.read("radius", sphere.radius, as::number(quantity::length, above(0.0)));
    t.finish();
    t.require("centre");
    t.require("radius");
    return sphere;
}

ListSelector read_vertices(const TomlValue& value)
{
    ListSelector list;
    for (std::size_t i = 0, count = value.length("a list of vertices, as in [0, 5, 7]"); i < count; ++i)
        list.vertices.push_back(value.item(i).integer(0, std::numeric_limits<int>::max()));
    if (list.vertices.empty()) value.fail("must name at least one vertex");
    return list;
}

ColorSelector read_color_selector(TableReader& t)
{
    ColorSelector color{Vec3::Zero(), 0.05};
    t.read("color", color.color, as::color());
    t.read("tolerance", color.tolerance, as::number(quantity::number, from_to(0.0, 1.0)));
    return color;
}

/// Reads the keys of a selector. The caller has finished the table before it asks how many of them there are.
Selector read_selector(TableReader& t)
{
    Selector where = AllSelector{};
    const ColorSelector color = read_color_selector(t);
    t.read("box", where, read_box);
    t.read("sphere", where, read_sphere);
    t.read("vertices", where, read_vertices);
    if (t.has("color")) where = color;
    return where;
}

void require_tolerance_use(const TableReader& t)
{
    require_use(t, "tolerance", t.has("color"), "color");
}

// ---- parts of bodies

SceneRegion read_region(TableReader t, const MaterialTable& materials)
{
    SceneRegion region{.place = t.place()};
    const ColorSelector color = read_color_selector(t);
    t.read("label", region.part,
           as::integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    t.read("material", region.material, [&](const TomlValue& v) { return read_material(v, materials); });
    t.finish();
    if (t.one_of(parts) == "color") region.part = color;
    require_tolerance_use(t);
    t.require("material");
    return region;
}

ScenePin read_pin(TableReader t)
{
    ScenePin pin{.where = read_selector(t), .place = t.place()};
    t.read("motion", pin.motion, [](const TomlValue& v) { return read_motion(v, "translation", {}); });
    t.read("about", pin.about, as::vector(quantity::length));
    t.read("release", pin.release, as::number(quantity::time, at_least(0.0)));
    t.finish();
    (void)t.one_of(selectors);
    require_tolerance_use(t);
    require_use(t, "about", t.has("motion"), "motion");
    return pin;
}

SceneLoad read_load(TableReader t)
{
    SceneLoad load{.where = read_selector(t), .place = t.place()};
    WindLoad wind;
    t.read("force", load.load, [](const TomlValue& v) { return ForceLoad{v.vector(quantity::force, {})}; });
    t.read("pressure", load.load,
           [](const TomlValue& v) { return PressureLoad{v.number(quantity::pressure, {})}; });
    t.read("wind", wind.velocity, as::vector(quantity::speed));
    t.read("air_density", wind.air_density, as::number(quantity::density, above(0.0)));
    t.read("drag", wind.drag, as::number(quantity::number, at_least(0.0)));
    t.read("factor", load.factor, read_factor);
    t.finish();
    if (t.one_of(loads) == "wind") load.load = wind;
    for (const char* key : {"air_density", "drag"}) require_use(t, key, t.has("wind"), "wind");
    (void)t.at_most_one_of(selectors);
    require_tolerance_use(t);
    return load;
}

RayleighDamping read_damping(const TomlValue& value)
{
    TableReader t = value.table();
    RayleighDamping damping = SceneBody().damping;
    t.read("mass", damping.mass, as::number(quantity::rate, at_least(0.0)));
    t.read("stiffness", damping.stiffness, as::number(quantity::time, at_least(0.0)));
    t.finish();
    return damping;
}

SceneDisturbance read_disturbance(const TomlValue& value)
{
    TableReader t = value.table();
    SceneDisturbance disturbed;
    t.read("amount", disturbed.amount, as::number(quantity::length, above(0.0)));
    t.read("seed", disturbed.seed, as::integer(0, std::numeric_limits<int>::max()));
    t.finish();
    t.require("amount");
    return disturbed;
}

SceneReduction read_reduction(TableReader t)
{
    SceneReduction reduction{.place = t.place()};
    bool automatic = false;
    t.read("rank", reduction.rank, as::integer(1, most_rank));
    t.read("auto", automatic, as::boolean());
    t.read("tolerance", reduction.tolerance, as::number(quantity::number, {1e-9, 1.0}));
    t.read("elastic", reduction.elastic, as::choice(elastic_choices));
    t.read("rule", reduction.rule, as::choice(cubature_rules));
    t.read("poses", reduction.poses, as::integer(8, most_poses));
    t.read("contact_modes", reduction.contact_modes, as::integer(0, most_rank));
    t.read("seed", reduction.seed, as::integer(0, std::numeric_limits<int>::max()));
    t.finish();
    (void)t.at_most_one_of(sizes);
    if (automatic) reduction.rank.reset();
    return reduction;
}

std::vector<std::string> read_names(const TomlValue& value)
{
    std::vector<std::string> names;
    for (std::size_t i = 0, count = value.length("a list of names"); i < count; ++i)
        names.push_back(value.item(i).text());
    return names;
}

SceneTrack read_track(TableReader t)
{
    SceneTrack track{.place = t.place()};
    t.read("joint", track.joint, as::text());
    t.read("motion", track.motion, [](const TomlValue& v) { return read_motion(v, "translation", {}); });
    t.finish();
    t.require("joint");
    t.require("motion");
    return track;
}

SceneBones read_bones(TableReader t)
{
    SceneBones bones{.place = t.place()};
    t.read("modes", bones.modes, as::integer(0, most_rank));
    t.read("overlap", bones.overlap, as::number(quantity::number, {0.0, 0.999}));
    t.read("hold", bones.hold, as::choice(bone_holds));
    t.read("rigid", bones.rigid, read_names);
    t.read("proxy", bones.proxy, as::integer(4, most_tets));
    t.finish();
    return bones;
}

SceneLedBone read_led(TableReader t)
{
    SceneLedBone led{.place = t.place()};
    t.read("bone", led.bone, as::text());
    t.read("motion", led.motion, [](const TomlValue& v) { return read_motion(v, "translation", {}); });
    t.finish();
    t.require("bone");
    return led;
}

SceneMuscle read_muscle(TableReader t)
{
    SceneMuscle muscle{.place = t.place()};
    t.read("bone", muscle.bone, as::text());
    t.read("axis", muscle.axis, as::vector(quantity::number));
    t.read("angle", muscle.angle,
           [](const TomlValue& v) { return degree * v.number(quantity::number, {-180.0, 180.0}); });
    t.read("period", muscle.period, as::number(quantity::time, above(0.0)));
    t.read("phase", muscle.phase, as::number(quantity::number, {-1000.0, 1000.0}));
    t.finish();
    for (const char* key : {"bone", "angle"}) t.require(key);
    if (muscle.axis.isZero(0.0)) t.fail_at("axis", "axis has no direction");
    return muscle;
}

// ---- bodies and obstacles

/// Reads the [[body]] and [[obstacle]] tables of one scene.
class SceneReader {
public:
    explicit SceneReader(TomlDocument& document) : document_(document) {}

    Scene read();

private:
    std::vector<SceneBody> read_body(TableReader t);
    std::vector<SceneBody> with_copies(SceneBody body, const std::vector<WrittenPose>& copies);
    SceneObstacle read_obstacle(TableReader t);
    SceneCharacter read_character(TableReader t);
    SceneLattice read_lattice(TableReader t) const;
    SceneStiffness read_stiffness(TableReader t) const;
    ScenePlay read_play(TableReader t) const;
    void check_joint(const SceneJoint& joint, const TableReader& t) const;
    void check_named(const TableReader& t, std::string_view key, const std::string& name) const;
    ScenePair read_pair(TableReader t) const;
    SceneFilter read_filter(TableReader& t);
    void check_groups(const Scene& scene) const;
    SceneSource read_source(TableReader& t) const;
    fs::path read_mesh(const TomlValue& value) const;
    std::string read_shape(const TomlValue& value) const;
    fs::path resolved(const TomlValue& value) const;
    fs::path resolved_file(const TomlValue& value) const;
    fs::path read_character_file(const TomlValue& value) const;
    SceneTraining read_training(TableReader t) const;
    std::string read_name(const TomlValue& value);
    template <class Things>
    void name_the_rest(Things& things, const std::string& kind);

    TomlDocument& document_;
    MaterialTable materials_;
    std::map<std::string, Place, std::less<>> names_;
    std::set<std::string, std::less<>> groups_; ///< that something belongs to
};

/// "; did you mean 'ball.obj'?" when such a file is in the folder where `path` is not.
std::string similar_file(const fs::path& path)
{
    std::error_code ignored;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return did_you_mean(path.filename().string(), names);
}

/// A path that begins at the folder of the scene. The file, or folder, must be there.
fs::path SceneReader::resolved(const TomlValue& value) const
{
    const fs::path folder = document_.name().parent_path();
    const fs::path path = ((folder.empty() ? "." : folder) / value.text()).lexically_normal();
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        value.fail(
            fmt::format("is not there; looked for {}{}", in_quotes(path.string()), similar_file(path)));
    return path;
}

fs::path SceneReader::resolved_file(const TomlValue& value) const
{
    fs::path path = resolved(value);
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) value.fail("is not a file");
    return path;
}

fs::path SceneReader::read_mesh(const TomlValue& value) const
{
    const fs::path path = value.text();
    try {
        if (!holds_character(path)) (void)format_of(path);
    } catch (const InputError& error) {
        throw InputError(value.place(), error.what());
    }
    return resolved_file(value);
}

/// A shape that can be made. A torus is made to see that, as coarsely as can be.
std::string SceneReader::read_shape(const TomlValue& value) const
{
    std::string shape = value.text();
    if (shape.ends_with(".shape")) shape = resolved_file(value).string();
    try {
        Progress silent;
        if (!find_rigid_shape(shape) && !find_shape_model(shape)) (void)make_shape(shape, 1e6, silent);
    } catch (const InputError& error) {
        throw InputError(value.place(), error.what());
    }
    return shape;
}

SceneSource SceneReader::read_source(TableReader& t) const
{
    SceneSource source;
    t.read("mesh", source.from, [&](const TomlValue& v) { return read_mesh(v); });
    t.read("shape", source.from, [&](const TomlValue& v) { return read_shape(v); });
    t.read("scale", source.read.scale, as::number(quantity::number, above(0.0)));
    t.read("up", source.read.up, as::choice(up_axes));
    return source;
}

/// Once all keys are read: one source, and no key without effect.
void check_source(const TableReader& t, std::span<const std::string_view> keys, SceneSource& source)
{
    source.place = t.place(t.one_of(keys));
    for (const char* key : {"scale", "up"}) require_use(t, key, t.has("mesh"), "mesh");
}

fs::path SceneReader::read_character_file(const TomlValue& value) const
{
    fs::path file = resolved_file(value);
    if (!holds_character(file)) value.fail("is not a character; known are .glb .gltf .shape and .skel.txt");
    return file;
}

std::string SceneReader::read_name(const TomlValue& value)
{
    std::string name = value.text();
    require_short_name(value, name);
    const auto [known, fresh] = names_.emplace(name, value.place());
    if (!fresh) value.fail(fmt::format("is taken: line {} has that name too", known->second.line));
    return name;
}

/// "body", "body 2", ..., passing over names that the file gives to others.
template <class Things>
void SceneReader::name_the_rest(Things& things, const std::string& kind)
{
    int number = 1;
    for (auto& thing : things)
        while (thing.name.empty()) {
            std::string name = number == 1 ? kind : fmt::format("{} {}", kind, number);
            if (names_.emplace(name, thing.place).second) thing.name = std::move(name);
            ++number;
        }
}

SceneStiffness SceneReader::read_stiffness(TableReader t) const
{
    constexpr std::array<std::string_view, 3> places = {"bone", "color", "mask"};
    SceneStiffness stiffness{.place = t.place()};
    t.read("bone", stiffness.bone, as::text());
    t.read("color", stiffness.color, as::color());
    t.read("mask", stiffness.mask, [&](const TomlValue& v) { return resolved_file(v); });
    t.read("young", stiffness.young, as::number(quantity::pressure, above(0.0)));
    t.finish();
    t.require("young");
    (void)t.one_of(places);
    return stiffness;
}

ScenePlay SceneReader::read_play(TableReader t) const
{
    ScenePlay play{.place = t.place()};
    t.read("bones", play.bones, read_names);
    t.read("clip", play.clip, as::text());
    t.read("motion", play.motion, [&](const TomlValue& v) { return resolved_file(v).string(); });
    t.read("rig", play.rig, [&](const TomlValue& v) { return read_character_file(v); });
    t.read("start", play.playback.start, as::number(quantity::time));
    t.read("speed", play.playback.speed, as::number(quantity::number));
    t.read("loop", play.playback.loop, as::boolean());
    t.read("blend", play.blend, as::number(quantity::time, at_least(0.0)));
    t.finish();
    t.require("bones");
    if (play.bones.empty()) t.fail_at("bones", "bones must name at least one bone");
    return play;
}

SceneLattice SceneReader::read_lattice(TableReader t) const
{
    SceneLattice lattice{.place = t.place()};
    t.read("size", lattice.size, as::integer(20, 20'000));
    t.read("file", lattice.file, [&](const TomlValue& v) { return resolved_file(v); });
    t.read("levels", lattice.levels, as::integer(0, 3));
    t.read("proxy", lattice.proxy, as::integer(4, most_tets));
    t.read("damping", lattice.damping, as::number(quantity::rate, at_least(0.0)));
    t.read_tables("stiffness", [&](const TableReader& s) { lattice.stiffness.push_back(read_stiffness(s)); });
    t.read("scheme", lattice.scheme, as::choice(lattice_schemes));
    t.read("clip", lattice.clip, as::text());
    t.read("motion", lattice.motion, [&](const TomlValue& v) { return resolved_file(v).string(); });
    t.read_tables("track", [&](const TableReader& track) { lattice.tracks.push_back(read_track(track)); });
    t.read("start", lattice.playback.start, as::number(quantity::time));
    t.read("speed", lattice.playback.speed, as::number(quantity::number));
    t.read("loop", lattice.playback.loop, as::boolean());
    t.finish();
    require_use(t, "size", !t.has("file"), "a lattice without a file");
    if (t.has("track") && (t.has("clip") || t.has("motion")))
        t.fail_at("track", "a character plays a clip or its tracks, not both; remove one");
    return lattice;
}

/// A prepared lattice may still be told what to play.
void require_only_playing(const TableReader& t)
{
    for (const char* key : {"size", "file", "levels", "proxy", "damping", "stiffness"})
        if (t.has(key))
            t.fail_at(key, fmt::format("{} is part of the model; say it when the model is prepared", key));
}

/// A prepared model brings what it was made from with it.
void require_only_model(const TableReader& t)
{
    for (const char* key :
         {"tets", "cell", "material", "mass", "damping", "bones", "reduce", "region", "pin", "rigid"})
        if (t.has(key))
            t.fail_at(key,
                      fmt::format(
                          "{} is part of the model; say it when the model is prepared, or give the mesh and "
                          "[body.reduce] instead of the model",
                          key));
}

/// The body, and others like it elsewhere: named "brick", "brick 2", ... where it has a name.
std::vector<SceneBody> SceneReader::with_copies(SceneBody body, const std::vector<WrittenPose>& copies)
{
    std::vector<SceneBody> out = {std::move(body)};
    int number = 1;
    for (const WrittenPose& pose : copies) {
        SceneBody copy = out.front();
        copy.placement = pose.pose();
        copy.copy_of = 0;
        while (!copy.name.empty()) {
            copy.name = fmt::format("{} {}", out.front().name, ++number);
            if (names_.emplace(copy.name, copy.place).second) break;
        }
        out.push_back(std::move(copy));
    }
    return out;
}

std::vector<SceneBody> SceneReader::read_body(TableReader t)
{
    SceneBody body{.place = t.place()};
    WrittenPose placement;
    t.read("name", body.name, [&](const TomlValue& v) { return read_name(v); });
    body.source = read_source(t);
    t.read("detail", body.source.detail, as::number(quantity::length, above(0.0)));
    t.read("model", body.model, [&](const TomlValue& v) { return resolved_file(v); });
    t.read("tets", body.tets, as::integer(1, most_tets));
    t.read("cell", body.cell, as::number(quantity::length, above(0.0)));
    read_pose(t, "position", placement);
    std::vector<WrittenPose> copies;
    t.read_tables("copy", [&](TableReader copy) {
        copies.push_back({Vec3::Zero(), placement.angles});
        read_pose(copy, "position", copies.back());
        copy.finish();
        copy.require("position");
    });
    t.read("velocity", body.velocity, as::vector(quantity::speed));
    t.read("angular_velocity", body.angular_velocity, as::vector(quantity::angular_speed));
    t.read("material", body.material, [&](const TomlValue& v) { return read_material(v, materials_); });
    t.read("disturbed", body.disturbed, read_disturbance);
    t.read("spin", body.spin, as::choice(spin_rules));
    t.read("mass", body.mass, as::choice(mass_kinds));
    t.read("damping", body.damping, read_damping);
    t.read("friction", body.friction, as::number(quantity::number, at_least(0.0)));
    t.read("restitution", body.restitution, as::number(quantity::number, from_to(0.0, 1.0)));
    body.filter = read_filter(t);
    t.read("rigid", body.rigid, as::boolean());
    t.read("contact_stiffness", body.contact_stiffness, as::number(quantity::contact_stiffness, above(0.0)));
    t.read("self_contact", body.self_contact, as::boolean());
    t.read("color", body.color, as::color());
    t.read("reduce", body.reduction, [](const TomlValue& v) { return read_reduction(v.table()); });
    t.read("bones", body.bones, [](const TomlValue& v) { return read_bones(v.table()); });
    t.read("lattice", body.lattice, [&](const TomlValue& v) {
        if (t.has("model")) require_only_playing(v.table());
        return read_lattice(v.table());
    });
    t.read_tables("led", [&](const TableReader& led) { body.led.push_back(read_led(led)); });
    t.read("play", body.play, [&](const TomlValue& v) { return read_play(v.table()); });
    t.read_tables("muscle", [&](const TableReader& m) { body.muscles.push_back(read_muscle(m)); });
    t.read_tables("region",
                  [&](const TableReader& r) { body.regions.push_back(read_region(r, materials_)); });
    t.read_tables("pin", [&](const TableReader& pin) { body.pins.push_back(read_pin(pin)); });
    t.read_tables("load", [&](const TableReader& load) { body.loads.push_back(read_load(load)); });
    t.finish();
    check_source(t, body_sources, body.source);
    if (body.model) require_only_model(t);
    require_use(t, "self_contact", !body.reduction && !body.rigid, "a body in full space or of bones");
    for (const char* key : {"reduce", "bones", "pin", "contact_stiffness"})
        require_use(t, key, !body.rigid, "a body that is not rigid");
    for (const char* key : {"reduce", "region", "pin", "mass", "contact_stiffness"})
        require_use(t, key, !body.bones, "a body without bones");
    for (const char* key : {"reduce", "bones", "region", "mass", "damping", "contact_stiffness", "rigid",
                            "self_contact", "velocity", "angular_velocity", "tets", "cell"})
        require_use(t, key, !body.lattice, "a body without a lattice");
    require_use(t, "detail", t.has("shape") && (body.bones || body.lattice),
                "a shape with [body.bones] or [body.lattice]");
    for (const char* key : {"led", "play", "muscle"})
        require_use(t, key, body.bones || body.model, "a body with [body.bones]");
    for (const char* key : {"disturbed", "spin"})
        require_use(t, key, (body.reduction || body.model) && !t.has("pin"),
                    "a reduced body that moves freely");
    require_use(t, "restitution", body.rigid || body.reduction || body.bones || body.model,
                "a rigid or reduced body");
    if (body.play && body.model.has_value() != body.play->rig.has_value())
        t.fail_at("play", body.model ? "play needs the rig that the model was made from"
                                     : "rig belongs to a model; a mesh or shape brings its own: remove it");
    if (const auto* shape = std::get_if<std::string>(&body.source.from); shape && *shape == "plane")
        t.fail_at("shape", "a body cannot be a plane; use a box, or an [[obstacle]]");
    (void)t.at_most_one_of(resolutions);
    body.placement = placement.pose();
    return with_copies(std::move(body), copies);
}

/// Whether bodies touch a distance field, which has cells, and not an exact shape.
bool has_distance_field(const SceneSource& source)
{
    const auto* shape = std::get_if<std::string>(&source.from);
    return shape == nullptr || !find_rigid_shape(*shape);
}

SceneObstacle SceneReader::read_obstacle(TableReader t)
{
    SceneObstacle obstacle{.place = t.place()};
    WrittenPose placement;
    t.read("name", obstacle.name, [&](const TomlValue& v) { return read_name(v); });
    obstacle.source = read_source(t);
    t.read("cell", obstacle.cell, as::number(quantity::length, above(0.0)));
    read_pose(t, "position", placement);
    obstacle.path = placement.pose();
    t.read("path", obstacle.path, [&](const TomlValue& v) { return read_motion(v, "position", placement); });
    t.read("friction", obstacle.friction, as::number(quantity::number, at_least(0.0)));
    obstacle.filter = read_filter(t);
    t.read("hidden", obstacle.hidden, as::boolean());
    t.read("color", obstacle.color, as::color());
    t.finish();
    check_source(t, sources, obstacle.source);
    if (obstacle.cell && !has_distance_field(obstacle.source))
        t.fail_at("cell", "cell has no effect on a shape that is exact; remove it");
    return obstacle;
}

SceneCharacter SceneReader::read_character(TableReader t)
{
    SceneCharacter character{.place = t.place()};
    WrittenPose placement;
    t.read("name", character.name, [&](const TomlValue& v) { return read_name(v); });
    t.read("file", character.source.from, [&](const TomlValue& v) { return read_character_file(v); });
    t.read("shape", character.source.from, [&](const TomlValue& v) { return read_shape(v); });
    t.read("scale", character.source.read.scale, as::number(quantity::number, above(0.0)));
    t.read("up", character.source.read.up, as::choice(up_axes));
    t.read("clip", character.clip, as::text());
    t.read("motion", character.motion, [&](const TomlValue& v) { return resolved_file(v).string(); });
    t.read_tables("track", [&](const TableReader& track) { character.tracks.push_back(read_track(track)); });
    t.read("start", character.start, as::number(quantity::time));
    t.read("speed", character.speed, as::number(quantity::number));
    t.read("loop", character.loop, as::boolean());
    t.read("detail", character.source.detail, as::number(quantity::length, above(0.0)));
    t.read("skinning", character.skinning, as::choice(skinning_methods));
    read_pose(t, "position", placement);
    character.placement = placement.pose();
    t.read("friction", character.friction, as::number(quantity::number, at_least(0.0)));
    character.filter = read_filter(t);
    t.read("color", character.color, as::color());
    t.finish();
    character.source.place = t.place(t.one_of(character_sources));
    for (const char* key : {"scale", "up"}) require_use(t, key, t.has("file"), "file");
    require_use(t, "detail", t.has("shape"), "shape");
    if (t.has("track") && (t.has("clip") || t.has("motion")))
        t.fail_at("track", "a character plays a clip or its tracks, not both; remove one");
    return character;
}

SceneTraining SceneReader::read_training(TableReader t) const
{
    SceneTraining training{.place = t.place()};
    const auto files = [](const auto& how) {
        return [how](const TomlValue& v) {
            std::vector<fs::path> out;
            for (std::size_t i = 0, count = v.length("a list of files"); i < count; ++i)
                out.push_back(how(v.item(i)));
            return out;
        };
    };
    t.read("runs", training.runs, as::integer(0, most_runs));
    t.read("frames", training.frames, as::integer(1, most_frames));
    t.read("every", training.every, as::integer(1, most_frames));
    t.read("jitter", training.jitter, as::number(quantity::number, from_to(0.0, 1.0)));
    t.read("seed", training.seed, as::integer(0, std::numeric_limits<int>::max()));
    t.read("snapshots", training.snapshots, files([&](const TomlValue& v) { return resolved(v); }));
    t.read("shapes", training.shapes, files([&](const TomlValue& v) { return read_mesh(v); }));
    t.finish();
    for (const char* key : {"frames", "every", "jitter", "seed"})
        require_use(t, key, training.runs > 0, "runs");
    if (training.runs == 0 && training.snapshots.empty() && training.shapes.empty())
        t.fail("[training] without runs needs snapshots or shapes");
    return training;
}

/// [joint.motor]
JointMotor read_motor(TableReader t)
{
    JointMotor motor;
    t.read("speed", motor.target, as::number(quantity::angular_speed));
    t.read("angle", motor.target, as::number(quantity::angle, from_to(-180.0, 180.0)));
    t.read("stiffness", motor.stiffness, as::number(quantity::number, above(0.0)));
    t.read("damping", motor.damping, as::number(quantity::number, at_least(0.0)));
    t.read("torque", motor.torque, as::number(quantity::number, above(0.0)));
    t.finish();
    motor.goal = t.one_of(motor_goals) == "angle" ? MotorGoal::Angle : MotorGoal::Speed;
    for (const char* key : {"stiffness", "damping"}) require_use(t, key, t.has("angle"), "angle");
    if (t.has("angle")) t.require("stiffness");
    return motor;
}

SceneJoint read_joint(TableReader t)
{
    SceneJoint out{.place = t.place()};
    JointOptions& joint = out.joint;
    t.read("a", out.a, as::text());
    t.read("b", out.b, as::text());
    t.read("kind", joint.kind, as::choice(joint_kinds));
    t.read("at", joint.place, as::vector(quantity::length));
    t.read("axis", joint.axis, as::vector(quantity::number));
    t.read("size", joint.size, as::number(quantity::length, above(0.0)));
    t.read("stiffness", joint.stiffness, as::number(quantity::stiffness, above(0.0)));
    t.read("damping", joint.damping, as::number(quantity::viscosity, at_least(0.0)));
    t.read("strength", joint.strength, as::number(quantity::force, above(0.0)));
    t.read("lower", joint.limits.lower, as::number(quantity::angle, from_to(-180.0, 180.0)));
    t.read("upper", joint.limits.upper, as::number(quantity::angle, from_to(-180.0, 180.0)));
    t.read("cone", joint.limits.cone,
           as::number(quantity::angle, {.low = 0.0, .high = 180.0, .low_end = Range::End::Open}));
    t.read("motor", joint.motor, [](const TomlValue& v) { return read_motor(v.table()); });
    t.finish();
    for (const char* key : {"a", "b", "at"}) t.require(key);
    const bool is_hinge = joint.kind == JointKind::Hinge, is_ball = joint.kind == JointKind::Ball;
    const bool has_limits = t.has("lower") || t.has("upper") || t.has("cone");
    require_use(t, "axis", is_hinge || (is_ball && has_limits), "a hinge");
    for (const char* key : {"lower", "upper"}) require_use(t, key, is_hinge || is_ball, "a hinge or a ball");
    require_use(t, "cone", is_ball, "a ball");
    require_use(t, "motor", is_hinge, "a hinge");
    if (joint.limits.lower > joint.limits.upper) t.fail_at("lower", "lower must not be above upper");
    require_use(t, "size", joint.kind != JointKind::Ball, "a hinge or a weld");
    require_use(t, "damping", t.has("stiffness"), "stiffness");
    if (joint.axis.isZero()) t.fail_at("axis", "axis has no direction");
    return out;
}

/// Names of groups.
std::vector<std::string> read_groups(const TomlValue& value)
{
    std::vector<std::string> out;
    for (std::size_t i = 0, count = value.length("a list of groups, as in [\"fish\"]"); i < count; ++i) {
        out.push_back(value.item(i).text());
        require_short_name(value.item(i), out.back());
    }
    return out;
}

SceneFilter SceneReader::read_filter(TableReader& t)
{
    SceneFilter filter;
    t.read("groups", filter.groups, read_groups);
    t.read("passes", filter.passes, read_groups);
    groups_.insert(filter.groups.begin(), filter.groups.end());
    return filter;
}

/// What passes through a group that nothing belongs to is a slip of the pen.
void SceneReader::check_groups(const Scene& scene) const
{
    const auto check = [&](const auto& things) {
        for (const auto& thing : things)
            for (const std::string& group : thing.filter.passes)
                if (!groups_.contains(group))
                    throw InputError(thing.place,
                                     fmt::format("'{}' passes the group '{}', to which nothing belongs{}",
                                                 thing.name, group,
                                                 did_you_mean(group, {groups_.begin(), groups_.end()})));
    };
    check(scene.bodies);
    check(scene.obstacles);
    check(scene.characters);
    if (groups_.size() > most_groups)
        throw InputError({.file = scene.file}, fmt::format("a scene has at most {} groups", most_groups));
}

void SceneReader::check_named(const TableReader& t, std::string_view key, const std::string& name) const
{
    if (names_.contains(name)) return;
    std::vector<std::string> known;
    for (const auto& entry : names_) known.push_back(entry.first);
    t.fail_at(key, fmt::format("there is no body or obstacle named '{}'{}", name, did_you_mean(name, known)));
}

ScenePair SceneReader::read_pair(TableReader t) const
{
    ScenePair pair{.place = t.place()};
    t.read("a", pair.a, as::text());
    t.read("b", pair.b, as::text());
    t.read("friction", pair.friction, as::number(quantity::number, at_least(0.0)));
    t.read("restitution", pair.restitution, as::number(quantity::number, from_to(0.0, 1.0)));
    t.read("collide", pair.collide, as::boolean());
    t.finish();
    for (const char* key : {"a", "b"}) t.require(key);
    check_named(t, "a", pair.a);
    check_named(t, "b", pair.b);
    if (pair.a == pair.b) t.fail_at("b", "a pair is of two bodies");
    for (const char* key : {"friction", "restitution"}) require_use(t, key, pair.collide, "collide = true");
    return pair;
}

/// Joints hold what the scene has.
void SceneReader::check_joint(const SceneJoint& joint, const TableReader& t) const
{
    check_named(t, "a", joint.a);
    check_named(t, "b", joint.b);
    if (joint.a == joint.b) t.fail_at("b", "a body cannot be joined to itself");
}

Scene SceneReader::read()
{
    Scene scene;
    scene.file = document_.name();
    TableReader t = document_.root();
    t.read("title", scene.title, as::text());
    t.read("time", scene.time, [](const TomlValue& v) { return read_time(v.table()); });
    WrittenWorld world;
    t.read("world", world, [](const TomlValue& v) { return read_world(v.table()); });
    scene.gravity = world.gravity;
    scene.sleep = world.sleep;
    WrittenSolver solver;
    t.read("solver", solver, [](const TomlValue& v) { return read_solver(v.table()); });
    scene.solver = solver.newton;
    scene.impulses = solver.impulses;
    t.read("material", materials_, [](const TomlValue& v) { return read_materials(v.table()); });
    t.read("training", scene.training, [&](const TomlValue& v) { return read_training(v.table()); });
    const auto bodies = t.find("body"), obstacles = t.find("obstacle"), characters = t.find("character"),
               joints = t.find("joint"), pairs = t.find("pair");
    t.finish();
    const auto count = [](const auto& tables) { return tables ? tables->table_count() : 0; };
    if (count(bodies) + count(characters) == 0)
        t.fail("a scene needs at least one [[body]] or [[character]]");
    if (std::max({count(bodies), count(obstacles), count(characters)}) > most_things)
        t.fail(
            fmt::format("a scene holds at most {0} bodies, {0} obstacles and {0} characters", most_things));
    for (std::size_t i = 0; i < count(bodies); ++i) {
        const std::size_t first = scene.bodies.size();
        for (SceneBody& body : read_body(bodies->table(i))) {
            if (body.copy_of) body.copy_of = first;
            scene.bodies.push_back(std::move(body));
        }
        if (scene.bodies.size() > most_things)
            t.fail(fmt::format("a scene holds at most {} bodies, copies included", most_things));
    }
    for (std::size_t i = 0; i < count(obstacles); ++i)
        scene.obstacles.push_back(read_obstacle(obstacles->table(i)));
    for (std::size_t i = 0; i < count(characters); ++i)
        scene.characters.push_back(read_character(characters->table(i)));
    name_the_rest(scene.bodies, "body");
    name_the_rest(scene.obstacles, "obstacle");
    name_the_rest(scene.characters, "character");
    for (std::size_t i = 0; i < count(joints); ++i) {
        scene.joints.push_back(read_joint(joints->table(i)));
        check_joint(scene.joints.back(), joints->table(i));
    }
    for (std::size_t i = 0; i < count(pairs); ++i) scene.pairs.push_back(read_pair(pairs->table(i)));
    check_groups(scene);
    return scene;
}

} // namespace

Scene parse_scene(std::string_view text, const fs::path& name)
{
    std::set<std::string> keys;
    return parse_scene(text, name, keys);
}

Scene parse_scene(std::string_view text, const fs::path& name, std::set<std::string>& keys)
{
    TomlDocument document(text, name);
    Scene scene = SceneReader(document).read();
    scene.text_hash = hash_bytes(text);
    keys.insert(document.asked().begin(), document.asked().end());
    return scene;
}

Scene read_scene(const fs::path& file)
{
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) throw InputError({file}, "is a folder; name a scene file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw InputError({file}, "cannot be opened; check the path");
    std::string text(largest_toml_file + 1, '\0'); // one more than is read: enough to see that it is too much
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return parse_scene(text, file);
}

} // namespace lithe
