#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lithe/body/joint.hpp"
#include "lithe/contact/impulse_solver.hpp"
#include "lithe/core/error.hpp"
#include "lithe/fem/loads.hpp"
#include "lithe/fem/newton.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/material/material.hpp"
#include "lithe/math/keyframes.hpp"
#include "lithe/reduce/cubature_training.hpp"
#include "lithe/reduce/lattice_scheme.hpp"
#include "lithe/reduce/spin_rule.hpp"
#include "lithe/rig/clip.hpp"
#include "lithe/rig/skinning.hpp"

namespace lithe {

// What a scene file says (docs/scene-format.md), as plain structs: checked one by one, but nothing is loaded yet. Every
// part knows its place in the file, so that what goes wrong later is said there. SI units, angles in radians.

enum class Method { BackwardEuler, Newmark, QuasiStatic, Static };
/// As in the file: "backward_euler", "newmark", "quasi_static", "static".
std::string_view method_name(Method method);

/// [time]
struct SceneTime {
    double fps = 60.0; ///< frames per second, > 0
    int substeps = 1;  ///< steps per frame, > 0
    int frames = 120;  ///< after the start, >= 0; 1 for the method Static unless said otherwise
    Method method = Method::BackwardEuler;
    double newmark_beta = 0.25, newmark_gamma = 0.5; ///< ranges as in NewmarkOptions
};

/// What a body, or one region of it, is made of. Without `young`, the modulus is chosen from the body's size
/// and weight (see prepare).
struct SceneMaterial {
    MaterialKind kind = MaterialKind::StableNeoHookean;
    std::optional<double> young = {};         ///< [Pa], > 0
    double poisson = 0.4;                     ///< in (-1, 1/2)
    double density = 1000.0;                  ///< [kg/m^3], > 0
    std::optional<double> mooney_ratio = {};  ///< as in MaterialParameters
    std::optional<double> limit_stretch = {}; ///< as in MaterialParameters
    Place place = {};
};

/// Some vertices of a body at rest, in the coordinates of the placed body at the start.
struct BoxSelector {
    Vec3 low, high; ///< [m]
};
struct SphereSelector {
    Vec3 centre;
    double radius; ///< [m], > 0
};
struct ListSelector {
    std::vector<int> vertices; ///< of the mesh that is simulated, from 0
};
struct ColorSelector {
    Vec3 color;       ///< sRGB, each in [0, 1]
    double tolerance; ///< largest difference of a component, in [0, 1]
};
/// What lies at a side of the body: at its low or high end of an axis, up to a share of its size.
struct SideSelector {
    enum class End { Low, High };
    int axis = 0;       ///< 0, 1, 2
    End end = End::Low; ///< of the axis
    double share = 0.0; ///< in (0, 1)
};
struct AllSelector {};
using Selector =
    std::variant<AllSelector, BoxSelector, SphereSelector, ListSelector, ColorSelector, SideSelector>;

/// [[body.region]]: another material for a part of the body.
struct SceneRegion {
    std::variant<int, ColorSelector> part = {}; ///< label of the tets in the file, or colour of the vertices
    SceneMaterial material = {};
    Place place = {};
};

/// [[body.pin]]: vertices that are held, or led along a motion. The pose is applied about `about`, on top of where the
/// vertices are at the start.
struct ScenePin {
    Selector where = {};
    Keyframes<RigidPose> motion = RigidPose{};
    std::optional<Vec3> about = {};     ///< [m]; the middle of the pinned vertices when absent
    std::optional<double> release = {}; ///< from this time on they are free [s]
    Place place = {};
};

/// [[body.load]]
struct SceneLoad {
    Load load = {};
    Selector where = {};
    Keyframes<double> factor = 1.0; ///< of the load, over time
    Place place = {};
};

/// Where the surface of a body or an obstacle comes from.
struct SceneSource {
    std::variant<std::filesystem::path, std::string> from =
        {};                            ///< a file, relative paths resolved; or a shape (make_shape)
    ReadOptions read = {};             ///< of the file
    std::optional<double> detail = {}; ///< edges of the surface of a character's shape [m], > 0
    Place place = {};
};

/// Which elastic model a reduced body gets.
enum class ElasticChoice {
    Automatic, ///< polynomials for St. Venant-Kirchhoff up to rank 40, linear for the linear law, else cubature
    Linear,    ///< the stiffness at rest
    Polynomial, ///< exact, for St. Venant-Kirchhoff only
    Cubature
};

/// Names of choices, as scene files and the command line have them.
template <class T, std::size_t n>
using Choices = std::array<std::pair<std::string_view, T>, n>;
inline constexpr Choices<ElasticChoice, 4> elastic_choices = {{{"automatic", ElasticChoice::Automatic},
                                                               {"linear", ElasticChoice::Linear},
                                                               {"polynomial", ElasticChoice::Polynomial},
                                                               {"cubature", ElasticChoice::Cubature}}};
inline constexpr Choices<CubatureRule, 4> cubature_rules = {{{"omp", CubatureRule::NonNegativeOmp},
                                                             {"greedy", CubatureRule::Greedy},
                                                             {"importance", CubatureRule::Importance},
                                                             {"htp", CubatureRule::HardThresholding}}};
inline constexpr Choices<MassKind, 2> mass_kinds = {
    {{"consistent", MassKind::Consistent}, {"lumped", MassKind::Lumped}}};
inline constexpr Choices<LatticeScheme, 4> lattice_schemes = {{{"blended", LatticeScheme::Blended},
                                                               {"corotated", LatticeScheme::Corotated},
                                                               {"linear", LatticeScheme::Linear},
                                                               {"nonlinear", LatticeScheme::Nonlinear}}};
inline constexpr Choices<SpinRule, 2> spin_rules = {{{"exact", SpinRule::Exact}, {"naive", SpinRule::Naive}}};
inline constexpr Choices<SkinningMethod, 2> skinning_methods = {
    {{"linear", SkinningMethod::Linear}, {"dual_quaternion", SkinningMethod::DualQuaternion}}};
inline constexpr Choices<JointKind, 3> joint_kinds = {
    {{"ball", JointKind::Ball}, {"hinge", JointKind::Hinge}, {"weld", JointKind::Weld}}};
/// The name of a choice.
template <class T, std::size_t n>
constexpr std::string_view name_of(T value, const Choices<T, n>& choices)
{
    for (const auto& [name, choice] : choices)
        if (choice == value) return name;
    return {};
}

/// [body.reduce], and what `lithe prepare` is asked for: how a body becomes a reduced one.
struct SceneReduction {
    std::optional<Index> rank = 30; ///< > 0; absent: the smallest that meets the tolerance
    double tolerance = 0.02;        ///< of the held-out errors, > 0
    ElasticChoice elastic = ElasticChoice::Automatic;
    CubatureRule rule = CubatureRule::NonNegativeOmp;
    std::optional<Index> poses =
        {}; ///< for the cubature, a quarter of them held out; absent: 200, or 8 per coordinate
    Index contact_modes = 0; ///< patches of the surface that get their own static responses
    std::uint64_t seed = 1;
    Place place = {};
};

/// How a bone holds on to its parent.
enum class BoneHold {
    Weld,  ///< three points: they move as one but for what they deform
    Hinge, ///< two points, across the bone
    Ball   ///< one
};
inline constexpr Choices<BoneHold, 3> bone_holds = {
    {{"weld", BoneHold::Weld}, {"hinge", BoneHold::Hinge}, {"ball", BoneHold::Ball}}};

/// [body.bones]: the body is a character, and its bones deform.
struct SceneBones {
    Index modes = 10;      ///< of each bone, >= 0
    double overlap = 0.15; ///< weight from which flesh is a bone's too, in [0, 1)
    BoneHold hold = BoneHold::Weld;
    std::vector<std::string> rigid = {}; ///< bones that do not deform
    Index proxy = 300;                   ///< vertices of the surface that collides, about
    Place place = {};
};

/// [[character.track]], [[body.lattice.track]]: how one joint moves, on top of its rest.
struct SceneTrack {
    std::string joint = {};
    Keyframes<RigidPose> motion = RigidPose{}; ///< turned in the joint's own axes, shifted in its parent's
    Place place = {};
};

/// [[body.lattice.stiffness]]: some of the flesh, by one of these, with a modulus of its own.
struct SceneStiffness {
    std::optional<std::string> bone = {};           ///< around it
    std::optional<Vec3> color = {};                 ///< below skin painted so (sRGB)
    std::optional<std::filesystem::path> mask = {}; ///< inside this closed mesh
    double young = 0.0;                             ///< [Pa], > 0
    Place place = {};
};

/// [body.lattice]: the body is a character with flesh in a control lattice, which its skeleton drives.
struct SceneLattice {
    std::optional<Index> size = {};                 ///< vertices of the lattice, about
    std::optional<std::filesystem::path> file = {}; ///< or one made by hand
    int levels = 1;                                 ///< of details, 0 to 3
    Index proxy = 300;                              ///< vertices of the surface that collides, about
    std::optional<double> damping = {};             ///< [1/s], >= 0
    std::vector<SceneStiffness> stiffness = {};     ///< the first that holds a place counts
    LatticeScheme scheme = LatticeScheme::Blended;
    // What it plays; with none of these, its first clip, or it rests.
    std::optional<std::string> clip = {};   ///< name or number of one of its clips, or of those in `motion`
    std::optional<std::string> motion = {}; ///< a file with clips for joints of the same names (read_clip)
    std::vector<SceneTrack> tracks = {};    ///< instead of a clip
    Playback playback = {};
    Place place = {};
};

/// body.disturbed: a reduced body that starts deformed at random.
struct SceneDisturbance {
    double amount = 0.0; ///< that no vertex is moved by more than [m], > 0
    std::uint64_t seed = 1;
};

/// [[body.led]]: a bone that goes its own way.
struct SceneLedBone {
    std::string bone = {};
    Keyframes<RigidPose> motion = RigidPose{}; ///< from its rest, about its middle, in the axes of the model
    Place place = {};
};

/// [body.play]: a clip that leads some bones; the others are live.
struct ScenePlay {
    std::vector<std::string> bones = {};    ///< at least one
    std::optional<std::string> clip = {};   ///< name or number of one of its clips, or of those in `motion`
    std::optional<std::string> motion = {}; ///< a file with clips for joints of the same names (read_clip)
    std::optional<std::filesystem::path> rig = {}; ///< the character that a prepared model was made from
    Playback playback = {};
    double blend = 0.0; ///< from rest into the clip [s], >= 0
    Place place = {};
};

/// [[body.muscle]]: bends a bone to and fro.
struct SceneMuscle {
    std::string bone = {};
    Vec3 axis = Vec3::UnitY(); ///< in the axes of the model
    double angle = 0.0;        ///< from end to end, at the top of the wave [rad]
    double period = 1.0;       ///< [s], > 0
    double phase = 0.0;        ///< in periods
    Place place = {};
};

/// Whom a body, an obstacle or a character collides with: all, but for what belongs only to groups that it passes.
struct SceneFilter {
    std::vector<std::string> groups = {}; ///< that it belongs to
    std::vector<std::string> passes = {}; ///< groups that it passes through; each has members
};

/// [[body]]
struct SceneBody {
    std::string name = {}; ///< unique; "body", "body 2", ... when the file gives none
    SceneSource source = {};
    std::optional<std::filesystem::path> model = {}; ///< a prepared model, instead of a source
    std::optional<SceneReduction> reduction = {};    ///< reduced before the run; else in full space
    std::optional<SceneBones> bones = {};            ///< or a character of deformable bones
    std::optional<SceneLattice> lattice = {};        ///< or one with flesh in a lattice
    std::optional<Index> tets = {};                  ///< how many, for a source without tets
    std::optional<double> cell = {};                 ///< or how large their cells [m]; not both
    RigidPose placement = {};                        ///< at the start
    std::optional<std::size_t> copy_of = {}; ///< the body of the scene that it is a copy of, elsewhere
    Vec3 velocity = Vec3::Zero();            ///< at the start [m/s]
    Vec3 angular_velocity = Vec3::Zero();    ///< at the start, about the centre of mass [rad/s]
    SceneMaterial material = {};
    std::vector<SceneRegion> regions = {};
    std::optional<SceneDisturbance> disturbed = {};
    SpinRule spin = SpinRule::Exact; ///< of a reduced body that moves freely
    MassKind mass = MassKind::Consistent;
    RayleighDamping damping = {.mass = 0.01, .stiffness = 0.001};
    bool rigid = false;       ///< does not deform
    double friction = 0.5;    ///< Coulomb's coefficient of its surface, >= 0
    double restitution = 0.0; ///< of impacts, in [0, 1]; of rigid bodies and free reduced ones
    SceneFilter filter = {};
    std::optional<double> contact_stiffness =
        {}; ///< of the penalty [Pa/m], > 0; chosen from the body when absent
    bool self_contact = false;
    std::optional<Vec3> color = {}; ///< sRGB
    std::vector<ScenePin> pins = {};
    std::vector<SceneLoad> loads = {};
    std::vector<SceneLedBone> led = {};    ///< of a character
    std::optional<ScenePlay> play = {};    ///< of a character
    std::vector<SceneMuscle> muscles = {}; ///< of a character
    Place place = {};
};

/// [[obstacle]]: rigid, at rest or on a path.
struct SceneObstacle {
    std::string name = {}; ///< unique; "obstacle", "obstacle 2", ... when the file gives none
    /// "plane", a simple shape ("sphere:radius=0.5": exact), any other shape or a file (by its distance field)
    SceneSource source = {};
    std::optional<double> cell = {}; ///< of the distance field [m]
    Keyframes<RigidPose> path = RigidPose{};
    double friction = 0.5;
    SceneFilter filter = {};
    std::optional<Vec3> color = {};
    bool hidden = false; ///< felt, not seen
    Place place = {};
};

/// [[character]]: plays a clip, whatever touches it; soft bodies feel its skin.
struct SceneCharacter {
    std::string name = {};   ///< unique; "character", "character 2", ... when the file gives none
    SceneSource source = {}; ///< a file (read_character), or a shape with a skeleton
    // What it plays; with none of these, its first clip, or it rests.
    std::optional<std::string> clip = {};   ///< name or number of one of its clips, or of those in `motion`
    std::optional<std::string> motion = {}; ///< a file with clips for joints of the same names (read_clip)
    std::vector<SceneTrack> tracks = {};    ///< instead of a clip
    double start = 0.0;                     ///< in the clip, at the start of the run [s]
    double speed = 1.0;                     ///< of the clip
    bool loop = true;                       ///< else it stays where it ends
    SkinningMethod skinning = SkinningMethod::Linear;
    RigidPose placement = {};
    double friction = 0.5; ///< Coulomb's coefficient of the skin, >= 0
    SceneFilter filter = {};
    std::optional<Vec3> color = {}; ///< sRGB; else the file's own
    Place place = {};
};

/// [[joint]]: holds two bodies, or a body and an obstacle, together.
struct SceneJoint {
    std::string a = {}, b = {}; ///< names
    JointOptions joint = {};
    Place place = {};
};

/// [[pair]]: what holds between two bodies, or a body and an obstacle, in place of what their surfaces say.
struct ScenePair {
    std::string a = {}, b = {};             ///< names
    std::optional<double> friction = {};    ///< between them, >= 0
    std::optional<double> restitution = {}; ///< in [0, 1]
    bool collide = true;
    Place place = {};
};

/// [training]: runs in full space that reduced bodies are made from, and what somebody else made.
struct SceneTraining {
    int runs = 8;                                      ///< >= 0
    std::optional<int> frames = {};                    ///< of a run, > 0; those of the scene when absent
    int every = 2;                                     ///< so many frames there is a snapshot, > 0
    double jitter = 0.3;                               ///< how much runs differ from the scene, in [0, 1]
    std::uint64_t seed = 1;                            ///< of the jitter
    std::vector<std::filesystem::path> snapshots = {}; ///< point caches, meshes, or folders of meshes
    std::vector<std::filesystem::path> shapes = {};    ///< meshes: columns of the basis
    std::filesystem::path cache = {}; ///< folder for finished runs; when empty, one beside the scene file
    Place place = {};
};

struct Scene {
    std::filesystem::path file;  ///< for messages; empty for a scene made in memory
    std::uint64_t text_hash = 0; ///< of the text that it was read from; 0 for a scene made in memory
    std::string title;
    SceneTime time;
    Vec3 gravity = {0.0, -9.81, 0.0}; ///< [m/s^2]
    bool sleep = false;               ///< bodies that rest stop until something moves them
    NewtonOptions solver = {};
    ImpulseOptions impulses = {}; ///< between bodies
    std::vector<SceneBody> bodies;
    std::vector<SceneObstacle> obstacles;
    std::vector<SceneJoint> joints = {};
    std::vector<ScenePair> pairs = {};
    std::vector<SceneCharacter> characters = {};
    std::optional<SceneTraining> training = {};
};

/// Reads a scene file. Throws InputError with file, line and column for everything that is wrong with it by itself.
Scene read_scene(const std::filesystem::path& file);

/// The same from memory; `name` is for messages, and its folder is where relative paths begin.
Scene parse_scene(std::string_view text, const std::filesystem::path& name);

} // namespace lithe
