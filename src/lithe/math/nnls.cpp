#include "lithe/math/nnls.hpp"

#include <algorithm>
#include <limits>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// work.s = the minimiser over the passive set without bounds.
bool solve_passive(const MatX& G, const VecX& h, double ridge, NnlsWork& work)
{
    work.G = G(work.passive, work.passive);
    work.G.diagonal().array() += ridge;
    work.llt.compute(work.G);
    work.h = h(work.passive);
    work.s = work.llt.solve(work.h);
    return work.llt.info() == Eigen::Success && work.s.allFinite();
}

/// Moves w towards work.s until the first entry meets zero, and takes those that did out of the passive set.
void step_to_boundary(VecX& w, NnlsWork& work)
{
    double share = 1.0;
    for (std::size_t k = 0; k < work.passive.size(); ++k) {
        const double s = work.s[static_cast<Index>(k)], old = w[work.passive[k]];
        if (s <= 0.0) share = std::min(share, old / (old - s));
    }
    for (std::size_t k = 0; k < work.passive.size(); ++k) {
        const double s = work.s[static_cast<Index>(k)];
        double& entry = w[work.passive[k]];
        entry += share * (s - entry);
        // at least one entry must leave, whatever rounding says
        if (s <= 0.0 && entry <= 1e-15 * std::abs(s)) entry = 0.0;
    }
    std::erase_if(work.passive, [&](Index i) { return !(w[i] > 0.0); });
    for (Index i = 0; i < w.size(); ++i) w[i] = std::max(w[i], 0.0);
}

/// The entry outside the passive set that would lower the residual most, or -1.
Index most_promising(const MatX& G, const VecX& h, const VecX& w, double tolerance, NnlsWork& work)
{
    work.dual = h;
    for (const Index i : work.passive) work.dual -= w[i] * G.col(i);
    for (const Index i : work.passive) work.dual[i] = -std::numeric_limits<double>::infinity();
    Index best = 0;
    return work.dual.maxCoeff(&best) > tolerance ? best : -1;
}

} // namespace

NnlsStatus solve_nnls(const MatX& G, const VecX& h, VecX& w, NnlsWork& work)
{
    LITHE_ASSERT(G.rows() == h.size() && G.cols() == h.size() && w.size() == h.size());
    const Index n = h.size();
    work.passive.clear();
    for (Index i = 0; i < n; ++i)
        if (w[i] > 0.0)
            work.passive.push_back(i);
        else
            w[i] = 0.0;
    if (n == 0) return NnlsStatus::Converged;
    const double ridge = 1e-13 * G.trace() / static_cast<double>(n);
    const double tolerance = 1e-12 * h.cwiseAbs().maxCoeff();

    const Index max_iterations = 10 * n + 30;
    for (Index iteration = 0; iteration < max_iterations; ++iteration) {
        if (!work.passive.empty()) {
            if (!solve_passive(G, h, ridge, work)) return NnlsStatus::NotPositiveDefinite;
            if (work.s.minCoeff() <= 0.0) {
                step_to_boundary(w, work);
                continue;
            }
            for (std::size_t k = 0; k < work.passive.size(); ++k)
                w[work.passive[k]] = work.s[static_cast<Index>(k)];
        }
        const Index entering = most_promising(G, h, w, tolerance, work);
        if (entering < 0) return NnlsStatus::Converged;
        work.passive.insert(std::ranges::lower_bound(work.passive, entering), entering);
        w[entering] =
            std::numeric_limits<double>::min(); // above zero, so that a step to the boundary can start
    }
    return NnlsStatus::IterationLimit;
}

} // namespace lithe
