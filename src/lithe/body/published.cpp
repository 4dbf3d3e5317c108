#include "lithe/body/published.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr Index at_once = 1024; ///< vertices

SkinPlacement on_bones(const Shown& shown, const Published& now, Points& x)
{
    LITHE_ASSERT(shown.skin && shown.skin->size() == now.bones.size());
    SkinPlacement out{{}, &x};
    for (const Published::Bone& bone : now.bones) out.bones.push_back({bone.frame, &bone.q});
    x.resize(3, shown.surface.vertex_count());
    return out;
}

void place_in_frame(const Shown& shown, const Published& now, Points& x)
{
    if (now.positions.cols() > 0) {
        x = now.positions;
        return;
    }
    if (!now.bones.empty()) {
        const SkinPlacement body = on_bones(shown, now, x);
        return place_skins(*shown.skin, std::span(&body, 1));
    }
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

Points in_world(const RigidPose& frame, Points X)
{
    if (is_identity(frame)) return X; // as of all that is published in the world
    const Mat3 R = frame.rotation.toRotationMatrix();
    parallel_blocks(X.cols(), at_once, [&](Index begin, Index end) {
        for (Index v = begin; v < end; ++v) X.col(v) = Vec3(R * X.col(v) + frame.translation);
    });
    return X;
}

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
    x = in_world(now.frame, std::move(x));
}

void place_surfaces(std::span<const Shown> shown, std::span<const Published> now, std::span<Points> x)
{
    LITHE_ASSERT(shown.size() == now.size() && shown.size() == x.size());
    std::vector<char> is_placed(shown.size(), 0);
    const auto lies_on_bones = [&](std::size_t i) {
        return now[i].positions.cols() == 0 && !now[i].bones.empty() && is_identity(now[i].frame);
    };
    std::vector<SkinPlacement> sharing;
    for (std::size_t first = 0; first < shown.size(); ++first) {
        if (is_placed[first]) continue;
        if (!lies_on_bones(first)) {
            place_surface(shown[first], now[first], x[first]);
            continue;
        }
        sharing.clear();
        for (std::size_t i = first; i < shown.size(); ++i) {
            if (shown[i].skin != shown[first].skin || !lies_on_bones(i)) continue;
            sharing.push_back(on_bones(shown[i], now[i], x[i]));
            is_placed[i] = 1;
        }
        place_skins(*shown[first].skin, sharing);
    }
}

} // namespace lithe
