#include "suite.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "peers/bullet.hpp"

namespace lithe::bench {
namespace {

constexpr double h = 1.0 / 60.0;   ///< of every step here [s]
const Vec3 spin = {2.0, 1.0, 4.0}; ///< of the ring in free flight [rad/s]

/// As soft as lets Bullet's explicit steps go through 1/60 s with 40 modes, and lumped, as its masses are.
constexpr std::string_view ring_text = R"(
[[body]]
shape = "torus:major=0.4,minor=0.15"
tets = 3800
mass = "lumped"
material = { kind = "linear", young = "100 kPa", poisson = 0.3, density = 1000 }
damping = { mass = 0, stiffness = 0.001 }
)";

/// A soft ring of about 1000 nodes in so many modes, for us and for Bullet.
struct Ring {
    std::shared_ptr<const PreparedModel> model;
    PreparedVolume volume;
    BulletModel exported;

    explicit Ring(Index rank)
    {
        Progress silent;
        Scene scene = parse_scene(ring_text, "ring");
        scene.bodies[0].reduction = SceneReduction{.rank = rank};
        Reduction made = prepare_model(scene, scene.bodies[0], silent);
        const FemModel fem = make_fem_model(made.volume.mesh, region_materials(made.model.materials),
                                            {.mass = MassKind::Lumped});
        RestSystem system(fem);
        exported = make_bullet_model(made.volume.mesh, fem, linear_modes(system, {.count = rank}, silent));
        model = std::make_shared<const PreparedModel>(std::move(made.model));
        volume = std::move(made.volume);
    }
    const Points& rest() const { return volume.mesh.vertices; }
    /// A little below it at the start. [m]
    double ground() const { return rest().row(1).minCoeff() - 0.01; }
};

/// The ring in a world of ours. It collides by all of its boundary, as in Bullet, not by a coarser surface.
class RingWorld {
public:
    RingWorld(const Ring& ring, const Vec3& gravity, const Vec3& angular_velocity)
        : ring_(&ring), world_({.gravity = gravity})
    {
        auto body = std::make_unique<FramedBody>(std::make_shared<const FramedBodyModel>(ring.model),
                                                 FramedBodyOptions{.angular_velocity = angular_velocity});
        body_ = body.get();
        world_.add(std::move(body));
        nodes_.rest.vertices = ring.rest();
        nodes_.basis = ring.volume.U.cast<float>();
    }
    void add_ground(double height)
    {
        world_.add(std::make_unique<ObstacleBody>(
            ObstacleModel{.shape = PlaneShape{},
                          .shown = {.name = "ground", .rigid = true},
                          .path = RigidPose{.translation = Vec3(0.0, height, 0.0)}}));
    }
    /// Ends with all nodes in the world, as Bullet's steps do.
    void step(double seconds)
    {
        contacts_ = world_.step(seconds).contacts;
        body_->publish(now_);
        reconstruct(nodes_, now_.weights, x_);
        x_ = in_world(now_.frame, std::move(x_));
    }
    int contact_count() const { return contacts_; }
    /// In double precision, from the basis that the model was made with.
    void read_nodes(Points& x, Points& v) const
    {
        const FramedMotion& motion = body_->motion();
        x.resize(3, ring_->rest().cols());
        v.resize(3, ring_->rest().cols());
        for (Index i = 0; i < x.cols(); ++i) {
            const Rows3 S = ring_->volume.U.middleRows<3>(3 * i);
            const Vec3 arm = motion.arm(ring_->rest().col(i) - motion.model().tensors.centre, S);
            x.col(i) = motion.position(arm);
            v.col(i) = motion.velocity(arm, S);
        }
    }

private:
    const Ring* ring_;
    World world_;
    FramedBody* body_ = nullptr;
    ReducedSurface nodes_;
    Published now_;
    Points x_;
    int contacts_ = 0;
};

/// One step of a world, ours or Bullet's.
struct StepCost {
    Timing timing;         ///< of a step
    double contacts = 0.0; ///< mean of all steps
};
StepCost measure_steps(auto& world, int steps, Progress& progress)
{
    constexpr int runs = 7;
    int contacts = 0;
    Timing timing = measure(runs, progress, [&] {
        for (int k = 0; k < steps; ++k) {
            world.step(h);
            contacts += world.contact_count();
        }
    });
    for (double* seconds : {&timing.median, &timing.fastest, &timing.slowest}) *seconds /= steps;
    return {timing, contacts / static_cast<double>((runs + 1) * steps)};
}

std::string described(const Ring& ring)
{
    return fmt::format("torus of {} nodes, {} modes, steps of 1/60 s, one thread", ring.rest().cols(),
                       ring.exported.rank());
}

void bench_free_step(const Ring& ring, SuiteReport& report, Progress& progress)
{
    progress.begin("steps in free flight", 1);
    const ThreadLimit one(1);
    RingWorld ours(ring, Vec3::Zero(), spin);
    report.results.push_back(result("free_step_ms", measure_steps(ours, 600, progress).timing, 1e3, "ms",
                                    described(ring) + ", free flight with spin, all nodes written"));
    const auto theirs = make_bullet_world(ring.exported, ring.model->reduced.damping, Vec3::Zero());
    if (!theirs) return;
    theirs->set_spin(spin);
    report.results.back().peer = Peer{"bullet", 1e3 * measure_steps(*theirs, 120, progress).timing.median};
}

void bench_contact_step(const Ring& ring, SuiteReport& report, Progress& progress)
{
    progress.begin("steps in contact", 1);
    constexpr int settling = 180; // steps
    const Vec3 gravity(0.0, -9.81, 0.0);
    const ThreadLimit one(1);
    const auto rest_on_ground = [&](auto& world, int steps) {
        world.add_ground(ring.ground());
        for (int k = 0; k < settling; ++k) world.step(h);
        return measure_steps(world, steps, progress);
    };
    RingWorld ours(ring, gravity, Vec3::Zero());
    const StepCost our_cost = rest_on_ground(ours, 120);
    report.results.push_back(
        result("contact_step_ms", our_cost.timing, 1e3, "ms",
               fmt::format("{}, lying on the ground, all nodes written; {:.1f} contacts a step",
                           described(ring), our_cost.contacts)));
    const auto theirs = make_bullet_world(ring.exported, ring.model->reduced.damping, gravity);
    if (!theirs) return;
    const StepCost their_cost = rest_on_ground(*theirs, 20);
    report.results.back().note += fmt::format(", {:.1f} in Bullet", their_cost.contacts);
    report.results.back().peer = Peer{"bullet", 1e3 * their_cost.timing.median};
}

/// The largest |L - L_0| / |L_0| of 10 s, with L = sum m (x - c) x v over the nodes.
double angular_drift(auto& world, const VecX& m)
{
    Points x, v;
    const auto L = [&] {
        world.read_nodes(x, v);
        const Vec3 c = x * m / m.sum();
        Vec3 sum = Vec3::Zero();
        for (Index i = 0; i < m.size(); ++i) sum += m[i] * Vec3(x.col(i) - c).cross(v.col(i));
        return sum;
    };
    const Vec3 L_0 = L();
    double drift = 0.0;
    for (int k = 0; k < 600; ++k) {
        world.step(h);
        drift = std::max(drift, (L() - L_0).norm() / L_0.norm());
    }
    return drift;
}

void bench_drift(const Ring& ring, SuiteReport& report)
{
    RingWorld ours(ring, Vec3::Zero(), spin);
    const double drift = angular_drift(ours, ring.exported.node_mass);
    report.results.push_back(
        {.name = "angular_drift",
         .value = drift,
         .unit = "1",
         .note =
             "the same flight for 10 s: largest |L - L_0| / |L_0|, where L = sum m (x - c) x v over places "
             "and velocities of the nodes and their lumped masses, for both engines alike",
         .low = drift,
         .high = drift,
         .runs = 1});
    const auto theirs = make_bullet_world(ring.exported, ring.model->reduced.damping, Vec3::Zero());
    if (!theirs) return;
    theirs->set_spin(spin);
    report.results.back().peer = Peer{"bullet", angular_drift(*theirs, ring.exported.node_mass)};
}

/// What it costs to play a scene in frames of 1/30 s, each of two steps and with all surfaces written once.
struct SceneCost {
    std::vector<double> mean, worst; ///< of the frames of each run [s]
    int steps = 0;
    double contacts = 0.0, sweeps = 0.0; ///< sums over all steps
    int most_contacts = 0, most_sweeps = 0;
};

void play(World& world, int frames, const std::vector<Shown>& shown, SceneCost& cost)
{
    std::vector<Points> surfaces(shown.size());
    double total = 0.0, worst = 0.0;
    for (int f = 0; f < frames; ++f) {
        const Stopwatch watch;
        for (int k = 0; k < 2; ++k) {
            const StepReport report = world.step(h);
            if (!report.done) throw InputError(report.trouble);
            ++cost.steps;
            cost.contacts += report.contacts;
            cost.sweeps += report.sweeps;
            cost.most_contacts = std::max(cost.most_contacts, report.contacts);
            cost.most_sweeps = std::max(cost.most_sweeps, report.sweeps);
        }
        const Frame frame = world.publish();
        place_surfaces(shown, frame.bodies, surfaces);
        total += watch.seconds();
        worst = std::max(worst, watch.seconds());
    }
    cost.mean.push_back(total / frames);
    cost.worst.push_back(worst);
}

/// Of all time in steps, the share of each stage.
std::string stage_shares(const StageTimes& times)
{
    std::string out;
    for (const StageTimes::Stage& stage : times.stages())
        out += fmt::format("{}{} {:.0f} %", out.empty() ? "" : ", ", stage.name,
                           100.0 * stage.seconds / times.total());
    return out;
}

void bench_scene(std::string_view scene_name, SuiteReport& report, Progress& progress)
{
    std::string name = fmt::format("{}_ms_per_frame", scene_name);
    std::ranges::replace(name, '-', '_');
    constexpr int runs = 5;
    const auto scenes = builtin_scenes();
    const auto found = std::ranges::find(scenes, scene_name, &BuiltinScene::name);
    LITHE_ASSERT(found != scenes.end());
    const Scene scene = parse_scene(found->text, fmt::format("{}.toml", scene_name));
    Progress silent;
    PreparedScene prepared = prepare_scene(scene, silent);
    World& world = prepared.world;
    const std::vector<Shown> shown = world.shown();
    StateWriter start;
    world.save(start);

    const int frames = static_cast<int>(std::lround(30.0 * scene.time.frames / scene.time.fps));
    progress.begin(fmt::format("scene {}", scene_name), 1);
    SceneCost cost;
    for (int run = 0; run < runs; ++run) {
        progress.check();
        StateReader reader(start.bytes());
        world.restore(reader);
        play(world, frames, shown, cost);
    }
    std::ranges::sort(cost.mean);
    std::ranges::sort(cost.worst);
    report.results.push_back(result(
        name, Timing{cost.mean[runs / 2], cost.mean.front(), cost.mean.back(), runs}, 1e3, "ms",
        fmt::format(
            "{}: mean over {} frames of 1/30 s (two steps, all surfaces written once), worst {:.1f} ms; {} "
            "bodies, {:.0f} contacts and {:.0f} sweeps a step, at most {} and {}; {} threads; {}",
            scene_name, frames, 1e3 * cost.worst[runs / 2], shown.size(), cost.contacts / cost.steps,
            cost.sweeps / cost.steps, cost.most_contacts, cost.most_sweeps, thread_count(),
            stage_shares(world.stage_times()))));
}

} // namespace

SuiteReport bench_momentum(Progress& progress)
{
    SuiteReport report;
    progress.begin("the modes of a torus", 1);
    const Ring flying(20), resting(40);
    bench_free_step(flying, report, progress);
    bench_contact_step(resting, report, progress);
    bench_drift(flying, report);
    if (!report.results.front().peer)
        report.skipped.push_back("bullet as a peer: libbullet-dev was not there when this was built");
    for (const std::string_view scene : {"brick-wall", "pachinko", "fish-box", "octopus-pile"})
        bench_scene(scene, report, progress);
    return report;
}

} // namespace lithe::bench
