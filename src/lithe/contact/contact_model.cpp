#include "lithe/contact/contact_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

double triangle_area(const Points& x, const Triangles& triangles, Index t)
{
    const Vec3 a = x.col(triangles(0, t)), b = x.col(triangles(1, t)), c = x.col(triangles(2, t));
    return 0.5 * (b - a).cross(c - a).norm();
}

/// For each vertex those that share a tet with it.
void set_neighbours(SelfContactModel& model)
{
    std::vector<std::pair<int, int>> edges;
    for (Index t = 0; t < model.tets.cols(); ++t)
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                if (a != b) edges.emplace_back(model.tets(a, t), model.tets(b, t));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    model.neighbour_start.assign(static_cast<std::size_t>(model.rest.cols()) + 1, 0);
    for (const auto& [from, to] : edges) {
        ++model.neighbour_start[static_cast<std::size_t>(from) + 1];
        model.neighbours.push_back(to);
    }
    std::partial_sum(model.neighbour_start.begin(), model.neighbour_start.end(),
                     model.neighbour_start.begin());
}

std::unique_ptr<const SelfContactModel> make_self_contact(const TetMesh& rest, const TriangleMesh& surface,
                                                          const std::vector<int>& origin)
{
    Triangles triangles = surface.triangles;
    for (int& v : triangles.reshaped()) v = origin[static_cast<std::size_t>(v)];
    const Index count = surface.triangle_count();
    auto model = std::make_unique<SelfContactModel>(
        SelfContactModel{.rest = rest.vertices,
                         .tets = rest.tets,
                         .vertices = origin,
                         .vertex_area = VecX::Zero(static_cast<Index>(origin.size())),
                         .triangle_area = VecX::Zero(count),
                         .triangles = std::move(triangles),
                         .surface = SurfaceQuery({surface.vertices, surface.triangles}),
                         .neighbour_start = {},
                         .neighbours = {}});
    for (Index t = 0; t < count; ++t) {
        model->triangle_area[t] = triangle_area(surface.vertices, surface.triangles, t);
        for (const int v : surface.triangles.col(t)) model->vertex_area[v] += model->triangle_area[t] / 3.0;
    }
    set_neighbours(*model);
    return model;
}

} // namespace

/// Vertices with a twelfth of the triangles around them, then centroids with three quarters of theirs.
std::vector<ContactSample> make_contact_samples(const TriangleMesh& surface)
{
    std::vector<ContactSample> samples;
    for (int v = 0; v < static_cast<int>(surface.vertex_count()); ++v) samples.push_back({{v, v, v}, 1, 0.0});
    for (Index t = 0; t < surface.triangle_count(); ++t) {
        const double area = triangle_area(surface.vertices, surface.triangles, t);
        ContactSample centroid{{}, 3, 0.75 * area};
        for (int a = 0; a < 3; ++a) {
            const int v = surface.triangles(a, t);
            samples[static_cast<std::size_t>(v)].area += area / 12.0;
            centroid.vertices[static_cast<std::size_t>(a)] = v;
        }
        samples.push_back(centroid);
    }
    return samples;
}

ContactModel make_contact_model(const TetMesh& rest, const ContactOptions& options)
{
    ContactModel model;
    model.stiffness = require_positive("contact_stiffness", options.stiffness);
    if (!(options.friction >= 0.0) || !std::isfinite(options.friction))
        throw InputError("friction = " + std::to_string(options.friction) + " must be at least 0 and finite");
    model.friction = options.friction;
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(rest, origin);
    model.samples = make_contact_samples(surface);
    for (ContactSample& sample : model.samples)
        for (int& v : sample.vertices) v = origin[static_cast<std::size_t>(v)];
    if (options.self == SelfContact::On) model.self = make_self_contact(rest, surface, origin);
    return model;
}

} // namespace lithe
