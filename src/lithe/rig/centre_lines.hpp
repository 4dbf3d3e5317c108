#pragma once
#include <vector>

#include "lithe/rig/body_graph.hpp"

namespace lithe {

/// A smooth line through the middle of a body.
class CentreLine {
public:
    /// Along points of the graph, each a neighbour of the one before; at least one.
    CentreLine(const BodyGraph& graph, const std::vector<int>& way);

    double length() const { return along_.back(); } ///< [m]
    /// The place at a share of the length, in [0, 1].
    Vec3 at(double share) const;
    /// The depth below the surface of the graph's point there. [m]
    double depth(double share) const;
    /// The mean of `depth` from one share to another. [m]
    double mean_depth(double from, double to) const;
    /// The share in [from, to] where the line is nearest to the surface.
    double thinnest(double from, double to) const;
    /// The share in [from, to] that is farthest from the chord between them; `to` when all is within `tolerance` of the
    /// length from it.
    double bend(double from, double to, double tolerance) const;

private:
    std::vector<Vec3> places_;
    std::vector<double> depths_;
    std::vector<double> along_; ///< length up to each place [m]
};

/// A part that sticks out of a body: a leg, an arm, a head, a tail.
struct Limb {
    int tip;       ///< point of the graph
    double length; ///< from the tip to the lines of the limbs before it, through the inside [m]
};

/// The limbs of a body, the longest first: each ends in the point that is farthest from the centre lines of those
/// before it, and is longer than 1.4 times the body's radius where it starts and than a fourteenth of the body's extent. At
/// most 16.
std::vector<Limb> find_limbs(const BodyGraph& graph, Progress& progress);

/// How many points two ways with the same source have in common at their start; at least one.
std::size_t common_points(const std::vector<int>& a, const std::vector<int>& b);

} // namespace lithe
