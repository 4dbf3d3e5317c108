#include <algorithm>
#include <cmath>

#include "lithe/contact/detect.hpp"
#include "lithe/contact/overlap.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr double touch_share = 1e-3; ///< of the margin: so near is touching
constexpr int most_advances = 128;   ///< who still creeps then touches
constexpr double still = 1e-6;       ///< of the way: a distance that changes by less does not change

/// A vertex on its way, seen from the frame of a shape that moves and turns.
class ShapePath {
public:
    ShapePath(const MovingPoint& vertex, const Obstacle& obstacle) : vertex_(vertex), obstacle_(obstacle)
    {
        turn_ = log_quat(obstacle.pose_0.rotation.conjugate() * obstacle.pose_1.rotation);
        drift_ = vertex.dx - (obstacle.pose_1.translation - obstacle.pose_0.translation);
        const double reach = std::max((vertex.at(0.0) - obstacle.pose_0.translation).norm(),
                                      (vertex.at(1.0) - obstacle.pose_1.translation).norm());
        speed_ = drift_.norm() + turn_.norm() * reach;
        bend_ = turn_.norm() * (2.0 * drift_.norm() + turn_.norm() * reach);
    }

    /// Goes to a share s of the step.
    void look(double s)
    {
        time = s;
        pose = interpolated(obstacle_.pose_0, obstacle_.pose_1, s);
        const Vec3 p = pose.apply_inverse(vertex_.at(s));
        const SignedDistance found = signed_distance(*obstacle_.shape, p);
        distance = found.distance;
        normal = pose.rotation * found.normal;
        place = p - found.distance * found.normal;
        rate = found.normal.dot(pose.rotation.conjugate() * drift_ - turn_.cross(p));
    }

    /// How long the distance is sure to stay above `aim`. Distances to convex shapes are convex, so that they fall at
    /// most by the present rate and the bend of the way; those of a field by its steepness.
    double safe_for(double aim) const
    {
        const double room = distance - aim;
        if (const auto* solid = std::get_if<FieldShape>(obstacle_.shape))
            return room / std::max((1.0 + solid->field.steepness()) * speed_, 1e-300);
        if (rate >= 0.0 && bend_ == 0.0) return 2.0;
        // the first root of  room + rate s - bend s^2 / 2
        return 2.0 * room / (-rate + std::sqrt(rate * rate + 2.0 * bend_ * room));
    }

    /// Bound of the way through the frame of the shape. [m]
    double speed() const { return speed_; }

    double time = 0.0, distance = 0.0;
    double rate = 0.0;           ///< of the distance [m per step]
    Vec3 normal = Vec3::UnitY(); ///< in the world, at that time
    Vec3 place = Vec3::Zero();   ///< of the nearest point, in the frame of the shape
    RigidPose pose;              ///< of the shape at that time

private:
    MovingPoint vertex_;
    const Obstacle& obstacle_;
    Vec3 turn_, drift_; ///< of the whole step: in the frame of the shape, and in the world
    double speed_, bend_;
};

/// Goes on until the distance is at most `goal`; false when it stays above `aim` until the end.
bool advance(ShapePath& path, double goal, double aim)
{
    for (int i = 0; i < most_advances && path.distance > goal; ++i) {
        const double next = path.time + path.safe_for(aim);
        if (!(next <= 1.0)) return false;
        path.look(next);
    }
    return true;
}

/// The contact of one vertex, in `found`; false when there is none.
bool meet_shape(const FeatureView& a, int vertex, const Obstacle& b, double margin, DetectWork::Found& found)
{
    const double thickness = a.surface().thickness, tolerance = touch_share * margin;
    const MovingPoint p = a.point(vertex);
    ShapePath path(p, b);
    path.look(0.0);
    if (!advance(path, thickness + margin, thickness + 0.995 * margin)) return false;
    const double entered = path.time;
    found.touches = advance(path, thickness + tolerance, thickness + 0.5 * tolerance);
    if (!found.touches)
        seek_least(entered, [&](double s) {
            path.look(s);
            return std::abs(path.rate) > still * path.speed() ? path.rate : 0.0;
        });

    SurfaceContact& contact = found.contact;
    contact.kind = ContactKind::VertexShape;
    contact.a = side_at_vertex(a, vertex);
    contact.b.point = b.pose_0.apply(path.place);
    contact.normal = path.normal;
    contact.time = path.time;
    contact.key = vertex_key(vertex, 0);
    contact.gap = path.normal.dot(contact.a.point - contact.b.point) - thickness;
    const Vec3 motion = p.dx - (b.pose_1.apply(path.place) - contact.b.point);
    if (!found.touches) contact.gap = std::max(contact.gap, -path.normal.dot(motion));
    return true;
}

} // namespace

void detect_contacts(const SweptSurface& a, const Obstacle& b, std::uint64_t pair,
                     const DetectOptions& options, DetectWork& work, std::vector<SurfaceContact>& out)
{
    LITHE_ASSERT(options.margin > 0.0 && b.shape != nullptr);
    const FeatureView view{a};
    const std::size_t first = out.size();
    DetectWork::Found found;
    for (const int v : a.surface().points)
        if (meet_shape(view, v, b, options.margin, found)) {
            found.contact.key =
                pair_key(pair_key(pair, static_cast<std::uint64_t>(found.contact.kind)), found.contact.key);
            out.push_back(found.contact);
        }
    reduce_contacts(options.reduce, first, work, out);
}

void place(const Obstacle& obstacle, SweptSurface& surface)
{
    const auto posed = [&](StepEnd end, Points& x) {
        const Points& X = obstacle.surface ? obstacle.surface->surface(end).vertices : surface.surface().rest;
        LITHE_ASSERT(X.cols() == surface.surface().vertex_count());
        const RigidPose& pose = obstacle.pose(end);
        const Mat3 R = pose.rotation.toRotationMatrix();
        for (Index i = 0; i < X.cols(); ++i) x.col(i) = R * X.col(i) + pose.translation;
    };
    posed(StepEnd::Start, surface.start);
    posed(StepEnd::End, surface.end);
    surface.update();
}

} // namespace lithe
