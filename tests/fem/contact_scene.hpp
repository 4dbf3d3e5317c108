#pragma once
#include <memory>
#include <numbers>

#include "beams.hpp"
#include "lithe/fem/loads.hpp"
#include "lithe/fem/solve.hpp"

namespace lithe::test {

/// A ball about the origin: a cube of n x n x n cells blown up, six tets a cell.
inline TetMesh ball_tets(int n, double radius)
{
    TetMesh mesh = box_tets({n, n, n}, {2.0, 2.0, 2.0});
    for (Index i = 0; i < mesh.vertex_count(); ++i) {
        const Vec3 p = mesh.vertices.col(i) - Vec3::Ones();
        const double length = p.norm();
        mesh.vertices.col(i) = length > 0.0 ? Vec3(radius * p.cwiseAbs().maxCoeff() / length * p) : p;
    }
    return mesh;
}

/// A body under gravity among obstacles.
class ContactWorld {
public:
    FemModel model;
    ContactModel contact;
    FemState state;
    Vec3 gravity = {0.0, -9.81, 0.0};
    PinnedVertices pins;
    FemWork work;

    ContactWorld(const TetMesh& mesh, const Material& material, double density,
                 const ContactOptions& options = {})
        : model(make_fem_model(mesh, material, density)), contact(make_contact_model(model, options)),
          state(rest_state(model))
    {
    }
    Obstacle& add(const RigidShape& shape, const RigidPose& pose = {}, double friction = 0.5)
    {
        shapes_.push_back(std::make_unique<RigidShape>(shape));
        obstacles.push_back({.key = 10 + obstacles.size(),
                             .shape = shapes_.back().get(),
                             .pose_0 = pose,
                             .pose_1 = pose,
                             .friction = friction});
        return obstacles.back();
    }
    Loading loading() const
    {
        Loading out{.force = Points::Zero(3, model.vertex_count()),
                    .pins = pins,
                    .obstacles = obstacles,
                    .contact = &contact};
        add_gravity(model, gravity, out.force);
        return out;
    }
    SolveReport step(double h, const NewtonOptions& newton = {})
    {
        return step_backward_euler(model, loading(), h, newton, state, work);
    }
    Vec3 centre() const { return state.x * model.vertex_mass / model.vertex_mass.sum(); }
    double size() const { return bounds(model.rest).sizes().maxCoeff(); }
    void move(const Vec3& by) { state.x.colwise() += by; }

    std::vector<Obstacle> obstacles;

private:
    std::vector<std::unique_ptr<RigidShape>> shapes_; ///< where the obstacles point
};

} // namespace lithe::test
