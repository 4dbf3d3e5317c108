#pragma once
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A part of a surface that is connected across edges of two triangles, made as solid as it can be.
struct SurfacePiece {
    enum class Kind {
        Solid, ///< outward, and closed but for `open_length`
        Sheet, ///< encloses next to nothing: an ear, a cape, a stray triangle
    };
    TriangleMesh mesh;
    Kind kind = Kind::Sheet;
    Index lids = 0;           ///< openings that were closed
    double open_length = 0.0; ///< of the longest border that could not be closed [m]
};

/// Cuts a surface at its borders and wherever three triangles or more share an edge, and closes each piece by itself: turned
/// outward, every opening gets a lid of least area. A piece is a sheet when the lids would be larger than itself or when it is
/// thinner than `thinnest` [m] on the mean; sheets get no lids. Largest area first.
///
/// At most 1000 pieces are tried, the largest; the others are sheets.
std::vector<SurfacePiece> solid_pieces(const TriangleMesh& surface, double thinnest);

/// The pieces of a kind as one mesh, without vertices in common.
TriangleMesh joined(const std::vector<SurfacePiece>& pieces, SurfacePiece::Kind kind);

/// The triangles for which `keep` is not 0, and their vertices.
TriangleMesh selected(const TriangleMesh& mesh, const std::vector<char>& keep);

} // namespace lithe
