#include "lithe/dynamics/body_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr Index sphere_count = 32; ///< around a shown surface

void require_vertices(std::span<const int> vertices, Index count, const std::string& name)
{
    for (const int v : vertices)
        if (v < 0 || v >= count)
            throw InputError(fmt::format(
                "body '{}': a load acts on vertex {} of its surface, but there are {}", name, v, count));
}

std::vector<ContactSample> vertices_of(const TriangleMesh& surface)
{
    std::vector<ContactSample> samples;
    for (int v = 0; v < static_cast<int>(surface.vertex_count()); ++v) samples.push_back({{v, v, v}, 1, 0.0});
    return samples;
}

} // namespace

Vec3 displacement(const ReducedSurface& surface, int vertex, const VecX& q)
{
    Vec3 u;
    for (int c = 0; c < 3; ++c)
        u[c] = surface.basis.row(3 * static_cast<Index>(vertex) + c).cast<double>().dot(q.transpose());
    return u;
}

void add_reduced_force(const ReducedSurface& surface, int vertex, const Vec3& f, VecX& g)
{
    for (int c = 0; c < 3; ++c)
        g += f[c] * surface.basis.row(3 * static_cast<Index>(vertex) + c).cast<double>().transpose();
}

LoadedFaces loaded_faces(const TimedLoad& timed)
{
    LoadedFaces out;
    out.vertices.assign(timed.faces.data(), timed.faces.data() + timed.faces.size());
    std::ranges::sort(out.vertices);
    out.vertices.erase(std::ranges::unique(out.vertices).begin(), out.vertices.end());
    out.faces = timed.faces.unaryExpr([&](int v) {
        return static_cast<int>(std::ranges::lower_bound(out.vertices, v) - out.vertices.begin());
    });
    out.x.resize(3, static_cast<Index>(out.vertices.size()));
    out.v = out.f = out.x;
    return out;
}

void set_surface_force(const Load& load, const Vec3& wind_velocity, LoadedFaces& faces)
{
    faces.f.setZero();
    if (const auto* pressure = std::get_if<PressureLoad>(&load))
        add_pressure(faces.faces, faces.x, pressure->pressure, faces.f);
    if (const auto* wind = std::get_if<WindLoad>(&load)) {
        WindLoad here = *wind;
        here.velocity = wind_velocity;
        add_wind(faces.faces, faces.x, faces.v, here, faces.f);
    }
}

Shown make_shown(const std::shared_ptr<const PreparedModel>& model, const std::string& name,
                 const std::optional<Vec3>& color)
{
    Shown shown;
    shown.name = name.empty() ? model->name : name;
    shown.surface = model->shown.rest;
    shown.morphs = std::shared_ptr<const SurfaceMorphs>(model, &model->shown.basis);
    if (color) paint(*color, shown);
    return shown;
}

void paint(const Vec3& color, Shown& shown)
{
    shown.color = color;
    std::erase_if(shown.surface.fields, [](const VertexField& f) { return f.name == "color"; });
}

DeformationSpheres shown_spheres(const PreparedModel& model)
{
    return DeformationSpheres(model.shown, vertices_of(model.shown.rest),
                              std::max<Index>(1, model.shown.rest.vertex_count() / sphere_count));
}

void require_loads(std::span<const TimedLoad> loads, Index vertex_count, const std::string& name)
{
    for (const TimedLoad& load : loads) {
        require_vertices(load.vertices, vertex_count, name);
        require_vertices({load.faces.data(), static_cast<std::size_t>(load.faces.size())}, vertex_count,
                         name);
        if (std::holds_alternative<ForceLoad>(load.load) && load.vertices.empty())
            throw InputError(fmt::format("body '{}': a force acts on no vertex", name));
    }
}

void require_forces(std::span<const ReducedForce> forces, Index rank, const std::string& name)
{
    for (const ReducedForce& force : forces)
        if (force.force.size() != rank || !force.force.allFinite())
            throw InputError(fmt::format("body '{}': a reduced force needs {} finite numbers", name, rank));
}

void write(const VecX& values, StateWriter& out)
{
    for (const double value : values) out.write(value);
}

VecX read_vector(Index size, StateReader& in)
{
    VecX values(size);
    for (double& value : values) value = in.read_number();
    return values;
}

} // namespace lithe
