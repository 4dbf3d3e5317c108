#include "lithe/contact/contact_model.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "support/meshes.hpp"

using namespace lithe;
using namespace lithe::test;

TEST(ContactModel, SamplesCoverTheSurface)
{
    const ContactModel model = make_contact_model(unit_cube_tets(3), {.stiffness = 1e6, .friction = 0.3});
    EXPECT_EQ(model.samples.size(), 56u + 108u); // vertices and triangles of the surface
    double area = 0.0;
    for (const ContactSample& sample : model.samples) area += sample.area;
    EXPECT_NEAR(area, 6.0, 1e-12);
    EXPECT_EQ(model.friction, 0.3);
    EXPECT_EQ(model.stiffness, 1e6);
    EXPECT_FALSE(model.self);
}

// The samples integrate quadratics over the surface: x^2 over a cube's faces is 4/3 + 0 + 1.
TEST(ContactModel, SamplesIntegrateQuadratics)
{
    const TetMesh mesh = unit_cube_tets(2);
    const ContactModel model = make_contact_model(mesh, {.stiffness = 1.0});
    double sum = 0.0;
    for (const ContactSample& sample : model.samples)
        sum += sample.area * std::pow(sample.position(mesh.vertices).x(), 2);
    EXPECT_NEAR(sum, 4.0 / 3.0 + 1.0, 1e-12);
}

TEST(ContactModel, SelfContactKnowsTheSurface)
{
    const TetMesh mesh = unit_cube_tets(2);
    const ContactModel model = make_contact_model(mesh, {.stiffness = 1.0, .self = SelfContact::On});
    ASSERT_TRUE(model.self);
    EXPECT_NEAR(model.self->vertex_area.sum(), 6.0, 1e-12);
    EXPECT_NEAR(model.self->triangle_area.sum(), 6.0, 1e-12);
    EXPECT_TRUE(std::ranges::is_sorted(model.self->vertices));
    // vertex 0 is a corner; every walk through its cell begins there
    EXPECT_EQ(model.self->neighbour_start[1] - model.self->neighbour_start[0], 7);
}

TEST(ContactModel, RefusesNonsense)
{
    const TetMesh mesh = unit_tet();
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW((void)make_contact_model(mesh, {.stiffness = bad}), InputError);
    for (const double bad : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW((void)make_contact_model(mesh, {.stiffness = 1.0, .friction = bad}), InputError);
    EXPECT_NO_THROW((void)make_contact_model(mesh, {.stiffness = 1.0, .friction = 0.0}));
}
