#include "lithe/reduce/contact_modes.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "lithe/reduce/modes.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using namespace lithe::test;
using testing::HasSubstr;

namespace {

TetMesh bar_mesh()
{
    return box_tets({8, 2, 2}, Vec3(0.8, 0.2, 0.2));
}

/// The boundary, over the vertices of the tets.
Triangles boundary(const TetMesh& mesh)
{
    std::vector<int> origin;
    Triangles triangles = boundary_surface(mesh, origin).triangles;
    for (int& v : triangles.reshaped()) v = origin[static_cast<std::size_t>(v)];
    return triangles;
}

/// A force along e on the vertices, shared by the area around them, as its definition says.
VecX patch_load(const FemModel& model, const Triangles& surface, const SurfacePatch& patch, const Vec3& e)
{
    VecX f = VecX::Zero(3 * model.vertex_count());
    double sum = 0.0;
    for (const int v : patch) {
        double area = 0.0;
        for (Index t = 0; t < surface.cols(); ++t)
            if ((surface.col(t).array() == v).any()) {
                const Points p = model.rest(Eigen::all, surface.col(t));
                area += 0.5 * Vec3(p.col(1) - p.col(0)).cross(Vec3(p.col(2) - p.col(0))).norm() / 3.0;
            }
        f.segment<3>(3 * v) = area * e;
        sum += area;
    }
    return f / sum;
}

} // namespace

TEST(ContactModes, HoldTheResponsesToTheirLoads)
{
    const FemModel model = bar_model({8, 2, 2});
    const Triangles surface = boundary(bar_mesh());
    const std::vector<SurfacePatch> patches = surface_patches(model.rest, surface, 6);
    for (const std::vector<int>& pins : {std::vector<int>{}, vertices_at(model.rest, 0, 0.0)}) {
        RestSystem system(model, pins);
        const Basis basis = contact_modes(system, surface, patches);
        EXPECT_EQ(basis.rank(), 18);
        EXPECT_LT(orthonormality_error(model, basis.U), 1e-12);
        EXPECT_EQ(basis.kind, BasisKind::ContactModes);
        EXPECT_LT(system.rigid_motions().cols() == 0
                      ? 0.0
                      : gram_error(model, system.rigid_motions(), basis.U,
                                   MatX::Zero(system.rigid_motions().cols(), basis.rank())),
                  1e-9);
        for (const int v : pins) EXPECT_TRUE(basis.U.middleRows<3>(3 * v).isZero(0.0));
        for (const SurfacePatch& patch : patches) {
            SurfacePatch free = patch;
            std::erase_if(free, [&](int v) { return std::ranges::find(pins, v) != pins.end(); });
            if (free.empty()) continue;
            MatX u = patch_load(model, surface, free, Vec3(0.3, -0.8, 0.5));
            (void)system.solve(u);
            u /= std::sqrt((u.transpose() * mass_product(model, u))(0, 0));
            EXPECT_LT(outside_span(model, basis.U, u), 1e-6);
        }
    }
}

/// Behind a few modes they represent pushes at their places, which as many modes more do not.
TEST(ContactModes, ServeTheirLoadsBetterThanFurtherModes)
{
    const FemModel model = bar_model({8, 2, 2});
    const Triangles surface = boundary(bar_mesh());
    RestSystem system(model, vertices_at(model.rest, 0, 0.0));
    Progress progress;
    std::vector<SurfacePatch> patches = surface_patches(model.rest, surface, 24);
    patches.resize(8); // where something will touch
    const std::array bases = {linear_modes(system, {.count = 12}, progress).basis,
                              contact_modes(system, surface, patches)};
    const Basis both = join(model, bases);
    const Basis many = linear_modes(system, {.count = both.rank()}, progress).basis;
    double worst_both = 0.0, worst_many = 0.0;
    for (const SurfacePatch& patch : patches) {
        SurfacePatch free = patch;
        std::erase_if(free, [&](int v) { return model.rest(0, v) < 0.01; });
        if (free.empty()) continue;
        MatX u = patch_load(model, surface, free, Vec3(0.0, 1.0, 0.0));
        (void)system.solve(u);
        const double energy = (u.transpose() * stiffness_product(system.stiffness(), u))(0, 0);
        const auto lost = [&](const MatX& U) { // share of the energy, which sees what is local
            const MatX K = U.transpose() * stiffness_product(system.stiffness(), U);
            const VecX f = U.transpose() * stiffness_product(system.stiffness(), u);
            return 1.0 - f.dot(K.llt().solve(f)) / energy;
        };
        worst_both = std::max(worst_both, lost(both.U));
        worst_many = std::max(worst_many, lost(many.U));
    }
    RecordProperty("share_lost_by_modes", std::to_string(worst_many));
    EXPECT_LT(worst_both, 1e-6);
    EXPECT_GT(worst_many, 0.05);
}

TEST(ContactModes, PatchesCoverTheSurfaceAndAreOfOneWidth)
{
    const FemModel model = bar_model({8, 2, 2});
    const Triangles surface = boundary(bar_mesh());
    const std::vector<SurfacePatch> patches = surface_patches(model.rest, surface, 9);
    std::vector<int> all;
    for (const SurfacePatch& patch : patches) {
        EXPECT_FALSE(patch.empty());
        all.insert(all.end(), patch.begin(), patch.end());
        EXPECT_LT(bounds(model.rest(Eigen::all, patch)).diagonal().norm(), 0.45);
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    EXPECT_EQ(all.size(), 9u * 3 * 3 - 7u); // all but the seven vertices inside
}

TEST(ContactModes, RefuseWhatCannotBe)
{
    const FemModel model = bar_model({8, 2, 2});
    const Triangles surface = boundary(bar_mesh());
    const std::vector<int> pins = vertices_at(model.rest, 0, 0.0);
    RestSystem system(model, pins);
    const auto message = [&](const std::vector<SurfacePatch>& patches) {
        return message_of([&] { (void)contact_modes(system, surface, patches); });
    };
    EXPECT_THAT(message({{0}, {}}), HasSubstr("no vertices"));
    EXPECT_THAT(message({{100000}}), HasSubstr("not on the surface"));
    EXPECT_THAT(message({pins}), HasSubstr("pinned"));
    EXPECT_THAT(message_of([&] { (void)surface_patches(model.rest, surface, 75); }),
                HasSubstr("74 vertices"));
    EXPECT_THAT(message_of([&] { (void)surface_patches(model.rest, surface, 0); }), HasSubstr("0 patches"));
}
