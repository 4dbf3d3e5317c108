#pragma once
#include "lithe/body/body.hpp"
#include "lithe/dynamics/framed_motion.hpp"

namespace lithe {

// What bodies that are made of frames share: one of a frame alone, and one of many.

/// Throws InputError for numbers that no contact can have.
void require_law(const ContactLaw& law, const std::string& name);

/// Body::take of one frame.
Vec3 take_change(ResponseKind kind, const VecX& change, FramedMotion& motion);

/// The state of a frame that is moved as a whole, with its velocities.
FramedState moved(FramedState state, const RigidPose& motion);
/// As a rigid body would move, with its centre of mass at `velocity`.
FramedState in_motion(const FramedMotion& motion, const Vec3& velocity, const Vec3& angular_velocity);
/// That of the mean square over its mass. [m/s]
double typical_speed(const FramedMotion& motion);

/// Adds those of a frame; `reach` is how far from the origin its material is at most. [m]
void add_mechanics(FramedMotion& motion, const Vec3& gravity, double reach, Mechanics& sum);

void write(const FramedState& state, StateWriter& out);
/// Throws InputError for one of another rank or that is not finite.
FramedState read_framed_state(Index rank, const std::string& name, StateReader& in);
void require_finite(const FramedState& state, const std::string& name);

} // namespace lithe
