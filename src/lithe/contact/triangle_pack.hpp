#pragma once
#include <array>
#include <span>
#include <vector>

#include "lithe/geometry/bvh.hpp"

namespace lithe {

/// How one surface lies to another and goes past it, about a point of each, in frames that drift along with them.
struct PackWay {
    PackWay(const Vec3& from_there, const Vec3& to_there, double within)
        : from(from_there.cast<float>()), to(to_there.cast<float>()), reach(static_cast<float>(within)),
          low(from.cwiseMin(to).array() - reach), high(from.cwiseMax(to).array() + reach)
    {
    }

    Eigen::Vector3f from, to; ///< from the point of the other, at the start and the end of the step [m]
    float reach;              ///< what stays farther away than this is apart [m]
    Eigen::Vector3f low,
        high; ///< how far a box has to be moved to hold its whole way, and what is within reach of it [m]
};

/// Some triangles of a surface on their way through a step, side by side in single precision, so that one triangle is told apart
/// from all of them at once.
class TrianglePack {
public:
    static constexpr int size = Bvh::pack_size;
    /// Of each vertex: x y z 0 at the start, and at the end.
    using Places = Eigen::Matrix<float, 8, Eigen::Dynamic>;

    TrianglePack(const Triangles& triangles, std::span<const int> members);

    void update(const Places& places);

    /// Appends the triangles of this and of `other` that neither their boxes nor the planes of either keep apart. This goes
    /// along `way`, seen from the other.
    void add_near(const TrianglePack& other, const PackWay& way,
                  std::vector<std::array<int, 2>>& pairs) const;

private:
    struct alignas(32) Row { ///< of each triangle
        float of[size];
    };
    using Rows3 = std::array<Row, 3>;

    unsigned all() const { return (1u << count_) - 1u; }
    unsigned apart_from_pack(const TrianglePack& other, const PackWay& way) const;
    unsigned apart_by_box(int i, const TrianglePack& other, const PackWay& way) const;
    unsigned apart_by_its_plane(int i, const TrianglePack& other, const PackWay& way) const;
    unsigned apart_by_planes_of(const TrianglePack& other, int i, const PackWay& way) const;

    int count_;
    std::array<int, size> triangles_;
    std::array<std::array<int, size>, 3> offsets_; ///< of the places of each corner
    std::array<std::array<Rows3, 3>, 2> corners_;  ///< at the start and at the end
    Rows3 lo_, hi_;                                ///< around the way
    Rows3 normal_;                                 ///< of the start; unit, or zero where there is no area
    Row lower_, upper_;                            ///< what lies on the way along the normal
    std::array<float, 3> box_lo_, box_hi_;         ///< around all of them
};

} // namespace lithe
