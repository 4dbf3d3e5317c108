#include "lithe/contact/mixing.hpp"

#include <algorithm>

namespace lithe {

void Mixing::start(Index size, const double* weights, double* memory)
{
    size_ = size;
    weights_ = weights;
    memory_ = memory;
    has_last_ = mixed_ = false;
    forget();
}

void Mixing::forget()
{
    kept_ = next_ = 0;
}

double Mixing::product(const Eigen::Map<VecX>& a, const Eigen::Map<VecX>& b) const
{
    return a.cwiseProduct(b).dot(Eigen::Map<const VecX>(weights_, size_));
}

void Mixing::before(const double* x)
{
    change() = Eigen::Map<const VecX>(x, size_);
}

bool Mixing::after(double* numbers)
{
    Eigen::Map<VecX> x(numbers, size_);
    change() = x - change();
    const double square = product(change(), change());
    if (did_harm(square)) {
        x = last_result();
        mixed_ = false;
        forget();
        return false;
    }
    if (has_last_) remember(x);
    last_result() = x;
    last_change() = change();
    last_square_ = square;
    has_last_ = true;
    mixed_ = false;
    if (kept_ > 0) mix(x);
    return true;
}

bool Mixing::finish(double* numbers)
{
    Eigen::Map<VecX> x(numbers, size_);
    change() = x - change();
    const bool harmed = did_harm(product(change(), change()));
    if (harmed) x = last_result();
    return !harmed;
}

void Mixing::remember(const Eigen::Map<VecX>& result)
{
    const int i = next_;
    next_ = (i + 1) % depth;
    kept_ = std::max(kept_, i + 1);
    result_step(i) = result - last_result();
    change_step(i) = change() - last_change();
    for (int k = 0; k < kept_; ++k)
        products_(i, k) = products_(k, i) = product(change_step(i), change_step(k));
}

/// Least squares |change - steps s| by the normal equations; x = result - steps s.
void Mixing::mix(Eigen::Map<VecX>& x)
{
    using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, depth, depth>;
    Square A = products_.topLeftCorner(kept_, kept_);
    A.diagonal() *= 1.0 + 1e-12;
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, depth, 1> s(kept_);
    for (int k = 0; k < kept_; ++k) s[k] = product(change_step(k), change());
    s = Eigen::LDLT<Square>(A).solve(s).eval();
    if (!s.allFinite()) return forget();
    for (int k = 0; k < kept_; ++k) x -= s[k] * result_step(k);
    mixed_ = true;
}

} // namespace lithe
