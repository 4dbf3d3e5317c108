#include "lithe/world/contact_stage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/core/parallel.hpp"

namespace lithe {

void ContactStage::set_options(const ContactStageOptions& options)
{
    options_ = options;
    finder_.set_margin(options.margin);
}

void ContactStage::find(const ContactStep& step, const JointStage& joints)
{
    step_ = step;
    finder_.find(step, joints);
}

/// Whatever nears a sleeping body so that it would push it.
void ContactStage::find_disturbed(std::vector<int>& out) const
{
    out.clear();
    for (const BodyContact& contact : contacts()) {
        if (contact.b < 0 ? !finder_.asleep(contact.a)
                          : finder_.asleep(contact.a) == finder_.asleep(contact.b))
            continue;
        if (contact.b >= 0 && passage(contact) >= 0.0 && contact.impulse.isZero(0.0)) continue;
        out.push_back(finder_.asleep(contact.a) ? contact.a : contact.b);
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
    const auto sleeps = [&](BodyId id) { return finder_.asleep(step_.order->number(id)); };
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
        const BodyContact& contact = contacts()[static_cast<std::size_t>(k)];
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
        return contacts()[static_cast<std::size_t>(kept_[k])];
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
        const BodyContact& contact = contacts()[static_cast<std::size_t>(kept_[k])];
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
void ContactStage::gather_touches(const auto& keep, LoneJoints lone, JointStage& joints)
{
    coupling_.begin(step_.bodies);
    kept_.clear();
    side_a_.clear();
    side_b_.clear();
    const auto add = [&](int number, const ContactSide& side, const Vec3& place) {
        return coupling_.add(number, {{side.triangle, side.weights, BodySurface::Collision}, place});
    };
    for (std::size_t c = 0; c < contacts().size(); ++c) {
        const BodyContact& contact = contacts()[c];
        if (!keep(contact)) continue;
        const Vec3 place = contact.at.point();
        kept_.push_back(static_cast<int>(c));
        side_a_.push_back(add(contact.a, contact.at.a, place));
        side_b_.push_back(contact.b >= 0 ? add(contact.b, contact.at.b, place) : 0);
    }
    joints.add_touches(lone, coupling_);
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
        const BodyContact& contact = contacts()[static_cast<std::size_t>(kept_[k])];
        (void)coupling_.problem.add_contact({});
        Vec3 u = coupling_.couple(contact.a, side_a_[k], 1.0);
        if (contact.b >= 0)
            u -= coupling_.couple(contact.b, side_b_[k], -1.0);
        else if (kind != ResponseKind::Places)
            u -= finder_.obstacle_velocity(contact);
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
    const Vec3 b = contact.b >= 0 ? velocity(contact.b, contact.at.b) : finder_.obstacle_velocity(contact);
    return -contact.at.normal.dot(velocity(contact.a, contact.at.a) - b);
}

/// Those of the problem.
void ContactStage::take_impulses()
{
    for (std::size_t k = 0; k < kept_.size(); ++k)
        finder_.contacts()[static_cast<std::size_t>(kept_[k])].impulse =
            coupling_.problem.contacts[k].impulse;
}

bool ContactStage::bounce(JointStage& joints)
{
    pushes_.clear();
    bounced_ = 0;
    const auto bounces = [&](const BodyContact& contact) {
        return contact.at.time < 1.0 && law_of(contact).restitution > 0.0;
    };
    if (std::ranges::none_of(contacts(), [&](const BodyContact& contact) {
            return bounces(contact) && impact_speed(contact) > options_.bounce_speed;
        }))
        return false;
    gather_touches(bounces, LoneJoints::Leave, joints);
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

/// The gap that the predictions leave; below zero they have passed each other. [m]
double ContactStage::passage(const BodyContact& contact) const
{
    return std::max(contact.at.gap, 0.0) + finder_.way(contact).dot(contact.at.normal);
}

/// Whether its sides end up inside of each other all the same; of those that no solve has seen, less is enough.
bool ContactStage::passes(const BodyContact& contact) const
{
    return passage(contact) < -(contact.round == finder_.round() ? slack() : 0.5 * finder_.margin());
}

/// What passes into something has to be stopped, with all that it touches.
bool ContactStage::find_trouble()
{
    trouble_.assign(step_.bodies.size(), 0);
    bool any = false;
    for (const BodyContact& contact : contacts()) {
        if (!passes(contact)) continue;
        any = true;
        for (const int body : {contact.a, contact.b})
            if (body >= 0) trouble_[static_cast<std::size_t>(body)] = 1;
    }
    return any;
}

/// At first all contacts, with velocities as the first guess of the ways; later those of what is in trouble, along the ways as they
/// are.
ImpulseReport ContactStage::solve_once(Round round, JointStage& joints)
{
    const bool along_ways = round == Round::Later;
    const auto in_trouble = [&](int body) { return body >= 0 && trouble_[static_cast<std::size_t>(body)]; };
    gather_touches(
        [&](const BodyContact& contact) {
            return round == Round::First || in_trouble(contact.a) || in_trouble(contact.b);
        },
        along_ways ? LoneJoints::Leave : LoneJoints::TakeIn, joints);
    changed_.clear();
    for (int i = 0; i < static_cast<int>(step_.bodies.size()); ++i) changed_.push_back(coupling_.touches(i));
    if (std::ranges::none_of(changed_, [](char changed) { return changed; })) {
        if (!along_ways) joints.meet_alone();
        return {};
    }
    fill_problem(
        ResponseKind::Implicit,
        [&](const BodyContact& contact, const Vec3& u) {
            const Vec3& n = contact.at.normal;
            const double arc = along_ways ? finder_.way(contact).dot(n) / step_.h - u.dot(n) : 0.0;
            return ImpulseContact{.normal = n,
                                  .velocity = u,
                                  .gap_rate = std::max(contact.at.gap, 0.0) / step_.h + arc,
                                  .friction = law_of(contact).friction,
                                  .impulse = along_ways ? Vec3(Vec3::Zero()) : last_impulse(contact.at.key)};
        },
        joints);
    ImpulseReport report;
    parallel_for(along_ways ? 1 : 2, 1, [&](Index i) {
        if (i == 0) report = coupling_.solve(options_.impulses);
        if (i == 1) joints.meet_alone();
    });
    if (!along_ways) forget_impulses();
    joints.take_impulses(coupling_.problem);
    take_impulses();
    remember_impulses();
    note_pushes();
    (void)coupling_.hand_out();
    return report;
}

ImpulseReport ContactStage::solve(JointStage& joints)
{
    pushes_.resize(bounced_);
    if (contacts().empty()) forget_impulses();
    ImpulseReport report = solve_once(Round::First, joints);
    joints.break_weak(coupling_.problem);
    joint_gap_ = joints.meet(coupling_, changed_);
    for (int round = 1; round < options_.rounds; ++round) {
        finder_.find_again(changed_, joints);
        if (!find_trouble()) break;
        const ImpulseReport later = solve_once(Round::Later, joints);
        report.status = std::max(report.status, later.status);
        report.sweeps = std::max(report.sweeps, later.sweeps);
        report.residual = std::max(report.residual, later.residual);
        joint_gap_ = joints.meet(coupling_, changed_);
    }
    return report;
}

/// A fifth of what overlaps is taken away, so it need not be known exactly.
constexpr ImpulseOptions roughly = {.tolerance = 1e-2, .max_sweeps = 10, .joint_passes = 2};

Parting ContactStage::part(JointStage& joints)
{
    Parting out;
    for (const BodyContact& contact : contacts()) out.deepest = std::max(out.deepest, -contact.at.gap);
    if (out.deepest <= slack()) return out;
    gather_touches([&](const BodyContact& contact) { return contact.at.gap < -slack(); }, LoneJoints::Leave,
                   joints);
    fill_problem(
        ResponseKind::Places,
        [&](const BodyContact& contact, const Vec3&) {
            return ImpulseContact{.normal = contact.at.normal,
                                  .gap_rate = options_.recovery * (contact.at.gap + slack())};
        },
        joints);
    (void)coupling_.solve(roughly);
    out.angular_momentum = coupling_.hand_out();
    joints.displace();
    return out;
}

} // namespace lithe
