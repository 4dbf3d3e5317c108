#include "lithe/world/world.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {

World::World(const WorldOptions& options) : options_(options), contact_(options.contact)
{
    if (!options.gravity.allFinite()) throw InputError("gravity is not finite");
}

BodyId World::add(std::unique_ptr<Body> body)
{
    LITHE_ASSERT(body != nullptr);
    const std::string& name = body->shown().name;
    if (find(name)) throw InputError("there is a body named '" + name + "' already; give it another name");
    return bodies_.insert(std::move(body));
}

void World::remove(BodyId id)
{
    if (!bodies_.contains(id)) throw InputError("the body to remove is not in the world (any more)");
    std::erase_if(pushes_, [&](const Push& push) { return push.body == id; });
    joints_.remove_body(id);
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
    std::optional<BodyId> found;
    bodies_.for_each([&](BodyId id, const auto& body) {
        if (body->shown().name == name) found = id;
    });
    return found;
}

JointId World::add_joint(BodyId a, BodyId b, const JointOptions& joint)
{
    for (const BodyId id : {a, b})
        if (!bodies_.contains(id)) throw InputError("a joint holds a body that is not in the world");
    return joints_.add({a, *bodies_[a]}, {b, *bodies_[b]}, joint);
}

void World::remove_joint(JointId id)
{
    if (!joints_.contains(id)) throw InputError("the joint to remove is not in the world (any more)");
    joints_.remove(id);
}

void World::push(const Endpoint& endpoint, const Vec3& impulse)
{
    if (!impulse.allFinite()) throw InputError("an impulse is not finite");
    for (const EndpointPart& part : endpoint) {
        if (!bodies_.contains(part.body))
            throw InputError("an impulse acts on a body that is not in the world");
        pushes_.push_back({part.body, part.point, part.weight * impulse});
    }
}

void World::read_obstacles(double h)
{
    obstacles_.clear();
    order_.clear();
    bodies_.for_each([&](BodyId id, const auto& body) {
        numbers_.resize(std::max(numbers_.size(), std::size_t{id.index} + 1));
        numbers_[id.index] = static_cast<int>(order_.size());
        order_.push_back(body.get());
        if (std::optional<Obstacle> obstacle = body->obstacle(t_, h)) {
            obstacle->key = (std::uint64_t{id.generation} << 32) | id.index;
            obstacle->body = numbers_[id.index];
            obstacles_.push_back(*obstacle);
        }
    });
}

StepReport World::predict(double h)
{
    const StepContext context{.t = t_, .h = h, .gravity = options_.gravity, .obstacles = obstacles_};
    reports_.assign(order_.size(), {});
    parallel_for(static_cast<std::ptrdiff_t>(order_.size()), 1, [&](std::ptrdiff_t b) {
        const auto k = static_cast<std::size_t>(b);
        reports_[k] = order_[k]->predict(context);
    });
    StepReport out;
    for (std::size_t b = 0; b < order_.size(); ++b) {
        const BodyReport& report = reports_[b];
        if (!report.solved && out.done) {
            out.done = false;
            out.trouble = "body '" + order_[b]->shown().name + "': " + report.trouble;
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
        Body& body = *bodies_[push.body];
        const Touch touch{push.point, body.motion(push.point).position};
        push_problem_.clear();
        body.join(std::span(&touch, 1), ResponseKind::Implicit, push_problem_);
        push_problem_.add_joint({});
        (void)body.couple(0, 1.0, push_problem_);
        for (int mover = 0; mover < push_problem_.body_count(); ++mover)
            (void)body.take(mover, push_problem_.block(mover).transpose() * push.impulse);
    }
}

void World::detect(double h)
{
    joints_.begin(order_, numbers_, h);
    contact_.find(order_, obstacles_, joints_, h);
    if (!contact_.bounce(joints_)) return;
    (void)predict(h);
    push_bodies();
    contact_.find(order_, obstacles_, joints_, h);
}

StepReport World::step(double h)
{
    (void)require_positive("h", h);
    {
        const auto scope = times_.measure("read");
        read_obstacles(h);
    }
    StepReport report;
    {
        const auto scope = times_.measure("predict");
        report = predict(h);
        if (!report.done) return report;
        push_bodies();
    }
    {
        const auto scope = times_.measure("detect");
        detect(h);
    }
    {
        const auto scope = times_.measure("couple");
        report.sweeps = contact_.solve(joints_).sweeps;
        report.joint_gap = joints_.meet();
        report.contacts += static_cast<int>(contact_.contacts().size());
    }
    const auto scope = times_.measure("finish");
    for (Body* body : order_) body->finish();
    const Parting parting = contact_.part(joints_);
    joints_.settle();
    report.penetration = std::max(report.penetration, parting.deepest);
    report.parting_angular_momentum = parting.angular_momentum;
    pushes_.clear();
    t_ += h;
    return report;
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

void World::save(StateWriter& out) const
{
    out.write(t_);
    out.write(static_cast<std::int64_t>(bodies_.size()));
    bodies_.for_each([&](BodyId, const auto& body) {
        out.write(body->shown().name);
        body->save(out);
    });
    contact_.save(out);
    joints_.save(out);
}

void World::read_state(StateReader& in)
{
    const double t = in.read_number();
    const std::int64_t count = in.read_integer();
    if (count != static_cast<std::int64_t>(bodies_.size()))
        throw InputError("the saved state has " + std::to_string(count) + " bodies, but the world has " +
                         std::to_string(bodies_.size()));
    bodies_.for_each([&](BodyId, const auto& body) {
        const std::string name = in.read_text();
        if (name != body->shown().name)
            throw InputError("the saved state has a body '" + name + "' where the world has '" +
                             body->shown().name + "'");
        body->restore(in);
    });
    contact_.restore(in);
    joints_.restore(in);
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
