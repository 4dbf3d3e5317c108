#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "lithe/core/error.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

inline double interpolated(double a, double b, double s)
{
    return a + s * (b - a);
}
inline Vec3 interpolated(const Vec3& a, const Vec3& b, double s)
{
    return a + s * (b - a);
}

/// A value that changes with time: linear between its keys, constant before the first and after the last.
template <class T>
class Keyframes {
public:
    /// The same at all times.
    Keyframes(const T& constant) : times_{0.0}, values_{constant} {}

    /// Throws InputError unless there is a value for each time, at least one, and the times rise.
    Keyframes(std::vector<double> times, std::vector<T> values)
        : times_(std::move(times)), values_(std::move(values))
    {
        if (times_.empty() || times_.size() != values_.size())
            throw InputError("keyframes need at least one time, and one value for each");
        for (std::size_t k = 0; k < times_.size(); ++k)
            if (!std::isfinite(times_[k]) || (k > 0 && times_[k] <= times_[k - 1]))
                throw InputError("the times of keyframes must rise");
    }

    /// At time t [s].
    T at(double t) const
    {
        const auto after = std::upper_bound(times_.begin(), times_.end(), t);
        if (after == times_.begin()) return values_.front();
        if (after == times_.end()) return values_.back();
        const auto k = static_cast<std::size_t>(after - times_.begin());
        return interpolated(values_[k - 1], values_[k], (t - times_[k - 1]) / (times_[k] - times_[k - 1]));
    }

    bool is_constant() const { return times_.size() == 1; }
    const std::vector<double>& times() const { return times_; }
    const std::vector<T>& values() const { return values_; }

private:
    std::vector<double> times_; ///< rising [s]
    std::vector<T> values_;
};

} // namespace lithe
