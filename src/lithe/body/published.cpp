#include "lithe/body/published.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {

Points surface_in_frame(const Shown& shown, const Published& now)
{
    if (now.positions.cols() > 0) return now.positions;
    Points x = shown.surface.vertices;
    if (now.weights.size() == 0) return x;
    LITHE_ASSERT(shown.morphs && shown.morphs->rows() == x.size() &&
                 shown.morphs->cols() == now.weights.size());
    const Eigen::VectorXf weights = now.weights.cast<float>();
    parallel_for(x.cols(), 1024,
                 [&](Index v) { x.col(v) += (shown.morphs->middleRows<3>(3 * v) * weights).cast<double>(); });
    return x;
}

} // namespace lithe
