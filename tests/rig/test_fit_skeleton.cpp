#include "lithe/rig/fit_skeleton.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using enum SkeletonTemplate;

TriangleMesh shape(const std::string& name, std::optional<double> cell = {})
{
    Progress progress;
    return make_shape(name, cell, progress);
}

FittedSkeleton fitted(const TriangleMesh& body, const FitOptions& options)
{
    Progress progress;
    return fit_skeleton(body, options, progress);
}

Vec3 place(const Skeleton& skeleton, const std::string& name)
{
    const int joint = skeleton.find(name);
    EXPECT_GE(joint, 0) << name;
    Vec3 x = Vec3::Zero();
    for (int j = joint; j >= 0; j = skeleton.joints[static_cast<std::size_t>(j)].parent)
        x += skeleton.joints[static_cast<std::size_t>(j)].rest.translation;
    return x;
}

Vec3 shape_joint(const std::string& model, const std::string& name)
{
    const std::optional<ShapeModel> found = find_shape_model(model);
    for (const ShapeJoint& joint : found->joints)
        if (joint.name == name) return joint.position;
    ADD_FAILURE() << name;
    return Vec3::Zero();
}

/// Every joint lies inside, as deep as reported, and comes after its parent.
void expect_inside(const FittedSkeleton& fit, const TriangleMesh& body)
{
    const SurfaceQuery query(body);
    const double size = bounds(body.vertices).sizes().maxCoeff();
    ASSERT_EQ(fit.depth.size(), fit.skeleton.joint_count());
    for (int j = 0; j < fit.skeleton.joint_count(); ++j) {
        const Joint& joint = fit.skeleton.joints[static_cast<std::size_t>(j)];
        EXPECT_LT(joint.parent, j);
        EXPECT_GT(fit.depth[j], 0.0) << joint.name;
        EXPECT_NEAR(-query.signed_distance(place(fit.skeleton, joint.name)), fit.depth[j], 1e-5 * size)
            << joint.name;
    }
}

struct Match {
    std::string joint, of_shape;
};

void expect_near_shape(const Skeleton& skeleton, const std::string& model, const std::vector<Match>& matches,
                       double tolerance)
{
    for (const auto& [joint, of_shape] : matches)
        EXPECT_LT((place(skeleton, joint) - shape_joint(model, of_shape)).norm(), tolerance) << joint;
}

} // namespace

TEST(FitSkeleton, ABipedGetsTheJointsOfTheShapeItWasMadeOf)
{
    const TriangleMesh body = shape("biped");
    const FittedSkeleton fit = fitted(body, {.kind = Biped});
    expect_inside(fit, body);
    EXPECT_EQ(fit.skeleton.joint_count(), 22);
    std::vector<Match> matches = {
        {"pelvis", "hips"}, {"spine", "spine"}, {"chest", "chest"}, {"neck", "neck"}};
    for (const std::string s : {"_l", "_r"})
        for (const Match& m : {Match{"shoulder", "upper_arm"},
                               {"elbow", "forearm"},
                               {"wrist", "hand"},
                               {"hip", "thigh"},
                               {"knee", "shin"},
                               {"ankle", "foot"}})
            matches.push_back({m.joint + s, m.of_shape + s});
    expect_near_shape(fit.skeleton, "biped", matches, 0.075); // it is 1.7 m tall
    EXPECT_GT(place(fit.skeleton, "head_end")[1], 1.55);
    EXPECT_LT(place(fit.skeleton, "toe_l")[1], 0.06);
}

TEST(FitSkeleton, AQuadrupedGetsTheJointsOfTheShapeItWasMadeOf)
{
    const TriangleMesh body = shape("cow");
    const FittedSkeleton fit = fitted(body, {.kind = Quadruped});
    expect_inside(fit, body);
    std::vector<Match> matches = {
        {"pelvis", "hips"}, {"chest", "chest"}, {"neck", "neck"}, {"tail_2", "tail_2"}};
    for (const std::string s : {"_l", "_r"})
        for (const Match& m : {Match{"shoulder", "front_thigh"},
                               {"elbow", "front_shin"},
                               {"wrist", "front_foot"},
                               {"hip", "hind_thigh"},
                               {"knee", "hind_shin"},
                               {"ankle", "hind_foot"}})
            matches.push_back({m.joint + s, m.of_shape + s});
    expect_near_shape(fit.skeleton, "cow", matches, 0.17); // it is 1.4 m tall and 1.6 m long
    EXPECT_GT(place(fit.skeleton, "head_end")[2], 0.7);
    EXPECT_EQ(fit.notes.back(), "the body faces +z");
}

TEST(FitSkeleton, AQuadrupedMayFaceAnywhere)
{
    const TriangleMesh body = shape("cow", 0.06);
    const FittedSkeleton ahead = fitted(body, {.kind = Quadruped, .cell = 0.025});
    const Mat3 turn = Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitY()).toRotationMatrix(); // +z to +x
    TriangleMesh turned = body;
    turned.vertices = turn * body.vertices;
    const FittedSkeleton aside = fitted(turned, {.kind = Quadruped, .cell = 0.025});
    EXPECT_EQ(aside.notes.back(), "the body faces +x");
    for (const std::string name : {"shoulder_l", "shoulder_r", "hip_l", "hip_r", "chest", "head_end"})
        EXPECT_LT((turn * place(ahead.skeleton, name) - place(aside.skeleton, name)).norm(), 0.06) << name;
}

TEST(FitSkeleton, AChainHasEqualShares)
{
    const TriangleMesh rod = shape("capsule:radius=0.1,length=1.8"); // along y, 2 m in all
    const FittedSkeleton fit = fitted(rod, {.kind = Chain, .chain_joints = 5});
    expect_inside(fit, rod);
    ASSERT_EQ(fit.skeleton.joint_count(), 5);
    for (int i = 0; i < 5; ++i) {
        const Vec3 x = place(fit.skeleton, "joint_" + std::to_string(i + 1));
        EXPECT_NEAR(x[1], -1.0 + 0.5 * i, 0.06); // from the lower end
        EXPECT_LT(std::hypot(x[0], x[2]), i == 0 || i == 4 ? 0.08 : 0.03);
    }
}

TEST(FitSkeleton, TheSameBodyAlwaysGetsTheSameJointsInAnyUnit)
{
    const TriangleMesh body = shape("biped", 0.05);
    TriangleMesh centimetres = body;
    centimetres.vertices *= 100.0;
    const FittedSkeleton a = fitted(body, {.kind = Biped}), b = fitted(centimetres, {.kind = Biped});
    ASSERT_EQ(a.skeleton.joint_count(), b.skeleton.joint_count());
    for (const Joint& joint : a.skeleton.joints)
        EXPECT_LT((100.0 * place(a.skeleton, joint.name) - place(b.skeleton, joint.name)).norm(), 1e-9);
    EXPECT_LT((100.0 * a.depth - b.depth).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(FitSkeleton, TheDensityOfTheMeshMattersLittle)
{
    const FittedSkeleton coarse = fitted(shape("biped", 0.05), {.kind = Biped}),
                         fine = fitted(shape("biped", 0.02), {.kind = Biped});
    for (const std::string name :
         {"pelvis", "chest", "neck", "elbow_l", "wrist_r", "hip_l", "knee_r", "ankle_l"})
        EXPECT_LT((place(coarse.skeleton, name) - place(fine.skeleton, name)).norm(), 0.05) << name;
}

TEST(FitSkeleton, WhatHasNotTheLimbsIsRefused)
{
    EXPECT_EQ(test::message_of([] { (void)fitted(shape("sphere", 0.1), {.kind = Biped, .cell = 0.03}); }),
              "the body has 0 limbs; a biped needs two arms, two legs and a head that stand out from it, "
              "upright (y up) "
              "and facing +z");
    EXPECT_EQ(test::message_of([] { (void)fitted(shape("sphere", 0.1), {.kind = Quadruped, .cell = 0.03}); }),
              "the body has 0 limbs, 0 of them below its middle; a quadruped needs four legs and a head that "
              "stand out "
              "from it, upright (y up)");
}

TEST(FitSkeleton, InputIsChecked)
{
    const TriangleMesh ball = shape("sphere", 0.1);
    EXPECT_EQ(test::message_of([&] { (void)fitted(ball, {.kind = Chain, .chain_joints = 1}); }),
              "chain_joints = 1 must be 2 to 100");
    EXPECT_EQ(test::message_of([&] { (void)fitted(ball, {.kind = Chain, .chain_joints = 101}); }),
              "chain_joints = 101 must be 2 to 100");
    EXPECT_EQ(test::message_of([&] { (void)fitted(ball, {.kind = Chain, .cell = -1.0}); }),
              "cell = -1 must be above 0 and finite");
    EXPECT_EQ(test::message_of([&] { (void)fitted(ball, {.kind = Chain, .cell = 1e-5}); }),
              "the cell is too fine for this body; use at least 1/158 of its longest side");
    EXPECT_EQ(test::message_of([] { (void)fitted({}, {.kind = Chain}); }), "the body has no surface");
    TriangleMesh open = ball;
    open.triangles.conservativeResize(3, open.triangle_count() - 1);
    EXPECT_EQ(test::message_of([&] { (void)fitted(open, {.kind = Chain}); }),
              "the body's surface is not closed: 3 of its edges have one triangle only; wrap it first");
}

TEST(FitSkeleton, AStopIsObeyed)
{
    std::stop_source stop;
    stop.request_stop();
    Progress progress([](const ProgressEvent&) {}, stop.get_token());
    const TriangleMesh ball = shape("sphere", 0.1);
    EXPECT_THROW((void)fit_skeleton(ball, {.kind = Chain}, progress), Interrupted);
}

TEST(FitSkeleton, APersonOfTheDataSet)
{
    LITHE_DATA_OR_SKIP(path, "meshes/human_man.obj");
    const TriangleMesh body = read_surface(path);
    const FittedSkeleton fit = fitted(body, {.kind = Biped});
    expect_inside(fit, body);
    const Box3 box = bounds(body.vertices);
    const double height = box.sizes()[1];
    const auto share = [&](const std::string& name) {
        return (place(fit.skeleton, name)[1] - box.min()[1]) / height;
    };
    EXPECT_NEAR(share("pelvis"), 0.50, 0.06); // people's hips are a little above half of their height
    EXPECT_NEAR(share("knee_l"), 0.27, 0.05);
    EXPECT_LT(share("ankle_r"), 0.08);
    EXPECT_NEAR(share("neck"), 0.85, 0.05);
    EXPECT_GT(place(fit.skeleton, "hand_l")[0], 0.4 * box.sizes()[0]); // arms held out
    EXPECT_LT(place(fit.skeleton, "hand_r")[0], -0.4 * box.sizes()[0]);
}

TEST(FitSkeleton, ARiggedPersonOfTheDataSet)
{
    LITHE_DATA_OR_SKIP(path, "rigs/cesium_man.obj");
    const TriangleMesh body = read_surface(path);
    const FittedSkeleton fit = fitted(body, {.kind = Biped});
    expect_inside(fit, body);
    // joints of the rig that comes with it; it is 1.5 m tall
    const auto distance = [&](const std::string& name, const Vec3& x) {
        return (place(fit.skeleton, name) - x).norm();
    };
    EXPECT_LT(distance("elbow_l", Vec3(0.3115, 0.9645, -0.016)), 0.1);
    EXPECT_LT(distance("wrist_l", Vec3(0.4545, 0.875, 0.0665)), 0.1);
    EXPECT_LT(distance("wrist_r", Vec3(-0.4445, 0.875, 0.0665)), 0.1);
    EXPECT_LT(distance("hip_l", Vec3(0.073, 0.614, 0.0237)), 0.1);
    EXPECT_LT(distance("knee_r", Vec3(-0.072, 0.352, 0.068)), 0.1);
    EXPECT_LT(distance("ankle_l", Vec3(0.0835, 0.0858, -0.0046)), 0.1);
    EXPECT_LT(distance("neck", Vec3(0.005, 1.138, 0.0065)), 0.1);
}

TEST(FitSkeleton, CowsOfTheDataSet)
{
    for (const auto& [name, facing] :
         {std::pair{"meshes/spot.obj", -1.0}, {"meshes/cow_rig_closed.obj", 1.0}}) {
        LITHE_DATA_OR_SKIP(path, name);
        const TriangleMesh body = read_surface(path);
        const FittedSkeleton fit =
            fitted(body, {.kind = Quadruped, .cell = bounds(body.vertices).sizes().maxCoeff() / 70.0});
        expect_inside(fit, body);
        EXPECT_EQ(fit.notes.back(), facing > 0.0 ? "the body faces +z" : "the body faces -z");
        EXPECT_GT(facing * (place(fit.skeleton, "head_end") - place(fit.skeleton, "pelvis"))[2], 0.0);
        EXPECT_GT(facing * place(fit.skeleton, "hip_l")[0], 0.0); // its left, not ours
        for (const std::string foot : {"front_foot_l", "front_foot_r", "hind_foot_l", "hind_foot_r"})
            EXPECT_LT(place(fit.skeleton, foot)[1],
                      bounds(body.vertices).min()[1] + 0.1 * bounds(body.vertices).sizes()[1]);
    }
}

TEST(FitSkeleton, AFishOfTheDataSet)
{
    LITHE_DATA_OR_SKIP(path, "meshes/blub_fish.obj");
    const TriangleMesh body = read_surface(path);
    const Box3 box = bounds(body.vertices);
    const FittedSkeleton fit = fitted(body, {.kind = Chain, .cell = box.sizes().maxCoeff() / 70.0});
    expect_inside(fit, body);
    Index longest = 0;
    box.sizes().maxCoeff(&longest);
    const double span = place(fit.skeleton, "joint_8")[longest] - place(fit.skeleton, "joint_1")[longest];
    EXPECT_GT(span, 0.85 * box.sizes()[longest]);
}

} // namespace lithe
