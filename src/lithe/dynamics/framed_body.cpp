#include "lithe/dynamics/framed_body.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

CollisionPart whole(const ReducedSurface& surface)
{
    CollisionPart all{.vertices = std::vector<int>(static_cast<std::size_t>(surface.rest.vertex_count())),
                      .triangles = surface.rest.triangles};
    std::iota(all.vertices.begin(), all.vertices.end(), 0);
    return all;
}

CollisionSurface collision_of(const PreparedModel& model, const CollisionPart& part)
{
    TriangleMesh mesh;
    mesh.vertices =
        model.touching().rest.vertices(Eigen::all, part.vertices).colwise() - model.tensors.centre;
    mesh.triangles = part.triangles;
    return make_collision_surface(mesh);
}

SurfaceBasis rows_of(const SurfaceBasis& basis, const std::vector<int>& vertices)
{
    SurfaceBasis rows(3 * static_cast<Index>(vertices.size()), basis.cols());
    for (std::size_t i = 0; i < vertices.size(); ++i)
        rows.middleRows<3>(3 * static_cast<Index>(i)) =
            basis.middleRows<3>(3 * static_cast<Index>(vertices[i]));
    return rows;
}

FramedModel motion_of(const PreparedModel& model)
{
    if (model.pinned)
        throw InputError(
            fmt::format("'{}' was prepared with pins, which hold it in space; prepare it without them to let "
                        "it move freely",
                        model.name));
    return make_framed_model(model.tensors, model.reduced.elastic, model.reduced.damping);
}

FramedState start_state(const FramedBodyModel& model, const FramedBodyOptions& options)
{
    const FrameTensors& tensors = model.motion.tensors;
    FramedState state =
        rest_state(model.motion, {options.placement.rotation, options.placement.apply(tensors.centre)});
    state.v = options.velocity;
    if (options.q.size() > 0) state.q = options.q;
    if (options.qdot.size() > 0) state.qdot = options.qdot;
    if (state.q.size() != model.motion.rank() || state.qdot.size() != model.motion.rank()) return state;
    FrameConfiguration at;
    configure(tensors, state.q, at);
    const Mat3 R = state.frame.rotation.toRotationMatrix();
    state.L = R * (at.I * (R.transpose() * options.angular_velocity) + at.B() * state.qdot);
    return state;
}

void require_fits(const FramedBodyModel& model, const FramedBodyOptions& options, const std::string& name)
{
    const auto fail = [&](std::string_view what) {
        throw InputError(fmt::format("body '{}': {}", name, what));
    };
    if (!options.velocity.allFinite() || !options.angular_velocity.allFinite() || !options.q.allFinite() ||
        !options.qdot.allFinite())
        fail("its velocity or shape at the start is not finite");
    if (!(options.law.friction >= 0.0) || !std::isfinite(options.law.friction))
        fail(fmt::format("friction = {} must be at least 0 and finite", options.law.friction));
    if (!(options.law.restitution >= 0.0 && options.law.restitution <= 1.0))
        fail(fmt::format("restitution = {} must lie in [0, 1]", options.law.restitution));
    require_loads(options.loads, model.prepared->touching().rest.vertex_count(), name);
    require_forces(options.forces, model.motion.rank(), name);
}

} // namespace

FramedBodyModel::FramedBodyModel(std::shared_ptr<const PreparedModel> model, const CollisionPart& part)
    : prepared(std::move(model)), motion(motion_of(*prepared)), collision(collision_of(*prepared, part)),
      collision_basis(rows_of(prepared->touching().basis, part.vertices)), spheres(shown_spheres(*prepared))
{
}

FramedBodyModel::FramedBodyModel(std::shared_ptr<const PreparedModel> model)
    : FramedBodyModel(model, whole(model->touching()))
{
}

FramedBody::FramedBody(std::shared_ptr<const FramedBodyModel> model, FramedBodyOptions options)
    : model_(std::move(model)), options_(std::move(options)),
      shown_(make_shown(model_->prepared, options_.name, options_.color)),
      motion_(model_->motion, start_state(*model_, options_), options_.motion), swept_(model_->collision)
{
    require_fits(*model_, options_, shown_.name);
    for (const TimedLoad& load : options_.loads) faces_.push_back(loaded_faces(load));
}

// ---- loads

Vec3 FramedBody::arm_of(int vertex) const
{
    return touching().rest.vertices.col(vertex) - model_->motion.tensors.centre +
           displacement(touching(), vertex, motion_.state().q);
}

void FramedBody::add_force(int vertex, const Vec3& f)
{
    const Quat& R = motion_.state().frame.rotation;
    load_.force += f;
    load_.torque += (R * arm_of(vertex)).cross(f);
    add_reduced_force(touching(), vertex, R.conjugate() * f, load_.modal);
}

/// Of pressure and wind, at the state of now.
void FramedBody::add_surface_load(const Load& load, double factor, LoadedFaces& faces)
{
    const FramedState& state = motion_.state();
    for (std::size_t i = 0; i < faces.vertices.size(); ++i) {
        const Vec3 arm = arm_of(faces.vertices[i]);
        const Vec3 relative =
            motion_.Omega().cross(arm) + displacement(touching(), faces.vertices[i], state.qdot);
        faces.x.col(static_cast<Index>(i)) = state.frame.apply(arm);
        faces.v.col(static_cast<Index>(i)) = state.v + state.frame.rotation * relative;
    }
    const auto* wind = std::get_if<WindLoad>(&load);
    set_surface_force(load, wind ? wind->velocity : Vec3::Zero(), faces);
    for (std::size_t i = 0; i < faces.vertices.size(); ++i)
        add_force(faces.vertices[i], factor * faces.f.col(static_cast<Index>(i)));
}

void FramedBody::set_load(const StepContext& step)
{
    load_.force = model_->motion.tensors.mass * step.gravity;
    load_.torque.setZero();
    load_.modal.setZero(model_->motion.rank());
    for (const ReducedForce& force : options_.forces)
        load_.modal += force.factor.at(step.t + step.h) * force.force;
    for (std::size_t k = 0; k < options_.loads.size(); ++k) {
        const TimedLoad& timed = options_.loads[k];
        const double factor = timed.factor.at(step.t + step.h);
        if (const auto* force = std::get_if<ForceLoad>(&timed.load))
            for (const int v : timed.vertices)
                add_force(v, factor / static_cast<double>(timed.vertices.size()) * force->force);
        else
            add_surface_load(timed.load, factor, faces_[k]);
    }
}

// ---- a step

BodyReport FramedBody::predict(const StepContext& step)
{
    h_ = step.h;
    motion_.abandon();
    set_load(step);
    const FramedReport report = motion_.predict(step.h, load_);
    BodyReport out{.solved = true, .iterations = report.iterations};
    if (!motion_.end().frame.translation.allFinite() || !motion_.end().q.allFinite()) {
        out.solved = false;
        out.trouble = "its motion is no longer finite; take smaller steps";
    }
    return out;
}

void FramedBody::finish()
{
    (void)motion_.advance();
}

// ---- impulses

void FramedBody::look_up(const BodyPoint& point, Material& out) const
{
    if (point.surface == BodySurface::Anchors) {
        out = anchors_[static_cast<std::size_t>(point.triangle)];
        return;
    }
    const bool collides = point.surface == BodySurface::Collision;
    const ReducedSurface& shown = model_->prepared->shown;
    const Triangles& triangles = collides ? model_->collision.triangles : shown.rest.triangles;
    const Points& X = collides ? model_->collision.rest : shown.rest.vertices;
    const SurfaceBasis& basis = collides ? model_->collision_basis : shown.basis;
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < triangles.cols());
    out.X = collides ? Vec3::Zero() : Vec3(-model_->motion.tensors.centre);
    out.S.setZero(3, model_->motion.rank());
    for (int corner = 0; corner < 3; ++corner) {
        if (point.weights[corner] == 0.0) continue;
        const Index v = triangles(corner, point.triangle);
        out.X += point.weights[corner] * X.col(v);
        out.S += point.weights[corner] * basis.middleRows<3>(3 * v).cast<double>();
    }
}

void FramedBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    touches_.assign(touches.begin(), touches.end());
    kind_ = kind;
    if (kind == ResponseKind::Bare) motion_.abandon();
    response_ = kind == ResponseKind::Implicit ? &motion_.response() : &motion_.bare_response(h_);
    mover_ = problem.add_body(response_->size());
}

Vec3 FramedBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    look_up(touches_[touch].point, at_);
    const Vec3 arm = motion_.arm_to(touches_[touch].place);
    response_->factor(arm, at_.S, F_);
    problem.block(mover_) += weight * F_;
    return kind_ == ResponseKind::Places ? Vec3(Vec3::Zero()) : motion_.velocity(arm, at_.S);
}

Vec3 FramedBody::take(int, Eigen::Ref<const VecX> change)
{
    change_ = change;
    switch (kind_) {
    case ResponseKind::Implicit:
        motion_.apply(change_);
        break;
    case ResponseKind::Bare:
        motion_.apply_bare(change_);
        break;
    case ResponseKind::Places: {
        const Vec3 before = motion_.angular_momentum();
        motion_.displace(change_);
        return motion_.angular_momentum() - before;
    }
    }
    return Vec3::Zero();
}

// ---- where it is

PointMotion FramedBody::motion(const BodyPoint& point) const
{
    Material at;
    look_up(point, at);
    const FramedState& state = motion_.state();
    const Vec3 arm = at.X + at.S * state.q;
    return {state.frame.apply(arm),
            state.v + state.frame.rotation * Vec3(motion_.Omega().cross(arm) + at.S * state.qdot)};
}

Vec3 FramedBody::predicted(const BodyPoint& point)
{
    look_up(point, at_);
    return motion_.end().frame.apply(at_.X + at_.S * motion_.end().q);
}

BodyPoint FramedBody::attach(const Vec3& place)
{
    SweptSurface now(model_->collision);
    place_surface(motion_.state().q, motion_.state().frame, now.start);
    now.end = now.start;
    now.update();
    const ClosestPoint nearest = *closest_point(now, place);
    Material anchor;
    look_up({nearest.triangle, nearest.barycentric, BodySurface::Collision}, anchor);
    anchor.X = motion_.arm_to(place) - anchor.S * motion_.state().q;
    anchors_.push_back(std::move(anchor));
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

RigidPose FramedBody::model_pose(const RigidPose& frame) const
{
    return {frame.rotation, frame.apply(-model_->motion.tensors.centre)};
}

Box3 FramedBody::swept_bounds() const
{
    const FramedState& state = motion_.state();
    Box3 box = model_->spheres.bounds(state.q, model_pose(state.frame));
    if (const FramedMotion::End* end = motion_.known_end())
        box.extend(model_->spheres.bounds(end->q, model_pose(end->frame)));
    return box;
}

void FramedBody::place_surface(const VecX& q, const RigidPose& frame, Points& x)
{
    q_float_ = q.cast<float>();
    moved_.noalias() = model_->collision_basis * q_float_;
    const Eigen::Map<const Eigen::Matrix3Xf> u(moved_.data(), 3, x.cols());
    x.noalias() = frame.rotation.toRotationMatrix() * (model_->collision.rest + u.cast<double>());
    x.colwise() += frame.translation;
}

const SweptSurface* FramedBody::sweep()
{
    place_surface(motion_.state().q, motion_.state().frame, swept_.start);
    place_surface(motion_.end().q, motion_.end().frame, swept_.end);
    swept_.update();
    return &swept_;
}

// ---- what the world keeps and shows

void FramedBody::set_state(FramedState state)
{
    if (!state.q.allFinite() || !state.qdot.allFinite() || !state.v.allFinite() || !state.L.allFinite() ||
        !state.frame.translation.allFinite() || !state.frame.rotation.coeffs().allFinite())
        throw InputError(fmt::format("body '{}': the state that it is given is not finite", shown_.name));
    motion_.set_state(std::move(state));
}

void FramedBody::save(StateWriter& out) const
{
    const FramedState& state = motion_.state();
    out.write(std::int64_t{state.q.size()});
    write(state.q, out);
    write(state.qdot, out);
    for (const Vec3* vector : {&state.frame.translation, &state.v, &state.L}) write(VecX(*vector), out);
    write(VecX(state.frame.rotation.coeffs()), out);
}

void FramedBody::restore(StateReader& in)
{
    const Index rank = model_->motion.rank();
    if (const std::int64_t saved = in.read_integer(); saved != rank)
        throw InputError(fmt::format("body '{}': the saved state has {} coordinates, but the body has {}",
                                     shown_.name, saved, rank));
    FramedState state;
    state.q = read_vector(rank, in);
    state.qdot = read_vector(rank, in);
    for (Vec3* vector : {&state.frame.translation, &state.v, &state.L}) *vector = read_vector(3, in);
    state.frame.rotation.coeffs() = read_vector(4, in);
    set_state(std::move(state));
}

void FramedBody::publish(Published& out) const
{
    out.frame = model_pose(motion_.state().frame);
    out.weights = motion_.state().q;
}

Mechanics FramedBody::mechanics(const Vec3& gravity)
{
    const FramedEnergy energy = motion_.energy();
    const FramedState& state = motion_.state();
    Mechanics out;
    out.mass = model_->motion.tensors.mass;
    out.kinetic = energy.kinetic();
    out.elastic = energy.elastic;
    out.potential = -out.mass * gravity.dot(state.frame.translation);
    out.linear_momentum = motion_.linear_momentum();
    out.angular_momentum = motion_.angular_momentum();
    const Box3 box = model_->spheres.bounds(state.q, model_pose(state.frame));
    out.linear_scale = std::sqrt(2.0 * out.mass * out.kinetic);
    out.angular_scale = out.linear_scale * box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
    return out;
}

} // namespace lithe
