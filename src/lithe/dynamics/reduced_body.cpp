#include "lithe/dynamics/reduced_body.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lithe/core/error.hpp"
#include "lithe/fem/stress.hpp"

namespace lithe {
namespace {

using TransposedRows = Eigen::Matrix<double, Eigen::Dynamic, 3>;

/// A pose of the world as the frame sees it.
RigidPose seen_from(const RigidPose& frame, const RigidPose& pose)
{
    return {frame.rotation.conjugate() * pose.rotation, frame.apply_inverse(pose.translation)};
}

void require_fits(const PreparedModel& model, const ReducedBodyOptions& options, const std::string& name)
{
    require_loads(options.loads, model.touching().rest.vertex_count(), name);
    require_forces(options.forces, model.rank(), name);
    if (options.velocity.size() > 0 && options.velocity.size() != model.rank())
        throw InputError("body '" + name + "': there are " + std::to_string(options.velocity.size()) +
                         " velocities, but " + std::to_string(model.rank()) + " coordinates");
    if (!options.velocity.allFinite()) throw InputError("body '" + name + "': its velocity is not finite");
    if (!(options.friction >= 0.0) || !std::isfinite(options.friction))
        throw InputError("friction = " + std::to_string(options.friction) + " must be at least 0 and finite");
}

} // namespace

ReducedBodyModel::ReducedBodyModel(std::shared_ptr<const PreparedModel> model)
    : prepared(std::move(model)), contact(prepared->touching()), shown(shown_spheres(*prepared))
{
}

ReducedBody::ReducedBody(std::shared_ptr<const ReducedBodyModel> model, ReducedBodyOptions options)
    : model_(std::move(model)), options_(std::move(options)),
      contact_{&model_->contact,
               require_positive("contact_stiffness",
                                options_.contact_stiffness.value_or(prepared().contact_stiffness)),
               options_.friction},
      shown_(make_shown(model_->prepared, options_.name, options_.color)),
      state_(rest_state(prepared().reduced))
{
    require_fits(prepared(), options_, shown_.name);
    for (const TimedLoad& load : options_.loads) loads_.push_back(reduced(load));
    if (options_.velocity.size() > 0) state_.v = options_.velocity;
    predicted_ = state_;
}

ReducedBody::ReducedBody(std::shared_ptr<const PreparedModel> model, ReducedBodyOptions options)
    : ReducedBody(std::make_shared<const ReducedBodyModel>(std::move(model)), std::move(options))
{
}

ReducedBody::ReducedLoad ReducedBody::reduced(const TimedLoad& timed) const
{
    ReducedLoad out;
    const auto* load = std::get_if<ForceLoad>(&timed.load);
    if (!load) {
        out.faces = loaded_faces(timed);
        return out;
    }
    const Vec3 share =
        options_.placement.rotation.conjugate() * load->force / static_cast<double>(timed.vertices.size());
    out.force.setZero(prepared().rank());
    for (const int v : timed.vertices) add_reduced_force(prepared().touching(), v, share, out.force);
    return out;
}

/// Of pressure and wind, at the state of now.
void ReducedBody::add_surface_load(const Load& load, double factor, LoadedFaces& faces)
{
    const ReducedSurface& surface = prepared().touching();
    for (std::size_t i = 0; i < faces.vertices.size(); ++i) {
        const int v = faces.vertices[i];
        faces.x.col(static_cast<Index>(i)) =
            surface.rest.vertices.col(v) + displacement(surface, v, state_.q);
        faces.v.col(static_cast<Index>(i)) = displacement(surface, v, state_.v);
    }
    const auto* wind = std::get_if<WindLoad>(&load);
    set_surface_force(
        load, wind ? Vec3(options_.placement.rotation.conjugate() * wind->velocity) : Vec3::Zero(), faces);
    for (std::size_t i = 0; i < faces.vertices.size(); ++i)
        add_reduced_force(surface, faces.vertices[i], factor * faces.f.col(static_cast<Index>(i)), force_);
}

void ReducedBody::set_force(const StepContext& step)
{
    const Vec3 gravity = options_.placement.rotation.conjugate() * step.gravity;
    force_.noalias() = prepared().tensors.linear.transpose().lazyProduct(gravity);
    for (const ReducedForce& force : options_.forces)
        force_ += force.factor.at(step.t + step.h) * force.force;
    for (std::size_t k = 0; k < loads_.size(); ++k) {
        const TimedLoad& timed = options_.loads[k];
        const double factor = timed.factor.at(step.t + step.h);
        if (std::holds_alternative<ForceLoad>(timed.load))
            force_ += factor * loads_[k].force;
        else
            add_surface_load(timed.load, factor, loads_[k].faces);
    }
}

void ReducedBody::set_obstacles(std::span<const Obstacle> obstacles)
{
    obstacles_.assign(obstacles.begin(), obstacles.end());
    for (Obstacle& obstacle : obstacles_) {
        obstacle.pose_0 = seen_from(options_.placement, obstacle.pose_0);
        obstacle.pose_1 = seen_from(options_.placement, obstacle.pose_1);
    }
}

SolveReport ReducedBody::solve(double h)
{
    const ReducedModel& model = prepared().reduced;
    const ReducedLoading loading(force_, obstacles_, &contact_);
    const ReducedNewmarkOptions& newmark = options_.newmark;
    rates_ = step_rates(options_.integrator, newmark.beta, newmark.gamma, h);
    switch (options_.integrator) {
    case Integrator::BackwardEuler:
        return step_backward_euler(model, loading, h, newmark.newton, predicted_, work_);
    case Integrator::Newmark:
        return step_newmark(model, loading, h, newmark, predicted_, work_);
    case Integrator::QuasiStatic:
        return step_quasi_static(model, loading, h, newmark.newton, predicted_, work_);
    case Integrator::Static:
        return solve_static(model, loading, newmark.newton, predicted_, work_);
    }
    return {};
}

/// The accelerations at the start, for the first step of Newmark's method.
SolveReport ReducedBody::set_start_acceleration(const StepContext& step)
{
    StepContext now = step;
    now.h = 0.0;
    set_force(now);
    return set_acceleration(prepared().reduced, {force_, obstacles_, &contact_}, predicted_, work_);
}

BodyReport ReducedBody::predict(const StepContext& step)
{
    predicted_ = state_;
    set_obstacles(step.obstacles);
    SolveReport report{.status = SolveStatus::Converged};
    if (options_.integrator == Integrator::Newmark && !has_acceleration_)
        report = set_start_acceleration(step);
    if (report.converged()) {
        set_force(step);
        report = solve(step.h);
    }
    return body_report(report);
}

const ReducedSurface& ReducedBody::surface_of(const BodyPoint& point) const
{
    return point.surface == BodySurface::Collision ? prepared().touching() : prepared().shown;
}

TransposedRows ReducedBody::basis_at(const BodyPoint& point) const
{
    if (point.surface == BodySurface::Anchors) {
        const Index v = anchors_[static_cast<std::size_t>(point.triangle)].vertex;
        return prepared().shown.basis.middleRows<3>(3 * v).cast<double>().transpose();
    }
    const ReducedSurface& surface = surface_of(point);
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < surface.rest.triangle_count());
    TransposedRows U_T = TransposedRows::Zero(prepared().rank(), 3);
    for (int corner = 0; corner < 3; ++corner) {
        const Index v = surface.rest.triangles(corner, point.triangle);
        U_T += point.weights[corner] * surface.basis.middleRows<3>(3 * v).cast<double>().transpose();
    }
    return U_T;
}

void ReducedBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    LITHE_ASSERT(rates_.h > 0.0);
    kind_ = kind;
    touches_.assign(touches.begin(), touches.end());
    mover_ = problem.add_body(prepared().rank());
}

/// du = (dv/dq) J A^-1 J^T j / h = F F^T j  with  F = sqrt(dv/dq / h) J C^-T,  A = C C^T.
Vec3 ReducedBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    TransposedRows J_T =
        basis_at(touches_[touch].point) * options_.placement.rotation.conjugate().toRotationMatrix();
    const Vec3 velocity =
        kind_ == ResponseKind::Places
            ? Vec3(Vec3::Zero())
            : Vec3(J_T.transpose() * (kind_ == ResponseKind::Implicit ? predicted_.v : state_.v));
    work_.llt.matrixL().solveInPlace(J_T);
    problem.block(mover_) += weight * std::sqrt(rates_.velocity / rates_.h) * J_T.transpose();
    return velocity;
}

/// dq = A^-1 J^T j / h.
Vec3 ReducedBody::take(int, Eigen::Ref<const VecX> change)
{
    VecX dq = change / std::sqrt(rates_.velocity * rates_.h);
    work_.llt.matrixU().solveInPlace(dq);
    switch (kind_) {
    case ResponseKind::Implicit:
        predicted_.q += dq;
        predicted_.v += rates_.velocity * dq;
        predicted_.a += rates_.acceleration * dq;
        break;
    case ResponseKind::Bare:
        state_.v += rates_.velocity * dq;
        break;
    case ResponseKind::Places: {
        const FrameTensors& sums = prepared().tensors;
        const Vec3 before = sums.angular_momentum(state_.q, state_.v);
        state_.q += rates_.velocity * dq;
        return options_.placement.rotation * Vec3(sums.angular_momentum(state_.q, state_.v) - before);
    }
    }
    return Vec3::Zero();
}

void ReducedBody::finish()
{
    state_ = predicted_;
    has_acceleration_ = true;
}

Vec3 ReducedBody::rest_of(const BodyPoint& point) const
{
    if (point.surface == BodySurface::Anchors) return anchors_[static_cast<std::size_t>(point.triangle)].X;
    const TriangleMesh& surface = surface_of(point).rest;
    Vec3 X = Vec3::Zero();
    for (int corner = 0; corner < 3; ++corner)
        X += point.weights[corner] * surface.vertices.col(surface.triangles(corner, point.triangle));
    return X;
}

PointMotion ReducedBody::motion(const BodyPoint& point) const
{
    const TransposedRows U_T = basis_at(point);
    return {options_.placement.apply(rest_of(point) + U_T.transpose() * state_.q),
            options_.placement.rotation * Vec3(U_T.transpose() * state_.v)};
}

Vec3 ReducedBody::predicted(const BodyPoint& point)
{
    return options_.placement.apply(rest_of(point) + basis_at(point).transpose() * predicted_.q);
}

BodyPoint ReducedBody::attach(const Vec3& place)
{
    const Vec3 x = options_.placement.apply_inverse(place);
    Points now;
    reconstruct(prepared().shown, state_.q, now);
    Index nearest = 0;
    (now.colwise() - x).colwise().squaredNorm().minCoeff(&nearest);
    const auto vertex = static_cast<int>(nearest);
    anchors_.push_back({vertex, x - displacement(prepared().shown, vertex, state_.q)});
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

Box3 ReducedBody::swept_bounds() const
{
    return model_->shown.bounds(state_.q, options_.placement)
        .merged(model_->shown.bounds(predicted_.q, options_.placement));
}

const SweptSurface* ReducedBody::sweep()
{
    const ReducedSurface& surface = prepared().touching();
    if (collision_.vertex_count() == 0) {
        collision_ = make_collision_surface(surface.rest);
        swept_ = SweptSurface(collision_);
    }
    reconstruct(surface, state_.q, swept_.start);
    reconstruct(surface, predicted_.q, swept_.end);
    for (Points* x : {&swept_.start, &swept_.end}) *x = in_world(options_.placement, *x);
    swept_.update();
    return &swept_;
}

void ReducedBody::save(StateWriter& out) const
{
    out.write(std::int64_t{prepared().rank()});
    write(state_.q, out);
    write(state_.v, out);
    write(state_.a, out);
    out.write(state_.t);
    write(state_.friction, out);
    out.write(std::int64_t{has_acceleration_});
}

void ReducedBody::restore(StateReader& in)
{
    const Index rank = prepared().rank();
    if (const std::int64_t saved = in.read_integer(); saved != rank)
        throw InputError("body '" + shown_.name + "': the saved state has " + std::to_string(saved) +
                         " coordinates, but the body has " + std::to_string(rank));
    ReducedState saved;
    saved.q = read_vector(rank, in);
    saved.v = read_vector(rank, in);
    saved.a = read_vector(rank, in);
    saved.t = in.read_number();
    read(saved.friction, in);
    has_acceleration_ = in.read_integer() != 0;
    state_ = std::move(saved);
    predicted_ = state_;
}

void ReducedBody::publish(Published& out) const
{
    out.frame = options_.placement;
    out.weights = state_.q;
}

std::vector<Overlay> ReducedBody::overlays() const
{
    std::vector<Overlay> out;
    if (model_->tets) out = cubature_overlays(*model_->tets, state_.q, options_.placement);
    Overlay contacts{.name = "contacts", .points = {}};
    contact_forces(work_.contact, contacts.points, contacts.vectors);
    if (contacts.points.cols() == 0) return out;
    contacts.points = in_world(options_.placement, contacts.points);
    contacts.vectors = options_.placement.rotation.toRotationMatrix() * contacts.vectors;
    out.push_back(std::move(contacts));
    return out;
}

std::span<const FieldLabel> ReducedBody::fields() const
{
    return model_->tets ? stress_labels() : std::span<const FieldLabel>();
}

VecX ReducedBody::field(std::size_t) const
{
    LITHE_ASSERT(model_->tets);
    return surface_stress(*model_->tets, state_.q);
}

Mechanics ReducedBody::mechanics(const Vec3& gravity)
{
    const FrameTensors& sums = prepared().tensors;
    const RigidPose& frame = options_.placement;
    const VecX &q = state_.q, &v = state_.v;
    evaluate_gradient(prepared().reduced.elastic, q, elastic_, elastic_work_);

    Mechanics out;
    out.mass = sums.mass;
    out.kinetic = kinetic_energy(prepared().reduced, state_);
    out.elastic = elastic_.energy;
    const Vec3 first_moment = sums.mass * sums.centre + sums.linear * q;
    out.potential = -gravity.dot(frame.rotation * first_moment + sums.mass * frame.translation);
    out.linear_momentum = frame.rotation * Vec3(sums.linear * v);
    const Vec3 L = sums.angular_momentum(q, v);
    out.angular_momentum = frame.rotation * L + frame.translation.cross(out.linear_momentum);

    const Box3 box = model_->shown.bounds(q, frame);
    out.linear_scale = std::sqrt(2.0 * out.mass * out.kinetic);
    out.angular_scale = out.linear_scale * box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
    return out;
}

} // namespace lithe
