#include "suite.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lithe/core/parallel.hpp"
#include "lithe/dynamics/lattice_adapt.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/reduce/make_lattice_model.hpp"

namespace lithe::bench {
namespace {

constexpr int bone_count = 20;
constexpr double cell = 0.1;      ///< [m]
constexpr double h = 1.0 / 120.0; ///< [s]
constexpr int steps = 200;

/// A tentacle: 2 x 2 x 21 cubes of six tets around 20 bones on its axis; 198 vertices.
ControlLattice tentacle_lattice()
{
    ControlLattice lattice;
    const int along = bone_count + 1;
    const auto vertex = [](int x, int y, int z) { return x + 3 * (y + 3 * z); };
    for (int z = 0; z <= along; ++z)
        for (int y = 0; y <= 2; ++y)
            for (int x = 0; x <= 2; ++x) lattice.vertices.push_back(cell * Vec3(x - 1, y - 1, z));
    constexpr int diagonal_steps[6][2] = {{1, 3}, {2, 6}, {4, 5}, {3, 2}, {6, 4}, {5, 1}};
    for (int z = 0; z < along; ++z)
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2; ++x)
                for (const auto& [a, b] : diagonal_steps) {
                    const auto corner = [&](int k) {
                        return vertex(x + (k & 1), y + ((k >> 1) & 1), z + (k >> 2));
                    };
                    lattice.cells.push_back(
                        {LatticeCellKind::Tet, {corner(0), corner(a), corner(b), corner(7), -1, -1, -1, -1}});
                }
    for (int b = 0; b < bone_count; ++b)
        lattice.bones.push_back({fmt::format("bone {}", b), {vertex(1, 1, b), vertex(1, 1, b + 1)}});
    return lattice;
}

/// With a skin of edges of that length.
LatticeDescription tentacle(double skin_cell)
{
    LatticeDescription d;
    d.name = "tentacle";
    d.lattice = tentacle_lattice();
    const double length = cell * (bone_count + 1);
    d.shown = make_capsule(0.07, length - 0.2, skin_cell);
    const Mat3 upright = Eigen::AngleAxisd(1.5707963267948966, Vec3::UnitX()).toRotationMatrix(); // y to z
    d.shown.vertices = (upright * d.shown.vertices).colwise() + Vec3(0.0, 0.0, 0.5 * length);
    d.closed = d.collision = make_capsule(0.07, length - 0.2, 0.05);
    d.closed.vertices = d.collision.vertices =
        (upright * d.closed.vertices).colwise() + Vec3(0.0, 0.0, 0.5 * length);
    MatX weights = MatX::Zero(bone_count, d.shown.vertex_count());
    for (int b = 0; b < bone_count; ++b) {
        d.bone_joints.push_back(b);
        d.bones.push_back({b, Affine3::Identity()});
        d.skeleton.joints.push_back({.name = fmt::format("bone {}", b),
                                     .parent = b - 1,
                                     .rest = {.translation = {0.0, 0.0, b == 0 ? 0.0 : cell}}});
        for (Index v = 0; v < weights.cols(); ++v)
            weights(b, v) = std::max(0.0, 1.0 - std::abs(d.shown.vertices(2, v) / cell - b - 0.5));
    }
    weights.row(0).array() += 1e-6;
    weights.row(bone_count - 1).array() += 1e-6;
    d.weights = sparse_weights(weights);
    d.materials = {{.label = 0,
                    .material = {.kind = MaterialKind::Corotational, .elastic = {2e4, 0.4}},
                    .density = 1000.0}};
    d.levels = 1;
    d.integration_levels = 2;
    return d;
}

std::shared_ptr<const LatticeSystem> system_of(const LatticeDescription& description, Progress& progress)
{
    return std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(make_lattice_model(description, progress))));
}

/// Every bone turns a little about x, so that the tentacle waves.
std::vector<RigidPose> wave(const LatticeSystem& system, double t)
{
    const Skeleton& skeleton = system.model->skeleton;
    Pose pose = rest_pose(skeleton);
    for (std::size_t b = 0; b < pose.size(); ++b)
        pose[b].rotation =
            Quat(Eigen::AngleAxisd(0.08 * std::sin(3.0 * t + 0.3 * static_cast<double>(b)), Vec3::UnitX()));
    return joint_motions(skeleton, world_transforms(skeleton, rest_pose(skeleton)),
                         world_transforms(skeleton, pose));
}

/// The poses of a run, so that the clock sees the flesh alone.
std::vector<std::vector<RigidPose>> poses_of(const LatticeSystem& system)
{
    std::vector<std::vector<RigidPose>> poses;
    for (int k = 0; k <= steps; ++k) poses.push_back(wave(system, k * h));
    return poses;
}

enum class Details { Off, On };

/// A run of the waving tentacle; with details, its strain lets them come.
struct Run {
    const LatticeSystem& system;
    LatticeMotion& motion;
    const std::vector<std::vector<RigidPose>>& poses;
    Points skin = {};
    int most_active = 0;

    /// Level 0 alone is factorised, as it is before details come.
    void make_ready()
    {
        LatticeState next;
        motion.step(rest_state(system, poses[0]), {poses[0], poses[1]}, {.h = h}, next);
    }

    template <class AfterStep>
    void go(Details details, const AfterStep& after, LatticeScheme scheme = LatticeScheme::Blended)
    {
        LatticeState state = rest_state(system, poses[0]), next;
        const LatticeLoading loading{.h = h, .gravity = {0.0, -9.81, 0.0}, .scheme = scheme};
        for (int k = 0; k < steps; ++k) {
            motion.step(state, {poses[static_cast<std::size_t>(k)], poses[static_cast<std::size_t>(k) + 1]},
                        loading, next);
            std::swap(state, next);
            if (details == Details::On) adapt(system, state);
            after(state);
        }
        most_active = active_count(state);
    }
};

Result rate(std::string name, const Timing& timing, std::string unit, std::string note)
{
    return {std::move(name),        steps / timing.median,  std::move(unit), std::move(note),
            steps / timing.slowest, steps / timing.fastest, timing.runs};
}

} // namespace

SuiteReport bench_lattice(Progress& progress)
{
    SuiteReport report;
    LatticeDescription description = tentacle(0.0072);
    const auto system = system_of(description, progress);
    const auto poses = poses_of(*system);
    {
        const ThreadLimit one(1);
        LatticeMotion motion(system);
        Run run{*system, motion, poses};
        const Timing plain = measure(7, progress, [&] { run.go(Details::Off, [](const LatticeState&) {}); });
        report.results.push_back(rate(
            "steps_per_second_200", plain, "1/s",
            fmt::format(
                "{} lattice vertices of level 0, {} regions, {} blocks in the factors, one core, no skin",
                system->coarse_count(), system->regions.size(), motion.factor_blocks())));
    }
    {
        const ThreadLimit one(1);
        LatticeMotion motion(system);
        Run run{*system, motion, poses};
        const Timing timing = measure(
            5, progress, [&] { run.go(Details::Off, [](const LatticeState&) {}, LatticeScheme::Corotated); });
        report.results.push_back(rate(
            "corotated_steps_per_second", timing, "1/s",
            fmt::format(
                "the same with a rotation per cell where regions overlap, {} iterations in the last step",
                motion.corotation_report().iterations)));
    }
    {
        const ThreadLimit two(2);
        LatticeMotion motion(system);
        Run run{*system, motion, poses};
        const LatticeState rest = rest_state(*system, poses[0]);
        const SparseRows map = active_columns(system->shown, rest.active);
        const Timing timing = measure(7, progress, [&] {
            run.go(Details::Off, [&](const LatticeState& s) { follow(map, s.x, run.skin); });
        });
        report.results.push_back(rate("frames_per_second_skin", timing, "1/s",
                                      fmt::format("a step and a skin of {} vertices per frame, 2 cores",
                                                  system->model->shown.rest.vertex_count())));
    }
    {
        const ThreadLimit one(1);
        const int before = active_count(rest_state(*system, poses[0]));
        description.settings.refine_strain = 0.01;
        description.settings.most_functions = 2 * before;
        const auto fine = system_of(description, progress);
        LatticeMotion coarse_motion(system), motion(fine);
        Run coarse{*system, coarse_motion, poses}, run{*fine, motion, poses};
        const auto timed = [](Run& which, Details details) {
            which.make_ready();
            return seconds_of([&] { which.go(details, [](const LatticeState&) {}); });
        };
        const Timing ratio = measure_ratio(
            15, progress, [&] { return timed(run, Details::On); },
            [&] { return timed(coarse, Details::Off); });
        report.results.push_back(
            {"adaptation_ratio", ratio.median, "",
             fmt::format("mean step of {} with details that come, against none, in turns: {} to {} active "
                         "functions, factorisations included",
                         steps, before, run.most_active),
             ratio.fastest, ratio.slowest, ratio.runs});
    }
    report.results.push_back(lattice_preparation(progress));
    return report;
}

} // namespace lithe::bench
