#pragma once
#include <array>
#include <optional>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// Tets of a growing set of points: their Delaunay tetrahedralisation, but for tets that would be flat.
///
/// A point takes the tets whose circumsphere holds it and joins the faces around them, fewer of them (or a few more) where it would
/// not see all of these faces well [Bow81]. The faces are seen by exact signs, so the tets always fill space once whatever
/// the rounding of the spheres; a few hundred points are its size. The same bits for the same points in the same order.
class PointTets {
public:
    /// For points in the box. The first four vertices are far corners around it.
    explicit PointTets(const Box3& box);
    static constexpr int far_vertices = 4;

    enum class Wish {
        Delaunay,   ///< its tets have empty circumspheres, however flat they are
        GoodShapes, ///< as few of its tets as possible are flat
    };
    /// The point's vertex: a new one, or the one that lies there already. Nothing for a point outside, or where rounding leaves no
    /// room.
    std::optional<int> insert(const Vec3& point, Wish wish);

    const std::vector<Vec3>& vertices() const { return vertices_; }
    /// The corners of the tet that holds a point of the box.
    std::array<int, 4> tet_at(const Vec3& point) const;
    std::vector<std::array<int, 4>> tets() const;
    /// Of every edge, the smaller vertex first; rising.
    std::vector<std::array<int, 2>> edges() const;

private:
    struct Tet {
        std::array<int, 4> vertices;   ///< positive volume
        std::array<int, 4> neighbours; ///< behind the face opposite of each vertex; -1: none
        bool alive = true;
    };
    struct Face {
        int tet, side;
    };
    /// Tets that make room for a point, and the faces around them.
    struct Cavity {
        std::vector<int> tets;
        std::vector<Face> border;
    };

    /// The first side that the point lies behind, or -1: the tet holds it.
    int side_behind(int tet, const Vec3& point) const;
    std::array<Vec3, 4> corners(const Face& face, const Vec3& point) const;
    int locate(const Vec3& point) const;
    std::vector<int> conflicts(const Vec3& point, int first) const;
    std::optional<Cavity> visible_cavity(const Vec3& point, const std::vector<int>& wanted,
                                         double least_shape) const;
    bool sees(const Vec3& point, const Face& face, double least_shape) const;
    bool loses_vertex(const Cavity& cavity) const;
    void fill(const Vec3& point, const Cavity& cavity);
    int free_slot();

    std::vector<Vec3> vertices_;
    std::vector<Tet> tets_;
    std::vector<int> free_; ///< slots of tets that are gone
    double same_;           ///< points nearer than this are one [m]
    int last_ = 0;          ///< a living tet near the last point
};

} // namespace lithe
