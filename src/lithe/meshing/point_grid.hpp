#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// Buckets of space for points that keep a distance of `reach` from each other.
class PointGrid {
public:
    PointGrid(const Points& points, double reach) : points_(points), reach_(reach)
    {
        const Box3 box = bounds(points);
        // never so fine that the coordinates of a bucket overflow
        cell_ = std::max(4.0 * reach, points.cols() > 0 ? box.sizes().maxCoeff() * 0x1p-30 : 0.0);
        origin_ = points.cols() > 0 ? Vec3(box.min()) : Vec3::Zero();
    }

    void insert(int point)
    {
        const Vec3 x = points_.col(point);
        buckets_[key(cell(x[0], 0), cell(x[1], 1), cell(x[2], 2))].push_back(point);
    }

    /// The nearest inserted point closer than the reach (the first of equally near ones), or -1.
    int nearest(const Vec3& x) const
    {
        int best = -1;
        double best_distance = reach_;
        for (auto k = cell(x[2] - reach_, 2); k <= cell(x[2] + reach_, 2); ++k)
            for (auto j = cell(x[1] - reach_, 1); j <= cell(x[1] + reach_, 1); ++j)
                for (auto i = cell(x[0] - reach_, 0); i <= cell(x[0] + reach_, 0); ++i) {
                    const auto bucket = buckets_.find(key(i, j, k));
                    if (bucket == buckets_.end()) continue;
                    for (const int p : bucket->second) {
                        const double distance = (points_.col(p) - x).norm();
                        if (distance < best_distance || (distance == best_distance && p < best)) {
                            best = p;
                            best_distance = distance;
                        }
                    }
                }
        return best;
    }

private:
    std::int64_t cell(double x, int axis) const
    {
        return static_cast<std::int64_t>(std::floor((x - origin_[axis]) / cell_));
    }
    /// Different buckets may share a key: that costs a comparison, not a mistake.
    static std::uint64_t key(std::int64_t i, std::int64_t j, std::int64_t k)
    {
        return static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u ^
               static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fu ^
               static_cast<std::uint64_t>(k) * 0x165667b19e3779f9u;
    }

    const Points& points_;
    double reach_, cell_;
    Vec3 origin_;
    std::unordered_map<std::uint64_t, std::vector<int>> buckets_;
};

} // namespace lithe
