#pragma once
#include <cstdint>
#include <vector>

#include "lithe/geometry/isosurface.hpp"

namespace lithe {

/// An implicit function asked once on a grid near its zero set, and interpolated from then on: for functions that take
/// microseconds where an isosurface asks millions of times.
///
/// Only what lies within `band` of the zero set is sampled; the rest knows its sign, by cubes that get the value of their
/// middle. Trilinear between the samples. Const methods may be called from any thread.
class SampledField {
public:
    struct Grid {
        double spacing = 0.0; ///< of the samples [m], > 0
        double band = 0.0;    ///< how far from the zero set samples are kept [m], >= 0
    };
    SampledField(const ImplicitFunction& f, const Box3& box, const Grid& grid, Progress& progress);

    double value(const Vec3& x) const;
    /// For isosurface; refers to this field.
    ImplicitFunction function() const;

private:
    static constexpr int side = 8; ///< of a block, in samples

    struct Block {
        std::int64_t first = -1; ///< of its samples; -1: it has none
        float centre = 0.0F;     ///< the value in its middle
    };
    float sample(const Eigen::Vector3i& node) const;
    void find_blocks(const ImplicitFunction& f);
    void fill(const ImplicitFunction& f, Progress& progress);
    void fill_cube(const ImplicitFunction& f, const Vec3& corner, int size, float* samples) const;
    Vec3 block_corner(std::size_t block) const;

    Vec3 origin_;
    double spacing_;
    double slack_;
    double lipschitz_;
    double reach_;           ///< values above this are far from the zero set
    Eigen::Vector3i blocks_; ///< along each axis
    std::vector<Block> table_;
    std::vector<std::size_t> active_;
    std::vector<float> samples_; ///< block by block, x fastest
};

} // namespace lithe
