#include "lithe/dynamics/body_tets.hpp"

#include "lithe/core/error.hpp"
#include "lithe/fem/stress.hpp"

namespace lithe {

void require_fits(const PreparedModel& model, const PreparedVolume& volume, const std::string& who)
{
    if (volume.U.rows() != 3 * volume.mesh.vertex_count() || volume.U.cols() != model.rank() ||
        volume.embedding.point_count() != model.shown.rest.vertex_count())
        throw InputError(who + ": the tets are those of another model");
}

BodyTets::BodyTets(const PreparedModel& model, std::shared_ptr<const PreparedVolume> volume)
    : volume_(std::move(volume)), materials_(region_materials(model.materials))
{
    require_fits(model, *volume_, "model '" + model.name + "'");
}

BodyTets::BodyTets(std::vector<RegionMaterial> materials, std::shared_ptr<const PreparedVolume> volume)
    : volume_(std::move(volume)), materials_(std::move(materials))
{
}

const Elements& BodyTets::elements() const
{
    std::call_once(made_, [&] { elements_ = make_elements(volume_->mesh, materials_); });
    return elements_;
}

VecX surface_stress(const BodyTets& tets, const VecX& q)
{
    Points x;
    reconstruct(tets.volume().mesh.vertices, tets.volume().U, q, x);
    return surface_stress(tets.elements(), x, tets.volume().embedding);
}

std::vector<Overlay> cubature_overlays(const BodyTets& tets, const VecX& q, const RigidPose& frame)
{
    const PreparedVolume& volume = tets.volume();
    const Index count = volume.cubature.size();
    if (count == 0 || count == volume.mesh.tet_count()) return {};
    Overlay out{.name = "cubature points", .points = Points::Zero(3, count)};
    for (Index c = 0; c < count; ++c)
        for (Index a = 0; a < 4; ++a) {
            const Index node = volume.mesh.tets(a, volume.cubature.tets[static_cast<std::size_t>(c)]);
            out.points.col(c) +=
                0.25 * (volume.mesh.vertices.col(node) + volume.U.middleRows<3>(3 * node) * q);
        }
    out.points = in_world(frame, out.points);
    return {std::move(out)};
}

} // namespace lithe
