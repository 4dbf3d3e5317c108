#pragma once
#include <memory>
#include <mutex>

#include "lithe/body/published.hpp"
#include "lithe/fem/elements.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {

/// The tets behind a prepared model, for those who look at its bodies: no step reads them.
class BodyTets {
public:
    /// Throws InputError for tets of another model.
    BodyTets(const PreparedModel& model, std::shared_ptr<const PreparedVolume> volume);
    BodyTets(std::vector<RegionMaterial> materials, std::shared_ptr<const PreparedVolume> volume);

    const PreparedVolume& volume() const { return *volume_; }
    /// Made when they are first asked for, from any thread: most runs never do.
    const Elements& elements() const;

private:
    std::shared_ptr<const PreparedVolume> volume_;
    std::vector<RegionMaterial> materials_;
    mutable std::once_flag made_;
    mutable Elements elements_;
};

/// Throws InputError, which begins with `who`, unless the tets are those of the model.
void require_fits(const PreparedModel& model, const PreparedVolume& volume, const std::string& who);

/// Von Mises stress at the vertices of the shown surface. [Pa]
VecX surface_stress(const BodyTets& tets, const VecX& q);

/// The middles of the tets that the elasticity is summed over; nothing where it is summed over none or all.
std::vector<Overlay> cubature_overlays(const BodyTets& tets, const VecX& q, const RigidPose& frame);

} // namespace lithe
