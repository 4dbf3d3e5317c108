#pragma once
#include <memory>

#include "lithe/body/published.hpp"
#include "lithe/fem/elements.hpp"
#include "lithe/reduce/prepared_model.hpp"

namespace lithe {

/// The tets behind a prepared model, for those who look at its bodies: no step reads them.
struct BodyTets {
    /// Throws InputError for tets of another model.
    BodyTets(const PreparedModel& model, std::shared_ptr<const PreparedVolume> tets);

    std::shared_ptr<const PreparedVolume> volume;
    Elements elements;
};

/// Von Mises stress at the vertices of the shown surface. [Pa]
VecX surface_stress(const BodyTets& tets, const VecX& q);

/// The middles of the tets that the elasticity is summed over; nothing where it is summed over none or all.
std::vector<Overlay> cubature_overlays(const BodyTets& tets, const VecX& q, const RigidPose& frame);

} // namespace lithe
