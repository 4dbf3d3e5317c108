#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "inspect_model.hpp"
#include "prepare_output.hpp"

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/atomic_folder.hpp"
#include "lithe/core/error.hpp"
#include "lithe/prepare/prepare_bones.hpp"
#include "lithe/prepare/prepare_lattice.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/reduce/lattice_model_io.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;

/// As the user gave them; what is absent stays as the scene or the defaults have it.
struct Options {
    std::string input, output;
    std::optional<std::string> body;
    std::optional<Index> rank, poses, contact_modes, tets;
    std::optional<std::uint64_t> seed;
    std::optional<double> tolerance, young, poisson, density, cell;
    std::optional<std::string> material;
    std::vector<double> damping;
    std::optional<MassKind> mass;
    std::optional<ElasticChoice> elastic;
    std::optional<CubatureRule> rule;
    std::vector<std::string> pins;
    std::optional<std::string> report, bullet, cache;
    std::optional<int> runs;
    std::optional<double> jitter;
    std::vector<fs::path> snapshots;
    std::vector<std::string> shapes;
    bool automatic = false, json = false;
    ReadOptions read;

    bool bones = false;
    std::optional<Index> modes, proxy;
    std::optional<double> overlap;
    std::optional<BoneHold> joints;
    std::vector<std::string> rigid;

    bool lattice = false;
    std::optional<Index> lattice_size;
    std::optional<fs::path> lattice_file;
    std::optional<int> levels;
    std::vector<std::string> stiffness;
};

// ---- selectors of the command line

std::vector<double> numbers_of(const std::string& text, const std::string& selector)
{
    std::vector<double> out;
    for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
        double number = 0.0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc() || (next != end && *next != ','))
            throw InputError(fmt::format("--pin {}: '{}' is not a list of numbers", selector, text));
        out.push_back(number);
        at = next;
    }
    return out;
}

constexpr const char* selector_help = "give box:x0,y0,z0,x1,y1,z1, sphere:x,y,z,radius, vertices:i,j,..., or "
                                      "a side with the share of the size that is "
                                      "held: left:0.05, right, bottom, top, back, front";

/// "box:...", "sphere:...", "vertices:...", "bottom:0.1".
Selector parse_selector(const std::string& text)
{
    const auto colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const std::vector<double> n =
        colon == std::string::npos ? std::vector<double>{} : numbers_of(text.substr(colon + 1), text);
    if (kind == "box" && n.size() == 6) return BoxSelector{{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    if (kind == "sphere" && n.size() == 4 && n[3] > 0.0) return SphereSelector{{n[0], n[1], n[2]}, n[3]};
    if (kind == "vertices" && !n.empty()) return ListSelector{{n.begin(), n.end()}};
    constexpr std::array<std::string_view, 6> sides = {"left", "right", "bottom", "top", "back", "front"};
    const auto side = std::ranges::find(sides, kind);
    const double share = n.empty() ? 0.05 : n[0];
    if (side == sides.end() || n.size() > 1 || !(share > 0.0 && share < 1.0))
        throw InputError(fmt::format("--pin {}: {}", text, selector_help));
    const auto number = static_cast<int>(side - sides.begin());
    return SideSelector{number / 2, number % 2 == 0 ? SideSelector::End::Low : SideSelector::End::High,
                        share};
}

// ---- the scene that is meant

template <class T>
void set(const std::optional<T>& given, T& value)
{
    if (given) value = *given;
}

void set_material(const Options& options, SceneMaterial& material)
{
    if (options.material) {
        std::string name = *options.material;
        std::ranges::replace(name, '-', '_');
        material.kind = material_kind(name);
    }
    if (options.young) material.young = options.young;
    set(options.poisson, material.poisson);
    set(options.density, material.density);
}

SceneReduction reduction_of(const Options& options, const SceneBody& body)
{
    SceneReduction out = body.reduction.value_or(SceneReduction());
    if (options.rank) out.rank = options.rank;
    if (options.automatic) out.rank.reset();
    set(options.tolerance, out.tolerance);
    set(options.elastic, out.elastic);
    set(options.rule, out.rule);
    if (options.poses) out.poses = options.poses;
    set(options.contact_modes, out.contact_modes);
    set(options.seed, out.seed);
    return out;
}

Scene mesh_scene(const Options& options)
{
    Scene scene = model_scene({.from = fs::path(options.input), .read = options.read, .place = {}});
    SceneBody& body = scene.bodies.front();
    body.tets = options.tets;
    body.cell = options.cell;
    for (const std::string& pin : options.pins)
        body.pins.push_back({.where = parse_selector(pin), .place = {}});
    return scene;
}

Scene load_scene(const Options& options)
{
    if (fs::path(options.input).extension() != ".toml") return mesh_scene(options);
    if (!options.pins.empty() || options.tets || options.cell)
        throw InputError("--pin, --tets and --cell are for a mesh; a scene says it in its [[body]]");
    return read_scene(options.input);
}

SceneBody& body_of(Scene& scene, const Options& options)
{
    if (!options.body) {
        if (scene.bodies.size() == 1) return scene.bodies.front();
        throw InputError(
            {.file = options.input},
            fmt::format("the scene has {} bodies; say which one with --body NAME", scene.bodies.size()));
    }
    for (SceneBody& body : scene.bodies)
        if (body.name == *options.body) return body;
    throw InputError({.file = options.input},
                     fmt::format("there is no body '{}' in the scene", *options.body));
}

void prepare_body_settings(const Options& options, SceneBody& body)
{
    if (body.model) throw InputError(body.place, "the body is a prepared model already");
    set_material(options, body.material);
    set(options.mass, body.mass);
    if (!options.damping.empty()) body.damping = {options.damping[0], options.damping[1]};
    body.reduction = reduction_of(options, body);
}

/// What the command line adds to the training of the scene. No option stays without effect.
void set_training(const Options& options, Scene& scene)
{
    const bool adds = options.runs || !options.snapshots.empty() || !options.shapes.empty();
    if (!adds && !scene.training) {
        if (options.jitter || options.cache)
            throw InputError(
                "--jitter and --cache are for training runs; give --runs, or a scene with [training]");
        return;
    }
    if (!scene.training) scene.training = SceneTraining{.runs = 0, .frames = 30};
    SceneTraining& training = *scene.training;
    set(options.runs, training.runs);
    set(options.jitter, training.jitter);
    training.snapshots.insert(training.snapshots.end(), options.snapshots.begin(), options.snapshots.end());
    training.shapes.insert(training.shapes.end(), options.shapes.begin(), options.shapes.end());
    const fs::path output(options.output);
    if (options.cache)
        training.cache = *options.cache;
    else if (scene.file.empty())
        training.cache = output.parent_path() / (output.stem().string() + "_training");
}

// ---- the command

/// Places that cannot be written are found before the work.
void require_writable(const Options& options)
{
    const AtomicFile model(options.output);
    if (options.report) const AtomicFile page(*options.report);
    if (options.bullet) const AtomicFolder folder(*options.bullet);
}

void print_times(const Reduction& reduction, Session& session)
{
    std::string text;
    for (const StageTimes::Stage& stage : reduction.times.stages())
        text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", stage.name, stage.seconds);
    session.say("  time                {}\n", text);
}

void print_notes(const std::vector<std::string>& notes, Session& session)
{
    for (const std::string& note : notes) session.say("{}\n", note);
}

// ---- characters of bones

/// No option stays without effect.
void require_fitting(const Options& o)
{
    const std::pair<const char*, bool> of_one_body[] = {{"--body", o.body.has_value()},
                                                        {"--rank", o.rank.has_value()},
                                                        {"--auto", o.automatic},
                                                        {"--tolerance", o.tolerance.has_value()},
                                                        {"--material", o.material.has_value()},
                                                        {"--mass", o.mass.has_value()},
                                                        {"--rule", o.rule.has_value()},
                                                        {"--poses", o.poses.has_value()},
                                                        {"--contact-modes", o.contact_modes.has_value()},
                                                        {"--seed", o.seed.has_value()},
                                                        {"--pin", !o.pins.empty()},
                                                        {"--runs", o.runs.has_value()},
                                                        {"--jitter", o.jitter.has_value()},
                                                        {"--snapshots", !o.snapshots.empty()},
                                                        {"--cache", o.cache.has_value()},
                                                        {"--bullet", o.bullet.has_value()}};
    const std::pair<const char*, bool> of_lattices[] = {{"--lattice-size", o.lattice_size.has_value()},
                                                        {"--lattice-file", o.lattice_file.has_value()},
                                                        {"--levels", o.levels.has_value()},
                                                        {"--stiffness", !o.stiffness.empty()}};
    if (!o.lattice && o.damping.size() == 1)
        throw InputError("--damping takes two numbers: of mass [1/s] and of stiffness [s]");
    if (!o.lattice)
        for (const auto& [name, given] : of_lattices)
            if (given)
                throw InputError(fmt::format("{} is for characters in a lattice; give --lattice too", name));
    const std::pair<const char*, bool> of_bones[] = {{"--modes", o.modes.has_value()},
                                                     {"--overlap", o.overlap.has_value()},
                                                     {"--joints", o.joints.has_value()},
                                                     {"--rigid", !o.rigid.empty()},
                                                     {"--proxy", o.proxy.has_value() && !o.lattice}};
    if (o.lattice) {
        const std::pair<const char*, bool> others[] = {{"--tets", o.tets.has_value()},
                                                       {"--cell", o.cell.has_value()},
                                                       {"--elastic", o.elastic.has_value()},
                                                       {"--shapes", !o.shapes.empty()}};
        using Group = std::span<const std::pair<const char*, bool>>;
        for (const Group options : {Group(of_one_body), Group(others), Group(of_bones)})
            for (const auto& [name, given] : options)
                if (given) throw InputError(fmt::format("{} has no meaning with --lattice", name));
        if (o.damping.size() > 1)
            throw InputError("--damping: with --lattice give one number, that of the mass [1/s]");
        return;
    }
    if (o.bones) {
        for (const auto& [name, given] : of_one_body)
            if (given)
                throw InputError(fmt::format("{} is for a model of one body; bones have --modes linear modes "
                                             "each, and nothing pins them",
                                             name));
        if (o.elastic && *o.elastic == ElasticChoice::Cubature)
            throw InputError("--elastic cubature is for a model of one body; bones are linear or polynomial");
        return;
    }
    for (const auto& [name, given] : of_bones)
        if (given) throw InputError(fmt::format("{} is for characters; give --bones too", name));
}

/// "forearm=bent.obj"
BoneShape parse_bone_shape(const std::string& text)
{
    const auto sign = text.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
        throw InputError(
            fmt::format("--shapes {}: with --bones give BONE=MESH, as in forearm=bent.obj", text));
    return {.bone = text.substr(0, sign), .file = text.substr(sign + 1)};
}

BoneOptions bone_options(const Options& options)
{
    BoneOptions out;
    set(options.modes, out.modes);
    set(options.overlap, out.overlap);
    set(options.joints, out.hold);
    out.rigid = options.rigid;
    set(options.proxy, out.proxy_vertices);
    out.tets = {.cell = options.cell, .count = options.tets};
    out.young = options.young;
    set(options.poisson, out.poisson);
    set(options.density, out.density);
    if (!options.damping.empty()) out.damping = {options.damping[0], options.damping[1]};
    if (options.elastic && *options.elastic != ElasticChoice::Automatic) out.elastic = *options.elastic;
    for (const std::string& shape : options.shapes) out.shapes.push_back(parse_bone_shape(shape));
    return out;
}

/// A file, or "shape:octopus".
SceneSource rig_source(const Options& options)
{
    constexpr std::string_view shape = "shape:";
    if (options.input.starts_with(shape))
        return {.from = options.input.substr(shape.size()), .read = options.read};
    return {.from = fs::path(options.input), .read = options.read};
}

void run_prepare_bones(const Options& options, Session& session)
{
    const BoneOptions wanted = bone_options(options);
    require_writable(options);
    std::vector<std::string> notes;
    StageTimes times;
    const BoneModel model = [&] {
        const auto time = times.measure("bones");
        return prepare_bones(rig_source(options), wanted, session.progress(), notes);
    }();
    write_bone_model(options.output, model);
    if (options.report) write_bones_report(*options.report, options.output, model, times, session.progress());
    if (options.json) {
        fmt::print("{}\n", bones_json(options.output, model, times));
        return;
    }
    print_notes(notes, session);
    if (!session.quiet) print_bones(options.output, model);
    session.say("  time                {:.1f} s\n", times.stages().front().seconds);
    if (options.report) session.say("wrote {}\n", *options.report);
}

LatticePrepareOptions lattice_options(const Options& options)
{
    LatticePrepareOptions out;
    out.vertices = options.lattice_size;
    out.lattice = options.lattice_file;
    set(options.levels, out.levels);
    set(options.proxy, out.proxy_vertices);
    out.young = options.young;
    set(options.poisson, out.poisson);
    set(options.density, out.density);
    if (!options.damping.empty()) out.damping = options.damping.front();
    for (const std::string& text : options.stiffness) out.stiffness.push_back(parse_stiffness(text));
    return out;
}

void run_prepare_lattice(const Options& options, Session& session)
{
    const LatticePrepareOptions wanted = lattice_options(options);
    require_writable(options);
    std::vector<std::string> notes;
    StageTimes times;
    const LatticeModel model = [&] {
        const auto time = times.measure("lattice");
        return prepare_lattice(rig_source(options), wanted, session.progress(), notes);
    }();
    write_lattice_model(options.output, model);
    if (options.report)
        write_lattice_report(*options.report, options.output, model, times, session.progress());
    if (options.json) {
        fmt::print("{}\n", lattice_json(options.output, model, times));
        return;
    }
    print_notes(notes, session);
    if (!session.quiet) print_lattice(options.output, model);
    session.say("  time                {:.1f} s\n", times.stages().front().seconds);
    if (options.report) session.say("wrote {}\n", *options.report);
}

void run_prepare(const Options& options, Session& session)
{
    if (fs::path(options.output).extension() != ".lithe")
        throw InputError({.file = options.output}, "a model's file ends in .lithe");
    require_fitting(options);
    if (options.bones) return run_prepare_bones(options, session);
    if (options.lattice) return run_prepare_lattice(options, session);
    Scene scene = load_scene(options);
    SceneBody& body = body_of(scene, options);
    prepare_body_settings(options, body);
    set_training(options, scene);
    require_writable(options);
    const Reduction reduction = prepare_model(scene, body, session.progress());
    write_model(options.output, reduction.model, reduction.volume);
    if (options.report) write_prepare_report(*options.report, options.output, reduction, session.progress());
    if (options.bullet) write_bullet(*options.bullet, reduction, session.progress());
    if (options.json) {
        fmt::print("{}\n", model_json(options.output, reduction.model, reduction.volume, reduction.times));
        return;
    }
    print_notes(reduction.notes, session);
    if (!session.quiet) print_model(options.output, reduction.model, reduction.volume);
    print_times(reduction, session);
    if (options.report) session.say("wrote {}\n", *options.report);
    if (options.bullet) session.say("wrote {} for Bullet\n", *options.bullet);
}

} // namespace

void add_prepare_command(CLI::App& app, Session& session)
{
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        add_command(app, session, "prepare",
                    "make a reduced model (.lithe) of a mesh, of a body of a scene, or of a character",
                    [options, &session] { run_prepare(*options, session); });
    command
        ->add_option("input", options->input,
                     "mesh, scene (.toml) with a [[body]], or with --bones a character")
        ->required();
    command->add_option("-o,--output", options->output, "the model: a file ending in .lithe")->required();
    command->add_option("--body", options->body, "which body of the scene, by its name");
    auto* rank = command->add_option("--rank", options->rank, "how many coordinates (default: 30)")
                     ->check(CLI::Range(Index{1}, Index{10'000}));
    command
        ->add_flag("--auto", options->automatic,
                   "the smallest rank and point set whose errors are within --tolerance")
        ->excludes(rank);
    command->add_option("--tolerance", options->tolerance, "of the errors on held-out poses (default: 0.02)")
        ->check(CLI::Range(1e-9, 1.0));
    command->add_option(
        "--material", options->material,
        "linear, corotational, stvk, neo-hookean, neo-hookean-log-free, mooney-rivlin or arruda-boyce");
    command->add_option("--young", options->young, "modulus [Pa] (default: by size and weight)")
        ->check(CLI::PositiveNumber);
    command->add_option("--poisson", options->poisson, "Poisson's ratio (default: 0.4)")
        ->check(CLI::Range(-0.999, 0.4999));
    command->add_option("--density", options->density, "[kg/m^3] (default: 1000)")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--damping", options->damping,
                     "Rayleigh's two numbers: of mass [1/s] and stiffness [s]; with --lattice the first only")
        ->expected(1, 2)
        ->check(CLI::NonNegativeNumber);
    command->add_option("--mass", options->mass, "consistent or lumped")->transform(one_of(mass_kinds));
    command->add_option("--elastic", options->elastic, "automatic, linear, polynomial (of stvk) or cubature")
        ->transform(one_of(elastic_choices));
    command
        ->add_option("--rule", options->rule,
                     "how cubature points are chosen: omp, greedy, importance or htp")
        ->transform(one_of(cubature_rules));
    command
        ->add_option("--poses", options->poses,
                     "for the cubature; a quarter of them is held out (default: 200, or 8 per coordinate)")
        ->check(CLI::Range(Index{8}, Index{100'000}));
    command
        ->add_option("--contact-modes", options->contact_modes,
                     "patches of the surface that get their own responses")
        ->check(CLI::Range(Index{0}, Index{10'000}));
    command->add_option("--seed", options->seed, "of everything that is drawn at random (default: 1)");
    command->add_option("--pin", options->pins,
                        std::string("what is held still; may be repeated: ") + selector_help);
    command->add_option("--tets", options->tets, "about how many, for a surface (default: 8000)")
        ->check(CLI::Range(1, 100'000'000));
    command->add_option("--cell", options->cell, "or how large their cells [m]")->check(CLI::PositiveNumber);
    command->add_option("--runs", options->runs, "train with so many runs in full space")
        ->check(CLI::Range(0, 10'000));
    command->add_option("--jitter", options->jitter, "how much these runs differ (default: 0.3)")
        ->check(CLI::Range(0.0, 1.0));
    command->add_option("--snapshots", options->snapshots,
                        "train with an animation: .pc2, a mesh, or a folder of meshes; may be repeated");
    command->add_option(
        "--shapes", options->shapes,
        "mesh whose displacement becomes a column of the basis; may be repeated; with --bones "
        "BONE=MESH, for one of them");
    command->add_option("--cache", options->cache,
                        "folder where finished runs are kept (default: MODEL_training)");
    command->add_option("--report", options->report,
                        "page (.html) about the model: errors, spectrum, pictures, times");
    command->add_option("--bullet", options->bullet,
                        "folder for the files that Bullet's reduced bodies are read from");
    auto* bones = command->add_flag(
        "--bones", options->bones,
        "make a character of deformable bones, of a rig (.glb, .gltf, .shape, .skel.txt) or of a built-in "
        "shape (shape:NAME)");
    command->add_option("--modes", options->modes, "of each bone (default: 10)")
        ->check(CLI::Range(Index{0}, Index{1000}));
    command
        ->add_option("--overlap", options->overlap,
                     "weight from which a tet is a bone's too (default: 0.15); 0: no tet has two")
        ->check(CLI::Range(0.0, 0.99));
    command->add_option("--joints", options->joints, "between bones: weld (default), hinge or ball")
        ->transform(one_of(bone_holds));
    command->add_option("--rigid", options->rigid, "bone that does not deform; may be repeated");
    command->add_option("--proxy", options->proxy, "vertices to collide by, about (default: 300)")
        ->check(CLI::Range(Index{4}, Index{1'000'000}));
    command
        ->add_flag("--lattice", options->lattice,
                   "give a rig flesh in a lattice that its skeleton drives (.glb, .gltf, .shape, .skel.txt "
                   "or shape:NAME)")
        ->excludes(bones);
    command
        ->add_option("--lattice-size", options->lattice_size,
                     "vertices of the lattice, about (default: 200, or three per bone)")
        ->check(CLI::Range(Index{20}, Index{20'000}));
    command->add_option("--lattice-file", options->lattice_file,
                        "a lattice made by hand instead (docs/lattice.md)");
    command
        ->add_option("--levels", options->levels,
                     "of details that may come where the flesh is strained (default: 1)")
        ->check(CLI::Range(0, 3));
    command->add_option(
        "--stiffness", options->stiffness,
        "modulus of some of the flesh [Pa]: BONE=YOUNG, #rrggbb=YOUNG of painted vertices, or "
        "mask:MESH=YOUNG; may be repeated");
    command->add_flag("--json", options->json, "print one JSON object with every figure");
    add_read_options(*command, options->read);
}

} // namespace lithe::cli
