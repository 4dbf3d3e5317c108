#include "lithe/rig/bind.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/rig/rig_files.hpp"
#include "lithe/rig/tet_laplacian.hpp"
#include "support/data.hpp"
#include "support/meshes.hpp"
#include "support/message_of.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

Joint joint(int parent, const Vec3& offset)
{
    Joint out;
    out.parent = parent;
    out.rest.translation = offset;
    return out;
}

/// A box with its middle at the origin.
TetMesh box_tets(const Vec3& size, double cell)
{
    TetMesh mesh = make_box_tets(size, cell);
    mesh.vertices.colwise() -= bounds(mesh.vertices).center();
    return mesh;
}

/// Bones in a row along x, from `begin` on.
std::vector<BoneSegment> row_of_bones(int count, double begin, double length)
{
    std::vector<BoneSegment> out;
    for (int b = 0; b < count; ++b)
        out.push_back({b, {begin + b * length, 0.0, 0.0}, {begin + (b + 1) * length, 0.0, 0.0}});
    return out;
}

BoundWeights bound(const TetMesh& volume, const std::vector<BoneSegment>& segments, Index bones,
                   const BindOptions& options = {})
{
    Progress progress;
    return bind_volume(volume, segments, bones, options, progress);
}

double partition_error(const SkinWeights& weights)
{
    return (weights.weights.colwise().sum().array() - 1.0).abs().maxCoeff();
}

/// The weights of a bone, with its vertices sorted along x.
std::vector<std::pair<double, double>> along_x(const TetMesh& volume, const MatX& w, Index bone)
{
    std::vector<std::pair<double, double>> out;
    for (Index v = 0; v < volume.vertex_count(); ++v)
        if (volume.vertices.col(v).tail<2>().norm() < 1e-9)
            out.emplace_back(volume.vertices(0, v), w(bone, v));
    std::sort(out.begin(), out.end());
    return out;
}

TetMesh without_tets(TetMesh mesh, const auto& drop)
{
    Index kept = 0;
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        Vec3 middle = Vec3::Zero();
        for (int a = 0; a < 4; ++a) middle += 0.25 * mesh.vertices.col(mesh.tets(a, t));
        if (!drop(middle)) mesh.tets.col(kept++) = mesh.tets.col(t).eval();
    }
    mesh.tets.conservativeResize(4, kept);
    drop_unused_vertices(mesh);
    return mesh;
}

/// The share of bones whose weight is above 0.9 at the vertex that is nearest to the middle of (one of) their segments.
double share_of_held_bones(const TetMesh& volume, const std::vector<BoneSegment>& segments, const MatX& w)
{
    VecX best = VecX::Zero(w.rows());
    for (const BoneSegment& s : segments) {
        Index nearest = 0;
        (volume.vertices.colwise() - 0.5 * (s.a + s.b)).colwise().norm().minCoeff(&nearest);
        best[s.bone] = std::max(best[s.bone], w(s.bone, nearest));
    }
    return static_cast<double>((best.array() > 0.9).count()) / static_cast<double>(best.size());
}

} // namespace

TEST(Bind, SegmentsGoFromJointToChildAndLeavesContinue)
{
    Skeleton skeleton;
    skeleton.joints = {joint(-1, {0, 0, 0}), joint(0, {1, 0, 0}), joint(1, {0, 2, 0}), joint(0, {0, 0, 4})};
    skeleton.placement.translation() = Vec3(0, 0, 1);
    const std::vector<Bone> bones = rest_bones(skeleton);
    ASSERT_EQ(bones.size(), 4u);
    EXPECT_EQ(bones[2].joint, 2);
    EXPECT_LT((bones[2].inverse_bind * Vec3(1, 2, 1)).norm(), 1e-15); // its joint is its origin

    const std::vector<BoneSegment> s = bone_segments(skeleton, bones);
    ASSERT_EQ(s.size(), 5u);
    const auto expect = [&](std::size_t i, int bone, const Vec3& a, const Vec3& b) {
        EXPECT_EQ(s[i].bone, bone);
        EXPECT_LT((s[i].a - a).norm() + (s[i].b - b).norm(), 1e-14) << i;
    };
    expect(0, 0, {0, 0, 1}, {1, 0, 1}); // two children: two segments
    expect(1, 0, {0, 0, 1}, {0, 0, 5});
    expect(2, 1, {1, 0, 1}, {1, 2, 1});
    expect(3, 2, {1, 2, 1}, {1, 3, 1}); // leaves: half of their parents' length
    expect(4, 3, {0, 0, 5}, {0, 0, 7});
}

TEST(Bind, JointsWithoutLengthAreNoBones)
{
    Skeleton skeleton;
    skeleton.joints = {joint(-1, {0, 0, 0}), joint(0, {0, 0, 0}), joint(1, {1, 0, 0})};
    const std::vector<Bone> bones = rest_bones(skeleton);
    ASSERT_EQ(bones.size(), 2u); // the root moves only the frame that lies on it
    EXPECT_EQ(bones[0].joint, 1);
    EXPECT_EQ(bones[1].joint, 2);

    skeleton.joints.resize(1);
    ASSERT_EQ(rest_bones(skeleton).size(), 1u); // but one joint alone is a bone: a point
    const std::vector<BoneSegment> s = bone_segments(skeleton, rest_bones(skeleton));
    ASSERT_EQ(s.size(), 1u);
    EXPECT_EQ(s[0].a, s[0].b);
}

TEST(Bind, SegmentsAreWhereTheSurfaceWasBound)
{
    Skeleton skeleton;
    skeleton.joints = {joint(-1, {0, 0, 0}), joint(0, {1, 0, 0}), joint(1, {1, 0, 0})};
    std::vector<Bone> bones = rest_bones(skeleton);
    bones.resize(2); // the last joint is no bone of this skin
    for (Bone& bone : bones) bone.inverse_bind.translation() -= Vec3(0, 5, 0);
    const std::vector<BoneSegment> s = bone_segments(skeleton, bones);
    ASSERT_EQ(s.size(), 2u);
    EXPECT_LT((s[1].a - Vec3(1, 5, 0)).norm() + (s[1].b - Vec3(2, 5, 0)).norm(), 1e-14);
}

TEST(Bind, LaplacianIsExactForLinearFunctions)
{
    TetMesh mesh = unit_cube_tets(3);
    Random random(1);
    mesh.vertices += 0.05 * random_matrix(random, 3, mesh.vertex_count());
    const TetLaplacian laplacian = tet_laplacian(mesh);
    EXPECT_NEAR(laplacian.V.sum(), volume(mesh), 1e-14);
    EXPECT_LT((laplacian.L * VecX::Ones(mesh.vertex_count())).norm(), 1e-13);
    const Vec3 slope(1.0, -2.0, 0.5);
    const VecX w = mesh.vertices.transpose() * slope;
    EXPECT_NEAR(w.dot(laplacian.L * w), slope.squaredNorm() * volume(mesh), 1e-12);
    EXPECT_LT((SparseMatrix(laplacian.L.transpose()) - laplacian.L).norm(), 1e-14);
}

TEST(Bind, WeightsOfABeamGoSmoothlyFromOneBoneToTheOther)
{
    const TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.05);
    const BoundWeights out = bound(beam, row_of_bones(2, -1.0, 1.0), 2);
    EXPECT_TRUE(out.notes.empty());
    EXPECT_LT(partition_error(out.weights), 1e-12);
    const MatX w = dense_weights(out.weights, 2);

    const auto line = along_x(beam, w, 0);
    ASSERT_EQ(line.size(), 41u);
    for (std::size_t i = 1; i < line.size(); ++i) EXPECT_LE(line[i].second, line[i - 1].second + 1e-12);
    for (const auto& [x, weight] : line) {
        if (x < -0.3) {
            EXPECT_GT(weight, 0.99) << x;
        }
        if (x > 0.3) {
            EXPECT_LT(weight, 0.01) << x;
        }
    }
    // on the skin: monotone too, and in steps as small as the cells are to the thickness
    std::vector<std::pair<double, double>> skin;
    for (Index v = 0; v < beam.vertex_count(); ++v)
        if ((beam.vertices.col(v).tail<2>() - Vec2(0.2, 0.0)).norm() < 1e-9)
            skin.emplace_back(beam.vertices(0, v), w(0, v));
    std::sort(skin.begin(), skin.end());
    ASSERT_EQ(skin.size(), 41u);
    EXPECT_GT(skin.front().second, 0.99);
    for (std::size_t i = 1; i < skin.size(); ++i) {
        EXPECT_LE(skin[i].second, skin[i - 1].second + 1e-9);
        EXPECT_GT(skin[i].second, skin[i - 1].second - 0.2);
    }
}

TEST(Bind, WeightsOfASymmetricBeamAreSymmetric)
{
    // turned by half a turn about z and y, Kuhn's division is its own mirror image: x -> -x with y, z -> -y, -z
    const TetMesh beam = box_tets({1.0, 0.4, 0.4}, 0.1);
    const BoundWeights out = bound(beam, row_of_bones(2, -0.5, 0.5), 2);
    const MatX w = dense_weights(out.weights, 2);
    for (Index v = 0; v < beam.vertex_count(); ++v) {
        Index image = 0;
        const double apart =
            (beam.vertices.colwise() + beam.vertices.col(v)).colwise().norm().minCoeff(&image);
        ASSERT_LT(apart, 1e-12);
        EXPECT_NEAR(w(0, v), w(1, image), 1e-9);
    }
}

TEST(Bind, BonesRuleTheirOwnRegionAndNothingFarAway)
{
    const TetMesh beam = box_tets({2.5, 0.2, 0.2}, 0.05);
    const std::vector<BoneSegment> bones = row_of_bones(5, -1.25, 0.5);
    const BoundWeights out = bound(beam, bones, 5);
    const MatX w = dense_weights(out.weights, 5);
    EXPECT_LE(out.weights.slots(), 4);
    for (const BoneSegment& s : bones) {
        const double middle = 0.5 * (s.a + s.b)[0];
        for (Index v = 0; v < beam.vertex_count(); ++v) {
            const double away = std::abs(beam.vertices(0, v) - middle);
            if (away < 0.1) {
                EXPECT_GT(w(s.bone, v), 0.9);
            }
            if (away > 0.75) {
                EXPECT_LT(w(s.bone, v), 0.02);
            }
        }
    }
}

TEST(Bind, HeatDoesNotJumpOverAGap)
{
    // a U: two prongs with a narrow gap between them. The bone of the left prong lies close to the gap: vertices
    // across it are nearer to that bone than to their own.
    const TetMesh u = without_tets(box_tets({1.0, 1.6, 0.2}, 0.05),
                                   [](const Vec3& p) { return std::abs(p[0]) < 0.05 && p[1] > -0.5; });
    const std::vector<BoneSegment> bones = {{0, {-0.1, -0.4, 0.0}, {-0.1, 0.75, 0.0}},
                                            {1, {0.4, -0.4, 0.0}, {0.4, 0.75, 0.0}},
                                            {2, {-0.4, -0.65, 0.0}, {0.4, -0.65, 0.0}}};
    const BoundWeights out = bound(u, bones, 3);
    const MatX w = dense_weights(out.weights, 3);
    Index nearer_across = 0;
    for (Index v = 0; v < u.vertex_count(); ++v) {
        const Vec3 p = u.vertices.col(v);
        if (p[1] < -0.2 || p[0] < 0.0) continue; // the right prong, well above the base
        EXPECT_LT(w(0, v), 0.02);
        nearer_across += std::abs(p[0] + 0.1) < std::abs(p[0] - 0.4) ? 1 : 0;
    }
    EXPECT_GT(nearer_across, 50); // so that a distance alone would fail
}

TEST(Bind, MoreHeatMakesSharperBorders)
{
    const TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.1);
    const auto width = [&](double heat) {
        const MatX w = dense_weights(bound(beam, row_of_bones(2, -1.0, 1.0), 2, {.heat = heat}).weights, 2);
        return (w.array() * (1.0 - w.array())).sum();
    };
    EXPECT_LT(width(4.0), 0.8 * width(1.0));
    EXPECT_GT(width(0.25), 1.2 * width(1.0));
}

TEST(Bind, KeepsToTheNumberOfInfluences)
{
    const TetMesh beam = box_tets({1.0, 0.4, 0.4}, 0.1);
    for (const Index influences : {1, 2, 3}) {
        const BoundWeights out = bound(beam, row_of_bones(5, -0.5, 0.2), 5, {.influences = influences});
        EXPECT_EQ(out.weights.slots(), influences);
        EXPECT_LT(partition_error(out.weights), 1e-12);
    }
}

TEST(Bind, BonesThatStickOutStillHoldTheirEnds)
{
    // the last bone leaves the beam through its side half-way: its tip belongs to it all the same
    const TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.1);
    std::vector<BoneSegment> bones = row_of_bones(2, -1.0, 1.0);
    bones[1].b = Vec3(1.0, 0.5, 0.0);
    const BoundWeights out = bound(beam, bones, 2);
    EXPECT_TRUE(out.notes.empty());
    const MatX w = dense_weights(out.weights, 2);
    for (Index v = 0; v < beam.vertex_count(); ++v)
        if (beam.vertices(0, v) > 0.4) {
            EXPECT_GT(w(1, v), 0.9);
        }
}

TEST(Bind, ABoneMayBeAPoint)
{
    const TetMesh beam = box_tets({1.0, 0.4, 0.4}, 0.1);
    const Vec3 left(-0.3, 0.0, 0.0), right(0.3, 0.0, 0.0);
    const MatX w = dense_weights(bound(beam, {{0, left, left}, {1, right, right}}, 2).weights, 2);
    for (Index v = 0; v < beam.vertex_count(); ++v)
        if (std::abs(beam.vertices(0, v)) > 0.25) {
            EXPECT_GT(w(beam.vertices(0, v) < 0.0 ? 0 : 1, v), 0.7);
        }
}

TEST(Bind, TellsOfBonesOutsideAndOfPartsThatSeeNone)
{
    TetMesh two = box_tets({2.0, 0.4, 0.4}, 0.1);
    TetMesh far = box_tets({0.2, 0.2, 0.2}, 0.1);
    far.vertices.colwise() += Vec3(0.9, 1.0, 0.0);
    const auto shift = static_cast<int>(two.vertex_count());
    const Index near_tets = two.tet_count();
    two.vertices.conservativeResize(3, shift + far.vertex_count());
    two.vertices.rightCols(far.vertex_count()) = far.vertices;
    two.tets.conservativeResize(4, near_tets + far.tet_count());
    two.tets.rightCols(far.tet_count()) = far.tets.array() + shift;

    std::vector<BoneSegment> bones = row_of_bones(2, -1.0, 1.0);
    bones.push_back({2, {5.0, 5.0, 5.0}, {6.0, 5.0, 5.0}});
    const BoundWeights out = bound(two, bones, 3);
    ASSERT_EQ(out.notes.size(), 2u);
    EXPECT_EQ(out.notes[0], "bone 2 lies outside the body: what is inside does not follow it");
    EXPECT_EQ(out.notes[1],
              "parts of the body that see no bone inside and follow the nearest one: 1 (27 vertices)");
    const MatX w = dense_weights(out.weights, 3);
    EXPECT_GT(w.rightCols(27).row(1).minCoeff(), 1.0 - 1e-12);
    EXPECT_EQ(w.row(2).maxCoeff(), 0.0);
}

TEST(Bind, CutsWhatObtuseTetsMakeNegativeAndSaysSo)
{
    TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.1);
    beam.vertices.row(1) += 4.0 * beam.vertices.row(2); // sheared flat
    const BoundWeights out = bound(beam, row_of_bones(2, -1.0, 1.0), 2);
    ASSERT_EQ(out.notes.size(), 1u);
    EXPECT_NE(out.notes[0].find("weights were below zero"), std::string::npos) << out.notes[0];
    EXPECT_GE(out.weights.weights.minCoeff(), 0.0);
    EXPECT_LT(partition_error(out.weights), 1e-12);
}

TEST(Bind, VerticesWithoutTetsFollowTheNearestBone)
{
    TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.1);
    beam.vertices.conservativeResize(3, beam.vertex_count() + 1);
    beam.vertices.rightCols<1>() = Vec3(0.7, 0.0, 0.0);
    const MatX w = dense_weights(bound(beam, row_of_bones(2, -1.0, 1.0), 2).weights, 2);
    EXPECT_EQ(w(1, beam.vertex_count() - 1), 1.0);
}

TEST(Bind, RefusesWhatItCannotBind)
{
    const TetMesh beam = box_tets({1.0, 0.4, 0.4}, 0.2);
    const std::vector<BoneSegment> bones = row_of_bones(1, -0.5, 1.0);
    EXPECT_EQ(message_of([&] { bound(beam, {}, 0); }), "binding: the skeleton has no bone to bind to");
    EXPECT_EQ(message_of([&] { bound(TetMesh{}, bones, 1); }), "binding: the body has no tets");
    EXPECT_EQ(message_of([&] { bound(beam, bones, 1, {.influences = 9}); }),
              "binding: influences = 9 must be 1 to 8");
    EXPECT_NE(message_of([&] { bound(beam, bones, 1, {.heat = 0.0}); }).find("heat"), std::string::npos);
    std::vector<BoneSegment> nowhere = bones;
    nowhere[0].b[1] = std::nan("");
    EXPECT_EQ(message_of([&] { bound(beam, nowhere, 1); }), "binding: bone 0 is not at a finite place");
    TetMesh broken = beam;
    broken.tets(2, 1) = 1000000;
    EXPECT_EQ(message_of([&] { bound(broken, bones, 1); }),
              "binding: a tet has a corner outside the " + std::to_string(beam.vertex_count()) + " vertices");
}

TEST(Bind, SameBitsForAnyNumberOfThreads)
{
    const TetMesh beam = box_tets({2.0, 0.4, 0.4}, 0.05);
    std::vector<SkinWeights> w;
    for (const int threads : {1, 2}) {
        const ThreadLimit limit(threads);
        w.push_back(bound(beam, row_of_bones(3, -1.0, 0.66), 3).weights);
    }
    EXPECT_EQ(w[0].bones, w[1].bones);
    EXPECT_EQ(std::memcmp(w[0].weights.data(), w[1].weights.data(),
                          sizeof(double) * static_cast<std::size_t>(w[0].weights.size())),
              0);
}

TEST(Bind, HandFollowsItsFingers)
{
    LITHE_DATA_OR_SKIP(tets, "tets/hand_57k.mesh.gz");
    LITHE_DATA_OR_SKIP(rig, "rigs/hand.skel.txt");
    const TetMesh hand = read_tet_mesh(tets);
    const Skeleton skeleton = read_text_rig(rig).skeleton;
    const std::vector<Bone> bones = rest_bones(skeleton);
    ASSERT_EQ(bones.size(), 16u);
    const std::vector<BoneSegment> segments = bone_segments(skeleton, bones);
    const BoundWeights out = bound(hand, segments, 16);
    EXPECT_LT(partition_error(out.weights), 1e-12);
    EXPECT_EQ(out.weights.slots(), 4);
    const MatX w = dense_weights(out.weights, 16);
    EXPECT_EQ(share_of_held_bones(hand, segments, w), 1.0);

    // fingers nearly touch, but the tip of one does not follow another
    const auto bone_named = [&](const char* name) {
        const int found = skeleton.find(name);
        for (std::size_t b = 0; b < bones.size(); ++b)
            if (bones[b].joint == found) return static_cast<Index>(b);
        return Index(-1);
    };
    const Index index_tip = bone_named("index_2"), middle_tip = bone_named("middle_2");
    ASSERT_GE(std::min(index_tip, middle_tip), 0);
    for (Index v = 0; v < hand.vertex_count(); ++v)
        if (w(index_tip, v) > 0.5) {
            EXPECT_LT(w(middle_tip, v), 0.02);
        }
}

TEST(Bind, WalkerFollowsItsBones)
{
    LITHE_DATA_OR_SKIP(tets, "tets/cesium_man_158k.mesh.gz");
    LITHE_DATA_OR_SKIP(rig, "rigs/cesium_man.skel.txt");
    const TetMesh man = read_tet_mesh(tets);
    const Skeleton skeleton = read_text_rig(rig).skeleton;
    const std::vector<Bone> bones = rest_bones(skeleton);
    const std::vector<BoneSegment> segments = bone_segments(skeleton, bones);
    const auto count = static_cast<Index>(bones.size());
    const BoundWeights out = bound(man, segments, count);
    EXPECT_LT(partition_error(out.weights), 1e-12);
    EXPECT_GT(share_of_held_bones(man, segments, dense_weights(out.weights, count)), 0.85);
}

TEST(Carry, FromVolumeToPointsKeepsConstantAndLinearWeights)
{
    const TetMesh cube = unit_cube_tets(3);
    MatX dense(3, cube.vertex_count());
    for (Index v = 0; v < cube.vertex_count(); ++v) {
        const double x = cube.vertices(0, v), y = cube.vertices(1, v);
        dense.col(v) << 0.5 * x, 0.5 * y, 1.0 - 0.5 * x - 0.5 * y;
    }
    Random random(2);
    const Points points = 0.5 * (random_matrix(random, 3, 500).array() + 1.0).matrix();
    const SkinWeights out = carried(sparse_weights(dense, 3), embed(points, cube), 3);
    const MatX w = dense_weights(out, 3);
    EXPECT_LT(partition_error(out), 1e-12);
    for (Index p = 0; p < 500; ++p) {
        EXPECT_NEAR(w(0, p), 0.5 * points(0, p), 1e-12);
        EXPECT_NEAR(w(1, p), 0.5 * points(1, p), 1e-12);
    }

    // a point outside, where weights are extrapolated, still follows with weights in [0, 1]
    const SkinWeights outside =
        carried(sparse_weights(dense, 3), embed(Points(Vec3(-0.3, 1.2, 0.5)), cube), 2);
    EXPECT_EQ(outside.slots(), 2);
    EXPECT_GE(outside.weights.minCoeff(), 0.0);
    EXPECT_LT(partition_error(outside), 1e-12);
}

TEST(Carry, FromSurfaceToPointsTakesTheNearestPoint)
{
    const TriangleMesh surface = boundary_surface(unit_cube_tets(4));
    MatX dense(2, surface.vertex_count());
    for (Index v = 0; v < surface.vertex_count(); ++v)
        dense.col(v) << surface.vertices(0, v), 1.0 - surface.vertices(0, v);
    const SkinWeights weights = sparse_weights(dense, 2);
    Points points(3, 3);
    points << 0.37, -2.0, 0.61, //
        1.4, 0.5, 0.52,         //
        0.5, 0.5, 0.99;
    const MatX w = dense_weights(carried(weights, surface, points, 2), 2);
    EXPECT_NEAR(w(0, 0), 0.37, 1e-12);
    EXPECT_NEAR(w(0, 1), 0.0, 1e-12);
    EXPECT_NEAR(w(0, 2), 0.61, 1e-12);
}

TEST(Carry, IntoAVolumeIsHarmonic)
{
    // linear functions are harmonic, and linear tets hold them exactly
    TetMesh cube = unit_cube_tets(5);
    const TriangleMesh surface = boundary_surface(cube);
    Random random(3);
    std::vector<int> skin;
    boundary_surface(cube, skin);
    std::vector<char> on_skin(static_cast<std::size_t>(cube.vertex_count()), 0);
    for (const int v : skin) on_skin[v] = 1;
    for (Index v = 0; v < cube.vertex_count(); ++v)
        if (!on_skin[v]) cube.vertices.col(v) += 0.03 * random_vector(random, 3);

    MatX dense(3, surface.vertex_count());
    for (Index v = 0; v < surface.vertex_count(); ++v) {
        const double x = surface.vertices(0, v), z = surface.vertices(2, v);
        dense.col(v) << 0.6 * x, 0.3 * z, 1.0 - 0.6 * x - 0.3 * z;
    }
    const SkinWeights out = carried_into(sparse_weights(dense, 3), surface, cube, 3);
    EXPECT_LT(partition_error(out), 1e-12);
    const MatX w = dense_weights(out, 3);
    for (Index v = 0; v < cube.vertex_count(); ++v) {
        EXPECT_NEAR(w(0, v), 0.6 * cube.vertices(0, v), 1e-11);
        EXPECT_NEAR(w(1, v), 0.3 * cube.vertices(2, v), 1e-11);
    }
}

TEST(Carry, ConstantWeightsStayConstantEverywhere)
{
    const TetMesh cube = unit_cube_tets(3);
    const TriangleMesh surface = boundary_surface(cube);
    const SkinWeights one = sparse_weights(Vec3(0.2, 0.7, 0.1).replicate(1, surface.vertex_count()), 3);
    const MatX w = dense_weights(carried_into(one, surface, cube), 3);
    for (Index v = 0; v < cube.vertex_count(); ++v) EXPECT_LT((w.col(v) - Vec3(0.2, 0.7, 0.1)).norm(), 1e-12);
}

TEST(Carry, CowKeepsItsWeightsOnTheWayThereAndBack)
{
    LITHE_DATA_OR_SKIP(tets, "tets/cow_rig_87k.mesh.gz");
    LITHE_DATA_OR_SKIP(rig, "rigs/cow.skel.txt");
    const TetMesh volume = read_tet_mesh(tets);
    const Character cow = read_text_rig(rig);
    ASSERT_EQ(cow.weights.vertex_count(), cow.surface.vertex_count());
    const SkinWeights inside = carried_into(cow.weights, cow.surface, volume);
    const SkinWeights back = carried(inside, embed(cow.surface.vertices, volume));
    EXPECT_LT(partition_error(inside), 1e-12);
    EXPECT_LT(partition_error(back), 1e-12);
    const auto bones = static_cast<Index>(cow.bones.size());
    const MatX apart = dense_weights(back, bones) - dense_weights(cow.weights, bones);
    const double mean = 0.5 * apart.cwiseAbs().colwise().sum().mean(); // share of the weight that moved
    RecordProperty("mean_share_moved", std::to_string(mean));
    EXPECT_LT(mean, 0.05);
}
