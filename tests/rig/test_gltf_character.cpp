#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/random.hpp"
#include "lithe/math/color.hpp"
#include "rig/gltf_builder.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr double single = 1e-6; ///< what files in single precision keep of lengths around one [m]
constexpr double right_angle = std::numbers::pi / 2;

void expect_near(const Points& a, const Points& b, double tolerance)
{
    ASSERT_EQ(a.cols(), b.cols());
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance) << a << "\n\nis not\n\n" << b;
}

std::vector<std::string> names_of(const Skeleton& skeleton)
{
    std::vector<std::string> names;
    for (const Joint& joint : skeleton.joints) names.push_back(joint.name);
    return names;
}

/// A triangle with a corner at the origin.
Points triangle_vertices()
{
    Points X(3, 3);
    X << 0, 1, 0, 0, 0, 1, 0, 0, 0;
    return X;
}

Vec3 normal_of(const TriangleMesh& mesh, Index triangle)
{
    const Vec3 a = mesh.vertices.col(mesh.triangles(0, triangle));
    const Vec3 b = mesh.vertices.col(mesh.triangles(1, triangle));
    const Vec3 c = mesh.vertices.col(mesh.triangles(2, triangle));
    return (b - a).cross(c - a).normalized();
}

} // namespace

// ---- nodes

TEST(GltfCharacter, nodes_of_the_default_scene_become_joints_depth_first)
{
    GltfDocument document;
    add(document, "nodes", {{"name", "tail"}});
    add(document, "nodes", {{"children", {3, 0}}, {"translation", {1, 2, 3}}});
    add(document, "nodes", {{"name", "other scene"}});
    add(document, "nodes", {{"name", "neck"}, {"children", {4}}});
    add(document, "nodes", {{"name", "head"}, {"scale", {1, 2, 1}}});
    add(document, "scenes", {{"nodes", {2}}});
    add(document, "scenes", {{"nodes", {1}}});
    document.edit()["scene"] = 1;
    const Character character = character_of(document);
    EXPECT_THAT(names_of(character.skeleton), ElementsAre("node 1", "neck", "head", "tail"));
    EXPECT_EQ(character.skeleton.joints[0].parent, -1);
    EXPECT_EQ(character.skeleton.joints[1].parent, 0);
    EXPECT_EQ(character.skeleton.joints[2].parent, 1);
    EXPECT_EQ(character.skeleton.joints[3].parent, 0);
    EXPECT_EQ(character.skeleton.joints[0].rest.translation, Vec3(1, 2, 3));
    EXPECT_EQ(character.skeleton.joints[2].rest.scale, Vec3(1, 2, 1));
    EXPECT_THAT(joint_of_node(*character.source), ElementsAre(3, 0, -1, 1, 2));
    EXPECT_EQ(character.surface.vertex_count(), 0);
    EXPECT_TRUE(character.bones.empty());

    document.edit().erase("scene");
    EXPECT_THAT(names_of(character_of(document).skeleton), ElementsAre("other scene"));
    document.edit().erase("scenes");
    EXPECT_THAT(names_of(character_of(document).skeleton),
                ElementsAre("node 1", "neck", "head", "tail", "other scene"));
}

TEST(GltfCharacter, matrices_become_translation_rotation_and_scale)
{
    const JointTransform parts{Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 2).normalized())),
                               Vec3(2, 0.5, 3)};
    Mat4 matrix = Mat4::Identity();
    matrix.topRows<3>() = parts.matrix().matrix();
    GltfDocument document;
    add(document, "nodes", {{"matrix", std::vector<double>(matrix.data(), matrix.data() + 16)}});
    Character character = character_of(document);
    const JointTransform rest = character.skeleton.joints[0].rest;
    EXPECT_TRUE(rest.matrix().matrix().isApprox(parts.matrix().matrix(), 1e-12));
    EXPECT_TRUE(rest.scale.isApprox(parts.scale, 1e-12));
    EXPECT_THAT(character.notes, IsEmpty());

    matrix(0, 1) += 0.1; // shear
    document.edit()["nodes"][0]["matrix"] = std::vector<double>(matrix.data(), matrix.data() + 16);
    character = character_of(document);
    EXPECT_THAT(character.notes, ElementsAre(HasSubstr("the matrix of node 'node 0' is sheared")));
}

// ---- skins

TEST(GltfCharacter, rest_pose_gives_the_rest_surface_to_the_last_digits)
{
    const Character character = character_of(strip_document());
    expect_near(character.surface.vertices, strip_vertices(), 0.0);
    expect_near(posed(character, rest_pose(character.skeleton)), strip_vertices(), 1e-15);
    EXPECT_EQ(character.surface.triangle_count(), 8);
    EXPECT_EQ(character.surface.triangles.col(1), Eigen::Vector3i(1, 2, 3));
    EXPECT_THAT(character.notes, IsEmpty());
    ASSERT_EQ(character.parts.size(), 1u);
    EXPECT_TRUE(character.parts[0].skinned);
    EXPECT_EQ(character.parts[0].name, "skin");
    EXPECT_EQ(character.skeleton.joints[character.parts[0].joint].name, "skin");
    EXPECT_EQ(character.weights.slots(), 2);
    EXPECT_EQ(character.weights.weights.col(4), VecX::Constant(2, 0.5));
    EXPECT_EQ(character.weights.bones(0, 9), 1) << "the heaviest comes first";
    EXPECT_TRUE(character.surface.fields.empty()) << "nothing has a colour";
}

TEST(GltfCharacter, a_turned_joint_turns_what_follows_it)
{
    GltfDocument document = strip_document();
    add_bend(document);
    const Character character = character_of(document);
    ASSERT_EQ(character.clips.size(), 1u);
    EXPECT_EQ(character.clips[0].name, "clip 0");
    for (const double t : {0.0, 0.25, 0.5, 1.0})
        expect_near(posed_at(character, character.clips[0], t), bent_strip(t * right_angle), single);
}

TEST(GltfCharacter, a_scaled_armature_changes_nothing)
{
    GltfDocument document = strip_document({.armature_scale = 100.0});
    add_bend(document);
    const Character character = character_of(document);
    expect_near(character.surface.vertices, strip_vertices(), single);
    expect_near(posed(character, rest_pose(character.skeleton)), strip_vertices(), single);
    expect_near(posed_at(character, character.clips[0], 1.0), bent_strip(right_angle), single);
    EXPECT_THAT(character.notes, IsEmpty());
}

TEST(GltfCharacter, scale_and_up_axis_of_the_reader_place_everything)
{
    GltfDocument document = strip_document();
    add_bend(document);
    const Character character = character_of(document, {.scale = 0.5, .up = UpAxis::Z});
    const auto placed = [](const Points& X) {
        Points x(3, X.cols());
        for (Index v = 0; v < X.cols(); ++v) x.col(v) = 0.5 * Vec3(X(0, v), X(2, v), -X(1, v));
        return x;
    };
    expect_near(character.surface.vertices, placed(strip_vertices()), 1e-15);
    expect_near(posed_at(character, character.clips[0], 1.0), placed(bent_strip(right_angle)), single);
    EXPECT_EQ(message_of([&] { character_of(document, {.scale = 0.0}); }),
              "scale = 0 must be above 0 and finite");
}

TEST(GltfCharacter, the_node_of_a_skinned_mesh_does_not_move_it)
{
    GltfDocument document = strip_document();
    document.edit()["nodes"][3]["translation"] = {7, 7, 7};
    expect_near(character_of(document).surface.vertices, strip_vertices(), 0.0);
}

TEST(GltfCharacter, a_rest_pose_other_than_the_bind_pose_is_noted)
{
    // The file stores the skin bent: its elbow is turned at rest, and its root is moved.
    GltfDocument document = strip_document();
    const double half = std::sqrt(0.5);
    document.edit()["nodes"][2]["rotation"] = {0.0, 0.0, half, half};
    document.edit()["nodes"][1]["translation"] = {0.0, 3.0, 0.0};
    const Character character = character_of(document);
    const Points up = Vec3(0, 3, 0).replicate(1, 10);
    expect_near(character.surface.vertices, strip_vertices() + up, single);
    expect_near(posed(character, rest_pose(character.skeleton)), bent_strip(right_angle) + up, single);
    EXPECT_THAT(character.notes, ElementsAre(HasSubstr("the pose at rest differs from the one in which the "
                                                       "skin was bound")));
}

TEST(GltfCharacter, weights_are_normalised_and_sorted_and_none_is_noted)
{
    GltfDocument document = strip_document();
    Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> joints(4, 10);
    Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(4, 10);
    joints.colwise() = Eigen::Matrix<std::uint16_t, 4, 1>(0, 1, 1, 0);
    weights.colwise() = Eigen::Vector4f(1, 2, 1, 0); // the elbow is there twice
    weights.col(3).setZero();
    Json& attributes = document.edit()["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = document.add_joints(joints);
    attributes["WEIGHTS_0"] = document.add_accessor(weights, 34962);
    const Character character = character_of(document);
    EXPECT_EQ(character.weights.slots(), 2);
    EXPECT_EQ(character.weights.weights.col(0), Vec2(0.75, 0.25));
    EXPECT_EQ(character.weights.bones.col(0), Eigen::Vector2i(1, 0));
    EXPECT_EQ(character.weights.weights.col(3), Vec2(1.0, 0.0));
    EXPECT_EQ(character.weights.bones.col(3), Eigen::Vector2i(0, 0));
    EXPECT_THAT(character.notes, ElementsAre("1 vertices of skinned meshes have no weights; they follow the "
                                             "first joint of their skin"));
}

TEST(GltfCharacter, of_more_than_eight_influences_the_heaviest_are_kept)
{
    // A triangle that follows twelve joints by weights 1, 2, ... 12, in three sets of four.
    GltfDocument document;
    Json attributes = Json::object();
    std::vector<int> nodes;
    for (int set = 0; set < 3; ++set) {
        Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> joints(4, 3);
        Eigen::MatrixXf weights(4, 3);
        for (int s = 0; s < 4; ++s) {
            nodes.push_back(add(document, "nodes", {{"name", std::to_string(4 * set + s)}}));
            joints.row(s).setConstant(static_cast<std::uint16_t>(4 * set + s));
            weights.row(s).setConstant(static_cast<float>(4 * set + s + 1));
        }
        attributes["JOINTS_" + std::to_string(set)] = document.add_joints(joints);
        attributes["WEIGHTS_" + std::to_string(set)] = document.add_accessor(weights, 34962);
    }
    add_mesh(document, triangle_vertices(), {0, 1, 2}, attributes);
    add(document, "skins", {{"joints", nodes}});
    add(document, "nodes", {{"mesh", 0}, {"skin", 0}});
    const Character character = character_of(document);
    EXPECT_EQ(character.bones.size(), 12u);
    ASSERT_EQ(character.weights.slots(), 8);
    const double kept = 12 + 11 + 10 + 9 + 8 + 7 + 6 + 5;
    for (int s = 0; s < 8; ++s) {
        EXPECT_EQ(character.weights.bones(s, 0), 11 - s);
        EXPECT_DOUBLE_EQ(character.weights.weights(s, 0), (12 - s) / kept);
    }
    EXPECT_THAT(character.notes, ElementsAre("3 vertices follow more than 8 bones; the heaviest 8 are kept"));
}

TEST(GltfCharacter, skins_share_the_bones_that_are_equal)
{
    GltfDocument document = strip_document();
    document.edit()["skins"].push_back(Json(document.json()["skins"][0]));
    add(document, "nodes", {{"mesh", 0}, {"skin", 1}});
    document.edit()["scenes"][0]["nodes"].push_back(4);
    EXPECT_EQ(character_of(document).bones.size(), 2u);

    // The same joints, bound elsewhere: other bones, and each copy is right in its own way.
    Affine3 moved = Affine3::Identity();
    moved.translation() = Vec3(0, 5, 0);
    document.edit()["skins"][1] = {{"joints", {1, 2}},
                                   {"inverseBindMatrices", add_matrices(document, {moved, moved})}};
    const Character character = character_of(document);
    EXPECT_EQ(character.bones.size(), 3u) << "the surface lies where its root carries it: the root is shared";
    const Points x = posed(character, rest_pose(character.skeleton));
    expect_near(x.leftCols(10), strip_vertices(), single);
    for (Index v = 0; v < 10; ++v) {
        const double elbow = v / 2 < 2 ? 0.0 : v / 2 > 2 ? 1.0 : 0.5; // which carries it by one along x
        EXPECT_TRUE(x.col(10 + v).isApprox(strip_vertices().col(v) + Vec3(elbow, 5, 0), single));
    }
}

TEST(GltfCharacter, joints_outside_of_the_scene_still_move_the_skin)
{
    GltfDocument document = strip_document();
    add_bend(document);
    document.edit()["scenes"][0]["nodes"] = {3};
    const Character character = character_of(document);
    EXPECT_THAT(names_of(character.skeleton), ElementsAre("skin", "armature", "root", "elbow"));
    expect_near(posed_at(character, character.clips[0], 1.0), bent_strip(right_angle), single);
    EXPECT_THAT(character.notes, ElementsAre(HasSubstr("1 trees of joints are in no scene")));
}

// ---- meshes without a skin

TEST(GltfCharacter, a_hat_follows_the_joint_it_hangs_on)
{
    // The hat hangs on the elbow; at rest the elbow is turned, in the bind pose it is not.
    GltfDocument document = strip_document();
    add_bend(document);
    const double half = std::sqrt(0.5);
    document.edit()["nodes"][2]["rotation"] = {0.0, 0.0, half, half};
    const int mesh = add_mesh(document, triangle_vertices(), {0, 1, 2});
    document.edit()["nodes"][2]["children"] = {
        add(document, "nodes", {{"name", "hat"}, {"mesh", mesh}, {"translation", {0.5, 0, 0}}})};
    const Character character = character_of(document);
    ASSERT_EQ(character.parts.size(), 2u);
    const SurfacePart& hat = character.parts[character.parts[0].skinned ? 1 : 0];
    EXPECT_FALSE(hat.skinned);
    EXPECT_EQ(character.skeleton.joints[hat.joint].name, "hat");
    const auto of_hat = [&](const Points& x) {
        return Points(x.middleCols(hat.first_vertex, hat.vertex_count));
    };
    const Points X = triangle_vertices();
    expect_near(of_hat(character.surface.vertices), X.colwise() + Vec3(1.5, 0, 0), single);
    // Turned by t right angles about the elbow at x = 1.
    for (const double t : {0.0, 0.3, 1.0}) {
        const Eigen::AngleAxisd turn(t * right_angle, Vec3::UnitZ());
        Points x = X.colwise() + Vec3(0.5, 0, 0);
        x = (turn.toRotationMatrix() * x).colwise() + Vec3(1, 0, 0);
        expect_near(of_hat(posed_at(character, character.clips[0], t)), x, single);
    }
}

TEST(GltfCharacter, a_mesh_is_there_as_often_as_nodes_use_it)
{
    GltfDocument document;
    add_mesh(document, triangle_vertices(), {0, 1, 2});
    add(document, "nodes", {{"mesh", 0}});
    add(document, "nodes", {{"mesh", 0}, {"translation", {0, 0, 4}}, {"scale", {-1, 1, 1}}});
    add(document, "nodes", {{"mesh", 0}, {"scale", {0, 0, 0}}});
    const Character character = character_of(document);
    EXPECT_EQ(character.surface.vertex_count(), 9);
    ASSERT_EQ(character.bones.size(), 3u);
    EXPECT_EQ(character.surface.vertices.col(4), Vec3(-1, 0, 4));
    EXPECT_EQ(normal_of(character.surface, 0), Vec3::UnitZ());
    EXPECT_EQ(normal_of(character.surface, 1), Vec3::UnitZ()) << "mirrored, but not inside out";
    const Points x = posed(character, rest_pose(character.skeleton));
    expect_near(x.leftCols(6), character.surface.vertices.leftCols(6), 1e-15);
    expect_near(x.rightCols(3), Points::Zero(3, 3), 0.0); // hidden by its scale
    expect_near(character.surface.vertices.rightCols(3), triangle_vertices(), 0.0);
}

TEST(GltfCharacter, strips_and_fans_become_triangles_and_lines_are_left_out)
{
    Points X(3, 5);
    X << 0, 1, 0, 1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0;
    GltfDocument document;
    const auto primitive = [&](int mode, const std::vector<std::uint32_t>& corners) {
        return Json{{"attributes", {{"POSITION", add_points(document, X)}}},
                    {"mode", mode},
                    {"indices", document.add_indices(corners)}};
    };
    add(document, "meshes",
        {{"name", "all"},
         {"primitives",
          {primitive(5, {0, 1, 2, 3, 3, 4}), primitive(6, {0, 1, 3, 2}), primitive(1, {0, 1})}}});
    add(document, "nodes", {{"mesh", 0}});
    const Character character = character_of(document);
    ASSERT_EQ(character.parts.size(), 2u);
    EXPECT_EQ(character.parts[1].name, "all/1");
    EXPECT_EQ(character.parts[1].first_vertex, 5);
    EXPECT_EQ(character.parts[1].first_triangle, 2);
    Triangles expected(3, 4);
    expected.col(0) << 0, 1, 2;
    expected.col(1) << 1, 3, 2;
    expected.col(2) << 5, 6, 8;
    expected.col(3) << 5, 8, 7;
    EXPECT_EQ(character.surface.triangles, expected);
    for (Index t = 0; t < 4; ++t) EXPECT_EQ(normal_of(character.surface, t), Vec3::UnitZ());
    EXPECT_THAT(character.notes, ElementsAre("1 primitives of points or lines are left out"));
}

// ---- morph targets

TEST(GltfCharacter, morph_targets_are_displacements_in_the_world)
{
    GltfDocument document = strip_document({.armature_scale = 4.0});
    const Points lift = Vec3(0, 0, 0.5).replicate(1, 10), stretch = 0.25 * strip_vertices();
    Json& primitive = document.edit()["meshes"][0]["primitives"][0];
    primitive["targets"] = Json::array({{{"POSITION", add_points(document, lift)}},
                                        Json::object(),
                                        {{"POSITION", add_points(document, stretch)}}});
    document.edit()["meshes"][0]["weights"] = {0.0, 0.5, 0.25};
    // The skin's meshes are twice as large as what the root makes of them.
    Affine3 root = Affine3::Identity(), elbow = Affine3::Identity();
    root.linear() /= 8.0;
    elbow.linear() /= 8.0;
    elbow.translation() = Vec3(-0.25, 0, 0);
    document.edit()["skins"][0]["inverseBindMatrices"] = add_matrices(document, {root, elbow});
    Character character = character_of(document, {.up = UpAxis::Z});
    const SurfacePart& part = character.parts[0];
    ASSERT_EQ(part.morphs.size(), 3u);
    EXPECT_TRUE(part.morphs[0].isApprox(Vec3(0, 0.25, 0).replicate(1, 10), single));
    EXPECT_TRUE(part.morphs[1].isZero(0.0));
    EXPECT_TRUE(part.morphs[2].isApprox(0.25 * character.surface.vertices, single));
    EXPECT_EQ(part.morph_rest, Vec3(0, 0.5, 0.25));

    document.edit()["nodes"][3]["weights"] = {1.0, 0.0, 0.0};
    EXPECT_EQ(character_of(document).parts[0].morph_rest, Vec3(1, 0, 0)) << "the node's come first";
}

// ---- clips

TEST(GltfCharacter, clips_keep_the_interpolation_of_the_file)
{
    GltfDocument document = strip_document();
    Eigen::MatrixXf steps(3, 2), spline(3, 6);
    steps << 1, 2, 0, 0, 0, 0;
    spline.setZero();
    spline.row(0) << 0, 1, 2, 0, 3, -1; // values 1 and 3, slope 2 at the begin and 0 at the end
    add_animation(document, 1, "translation", {0.5f, 1.5f}, steps, "STEP");
    add_animation(document, 1, "scale", {0.5f, 1.5f}, spline, "CUBICSPLINE");
    document.edit()["animations"][1]["name"] = "grow";
    const Character character = character_of(document);
    ASSERT_EQ(character.clips.size(), 2u);
    const int root = character.skeleton.find("root");
    const auto root_at = [&](int clip, double t) {
        return pose_at(character.skeleton, character.clips[clip], t)[root];
    };
    EXPECT_EQ(root_at(0, 1.4).translation, Vec3(1, 0, 0));
    EXPECT_EQ(root_at(0, 1.5).translation, Vec3(2, 0, 0));
    EXPECT_EQ(character.clips[1].name, "grow");
    EXPECT_DOUBLE_EQ(root_at(1, 1.0).scale.x(), 0.5 * (1 + 3) + 0.125 * (2 - 0)); // Hermite's midpoint
    EXPECT_EQ(root_at(1, 2.0).scale, Vec3(3, 0, 0));
    EXPECT_EQ(character.clips[1].begin(), 0.5);
    EXPECT_EQ(character.clips[1].end(), 1.5);
}

TEST(GltfCharacter, rotations_in_normalised_integers_are_unit_quaternions)
{
    GltfDocument document = strip_document();
    add_bend(document);
    // The same turn in 16 bits: JOINTS has their size; a normalised signed accessor is made of it.
    const auto half = static_cast<std::uint16_t>(std::lround(32767 * std::sqrt(0.5)));
    Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> turns(4, 2);
    turns << 0, 0, 0, 0, 0, half, 32767, half;
    const int accessor = document.add_joints(turns);
    document.edit()["accessors"][accessor]["componentType"] = 5122;
    document.edit()["accessors"][accessor]["normalized"] = true;
    document.edit()["bufferViews"][document.json()["accessors"][accessor]["bufferView"].get<int>()].erase(
        "target");
    document.edit()["animations"][0]["samplers"][0]["output"] = accessor;
    const Character character = character_of(document);
    const Quat end = character.clips[0].joints[0].rotation->values[1];
    EXPECT_NEAR(end.norm(), 1.0, 1e-15);
    expect_near(posed_at(character, character.clips[0], 1.0), bent_strip(right_angle), 1e-4);
}

TEST(GltfCharacter, weights_of_morph_targets_move)
{
    GltfDocument document = strip_document();
    Json& primitive = document.edit()["meshes"][0]["primitives"][0];
    const int lift = add_points(document, Vec3(0, 0, 1).replicate(1, 10));
    primitive["targets"] = Json::array({{{"POSITION", lift}}, {{"POSITION", lift}}});
    add_animation(document, 3, "weights", {0.0f, 2.0f}, Eigen::RowVector4f(0, 1, 2, 3));
    const Character character = character_of(document);
    ASSERT_EQ(character.clips[0].morphs.size(), 1u);
    EXPECT_EQ(character.clips[0].morphs[0].joint, character.parts[0].joint);
    EXPECT_EQ(character.clips[0].morphs[0].weights.at(1.0), Vec2(1, 2));
    EXPECT_TRUE(character.clips[0].joints.empty());
    const Points X = morphed_surface(character, &character.clips[0], 1.0);
    expect_near(X, strip_vertices() + Points(Vec3(0, 0, 3).replicate(1, 10)), single);
}

TEST(GltfCharacter, channels_that_move_no_joint_are_noted)
{
    GltfDocument document = strip_document();
    add_bend(document);
    Json& channels = document.edit()["animations"][0]["channels"];
    channels.push_back({{"sampler", 0}, {"target", {{"path", "rotation"}}}});
    channels.push_back({{"sampler", 0},
                        {"target",
                         {{"path", "pointer"},
                          {"extensions", {{"KHR_animation_pointer", {{"pointer", "/materials/0"}}}}}}}});
    document.edit()["extensionsUsed"] = {"KHR_animation_pointer"};
    const Character character = character_of(document);
    EXPECT_THAT(
        character.notes,
        ElementsAre("clip 'clip 0': 1 channel skipped: they name no node",
                    "clip 'clip 0': 1 channel skipped: what they animate ('pointer') is not part of a "
                    "pose"));
    EXPECT_EQ(character.clips[0].joints.size(), 1u);
}

// ---- colours

namespace {

/// 2 x 2 texels: red, green; blue, grey of 128.
const char* four_texels =
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR42mP4z8DAAMIM/xsaGgAc9AR+nXGM"
    "PQAAAABJRU5ErkJggg==";

/// A triangle whose corners take their colour at these texture coordinates.
GltfDocument textured_triangle(const Eigen::Matrix<float, 2, 3>& uv)
{
    GltfDocument document;
    const int accessor = document.add_accessor(uv, 34962);
    add_mesh(document, triangle_vertices(), {0, 1, 2}, {{"TEXCOORD_0", accessor}});
    add(document, "nodes", {{"mesh", 0}});
    add(document, "images", {{"uri", four_texels}});
    add(document, "samplers", {{"wrapS", 33071}, {"wrapT", 33648}});
    add(document, "textures", {{"source", 0}, {"sampler", 0}});
    add(document, "materials",
        {{"pbrMetallicRoughness", {{"baseColorTexture", {{"index", 0}, {"texCoord", 0}}}}}});
    document.edit()["meshes"][0]["primitives"][0]["material"] = 0;
    return document;
}

MatX colors_of(const GltfDocument& document)
{
    const Character character = character_of(document);
    const VertexField* color = find_color(character.surface.fields);
    return color ? color->values : MatX();
}

} // namespace

TEST(GltfColors, the_factor_of_a_material_is_linear_light)
{
    GltfDocument document = strip_document();
    add(document, "materials", {{"pbrMetallicRoughness", {{"baseColorFactor", {0.5, 0.0, 1.0, 1.0}}}}});
    document.edit()["meshes"][0]["primitives"][0]["material"] = 0;
    const Vec3 expected = srgb_from_linear(Vec3(0.5, 0.0, 1.0));
    EXPECT_NEAR(expected[0], 0.735, 1e-3);
    EXPECT_TRUE(colors_of(document).isApprox(expected.replicate(1, 10), 1e-12));

    document.edit()["materials"][0] = {
        {"extensions", {{"KHR_materials_pbrSpecularGlossiness", {{"diffuseFactor", {0.5, 0.0, 1.0, 1.0}}}}}}};
    EXPECT_TRUE(colors_of(document).isApprox(expected.replicate(1, 10), 1e-12)) << "the older way";

    document.edit()["materials"][0] = {{"name", "white"}};
    EXPECT_EQ(colors_of(document).size(), 0);
}

TEST(GltfColors, vertices_multiply_the_factor)
{
    GltfDocument document = strip_document();
    Eigen::MatrixXf colors = Eigen::MatrixXf::Ones(4, 10);
    colors.col(7) << 0.5f, 0.25f, 1.0f, 0.1f;
    document.edit()["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] =
        document.add_accessor(colors, 34962);
    add(document, "materials", {{"pbrMetallicRoughness", {{"baseColorFactor", {0.5, 1.0, 1.0, 1.0}}}}});
    document.edit()["meshes"][0]["primitives"][0]["material"] = 0;
    const MatX color = colors_of(document);
    EXPECT_TRUE(color.col(7).isApprox(srgb_from_linear(Vec3(0.25, 0.25, 1.0)), 1e-12));
    EXPECT_TRUE(color.col(0).isApprox(srgb_from_linear(Vec3(0.5, 1.0, 1.0)), 1e-12));
}

TEST(GltfColors, textures_are_taken_between_the_centres_of_texels)
{
    Eigen::Matrix<float, 2, 3> uv;
    uv << 0.25f, 0.5f, 0.75f, 0.25f, 0.25f, 0.75f;
    MatX color = colors_of(textured_triangle(uv));
    EXPECT_TRUE(color.col(0).isApprox(Vec3(1, 0, 0), 1e-12));
    EXPECT_TRUE(color.col(1).isApprox(srgb_from_linear(Vec3(0.5, 0.5, 0)), 1e-12));
    EXPECT_TRUE(color.col(2).isApprox(Vec3::Constant(128 / 255.0), 1e-12));

    // Beyond the borders: clamped to the side, mirrored above and below.
    uv << -3.0f, 9.0f, 0.25f, 0.25f, 0.25f, 1.25f;
    color = colors_of(textured_triangle(uv));
    EXPECT_TRUE(color.col(0).isApprox(Vec3(1, 0, 0), 1e-12));
    EXPECT_TRUE(color.col(1).isApprox(Vec3(0, 1, 0), 1e-12));
    EXPECT_TRUE(color.col(2).isApprox(Vec3(0, 0, 1), 1e-12)) << "mirrored at the lower border";

    GltfDocument repeating = textured_triangle(uv);
    repeating.edit()["samplers"][0] = Json::object();
    color = colors_of(repeating);
    EXPECT_TRUE(color.col(2).isApprox(Vec3(1, 0, 0), 1e-12));
}

TEST(GltfColors, texture_coordinates_are_scaled_turned_and_moved)
{
    // The example of the extension: the lower left quarter, turned.
    Eigen::Matrix<float, 2, 3> uv;
    uv << 0.5f, 0.0f, 0.0f, 0.5f, 0.0f, 0.0f;
    GltfDocument document = textured_triangle(uv);
    document.edit()["samplers"][0] = Json::object(); // repeats: the wrong turn leads to another texel
    document.edit()["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] = {
        {"KHR_texture_transform", {{"offset", {0, 1}}, {"rotation", right_angle}, {"scale", {0.5, 0.5}}}}};
    EXPECT_TRUE(colors_of(document).col(0).isApprox(Vec3(0, 0, 1), 1e-6));
}

TEST(GltfColors, an_image_that_is_cut_short_leaves_the_factor)
{
    GltfDocument document = textured_triangle(Eigen::Matrix<float, 2, 3>::Zero());
    document.edit()["images"][0]["uri"] =
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91Jpz";
    document.edit()["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = {0.0, 1.0, 0.0, 1.0};
    const Character character = character_of(document);
    EXPECT_THAT(character.notes, ElementsAre(HasSubstr("texture 0 is left out: it is damaged")));
    EXPECT_TRUE(character.surface.fields[0].values.col(0).isApprox(Vec3(0, 1, 0), 1e-12));
}

// ---- all together

TEST(GltfCharacter, meshes_that_nodes_multiply_beyond_measure_are_refused)
{
    GltfDocument document;
    add_mesh(document, Points::Random(3, 60000), {0, 1, 2});
    for (int i = 0; i < 400; ++i) add(document, "nodes", {{"mesh", 0}, {"translation", {i, 0, 0}}});
    EXPECT_THAT(message_of([&] { character_of(document); }),
                HasSubstr("as often as nodes use them, have more than 20000000 vertices"));
}

namespace {

/// All values of a JSON tree, as pointers to them.
void collect(const Json& json, const std::string& at, std::vector<std::string>& pointers)
{
    if (!at.empty()) pointers.push_back(at);
    if (json.is_object())
        for (const auto& [key, value] : json.items()) collect(value, at + "/" + key, pointers);
    if (json.is_array())
        for (std::size_t i = 0; i < json.size(); ++i)
            collect(json[i], at + "/" + std::to_string(i), pointers);
}

std::uint32_t word_at(const std::string& bytes, std::size_t at)
{
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
}

/// A .glb with other JSON: 12 bytes of header, 8 of the first chunk's, its text, and the rest.
std::string with_json(const std::string& glb, std::string text)
{
    const std::string rest = glb.substr(20 + word_at(glb, 12));
    text.resize((text.size() + 3) / 4 * 4, ' ');
    std::string bytes = glb.substr(0, 20) + text + rest;
    const auto size = static_cast<std::uint32_t>(bytes.size()),
               length = static_cast<std::uint32_t>(text.size());
    std::memcpy(bytes.data() + 8, &size, sizeof size);
    std::memcpy(bytes.data() + 12, &length, sizeof length);
    return bytes;
}

/// Something else in the place of a value, or the value of another place.
Json replacement(const Json& all, const std::vector<std::string>& pointers, Random& random)
{
    switch (random.index(6)) {
    case 0:
        return random.index(8);
    case 1:
        return random.normal();
    case 2:
        return "text";
    case 3:
        return Json::array();
    case 4:
        return Json::object();
    default:
        return all.at(Json::json_pointer(pointers[random.index(pointers.size())]));
    }
}

} // namespace

namespace {

/// Changes values of the document at random; counts the changed ones that are still accepted, all of which become
/// characters.
int accepted_changes(const GltfDocument& document, int trials, std::uint64_t seed)
{
    const std::string glb = document.to_glb();
    const Json whole = reread(document)->json();
    std::vector<std::string> pointers;
    collect(whole, "", pointers);
    int accepted = 0;
    Random random(seed);
    for (int trial = 0; trial < trials; ++trial) {
        Json changed = whole;
        for (std::uint64_t i = 0; i <= random.index(2); ++i) {
            const Json::json_pointer at(pointers[random.index(pointers.size())]);
            if (changed.contains(at)) changed[at] = replacement(whole, pointers, random);
        }
        std::shared_ptr<const GltfDocument> read;
        message_of([&] {
            read = std::make_shared<const GltfDocument>(
                GltfDocument::parse(with_json(glb, changed.dump()), "test.glb"));
        });
        if (!read) continue;
        ++accepted;
        EXPECT_EQ(message_of([&] { gltf_character(read); }), "nothing was thrown") << changed;
    }
    return accepted;
}

} // namespace

TEST(GltfCharacter, whatever_a_document_accepts_becomes_a_character)
{
    GltfDocument triangle = textured_triangle(Eigen::Matrix<float, 2, 3>::Constant(0.3f));
    Json& texture = triangle.edit()["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
    texture["extensions"] = {
        {"KHR_texture_transform", {{"offset", {0, 1}}, {"rotation", 1.0}, {"texCoord", 0}}}};
    triangle.edit()["materials"][0]["extensions"] = {
        {"KHR_materials_pbrSpecularGlossiness",
         {{"diffuseFactor", {1, 1, 1, 1}}, {"diffuseTexture", {{"index", 0}}}}}};
    EXPECT_GT(accepted_changes(triangle, 1000, 7), 100);

    GltfDocument strip = strip_document();
    add_bend(strip);
    EXPECT_GT(accepted_changes(strip, 1000, 8), 50);
}

// ---- the data set: the same characters, brought into plain text by another program

namespace {

/// A rig in plain text: X, w and, per frame and joint, M; x = sum_j w_j M_j [X; 1].
struct TextRig {
    Points X;
    MatX weights;                             ///< joints x vertices
    std::vector<std::vector<Affine3>> frames; ///< at 30 per second

    Points posed(std::size_t frame) const
    {
        Points x = Points::Zero(3, X.cols());
        for (Index j = 0; j < weights.rows(); ++j) x += (frames[frame][j] * X) * weights.row(j).asDiagonal();
        return x;
    }
};

std::ifstream opened(const std::filesystem::path& file)
{
    std::ifstream in(file);
    EXPECT_TRUE(in) << file;
    return in;
}

TextRig read_plain(const std::filesystem::path& stem, const std::string& clip)
{
    TextRig rig;
    std::string line, word;
    std::vector<Vec3> points;
    std::ifstream obj = opened(stem.string() + ".obj");
    while (std::getline(obj, line)) {
        std::istringstream words(line);
        Vec3 x;
        if (words >> word && word == "v" && words >> x[0] >> x[1] >> x[2]) points.push_back(x);
    }
    rig.X.resize(3, std::ssize(points));
    for (Index v = 0; v < rig.X.cols(); ++v) rig.X.col(v) = points[v];

    std::ifstream weights = opened(stem.string() + ".weights.txt");
    Index vertices = 0, joints = 0;
    std::getline(weights, line);
    weights >> word >> vertices >> word >> joints;
    EXPECT_EQ(vertices, rig.X.cols());
    rig.weights = MatX::Zero(joints, vertices);
    for (Index v = 0; v < vertices; ++v) {
        int count = 0;
        weights >> count;
        for (int i = 0; i < count; ++i) {
            Index j = 0;
            double w = 0.0;
            weights >> j >> w;
            rig.weights(j, v) = w;
        }
        rig.weights.col(v) /= rig.weights.col(v).sum();
    }

    std::ifstream anim = opened(stem.string() + "." + clip + ".anim.txt");
    std::size_t frames = 0;
    std::getline(anim, line);
    anim >> word >> word >> word >> frames >> word >> joints;
    rig.frames.resize(frames, std::vector<Affine3>(joints));
    for (auto& frame : rig.frames) {
        anim >> word >> word;
        for (Affine3& M : frame)
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 4; ++c) anim >> M.matrix()(r, c);
    }
    EXPECT_TRUE(anim);
    return rig;
}

/// The vertex of the text that each of ours is, by the place at rest; ours are brought to the size of the text first.
std::vector<Index> partners(const Points& X, const Points& text, double tolerance)
{
    std::vector<Index> partner;
    for (Index v = 0; v < X.cols(); ++v) {
        Index nearest = 0;
        const double distance = (text.colwise() - X.col(v)).colwise().norm().minCoeff(&nearest);
        EXPECT_LE(distance, tolerance) << "vertex " << v;
        partner.push_back(nearest);
    }
    return partner;
}

struct DataClip {
    const char *file, *text, *clip, *clip_in_file;
};

void PrintTo(const DataClip& clip, std::ostream* out)
{
    *out << clip.file << " " << clip.clip;
}

class GltfData : public testing::TestWithParam<DataClip> {};

} // namespace

TEST_P(GltfData, moves_as_the_plain_text_says)
{
    LITHE_DATA_OR_SKIP(file, std::string("rigs/") + GetParam().file);
    const Character character =
        gltf_character(std::make_shared<const GltfDocument>(GltfDocument::read(file)));
    const TextRig text = read_plain(file.parent_path() / GetParam().text, GetParam().clip);
    const Clip& clip = find_clip(character.clips, GetParam().clip_in_file);

    // The text is in the same axes, perhaps of another size.
    const Box3 ours = bounds(character.surface.vertices), theirs = bounds(text.X);
    const double scale = theirs.sizes().maxCoeff() / ours.sizes().maxCoeff();
    const double size = theirs.sizes().maxCoeff();
    const std::vector<Index> partner = partners(scale * character.surface.vertices, text.X, 1e-5 * size);

    double worst = 0.0;
    for (std::size_t k = 0; k < text.frames.size(); ++k) {
        const Points x = scale * posed_at(character, clip, static_cast<double>(k) / 30.0);
        const Points y = text.posed(k);
        for (Index v = 0; v < x.cols(); ++v)
            worst = std::max(worst, (x.col(v) - y.col(partner[v])).norm() / size);
    }
    // The text has five digits of each matrix and four decimals of each weight: an error of 5e-6 in each of four numbers
    // around one, and of 5e-5 of the distance between where two bones carry a vertex (below half the size).
    EXPECT_LE(worst, 4 * 5e-6 + 0.5 * 5e-5);
}

INSTANTIATE_TEST_SUITE_P(All, GltfData,
                         testing::Values(DataClip{"CesiumMan.glb", "cesium_man", "walk", "0"},
                                         DataClip{"RiggedFigure.glb", "rigged_figure", "default", "0"},
                                         DataClip{"Cow.glb", "cow", "gallop", "AnimalArmature|Gallop"},
                                         DataClip{"Cow.glb", "cow", "walk", "AnimalArmature|Walk"}));
