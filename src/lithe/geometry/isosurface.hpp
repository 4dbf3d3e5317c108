#pragma once
#include <functional>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A solid given by a function of space: negative inside, positive outside, zero on the surface. Called from
/// many threads at once. NaN counts as outside.
///
/// `lipschitz` and `slack` let whole blocks of space be skipped. The promise is: where
///
///   |f(c)| > lipschitz r + slack,
///
/// f has the sign of f(c) in the whole ball of radius r around c. A signed distance keeps it with 1 and 0.
struct ImplicitFunction {
    std::function<double(const Vec3&)> value; ///< [m] when it is a distance
    double lipschitz = 1.0;                   ///< > 0
    double slack = 0.0;                       ///< >= 0, in the unit of the value
};

/// The surface of the part of the solid that lies in `box`, with edges about as long as `cell` [m].
///
/// The result is closed, and manifold in edges and vertices, whatever the function does: it is the zero set of
/// a piecewise linear function on a body-centred cubic lattice (marching tetrahedra, [DK91]; the lattice as in
/// [LS07]), improved by steps that keep it so: collapses under the link condition [DEGN99], flips, and moves in
/// the tangent plane with Newton steps back to f = 0. Parts thinner than a cell may vanish or fall apart.
/// Where the solid leaves the box it is cut off. The same bits come out for any number of threads.
///
/// Throws InputError when the box is empty, the cell is not positive or so coarse that nothing is found, or so
/// fine that more than `max_lattice_cells` lie near the surface.
TriangleMesh isosurface(const ImplicitFunction& f, const Box3& box, double cell, Progress& progress);

/// Near the surface. At this many, isosurface makes about three million triangles and takes about 2 GB.
inline constexpr Index max_lattice_cells = 10'000'000;

} // namespace lithe
