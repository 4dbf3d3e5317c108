#pragma once

namespace lithe {

/// How the flesh of a lattice moves.
enum class LatticeScheme {
    Blended,   ///< regions alone: a few solves with constant factors
    Corotated, ///< then the whole, with a rotation for each cell where regions overlap: better near joints that bend, and slower
    Linear,    ///< one linear material in the axes of the world: what goes wrong without regions; slow
    Nonlinear  ///< St. Venant-Kirchhoff over the whole lattice, by Newton's method: the reference, very slow
};

} // namespace lithe
