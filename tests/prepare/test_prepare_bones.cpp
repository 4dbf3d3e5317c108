#include "lithe/prepare/prepare_bones.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "lithe/geometry/mesh_io.hpp"
#include "lithe/prepare/bone_partition.hpp"
#include "lithe/prepare/prepare_character.hpp"
#include "lithe/reduce/modes.hpp"
#include "support/data.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "support/waving_arm.hpp"

namespace lithe {
namespace {

using test::make_arm;
using test::message_of;

constexpr Index few_tets = 1500;
const BoneOptions quick{.modes = 6, .proxy_vertices = 60, .tets = {.count = few_tets}, .young = 1e5};

BoneModel prepared(const Character& character, const BoneOptions& options, std::vector<std::string>& notes)
{
    Progress silent;
    return prepare_bones(character, options, silent, notes);
}
BoneModel prepared(const Character& character, const BoneOptions& options = quick)
{
    std::vector<std::string> notes;
    return prepared(character, options, notes);
}

CharacterVolume filled(const Character& character, const TetrahedraliseOptions& tets = quick.tets)
{
    Progress silent;
    return fill_character(character, close_character(character, silent), tets, silent);
}

double size_of(const BoneModel& model)
{
    return bounds(model.shown.rest.vertices).diagonal().norm();
}

/// The largest way of a vertex from its place at rest when all bones are at theirs.
double rest_error(const BoneModel& model, const BoneSurface& surface)
{
    std::vector<VecX> q;
    for (const PreparedBone& bone : model.bones) q.push_back(VecX::Zero(bone.rank()));
    std::vector<BoneMotion> motions;
    for (std::size_t k = 0; k < q.size(); ++k)
        motions.push_back({{Quat::Identity(), model.bones[k].tensors.centre}, &q[k]});
    Points x(3, surface.rest.vertex_count());
    place_skin(surface.skin, motions, x);
    return (x - surface.rest.vertices).colwise().norm().maxCoeff();
}

/// Height of a joint's third point over the line through the others, as a share of their distance.
double spread(const PreparedBoneJoint& joint)
{
    const Vec3 line = joint.points.at(1).a.X - joint.points.at(0).a.X;
    return line.cross(Vec3(joint.points.at(2).a.X - joint.points.at(0).a.X)).norm() / line.squaredNorm();
}

/// What every character has, whatever it was made from.
void expect_sound(const BoneModel& model)
{
    const double size = size_of(model);
    EXPECT_LT(rest_error(model, model.shown), 1e-12 * size);
    EXPECT_LT(rest_error(model, model.collision), 1e-12 * size);
    EXPECT_EQ(model.joints.size() + 1, model.bones.size()); // a tree
    for (const PreparedBoneJoint& joint : model.joints) {
        const PreparedBone &a = model.bones[static_cast<std::size_t>(joint.a)],
                           &b = model.bones[static_cast<std::size_t>(joint.b)];
        EXPECT_EQ(b.parent, joint.a);
        EXPECT_LT(joint.a, joint.b);
        ASSERT_EQ(joint.points.size(), 3U);
        for (const PreparedBoneJoint::Point& point : joint.points) {
            EXPECT_LT((a.tensors.centre + point.a.X - b.tensors.centre - point.b.X).norm(), 1e-12 * size);
            EXPECT_EQ(point.a.S.cols(), a.rank());
            EXPECT_EQ(point.b.S.cols(), b.rank());
        }
        EXPECT_GT(spread(joint), 0.05) << a.name << " and " << b.name;
    }
    for (const PreparedBone& bone : model.bones) {
        const VecX hz = rest_frequencies(bone);
        EXPECT_TRUE(hz.allFinite());
        if (hz.size() == 0) continue;
        EXPECT_GT(hz[0], 0.0) << bone.name;
        EXPECT_LT(bone.tensors.linear.cwiseAbs().maxCoeff(), 1e-9 * bone.tensors.mass) << bone.name;
    }
}

TEST(PrepareBones, ABarOfTwoBonesKeepsItsMassAndItsSkin)
{
    const Character arm = make_arm();
    const BoneModel model = prepared(arm);
    expect_sound(model);
    ASSERT_EQ(model.bones.size(), 2U);
    EXPECT_EQ(model.bones[0].name, "shoulder");
    EXPECT_EQ(model.bones[1].name, "elbow");
    for (const PreparedBone& bone : model.bones) EXPECT_EQ(bone.rank(), 6);
    const double whole = quick.density * volume(filled(arm).tets);
    EXPECT_NEAR(model.mass(), whole, 1e-9 * whole);
    EXPECT_NEAR(model.bones[0].tensors.mass, 0.5 * whole, 0.05 * whole);
    // the joint is around the middle, where both have half
    for (const PreparedBoneJoint::Point& point : model.joints[0].points)
        EXPECT_LT(std::abs(point.a.X[1] + model.bones[0].tensors.centre[1]), 0.25);
}

Modes volume_modes(const Character& character, Index count)
{
    const TetMesh tets = filled(character).tets;
    const FemModel fem = make_fem_model(tets, Linear({1e5, 0.4}), 1000.0);
    RestSystem system(fem);
    Progress silent;
    return linear_modes(system, {.count = count}, silent);
}

TEST(PrepareBones, ASingleBoneIsTheBodyItself)
{
    Character arm = make_arm();
    MatX all = MatX::Zero(2, arm.surface.vertex_count());
    all.row(0).setOnes();
    arm.weights = sparse_weights(all);
    std::vector<std::string> notes;
    const BoneModel model = prepared(arm, quick, notes);
    ASSERT_EQ(model.bones.size(), 1U);
    EXPECT_TRUE(model.joints.empty());
    const VecX hz = rest_frequencies(model.bones[0]), wanted = frequencies(volume_modes(arm, 6).eigenvalues);
    EXPECT_LT((hz - wanted).cwiseAbs().maxCoeff(), 1e-6 * wanted[0]);
    EXPECT_NE(std::accumulate(notes.begin(), notes.end(), std::string()).find("move with 'shoulder': elbow"),
              std::string::npos);
}

TEST(PrepareBones, BonesThatShareEverythingHaveHalfTheMassAndTheSameFrequencies)
{
    Character arm = make_arm();
    arm.weights = sparse_weights(MatX::Constant(2, arm.surface.vertex_count(), 0.5));
    const BoneModel model = prepared(arm);
    ASSERT_EQ(model.bones.size(), 2U);
    const VecX wanted = frequencies(volume_modes(arm, 6).eigenvalues);
    for (const PreparedBone& bone : model.bones) {
        EXPECT_NEAR(bone.tensors.mass, 0.5 * model.mass(), 1e-9 * model.mass());
        EXPECT_LT((rest_frequencies(bone) - wanted).cwiseAbs().maxCoeff(), 1e-6 * wanted[0]);
    }
}

TEST(PrepareBones, SharesOfATetSumToTheWholeAndPartsAreInOnePiece)
{
    Character arm = make_arm();
    // the first bone has both ends, the second the middle: one end must go to the second
    MatX dense(2, arm.surface.vertex_count());
    dense.row(0) = (arm.surface.vertices.row(1).array().abs() > 0.2).cast<double>();
    for (Index v = 0; v < dense.cols(); ++v)
        if (arm.surface.vertices(1, v) > 0.3) dense(0, v) = 0.0;
    for (Index v = 0; v < dense.cols(); ++v)
        if (arm.surface.vertices(1, v) > 0.42) dense(0, v) = 1.0;
    dense.row(1) = 1.0 - dense.row(0).array();
    arm.weights = sparse_weights(dense);
    const CharacterVolume body = filled(arm);
    std::vector<std::string> notes;
    const BonePartition partition = partition_by_bone(arm, body, 0.15, notes);
    ASSERT_EQ(partition.parts.size(), 2U);
    std::vector<int> sum(static_cast<std::size_t>(body.tets.tet_count()), 0);
    for (const BonePart& part : partition.parts)
        for (std::size_t i = 0; i < part.tets.size(); ++i) {
            EXPECT_GE(part.shares[i], 1);
            sum[static_cast<std::size_t>(part.tets[i])] += part.shares[i];
        }
    EXPECT_EQ(std::ranges::count(sum, whole_share), body.tets.tet_count());
    for (const int t : partition.parts[0].tets) // the small end is not the first bone's
        EXPECT_LT(body.tets.vertices(1, body.tets.tets(0, t)), 0.3);
    expect_sound(prepared(arm));
}

TEST(PrepareBones, BonesKeepTheirTetsForThoseWhoLook)
{
    BoneOptions options = quick;
    const BoneModel model = prepared(make_arm(), options);
    for (std::size_t k = 0; k < model.bones.size(); ++k) {
        const SkinBone& skin = model.shown.skin[k];
        ASSERT_NE(model.bones[k].volume, nullptr);
        const PreparedVolume& volume = *model.bones[k].volume;
        ASSERT_EQ(volume.embedding.point_count(), static_cast<Index>(skin.vertices.size()));
        for (Index mode = 0; mode < skin.basis.cols(); ++mode) {
            const Points moved = volume.U.col(mode).reshaped(3, volume.mesh.vertex_count());
            const Points basis = skin.basis.col(mode).cast<double>().reshaped(3, skin.rest.cols());
            EXPECT_LT((deform(volume.embedding, moved) - basis).cwiseAbs().maxCoeff(),
                      1e-6 * moved.cwiseAbs().maxCoeff());
        }
    }
    options.rigid = {model.bones[0].name};
    EXPECT_EQ(prepared(make_arm(), options).bones[0].volume, nullptr);
}

TEST(PrepareBones, RigidBonesWeighTheSame)
{
    const BoneModel soft = prepared(make_arm());
    BoneOptions options = quick;
    options.rigid = {"elbow"};
    const BoneModel model = prepared(make_arm(), options);
    expect_sound(model);
    EXPECT_EQ(model.bones[0].rank(), 6);
    EXPECT_EQ(model.bones[1].rank(), 0);
    EXPECT_EQ(model.bones[1].tensors.mass, soft.bones[1].tensors.mass);
    EXPECT_EQ(model.bones[1].tensors.centre, soft.bones[1].tensors.centre);
    EXPECT_EQ(model.shown.skin[1].basis.cols(), 0);
}

TEST(PrepareBones, JointsHaveTheirNumberOfPoints)
{
    BoneOptions options = quick;
    options.modes = 2;
    options.hold = BoneHold::Ball;
    const BoneModel ball = prepared(make_arm(), options);
    ASSERT_EQ(ball.joints.at(0).points.size(), 1U);
    const Vec3 middle = ball.bones[0].tensors.centre + ball.joints[0].points[0].a.X;
    EXPECT_LT(middle.norm(), 0.08); // the bones meet around the origin; a cell is 0.06 m
    options.hold = BoneHold::Hinge;
    const BoneModel hinge = prepared(make_arm(), options);
    ASSERT_EQ(hinge.joints.at(0).points.size(), 2U);
    const Vec3 axis = hinge.joints[0].points[1].a.X - hinge.joints[0].points[0].a.X;
    EXPECT_GT(Vec3(axis[0], 0.0, axis[2]).norm(), 0.15); // across the tube, 0.2 m wide
}

TEST(PrepareBones, PolynomialsAreOfferedToo)
{
    BoneOptions options = quick;
    options.tets.count = 600;
    options.modes = 4;
    options.elastic = ElasticChoice::Polynomial;
    const BoneModel model = prepared(make_arm(), options);
    expect_sound(model);
    for (const PreparedBone& bone : model.bones) {
        EXPECT_EQ(bone.rank(), 4);
        EXPECT_TRUE(std::holds_alternative<StvkPolynomial>(bone.reduced.elastic));
    }
}

/// The share of displacements, at some points, that a column and the six rigid motions do not make.
double missed(const Points& X, const Points& u, const VecX& column)
{
    MatX A(X.size(), 7);
    A.col(0) = column;
    for (Index i = 0; i < X.cols(); ++i) {
        A.block<3, 3>(3 * i, 1).setIdentity();
        A.block<3, 3>(3 * i, 4) = skew(Vec3(X.col(i)));
    }
    const VecX b = Eigen::Map<const VecX>(u.data(), u.size());
    MatX rigid = A.rightCols(6);
    const VecX without = b - rigid * rigid.colPivHouseholderQr().solve(b); // what is no rigid motion
    return (b - A * A.colPivHouseholderQr().solve(b)).norm() / without.norm();
}

TEST(PrepareBones, AnExamplePoseBecomesACoordinateOfItsBone)
{
    const test::TemporaryFolder folder;
    const Character arm = make_arm();
    TriangleMesh bent = arm.surface;
    bent.vertices.row(0).array() += 0.005 * bent.vertices.row(1).array().square();
    write_surface(folder / "bent.obj", bent);
    BoneOptions options = quick;
    options.modes = 0;
    options.shapes = {{.bone = "elbow", .file = folder / "bent.obj"}};
    const BoneModel model = prepared(arm, options);
    expect_sound(model);
    EXPECT_EQ(model.bones[0].rank(), 0);
    ASSERT_EQ(model.bones[1].rank(), 1);
    const SkinBone& skin = model.shown.skin[1];
    const Points X = arm.surface.vertices(Eigen::all, skin.vertices);
    const Points u = bent.vertices(Eigen::all, skin.vertices) - X;
    EXPECT_LT(missed(X, u, skin.basis.col(0).cast<double>()), 0.02);
}

/// A tube with a chain of joints along it; vertices follow the nearest two.
Character make_chain(int count)
{
    Character out = make_arm();
    out.clips.clear();
    out.skeleton.joints.clear();
    out.bones.clear();
    const auto height = [&](int j) { return -0.5 + static_cast<double>(j) / count; };
    MatX dense = MatX::Zero(count, out.surface.vertex_count());
    for (int j = 0; j < count; ++j) {
        out.skeleton.joints.push_back({.name = "j" + std::to_string(j),
                                       .parent = j - 1,
                                       .rest = {.translation = Vec3(0.0, j == 0 ? -0.5 : 1.0 / count, 0.0)}});
        out.bones.push_back({.joint = j});
        out.bones.back().inverse_bind.translation() = Vec3(0.0, -height(j), 0.0);
        dense.row(j) = (1.0 - count * (out.surface.vertices.row(1).array() - height(j)).abs()).cwiseMax(0.0);
    }
    dense.row(count - 1).array() += 1e-3; // above the last of them too
    out.weights = sparse_weights(dense);
    return out;
}

TEST(PrepareBones, ARigOfTwoHundredJointsHasAsManyBonesAsItsTetsCanTellApart)
{
    BoneOptions options = quick;
    options.modes = 2;
    std::vector<std::string> notes;
    const BoneModel model = prepared(make_chain(200), options, notes);
    expect_sound(model);
    EXPECT_GT(model.bones.size(), 5U);
    EXPECT_LT(model.bones.size(), 150U);
    EXPECT_FALSE(notes.empty());
}

TEST(PrepareBones, RefusesWhatCannotBe)
{
    const auto trouble = [](const auto& spoil) {
        Character arm = make_arm();
        BoneOptions options = quick;
        options.tets.count = 400;
        spoil(arm, options);
        return message_of([&] { (void)prepared(arm, options); });
    };
    const auto expect = [](const std::string& message, const char* says) {
        EXPECT_NE(message.find(says), std::string::npos) << says << ": " << message;
    };
    expect(trouble([](Character& c, BoneOptions&) { c.weights.weights.col(7) *= 0.7; }),
           "vertex 7: its weights sum to 0.7");
    expect(trouble([](Character& c, BoneOptions&) { c.weights.bones(0, 3) = 5; }), "vertex 3 follows bone 5");
    expect(trouble([](Character& c, BoneOptions&) { c.weights = {}; }), "lithe rig FILE --bind");
    expect(trouble([](Character& c, BoneOptions&) { c.bones.clear(); }), "no skin weights");
    expect(trouble([](Character& c, BoneOptions&) { c.surface.vertices.row(0).array() += 50.0; }),
           "the skeleton lies outside the mesh");
    expect(trouble([](Character&, BoneOptions& o) { o.rigid = {"elbo"}; }), "did you mean 'elbow'?");
    expect(trouble([](Character&, BoneOptions& o) { o.overlap = 1.0; }), "give one in [0, 1)");
    expect(trouble([](Character&, BoneOptions& o) { o.density = 0.0; }), "density");
    expect(trouble([](Character&, BoneOptions& o) { o.young = -1.0; }), "young");
    expect(trouble([](Character&, BoneOptions& o) { o.modes = -1; }), "modes = -1");
    expect(trouble([](Character&, BoneOptions& o) { o.elastic = ElasticChoice::Cubature; }),
           "linear or polynomial");
    expect(trouble([](Character&, BoneOptions& o) { o.shapes = {{"nose", "nose.obj"}}; }),
           "there is no bone 'nose'");
    expect(trouble([](Character&, BoneOptions& o) {
               o.rigid = {"elbow"};
               o.shapes = {{"elbow", "bent.obj"}};
           }),
           "is rigid and has an example pose");

    const test::TemporaryFolder folder;
    TriangleMesh other = make_arm().surface;
    other.vertices.conservativeResize(3, other.vertex_count() + 1);
    other.vertices.rightCols<1>().setZero();
    write_surface(folder / "other.obj", other);
    expect(trouble([&](Character&, BoneOptions& o) { o.shapes = {{"elbow", folder / "other.obj"}}; }),
           "of another mesh");
}

TEST(PrepareBones, ABoneThatWasMergedIsNoBoneToBeNamed)
{
    const Character chain = make_chain(60);
    BoneOptions options = quick;
    options.tets.count = 600;
    options.modes = 0;
    const BoneModel model = prepared(chain, options);
    int merged = 0;
    while (model.find("j" + std::to_string(merged)) >= 0) ++merged;
    ASSERT_LT(merged, 60);
    options.rigid = {"j" + std::to_string(merged)};
    const std::string message = message_of([&] { (void)prepared(chain, options); });
    EXPECT_NE(message.find("is too small to be a bone of its own and moves with 'j"), std::string::npos)
        << message;
}

class PrepareBonesOf : public testing::TestWithParam<const char*> {};

TEST_P(PrepareBonesOf, ARealRigGivesASoundCharacter)
{
    LITHE_DATA_OR_SKIP(file, std::string("rigs/") + GetParam());
    Progress silent;
    std::vector<std::string> notes;
    const BoneModel model = prepare_bones(SceneSource{.from = file}, {}, silent, notes);
    expect_sound(model);
    EXPECT_GE(model.bones.size(), 15U);
    for (const PreparedBone& bone : model.bones) EXPECT_EQ(bone.rank(), 10) << bone.name;
    EXPECT_LE(model.collision.rest.vertex_count(), 330);
    const Character character = read_character(file);
    EXPECT_EQ(model.shown.rest.vertices, character.surface.vertices);
    const double whole = 1000.0 * volume(filled(character, {}).tets);
    EXPECT_NEAR(model.mass(), whole, 1e-9 * whole);
}
INSTANTIATE_TEST_SUITE_P(Files, PrepareBonesOf,
                         testing::Values("CesiumMan.glb", "RiggedFigure.glb", "Cow.glb"));

} // namespace
} // namespace lithe
