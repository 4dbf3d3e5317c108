#pragma once
#include <memory>
#include <optional>

#include "lithe/body/published.hpp"
#include "lithe/body/state.hpp"
#include "lithe/fem/full_body.hpp"
#include "lithe/reduce/deformation_spheres.hpp"

namespace lithe {

// What all bodies in few coordinates share.

/// A force that scales over time, in reduced coordinates: also on nodes that no surface has.
struct ReducedForce {
    VecX force; ///< U^T f, in the axes of the frame, r [N]
    Keyframes<double> factor = 1.0;
};

/// U_v q at one vertex.
Vec3 displacement(const ReducedSurface& surface, int vertex, const VecX& q);
/// g += U_v^T f.
void add_reduced_force(const ReducedSurface& surface, int vertex, const Vec3& f, VecX& g);

/// The faces that a pressure or a wind acts on, over their own vertices, with room for what it needs there.
struct LoadedFaces {
    std::vector<int> vertices; ///< rising
    Triangles faces;           ///< over `vertices`
    Points x, v, f;            ///< of `vertices`
};
LoadedFaces loaded_faces(const TimedLoad& timed);
/// f of a pressure or a wind of that velocity at x and v, all in the same axes.
void set_surface_force(const Load& load, const Vec3& wind_velocity, LoadedFaces& faces);

/// The model's surface under a name and a colour (those of the model where there are none).
Shown make_shown(const std::shared_ptr<const PreparedModel>& model, const std::string& name,
                 const std::optional<Vec3>& color);
/// One colour instead of the surface's own.
void paint(const Vec3& color, Shown& shown);
/// Few spheres around the shown surface, all of which are asked for its bounds.
DeformationSpheres shown_spheres(const PreparedModel& model);

/// Throw InputError for loads on vertices that are not there and for forces of another size.
void require_loads(std::span<const TimedLoad> loads, Index vertex_count, const std::string& name);
void require_forces(std::span<const ReducedForce> forces, Index rank, const std::string& name);

void write(const VecX& values, StateWriter& out);
VecX read_vector(Index size, StateReader& in);

} // namespace lithe
