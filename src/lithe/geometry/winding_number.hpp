#pragma once
#include <array>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// The solid angle of triangle abc seen from p, in [-2 pi, 2 pi]: positive when p is behind the triangle.  [VS83]
double solid_angle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

/// The generalized winding number of a triangle soup, fast.                                      [JKS13], [BDS18]
///
///   w(q) = 1 / (4 pi) * integral over the surface of  n . r / |r|^3,   r = x - q
///
/// Triangles near q are summed exactly (in double precision), clusters of them farther away than `accuracy` times
/// their radius by a second-order expansion about their centre (in single precision, eight clusters at a time).
class WindingNumber {
public:
    /// With 2.3 the error is about 1e-3; larger is more accurate and slower.
    static constexpr double default_accuracy = 2.3;

    explicit WindingNumber(const TriangleMesh& mesh, double accuracy = default_accuracy);

    double operator()(const Vec3& p) const;

private:
    static constexpr int width = 8;
    using Lanes = Eigen::Array<float, width, 1>;

    /// Eight clusters side by side. The expansion of a cluster's integral about its centre is
    ///   N.r / r^3 + M : T1(r) + Q : T2(r) / 2,  with T1, T2 the first and second derivatives of r / |r|^3;
    /// of M and Q only what survives the contraction is kept.
    struct Node {
        Lanes center[3];
        Lanes far2;  ///< square of the distance beyond which the expansion is good
        Lanes N[3];  ///< area vector
        Lanes trace; ///< tr M
        Lanes M[6];  ///< 3 sym M: xx yy zz, and twice xy yz zx
        Lanes s[3];  ///< 3/2 (2 Q_iik + Q_kii)
        Lanes C[10]; ///< 15/2 sym Q: xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz, each times its multiplicity
        std::array<int, width> first, count; ///< triangles of the cluster; count 0: empty lane
        std::array<int, width> child;        ///< node, or -1: a leaf
    };
    struct Corners {
        Vec3 a, b, c;
    };

    struct Builder;
    void expand(const Node& node, const Eigen::Vector3f& q, Lanes& sum, unsigned& near) const;
    double near_angles(int first, int count, const Vec3& q) const;

    Vec3 center_ =
        Vec3::Zero(); ///< coordinates are moved and scaled to [-1, 1] before they are rounded to float
    double scale_ = 1.0;
    std::vector<Node> nodes_;
    std::vector<Corners> corners_; ///< in the order of the leaves
};

} // namespace lithe
