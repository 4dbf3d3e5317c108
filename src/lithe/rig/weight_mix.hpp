#pragma once
#include <algorithm>
#include <array>

#include "lithe/rig/skin_weights.hpp"

namespace lithe {

/// The weights of one point, summed up from those of up to four others.
class WeightMix {
public:
    void add(const SkinWeights& weights, Index vertex, double share)
    {
        for (Index k = 0; k < weights.slots(); ++k)
            if (weights.weights(k, vertex) != 0.0)
                add(weights.bones(k, vertex), share * weights.weights(k, vertex));
    }

    /// Heaviest first; of equal ones, the lower bone. What shares below zero made negative comes last.
    void sort()
    {
        std::sort(parts_.begin(), parts_.begin() + count_, [](const Part& a, const Part& b) {
            return a.weight > b.weight || (a.weight == b.weight && a.bone < b.bone);
        });
    }
    int heaviest() const { return parts_[0].bone; }

    /// Calls f(bone, weight) for each.
    template <class F>
    void for_each(const F& f) const
    {
        for (int i = 0; i < count_; ++i) f(parts_[i].bone, parts_[i].weight);
    }

    /// The heaviest into a column of `out`, normalised; needs sort().
    void store(SkinWeights& out, Index vertex) const
    {
        for (Index k = 0; k < out.slots(); ++k) {
            const bool used = k < count_ && parts_[k].weight > 0.0;
            out.bones(k, vertex) = used ? parts_[k].bone : 0;
            out.weights(k, vertex) = used ? parts_[k].weight : 0.0;
        }
        out.weights.col(vertex) /= out.weights.col(vertex).sum();
    }

private:
    struct Part {
        int bone;
        double weight;
    };

    void add(int bone, double weight)
    {
        for (int i = 0; i < count_; ++i)
            if (parts_[i].bone == bone) {
                parts_[i].weight += weight;
                return;
            }
        parts_[count_++] = {bone, weight};
    }

    std::array<Part, 4 * most_influences> parts_;
    int count_ = 0;
};

} // namespace lithe
