#include "lithe/geometry/tet_quality.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/core/parallel.hpp"
#include "lithe/geometry/predicates.hpp"

namespace lithe {
namespace {

constexpr Index block = 1024;

/// The sums and extremes of a block of tets.
struct Partial {
    TetQuality worst;
    double sum = 0.0; ///< of mean ratios
};

void add_tet(const TetMesh& mesh, int t, Partial& partial)
{
    const auto v = mesh.tets.col(t);
    const Vec3 a = mesh.vertices.col(v[0]), b = mesh.vertices.col(v[1]), c = mesh.vertices.col(v[2]),
               d = mesh.vertices.col(v[3]);
    TetQuality& q = partial.worst;
    const int sign = orient3d(a, b, c, d);
    q.inverted += sign < 0;
    q.flat += sign == 0;
    const double eta = mean_ratio(a, b, c, d), V = tet_volume(a, b, c, d);
    partial.sum += eta;
    if (q.worst_tet < 0 || V < q.smallest_volume) q.smallest_volume = V;
    if (q.worst_tet < 0 || eta < q.worst_mean_ratio) {
        q.worst_mean_ratio = eta;
        q.worst_tet = t;
    }
    for (const double angle : dihedral_angles(a, b, c, d)) {
        q.smallest_dihedral = std::min(q.smallest_dihedral, angle);
        q.largest_dihedral = std::max(q.largest_dihedral, angle);
    }
}

Partial join(Partial left, const Partial& right)
{
    TetQuality& q = left.worst;
    const TetQuality& r = right.worst;
    if (r.worst_tet < 0) return left;
    if (q.worst_tet < 0) return right;
    q.inverted += r.inverted;
    q.flat += r.flat;
    q.smallest_volume = std::min(q.smallest_volume, r.smallest_volume);
    if (r.worst_mean_ratio < q.worst_mean_ratio) {
        q.worst_mean_ratio = r.worst_mean_ratio;
        q.worst_tet = r.worst_tet;
    }
    q.smallest_dihedral = std::min(q.smallest_dihedral, r.smallest_dihedral);
    q.largest_dihedral = std::max(q.largest_dihedral, r.largest_dihedral);
    left.sum += right.sum;
    return left;
}

} // namespace

/// At edge pq with opposite corners r and s: the angle between the parts of r - p and s - p that are normal to the edge.
///
///   theta = atan2(|e| e.(u x v), (e x u).(e x v)),  e = q - p, u = r - p, v = s - p
std::array<double, 6> dihedral_angles(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const auto angle = [](const Vec3& p, const Vec3& q, const Vec3& r, const Vec3& s) {
        const Vec3 e = q - p, u = r - p, v = s - p;
        const double y = e.norm() * std::abs(e.dot(u.cross(v))), x = e.cross(u).dot(e.cross(v));
        return std::atan2(y, x) * (180.0 / std::numbers::pi);
    };
    return {angle(a, b, c, d), angle(a, c, b, d), angle(a, d, b, c),
            angle(b, c, a, d), angle(b, d, a, c), angle(c, d, a, b)};
}

double mean_ratio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const double edges2 = (b - a).squaredNorm() + (c - a).squaredNorm() + (d - a).squaredNorm() +
                          (c - b).squaredNorm() + (d - b).squaredNorm() + (d - c).squaredNorm();
    if (edges2 == 0.0) return 0.0;
    const double root = std::cbrt(3.0 * tet_volume(a, b, c, d));
    return std::copysign(12.0 * root * root / edges2, root);
}

TetQuality tet_quality(const TetMesh& mesh)
{
    const auto fold = [&](Index begin, Index end) {
        Partial partial;
        for (Index t = begin; t < end; ++t) add_tet(mesh, static_cast<int>(t), partial);
        return partial;
    };
    Partial total = parallel_reduce(mesh.tet_count(), block, Partial{}, fold, join);
    if (mesh.tet_count() > 0)
        total.worst.average_mean_ratio = total.sum / static_cast<double>(mesh.tet_count());
    return total.worst;
}

double smallest_dihedral_angle(const TetMesh& mesh)
{
    return tet_quality(mesh).smallest_dihedral;
}

double largest_dihedral_angle(const TetMesh& mesh)
{
    return tet_quality(mesh).largest_dihedral;
}

} // namespace lithe
