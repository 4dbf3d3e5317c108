#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lithe/render/colormap.hpp"
#include "lithe/render/render.hpp"
#include "lithe/render/sampling.hpp"
#include "lithe/render/shading.hpp"
#include "lithe/render/tracer.hpp"

namespace lithe {

/// What a sample's random points are for; with Refinement added, for the second helping of a pixel with edges.
enum Purpose : std::uint32_t { PixelPosition, SunPosition, SkyDirection, BounceSun, Refinement = 16 };

/// The camera in normalised units and pixels.
struct Lens {
    Vec3f position;
    Eigen::Matrix3f axes;
    float pixel; ///< size of a pixel at distance 1
    float width, height;

    Vec3f direction(const Eigen::Vector2f& at) const
    {
        return (axes * Vec3f((at.x() - 0.5f * width) * pixel, (0.5f * height - at.y()) * pixel, -1.0f))
            .normalized();
    }
    /// In pixels; z is the depth.
    Vec3f project(const Vec3f& point) const
    {
        const Vec3f local = axes.transpose() * (point - position);
        const float scale = 1.0f / (-local.z() * pixel);
        return {0.5f * width + local.x() * scale, 0.5f * height - local.y() * scale, -local.z()};
    }
};

/// One sample of a pixel on its way from the eye to a colour.
struct Sample {
    SampleIndex index;
    std::uint32_t salt = 0; ///< makes the refinement's points differ from the first ones
    Ray ray = {};
    Hit hit = {};
    SurfacePoint point = {};
    std::uint32_t id = Hit::none;
    float alpha = 0.0f, line = 0.0f;
    float visibility = 1.0f;
    Vec3f irradiance = Vec3f::Zero();

    Eigen::Vector2f square(Purpose purpose) const { return sample_square(index, purpose + salt); }
};

/// Takes samples: what they see, and by how much light. Everything in it is constant while it does.
class PathTracer {
public:
    static constexpr std::uint32_t ground_id = 0x7fffffffu; ///< where the number of a surface is expected

    PathTracer(const RenderScene& scene, const Camera& camera, const RenderOptions& options);

    /// Fills in all but `index` and `salt`. Samples of nearby pixels should come together.
    void take(std::vector<Sample>& samples) const;

    const Lens& lens() const { return lens_; }
    const Studio& studio() const { return studio_; }

private:
    void find_points(std::vector<Sample>& samples) const;
    void place(Sample& sample) const;
    void light_by_sun(std::vector<Sample>& samples) const;
    void light_by_sky(std::vector<Sample>& samples) const;
    SurfacePoint surface_point(const Hit& hit, const Ray& ray) const;
    Vec3f albedo(const Hit& hit, bool outside) const;
    float line(const Hit& hit, const Eigen::Vector2f& at) const;
    bool meets_ground(const Ray& ray, float limit, float& t) const;

    const RenderScene& scene_;
    Lines lines_; ///< of surfaces that leave it open
    float line_width_;
    Normalization normalization_;
    Tracer tracer_;
    Lens lens_;
    Studio studio_;
    ColorMap map_;
    std::vector<std::vector<Vec3f>> normals_; ///< per surface and corner
};

} // namespace lithe
