#include "lithe/prepare/prepare_lattice.hpp"

#include <fstream>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/dynamics/lattice_body.hpp"
#include "lithe/geometry/control_lattice_io.hpp"
#include "lithe/geometry/lattice_check.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/reduce/lattice_model_io.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "support/waving_arm.hpp"

namespace lithe {
namespace {

using test::make_arm;
using test::message_of;

const LatticePrepareOptions quick{.vertices = 60, .levels = 0, .proxy_vertices = 60, .young = 1e5};

LatticeModel prepared(const Character& character, const LatticePrepareOptions& options = quick)
{
    Progress silent;
    std::vector<std::string> notes;
    return prepare_lattice(character, options, silent, notes);
}

/// How far the chains of a lattice's bones are from the lines between their ends, and these from joints.
double bone_error(const LatticeModel& model)
{
    double worst = 0.0;
    for (const LatticeBone& bone : model.lattice.bones) {
        const Vec3 head = model.lattice.vertices[bone.vertices.front()],
                   tail = model.lattice.vertices[bone.vertices.back()];
        const Vec3 along = (tail - head).normalized();
        for (const int v : bone.vertices)
            worst = std::max(worst, (model.lattice.vertices[v] - head).cross(along).norm());
    }
    return worst;
}

TEST(PrepareLattice, AnArmLiesInItsLattice)
{
    const Character arm = make_arm();
    const LatticeModel model = prepared(arm);
    EXPECT_EQ(first_fault(model.lattice, arm.surface), std::nullopt);
    EXPECT_TRUE(model.held_bones.empty());
    EXPECT_LT(bone_error(model), 1e-9 * bounds(arm.surface.vertices).diagonal().norm());
    EXPECT_EQ(model.shown.embedding.outside, 0);
    EXPECT_EQ(model.shown.rest.vertices, arm.surface.vertices);
}

TEST(PrepareLattice, FilesKeepEverything)
{
    const test::TemporaryFolder folder;
    LatticeModel model = prepared(make_arm());
    model.character = {.glb = make_gltf(make_arm()).to_glb(), .read = {.scale = 0.01, .up = UpAxis::Z}};
    write_lattice_model(folder / "arm.lithe", model);
    const LatticeModel read = read_lattice_model(folder / "arm.lithe");
    EXPECT_EQ(read.lattice.vertices, model.lattice.vertices);
    EXPECT_EQ(read.bone_joints, model.bone_joints);
    EXPECT_EQ(read.fractions, model.fractions);
    EXPECT_EQ(read.tet_materials, model.tet_materials);
    EXPECT_EQ(read.shown.embedding.corners, model.shown.embedding.corners);
    EXPECT_EQ(read.collision.embedding.weights, model.collision.embedding.weights);
    ASSERT_EQ(read.regions.size(), model.regions.size());
    EXPECT_EQ(read.regions[0].weights, model.regions[0].weights);
    EXPECT_EQ(read.settings.twist_stiffness, model.settings.twist_stiffness);
    EXPECT_EQ(read.character.glb, model.character.glb);
    EXPECT_EQ(read.character.read.scale, 0.01);
    EXPECT_EQ(read.character.read.up, UpAxis::Z);
    EXPECT_EQ(read.skeleton.joints.back().rest.translation, model.skeleton.joints.back().rest.translation);
    write_lattice_model(folder / "again.lithe", read);
    EXPECT_EQ(read_lattice_model(folder / "again.lithe").record.settings, model.record.settings);
}

TEST(PrepareLattice, StiffnessByBone)
{
    const Character arm = make_arm();
    const std::string bone = arm.skeleton.joints[static_cast<std::size_t>(arm.bones.back().joint)].name;
    LatticePrepareOptions options = quick;
    options.stiffness = {parse_stiffness(bone + "=1e6")};
    const LatticeModel model = prepared(arm, options);
    ASSERT_EQ(model.materials.size(), 2u);
    EXPECT_EQ(model.materials[1].material.elastic.young_modulus, 1e6);
    const auto stiff =
        std::accumulate(model.tet_materials.begin(), model.tet_materials.end(), std::size_t{0});
    EXPECT_GT(stiff, model.tet_materials.size() / 20);
    EXPECT_LT(stiff, model.tet_materials.size());
    options.stiffness = {parse_stiffness("nobody=1e6")};
    EXPECT_TRUE(message_of([&] { (void)prepared(arm, options); }).starts_with("there is no bone 'nobody'"));
}

TEST(PrepareLattice, WhatStiffnessSays)
{
    EXPECT_EQ(parse_stiffness("a=b=2e3").what, "a=b");
    EXPECT_EQ(parse_stiffness("#ff8000=2e3").where, LatticeStiffness::Where::Color);
    EXPECT_EQ(parse_stiffness("mask:a.obj=2e3").what, "a.obj");
    for (const char* bad : {"ear", "ear=", "=3", "ear=soft", "ear=-1", "ear=3x"})
        EXPECT_THROW((void)parse_stiffness(bad), InputError) << bad;
}

TEST(PrepareLattice, RefusesWhatIsNotOfTheSizeOfABody)
{
    for (const double scale : {0.01, 100.0}) {
        Character arm = make_arm();
        const double size = bounds(arm.surface.vertices).diagonal().norm();
        arm.surface.vertices *= scale * 1.8 / size;
        const std::string said = message_of([&] { (void)prepared(arm); });
        EXPECT_NE(said.find("is it in another unit? give --scale"), std::string::npos) << said;
    }
}

TEST(PrepareLattice, RefusesBonesThatAreElsewhere)
{
    Character arm = make_arm();
    arm.surface.vertices.row(1).array() += 50.0;
    EXPECT_NE(message_of([&] { (void)prepared(arm); }).find("all bones lie outside the surface"),
              std::string::npos);
}

TEST(PrepareLattice, RefusesTwoCharacters)
{
    Character two = make_arm();
    const Index n = two.surface.vertex_count();
    two.surface.vertices = two.surface.vertices.replicate(1, 2).eval();
    two.surface.vertices.rightCols(n).row(0).array() += 1.0;
    two.surface.triangles = two.surface.triangles.replicate(1, 2).eval();
    two.surface.triangles.rightCols(two.surface.triangle_count() / 2).array() += static_cast<int>(n);
    two.weights.bones = two.weights.bones.replicate(1, 2).eval();
    two.weights.weights = two.weights.weights.replicate(1, 2).eval();
    two.weights.bones.rightCols(n).array() += 2;
    for (int b = 0; b < 2; ++b) {
        Joint joint = two.skeleton.joints[static_cast<std::size_t>(b)];
        joint.name = "other " + joint.name;
        joint.parent = b == 0 ? -1 : 2;
        two.skeleton.joints.push_back(joint);
        two.bones.push_back(
            {.joint = 2 + b, .inverse_bind = two.bones[static_cast<std::size_t>(b)].inverse_bind});
    }
    EXPECT_EQ(message_of([&] { (void)prepared(two); }),
              "there are 2 characters in it, 'shoulder' and 'other shoulder' among them; write each to a "
              "file of its own");
}

/// A worm of two hundred joints, one behind the other.
TEST(PrepareLattice, TakesTwoHundredJoints)
{
    std::string shape = "joint j0 at 0 0 0 radius 0.06\n";
    for (int j = 1; j < 200; ++j)
        shape += fmt::format("joint j{} of j{} at 0 0 0.03 radius 0.06\n", j, j - 1);
    const test::TemporaryFolder folder;
    std::ofstream(folder / "worm.shape") << shape;
    Progress silent;
    std::vector<std::string> notes;
    const SceneSource source{.from = (folder / "worm.shape").string(), .detail = 0.05};
    const LatticeModel model = prepare_lattice(source, {.levels = 0, .young = 1e5}, silent, notes);
    EXPECT_EQ(model.lattice.bones.size() + model.held_bones.size(), 200u);
    EXPECT_LT(bone_error(model), 1e-9 * 6.0);
}

/// As in many files: the nodes stand in some pose of a clip, the skin was bound in another.
TEST(PrepareLattice, FleshIsCarriedFromWhereItWasBound)
{
    Character arm = make_arm();
    const LatticeModel straight = prepared(arm);
    JointTransform& elbow = arm.skeleton.joints[static_cast<std::size_t>(arm.skeleton.find("elbow"))].rest;
    elbow.rotation = elbow.rotation * Quat(Eigen::AngleAxisd(1.0, Vec3::UnitZ()));
    const LatticeModel bent = prepared(arm);
    EXPECT_EQ(bent.lattice.vertices, straight.lattice.vertices);
    const auto system = std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(bent)));
    Published now;
    LatticeBody(system, {}).publish(now);
    Points skinned;
    skin(SkinningMethod::Linear, arm.weights,
         bone_transforms(arm.bones, world_transforms(arm.skeleton, rest_pose(arm.skeleton))),
         arm.surface.vertices, skinned);
    const double size = bounds(arm.surface.vertices).diagonal().norm();
    EXPECT_LT((now.positions - skinned).colwise().norm().maxCoeff(), 0.05 * size);
    EXPECT_GT((skinned - arm.surface.vertices).colwise().norm().maxCoeff(), 0.1 * size);
}

TEST(PrepareLattice, RefusesBonesWithoutLength)
{
    Character arm = make_arm();
    for (Bone& bone : arm.bones) bone.inverse_bind = arm.bones.front().inverse_bind;
    for (Joint& joint : arm.skeleton.joints) joint.rest.translation.setZero();
    EXPECT_NE(message_of([&] { (void)prepared(arm); }).find("no bone has a length"), std::string::npos);
}

TEST(PrepareLattice, RefusesALatticeThatMissesTheBody)
{
    const test::TemporaryFolder folder;
    LatticePrepareOptions options = quick;
    options.lattice = folder / "far.lattice";
    ControlLattice box{
        .vertices = {}, .cells = {{LatticeCellKind::Hex, {0, 1, 2, 3, 4, 5, 6, 7}}}, .bones = {}};
    for (int k = 0; k < 8; ++k) box.vertices.push_back(Vec3(90 + (k & 1), k >> 1 & 1, k >> 2));
    {
        AtomicFile file(*options.lattice);
        file.write(lattice_text(box));
        file.commit();
    }
    EXPECT_NE(message_of([&] { (void)prepared(make_arm(), options); }), "");
}

/// How far vertices of the lattice at joints are from where the clip has these; of several in one place, from the nearest, as clips
/// may take them apart.
double joint_error(const LatticeBody& body, const Clip& clip, double t)
{
    const LatticeModel& model = *body.system().model;
    const auto now = world_transforms(model.skeleton, pose_at(model.skeleton, clip, clip.begin() + t));
    double worst = 0.0;
    for (const LatticeBone& bone : model.lattice.bones) {
        const int v = bone.vertices.front();
        double nearest = std::numeric_limits<double>::infinity();
        for (const int joint : model.bone_joints) {
            const auto j = static_cast<std::size_t>(joint);
            if ((model.lattice.vertices[v] - model.bind[j].translation()).norm() < 1e-9)
                nearest = std::min(nearest, (body.state().x.col(v) - now[j].translation()).norm());
        }
        if (std::isfinite(nearest)) worst = std::max(worst, nearest);
    }
    return worst;
}

/// From end to end, falling apart nowhere and bones where they belong.
void play(const std::shared_ptr<const LatticeSystem>& system, const Clip& clip)
{
    SCOPED_TRACE(clip.name);
    constexpr double h = 1.0 / 60.0;
    const double size = bounds(system->model->shown.rest.vertices).diagonal().norm();
    LatticeBody body(system, {.clip = clip, .playback = {.loop = false}});
    Published now;
    double t = 0.0;
    for (; t < clip.duration() - h; t += h) {
        ASSERT_TRUE(body.predict({.t = t, .h = h, .gravity = Vec3(0, -9.81, 0)}).solved);
        body.finish();
    }
    body.publish(now);
    ASSERT_TRUE(now.positions.allFinite());
    EXPECT_LT(joint_error(body, clip, t), 1e-9 * size);
    EXPECT_LT(bounds(now.positions).diagonal().norm(), 3.0 * size);
}

SceneSource source_named(const std::string& name)
{
    if (name.starts_with("shape:")) return {.from = name.substr(6), .read = {}, .place = {}};
    return {.from = test::data_file("rigs") / name, .read = {}, .place = {}};
}

/// Mass of the flesh over density times the volume of the closed body.
double mass_ratio(const std::string& name)
{
    Progress silent;
    std::vector<std::string> notes;
    const Character character = load_character(source_named(name), silent, notes);
    const LatticePrepareOptions options{.levels = 0};
    const LatticeSystem system = make_lattice_system(
        std::make_shared<const LatticeModel>(prepare_lattice(character, options, silent, notes)));
    return system.mass / (options.density * volume(close_character(character, silent).closed));
}

TEST(PrepareLattice, ShapesWeighWhatTheirVolumeDoes)
{
    for (const char* name : {"shape:cow", "shape:octopus"}) EXPECT_NEAR(mass_ratio(name), 1.0, 0.02) << name;
}

TEST(PrepareLattice, RigsWeighWhatTheirVolumeDoes)
{
    LITHE_DATA_OR_SKIP(folder, "rigs");
    for (const char* name : {"Cow.glb", "CesiumMan.glb", "RiggedFigure.glb"})
        EXPECT_NEAR(mass_ratio(name), 1.0, 0.02) << name;
}

/// Every rig of the data set and every built-in shape with a skeleton, with all clips.
TEST(PrepareLattice, EveryRigGetsALattice)
{
    LITHE_DATA_OR_SKIP(folder, "rigs");
    Progress silent;
    for (const char* name :
         {"Cow.glb", "CesiumMan.glb", "RiggedFigure.glb", "dolphin.skel.txt", "fish.skel.txt",
          "horse.skel.txt", "rigged_cylinder.skel.txt", "shape:cow", "shape:octopus"}) {
        SCOPED_TRACE(name);
        std::vector<std::string> notes;
        const Character character = load_character(source_named(name), silent, notes);
        const LatticeModel model = prepare_lattice(character, {.levels = 0}, silent, notes);
        EXPECT_TRUE(model.held_bones.empty());
        EXPECT_LT(bone_error(model), 1e-9 * bounds(character.surface.vertices).diagonal().norm());
        EXPECT_EQ(model.shown.embedding.outside, 0);
        EXPECT_LE(model.lattice.vertices.size(), 320u);
        const auto system = std::make_shared<const LatticeSystem>(
            make_lattice_system(std::make_shared<const LatticeModel>(model)));
        for (const Clip& clip : character.clips) play(system, clip);
    }
}

} // namespace
} // namespace lithe
