#include "lithe/render/camera.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/core/error.hpp"

namespace lithe {

namespace {

/// The unit vector to the right of the front by `azimuth` and above it by `elevation` [rad].
Vec3 direction(double azimuth, double elevation)
{
    return {std::sin(azimuth) * std::cos(elevation), std::sin(elevation),
            std::cos(azimuth) * std::cos(elevation)};
}

/// Towards the viewer.
Vec3 view_direction(View view)
{
    switch (view) {
    case View::Front:
        return Vec3::UnitZ();
    case View::Side:
        return Vec3::UnitX();
    case View::Top:
        return Vec3::UnitY();
    case View::ThreeQuarter:
        break;
    case View::Gallery:
        return direction(0.2, 0.38);
    }
    return direction(0.6, 0.35);
}

/// One axis of the frame: the centre and the distance at which both sides just hold all points.
struct Fit {
    double center, distance;
};

Fit fit_axis(const VecX& u, const VecX& w, double k)
{
    const double right = (u + k * w).maxCoeff(), left = (-u + k * w).maxCoeff();
    return {0.5 * (right - left), 0.5 * (right + left) / k};
}

} // namespace

Mat3 camera_axes(const Camera& camera)
{
    const Vec3 back = camera.position - camera.target;
    const Vec3 right = camera.up.cross(back);
    if (!(back.norm() > 0.0) || !back.allFinite())
        throw InputError("camera: position and target must be two different points");
    if (!(right.norm() > 1e-9 * back.norm() * camera.up.norm()))
        throw InputError("camera: the view direction must not be parallel to 'up'");
    Mat3 axes;
    axes.col(0) = right.normalized();
    axes.col(2) = back.normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
    return axes;
}

Vec3 project(const Camera& camera, double aspect, const Vec3& point)
{
    const Vec3 local = camera_axes(camera).transpose() * (point - camera.position);
    const double k = std::tan(0.5 * camera.fov), depth = -local.z();
    return {local.x() / (k * aspect * depth), local.y() / (k * depth), depth};
}

Camera frame_content(const Points& points, const FrameOptions& options)
{
    if (points.cols() == 0) throw InputError("camera: there is nothing to look at");
    const double aspect = require_positive("aspect", options.aspect);
    Camera camera;
    camera.fov = require_between("fov", options.fov, 0.0, std::numbers::pi);
    camera.up = options.view == View::Top ? Vec3(0, 0, -1) : Vec3(Vec3::UnitY());
    camera.position = view_direction(options.view);
    camera.target = Vec3::Zero();

    const Mat3 axes = camera_axes(camera);
    const Points local = axes.transpose() * points;
    const double k =
        std::tan(0.5 * camera.fov) * (1.0 - require_between("margin", options.margin, -1e-9, 1.0));
    const Fit u = fit_axis(local.row(0), local.row(2), k * aspect);
    const Fit v = fit_axis(local.row(1), local.row(2), k);

    // A flat content seen edge-on fits at no distance at all: stay a little away from the nearest point.
    const double nearest = local.row(2).maxCoeff(), farthest = local.row(2).minCoeff();
    const double size = bounds(points).diagonal().norm();
    const double away = std::max(1e-3 * size, size > 0.0 ? 0.0 : 1.0);
    const double w = std::max({u.distance, v.distance, nearest + away});
    camera.position = axes * Vec3(u.center, v.center, w);
    camera.target = axes * Vec3(u.center, v.center, 0.5 * (nearest + farthest));
    return camera;
}

} // namespace lithe
