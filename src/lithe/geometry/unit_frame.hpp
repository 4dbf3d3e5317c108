#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// Lengths in units of a body's longest side, from the middle of its box, in steps of single precision: what is done there does
/// not depend on the unit, but for rounding.
struct UnitFrame {
    Vec3 centre;
    double size; ///< [m]

    explicit UnitFrame(const TriangleMesh& mesh)
        : centre(bounds(mesh.vertices).center()), size(bounds(mesh.vertices).sizes().maxCoeff())
    {
    }
    double inward(double length) const { return static_cast<double>(static_cast<float>(length / size)); }
    TriangleMesh inward(const TriangleMesh& mesh) const
    {
        constexpr double steps = 0x1.0p24; // in the size
        TriangleMesh unit;
        unit.vertices =
            ((mesh.vertices.colwise() - centre) * (steps / size)).array().round().matrix() / steps;
        unit.triangles = mesh.triangles;
        return unit;
    }
    Vec3 outward(const Vec3& x) const { return size * x + centre; }
    void outward(TriangleMesh& mesh) const { mesh.vertices = (size * mesh.vertices).colwise() + centre; }
};

} // namespace lithe
