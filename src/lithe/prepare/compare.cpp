#include "lithe/prepare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/math/svd3.hpp"
#include "lithe/world/obstacle_body.hpp"

namespace lithe {
namespace {

double mass_norm(const VecX& masses, const Points& D)
{
    return std::sqrt(masses.dot(D.colwise().squaredNorm().transpose()));
}

double predict_seconds(const World& world)
{
    for (const StageTimes::Stage& stage : world.stage_times().stages())
        if (stage.name == "predict") return stage.seconds;
    return 0.0;
}

/// X + U q, in the world.
void set_nodes(const Published& now, const PreparedVolume& volume, Points& x)
{
    reconstruct(volume.mesh.vertices, volume.U, now.weights, x);
    x = in_world(now.frame, x);
}

Published published(const Body& body)
{
    Published now;
    body.publish(now);
    return now;
}

/// U dq/dt, turned into the world.
Points deforming_velocities(const PreparedVolume& volume, const VecX& qdot, const Quat& rotation)
{
    Points v;
    reconstruct(Points::Zero(3, volume.mesh.vertex_count()), volume.U, qdot, v);
    return rotation.toRotationMatrix() * v;
}

/// v + w x (x - c) of the nodes at rest.
Points rigid_velocities(const Points& x, const Vec3& centre, const Vec3& v, const Vec3& w)
{
    Points out(3, x.cols());
    for (Index i = 0; i < x.cols(); ++i) out.col(i) = v + w.cross(Vec3(x.col(i) - centre));
    return out;
}

} // namespace

void set_deformation(const ErrorMeter::Body& body, const Points& x, Points& D)
{
    const double mass = body.masses.sum();
    const Vec3 C = body.rest * body.masses / mass, c = x * body.masses / mass;
    D = x.colwise() - c;
    const Points X = body.rest.colwise() - C;
    const Mat3 R = polar_rotation(D * body.masses.asDiagonal() * X.transpose());
    D = R.transpose() * D - X;
}

ErrorMeter::ErrorMeter(std::vector<Body> bodies) : bodies_(std::move(bodies)) {}

void ErrorMeter::add_frame(std::span<const Points> full, std::span<const Points> reduced)
{
    LITHE_ASSERT(full.size() == bodies_.size() && reduced.size() == bodies_.size());
    double deformation = 0.0, error = 0.0;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        set_deformation(bodies_[b], full[b], full_);
        set_deformation(bodies_[b], reduced[b], reduced_);
        deformation = std::hypot(deformation, mass_norm(bodies_[b].masses, full_));
        error = std::hypot(error, mass_norm(bodies_[b].masses, full_ - reduced_));
    }
    largest_ = std::max(largest_, deformation);
    errors_.push_back(error);
}

double ErrorMeter::last_error() const
{
    return largest_ > 0.0 ? errors_.back() / largest_ : 0.0;
}

double ErrorMeter::max_error() const
{
    return largest_ > 0.0 ? std::ranges::max(errors_) / largest_ : 0.0;
}

double ErrorMeter::mean_error() const
{
    if (!(largest_ > 0.0)) return 0.0;
    return std::accumulate(errors_.begin(), errors_.end(), 0.0) / static_cast<double>(errors_.size()) /
           largest_;
}

FullBodyModel full_body_model(const PreparedModel& model, const PreparedVolume& volume,
                              const RigidPose& placement, double friction)
{
    FullBodyModel out;
    out.shown.name = model.name;
    out.shown.surface = model.shown.rest;
    out.shown.surface.vertices = in_world(placement, model.shown.rest.vertices);
    out.shown.volume = volume.mesh;
    out.shown.volume.vertices = in_world(placement, volume.mesh.vertices);
    out.fem = make_fem_model(out.shown.volume, region_materials(model.materials),
                             {.mass = model.mass_kind, .damping = model.reduced.damping});
    out.embedding = volume.embedding;
    if (!volume.pins.empty()) out.pins.push_back({.vertices = volume.pins});
    out.contact = make_contact_model(out.fem, {.stiffness = model.contact_stiffness, .friction = friction});
    return out;
}

std::unique_ptr<FullBody> full_twin(const ReducedBody& body, const BodyVolume& full)
{
    const PreparedVolume& volume = *full.volume;
    require_fits(*body.model().prepared, volume, "body '" + body.shown().name + "'");
    const ReducedBodyOptions& options = body.options();
    FullBodyModel model =
        full_body_model(*body.model().prepared, volume, options.placement, options.friction);
    model.shown.name = body.shown().name;
    model.shown.color = body.shown().color;
    if (options.contact_stiffness) model.contact.stiffness = *options.contact_stiffness;
    model.loads = full.loads;
    model.integrator = options.integrator;
    model.newmark.beta = options.newmark.beta;
    model.newmark.gamma = options.newmark.gamma;
    return std::make_unique<FullBody>(
        std::move(model), deforming_velocities(volume, body.state().v, options.placement.rotation));
}

std::unique_ptr<FullBody> full_twin(const FramedBody& body, const BodyVolume& full)
{
    const PreparedVolume& volume = *full.volume;
    const PreparedModel& prepared = *body.model().prepared;
    require_fits(prepared, volume, "body '" + body.shown().name + "'");
    const FramedBodyOptions& options = body.options();
    FullBodyModel model = full_body_model(prepared, volume, options.placement, options.law.friction);
    model.shown.name = body.shown().name;
    model.shown.color = body.shown().color;
    model.loads = full.loads;
    if (options.motion.scheme == FramedScheme::Theta) model.integrator = Integrator::Newmark;
    const Points velocities =
        rigid_velocities(model.fem.rest, options.placement.apply(prepared.tensors.centre), options.velocity,
                         options.angular_velocity);
    return std::make_unique<FullBody>(std::move(model), velocities);
}

namespace {

/// Of the nodes at x, in the world. [m/s]
Points node_velocities(const ReducedBody& body, const PreparedVolume& volume, const Points&)
{
    return deforming_velocities(volume, body.state().v, body.options().placement.rotation);
}

Points node_velocities(const FramedBody& body, const PreparedVolume& volume, const Points& x)
{
    const FramedState& state = body.motion().state();
    return rigid_velocities(x, state.frame.translation, state.v,
                            state.frame.rotation * body.motion().Omega()) +
           deforming_velocities(volume, state.qdot, state.frame.rotation);
}

/// In full space, as the reduced body is now.
template <class Reduced>
std::unique_ptr<FullBody> twin_of(const Reduced& body, const BodyVolume& full, double t)
{
    std::unique_ptr<FullBody> twin = full_twin(body, full);
    if (t == 0.0) return twin;
    Points x;
    set_nodes(published(body), *full.volume, x);
    twin->set_state(x, node_velocities(body, *full.volume, x), t);
    return twin;
}

} // namespace

FullRun::FullRun(const World& reduced, std::span<const BodyVolume> volumes, const RunOptions& options)
    : world_({.gravity = reduced.gravity(), .time = reduced.time()}), options_(options),
      frame_(options.first_frame)
{
    std::vector<ErrorMeter::Body> measured;
    for (const BodyId id : reduced.bodies()) {
        const Body& body = reduced.body(id);
        if (const auto* obstacle = dynamic_cast<const ObstacleBody*>(&body))
            world_.add(std::make_unique<ObstacleBody>(obstacle->model()));
        const auto* held = dynamic_cast<const ReducedBody*>(&body);
        const auto* free = dynamic_cast<const FramedBody*>(&body);
        if (!held && (!free || free->model().motion.rank() == 0)) continue;
        const auto found = std::ranges::find(volumes, body.shown().name, &BodyVolume::body);
        if (found == volumes.end())
            throw InputError("body '" + body.shown().name + "': its tets are not there to compare with");
        std::unique_ptr<FullBody> twin =
            held ? twin_of(*held, *found, reduced.time()) : twin_of(*free, *found, reduced.time());
        measured.push_back({twin->model().fem.rest, twin->model().fem.vertex_mass});
        pairs_.push_back({world_.add(std::move(twin)), id, found->volume});
    }
    if (pairs_.empty())
        throw InputError("there is nothing to compare with full space: no body of the scene is reduced");
    meter_.emplace(std::move(measured));
    full_.resize(pairs_.size());
    reduced_.resize(pairs_.size());
    measure(compared(reduced));
}

std::vector<Published> FullRun::compared(const World& reduced) const
{
    std::vector<Published> out;
    for (const Pair& pair : pairs_) out.push_back(published(reduced.body(pair.reduced)));
    return out;
}

void FullRun::follow(int frame, std::span<const Published> reduced)
{
    const Stopwatch watch;
    RunOptions options = options_;
    options.first_frame = frame_;
    options.last_frame = frame;
    RunMetrics ignored;
    Progress silent;
    const RunReport report = run(world_, options, {}, ignored, silent);
    if (report.end != RunEnd::Finished)
        throw std::runtime_error(fmt::format("frame {} could not be solved in full space: {}",
                                             report.last_frame + 1, report.trouble));
    frame_ = frame;
    measure(reduced);
    seconds_ += watch.seconds();
}

void FullRun::measure(std::span<const Published> reduced)
{
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        full_[p] = dynamic_cast<const FullBody&>(world_.body(pairs_[p].full)).state().x;
        set_nodes(reduced[p], *pairs_[p].volume, reduced_[p]);
    }
    meter_->add_frame(full_, reduced_);
}

RunComparison FullRun::result(const World& reduced) const
{
    const double full = predict_seconds(world_), ours = predict_seconds(reduced);
    return {.max_error = meter_->max_error(),
            .mean_error = meter_->mean_error(),
            .speed_ratio = ours > 0.0 ? full / ours : 0.0};
}

} // namespace lithe
