#include "lithe/geometry/shapes.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;

struct ClosedForm {
    std::string spec;
    double area, volume;
    int genus;
};

const std::vector<ClosedForm> closed_forms = {
    {"box:size=1x0.2x0.3", 2 * (0.2 + 0.06 + 0.3), 0.06, 0},
    {"beam:length=2,width=0.2,height=0.3", 2 * (0.6 + 0.06 + 0.4), 0.12, 0},
    {"sphere:radius=1", 4 * pi, 4.0 / 3.0 * pi, 0},
    {"capsule:radius=0.1,length=0.5", 4 * pi * 0.01 + 2 * pi * 0.05, 4.0 / 3.0 * pi * 0.001 + pi * 0.005, 0},
    {"cylinder:radius=0.2,length=0.5", 2 * pi * 0.2 * 0.7, pi * 0.04 * 0.5, 0},
    {"torus:major=1,minor=0.3", 4 * pi* pi * 0.3, 2 * pi* pi * 0.09, 1},
};

TEST(Shapes, AreClosedManifoldsThatConvergeToTheirClosedForms)
{
    Progress progress;
    for (const ClosedForm& form : closed_forms) {
        const double size = std::cbrt(form.volume);
        double last = 1.0;
        for (const double cell : {size / 4, size / 8, size / 16}) {
            const TriangleMesh mesh = make_shape(form.spec, cell, progress);
            const test::Topology topology = test::topology(mesh);
            EXPECT_TRUE(topology.closed && topology.manifold_vertex) << form.spec;
            EXPECT_EQ(topology.genus, form.genus) << form.spec;
            EXPECT_EQ(topology.components, 1) << form.spec;
            const double error = std::abs(volume(mesh) / form.volume - 1.0);
            EXPECT_LT(error, last < 1e-12 ? 1e-12 : last / 2.5) << form.spec; // second order; boxes are exact
            EXPECT_NEAR(area(mesh), form.area, form.area * (error + 1e-12)) << form.spec;
            last = std::max(error, 1e-13);
        }
        EXPECT_LT(last, 0.01) << form.spec;
    }
}

TEST(Shapes, TrianglesAreEvenAndOfTheAskedSize)
{
    Progress progress;
    for (const ClosedForm& form : closed_forms) {
        const double cell = std::cbrt(form.volume) / 10;
        const TriangleMesh mesh = make_shape(form.spec, cell, progress);
        EXPECT_GT(test::smallest_angle(mesh), 18.0) << form.spec;
        const double edge =
            std::sqrt(form.area / static_cast<double>(mesh.triangle_count()) * 4 / std::sqrt(3.0));
        EXPECT_NEAR(edge, cell, 0.25 * cell) << form.spec;
    }
}

TEST(Shapes, TetsOfABoxFillItAndHaveItsSurface)
{
    const TetMesh tets = make_box_tets(Vec3(1, 0.2, 0.3), 0.1);
    EXPECT_EQ(tets.tet_count(), 6 * 10 * 2 * 3);
    for (Index t = 0; t < tets.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
        EXPECT_NEAR(tet_volume(x(0), x(1), x(2), x(3)), 0.001 / 6, 1e-12);
    }
    EXPECT_NEAR(volume(tets), 0.06, 1e-12);
    const TriangleMesh surface = boundary_surface(tets);
    EXPECT_TRUE(test::topology(surface).closed);
    EXPECT_EQ(surface.triangle_count(), make_box(Vec3(1, 0.2, 0.3), 0.1).triangle_count());
}

TEST(Shapes, OnlyBoxesAndBeamsHaveRegularTets)
{
    EXPECT_TRUE(make_shape_tets("box", 0.5));
    EXPECT_TRUE(make_shape_tets("beam:length=1", 0.05));
    EXPECT_FALSE(make_shape_tets("sphere", 0.1));
    EXPECT_FALSE(make_shape_tets("hand", 0.1));
}

TEST(Shapes, EveryShapeHasADefaultSize)
{
    Progress progress;
    for (const char* spec : {"box", "beam", "sphere", "capsule", "cylinder", "torus"}) {
        const Index count = make_shape(spec, std::nullopt, progress).triangle_count();
        EXPECT_GT(count, 3000) << spec;
        EXPECT_LT(count, 8000) << spec;
    }
}

std::string message_of(const std::string& spec, std::optional<double> cell)
{
    Progress progress;
    try {
        (void)make_shape(spec, cell, progress);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Shapes, SayWhatIsWrongWithASpecification)
{
    using testing::HasSubstr;
    EXPECT_THAT(message_of("spere", 0.1), HasSubstr("did you mean 'sphere'?"));
    EXPECT_THAT(message_of("octopuss", 0.1), HasSubstr("did you mean 'octopus'?"));
    EXPECT_THAT(message_of("", 0.1), HasSubstr("no such shape"));
    EXPECT_THAT(message_of("hand:radius=1", 0.1), HasSubstr("no such shape"));
    EXPECT_THAT(message_of("sphere:radios=1", 0.1), HasSubstr("did you mean 'radius'?"));
    EXPECT_THAT(message_of("sphere:1", 0.1), HasSubstr("KEY=VALUE"));
    EXPECT_THAT(message_of("box:size=1x2", 0.1), HasSubstr("three lengths"));
    for (const char* value : {"", "0", "-1", "nan", "inf", "1e9", "1m"})
        EXPECT_THAT(message_of(std::string("sphere:radius=") + value, 0.1), HasSubstr("not a length"))
            << value;
    EXPECT_THAT(message_of("torus:major=1,minor=2", 0.1), HasSubstr("no hole"));
    for (const double cell : {0.0, -1.0, std::nan(""), HUGE_VAL})
        for (const char* spec : {"sphere", "hand"})
            EXPECT_THAT(message_of(spec, cell), HasSubstr("cell")) << cell;
    for (const char* spec : {"sphere", "box", "torus", "capsule", "cylinder", "hand"})
        EXPECT_THAT(message_of(spec, 1e-6), HasSubstr("too fine")) << spec;
    EXPECT_THAT(message_of("no/such/file.shape", 0.1), HasSubstr("no/such/file.shape"));
}

TEST(Shapes, ListNamesEveryShape)
{
    const std::string list = list_shapes();
    for (const char* name : {"box", "torus", "biped", "hand", "fish", "octopus", "cow", "cactus", "kraken",
                             "puffer", "shell", "ship", "trout"})
        EXPECT_THAT(list, testing::HasSubstr(name));
}

} // namespace
} // namespace lithe
