#pragma once
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "lithe/render/render.hpp"

namespace lithe::test {

/// A sphere around the origin: an octahedron whose triangles were split in four `levels` times.
inline TriangleMesh sphere(double radius, int levels)
{
    std::vector<Vec3> points = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    std::vector<std::array<int, 3>> faces = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                             {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (int level = 0; level < levels; ++level) {
        std::map<std::pair<int, int>, int> middle_of;
        const auto middle = [&](int a, int b) {
            const auto [it, is_new] =
                middle_of.try_emplace(std::minmax(a, b), static_cast<int>(points.size()));
            if (is_new) points.push_back((points[a] + points[b]).normalized());
            return it->second;
        };
        std::vector<std::array<int, 3>> finer;
        for (const auto& [a, b, c] : faces) {
            const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
            finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
        }
        faces = std::move(finer);
    }
    TriangleMesh mesh{Points(3, points.size()), Triangles(3, faces.size()), {}};
    for (std::size_t i = 0; i < points.size(); ++i) mesh.vertices.col(i) = radius * points[i];
    for (std::size_t t = 0; t < faces.size(); ++t)
        mesh.triangles.col(t) << faces[t][0], faces[t][1], faces[t][2];
    return mesh;
}

inline RenderScene scene_of(const TriangleMesh& mesh, const SurfaceOptions& options = {})
{
    return {{make_surface(mesh, options)}};
}

/// Sum of the three bytes.
inline int brightness(const Image& image, int x, int y)
{
    const std::uint8_t* p = image.pixel(x, y);
    return p[0] + p[1] + p[2];
}

/// The pixel on which a point falls.
inline Eigen::Vector2i pixel_of(const Camera& camera, const Image& image, const Vec3& point)
{
    const Vec3 at = project(camera, static_cast<double>(image.width) / image.height, point);
    return {static_cast<int>((0.5 + 0.5 * at.x()) * image.width),
            static_cast<int>((0.5 - 0.5 * at.y()) * image.height)};
}

} // namespace lithe::test
