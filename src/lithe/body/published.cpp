#include "lithe/body/published.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

Points on_bones(const Shown& shown, const Published& now)
{
    LITHE_ASSERT(shown.skin && shown.skin->size() == now.bones.size());
    std::vector<BoneMotion> bones;
    for (const Published::Bone& bone : now.bones) bones.push_back({bone.frame, &bone.q});
    Points x(3, shown.surface.vertex_count());
    place_skin(*shown.skin, bones, x);
    return x;
}

} // namespace

Points surface_in_frame(const Shown& shown, const Published& now)
{
    if (now.positions.cols() > 0) return now.positions;
    if (!now.bones.empty()) return on_bones(shown, now);
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
