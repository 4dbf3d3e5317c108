#pragma once
#include "lithe/dynamics/lattice_motion.hpp"

namespace lithe {

/// How many functions are active, those on bones and those that leave among them.
int active_count(const LatticeState& state);

/// Lets functions come where the flesh is strained and go where it is not. To be called once after every step; every few steps it
/// looks at Green's strain E at the samples of the system. With tau_l = refine_strain 2^l:
///
///   |E| > tau_l at a sample     all functions of level l + 1 there become active, where one of level l is; most strained first, as
///                               far as the budget goes
///   |E| < tau_(l-1) / 2 in the support of a function of level l, for ten steps, and no finer one active there
///                               it leaves: its coefficient is led to zero, then it is taken out
///
/// A function that comes has coefficient and velocity zero, so that nothing moves by its coming; and then it stays ten steps.
/// Returns whether the set of active functions changed.
bool adapt(const LatticeSystem& system, LatticeState& state);

} // namespace lithe
