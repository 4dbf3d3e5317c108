// Characters of deformable bones in scene files: led by clips, loaded, and touching themselves.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lithe/contact/collision_surface.hpp"
#include "lithe/core/atomic_file.hpp"
#include "lithe/dynamics/articulated_body.hpp"
#include "lithe/prepare/prepare_bones.hpp"
#include "lithe/prepare/prepare_scene.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "support/waving_arm.hpp"

namespace lithe {
namespace {

using test::make_arm;
using test::message_of;

/// A folder with an arm that waves, and a fork whose prongs stand up 10 cm apart.
class CharacterScenes : public testing::Test {
protected:
    CharacterScenes()
    {
        write_file(folder_ / "arm.glb", make_gltf(make_arm()).to_glb());
        write_file(folder_ / "fork.shape", "joint base at 0 0 0 radius 0.05 blend 0.01\n"
                                           "mirror\n"
                                           "  joint root of base at 0.1 0 0 radius 0.05\n"
                                           "  joint prong of root at 0 0.15 0 radius 0.05\n"
                                           "  cone of prong to 0 0.25 0 radius 0.05\n"
                                           "end\n");
    }
    PreparedScene prepared(const std::string& text) const
    {
        Progress progress;
        return prepare_scene(parse_scene(text, folder_ / "scene.toml"), progress);
    }

    test::TemporaryFolder folder_;
};

const ArticulatedBody& character(const World& world)
{
    return dynamic_cast<const ArticulatedBody&>(world.body(*world.find("body")));
}

const std::string arm =
    "[[body]]\nmesh = \"arm.glb\"\ntets = 1500\nmaterial = {young = 3e5}\nbones = {modes = "
    "6, proxy = 60}\n";

/// Where the clip has the bone "elbow", which is the second.
void expect_waving(const ArticulatedBody& body, const Character& rig, double t)
{
    const Affine3 motion =
        world_transforms(rig.skeleton, pose_at(rig.skeleton, rig.clips[0], t))[1] * rig.bones[1].inverse_bind;
    const int elbow = body.model().prepared->find("elbow");
    const RigidPose& frame = body.bone(elbow).state().frame;
    const Vec3& centre = body.model().bones[static_cast<std::size_t>(elbow)].tensors.centre;
    EXPECT_LT((frame.translation - motion * centre).norm(), 1e-9) << t;
    EXPECT_LT((frame.rotation.toRotationMatrix() - motion.linear()).norm(), 1e-9) << t;
}

TEST_F(CharacterScenes, AClipLeadsOneBoneAndTheOtherTrails)
{
    PreparedScene scene = prepared(arm + "play = {bones = [\"elbow\"], clip = \"wave\"}\n");
    const ArticulatedBody& body = character(scene.world);
    const Character rig = read_character(folder_ / "arm.glb"); // of floats
    const int shoulder = body.model().prepared->find("shoulder");
    double turned = 0.0, gap = 0.0;
    for (int k = 1; k < 60; ++k) {
        ASSERT_TRUE(scene.world.step(1.0 / 60.0).done);
        expect_waving(body, rig, k / 60.0);
        for (const InnerJoint& joint : body.inner_joints())
            gap = std::max(gap, (body.motion(joint.a).position - body.motion(joint.b).position).norm());
        turned =
            std::max(turned, body.bone(shoulder).state().frame.rotation.angularDistance(Quat::Identity()));
    }
    EXPECT_LT(gap, 1e-7); // the arm is 1 m long
    EXPECT_GT(turned, 0.3);
}

/// A model brings no skeleton: its rig does.
TEST_F(CharacterScenes, AClipLeadsAPreparedModelToo)
{
    std::vector<std::string> notes;
    Progress progress;
    write_bone_model(folder_ / "arm.lithe",
                     prepare_bones(make_arm(),
                                   {.modes = 4, .proxy_vertices = 60, .tets = {.count = 1500}, .young = 3e5},
                                   progress, notes));
    const std::string model = "[[body]]\nmodel = \"arm.lithe\"\n";
    PreparedScene scene = prepared(
        model + "play = {rig = \"arm.glb\", bones = [\"elbow\"], start = 0.25, speed = 2, loop = false}\n");
    const Character rig = read_character(folder_ / "arm.glb");
    for (int k = 1; k < 30; ++k) {
        ASSERT_TRUE(scene.world.step(1.0 / 60.0).done);
        expect_waving(character(scene.world), rig, std::min(0.25 + k / 30.0, 1.0));
    }
    EXPECT_EQ(message_of([&] { (void)prepared(model + "play = {bones = [\"elbow\"]}\n"); }),
              (folder_ / "scene.toml").string() + ":3:1: play needs the rig that the model was made from");
}

TEST_F(CharacterScenes, PlayRefusesBonesAndClipsThatAreNotThere)
{
    const auto message = [&](const std::string& play) {
        const std::string text = message_of([&] { (void)prepared(arm + "play = {" + play + "}\n"); });
        return text.substr(text.find("scene.toml"));
    };
    EXPECT_EQ(message("bones = [\"elbo\"]"),
              "scene.toml:6:8: there is no bone 'elbo'; did you mean 'elbow'?");
    EXPECT_NE(message("bones = [\"elbow\"], clip = \"run\"").find("run"), std::string::npos);
    EXPECT_NE(message("bones = [\"elbow\", \"elbow\"]").find("bone 'elbow' is led twice"), std::string::npos);
}

TEST_F(CharacterScenes, ForcesAndWindPushTheWhole)
{
    const std::string still = "[world]\ngravity = [0, 0, 0]\n";
    PreparedScene pushed =
        prepared(still + arm + "[[body.load]]\nforce = [0, 0, 30]\nbox = [[-1, 0.2, -1], [1, 1, 1]]\n");
    PreparedScene blown = prepared(still + arm + "[[body.load]]\nwind = [10, 0, 0]\n");
    for (int k = 0; k < 30; ++k) {
        ASSERT_TRUE(pushed.world.step(1.0 / 60.0).done);
        ASSERT_TRUE(blown.world.step(1.0 / 60.0).done);
    }
    const Mechanics force = pushed.world.mechanics(), wind = blown.world.mechanics();
    EXPECT_LT((force.linear_momentum - Vec3(0, 0, 15)).norm(), 1e-9);
    EXPECT_GT(force.angular_momentum[0], 1.0); // it is pushed at one end
    EXPECT_GT(wind.linear_momentum[0], 1.0);
    EXPECT_LT(std::abs(wind.linear_momentum[1]) + std::abs(wind.linear_momentum[2]),
              0.1 * wind.linear_momentum[0]);
}

/// How far the prong on the left, at +x, comes to the other side.
double crossing(World& world)
{
    Body& body = world.body(*world.find("body"));
    const Points& rest = character(world).model().prepared->collision.rest.vertices;
    const Points& x = body.sweep()->start;
    double farthest = 0.0;
    for (Index v = 0; v < rest.cols(); ++v)
        if (rest(1, v) > 0.1) farthest = std::max(farthest, rest(0, v) > 0.0 ? -x(0, v) : x(0, v));
    return farthest;
}

/// Two limbs of one character that forces press together.
TEST_F(CharacterScenes, LimbsDoNotPassThroughEachOther)
{
    const auto run = [&](const char* self_contact) {
        PreparedScene scene = prepared(
            fmt::format("[world]\ngravity = [0, 0, 0]\n[[body]]\nshape = \"fork.shape\"\ntets = "
                        "3000\nmaterial = {{young = 4e4}}\n"
                        "bones = {{modes = 8, proxy = 300}}\nled = [{{bone = \"base\"}}]\nself_contact = {}\n"
                        "[[body.load]]\nforce = [-8, 0, 0]\nbox = [[0.01, 0.25, -1], [1, 1, 1]]\nfactor = "
                        "[[0, 0], [0.5, 1]]\n"
                        "[[body.load]]\nforce = [8, 0, 0]\nbox = [[-1, 0.25, -1], [-0.01, 1, 1]]\nfactor = "
                        "[[0, 0], [0.5, 1]]\n",
                        self_contact));
        double farthest = 0.0;
        for (int k = 0; k < 120; ++k) {
            EXPECT_TRUE(scene.world.step(1.0 / 60.0).done);
            farthest = std::max(farthest, crossing(scene.world));
        }
        return farthest;
    };
    EXPECT_GT(run("false"), 0.05); // by the width of half a prong at least
    EXPECT_LT(run("true"), 0.005);
}

} // namespace
} // namespace lithe
