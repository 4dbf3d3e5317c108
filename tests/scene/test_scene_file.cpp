#include <algorithm>
#include <fstream>
#include <functional>
#include <numbers>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/scene/scene.hpp"
#include "lithe/scene/scene_keys.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double degree = 3.14159265358979323846 / 180.0;

std::string content(const std::filesystem::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

/// Scenes in a folder that has the files "ball.obj", "ball.txt", "blob.shape", "arm.skel.txt" and "wave.bvh".
class SceneFile : public testing::Test {
protected:
    SceneFile()
    {
        std::ofstream(folder_ / "ball.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        std::ofstream(folder_ / "ball.txt") << "v 0 0 0\n";
        std::ofstream(folder_ / "blob.shape") << "joint a at 0 0 0 radius 0.1\n";
        std::ofstream(folder_ / "arm.skel.txt") << "joints 1\n0 -1 arm  0 0 0  1 0 0 0 1 0 0 0 1\n";
        std::ofstream(folder_ / "wave.bvh") << "HIERARCHY\n";
        std::ofstream(folder_ / "bad.shape") << "joint a at 0 0 0\nbladder\n";
    }
    Scene parse(std::string_view text) const { return parse_scene(text, folder_ / "scene.toml"); }

    /// "" when nothing is thrown; the folder is left out.
    std::string error_of(std::string_view text) const
    {
        try {
            (void)parse(text);
        } catch (const InputError& error) {
            const std::string where = folder_.path().string() + "/";
            std::string what = error.what();
            EXPECT_THAT(what, Not(HasSubstr("\n")));
            for (std::size_t at; (at = what.find(where)) != what.npos;) what.erase(at, where.size());
            return what;
        }
        return "";
    }

    test::TemporaryFolder folder_;
};

// ---- every key, once with effect and once in error

/// A scene of five lines at most: `body` follows [[body]] and its shape, and begins on line 3.
std::string with_body(std::string_view body)
{
    return fmt::format("[[body]]\nshape = \"box\"\n{}\n", body);
}
std::string with_obstacle(std::string_view obstacle)
{
    return fmt::format("[[body]]\nshape = \"box\"\n[[obstacle]]\n{}\n", obstacle);
}
/// `head` begins on line 1.
std::string with_head(std::string_view head)
{
    return fmt::format("{}\n[[body]]\nshape = \"box\"\n", head);
}

struct KeyCase {
    const char* key;
    std::string good;
    std::function<bool(const Scene&)> shows;
    std::string bad;
    std::string message;
};

const SceneBody& body(const Scene& scene)
{
    return scene.bodies.at(0);
}
const ScenePin& pin(const Scene& scene)
{
    return body(scene).pins.at(0);
}
const SceneLoad& load(const Scene& scene)
{
    return body(scene).loads.at(0);
}
const SceneRegion& region(const Scene& scene)
{
    return body(scene).regions.at(0);
}
const SceneObstacle& obstacle(const Scene& scene)
{
    return scene.obstacles.at(0);
}
const SceneCharacter& character(const Scene& scene)
{
    return scene.characters.at(0);
}
bool same_turn(const Quat& a, const Quat& b)
{
    return a.angularDistance(b) < 1e-12; // rounding of sines
}
Quat turn(double degrees, const Vec3& axis)
{
    return Quat(Eigen::AngleAxisd(degrees * degree, axis));
}

std::vector<KeyCase> top_cases()
{
    return {
        {"title", with_head("title = \"x y\""), [](const Scene& s) { return s.title == "x y"; },
         with_head("title = 3"), "scene.toml:1:9: title must be text in quotes, but is the number 3"},
        {"time", with_head("time = {fps = 24}"), [](const Scene& s) { return s.time.fps == 24.0; },
         with_head("time = 3"),
         "scene.toml:1:8: time must be a table, as in [time] or time = {...}, but is the number 3"},
        {"world", with_head("world.gravity = [0, 0, 1]"), [](const Scene& s) { return s.gravity[2] == 1.0; },
         with_head("[[world]]"),
         "scene.toml:1:1: world must be a table, as in [world] or world = {...}, but is a list of 1"},
        {"solver", with_head("[solver]\nmax_iterations = 3"),
         [](const Scene& s) { return s.solver.max_iterations == 3; }, with_head("solver = true"),
         "scene.toml:1:10: solver must be a table, as in [solver] or solver = {...}, but is true"},
        {"material", with_body("material = \"a\"\n[material.a]\nyoung = 7"),
         [](const Scene& s) { return body(s).material.young == 7.0; }, with_head("[material]\nyoung = 3"),
         "scene.toml:2:9: young = 3 is not a material; name the table, as in [material.rubber], and the "
         "body: "
         "material = \"rubber\""},
        {"body", "body = [{shape = \"box\"}, {shape = \"hand\"}]",
         [](const Scene& s) { return s.bodies.size() == 2; }, "[body]\nshape = \"box\"",
         "scene.toml:1:1: body must be a list of tables; write [[body]] instead of [body]"},
        {"obstacle", with_obstacle("shape = \"plane\""),
         [](const Scene& s) { return s.obstacles.size() == 1; }, with_head("obstacle = \"plane\""),
         "scene.toml:1:12: obstacle must be a list of tables, as in [[obstacle]], but is the text \"plane\""},

        {"time.fps", with_head("[time]\nfps = \"25 Hz\""), [](const Scene& s) { return s.time.fps == 25.0; },
         with_head("[time]\nfps = 0"), "scene.toml:2:7: fps = 0 must lie in [0.001, 1e+06] Hz"},
        {"time.substeps", with_head("[time]\nsubsteps = 4"),
         [](const Scene& s) { return s.time.substeps == 4; }, with_head("[time]\nsubsteps = 0"),
         "scene.toml:2:12: substeps = 0 must lie in [1, 10000]"},
        {"time.frames", with_head("[time]\nframes = 0"), [](const Scene& s) { return s.time.frames == 0; },
         with_head("[time]\nframes = 1_000_000_000"),
         "scene.toml:2:10: frames = 1000000000 must lie in [0, 1000000]"},
        {"time.method", with_head("[time]\nmethod = \"static\""),
         [](const Scene& s) { return s.time.method == Method::Static && s.time.frames == 1; },
         with_head("[time]\nmethod = \"newmrk\""),
         "scene.toml:2:10: method = \"newmrk\" is not one of backward_euler, newmark, quasi_static, static; "
         "did "
         "you mean 'newmark'?"},
        {"time.newmark_beta", with_head("[time]\nmethod = \"newmark\"\nnewmark_beta = 0.5"),
         [](const Scene& s) { return s.time.newmark_beta == 0.5; },
         with_head("[time]\nmethod = \"newmark\"\nnewmark_beta = 0"),
         "scene.toml:3:16: newmark_beta = 0 must lie in (0, 0.5]"},
        {"time.newmark_gamma", with_head("[time]\nmethod = \"newmark\"\nnewmark_gamma = 1"),
         [](const Scene& s) { return s.time.newmark_gamma == 1.0; }, with_head("[time]\nnewmark_gamma = 1"),
         "scene.toml:2:1: newmark_gamma belongs to method = \"newmark\"; remove it"},

        {"world.gravity", with_head("[world]\ngravity = [0, \"-162 cm/s^2\", 0]"),
         [](const Scene& s) { return s.gravity == Vec3(0.0, -1.62, 0.0); },
         with_head("[world]\ngravity = 9.81"),
         "scene.toml:2:11: gravity must be three numbers, as in [0, 1, 0], but is the number 9.81"},
        {"world.sleep", with_head("[world]\nsleep = true"), [](const Scene& s) { return s.sleep; },
         with_head("[world]\nsleep = 1"), "scene.toml:2:9: sleep must be true or false, but is the number 1"},

        {"solver.tolerance", with_head("[solver]\ntolerance = 1e-12"),
         [](const Scene& s) { return s.solver.decrement == 1e-12; }, with_head("[solver]\ntolerance = 1"),
         "scene.toml:2:13: tolerance = 1 must lie in (0, 1)"},
        {"solver.max_iterations", with_head("[solver]\nmax_iterations = 7"),
         [](const Scene& s) { return s.solver.max_iterations == 7; },
         with_head("[solver]\nmax_iterations = 7.5"),
         "scene.toml:2:18: max_iterations must be a whole number, but is the number 7.5"},
        {"solver.impulse_tolerance", with_head("[solver]\nimpulse_tolerance = 1e-5"),
         [](const Scene& s) { return s.impulses.tolerance == 1e-5; },
         with_head("[solver]\nimpulse_tolerance = 1"),
         "scene.toml:2:21: impulse_tolerance = 1 must lie in (0, 1)"},
        {"solver.impulse_sweeps", with_head("[solver]\nimpulse_sweeps = 200"),
         [](const Scene& s) { return s.impulses.max_sweeps == 200; },
         with_head("[solver]\nimpulse_sweeps = 0"),
         "scene.toml:2:18: impulse_sweeps = 0 must lie in [1, 10000]"},
        {"solver.linear", with_head("[solver]\nlinear = \"conjugate_gradient\""),
         [](const Scene& s) { return s.solver.linear_solver == LinearSolver::ConjugateGradient; },
         with_head("[solver]\nlinear = \"choleski\""),
         "scene.toml:2:10: linear = \"choleski\" is not one of automatic, cholesky, conjugate_gradient; did "
         "you "
         "mean 'cholesky'?"},
    };
}

std::vector<KeyCase> material_cases()
{
    const auto good = [](std::string_view keys) { return with_body(fmt::format("material = {{{}}}", keys)); };
    return {
        {"material.kind", good("kind = \"stvk\""),
         [](const Scene& s) { return body(s).material.kind == MaterialKind::StVenantKirchhoff; },
         good("kind = \"neo_hokean\""),
         "scene.toml:3:20: kind = \"neo_hokean\" is not one of linear, corotational, stvk, neo_hookean, "
         "neo_hookean_log_free, mooney_rivlin, arruda_boyce; did you mean 'neo_hookean'?"},
        {"material.young", good("young = \"50 kPa\""),
         [](const Scene& s) { return body(s).material.young == 5e4; }, good("young = \"50 kg\""),
         "scene.toml:3:21: young = \"50 kg\" is not a pressure, which has the units Pa, hPa, kPa, MPa, GPa, "
         "N/m^2, N/mm^2 or bar"},
        {"material.poisson", good("poisson = 0"),
         [](const Scene& s) { return body(s).material.poisson == 0.0; }, good("poisson = 0.5"),
         "scene.toml:3:23: poisson = 0.5 must lie in (-1, 0.5)"},
        {"material.density", good("density = \"2 g/cm^3\""),
         [](const Scene& s) { return body(s).material.density == 2000.0; }, good("density = -1"),
         "scene.toml:3:23: density = -1 must be above 0 kg/m^3"},
        {"material.mooney_ratio", good("kind = \"mooney_rivlin\", mooney_ratio = 0"),
         [](const Scene& s) { return body(s).material.mooney_ratio == 0.0; }, good("mooney_ratio = 0.25"),
         "scene.toml:3:13: mooney_ratio belongs to kind = \"mooney_rivlin\"; remove it"},
        {"material.limit_stretch", good("kind = \"arruda_boyce\", limit_stretch = 3"),
         [](const Scene& s) { return body(s).material.limit_stretch == 3.0; },
         good("kind = \"arruda_boyce\", limit_stretch = 1"),
         "scene.toml:3:52: limit_stretch = 1 must be above 1"},
    };
}

std::vector<KeyCase> body_cases()
{
    const auto mesh = [](std::string_view keys) {
        return fmt::format("[[body]]\nmesh = \"ball.obj\"\n{}", keys);
    };
    return {
        {"body.name", with_body("name = \"Ada\""), [](const Scene& s) { return body(s).name == "Ada"; },
         with_body("name = \"a\"\n[[obstacle]]\nshape = \"plane\"\nname = \"a\""),
         "scene.toml:6:8: name = \"a\" is taken: line 3 has that name too"},
        {"body.mesh", mesh(""),
         [](const Scene& s) {
             const auto* file = std::get_if<std::filesystem::path>(&body(s).source.from);
             return file && file->filename() == "ball.obj" && std::filesystem::exists(*file);
         },
         "[[body]]\nmesh = \"bal.obj\"",
         "scene.toml:2:8: mesh = \"bal.obj\" is not there; looked for \"bal.obj\"; did you mean 'ball.obj'?"},
        {"body.shape", "[[body]]\nshape = \"sphere:radius=0.1\"",
         [](const Scene& s) { return std::get<std::string>(body(s).source.from) == "sphere:radius=0.1"; },
         "[[body]]\nshape = \"sphere:radios=0.1\"",
         "scene.toml:2:9: shape 'sphere:radios=0.1': there is no 'radios'; did you mean 'radius'?; sphere "
         "takes "
         "radius"},
        {"body.scale", mesh("scale = 0.01"), [](const Scene& s) { return body(s).source.read.scale == 0.01; },
         with_body("scale = 2"), "scene.toml:3:1: scale belongs to mesh; remove it"},
        {"body.up", mesh("up = \"z\""), [](const Scene& s) { return body(s).source.read.up == UpAxis::Z; },
         mesh("up = \"x\""), "scene.toml:3:6: up = \"x\" is not one of y, z; did you mean 'y'?"},
        {"body.tets", with_body("tets = 500"), [](const Scene& s) { return body(s).tets == 500; },
         with_body("tets = 0"), "scene.toml:3:8: tets = 0 must lie in [1, 100000000]"},
        {"body.cell", with_body("cell = \"5 mm\""), [](const Scene& s) { return body(s).cell == 0.005; },
         with_body("tets = 3\ncell = 1"), "scene.toml:4:1: [[body]] has both tets and cell; keep one"},
        {"body.position", with_body("position = [\"10 cm\", 2, -3]"),
         [](const Scene& s) { return body(s).placement.translation == Vec3(0.1, 2.0, -3.0); },
         with_body("position = [0, 1e200, 0]"),
         "scene.toml:3:16: position[1] = 1e+200 is too large; numbers go up to 1e+150"},
        {"body.rotation", with_body("rotation = [90, 0, 20]"),
         [](const Scene& s) {
             return same_turn(body(s).placement.rotation, turn(20, Vec3::UnitZ()) * turn(90, Vec3::UnitX()));
         },
         with_body("rotation = [90, 0]"),
         "scene.toml:3:12: rotation must be three numbers, as in [0, 1, 0], but is a list of 2"},
        {"body.velocity", with_body("velocity = [0, \"36 km/h\", 0]"),
         [](const Scene& s) { return body(s).velocity == Vec3(0.0, 10.0, 0.0); },
         with_body("velocity = [0, \"3 m\", 0]"),
         "scene.toml:3:16: velocity[1] = \"3 m\" is not a speed, which has the units m/s, mm/s, cm/s or "
         "km/h"},
        {"body.angular_velocity", with_body("angular_velocity = [0, 0, 180]"),
         [](const Scene& s) { return (body(s).angular_velocity - Vec3(0, 0, 180 * degree)).norm() < 1e-15; },
         with_body("angular_velocity = [0, 0, nan]"),
         "scene.toml:3:27: angular_velocity[2] = nan must be finite"},
        {"body.material", with_body("material = \"linear\""),
         [](const Scene& s) { return body(s).material.kind == MaterialKind::Linear; },
         with_body("material = \"ruber\"\n[material.rubber]"),
         "scene.toml:3:12: material = \"ruber\" is neither the name of a [material.NAME] nor a kind; did "
         "you mean 'rubber'?"},
        {"body.region", with_body("region = [{label = 1, material = \"stvk\"}]"),
         [](const Scene& s) { return body(s).regions.size() == 1; }, with_body("region = [3]"),
         "scene.toml:3:11: region[0] must be a table, as in [body.region] or region[0] = {...}, but is the "
         "number "
         "3"},
        {"body.mass", with_body("mass = \"lumped\""),
         [](const Scene& s) { return body(s).mass == MassKind::Lumped; }, with_body("mass = 3"),
         "scene.toml:3:8: mass must be one of consistent, lumped, in quotes, but is the number 3"},
        {"body.damping", with_body("[body.damping]\nmass = 3"),
         [](const Scene& s) { return body(s).damping.mass == 3.0; }, with_body("damping = 0"),
         "scene.toml:3:11: damping must be a table, as in [body.damping] or damping = {...}, but is the "
         "number 0"},
        {"body.damping.mass", with_body("damping = {mass = 0}"),
         [](const Scene& s) { return body(s).damping.mass == 0.0; }, with_body("damping = {mass = -1}"),
         "scene.toml:3:19: mass = -1 must be at least 0 Hz"},
        {"body.damping.stiffness", with_body("damping.stiffness = \"20 ms\""),
         [](const Scene& s) { return body(s).damping.stiffness == 0.02 && body(s).damping.mass == 0.01; },
         with_body("damping.stifness = 1"),
         "scene.toml:3:9: unknown key 'stifness' in [body.damping]; did you mean 'stiffness'?"},
        {"body.model", "[[body]]\nmodel = \"ball.txt\"",
         [](const Scene& s) { return body(s).model && body(s).model->filename() == "ball.txt"; },
         "[[body]]\nmodel = \"ball.txt\"\nmass = \"lumped\"",
         "scene.toml:3:1: mass is part of the model; say it when the model is prepared, or give the mesh and "
         "[body.reduce] instead of the model"},
        {"body.reduce", with_body("[body.reduce]"),
         [](const Scene& s) { return body(s).reduction->rank == 30; }, with_body("reduce = 3"),
         "scene.toml:3:10: reduce must be a table, as in [body.reduce] or reduce = {...}, but is the number "
         "3"},
        {"body.reduce.rank", with_body("reduce.rank = 7"),
         [](const Scene& s) { return body(s).reduction->rank == 7; }, with_body("reduce.rank = 0"),
         "scene.toml:3:15: rank = 0 must lie in [1, 10000]"},
        {"body.reduce.auto", with_body("reduce.auto = true"),
         [](const Scene& s) { return !body(s).reduction->rank; },
         with_body("reduce = {rank = 3, auto = true}"),
         "scene.toml:3:21: [body.reduce] has both rank and auto; keep one"},
        {"body.reduce.tolerance", with_body("reduce.tolerance = 0.5"),
         [](const Scene& s) { return body(s).reduction->tolerance == 0.5; },
         with_body("reduce.tolerance = 0"), "scene.toml:3:20: tolerance = 0 must lie in [1e-09, 1]"},
        {"body.reduce.elastic", with_body("reduce.elastic = \"linear\""),
         [](const Scene& s) { return body(s).reduction->elastic == ElasticChoice::Linear; },
         with_body("reduce.elastic = \"linea\""),
         "scene.toml:3:18: elastic = \"linea\" is not one of automatic, linear, polynomial, cubature; did "
         "you mean "
         "'linear'?"},
        {"body.reduce.rule", with_body("reduce.rule = \"htp\""),
         [](const Scene& s) { return body(s).reduction->rule == CubatureRule::HardThresholding; },
         with_body("reduce.rule = \"greed\""),
         "scene.toml:3:15: rule = \"greed\" is not one of omp, greedy, importance, htp; did you mean "
         "'greedy'?"},
        {"body.reduce.poses", with_body("reduce.poses = 8"),
         [](const Scene& s) { return body(s).reduction->poses == 8; }, with_body("reduce.poses = 7"),
         "scene.toml:3:16: poses = 7 must lie in [8, 100000]"},
        {"body.reduce.contact_modes", with_body("reduce.contact_modes = 2"),
         [](const Scene& s) { return body(s).reduction->contact_modes == 2; },
         with_body("reduce.contact_modes = -1"),
         "scene.toml:3:24: contact_modes = -1 must lie in [0, 10000]"},
        {"body.reduce.seed", with_body("reduce.seed = 5"),
         [](const Scene& s) { return body(s).reduction->seed == 5; }, with_body("reduce.seed = 1.5"),
         "scene.toml:3:15: seed must be a whole number, but is the number 1.5"},
        {"body.disturbed", with_body("reduce = {}\ndisturbed = {amount = 0.1}"),
         [](const Scene& s) { return body(s).disturbed->seed == 1; }, with_body("disturbed = {amount = 0.1}"),
         "scene.toml:3:1: disturbed belongs to a reduced body that moves freely; remove it"},
        {"body.disturbed.amount", with_body("reduce = {}\ndisturbed = {amount = \"10 cm\"}"),
         [](const Scene& s) { return body(s).disturbed->amount == 0.1; },
         with_body("reduce = {}\ndisturbed = {seed = 2}"),
         "scene.toml:4:13: [body.disturbed] needs the key amount"},
        {"body.disturbed.seed", with_body("reduce = {}\ndisturbed = {amount = 0.1, seed = 7}"),
         [](const Scene& s) { return body(s).disturbed->seed == 7; },
         with_body("reduce = {}\ndisturbed = {amount = 0.1, seed = -7}"),
         "scene.toml:4:35: seed = -7 must lie in [0, 2147483647]"},
        {"body.spin", with_body("reduce = {}\nspin = \"naive\""),
         [](const Scene& s) { return body(s).spin == SpinRule::Naive; },
         with_body("reduce = {}\nspin = \"naiv\""),
         "scene.toml:4:8: spin = \"naiv\" is not one of exact, naive; did you mean 'naive'?"},
        {"body.friction", with_body("friction = 0"), [](const Scene& s) { return body(s).friction == 0.0; },
         with_body("friction = \"0.5\""),
         "scene.toml:3:12: friction must be a number, but is the text \"0.5\""},
        {"body.contact_stiffness", with_body("contact_stiffness = \"2 MPa/m\""),
         [](const Scene& s) { return body(s).contact_stiffness == 2e6; }, with_body("contact_stiffness = 0"),
         "scene.toml:3:21: contact_stiffness = 0 must be above 0 Pa/m"},
        {"body.self_contact", with_body("self_contact = true"),
         [](const Scene& s) { return body(s).self_contact; }, with_body("self_contact = 1"),
         "scene.toml:3:16: self_contact must be true or false, but is the number 1"},
        {"body.color", with_body("color = \"#ff8000\""),
         [](const Scene& s) { return body(s).color == Vec3(1.0, 128.0 / 255.0, 0.0); },
         with_body("color = \"red\""),
         "scene.toml:3:9: color must be a colour, as in [1, 0.5, 0] or \"#ff8000\", but is the text \"red\""},
        {"body.pin", with_body("[[body.pin]]\nvertices = [1]"),
         [](const Scene& s) { return body(s).pins.size() == 1; }, with_body("[[body.pin]]"),
         "scene.toml:3:1: [[body.pin]] needs one of box, sphere, vertices, color"},
        {"body.load", with_body("[[body.load]]\npressure = 1"),
         [](const Scene& s) { return body(s).loads.size() == 1; }, with_body("[[body.load]]"),
         "scene.toml:3:1: [[body.load]] needs one of force, pressure, wind"},
    };
}

std::vector<KeyCase> rigid_cases()
{
    return {
        {"body.rigid", with_body("rigid = true"), [](const Scene& s) { return body(s).rigid; },
         with_body("rigid = true\nreduce = {rank = 3}"),
         "scene.toml:4:1: reduce belongs to a body that is not rigid; remove it"},
        {"body.copy", with_body("name = \"brick\"\ncopy = [{position = [1, 0, 0]}, {position = [2, 0, 0]}]"),
         [](const Scene& s) {
             return s.bodies.size() == 3 && s.bodies[2].name == "brick 3" && s.bodies[2].copy_of == 0U;
         },
         with_body("copy = 3"),
         "scene.toml:3:8: copy must be a list of tables, as in [[body.copy]], but is the number 3"},
        {"body.copy.position", with_body("copy = [{position = [1, 0, 0]}]"),
         [](const Scene& s) { return s.bodies.at(1).placement.translation == Vec3(1, 0, 0); },
         with_body("copy = [{rotation = [1, 0, 0]}]"),
         "scene.toml:3:9: [[body.copy]] needs the key position"},
        {"body.copy.rotation",
         with_body("rotation = [0, 20, 0]\ncopy = [{position = [1, 0, 0]}, {position = [1, 0, 0], rotation = "
                   "[0, 0, 10]}]"),
         [](const Scene& s) {
             return same_turn(s.bodies.at(1).placement.rotation, turn(20, Vec3::UnitY())) &&
                    same_turn(s.bodies.at(2).placement.rotation, turn(10, Vec3::UnitZ()));
         },
         with_body("copy = [{position = [1, 0, 0], rotation = 3}]"),
         "scene.toml:3:43: rotation must be three numbers, as in [0, 1, 0], but is the number 3"},
        {"body.restitution", with_body("rigid = true\nrestitution = 0.5"),
         [](const Scene& s) { return body(s).restitution == 0.5; }, with_body("restitution = 0.5"),
         "scene.toml:3:1: restitution belongs to a rigid or reduced body; remove it"},
        {"body.groups", with_body("groups = [\"fish\", \"small\"]"),
         [](const Scene& s) { return body(s).filter.groups == std::vector<std::string>{"fish", "small"}; },
         with_body("groups = \"fish\""),
         "scene.toml:3:10: groups must be a list of groups, as in [\"fish\"], but is the text \"fish\""},
        {"body.passes", with_body("groups = [\"fish\"]\npasses = [\"fish\"]"),
         [](const Scene& s) { return body(s).filter.passes == std::vector<std::string>{"fish"}; },
         with_body("groups = [\"fish\"]\npasses = [\"fisch\"]"),
         "scene.toml:1:1: 'body' passes the group 'fisch', to which nothing belongs; did you mean 'fish'?"},
    };
}

std::vector<KeyCase> lattice_cases()
{
    const auto with = [](std::string_view keys) {
        return fmt::format("[[body]]\nshape = \"trout\"\n[body.lattice]\n{}\n", keys);
    };
    const auto lattice = [](const Scene& s) -> const SceneLattice& { return *body(s).lattice; };
    const auto track = [=](std::string_view motion) {
        return with(fmt::format("track = [{{joint = \"head\", motion = {}}}]", motion));
    };
    return {
        {"body.lattice", with_body("lattice = {}"), [=](const Scene& s) { return lattice(s).levels == 1; },
         with_body("rigid = true\nlattice = {}"),
         "scene.toml:3:1: rigid belongs to a body without a lattice; remove it"},
        {"body.lattice.size", with("size = 90"), [=](const Scene& s) { return lattice(s).size == 90; },
         with("size = 3"), "scene.toml:4:8: size = 3 must lie in [20, 20000]"},
        {"body.lattice.file", with("file = \"ball.obj\""),
         [=](const Scene& s) { return lattice(s).file->filename() == "ball.obj"; }, with("file = 3"),
         "scene.toml:4:8: file must be text in quotes, but is the number 3"},
        {"body.lattice.levels", with("levels = 2"), [=](const Scene& s) { return lattice(s).levels == 2; },
         with("levels = 4"), "scene.toml:4:10: levels = 4 must lie in [0, 3]"},
        {"body.lattice.proxy", with("proxy = 80"), [=](const Scene& s) { return lattice(s).proxy == 80; },
         with("proxy = 3"), "scene.toml:4:9: proxy = 3 must lie in [4, 100000000]"},
        {"body.lattice.damping", with("damping = 3"),
         [=](const Scene& s) { return lattice(s).damping == 3.0; }, with("damping = -1"),
         "scene.toml:4:11: damping = -1 must be at least 0 Hz"},
        {"body.lattice.stiffness", with("stiffness = [{bone = \"head\", young = 10}]"),
         [=](const Scene& s) { return lattice(s).stiffness.size() == 1; }, with("stiffness = 3"),
         "scene.toml:4:13: stiffness must be a list of tables, as in [[body.lattice.stiffness]], but is the "
         "number 3"},
        {"body.lattice.stiffness.bone", with("stiffness = [{bone = \"head\", young = 10}]"),
         [=](const Scene& s) { return lattice(s).stiffness.at(0).bone == "head"; },
         with("stiffness = [{bone = 1, young = 10}]"),
         "scene.toml:4:22: bone must be text in quotes, but is the number 1"},
        {"body.lattice.stiffness.color", with("stiffness = [{color = [1, 0, 0], young = 10}]"),
         [=](const Scene& s) { return lattice(s).stiffness.at(0).color == Vec3(1, 0, 0); },
         with("stiffness = [{young = 10}]"),
         "scene.toml:4:14: [[body.lattice.stiffness]] needs one of bone, color, mask"},
        {"body.lattice.stiffness.mask", with("stiffness = [{mask = \"ball.obj\", young = 10}]"),
         [=](const Scene& s) { return lattice(s).stiffness.at(0).mask->filename() == "ball.obj"; },
         with("stiffness = [{mask = 3, young = 10}]"),
         "scene.toml:4:22: mask must be text in quotes, but is the number 3"},
        {"body.lattice.stiffness.young", with("stiffness = [{bone = \"head\", young = \"2 kPa\"}]"),
         [=](const Scene& s) { return lattice(s).stiffness.at(0).young == 2000.0; },
         with("stiffness = [{bone = \"head\"}]"),
         "scene.toml:4:14: [[body.lattice.stiffness]] needs the key young"},
        {"body.lattice.scheme", with("scheme = \"nonlinear\""),
         [=](const Scene& s) { return lattice(s).scheme == LatticeScheme::Nonlinear; },
         with("scheme = \"non-linear\""),
         "scene.toml:4:10: scheme = \"non-linear\" is not one of blended, corotated, linear, nonlinear; did "
         "you mean 'nonlinear'?"},
        {"body.lattice.clip", with("clip = \"walk\""),
         [=](const Scene& s) { return lattice(s).clip == "walk"; },
         with("clip = \"walk\"\ntrack = [{joint = \"head\", motion = [{time = 0}]}]"),
         "scene.toml:5:1: a character plays a clip or its tracks, not both; remove one"},
        {"body.lattice.motion", with("motion = \"wave.bvh\""),
         [=](const Scene& s) { return lattice(s).motion.has_value(); }, with("motion = 3"),
         "scene.toml:4:10: motion must be text in quotes, but is the number 3"},
        {"body.lattice.start", with("start = \"500 ms\""),
         [=](const Scene& s) { return lattice(s).playback.start == 0.5; }, with("start = \"a\""),
         "scene.toml:4:9: start = \"a\" is not a time; write a number with a unit, as in \"20 ms\""},
        {"body.lattice.speed", with("speed = 0.5"),
         [=](const Scene& s) { return lattice(s).playback.speed == 0.5; }, with("speed = true"),
         "scene.toml:4:9: speed must be a number, but is true"},
        {"body.lattice.loop", with("loop = false"), [=](const Scene& s) { return !lattice(s).playback.loop; },
         with("loop = 1"), "scene.toml:4:8: loop must be true or false, but is the number 1"},
        {"body.lattice.track", track("[{time = 0}]"),
         [=](const Scene& s) { return lattice(s).tracks.size() == 1; }, with("track = 3"),
         "scene.toml:4:9: track must be a list of tables, as in [[body.lattice.track]], but is the number 3"},
        {"body.lattice.track.joint", track("[{time = 0}]"),
         [=](const Scene& s) { return lattice(s).tracks.at(0).joint == "head"; },
         with("track = [{motion = [{time = 0}]}]"),
         "scene.toml:4:10: [[body.lattice.track]] needs the key joint"},
        {"body.lattice.track.motion", track("[{time = 0}, {time = 1}]"),
         [=](const Scene& s) { return lattice(s).tracks.at(0).motion.times().size() == 2; },
         with("track = [{joint = \"head\"}]"),
         "scene.toml:4:10: [[body.lattice.track]] needs the key motion"},
        {"body.lattice.track.motion.time", track("[{time = 2}]"),
         [=](const Scene& s) { return lattice(s).tracks.at(0).motion.times().front() == 2.0; },
         track("[{time = 2}, {time = 1}]"),
         "scene.toml:4:57: time = 1 must be after the time before it, 2 s"},
        {"body.lattice.track.motion.translation", track("[{time = 0, translation = [1, 2, 3]}]"),
         [=](const Scene& s) {
             return lattice(s).tracks.at(0).motion.values().front().translation == Vec3(1, 2, 3);
         },
         track("[{time = 0, translation = 1}]"),
         "scene.toml:4:62: translation must be three numbers, as in [0, 1, 0], but is the number 1"},
        {"body.lattice.track.motion.rotation", track("[{time = 0, rotation = [0, 20, 0]}]"),
         [=](const Scene& s) {
             return same_turn(lattice(s).tracks.at(0).motion.values().front().rotation,
                              turn(20, Vec3::UnitY()));
         },
         track("[{time = 0, rotation = 1}]"),
         "scene.toml:4:59: rotation must be three numbers, as in [0, 1, 0], but is the number 1"},
    };
}

std::vector<KeyCase> bones_cases()
{
    const auto with_bones = [](std::string_view keys) {
        return fmt::format("[[body]]\nshape = \"trout\"\nbones = {{modes = 4}}\n{}\n", keys);
    };
    const auto playing = [=](std::string_view keys) {
        return with_bones(fmt::format("play = {{bones = [\"head\"]{}{}}}", keys.empty() ? "" : ", ", keys));
    };
    return {
        {"body.bones", with_body("bones = {}"), [](const Scene& s) { return body(s).bones->modes == 10; },
         with_body("rigid = true\nbones = {}"),
         "scene.toml:4:1: bones belongs to a body that is not rigid; remove it"},
        {"body.bones.modes", with_body("bones.modes = 3"),
         [](const Scene& s) { return body(s).bones->modes == 3; }, with_body("bones.modes = -1"),
         "scene.toml:3:15: modes = -1 must lie in [0, 10000]"},
        {"body.bones.overlap", with_body("bones.overlap = 0.3"),
         [](const Scene& s) { return body(s).bones->overlap == 0.3; }, with_body("bones.overlap = 1"),
         "scene.toml:3:17: overlap = 1 must lie in [0, 0.999]"},
        {"body.bones.hold", with_body("bones.hold = \"ball\""),
         [](const Scene& s) { return body(s).bones->hold == BoneHold::Ball; },
         with_body("bones.hold = \"bal\""),
         "scene.toml:3:14: hold = \"bal\" is not one of weld, hinge, ball; did you mean 'ball'?"},
        {"body.bones.rigid", with_body("bones.rigid = [\"head\", \"tail\"]"),
         [](const Scene& s) { return body(s).bones->rigid == std::vector<std::string>{"head", "tail"}; },
         with_body("bones.rigid = \"head\""),
         "scene.toml:3:15: rigid must be a list of names, but is the text \"head\""},
        {"body.bones.proxy", with_body("bones.proxy = 80"),
         [](const Scene& s) { return body(s).bones->proxy == 80; }, with_body("bones.proxy = 3"),
         "scene.toml:3:15: proxy = 3 must lie in [4, 100000000]"},
        {"body.detail", with_bones("detail = \"5 mm\""),
         [](const Scene& s) { return body(s).source.detail == 0.005; }, with_body("detail = 0.01"),
         "scene.toml:3:1: detail belongs to a shape with [body.bones] or [body.lattice]; remove it"},
        {"body.led", with_bones("led = [{bone = \"head\"}]"),
         [](const Scene& s) { return body(s).led.size() == 1; }, with_body("led = [{bone = \"head\"}]"),
         "scene.toml:3:1: led belongs to a body with [body.bones]; remove it"},
        {"body.led.bone", with_bones("led = [{bone = \"head\"}]"),
         [](const Scene& s) { return body(s).led.at(0).bone == "head"; }, with_bones("led = [{}]"),
         "scene.toml:4:8: [[body.led]] needs the key bone"},
        {"body.led.motion", with_bones("led = [{bone = \"head\", motion = [{time = 0}, {time = 1}]}]"),
         [](const Scene& s) { return body(s).led.at(0).motion.times().size() == 2; },
         with_bones("led = [{bone = \"head\", motion = 3}]"),
         "scene.toml:4:33: motion must be a list of tables, as in [[body.led.motion]], but is the number 3"},
        {"body.led.motion.time", with_bones("led = [{bone = \"head\", motion = [{time = 2}]}]"),
         [](const Scene& s) { return body(s).led.at(0).motion.times().front() == 2.0; },
         with_bones("led = [{bone = \"head\", motion = [{time = 2}, {time = 1}]}]"),
         "scene.toml:4:54: time = 1 must be after the time before it, 2 s"},
        {"body.led.motion.translation",
         with_bones("led = [{bone = \"head\", motion = [{time = 0, translation = [1, 2, 3]}]}]"),
         [](const Scene& s) {
             return body(s).led.at(0).motion.values().front().translation == Vec3(1, 2, 3);
         },
         with_bones("led = [{bone = \"head\", motion = [{time = 0, translation = 1}]}]"),
         "scene.toml:4:59: translation must be three numbers, as in [0, 1, 0], but is the number 1"},
        {"body.led.motion.rotation",
         with_bones("led = [{bone = \"head\", motion = [{time = 0, rotation = [0, 20, 0]}]}]"),
         [](const Scene& s) {
             return same_turn(body(s).led.at(0).motion.values().front().rotation, turn(20, Vec3::UnitY()));
         },
         with_bones("led = [{bone = \"head\", motion = [{time = 0, rotation = 1}]}]"),
         "scene.toml:4:56: rotation must be three numbers, as in [0, 1, 0], but is the number 1"},
        {"body.play", playing(""), [](const Scene& s) { return body(s).play->playback.loop; },
         with_body("play = {bones = [\"head\"]}"),
         "scene.toml:3:1: play belongs to a body with [body.bones]; remove it"},
        {"body.play.bones", playing(""),
         [](const Scene& s) { return body(s).play->bones == std::vector<std::string>{"head"}; },
         with_bones("play = {clip = \"walk\"}"), "scene.toml:4:8: [body.play] needs the key bones"},
        {"body.play.clip", playing("clip = \"walk\""),
         [](const Scene& s) { return body(s).play->clip == "walk"; }, playing("clip = 3"),
         "scene.toml:4:34: clip must be text in quotes, but is the number 3"},
        {"body.play.motion", playing("motion = \"ball.obj\""),
         [](const Scene& s) { return body(s).play->motion->ends_with("ball.obj"); },
         playing("motion = \"bal.obj\""),
         "scene.toml:4:36: motion = \"bal.obj\" is not there; looked for \"bal.obj\"; did you mean "
         "'ball.obj'?"},
        {"body.play.rig",
         "[[body]]\nmodel = \"ball.txt\"\nplay = {bones = [\"head\"], rig = \"blob.shape\"}\n",
         [](const Scene& s) { return body(s).play->rig->filename() == "blob.shape"; },
         playing("rig = \"blob.shape\""),
         "scene.toml:4:1: rig belongs to a model; a mesh or shape brings its own: remove it"},
        {"body.play.start", playing("start = \"500 ms\""),
         [](const Scene& s) { return body(s).play->playback.start == 0.5; }, playing("start = \"5 m\""),
         "scene.toml:4:35: start = \"5 m\" is not a time, which has the units s, us, ms or min; did you mean "
         "'s'?"},
        {"body.play.speed", playing("speed = -2"),
         [](const Scene& s) { return body(s).play->playback.speed == -2.0; }, playing("speed = \"2\""),
         "scene.toml:4:35: speed must be a number, but is the text \"2\""},
        {"body.play.loop", playing("loop = false"),
         [](const Scene& s) { return !body(s).play->playback.loop; }, playing("loop = 0"),
         "scene.toml:4:34: loop must be true or false, but is the number 0"},
        {"body.play.blend", playing("blend = 0.5"), [](const Scene& s) { return body(s).play->blend == 0.5; },
         playing("blend = -1"), "scene.toml:4:35: blend = -1 must be at least 0 s"},
        {"body.muscle", with_bones("muscle = [{bone = \"head\", angle = 5}]"),
         [](const Scene& s) { return body(s).muscles.size() == 1; },
         with_body("muscle = [{bone = \"head\", angle = 5}]"),
         "scene.toml:3:1: muscle belongs to a body with [body.bones]; remove it"},
        {"body.muscle.bone", with_bones("muscle = [{bone = \"head\", angle = 5}]"),
         [](const Scene& s) { return body(s).muscles.at(0).bone == "head"; },
         with_bones("muscle = [{angle = 5}]"), "scene.toml:4:11: [[body.muscle]] needs the key bone"},
        {"body.muscle.axis", with_bones("muscle = [{bone = \"head\", angle = 5, axis = [1, 0, 0]}]"),
         [](const Scene& s) { return body(s).muscles.at(0).axis == Vec3::UnitX(); },
         with_bones("muscle = [{bone = \"head\", angle = 5, axis = [0, 0, 0]}]"),
         "scene.toml:4:38: axis has no direction"},
        {"body.muscle.angle", with_bones("muscle = [{bone = \"head\", angle = 180}]"),
         [](const Scene& s) { return std::abs(body(s).muscles.at(0).angle - std::numbers::pi) < 1e-12; },
         with_bones("muscle = [{bone = \"head\", angle = 181}]"),
         "scene.toml:4:35: angle = 181 must lie in [-180, 180]"},
        {"body.muscle.period", with_bones("muscle = [{bone = \"head\", angle = 5, period = \"20 ms\"}]"),
         [](const Scene& s) { return body(s).muscles.at(0).period == 0.02; },
         with_bones("muscle = [{bone = \"head\", angle = 5, period = 0}]"),
         "scene.toml:4:47: period = 0 must be above 0 s"},
        {"body.muscle.phase", with_bones("muscle = [{bone = \"head\", angle = 5, phase = 0.5}]"),
         [](const Scene& s) { return body(s).muscles.at(0).phase == 0.5; },
         with_bones("muscle = [{bone = \"head\", angle = 5, phase = \"x\"}]"),
         "scene.toml:4:46: phase must be a number, but is the text \"x\""},
    };
}

std::vector<KeyCase> region_cases()
{
    const auto with = [](std::string_view keys) {
        return with_body(fmt::format("[[body.region]]\n{}", keys));
    };
    return {
        {"body.region.label", with("label = -2\nmaterial = \"stvk\""),
         [](const Scene& s) { return std::get<int>(region(s).part) == -2; }, with("material = \"stvk\""),
         "scene.toml:3:1: [[body.region]] needs one of label, color"},
        {"body.region.color", with("color = [1, 0, 0]\nmaterial = \"stvk\""),
         [](const Scene& s) { return std::get<ColorSelector>(region(s).part).color == Vec3(1, 0, 0); },
         with("color = [1, 0, 2]\nmaterial = \"stvk\""), "scene.toml:4:16: color[2] = 2 must lie in [0, 1]"},
        {"body.region.tolerance", with("color = [1, 0, 0]\ntolerance = 0.5\nmaterial = \"stvk\""),
         [](const Scene& s) { return std::get<ColorSelector>(region(s).part).tolerance == 0.5; },
         with("label = 1\ntolerance = 0.5\nmaterial = \"stvk\""),
         "scene.toml:5:1: tolerance belongs to color; remove it"},
        {"body.region.material", with("label = 1\nmaterial = {young = 3}"),
         [](const Scene& s) { return region(s).material.young == 3.0; }, with("label = 1"),
         "scene.toml:3:1: [[body.region]] needs the key material"},
    };
}

std::vector<KeyCase> pin_cases()
{
    const auto with = [](std::string_view keys) { return with_body(fmt::format("[[body.pin]]\n{}", keys)); };
    const auto motion = [=](std::string_view keys) {
        return with(fmt::format("vertices = [1]\nmotion = [{{time = 0}}, {{{}}}]", keys));
    };
    return {
        {"body.pin.box", with("box = [[-inf, 0, 0], [inf, \"10 cm\", 0]]"),
         [](const Scene& s) {
             const auto& box = std::get<BoxSelector>(pin(s).where);
             return std::isinf(box.low[0]) && std::isinf(box.high[0]) && box.high[1] == 0.1;
         },
         with("box = [[0, 0, 0], [1, -1, 1]]"),
         "scene.toml:4:19: box[1] = a list of 3 must not be below the first corner in x, y or z"},
        {"body.pin.sphere", with("sphere = {centre = [1, 2, 3], radius = 4}"),
         [](const Scene& s) { return std::holds_alternative<SphereSelector>(pin(s).where); },
         with("vertices = [1]\nsphere = {centre = [1, 2, 3], radius = 4}"),
         "scene.toml:4:1: [[body.pin]] has both sphere and vertices; keep one"},
        {"body.pin.sphere.centre", with("sphere = {centre = [1, 2, 3], radius = 4}"),
         [](const Scene& s) { return std::get<SphereSelector>(pin(s).where).centre == Vec3(1, 2, 3); },
         with("sphere = {radius = 4}"), "scene.toml:4:10: [body.pin.sphere] needs the key centre"},
        {"body.pin.sphere.radius", with("sphere = {centre = [1, 2, 3], radius = 4}"),
         [](const Scene& s) { return std::get<SphereSelector>(pin(s).where).radius == 4.0; },
         with("sphere = {centre = [1, 2, 3], radius = 0}"), "scene.toml:4:40: radius = 0 must be above 0 m"},
        {"body.pin.vertices", with("vertices = [4, 5]"),
         [](const Scene& s) {
             return std::get<ListSelector>(pin(s).where).vertices == std::vector<int>{4, 5};
         },
         with("vertices = [4, -1]"), "scene.toml:4:16: vertices[1] = -1 must lie in [0, 2147483647]"},
        {"body.pin.color", with("color = [0, 1, 0]"),
         [](const Scene& s) { return std::get<ColorSelector>(pin(s).where).color == Vec3(0, 1, 0); },
         with("color = [0, 1]"),
         "scene.toml:4:9: color must be a colour, as in [1, 0.5, 0] or \"#ff8000\", but is a list of 2"},
        {"body.pin.tolerance", with("color = [0, 1, 0]\ntolerance = 0"),
         [](const Scene& s) { return std::get<ColorSelector>(pin(s).where).tolerance == 0.0; },
         with("vertices = [1]\ntolerance = 0"), "scene.toml:5:1: tolerance belongs to color; remove it"},
        {"body.pin.motion", motion("time = 1, translation = [0, 1, 0]"),
         [](const Scene& s) { return pin(s).motion.at(0.5).translation == Vec3(0, 0.5, 0); },
         with("vertices = [1]\nmotion = []"),
         "scene.toml:5:10: motion = a list of 0 needs at least one entry, as in [{time = 0}]"},
        {"body.pin.motion.time", motion("time = \"500 ms\""),
         [](const Scene& s) { return pin(s).motion.times() == std::vector<double>{0.0, 0.5}; },
         motion("time = 0"), "scene.toml:5:31: time = 0 must be after the time before it, 0 s"},
        {"body.pin.motion.translation", motion("time = 2, translation = [\"4 cm\", 0, 0]"),
         [](const Scene& s) { return pin(s).motion.at(1.0).translation == Vec3(0.02, 0, 0); },
         motion("time = 2, position = [1, 0, 0]"),
         "scene.toml:5:34: unknown key 'position' in [[body.pin.motion]]; known are rotation, time, "
         "translation"},
        {"body.pin.motion.rotation", motion("time = 1, rotation = [0, 60, 0]"),
         [](const Scene& s) { return same_turn(pin(s).motion.at(0.5).rotation, turn(30, Vec3::UnitY())); },
         motion("time = 1, rotation = [0, 1e6, 0]"),
         "scene.toml:5:49: rotation[1] = 1000000 must lie in [-360000, 360000] deg"},
        {"body.pin.about", motion("time = 1") + "about = [1, 2, 3]",
         [](const Scene& s) { return pin(s).about == Vec3(1, 2, 3); },
         with("vertices = [1]\nabout = [1, 2, 3]"), "scene.toml:5:1: about belongs to motion; remove it"},
        {"body.pin.release", with("vertices = [1]\nrelease = \"250 ms\""),
         [](const Scene& s) { return pin(s).release == 0.25; }, with("vertices = [1]\nrelease = -1"),
         "scene.toml:5:11: release = -1 must be at least 0 s"},
    };
}

std::vector<KeyCase> load_cases()
{
    const auto with = [](std::string_view keys) { return with_body(fmt::format("[[body.load]]\n{}", keys)); };
    const auto where = [=](std::string_view keys) { return with(fmt::format("pressure = 1\n{}", keys)); };
    return {
        {"body.load.force", with("force = [0, \"2 kN\", 0]"),
         [](const Scene& s) { return std::get<ForceLoad>(load(s).load).force == Vec3(0, 2000, 0); },
         with("force = 3"),
         "scene.toml:4:9: force must be three numbers, as in [0, 1, 0], but is the number 3"},
        {"body.load.pressure", with("pressure = \"-1 bar\""),
         [](const Scene& s) { return std::get<PressureLoad>(load(s).load).pressure == -1e5; },
         with("force = [0, 0, 1]\npressure = 3"),
         "scene.toml:5:1: [[body.load]] has both force and pressure; keep one"},
        {"body.load.wind", with("wind = [1, 2, 3]"),
         [](const Scene& s) { return std::get<WindLoad>(load(s).load).velocity == Vec3(1, 2, 3); },
         with("wind = [1, 2, inf]"), "scene.toml:4:15: wind[2] = inf must be finite"},
        {"body.load.air_density", with("wind = [1, 2, 3]\nair_density = \"1 kg/l\""),
         [](const Scene& s) { return std::get<WindLoad>(load(s).load).air_density == 1000.0; },
         where("air_density = 1"), "scene.toml:5:1: air_density belongs to wind; remove it"},
        {"body.load.drag", with("wind = [1, 2, 3]\ndrag = 0.5"),
         [](const Scene& s) { return std::get<WindLoad>(load(s).load).drag == 0.5; },
         with("wind = [1, 2, 3]\ndrag = -0.5"), "scene.toml:5:8: drag = -0.5 must be at least 0"},
        {"body.load.factor", where("factor = [[0, 1], [\"2 s\", 3]]"),
         [](const Scene& s) { return load(s).factor.at(1.0) == 2.0; }, where("factor = [[0, 1], [0, 2]]"),
         "scene.toml:5:20: factor[1][0] = 0 must be after the time before it, 0 s"},
        {"body.load.box", where("box = [[0, 0, 0], [1, 2, 3]]"),
         [](const Scene& s) { return std::get<BoxSelector>(load(s).where).high == Vec3(1, 2, 3); },
         where("box = [[0, 0, 0]]"),
         "scene.toml:5:7: box must be two corners, as in [[0, 0, 0], [1, 1, 1]], but is a list of 1"},
        {"body.load.sphere", where("sphere = {centre = [0, 0, 1], radius = 2}"),
         [](const Scene& s) { return std::holds_alternative<SphereSelector>(load(s).where); },
         where("sphere = 3"),
         "scene.toml:5:10: sphere must be a table, as in [body.load.sphere] or sphere = {...}, but is the "
         "number 3"},
        {"body.load.sphere.centre", where("sphere = {centre = [0, 0, 1], radius = 2}"),
         [](const Scene& s) { return std::get<SphereSelector>(load(s).where).centre[2] == 1.0; },
         where("sphere = {center = [0, 0, 1], radius = 2}"),
         "scene.toml:5:11: unknown key 'center' in [body.load.sphere]; did you mean 'centre'?"},
        {"body.load.sphere.radius", where("sphere = {centre = [0, 0, 1], radius = \"2 cm\"}"),
         [](const Scene& s) { return std::get<SphereSelector>(load(s).where).radius == 0.02; },
         where("sphere = {centre = [0, 0, 1]}"), "scene.toml:5:10: [body.load.sphere] needs the key radius"},
        {"body.load.vertices", where("vertices = [3]"),
         [](const Scene& s) { return std::get<ListSelector>(load(s).where).vertices == std::vector<int>{3}; },
         where("vertices = []"), "scene.toml:5:12: vertices = a list of 0 must name at least one vertex"},
        {"body.load.color", where("color = [0, 0, 1]"),
         [](const Scene& s) { return std::get<ColorSelector>(load(s).where).color == Vec3(0, 0, 1); },
         where("vertices = [3]\ncolor = [0, 0, 1]"),
         "scene.toml:6:1: [[body.load]] has both vertices and color; keep one"},
        {"body.load.tolerance", where("color = [0, 0, 1]\ntolerance = 1"),
         [](const Scene& s) { return std::get<ColorSelector>(load(s).where).tolerance == 1.0; },
         where("color = [0, 0, 1]\ntolerance = 1.5"), "scene.toml:6:13: tolerance = 1.5 must lie in [0, 1]"},
    };
}

std::vector<KeyCase> obstacle_cases()
{
    const auto plane = [](std::string_view keys) {
        return with_obstacle(fmt::format("shape = \"plane\"\n{}", keys));
    };
    const auto mesh = [](std::string_view keys) {
        return with_obstacle(fmt::format("mesh = \"ball.obj\"\n{}", keys));
    };
    return {
        {"obstacle.name", plane("name = \"floor\""),
         [](const Scene& s) { return obstacle(s).name == "floor"; }, plane("name = \"\""),
         "scene.toml:5:8: name = \"\" must not be empty"},
        {"obstacle.shape", plane(""),
         [](const Scene& s) { return std::get<std::string>(obstacle(s).source.from) == "plane"; },
         with_obstacle("friction = 1"), "scene.toml:3:1: [[obstacle]] needs one of mesh, shape"},
        {"obstacle.mesh", mesh(""),
         [](const Scene& s) {
             return std::holds_alternative<std::filesystem::path>(obstacle(s).source.from);
         },
         plane("mesh = \"ball.obj\""), "scene.toml:4:1: [[obstacle]] has both mesh and shape; keep one"},
        {"obstacle.scale", mesh("scale = 3"),
         [](const Scene& s) { return obstacle(s).source.read.scale == 3.0; }, mesh("scale = 0"),
         "scene.toml:5:9: scale = 0 must be above 0"},
        {"obstacle.up", mesh("up = \"z\""),
         [](const Scene& s) { return obstacle(s).source.read.up == UpAxis::Z; }, plane("up = \"z\""),
         "scene.toml:5:1: up belongs to mesh; remove it"},
        {"obstacle.cell", mesh("cell = \"1 cm\""), [](const Scene& s) { return obstacle(s).cell == 0.01; },
         plane("cell = 1"), "scene.toml:5:1: cell has no effect on a shape that is exact; remove it"},
        {"obstacle.position", plane("position = [0, 1, 0]"),
         [](const Scene& s) { return obstacle(s).path.at(3.0).translation == Vec3(0, 1, 0); },
         plane("position = [0, true, 0]"),
         "scene.toml:5:16: position[1] must be a length, a number or text such as \"10 cm\", but is true"},
        {"obstacle.rotation", plane("rotation = [0, 0, \"1.5 rad\"]"),
         [](const Scene& s) {
             return same_turn(obstacle(s).path.at(0.0).rotation, turn(1.5 / degree, Vec3::UnitZ()));
         },
         plane("rotation = [0, 0, \"3\"]"),
         "scene.toml:5:19: rotation[2] = \"3\" has no unit; add deg or rad, or leave out the quotes for deg"},
        {"obstacle.path",
         plane("position = [1, 0, 0]\npath = [{time = 0}, {time = 1, position = [3, 0, 0]}]"),
         [](const Scene& s) { return obstacle(s).path.at(0.5).translation == Vec3(2, 0, 0); },
         plane("path = [1, 2]"),
         "scene.toml:5:9: path[0] must be a table, as in [obstacle.path] or path[0] = {...}, but is the "
         "number 1"},
        {"obstacle.path.time", plane("path = [{time = \"1 min\"}]"),
         [](const Scene& s) { return obstacle(s).path.times() == std::vector<double>{60.0}; },
         plane("path = [{}]"), "scene.toml:5:9: [[obstacle.path]] needs the key time"},
        {"obstacle.path.position", plane("path = [{time = 0, position = [0, 0, 5]}]"),
         [](const Scene& s) { return obstacle(s).path.at(0.0).translation == Vec3(0, 0, 5); },
         plane("path = [{time = 0, translation = [0, 0, 5]}]"),
         "scene.toml:5:20: unknown key 'translation' in [[obstacle.path]]; known are position, rotation, "
         "time"},
        {"obstacle.path.rotation", plane("path = [{time = 0, rotation = [30, 0, 0]}]"),
         [](const Scene& s) { return same_turn(obstacle(s).path.at(0.0).rotation, turn(30, Vec3::UnitX())); },
         plane("path = [{time = 0, rotation = 30}]"),
         "scene.toml:5:31: rotation must be three numbers, as in [0, 1, 0], but is the number 30"},
        {"obstacle.friction", plane("friction = 2"),
         [](const Scene& s) { return obstacle(s).friction == 2.0; }, plane("friction = -1"),
         "scene.toml:5:12: friction = -1 must be at least 0"},
        {"obstacle.groups", plane("groups = [\"floor\"]"),
         [](const Scene& s) { return obstacle(s).filter.groups == std::vector<std::string>{"floor"}; },
         plane("groups = [1]"), "scene.toml:5:11: groups[0] must be text in quotes, but is the number 1"},
        {"obstacle.passes", plane("groups = [\"floor\"]\npasses = [\"floor\"]"),
         [](const Scene& s) { return obstacle(s).filter.passes == std::vector<std::string>{"floor"}; },
         plane("passes = [\"fish\"]"),
         "scene.toml:3:1: 'obstacle' passes the group 'fish', to which nothing belongs"},
        {"obstacle.hidden", with_obstacle("shape = \"plane\"\nhidden = true"),
         [](const Scene& s) { return s.obstacles.at(0).hidden; },
         with_obstacle("shape = \"plane\"\nhidden = 1"),
         "scene.toml:5:10: hidden must be true or false, but is the number 1"},
        {"obstacle.color", plane("color = [0.5, 0.25, 0]"),
         [](const Scene& s) { return obstacle(s).color == Vec3(0.5, 0.25, 0); }, plane("color = \"#12345g\""),
         "scene.toml:5:9: color must be a colour, as in [1, 0.5, 0] or \"#ff8000\", but is the text "
         "\"#12345g\""},
    };
}

std::vector<KeyCase> character_cases()
{
    const auto arm = [](std::string_view keys) {
        return fmt::format("[[character]]\nfile = \"arm.skel.txt\"\n{}\n", keys);
    };
    const auto track = [=](std::string_view keys) {
        return arm(fmt::format("[[character.track]]\n{}", keys));
    };
    const auto turned = [](const Scene& s) { return character(s).tracks.at(0).motion.at(0.5); };
    return {
        {"character", arm(""), [](const Scene& s) { return s.characters.size() == 1; }, "character = 3",
         "scene.toml:1:13: character must be a list of tables, as in [[character]], but is the number 3"},
        {"character.name", arm("name = \"elsa\""), [](const Scene& s) { return character(s).name == "elsa"; },
         arm("name = 2"), "scene.toml:3:8: name must be text in quotes, but is the number 2"},
        {"character.file", arm(""),
         [](const Scene& s) {
             return std::get<std::filesystem::path>(character(s).source.from).filename() == "arm.skel.txt";
         },
         "[[character]]\nfile = \"ball.obj\"",
         "scene.toml:2:8: file = \"ball.obj\" is not a character; known are .glb .gltf .shape and .skel.txt"},
        {"character.shape", "[[character]]\nshape = \"cow\"",
         [](const Scene& s) { return std::get<std::string>(character(s).source.from) == "cow"; },
         arm("shape = \"cow\""), "scene.toml:3:1: [[character]] has both file and shape; keep one"},
        {"character.scale", arm("scale = 0.01"),
         [](const Scene& s) { return character(s).source.read.scale == 0.01; }, arm("scale = -1"),
         "scene.toml:3:9: scale = -1 must be above 0"},
        {"character.up", arm("up = \"z\""),
         [](const Scene& s) { return character(s).source.read.up == UpAxis::Z; },
         "[[character]]\nshape = \"cow\"\nup = \"z\"", "scene.toml:3:1: up belongs to file; remove it"},
        {"character.clip", arm("clip = \"walk\""), [](const Scene& s) { return character(s).clip == "walk"; },
         arm("clip = 0"), "scene.toml:3:8: clip must be text in quotes, but is the number 0"},
        {"character.motion", arm("motion = \"wave.bvh\""),
         [](const Scene& s) { return character(s).motion->ends_with("wave.bvh"); },
         arm("motion = \"wav.bvh\""),
         "scene.toml:3:10: motion = \"wav.bvh\" is not there; looked for \"wav.bvh\"; did you mean "
         "'wave.bvh'?"},
        {"character.start", arm("start = \"500 ms\""),
         [](const Scene& s) { return character(s).start == 0.5; }, arm("start = \"1 m\""),
         "scene.toml:3:9: start = \"1 m\" is not a time, which has the units s, us, ms or min; did you mean "
         "'s'?"},
        {"character.speed", arm("speed = -2"), [](const Scene& s) { return character(s).speed == -2.0; },
         arm("speed = \"fast\""), "scene.toml:3:9: speed must be a number, but is the text \"fast\""},
        {"character.loop", arm("loop = false"), [](const Scene& s) { return !character(s).loop; },
         arm("loop = 1"), "scene.toml:3:8: loop must be true or false, but is the number 1"},
        {"character.skinning", arm("skinning = \"dual_quaternion\""),
         [](const Scene& s) { return character(s).skinning == SkinningMethod::DualQuaternion; },
         arm("skinning = \"dual\""),
         "scene.toml:3:12: skinning = \"dual\" is not one of linear, dual_quaternion"},
        {"character.detail", "[[body]]\nshape = \"box\"\n[[character]]\nshape = \"cow\"\ndetail = \"5 mm\"\n",
         [](const Scene& s) { return character(s).source.detail == 0.005; }, arm("detail = 0.01"),
         "scene.toml:3:1: detail belongs to shape; remove it"},
        {"character.position", arm("position = [0, \"1 cm\", 0]"),
         [](const Scene& s) { return character(s).placement.translation[1] == 0.01; }, arm("position = 1"),
         "scene.toml:3:12: position must be three numbers, as in [0, 1, 0], but is the number 1"},
        {"character.rotation", arm("rotation = [0, 90, 0]"),
         [](const Scene& s) { return same_turn(character(s).placement.rotation, turn(90, Vec3::UnitY())); },
         arm("rotation = [0, 90]"),
         "scene.toml:3:12: rotation must be three numbers, as in [0, 1, 0], but is a list of 2"},
        {"character.friction", arm("friction = 2"),
         [](const Scene& s) { return character(s).friction == 2.0; }, arm("friction = -1"),
         "scene.toml:3:12: friction = -1 must be at least 0"},
        {"character.groups", arm("groups = [\"cast\"]"),
         [](const Scene& s) { return character(s).filter.groups == std::vector<std::string>{"cast"}; },
         arm("groups = [\"\"]"), "scene.toml:3:11: groups[0] = \"\" must not be empty"},
        {"character.passes", arm("groups = [\"cast\"]\npasses = [\"cast\"]"),
         [](const Scene& s) { return character(s).filter.passes == std::vector<std::string>{"cast"}; },
         arm("passes = true"),
         "scene.toml:3:10: passes must be a list of groups, as in [\"fish\"], but is true"},
        {"character.color", arm("color = [1, 0, 0]"),
         [](const Scene& s) { return character(s).color == Vec3(1, 0, 0); }, arm("color = 1"),
         "scene.toml:3:9: color must be a colour, as in [1, 0.5, 0] or \"#ff8000\", but is the number 1"},
        {"character.track", track("joint = \"arm\"\nmotion = [{time = 0}]"),
         [](const Scene& s) { return character(s).tracks.size() == 1; },
         arm("clip = \"walk\"\ntrack = [{joint = \"arm\", motion = [{time = 0}]}]"),
         "scene.toml:4:1: a character plays a clip or its tracks, not both; remove one"},
        {"character.track.joint", track("joint = \"arm\"\nmotion = [{time = 0}]"),
         [](const Scene& s) { return character(s).tracks.at(0).joint == "arm"; },
         track("motion = [{time = 0}]"), "scene.toml:3:1: [[character.track]] needs the key joint"},
        {"character.track.motion", track("joint = \"arm\"\nmotion = [{time = 0}]"),
         [=](const Scene& s) { return turned(s).translation == Vec3::Zero(); }, track("joint = \"arm\""),
         "scene.toml:3:1: [[character.track]] needs the key motion"},
        {"character.track.motion.time", track("joint = \"arm\"\nmotion = [{time = 1}]"),
         [](const Scene& s) { return character(s).tracks.at(0).motion.times() == std::vector<double>{1.0}; },
         track("joint = \"arm\"\nmotion = [{time = 1}, {time = 0}]"),
         "scene.toml:5:31: time = 0 must be after the time before it, 1 s"},
        {"character.track.motion.translation",
         track("joint = \"arm\"\nmotion = [{time = 0}, {time = 1, translation = [2, 0, 0]}]"),
         [=](const Scene& s) { return turned(s).translation == Vec3(1, 0, 0); },
         track("joint = \"arm\"\nmotion = [{time = 0, position = [2, 0, 0]}]"),
         "scene.toml:5:22: unknown key 'position' in [[character.track.motion]]; known are rotation, time, "
         "translation"},
        {"character.track.motion.rotation",
         track("joint = \"arm\"\nmotion = [{time = 0}, {time = 1, rotation = [90, 0, 0]}]"),
         [=](const Scene& s) { return same_turn(turned(s).rotation, turn(45, Vec3::UnitX())); },
         track("joint = \"arm\"\nmotion = [{time = 0, rotation = [90, 0]}]"),
         "scene.toml:5:33: rotation must be three numbers, as in [0, 1, 0], but is a list of 2"},
    };
}

std::vector<KeyCase> pair_cases()
{
    const auto with = [](std::string_view keys) {
        return fmt::format("[[body]]\nname = \"x\"\nshape = \"box\"\n[[obstacle]]\nname = \"y\"\nshape = "
                           "\"plane\"\n[[pair]]\n{}\n",
                           keys);
    };
    const auto rule = [=](std::string_view keys) {
        return with(fmt::format("a = \"x\"\nb = \"y\"\n{}", keys));
    };
    const auto pair = [](const Scene& s) { return s.pairs.at(0); };
    return {
        {"pair", rule(""), [](const Scene& s) { return s.pairs.size() == 1; }, with(""),
         "scene.toml:7:1: [[pair]] needs the key a"},
        {"pair.a", rule(""), [=](const Scene& s) { return pair(s).a == "x"; }, with("a = \"z\"\nb = \"y\""),
         "scene.toml:8:1: there is no body or obstacle named 'z'; did you mean 'x'?"},
        {"pair.b", rule(""), [=](const Scene& s) { return pair(s).b == "y"; }, with("a = \"x\"\nb = \"x\""),
         "scene.toml:9:1: a pair is of two bodies"},
        {"pair.friction", rule("friction = 0.1"), [=](const Scene& s) { return pair(s).friction == 0.1; },
         rule("friction = -1"), "scene.toml:10:12: friction = -1 must be at least 0"},
        {"pair.restitution", rule("restitution = 0.5"),
         [=](const Scene& s) { return pair(s).restitution == 0.5; },
         rule("collide = false\nrestitution = 0.5"),
         "scene.toml:11:1: restitution belongs to collide = true; remove it"},
        {"pair.collide", rule("collide = false"), [=](const Scene& s) { return !pair(s).collide; },
         rule("collide = 0"), "scene.toml:10:11: collide must be true or false, but is the number 0"},
    };
}

std::vector<KeyCase> joint_cases()
{
    const auto with = [](std::string_view keys) {
        return fmt::format("[[body]]\nname = \"x\"\nshape = \"box\"\n[[obstacle]]\nname = \"y\"\nshape = "
                           "\"plane\"\n[[joint]]\n{}\n",
                           keys);
    };
    const auto held = [=](std::string_view keys) {
        return with(fmt::format("a = \"x\"\nb = \"y\"\nat = [0, 1, 0]\n{}", keys));
    };
    const auto motor = [=](std::string_view keys) {
        return held(fmt::format("kind = \"hinge\"\n[joint.motor]\n{}", keys));
    };
    const auto joint = [](const Scene& s) { return s.joints.at(0); };
    return {
        {"joint", held(""), [](const Scene& s) { return s.joints.size() == 1; }, with(""),
         "scene.toml:7:1: [[joint]] needs the key a"},
        {"joint.a", held(""), [=](const Scene& s) { return joint(s).a == "x"; },
         with("a = \"z\"\nb = \"y\"\nat = [0, 1, 0]"),
         "scene.toml:8:1: there is no body or obstacle named 'z'; did you mean 'x'?"},
        {"joint.b", held(""), [=](const Scene& s) { return joint(s).b == "y"; },
         with("a = \"x\"\nb = \"x\"\nat = [0, 1, 0]"), "scene.toml:9:1: a body cannot be joined to itself"},
        {"joint.at", held(""), [=](const Scene& s) { return joint(s).joint.place == Vec3(0, 1, 0); },
         with("a = \"x\"\nb = \"y\""), "scene.toml:7:1: [[joint]] needs the key at"},
        {"joint.kind", held("kind = \"weld\""),
         [=](const Scene& s) { return joint(s).joint.kind == JointKind::Weld; }, held("kind = \"glue\""),
         "scene.toml:11:8: kind = \"glue\" is not one of ball, hinge, weld"},
        {"joint.axis", held("kind = \"hinge\"\naxis = [0, 0, 2]"),
         [=](const Scene& s) { return joint(s).joint.axis == Vec3(0, 0, 2); }, held("axis = [0, 0, 2]"),
         "scene.toml:11:1: axis belongs to a hinge; remove it"},
        {"joint.size", held("kind = \"weld\"\nsize = \"5 cm\""),
         [=](const Scene& s) { return joint(s).joint.size == 0.05; }, held("kind = \"weld\"\nsize = 0"),
         "scene.toml:12:8: size = 0 must be above 0 m"},
        {"joint.stiffness", held("stiffness = \"5 kN/m\""),
         [=](const Scene& s) { return joint(s).joint.stiffness == 5000.0; }, held("stiffness = \"5 kN\""),
         "scene.toml:11:13: stiffness = \"5 kN\" is not a stiffness, which has the units N/m, kN/m, MN/m, "
         "N/mm or N/cm"},
        {"joint.damping", held("stiffness = 10\ndamping = \"2 N s/m\""),
         [=](const Scene& s) { return joint(s).joint.damping == 2.0; }, held("damping = 2"),
         "scene.toml:11:1: damping belongs to stiffness; remove it"},
        {"joint.strength", held("strength = \"2 kN\""),
         [=](const Scene& s) { return joint(s).joint.strength == 2000.0; }, held("strength = -2"),
         "scene.toml:11:12: strength = -2 must be above 0 N"},
        {"joint.lower", held("lower = -90"),
         [=](const Scene& s) { return joint(s).joint.limits.lower == -90.0 * degree; },
         held("lower = 20\nupper = 10"), "scene.toml:11:1: lower must not be above upper"},
        {"joint.upper", held("upper = \"90 deg\""),
         [=](const Scene& s) { return joint(s).joint.limits.upper == 90.0 * degree; },
         held("kind = \"weld\"\nupper = 10"),
         "scene.toml:12:1: upper belongs to a hinge or a ball; remove it"},
        {"joint.cone", held("cone = 90\naxis = [0, 1, 0]"),
         [=](const Scene& s) { return joint(s).joint.limits.cone == 90.0 * degree; },
         held("kind = \"hinge\"\ncone = 10"), "scene.toml:12:1: cone belongs to a ball; remove it"},
        {"joint.motor", motor("speed = 90"),
         [=](const Scene& s) { return joint(s).joint.motor.goal == MotorGoal::Speed; },
         held("motor = {speed = 90}"), "scene.toml:11:1: motor belongs to a hinge; remove it"},
        {"joint.motor.speed", motor("speed = 90"),
         [=](const Scene& s) { return joint(s).joint.motor.target == 90.0 * degree; },
         motor("speed = 90\nangle = 20"),
         "scene.toml:14:1: [joint.motor] has both speed and angle; keep one"},
        {"joint.motor.angle", motor("angle = 90\nstiffness = 5"),
         [=](const Scene& s) { return joint(s).joint.motor.goal == MotorGoal::Angle; }, motor("angle = 90"),
         "scene.toml:12:1: [joint.motor] needs the key stiffness"},
        {"joint.motor.stiffness", motor("angle = 90\nstiffness = 5"),
         [=](const Scene& s) { return joint(s).joint.motor.stiffness == 5.0; },
         motor("speed = 90\nstiffness = 5"), "scene.toml:14:1: stiffness belongs to angle; remove it"},
        {"joint.motor.damping", motor("angle = 90\nstiffness = 5\ndamping = 2"),
         [=](const Scene& s) { return joint(s).joint.motor.damping == 2.0; },
         motor("angle = 90\nstiffness = 5\ndamping = -2"),
         "scene.toml:15:11: damping = -2 must be at least 0"},
        {"joint.motor.torque", motor("speed = 90\ntorque = 3"),
         [=](const Scene& s) { return joint(s).joint.motor.torque == 3.0; }, motor("speed = 90\ntorque = 0"),
         "scene.toml:14:10: torque = 0 must be above 0"},
    };
}

std::vector<KeyCase> training_cases()
{
    const auto with = [](std::string_view keys) { return with_body(fmt::format("[training]\n{}", keys)); };
    const auto training = [](const Scene& s) { return *s.training; };
    return {
        {"training", with(""), [=](const Scene& s) { return training(s).runs == 8 && !training(s).frames; },
         with("runs = 0"), "scene.toml:3:1: [training] without runs needs snapshots or shapes"},
        {"training.runs", with("runs = 3"), [=](const Scene& s) { return training(s).runs == 3; },
         with("runs = -1"), "scene.toml:4:8: runs = -1 must lie in [0, 10000]"},
        {"training.frames", with("frames = 5"), [=](const Scene& s) { return training(s).frames == 5; },
         with("runs = 0\nframes = 5\nshapes = [\"ball.obj\"]"),
         "scene.toml:5:1: frames belongs to runs; remove it"},
        {"training.every", with("every = 5"), [=](const Scene& s) { return training(s).every == 5; },
         with("every = 0"), "scene.toml:4:9: every = 0 must lie in [1, 1000000]"},
        {"training.jitter", with("jitter = 1"), [=](const Scene& s) { return training(s).jitter == 1.0; },
         with("jitter = 1.5"), "scene.toml:4:10: jitter = 1.5 must lie in [0, 1]"},
        {"training.seed", with("seed = 4"), [=](const Scene& s) { return training(s).seed == 4; },
         with("seed = -4"), "scene.toml:4:8: seed = -4 must lie in [0, 2147483647]"},
        {"training.snapshots", with("snapshots = [\"ball.txt\"]"),
         [=](const Scene& s) { return training(s).snapshots.at(0).filename() == "ball.txt"; },
         with("snapshots = \"ball.txt\""),
         "scene.toml:4:13: snapshots must be a list of files, but is the text \"ball.txt\""},
        {"training.shapes", with("shapes = [\"ball.obj\"]"),
         [=](const Scene& s) { return training(s).shapes.at(0).filename() == "ball.obj"; },
         with("shapes = [\"bal.obj\"]"),
         "scene.toml:4:11: shapes[0] = \"bal.obj\" is not there; looked for \"bal.obj\"; did you mean "
         "'ball.obj'?"},
    };
}

std::vector<KeyCase> all_cases()
{
    std::vector<KeyCase> all;
    for (const auto& some : {top_cases(), material_cases(), body_cases(), rigid_cases(), bones_cases(),
                             lattice_cases(), region_cases(), pin_cases(), load_cases(), obstacle_cases(),
                             character_cases(), pair_cases(), joint_cases(), training_cases()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

TEST_F(SceneFile, EveryKeyHasAnEffectAndAnErrorWithItsPlace)
{
    for (const KeyCase& k : all_cases()) {
        ASSERT_EQ(error_of(k.good), "") << k.key;
        EXPECT_TRUE(k.shows(parse(k.good))) << k.key << " in\n" << k.good;
        EXPECT_EQ(error_of(k.bad), k.message) << k.key << " in\n" << k.bad;
    }
}

/// What docs/scene-format.md says: rows whose first cell is a key, below headings that name tables.
struct Page {
    std::set<std::string> keys;
    std::vector<std::string> scenes; ///< the examples
};

Page read_page()
{
    static const std::regex in_ticks("`([^`]*)`"), row("^\\| `([a-z_]+)` \\|"),
        not_in_path("[\\[\\]]|\\.NAME");
    Page page;
    std::vector<std::string> tables;
    std::istringstream lines(content(std::filesystem::path(LITHE_SOURCE_DIR) / "docs" / "scene-format.md"));
    bool in_scene = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "```toml") page.scenes.emplace_back();
        if (line.starts_with("```"))
            in_scene = line == "```toml";
        else if (in_scene)
            page.scenes.back() += line + "\n";
        if (!in_scene && line.starts_with("##")) {
            tables.clear();
            for (std::sregex_iterator name(line.begin(), line.end(), in_ticks), end; name != end; ++name)
                tables.push_back(std::regex_replace((*name)[1].str(), not_in_path, "") + ".");
            if (tables.empty()) tables.emplace_back();
        }
        if (std::smatch key; !in_scene && std::regex_search(line, key, row))
            for (const std::string& table : tables) page.keys.insert(table + key[1].str());
    }
    return page;
}

TEST_F(SceneFile, PageReaderAndTestsKnowTheSameKeys)
{
    std::set<std::string> read, tested;
    for (const KeyCase& k : all_cases()) {
        tested.insert(k.key);
        (void)parse_scene(k.good, folder_ / "scene.toml", read);
    }
    EXPECT_GT(read.size(), 80u);
    EXPECT_EQ(read, tested);
    EXPECT_EQ(read, read_page().keys);
}

TEST_F(SceneFile, ExamplesOfThePageAreScenes)
{
    const Page page = read_page();
    ASSERT_GE(page.scenes.size(), 2u);
    for (const std::string& scene : page.scenes) EXPECT_EQ(error_of(scene), "") << scene;
}

TEST_F(SceneFile, ScenesOfTheHouseAreScenes)
{
    int count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(LITHE_SOURCE_DIR) / "scenes")) {
        if (entry.path().extension() != ".toml") continue;
        EXPECT_NO_THROW((void)read_scene(entry.path())) << entry.path();
        ++count;
    }
    if (count == 0) GTEST_SKIP() << "there are none";
}

// ---- what a scene is without keys

TEST_F(SceneFile, FiveLinesAreAScene)
{
    const Scene scene =
        parse("[[body]]\nshape = \"sphere:radius=0.1\"\nposition = [0, 0.5, 0]\n[[obstacle]]\n"
              "shape = \"plane\"\n");
    EXPECT_EQ(scene.file.filename(), "scene.toml");
    EXPECT_EQ(scene.time.fps, 60.0);
    EXPECT_EQ(scene.time.frames, 120);
    EXPECT_EQ(scene.time.method, Method::BackwardEuler);
    EXPECT_EQ(scene.gravity, Vec3(0.0, -9.81, 0.0));
    ASSERT_EQ(scene.bodies.size(), 1u);
    EXPECT_EQ(body(scene).name, "body");
    EXPECT_EQ(body(scene).placement.translation, Vec3(0.0, 0.5, 0.0));
    EXPECT_FALSE(body(scene).material.young);
    EXPECT_EQ(obstacle(scene).name, "obstacle");
    EXPECT_TRUE(obstacle(scene).path.is_constant());
}

TEST_F(SceneFile, ThingsKnowTheirPlaces)
{
    const Scene scene =
        parse(with_body("material = {young = 1}\n[[body.pin]]\nvertices = [1]\n  [[body.load]]\n"
                        "pressure = 1\n[[obstacle]]\nshape = \"plane\""));
    EXPECT_THAT(to_string(body(scene).place), testing::EndsWith("scene.toml:1:1"));
    EXPECT_THAT(to_string(body(scene).source.place), testing::EndsWith("scene.toml:2:1"));
    EXPECT_THAT(to_string(body(scene).material.place), testing::EndsWith("scene.toml:3:12"));
    EXPECT_THAT(to_string(pin(scene).place), testing::EndsWith("scene.toml:4:1"));
    EXPECT_THAT(to_string(load(scene).place), testing::EndsWith("scene.toml:6:3"));
    EXPECT_THAT(to_string(obstacle(scene).place), testing::EndsWith("scene.toml:8:1"));
}

TEST_F(SceneFile, NamesAreGivenToThoseWithout)
{
    const Scene scene =
        parse("body = [{shape = \"box\"}, {shape = \"box\", name = \"body 2\"}, {shape = \"box\"}]\n"
              "obstacle = [{shape = \"plane\"}, {shape = \"plane\"}]");
    EXPECT_EQ(scene.bodies[0].name, "body");
    EXPECT_EQ(scene.bodies[1].name, "body 2");
    EXPECT_EQ(scene.bodies[2].name, "body 3");
    EXPECT_EQ(scene.obstacles[1].name, "obstacle 2");
}

TEST_F(SceneFile, RotationsAreAppliedInTheOrderXYZAboutFixedAxes)
{
    const Scene scene = parse(with_body("rotation = [90, 0, 90]"));
    // z tips over to -y by the first, and that turns to x by the last
    EXPECT_LT((body(scene).placement.apply(Vec3::UnitZ()) - Vec3::UnitX()).norm(), 1e-15);
    const Scene other = parse(with_body("rotation = [0, 90, 90]"));
    // x turns to -z, which the last leaves alone
    EXPECT_LT((body(other).placement.apply(Vec3::UnitX()) + Vec3::UnitZ()).norm(), 1e-15);
}

TEST_F(SceneFile, AWholeTurnTurns)
{
    const Scene scene =
        parse(with_obstacle("shape = \"plane\"\npath = [{time = 0}, {time = 4, rotation = [0, 720, "
                            "0], position = [8, 0, 0]}, {time = 5, rotation = [0, 700, 0]}]"));
    for (const double t : {0.0, 0.1, 1.0, 1.9, 3.3, 4.0})
        EXPECT_TRUE(same_turn(obstacle(scene).path.at(t).rotation, turn(180.0 * t, Vec3::UnitY()))) << t;
    EXPECT_LT((obstacle(scene).path.at(1.7).translation - Vec3(3.4, 0, 0)).norm(), 1e-14);
    EXPECT_EQ(obstacle(scene).path.times().size(), 10u); // eight quarters, and the last 20 degrees whole
}

TEST_F(SceneFile, MotionsAreBounded)
{
    std::string keys = "{time = 0}";
    for (int i = 1; i < 300; ++i)
        keys += fmt::format(", {{time = {}, rotation = [{}, 0, 0]}}", i, i % 2 ? 36e4 : -36e4);
    EXPECT_THAT(error_of(with_obstacle("shape = \"plane\"\npath = [" + keys + "]")),
                HasSubstr("the motion turns too often"));
    // Times that no double lies between: the pieces of the turn go, the ends stay.
    const Scene scene =
        parse(with_obstacle("shape = \"plane\"\npath = [{time = 1}, {time = 1.0000000000000002, "
                            "rotation = [0, 360, 0]}]"));
    EXPECT_EQ(obstacle(scene).path.times().size(), 2u);
}

TEST_F(SceneFile, MaterialsAreFoundByName)
{
    const Scene scene = parse(with_body("material = \"stvk\"\n[[body.region]]\nlabel = 2\nmaterial = \"a\"\n"
                                        "[material.stvk]\nkind = \"linear\"\n[material.a]\ndensity = 7\n"
                                        "[material.unused]\n"));
    EXPECT_EQ(body(scene).material.kind, MaterialKind::Linear); // the table comes before the kind
    EXPECT_EQ(region(scene).material.density, 7.0);
    EXPECT_EQ(error_of(with_head("[material.unused]\nyong = 3")),
              "scene.toml:2:1: unknown key 'yong' in [material.unused]; did you mean 'young'?");
    EXPECT_EQ(error_of(with_body("material = {yong = 3}")),
              "scene.toml:3:13: unknown key 'yong' in [body.material]; did you mean 'young'?");
    EXPECT_EQ(error_of(with_body("material = 3")),
              "scene.toml:3:12: material must be the name of a material or a table, but is the number 3");
}

TEST_F(SceneFile, FilesAreLookedForFromTheFolderOfTheScene)
{
    const Scene scene = parse("[[body]]\nshape = \"./blob.shape\"");
    EXPECT_EQ(std::get<std::string>(body(scene).source.from), (folder_ / "blob.shape").string());
    std::filesystem::create_directory(folder_ / "box.obj");
    EXPECT_EQ(error_of("[[body]]\nmesh = \"box.obj\""), "scene.toml:2:8: mesh = \"box.obj\" is not a file");
    EXPECT_EQ(error_of("[[body]]\nshape = \"blub.shape\""),
              "scene.toml:2:9: shape = \"blub.shape\" is not there; looked for \"blub.shape\"; did you mean "
              "'blob.shape'?");
    EXPECT_THAT(error_of("[[body]]\nshape = \"bad.shape\""), StartsWith("scene.toml:2:9: bad.shape:2: "));
    EXPECT_THAT(error_of("[[body]]\nmesh = \"ball.txt\""), StartsWith("scene.toml:2:8: "));
    EXPECT_EQ(error_of(fmt::format("[[body]]\nmesh = \"{}/ball.obj\"", folder_.path().string())), "");
}

// ---- what goes wrong

TEST_F(SceneFile, UnknownKeysAreNamedBeforeMissingOnes)
{
    EXPECT_EQ(error_of("[[body]]\n\n  shpae = \"box\""),
              "scene.toml:3:3: unknown key 'shpae' in [[body]]; did you mean 'shape'?");
    EXPECT_EQ(error_of("[[bdy]]\nshape = \"box\""),
              "scene.toml:1:3: unknown key 'bdy' in a scene; did you mean 'body'?");
    EXPECT_THAT(
        error_of(with_body("zebra = 1\napple = 1")),
        StartsWith(
            "scene.toml:3:1: unknown key 'zebra' in [[body]]; known are angular_velocity, bones, cell, "));
    EXPECT_EQ(error_of("[[body]]"), "scene.toml:1:1: [[body]] needs one of mesh, shape, model");
    EXPECT_EQ(error_of("[[body]]\nshape = \"plane\""),
              "scene.toml:2:1: a body cannot be a plane; use a box, or an [[obstacle]]");
}

TEST_F(SceneFile, EmptyFilesAndGarbageAreRefused)
{
    EXPECT_EQ(error_of(""), "scene.toml:1:1: a scene needs at least one [[body]] or [[character]]");
    EXPECT_EQ(error_of("\n# nothing\n"),
              "scene.toml:1:1: a scene needs at least one [[body]] or [[character]]");
    EXPECT_EQ(error_of("\xff\xfe\x01"),
              "scene.toml:1:1: this is not TOML: Encountered invalid utf-8 sequence");
    EXPECT_EQ(error_of("[[body]]\nshape = "),
              "scene.toml:2:9: this is not TOML: parsing key-value pair: encountered end-of-file");
    EXPECT_EQ(error_of("[time\n"),
              "scene.toml:1:6: this is not TOML: parsing table header: expected ']', saw '\\n'");
    EXPECT_EQ(
        error_of("title = \"a\"\ntitle = \"b\""),
        "scene.toml:2:9: this is not TOML: parsing key-value pair: cannot redefine existing string 'title'");
    EXPECT_THAT(error_of("[time]\nfps = 1e400"), StartsWith("scene.toml:2:12: this is not TOML: "));
    EXPECT_THAT(error_of("[time]\nframes = 99999999999999999999"), StartsWith("scene.toml:2:"));
    EXPECT_THAT(error_of(std::string("title\0= 3", 9)), StartsWith("scene.toml:1:"));
    Random random(1);
    for (int i = 0; i < 200; ++i) {
        std::string bytes(static_cast<std::size_t>(random.index(200)) + 1, ' ');
        for (char& c : bytes) c = static_cast<char>(random.index(256));
        EXPECT_THAT(error_of(bytes), StartsWith("scene.toml:"));
    }
}

TEST_F(SceneFile, NumbersThatAreNoneAreRefused)
{
    EXPECT_EQ(error_of("[time]\nfps = inf"), "scene.toml:2:7: fps = inf must be finite");
    EXPECT_EQ(error_of("[time]\nfps = nan"), "scene.toml:2:7: fps = nan must be finite");
    EXPECT_EQ(error_of("[time]\nfps = \"inf Hz\""), "scene.toml:2:7: fps = \"inf Hz\" must be finite");
    EXPECT_EQ(error_of("[time]\nfps = -0.0"), "scene.toml:2:7: fps = -0 must lie in [0.001, 1e+06] Hz");
    EXPECT_EQ(error_of("[time]\nframes = 120.0"),
              "scene.toml:2:10: frames must be a whole number, but is the number 120");
    EXPECT_EQ(
        error_of("[time]\nfps = 1979-05-27"),
        "scene.toml:2:7: fps must be a rate, a number or text such as \"60 Hz\", but is a date or a time");
    EXPECT_EQ(error_of(with_body("[[body.pin]]\nbox = [[0, nan, 0], [1, 1, 1]]")),
              "scene.toml:4:12: box[0][1] = nan must be finite");
    EXPECT_EQ(error_of(with_body("damping.stiffness = \"1e148 min\"")), "");
    EXPECT_THAT(error_of(with_body("cell = \"1e150 km\"")),
                HasSubstr("is too large; numbers go up to 1e+150"));
}

TEST_F(SceneFile, MessagesStayOnOneShortLine)
{
    EXPECT_EQ(error_of("title = \"a\\nb\""),
              "scene.toml:1:9: title = \"a b\" must be one line of printable characters");
    const std::string longer(100'000, 'x');
    EXPECT_LT(error_of("[time]\nmethod = \"" + longer + "\"").size(), 300u);
    EXPECT_LT(error_of(longer + " = 3").size(), 300u);
    EXPECT_LT(error_of(with_body("material = \"" + longer + "\"")).size(), 300u);
    EXPECT_EQ(error_of(with_body("name = \"" + longer + "\"")),
              "scene.toml:3:8: name = \"" + longer.substr(0, 60) +
                  "...\" is not a name: at most 60 printable characters");
    EXPECT_LT(error_of("[material." + longer + "]\nyoung = 3").size(), 300u);
    EXPECT_THAT(error_of("[material.\"a\\nb\"]"), StartsWith("scene.toml:1:1: a b = a table is not a name"));
    EXPECT_LT(error_of("[[body]]\nmesh = \"" + longer + ".obj\"").size(), 300u);
    EXPECT_LT(error_of("[[body]]\nshape = \"" + longer + "\"").size(), 500u); // lists the shapes
    // shortened between characters, not within one: "ä" has two bytes
    std::string umlauts = "x";
    for (int i = 0; i < 60; ++i) umlauts += "\xc3\xa4";
    EXPECT_THAT(error_of("[time]\nmethod = \"" + umlauts + "\""), HasSubstr("\xc3\xa4...\""));
}

TEST_F(SceneFile, NestingIsBounded)
{
    const auto repeated = [](std::string_view piece, int count) {
        std::string text;
        for (int i = 0; i < count; ++i) text += piece;
        return text;
    };
    const std::string deep = "lists and tables nest more than 32 deep; no scene needs that";
    EXPECT_EQ(error_of("a = " + repeated("[", 100'000)), "scene.toml:1:37: " + deep);
    EXPECT_EQ(error_of("a = " + repeated("{a=", 100'000)), "scene.toml:1:101: " + deep);
    EXPECT_EQ(error_of("\na = " + repeated("[\n", 100'000)), "scene.toml:34:1: " + deep);
    const std::string dotted = "a dotted name goes more than 16 deep; no scene needs that";
    EXPECT_EQ(error_of("a" + repeated(".a", 100'000) + " = 1"), "scene.toml:1:32: " + dotted);
    EXPECT_EQ(error_of("[a" + repeated(" . \"a]\"", 100'000) + "]"), "scene.toml:1:109: " + dotted);
    EXPECT_EQ(error_of("x = {a" + repeated(".a", 100'000) + " = 1}"), "scene.toml:1:37: " + dotted);
    // What looks deep and is not: brackets and dots in text, in comments, and in long lists.
    EXPECT_EQ(error_of("title = \"" + repeated("[.", 200) + "\"\n" + with_head("")), "");
    EXPECT_EQ(error_of("title = '" + repeated("[.\"", 200) + "'\n" + with_head("")), "");
    EXPECT_EQ(error_of("title = \"\"\"" + repeated("[.' \\\"", 200) + "\"\"\"\n" + with_head("")), "");
    EXPECT_EQ(error_of("# " + repeated("[.\"", 200) + "\n" + with_head("")), "");
    EXPECT_EQ(error_of(with_body("[[body.load]]\npressure = 1\nfactor = [[0.5, 1.5]" +
                                 [] {
                                     std::string more;
                                     for (int i = 1; i < 1000; ++i) more += fmt::format(", [{}.5, 0.25]", i);
                                     return more;
                                 }() +
                                 "]")),
              "");
}

TEST_F(SceneFile, SizeIsBounded)
{
    const std::string large(17u << 20, ' ');
    EXPECT_EQ(error_of(large), "scene.toml: is too large; at most 16777216 bytes are read");
    std::ofstream(folder_ / "large.toml") << large;
    EXPECT_THROW((void)read_scene(folder_ / "large.toml"), InputError);
    std::string many = "body = [";
    for (int i = 0; i < 10'001; ++i) many += "{shape=\"box\"},";
    EXPECT_EQ(error_of(many + "]"),
              "scene.toml:1:1: a scene holds at most 10000 bodies, 10000 obstacles and 10000 characters");
}

TEST_F(SceneFile, IsReadFromDisk)
{
    std::ofstream(folder_ / "drop.toml") << with_body("friction = 0.25");
    EXPECT_EQ(body(read_scene(folder_ / "drop.toml")).friction, 0.25);
    EXPECT_THROW((void)read_scene(folder_ / "none.toml"), InputError);
    EXPECT_THROW((void)read_scene(folder_.path()), InputError);
}

/// Any part of a good scene, with any character changed, is a scene or an InputError with its place.
RC_GTEST_FIXTURE_PROP(SceneFile, BrokenScenesAreRefusedWithTheirPlace, ())
{
    static const std::string whole = read_page().scenes.at(1);
    std::string text = whole.substr(0, *rc::gen::inRange<std::size_t>(0, whole.size()));
    if (!text.empty()) text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const std::string error = error_of(text);
    RC_ASSERT(error.empty() || error.starts_with("scene.toml:"));
}

} // namespace
} // namespace lithe
