#pragma once
#include <array>
#include <string>
#include <vector>

#include "lithe/rig/centre_lines.hpp"

namespace lithe {

/// Joints as they are put into a body: what the templates of fit_skeleton share.
struct SkeletonDraft {
    struct Place {
        std::string name;
        int parent; ///< -1: the root
        Vec3 x;     ///< [m]
    };
    std::vector<Place> joints;
    std::vector<std::string> notes;

    /// Returns its index.
    int add(std::string name, int parent, const Vec3& x);
    /// The root, two joints and the tip of a limb: at the share `root` of its line, at two shares of the rest, at its end.
    void add_limb(int parent, const CentreLine& line, double root, const std::array<double, 2>& bends,
                  const std::array<std::string, 4>& names);
    /// Neck, head and its end along the line from the chest: the neck is the thinnest place between.
    void add_head(int chest, const CentreLine& line);
};

/// Of the limbs that `may` be taken, the tip that is first by `better`; -1: none.
template <class May, class Better>
int pick_tip(const std::vector<Limb>& limbs, const May& may, const Better& better)
{
    int best = -1;
    for (const Limb& limb : limbs)
        if (may(limb.tip) && (best < 0 || better(limb.tip, best))) best = limb.tip;
    return best;
}

/// The line between two points of the graph through the middle of the body.
CentreLine centre_line(const BodyGraph& graph, int from, int to);

// The templates. The body's longest side is 1. All throw InputError when the body has not the limbs.

SkeletonDraft fit_biped(const BodyGraph& graph, Progress& progress);
SkeletonDraft fit_quadruped(const BodyGraph& graph, Progress& progress);

} // namespace lithe
