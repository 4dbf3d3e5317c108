#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/skeleton_draft.hpp"

namespace lithe {
namespace {

// Proportions of people: joints of an arm between shoulder and finger tip, and how far hips and pelvis lie above the
// crotch, in radii of a leg; the shoulders from the chest, in radii of the trunk.
constexpr std::array<double, 2> arm_bends = {0.42, 0.76};
constexpr double hip_height = 0.9, pelvis_height = 1.5, shoulder_distance = 1.1;

struct BipedTips {
    int head = -1, hand_l = -1, hand_r = -1, foot_l = -1, foot_r = -1;
    bool complete() const { return std::min({head, hand_l, hand_r, foot_l, foot_r}) >= 0; }
};

/// Feet are the lowest, hands the outermost of the others on each side, the head the highest in between.
BipedTips biped_tips(const BodyGraph& graph, const std::vector<Limb>& limbs)
{
    const Vec3 middle = graph.centroid();
    const auto side = [&](int p) { return graph.place(p)[0] - middle[0]; };
    const auto height = [&](int p) { return graph.place(p)[1] - middle[1]; };
    const auto lower = [&](int a, int b) { return height(a) < height(b); };
    BipedTips tips;
    tips.foot_l = pick_tip(limbs, [&](int p) { return side(p) > 0.0 && height(p) < 0.0; }, lower);
    tips.foot_r = pick_tip(limbs, [&](int p) { return side(p) < 0.0 && height(p) < 0.0; }, lower);

    const auto is_foot = [&](int p) { return p == tips.foot_l || p == tips.foot_r; };
    const auto outer = [&](int a, int b) { return std::abs(side(a)) > std::abs(side(b)); };
    tips.hand_l = pick_tip(limbs, [&](int p) { return side(p) > 0.0 && !is_foot(p); }, outer);
    tips.hand_r = pick_tip(limbs, [&](int p) { return side(p) < 0.0 && !is_foot(p); }, outer);
    if (tips.hand_l < 0 || tips.hand_r < 0) return tips;

    const double narrow = 0.6 * std::min(side(tips.hand_l), -side(tips.hand_r));
    tips.head = pick_tip(
        limbs, [&](int p) { return std::abs(side(p)) < narrow && height(p) > 0.0; },
        [&](int a, int b) { return lower(b, a); });
    return tips;
}

/// The highest point straight above the neck, as far as that is possible: the farthest one may be a tuft or an ear.
int head_top(const BodyGraph& graph, const Vec3& neck)
{
    constexpr double lean = 0.5; // how much height a metre out of the straight costs
    const auto score = [&](int p) {
        const Vec3 x = graph.place(p);
        return x[1] - lean * std::hypot(x[0] - neck[0], x[2] - neck[2]);
    };
    int best = 0;
    for (int p = 1; p < graph.count(); ++p)
        if (score(p) > score(best)) best = p;
    return best;
}

/// Where two legs become one body: the lowest places that see each other through the inside.
struct Crotch {
    double along_l = 0.0, along_r = 0.0; ///< lengths of the legs' lines up to there [m]
    double radius = 0.0;                 ///< of a leg there [m]
};

Crotch find_crotch(const BodyGraph& graph, const CentreLine& left, const CentreLine& right)
{
    constexpr int places = 200, between = 20;
    Crotch crotch;
    for (int i = 1; i <= places; ++i) {
        const double share = static_cast<double>(i) / places;
        const Vec3 a = left.at(share), b = right.at(share);
        for (int k = 0; k <= between; ++k)
            if (!graph.contains(a + (b - a) * k / between)) return crotch;
        crotch = {share * left.length(), share * right.length(),
                  0.5 * (left.depth(share) + right.depth(share))};
    }
    return crotch;
}

/// A leg's ankle is where its line turns into the foot; in a leg without one, a tenth above its end.
std::array<double, 2> leg_bends(const CentreLine& leg, double root)
{
    constexpr double shin = 0.55, straight = 0.9;
    const double turn = leg.bend(root + shin * (1.0 - root), 1.0, 0.02);
    const double ankle = turn < 1.0 ? (turn - root) / (1.0 - root) : straight;
    return {0.5 * ankle, ankle};
}

[[noreturn]] void refuse(std::size_t limbs)
{
    throw InputError(
        fmt::format("the body has {} limbs; a biped needs two arms, two legs and a head that stand out "
                    "from it, upright (y up) and facing +z",
                    limbs));
}

/// The ways of a biped as seen from its head.
struct BipedWays {
    std::vector<int> leg_l, leg_r, arm_l, arm_r;
    std::size_t chest;       ///< how far they are the spine's
    std::size_t left, right; ///< where the arms leave the way to the foot on their side

    BipedWays(const BodyGraph& graph, const BipedTips& tips)
    {
        const BodyGraph::Search search = graph.search({tips.head}, BodyGraph::Metric::Centred);
        leg_l = BodyGraph::way(search, tips.foot_l);
        leg_r = BodyGraph::way(search, tips.foot_r);
        arm_l = BodyGraph::way(search, tips.hand_l);
        arm_r = BodyGraph::way(search, tips.hand_r);
        left = common_points(arm_l, leg_l) - 1;
        right = common_points(arm_r, leg_r) - 1;
        chest = std::min((left + right) / 2, common_points(leg_l, leg_r) - 1);
    }
};

CentreLine rest(const BodyGraph& graph, const std::vector<int>& way, std::size_t from)
{
    return CentreLine(graph, {way.begin() + static_cast<std::ptrdiff_t>(from), way.end()});
}

} // namespace

SkeletonDraft fit_biped(const BodyGraph& graph, Progress& progress)
{
    const std::vector<Limb> limbs = find_limbs(graph, progress);
    const BipedTips tips = biped_tips(graph, limbs);
    if (!tips.complete()) refuse(limbs.size());
    const BipedWays ways(graph, tips);
    if (ways.chest == 0) refuse(limbs.size());

    // The ways to the feet part high in a flat trunk: the spine is in the middle between them, down to a little above
    // the crotch.
    const CentreLine leg_l = rest(graph, ways.leg_l, ways.chest), leg_r = rest(graph, ways.leg_r, ways.chest);
    const Crotch crotch = find_crotch(graph, leg_l, leg_r);
    const auto above = [&](double radii, const CentreLine& leg, double along) {
        return std::max(0.0, along - radii * crotch.radius) / leg.length();
    };
    const double pelvis_l = above(pelvis_height, leg_l, crotch.along_l),
                 pelvis_r = above(pelvis_height, leg_r, crotch.along_r);
    if (!(pelvis_l > 0.0) || !(pelvis_r > 0.0)) refuse(limbs.size());
    const auto spine_at = [&](double share) {
        return Vec3(0.5 * (leg_l.at(share * pelvis_l) + leg_r.at(share * pelvis_r)));
    };

    SkeletonDraft draft;
    const int pelvis = draft.add("pelvis", -1, spine_at(1.0));
    const int spine = draft.add("spine", pelvis, spine_at(0.5));
    const int chest = draft.add("chest", spine, spine_at(0.0));
    draft.add_head(chest, centre_line(graph, ways.leg_l[ways.chest], head_top(graph, spine_at(0.0))));

    const double trunk = graph.depth(graph.nearest(spine_at(0.5)));
    const auto add_arm = [&](const CentreLine& arm, const std::string& s) {
        draft.add_limb(chest, arm, std::min(shoulder_distance * trunk / arm.length(), 0.3), arm_bends,
                       {"shoulder_" + s, "elbow_" + s, "wrist_" + s, "hand_" + s});
    };
    const auto add_leg = [&](const CentreLine& leg, double along, const std::string& s) {
        const double root = above(hip_height, leg, along);
        draft.add_limb(pelvis, leg, root, leg_bends(leg, root),
                       {"hip_" + s, "knee_" + s, "ankle_" + s, "toe_" + s});
    };
    add_arm(rest(graph, ways.arm_l, ways.left), "l");
    add_arm(rest(graph, ways.arm_r, ways.right), "r");
    add_leg(leg_l, crotch.along_l, "l");
    add_leg(leg_r, crotch.along_r, "r");
    if (limbs.size() > 5)
        draft.notes.push_back(
            fmt::format("limbs beside arms, legs and head, without joints: {}", limbs.size() - 5));
    return draft;
}

} // namespace lithe
