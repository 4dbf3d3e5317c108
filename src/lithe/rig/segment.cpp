#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/bind.hpp"
#include "lithe/rig/weight_mix.hpp"

namespace lithe {

Segmentation segment(const TetMesh& volume, const SkinWeights& weights, Index bone_count, double threshold)
{
    LITHE_ASSERT(weights.vertex_count() == volume.vertex_count());
    if (!(threshold >= 0.0 && threshold < 1.0))
        throw InputError(fmt::format("domains by bone: a threshold of {}; give one in [0, 1)", threshold));

    Segmentation out;
    out.tets.resize(static_cast<std::size_t>(bone_count));
    out.heaviest.reserve(static_cast<std::size_t>(volume.tet_count()));
    for (int t = 0; t < volume.tet_count(); ++t) {
        WeightMix mean;
        for (int a = 0; a < 4; ++a) mean.add(weights, volume.tets(a, t), 0.25);
        mean.sort();
        const int heaviest = mean.heaviest();
        out.heaviest.push_back(heaviest);
        mean.for_each([&](int bone, double weight) {
            LITHE_ASSERT(bone >= 0 && bone < bone_count);
            const bool overlaps = threshold > 0.0 && weight > threshold;
            if (bone == heaviest || overlaps) out.tets[bone].push_back(t);
        });
    }
    return out;
}

} // namespace lithe
