#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// Whether the edges of the triangles are drawn: with RenderOptions::wireframe only, or in any case.
enum class Lines { WhenAsked, Always };

/// A surface ready to be drawn. Colours are linear RGB in [0, 1].
struct RenderSurface {
    Points vertices; ///< [m]
    Triangles triangles;
    Points corner_normals; ///< unit; corner c of triangle t is column 3 t + c
    Points colors;         ///< one column for all, or one per vertex
    VecX map_values = {};  ///< empty, or one per vertex in [0, 1]: shown through the colour map instead
    Vec3 inside_color = {0.55, 0.22, 0.16}; ///< of the back of the faces
    Lines lines = Lines::WhenAsked;
};

/// Everything in a picture but camera, light and ground.
struct RenderScene {
    std::vector<RenderSurface> surfaces;
};

/// What of a field is shown: its single row, or the length of its columns.
struct ColorBy {
    std::string field;
    double low = 0.0;  ///< shown as the first colour of the map
    double high = 1.0; ///< shown as the last
};

struct SurfaceOptions {
    Vec3 color = {0.85, 0.45, 0.25}; ///< sRGB; used when the mesh has no field "color"
    double crease_angle = 1.0; ///< faces that meet at a larger angle have a sharp edge between them [rad]
    std::optional<ColorBy> color_by = {};
};

/// Prepares a mesh for drawing. A field "color" (3 rows, sRGB in [0, 1]) gives its colours.
/// Throws InputError when `color_by` names a field that is not there.
RenderSurface make_surface(const TriangleMesh& mesh, const SurfaceOptions& options);

/// The field of that name; throws InputError that lists the names there are.
const VertexField& find_field(const std::vector<VertexField>& fields, const std::string& name);
/// One value per vertex: the single row of a field, or the length of its columns.
VecX field_magnitude(const VertexField& field);

/// Angle-weighted normals per corner, smooth over edges flatter than `crease_angle` [rad] and sharp over others.
/// Vertices at the same place count as one, so that a soup of triangles (STL) looks smooth too.
Points crease_normals(const Points& vertices, const Triangles& triangles, double crease_angle);

/// Pleasant colours (sRGB) that differ from one to the next; `index` from 0, repeats after eight.
Vec3 palette_color(std::size_t index);

/// Around all surfaces.
Box3 bounds(const RenderScene& scene);

} // namespace lithe
