#include "lithe/render/tracer.hpp"

#include <algorithm>
#include <array>

#include <embree3/rtcore.h>

#include "lithe/core/error.hpp"

namespace lithe {

namespace {

constexpr std::size_t batch = 128; ///< rays handed to Embree at once; a few kB of stack

TracedSurface traced(const RenderSurface& surface, const Normalization& normalization)
{
    TracedSurface out;
    out.vertices.resize(static_cast<std::size_t>(surface.vertices.cols()) +
                        1); // Embree reads 4 bytes past the last
    for (Index i = 0; i < surface.vertices.cols(); ++i)
        out.vertices[static_cast<std::size_t>(i)] =
            normalization.apply(surface.vertices.col(i)).cast<float>();
    out.vertices.back().setZero();
    out.triangles.resize(static_cast<std::size_t>(surface.triangles.cols()));
    for (Index t = 0; t < surface.triangles.cols(); ++t)
        out.triangles[static_cast<std::size_t>(t)] = surface.triangles.col(t).cast<std::uint32_t>();
    return out;
}

RTCRay embree_ray(const Ray& ray)
{
    RTCRay out;
    out.org_x = ray.origin.x();
    out.org_y = ray.origin.y();
    out.org_z = ray.origin.z();
    out.dir_x = ray.direction.x();
    out.dir_y = ray.direction.y();
    out.dir_z = ray.direction.z();
    out.tnear = ray.nearest;
    out.tfar = ray.farthest;
    out.time = 0.0f;
    out.mask = ~0u;
    out.id = 0;
    out.flags = 0;
    return out;
}

RTCIntersectContext embree_context(Coherence coherence)
{
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    if (coherence == Coherence::Coherent) context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    return context;
}

} // namespace

struct Tracer::Embree {
    RTCDevice device = rtcNewDevice(nullptr);
    RTCScene scene = rtcNewScene(device);
    Embree()
    {
        LITHE_ASSERT(device && scene);
        rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    }
    ~Embree()
    {
        rtcReleaseScene(scene);
        rtcReleaseDevice(device);
    }
};

Tracer::Tracer(const RenderScene& scene, const Normalization& normalization)
    : embree_(std::make_unique<Embree>())
{
    for (const RenderSurface& surface : scene.surfaces) surfaces_.push_back(traced(surface, normalization));
    for (std::uint32_t i = 0; i < surfaces_.size(); ++i) {
        TracedSurface& s = surfaces_[i];
        RTCGeometry geometry = rtcNewGeometry(embree_->device, RTC_GEOMETRY_TYPE_TRIANGLE);
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, s.vertices.data(),
                                   0, sizeof(Vec3f), s.vertices.size() - 1);
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, s.triangles.data(),
                                   0, sizeof(s.triangles[0]), s.triangles.size());
        rtcCommitGeometry(geometry);
        rtcAttachGeometryByID(embree_->scene, geometry, i);
        rtcReleaseGeometry(geometry);
    }
    rtcCommitScene(embree_->scene);
    LITHE_ASSERT(rtcGetDeviceError(embree_->device) == RTC_ERROR_NONE);
}

Tracer::~Tracer() = default;

void Tracer::intersect(std::span<const Ray> rays, std::span<Hit> hits, Coherence coherence) const
{
    std::array<RTCRayHit, batch> work;
    RTCIntersectContext context = embree_context(coherence);
    for (std::size_t begin = 0; begin < rays.size(); begin += batch) {
        const std::size_t count = std::min(batch, rays.size() - begin);
        for (std::size_t i = 0; i < count; ++i) {
            work[i].ray = embree_ray(rays[begin + i]);
            work[i].hit.geomID = RTC_INVALID_GEOMETRY_ID;
            work[i].hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        }
        rtcIntersect1M(embree_->scene, &context, work.data(), static_cast<unsigned>(count),
                       sizeof(RTCRayHit));
        for (std::size_t i = 0; i < count; ++i)
            hits[begin + i] = {work[i].hit.geomID, work[i].hit.primID, work[i].ray.tfar, work[i].hit.u,
                               work[i].hit.v};
    }
}

void Tracer::occluded(std::span<const Ray> rays, std::span<std::uint8_t> blocked, Coherence coherence) const
{
    std::array<RTCRay, batch> work;
    RTCIntersectContext context = embree_context(coherence);
    for (std::size_t begin = 0; begin < rays.size(); begin += batch) {
        const std::size_t count = std::min(batch, rays.size() - begin);
        for (std::size_t i = 0; i < count; ++i) work[i] = embree_ray(rays[begin + i]);
        rtcOccluded1M(embree_->scene, &context, work.data(), static_cast<unsigned>(count), sizeof(RTCRay));
        for (std::size_t i = 0; i < count; ++i) blocked[begin + i] = work[i].tfar < 0.0f ? 1 : 0;
    }
}

} // namespace lithe
