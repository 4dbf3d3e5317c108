#include "lithe/contact/self_contact.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// On the face of a tet counts as inside: in symmetric poses vertices lie exactly there.
constexpr double face_tolerance = 1e-9;

/// Weights of p in the tet's corners when p is inside it; nothing outside, and in inverted tets.
std::optional<Vec4> weights_inside(const Points& x, const Tets& tets, int tet, const Vec3& p)
{
    const auto corner = tets.col(tet);
    Mat3 D;
    for (int a = 0; a < 3; ++a) D.col(a) = x.col(corner[a + 1]) - x.col(corner[0]);
    if (!(D.determinant() > 0.0)) return {};
    const Vec3 s = D.inverse() * (p - x.col(corner[0]));
    const Vec4 weights(1.0 - s.sum(), s[0], s[1], s[2]);
    if (!(weights.minCoeff() >= -face_tolerance)) return {}; // NaN is outside
    return weights;
}

struct TetHit {
    int tet;
    Vec4 weights;
};

/// The first tet that holds the vertex but is not one of its own.
std::optional<TetHit> find_tet(const SelfContactModel& model, const Bvh& bvh, const Points& x, int vertex)
{
    const Vec3 p = x.col(vertex);
    std::optional<TetHit> hit;
    bvh.for_each_overlap(Box3(p, p), [&](int tet) {
        if (hit && hit->tet < tet) return;
        if ((model.tets.col(tet).array() == vertex).any()) return;
        if (const auto weights = weights_inside(x, model.tets, tet, p)) hit = {tet, *weights};
    });
    return hit;
}

bool are_neighbours(const SelfContactModel& model, int a, int b)
{
    if (a == b) return true;
    const auto begin = model.neighbours.begin();
    const auto v = static_cast<std::size_t>(a);
    return std::binary_search(begin + model.neighbour_start[v], begin + model.neighbour_start[v + 1], b);
}

/// From v_p to v_s; out of the triangle where they are so close that rounding would decide.
Vec3 exit_direction(const SelfPair& pair, double cell, const Points& x)
{
    const Vec3 d = pair.offset(x);
    const double depth = d.norm();
    if (depth > 1e-8 * cell) return d / depth;
    const Vec3 a = x.col(pair.triangle[0]), b = x.col(pair.triangle[1]), c = x.col(pair.triangle[2]);
    return (b - a).cross(c - a).normalized();
}

/// The pair of surface vertex `i`, or one whose vertex is -1.
SelfPair find_pair(const SelfContactModel& model, double stiffness, const Bvh& bvh, const Points& x,
                   std::size_t i)
{
    const int vertex = model.vertices[i];
    const SelfPair none{.vertex = -1, .triangle = {}, .weights = {}, .normal = {}, .stiffness = 0.0};
    const auto hit = find_tet(model, bvh, x, vertex);
    if (!hit) return none;
    Vec3 at_rest = Vec3::Zero();
    for (int a = 0; a < 4; ++a) at_rest += hit->weights[a] * model.rest.col(model.tets(a, hit->tet));
    const ClosestPoint exit = model.surface.closest_point(at_rest);

    const Eigen::Vector3i corner = model.triangles.col(exit.triangle);
    for (const int v : corner)
        if (are_neighbours(model, vertex, v)) return none;
    const double area = 0.5 * (model.vertex_area[static_cast<Index>(i)] + model.triangle_area[exit.triangle]);
    SelfPair pair{vertex, {corner[0], corner[1], corner[2]}, exit.barycentric, {}, stiffness * area};
    pair.normal = exit_direction(pair, std::sqrt(area), x);
    return pair;
}

} // namespace

void detect_self_contact(const SelfContactModel& model, double stiffness, const Points& x,
                         std::vector<SelfPair>& pairs, SelfDetectionWork& work)
{
    tet_boxes(x, model.tets, face_tolerance * bounds(x).diagonal().norm(), work.boxes);
    if (work.bvh.item_count() == model.tets.cols())
        work.bvh.refit(work.boxes); // a tree of another body finds the same, if more slowly
    else
        work.bvh = Bvh(work.boxes);
    work.found.resize(model.vertices.size());
    parallel_for(static_cast<Index>(model.vertices.size()), 64, [&](Index i) {
        work.found[static_cast<std::size_t>(i)] =
            find_pair(model, stiffness, work.bvh, x, static_cast<std::size_t>(i));
    });
    pairs.clear();
    pairs.reserve(model.vertices.size());
    for (const SelfPair& pair : work.found)
        if (pair.vertex >= 0) pairs.push_back(pair);
}

} // namespace lithe
