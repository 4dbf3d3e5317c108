#include "lithe/geometry/embedding.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/bvh.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {
namespace {

/// Weights below zero by no more than this are rounding: the point lies on a face.
constexpr double weight_rounding = 1e-12;
/// Points nearer than this share of the mesh's size do not count as outside.
constexpr double distance_rounding = 1e-9;

/// What a search over tets needs: barycentric coordinates as  w = (1 - sum, D (p - x0)),  D = [x1-x0, x2-x0, x3-x0]^-1.
struct TetSearch {
    const TetMesh& mesh;
    std::vector<Mat3> D; ///< zero for tets without volume
    Bvh bvh;

    explicit TetSearch(const TetMesh& tets) : mesh(tets), D(static_cast<std::size_t>(tets.tet_count()))
    {
        std::vector<Box3> boxes;
        const double size = bounds(tets.vertices).diagonal().norm();
        tet_boxes(tets.vertices, tets.tets, 1e-12 * size, boxes);
        parallel_for(tets.tet_count(), 1024, [&](Index t) {
            Mat3 edges;
            for (int k = 0; k < 3; ++k) edges.col(k) = corner(t, k + 1) - corner(t, 0);
            const double volume = std::abs(edges.determinant());
            Mat3& inverse = D[static_cast<std::size_t>(t)];
            inverse = volume > 0.0 ? Mat3(edges.inverse()) : Mat3(Mat3::Zero());
            if (inverse.allFinite() && !inverse.isZero(0.0)) return;
            inverse.setZero();
            boxes[static_cast<std::size_t>(t)].setEmpty();
        });
        bvh = Bvh(boxes);
    }

    Vec3 corner(Index t, int k) const { return mesh.vertices.col(mesh.tets(k, t)); }
    bool usable(int t) const { return !D[static_cast<std::size_t>(t)].isZero(0.0); }

    Vec4 weights(int t, const Vec3& p) const
    {
        Vec4 w;
        w.tail<3>() = D[static_cast<std::size_t>(t)] * (p - corner(t, 0));
        w[0] = 1.0 - w.tail<3>().sum();
        return w;
    }

    double distance2(int t, const Vec3& p) const
    {
        constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
        double best = std::numeric_limits<double>::infinity();
        for (const auto& f : faces) {
            const double d =
                closest_point_on_triangle(p, corner(t, f[0]), corner(t, f[1]), corner(t, f[2])).distance;
            best = std::min(best, d * d);
        }
        return best;
    }
};

struct HoldingTet {
    int tet = -1;
    Vec4 weights = Vec4::Zero();
    double distance = 0.0; ///< 0 inside
};

/// The tet in which p is deepest, if it is inside any.
HoldingTet containing_tet(const TetSearch& search, const Vec3& p)
{
    HoldingTet place;
    double deepest = -weight_rounding;
    search.bvh.for_each_overlap(Box3(p, p), [&](int t) {
        const Vec4 w = search.weights(t, p);
        const double depth = w.minCoeff();
        if (depth < deepest || (depth == deepest && place.tet >= 0 && t > place.tet)) return;
        deepest = depth;
        place.tet = t;
        place.weights = w;
    });
    if (place.tet >= 0 && deepest < 0.0) {
        place.weights = place.weights.cwiseMax(0.0);
        place.weights /= place.weights.sum();
    }
    return place;
}

HoldingTet nearest_tet(const TetSearch& search, const Vec3& p)
{
    HoldingTet place;
    const double start = std::numeric_limits<double>::infinity();
    search.bvh.for_each_near(p, start, [&](int t, double bound2) {
        if (!search.usable(t)) return bound2;
        const double d2 = search.distance2(t, p);
        if (d2 > bound2 || (d2 == bound2 && place.tet >= 0 && t > place.tet)) return bound2;
        place.tet = t;
        return d2;
    });
    LITHE_ASSERT(place.tet >= 0);
    place.weights = search.weights(place.tet, p);
    place.distance = std::sqrt(search.distance2(place.tet, p));
    return place;
}

void require_usable(const Points& points, const TetMesh& mesh)
{
    if (!points.allFinite() || !mesh.vertices.allFinite())
        throw InputError("embedding: a coordinate is not finite");
    if (mesh.tet_count() > 0 && (mesh.tets.minCoeff() < 0 || mesh.tets.maxCoeff() >= mesh.vertex_count()))
        throw InputError(
            fmt::format("embedding: a tet has a corner outside the {} vertices", mesh.vertex_count()));
}

} // namespace

Embedding embed(const Points& points, const TetMesh& mesh)
{
    require_usable(points, mesh);
    const TetSearch search(mesh);
    bool any = false;
    for (int t = 0; t < mesh.tet_count() && !any; ++t) any = search.usable(t);
    if (!any) throw InputError("embedding: there is no tet with volume to hold the points");

    Embedding embedding;
    embedding.tet.resize(static_cast<std::size_t>(points.cols()));
    embedding.corners.resize(4, points.cols());
    embedding.weights.resize(4, points.cols());
    VecX distance(points.cols());
    parallel_for(points.cols(), 64, [&](Index i) {
        HoldingTet place = containing_tet(search, points.col(i));
        if (place.tet < 0) place = nearest_tet(search, points.col(i));
        embedding.tet[static_cast<std::size_t>(i)] = place.tet;
        embedding.corners.col(i) = mesh.tets.col(place.tet);
        embedding.weights.col(i) = place.weights;
        distance[i] = place.distance;
    });

    const double rounding = distance_rounding * bounds(mesh.vertices).diagonal().norm();
    for (Index i = 0; i < points.cols(); ++i) {
        if (distance[i] <= rounding) continue;
        ++embedding.outside;
        if (distance[i] <= embedding.farthest) continue;
        embedding.farthest = distance[i];
        embedding.farthest_point = static_cast<int>(i);
    }
    return embedding;
}

void deform(const Embedding& embedding, const Points& tet_vertices, Points& points)
{
    LITHE_ASSERT(embedding.point_count() == 0 || embedding.corners.maxCoeff() < tet_vertices.cols());
    points.resize(3, embedding.point_count());
    parallel_for(embedding.point_count(), 2048, [&](Index i) {
        const auto v = embedding.corners.col(i);
        const auto w = embedding.weights.col(i);
        points.col(i) = w[0] * tet_vertices.col(v[0]) + w[1] * tet_vertices.col(v[1]) +
                        w[2] * tet_vertices.col(v[2]) + w[3] * tet_vertices.col(v[3]);
    });
}

Embedding embed_vertices(const std::vector<int>& vertices, const TetMesh& mesh)
{
    std::vector<int> tet_of(static_cast<std::size_t>(mesh.vertex_count()), -1);
    for (Index t = 0; t < mesh.tet_count(); ++t)
        for (int a = 0; a < 4; ++a) tet_of[static_cast<std::size_t>(mesh.tets(a, t))] = static_cast<int>(t);
    const auto count = static_cast<Index>(vertices.size());
    Embedding out;
    out.corners.resize(4, count);
    out.weights.setZero(4, count);
    for (Index p = 0; p < count; ++p) {
        const int v = vertices[static_cast<std::size_t>(p)];
        const int t = v >= 0 && v < mesh.vertex_count() ? tet_of[static_cast<std::size_t>(v)] : -1;
        if (t < 0) throw InputError("vertex " + std::to_string(v) + " has no tet to follow");
        out.tet.push_back(t);
        out.corners.col(p) = mesh.tets.col(t);
        for (int a = 0; a < 4; ++a) out.weights(a, p) = mesh.tets(a, t) == v ? 1.0 : 0.0;
    }
    return out;
}

Points deform(const Embedding& embedding, const Points& tet_vertices)
{
    Points points;
    deform(embedding, tet_vertices, points);
    return points;
}

} // namespace lithe
