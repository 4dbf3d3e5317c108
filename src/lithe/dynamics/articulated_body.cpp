#include "lithe/dynamics/articulated_body.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/QR>
#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/dynamics/add_loads.hpp"
#include "lithe/dynamics/framed_parts.hpp"
#include "lithe/fem/stress.hpp"

namespace lithe {
namespace {

/// a after b.
RigidPose composed(const RigidPose& a, const RigidPose& b)
{
    return {(a.rotation * b.rotation).normalized(), a.apply(b.translation)};
}

FramedModel bone_model(const BoneModel& model, const PreparedBone& bone)
{
    try {
        return make_framed_model(bone.tensors, bone.reduced.elastic, bone.reduced.damping);
    } catch (const InputError& error) {
        throw InputError(fmt::format("'{}', bone '{}': {}", model.name, bone.name, error.what()));
    }
}

std::vector<FramedModel> bone_models(const BoneModel& model)
{
    std::vector<FramedModel> out;
    for (const PreparedBone& bone : model.bones) out.push_back(bone_model(model, bone));
    return out;
}

Index leaf_size(Index vertex_count)
{
    constexpr Index leaves = 32;
    return std::max<Index>(1, vertex_count / leaves);
}

void require_fits(const ArticulatedModel& model, const ArticulatedOptions& options, const std::string& name)
{
    const auto fail = [&](const std::string& what) {
        throw InputError(fmt::format("body '{}': {}", name, what));
    };
    const auto require_bone = [&](int bone) {
        if (bone < 0 || bone >= model.bone_count())
            fail(fmt::format("there is no bone {}, it has {}", bone, model.bone_count()));
    };
    if (!options.velocity.allFinite() || !options.angular_velocity.allFinite())
        fail("its velocity at the start is not finite");
    require_law(options.law, name);
    std::vector<int> led_bones;
    for (const LedBone& led : options.led) {
        require_bone(led.bone);
        if (std::ranges::find(led_bones, led.bone) != led_bones.end())
            fail(fmt::format("bone '{}' is led twice",
                             model.prepared->bones[static_cast<std::size_t>(led.bone)].name));
        led_bones.push_back(led.bone);
    }
    require_loads(options.loads, model.prepared->collision.rest.vertex_count(), name);
    for (const BoneActuation& actuation : options.actuations) {
        require_bone(actuation.bone);
        const Index rank = model.bones[static_cast<std::size_t>(actuation.bone)].rank();
        if (actuation.force.size() != rank || !actuation.force.allFinite())
            fail(fmt::format("an actuation of bone '{}' needs {} finite numbers",
                             model.prepared->bones[static_cast<std::size_t>(actuation.bone)].name, rank));
        if (!(actuation.period > 0.0)) fail("the period of an actuation must be above 0");
    }
}

/// to += weight * F, row by row.
void add(double weight, const Rows3& F, RowBlock to)
{
    const Index columns = F.cols();
    for (Index row = 0; row < 3; ++row) {
        const double* from = F.data() + row * columns;
        double* here = to.data() + row * to.outerStride();
        for (Index k = 0; k < columns; ++k) here[k] += weight * from[k];
    }
}

/// The share of a wave now.
double swell(const BoneActuation& actuation, double t)
{
    return std::sin(2.0 * std::numbers::pi * (t / actuation.period + actuation.phase));
}

} // namespace

RigidPose LedBone::at(double t) const
{
    return std::visit([&](const auto& way) { return way.at(t); }, path);
}

bool LedBone::stays() const
{
    const auto* keys = std::get_if<Keyframes<RigidPose>>(&path);
    return keys && keys->is_constant();
}

// ---- the model

SkinFollowers::SkinFollowers(Index vertex_count, std::span<const SkinBone> skin)
    : first(static_cast<std::size_t>(vertex_count) + 1, 0)
{
    for (const SkinBone& bone : skin)
        for (const int v : bone.vertices) ++first[static_cast<std::size_t>(v) + 1];
    for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
    all.resize(static_cast<std::size_t>(first.back()));
    std::vector<int> next(first.begin(), first.end() - 1);
    for (std::size_t k = 0; k < skin.size(); ++k)
        for (std::size_t i = 0; i < skin[k].vertices.size(); ++i)
            all[static_cast<std::size_t>(next[static_cast<std::size_t>(skin[k].vertices[i])]++)] = {
                static_cast<int>(k), static_cast<int>(i)};
}

std::span<const SkinFollowers::Follower> SkinFollowers::of(int vertex) const
{
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(all).subspan(static_cast<std::size_t>(first[v]),
                                  static_cast<std::size_t>(first[v + 1] - first[v]));
}

ArticulatedModel::ArticulatedModel(std::shared_ptr<const BoneModel> model)
    : prepared(std::move(model)), bones(bone_models(*prepared)),
      collision(make_collision_surface(prepared->collision.rest)),
      spheres(prepared->collision.rest.vertices, prepared->collision.skin,
              leaf_size(prepared->collision.rest.vertex_count())),
      shown_followers(prepared->shown.rest.vertex_count(), prepared->shown.skin),
      collision_followers(prepared->collision.rest.vertex_count(), prepared->collision.skin)
{
    for (const PreparedBone& bone : prepared->bones)
        tets.push_back(
            bone.volume ? std::make_unique<const BodyTets>(region_materials(prepared->materials), bone.volume)
                        : nullptr);
    for (const FramedModel& bone : bones) {
        mass += bone.tensors.mass;
        centre += bone.tensors.mass * bone.tensors.centre;
    }
    centre /= mass;
}

VecX bent_coordinates(const BoneModel& model, int bone, const Vec3& axis, double angle)
{
    const SkinBone& skin = model.shown.skin[static_cast<std::size_t>(bone)];
    const Index rank = skin.basis.cols(), count = skin.rest.cols();
    if (rank == 0 || count == 0 || !(axis.norm() > 0.0)) return VecX::Zero(rank);
    // along: where it is longest across the axis
    const Vec3 a = axis.normalized();
    const Vec3 middle = skin.rest.rowwise().mean();
    const Points X = skin.rest.colwise() - middle;
    const Points across = X - a * (a.transpose() * X);
    const Vec3 along = Eigen::SelfAdjointEigenSolver<Mat3>(across * across.transpose()).eigenvectors().col(2);
    const Vec3 side = a.cross(along);
    const VecX s = (along.transpose() * X).transpose();
    const double length = s.maxCoeff() - s.minCoeff();
    if (!(length > 0.0)) return VecX::Zero(rank);
    // least squares, free of rigid motions
    MatX columns(3 * count, rank + 6);
    VecX u(3 * count);
    for (Index i = 0; i < count; ++i) {
        const double weight = skin.weights[i], curvature = angle / length;
        const Vec3 bend = curvature * (0.5 * s[i] * s[i] * side - s[i] * side.dot(X.col(i)) * along);
        columns.block(3 * i, 0, 3, rank) = weight * skin.basis.middleRows<3>(3 * i).cast<double>();
        columns.block<3, 3>(3 * i, rank) = weight * Mat3::Identity();
        columns.block<3, 3>(3 * i, rank + 3) = weight / length * skew(X.col(i));
        u.segment<3>(3 * i) = weight * bend;
    }
    return columns.colPivHouseholderQr().solve(u).head(rank);
}

// ---- making one

ArticulatedBody::ArticulatedBody(std::shared_ptr<const ArticulatedModel> model, ArticulatedOptions options)
    : model_(std::move(model)), options_(std::move(options)), swept_(model_->collision)
{
    const BoneModel& prepared = *model_->prepared;
    shown_.name = options_.name.empty() ? prepared.name : options_.name;
    shown_.surface = prepared.shown.rest;
    shown_.skin = std::shared_ptr<const std::vector<SkinBone>>(model_, &prepared.shown.skin);
    if (options_.color) paint(*options_.color, shown_);
    require_fits(*model_, options_, shown_.name);

    led_.resize(model_->bones.size(), nullptr);
    for (const LedBone& led : options_.led) led_[static_cast<std::size_t>(led.bone)] = &led;
    for (std::size_t k = 0; k < model_->bones.size(); ++k) {
        FramedOptions motion = options_.motion;
        if (is_led(k)) motion = {.scheme = FramedScheme::BackwardEuler, .frame = FrameKind::Prescribed};
        bones_.push_back(std::make_unique<FramedMotion>(
            model_->bones[k], rest_state(model_->bones[k], led_pose(k, 0.0)), motion));
        freedoms_ += (is_led(k) ? 0 : 6) + model_->bones[k].rank();
    }
    move_as_one(options_.velocity, options_.angular_velocity);
    for (const PreparedBoneJoint& joint : prepared.joints) join_parts(joint);
    for (const TimedLoad& load : options_.loads) faces_.push_back(loaded_faces(load));
    loads_.resize(bones_.size());
    reports_.resize(bones_.size());
}

/// For bones that are not led: where they start.
RigidPose ArticulatedBody::led_pose(std::size_t bone, double t) const
{
    const RigidPose rest{Quat::Identity(), model_->bones[bone].tensors.centre};
    const RigidPose moved = is_led(bone) ? composed(led_[bone]->at(t), rest) : rest;
    return composed(options_.placement, moved);
}

Vec3 ArticulatedBody::centre() const
{
    Vec3 sum = Vec3::Zero();
    for (const auto& bone : bones_) sum += bone->model().tensors.mass * bone->state().frame.translation;
    return sum / model_->mass;
}

/// As a rigid body would.
void ArticulatedBody::move_as_one(const Vec3& velocity, const Vec3& angular_velocity)
{
    const Vec3 middle = centre();
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        if (is_led(k)) continue;
        const Vec3 arm = bones_[k]->state().frame.translation - middle;
        bones_[k]->set_state(in_motion(*bones_[k], velocity + angular_velocity.cross(arm), angular_velocity));
    }
}

void ArticulatedBody::add_anchor(int bone, const BonePoint& point)
{
    anchors_.push_back({.parts = {{.bone = bone, .weight = 1.0, .X = point.X, .S = point.S}}, .count = 1});
}

void ArticulatedBody::join_parts(const PreparedBoneJoint& joint)
{
    const auto anchor = [&](int bone, const BonePoint& point) {
        add_anchor(bone, point);
        return BodyPoint{.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
    };
    for (const PreparedBoneJoint::Point& point : joint.points)
        inner_joints_.push_back({.a = anchor(joint.a, point.a), .b = anchor(joint.b, point.b)});
}

// ---- loads

/// Every bone takes its share at its own point, so that the whole has the torque of the force at the skin's.
void ArticulatedBody::add_force(int vertex, const Vec3& f)
{
    for (const Part& part : look_up_vertex(vertex, scratch_).used()) {
        const auto k = static_cast<std::size_t>(part.bone);
        const FramedState& state = bones_[k]->state();
        const Vec3 share = part.weight * f;
        loads_[k].force += share;
        loads_[k].torque += (state.frame.rotation * Vec3(part.X + times(part.S, state.q))).cross(share);
        loads_[k].modal += part.S.transpose() * (state.frame.rotation.conjugate() * share);
    }
}

void ArticulatedBody::set_loads(const StepContext& step)
{
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        loads_[k].force = bones_[k]->model().tensors.mass * step.gravity;
        loads_[k].torque.setZero();
        loads_[k].modal.setZero(bones_[k]->model().rank());
    }
    for (const BoneActuation& actuation : options_.actuations)
        loads_[static_cast<std::size_t>(actuation.bone)].modal +=
            swell(actuation, step.t + step.h) * actuation.force;
    const auto motion_of = [&](int v) -> PointMotion {
        const Material& at = look_up_vertex(v, scratch_);
        return {place(at), velocity(at)};
    };
    add_loads(options_.loads, step.t + step.h, faces_, motion_of,
              [&](int v, const Vec3& f) { add_force(v, f); });
}

// ---- a step

BodyReport ArticulatedBody::predict(const StepContext& step)
{
    h_ = step.h;
    start_is_placed_ = false;
    if (asleep_) return {};
    set_loads(step);
    parallel_for(static_cast<Index>(bones_.size()), 4,
                 [&](Index k) { predict_bone(static_cast<std::size_t>(k), step); });
    BodyReport out;
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        out.iterations = std::max(out.iterations, reports_[k].iterations);
        const FramedMotion::End& end = bones_[k]->end();
        if (!out.solved || (end.frame.translation.allFinite() && end.q.allFinite())) continue;
        out.solved = false;
        out.trouble = fmt::format("the motion of its bone '{}' is no longer finite; take smaller steps",
                                  model_->prepared->bones[k].name);
    }
    return out;
}

void ArticulatedBody::predict_bone(std::size_t k, const StepContext& step)
{
    FramedMotion& bone = *bones_[k];
    bone.abandon();
    if (!is_led(k)) {
        reports_[k] = bone.predict(step.h, loads_[k]);
        (void)bone.end();
        return;
    }
    const auto turned = [&](const RigidPose& from, const RigidPose& to) -> Vec3 {
        return log_quat(to.rotation * from.rotation.conjugate()) / step.h;
    };
    const RigidPose& now = bone.state().frame;
    const RigidPose then = led_pose(k, step.t + step.h);
    const Vec3 spin = turned(now, then);
    reports_[k] =
        bone.predict(step.h,
                     {.pose_1 = then,
                      .velocity = (then.translation - now.translation) / step.h,
                      .angular_velocity = spin,
                      .angular_acceleration = (spin - turned(led_pose(k, step.t - step.h), now)) / step.h},
                     loads_[k].modal);
    (void)bone.end();
}

void ArticulatedBody::finish()
{
    if (!in_step()) return;
    parallel_for(static_cast<Index>(bones_.size()), 4,
                 [&](Index k) { (void)bones_[static_cast<std::size_t>(k)]->advance(); });
}

// ---- points

ArticulatedBody::Part& ArticulatedBody::part_of(int bone, Material& material) const
{
    for (std::size_t i = 0; i < material.count; ++i)
        if (material.parts[i].bone == bone) return material.parts[i];
    if (material.count == material.parts.size()) material.parts.emplace_back();
    Part& part = material.parts[material.count++];
    part.bone = bone;
    part.weight = 0.0;
    part.X.setZero();
    part.S.setZero(3, model_->bones[static_cast<std::size_t>(bone)].rank());
    return part;
}

/// On each bone the mean of the corners by their shares of it: so the point is the sum over the bones of share times theirs.
const ArticulatedBody::Material& ArticulatedBody::look_up(const BodyPoint& point, Material& out) const
{
    if (point.surface == BodySurface::Anchors) return anchors_[static_cast<std::size_t>(point.triangle)];
    const bool collides = point.surface == BodySurface::Collision;
    const BoneModel& prepared = *model_->prepared;
    const BoneSurface& surface = collides ? prepared.collision : prepared.shown;
    const SkinFollowers& followers = collides ? model_->collision_followers : model_->shown_followers;
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < surface.rest.triangle_count());
    out.count = 0;
    for (int corner = 0; corner < 3; ++corner) {
        const double share = point.weights[corner];
        if (share == 0.0) continue;
        for (const auto& [bone, place] : followers.of(surface.rest.triangles(corner, point.triangle))) {
            const SkinBone& skin = surface.skin[static_cast<std::size_t>(bone)];
            Part& part = part_of(bone, out);
            const double weight = share * skin.weights[place];
            part.weight += weight;
            part.X += weight * skin.rest.col(place);
            part.S += weight * skin.basis.middleRows<3>(3 * place).cast<double>();
        }
    }
    for (Part& part : std::span(out.parts).first(out.count)) {
        part.X /= part.weight;
        part.S /= part.weight;
    }
    return out;
}

const ArticulatedBody::Material& ArticulatedBody::look_up_vertex(int vertex, Material& out) const
{
    out.count = 0;
    for (const auto& [bone, place] : model_->collision_followers.of(vertex)) {
        const SkinBone& skin = model_->prepared->collision.skin[static_cast<std::size_t>(bone)];
        Part& part = part_of(bone, out);
        part.weight = skin.weights[place];
        part.X = skin.rest.col(place);
        part.S = skin.basis.middleRows<3>(3 * place).cast<double>();
    }
    return out;
}

Vec3 ArticulatedBody::place(const Part& part) const
{
    const FramedMotion& bone = *bones_[static_cast<std::size_t>(part.bone)];
    return bone.position(bone.arm(part.X, part.S));
}

Vec3 ArticulatedBody::place(const Material& at) const
{
    Vec3 x = Vec3::Zero();
    for (const Part& part : at.used()) x += part.weight * place(part);
    return x;
}

PointMotion ArticulatedBody::motion(const BodyPoint& point) const
{
    Material scratch;
    const Material& at = look_up(point, scratch);
    return {.position = place(at), .velocity = asleep_ ? Vec3::Zero() : velocity(at)};
}

Vec3 ArticulatedBody::position(const BodyPoint& point) const
{
    Material scratch;
    return place(look_up(point, scratch));
}

Vec3 ArticulatedBody::velocity(const Material& at) const
{
    Vec3 v = Vec3::Zero();
    for (const Part& part : at.used()) {
        const FramedMotion& bone = *bones_[static_cast<std::size_t>(part.bone)];
        const FramedState& state = bone.state();
        const Vec3 relative = bone.Omega().cross(bone.arm(part.X, part.S)) + times(part.S, state.qdot);
        v += part.weight * (state.v + bone.axes() * relative);
    }
    return v;
}

Vec3 ArticulatedBody::predicted(const BodyPoint& point)
{
    const Material& at = look_up(point, scratch_);
    if (!in_step()) return place(at);
    Vec3 x = Vec3::Zero();
    for (const Part& part : at.used()) {
        const FramedMotion::End& end = bones_[static_cast<std::size_t>(part.bone)]->end();
        x += part.weight * end.position(part.X, part.S);
    }
    return x;
}

BodyPoint ArticulatedBody::attach(const Vec3& at)
{
    SweptSurface now(model_->collision);
    set_motions(now_);
    place_skin(model_->prepared->collision.skin, now_, now.start);
    now.end = now.start;
    now.update();
    const ClosestPoint nearest = *closest_point(now, at);
    Material& anchor = anchors_.emplace_back();
    (void)look_up({nearest.triangle, nearest.barycentric, BodySurface::Collision}, anchor);
    const Vec3 offset = at - place(anchor);
    for (Part& part : anchor.parts)
        part.X += bones_[static_cast<std::size_t>(part.bone)]->state().frame.rotation.conjugate() * offset;
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

// ---- impulses

/// Every bone takes its share of an impulse at its own point, moved by as much as the common place is from the skin's point: so
/// that the whole has the torque of the impulse at that place.
void ArticulatedBody::answer(const Touch& touch, Answer& out) const
{
    out.at = &look_up(touch.point, out.scratch);
    out.factors.resize(std::max(out.factors.size(), out.at->count));
    out.arms.resize(out.factors.size());
    Vec3 offset = touch.place;
    for (std::size_t i = 0; i < out.at->count; ++i) {
        const Part& part = out.at->parts[i];
        const FramedMotion& bone = *bones_[static_cast<std::size_t>(part.bone)];
        out.arms[i] = bone.arm(part.X, part.S);
        offset -= part.weight * bone.position(out.arms[i]);
    }
    out.velocity.setZero();
    for (std::size_t i = 0; i < out.at->count; ++i) {
        const Part& part = out.at->parts[i];
        const auto k = static_cast<std::size_t>(part.bone);
        const Vec3 arm = out.arms[i] + bones_[k]->axes().transpose() * offset;
        const bool bare = kind_ == ResponseKind::Bare && movers_[k] >= 0;
        if (kind_ != ResponseKind::Places)
            out.velocity += part.weight *
                            (bare ? bones_[k]->bare_velocity(arm, part.S) : bones_[k]->velocity(arm, part.S));
        if (movers_[k] < 0) continue;
        responses_[k]->factor(arm, part.S, out.factors[i]);
        out.factors[i] *= part.weight;
    }
}

void ArticulatedBody::join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem)
{
    kind_ = kind;
    touches_.assign(touches.begin(), touches.end());
    movers_.assign(bones_.size(), -1);
    bone_of_mover_.clear();
    first_mover_ = problem.body_count();
    if (asleep_) return;
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        const Index rank = model_->bones[k].rank();
        if (is_led(k) && rank == 0) continue;
        movers_[k] = problem.add_body(6 + rank);
        bone_of_mover_.push_back(static_cast<int>(k));
    }
}

void ArticulatedBody::prepare_answers()
{
    if (asleep_) return;
    responses_.resize(bones_.size());
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        if (kind_ == ResponseKind::Bare) bones_[k]->abandon();
        if (movers_[k] < 0) continue;
        responses_[k] =
            kind_ == ResponseKind::Implicit ? &bones_[k]->response() : &bones_[k]->bare_response(h_);
    }
    answers_.resize(std::max(answers_.size(), touches_.size()));
    parallel_for(static_cast<Index>(touches_.size()), 16, [&](Index i) {
        answer(touches_[static_cast<std::size_t>(i)], answers_[static_cast<std::size_t>(i)]);
    });
}

Vec3 ArticulatedBody::couple(std::size_t touch, double weight, ImpulseProblem& problem)
{
    if (asleep_) return Vec3::Zero();
    const Answer& answer = answers_[touch];
    for (std::size_t i = 0; i < answer.at->count; ++i)
        if (const int mover = movers_[static_cast<std::size_t>(answer.at->parts[i].bone)]; mover >= 0)
            add(weight, answer.factors[i], problem.block(mover));
    return answer.velocity;
}

Vec3 ArticulatedBody::take(int mover, Eigen::Ref<const VecX> change)
{
    FramedMotion& bone =
        *bones_[static_cast<std::size_t>(bone_of_mover_[static_cast<std::size_t>(mover - first_mover_)])];
    change_ = change;
    return take_change(kind_, change_, bone);
}

// ---- where it is

void ArticulatedBody::set_motions(std::vector<BoneMotion>& now) const
{
    now.clear();
    for (const auto& bone : bones_) now.push_back({bone->state().frame, &bone->state().q});
}

void ArticulatedBody::set_ends(std::vector<BoneMotion>& then)
{
    if (!in_step()) return set_motions(then);
    then.clear();
    for (const auto& bone : bones_) then.push_back({bone->end().frame, &bone->end().q});
}

Box3 ArticulatedBody::swept_bounds() const
{
    std::vector<BoneMotion>& motions = bounds_work_;
    set_motions(motions);
    Box3 box = model_->spheres.bounds(motions);
    if (!in_step()) return box;
    for (std::size_t k = 0; k < bones_.size(); ++k)
        if (const FramedMotion::End* end = bones_[k]->known_end()) motions[k] = {end->frame, &end->q};
    box.extend(model_->spheres.bounds(motions));
    return box;
}

const SweptSurface* ArticulatedBody::sweep()
{
    const std::vector<SkinBone>& skin = model_->prepared->collision.skin;
    if (!start_is_placed_ || !in_step()) {
        set_motions(now_);
        place_skin(skin, now_, swept_.start);
    }
    start_is_placed_ = in_step();
    set_ends(then_);
    place_skin(skin, then_, swept_.end);
    swept_.update();
    return &swept_;
}

// ---- from outside

bool ArticulatedBody::is_driven() const
{
    return !options_.actuations.empty() || !std::ranges::all_of(options_.led, &LedBone::stays) ||
           std::ranges::any_of(options_.loads, [](const TimedLoad& l) { return !l.factor.is_constant(); });
}

double ArticulatedBody::speed() const
{
    if (is_driven()) return std::numeric_limits<double>::infinity();
    double fastest = 0.0;
    for (const auto& bone : bones_) fastest = std::max(fastest, typical_speed(*bone));
    return fastest;
}

void ArticulatedBody::set_asleep(bool asleep)
{
    asleep_ = asleep;
    if (asleep) move_as_one(Vec3::Zero(), Vec3::Zero());
}

void ArticulatedBody::teleport(const RigidPose& motion)
{
    options_.placement = composed(motion, options_.placement);
    for (const auto& bone : bones_) bone->set_state(moved(bone->state(), motion));
}

void ArticulatedBody::set_velocity(const Vec3& velocity, const Vec3& angular_velocity)
{
    move_as_one(velocity, angular_velocity);
}

// ---- what the world keeps and shows

void ArticulatedBody::save(StateWriter& out) const
{
    out.write(static_cast<std::int64_t>(bones_.size()));
    for (const auto& bone : bones_) write(bone->state(), out);
}

void ArticulatedBody::restore(StateReader& in)
{
    if (const std::int64_t saved = in.read_integer(); saved != static_cast<std::int64_t>(bones_.size()))
        throw InputError(fmt::format("body '{}': the saved state has {} bones, but the body has {}",
                                     shown_.name, saved, bones_.size()));
    for (const auto& bone : bones_) bone->set_state(read_framed_state(bone->model().rank(), shown_.name, in));
}

void ArticulatedBody::publish(Published& out) const
{
    out.bones.clear();
    for (const auto& bone : bones_) out.bones.push_back({bone->state().frame, bone->state().q});
}

std::span<const FieldLabel> ArticulatedBody::fields() const
{
    const bool known = std::ranges::any_of(model_->tets, [](const auto& tets) { return tets != nullptr; });
    return known ? stress_labels() : std::span<const FieldLabel>();
}

VecX ArticulatedBody::field(std::size_t) const
{
    VecX out = VecX::Zero(model_->prepared->shown.rest.vertex_count());
    for (std::size_t k = 0; k < bones_.size(); ++k) {
        if (!model_->tets[k]) continue;
        const SkinBone& skin = model_->prepared->shown.skin[k];
        const VecX stress = surface_stress(*model_->tets[k], bones_[k]->state().q);
        for (std::size_t i = 0; i < skin.vertices.size(); ++i)
            out[skin.vertices[i]] += skin.weights[static_cast<Index>(i)] * stress[static_cast<Index>(i)];
    }
    return out;
}

Mechanics ArticulatedBody::mechanics(const Vec3& gravity)
{
    Mechanics out;
    set_motions(now_);
    const Box3 box = model_->spheres.bounds(now_);
    const double reach = box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
    for (const auto& bone : bones_) add_mechanics(*bone, gravity, reach, out);
    return out;
}

} // namespace lithe
