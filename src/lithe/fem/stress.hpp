#pragma once
#include <span>

#include "lithe/body/published.hpp"
#include "lithe/fem/elements.hpp"
#include "lithe/geometry/embedding.hpp"

namespace lithe {

/// sqrt(3/2 s:s), s the deviator of Cauchy's stress  sigma = P F^T / det F.  Of a tet that is turned inside out, with |det F|. [Pa]
double von_mises(const Mat3& F, const Mat3& P);

/// Von Mises stress at the points of a surface: each tet has one, each node the mean of its tets by their volume, each
/// point what the nodes of its tet have by its weights, and no less than zero. [Pa]
VecX surface_stress(const Elements& elements, const Points& x, const Embedding& surface);

/// What bodies call it: Body::fields of those that have nothing else.
std::span<const FieldLabel> stress_labels();

} // namespace lithe
