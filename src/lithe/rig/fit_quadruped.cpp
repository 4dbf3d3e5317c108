#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/skeleton_draft.hpp"

namespace lithe {
namespace {

using enum BodyGraph::Metric;

constexpr double foot_size = 0.1;   // of the body's longest side: tips nearer than that belong to one foot
constexpr double trunk_depth = 1.6; // of a leg's own: deeper is the trunk
constexpr std::array<double, 2> leg_bends = {0.45, 0.8};

/// Two legs at one end of the trunk.
struct LegPair {
    int left, right; ///< tips
    int trunk = -1;  ///< the middle of the trunk between them
};

struct Quadruped {
    LegPair front, back;
    int axis = 2;         ///< the body's length runs along it: 0 or 2
    double forward = 1.0; ///< the sign of the direction to its head
    int side_axis() const { return 2 - axis; }
};

/// Tips from low to high; of several that belong to one foot, the lowest.
std::vector<int> tips_by_height(const BodyGraph& graph, const std::vector<Limb>& limbs)
{
    std::vector<int> tips, apart;
    for (const Limb& limb : limbs) tips.push_back(limb.tip);
    std::stable_sort(tips.begin(), tips.end(),
                     [&](int a, int b) { return graph.place(a)[1] < graph.place(b)[1]; });
    for (const int tip : tips) {
        const auto near = [&](int p) { return (graph.place(p) - graph.place(tip)).norm() < foot_size; };
        if (std::none_of(apart.begin(), apart.end(), near)) apart.push_back(tip);
    }
    return apart;
}

/// The four lowest limbs, paired along the horizontal axis on which they are farther apart. Which pair is the front is not
/// known yet: the one of larger coordinates is taken for it.
Quadruped find_legs(const BodyGraph& graph, const std::vector<Limb>& limbs)
{
    std::vector<int> tips = tips_by_height(graph, limbs);
    const double low = graph.centroid()[1];
    const auto legs = std::count_if(tips.begin(), tips.end(), [&](int p) { return graph.place(p)[1] < low; });
    if (legs < 4)
        throw InputError(
            fmt::format("the body has {} limbs, {} of them below its middle; a quadruped needs four legs "
                        "and a head that stand out from it, upright (y up)",
                        limbs.size(), legs));
    tips.resize(4);

    const auto sort_by = [&](auto begin, auto end, int axis) {
        std::stable_sort(begin, end,
                         [&](int a, int b) { return graph.place(a)[axis] < graph.place(b)[axis]; });
    };
    const auto spread = [&](int axis) {
        sort_by(tips.begin(), tips.end(), axis);
        return graph.place(tips[3])[axis] - graph.place(tips[0])[axis];
    };
    Quadruped body;
    body.axis = spread(0) > spread(2) ? 0 : 2;
    sort_by(tips.begin(), tips.end(), body.axis);
    sort_by(tips.begin(), tips.begin() + 2, body.side_axis());
    sort_by(tips.begin() + 2, tips.end(), body.side_axis());
    body.back = {.left = tips[1], .right = tips[0]};
    body.front = {.left = tips[3], .right = tips[2]};
    return body;
}

bool in_middle_plane(const BodyGraph& graph, const Quadruped& body, int p)
{
    const int side = body.side_axis();
    return std::abs(graph.place(p)[side] - graph.centroid()[side]) < 1.5 * graph.cell();
}

/// The share of a leg's line, which starts in the trunk, where it comes out of it: below, it is nowhere much deeper than the leg.
double leg_root(const CentreLine& line)
{
    constexpr double foot = 0.95, shin = 0.65;
    constexpr int steps = 100;
    const double leg = line.mean_depth(shin, foot);
    for (int i = 0; i < steps; ++i) {
        const double share = foot * (1.0 - static_cast<double>(i) / steps);
        if (line.depth(share) > trunk_depth * leg) return share;
    }
    return 0.0;
}

/// The deepest point of the middle plane between the roots of two legs.
int trunk_between(const BodyGraph& graph, const Quadruped& body, const LegPair& pair)
{
    const auto root = [&](int tip) {
        const CentreLine line = centre_line(graph, graph.deepest(), tip);
        return line.at(leg_root(line));
    };
    const Vec3 middle = 0.5 * (root(pair.left) + root(pair.right));
    int best = -1;
    for (int p = 0; p < graph.count(); ++p) {
        if (!in_middle_plane(graph, body, p)) continue;
        if (std::abs(graph.place(p)[body.axis] - middle[body.axis]) > graph.cell()) continue;
        if (best < 0 || graph.depth(p) > graph.depth(best)) best = p;
    }
    return best < 0 ? graph.nearest(middle) : best;
}

/// How much body there is beyond a pair of legs, in the middle plane: the length of the way to the farthest point there
/// times its mean depth. [m^2]
double bulk_beyond(const BodyGraph& graph, const Quadruped& body, const LegPair& pair, const LegPair& other)
{
    const BodyGraph::Search search = graph.search({pair.trunk}, Length);
    const double start = graph.place(pair.trunk)[body.axis],
                 outward = start - graph.place(other.trunk)[body.axis];
    int tip = pair.trunk;
    for (int p = 0; p < graph.count(); ++p) {
        if (!in_middle_plane(graph, body, p) || (graph.place(p)[body.axis] - start) * outward <= 0.0)
            continue;
        if (search.distance[static_cast<std::size_t>(p)] > search.distance[static_cast<std::size_t>(tip)])
            tip = p;
    }
    const CentreLine line = centre_line(graph, pair.trunk, tip);
    return line.length() * line.mean_depth(0.4, 1.0);
}

/// The head is at the end where more of the body goes on. Left is up x forward: +x when it faces +z, -z when it faces +x.
void find_front(const BodyGraph& graph, Quadruped& body)
{
    if (bulk_beyond(graph, body, body.back, body.front) > bulk_beyond(graph, body, body.front, body.back)) {
        std::swap(body.front, body.back);
        body.forward = -1.0;
    }
    if ((body.forward < 0.0) == (body.axis == 0)) return;
    std::swap(body.front.left, body.front.right);
    std::swap(body.back.left, body.back.right);
}

/// The foremost point of the middle plane: the muzzle.
int foremost(const BodyGraph& graph, const Quadruped& body)
{
    int best = graph.deepest();
    for (int p = 0; p < graph.count(); ++p)
        if (in_middle_plane(graph, body, p) &&
            body.forward * (graph.place(p)[body.axis] - graph.place(best)[body.axis]) > 0.0)
            best = p;
    return best;
}

/// The limb that is no leg, lies behind the pelvis and is farthest from it; -1: none.
int tail_tip(const BodyGraph& graph, const std::vector<Limb>& limbs, const Quadruped& body)
{
    const BodyGraph::Search search = graph.search({body.back.trunk}, Length);
    const double start = graph.place(body.back.trunk)[body.axis];
    const auto distance = [&](int p) { return search.distance[static_cast<std::size_t>(p)]; };
    const auto behind = [&](int p) { return body.forward * (graph.place(p)[body.axis] - start) < 0.0; };
    const auto is_leg = [&](int p) {
        for (const int leg : {body.back.left, body.back.right})
            if ((graph.place(p) - graph.place(leg)).norm() < foot_size) return true;
        return false;
    };
    return pick_tip(
        limbs, [&](int p) { return behind(p) && !is_leg(p); },
        [&](int a, int b) { return distance(a) > distance(b); });
}

void add_tail(SkeletonDraft& draft, int pelvis, const CentreLine& line)
{
    const double root = std::min(0.9 * line.depth(0.0) / line.length(), 0.4);
    draft.add_limb(pelvis, line, root, {1.0 / 3.0, 2.0 / 3.0}, {"tail_1", "tail_2", "tail_3", "tail_end"});
}

} // namespace

SkeletonDraft fit_quadruped(const BodyGraph& graph, Progress& progress)
{
    const std::vector<Limb> limbs = find_limbs(graph, progress);
    Quadruped body = find_legs(graph, limbs);
    body.front.trunk = trunk_between(graph, body, body.front);
    body.back.trunk = trunk_between(graph, body, body.back);
    find_front(graph, body);
    const LegPair &f = body.front, &b = body.back;
    const CentreLine spine = centre_line(graph, b.trunk, f.trunk);
    const CentreLine head = centre_line(graph, f.trunk, foremost(graph, body));
    if (std::min(spine.length(), head.length()) < 3.0 * graph.cell())
        throw InputError(
            fmt::format("the body has {} limbs, but no trunk with a head beyond its legs was found; is it a "
                        "quadruped that stands upright (y up)?",
                        limbs.size()));

    SkeletonDraft draft;
    const int pelvis = draft.add("pelvis", -1, spine.at(0.0));
    const int middle = draft.add("spine", pelvis, spine.at(0.5));
    const int chest = draft.add("chest", middle, spine.at(1.0));
    draft.add_head(chest, head);
    const auto add_leg = [&](int parent, int trunk, int tip, const std::array<std::string, 4>& names) {
        const CentreLine line = centre_line(graph, trunk, tip);
        draft.add_limb(parent, line, 0.8 * leg_root(line), leg_bends, names);
    };
    add_leg(chest, f.trunk, f.left, {"shoulder_l", "elbow_l", "wrist_l", "front_foot_l"});
    add_leg(chest, f.trunk, f.right, {"shoulder_r", "elbow_r", "wrist_r", "front_foot_r"});
    add_leg(pelvis, b.trunk, b.left, {"hip_l", "knee_l", "ankle_l", "hind_foot_l"});
    add_leg(pelvis, b.trunk, b.right, {"hip_r", "knee_r", "ankle_r", "hind_foot_r"});

    const int tail = tail_tip(graph, limbs, body);
    if (tail >= 0)
        add_tail(draft, pelvis, centre_line(graph, b.trunk, tail));
    else
        draft.notes.push_back("no tail stands out: the skeleton has none");
    draft.notes.push_back(
        fmt::format("the body faces {}{}", body.forward > 0.0 ? "+" : "-", body.axis == 0 ? "x" : "z"));
    return draft;
}

} // namespace lithe
