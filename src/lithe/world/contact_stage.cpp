#include "lithe/world/contact_stage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

bool collides(const Body& body)
{
    return body.collides() != Collides::Nowhere;
}

Box3 widened(const Box3& box, double by)
{
    return {box.min().array() - by, box.max().array() + by};
}

bool may_meet(const Obstacle& obstacle, const Box3& box)
{
    const double radius = 0.5 * box.diagonal().norm();
    return may_touch(obstacle, StepEnd::Start, box.center(), radius) ||
           may_touch(obstacle, StepEnd::End, box.center(), radius);
}

/// How far a point of a surface goes in the step.
Vec3 way_of(const SweptSurface& surface, const ContactSide& side)
{
    Vec3 way = Vec3::Zero();
    for (int corner = 0; corner < 3; ++corner)
        way += side.weights[corner] * surface.point(surface.surface().triangles(corner, side.triangle)).dx;
    return way;
}

} // namespace

bool moves(const Obstacle& obstacle)
{
    return obstacle.surface != nullptr || obstacle.pose_0.translation != obstacle.pose_1.translation ||
           obstacle.pose_0.rotation.coeffs() != obstacle.pose_1.rotation.coeffs();
}

// ---- detection

/// Nothing may be as small as the margin, so it goes by the smallest body.
void ContactStage::find_margin()
{
    double size = std::numeric_limits<double>::infinity();
    for (const Box3& box : boxes_)
        if (!box.isEmpty()) size = std::min(size, box.diagonal().norm());
    detect_.margin = options_.margin * (std::isfinite(size) ? size : 1.0);
    detect_.self_distance = 4.0 * detect_.margin;
}

void ContactStage::find(const ContactStep& step, const JointStage& joints)
{
    step_ = step;
    contacts_.clear();
    boxes_.assign(step.bodies.size(), Box3());
    asleep_.resize(step.bodies.size());
    for (std::size_t i = 0; i < step.bodies.size(); ++i) {
        if (collides(*step.bodies[i])) boxes_[i] = step.bodies[i]->swept_bounds();
        asleep_[i] = step.bodies[i]->asleep();
    }
    find_margin();
    for (Box3& box : boxes_)
        if (!box.isEmpty()) box = widened(box, detect_.margin);
    pairs_.clear();
    find_body_pairs(joints);
    find_obstacle_pairs(joints);
    find_swept_bodies();
    sweep_bodies();
    remember_ends();
    detect_pairs();
}

bool ContactStage::collide(int a, int b, const JointStage& joints) const
{
    return !joints.hold_together(a, b) && step_.rules->meet(step_.order->id(a), step_.order->id(b));
}

void ContactStage::find_body_pairs(const JointStage& joints)
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
ContactStage::ObstacleSurface* ContactStage::surface_of(const Obstacle& obstacle)
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

void ContactStage::find_obstacle_pairs(const JointStage& joints)
{
    for (std::size_t k = 0; k < step_.obstacles.size(); ++k) {
        const Obstacle& obstacle = step_.obstacles[k];
        const bool still = !moves(obstacle);
        ObstacleSurface* surface = nullptr;
        for (int i = 0; i < static_cast<int>(boxes_.size()); ++i) {
            if (still && asleep(i)) continue;
            if (body(i).collides() != Collides::Everywhere ||
                !may_meet(obstacle, boxes_[static_cast<std::size_t>(i)]) ||
                !collide(i, obstacle.body, joints))
                continue;
            if (!surface && (surface = surface_of(obstacle))) place(obstacle, surface->swept);
            pairs_.push_back({.a = i, .obstacle = k, .surface = surface ? &surface->swept : nullptr});
        }
    }
}

void ContactStage::find_swept_bodies()
{
    swept_bodies_.clear();
    for (const Pair& pair : pairs_) {
        swept_bodies_.push_back(pair.a);
        if (pair.b >= 0) swept_bodies_.push_back(pair.b);
    }
    std::ranges::sort(swept_bodies_);
    swept_bodies_.erase(std::ranges::unique(swept_bodies_).begin(), swept_bodies_.end());
    surfaces_.assign(step_.bodies.size(), nullptr);
}

void ContactStage::sweep_bodies()
{
    parallel_for(static_cast<std::ptrdiff_t>(swept_bodies_.size()), 1, [&](std::ptrdiff_t k) {
        const auto i = static_cast<std::size_t>(swept_bodies_[static_cast<std::size_t>(k)]);
        surfaces_[i] = step_.bodies[i]->sweep();
    });
}

void ContactStage::remember_ends()
{
    ends_.resize(std::max(ends_.size(), step_.bodies.size()));
    for (const int i : swept_bodies_) ends_[static_cast<std::size_t>(i)] = swept(i).end;
}

/// A patch needs as many contacts as the bodies have ways to give way between them.
int ContactStage::most_contacts(const Pair& pair) const
{
    constexpr Index fewest = 12, most = 64;
    const Index freedoms =
        std::max(body(pair.a).freedoms(), pair.b >= 0 ? body(pair.b).freedoms() : Index{0});
    return static_cast<int>(std::clamp(freedoms + 6, fewest, most));
}

void ContactStage::detect_pairs()
{
    surface_pairs_.clear();
    for (const Pair& pair : pairs_) {
        const Obstacle* obstacle = pair.b < 0 ? &step_.obstacles[pair.obstacle] : nullptr;
        const std::uint64_t other = obstacle ? ~obstacle->key : static_cast<std::uint64_t>(pair.b);
        surface_pairs_.push_back({.a = &swept(pair.a),
                                  .b = obstacle ? pair.surface : &swept(pair.b),
                                  .obstacle = obstacle,
                                  .key = pair_key(static_cast<std::uint64_t>(pair.a), other),
                                  .most = most_contacts(pair)});
    }
    detect_contacts(surface_pairs_, detect_, detect_work_, found_);
    for (std::size_t k = 0; k < pairs_.size(); ++k)
        for (const SurfaceContact& contact : found_.of(k))
            contacts_.push_back(
                {.a = pairs_[k].a, .b = pairs_[k].b, .obstacle = pairs_[k].obstacle, .at = contact});
}

/// Whatever nears a sleeping body so that it would push it.
void ContactStage::find_disturbed(std::vector<int>& out) const
{
    out.clear();
    for (const BodyContact& contact : contacts_) {
        if (contact.b < 0 ? !asleep(contact.a) : asleep(contact.a) == asleep(contact.b)) continue;
        if (contact.b >= 0 && passage(contact) >= 0.0 && contact.impulse.isZero(0.0)) continue;
        out.push_back(asleep(contact.a) ? contact.a : contact.b);
    }
}

// ---- what it remembers

void ContactStage::save(const BodyOrder& order, StateWriter& out) const
{
    out.write(static_cast<std::int64_t>(last_.size()));
    for (const LastImpulse& last : last_) {
        out.write(std::bit_cast<std::int64_t>(last.key));
        order.write(last.a, out);
        order.write(last.b, out);
        for (const double value : last.impulse) out.write(value);
    }
}

void ContactStage::restore(const BodyOrder& order, StateReader& in)
{
    last_.clear();
    for (std::int64_t left = in.read_integer(); left > 0; --left) {
        LastImpulse last{.key = std::bit_cast<std::uint64_t>(in.read_integer()), .a = {}, .b = {}};
        last.a = order.read(in);
        last.b = order.read(in);
        for (double& value : last.impulse) value = in.read_number();
        last_.push_back(last);
    }
    std::ranges::sort(last_, {}, &LastImpulse::key);
}

void ContactStage::forget(BodyId id)
{
    std::erase_if(last_, [&](const LastImpulse& last) { return last.a == id || last.b == id; });
}

/// But for those that bodies need when they wake.
void ContactStage::forget_impulses()
{
    const auto sleeps = [&](BodyId id) { return asleep(step_.order->number(id)); };
    std::erase_if(last_, [&](const LastImpulse& last) { return !sleeps(last.a) && !sleeps(last.b); });
}

int ContactStage::other(const BodyContact& contact) const
{
    return contact.b >= 0 ? contact.b : step_.obstacles[contact.obstacle].body;
}

Vec3 ContactStage::last_impulse(std::uint64_t key) const
{
    const auto at = std::ranges::lower_bound(last_, key, {}, &LastImpulse::key);
    return at != last_.end() && at->key == key ? at->impulse : Vec3(Vec3::Zero());
}

/// On top of those of earlier rounds of the step.
void ContactStage::remember_impulses()
{
    for (const int k : kept_) {
        const BodyContact& contact = contacts_[static_cast<std::size_t>(k)];
        if (contact.impulse.isZero(0.0)) continue;
        last_.push_back(
            {contact.at.key, step_.order->id(contact.a), step_.order->id(other(contact)), contact.impulse});
    }
    std::ranges::sort(last_, {}, &LastImpulse::key);
    std::size_t end = 0;
    for (const LastImpulse& last : last_) {
        if (end > 0 && last_[end - 1].key == last.key)
            last_[end - 1].impulse += last.impulse;
        else
            last_[end++] = last;
    }
    last_.resize(end);
}

/// Contacts of a pair lie together.
void ContactStage::note_pushes()
{
    const auto at = [&](std::size_t k) -> const BodyContact& {
        return contacts_[static_cast<std::size_t>(kept_[k])];
    };
    for (std::size_t first = 0, last = 0; first < kept_.size(); first = last) {
        while (last < kept_.size() && at(last).a == at(first).a && other(at(last)) == other(at(first)))
            ++last;
        note_push(first, last);
    }
}

/// Of the kept contacts from `first` to before `last`, which are those of a pair.
void ContactStage::note_push(std::size_t first, std::size_t last)
{
    Vec3 sum = Vec3::Zero();
    const BodyContact* deepest = nullptr;
    for (std::size_t k = first; k < last; ++k) {
        const BodyContact& contact = contacts_[static_cast<std::size_t>(kept_[k])];
        if (contact.impulse.isZero(0.0)) continue;
        sum += contact.impulse;
        if (!deepest || contact.at.gap < deepest->at.gap) deepest = &contact;
    }
    if (!deepest) return;
    pushes_.push_back({.a = step_.order->id(deepest->a),
                       .b = step_.order->id(other(*deepest)),
                       .impulse = sum,
                       .depth = -deepest->at.gap,
                       .place = deepest->at.point(),
                       .normal = deepest->at.normal,
                       .speed = impact_speed(*deepest)});
}

// ---- impulses

/// Bodies are told all points at once, before the first constraint.
void ContactStage::gather_touches(const auto& keep, JointStage& joints)
{
    coupling_.begin(step_.bodies);
    kept_.clear();
    side_a_.clear();
    side_b_.clear();
    const auto add = [&](int number, const ContactSide& side, const Vec3& place) {
        return coupling_.add(number, {{side.triangle, side.weights, BodySurface::Collision}, place});
    };
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
        const BodyContact& contact = contacts_[c];
        if (!keep(contact)) continue;
        const Vec3 place = contact.at.point();
        kept_.push_back(static_cast<int>(c));
        side_a_.push_back(add(contact.a, contact.at.a, place));
        side_b_.push_back(contact.b >= 0 ? add(contact.b, contact.at.b, place) : 0);
    }
    joints.add_touches(coupling_);
}

Vec3 ContactStage::obstacle_velocity(const BodyContact& contact) const
{
    const Obstacle& obstacle = step_.obstacles[contact.obstacle];
    if (contact.at.b.triangle >= 0)
        return way_of(obstacle_surfaces_.at(obstacle.key)->swept, contact.at.b) / step_.h;
    const Vec3 x = contact.at.point();
    return (place_of(obstacle, StepEnd::End, material_at(obstacle, StepEnd::Start, x)) - x) / step_.h;
}

ContactLaw ContactStage::law_of(const BodyContact& contact) const
{
    const ContactLaw a = body(contact.a).law();
    const ContactLaw b = contact.b >= 0 ? body(contact.b).law()
                                        : ContactLaw{.friction = step_.obstacles[contact.obstacle].friction,
                                                     .restitution = a.restitution};
    return step_.rules->law(
        step_.order->id(contact.a), step_.order->id(other(contact)),
        {combined_friction(a.friction, b.friction), std::sqrt(a.restitution * b.restitution)});
}

/// constraint(contact, relative velocity) makes what the problem gets for a kept contact.
void ContactStage::fill_problem(ResponseKind kind, const auto& constraint, JointStage& joints)
{
    coupling_.join(kind);
    for (std::size_t k = 0; k < kept_.size(); ++k) {
        const BodyContact& contact = contacts_[static_cast<std::size_t>(kept_[k])];
        (void)coupling_.problem.add_contact({});
        Vec3 u = coupling_.couple(contact.a, side_a_[k], 1.0);
        if (contact.b >= 0)
            u -= coupling_.couple(contact.b, side_b_[k], -1.0);
        else if (kind != ResponseKind::Places)
            u -= obstacle_velocity(contact);
        coupling_.problem.contacts.back() = constraint(contact, u);
    }
    joints.add_constraints(kind, coupling_);
}

/// At which the sides of a contact near each other now. [m/s]
double ContactStage::impact_speed(const BodyContact& contact) const
{
    const auto velocity = [&](int number, const ContactSide& side) {
        return body(number).motion({side.triangle, side.weights, BodySurface::Collision}).velocity;
    };
    const Vec3 b = contact.b >= 0 ? velocity(contact.b, contact.at.b) : obstacle_velocity(contact);
    return -contact.at.normal.dot(velocity(contact.a, contact.at.a) - b);
}

/// Those of the problem.
void ContactStage::take_impulses()
{
    for (std::size_t k = 0; k < kept_.size(); ++k)
        contacts_[static_cast<std::size_t>(kept_[k])].impulse = coupling_.problem.contacts[k].impulse;
}

bool ContactStage::bounce(JointStage& joints)
{
    pushes_.clear();
    bounced_ = 0;
    const auto bounces = [&](const BodyContact& contact) {
        return contact.at.time < 1.0 && law_of(contact).restitution > 0.0;
    };
    if (std::ranges::none_of(contacts_, [&](const BodyContact& contact) {
            return bounces(contact) && impact_speed(contact) > options_.bounce_speed;
        }))
        return false;
    gather_touches(bounces, joints);
    fill_problem(
        ResponseKind::Bare,
        [&](const BodyContact& contact, const Vec3& u) {
            const ContactLaw law = law_of(contact);
            const bool fast = u.dot(contact.at.normal) < -options_.bounce_speed;
            return ImpulseContact{.normal = contact.at.normal,
                                  .velocity = u,
                                  .friction = law.friction,
                                  .restitution = fast ? law.restitution : 0.0};
        },
        joints);
    (void)coupling_.solve(options_.impulses);
    coupling_.bounce();
    take_impulses();
    note_pushes();
    bounced_ = pushes_.size();
    (void)coupling_.hand_out();
    return true;
}

/// What side a goes relative to side b, from the start to the predictions as they are now.
Vec3 ContactStage::way(const BodyContact& contact) const
{
    const Vec3 b =
        contact.b >= 0 ? way_of(swept(contact.b), contact.at.b) : step_.h * obstacle_velocity(contact);
    return way_of(swept(contact.a), contact.at.a) - b;
}

/// The gap that the predictions leave; below zero they have passed each other. [m]
double ContactStage::passage(const BodyContact& contact) const
{
    return std::max(contact.at.gap, 0.0) + way(contact).dot(contact.at.normal);
}

/// Whether something ends up inside of something else all the same.
bool ContactStage::some_pass() const
{
    return std::ranges::any_of(
        contacts_, [&](const BodyContact& contact) { return passage(contact) < -0.5 * detect_.margin; });
}

/// Whether the impulses turn a body so far from the way on which contacts were looked for that others may wait on its
/// new one.
bool ContactStage::some_are_deflected() const
{
    const double far = 2.0 * detect_.margin;
    return std::ranges::any_of(swept_bodies_, [&](int i) {
        const Points& end = ends_[static_cast<std::size_t>(i)];
        return (swept(i).end - end).colwise().squaredNorm().maxCoeff() > far * far;
    });
}

/// With velocities as the constraints' first guess of the ways, or the ways as they are.
ImpulseReport ContactStage::solve_once(bool along_ways, JointStage& joints)
{
    gather_touches([](const BodyContact&) { return true; }, joints);
    if (kept_.empty() && joints.empty()) return {};
    fill_problem(
        ResponseKind::Implicit,
        [&](const BodyContact& contact, const Vec3& u) {
            const Vec3& n = contact.at.normal;
            const double arc = along_ways ? way(contact).dot(n) / step_.h - u.dot(n) : 0.0;
            return ImpulseContact{.normal = n,
                                  .velocity = u,
                                  .gap_rate = std::max(contact.at.gap, 0.0) / step_.h + arc,
                                  .friction = law_of(contact).friction,
                                  .impulse = along_ways ? Vec3(Vec3::Zero()) : last_impulse(contact.at.key)};
        },
        joints);
    const ImpulseReport report = coupling_.solve(options_.impulses);
    if (!along_ways) forget_impulses();
    take_impulses();
    remember_impulses();
    note_pushes();
    (void)coupling_.hand_out();
    return report;
}

ImpulseReport ContactStage::solve(JointStage& joints)
{
    pushes_.resize(bounced_);
    if (contacts_.empty()) forget_impulses();
    ImpulseReport report = solve_once(false, joints);
    joints.break_weak(coupling_.problem);
    for (int round = 1; round < options_.rounds; ++round) {
        sweep_bodies(); // the predictions have changed
        if (!some_pass() && !some_are_deflected()) break;
        find(step_, joints);
        report = solve_once(true, joints);
    }
    return report;
}

Parting ContactStage::part(JointStage& joints)
{
    Parting out;
    for (const BodyContact& contact : contacts_) out.deepest = std::max(out.deepest, -contact.at.gap);
    if (out.deepest <= slack()) return out;
    gather_touches([&](const BodyContact& contact) { return contact.at.gap < -slack(); }, joints);
    fill_problem(
        ResponseKind::Places,
        [&](const BodyContact& contact, const Vec3&) {
            return ImpulseContact{.normal = contact.at.normal,
                                  .gap_rate = options_.recovery * (contact.at.gap + slack())};
        },
        joints);
    (void)coupling_.solve(options_.impulses);
    out.angular_momentum = coupling_.hand_out();
    return out;
}

} // namespace lithe
