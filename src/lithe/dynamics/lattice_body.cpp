#include "lithe/dynamics/lattice_body.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/dynamics/add_loads.hpp"
#include "lithe/dynamics/framed_parts.hpp"
#include "lithe/geometry/box.hpp"
#include "lithe/geometry/lattice_cells.hpp"

namespace lithe {
namespace {

Vec3 sum(const LatticePoint& point, const Points& values)
{
    Vec3 out = Vec3::Zero();
    for (std::size_t k = 0; k < point.functions.size(); ++k)
        out += point.weights[k] * values.col(point.functions[k]);
    return out;
}

/// A sum of rows of a map.
LatticePoint row_sum(const SparseRows& map, const std::vector<std::pair<int, double>>& rows)
{
    std::map<int, double> weights;
    for (const auto& [row, factor] : rows)
        for (SparseRows::InnerIterator it(map, row); it; ++it)
            weights[static_cast<int>(it.col())] += factor * it.value();
    LatticePoint point;
    for (const auto& [function, weight] : weights) {
        point.functions.push_back(function);
        point.weights.push_back(weight);
    }
    return point;
}

Shown shown_of(const LatticeModel& model, const LatticeBodyOptions& options)
{
    Shown shown;
    shown.name = options.name.empty() ? model.name : options.name;
    shown.surface = model.shown.rest;
    shown.character = options.character;
    shown.flesh = options.character != nullptr;
    if (options.color) paint(*options.color, shown);
    return shown;
}

void require_fits(const LatticeModel& model, const LatticeBodyOptions& options, const std::string& name)
{
    require_law(options.law, name);
    require_loads(options.loads, model.collision.rest.vertex_count(), name);
    for (const LedVertices& pins : options.pins)
        for (const int v : pins.vertices)
            if (v < 0 || v >= model.collision.rest.vertex_count())
                throw InputError(fmt::format("body '{}': vertex {} is named by a pin, but there are {}", name,
                                             v, model.collision.rest.vertex_count()));
    if (!std::isfinite(options.playback.start) || !std::isfinite(options.playback.speed))
        throw InputError(fmt::format("body '{}': the start and the speed of its clip must be finite", name));
    for (const JointTracks& tracks : options.clip.joints)
        if (tracks.joint < 0 || tracks.joint >= model.skeleton.joint_count())
            throw InputError(
                fmt::format("body '{}': the clip '{}' is that of another skeleton: it moves joint {}, but "
                            "there are {}",
                            name, options.clip.name, tracks.joint, model.skeleton.joint_count()));
}

bool is_reference(LatticeScheme scheme)
{
    return scheme == LatticeScheme::Linear || scheme == LatticeScheme::Nonlinear;
}

void require_reference_fits(const LatticeModel& model, const LatticeBodyOptions& options,
                            const std::string& name)
{
    if (!model.held_bones.empty())
        throw InputError(
            fmt::format("body '{}': bone '{}' is held by points; the linear and nonlinear schemes "
                        "need all bones on edges of the lattice",
                        name, model.held_bones.front().name));
    if (!options.loads.empty() || !options.pins.empty())
        throw InputError(
            fmt::format("body '{}': the linear and nonlinear schemes have no loads and pins", name));
}

} // namespace

LatticeBody::LatticeBody(std::shared_ptr<const LatticeSystem> system, LatticeBodyOptions options)
    : system_(std::move(system)), options_(std::move(options)), shown_(shown_of(*system_->model, options_)),
      motion_(system_)
{
    require_fits(*system_->model, options_, shown_.name);
    state_ = predicted_ = rest_state(*system_, joints_at(0.0));
    for (const TimedLoad& load : options_.loads) loaded_.push_back(loaded_faces(load));
    if (is_reference(options_.scheme)) make_reference();
    set_maps();
}

/// All functions take part from the beginning.
void LatticeBody::make_reference()
{
    require_reference_fits(*system_->model, options_, shown_.name);
    const bool linear = options_.scheme == LatticeScheme::Linear;
    reference_ = std::make_unique<LatticeReference>(system_, linear ? MaterialKind::Linear
                                                                    : MaterialKind::StVenantKirchhoff);
    for (int f = 0; f < static_cast<int>(system_->count()); ++f)
        if (system_->in_body(f)) state_.active[static_cast<std::size_t>(f)] = Active;
    predicted_ = state_;
}

std::vector<RigidPose> LatticeBody::joints_at(double t) const
{
    const Skeleton& skeleton = system_->model->skeleton;
    const Pose pose = pose_at(skeleton, options_.clip, options_.playback.clip_time(options_.clip, t));
    return joint_motions(skeleton, system_->model->bind, world_transforms(skeleton, pose));
}

void LatticeBody::set_maps()
{
    shown_map_ = active_columns(system_->shown, state_.active);
    collision_map_ = active_columns(system_->collision, state_.active);
}

void LatticeBody::set_forces(const StepContext& step)
{
    loading_.h = step.h;
    loading_.gravity = step.gravity;
    loading_.scheme = options_.scheme;
    if (options_.loads.empty()) return;
    loading_.force.setZero(3, system_->count());
    const auto motion_of = [&](int v) -> PointMotion {
        const LatticePoint point = row_sum(collision_map_, {{v, 1.0}});
        return {sum(point, state_.x), sum(point, state_.v)};
    };
    add_loads(options_.loads, step.t + step.h, loaded_, motion_of, [&](int v, const Vec3& f) {
        for (SparseRows::InnerIterator it(collision_map_, v); it; ++it)
            loading_.force.col(it.col()) += it.value() * f;
    });
}

void LatticeBody::set_targets(double t)
{
    targets_.clear();
    for (const LedVertices& led : options_.pins) {
        if (t >= led.release) continue;
        const RigidPose pose = led.motion.at(t);
        for (const int v : led.vertices) {
            const Vec3 rest = system_->model->collision.rest.vertices.col(v);
            targets_.push_back(
                {row_sum(collision_map_, {{v, 1.0}}), pose.apply(rest - led.about) + led.about});
        }
    }
    loading_.targets = targets_;
}

BodyReport LatticeBody::predict(const StepContext& step)
{
    t_predicted_ = step.t + step.h;
    h_ = step.h;
    set_forces(step);
    set_targets(t_predicted_);
    const LatticePose pose{joints_at(step.t), joints_at(t_predicted_)};
    motion_.step(state_, pose, loading_, predicted_); // whose operator answers impulses, whatever the scheme
    BodyReport report{.iterations = 1};
    if (reference_) {
        const LatticeSolveReport solve = reference_->step(state_, pose.end, step.h, step.gravity, predicted_);
        report.iterations = solve.iterations;
        report.residual = solve.residual;
    }
    if (predicted_.x.allFinite()) return report;
    report.solved = false;
    report.trouble = "the flesh of the lattice is not finite";
    return report;
}

LatticePoint LatticeBody::lattice_point(const BodyPoint& point) const
{
    if (point.surface == BodySurface::Anchors) return anchors_[static_cast<std::size_t>(point.triangle)];
    const bool collision = point.surface == BodySurface::Collision;
    const TriangleMesh& surface = collision ? system_->model->collision.rest : system_->model->shown.rest;
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < surface.triangle_count());
    std::vector<std::pair<int, double>> rows;
    for (int k = 0; k < 3; ++k) rows.emplace_back(surface.triangles(k, point.triangle), point.weights[k]);
    return row_sum(collision ? collision_map_ : shown_map_, rows);
}

void LatticeBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    LITHE_ASSERT(h_ > 0.0);
    kind_ = kind;
    touched_.clear();
    for (const Touch& touch : touches) touched_.push_back(lattice_point(touch.point));
    mover_.join(motion_.compliance(touched_), problem);
}

Vec3 LatticeBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    mover_.couple(touch, weight, problem);
    if (kind_ == ResponseKind::Places) return Vec3::Zero();
    return sum(touched_[touch], kind_ == ResponseKind::Implicit ? predicted_.v : state_.v);
}

/// dv = B J^T j.
Vec3 LatticeBody::take(int, Eigen::Ref<const VecX> change)
{
    const VecX j = mover_.impulses(change);
    Points impulses = Points::Zero(3, system_->count()), dv;
    for (std::size_t p = 0; p < touched_.size(); ++p)
        for (std::size_t k = 0; k < touched_[p].functions.size(); ++k)
            impulses.col(touched_[p].functions[k]) +=
                touched_[p].weights[k] * j.segment<3>(3 * static_cast<Index>(p));
    motion_.answer(impulses, dv);
    switch (kind_) {
    case ResponseKind::Implicit:
        predicted_.x += h_ * dv;
        predicted_.v += dv;
        break;
    case ResponseKind::Bare:
        state_.v += dv;
        break;
    case ResponseKind::Places: {
        const Points momenta = state_.v * system_->M;
        Vec3 moved = Vec3::Zero();
        for (Index f = 0; f < dv.cols(); ++f) moved += Vec3(dv.col(f)).cross(Vec3(momenta.col(f)));
        state_.x += dv;
        return moved;
    }
    }
    return Vec3::Zero();
}

void LatticeBody::finish()
{
    std::swap(state_, predicted_);
    t_ = t_predicted_;
    if (!reference_ && adapt(*system_, state_)) set_maps();
    predicted_ = state_;
}

PointMotion LatticeBody::motion(const BodyPoint& point) const
{
    const LatticePoint at = lattice_point(point);
    return {sum(at, state_.x), sum(at, state_.v)};
}

Vec3 LatticeBody::predicted(const BodyPoint& point)
{
    return sum(lattice_point(point), predicted_.x);
}

BodyPoint LatticeBody::attach(const Vec3& place)
{
    TetMesh now = system_->once;
    follow(system_->once_from_coarse, state_.x, now.vertices);
    const Embedding at = embed(Points(place), now);
    std::vector<std::pair<int, double>> rows;
    for (int k = 0; k < 4; ++k) rows.emplace_back(at.corners(k, 0), at.weights(k, 0));
    anchors_.push_back(row_sum(system_->once_from_coarse, rows));
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

/// The lattice is around the flesh: its vertices bound it, as long as no details are active; these add what they are.
Box3 LatticeBody::swept_bounds() const
{
    Box3 box;
    double details = 0.0;
    for (const Points* x : {&state_.x, &predicted_.x}) {
        box.extend(bounds(x->leftCols(system_->coarse_count())));
        const Index fine = system_->count() - system_->coarse_count();
        if (fine > 0) details = std::max(details, x->rightCols(fine).cwiseAbs().maxCoeff());
    }
    // At most eight functions of a level overlap at a place, and they sum to at most one.
    return widened(box, details * system_->model->levels);
}

Index LatticeBody::freedoms() const
{
    return 3 * (active_count(state_) - static_cast<Index>(system_->holds.size()));
}

const SweptSurface* LatticeBody::sweep()
{
    if (collision_.vertex_count() == 0) {
        collision_ = make_collision_surface(system_->model->collision.rest);
        swept_ = SweptSurface(collision_);
    }
    follow(collision_map_, state_.x, swept_.start);
    follow(collision_map_, predicted_.x, swept_.end);
    swept_.update();
    return &swept_;
}

void LatticeBody::save(StateWriter& out) const
{
    out.write(state_.x);
    out.write(state_.v);
    out.write(std::vector<int>(state_.active.begin(), state_.active.end()));
    out.write(state_.calm);
    out.write(state_.since);
    out.write(std::int64_t{state_.steps});
    out.write(t_);
}

void LatticeBody::restore(StateReader& in)
{
    LatticeState saved;
    std::vector<int> active;
    in.read(saved.x);
    in.read(saved.v);
    in.read(active);
    in.read(saved.calm);
    in.read(saved.since);
    saved.steps = static_cast<int>(in.read_integer());
    const double t = in.read_number();
    const auto n = static_cast<std::size_t>(system_->count());
    if (saved.x.cols() != system_->count() || saved.v.cols() != system_->count() || active.size() != n ||
        saved.calm.size() != n || saved.since.size() != n)
        throw InputError(fmt::format("body '{}': the saved state has {} functions, but the body has {}",
                                     shown_.name, saved.x.cols(), n));
    saved.active.assign(active.begin(), active.end());
    state_ = predicted_ = std::move(saved);
    t_ = t_predicted_ = t;
    set_maps();
}

void LatticeBody::publish(Published& out) const
{
    out.frame = {};
    follow(shown_map_, state_.x, out.positions);
    if (!options_.character) return;
    const Skeleton& skeleton = system_->model->skeleton;
    world_transforms(skeleton,
                     pose_at(skeleton, options_.clip, options_.playback.clip_time(options_.clip, t_)),
                     out.joints);
}

std::vector<Overlay> LatticeBody::overlays() const
{
    const ControlLattice& lattice = system_->model->lattice;
    std::map<std::array<int, 2>, int> edges;
    for (const LatticeCell& cell : lattice.cells)
        for (const auto& [a, b] : topology(cell.kind).edges)
            edges[edge_key(cell.vertices[a], cell.vertices[b])];
    const auto lines = [&](const std::string& name, const std::vector<std::array<int, 2>>& ends) {
        Overlay overlay{.name = name, .points = Points(3, static_cast<Index>(ends.size())), .vectors = {}};
        overlay.vectors.resize(3, overlay.points.cols());
        for (std::size_t k = 0; k < ends.size(); ++k) {
            overlay.points.col(static_cast<Index>(k)) = state_.x.col(ends[k][0]);
            overlay.vectors.col(static_cast<Index>(k)) = state_.x.col(ends[k][1]) - state_.x.col(ends[k][0]);
        }
        return overlay;
    };
    std::vector<std::array<int, 2>> all, bones;
    for (const auto& [edge, unused] : edges) all.push_back(edge);
    for (const LatticeBone& bone : lattice.bones)
        bones.push_back({bone.vertices.front(), bone.vertices.back()});
    std::vector<Overlay> out = {lines("lattice", all), lines("bones", bones)};
    std::vector<int> details;
    for (auto f = static_cast<int>(system_->coarse_count()); f < static_cast<int>(system_->count()); ++f)
        if (state_.active[static_cast<std::size_t>(f)] != Inactive) details.push_back(f);
    if (!details.empty()) {
        Points places;
        follow(system_->at_vertices, state_.x, places);
        out.push_back({.name = "details", .points = places(Eigen::all, details)});
    }
    if (!targets_.empty()) {
        Overlay pins{.name = "pins", .points = Points(3, static_cast<Index>(targets_.size()))};
        for (std::size_t k = 0; k < targets_.size(); ++k)
            pins.points.col(static_cast<Index>(k)) = sum(targets_[k].point, state_.x);
        out.push_back(std::move(pins));
    }
    return out;
}

Mechanics LatticeBody::mechanics(const Vec3& gravity)
{
    Mechanics out;
    const Points momenta = state_.v * system_->M;
    out.mass = system_->mass;
    out.kinetic = 0.5 * state_.v.cwiseProduct(momenta).sum();
    out.elastic = elastic_energy(*system_, joints_at(t_), state_.x);
    out.potential = -gravity.dot(state_.x * system_->first);
    out.linear_momentum = state_.v * system_->first;
    for (Index f = 0; f < system_->count(); ++f) {
        const Vec3 p = momenta.col(f);
        out.angular_momentum += Vec3(state_.x.col(f)).cross(p);
        out.linear_scale += p.norm();
        out.angular_scale += Vec3(state_.x.col(f)).cross(p).norm();
    }
    return out;
}

} // namespace lithe
