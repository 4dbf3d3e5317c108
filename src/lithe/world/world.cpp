#include "lithe/world/world.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {

World::World(const WorldOptions& options)
    : options_(options), t_(options.time), contact_(options.contact), sleep_(options.sleep),
      joints_(options.joints)
{
    if (!options.gravity.allFinite()) throw InputError("gravity is not finite");
    if (!std::isfinite(options.time)) throw InputError("the time at the start is not finite");
}

BodyId World::add(std::unique_ptr<Body> body)
{
    LITHE_ASSERT(body != nullptr);
    const std::string& name = body->shown().name;
    if (find(name)) throw InputError("there is a body named '" + name + "' already; give it another name");
    const Body& added = *body;
    const BodyId id = bodies_.insert(std::move(body));
    names_.emplace(name, id);
    sleep_.add(id, added);
    return id;
}

void World::remove(BodyId id)
{
    if (!bodies_.contains(id)) throw InputError("the body to remove is not in the world (any more)");
    wake_around(id);
    std::erase_if(pushes_, [&](const Push& push) { return push.body == id; });
    std::erase_if(held_, [&](const Held& held) { return held.a == id || held.b == id; });
    joints_.remove_body(id);
    rules_.remove(id);
    events_.remove(id);
    contact_.forget(id);
    names_.erase(bodies_[id]->shown().name);
    bodies_.erase(id);
}

Body& World::body(BodyId id)
{
    return *bodies_[id];
}

const Body& World::body(BodyId id) const
{
    return *bodies_[id];
}

std::vector<BodyId> World::bodies() const
{
    std::vector<BodyId> ids;
    bodies_.for_each([&](BodyId id, const auto&) { ids.push_back(id); });
    return ids;
}

std::optional<BodyId> World::find(std::string_view name) const
{
    const auto at = names_.find(name);
    return at != names_.end() ? std::optional(at->second) : std::nullopt;
}

Body& World::require(BodyId id, std::string_view what)
{
    if (!bodies_.contains(id)) throw InputError(std::string(what) + " a body that is not in the world");
    return *bodies_[id];
}

// ---- joints, rules, and what comes from outside

JointId World::add_joint(BodyId a, BodyId b, const JointOptions& joint)
{
    for (const BodyId id : {a, b}) (void)require(id, "a joint holds");
    const JointId id = joints_.add({a, *bodies_[a]}, {b, *bodies_[b]}, joint);
    held_.push_back({id, a, b});
    wake(a);
    wake(b);
    return id;
}

void World::remove_joint(JointId id)
{
    if (!joints_.contains(id)) throw InputError("the joint to remove is not in the world (any more)");
    for (const Held& held : held_)
        if (held.joint == id)
            for (const BodyId body : {held.a, held.b}) wake(body);
    std::erase_if(held_, [&](const Held& held) { return held.joint == id; });
    joints_.remove(id);
}

void World::set_filter(BodyId id, const CollisionFilter& filter)
{
    (void)require(id, "a filter is for");
    rules_.set_filter(id, filter);
    wake_around(id);
}

void World::set_pair(BodyId a, BodyId b, const PairRule& rule)
{
    for (const BodyId id : {a, b}) (void)require(id, "a rule is for");
    rules_.set_pair(a, b, rule);
    wake(a);
    wake(b);
}

void World::set_motor(JointId id, const JointMotor& motor)
{
    if (!joints_.contains(id)) throw InputError("the joint of the motor is not in the world (any more)");
    joints_.set_motor(id, motor);
    for (const BodyId body : {joints_[id].a, joints_[id].b}) wake(body);
}

JointTurn World::joint_turn(JointId id) const
{
    if (!joints_.contains(id)) throw InputError("the joint that is asked for is not in the world (any more)");
    const JointStage::Joint& joint = joints_[id];
    if (!joint.axes) throw InputError("only hinges, and balls with limits, know how they are turned");
    return lithe::joint_turn(body(joint.a), joint.axes->first, body(joint.b), joint.axes->second);
}

void World::push(const Endpoint& endpoint, const Vec3& impulse)
{
    if (!impulse.allFinite()) throw InputError("an impulse is not finite");
    for (const EndpointPart& part : endpoint) {
        (void)require(part.body, "an impulse acts on");
        pushes_.push_back({part.body, part.point, part.weight * impulse});
        wake(part.body);
    }
}

void World::teleport(BodyId id, const RigidPose& motion)
{
    Body& body = require(id, "the world is to move");
    if (!motion.translation.allFinite() || !(std::abs(motion.rotation.norm() - 1.0) < 1e-6))
        throw InputError("body '" + body.shown().name +
                         "': the motion to its new place is not finite, or its rotation has not unit length");
    wake_around(id);
    body.teleport(motion);
    contact_.forget(id);
}

void World::set_velocity(BodyId id, const Vec3& velocity, const Vec3& angular_velocity)
{
    Body& body = require(id, "the world is to give a velocity to");
    if (!velocity.allFinite() || !angular_velocity.allFinite())
        throw InputError("body '" + body.shown().name + "': the velocity that it is given is not finite");
    wake(id);
    body.set_velocity(velocity, angular_velocity);
}

// ---- sleep

BodyOrder World::body_order() const
{
    BodyOrder order;
    bodies_.for_each([&](BodyId id, const auto&) { order.add(id); });
    return order;
}

void World::set_gravity(const Vec3& gravity)
{
    if (!gravity.allFinite()) throw InputError("gravity is not finite");
    options_.gravity = gravity;
    bodies_.for_each([&](BodyId id, const auto&) { wake(id); });
}

void World::wake(BodyId id)
{
    (void)require(id, "the world is to wake");
    if (bodies_[id]->asleep()) wake_island(id, body_order());
    sleep_.disturb(id);
}

void World::wake_island(BodyId id, const BodyOrder& order)
{
    sleep_.island_of(id, order, woken_);
    if (woken_.empty()) woken_.push_back(id);
    for (const BodyId body : woken_) {
        bodies_[body]->set_asleep(false);
        sleep_.disturb(body);
    }
}

/// It, and those that touch it or are jointed to it.
void World::wake_around(BodyId id)
{
    wake(id);
    if (!sleep_.enabled()) return;
    const auto wake_partner = [&](const auto& pair) {
        if (pair.a == id) wake(pair.b);
        if (pair.b == id) wake(pair.a);
    };
    std::ranges::for_each(events_.touching(), wake_partner);
    std::ranges::for_each(held_, wake_partner);
}

/// Bodies whose joints lead elsewhere.
void World::wake_held()
{
    if (!sleep_.enabled()) return;
    const auto goes = [&](BodyId id) {
        if (bodies_[id]->freedoms() > 0) return true;
        return std::ranges::any_of(obstacles_, [&](const Obstacle& obstacle) {
            return obstacle.body == order_.number(id) && moves(obstacle);
        });
    };
    std::erase_if(held_, [&](const Held& held) { return !joints_.contains(held.joint); });
    for (const Held& held : held_)
        for (const auto& [id, other] : {std::pair(held.a, held.b), std::pair(held.b, held.a)})
            if (bodies_[id]->asleep() && !bodies_[other]->asleep() && goes(other)) wake_island(id, order_);
}

/// Those that the step has come upon. True when there were any: then there are predictions without contacts.
bool World::wake_disturbed(double h)
{
    if (!sleep_.enabled()) return false;
    contact_.find_disturbed(disturbed_);
    for (const int number : disturbed_) {
        const BodyId id = order_.id(number);
        if (!bodies_[id]->asleep()) continue; // with another
        wake_island(id, order_);
        for (const BodyId woken : woken_) predict_body(static_cast<std::size_t>(order_.number(woken)), h);
    }
    return !disturbed_.empty();
}

void World::put_to_sleep(double h)
{
    if (!sleep_.enabled()) return;
    links_.clear();
    for (const ContactEvent& push : contact_.pushes())
        links_.emplace_back(order_.number(push.a), order_.number(push.b));
    for (const Held& held : held_)
        if (joints_.contains(held.joint)) links_.emplace_back(order_.number(held.a), order_.number(held.b));
    sleep_.end_step({stepped_, order_, links_, options_.gravity.norm(), h});
}

// ---- a step

void World::read_bodies(double h)
{
    obstacles_.clear();
    stepped_.clear();
    order_.clear();
    bodies_.for_each([&](BodyId id, const auto& body) {
        order_.add(id);
        stepped_.push_back(body.get());
        if (std::optional<Obstacle> obstacle = body->obstacle(t_, h)) {
            obstacle->key = (std::uint64_t{id.generation} << 32) | id.index;
            obstacle->body = order_.number(id);
            obstacles_.push_back(*obstacle);
        }
    });
    if (!rules_.empty()) read_own_obstacles();
}

/// For bodies whose own solve handles obstacles: those that they meet, with the friction between the two.
void World::read_own_obstacles()
{
    own_obstacles_.resize(stepped_.size());
    for (std::size_t b = 0; b < stepped_.size(); ++b) {
        own_obstacles_[b].clear();
        const Body& body = *stepped_[b];
        if (body.collides() == Collides::Everywhere || body.freedoms() == 0) continue;
        const BodyId id = order_.id(static_cast<int>(b));
        const double friction = body.law().friction;
        for (Obstacle obstacle : obstacles_) {
            const BodyId other = order_.id(obstacle.body);
            if (!rules_.meet(id, other)) continue;
            const double usual = combined_friction(friction, obstacle.friction);
            const double wanted = rules_.law(id, other, {.friction = usual}).friction;
            if (wanted != usual && friction > 0.0) obstacle.friction = wanted * wanted / friction;
            own_obstacles_[b].push_back(obstacle);
        }
    }
}

void World::predict_body(std::size_t b, double h)
{
    const StepContext context{.t = t_,
                              .h = h,
                              .gravity = options_.gravity,
                              .obstacles = rules_.empty() ? obstacles_ : own_obstacles_[b]};
    reports_[b] = stepped_[b]->asleep() ? BodyReport{} : stepped_[b]->predict(context);
}

void World::predict(double h)
{
    reports_.assign(stepped_.size(), {});
    parallel_for(static_cast<std::ptrdiff_t>(stepped_.size()), 1,
                 [&](std::ptrdiff_t b) { predict_body(static_cast<std::size_t>(b), h); });
    push_bodies();
}

/// What the bodies' own solves came to.
StepReport World::gather_reports() const
{
    StepReport out;
    for (std::size_t b = 0; b < stepped_.size(); ++b) {
        const BodyReport& report = reports_[b];
        if (!report.solved && out.done) {
            out.done = false;
            out.trouble = "body '" + stepped_[b]->shown().name + "': " + report.trouble;
        }
        out.iterations = std::max(out.iterations, report.iterations);
        out.linear_iterations = std::max(out.linear_iterations, report.linear_iterations);
        out.residual = std::max(out.residual, report.residual);
        out.contacts += report.contacts;
        out.penetration = std::max(out.penetration, report.penetration);
    }
    return out;
}

void World::push_bodies()
{
    for (const Push& push : pushes_) {
        if (!reports_[static_cast<std::size_t>(order_.number(push.body))].solved) continue;
        Body& body = *bodies_[push.body];
        const Touch touch{push.point, body.motion(push.point).position};
        push_problem_.clear();
        body.join(std::span(&touch, 1), ResponseKind::Implicit, push_problem_);
        body.prepare_answers();
        push_problem_.add_joint({});
        (void)body.couple(0, 1.0, push_problem_);
        for (int mover = 0; mover < push_problem_.body_count(); ++mover)
            (void)body.take(mover, push_problem_.block(mover).transpose() * push.impulse);
    }
}

/// Contacts of all that is awake, or is woken by them.
void World::look(double h)
{
    do {
        joints_.begin(stepped_, order_.numbers(), h);
        contact_.find({stepped_, &order_, obstacles_, &rules_, h}, joints_);
    } while (wake_disturbed(h));
}

void World::detect(double h)
{
    look(h);
    if (!contact_.bounce(joints_)) return;
    predict(h);
    look(h);
}

ImpulseReport World::couple(double h)
{
    ImpulseReport report = contact_.solve(joints_);
    while (wake_disturbed(h)) { // impulses have driven something into it: once more from the predictions
        predict(h);
        look(h);
        report = contact_.solve(joints_);
    }
    return report;
}

/// Predictions become states.
Parting World::finish(double h)
{
    parallel_for(std::ssize(stepped_), 1, [&](std::ptrdiff_t i) {
        Body& body = *stepped_[static_cast<std::size_t>(i)];
        if (!body.asleep()) body.finish();
    });
    joints_.finish();
    const Parting parting = contact_.part(joints_);
    joints_.settle();
    put_to_sleep(h);
    for (const ContactEvent& push : contact_.pushes()) events_.add(push);
    events_.close([&](BodyId a, BodyId b) { return bodies_[a]->asleep() || bodies_[b]->asleep(); });
    pushes_.clear();
    t_ += h;
    return parting;
}

StepReport World::step(double h)
{
    (void)require_positive("h", h);
    {
        const auto scope = times_.measure("read");
        read_bodies(h);
        wake_held();
    }
    {
        const auto scope = times_.measure("predict");
        predict(h);
        if (StepReport report = gather_reports(); !report.done) return report;
    }
    {
        const auto scope = times_.measure("detect");
        detect(h);
    }
    StepReport report;
    {
        const auto scope = times_.measure("couple");
        const ImpulseReport impulses = couple(h);
        report = gather_reports();
        if (!report.done) return report;
        report.sweeps = impulses.sweeps;
        report.impulse_residual = impulses.residual;
        report.joint_gap = contact_.joint_gap();
        report.contacts += static_cast<int>(contact_.contacts().size());
    }
    const auto scope = times_.measure("finish");
    const Parting parting = finish(h);
    report.penetration = std::max(report.penetration, parting.deepest);
    report.parting_angular_momentum = parting.angular_momentum;
    report.asleep = static_cast<int>(std::ranges::count_if(stepped_, &Body::asleep));
    return report;
}

std::vector<World::Overlap> World::overlaps()
{
    read_bodies(1.0);
    joints_.begin(stepped_, order_.numbers(), 1.0);
    ContactStage stage(options_.contact);
    stage.find({stepped_, &order_, {}, &rules_, 1.0}, joints_);
    std::vector<Overlap> out;
    for (const BodyContact& contact : stage.contacts()) {
        const double depth = -contact.at.gap;
        if (depth <= stage.slack() || contact.a == contact.b) continue;
        const BodyId a = order_.id(contact.a), b = order_.id(contact.b);
        if (out.empty() || out.back().a != a || out.back().b != b) out.push_back({a, b, depth});
        out.back().depth = std::max(out.back().depth, depth);
    }
    return out;
}

Mechanics World::mechanics()
{
    Mechanics sum;
    bodies_.for_each([&](BodyId, const auto& body) {
        const Mechanics one = body->mechanics(options_.gravity);
        sum.mass += one.mass;
        sum.kinetic += one.kinetic;
        sum.elastic += one.elastic;
        sum.potential += one.potential;
        sum.linear_momentum += one.linear_momentum;
        sum.angular_momentum += one.angular_momentum;
        sum.linear_scale += one.linear_scale;
        sum.angular_scale += one.angular_scale;
    });
    return sum;
}

/// Bodies that are not saved touch nothing, and rest with nobody.
BodyOrder World::saved_order() const
{
    BodyOrder order;
    bodies_.for_each([&](BodyId id, const auto& body) {
        if (body->is_saved()) order.add(id);
    });
    return order;
}

void World::save(StateWriter& out) const
{
    const BodyOrder order = saved_order();
    out.write(t_);
    out.write(static_cast<std::int64_t>(order.ids().size()));
    for (const BodyId id : order.ids()) {
        out.write(bodies_[id]->shown().name);
        bodies_[id]->save(out);
    }
    contact_.save(order, out);
    joints_.save(order, out);
    sleep_.save(order, out);
    for (const BodyId id : order.ids()) out.write(std::int64_t{bodies_[id]->asleep()});
    out.write(static_cast<std::int64_t>(events_.touching().size()));
    for (const ContactEvents::Pair& pair : events_.touching()) {
        order.write(pair.a, out);
        order.write(pair.b, out);
    }
}

void World::read_touching(const BodyOrder& order, StateReader& in)
{
    std::vector<ContactEvents::Pair> pairs;
    for (std::int64_t left = in.read_integer(); left > 0; --left) {
        const BodyId a = order.read(in);
        pairs.push_back({a, order.read(in)});
    }
    events_.set_touching(std::move(pairs));
}

void World::read_state(StateReader& in)
{
    const BodyOrder order = saved_order();
    const double t = in.read_number();
    const std::int64_t count = in.read_integer();
    if (count != std::ssize(order.ids()))
        throw InputError("the saved state has " + std::to_string(count) + " bodies, but the world has " +
                         std::to_string(order.ids().size()));
    for (const BodyId id : order.ids()) {
        Body& body = *bodies_[id];
        const std::string name = in.read_text();
        if (name != body.shown().name)
            throw InputError("the saved state has a body '" + name + "' where the world has '" +
                             body.shown().name + "'");
        body.restore(in);
    }
    contact_.restore(order, in);
    joints_.restore(order, in);
    sleep_.restore(order, in);
    for (const BodyId id : order.ids()) bodies_[id]->set_asleep(in.read_integer() != 0);
    read_touching(order, in);
    t_ = t;
}

void World::restore(StateReader& in)
{
    StateWriter before;
    save(before);
    try {
        read_state(in);
    } catch (...) {
        StateReader back(before.bytes());
        read_state(back);
        throw;
    }
    pushes_.clear();
}

std::uint64_t World::state_hash() const
{
    StateWriter state;
    save(state);
    return hash_bytes(state.bytes());
}

std::vector<Shown> World::shown() const
{
    std::vector<Shown> out;
    bodies_.for_each([&](BodyId, const auto& body) { out.push_back(body->shown()); });
    return out;
}

Frame World::publish() const
{
    Frame frame;
    frame.t = t_;
    bodies_.for_each([&](BodyId, const auto& body) { body->publish(frame.bodies.emplace_back()); });
    return frame;
}

} // namespace lithe
