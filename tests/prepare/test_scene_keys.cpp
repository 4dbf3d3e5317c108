// Every key of a scene file changes what comes out of a run.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/control_lattice_io.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/shape_field.hpp"
#include "lithe/prepare/prepare_bones.hpp"
#include "lithe/prepare/prepare_model.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "lithe/rig/rig_files.hpp"
#include "lithe/scene/scene_keys.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

/// One key, by two scenes that differ in it alone: `text` with @ replaced by either.
struct KeyCase {
    const char* key;
    std::string text;
    const char* one;
    const char* other;

    std::string with(const char* value) const
    {
        std::string out = text;
        return out.replace(out.find('@'), 1, value);
    }
};

/// A block of 48 tets just above the ground, moving sideways.
constexpr const char* block = "[[body]]\n"
                              "shape = \"box:size=0.2x0.2x0.2\"\n"
                              "cell = 0.1\n"
                              "position = [0, 0.101, 0]\n"
                              "velocity = [1, 0, 0]\n";
constexpr const char* ground = "[[obstacle]]\nshape = \"plane\"\n";
constexpr const char* soft = "material = { kind = \"corotational\", young = 5e4 }\n";

/// The block on the ground with more said about it.
std::string body(const std::string& more)
{
    return fmt::format("{}{}{}\n{}", block, more.find("material") == more.npos ? soft : "", more, ground);
}
std::string head(const std::string& more)
{
    return fmt::format("{}\n{}{}{}", more, block, soft, ground);
}
/// Without ground, held at one side.
std::string pinned(const std::string& more)
{
    return fmt::format("{}{}[[body.pin]]\n{}\n", block, soft, more);
}
std::string loaded(const std::string& more)
{
    return fmt::format("{}{}[[body.load]]\n{}\n", block, soft, more);
}
std::string on(const std::string& obstacle)
{
    return fmt::format("{}{}[[obstacle]]\n{}\n", block, soft, obstacle);
}
std::string coloured(const std::string& more)
{
    return "[[body]]\nmesh = \"half.ply\"\ntets = 200\n" + more + "\n";
}

/// Held at one side, in few coordinates.
std::string reduced(const std::string& more)
{
    return fmt::format("{}{}{}\n[[body.pin]]\nbox = [[-1, -1, -1], [-0.05, 1, 1]]\n", block,
                       more.find("material") == more.npos ? soft : "", more);
}

/// In few coordinates, in free flight.
std::string free_block(const std::string& more)
{
    return fmt::format("{}{}reduce = {{rank = 6}}\n{}\n", block, soft, more);
}

std::vector<KeyCase> head_cases()
{
    return {
        {"title", head("title = \"@\""), "a", "b"},
        {"time", head("time = @"), "{fps = 24}", "{fps = 60}"},
        {"time.fps", head("[time]\nfps = @"), "60", "50"},
        {"time.substeps", head("[time]\nsubsteps = @"), "1", "2"},
        {"time.frames", head("[time]\nframes = @"), "2", "3"},
        {"time.method", head("[time]\nmethod = \"@\""), "backward_euler", "newmark"},
        {"time.newmark_beta", head("[time]\nmethod = \"newmark\"\nnewmark_beta = @"), "0.25", "0.3025"},
        {"time.newmark_gamma", head("[time]\nmethod = \"newmark\"\nnewmark_gamma = @"), "0.5", "0.6"},
        {"world", head("world = @"), "{}", "{gravity = [0, 0, 1]}"},
        {"world.gravity", head("[world]\ngravity = @"), "[0, -9.81, 0]", "[0, -1.6, 0]"},
        {"world.sleep", body("rigid = true\n[time]\nfps = 4\nsubsteps = 30\n[world]\nsleep = @"), "false",
         "true"},
        {"solver", head("solver = @"), "{}", "{tolerance = 1e-12}"},
        {"solver.tolerance", head("[solver]\ntolerance = @"), "1e-3", "1e-12"},
        {"solver.max_iterations", head("[solver]\ntolerance = 1e-12\nmax_iterations = @"), "40", "1"},
        {"solver.impulse_tolerance", body("rigid = true\n[solver]\nimpulse_tolerance = @"), "0.1", "1e-9"},
        {"solver.impulse_sweeps",
         body("rigid = true\n[solver]\nimpulse_tolerance = 1e-9\nimpulse_sweeps = @"), "1", "100"},
        {"solver.linear", head("[solver]\nlinear = \"@\""), "cholesky", "conjugate_gradient"},
        {"material", body("material = \"m\"\n[material.m]\nyoung = @"), "5e4", "6e4"},
        {"material.kind", body("material = {young = 5e4, kind = \"@\"}"), "corotational", "neo_hookean"},
        {"material.young", body("material = {young = @}"), "5e4", "\"60 kPa\""},
        {"material.poisson", body("material = {young = 5e4, poisson = @}"), "0.3", "0.45"},
        {"material.density", body("material = {young = 5e4, density = @}"), "1000", "\"2 g/cm^3\""},
        {"material.mooney_ratio",
         body("material = {young = 5e4, kind = \"mooney_rivlin\", mooney_ratio = @}"), "0.1", "2"},
        {"material.limit_stretch",
         body("material = {young = 5e4, kind = \"arruda_boyce\", limit_stretch = @}"), "1.2", "5"},
    };
}

std::vector<KeyCase> body_cases()
{
    return {
        {"body", "@", "[[body]]\nshape = \"box\"\ncell = 0.5\n",
         "[[body]]\nshape = \"box\"\ncell = 0.5\n[[body]]\nshape = \"box\"\ncell = 0.5\n"},
        {"body.name", body("name = \"@\""), "a", "b"},
        {"body.shape", "[[body]]\nshape = \"@\"\ncell = 0.1\n", "box:size=0.2x0.2x0.2",
         "box:size=0.3x0.2x0.2"},
        {"body.mesh", "[[body]]\nmesh = \"@\"\ntets = 200\n", "half.ply", "ball.obj"},
        {"body.scale", "[[body]]\nmesh = \"ball.obj\"\ntets = 200\nscale = @\n", "1", "0.01"},
        {"body.up", "[[body]]\nmesh = \"half.ply\"\ntets = 200\nposition = [1, 2, 3]\nup = \"@\"\n", "y",
         "z"},
        {"body.tets", "[[body]]\nshape = \"sphere\"\ntets = @\n", "200", "300"},
        {"body.cell", "[[body]]\nshape = \"box\"\ncell = @\n", "0.5", "0.25"},
        {"body.position", "[[body]]\nshape = \"box\"\ncell = 0.5\nposition = @\n", "[0, 0, 0]",
         "[0, \"1 cm\", 0]"},
        {"body.rotation", "[[body]]\nshape = \"box\"\ncell = 0.5\nrotation = @\n", "[0, 0, 0]", "[0, 0, 10]"},
        {"body.velocity", "[[body]]\nshape = \"box\"\ncell = 0.5\nvelocity = @\n", "[0, 0, 0]", "[1, 0, 0]"},
        {"body.angular_velocity", "[[body]]\nshape = \"box\"\ncell = 0.5\nangular_velocity = @\n",
         "[0, 0, 0]", "[0, 90, 0]"},
        {"body.material", body("material = @"), "{young = 5e4}", "{young = 5e5}"},
        {"body.mass", body("mass = \"@\""), "consistent", "lumped"},
        {"body.damping", body("damping = @"), "{stiffness = 0}", "{stiffness = 0.01}"},
        {"body.damping.mass", body("damping = {mass = @}"), "0", "1"},
        {"body.damping.stiffness", body("damping = {stiffness = @}"), "0", "\"10 ms\""},
        {"body.friction", body("friction = @"), "0", "0.5"},
        {"body.copy", body("copy = [@]"), "{position = [1, 1, 0]}",
         "{position = [1, 1, 0]}, {position = [2, 1, 0]}"},
        {"body.copy.position", body("copy = [{position = @}]"), "[1, 1, 0]", "[1, 2, 0]"},
        {"body.copy.rotation", body("copy = [{position = [1, 1, 0], rotation = @}]"), "[0, 0, 0]",
         "[0, 0, 10]"},
        {"body.rigid", body("rigid = @"), "false", "true"},
        {"body.restitution", body("rigid = true\nrestitution = @"), "0", "1"},
        {"body.groups", body("groups = [@]") + "groups = [\"fish\"]\npasses = [\"fish\"]\n", "\"fish\"",
         "\"bird\""},
        {"body.passes", body("passes = [@]") + "groups = [\"fish\"]\n", "\"fish\"", ""},
        {"body.contact_stiffness", body("contact_stiffness = @"), "1e7", "1e8"},
        // a block that is squeezed flat and through itself by its pins
        {"body.self_contact",
         "[time]\nfps = 20\n[[body]]\nmesh = \"clamp.ply\"\ntets = 400\nmaterial = {young = "
         "1e5}\nself_contact = @\n"
         "[[body.pin]]\nbox = [[0.5, -1, -1], [2, -0.2, 1]]\nmotion = [{time = 0}, {time = 0.2, "
         "translation = [0, 0.4, 0]}]\n"
         "[[body.pin]]\nbox = [[0.5, 0.2, -1], [2, 1, 1]]\n",
         "false", "true"},
        {"body.color", body("color = @"), "[1, 0, 0]", "[0, 1, 0]"},
        {"body.region", coloured("material = {young = 1e5}\n@"), "",
         "[[body.region]]\ncolor = [1, 0, 0]\ntolerance = 0.3\nmaterial = {young = 1e6}"},
        {"body.region.color",
         coloured("material = {young = 1e5}\n[[body.region]]\ncolor = @\ntolerance = 0.3\nmaterial = "
                  "{density = 2000, young = 1e5}"),
         "[1, 0, 0]", "[0, 0, 1]"},
        {"body.region.tolerance",
         coloured("material = {young = 1e5}\n[[body.region]]\ncolor = [1, 0, 0]\ntolerance = @\nmaterial "
                  "= {density = 2000, young = 1e5}"),
         "0.05", "1"},
        {"body.region.label",
         "[[body]]\nmesh = \"two.mesh\"\nmaterial = {young = 1e5}\n[[body.region]]\nlabel = @\nmaterial = "
         "{density = 2000, young = 1e5}\n",
         "3", "4"},
        {"body.region.material",
         coloured("material = {young = 1e5}\n[[body.region]]\ncolor = [1, 0, 0]\ntolerance = 0.3\nmaterial "
                  "= @"),
         "{young = 1e5, density = 2000}", "{young = 1e5, density = 3000}"},
    };
}

std::vector<KeyCase> pin_cases()
{
    const std::string left = "box = [[-1, -1, -1], [-0.05, 1, 1]]\n";
    return {
        {"body.pin", block + std::string("@\n"), "", "[[body.pin]]\nvertices = [0]"},
        {"body.pin.box", pinned("box = @"), "[[-1, -1, -1], [-0.05, 1, 1]]", "[[0.05, -1, -1], [1, 1, 1]]"},
        {"body.pin.sphere", pinned("sphere = @"), "{centre = [0.1, 0.2, 0.1], radius = 0.05}",
         "{centre = [0.1, 0.2, -0.1], radius = 0.05}"},
        {"body.pin.sphere.centre", pinned("sphere = {centre = @, radius = 0.05}"), "[0.1, 0.2, 0.1]",
         "[0.1, 0.2, -0.1]"},
        {"body.pin.sphere.radius", pinned("sphere = {centre = [0.1, 0.2, 0.1], radius = @}"), "0.05", "0.12"},
        {"body.pin.vertices", pinned("vertices = @"), "[0, 1]", "[2, 3]"},
        {"body.pin.color", coloured("[[body.pin]]\ncolor = @"), "[1, 0, 0]", "[0, 0, 1]"},
        {"body.pin.tolerance", coloured("[[body.pin]]\ncolor = [1, 0, 0]\ntolerance = @"), "0.01", "0.9"},
        {"body.pin.motion", pinned(left + "motion = @"), "[{time = 0}]",
         "[{time = 0}, {time = 1, translation = [0, 1, 0]}]"},
        {"body.pin.motion.time", pinned(left + "motion = [{time = 0}, {time = @, translation = [0, 1, 0]}]"),
         "1", "\"500 ms\""},
        {"body.pin.motion.translation", pinned(left + "motion = [{time = 0}, {time = 1, translation = @}]"),
         "[0, 1, 0]", "[0, 2, 0]"},
        {"body.pin.motion.rotation", pinned(left + "motion = [{time = 0}, {time = 1, rotation = @}]"),
         "[0, 0, 45]", "[0, 0, 90]"},
        {"body.pin.about",
         pinned(left + "about = @\nmotion = [{time = 0}, {time = 1, rotation = [0, 0, 45]}]"), "[0, 0, 0]",
         "[0, 1, 0]"},
        {"body.pin.release", pinned(left + "release = @"), "0.02", "0.06"},
    };
}

std::vector<KeyCase> reduce_cases()
{
    const std::string few = "[body.reduce]\nrank = 6\nposes = 40\n",
                      stvk = "material = {kind = \"stvk\", young = 5e4}\n";
    return {
        {"body.model", "[[body]]\nmodel = \"@\"\n", "soft.lithe", "stiff.lithe"},
        {"body.reduce", reduced("@"), "", "[body.reduce]\nrank = 4"},
        {"body.reduce.rank", reduced("[body.reduce]\nrank = @"), "3", "4"},
        {"body.reduce.auto", reduced("[body.reduce]\nposes = 40\nauto = @"), "false", "true"},
        {"body.reduce.tolerance", reduced(few + "tolerance = @"), "0.3", "0.01"},
        {"body.reduce.elastic", reduced(stvk + "[body.reduce]\nrank = 6\nelastic = \"@\""), "linear",
         "polynomial"},
        {"body.reduce.rule", reduced(few + "rule = \"@\""), "omp", "importance"},
        {"body.reduce.poses", reduced("[body.reduce]\nrank = 6\nposes = @"), "40", "60"},
        {"body.reduce.contact_modes", reduced(few + "contact_modes = @"), "0", "1"},
        {"body.reduce.seed", reduced(few + "seed = @"), "1", "2"},
        {"body.disturbed", free_block("@"), "", "disturbed = {amount = 0.02}"},
        {"body.disturbed.amount", free_block("disturbed = {amount = @}"), "0.01", "0.02"},
        {"body.disturbed.seed", free_block("disturbed = {amount = 0.02, seed = @}"), "1", "2"},
        {"body.spin", free_block("disturbed = {amount = 0.02}\nspin = \"@\""), "exact", "naive"},
    };
}

/// The same worm with flesh in a lattice, hanging in the air by its bones.
std::vector<KeyCase> lattice_cases()
{
    const auto worm = [](const std::string& more) {
        return "[[body]]\nshape = \"worm.shape\"\nposition = [0, 1, 0]\nmaterial = {young = 2e4}\n" + more +
               "\n";
    };
    const auto with = [=](const std::string& more) {
        return worm("[body.lattice]\n" + (more.find("size") == more.npos ? std::string("size = 40\n") : "") +
                    more);
    };
    const auto stiff = [=](const std::string& what) { return with("stiffness = [{" + what + "}]"); };
    const auto slab = [](const std::string& more) {
        return "[[body]]\nmesh = \"slab.skel.txt\"\nmaterial = {young = 2e4}\n[body.lattice]\nsize = 40\n" +
               more + "\n";
    };
    const auto waving = [=](const std::string& more) {
        return with(
            "track = [{joint = \"middle\", motion = [{time = 0}, {time = 0.05, rotation = [0, 40, 0]}]}]\n" +
            more);
    };
    return {
        {"body.lattice", worm("lattice = @"), "{size = 40}", "{size = 80}"},
        {"body.lattice.size", with("size = @"), "40", "80"},
        {"body.lattice.file", worm("lattice = {file = \"@\"}"), "near.lattice", "far.lattice"},
        {"body.lattice.levels", with("levels = @"), "0", "1"},
        {"body.lattice.proxy", with("proxy = @\n[[obstacle]]\nshape = \"plane\"\nposition = [0, 0.955, 0]"),
         "40", "80"},
        {"body.lattice.damping", waving("damping = @"), "0", "9"},
        {"body.lattice.stiffness", with("@"), "", "stiffness = [{bone = \"tail\", young = 1e5}]"},
        {"body.lattice.stiffness.bone", stiff("bone = \"@\", young = 1e5"), "tail", "head"},
        {"body.lattice.stiffness.color", stiff("color = @, young = 1e5"), "[1, 0, 0]", "[0, 0, 1]"},
        {"body.lattice.stiffness.mask", stiff("mask = \"@\", young = 1e5"), "near.obj", "far.obj"},
        {"body.lattice.stiffness.young", stiff("bone = \"tail\", young = @"), "1e5", "2e5"},
        {"body.lattice.scheme", waving("scheme = \"@\""), "blended", "corotated"},
        {"body.lattice.clip", slab("clip = \"@\""), "shift", "turn"},
        {"body.lattice.motion", slab("motion = \"@\""), "shift.bvh", "lift.bvh"},
        {"body.lattice.start", waving("start = @"), "0", "0.02"},
        {"body.lattice.speed", waving("speed = @"), "1", "0.5"},
        {"body.lattice.loop", waving("start = 0.04\nloop = @"), "true", "false"},
        {"body.lattice.track", with("track = @"), "[]",
         "[{joint = \"middle\", motion = [{time = 0, rotation = [0, 9, 0]}]}]"},
        {"body.lattice.track.joint",
         with("track = [{joint = \"@\", motion = [{time = 0, rotation = [0, 9, 0]}]}]"), "middle", "tail"},
        {"body.lattice.track.motion", with("track = [{joint = \"middle\", motion = @}]"), "[{time = 0}]",
         "[{time = 0, rotation = [0, 9, 0]}]"},
        {"body.lattice.track.motion.time",
         with("track = [{joint = \"middle\", motion = [{time = 0}, {time = @, rotation = [0, 40, 0]}]}]"),
         "0.1", "0.2"},
        {"body.lattice.track.motion.translation",
         with("track = [{joint = \"head\", motion = [{time = 0, translation = @}]}]"), "[0, 0, 0]",
         "[0, 0.1, 0]"},
        {"body.lattice.track.motion.rotation",
         with("track = [{joint = \"middle\", motion = [{time = 0, rotation = @}]}]"), "[0, 0, 0]",
         "[0, 9, 0]"},
    };
}

/// A worm of three bones that lies on the ground.
std::vector<KeyCase> bones_cases()
{
    const auto worm = [](const std::string& more) {
        return "[[body]]\nshape = \"worm.shape\"\ntets = 400\nposition = [0, 0.06, 0]\nmaterial = {young = "
               "2e4}\n" +
               more + "\n" + ground;
    };
    const auto playing = [](const std::string& keys) {
        return "[[body]]\nmesh = \"slab.skel.txt\"\ntets = 400\nmaterial = {young = 2e4}\nbones = {modes = "
               "3}\nplay = {" +
               keys + "}\n";
    };
    const auto muscle = [=](const std::string& more) {
        return worm("bones = {modes = 4}\n[[body.muscle]]\nbone = \"middle\"\n" + more);
    };
    return {
        {"body.bones", worm("bones = @"), "{modes = 3}", "{modes = 4}"},
        {"body.bones.modes", worm("bones.modes = @"), "0", "4"},
        {"body.bones.overlap", worm("bones = {modes = 4, overlap = @}"), "0.1", "0.3"},
        {"body.bones.hold", worm("bones = {modes = 4, hold = \"@\"}"), "weld", "ball"},
        {"body.bones.rigid", worm("bones = {modes = 4, rigid = @}"), "[]", "[\"head\"]"},
        {"body.bones.proxy", worm("bones = {modes = 4, proxy = @}"), "40", "80"},
        {"body.detail", worm("bones = {modes = 4}\ndetail = @"), "0.03", "0.04"},
        {"body.led", worm("bones = {modes = 4}\n@"), "", "[[body.led]]\nbone = \"head\""},
        {"body.led.bone", worm("bones = {modes = 4}\nled = [{bone = \"@\"}]"), "head", "tail"},
        {"body.led.motion", worm("bones = {modes = 4}\nled = [{bone = \"head\", motion = @}]"),
         "[{time = 0}]", "[{time = 0}, {time = 1, translation = [0, 1, 0]}]"},
        {"body.led.motion.time",
         worm("bones = {modes = 4}\nled = [{bone = \"head\", motion = [{time = 0}, {time = @, translation = "
              "[0, 1, 0]}]}]"),
         "1", "2"},
        {"body.led.motion.translation",
         worm("bones = {modes = 4}\nled = [{bone = \"head\", motion = [{time = 0}, {time = 1, translation = "
              "@}]}]"),
         "[0, 1, 0]", "[0, 2, 0]"},
        {"body.led.motion.rotation",
         worm("bones = {modes = 4}\nled = [{bone = \"head\", motion = [{time = 0}, {time = 1, rotation = "
              "@}]}]"),
         "[0, 90, 0]", "[0, 45, 0]"},
        {"body.play", worm("bones = {modes = 4}\n@"), "", "play = {bones = [\"head\"]}"},
        {"body.play.bones", playing("clip = \"turn\", bones = [\"@\"]"), "root", "end"},
        {"body.play.clip", playing("bones = [\"end\"], clip = \"@\""), "shift", "turn"},
        {"body.play.motion", playing("bones = [\"end\"], motion = \"@\""), "shift.bvh", "lift.bvh"},
        {"body.play.rig",
         "[[body]]\nmodel = \"slab.lithe\"\nplay = {bones = [\"end\"], clip = \"turn\", rig = \"@\"}\n",
         "slab.skel.txt", "wide.skel.txt"},
        {"body.play.start", playing("bones = [\"end\"], start = @"), "0", "0.5"},
        {"body.play.speed", playing("bones = [\"end\"], speed = @"), "1", "2"},
        {"body.play.loop", playing("bones = [\"end\"], start = 0.98, loop = @"), "true", "false"},
        {"body.play.blend", playing("bones = [\"end\"], blend = @"), "0", "0.5"},
        {"body.muscle", worm("bones = {modes = 4}\n@"), "",
         "[[body.muscle]]\nbone = \"middle\"\nangle = 30\nphase = 0.25"},
        {"body.muscle.bone",
         worm("bones = {modes = 4}\n[[body.muscle]]\nbone = \"@\"\nangle = 30\nphase = 0.25"), "middle",
         "tail"},
        {"body.muscle.axis", muscle("angle = 30\nphase = 0.25\naxis = @"), "[0, 1, 0]", "[0, 0, 1]"},
        {"body.muscle.angle", muscle("phase = 0.25\nangle = @"), "20", "30"},
        {"body.muscle.period", muscle("angle = 30\nperiod = @"), "1", "0.5"},
        {"body.muscle.phase", muscle("angle = 30\nphase = @"), "0", "0.25"},
    };
}

std::vector<KeyCase> training_cases()
{
    const auto trained = [](const std::string& more) {
        return reduced("[body.reduce]\nrank = 4\nposes = 16") + "[training]\n" + more + "\n";
    };
    const std::string two = "runs = 2\nframes = 4\n";
    return {
        {"training", reduced("[body.reduce]\nrank = 4\nposes = 16") + "@\n", "",
         "[training]\nruns = 1\nframes = 4"},
        {"training.runs", trained("frames = 4\nruns = @"), "1", "2"},
        {"training.frames", trained("runs = 2\nframes = @"), "4", "6"},
        {"training.every", trained(two + "every = @"), "1", "2"},
        {"training.jitter", trained(two + "jitter = @"), "0.1", "0.5"},
        {"training.seed", trained(two + "seed = @"), "1", "2"},
        {"training.snapshots", trained("runs = 0\nsnapshots = [@]"), "\"bent.mesh\", \"long.mesh\"",
         "\"bent.mesh\", \"bent.mesh\", \"long.mesh\""},
        {"training.shapes", trained(two + "shapes = [@]"), "\"bent.mesh\"", "\"long.mesh\""},
    };
}

std::vector<KeyCase> load_cases()
{
    const std::string up = "force = [0, 50, 0]\n", wind = "wind = [20, 0, 0]\n";
    return {
        {"body.load", block + std::string("@\n"), "", "[[body.load]]\nforce = [0, 50, 0]"},
        {"body.load.force", loaded("force = @"), "[0, 10, 0]", "[0, 20, 0]"},
        {"body.load.pressure", loaded("pressure = @"), "100", "\"1 kPa\""},
        {"body.load.wind", loaded("wind = @"), "[10, 0, 0]", "[20, 0, 0]"},
        {"body.load.air_density", loaded(wind + "air_density = @"), "1.2", "2.4"},
        {"body.load.drag", loaded(wind + "drag = @"), "1", "0.5"},
        {"body.load.factor", loaded(up + "factor = @"), "[[0, 0], [1, 1]]", "2"},
        {"body.load.box", loaded(up + "box = @"), "[[-1, -1, -1], [-0.05, 1, 1]]",
         "[[0.05, -1, -1], [1, 1, 1]]"},
        {"body.load.sphere", loaded(up + "sphere = @"), "{centre = [0.1, 0.2, 0.1], radius = 0.05}",
         "{centre = [0.1, 0.2, -0.1], radius = 0.05}"},
        {"body.load.sphere.centre", loaded(up + "sphere = {centre = @, radius = 0.05}"), "[0.1, 0.2, 0.1]",
         "[0.1, 0.2, -0.1]"},
        {"body.load.sphere.radius", loaded(up + "sphere = {centre = [0.1, 0.2, 0.1], radius = @}"), "0.05",
         "0.12"},
        {"body.load.vertices", loaded(up + "vertices = @"), "[0, 1]", "[2, 3]"},
        {"body.load.color", coloured("[[body.load]]\nforce = [0, 50, 0]\ncolor = @"), "[1, 0, 0]",
         "[0, 0, 1]"},
        {"body.load.tolerance",
         coloured("[[body.load]]\nforce = [0, 50, 0]\ncolor = [1, 0, 0]\ntolerance = @"), "0.01", "0.9"},
    };
}

std::vector<KeyCase> obstacle_cases()
{
    const std::string box = "shape = \"box:size=1x0.1x1\"\n", low = box + "position = [0, -0.05, 0]\n";
    const std::string ball = "[[body]]\nshape = \"box:size=0.2x0.2x0.2\"\ncell = 0.1\nposition = [0, 0.61, "
                             "0]\nvelocity = [0, -2, 0]\n[[obstacle]]\n";
    return {
        {"obstacle", block + std::string("@\n"), "", "[[obstacle]]\nshape = \"plane\""},
        {"obstacle.name", on("shape = \"plane\"\nname = \"@\""), "a", "b"},
        {"obstacle.shape", on("shape = \"@\"\nposition = [0, -0.05, 0]"), "box:size=1x0.1x1",
         "box:size=1x0.099x1"},
        {"obstacle.mesh", ball + "mesh = \"@\"\n", "ball.obj", "half.ply"},
        {"obstacle.scale", ball + "mesh = \"ball.obj\"\nscale = @\n", "1", "0.9"},
        {"obstacle.up", ball + "mesh = \"half.ply\"\nrotation = [20, 0, 0]\nup = \"@\"\n", "y", "z"},
        {"obstacle.cell", ball + "mesh = \"ball.obj\"\ncell = @\n", "0.05", "0.1"},
        {"obstacle.position", on(box + "position = @"), "[0, -0.05, 0]", "[0, -0.055, 0]"},
        {"obstacle.rotation", on(low + "rotation = @"), "[0, 0, 0]", "[0, 0, 2]"},
        {"obstacle.path", on(box + "path = @"), "[{time = 0, position = [0, -0.05, 0]}]",
         "[{time = 0, position = [0, -0.05, 0]}, {time = 1, position = [0, 0.2, 0]}]"},
        {"obstacle.path.time",
         on(box + "path = [{time = 0, position = [0, -0.05, 0]}, {time = @, position = [0, 0.2, 0]}]"), "1",
         "2"},
        {"obstacle.path.position",
         on(box + "path = [{time = 0, position = [0, -0.05, 0]}, {time = 1, position = @}]"), "[0, 0.2, 0]",
         "[0, 0.3, 0]"},
        {"obstacle.path.rotation", on(low + "path = [{time = 0}, {time = 1, rotation = @}]"), "[0, 0, 10]",
         "[0, 0, 20]"},
        {"obstacle.friction", on(low + "friction = @"), "0", "0.8"},
        {"obstacle.groups",
         block + std::string("groups = [\"fish\"]\npasses = [\"fish\"]\n") + ground + "groups = [@]\n",
         "\"fish\"", "\"bird\""},
        {"obstacle.passes", block + std::string("groups = [\"fish\"]\n") + ground + "passes = [@]\n",
         "\"fish\"", ""},
        {"obstacle.hidden", on("shape = \"plane\"\nhidden = @"), "false", "true"},
        {"obstacle.color", on("shape = \"plane\"\ncolor = @"), "[1, 0, 0]", "[0, 1, 0]"},
    };
}

std::vector<KeyCase> character_cases()
{
    const auto on_skin = [](const std::string& more) {
        return fmt::format("{}{}[[character]]\n{}\n", block, soft, more);
    };
    const std::string table = "file = \"table.skel.txt\"\n", moving = table + "clip = \"shift\"\n",
                      track = table + "[[character.track]]\njoint = \"root\"\n";
    return {
        {"character", block + std::string("@\n"), "", "[[character]]\nfile = \"table.skel.txt\""},
        {"character.name", on_skin(table + "name = \"@\""), "a", "b"},
        {"character.file", on_skin("file = \"@\""), "table.skel.txt", "small.skel.txt"},
        {"character.shape", on_skin("shape = \"@\"\nposition = [0, -0.45, 0]"), "one.shape", "two.shape"},
        {"character.scale", on_skin(table + "scale = @"), "1", "0.99"},
        {"character.up", on_skin(table + "position = [0, -0.5, 0]\nup = \"@\""), "y", "z"},
        {"character.clip", on_skin(table + "clip = \"@\""), "shift", "turn"},
        {"character.motion", on_skin(table + "motion = \"@\""), "shift.bvh", "lift.bvh"},
        {"character.start", on_skin(moving + "start = @"), "0", "\"500 ms\""},
        {"character.speed", on_skin(moving + "speed = @"), "1", "-1"},
        {"character.loop", on_skin(moving + "start = 0.98\nloop = @"), "true", "false"},
        {"character.detail", on_skin("shape = \"one.shape\"\nposition = [0, -0.45, 0]\ndetail = @"), "0.1",
         "0.15"},
        {"character.skinning", on_skin(table + "clip = \"turn\"\nskinning = \"@\""), "linear",
         "dual_quaternion"},
        {"character.position", on_skin(table + "position = @"), "[0, 0, 0]", "[0, -0.01, 0]"},
        {"character.rotation", on_skin(table + "rotation = @"), "[0, 0, 0]", "[0, 0, 2]"},
        {"character.friction", on_skin(moving + "friction = @"), "0", "0.8"},
        {"character.groups",
         block + std::string("groups = [\"fish\"]\npasses = [\"fish\"]\n[[character]]\n") + moving +
             "groups = [@]\n",
         "\"fish\"", "\"bird\""},
        {"character.passes",
         block + std::string("groups = [\"fish\"]\n[[character]]\n") + moving + "passes = [@]\n", "\"fish\"",
         ""},
        {"character.color", on_skin(table + "color = @"), "[1, 0, 0]", "[0, 1, 0]"},
        {"character.track", on_skin(table + "@"), "",
         "[[character.track]]\njoint = \"root\"\nmotion = [{time = 0}, {time = 1, translation = [1, 0, 0]}]"},
        {"character.track.joint",
         on_skin(table + "[[character.track]]\njoint = \"@\"\nmotion = [{time = 0}, {time = 1, rotation = "
                         "[0, 90, 0]}]"),
         "root", "end"},
        {"character.track.motion", on_skin(track + "motion = @"), "[{time = 0}]",
         "[{time = 0}, {time = 1, translation = [1, 0, 0]}]"},
        {"character.track.motion.time",
         on_skin(track + "motion = [{time = 0}, {time = @, translation = [1, 0, 0]}]"), "1", "2"},
        {"character.track.motion.translation",
         on_skin(track + "motion = [{time = 0}, {time = 1, translation = @}]"), "[1, 0, 0]", "[2, 0, 0]"},
        {"character.track.motion.rotation",
         on_skin(track + "motion = [{time = 0}, {time = 1, rotation = @}]"), "[0, 90, 0]", "[0, 45, 0]"},
    };
}

std::vector<KeyCase> joint_cases()
{
    const auto held = [](const std::string& keys) {
        return fmt::format(
            "[time]\nframes = 10\n{}{}name = \"x\"\nrigid = true\n[[obstacle]]\nname = \"y\"\n"
            "shape = \"box\"\nposition = [0, 3, 0]\n[[obstacle]]\nname = \"z\"\nshape = \"box\"\n"
            "position = [0, 4, 0]\npath = [{{time = 0}}, {{time = 1, position = [1, 4, 0]}}]\n{}\n",
            block, soft, keys);
    };
    const auto joint = [=](const std::string& keys) {
        return held(fmt::format("[[joint]]\na = \"x\"\nb = \"y\"\nat = [0, 0.2, 0]\n{}", keys));
    };
    // beside its middle, so that it falls to one side
    const auto beside = [=](const std::string& keys) {
        return held(fmt::format("[[joint]]\na = \"y\"\nb = \"x\"\nat = [0.5, 0, 0]\n{}", keys));
    };
    // it would fall to one side and to the other
    const auto hinge = [=](const std::string& keys) {
        const char* at = keys.starts_with("lower") ? "[-0.5, 0, 0]" : "[0.5, 0, 0]";
        return held(fmt::format(
            "[[joint]]\na = \"y\"\nb = \"x\"\nat = {}\nkind = \"hinge\"\naxis = [0, 0, 1]\n{}", at, keys));
    };
    return {
        {"joint", held("@"), "", "[[joint]]\na = \"x\"\nb = \"y\"\nat = [0, 0.2, 0]"},
        {"joint.a", held("[[joint]]\na = \"@\"\nb = \"x\"\nat = [0, 0.2, 0]"), "y", "z"},
        {"joint.b", held("[[joint]]\na = \"x\"\nb = \"@\"\nat = [0, 0.2, 0]"), "y", "z"},
        {"joint.at", held("[[joint]]\na = \"x\"\nb = \"y\"\nat = @"), "[0, 0.2, 0]", "[0, 0.3, 0]"},
        {"joint.kind", joint("kind = \"@\""), "ball", "weld"},
        {"joint.axis", joint("kind = \"hinge\"\naxis = @"), "[0, 0, 1]", "[1, 0, 0]"},
        {"joint.size", joint("kind = \"weld\"\nsize = @"), "0.1", "0.2"},
        {"joint.stiffness", joint("stiffness = @"), "100", "200"},
        {"joint.damping", joint("stiffness = 100\ndamping = @"), "0", "10"},
        {"joint.strength", joint("strength = @"), "1", "1e9"},
        {"joint.lower", hinge("lower = @"), "-1", "-180"},
        {"joint.upper", hinge("upper = @"), "1", "180"},
        {"joint.cone", beside("axis = [1, 0, 0]\ncone = @"), "1", "180"},
        {"joint.motor", hinge("@"), "", "[joint.motor]\nspeed = 90"},
        {"joint.motor.speed", hinge("[joint.motor]\nspeed = @"), "90", "180"},
        {"joint.motor.angle", hinge("[joint.motor]\nstiffness = 500\nangle = @"), "30", "60"},
        {"joint.motor.stiffness", hinge("[joint.motor]\nangle = 30\nstiffness = @"), "500", "900"},
        {"joint.motor.damping", hinge("[joint.motor]\nangle = 30\nstiffness = 500\ndamping = @"), "0", "50"},
        {"joint.motor.torque", hinge("[joint.motor]\nspeed = 90\ntorque = @"), "1", "1000"},
    };
}

std::vector<KeyCase> pair_cases()
{
    const auto scene = [](const std::string& keys) {
        return fmt::format(
            "{}name = \"x\"\nrigid = true\n[[body]]\nname = \"far\"\nrigid = true\nshape = "
            "\"box:size=0.2x0.2x0.2\"\nposition = [3, 0.1, 0]\n[[obstacle]]\nname = \"y\"\nshape = "
            "\"plane\"\n[[obstacle]]\nname = \"above\"\nshape = \"sphere:radius=1\"\nposition = [0, 9, "
            "0]\n{}\n",
            block, keys);
    };
    const auto rule = [=](const std::string& keys) {
        return scene("[[pair]]\na = \"x\"\nb = \"y\"\n" + keys);
    };
    return {
        {"pair", scene("@"), "", "[[pair]]\na = \"x\"\nb = \"y\"\ncollide = false"},
        {"pair.a", scene("[[pair]]\na = \"@\"\nb = \"y\"\ncollide = false"), "x", "far"},
        {"pair.b", scene("[[pair]]\na = \"x\"\nb = \"@\"\ncollide = false"), "y", "above"},
        {"pair.friction", rule("friction = @"), "0", "0.8"},
        {"pair.restitution", rule("restitution = @"), "0", "1"},
        {"pair.collide", rule("collide = @"), "true", "false"},
    };
}

std::vector<KeyCase> all_cases()
{
    std::vector<KeyCase> all;
    for (const auto& some :
         {head_cases(), body_cases(), reduce_cases(), bones_cases(), lattice_cases(), training_cases(),
          pin_cases(), load_cases(), obstacle_cases(), character_cases(), pair_cases(), joint_cases()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

/// A ball; its upper half red and its lower half blue; tets with the labels 3 and 4; and a clamp that can bite itself.
class SceneKeys : public testing::Test {
protected:
    SceneKeys()
    {
        Progress progress;
        TriangleMesh ball = make_shape("sphere:radius=0.5", 0.15, progress);
        write_surface(folder_ / "ball.obj", ball);
        VertexField color{"color", MatX::Zero(3, ball.vertex_count())};
        for (Index v = 0; v < ball.vertex_count(); ++v)
            color.values(ball.vertices(1, v) > 0.0 ? 0 : 2, v) = 1.0;
        ball.vertices.row(1).array() *= 0.95; // so that "up" matters
        ball.fields.push_back(color);
        write_surface(folder_ / "half.ply", ball);
        TetMesh two = make_shape_tets("box:size=1x1x1", 0.5).value();
        for (Index t = 0; t < two.tet_count(); ++t) two.regions.push_back(t < 12 ? 3 : 4);
        write_tet_mesh(folder_ / "two.mesh", two);
        write_surface(folder_ / "clamp.ply", clamp(progress));
        TetMesh tets = make_shape_tets("box:size=0.2x0.2x0.2", 0.1).value(); // the block, held at x = -0.1
        const auto along = tets.vertices.row(0).array() + 0.1;
        TetMesh bent = tets, stretched = tets;
        bent.vertices.row(1).array() += 2.0 * along.square();
        write_tet_mesh(folder_ / "bent.mesh", bent);
        stretched.vertices.row(0).array() += 0.2 * along;
        write_tet_mesh(folder_ / "long.mesh", stretched);
        write_table("table", Vec3(1.0, 0.1, 1.0));
        write_table("small", Vec3(0.3, 0.1, 0.3));
        write_table("slab", Vec3(1.0, 0.2, 1.0), 0.1);
        write_table("wide", Vec3(1.0, 0.2, 1.0), 0.1, 2.0);
        write_bones("slab");
        for (const char* motion : {"shift", "lift"})
            write_file(folder_ / (std::string(motion) + ".bvh"),
                       fmt::format("HIERARCHY\nROOT root\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition "
                                   "Zposition\nJOINT end\n{{\nOFFSET 0.5 0 0\nCHANNELS 3 Zrotation Xrotation "
                                   "Yrotation\n}}\n}}\nMOTION\nFrames: 2\nFrame Time: 1\n0 0 0 0 0 0\n{} 0 "
                                   "0 0 0\n",
                                   std::string(motion) == "shift" ? "1 0" : "0 -1"));
        for (const auto& [name, radius] : {std::pair("one", 0.4), std::pair("two", 0.45)})
            write_file(
                folder_ / (std::string(name) + ".shape"),
                fmt::format("joint root at 0 0 0 radius {0}\njoint end of root at 0.3 0 0 radius {0}\n",
                            radius));
        write_file(folder_ / "worm.shape", "color red = 1 0 0\ncolor blue = 0 0 1\njoint head at 0.2 0 0 "
                                           "radius 0.05 color red\njoint middle of head at -0.2 0 0 "
                                           "radius 0.05\njoint tail of middle at -0.2 0 0 radius 0.05\n"
                                           "cone of tail to -0.2 0 0 radius 0.05 color blue\n");
        for (const auto& [file, reach] : {std::pair("near", 0.3), std::pair("far", 0.4)}) {
            ControlLattice box;
            box.cells = {{LatticeCellKind::Hex, {0, 1, 2, 3, 4, 5, 6, 7}}};
            for (int k = 0; k < 8; ++k)
                box.vertices.push_back(Vec3(-0.2, 0, 0) + Vec3(k & 1 ? 0.8 : -0.8, k & 2 ? reach : -reach,
                                                               k & 4 ? reach : -reach));
            write_file(folder_ / (std::string(file) + ".lattice"), lattice_text(box));
            TriangleMesh mask = make_shape(fmt::format("box:size={0}x1x1", 2.0 * reach), 0.5, progress);
            write_surface(folder_ / (std::string(file) + ".obj"), mask);
        }
        write_reduced("soft.lithe", "2e4");
        write_reduced("stiff.lithe", "4e4");
    }

    /// A slab whose top is at y = 0, on two joints side by side, so deep in it; it can shift along x, and turn one end by an angle.
    void write_table(const std::string& name, const Vec3& size, double depth = 0.0, double angle = 1.0)
    {
        Progress progress;
        Character table;
        table.surface =
            make_shape(fmt::format("box:size={}x{}x{}", size[0], size[1], size[2]), 0.1, progress);
        table.surface.vertices.row(1).array() -= 0.5 * size[1];
        const Vec3 down(0.0, -depth, 0.0);
        table.skeleton.joints = {{.name = "root", .parent = -1, .rest = {.translation = down}},
                                 {.name = "end", .parent = 0, .rest = {.translation = Vec3(0.1, 0.0, 0.0)}}};
        MatX dense(2, table.surface.vertex_count());
        dense.row(1) = (0.5 + table.surface.vertices.row(0).array() / size[0]).cwiseMax(0.0).cwiseMin(1.0);
        dense.row(0) = 1.0 - dense.row(1).array();
        const Track<Vec3> shift{.times = {0.0, 1.0}, .values = {down, down + Vec3::UnitX()}};
        const Track<Quat> turn{.times = {0.0, 0.1},
                               .values = {Quat::Identity(), Quat(Eigen::AngleAxisd(angle, Vec3::UnitY()))}};
        table.bones = {{.joint = 0, .inverse_bind = Affine3(Eigen::Translation3d(0.0, depth, 0.0))},
                       {.joint = 1, .inverse_bind = Affine3(Eigen::Translation3d(-0.1, depth, 0.0))}};
        table.weights = sparse_weights(dense);
        table.clips = {{.name = "shift", .joints = {{.joint = 0, .translation = shift}}},
                       {.name = "turn", .joints = {{.joint = 1, .rotation = turn}}}};
        write_text_rig(folder_ / (name + ".skel.txt"), table, 60.0);
    }

    /// A slab as a model of bones.
    void write_bones(const std::string& name)
    {
        Progress progress;
        std::vector<std::string> notes;
        const BoneOptions options{.modes = 3, .tets = {.count = 400}, .young = 2e4};
        write_bone_model(
            folder_ / (name + ".lithe"),
            prepare_bones(read_character(folder_ / (name + ".skel.txt")), options, progress, notes));
    }

    /// A block of that modulus, held at one side.
    void write_reduced(const char* file, const char* young)
    {
        Progress progress;
        const Scene scene = parse_scene(
            reduced(fmt::format("material = {{young = {}}}\n[body.reduce]\nrank = 4\nposes = 20", young)),
            "block.toml");
        const Reduction made = prepare_model(scene, scene.bodies.front(), progress);
        write_model(folder_ / file, made.model, made.volume);
    }

    /// A U on its side: two bars, joined at x = -1.
    static TriangleMesh clamp(Progress& progress)
    {
        const ShapeModel model = parse_shape("joint a at 1 0.3 0 radius 0.12\n"
                                             "joint b of a at -2 0 0 radius 0.12\n"
                                             "joint c of b at 0 -0.6 0 radius 0.12\n"
                                             "joint d of c at 2 0 0 radius 0.12\n",
                                             "clamp.shape");
        return shape_surface(model, 0.08, progress);
    }

    /// All that a run of six frames leaves to see.
    std::string outcome(const std::string& text) const
    {
        Progress progress;
        const Scene scene = parse_scene(text, folder_ / "scene.toml");
        PreparedScene prepared = prepare_scene(scene, progress);
        prepared.run.last_frame = std::min(prepared.run.last_frame, 6);
        std::string shown = scene.title;
        for (const Shown& one : prepared.world.shown())
            shown += fmt::format(" {} {} {} {} {}", one.name, one.color[0], one.color[1], one.color[2],
                                 one.surface.triangle_count());
        RunMetrics metrics;
        const RunReport report = run(prepared.world, prepared.run, {}, metrics, progress);
        return fmt::format("{} {} {} {} {} {}", shown, report.last_frame, report.trouble, prepared.run.fps,
                           metrics.halved_steps, hash_text(metrics.state_hash));
    }

    test::TemporaryFolder folder_;
};

TEST_F(SceneKeys, EveryOneChangesWhatComesOut)
{
    for (const KeyCase& one : all_cases()) {
        SCOPED_TRACE(one.key);
        try {
            EXPECT_NE(outcome(one.with(one.one)), outcome(one.with(one.other)));
        } catch (const InputError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST_F(SceneKeys, NoneIsForgotten)
{
    std::set<std::string> known, tried;
    for (const KeyCase& one : all_cases()) {
        tried.insert(one.key);
        (void)parse_scene(one.with(one.other), folder_ / "scene.toml", known);
    }
    EXPECT_EQ(tried, known);
}

} // namespace
} // namespace lithe
