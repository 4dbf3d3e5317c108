#include "lithe/prepare/select.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lithe {
namespace {

std::string text_of(const Vec3& v)
{
    return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", v[0], v[1], v[2]);
}

const MatX& require_color(const TetMesh& mesh)
{
    if (const VertexField* color = find_color(mesh.fields)) return color->values;
    throw InputError(
        "the mesh has no vertex colours to select by; use a box, a sphere or a list of vertices");
}

bool matches(const ColorSelector& selector, const Vec3& color)
{
    return (color - selector.color).cwiseAbs().maxCoeff() <= selector.tolerance;
}

/// Collects the vertices for which `holds` is true.
template <class F>
std::vector<int> vertices_where(const TetMesh& mesh, const F& holds)
{
    std::vector<int> out;
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        if (holds(v)) out.push_back(static_cast<int>(v));
    return out;
}

std::vector<int> find(const AllSelector&, const TetMesh& mesh)
{
    return vertices_where(mesh, [](Index) { return true; });
}

std::vector<int> find(const BoxSelector& box, const TetMesh& mesh)
{
    const Box3 region(box.low, box.high);
    return vertices_where(mesh, [&](Index v) { return region.contains(mesh.vertices.col(v)); });
}

std::vector<int> find(const SideSelector& side, const TetMesh& mesh)
{
    const Box3 box = bounds(mesh.vertices);
    const double depth = side.share * box.sizes()[side.axis];
    return vertices_where(mesh, [&](Index v) {
        const double x = mesh.vertices(side.axis, v);
        return side.end == SideSelector::End::Low ? x <= box.min()[side.axis] + depth
                                                  : x >= box.max()[side.axis] - depth;
    });
}

std::vector<int> find(const SphereSelector& ball, const TetMesh& mesh)
{
    return vertices_where(
        mesh, [&](Index v) { return (mesh.vertices.col(v) - ball.centre).norm() <= ball.radius; });
}

std::vector<int> find(const ListSelector& list, const TetMesh& mesh)
{
    std::vector<int> out = list.vertices;
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    for (const int v : out)
        if (v < 0 || v >= mesh.vertex_count())
            throw InputError(fmt::format("there is no vertex {}; the tets have {} (0 to {})", v,
                                         mesh.vertex_count(), mesh.vertex_count() - 1));
    return out;
}

std::vector<int> find(const ColorSelector& selector, const TetMesh& mesh)
{
    const MatX& color = require_color(mesh);
    return vertices_where(mesh, [&](Index v) { return matches(selector, color.col(v)); });
}

} // namespace

std::vector<int> select_vertices(const Selector& selector, const TetMesh& mesh)
{
    std::vector<int> out = std::visit([&](const auto& one) { return find(one, mesh); }, selector);
    if (out.empty()) {
        const Box3 box = bounds(mesh.vertices);
        throw InputError(fmt::format("no vertex is selected here; the body reaches from {} to {}",
                                     text_of(box.min()), text_of(box.max())));
    }
    return out;
}

Triangles select_faces(std::span<const int> vertices, const TetMesh& mesh)
{
    std::vector<unsigned char> chosen(static_cast<std::size_t>(mesh.vertex_count()), 0);
    for (const int v : vertices) chosen[static_cast<std::size_t>(v)] = 1;
    std::vector<int> origin;
    const TriangleMesh surface = boundary_surface(mesh, origin);
    Triangles faces(3, surface.triangle_count());
    Index count = 0;
    for (Index t = 0; t < surface.triangle_count(); ++t) {
        Eigen::Vector3i face;
        for (int c = 0; c < 3; ++c) face[c] = origin[static_cast<std::size_t>(surface.triangles(c, t))];
        if (chosen[static_cast<std::size_t>(face[0])] && chosen[static_cast<std::size_t>(face[1])] &&
            chosen[static_cast<std::size_t>(face[2])])
            faces.col(count++) = face;
    }
    if (count == 0)
        throw InputError("no face of the surface lies between the selected vertices; select more");
    return faces.leftCols(count);
}

std::vector<int> select_tets(const std::variant<int, ColorSelector>& part, const TetMesh& mesh)
{
    std::vector<int> out;
    if (const int* label = std::get_if<int>(&part)) {
        for (std::size_t t = 0; t < mesh.regions.size(); ++t)
            if (mesh.regions[t] == *label) out.push_back(static_cast<int>(t));
        if (!out.empty()) return out;
        const std::set<int> known(mesh.regions.begin(), mesh.regions.end());
        throw InputError(known.empty() ? std::string("the tets have no labels")
                                       : fmt::format("no tet has the label {}; there are {}", *label,
                                                     fmt::join(known, ", ")));
    }
    const auto& selector = std::get<ColorSelector>(part);
    const MatX& color = require_color(mesh);
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        Vec3 mean = Vec3::Zero();
        for (int a = 0; a < 4; ++a) mean += 0.25 * color.col(mesh.tets(a, t));
        if (matches(selector, mean)) out.push_back(static_cast<int>(t));
    }
    if (out.empty())
        throw InputError(
            fmt::format("no tet has the colour {} within {}", text_of(selector.color), selector.tolerance));
    return out;
}

Vec3 middle(std::span<const int> vertices, const TetMesh& mesh)
{
    Box3 box;
    for (const int v : vertices) box.extend(Vec3(mesh.vertices.col(v)));
    return box.center();
}

} // namespace lithe
