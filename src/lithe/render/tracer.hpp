#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lithe/render/scene.hpp"

namespace lithe {

using Vec3f = Eigen::Vector3f;

/// Moves the content into the unit ball around the origin, so that float rays and fixed offsets suit every size.
struct Normalization {
    Vec3 center = Vec3::Zero(); ///< [m]
    double scale = 1.0;         ///< [1/m]
    Vec3 apply(const Vec3& point) const { return scale * (point - center); }
};

struct Ray {
    Vec3f origin, direction; ///< direction is unit
    float nearest = 0.0f;
    float farthest = 1e30f;
};

/// What a ray met first: the point (1 - u - v) a + u b + v c of a triangle of a surface.
struct Hit {
    static constexpr std::uint32_t none = ~0u;
    std::uint32_t surface = none, triangle = 0;
    float t = 0.0f, u = 0.0f, v = 0.0f;
    bool valid() const { return surface != none; }
};

/// Whether neighbours in a batch of rays take similar ways.
enum class Coherence { Coherent, Incoherent };

/// One surface in float, normalised.
struct TracedSurface {
    std::vector<Vec3f> vertices;
    std::vector<Eigen::Matrix<std::uint32_t, 3, 1>> triangles;
};

/// Answers which triangle a ray meets (Embree).
class Tracer {
public:
    Tracer(const RenderScene& scene, const Normalization& normalization);
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    void intersect(std::span<const Ray> rays, std::span<Hit> hits, Coherence coherence) const;
    /// Sets blocked[i] to 1 when anything is in the way of ray i, else to 0.
    void occluded(std::span<const Ray> rays, std::span<std::uint8_t> blocked, Coherence coherence) const;

    const TracedSurface& surface(std::uint32_t i) const { return surfaces_[i]; }

private:
    struct Embree;
    std::unique_ptr<Embree> embree_;
    std::vector<TracedSurface> surfaces_;
};

} // namespace lithe
