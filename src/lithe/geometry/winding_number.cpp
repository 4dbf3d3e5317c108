#include "lithe/geometry/winding_number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr int leaf_size = 8;
/// Beyond this many radii from the centre the winding number is taken for zero (it is below 1e-10).
constexpr double horizon = 1e5;

/// tan(solid angle / 2) as a point in the plane, y / x.  [VS83]
struct HalfAngle {
    double x, y;
};

HalfAngle half_angle(const Vec3& a, const Vec3& b, const Vec3& c)
{
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    return {la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb, a.dot(b.cross(c))};
}

/// A sum of angles as a product of complex numbers, so that one atan2 serves for many triangles.
/// Each angle lies in [-pi, pi]; `turns` counts how often the sum passed the cut at pi.
struct AngleSum {
    double x = 1.0, y = 0.0;
    int turns = 0;

    void add(HalfAngle h)
    {
        const double size = std::abs(h.x) + std::abs(h.y);
        if (!(size > 0.0)) return; // q is a corner, or the triangle has no area and q lies on it
        h.x /= size;
        h.y /= size;
        const double x1 = x * h.x - y * h.y, y1 = x * h.y + y * h.x;
        if (y > 0.0 && h.y > 0.0 && y1 < 0.0) ++turns;
        if (y < 0.0 && h.y < 0.0 && y1 > 0.0) --turns;
        x = x1;
        y = y1;
    }
    double total() const { return std::atan2(y, x) + 2.0 * std::numbers::pi * turns; }
};

/// Moments of the triangles of one cluster about a centre, in double precision.
struct Moments {
    Vec3 N = Vec3::Zero();
    Mat3 M = Mat3::Zero();                                              ///< integral of n_i d_j
    std::array<Mat3, 3> Q = {Mat3::Zero(), Mat3::Zero(), Mat3::Zero()}; ///< integral of n_i d_j d_k

    void add(const Vec3& a, const Vec3& b, const Vec3& c)
    {
        const Vec3 An = 0.5 * (b - a).cross(c - a), sum = a + b + c;
        N += An;
        M += An * sum.transpose() / 3.0;
        const Mat3 dd =
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose()) / 12.0;
        for (int i = 0; i < 3; ++i) Q[i] += An[i] * dd;
    }
};

} // namespace

double solid_angle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const HalfAngle h = half_angle(a - p, b - p, c - p);
    return 2.0 * std::atan2(h.y, h.x);
}

/// Splits the triangles by the median of their centres, three times for eight clusters, down to the leaves.
struct WindingNumber::Builder {
    WindingNumber& tree;
    std::vector<Vec3> centroids;
    std::vector<int> order;
    const std::vector<Corners>& corners; ///< in the order of the mesh, moved and scaled
    double accuracy;

    int middle_split(int first, int count)
    {
        Box3 box;
        for (int i = first; i < first + count; ++i) box.extend(centroids[order[i]]);
        int axis = 0;
        box.sizes().maxCoeff(&axis);
        const int half = count / 2;
        std::nth_element(order.begin() + first, order.begin() + first + half, order.begin() + first + count,
                         [&](int i, int j) {
                             const double xi = centroids[i][axis], xj = centroids[j][axis];
                             return xi != xj ? xi < xj : i < j;
                         });
        return half;
    }

    int build(int first, int count)
    {
        const int index = static_cast<int>(tree.nodes_.size());
        tree.nodes_.emplace_back();
        std::array<int, width> at = {first}, size = {count};
        for (int parts = 1; parts < width; parts *= 2) // one range becomes two, four, eight
            for (int k = parts - 1; k >= 0; --k) {
                const int f = at[k], n = size[k], half = n > leaf_size ? middle_split(f, n) : n;
                at[2 * k] = f;
                size[2 * k] = half;
                at[2 * k + 1] = f + half;
                size[2 * k + 1] = n - half;
            }
        for (int k = 0; k < width; ++k) {
            const int child = size[k] > leaf_size ? build(at[k], size[k]) : -1;
            Node& node = tree.nodes_[index]; // after the recursion: the vector may have moved
            node.first[k] = at[k];
            node.count[k] = size[k];
            node.child[k] = child;
            set_lane(node, k);
        }
        return index;
    }

    Vec3 area_center(int first, int count) const
    {
        Vec3 weighted = Vec3::Zero(), plain = Vec3::Zero();
        double total = 0.0;
        for (int i = first; i < first + count; ++i) {
            const Corners& t = corners[order[i]];
            const double area = (t.b - t.a).cross(t.c - t.a).norm();
            weighted += area * centroids[order[i]];
            plain += centroids[order[i]];
            total += area;
        }
        return total > 0.0 ? Vec3(weighted / total) : Vec3(plain / count);
    }

    void set_lane(Node& node, int k) const
    {
        Moments m;
        Vec3 o = Vec3::Constant(1e3); // an empty lane is far from everything and adds nothing
        double radius2 = 0.0;
        if (node.count[k] > 0) {
            o = area_center(node.first[k], node.count[k]);
            for (int i = node.first[k]; i < node.first[k] + node.count[k]; ++i) {
                const Corners& t = corners[order[i]];
                m.add(t.a - o, t.b - o, t.c - o);
                radius2 = std::max(
                    {radius2, (t.a - o).squaredNorm(), (t.b - o).squaredNorm(), (t.c - o).squaredNorm()});
            }
        }
        for (int i = 0; i < 3; ++i) node.center[i][k] = static_cast<float>(o[i]);
        node.far2[k] =
            static_cast<float>(accuracy * accuracy * radius2 + 1e-10); // 1e-10: rounding of q and centre
        store(m, node, k);
    }

    static void store(const Moments& m, Node& node, int k)
    {
        const auto put = [k](Lanes& lanes, double value) { lanes[k] = static_cast<float>(value); };
        const auto& Q = m.Q;
        for (int i = 0; i < 3; ++i) {
            put(node.N[i], m.N[i]);
            put(node.M[i], 3.0 * m.M(i, i));
            const int j = (i + 1) % 3;
            put(node.M[3 + i], 3.0 * (m.M(i, j) + m.M(j, i)));
            put(node.s[i], 1.5 * (2.0 * (Q[0](0, i) + Q[1](1, i) + Q[2](2, i)) + Q[i].trace()));
            put(node.C[i], 7.5 * Q[i](i, i));
        }
        put(node.trace, m.M.trace());
        // r_i^2 r_j: three of the 27 products Q_abc r_a r_b r_c
        const auto mixed = [&](int i, int j) { return 7.5 * (2.0 * Q[i](i, j) + Q[j](i, i)); };
        put(node.C[3], mixed(0, 1));
        put(node.C[4], mixed(0, 2));
        put(node.C[5], mixed(1, 0));
        put(node.C[6], mixed(1, 2));
        put(node.C[7], mixed(2, 0));
        put(node.C[8], mixed(2, 1));
        put(node.C[9], 15.0 * (Q[0](1, 2) + Q[1](0, 2) + Q[2](0, 1)));
    }
};

WindingNumber::WindingNumber(const TriangleMesh& mesh, double accuracy)
{
    require_positive("accuracy", accuracy);
    if (mesh.triangle_count() == 0) return;
    const Box3 box = bounds(mesh.vertices);
    center_ = box.center();
    const double size = 0.5 * box.diagonal().norm();
    scale_ = size > 0.0 ? 1.0 / size : 1.0;

    const auto n = static_cast<std::size_t>(mesh.triangle_count());
    std::vector<Corners> corners(n);
    std::vector<Vec3> centroids(n);
    for (std::size_t t = 0; t < n; ++t) {
        const auto v = mesh.triangles.col(static_cast<Index>(t));
        const auto place = [&](int i) { return Vec3((mesh.vertices.col(v[i]) - center_) * scale_); };
        corners[t] = {place(0), place(1), place(2)};
        centroids[t] = (corners[t].a + corners[t].b + corners[t].c) / 3.0;
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    Builder builder{*this, std::move(centroids), std::move(order), corners, accuracy};
    builder.build(0, static_cast<int>(n));
    corners_.reserve(n);
    for (const int t : builder.order) corners_.push_back(corners[t]);
}

/// Adds the expansions of the far clusters to `sum`; bit k of `near` is set when cluster k is too near for that.
///
///   T1_ij = delta_ij / r^3 - 3 r_i r_j / r^5
///   T2_ijk = -3 (delta_ij r_k + delta_ik r_j + delta_jk r_i) / r^5 + 15 r_i r_j r_k / r^7
void WindingNumber::expand(const Node& node, const Eigen::Vector3f& q, Lanes& sum, unsigned& near) const
{
    const Lanes x = node.center[0] - q[0], y = node.center[1] - q[1], z = node.center[2] - q[2];
    const Lanes xx = x * x, yy = y * y, zz = z * z;
    const Lanes r2 = xx + yy + zz;
    const Eigen::Array<bool, width, 1> far = r2 > node.far2;
    const Lanes inv2 = far.select(1.0f / r2, 0.0f);
    const Lanes inv3 = inv2 * inv2.sqrt();

    const Lanes first = node.N[0] * x + node.N[1] * y + node.N[2] * z + node.trace;
    const Lanes second = node.M[0] * xx + node.M[1] * yy + node.M[2] * zz + node.M[3] * (x * y) +
                         node.M[4] * (y * z) + node.M[5] * (z * x) + node.s[0] * x + node.s[1] * y +
                         node.s[2] * z;
    const Lanes cubic = xx * (node.C[0] * x + node.C[3] * y + node.C[4] * z) +
                        yy * (node.C[1] * y + node.C[5] * x + node.C[6] * z) +
                        zz * (node.C[2] * z + node.C[7] * x + node.C[8] * y) + node.C[9] * (x * y * z);
    sum += inv3 * (first + inv2 * (inv2 * cubic - second));

    near = 0;
    for (int k = 0; k < width; ++k) near |= static_cast<unsigned>(!far[k]) << k;
}

double WindingNumber::near_angles(int first, int count, const Vec3& q) const
{
    AngleSum sum;
    for (int i = first; i < first + count; ++i) {
        const Corners& t = corners_[static_cast<std::size_t>(i)];
        sum.add(half_angle(t.a - q, t.b - q, t.c - q));
    }
    return 2.0 * sum.total();
}

double WindingNumber::operator()(const Vec3& p) const
{
    const Vec3 q = (p - center_) * scale_;
    if (nodes_.empty() || !(q.squaredNorm() < horizon * horizon)) return 0.0;
    const Eigen::Vector3f qf = q.cast<float>();
    Lanes far = Lanes::Zero();
    double angle = 0.0;
    std::array<int, 8 * 32> stack; // depth is log8 of the number of triangles
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const Node& node = nodes_[static_cast<std::size_t>(stack[--top])];
        unsigned near = 0;
        expand(node, qf, far, near);
        for (; near != 0; near &= near - 1) {
            const int k = std::countr_zero(near);
            if (node.child[k] >= 0)
                stack[top++] = node.child[k];
            else
                angle += near_angles(node.first[k], node.count[k], q);
        }
    }
    return (angle + static_cast<double>(far.sum())) / (4.0 * std::numbers::pi);
}

} // namespace lithe
