#include "lithe/contact/coulomb.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// A direction with less than this share of the usual response cannot be moved.
constexpr double immovable = 1e-8;

Mat3 axes_of(const Vec3& n)
{
    Mat3 axes;
    axes.col(0) = n;
    axes.col(1) = n.unitOrthogonal();
    axes.col(2) = n.cross(axes.col(1));
    return axes;
}

double cross(const Vec2& a, const Vec2& b)
{
    return a[0] * b[1] - a[1] * b[0];
}

/// Sliding along the unit vector d, in the axes of the contact: j = j_n (1, -mu d) with the j_n that makes w_n zero,
///
///   j_n = -u_n / D,   D = K_nn - mu k.d,   w_t = u_t + j_n (k - mu K_tt d),   k = K_tn
///
/// and d is right when w_t points along it. Everything is multiplied by D, which has to be positive.
struct Sliding {
    double mu, u_n, K_nn;
    Vec2 u_t, k;
    double K_11, K_12, K_22;

    Sliding(const Mat3& K, double friction, const Vec3& u)
        : mu(friction), u_n(u[0]), K_nn(K(0, 0)), u_t(u.tail<2>()), k(K.block<2, 1>(1, 0)), K_11(K(1, 1)),
          K_12(K(2, 1)), K_22(K(2, 2))
    {
    }

    double denominator(const Vec2& d) const { return K_nn - mu * k.dot(d); }
    /// D w_t x d, zero where w_t is along d: a trigonometric polynomial of degree two, so four roots at most.
    double turn(const Vec2& d) const
    {
        const double twist = (K_11 - K_22) * d[0] * d[1] + K_12 * (d[1] * d[1] - d[0] * d[0]); // (K_tt d) x d
        return denominator(d) * cross(u_t, d) - u_n * (cross(k, d) - mu * twist);
    }
    /// Its derivative with the angle of d.
    double turn_rate(const Vec2& d) const
    {
        const double twist_rate = (K_11 - K_22) * (d[0] * d[0] - d[1] * d[1]) + 4.0 * K_12 * d[0] * d[1];
        const double denominator_rate = -mu * cross(d, k);
        return denominator_rate * cross(u_t, d) + denominator(d) * u_t.dot(d) -
               u_n * (k.dot(d) - mu * twist_rate);
    }
    /// D w_t . d, not negative where friction opposes the sliding.
    double advance(const Vec2& d) const
    {
        const double K_dd = K_11 * d[0] * d[0] + 2.0 * K_12 * d[0] * d[1] + K_22 * d[1] * d[1];
        return denominator(d) * u_t.dot(d) - u_n * (k.dot(d) - mu * K_dd);
    }
    bool admissible(const Vec2& d) const { return denominator(d) > immovable * K_nn && advance(d) >= 0.0; }
    Vec3 impulse(const Vec2& d) const
    {
        const double j_n = -u_n / denominator(d);
        return {j_n, -mu * j_n * d[0], -mu * j_n * d[1]};
    }
};

/// d turned by nearly `angle`: exact enough for Newton's method, without sine and cosine.
Vec2 turned(const Vec2& d, double angle)
{
    return Vec2(d[0] - angle * d[1], d[1] + angle * d[0]).normalized();
}

/// Newton's method from d, which is left at the root.
bool refine(const Sliding& sliding, Vec2& d)
{
    for (int i = 0; i < 8; ++i) {
        const double angle = -sliding.turn(d) / sliding.turn_rate(d);
        if (!(std::abs(angle) < 0.5)) return false;
        d = turned(d, angle);
        if (std::abs(angle) < 1e-9) return true; // the step after it would be 1e-18
    }
    return false;
}

/// The root between `lo` and `hi`, where the turn has different signs: Newton's method, halving where it leaves.
Vec2 root_between(const Sliding& sliding, Vec2 lo, Vec2 hi)
{
    const bool rising = sliding.turn(lo) < 0.0;
    Vec2 d = (lo + hi).normalized();
    for (int i = 0; i < 60; ++i) {
        const double turn = sliding.turn(d);
        if ((turn < 0.0) == rising)
            lo = d;
        else
            hi = d;
        const double angle = -turn / sliding.turn_rate(d);
        Vec2 next = turned(d, std::isfinite(angle) ? angle : 1.0);
        if (!(cross(lo, next) >= 0.0 && cross(next, hi) >= 0.0)) next = (lo + hi).normalized();
        const double moved = std::abs(cross(d, next));
        d = next;
        if (moved < 1e-15) break;
    }
    return d;
}

template <int Count>
const std::array<Vec2, Count + 1>& directions()
{
    static const std::array<Vec2, Count + 1> around = [] {
        std::array<Vec2, Count + 1> d;
        for (int i = 0; i <= Count; ++i) {
            const double angle = 2.0 * std::numbers::pi * (i % Count) / Count;
            d[static_cast<std::size_t>(i)] = {std::cos(angle), std::sin(angle)};
        }
        return d;
    }();
    return around;
}

/// Looks for roots between `Count` directions; of several, the one that leaves the least energy. False when none is.
template <int Count>
bool scan(const Sliding& sliding, const Mat3& K, const Mat3& K_inverse, const Vec3& u, Vec3& impulse)
{
    const auto& around = directions<Count>();
    double least = std::numeric_limits<double>::infinity();
    double before = sliding.turn(around[0]);
    for (std::size_t i = 0; i < Count; ++i) {
        const double after = sliding.turn(around[i + 1]);
        if ((before < 0.0) != (after < 0.0)) {
            const Vec2 d = root_between(sliding, around[i], around[i + 1]);
            if (sliding.admissible(d)) {
                const Vec3 j = sliding.impulse(d);
                const Vec3 w = u + K * j;
                const double left = w.dot(K_inverse * w);
                if (left < least) {
                    least = left;
                    impulse = j;
                }
            }
        }
        before = after;
    }
    return std::isfinite(least);
}

} // namespace

CoulombContact::CoulombContact(const Mat3& K, const Vec3& normal, double friction, double scale)
    : axes_(axes_of(normal)), friction_(friction)
{
    LITHE_ASSERT(friction >= 0.0 && std::isfinite(friction));
    K_ = axes_.transpose() * K * axes_;
    K_ = (0.5 * (K_ + K_.transpose())).eval();
    movable_ = K_(0, 0) > immovable * scale;
    if (!movable_) return;
    // A tangent that cannot be moved gets a little compliance, so that sticking stays defined.
    const Eigen::LLT<Mat3> cholesky(K_);
    const double pivot = cholesky.matrixLLT().diagonal().minCoeff();
    if (cholesky.info() != Eigen::Success || !(pivot * pivot > 1e-12 * scale))
        K_.diagonal().array() += 1e-9 * scale;
    K_inverse_ = K_.inverse();
}

ContactImpulse CoulombContact::solve_local(const Vec3& u, const Vec2* guess) const
{
    if (!movable_ || !(u[0] < 0.0)) return {};
    const Vec3 stick = -(K_inverse_ * u);
    if (stick.tail<2>().norm() <= friction_ * stick[0]) return {stick, ContactState::Sticking};

    const Vec3 frictionless(-u[0] / K_(0, 0), 0.0, 0.0);
    if (friction_ == 0.0) return {frictionless, ContactState::Sliding};
    const Sliding sliding(K_, friction_, u);
    if (guess && guess->squaredNorm() > 0.0) {
        Vec2 d = -guess->normalized();
        if (refine(sliding, d) && sliding.admissible(d)) return {sliding.impulse(d), ContactState::Sliding};
    }
    Vec3 j = frictionless;
    // Two roots may hide between neighbouring directions, hence the second look.
    if (!scan<24>(sliding, K_, K_inverse_, u, j)) (void)scan<720>(sliding, K_, K_inverse_, u, j);
    return {j, ContactState::Sliding};
}

ContactImpulse CoulombContact::solve(const Vec3& u) const
{
    const ContactImpulse local = solve_local(axes_.transpose() * u, nullptr);
    return {axes_ * local.impulse, local.state};
}

ContactImpulse CoulombContact::solve_again(const Vec3& w, const Vec3& j) const
{
    const Vec3 j_local = axes_.transpose() * j;
    const Vec2 guess = j_local.tail<2>();
    const ContactImpulse local = solve_local(axes_.transpose() * w - K_ * j_local, &guess);
    return {axes_ * local.impulse, local.state};
}

Vec3 CoulombContact::bounce(const Vec3& u, const ContactImpulse& pressed, double e) const
{
    const Vec3& j = pressed.impulse;
    if (pressed.state == ContactState::Sticking) {
        const Vec3 along_normal = j + e * j.dot(normal()) * normal();
        const Vec3 w = u + axes_ * (K_ * (axes_.transpose() * along_normal));
        if (along_normal.dot(u + w) <= 0.0) return along_normal;
    }
    return (1.0 + e) * j;
}

} // namespace lithe
