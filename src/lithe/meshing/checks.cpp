#include "lithe/meshing/checks.hpp"

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {

void require_valid(const TriangleMesh& mesh)
{
    for (Index t = 0; t < mesh.triangle_count(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int v = mesh.triangles(k, t);
            if (v < 0 || v >= mesh.vertex_count())
                throw InputError(fmt::format("triangle {} names vertex {}, but there are {} (counted from 0)",
                                             t, v, mesh.vertex_count()));
        }
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        if (!mesh.vertices.col(v).allFinite())
            throw InputError(
                fmt::format("vertex {} (counted from 0) has a coordinate that is not finite", v));
    for (const VertexField& field : mesh.fields)
        if (field.values.cols() != mesh.vertex_count())
            throw InputError(fmt::format("field '{}' has {} values for {} vertices", field.name,
                                         field.values.cols(), mesh.vertex_count()));
}

std::string counted(Index count, std::string_view thing)
{
    if (count == 1) return fmt::format("1 {}", thing);
    if (thing.ends_with("ex")) return fmt::format("{} {}ices", count, thing.substr(0, thing.size() - 2));
    if (thing.ends_with("y")) return fmt::format("{} {}ies", count, thing.substr(0, thing.size() - 1));
    return fmt::format("{} {}{}", count, thing, thing.ends_with("ch") ? "es" : "s");
}

} // namespace lithe
