#pragma once
#include <array>
#include <memory>
#include <vector>

#include "lithe/geometry/surface_query.hpp"

namespace lithe {

enum class SelfContact { Off, On };

/// How a body touches others and itself.
struct ContactOptions {
    double stiffness = 0.0; ///< k, pressure per depth [Pa/m], >= 0; 0: chosen from the body
    double friction = 0.5;  ///< Coulomb's coefficient of its surface, >= 0
    SelfContact self = SelfContact::Off;
};

/// A point of the surface that feels contact: a weighted sum of vertices that stands for a part of the surface.
struct ContactSample {
    std::array<int, 3> vertices; ///< of the body; the first `count` are used
    int count;                   ///< 1: a vertex, 3: the centroid of a triangle
    double area;                 ///< at rest [m^2]

    double weight() const { return 1.0 / count; }
    Vec3 position(const Points& x) const
    {
        if (count == 1) return x.col(vertices[0]);
        return (x.col(vertices[0]) + x.col(vertices[1]) + x.col(vertices[2])) / 3.0;
    }
};

/// What self-contact looks up: the tets, and the surface at rest.
struct SelfContactModel {
    Points rest;                      ///< of all vertices [m]
    Tets tets;                        ///< of the body
    std::vector<int> vertices;        ///< those on the surface
    VecX vertex_area;                 ///< of each of them: a third of the triangles around it [m^2]
    VecX triangle_area;               ///< [m^2]
    Triangles triangles;              ///< of the surface, outward, over the vertices of the body
    SurfaceQuery surface;             ///< at rest; its triangles are `triangles`
    std::vector<int> neighbour_start; ///< vertex_count + 1
    std::vector<int> neighbours;      ///< of each vertex: those that share a tet with it, rising
};

/// The constant part of contact: made once per body.
///
/// The surface feels contact at its vertices (a twelfth of the triangles around) and at the centroids of its triangles
/// (three quarters of each): the quadrature that is exact for quadratic pressures, so that a flat face presses on its
/// corners as it should.
struct ContactModel {
    std::vector<ContactSample> samples;
    double stiffness = 0.0; ///< k [Pa/m], > 0
    double friction = 0.0;
    std::unique_ptr<const SelfContactModel> self; ///< nothing when the body does not feel itself
};

/// The samples of a surface over its own vertices: first the vertices, then the centroids.
std::vector<ContactSample> make_contact_samples(const TriangleMesh& surface);

/// Throws InputError for a stiffness that is not above zero, friction below zero, or a number that is not finite.
/// make_contact_model in lithe/fem/model.hpp chooses the stiffness as well.
ContactModel make_contact_model(const TetMesh& rest, const ContactOptions& options);

} // namespace lithe
