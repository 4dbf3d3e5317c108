#pragma once
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// The inside of a body as a grid of points, each joined to its 26 neighbours: for ways through the body. Only the largest part
/// that hangs together is kept.
class BodyGraph {
public:
    /// `cell` [m] is the distance of the points; 0: a hundredth of the longest side, coarser for bulky bodies and finer where
    /// thin limbs would come off. Throws InputError when next to nothing of the body is found.
    BodyGraph(const TriangleMesh& closed_surface, double cell, Progress& progress);

    int count() const { return static_cast<int>(depth_.size()); }
    double cell() const { return cell_; } ///< [m]
    Vec3 place(int point) const { return places_.col(point); }
    double depth(int point) const
    {
        return depth_[static_cast<std::size_t>(point)];
    } ///< below the surface [m]
    const Vec3& centroid() const { return centroid_; }
    int deepest() const;
    int nearest(const Vec3& x) const;
    /// Whether the grid's node nearest to x is one of the points.
    bool contains(const Vec3& x) const;

    enum class Metric {
        Length,  ///< [m]
        Centred, ///< length / depth^2: short ways keep to the middle of the body [1/m]
    };
    /// The shortest ways from the nearest of some sources to every point.
    struct Search {
        std::vector<double> distance;
        std::vector<int> before; ///< the point before it on its way; -1: a source
    };
    Search search(const std::vector<int>& sources, Metric metric) const;
    /// The way that ends in `target`, from its source on.
    static std::vector<int> way(const Search& search, int target);

private:
    void collect(const TriangleMesh& surface, Progress& progress);
    double keep_largest_part();

    double cell_ = 0.0;
    Vec3 origin_ = Vec3::Zero(); ///< the grid's first node
    Eigen::Vector3i size_ = Eigen::Vector3i::Zero();
    Points places_;
    Vec3 centroid_ = Vec3::Zero();
    std::vector<double> depth_;
    std::vector<int> node_;  ///< of each point: its index in the grid
    std::vector<int> point_; ///< of each node of the grid: its point, or -1
};

} // namespace lithe
