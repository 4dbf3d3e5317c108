#include "simulate.hpp"

#include <algorithm>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/scene/exporter.hpp"
#include "lithe/world/checkpoint.hpp"

namespace lithe::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string input;
    SimulateOutputs outputs;
    std::optional<int> frames;
    std::optional<std::string> resume;
    std::optional<Index> tets;       ///< of a mesh alone
    std::optional<double> young;     ///< of a mesh alone [Pa]
    std::optional<std::string> clip; ///< of a character alone: name, number or file
    ReadOptions read;
    bool json = false;
};

bool is_scene(const fs::path& file)
{
    return file.extension() == ".toml";
}

/// The scene of the file, or the default scene around the mesh in it.
Scene load_scene(const Options& options)
{
    if (is_scene(options.input)) {
        if (options.tets || options.young)
            throw InputError("--tets and --young are for a mesh alone; a scene says it in its [[body]]");
        if (options.clip)
            throw InputError("--clip is for a character alone; a scene says it in its [[character]]");
        return read_scene(options.input);
    }
    Scene scene = default_scene(options.input, options.read);
    if (scene.characters.empty()) {
        if (options.clip) throw InputError("--clip is for a character; this file has no skeleton");
        scene.bodies.front().tets = options.tets;
        scene.bodies.front().material.young = options.young;
        return scene;
    }
    if (options.tets || options.young) throw InputError("--tets and --young are for a mesh alone");
    scene.characters.front().clip = options.clip;
    return scene;
}

void print_summary(const SimulateResult& result, const SimulateOutputs& outputs, Session& session)
{
    const RunMetrics& metrics = result.metrics;
    const RunSummary sum = summarise(metrics);
    const double steps = std::max<double>(1.0, static_cast<double>(metrics.steps.size()));
    session.say(
        "{} frames in {:.2f} s ({:.1f} per second); {:.1f} Newton iterations per step; deepest penetration "
        "{:.3g} m{}\n",
        metrics.frames, metrics.seconds, metrics.frames / std::max(metrics.seconds, 1e-9),
        sum.iterations / steps, sum.max_penetration,
        sum.max_joint_gap > 0.0 ? fmt::format(", widest gap of a joint {:.2g} m", sum.max_joint_gap) : "");
    if (metrics.halved_steps > 0)
        session.say("{} steps were not solved at once and were taken in halves\n", metrics.halved_steps);
    if (const auto& compared = metrics.comparison)
        session.say(
            "against full space: error {:.2g} % at most, {:.2g} % on average, of the largest deformation; "
            "{:.3g} times as fast\n",
            100.0 * compared->max_error, 100.0 * compared->mean_error, compared->speed_ratio);
    session.say("state {}\n", hash_text(metrics.state_hash));
    for (const std::string& file : outputs.files)
        session.say("wrote {}{}\n", file, fs::exists(file) ? "" : ", a file of its own for each soft body");
    if (outputs.metrics) session.say("wrote {}\n", *outputs.metrics);
}

void run_simulate(const Options& options, Session& session)
{
    const Scene scene = load_scene(options);
    PreparedScene prepared = prepare_scene(scene, session.progress());
    for (const std::string& note : prepared.notes)
        if (!options.json) session.say("{}\n", note);
    if (options.frames) prepared.run.last_frame = *options.frames;
    if (options.resume) {
        if (options.outputs.compare)
            throw InputError("--compare needs the run from its start; leave --resume away");
        prepared.run.first_frame = read_checkpoint(*options.resume, prepared.inputs, prepared.world);
        if (prepared.run.first_frame > prepared.run.last_frame)
            throw InputError(
                {.file = *options.resume},
                fmt::format("the checkpoint is at frame {}, but the run ends at frame {}; give --frames",
                            prepared.run.first_frame, prepared.run.last_frame));
    }
    const SimulateResult result = simulate(prepared, options.outputs, session);
    if (options.json)
        fmt::print("{}", to_json(result.metrics));
    else
        print_summary(result, options.outputs, session);
    require_finished(result.report);
}

} // namespace

SimulateResult simulate(PreparedScene& prepared, const SimulateOutputs& outputs, Session& session,
                        std::span<FrameSink* const> watchers)
{
    // everything that can fail for its place fails here, before the work
    std::vector<std::unique_ptr<FrameSink>> exporters;
    for (const std::string& file : outputs.files)
        exporters.push_back(make_exporter(file, {.bake_rank = outputs.bake_rank}));
    std::optional<AtomicFile> metrics_file;
    if (outputs.metrics) metrics_file.emplace(*outputs.metrics);
    World& world = prepared.world;
    const auto save = [&](int frame) {
        write_checkpoint(*outputs.checkpoint, world, {prepared.inputs, frame});
    };
    if (outputs.checkpoint) save(prepared.run.first_frame);
    std::optional<FullRun> full;
    if (outputs.compare) full.emplace(world, prepared.volumes, prepared.run);

    std::vector<FrameSink*> sinks(watchers.begin(), watchers.end());
    for (const auto& exporter : exporters) sinks.push_back(exporter.get());
    SimulateResult result;
    result.report = run(world, prepared.run, sinks, result.metrics, session.progress(), [&](int frame) {
        if (outputs.checkpoint && frame % outputs.checkpoint_every == 0) save(frame);
        if (full) full->follow(frame, world);
    });
    if (full) {
        result.metrics.comparison = full->result(world);
        result.metrics.seconds -= full->seconds();
    }
    if (outputs.checkpoint && result.report.end != RunEnd::NotSolved) save(result.report.last_frame);
    if (metrics_file) {
        metrics_file->write(to_json(result.metrics));
        metrics_file->commit();
    }
    return result;
}

void require_finished(const RunReport& report)
{
    if (report.end == RunEnd::Interrupted)
        throw std::runtime_error(fmt::format(
            "interrupted after frame {}; what was written holds the frames up to there", report.last_frame));
    if (report.end == RunEnd::NotSolved)
        throw std::runtime_error(
            fmt::format("frame {} could not be solved: {}; what was written holds the frames up to {}",
                        report.last_frame + 1, report.trouble, report.last_frame));
}

void add_simulate_command(CLI::App& app, Session& session)
{
    auto options = std::make_shared<Options>();
    CLI::App* command = add_command(
        app, session, "simulate", "run a scene, let a mesh fall on the ground, or a character play its clip",
        [options, &session] { run_simulate(*options, session); });
    command->add_option("scene", options->input, "scene (.toml), mesh, model or character")->required();
    command->add_option(
        "-o,--output", options->outputs.files,
        "file for the animation, by its ending: .glb .usda .pc2 .pvd, or a folder for .ply; may be "
        "repeated");
    command
        ->add_option("--bake-rank", options->outputs.bake_rank,
                     "most morph targets that correct the skin of a character with flesh in a .glb; 0: it is "
                     "written as a mesh with shapes of its own")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command->add_option("--frames", options->frames, "number of the last frame (default: the scene's)")
        ->check(CLI::Range(0, 10'000'000));
    command->add_option("--metrics", options->outputs.metrics,
                        "file for energies, momenta, times ... (JSON)");
    command->add_option("--checkpoint", options->outputs.checkpoint,
                        "file for the state, at the end and in between, to go on from with --resume");
    command->add_option("--checkpoint-every", options->outputs.checkpoint_every, "frames between checkpoints")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    command->add_option("--resume", options->resume, "checkpoint to go on from");
    command
        ->add_option("--compare", options->outputs.compare,
                     "full: run the reduced bodies in full space too; gives the error and the speed ratio")
        ->check(CLI::IsMember({"full"}));
    command->add_option("--tets", options->tets, "about how many tets a mesh alone gets (default: 8000)")
        ->check(CLI::Range(1, 100'000'000));
    command
        ->add_option("--young", options->young,
                     "modulus of a mesh alone [Pa] (default: by its size and weight)")
        ->check(CLI::PositiveNumber);
    command->add_option("--clip", options->clip,
                        "what a character alone plays: a clip by name or number, or a file with one "
                        "(default: its first)");
    command->add_flag("--json", options->json, "print the metrics as JSON instead of text");
    add_read_options(*command, options->read);
}

} // namespace lithe::cli
