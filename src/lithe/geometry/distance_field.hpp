#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/surface_query.hpp"

namespace lithe {

struct DistanceFieldOptions {
    double cell = 0.0; ///< distance of the samples [m]; 0: a 64th of the longest side of the surface's box
    double margin =
        0.0; ///< how far the grid reaches beyond the surface's box [m]; at least one cell is added
};

/// The signed distance of a surface, sampled on a regular grid: asked in constant time, where SurfaceQuery takes
/// microseconds. Negative inside. The samples are in single precision, 4 bytes each.
///
/// Between the samples the value is trilinear: continuous, off by at most half a diagonal of a cell near the
/// medial axis and of order cell^2 elsewhere. Outside the grid it is the value at the nearest
/// point of the grid's box plus the distance to that point: never less than the true distance (as far as the samples
/// are true), continuous, and growing at the right rate. Broken surfaces are welcome, as in SurfaceQuery.
///
/// Const methods may be called from any thread and allocate nothing.
class DistanceField {
public:
    /// Throws InputError when the grid would have more than 2^31 samples, with the cell that would fit.
    DistanceField(const SurfaceQuery& surface, const DistanceFieldOptions& options, Progress& progress);

    struct Sample {
        double distance; ///< [m]
        Vec3 gradient;   ///< of `distance` as it is interpolated; its length is near 1 but not exactly
    };
    Sample sample(const Vec3& p) const;
    double distance(const Vec3& p) const;

    const Box3& box() const { return box_; }              ///< of the samples
    double cell() const { return cell_; }                 ///< [m]
    const Eigen::Vector3i& size() const { return size_; } ///< samples along each axis
    /// Inside the box, values at two points differ by at most this times their distance: sqrt(3) for a whole surface, more
    /// where a broken one has no clear inside.
    double steepness() const { return steepness_; }

private:
    struct Cell {
        const float* corner; ///< the sample at its lower end
        Vec3 s;              ///< place in it, each in [0, 1]
    };
    Cell locate(const Vec3& p) const;
    double measured_steepness() const;

    Box3 box_;
    double cell_;
    Eigen::Vector3i size_;
    std::vector<float> values_; ///< x fastest
    double steepness_;
};

} // namespace lithe
