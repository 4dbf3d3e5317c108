#include "lithe/dynamics/framed_body.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/dynamics/add_loads.hpp"
#include "lithe/dynamics/framed_parts.hpp"
#include "lithe/fem/stress.hpp"

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
    state.L = R * (at.I * (R.transpose() * options.angular_velocity));
    if (options.motion.spin == SpinRule::Exact) state.L += R * (at.B() * state.qdot);
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
    require_law(options.law, name);
    require_loads(options.loads, model.prepared->touching().rest.vertex_count(), name);
    require_forces(options.forces, model.motion.rank(), name);
}

} // namespace

FramedBodyModel::FramedBodyModel(std::shared_ptr<const PreparedModel> model, const CollisionPart& part)
    : prepared(std::move(model)), motion(motion_of(*prepared)), collision(collision_of(*prepared, part)),
      collision_basis(rows_of(prepared->touching().basis, part.vertices)), spheres(shown_spheres(*prepared))
{
}

FramedBodyModel::FramedBodyModel(const std::shared_ptr<const PreparedModel>& model)
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

PointMotion FramedBody::motion_of(int vertex) const
{
    const FramedState& state = motion_.state();
    const Vec3 arm = arm_of(vertex);
    const Vec3 relative = motion_.Omega().cross(arm) + displacement(touching(), vertex, state.qdot);
    return {state.frame.apply(arm), state.v + state.frame.rotation * relative};
}

void FramedBody::set_load(const StepContext& step)
{
    load_.force = model_->motion.tensors.mass * step.gravity;
    load_.torque.setZero();
    load_.modal.setZero(model_->motion.rank());
    for (const ReducedForce& force : options_.forces)
        load_.modal += force.factor.at(step.t + step.h) * force.force;
    add_loads(
        options_.loads, step.t + step.h, faces_, [&](int v) { return motion_of(v); },
        [&](int v, const Vec3& f) { add_force(v, f); });
}

// ---- a step

BodyReport FramedBody::predict(const StepContext& step)
{
    h_ = step.h;
    motion_.abandon();
    if (asleep_) return {};
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
    if (!asleep_) (void)motion_.advance();
}

// ---- impulses

const FramedBody::Material& FramedBody::look_up(const BodyPoint& point, Material& out) const
{
    if (point.surface == BodySurface::Anchors) return anchors_[static_cast<std::size_t>(point.triangle)];
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
    return out;
}

void FramedBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    touches_.assign(touches.begin(), touches.end());
    kind_ = kind;
    if (asleep_) return;
    if (kind == ResponseKind::Bare) motion_.abandon();
    response_ = kind == ResponseKind::Implicit ? &motion_.response() : &motion_.bare_response(h_);
    mover_ = problem.add_body(response_->size());
}

Vec3 FramedBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    if (asleep_) return Vec3::Zero();
    const Material& at = look_up(touches_[touch].point, scratch_);
    const Vec3 arm = motion_.arm_to(touches_[touch].place);
    response_->factor(arm, at.S, F_);
    problem.block(mover_) += weight * F_;
    if (kind_ == ResponseKind::Places) return Vec3::Zero();
    return kind_ == ResponseKind::Bare ? motion_.bare_velocity(arm, at.S) : motion_.velocity(arm, at.S);
}

Vec3 FramedBody::take(int, Eigen::Ref<const VecX> change)
{
    change_ = change;
    return take_change(kind_, change_, motion_);
}

// ---- where it is

PointMotion FramedBody::motion(const BodyPoint& point) const
{
    Material scratch;
    const Material& at = look_up(point, scratch);
    const FramedState& state = motion_.state();
    const Vec3 arm = at.X + at.S * state.q;
    return {state.frame.apply(arm),
            state.v + state.frame.rotation * Vec3(motion_.Omega().cross(arm) + at.S * state.qdot)};
}

Vec3 FramedBody::predicted(const BodyPoint& point)
{
    if (!motion_.in_step()) return motion(point).position;
    const Material& at = look_up(point, scratch_);
    return motion_.end().frame.apply(at.X + at.S * motion_.end().q);
}

BodyPoint FramedBody::attach(const Vec3& place)
{
    SweptSurface now(model_->collision);
    place_surface(motion_.state().q, motion_.state().frame, now.start);
    now.end = now.start;
    now.update();
    const ClosestPoint nearest = *closest_point(now, place);
    Material anchor;
    (void)look_up({nearest.triangle, nearest.barycentric, BodySurface::Collision}, anchor);
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
    if (asleep_) return bounds_;
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
    if (is_placed_) return &swept_;
    place_surface(motion_.state().q, motion_.state().frame, swept_.start);
    if (motion_.in_step())
        place_surface(motion_.end().q, motion_.end().frame, swept_.end);
    else
        swept_.end = swept_.start;
    swept_.update();
    is_placed_ = asleep_;
    return &swept_;
}

// ---- when nothing happens, and from outside

bool FramedBody::is_driven() const
{
    const auto changes = [](const auto& drive) { return !drive.factor.is_constant(); };
    return std::ranges::any_of(options_.loads, changes) || std::ranges::any_of(options_.forces, changes);
}

double FramedBody::speed() const
{
    return is_driven() ? std::numeric_limits<double>::infinity() : typical_speed(motion_);
}

void FramedBody::set_asleep(bool asleep)
{
    if (asleep && !asleep_) {
        set_velocity(Vec3::Zero(), Vec3::Zero());
        bounds_ = swept_bounds();
    }
    asleep_ = asleep;
    is_placed_ = false;
}

void FramedBody::teleport(const RigidPose& motion)
{
    set_state(moved(motion_.state(), motion));
}

void FramedBody::set_velocity(const Vec3& velocity, const Vec3& angular_velocity)
{
    set_state(in_motion(motion_, velocity, angular_velocity));
}

// ---- what the world keeps and shows

void FramedBody::set_state(FramedState state)
{
    require_finite(state, shown_.name);
    asleep_ = is_placed_ = false;
    motion_.set_state(std::move(state));
}

void FramedBody::save(StateWriter& out) const
{
    write(motion_.state(), out);
}

void FramedBody::restore(StateReader& in)
{
    set_state(read_framed_state(model_->motion.rank(), shown_.name, in));
}

void FramedBody::publish(Published& out) const
{
    out.frame = model_pose(motion_.state().frame);
    out.weights = motion_.state().q;
}

std::vector<Overlay> FramedBody::overlays() const
{
    const FramedState& now = motion_.state();
    return model_->tets ? cubature_overlays(*model_->tets, now.q, model_pose(now.frame))
                        : std::vector<Overlay>();
}

std::span<const FieldLabel> FramedBody::fields() const
{
    return model_->tets ? stress_labels() : std::span<const FieldLabel>();
}

VecX FramedBody::field(std::size_t) const
{
    LITHE_ASSERT(model_->tets);
    return surface_stress(*model_->tets, motion_.state().q);
}

Mechanics FramedBody::mechanics(const Vec3& gravity)
{
    Mechanics out;
    const Box3 box = model_->spheres.bounds(motion_.state().q, model_pose(motion_.state().frame));
    add_mechanics(motion_, gravity, box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm(), out);
    return out;
}

} // namespace lithe
