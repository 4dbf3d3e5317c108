#pragma once
#include "lithe/body/body.hpp"
#include "lithe/dynamics/body_parts.hpp"

namespace lithe {

/// What loads do at time t, in world axes: `add_force(vertex, f)` for every vertex of each. Pressure and wind are those at
/// `motion(vertex)`, a PointMotion; `faces` are the loaded_faces of the loads.
void add_loads(std::span<const TimedLoad> loads, double t, std::span<LoadedFaces> faces, const auto& motion,
               const auto& add_force)
{
    const auto add_surface_load = [&](const Load& load, double factor, LoadedFaces& at) {
        for (std::size_t i = 0; i < at.vertices.size(); ++i) {
            const PointMotion now = motion(at.vertices[i]);
            at.x.col(static_cast<Index>(i)) = now.position;
            at.v.col(static_cast<Index>(i)) = now.velocity;
        }
        const auto* wind = std::get_if<WindLoad>(&load);
        set_surface_force(load, wind ? wind->velocity : Vec3(Vec3::Zero()), at);
        for (std::size_t i = 0; i < at.vertices.size(); ++i)
            add_force(at.vertices[i], Vec3(factor * at.f.col(static_cast<Index>(i))));
    };
    for (std::size_t k = 0; k < loads.size(); ++k) {
        const TimedLoad& timed = loads[k];
        const double factor = timed.factor.at(t);
        if (const auto* force = std::get_if<ForceLoad>(&timed.load))
            for (const int v : timed.vertices)
                add_force(v, Vec3(factor / static_cast<double>(timed.vertices.size()) * force->force));
        else
            add_surface_load(timed.load, factor, faces[k]);
    }
}

} // namespace lithe
