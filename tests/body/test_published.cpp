#include <gtest/gtest.h>

#include "lithe/body/published.hpp"
#include "lithe/math/rotation.hpp"
#include "support/surfaces.hpp"

using namespace lithe;

namespace {

Shown morphing(Index shapes)
{
    Shown shown{.name = "morphing", .surface = test::sphere_surface(6)};
    shown.morphs =
        std::make_shared<SurfaceMorphs>(SurfaceMorphs::Random(3 * shown.surface.vertex_count(), shapes));
    return shown;
}

} // namespace

TEST(Published, WeightsMoveTheSurfaceByTheSumOfItsMorphs)
{
    const Shown shown = morphing(5);
    Published now{.frame = {exp_quat({0.3, -0.2, 0.5}), {1.0, 2.0, 3.0}}};
    now.weights = VecX::LinSpaced(5, -0.5, 1.0);
    const VecX u = shown.morphs->cast<double>() * now.weights;
    const Points wanted = shown.surface.vertices + u.reshaped(3, shown.surface.vertex_count());
    EXPECT_LE((surface_in_frame(shown, now) - wanted).cwiseAbs().maxCoeff(),
              1e-6); // a sum of five floats below 1
    EXPECT_LE((surface_in_world(shown, now) - in_world(now.frame, wanted)).cwiseAbs().maxCoeff(), 2e-6);
    EXPECT_GT(u.cwiseAbs().maxCoeff(), 0.1);
}

TEST(Published, PositionsComeFirstAndWithoutEitherTheSurfaceIsAtRest)
{
    const Shown shown = morphing(2);
    Published now;
    EXPECT_EQ(surface_in_world(shown, now), shown.surface.vertices);
    now.weights = VecX::Ones(2);
    now.positions = 2.0 * shown.surface.vertices;
    EXPECT_EQ(surface_in_frame(shown, now), now.positions);
}
