#pragma once
#include "lithe/math/types.hpp"

namespace lithe {

/// Anderson's mixing for a fixed point x = g(x) [And65]: the next x is the combination of the last few g(x) whose changes
/// g(x) - x, combined alike, cancel best. Where g is linear it finds the fixed point as GMRES would. It knows nothing of
/// constraints: the last word has to be a plain g.
///
///   mixing.start(size, weights, memory);
///   repeat:  mixing.before(x);  x = g(x);  if good: stop;  mixing.after(x);
///   unless good:  mixing.finish(x);
///
/// A mixed x whose change is larger than the last is thrown away, and with it all that was remembered.
class Mixing {
public:
    static constexpr int depth = 5;
    /// Numbers of memory for a vector of this size.
    static Index room(Index size) { return (2 * depth + 3) * size; }

    /// Changes are measured by the weights. The arrays have to outlive the mixing.
    void start(Index size, const double* weights, double* memory);
    void forget(); ///< what it has seen so far: g is another now
    void before(const double* x);
    /// Whether g(x) is kept, and mixed with those before it: false where the mixed x did harm.
    bool after(double* x);
    /// In place of `after` when no time is left: x = g(x), or the last that was kept if the mixed x in between did harm. Whether it
    /// is g(x).
    bool finish(double* x);

private:
    Eigen::Map<VecX> vector(int i) const { return {memory_ + i * size_, size_}; }
    Eigen::Map<VecX> change() const { return vector(0); } ///< x before g, then g(x) - x
    Eigen::Map<VecX> last_change() const { return vector(1); }
    Eigen::Map<VecX> last_result() const { return vector(2); }
    Eigen::Map<VecX> result_step(int i) const { return vector(3 + i); } ///< differences of results ...
    Eigen::Map<VecX> change_step(int i) const { return vector(3 + depth + i); } ///< ... and of changes
    double product(const Eigen::Map<VecX>& a, const Eigen::Map<VecX>& b) const;
    bool did_harm(double square) const { return mixed_ && square > 2.0 * last_square_; }
    void remember(const Eigen::Map<VecX>& result);
    void mix(Eigen::Map<VecX>& x);

    Index size_ = 0;
    const double* weights_ = nullptr;
    double* memory_ = nullptr;
    int kept_ = 0, next_ = 0; ///< steps
    bool has_last_ = false, mixed_ = false;
    double last_square_ = 0.0;                     ///< of the last change
    Eigen::Matrix<double, depth, depth> products_; ///< of the changes' steps
};

} // namespace lithe
