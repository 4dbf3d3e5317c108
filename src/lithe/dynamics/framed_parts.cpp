#include "lithe/dynamics/framed_parts.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/dynamics/body_parts.hpp"

namespace lithe {

void require_law(const ContactLaw& law, const std::string& name)
{
    if (!(law.friction >= 0.0) || !std::isfinite(law.friction))
        throw InputError(
            fmt::format("body '{}': friction = {} must be at least 0 and finite", name, law.friction));
    if (!(law.restitution >= 0.0 && law.restitution <= 1.0))
        throw InputError(
            fmt::format("body '{}': restitution = {} must lie in [0, 1]", name, law.restitution));
}

Vec3 take_change(ResponseKind kind, const VecX& change, FramedMotion& motion)
{
    switch (kind) {
    case ResponseKind::Implicit:
        motion.apply(change);
        (void)motion.end(); // whoever looks again asks for its bounds
        break;
    case ResponseKind::Bare:
        motion.apply_bare(change);
        break;
    case ResponseKind::Places: {
        const Vec3 before = motion.angular_momentum();
        motion.displace(change);
        return motion.angular_momentum() - before;
    }
    }
    return Vec3::Zero();
}

FramedState moved(FramedState state, const RigidPose& motion)
{
    state.frame = {(motion.rotation * state.frame.rotation).normalized(),
                   motion.apply(state.frame.translation)};
    state.v = motion.rotation * state.v;
    state.L = motion.rotation * state.L;
    return state;
}

FramedState in_motion(const FramedMotion& motion, const Vec3& velocity, const Vec3& angular_velocity)
{
    FramedState state = motion.state();
    const Mat3 R = state.frame.rotation.toRotationMatrix();
    state.v = velocity;
    state.L = R * (motion.configuration().I * (R.transpose() * angular_velocity));
    state.qdot.setZero();
    return state;
}

double typical_speed(const FramedMotion& motion)
{
    const FramedState& state = motion.state();
    const Vec3 spin = motion.configuration().I * motion.Omega();
    const double twice_inner =
        spin.dot(motion.Omega()) + state.qdot.dot(motion.model().tensors.Mq * state.qdot);
    return std::sqrt(state.v.squaredNorm() + twice_inner / motion.model().tensors.mass);
}

void add_mechanics(FramedMotion& motion, const Vec3& gravity, double reach, Mechanics& sum)
{
    const FramedEnergy energy = motion.energy();
    const double mass = motion.model().tensors.mass;
    const double scale = std::sqrt(2.0 * mass * energy.kinetic());
    sum.mass += mass;
    sum.kinetic += energy.kinetic();
    sum.elastic += energy.elastic;
    sum.potential -= mass * gravity.dot(motion.state().frame.translation);
    sum.linear_momentum += motion.linear_momentum();
    sum.angular_momentum += motion.angular_momentum();
    sum.linear_scale += scale;
    sum.angular_scale += scale * reach;
}

void write(const FramedState& state, StateWriter& out)
{
    out.write(std::int64_t{state.q.size()});
    write(state.q, out);
    write(state.qdot, out);
    for (const Vec3* vector : {&state.frame.translation, &state.v, &state.L}) write(VecX(*vector), out);
    write(VecX(state.frame.rotation.coeffs()), out);
}

FramedState read_framed_state(Index rank, const std::string& name, StateReader& in)
{
    if (const std::int64_t saved = in.read_integer(); saved != rank)
        throw InputError(fmt::format("body '{}': the saved state has {} coordinates, but the body has {}",
                                     name, saved, rank));
    FramedState state;
    state.q = read_vector(rank, in);
    state.qdot = read_vector(rank, in);
    for (Vec3* vector : {&state.frame.translation, &state.v, &state.L}) *vector = read_vector(3, in);
    state.frame.rotation.coeffs() = read_vector(4, in);
    require_finite(state, name);
    return state;
}

void require_finite(const FramedState& state, const std::string& name)
{
    if (!state.q.allFinite() || !state.qdot.allFinite() || !state.v.allFinite() || !state.L.allFinite() ||
        !state.frame.translation.allFinite() || !state.frame.rotation.coeffs().allFinite())
        throw InputError(fmt::format("body '{}': the state that it is given is not finite", name));
}

} // namespace lithe
