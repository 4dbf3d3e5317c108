#include "lithe/reduce/bone_model.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "lithe/archive/writer.hpp"
#include "lithe/reduce/modes.hpp"
#include "reduce/bodies.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using test::message_of;
using test::TemporaryFolder;

PreparedBone make_bone(const std::string& name, int parent, Index rank)
{
    const FemModel fem = test::bar_model({3, 1, 1}, StVenantKirchhoff({1e5, 0.4}), {.damping = {0.1, 0.002}});
    MatX S(3 * fem.vertex_count(), 0);
    if (rank > 0) {
        RestSystem system(fem);
        Progress silent;
        S = make_framed_basis(fem, linear_modes(system, {.count = rank}, silent).basis.U).S;
    }
    return {.name = name,
            .parent = parent,
            .reduced = make_reduced_model(fem, S, make_linear_elastic(fem, S)),
            .tensors = make_frame_tensors(fem, S)};
}

/// A triangle of three vertices that follow the first bone, both, and the second.
BoneSurface make_surface(Index first_rank, Index second_rank)
{
    BoneSurface out;
    out.rest.vertices = Points(3, 3);
    out.rest.vertices << 0.1, 0.2, 0.3, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1;
    out.rest.triangles = Eigen::Vector3i(0, 1, 2);
    out.rest.fields.push_back({"color", MatX::Constant(3, 3, 0.25)});
    out.skin = {{.vertices = {0, 1},
                 .weights = Eigen::Vector2d(1.0, 0.3),
                 .rest = Points::Random(3, 2),
                 .basis = SurfaceMorphs::Random(6, first_rank)},
                {.vertices = {1, 2},
                 .weights = Eigen::Vector2d(0.7, 1.0),
                 .rest = Points::Random(3, 2),
                 .basis = SurfaceMorphs::Random(6, second_rank)}};
    return out;
}

/// Two bones, the second of them rigid.
BoneModel make_model()
{
    std::srand(1); // of Eigen's Random
    BoneModel out;
    out.name = "arm";
    out.bones = {make_bone("upper", -1, 4), make_bone("lower", 0, 0)};
    PreparedBoneJoint joint{.a = 0, .b = 1, .points = {}};
    for (int p = 0; p < 3; ++p)
        joint.points.push_back({{Vec3::Random(), Rows3::Random(3, 4)}, {Vec3::Random(), Rows3(3, 0)}});
    out.joints = {joint};
    out.shown = make_surface(4, 0);
    out.collision = make_surface(4, 0);
    const TetMesh tets = test::box_tets({3, 1, 1}, Vec3(0.3, 0.1, 0.1));
    out.bones[0].volume = std::make_shared<const PreparedVolume>(
        PreparedVolume{.mesh = tets,
                       .pins = {},
                       .U = MatX::Random(3 * tets.vertex_count(), 4),
                       .cubature = {},
                       .embedding = embed(out.shown.rest.vertices.leftCols(2), tets)});
    out.materials = {{.label = 0, .material = {.kind = MaterialKind::Linear}, .density = 900.0}};
    out.record = {.source = "arm.glb", .settings = "bones; 4 modes", .basis = "modes", .inputs = 99};
    return out;
}

void expect_same(const BoneSurface& a, const BoneSurface& b)
{
    EXPECT_EQ(a.rest.vertices, b.rest.vertices);
    EXPECT_EQ(a.rest.triangles, b.rest.triangles);
    ASSERT_NE(find_color(b.rest.fields), nullptr);
    EXPECT_EQ(find_color(a.rest.fields)->values, find_color(b.rest.fields)->values);
    ASSERT_EQ(a.skin.size(), b.skin.size());
    for (std::size_t k = 0; k < a.skin.size(); ++k) {
        EXPECT_EQ(a.skin[k].vertices, b.skin[k].vertices);
        EXPECT_EQ(a.skin[k].weights, b.skin[k].weights);
        EXPECT_EQ(a.skin[k].rest, b.skin[k].rest);
        EXPECT_EQ(a.skin[k].basis, b.skin[k].basis);
    }
}

TEST(BoneModel, ComesBackFromItsFileBitForBit)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "arm.lithe";
    const BoneModel written = make_model();
    write_bone_model(file, written);
    const BoneModel read = read_bone_model(file);
    EXPECT_EQ(model_kind(file), "bones");
    EXPECT_EQ(read.name, "arm");
    ASSERT_EQ(read.bones.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
        const PreparedBone &a = written.bones[k], &b = read.bones[k];
        EXPECT_EQ(b.name, a.name);
        EXPECT_EQ(b.parent, a.parent);
        EXPECT_EQ(b.rank(), a.rank());
        EXPECT_EQ(b.reduced.M, a.reduced.M);
        EXPECT_EQ(b.reduced.damping.stiffness, 0.002);
        EXPECT_EQ(std::get<LinearElastic>(b.reduced.elastic).K, std::get<LinearElastic>(a.reduced.elastic).K);
        EXPECT_EQ(b.tensors.mass, a.tensors.mass);
        EXPECT_EQ(b.tensors.centre, a.tensors.centre);
        EXPECT_EQ(b.tensors.linear, a.tensors.linear);
        EXPECT_EQ(b.tensors.J0, a.tensors.J0);
        EXPECT_EQ(b.tensors.first, a.tensors.first);
        EXPECT_EQ(b.tensors.second, a.tensors.second);
    }
    ASSERT_NE(read.bones[0].volume, nullptr);
    const PreparedVolume &tets = *read.bones[0].volume, &before = *written.bones[0].volume;
    EXPECT_EQ(tets.mesh.vertices, before.mesh.vertices);
    EXPECT_EQ(tets.mesh.tets, before.mesh.tets);
    EXPECT_EQ(tets.U, before.U);
    EXPECT_EQ(tets.embedding.corners, before.embedding.corners);
    EXPECT_EQ(tets.embedding.weights, before.embedding.weights);
    EXPECT_EQ(read.bones[1].volume, nullptr);
    ASSERT_EQ(read.joints.size(), 1U);
    EXPECT_EQ(read.joints[0].a, 0);
    EXPECT_EQ(read.joints[0].b, 1);
    ASSERT_EQ(read.joints[0].points.size(), 3U);
    for (std::size_t p = 0; p < 3; ++p) {
        EXPECT_EQ(read.joints[0].points[p].a.X, written.joints[0].points[p].a.X);
        EXPECT_EQ(read.joints[0].points[p].a.S, written.joints[0].points[p].a.S);
        EXPECT_EQ(read.joints[0].points[p].b.X, written.joints[0].points[p].b.X);
        EXPECT_EQ(read.joints[0].points[p].b.S.cols(), 0);
    }
    expect_same(written.shown, read.shown);
    expect_same(written.collision, read.collision);
    EXPECT_EQ(read.materials.at(0).density, 900.0);
    EXPECT_EQ(read.record.source, "arm.glb");
    EXPECT_EQ(read.record.inputs, 99U);
}

TEST(BoneModel, KnowsItsMassFreedomsAndBones)
{
    const BoneModel model = make_model();
    EXPECT_NEAR(model.mass(), 2.0 * 1000.0 * 0.3 * 0.1 * 0.1, 1e-12); // two bars of 0.3 x 0.1 x 0.1 m
    EXPECT_EQ(model.freedoms(), 6 + 4 + 6);
    EXPECT_EQ(model.find("lower"), 1);
    EXPECT_EQ(model.find("tail"), -1);
    const VecX hz = rest_frequencies(model.bones[0]);
    ASSERT_EQ(hz.size(), 4);
    EXPECT_GT(hz[0], 0.0);
    EXPECT_EQ(rest_frequencies(model.bones[1]).size(), 0);
}

/// What reading says of a model after `spoil`.
template <class F>
std::string trouble(const F& spoil)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "bad.lithe";
    BoneModel model = make_model();
    spoil(model);
    write_bone_model(file, model);
    return message_of([&] { (void)read_bone_model(file); });
}

TEST(BoneModel, RefusesWhatDoesNotFitTogether)
{
    const auto expect = [](const std::string& message, const char* says) {
        EXPECT_NE(message.find(says), std::string::npos) << message;
        EXPECT_NE(message.find("bad.lithe"), std::string::npos) << message;
    };
    expect(trouble([](BoneModel& m) { m.bones[0].parent = 1; }), "parents come before");
    expect(trouble([](BoneModel& m) { m.joints[0].b = 2; }), "refers to 2, but there are 2 only");
    expect(trouble([](BoneModel& m) { m.joints[0].points.clear(); }), "a joint needs a point");
    expect(trouble([](BoneModel& m) { m.shown.skin[0].weights[0] = 0.5; }),
           "vertex 0: its weights sum to 0.5");
    expect(trouble([](BoneModel& m) { m.collision.skin[1].vertices = {2, 1}; }), "is not rising");
    expect(trouble([](BoneModel& m) { m.shown.skin[1].vertices[1] = 7; }),
           "refers to 7, but there are 3 only");
    expect(trouble([](BoneModel& m) { m.shown.skin[0].weights[1] = 0.0; }), "not above zero");
    expect(trouble([](BoneModel& m) { m.bones[1].tensors.mass = 0.0; }), "is not above zero");
    expect(trouble([](BoneModel& m) { m.bones[0].tensors.centre[1] = std::nan(""); }), "not finite");
    expect(trouble([](BoneModel& m) { m.shown.skin[0].basis = SurfaceMorphs::Zero(6, 3); }), "basis");
    const auto with_volume = [](const auto& spoil) {
        return [spoil](BoneModel& m) {
            auto volume = std::make_shared<PreparedVolume>(*m.bones[0].volume);
            spoil(*volume);
            m.bones[0].volume = volume;
        };
    };
    expect(trouble(with_volume([](PreparedVolume& v) { v.U = v.U.leftCols(3).eval(); })),
           "has 3 columns, and the bone 4 coordinates");
    expect(trouble(with_volume([](PreparedVolume& v) { v.embedding = {}; })),
           "is not of the vertices that follow the bone");
    expect(trouble([](BoneModel& m) {
               m.bones.clear(), m.joints.clear(), m.shown.skin.clear(), m.collision.skin.clear();
           }),
           "needs a bone");
}

TEST(BoneModel, RefusesFilesThatAreCutOffOrOfAnotherKind)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "arm.lithe";
    write_bone_model(file, make_model());
    EXPECT_NE(message_of([&] { (void)read_model(file); }).find("a character of several bones"),
              std::string::npos);

    std::string bytes;
    {
        std::ifstream in(file, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    for (const std::size_t at : {std::size_t{0}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        std::ofstream(file, std::ios::binary) << damaged;
        EXPECT_THROW((void)read_bone_model(file), InputError) << "byte " << at;
    }
    std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
    EXPECT_THROW((void)read_bone_model(file), InputError);

    ArchiveWriter other;
    other.write("something", 1.0);
    other.save(file);
    EXPECT_NE(message_of([&] { (void)model_kind(file); }).find("no prepared model"), std::string::npos);
}

} // namespace
} // namespace lithe
