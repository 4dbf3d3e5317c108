#include "lithe/body/published.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr Index at_once = 1024; ///< vertices

void place_on_bones(const Shown& shown, const Published& now, Points& x)
{
    LITHE_ASSERT(shown.skin && shown.skin->size() == now.bones.size());
    std::vector<BoneMotion> bones;
    for (const Published::Bone& bone : now.bones) bones.push_back({bone.frame, &bone.q});
    x.resize(3, shown.surface.vertex_count());
    place_skin(*shown.skin, bones, x);
}

void place_in_frame(const Shown& shown, const Published& now, Points& x)
{
    if (now.positions.cols() > 0) {
        x = now.positions;
        return;
    }
    if (!now.bones.empty()) return place_on_bones(shown, now, x);
    x = shown.surface.vertices;
    if (now.weights.size() == 0) return;
    LITHE_ASSERT(shown.morphs && shown.morphs->rows() == x.size() &&
                 shown.morphs->cols() == now.weights.size());
    const Eigen::VectorXf weights = now.weights.cast<float>();
    parallel_for(x.cols(), at_once,
                 [&](Index v) { x.col(v) += (shown.morphs->middleRows<3>(3 * v) * weights).cast<double>(); });
}

bool is_identity(const RigidPose& frame)
{
    return frame.rotation.coeffs() == Quat::Identity().coeffs() && frame.translation.isZero(0.0);
}

} // namespace

Points surface_in_frame(const Shown& shown, const Published& now)
{
    Points x;
    place_in_frame(shown, now, x);
    return x;
}

Points surface_in_world(const Shown& shown, const Published& now)
{
    Points x;
    place_surface(shown, now, x);
    return x;
}

void place_surface(const Shown& shown, const Published& now, Points& x)
{
    place_in_frame(shown, now, x);
    if (is_identity(now.frame)) return; // as of all that is published in the world
    const Mat3 R = now.frame.rotation.toRotationMatrix();
    parallel_blocks(x.cols(), at_once, [&](Index begin, Index end) {
        for (Index v = begin; v < end; ++v) x.col(v) = Vec3(R * x.col(v) + now.frame.translation);
    });
}

} // namespace lithe
