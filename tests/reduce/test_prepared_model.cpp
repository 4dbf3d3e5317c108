#include "lithe/reduce/prepared_model.hpp"

#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "lithe/archive/writer.hpp"
#include "lithe/fem/solve.hpp"
#include "lithe/reduce/modes.hpp"
#include "reduce/bodies.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using test::message_of;
using test::TemporaryFolder;

/// A bar that is pinned at one end, reduced to six modes.
struct Prepared {
    TetMesh mesh = test::box_tets({4, 1, 1}, {0.4, 0.1, 0.1});
    FemModel fem;
    MatX U;
    PreparedModel model;
    PreparedVolume volume;
};

Prepared make_prepared(const MaterialParameters& material,
                       const std::function<ElasticModel(const FemModel&, const MatX&)>& elastic)
{
    Prepared out;
    out.fem = make_fem_model(out.mesh, make_material(material), 900.0, {.damping = {0.1, 0.002}});
    for (int v = 0; v < static_cast<int>(out.mesh.vertex_count()); ++v)
        if (out.mesh.vertices(0, v) < 1e-9) out.volume.pins.push_back(v);
    RestSystem system(out.fem, out.volume.pins);
    Progress silent;
    const Modes modes = linear_modes(system, {.count = 6}, silent);
    out.U = modes.basis.U;
    std::vector<int> origin;
    TriangleMesh surface = boundary_surface(out.mesh, origin);
    surface.fields.push_back({"color", MatX::Constant(3, surface.vertex_count(), 0.5)});
    out.volume.embedding = embed_vertices(origin, out.mesh);
    out.model.name = "bar";
    out.model.reduced = make_reduced_model(out.fem, out.U, elastic(out.fem, out.U));
    out.model.tensors = make_frame_tensors(out.fem, out.U);
    out.model.shown = make_reduced_surface(surface, out.volume.embedding, out.U);
    out.model.contact_stiffness = 1e6;
    out.model.pinned = true;
    out.model.materials = {{.label = 0, .material = material, .density = 900.0}};
    out.model.record = {
        .source = "bar.msh", .settings = "rank 6", .inputs = 77, .eigenvalues = modes.eigenvalues};
    out.volume.mesh = out.mesh;
    out.volume.U = out.U;
    return out;
}

Prepared corotational_bar()
{
    return make_prepared({.kind = MaterialKind::Corotational}, [](const FemModel& fem, const MatX& U) {
        return CubatureElastic(fem, U, all_tets(fem));
    });
}

VecX random_q(Index r, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.0, 0.02);
    return VecX::NullaryExpr(r, [&] { return normal(random); });
}

/// Energy, gradient and stiffness at some q, bit for bit.
void expect_same_elasticity(const ReducedModel& a, const ReducedModel& b)
{
    ReducedElasticWork work;
    ReducedElastic at_a, at_b;
    const VecX q = random_q(a.rank(), 3);
    evaluate_stiffness(a.elastic, q, at_a, work);
    evaluate_stiffness(b.elastic, q, at_b, work);
    EXPECT_GT(at_a.energy, 0.0);
    EXPECT_EQ(at_a.energy, at_b.energy);
    EXPECT_EQ(at_a.gradient, at_b.gradient);
    EXPECT_EQ(at_a.stiffness, at_b.stiffness);
}

TEST(PreparedModel, ComesBackFromItsFileBitForBitWhateverItsElasticity)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "bar.lithe";
    const std::vector<Prepared> all = {
        corotational_bar(),
        make_prepared({.kind = MaterialKind::Linear},
                      [](const FemModel& fem, const MatX& U) { return make_linear_elastic(fem, U); }),
        make_prepared({.kind = MaterialKind::StVenantKirchhoff}, [](const FemModel& fem, const MatX& U) {
            Progress silent;
            return StvkPolynomial(fem, U, silent);
        })};
    for (const Prepared& written : all) {
        write_model(file, written.model, written.volume);
        const auto [read, volume] = read_model_file(file);
        EXPECT_EQ(read.name, "bar");
        EXPECT_EQ(read.reduced.M, written.model.reduced.M);
        EXPECT_EQ(read.reduced.damping.mass, 0.1);
        EXPECT_EQ(read.reduced.damping.stiffness, 0.002);
        expect_same_elasticity(read.reduced, written.model.reduced);
        EXPECT_EQ(read.shown.rest.vertices, written.model.shown.rest.vertices);
        EXPECT_EQ(read.shown.rest.triangles, written.model.shown.rest.triangles);
        EXPECT_NE(find_color(read.shown.rest.fields), nullptr);
        EXPECT_EQ(read.shown.basis, written.model.shown.basis);
        EXPECT_EQ(read.tensors.first, written.model.tensors.first);
        EXPECT_EQ(read.tensors.second, written.model.tensors.second);
        EXPECT_EQ(read.tensors.J0, written.model.tensors.J0);
        EXPECT_EQ(read.contact_stiffness, 1e6);
        EXPECT_TRUE(read.pinned);
        EXPECT_EQ(read.materials.at(0).material.kind, written.model.materials.at(0).material.kind);
        EXPECT_EQ(read.materials.at(0).density, 900.0);
        EXPECT_FALSE(read.materials.at(0).material.limit_stretch);
        EXPECT_EQ(read.record.inputs, 77U);
        EXPECT_EQ(read.record.eigenvalues, written.model.record.eigenvalues);
        EXPECT_EQ(volume.U, written.volume.U);
        EXPECT_EQ(volume.mesh.tets, written.volume.mesh.tets);
        EXPECT_EQ(volume.pins, written.volume.pins);
        EXPECT_EQ(volume.embedding.weights, written.volume.embedding.weights);
    }
}

TEST(PreparedModel, TheSameModelGivesTheSameBytes)
{
    const TemporaryFolder folder;
    const auto bytes = [&](const char* name) {
        const Prepared prepared = corotational_bar();
        write_model(folder.path() / name, prepared.model, prepared.volume);
        std::ifstream in(folder.path() / name, std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(in)), {});
    };
    EXPECT_EQ(bytes("a.lithe"), bytes("b.lithe"));
}

TEST(PreparedModel, RefusesWhatIsNoModelOrDoesNotFitTogether)
{
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "other.lithe";
    ArchiveWriter other;
    other.write("something", 1.0);
    other.save(file);
    EXPECT_NE(message_of([&] { (void)read_model(file); }).find("no prepared model"), std::string::npos);

    Prepared prepared = corotational_bar();
    prepared.model.shown.rest.triangles(0, 0) = 1000;
    write_model(file, prepared.model, prepared.volume);
    const std::string message = message_of([&] { (void)read_model(file); });
    EXPECT_NE(message.find("other.lithe"), std::string::npos);
    EXPECT_NE(message.find("'surface/triangles' refers to 1000"), std::string::npos);

    prepared = corotational_bar();
    prepared.model.tensors.linear(0, 0) = std::nan("");
    write_model(file, prepared.model, prepared.volume);
    EXPECT_NE(message_of([&] { (void)read_model(file); }).find("not finite"), std::string::npos);
}

TEST(PreparedModel, TensorsTellTheMomentaOfTheWholeBody)
{
    for (const MassKind kind : {MassKind::Consistent, MassKind::Lumped}) {
        const FemModel fem = test::bar_model({3, 2, 1}, Corotational({1e5, 0.4}), {.mass = kind});
        RestSystem system(fem, {0, 1, 2});
        Progress silent;
        const MatX U = linear_modes(system, {.count = 7}, silent).basis.U;
        const FrameTensors tensors = make_frame_tensors(fem, U);
        const VecX q = random_q(7, 1), v = random_q(7, 2);
        FemState state = rest_state(fem);
        reconstruct(fem.rest, U, q, state.x);
        reconstruct(Points::Zero(3, fem.vertex_count()), U, v, state.v);
        const Vec3 L = tensors.angular_momentum(q, v);
        EXPECT_LT((tensors.linear * v - linear_momentum(fem, state)).norm(),
                  1e-13 * linear_momentum(fem, state).norm());
        EXPECT_LT((L - angular_momentum(fem, state)).norm(), 1e-12 * angular_momentum(fem, state).norm());
        EXPECT_NEAR(tensors.mass, fem.vertex_mass.sum(), 1e-12);
        const Vec3 first_moment = tensors.mass * tensors.centre + tensors.linear * q;
        EXPECT_LT((first_moment - state.x * fem.vertex_mass).norm(), 1e-12 * first_moment.norm());
    }
}

TEST(PreparedModel, AnEmbeddedSurfaceFollowsTheTets)
{
    const Prepared prepared = corotational_bar();
    TriangleMesh inner;
    inner.vertices = Points(3, 3);
    inner.vertices << 0.11, 0.23, 0.39, 0.03, 0.07, 0.05, 0.05, 0.02, 0.08;
    inner.triangles = Eigen::Vector3i(0, 1, 2);
    const Embedding embedding = embed(inner.vertices, prepared.mesh);
    const ReducedSurface surface = make_reduced_surface(inner, embedding, prepared.U);
    const VecX q = random_q(6, 5);
    Points x, nodes;
    reconstruct(surface, q, x);
    reconstruct(prepared.fem.rest, prepared.U, q, nodes);
    EXPECT_LT((x - deform(embedding, nodes)).cwiseAbs().maxCoeff(), 1e-7); // a basis in float
}

} // namespace
} // namespace lithe
