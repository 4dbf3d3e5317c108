#include "lithe/geometry/predicates.hpp"

#include <array>
#include <cmath>

namespace lithe {
namespace {

// Everything here relies on IEEE doubles rounded to nearest and on the compiler not fusing a * b + c by itself.

constexpr double epsilon = 0x1.0p-53; ///< half an ulp of 1
/// Bounds of the rounding errors of the plain formulas below, relative to their permanents.  [She97]
constexpr double orient2d_bound = (3.0 + 16.0 * epsilon) * epsilon;
constexpr double orient3d_bound = (7.0 + 56.0 * epsilon) * epsilon;
constexpr double in_sphere_bound = (16.0 + 224.0 * epsilon) * epsilon;

/// hi + lo, exactly; |lo| is at most half an ulp of hi.
struct Pair {
    double hi, lo;
};

Pair exact_sum(double a, double b)
{
    const double s = a + b, b_virtual = s - a, a_virtual = s - b_virtual;
    return {s, (a - a_virtual) + (b - b_virtual)};
}

Pair exact_difference(double a, double b)
{
    return exact_sum(a, -b);
}

Pair exact_product(double a, double b)
{
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}

/// A number as a sum of at most N doubles that do not overlap, smallest first, without zeros.  [She97]
/// The sign of the number is the sign of the last.
template <int N>
struct Expansion {
    std::array<double, N> term;
    int size = 0;

    void push(double t)
    {
        if (t != 0.0) term[static_cast<std::size_t>(size++)] = t;
    }
    int sign() const { return size == 0 ? 0 : (term[static_cast<std::size_t>(size - 1)] > 0.0 ? 1 : -1); }
};

Expansion<2> expansion(Pair p)
{
    Expansion<2> e;
    e.push(p.lo);
    e.push(p.hi);
    return e;
}

/// Merges by size and sums up: FAST-EXPANSION-SUM with zero elimination.
template <int N, int M>
Expansion<N + M> operator+(const Expansion<N>& a, const Expansion<M>& b)
{
    Expansion<N + M> sum;
    if (a.size + b.size == 0) return sum;
    int i = 0, j = 0;
    const auto smallest = [&] {
        const bool from_a = j == b.size || (i < a.size && std::abs(a.term[static_cast<std::size_t>(i)]) <
                                                              std::abs(b.term[static_cast<std::size_t>(j)]));
        return from_a ? a.term[static_cast<std::size_t>(i++)] : b.term[static_cast<std::size_t>(j++)];
    };
    double carry = smallest();
    while (i < a.size || j < b.size) {
        const Pair p = exact_sum(carry, smallest());
        sum.push(p.lo);
        carry = p.hi;
    }
    sum.push(carry);
    return sum;
}

template <int N>
Expansion<N> operator-(Expansion<N> a)
{
    for (int i = 0; i < a.size; ++i)
        a.term[static_cast<std::size_t>(i)] = -a.term[static_cast<std::size_t>(i)];
    return a;
}

/// SCALE-EXPANSION with zero elimination.
template <int N>
Expansion<2 * N> operator*(const Expansion<N>& a, double b)
{
    Expansion<2 * N> product;
    if (a.size == 0 || b == 0.0) return product;
    Pair q = exact_product(a.term[0], b);
    product.push(q.lo);
    double carry = q.hi;
    for (int i = 1; i < a.size; ++i) {
        q = exact_product(a.term[static_cast<std::size_t>(i)], b);
        const Pair low = exact_sum(carry, q.lo);
        product.push(low.lo);
        const Pair high = exact_sum(q.hi, low.hi);
        product.push(high.lo);
        carry = high.hi;
    }
    product.push(carry);
    return product;
}

template <int N>
Expansion<4 * N> operator*(const Expansion<N>& a, const Expansion<2>& b)
{
    Expansion<2 * N> low, high;
    if (b.size > 0) low = a * b.term[0];
    if (b.size > 1) high = a * b.term[1];
    return low + high;
}

/// ax by - ay bx
Expansion<16> cross(const Expansion<2>& ax, const Expansion<2>& ay, const Expansion<2>& bx,
                    const Expansion<2>& by)
{
    return ax * by + -(ay * bx);
}

int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

int orient2d_exact(const Vec2& a, const Vec2& b, const Vec2& c)
{
    const auto e = [](double x, double y) { return expansion(exact_difference(x, y)); };
    return cross(e(b[0], a[0]), e(b[1], a[1]), e(c[0], a[0]), e(c[1], a[1])).sign();
}

int orient3d_exact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const auto e = [](double x, double y) { return expansion(exact_difference(x, y)); };
    const Expansion<2> bx = e(b[0], a[0]), by = e(b[1], a[1]), bz = e(b[2], a[2]);
    const Expansion<2> cx = e(c[0], a[0]), cy = e(c[1], a[1]), cz = e(c[2], a[2]);
    const Expansion<2> dx = e(d[0], a[0]), dy = e(d[1], a[1]), dz = e(d[2], a[2]);
    return (cross(cx, cy, dx, dy) * bz + cross(dx, dy, bx, by) * cz + cross(bx, by, cx, cy) * dz).sign();
}

struct ExactVector {
    Expansion<2> x, y, z;
};

/// det[p, q, r]
Expansion<192> triple(const ExactVector& p, const ExactVector& q, const ExactVector& r)
{
    return cross(q.x, q.y, r.x, r.y) * p.z + cross(r.x, r.y, p.x, p.y) * q.z +
           cross(p.x, p.y, q.x, q.y) * r.z;
}

/// |p|^2 times a number.
template <int N>
Expansion<48 * N> lifted(const Expansion<N>& number, const ExactVector& p)
{
    return number * p.x * p.x + number * p.y * p.y + number * p.z * p.z;
}

int in_sphere_exact(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e)
{
    const auto from_e = [&](const Vec3& x) {
        const auto part = [&](int k) { return expansion(exact_difference(x[k], e[k])); };
        return ExactVector{part(0), part(1), part(2)};
    };
    const ExactVector A = from_e(a), B = from_e(b), C = from_e(c), D = from_e(d);
    return (lifted(triple(B, C, D), A) + -lifted(triple(C, D, A), B) +
            (lifted(triple(D, A, B), C) + -lifted(triple(A, B, C), D)))
        .sign();
}

/// det[p, q, r] and the sum of the sizes of its six products.
struct Triple {
    double det, permanent;
};

Triple plain_triple(const Vec3& p, const Vec3& q, const Vec3& r)
{
    Triple out{0.0, 0.0};
    const std::array<const Vec3*, 3> v = {&p, &q, &r};
    for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 &s = *v[(k + 1) % 3], &t = *v[(k + 2) % 3];
        const double left = s[0] * t[1], right = s[1] * t[0], z = (*v[k])[2];
        out.det += z * (left - right);
        out.permanent += std::abs(z) * (std::abs(left) + std::abs(right));
    }
    return out;
}

} // namespace

int orient2d(const Vec2& a, const Vec2& b, const Vec2& c)
{
    const double left = (b[0] - a[0]) * (c[1] - a[1]), right = (b[1] - a[1]) * (c[0] - a[0]);
    const double det = left - right;
    if (std::abs(det) > orient2d_bound * (std::abs(left) + std::abs(right))) return sign_of(det);
    return orient2d_exact(a, b, c);
}

int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const double bx = b[0] - a[0], by = b[1] - a[1], bz = b[2] - a[2];
    const double cx = c[0] - a[0], cy = c[1] - a[1], cz = c[2] - a[2];
    const double dx = d[0] - a[0], dy = d[1] - a[1], dz = d[2] - a[2];
    const double cxdy = cx * dy, cydx = cy * dx, dxby = dx * by, dybx = dy * bx, bxcy = bx * cy,
                 bycx = by * cx;
    const double det = bz * (cxdy - cydx) + cz * (dxby - dybx) + dz * (bxcy - bycx);
    const double permanent = std::abs(bz) * (std::abs(cxdy) + std::abs(cydx)) +
                             std::abs(cz) * (std::abs(dxby) + std::abs(dybx)) +
                             std::abs(dz) * (std::abs(bxcy) + std::abs(bycx));
    if (std::abs(det) > orient3d_bound * permanent) return sign_of(det);
    return orient3d_exact(a, b, c, d);
}

int in_sphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e)
{
    const Vec3 A = a - e, B = b - e, C = c - e, D = d - e;
    const Triple bcd = plain_triple(B, C, D), cda = plain_triple(C, D, A), dab = plain_triple(D, A, B),
                 abc = plain_triple(A, B, C);
    const double a2 = A.squaredNorm(), b2 = B.squaredNorm(), c2 = C.squaredNorm(), d2 = D.squaredNorm();
    const double det = (a2 * bcd.det - b2 * cda.det) + (c2 * dab.det - d2 * abc.det);
    const double permanent =
        a2 * bcd.permanent + b2 * cda.permanent + c2 * dab.permanent + d2 * abc.permanent;
    // twice the bound of [She97], whose formula groups the same products otherwise
    if (std::abs(det) > 2.0 * in_sphere_bound * permanent) return sign_of(det);
    return in_sphere_exact(a, b, c, d, e);
}

bool collinear(const Vec3& a, const Vec3& b, const Vec3& c)
{
    const auto flat = [&](int i, int j) {
        return orient2d(Vec2(a[i], a[j]), Vec2(b[i], b[j]), Vec2(c[i], c[j])) == 0;
    };
    return flat(0, 1) && flat(1, 2) && flat(2, 0);
}

} // namespace lithe
