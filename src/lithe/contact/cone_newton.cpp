#include "lithe/contact/cone_newton.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/contact/link_products.hpp"

namespace lithe {
namespace {

/// Where the nearest to y in the cone |j_t| <= mu j_n lies.
struct InCone {
    InCone(const Vec3& y, const Vec3& n, double mu) : y_n(y.dot(n)), y_t(y - y_n * n), length(y_t.norm())
    {
        inside = y_n >= 0.0 && length <= mu * y_n;
        at_tip = !inside && mu * length <= -y_n;
        if (!inside && !at_tip) j_n = (y_n + mu * length) / (1.0 + mu * mu);
    }
    double y_n;
    Vec3 y_t;
    double length, j_n = 0.0;
    bool inside, at_tip;
};

Vec3 nearest_in_cone(const Vec3& y, const Vec3& n, double mu)
{
    const InCone at(y, n, mu);
    if (at.inside) return y;
    if (at.at_tip) return Vec3::Zero();
    return at.j_n * (n + mu / at.length * at.y_t);
}

/// Of nearest_in_cone, by y: symmetric and not negative.
Mat3 derivative_in_cone(const Vec3& y, const Vec3& n, double mu)
{
    const InCone at(y, n, mu);
    if (at.inside) return Mat3::Identity();
    if (at.at_tip) return Mat3::Zero();
    const Vec3 t = at.y_t / at.length, edge = n + mu * t;
    return edge * edge.transpose() / (1.0 + mu * mu) +
           mu * at.j_n / at.length * (Mat3::Identity() - n * n.transpose() - t * t.transpose());
}

} // namespace

/// The smaller R, the more steps a minimum takes, but the less is left of the impulses' distance from their centre. R falls as long
/// as what is left does not. What counts is the last minimum that was reached.
bool ConeNewton::solve(std::span<Contact> contacts, Index begin, Index size, const double* a, double speed)
{
    constexpr double smallest = 1e-9;
    constexpr int most_minima = 10;
    contacts_ = contacts;
    begin_ = begin;
    a_ = Eigen::Map<const VecX>(a, size);
    const auto count = static_cast<Index>(contacts.size());
    w_.resize(3, count);
    w_step_.resize(3, count);
    centre_.resize(3, count);
    parting_.setZero(count);
    double response = 0.0;
    for (const Contact& contact : contacts) response = std::max(response, contact.response);
    const double energy = 0.01 * speed * speed / response;
    compliance_ = 1e-3;
    double last = 0.0;
    int steps = 30;
    for (int minima = 0; minima < most_minima; ++minima) {
        for (Index c = 0; c < count; ++c) centre_.col(c) = contact_at(c).impulse;
        if (!minimise(energy, steps)) {
            for (Index c = 0; c < count; ++c) contact_at(c).impulse = centre_.col(c);
            return minima > 0;
        }
        const double allowed = allowed_speed(), parting = update_parting();
        if (allowed <= speed && parting <= speed) return true;
        // gaps that contradict each other would press on for ever
        if (parting <= speed && compliance_ <= smallest && allowed > 0.3 * last) return true;
        if (allowed > speed && allowed > 0.03 * last) compliance_ = std::max(smallest, 1e-2 * compliance_);
        last = allowed;
    }
    return true;
}

/// The largest R |j - centre|: how far velocities are from what they should be.
double ConeNewton::allowed_speed() const
{
    double largest = 0.0;
    for (Index c = 0; c < w_.cols(); ++c)
        largest = std::max(largest, R(c) * (contact_at(c).impulse - centre_.col(c)).norm());
    return largest;
}

/// mu |w_t| at the minimum. Returns the largest change.
double ConeNewton::update_parting()
{
    double largest = 0.0;
    for (Index c = 0; c < w_.cols(); ++c) {
        const Contact& contact = contact_at(c);
        const double w_n = w_.col(c).dot(contact.normal);
        const double parting = contact.friction * (w_.col(c) - w_n * contact.normal).norm();
        largest = std::max(largest, std::abs(parting - parting_[c]));
        parting_[c] = parting;
    }
    return largest;
}

/// In at most so many steps, which are taken off.
bool ConeNewton::minimise(double energy, int& steps)
{
    set_gradient();
    for (; steps > 0; --steps) {
        set_matrix();
        Eigen::LLT<Eigen::Ref<MatX>> factor(matrix_);
        if (factor.info() != Eigen::Success) return false;
        direction_ = -gradient_;
        factor.solveInPlace(direction_);
        const double fall = -direction_.dot(gradient_);
        if (!std::isfinite(fall)) return false;
        if (fall <= energy) return true;
        for (Index c = 0; c < w_.cols(); ++c) w_step_.col(c) = change_of(contact_at(c), direction_);
        a_ += minimum_along() * direction_;
        set_gradient();
    }
    return false;
}

Vec3 ConeNewton::impulse_at(Index c, const Vec3& w) const
{
    const Contact& contact = contact_at(c);
    return nearest_in_cone(centre_.col(c) - w / R(c), contact.normal, contact.friction);
}

/// G a
Vec3 ConeNewton::change_of(const Contact& contact, const VecX& a) const
{
    Vec3 change = Vec3::Zero();
    for (const ConstraintLink& link : contact.blocks)
        change += times<3>(link.block, a.data() + link.numbers - begin_, link.size);
    return change;
}

/// a - sum G^T j
void ConeNewton::set_gradient()
{
    gradient_ = a_;
    for (Index c = 0; c < w_.cols(); ++c) {
        Contact& contact = contact_at(c);
        w_.col(c) = contact.velocity + parting_[c] * contact.normal + change_of(contact, a_);
        contact.impulse = impulse_at(c, w_.col(c));
        for (const ConstraintLink& link : contact.blocks)
            add_transposed<3>(link.block, Vec3(-contact.impulse), gradient_.data() + link.numbers - begin_,
                              link.size);
    }
}

/// 1 + sum G^T (-dj/dw) G, its lower half.
void ConeNewton::set_matrix()
{
    using Rows = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>>;
    matrix_.setIdentity(a_.size(), a_.size());
    for (Index c = 0; c < w_.cols(); ++c) {
        const Contact& contact = contact_at(c);
        if (contact.impulse.isZero(0.0)) continue;
        const Mat3 stiffness =
            derivative_in_cone(centre_.col(c) - w_.col(c) / R(c), contact.normal, contact.friction) / R(c);
        for (const ConstraintLink& b : contact.blocks) {
            stiff_rows_.noalias() = stiffness * Rows(b.block, 3, b.size);
            for (const ConstraintLink& a : contact.blocks)
                if (a.numbers >= b.numbers)
                    matrix_.block(a.numbers - begin_, b.numbers - begin_, a.size, b.size) +=
                        Rows(a.block, 3, a.size).transpose().lazyProduct(stiff_rows_);
        }
    }
}

/// Of the energy at a + t direction, by t.
double ConeNewton::slope(double t) const
{
    double out = direction_.dot(a_) + t * direction_.squaredNorm();
    for (Index c = 0; c < w_.cols(); ++c)
        out -= impulse_at(c, w_.col(c) + t * w_step_.col(c)).dot(w_step_.col(c));
    return out;
}

/// The slope rises with t; its zero is found by halving.
double ConeNewton::minimum_along() const
{
    constexpr double flat = 1e-3;
    const double first = std::abs(slope(0.0));
    double low = 0.0, high = 1.0, at_high = slope(high);
    while (at_high < -flat * first && high < 1e3) {
        low = high;
        high *= 2.0;
        at_high = slope(high);
    }
    if (at_high <= flat * first) return high;
    for (int i = 0; i < 40; ++i) {
        const double middle = 0.5 * (low + high), value = slope(middle);
        if (std::abs(value) <= flat * first) return middle;
        (value < 0.0 ? low : high) = middle;
    }
    return low;
}

} // namespace lithe
