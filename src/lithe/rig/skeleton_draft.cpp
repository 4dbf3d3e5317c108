#include "lithe/rig/skeleton_draft.hpp"

namespace lithe {

int SkeletonDraft::add(std::string name, int parent, const Vec3& x)
{
    joints.push_back({std::move(name), parent, x});
    return static_cast<int>(joints.size()) - 1;
}

void SkeletonDraft::add_limb(int parent, const CentreLine& line, double root,
                             const std::array<double, 2>& bends, const std::array<std::string, 4>& names)
{
    const auto at = [&](double share) { return line.at(root + (1.0 - root) * share); };
    const int first = add(names[0], parent, at(0.0));
    const int second = add(names[1], first, at(bends[0]));
    const int third = add(names[2], second, at(bends[1]));
    add(names[3], third, at(1.0));
}

void SkeletonDraft::add_head(int chest, const CentreLine& line)
{
    constexpr double tapering = 0.6, usual = 0.4; // a head that only gets thinner to its end shows no neck
    const double thinnest = line.thinnest(0.15, 0.65);
    const double neck = thinnest < tapering ? thinnest : usual;
    const int first = add("neck", chest, line.at(neck));
    const int second = add("head", first, line.at(neck + 0.25 * (1.0 - neck)));
    add("head_end", second, line.at(1.0));
}

CentreLine centre_line(const BodyGraph& graph, int from, int to)
{
    return CentreLine(graph, BodyGraph::way(graph.search({from}, BodyGraph::Metric::Centred), to));
}

} // namespace lithe
