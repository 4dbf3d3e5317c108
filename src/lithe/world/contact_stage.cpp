#include "lithe/world/contact_stage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

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

} // namespace

// ---- detection

/// Nothing may be as small as the margin, so it goes by the smallest body.
void ContactStage::find_margin()
{
    double size = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        if (!boxes_[i].isEmpty()) size = std::min(size, boxes_[i].diagonal().norm());
    detect_.margin = options_.margin * (std::isfinite(size) ? size : 1.0);
    detect_.self_distance = 4.0 * detect_.margin;
}

void ContactStage::find(std::span<Body* const> bodies, std::span<const Obstacle> obstacles, double h)
{
    bodies_ = bodies;
    obstacles_ = obstacles;
    h_ = h;
    contacts_.clear();
    surfaces_.assign(bodies.size(), nullptr);
    boxes_.assign(bodies.size(), Box3());
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (collides(*bodies[i])) boxes_[i] = bodies[i]->swept_bounds();
    find_margin();
    for (Box3& box : boxes_)
        if (!box.isEmpty()) box = widened(box, detect_.margin);
    find_body_pairs();
    find_obstacle_pairs();
}

SweptSurface& ContactStage::swept(int body)
{
    const SweptSurface*& surface = surfaces_[static_cast<std::size_t>(body)];
    if (!surface) surface = bodies_[static_cast<std::size_t>(body)]->sweep();
    return const_cast<SweptSurface&>(*surface);
}

void ContactStage::add_found(int a, int b, std::size_t obstacle, const std::vector<SurfaceContact>& found)
{
    for (const SurfaceContact& contact : found)
        contacts_.push_back({.a = a, .b = b, .obstacle = obstacle, .at = contact});
}

void ContactStage::find_body_pairs()
{
    broad_phase_.update(boxes_);
    broad_phase_.find_pairs([](int, int) { return true; }, pairs_);
    for (const auto& [a, b] : pairs_) {
        found_.clear();
        const std::uint64_t pair = pair_key(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
        detect_contacts(swept(a), swept(b), pair, detect_, work_, found_);
        add_found(a, b, 0, found_);
    }
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

void ContactStage::find_obstacle_pairs()
{
    for (std::size_t k = 0; k < obstacles_.size(); ++k) {
        const Obstacle& obstacle = obstacles_[k];
        ObstacleSurface* surface = nullptr;
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            if (bodies_[i]->collides() != Collides::Everywhere || !may_meet(obstacle, boxes_[i])) continue;
            if (!surface && (surface = surface_of(obstacle))) place(obstacle, surface->swept);
            found_.clear();
            const std::uint64_t pair = pair_key(i, ~obstacle.key);
            const auto a = static_cast<int>(i);
            if (surface)
                detect_contacts(swept(a), surface->swept, pair, detect_, work_, found_);
            else
                detect_contacts(swept(a), obstacle, pair, detect_, work_, found_);
            add_found(a, -1, k, found_);
        }
    }
}

// ---- what it remembers

void ContactStage::save(StateWriter& out) const
{
    out.write(static_cast<std::int64_t>(last_.size()));
    for (const auto& [key, impulse] : last_) {
        out.write(std::bit_cast<std::int64_t>(key));
        for (const double value : impulse) out.write(value);
    }
}

void ContactStage::restore(StateReader& in)
{
    last_.clear();
    for (std::int64_t left = in.read_integer(); left > 0; --left) {
        Vec3& impulse = last_[std::bit_cast<std::uint64_t>(in.read_integer())];
        for (double& value : impulse) value = in.read_number();
    }
}

// ---- impulses

/// Bodies are told all points at once, before the first constraint.
void ContactStage::gather_touches(const auto& keep)
{
    touches_.resize(bodies_.size());
    for (std::vector<Touch>& of_body : touches_) of_body.clear();
    kept_.clear();
    side_a_.clear();
    side_b_.clear();
    const auto add = [&](int body, const ContactSide& side, const Vec3& place) {
        std::vector<Touch>& touches = touches_[static_cast<std::size_t>(body)];
        touches.push_back({{side.triangle, side.weights, BodySurface::Collision}, place});
        return static_cast<int>(touches.size()) - 1;
    };
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
        const BodyContact& contact = contacts_[c];
        if (!keep(contact)) continue;
        const Vec3 place = contact.at.point();
        kept_.push_back(static_cast<int>(c));
        side_a_.push_back(add(contact.a, contact.at.a, place));
        side_b_.push_back(contact.b >= 0 ? add(contact.b, contact.at.b, place) : -1);
    }
}

Vec3 ContactStage::obstacle_velocity(const BodyContact& contact) const
{
    const Obstacle& obstacle = obstacles_[contact.obstacle];
    if (const int triangle = contact.at.b.triangle; triangle >= 0) {
        const SweptSurface& surface = obstacle_surfaces_.at(obstacle.key)->swept;
        Vec3 way = Vec3::Zero();
        for (int corner = 0; corner < 3; ++corner)
            way += contact.at.b.weights[corner] *
                   surface.point(surface.surface().triangles(corner, triangle)).dx;
        return way / h_;
    }
    const Vec3 x = contact.at.point();
    return (place_of(obstacle, StepEnd::End, material_at(obstacle, StepEnd::Start, x)) - x) / h_;
}

ContactLaw ContactStage::law_of(const BodyContact& contact) const
{
    const ContactLaw a = bodies_[static_cast<std::size_t>(contact.a)]->law();
    const ContactLaw b = contact.b >= 0 ? bodies_[static_cast<std::size_t>(contact.b)]->law()
                                        : ContactLaw{.friction = obstacles_[contact.obstacle].friction,
                                                     .restitution = a.restitution};
    return {combined_friction(a.friction, b.friction), std::sqrt(a.restitution * b.restitution)};
}

/// constraint(contact, relative velocity) makes what the problem gets for a kept contact.
void ContactStage::fill_problem(ResponseKind kind, const auto& constraint)
{
    problem_.clear();
    movers_.assign(bodies_.size(), {0, 0});
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        movers_[i].first = problem_.body_count();
        if (!touches_[i].empty()) bodies_[i]->join(touches_[i], kind, problem_);
        movers_[i].second = problem_.body_count();
    }
    for (std::size_t k = 0; k < kept_.size(); ++k) {
        BodyContact& contact = contacts_[static_cast<std::size_t>(kept_[k])];
        const int c = problem_.add_contact({.normal = contact.at.normal});
        Vec3 u = bodies_[static_cast<std::size_t>(contact.a)]->couple(static_cast<std::size_t>(side_a_[k]),
                                                                      1.0, problem_);
        if (contact.b >= 0)
            u -= bodies_[static_cast<std::size_t>(contact.b)]->couple(static_cast<std::size_t>(side_b_[k]),
                                                                      -1.0, problem_);
        else if (kind != ResponseKind::Places)
            u -= obstacle_velocity(contact);
        problem_.contacts[static_cast<std::size_t>(c)] = constraint(contact, u);
    }
    solver_.prepare(problem_);
}

Vec3 ContactStage::hand_out()
{
    Vec3 angular_momentum = Vec3::Zero();
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        for (int mover = movers_[i].first; mover < movers_[i].second; ++mover)
            angular_momentum += bodies_[i]->take(mover, solver_.change(mover));
    return angular_momentum;
}

/// At which the sides of a contact near each other now. [m/s]
double ContactStage::impact_speed(const BodyContact& contact) const
{
    const auto velocity = [&](int body, const ContactSide& side) {
        return bodies_[static_cast<std::size_t>(body)]
            ->motion({side.triangle, side.weights, BodySurface::Collision})
            .velocity;
    };
    const Vec3 b = contact.b >= 0 ? velocity(contact.b, contact.at.b) : obstacle_velocity(contact);
    return -contact.at.normal.dot(velocity(contact.a, contact.at.a) - b);
}

bool ContactStage::bounce()
{
    const auto bounces = [&](const BodyContact& contact) {
        return contact.at.time < 1.0 && law_of(contact).restitution > 0.0;
    };
    if (std::ranges::none_of(contacts_, [&](const BodyContact& contact) {
            return bounces(contact) && impact_speed(contact) > options_.bounce_speed;
        }))
        return false;
    gather_touches(bounces);
    fill_problem(ResponseKind::Bare, [&](const BodyContact& contact, const Vec3& u) {
        const ContactLaw law = law_of(contact);
        const bool fast = u.dot(contact.at.normal) < -options_.bounce_speed;
        return ImpulseContact{.normal = contact.at.normal,
                              .velocity = u,
                              .friction = law.friction,
                              .restitution = fast ? law.restitution : 0.0};
    });
    (void)solver_.solve(problem_, options_.impulses);
    solver_.bounce(problem_);
    (void)hand_out();
    return true;
}

/// What side a goes relative to side b, from the start to the predictions as they are now.
Vec3 ContactStage::way(const BodyContact& contact)
{
    const auto of_surface = [](const SweptSurface& surface, const ContactSide& side) {
        Vec3 out = Vec3::Zero();
        for (int corner = 0; corner < 3; ++corner)
            out +=
                side.weights[corner] * surface.point(surface.surface().triangles(corner, side.triangle)).dx;
        return out;
    };
    const Vec3 a = of_surface(swept(contact.a), contact.at.a);
    return contact.b >= 0 ? Vec3(a - of_surface(swept(contact.b), contact.at.b))
                          : Vec3(a - h_ * obstacle_velocity(contact));
}

/// Whether something ends up inside of something else all the same.
bool ContactStage::some_pass()
{
    std::ranges::fill(surfaces_, nullptr); // the predictions have changed
    return std::ranges::any_of(contacts_, [&](const BodyContact& contact) {
        return std::max(contact.at.gap, 0.0) + way(contact).dot(contact.at.normal) < -0.5 * detect_.margin;
    });
}

/// With velocities as the constraints' first guess of the ways, or the ways as they are.
ImpulseReport ContactStage::solve_once(bool along_ways)
{
    gather_touches([](const BodyContact&) { return true; });
    if (kept_.empty()) return {};
    fill_problem(ResponseKind::Implicit, [&](const BodyContact& contact, const Vec3& u) {
        const auto before = last_.find(contact.at.key);
        const Vec3& n = contact.at.normal;
        const double arc = along_ways ? way(contact).dot(n) / h_ - u.dot(n) : 0.0;
        return ImpulseContact{.normal = n,
                              .velocity = u,
                              .gap_rate = std::max(contact.at.gap, 0.0) / h_ + arc,
                              .friction = law_of(contact).friction,
                              .impulse =
                                  before != last_.end() && !along_ways ? before->second : Vec3(Vec3::Zero())};
    });
    const ImpulseReport report = solver_.solve(problem_, options_.impulses);
    if (!along_ways) last_.clear();
    for (std::size_t k = 0; k < kept_.size(); ++k) {
        BodyContact& contact = contacts_[static_cast<std::size_t>(kept_[k])];
        contact.impulse = problem_.contacts[k].impulse;
        if (contact.impulse != Vec3::Zero())
            last_.try_emplace(contact.at.key, Vec3::Zero()).first->second += contact.impulse;
    }
    (void)hand_out();
    return report;
}

ImpulseReport ContactStage::solve()
{
    if (contacts_.empty()) last_.clear();
    ImpulseReport report = solve_once(false);
    for (int round = 1; round < options_.rounds && some_pass(); ++round) {
        find(bodies_, obstacles_, h_);
        report = solve_once(true);
    }
    return report;
}

Parting ContactStage::part()
{
    Parting out;
    const double slack = 0.1 * detect_.margin; // touching is no overlap
    gather_touches([&](const BodyContact& contact) {
        out.deepest = std::max(out.deepest, -contact.at.gap);
        return contact.at.gap < -slack;
    });
    if (kept_.empty()) return out;
    fill_problem(ResponseKind::Places, [&](const BodyContact& contact, const Vec3&) {
        return ImpulseContact{.normal = contact.at.normal,
                              .gap_rate = options_.recovery * (contact.at.gap + slack)};
    });
    (void)solver_.solve(problem_, options_.impulses);
    out.angular_momentum = hand_out();
    return out;
}

} // namespace lithe
