#include "lithe/prepare/training.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/core/random.hpp"
#include "lithe/core/version.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/prepare/source.hpp"
#include "lithe/world/run.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

constexpr double right_angle = 1.5707963267948966;

/// What a run differs in from others.
struct RunInputs {
    Vec3 gravity;
    std::vector<TimedLoad> loads;
    Points velocities;
    std::vector<SceneObstacle> obstacles;
};

/// Random changes of one run.
class Jitter {
public:
    Jitter(double amount, std::uint64_t seed) : amount_(amount), random_(seed) {}

    double factor() { return 1.0 + amount_ * random_.uniform(-1.0, 1.0); }
    Mat3 rotation()
    {
        const Vec3 axis = Vec3(random_.normal(), random_.normal(), random_.normal()).normalized();
        return exp_so3(amount_ * right_angle * random_.uniform() * axis);
    }
    Vec3 changed(const Vec3& v) { return factor() * (rotation() * v); }
    double share() { return amount_ * random_.uniform(-1.0, 1.0); }

private:
    double amount_;
    Random random_;
};

void change(TimedLoad& load, Jitter& jitter)
{
    if (auto* force = std::get_if<ForceLoad>(&load.load)) force->force = jitter.rotation() * force->force;
    if (auto* wind = std::get_if<WindLoad>(&load.load)) wind->velocity = jitter.rotation() * wind->velocity;
    std::vector<double> factors = load.factor.values();
    const double factor = jitter.factor();
    for (double& value : factors) value *= factor;
    load.factor = {load.factor.times(), std::move(factors)};
}

void shift(SceneObstacle& obstacle, const Vec3& by)
{
    std::vector<RigidPose> poses = obstacle.path.values();
    for (RigidPose& pose : poses) pose.translation += by;
    obstacle.path = {obstacle.path.times(), std::move(poses)};
}

RunInputs run_inputs(const Scene& scene, const BodyParts& parts, int run)
{
    RunInputs out{scene.gravity, parts.model.loads, parts.velocities, scene.obstacles};
    if (run == 0) return out;
    Random seeds(scene.training->seed);
    std::uint64_t seed = 0;
    for (int k = 0; k < run; ++k) seed = seeds.bits();
    Jitter jitter(scene.training->jitter, seed);
    out.gravity = jitter.changed(out.gravity);
    for (TimedLoad& load : out.loads) change(load, jitter);
    out.velocities = jitter.factor() * (jitter.rotation() * out.velocities);
    const double size = bounds(parts.model.fem.rest).diagonal().norm();
    for (SceneObstacle& obstacle : out.obstacles)
        shift(obstacle, 0.1 * size * Vec3(jitter.share(), 0.0, jitter.share()));
    return out;
}

// ---- what a run is known by

std::string bits_of(const MatX& values)
{
    return hash_text(hash_numbers({values.data(), static_cast<std::size_t>(values.size())}));
}
std::string text_of(const RigidPose& pose)
{
    return fmt::format("{:a}", fmt::join(pose.rotation.coeffs(), " ")) +
           fmt::format(" {:a}", fmt::join(pose.translation, " "));
}
template <class T, class Text>
std::string text_of(const Keyframes<T>& keys, const Text& text)
{
    std::string out = fmt::format("{:a}", fmt::join(keys.times(), " "));
    for (const T& value : keys.values()) out += " " + text(value);
    return out;
}

std::string text_of(const TimedLoad& load)
{
    std::string out = text_of(load.factor, [](double f) { return fmt::format("{:a}", f); }) +
                      fmt::format(" on {}", fmt::join(load.vertices, " "));
    if (const auto* force = std::get_if<ForceLoad>(&load.load))
        out += fmt::format(" force {:a}", fmt::join(force->force, " "));
    if (const auto* pressure = std::get_if<PressureLoad>(&load.load))
        out += fmt::format(" pressure {:a}", pressure->pressure);
    if (const auto* wind = std::get_if<WindLoad>(&load.load))
        out += fmt::format(" wind {:a} {:a} {:a}", fmt::join(wind->velocity, " "), wind->air_density,
                           wind->drag);
    return out;
}

std::string text_of(const SceneObstacle& obstacle)
{
    return fmt::format("{} {:a} {} {:a} {:a} ", hash_text(source_hash(obstacle.source)),
                       obstacle.source.read.scale, static_cast<int>(obstacle.source.read.up),
                       obstacle.cell.value_or(0.0), obstacle.friction) +
           text_of(obstacle.path, [](const RigidPose& pose) { return text_of(pose); });
}

/// All that does not change from run to run.
std::string constant_text(const Scene& scene, const SceneBody& body, const BodyParts& parts)
{
    const FullBodyModel& model = parts.model;
    const auto& batches = model.fem.elements.batches;
    std::string out = fmt::format("Lithe {} ", LITHE_VERSION) + bits_of(model.fem.rest) +
                      hash_text(hash_bytes({reinterpret_cast<const char*>(batches.data()),
                                            batches.size() * sizeof(TetBatch)}));
    for (const RegionParameters& region : parts.materials)
        out += fmt::format(" {} {} {:a} {:a} {:a} {:a} {:a}", region.label,
                           static_cast<int>(region.material.kind), region.material.elastic.young_modulus,
                           region.material.elastic.poisson_ratio, region.material.mooney_ratio.value_or(0.0),
                           region.material.limit_stretch.value_or(0.0), region.density);
    for (const LedVertices& pin : model.pins)
        out += fmt::format(" pin {} {:a} {:a} ", fmt::join(pin.vertices, " "), fmt::join(pin.about, " "),
                           pin.release) +
               text_of(pin.motion, [](const RigidPose& pose) { return text_of(pose); });
    const NewtonOptions& newton = model.newmark.newton;
    return out +
           fmt::format(
               " {} {:a} {:a} contact {:a} {:a} {} time {:a} {} {} {:a} {:a} newton {} {:a} {} every {}",
               static_cast<int>(model.fem.mass_kind), model.fem.damping.mass, model.fem.damping.stiffness,
               model.contact.stiffness, model.contact.friction, body.self_contact, scene.time.fps,
               scene.time.substeps, static_cast<int>(model.integrator), model.newmark.beta,
               model.newmark.gamma, newton.max_iterations, newton.decrement,
               static_cast<int>(newton.linear_solver), scene.training->every);
}

std::uint64_t hash_of(const RunInputs& inputs, int frames, const std::string& constant)
{
    std::string text =
        fmt::format("{} frames {} gravity {:a} ", constant, frames, fmt::join(inputs.gravity, " "));
    text += bits_of(inputs.velocities);
    for (const TimedLoad& load : inputs.loads) text += " load " + text_of(load);
    for (const SceneObstacle& obstacle : inputs.obstacles) text += " obstacle " + text_of(obstacle);
    return hash_bytes(text);
}

// ---- runs

/// The same body once more, with other loads.
FullBodyModel with_loads(const FullBodyModel& model, const SceneBody& body, std::vector<TimedLoad> loads)
{
    FullBodyModel out;
    out.fem = model.fem;
    out.shown = model.shown;
    out.embedding = model.embedding;
    out.pins = model.pins;
    out.loads = std::move(loads);
    out.contact =
        make_contact_model(model.fem, {.stiffness = model.contact.stiffness,
                                       .friction = model.contact.friction,
                                       .self = body.self_contact ? SelfContact::On : SelfContact::Off});
    out.integrator = model.integrator;
    out.newmark = model.newmark;
    return out;
}

/// What a run came to: displacements, or why there are none.
struct RunResult {
    MatX snapshots = {};
    std::string trouble = {};
};

RunResult simulate(const Scene& scene, const SceneBody& body, const BodyParts& parts, RunInputs inputs,
                   int frames, Progress& progress)
{
    World world({.gravity = inputs.gravity});
    Progress silent;
    for (const SceneObstacle& obstacle : inputs.obstacles) world.add(prepare_obstacle(obstacle, 1.0, silent));
    auto made =
        std::make_unique<FullBody>(with_loads(parts.model, body, std::move(inputs.loads)), inputs.velocities);
    const FullBody& full = *made;
    world.add(std::move(made));

    RunResult out;
    const int every = scene.training->every;
    out.snapshots.resize(parts.model.fem.rest.size(), frames / every);
    RunMetrics metrics;
    const RunReport report =
        run(world, {.fps = scene.time.fps, .substeps = scene.time.substeps, .last_frame = frames}, {},
            metrics, silent, [&](int frame) {
                if (frame % every == 0)
                    out.snapshots.col(frame / every - 1) = deformation(parts, full.state().x);
                progress.advance();
            });
    if (report.end == RunEnd::Interrupted) throw Interrupted();
    const double largest = 100.0 * bounds(parts.model.fem.rest).diagonal().norm();
    if (report.end == RunEnd::NotSolved)
        out.trouble = fmt::format("{} in frame {}", report.trouble, report.last_frame + 1);
    else if (!out.snapshots.allFinite() || out.snapshots.cwiseAbs().maxCoeff() > largest)
        out.trouble = "the body was torn apart";
    if (!out.trouble.empty()) // what is left of the bar
        progress.advance(frames - report.last_frame);
    return out;
}

/// Results of finished runs, in a folder.
class RunCache {
public:
    RunCache(fs::path folder, Index rows) : folder_(std::move(folder)), rows_(rows) {}

    std::optional<RunResult> find(std::uint64_t inputs) const
    {
        std::error_code ignored;
        if (folder_.empty() || !fs::exists(file(inputs), ignored)) return std::nullopt;
        try {
            const ArchiveReader in(file(inputs));
            return RunResult{in.read<MatX>("training/snapshots", {rows_, any_size}),
                             in.read_text("training/trouble")};
        } catch (const InputError&) {
            return std::nullopt; // damaged: run it again
        }
    }
    void keep(std::uint64_t inputs, const RunResult& result) const
    {
        if (folder_.empty()) return;
        std::error_code failed;
        fs::create_directories(folder_, failed);
        if (failed)
            throw InputError({folder_},
                             "cannot be made: " + failed.message() + "; it is for finished training runs");
        ArchiveWriter out;
        out.write("training/snapshots", result.trouble.empty() ? result.snapshots : MatX(rows_, 0),
                  {.unit = "m"});
        out.write_text("training/trouble", result.trouble);
        out.save(file(inputs), inputs);
    }

private:
    fs::path file(std::uint64_t inputs) const { return folder_ / (hash_text(inputs) + ".lithe"); }
    fs::path folder_;
    Index rows_;
};

void append(MatX& columns, const MatX& more)
{
    const Index before = columns.cols();
    columns.conservativeResize(more.rows(), before + more.cols());
    columns.rightCols(more.cols()) = more;
}

void do_runs(const Scene& scene, const SceneBody& body, const BodyParts& parts, const RunCache& cache,
             Progress& progress, TrainingData& out)
{
    const SceneTraining& training = *scene.training;
    const int frames = training.frames.value_or(scene.time.frames);
    const std::string constant = constant_text(scene, body, parts);
    std::vector<std::string> troubles;
    progress.begin("training", static_cast<std::int64_t>(training.runs) * frames);
    for (int run = 0; run < training.runs; ++run) {
        RunInputs inputs = run_inputs(scene, parts, run);
        const std::uint64_t hash = hash_of(inputs, frames, constant);
        std::optional<RunResult> result = cache.find(hash);
        if (result) {
            ++out.cached;
            progress.advance(frames);
        } else {
            result = simulate(scene, body, parts, std::move(inputs), frames, progress);
            cache.keep(hash, *result);
        }
        if (result->trouble.empty()) {
            append(out.snapshots, result->snapshots);
            ++out.runs;
        } else
            troubles.push_back(
                fmt::format("training run {} of '{}' is skipped: {}", run, body.name, result->trouble));
    }
    progress.end();
    if (2 * out.runs < training.runs)
        throw InputError(
            training.place,
            fmt::format(
                "only {} of {} training runs were solved; {}; use more substeps, less jitter or fewer frames",
                out.runs, training.runs, troubles.front()));
    out.notes.insert(out.notes.end(), troubles.begin(), troubles.end());
}

} // namespace

TrainingData run_training(const Scene& scene, const SceneBody& body, const BodyParts& parts,
                          const fs::path& cache, Progress& progress)
{
    LITHE_ASSERT(scene.training.has_value());
    const Index rows = parts.model.fem.rest.size();
    TrainingData out{.snapshots = MatX(rows, 0), .shapes = MatX(rows, 0), .notes = {}};
    for (const fs::path& file : scene.training->snapshots)
        append(out.snapshots, read_snapshots(file, body, parts));
    for (const fs::path& file : scene.training->shapes) append(out.shapes, read_snapshots(file, body, parts));
    if (scene.training->runs > 0) do_runs(scene, body, parts, RunCache(cache, rows), progress, out);
    return out;
}

} // namespace lithe
