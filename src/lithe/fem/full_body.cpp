#include "lithe/fem/full_body.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "lithe/core/error.hpp"
#include "lithe/fem/stress.hpp"

namespace lithe {
namespace {

void require_vertices(const std::vector<int>& vertices, Index count, const std::string& name)
{
    for (const int v : vertices)
        if (v < 0 || v >= count)
            throw InputError("body '" + name + "': vertex " + std::to_string(v) +
                             " is named by a pin or load, but there are " + std::to_string(count));
}

void require_fits(const FullBodyModel& model)
{
    const Index n = model.fem.vertex_count();
    const std::string& name = model.shown.name;
    if (model.embedding.point_count() != model.shown.surface.vertex_count())
        throw InputError("body '" + name + "': the embedding is not that of its surface");
    if (model.embedding.point_count() > 0 && model.embedding.corners.maxCoeff() >= n)
        throw InputError("body '" + name + "': the embedding is that of another mesh");
    for (const LedVertices& pins : model.pins) require_vertices(pins.vertices, n, name);
    for (const TimedLoad& load : model.loads) {
        require_vertices(load.vertices, n, name);
        require_vertices({load.faces.data(), load.faces.data() + load.faces.size()}, n, name);
        if (std::holds_alternative<ForceLoad>(load.load) && load.vertices.empty())
            throw InputError("body '" + name + "': a force acts on no vertex");
    }
}

/// Takes a vertex out of all pins but the first that names it.
void keep_first(std::vector<LedVertices>& pins, Index vertex_count)
{
    std::vector<unsigned char> taken(static_cast<std::size_t>(vertex_count), 0);
    for (LedVertices& led : pins)
        std::erase_if(led.vertices,
                      [&](int v) { return std::exchange(taken[static_cast<std::size_t>(v)], 1); });
}

/// A force shared evenly by the vertices.
void add_shared_force(const std::vector<int>& vertices, const Vec3& force, Points& forces)
{
    const Vec3 share = force / static_cast<double>(vertices.size());
    for (const int v : vertices) forces.col(v) += share;
}

/// The tet behind each triangle of a boundary whose vertices are the nodes `origin`.
std::vector<int> tets_behind(const TetMesh& mesh, const Triangles& triangles, const std::vector<int>& origin)
{
    std::map<std::array<int, 3>, int> of_face;
    const auto sorted = [](std::array<int, 3> face) {
        std::ranges::sort(face);
        return face;
    };
    for (int t = 0; t < static_cast<int>(mesh.tet_count()); ++t) {
        const auto tet = mesh.tets.col(t);
        for (int a = 0; a < 4; ++a)
            of_face[sorted({tet[(a + 1) % 4], tet[(a + 2) % 4], tet[(a + 3) % 4]})] = t;
    }
    std::vector<int> out;
    for (Index f = 0; f < triangles.cols(); ++f) {
        const auto node = [&](int corner) { return origin[static_cast<std::size_t>(triangles(corner, f))]; };
        out.push_back(of_face.at(sorted({node(0), node(1), node(2)})));
    }
    return out;
}

} // namespace

FullBodyModel make_full_body_model(std::string name, const TetMesh& mesh, const Material& material,
                                   double density, const FemOptions& options, const ContactOptions& contact)
{
    FullBodyModel model;
    model.fem = make_fem_model(mesh, material, density, options);
    model.shown.name = std::move(name);
    std::vector<int> origin;
    model.shown.surface = boundary_surface(mesh, origin);
    model.shown.volume = mesh;
    model.embedding = embed_vertices(origin, mesh);
    model.contact = make_contact_model(model.fem, contact);
    return model;
}

FullBody::FullBody(FullBodyModel model, const Points& velocities) : model_(std::move(model))
{
    require_fits(model_);
    keep_first(model_.pins, model_.fem.vertex_count());
    state_ = rest_state(model_.fem);
    if (velocities.size() > 0) {
        if (velocities.cols() != state_.v.cols())
            throw InputError("body '" + model_.shown.name + "': there must be a velocity for each node");
        state_.v = velocities;
    }
    predicted_ = state_;
    loading_.force.resize(3, model_.fem.vertex_count());
}

/// Pins that hold at time t, at their targets of that time.
void FullBody::set_pins(double t)
{
    PinnedVertices& pins = loading_.pins;
    pins.vertices.clear();
    for (const LedVertices& led : model_.pins)
        if (t < led.release)
            pins.vertices.insert(pins.vertices.end(), led.vertices.begin(), led.vertices.end());

    pins.targets.resize(3, static_cast<Index>(pins.vertices.size()));
    Index column = 0;
    for (const LedVertices& led : model_.pins) {
        if (t >= led.release) continue;
        const RigidPose pose = led.motion.at(t);
        for (const int v : led.vertices)
            pins.targets.col(column++) = pose.apply(model_.fem.rest.col(v) - led.about) + led.about;
    }
}

void FullBody::set_forces(const StepContext& step)
{
    Points& force = loading_.force;
    force.setZero();
    pressures_.clear();
    add_gravity(model_.fem, step.gravity, force);
    for (const TimedLoad& timed : model_.loads) {
        const double factor = timed.factor.at(step.t + step.h);
        if (const auto* load = std::get_if<ForceLoad>(&timed.load))
            add_shared_force(timed.vertices, factor * load->force, force);
        if (const auto* load = std::get_if<PressureLoad>(&timed.load))
            pressures_.push_back({&timed.faces, factor * load->pressure});
        if (const auto* load = std::get_if<WindLoad>(&timed.load)) {
            wind_.setZero(3, force.cols());
            add_wind(timed.faces, state_.x, state_.v, *load, wind_);
            force += factor * wind_;
        }
    }
    loading_.pressures = pressures_;
    loading_.obstacles = step.obstacles;
    loading_.contact = &model_.contact;
}

SolveReport FullBody::solve(double h)
{
    const NewmarkOptions& newmark = model_.newmark;
    rates_ = step_rates(model_.integrator, newmark.beta, newmark.gamma, h);
    switch (model_.integrator) {
    case Integrator::BackwardEuler:
        return step_backward_euler(model_.fem, loading_, h, newmark.newton, predicted_, work_);
    case Integrator::Newmark:
        return step_newmark(model_.fem, loading_, h, newmark, predicted_, work_);
    case Integrator::QuasiStatic:
        return step_quasi_static(model_.fem, loading_, h, newmark.newton, predicted_, work_);
    case Integrator::Static:
        return solve_static(model_.fem, loading_, newmark.newton, predicted_, work_);
    }
    return {};
}

/// The accelerations at the start, for the first step of Newmark's method.
SolveReport FullBody::set_start_acceleration(const StepContext& step)
{
    StepContext now = step;
    now.h = 0.0;
    set_pins(step.t);
    set_forces(now);
    return set_acceleration(model_.fem, loading_, predicted_, work_);
}

BodyReport FullBody::predict(const StepContext& step)
{
    predicted_ = state_;
    SolveReport report{.status = SolveStatus::Converged};
    if (model_.integrator == Integrator::Newmark && !has_acceleration_) report = set_start_acceleration(step);
    if (report.converged()) {
        set_pins(step.t + step.h);
        set_forces(step);
        report = solve(step.h);
    }
    return body_report(report);
}

FullBody::NodeWeights FullBody::node_weights(const BodyPoint& point) const
{
    NodeWeights out;
    if (point.surface == BodySurface::Anchors) return anchors_[static_cast<std::size_t>(point.triangle)];
    if (point.surface == BodySurface::Collision) {
        const auto tet =
            model_.shown.volume.tets.col(collision_tets_[static_cast<std::size_t>(point.triangle)]);
        for (int a = 0; a < 4; ++a) {
            out.nodes[static_cast<std::size_t>(a)] = tet[a];
            for (int corner = 0; corner < 3; ++corner)
                if (collision_nodes_[static_cast<std::size_t>(
                        collision_.triangles(corner, point.triangle))] == tet[a])
                    out.weights[static_cast<std::size_t>(a)] = point.weights[corner];
        }
        return out;
    }
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < model_.shown.surface.triangle_count());
    for (int corner = 0; corner < 3; ++corner) {
        const int p = model_.shown.surface.triangles(corner, point.triangle);
        for (int a = 0; a < 4; ++a) {
            const auto k = static_cast<std::size_t>(4 * corner + a);
            out.nodes[k] = model_.embedding.corners(a, p);
            out.weights[k] = point.weights[corner] * model_.embedding.weights(a, p);
        }
    }
    return out;
}

FullBody::NodeWeights FullBody::node_weights(const Touch& touch) const
{
    NodeWeights out = node_weights(touch.point);
    const Vec3 aside = touch.place - sum(out, state_.x);
    Mat3 edges;
    for (int a = 0; a < 3; ++a)
        edges.col(a) = state_.x.col(out.nodes[static_cast<std::size_t>(a) + 1]) - state_.x.col(out.nodes[0]);
    constexpr double flat = 1e-6; // volume of a tet over that of a cube of its longest edge
    if (std::abs(edges.determinant()) < flat * std::pow(edges.colwise().norm().maxCoeff(), 3)) return out;
    const Vec3 change = edges.inverse() * aside;
    out.weights[0] -= change.sum();
    for (std::size_t a = 0; a < 3; ++a) out.weights[a + 1] += change[static_cast<Index>(a)];
    return out;
}

Vec3 FullBody::sum(const NodeWeights& at, const Points& values) const
{
    Vec3 out = Vec3::Zero();
    for (std::size_t k = 0; k < at.nodes.size(); ++k) out += at.weights[k] * values.col(at.nodes[k]);
    return out;
}

MatX FullBody::spread() const
{
    MatX columns = MatX::Zero(3 * model_.fem.vertex_count(), 3 * static_cast<Index>(touched_.size()));
    for (std::size_t p = 0; p < touched_.size(); ++p)
        for (std::size_t k = 0; k < touched_[p].nodes.size(); ++k)
            if (const int node = touched_[p].nodes[k]; !work_.pinned[static_cast<std::size_t>(node)])
                columns.block<3, 3>(3 * node, 3 * static_cast<Index>(p)).diagonal().array() +=
                    touched_[p].weights[k];
    return columns;
}

void FullBody::solve_columns(MatX& columns)
{
    if (work_.cholesky.has_factor()) {
        work_.cholesky.solve(columns);
        return;
    }
    SolveReport ignored;
    for (Index c = 0; c < columns.cols(); ++c) {
        work_.rhs = columns.col(c);
        (void)solve_linear(
            {.linear_solver = LinearSolver::ConjugateGradient, .cg = {.relative_residual = 1e-10}}, ignored,
            work_);
        columns.col(c) = work_.d;
    }
}

void FullBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    LITHE_ASSERT(rates_.h > 0.0);
    kind_ = kind;
    touched_.clear();
    for (const Touch& touch : touches) touched_.push_back(node_weights(touch));
    const MatX J_T = spread();
    answers_ = J_T;
    solve_columns(answers_);
    // dv = (dv/dx) A^-1 J^T j / h
    const MatX W = rates_.velocity / rates_.h * (J_T.transpose() * answers_);
    mover_.join(0.5 * (W + W.transpose()), problem);
}

Vec3 FullBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    mover_.couple(touch, weight, problem);
    if (kind_ == ResponseKind::Places) return Vec3::Zero();
    return sum(touched_[touch], kind_ == ResponseKind::Implicit ? predicted_.v : state_.v);
}

Vec3 FullBody::take(int, Eigen::Ref<const VecX> change)
{
    const VecX dx = answers_ * mover_.impulses(change) / rates_.h;
    const Eigen::Map<const Points> step(dx.data(), 3, model_.fem.vertex_count());
    switch (kind_) {
    case ResponseKind::Implicit:
        predicted_.x += step;
        predicted_.v += rates_.velocity * step;
        predicted_.a += rates_.acceleration * step;
        break;
    case ResponseKind::Bare:
        state_.v += rates_.velocity * step;
        break;
    case ResponseKind::Places: {
        const Vec3 before = angular_momentum(model_.fem, state_);
        state_.x += rates_.velocity * step;
        return angular_momentum(model_.fem, state_) - before;
    }
    }
    return Vec3::Zero();
}

const SweptSurface* FullBody::sweep()
{
    if (collision_nodes_.empty()) {
        collision_ = make_collision_surface(boundary_surface(model_.shown.volume, collision_nodes_));
        collision_tets_ = tets_behind(model_.shown.volume, collision_.triangles, collision_nodes_);
        swept_ = SweptSurface(collision_);
    }
    swept_.start = state_.x(Eigen::all, collision_nodes_);
    swept_.end = predicted_.x(Eigen::all, collision_nodes_);
    swept_.update();
    return &swept_;
}

void FullBody::finish()
{
    state_ = predicted_;
    has_acceleration_ = true;
}

PointMotion FullBody::motion(const BodyPoint& point) const
{
    const NodeWeights at = node_weights(point);
    return {sum(at, state_.x), sum(at, state_.v)};
}

Vec3 FullBody::predicted(const BodyPoint& point)
{
    return sum(node_weights(point), predicted_.x);
}

BodyPoint FullBody::attach(const Vec3& place)
{
    TetMesh now = model_.shown.volume;
    now.vertices = state_.x;
    const Embedding embedding = embed(Points(place), now);
    NodeWeights anchor;
    for (std::size_t a = 0; a < 4; ++a) {
        anchor.nodes[a] = embedding.corners(static_cast<Index>(a), 0);
        anchor.weights[a] = embedding.weights(static_cast<Index>(a), 0);
    }
    anchors_.push_back(anchor);
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

Box3 FullBody::swept_bounds() const
{
    return bounds(state_.x).merged(bounds(predicted_.x));
}

/// After its state was changed from outside.
void FullBody::begin_anew()
{
    state_.friction = {};
    has_acceleration_ = false;
    predicted_ = state_;
}

void FullBody::teleport(const RigidPose& motion)
{
    if (!model_.pins.empty()) return Body::teleport(motion);
    const Mat3 R = motion.rotation.toRotationMatrix();
    state_.x = (R * state_.x).colwise() + motion.translation;
    state_.v = R * state_.v;
    state_.a = R * state_.a;
    begin_anew();
}

void FullBody::set_velocity(const Vec3& velocity, const Vec3& angular_velocity)
{
    if (!model_.pins.empty()) return Body::set_velocity(velocity, angular_velocity);
    const Vec3 centre = state_.x * model_.fem.vertex_mass / model_.fem.vertex_mass.sum();
    for (Index i = 0; i < state_.v.cols(); ++i)
        state_.v.col(i) = velocity + angular_velocity.cross(Vec3(state_.x.col(i)) - centre);
    begin_anew();
}

void FullBody::set_state(const Points& x, const Points& v, double t)
{
    const Index n = model_.fem.vertex_count();
    if (x.cols() != n || v.cols() != n)
        throw InputError("body '" + model_.shown.name + "' has " + std::to_string(n) +
                         " nodes, but is given places of " + std::to_string(x.cols()) +
                         " and velocities of " + std::to_string(v.cols()));
    state_.x = x;
    state_.v = v;
    state_.t = t;
    begin_anew();
}

void FullBody::save(StateWriter& out) const
{
    out.write(state_.x);
    out.write(state_.v);
    out.write(state_.a);
    out.write(state_.t);
    write(state_.friction, out);
    out.write(std::int64_t{has_acceleration_});
}

void FullBody::restore(StateReader& in)
{
    FemState saved;
    in.read(saved.x);
    in.read(saved.v);
    in.read(saved.a);
    saved.t = in.read_number();
    read(saved.friction, in);
    const bool has_acceleration = in.read_integer() != 0;
    const Index n = model_.fem.vertex_count();
    if (saved.x.cols() != n || saved.v.cols() != n || saved.a.cols() != n)
        throw InputError("body '" + model_.shown.name + "': the saved state has " +
                         std::to_string(saved.x.cols()) + " nodes, but the body has " + std::to_string(n));
    state_ = std::move(saved);
    has_acceleration_ = has_acceleration;
    predicted_ = state_;
}

void FullBody::publish(Published& out) const
{
    out.frame = {};
    deform(model_.embedding, state_.x, out.positions);
    out.nodes = state_.x;
    out.node_velocities = state_.v;
}

std::vector<Overlay> FullBody::overlays() const
{
    std::vector<Overlay> out;
    Points pins(3, static_cast<Index>(loading_.pins.vertices.size()));
    for (Index k = 0; k < pins.cols(); ++k)
        pins.col(k) = state_.x.col(loading_.pins.vertices[static_cast<std::size_t>(k)]);
    if (pins.cols() > 0) out.push_back({.name = "pins", .points = std::move(pins)});
    Overlay contacts{.name = "contacts", .points = {}};
    contact_forces(model_.contact, state_.x, work_.contact, contacts.points, contacts.vectors);
    if (contacts.points.cols() > 0) out.push_back(std::move(contacts));
    return out;
}

std::span<const FieldLabel> FullBody::fields() const
{
    return stress_labels();
}

VecX FullBody::field(std::size_t) const
{
    return surface_stress(model_.fem.elements, state_.x, model_.embedding);
}

Mechanics FullBody::mechanics(const Vec3& gravity)
{
    const FemModel& fem = model_.fem;
    Mechanics out;
    out.mass = fem.vertex_mass.sum();
    out.kinetic = kinetic_energy(fem, state_);
    out.elastic = elastic_energy(fem, state_.x, energy_work_);
    out.potential = -gravity.dot(state_.x * fem.vertex_mass);
    out.linear_momentum = linear_momentum(fem, state_);
    out.angular_momentum = angular_momentum(fem, state_);
    for (Index i = 0; i < fem.vertex_count(); ++i) {
        const Vec3 p = fem.vertex_mass[i] * state_.v.col(i);
        out.linear_scale += p.norm();
        out.angular_scale += Vec3(state_.x.col(i)).cross(p).norm();
    }
    return out;
}

} // namespace lithe
