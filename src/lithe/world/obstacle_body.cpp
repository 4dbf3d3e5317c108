#include "lithe/world/obstacle_body.hpp"

#include <cmath>

#include "lithe/core/error.hpp"

namespace lithe {

ObstacleBody::ObstacleBody(ObstacleModel model) : model_(std::move(model))
{
    require_valid(model_.shape);
    if (!(model_.friction >= 0.0) || !std::isfinite(model_.friction))
        throw InputError("obstacle '" + model_.shown.name + "': friction must be at least 0 and finite");
    model_.shown.rigid = true;
}

Vec3 ObstacleBody::place(const BodyPoint& point, double t) const
{
    if (point.surface == BodySurface::Anchors)
        return model_.path.at(t).apply(anchors_[static_cast<std::size_t>(point.triangle)]);
    const TriangleMesh& surface = model_.shown.surface;
    LITHE_ASSERT(point.triangle >= 0 && point.triangle < surface.triangle_count());
    Vec3 X = Vec3::Zero();
    for (int c = 0; c < 3; ++c)
        X += point.weights[c] * surface.vertices.col(surface.triangles(c, point.triangle));
    return model_.path.at(t).apply(X);
}

PointMotion ObstacleBody::motion(const BodyPoint& point) const
{
    const Vec3 now = place(point, t_);
    return {now, (now - place(point, t_ - h_)) / h_};
}

Vec3 ObstacleBody::predicted(const BodyPoint& point)
{
    return place(point, t_predicted_);
}

BodyPoint ObstacleBody::attach(const Vec3& place)
{
    anchors_.push_back(model_.path.at(t_).apply_inverse(place));
    return {.triangle = static_cast<int>(anchors_.size()) - 1, .surface = BodySurface::Anchors};
}

Box3 ObstacleBody::swept_bounds() const
{
    Box3 box;
    for (const double t : {t_, t_predicted_}) {
        const RigidPose pose = model_.path.at(t);
        for (Index v = 0; v < model_.shown.surface.vertex_count(); ++v)
            box.extend(pose.apply(model_.shown.surface.vertices.col(v)));
    }
    return box;
}

std::optional<Obstacle> ObstacleBody::obstacle(double t, double h)
{
    return Obstacle{.shape = &model_.shape,
                    .pose_0 = model_.path.at(t),
                    .pose_1 = model_.path.at(t + h),
                    .friction = model_.friction};
}

} // namespace lithe
