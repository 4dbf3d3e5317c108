#include "lithe/body/skin.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// Adds what one bone does to its vertices from `begin` until `end`, places in its own list.
void add_bone(const SkinBone& skin, const BoneMotion& bone, std::size_t begin, std::size_t end, Points& x)
{
    const Mat3 R = bone.frame.rotation.toRotationMatrix();
    const Eigen::VectorXf q = bone.q->cast<float>();
    for (std::size_t i = begin; i < end; ++i) {
        const auto k = static_cast<Index>(i);
        Vec3 p = skin.rest.col(k);
        if (q.size() > 0) {
            const Eigen::Vector3f moved = skin.basis.middleRows<3>(3 * k).lazyProduct(q);
            p += moved.cast<double>();
        }
        x.col(skin.vertices[i]) += skin.weights[k] * (R * p + bone.frame.translation);
    }
}

} // namespace

void place_skin(std::span<const SkinBone> skin, std::span<const BoneMotion> bones, Points& x)
{
    LITHE_ASSERT(skin.size() == bones.size());
    constexpr Index block = 1024;
    parallel_blocks(x.cols(), block, [&](Index begin, Index end) {
        x.middleCols(begin, end - begin).setZero();
        for (std::size_t k = 0; k < skin.size(); ++k) {
            const std::vector<int>& vertices = skin[k].vertices;
            const auto place = [&](Index v) {
                return static_cast<std::size_t>(std::ranges::lower_bound(vertices, v) - vertices.begin());
            };
            add_bone(skin[k], bones[k], place(begin), place(end), x);
        }
    });
}

} // namespace lithe
