#include "lithe/render/camera.hpp"

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"

namespace lithe {
namespace {

Points random_points(int count, const Vec3& size, const Vec3& center, std::uint64_t seed)
{
    Random random(seed);
    Points points(3, count);
    for (Index i = 0; i < count; ++i)
        for (int c = 0; c < 3; ++c) points(c, i) = center[c] + size[c] * random.uniform(-1.0, 1.0);
    return points;
}

constexpr View views[] = {View::Front, View::Side, View::Top, View::ThreeQuarter, View::Gallery};

TEST(Camera, FramesAllPointsWithTheMarginAndNoMore)
{
    const Vec3 shapes[] = {{1, 1, 1}, {10, 0.1, 0.1}, {0.01, 3, 0.02}, {1e4, 2e4, 1e4}, {1, 0, 1}};
    for (View view : views)
        for (const Vec3& shape : shapes)
            for (double aspect : {0.5, 1.0, 16.0 / 9.0}) {
                const Points points = random_points(50, shape, Vec3(3, -2, 5), 7);
                const Camera camera = frame_content(points, {.view = view, .aspect = aspect, .margin = 0.1});
                double outermost = 0.0, nearest = 1e300;
                for (const auto& p : points.colwise()) {
                    const Vec3 at = project(camera, aspect, p);
                    ASSERT_GT(at.z(), 0.0);
                    nearest = std::min(nearest, at.z());
                    outermost = std::max(outermost, at.head<2>().cwiseAbs().maxCoeff());
                }
                EXPECT_LE(outermost, 0.9 + 1e-9);
                // The nearest such camera: something touches the margin, or the lens.
                const bool at_lens = nearest < 1.01e-3 * bounds(points).diagonal().norm();
                EXPECT_TRUE(at_lens || outermost >= 0.9 - 1e-6) << outermost;
            }
}

TEST(Camera, SeesWhatIsAboveAbove)
{
    const Points points = random_points(20, Vec3::Ones(), Vec3::Zero(), 3);
    for (View view : {View::Front, View::Side, View::ThreeQuarter, View::Gallery}) {
        const Camera camera = frame_content(points, {.view = view});
        EXPECT_GT(project(camera, 1.0, {0, 0.5, 0}).y(), project(camera, 1.0, {0, -0.5, 0}).y());
    }
    const Camera top = frame_content(points, {.view = View::Top});
    EXPECT_GT(project(top, 1.0, {0.5, 0, 0}).x(), project(top, 1.0, {-0.5, 0, 0}).x());
    EXPECT_LT(project(top, 1.0, {0, 0, 0.5}).y(), project(top, 1.0, {0, 0, -0.5}).y());
}

TEST(Camera, FramesASinglePoint)
{
    const Points point = Vec3(1, 2, 3);
    const Camera camera = frame_content(point, {});
    EXPECT_GT(project(camera, 1.0, point).z(), 0.0);
    EXPECT_NEAR(project(camera, 1.0, point).head<2>().norm(), 0.0, 1e-12);
}

TEST(Camera, RefusesWhatIsNotDefined)
{
    EXPECT_THROW(frame_content(Points(3, 0), {}), InputError);
    EXPECT_THROW(frame_content(Points::Zero(3, 1), {.aspect = 0.0}), InputError);
    EXPECT_THROW(frame_content(Points::Zero(3, 1), {.fov = 4.0}), InputError);
    EXPECT_THROW(frame_content(Points::Zero(3, 1), {.margin = 1.0}), InputError);
    EXPECT_THROW(camera_axes({.position = Vec3::Zero(), .target = Vec3::Zero()}), InputError);
    EXPECT_THROW(camera_axes({.position = Vec3::UnitY(), .target = Vec3::Zero()}), InputError);
}

} // namespace
} // namespace lithe
