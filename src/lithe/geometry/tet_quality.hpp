#pragma once
#include <array>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// The six angles between the faces of a tet, at its edges 01 02 03 12 13 23. [degrees], in [0, 180]
/// A tet without volume has angles of 0 and 180; an inverted one those of its mirror image.
std::array<double, 6> dihedral_angles(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// The mean ratio of a tet: 1 for the regular one, 0 without volume, below 0 when inverted.           [LJ94]
///
///   eta = 12 (3 V)^(2/3) / (sum of the squared edge lengths)
double mean_ratio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// The figures of a mesh's tets. Without tets, all of it is as below.
struct TetQuality {
    Index inverted = 0;            ///< negative volume, by the exact sign
    Index flat = 0;                ///< volume exactly zero
    double smallest_volume = 0.0;  ///< signed [m^3]
    double worst_mean_ratio = 1.0; ///< see mean_ratio
    double average_mean_ratio = 1.0;
    double smallest_dihedral = 180.0; ///< [degrees]
    double largest_dihedral = 0.0;    ///< [degrees]
    int worst_tet = -1;               ///< the first with the worst mean ratio
};
TetQuality tet_quality(const TetMesh& mesh);

double smallest_dihedral_angle(const TetMesh& mesh); ///< [degrees]
double largest_dihedral_angle(const TetMesh& mesh);  ///< [degrees]

} // namespace lithe
