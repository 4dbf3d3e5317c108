#include "lithe/render/render.hpp"

#include <numbers>

#include <gtest/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/render/cut.hpp"
#include "lithe/render/shading.hpp"
#include "render/pictures.hpp"
#include "support/meshes.hpp"

namespace lithe {
namespace {

using test::brightness;
using test::scene_of;

Image draw(const RenderScene& scene, const Camera& camera, const RenderOptions& options)
{
    Progress progress;
    return render(scene, camera, options, progress);
}

RenderOptions small(int samples = 4)
{
    RenderOptions options;
    options.width = 160;
    options.height = 120;
    options.samples = samples;
    return options;
}

/// Black behind, so that what is not black is content.
RenderOptions silhouette(int samples)
{
    RenderOptions options = small(samples);
    options.ground = Ground::None;
    options.background = {Vec3::Zero(), Vec3::Zero()};
    return options;
}

int count_lit(const Image& image)
{
    int lit = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) lit += brightness(image, x, y) > 0 ? 1 : 0;
    return lit;
}

TEST(Render, SilhouetteOfASphereHasItsArea)
{
    // A sphere seen from distance d on the axis is a disc of radius r / sqrt(d^2 - r^2) at distance 1.
    RenderOptions options = silhouette(1);
    options.width = options.height = 400;
    const Camera camera = {.position = Vec3(0, 0, 5), .target = Vec3::Zero(), .fov = 0.5};
    const Image image = draw(scene_of(test::sphere(1.0, 6)), camera, options);
    const double radius = 1.0 / std::sqrt(24.0) / std::tan(0.25) * 200.0; // [pixels]
    EXPECT_NEAR(count_lit(image), std::numbers::pi * radius * radius,
                0.01 * std::numbers::pi * radius * radius);
}

TEST(Render, DoesNotDependOnSizeOrPlaceOfTheContent)
{
    TriangleMesh mesh = test::sphere(1.0, 3);
    const Camera camera = frame_content(mesh.vertices, {.aspect = 4.0 / 3.0});
    const Image image = draw(scene_of(mesh), camera, silhouette(4));
    for (double scale : {1e-4, 1e5}) {
        TriangleMesh other = mesh;
        other.vertices = (scale * mesh.vertices).colwise() + scale * Vec3(300, -20, 7);
        const Image same =
            draw(scene_of(other), frame_content(other.vertices, {.aspect = 4.0 / 3.0}), silhouette(4));
        double difference = 0.0;
        for (std::size_t i = 0; i < image.rgb8.size(); ++i)
            difference += std::abs(image.rgb8[i] - same.rgb8[i]);
        EXPECT_LT(difference / static_cast<double>(image.rgb8.size()), 0.5);
    }
}

TEST(Render, ShadowIsUnderTheObjectAlongTheLight)
{
    const Vec3 center(0, 2.0, 0);
    TriangleMesh ball = test::sphere(0.8, 4);
    ball.vertices.colwise() += center;
    RenderOptions options = small(8);
    options.content = Box3(Vec3(-2, 0, -2), Vec3(2, 3, 2)); // the ball floats over the ground
    const Camera camera = {.position = Vec3(0, 9, 8), .target = Vec3(0, 0.5, 0), .fov = 0.8};
    const Image image = draw(scene_of(ball), camera, options);

    const Vec3 sun = make_studio(camera).sun.cast<double>();
    const auto ground = [&](double x, double z) {
        const Eigen::Vector2i p = test::pixel_of(camera, image, {x, 0, z});
        return brightness(image, p.x(), p.y());
    };
    const Vec3 shadow = center - center.y() / sun.y() * sun;
    EXPECT_LT(ground(shadow.x(), shadow.z()), 0.7 * ground(-shadow.x(), -shadow.z()));
    EXPECT_GT(sun.y(), 0.5);              // from above,
    EXPECT_LT(sun.x(), 0.0);              // from the left,
    EXPECT_GT(sun.z(), 0.0);              // from the viewer's side
    EXPECT_LT(shadow.norm(), center.y()); // so the shadow is near
}

TEST(Render, SameBytesForAnyNumberOfThreads)
{
    const RenderScene scene = scene_of(test::sphere(1.0, 5));
    const Camera camera = frame_content(scene.surfaces[0].vertices, {.aspect = 4.0 / 3.0});
    RenderOptions options = small(4);
    options.wireframe = Wireframe{};
    std::vector<std::uint8_t> first;
    for (int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        const Image image = draw(scene, camera, options);
        if (first.empty()) first = image.rgb8;
        EXPECT_EQ(image.rgb8, first) << threads << " threads";
    }
}

TEST(Render, WireframeChangesThePictureAtEdges)
{
    const TriangleMesh cube = test::unit_cube();
    const RenderScene scene = scene_of(cube);
    const Camera camera = frame_content(cube.vertices, {.aspect = 4.0 / 3.0});
    RenderOptions options = small();
    const Image plain = draw(scene, camera, options);
    options.wireframe = Wireframe{.width = 3.0};
    const Image lines = draw(scene, camera, options);

    const auto darker = [&](const Vec3& point) {
        const Eigen::Vector2i p = test::pixel_of(camera, plain, point);
        return brightness(plain, p.x(), p.y()) - brightness(lines, p.x(), p.y());
    };
    EXPECT_GT(darker({1, 0.5, 1}), 100);            // the edge nearest to the camera
    EXPECT_GT(darker({0.5, 0.5, 1}), 100);          // the diagonal of the front
    EXPECT_LT(std::abs(darker({0.75, 0.5, 1})), 4); // between them
}

TEST(Render, CutRemovesTheHalfSpaceAndShowsTheInside)
{
    const TriangleMesh ball = test::sphere(1.0, 5);
    const Camera camera = frame_content(ball.vertices, {.view = View::Front, .aspect = 4.0 / 3.0});
    const int whole = count_lit(draw(scene_of(ball), camera, silhouette(1)));
    const int half =
        count_lit(draw(scene_of(cut_surface(ball, {Vec3::UnitX(), 0.0})), camera, silhouette(1)));
    EXPECT_NEAR(half, 0.5 * whole, 0.02 * whole);

    const SurfaceOptions green = {.color = Vec3(0.1, 0.8, 0.1)};
    const Image open = draw(scene_of(cut_surface(ball, {Vec3::UnitZ(), 0.0}), green), camera, silhouette(4));
    const std::uint8_t* middle = open.pixel(open.width / 2, open.height / 2);
    EXPECT_GT(middle[0], middle[1]); // red-brown inside, not green
}

TEST(Render, ColoursComeFromFieldAndMap)
{
    TriangleMesh ball = test::sphere(1.0, 4);
    const Camera camera = frame_content(ball.vertices, {.view = View::Front, .aspect = 4.0 / 3.0});
    MatX colors = MatX::Zero(3, ball.vertex_count());
    for (Index i = 0; i < colors.cols(); ++i) colors(ball.vertices(0, i) < 0.0 ? 0 : 2, i) = 1.0;
    ball.fields.push_back({"color", colors});
    ball.fields.push_back({"x", ball.vertices.row(0)});
    const Image image = draw(scene_of(ball), camera, silhouette(4));
    const std::uint8_t *left = image.pixel(50, 60), *right = image.pixel(110, 60);
    EXPECT_GT(left[0], left[2] + 60);
    EXPECT_GT(right[2], right[0] + 60);

    const auto mapped = [&](double low, double high) {
        const RenderScene scene = scene_of(ball, {.color_by = ColorBy{"x", low, high}});
        return brightness(draw(scene, camera, silhouette(4)), 100, 60);
    };
    EXPECT_GT(mapped(-1.0, 1.0),
              mapped(1.0, -1.0) + 60); // the light end of the map on the right, or the dark one
}

TEST(Render, ASheetThatLiesInTheGroundHidesIt)
{
    TriangleMesh sheet{Points(3, 4), Triangles(3, 2), {}};
    sheet.vertices << -3, 3, 3, -3, 0.37, 0.37, 0.37, 0.37, 3, 3, -3, -3;
    sheet.triangles << 0, 0, 1, 2, 2, 3;
    const Camera camera = {.position = Vec3(1.3, 2.9, 4.1), .target = Vec3(0, 0.37, 0), .fov = 0.3};
    const Image image = draw(scene_of(sheet, {.color = Vec3(0.9, 0.05, 0.05)}), camera, small(1));
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            EXPECT_GT(image.pixel(x, y)[0], image.pixel(x, y)[1] + 40) << x << ' ' << y;
}

TEST(Render, BackgroundIsShownAsGiven)
{
    RenderOptions options = small(1);
    options.ground = Ground::None;
    options.background = {Vec3(1, 0.5, 0), Vec3(1, 0.5, 0)};
    const TriangleMesh ball = test::sphere(1.0, 2);
    const Image image = draw(scene_of(ball), frame_content(ball.vertices, {.aspect = 4.0 / 3.0}), options);
    EXPECT_EQ(image.pixel(1, 1)[0], 255);
    EXPECT_EQ(image.pixel(1, 1)[1], 128);
    EXPECT_EQ(image.pixel(1, 1)[2], 0);
}

TEST(Render, MoreSamplesConvergeToTheSamePicture)
{
    // The filter must not move the mean: a picture with few samples and much filter agrees with one without filter.
    const TriangleMesh ball = test::sphere(1.0, 4);
    const Camera camera = frame_content(ball.vertices, {.aspect = 4.0 / 3.0});
    const Image few = draw(scene_of(ball), camera, small(16)),
                many = draw(scene_of(ball), camera, small(256));
    double sum = 0.0, square = 0.0;
    for (std::size_t i = 0; i < few.rgb8.size(); ++i) {
        const double difference = few.rgb8[i] - many.rgb8[i];
        sum += difference;
        square += difference * difference;
    }
    const auto count = static_cast<double>(few.rgb8.size());
    EXPECT_LT(std::abs(sum / count), 0.2);
    EXPECT_LT(std::sqrt(square / count), 2.0);
}

TEST(Render, EmptyAndBrokenScenesAreRefused)
{
    const Camera camera;
    EXPECT_THROW(draw({}, camera, small()), InputError);
    EXPECT_THROW(draw(scene_of(TriangleMesh{Points::Zero(3, 4), Triangles(3, 0), {}}), camera, small()),
                 InputError);
    TriangleMesh broken = test::unit_cube();
    broken.vertices(0, 0) = std::numeric_limits<double>::infinity();
    EXPECT_THROW(draw(scene_of(broken), camera, small()), InputError);
    EXPECT_THROW(draw(scene_of(test::unit_cube()), camera, small(0)), InputError);
    RenderOptions huge = small();
    huge.width = 1 << 20;
    EXPECT_THROW(draw(scene_of(test::unit_cube()), camera, huge), InputError);
}

TEST(Render, StopsWhenAsked)
{
    std::stop_source stop;
    Progress progress(
        [&](const ProgressEvent& event) {
            if (event.fraction > 0.2) stop.request_stop();
        },
        stop.get_token());
    const TriangleMesh ball = test::sphere(1.0, 3);
    EXPECT_THROW((void)render(scene_of(ball), frame_content(ball.vertices, {}), small(), progress),
                 Interrupted);
}

} // namespace
} // namespace lithe
