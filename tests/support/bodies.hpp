#pragma once
#include <memory>
#include <string>

#include "lithe/fem/full_body.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/world/obstacle_body.hpp"

namespace lithe::test {

/// A soft cube of side 0.2 m about `centre`, of 2 x 2 x 2 cells.
inline FullBodyModel soft_cube(const std::string& name, const Vec3& centre)
{
    TetMesh mesh = make_box_tets(Vec3::Constant(0.2), 0.1);
    mesh.vertices.colwise() += centre;
    return make_full_body_model(name, mesh, Corotational({5e4, 0.3}), 1000.0);
}

inline std::unique_ptr<FullBody> make_soft_cube(const std::string& name, const Vec3& centre,
                                                const Vec3& velocity = Vec3::Zero())
{
    FullBodyModel model = soft_cube(name, centre);
    const Points v = velocity.replicate(1, model.fem.vertex_count());
    return std::make_unique<FullBody>(std::move(model), v);
}

/// Everything below y = 0.
inline std::unique_ptr<ObstacleBody> make_ground(const std::string& name = "ground")
{
    Shown shown;
    shown.name = name;
    return std::make_unique<ObstacleBody>(ObstacleModel{PlaneShape{}, std::move(shown)});
}

} // namespace lithe::test
