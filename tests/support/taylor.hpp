#pragma once
#include <cmath>
#include <limits>

#include "lithe/math/types.hpp"

namespace lithe::test {

/// The order at which the remainder of a first-order model vanishes,
///
///   | f(x + e d) - f(x) - e Df d | = O(e^order),
///
/// measured between two steps e. It is 2 when `Df_d` is the derivative of f along d, and falls towards 1 when it is
/// not, whatever the scale of f. For scalar f give a vector of one entry.
///
/// Infinity when the remainder is lost in rounding at either step: f is then linear along d as far as doubles can
/// tell, and the model is right. NaN when f is constant along d and `Df_d` is zero too: such a test says nothing,
/// and no comparison with NaN is true.
struct TaylorSteps {
    double coarse = 1e-3;
    double fine = 1e-4;
};

template <class F>
double taylor_order(const F& f, const VecX& Df_d, const VecX& x, const VecX& d, TaylorSteps steps = {})
{
    const VecX f_0 = f(x);
    double rounding = 0.0; // of the values that the remainder is the difference of
    double change = Df_d.norm();
    const auto remainder = [&](double step) {
        const VecX f_1 = f(VecX(x + step * d));
        change = std::max(change, (f_1 - f_0).norm());
        rounding = 64.0 * std::numeric_limits<double>::epsilon() * (f_0.norm() + f_1.norm());
        return (f_1 - f_0 - step * Df_d).norm();
    };
    const double coarse = remainder(steps.coarse);
    const double fine = remainder(steps.fine);
    if (change == 0.0) return std::numeric_limits<double>::quiet_NaN();
    if (coarse <= rounding || fine <= rounding) return std::numeric_limits<double>::infinity();
    return std::log(coarse / fine) / std::log(steps.coarse / steps.fine);
}

/// The same for a scalar f.
template <class F>
double taylor_order_of_scalar(const F& f, double Df_d, const VecX& x, const VecX& d, TaylorSteps steps = {})
{
    const auto as_vector = [&](const VecX& at) { return VecX(VecX::Constant(1, f(at))); };
    return taylor_order(as_vector, VecX::Constant(1, Df_d), x, d, steps);
}

} // namespace lithe::test
