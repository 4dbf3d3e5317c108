#include "lithe/server/live_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/render/cut.hpp"
#include "lithe/rig/character.hpp"

namespace lithe {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_steps = 20'000, most_balls = 20, most_pins = 100;
constexpr double standard_gravity = 9.81; ///< [m/s^2]

Points surface_of(const Body& body)
{
    Published now;
    body.publish(now);
    return surface_in_world(body.shown(), now);
}

/// A ball of a tenth of the scene's size, a little heavier than water.
Scene make_ball_scene(double size)
{
    Scene out;
    SceneBody ball;
    ball.name = "ball";
    ball.source = {.from = fmt::format("sphere:radius={:.6g}", 0.05 * size), .read = {}, .place = {}};
    ball.cell = 0.025 * size;
    ball.rigid = true;
    ball.restitution = 0.3;
    ball.color = Vec3(0.93, 0.77, 0.22);
    out.bodies.push_back(std::move(ball));
    return out;
}

} // namespace

LiveScene::LiveScene(Scene scene, PreparedScene prepared)
    : scene_(std::move(scene)), prepared_(std::move(prepared))
{
    start_ = state();
    Box3 box;
    for (const BodyId id : world().bodies())
        if (const Body& body = world().body(id);
            !body.shown().backdrop && body.shown().surface.vertex_count() > 0)
            box.extend(bounds(surface_of(body)));
    if (!box.isEmpty()) {
        size_ = std::max(box.diagonal().norm(), 1e-6);
        centre_ = box.center();
    }
    ball_scene_ = make_ball_scene(size_);
    mark_joints();
    start_account();
}

void LiveScene::mark_joints()
{
    for (const SceneJoint& joint : scene_.joints)
        for (const std::string& name : {joint.a, joint.b})
            if (const auto id = world().find(name); id && world().body(*id).freedoms() > 0)
                joint_marks_.push_back({*id, world().body(*id).attach(joint.joint.place)});
}

void LiveScene::start_account()
{
    account_.start = world().mechanics();
    account_.threads = thread_count();
    steps_.clear();
    drift_ = {};
    linear_scale_ = account_.start.linear_scale;
    angular_scale_ = account_.start.angular_scale;
}

StepReport LiveScene::advance_frame()
{
    account_.steps.clear();
    const StepReport report = lithe::advance_frame(world(), run(), ++frame_, account_, [&](double h) {
        if (!hand_) return;
        world().wake(hand_->body);
        static_cast<Hand&>(world().body(hand_->hand)).lead(hand_->target, time(), h);
    });
    for (StepMetrics& step : account_.steps) add_step(std::move(step));
    return report;
}

void LiveScene::add_step(StepMetrics step)
{
    const Mechanics& m = step.mechanics;
    drift_.linear = (m.linear_momentum - account_.start.linear_momentum).norm();
    drift_.angular = (m.angular_momentum - account_.start.angular_momentum).norm();
    linear_scale_ = std::max(linear_scale_, m.linear_scale);
    angular_scale_ = std::max(angular_scale_, m.angular_scale);
    steps_.push_back(std::move(step));
    if (steps_.size() > most_steps) steps_.pop_front();
}

bool LiveScene::reset()
{
    remove_extras();
    if (!restore(start_)) return false;
    frame_ = 0;
    start_account();
    return true;
}

std::string LiveScene::state() const
{
    StateWriter out;
    prepared_.world.save(out);
    return out.bytes();
}

bool LiveScene::restore(const std::string& state)
{
    try {
        StateReader in(state);
        world().restore(in);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

bool LiveScene::go_back(int frame, const std::string& state)
{
    release();
    unpin();
    if (!restore(state)) return false;
    frame_ = frame;
    std::erase_if(steps_, [&](const StepMetrics& step) { return step.frame > frame; });
    return true;
}

bool LiveScene::continue_from(LiveScene& other)
{
    other.remove_extras();
    if (!restore(other.state())) return false;
    frame_ = other.frame_;
    prepared_.run.substeps = other.run().substeps;
    start_account();
    return true;
}

/// A spring by which a body of that mass swings about once in a second over the size of the scene, damped; `strength` times as
/// stiff. The joint is implicit, so that no stiffness makes it unstable.
std::optional<LiveScene::Held> LiveScene::hold(const Ray& ray, double strength, std::optional<Picked>& picked)
{
    picked = pick(world(), ray);
    if (!picked) return {};
    world().wake(picked->body);
    Body& body = world().body(picked->body);
    const double mass = body.mechanics(Vec3::Zero()).mass;
    Held out;
    out.body = picked->body;
    out.point = body.attach(picked->point);
    out.target = picked->point;
    out.stiffness = strength * 30.0 * mass * standard_gravity / size_;
    out.damping = std::sqrt(out.stiffness * mass);
    out.hand = world().add(
        std::make_unique<Hand>(fmt::format("hand {}", ++hands_made_), picked->point, world().time()));
    out.joint = world().add_joint(out.body, out.hand,
                                  {.kind = JointKind::Ball,
                                   .place = picked->point,
                                   .stiffness = out.stiffness,
                                   .damping = out.damping});
    return out;
}

void LiveScene::let_go(const Held& held)
{
    world().remove(held.hand); // its joint goes with it
}

std::optional<Picked> LiveScene::grab(const Ray& ray)
{
    release();
    std::optional<Picked> picked;
    hand_ = hold(ray, 1.0, picked);
    return picked;
}

void LiveScene::drag(const Vec3& target)
{
    if (hand_) hand_->target = target;
}

void LiveScene::release()
{
    if (hand_) let_go(*hand_);
    hand_.reset();
}

std::optional<Picked> LiveScene::pin(const Ray& ray)
{
    if (pins_.size() >= most_pins)
        throw InputError(fmt::format("there are {} pins already; unpin first", pins_.size()));
    std::optional<Picked> picked;
    if (auto held = hold(ray, 100.0, picked)) pins_.push_back(*held);
    return picked;
}

void LiveScene::unpin()
{
    for (const Held& held : pins_) let_go(held);
    pins_.clear();
}

void LiveScene::throw_ball(const Ray& ray)
{
    if (balls_.size() == most_balls) {
        const BodyId oldest = balls_.front();
        if (hand_ && hand_->body == oldest) release();
        std::erase_if(pins_, [&](const Held& held) {
            if (held.body == oldest) let_go(held);
            return held.body == oldest;
        });
        world().remove(oldest);
        balls_.pop_front();
    }
    const Vec3 direction = ray.direction.normalized();
    SceneBody ball = ball_scene_.bodies.front();
    ball.name = fmt::format("thrown ball {}", ++balls_made_);
    ball.copy_of = 0;
    ball.placement.translation = ray.origin;
    ball.velocity = 4.0 * std::sqrt(standard_gravity * size_) * direction;
    Progress progress;
    std::vector<std::string> notes;
    balls_.push_back(
        world().add(prepare_reduced_body(ball_scene_, ball, ball_models_, progress, notes).body));
}

void LiveScene::remove_extras()
{
    release();
    unpin();
    for (const BodyId ball : balls_) world().remove(ball);
    balls_.clear();
}

std::vector<BodyId> LiveScene::seen() const
{
    std::vector<BodyId> out = prepared_.world.bodies();
    const auto is_hand = [&](BodyId id) {
        return (hand_ && hand_->hand == id) ||
               std::ranges::any_of(pins_, [&](const Held& held) { return held.hand == id; });
    };
    std::erase_if(out, is_hand);
    return out;
}

std::vector<Hold> LiveScene::held() const
{
    std::vector<Hold> out;
    const auto add = [&](const Held& held) {
        const PointMotion at = prepared_.world.body(held.body).motion(held.point);
        const Vec3 force = held.stiffness * (held.target - at.position) - held.damping * at.velocity;
        out.push_back({at.position, held.target, force.norm()});
    };
    if (hand_) add(*hand_);
    for (const Held& pin : pins_) add(pin);
    return out;
}

void LiveScene::encode_frame(std::uint32_t scene, FrameEncoder& out)
{
    const std::vector<BodyId> ids = seen();
    out.begin({scene, static_cast<std::uint32_t>(frame_), time()}, static_cast<std::uint32_t>(ids.size()));
    for (const BodyId id : ids) {
        const Body& body = world().body(id);
        Published now;
        body.publish(now);
        out.add_body(body.shown(), now);
    }
    out.add_holds(held());
}

namespace {

DrawnOverlay contact_overlay(const World& world, double h)
{
    const auto contacts = world.contacts();
    DrawnOverlay out{{"contacts", Points(3, std::ssize(contacts)), Points(3, std::ssize(contacts))}};
    for (std::size_t k = 0; k < contacts.size(); ++k) {
        out.points.col(static_cast<Index>(k)) = contacts[k].at.point();
        out.vectors.col(static_cast<Index>(k)) = contacts[k].impulse / h;
    }
    return out;
}

/// Each joint with the way to its parent.
DrawnOverlay skeleton_overlay(const Shown& shown, const Published& now)
{
    const auto& joints = shown.character->skeleton.joints;
    const auto count = static_cast<Index>(now.joints.size());
    DrawnOverlay out{{"skeleton", Points(3, count), Points::Zero(3, count)}, Arrows::Lengths};
    for (Index k = 0; k < count; ++k) {
        const auto j = static_cast<std::size_t>(k);
        out.points.col(k) = now.joints[j].translation();
        if (joints[j].parent >= 0)
            out.vectors.col(k) =
                now.joints[static_cast<std::size_t>(joints[j].parent)].translation() - out.points.col(k);
    }
    return out;
}

} // namespace

std::vector<DrawnOverlay> LiveScene::overlays()
{
    std::vector<DrawnOverlay> out = {contact_overlay(world(), 1.0 / (run().fps * run().substeps))};
    std::vector<Vec3> joints;
    for (const JointMark& mark : joint_marks_)
        if (world().contains(mark.body))
            joints.push_back(world().body(mark.body).motion(mark.point).position);
    for (const BodyId id : seen()) {
        const Body& body = world().body(id);
        for (Overlay& overlay : body.overlays()) out.push_back({std::move(overlay)});
        for (const InnerJoint& joint : body.inner_joints()) joints.push_back(body.motion(joint.a).position);
        if (!body.shown().character) continue;
        Published now;
        body.publish(now);
        out.push_back(skeleton_overlay(body.shown(), now));
    }
    DrawnOverlay joint_overlay{{"joints", Points(3, std::ssize(joints))}};
    for (std::size_t k = 0; k < joints.size(); ++k)
        joint_overlay.points.col(static_cast<Index>(k)) = joints[k];
    if (!joints.empty()) out.push_back(std::move(joint_overlay));
    return out;
}

std::vector<FieldLabel> LiveScene::field_labels() const
{
    std::vector<FieldLabel> out;
    for (const BodyId id : seen())
        for (const FieldLabel& label : prepared_.world.body(id).fields())
            if (std::ranges::find(out, label.name, &FieldLabel::name) == out.end()) out.push_back(label);
    return out;
}

std::vector<DrawnField> LiveScene::fields(std::string_view name) const
{
    std::vector<DrawnField> out;
    std::uint32_t number = 0;
    for (const BodyId id : seen()) {
        const Body& body = prepared_.world.body(id);
        const auto labels = body.fields();
        const auto found = std::ranges::find(labels, name, &FieldLabel::name);
        if (found != labels.end())
            out.push_back(
                {number, found->name, body.field(static_cast<std::size_t>(found - labels.begin()))});
        ++number;
    }
    return out;
}

/// The nodes of the tets in the world: those published, or those that the prepared volume gives for q.
Points LiveScene::nodes_of(BodyId id) const
{
    const Body& body = prepared_.world.body(id);
    Published now;
    body.publish(now);
    if (now.nodes.cols() > 0) return nodes_in_world(body.shown(), now);
    for (const BodyVolume& full : prepared_.volumes)
        if (full.body == body.shown().name && full.volume->U.cols() == now.weights.size()) {
            VecX x = full.volume->mesh.vertices.reshaped();
            if (now.weights.size() > 0) x += full.volume->U * now.weights;
            return in_world(now.frame, x.reshaped(3, x.size() / 3));
        }
    return {};
}

Points LiveScene::cut(const LiveCut& plane) const
{
    std::vector<Vec3> corners;
    for (const BodyId id : seen()) {
        TetMesh mesh = prepared_.world.body(id).shown().volume;
        mesh.vertices = nodes_of(id);
        for (const BodyVolume& full : prepared_.volumes)
            if (mesh.tet_count() == 0 && full.body == prepared_.world.body(id).shown().name)
                mesh.tets = full.volume->mesh.tets;
        mesh.fields.clear();
        mesh.regions.clear();
        if (mesh.tet_count() == 0 || mesh.vertices.cols() == 0) continue;
        for (const RenderSurface& part : cut_tets(mesh, {Vec3::Unit(plane.axis), plane.offset}, {})) {
            if (part.lines != Lines::Always) continue; // the outside, which is drawn as it is
            for (Index k = 0; k < part.triangles.size(); ++k)
                corners.push_back(part.vertices.col(part.triangles.reshaped()[k]));
        }
    }
    Points out(3, std::ssize(corners));
    for (std::size_t k = 0; k < corners.size(); ++k) out.col(static_cast<Index>(k)) = corners[k];
    return out;
}

Json LiveScene::figures()
{
    const StepMetrics now = steps_.empty() ? StepMetrics{.t = time(),
                                                         .stage_seconds = {},
                                                         .report = {},
                                                         .mechanics = account_.start,
                                                         .angular_momenta = {}}
                                           : steps_.back();
    const Mechanics& m = now.mechanics;
    Json stages = Json::object();
    const auto& names = world().stage_times().stages();
    for (std::size_t k = 0; k < now.stage_seconds.size(); ++k)
        stages[names[k].name] = 1e3 * now.stage_seconds[k];
    return {{"t", time()},
            {"frame", frame_},
            {"energy", {{"kinetic", m.kinetic}, {"elastic", m.elastic}, {"potential", m.potential}}},
            {"momentum", {{"linear", m.linear_momentum.norm()}, {"angular", m.angular_momentum.norm()}}},
            {"drift",
             {{"linear", linear_scale_ > 0.0 ? drift_.linear / linear_scale_ : 0.0},
              {"angular", angular_scale_ > 0.0 ? drift_.angular / angular_scale_ : 0.0}}},
            {"stages", stages},
            {"contacts", now.report.contacts},
            {"penetration", now.report.penetration},
            {"iterations", now.report.iterations},
            {"sweeps", now.report.sweeps},
            {"joint_gap", now.report.joint_gap},
            {"gravity", vector_json(world().gravity())}};
}

RunMetrics LiveScene::metrics()
{
    RunMetrics out = account_;
    for (const StageTimes::Stage& stage : world().stage_times().stages()) {
        out.stages.push_back(stage.name);
        out.seconds += stage.seconds;
    }
    out.steps.assign(steps_.begin(), steps_.end());
    for (StepMetrics& step : out.steps) step.stage_seconds.resize(out.stages.size(), 0.0);
    out.frames = frame_;
    out.state_hash = world().state_hash();
    return out;
}

} // namespace lithe
