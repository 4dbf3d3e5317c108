#pragma once
#include <memory>

#include "fem/beams.hpp"
#include "lithe/dynamics/reduced_body.hpp"
#include "lithe/reduce/modes.hpp"

namespace lithe::test {

/// A body with everything that a prepared model is made from.
struct Reduction {
    TetMesh mesh;
    FemModel fem;
    std::vector<int> pins;
    MatX U;
    std::shared_ptr<const PreparedModel> model;
    std::vector<int> origin; ///< the vertex of the mesh behind each vertex of the surface
};

/// One unit displacement for each coordinate of each vertex that is not pinned: complete, and exact in single precision.
inline MatX unit_basis(Index vertex_count, const std::vector<int>& pins)
{
    std::vector<Index> free;
    for (Index i = 0; i < 3 * vertex_count; ++i)
        if (std::ranges::find(pins, static_cast<int>(i / 3)) == pins.end()) free.push_back(i);
    MatX U = MatX::Zero(3 * vertex_count, static_cast<Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) U(free[k], static_cast<Index>(k)) = 1.0;
    return U;
}

/// The model of a body with a basis and all of its tets as cubature.
inline Reduction make_reduction(const TetMesh& mesh, const Material& material, std::vector<int> pins, MatX U,
                                const FemOptions& options = {})
{
    Reduction out{mesh, make_fem_model(mesh, material, 1000.0, options), std::move(pins), std::move(U), {},
                  {}};
    const TriangleMesh surface = boundary_surface(mesh, out.origin);
    PreparedModel model;
    model.name = "body";
    model.reduced = make_reduced_model(out.fem, out.U, CubatureElastic(out.fem, out.U, all_tets(out.fem)));
    model.tensors = make_frame_tensors(out.fem, out.U);
    model.shown = make_reduced_surface(surface, embed_vertices(out.origin, mesh), out.U);
    model.contact_stiffness = make_contact_model(out.fem).stiffness;
    model.pinned = !out.pins.empty();
    model.mass_kind = options.mass;
    model.materials = {
        {.material = {.kind = MaterialKind::Corotational, .elastic = {1e5, 0.4}}}}; // of our bars
    out.model = std::make_shared<const PreparedModel>(std::move(model));
    return out;
}

/// A soft bar along x, held at x = 0, in the coordinates of all its nodes.
inline Reduction complete_bar(const Eigen::Vector3i& cells, const FemOptions& options = {})
{
    const TetMesh mesh = box_tets(cells, 0.1 * cells.cast<double>());
    const std::vector<int> pins = vertices_at(mesh.vertices, 0, 0.0);
    return make_reduction(mesh, Corotational({1e5, 0.4}), pins, unit_basis(mesh.vertex_count(), pins),
                          options);
}

/// The same in its linear modes.
inline Reduction modal_bar(const Eigen::Vector3i& cells, Index rank, const FemOptions& options = {})
{
    const TetMesh mesh = box_tets(cells, 0.1 * cells.cast<double>());
    const std::vector<int> pins = vertices_at(mesh.vertices, 0, 0.0);
    const FemModel fem = make_fem_model(mesh, Corotational({1e5, 0.4}), 1000.0, options);
    RestSystem system(fem, pins);
    Progress progress;
    return make_reduction(mesh, Corotational({1e5, 0.4}), pins,
                          linear_modes(system, {.count = rank}, progress).basis.U, options);
}

/// The tets behind it.
inline PreparedVolume volume_of(const Reduction& reduction)
{
    return {.mesh = reduction.mesh,
            .pins = reduction.pins,
            .U = reduction.U,
            .cubature = all_tets(reduction.fem),
            .embedding = embed_vertices(reduction.origin, reduction.mesh)};
}

/// The same body in full space.
inline FullBodyModel full_model(const Reduction& reduction, const ContactOptions& contact = {})
{
    FullBodyModel model;
    model.fem = reduction.fem;
    model.shown.name = "full";
    model.shown.surface = reduction.model->shown.rest;
    model.embedding = embed_vertices(reduction.origin, reduction.mesh);
    model.pins.push_back({.vertices = reduction.pins});
    model.contact = make_contact_model(reduction.fem, contact);
    return model;
}

/// x = X + U q at all nodes.
inline Points nodes_of(const Reduction& reduction, const VecX& q)
{
    Points x;
    reconstruct(reduction.fem.rest, reduction.U, q, x);
    return x;
}

} // namespace lithe::test
