#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lithe/geometry/surface_query.hpp"

namespace lithe {

/// Welds, orients and closes a surface as far as that can be done; `notes` gets what was done, in plain words.
/// Throws InputError when it encloses nothing.
TriangleMesh mend(TriangleMesh surface, std::vector<std::string>& notes);

/// Any mended surface as the boundary of a solid. The solid is where the winding number is above 1/2.
class MendedBody {
public:
    /// Throws InputError when it encloses nothing.
    explicit MendedBody(TriangleMesh mended);

    const SurfaceQuery& query() const { return query_; }
    const TriangleMesh& surface() const { return query_.mesh(); }
    double area() const { return area_; }     ///< of the surface [m^2]
    double volume() const { return volume_; } ///< of the solid [m^3]
    /// The volume is that of a closed surface's triangles, not an estimate for an open or overlapping one.
    bool volume_is_exact() const { return volume_is_exact_; }
    /// The surface has no hole, so the sign of the distance changes only on it.
    bool closed() const { return closed_; }
    /// Some of the surface lies inside the solid.
    bool overlaps() const { return overlaps_; }
    /// What was assumed, in plain words.
    const std::vector<std::string>& notes() const { return notes_; }

    enum class Side { Inside, Outside };
    /// How far it is from a point of the surface straight through that side to the next wall; nothing when that is more than
    /// `limit`, or when the way is not on that side or does not end there (walls inside the solid). [m]
    std::optional<double> depth(const Vec3& point, const Vec3& direction, Side side, double limit) const;

    /// Signed distance to the solid with its thin parts and thin gaps widened to 2 `hold`. [m]
    ///
    ///   f(x) = d(x) - max(0, hold - s/2) outside,   d(x) + max(0, hold - s/2) inside,
    ///
    /// where s is the way from the closest point straight on to the next wall: the thickness of
    /// what lies behind the surface. Where x itself is in something thinner than that, nothing is widened.
    double widened_distance(const Vec3& x, double hold) const;

private:
    void estimate_volume();

    SurfaceQuery query_;
    std::vector<std::string> notes_;
    double area_ = 0.0;
    double volume_ = 0.0;
    bool volume_is_exact_ = true;
    bool closed_ = true;
    bool overlaps_ = false;
};

} // namespace lithe
