#include "lithe/world/contact_finder.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/contact/stray.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/box.hpp"

namespace lithe {
namespace {

bool collides(const Body& body)
{
    return body.collides() != Collides::Nowhere;
}

bool may_meet(const Obstacle& obstacle, bool still, const Box3& box)
{
    const double radius = 0.5 * box.diagonal().norm();
    return may_touch(obstacle, StepEnd::Start, box.center(), radius) ||
           (!still && may_touch(obstacle, StepEnd::End, box.center(), radius));
}

/// How far a point of a surface goes in the step.
Vec3 way_of(const SweptSurface& surface, const ContactSide& side)
{
    Vec3 way = Vec3::Zero();
    for (int corner = 0; corner < 3; ++corner)
        way += side.weights[corner] * surface.point(surface.surface().triangles(corner, side.triangle)).dx;
    return way;
}

bool same(const RigidPose& a, const RigidPose& b)
{
    return a.translation == b.translation && a.rotation.coeffs() == b.rotation.coeffs();
}

} // namespace

bool moves(const Obstacle& obstacle)
{
    return obstacle.surface != nullptr || !same(obstacle.pose_0, obstacle.pose_1);
}

void ContactFinder::find(const ContactStep& step, const JointStage& joints)
{
    step_ = step;
    round_ = 0;
    pairs_.clear();
    contacts_.clear();
    asleep_.clear();
    for (const Body* body : step.bodies) asleep_.push_back(body->asleep());
    changed_.assign(step.bodies.size(), 1);
    surfaces_.assign(step.bodies.size(), nullptr);
    boxes_.assign(step.bodies.size(), Box3());
    find_boxes();
    find_margin();
    find_pairs(joints);
    recall_pairs();
    detect_pairs();
}

void ContactFinder::find_again(std::span<const char> changed, const JointStage& joints)
{
    ++round_;
    changed_.assign(changed.begin(), changed.end());
    find_boxes();
    find_pairs(joints);
    recall_pairs();
    detect_pairs();
}

void ContactFinder::find_boxes()
{
    parallel_for(std::ssize(step_.bodies), 1, [&](std::ptrdiff_t k) {
        const auto i = static_cast<std::size_t>(k);
        if (changed_[i] && collides(*step_.bodies[i])) boxes_[i] = step_.bodies[i]->swept_bounds();
    });
}

/// Nothing may be as small as the margin, so it goes by the smallest body.
void ContactFinder::find_margin()
{
    double size = std::numeric_limits<double>::infinity();
    for (const Box3& box : boxes_)
        if (!box.isEmpty()) size = std::min(size, box.diagonal().norm());
    detect_.margin = share_ * (std::isfinite(size) ? size : 1.0);
    detect_.self_distance = 4.0 * detect_.margin;
}

/// And the ways of their surfaces.
void ContactFinder::find_pairs(const JointStage& joints)
{
    for (std::size_t i = 0; i < boxes_.size(); ++i)
        if (changed_[i] && !boxes_[i].isEmpty()) boxes_[i] = widened(boxes_[i], detect_.margin);
    std::swap(pairs_, last_pairs_);
    pairs_.clear();
    find_body_pairs(joints);
    find_obstacle_pairs(joints);
    find_swept_bodies();
    sweep_bodies();
    remember_ends();
}

bool ContactFinder::collide(int a, int b, const JointStage& joints) const
{
    return !joints.hold_together(a, b) && step_.rules->meet(step_.order->id(a), step_.order->id(b));
}

void ContactFinder::find_body_pairs(const JointStage& joints)
{
    broad_phase_.update(boxes_);
    broad_phase_.find_pairs([&](int a, int b) { return !(asleep(a) && asleep(b)) && collide(a, b, joints); },
                            body_pairs_);
    for (const auto& [a, b] : body_pairs_) pairs_.push_back({.a = a, .b = b});
    for (int i = 0; i < static_cast<int>(boxes_.size()); ++i)
        if (!boxes_[static_cast<std::size_t>(i)].isEmpty() && !asleep(i) && body(i).meets_itself())
            pairs_.push_back({.a = i, .b = i});
}

/// Boxes, balls and what deforms are met as surfaces, so that nothing slips through between the vertices of a body.
ContactFinder::ObstacleSurface* ContactFinder::surface_of(const Obstacle& obstacle)
{
    const auto [at, is_new] = obstacle_surfaces_.try_emplace(obstacle.key);
    if (is_new) {
        std::optional<CollisionSurface> surface =
            obstacle.surface ? std::optional(make_collision_surface(obstacle.surface->rest()))
                             : collision_surface_of(*obstacle.shape);
        if (surface) {
            at->second = std::make_unique<ObstacleSurface>(std::move(*surface), SweptSurface());
            at->second->swept = SweptSurface(at->second->surface);
        }
    }
    return at->second.get();
}

/// Its surface where it is in this step; null where it is felt by distance. What goes as it went last is there already.
const SweptSurface* ContactFinder::placed(const Obstacle& obstacle)
{
    ObstacleSurface* surface = surface_of(obstacle);
    if (!surface) return nullptr;
    const bool is_there = surface->is_placed && !obstacle.surface && same(surface->pose_0, obstacle.pose_0) &&
                          same(surface->pose_1, obstacle.pose_1);
    if (is_there) return &surface->swept;
    place(obstacle, surface->swept);
    surface->pose_0 = obstacle.pose_0;
    surface->pose_1 = obstacle.pose_1;
    surface->is_placed = true;
    return &surface->swept;
}

void ContactFinder::find_obstacle_pairs(const JointStage& joints)
{
    for (std::size_t k = 0; k < step_.obstacles.size(); ++k) {
        const Obstacle& obstacle = step_.obstacles[k];
        const bool still = !moves(obstacle);
        const SweptSurface* surface = still ? placed(obstacle) : nullptr;
        const auto may_meet_body = [&](const Box3& box) {
            return surface ? surface->swept_box().intersects(box) : may_meet(obstacle, still, box);
        };
        for (int i = 0; i < static_cast<int>(boxes_.size()); ++i) {
            if (still && asleep(i)) continue;
            const Box3& box = boxes_[static_cast<std::size_t>(i)];
            if (body(i).collides() != Collides::Everywhere || !may_meet_body(box) ||
                !collide(i, obstacle.body, joints))
                continue;
            if (!surface) surface = placed(obstacle);
            pairs_.push_back({.a = i, .obstacle = k, .surface = surface});
        }
    }
}

void ContactFinder::find_swept_bodies()
{
    swept_bodies_.clear();
    const auto add = [&](const auto& meeting) {
        swept_bodies_.push_back(meeting.a);
        if (meeting.b >= 0) swept_bodies_.push_back(meeting.b);
    };
    std::ranges::for_each(pairs_, add);
    std::ranges::for_each(contacts_, add); // of the round before
    std::ranges::sort(swept_bodies_);
    swept_bodies_.erase(std::ranges::unique(swept_bodies_).begin(), swept_bodies_.end());
}

void ContactFinder::sweep_bodies()
{
    parallel_for(static_cast<std::ptrdiff_t>(swept_bodies_.size()), 1, [&](std::ptrdiff_t k) {
        const auto i = static_cast<std::size_t>(swept_bodies_[static_cast<std::size_t>(k)]);
        if (changed_[i] || !surfaces_[i]) surfaces_[i] = step_.bodies[i]->sweep();
    });
}

void ContactFinder::remember_ends()
{
    if (ends_.size() <= round_) ends_.resize(round_ + 1);
    std::vector<Points>& ends = ends_[round_];
    ends.resize(std::max(ends.size(), step_.bodies.size()));
    for (const int i : swept_bodies_) ends[static_cast<std::size_t>(i)] = swept(i).end;
}

/// Pairs keep the contacts of the round before unless they stray.
void ContactFinder::recall_pairs()
{
    constexpr Index in_block = 4;
    std::ranges::sort(last_pairs_, {}, &Pair::place);
    const auto count = static_cast<Index>(pairs_.size());
    near_.resize(std::max(near_.size(), static_cast<std::size_t>((count + in_block - 1) / in_block)));
    near_of_pairs_.resize(std::max(near_of_pairs_.size(), pairs_.size()));
    parallel_blocks(count, in_block, [&](Index begin, Index end) {
        NearPair& near = near_[static_cast<std::size_t>(begin / in_block)];
        for (Index i = begin; i < end; ++i) recall(static_cast<std::size_t>(i), near);
    });
}

bool ContactFinder::changed(const Pair& pair) const
{
    return changed_[static_cast<std::size_t>(pair.a)] ||
           (pair.b >= 0 && changed_[static_cast<std::size_t>(pair.b)]);
}

/// `near` is to work with; where the pair strays, it is kept.
void ContactFinder::recall(std::size_t i, NearPair& near)
{
    Pair& pair = pairs_[i];
    pair.round = round_;
    const auto last = std::ranges::lower_bound(last_pairs_, pair.place(), {}, &Pair::place);
    if (last == last_pairs_.end() || last->place() != pair.place()) return;
    if (changed(pair) && strays(*last, near)) {
        std::swap(near, near_of_pairs_[i]);
        pair.near = &near_of_pairs_[i];
        return;
    }
    pair.round = last->round;
    pair.first = last->first;
    pair.last = last->last;
}

/// Whether contacts may wait where the pair goes now, as it has not been looked at: of what comes near now.
bool ContactFinder::strays(const Pair& pair, NearPair& near) const
{
    const auto ways = [&](int i) {
        return ChangedWays{swept(i), ends_[pair.round][static_cast<std::size_t>(i)]};
    };
    const double far = 2.0 * detect_.margin;
    if (pair.b < 0 && !pair.surface) {
        const Obstacle& obstacle = step_.obstacles[pair.obstacle];
        const Vec3 way = obstacle.pose_1.translation - obstacle.pose_0.translation;
        return stray(ways(pair.a), swept(pair.a).surface().points, way) > far;
    }
    const SweptSurface& b = pair.b >= 0 ? swept(pair.b) : *pair.surface;
    const ChangedWays ways_a = ways(pair.a), ways_b = pair.b >= 0 ? ways(pair.b) : ChangedWays{b, b.end};
    if (change(ways_a) + change(ways_b) <= far) return false;
    const double thickness = swept(pair.a).surface().thickness + b.surface().thickness;
    find_near(swept(pair.a), b, thickness + detect_.margin, near);
    return stray(ways_a, near.a.vertices, ways_b, near.b.vertices) > far;
}

/// A patch needs as many contacts as the bodies have ways to give way between them.
int ContactFinder::most_contacts(const Pair& pair) const
{
    constexpr Index fewest = 12, most = 64;
    const Index freedoms =
        std::max(body(pair.a).freedoms(), pair.b >= 0 ? body(pair.b).freedoms() : Index{0});
    return static_cast<int>(std::clamp(freedoms + 6, fewest, most));
}

SurfacePair ContactFinder::surfaces_of(const Pair& pair) const
{
    const Obstacle* obstacle = pair.b < 0 ? &step_.obstacles[pair.obstacle] : nullptr;
    const std::uint64_t other = obstacle ? ~obstacle->key : static_cast<std::uint64_t>(pair.b);
    return {.a = &swept(pair.a),
            .b = obstacle ? pair.surface : &swept(pair.b),
            .obstacle = obstacle,
            .key = pair_key(static_cast<std::uint64_t>(pair.a), other),
            .most = most_contacts(pair),
            .near = pair.near};
}

/// Those that this round has to look at; the others keep what they have.
void ContactFinder::detect_pairs()
{
    surface_pairs_.clear();
    for (const Pair& pair : pairs_)
        if (pair.round == round_) surface_pairs_.push_back(surfaces_of(pair));
    detect_contacts(surface_pairs_, detect_, detect_work_, found_);
    std::swap(contacts_, last_contacts_);
    contacts_.clear();
    std::size_t looked_at = 0;
    for (Pair& pair : pairs_) {
        const std::size_t first = contacts_.size();
        if (pair.round == round_)
            for (const SurfaceContact& contact : found_.of(looked_at++))
                contacts_.push_back(
                    {.a = pair.a, .b = pair.b, .obstacle = pair.obstacle, .at = contact, .round = round_});
        else
            contacts_.insert(contacts_.end(),
                             last_contacts_.begin() + static_cast<std::ptrdiff_t>(pair.first),
                             last_contacts_.begin() + static_cast<std::ptrdiff_t>(pair.last));
        pair.first = first;
        pair.last = contacts_.size();
    }
}

// ---- ways

Vec3 ContactFinder::obstacle_velocity(const BodyContact& contact) const
{
    const Obstacle& obstacle = step_.obstacles[contact.obstacle];
    if (contact.at.b.triangle >= 0)
        return way_of(obstacle_surfaces_.at(obstacle.key)->swept, contact.at.b) / step_.h;
    const Vec3 x = contact.at.point();
    return (place_of(obstacle, StepEnd::End, material_at(obstacle, StepEnd::Start, x)) - x) / step_.h;
}

Vec3 ContactFinder::way(const BodyContact& contact) const
{
    const Vec3 b =
        contact.b >= 0 ? way_of(swept(contact.b), contact.at.b) : step_.h * obstacle_velocity(contact);
    return way_of(swept(contact.a), contact.at.a) - b;
}

} // namespace lithe
