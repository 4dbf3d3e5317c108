#include "lithe/dynamics/reduced_body.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

using TransposedRows = Eigen::Matrix<double, Eigen::Dynamic, 3>;

/// Spheres around the shown surface: so few that all of them are asked for its bounds.
constexpr Index shown_spheres = 32;

std::vector<ContactSample> vertices_of(const TriangleMesh& surface)
{
    std::vector<ContactSample> samples;
    for (int v = 0; v < static_cast<int>(surface.vertex_count()); ++v) samples.push_back({{v, v, v}, 1, 0.0});
    return samples;
}

/// U_v q at one vertex.
Vec3 displacement(const ReducedSurface& surface, int vertex, const VecX& q)
{
    Vec3 u;
    for (int c = 0; c < 3; ++c)
        u[c] = surface.basis.row(3 * static_cast<Index>(vertex) + c).cast<double>().dot(q.transpose());
    return u;
}

/// g += U_v^T f.
void add_force(const ReducedSurface& surface, int vertex, const Vec3& f, VecX& g)
{
    for (int c = 0; c < 3; ++c)
        g += f[c] * surface.basis.row(3 * static_cast<Index>(vertex) + c).cast<double>().transpose();
}

/// A pose of the world as the frame sees it.
RigidPose seen_from(const RigidPose& frame, const RigidPose& pose)
{
    return {frame.rotation.conjugate() * pose.rotation, frame.apply_inverse(pose.translation)};
}

Shown make_shown(const std::shared_ptr<const PreparedModel>& model, const ReducedBodyOptions& options)
{
    Shown shown;
    shown.name = options.name.empty() ? model->name : options.name;
    shown.surface = model->shown.rest;
    shown.morphs = std::shared_ptr<const SurfaceMorphs>(model, &model->shown.basis);
    if (options.color) {
        shown.color = *options.color;
        std::erase_if(shown.surface.fields, [](const VertexField& f) { return f.name == "color"; });
    }
    return shown;
}

void require_vertices(std::span<const int> vertices, Index count, const std::string& name)
{
    for (const int v : vertices)
        if (v < 0 || v >= count)
            throw InputError("body '" + name + "': a load acts on vertex " + std::to_string(v) +
                             " of its surface, but there are " + std::to_string(count));
}

void require_fits(const PreparedModel& model, const ReducedBodyOptions& options, const std::string& name)
{
    const Index count = model.touching().rest.vertex_count();
    for (const TimedLoad& load : options.loads) {
        require_vertices(load.vertices, count, name);
        require_vertices({load.faces.data(), static_cast<std::size_t>(load.faces.size())}, count, name);
        if (std::holds_alternative<ForceLoad>(load.load) && load.vertices.empty())
            throw InputError("body '" + name + "': a force acts on no vertex");
    }
    for (const ReducedForce& force : options.forces)
        if (force.force.size() != model.rank() || !force.force.allFinite())
            throw InputError("body '" + name + "': a reduced force needs " + std::to_string(model.rank()) +
                             " finite numbers");
    if (options.velocity.size() > 0 && options.velocity.size() != model.rank())
        throw InputError("body '" + name + "': there are " + std::to_string(options.velocity.size()) +
                         " velocities, but " + std::to_string(model.rank()) + " coordinates");
    if (!options.velocity.allFinite()) throw InputError("body '" + name + "': its velocity is not finite");
    if (!(options.friction >= 0.0) || !std::isfinite(options.friction))
        throw InputError("friction = " + std::to_string(options.friction) + " must be at least 0 and finite");
}

void write(const VecX& values, StateWriter& out)
{
    for (const double value : values) out.write(value);
}

VecX read_vector(Index size, StateReader& in)
{
    VecX values(size);
    for (double& value : values) value = in.read_number();
    return values;
}

} // namespace

ReducedBodyModel::ReducedBodyModel(std::shared_ptr<const PreparedModel> model)
    : prepared(std::move(model)), contact(prepared->touching()),
      shown(prepared->shown, vertices_of(prepared->shown.rest),
            std::max<Index>(1, prepared->shown.rest.vertex_count() / shown_spheres))
{
}

ReducedBody::ReducedBody(std::shared_ptr<const ReducedBodyModel> model, ReducedBodyOptions options)
    : model_(std::move(model)), options_(std::move(options)),
      contact_{&model_->contact,
               require_positive("contact_stiffness",
                                options_.contact_stiffness.value_or(prepared().contact_stiffness)),
               options_.friction},
      shown_(make_shown(model_->prepared, options_)), state_(rest_state(prepared().reduced))
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
    if (const auto* load = std::get_if<ForceLoad>(&timed.load)) {
        const Vec3 share = options_.placement.rotation.conjugate() * load->force /
                           static_cast<double>(timed.vertices.size());
        out.force.setZero(prepared().rank());
        for (const int v : timed.vertices) add_force(prepared().touching(), v, share, out.force);
        return out;
    }
    const std::span<const int> corners(timed.faces.data(), static_cast<std::size_t>(timed.faces.size()));
    out.vertices.assign(corners.begin(), corners.end());
    std::ranges::sort(out.vertices);
    out.vertices.erase(std::ranges::unique(out.vertices).begin(), out.vertices.end());
    out.faces = timed.faces.unaryExpr([&](int v) {
        return static_cast<int>(std::ranges::lower_bound(out.vertices, v) - out.vertices.begin());
    });
    out.x.resize(3, static_cast<Index>(out.vertices.size()));
    out.v = out.f = out.x;
    return out;
}

/// Of pressure and wind, at the state of now.
void ReducedBody::add_surface_load(const Load& load, double factor, ReducedLoad& reduced)
{
    const ReducedSurface& surface = prepared().touching();
    for (std::size_t i = 0; i < reduced.vertices.size(); ++i) {
        const int v = reduced.vertices[i];
        reduced.x.col(static_cast<Index>(i)) =
            surface.rest.vertices.col(v) + displacement(surface, v, state_.q);
        reduced.v.col(static_cast<Index>(i)) = displacement(surface, v, state_.v);
    }
    reduced.f.setZero();
    if (const auto* pressure = std::get_if<PressureLoad>(&load))
        add_pressure(reduced.faces, reduced.x, pressure->pressure, reduced.f);
    if (const auto* wind = std::get_if<WindLoad>(&load)) {
        WindLoad in_frame = *wind;
        in_frame.velocity = options_.placement.rotation.conjugate() * wind->velocity;
        add_wind(reduced.faces, reduced.x, reduced.v, in_frame, reduced.f);
    }
    for (std::size_t i = 0; i < reduced.vertices.size(); ++i)
        add_force(surface, reduced.vertices[i], factor * reduced.f.col(static_cast<Index>(i)), force_);
}

void ReducedBody::set_force(const StepContext& step)
{
    const Vec3 gravity = options_.placement.rotation.conjugate() * step.gravity;
    force_.noalias() = prepared().integrals.linear.transpose().lazyProduct(gravity);
    for (const ReducedForce& force : options_.forces)
        force_ += force.factor.at(step.t + step.h) * force.force;
    for (std::size_t k = 0; k < loads_.size(); ++k) {
        const TimedLoad& timed = options_.loads[k];
        const double factor = timed.factor.at(step.t + step.h);
        if (std::holds_alternative<ForceLoad>(timed.load))
            force_ += factor * loads_[k].force;
        else
            add_surface_load(timed.load, factor, loads_[k]);
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

TransposedRows ReducedBody::basis_at(const BodyPoint& point) const
{
    const ReducedSurface& surface = prepared().shown;
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < surface.rest.triangle_count());
    TransposedRows U_T = TransposedRows::Zero(prepared().rank(), 3);
    for (int corner = 0; corner < 3; ++corner) {
        const Index v = surface.rest.triangles(corner, point.triangle);
        U_T += point.weights[corner] * surface.basis.middleRows<3>(3 * v).cast<double>().transpose();
    }
    return U_T;
}

MatX ReducedBody::spread(std::span<const BodyPoint> points) const
{
    MatX columns(prepared().rank(), 3 * static_cast<Index>(points.size()));
    const Mat3 R_T = options_.placement.rotation.conjugate().toRotationMatrix();
    for (std::size_t p = 0; p < points.size(); ++p)
        columns.middleCols<3>(3 * static_cast<Index>(p)) = basis_at(points[p]) * R_T;
    return columns;
}

Response ReducedBody::response(std::span<const BodyPoint> points)
{
    LITHE_ASSERT(rates_.h > 0.0);
    const MatX J_T = spread(points);
    // dv = (dv/dq) A^-1 J^T j / h
    const MatX W = rates_.velocity / rates_.h * (J_T.transpose() * work_.llt.solve(J_T));
    return {.compliance = 0.5 * (W + W.transpose())};
}

void ReducedBody::apply(std::span<const BodyPoint> points, std::span<const Vec3> impulses)
{
    LITHE_ASSERT(rates_.h > 0.0 && points.size() == impulses.size());
    if (points.empty()) return;
    const Eigen::Map<const VecX> j(impulses.front().data(), 3 * static_cast<Index>(impulses.size()));
    VecX dq = spread(points) * j / rates_.h;
    work_.llt.solveInPlace(dq);
    predicted_.q += dq;
    predicted_.v += rates_.velocity * dq;
    predicted_.a += rates_.acceleration * dq;
}

void ReducedBody::finish()
{
    state_ = predicted_;
    has_acceleration_ = true;
}

PointMotion ReducedBody::motion(const BodyPoint& point) const
{
    const TransposedRows U_T = basis_at(point);
    Vec3 X = Vec3::Zero();
    for (int corner = 0; corner < 3; ++corner)
        X += point.weights[corner] *
             shown_.surface.vertices.col(shown_.surface.triangles(corner, point.triangle));
    return {options_.placement.apply(X + U_T.transpose() * state_.q),
            options_.placement.rotation * Vec3(U_T.transpose() * state_.v)};
}

Box3 ReducedBody::swept_bounds() const
{
    return model_->shown.bounds(state_.q, options_.placement)
        .merged(model_->shown.bounds(predicted_.q, options_.placement));
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
    Overlay contacts{.name = "contacts", .points = {}};
    contact_forces(work_.contact, contacts.points, contacts.vectors);
    if (contacts.points.cols() == 0) return {};
    contacts.points = in_world(options_.placement, contacts.points);
    contacts.vectors = options_.placement.rotation.toRotationMatrix() * contacts.vectors;
    return {std::move(contacts)};
}

Mechanics ReducedBody::mechanics(const Vec3& gravity)
{
    const MassIntegrals& sums = prepared().integrals;
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
    Vec3 L = sums.angular * v;
    for (int c = 0; c < 3; ++c) L[c] += q.dot(sums.quadratic[static_cast<std::size_t>(c)] * v);
    out.angular_momentum = frame.rotation * L + frame.translation.cross(out.linear_momentum);

    const Box3 box = model_->shown.bounds(q, frame);
    out.linear_scale = std::sqrt(2.0 * out.mass * out.kinetic);
    out.angular_scale = out.linear_scale * box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
    return out;
}

} // namespace lithe
