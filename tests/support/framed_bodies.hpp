#pragma once
#include <memory>

#include "lithe/dynamics/framed_body.hpp"
#include "lithe/geometry/shapes.hpp"
#include "reduce/framed_rigs.hpp"

namespace lithe::test {

/// The tets of a body as a free model of that rank; of rank 0 it is rigid.
inline std::shared_ptr<const FramedBodyModel> free_model(const TetMesh& mesh, double young, Index rank,
                                                         const RayleighDamping& damping = {0.0, 1e-4},
                                                         double density = 1000.0)
{
    const FemOptions options{.damping = damping};
    const FemModel fem = make_fem_model(mesh, Linear({young, 0.3}), density, options);
    const MatX S = rank > 0 ? make_modal_rig(mesh, young, rank, options).S : MatX(3 * fem.vertex_count(), 0);
    PreparedModel model;
    model.name = "body";
    model.reduced = make_reduced_model(fem, S, make_linear_elastic(fem, S));
    model.tensors = make_frame_tensors(fem, S);
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(mesh, origin);
    model.shown = make_reduced_surface(surface, embed_vertices(origin, mesh), S);
    model.contact_stiffness = 1.0;
    return std::make_shared<const FramedBodyModel>(std::make_shared<const PreparedModel>(std::move(model)));
}

/// A box of that size, its middle at the origin.
inline std::shared_ptr<const FramedBodyModel> free_box(const Vec3& size, const Eigen::Vector3i& cells,
                                                       double young, Index rank,
                                                       const RayleighDamping& damping = {0.0, 1e-4},
                                                       double density = 1000.0)
{
    TetMesh mesh = box_tets(cells, size);
    mesh.vertices.colwise() -= 0.5 * size;
    return free_model(mesh, young, rank, damping, density);
}

inline std::unique_ptr<FramedBody> framed(const std::string& name,
                                          std::shared_ptr<const FramedBodyModel> model, const Vec3& at,
                                          FramedBodyOptions options = {})
{
    options.name = name;
    options.placement.translation = at;
    return std::make_unique<FramedBody>(std::move(model), std::move(options));
}

} // namespace lithe::test
