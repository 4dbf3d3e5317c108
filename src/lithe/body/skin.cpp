#include "lithe/body/skin.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// Adds what one bone does to its vertices from `begin` until `end`, places in its own list.
void add_bone(const SkinBone& skin, const BoneMotion& bone, std::size_t begin, std::size_t end, Points& x)
{
    constexpr Index most = 128; // at a time, so that what they moved stays near
    const Mat3 R = bone.frame.rotation.toRotationMatrix();
    const Eigen::VectorXf q = bone.q->cast<float>();
    Eigen::Matrix<float, Eigen::Dynamic, 1, 0, 3 * most, 1> moved;
    for (auto first = static_cast<Index>(begin); first < static_cast<Index>(end); first += most) {
        const Index count = std::min(most, static_cast<Index>(end) - first);
        moved.setZero(3 * count);
        if (q.size() > 0) moved.noalias() = skin.basis.middleRows(3 * first, 3 * count) * q;
        for (Index i = 0; i < count; ++i) {
            const Index k = first + i;
            const Vec3 p = skin.rest.col(k) + moved.segment<3>(3 * i).cast<double>();
            x.col(skin.vertices[static_cast<std::size_t>(k)]) +=
                skin.weights[k] * (R * p + bone.frame.translation);
        }
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
