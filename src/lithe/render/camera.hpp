#pragma once
#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// A pinhole camera.
struct Camera {
    Vec3 position = Vec3(0, 0, 1);
    Vec3 target = Vec3::Zero();
    Vec3 up = Vec3::UnitY();
    double fov = 0.52; ///< angle between the bottom and the top of the picture [rad], in (0, pi)
};

/// From where: Front looks along -z, Side along -x, Top along -y; ThreeQuarter from the front, right and above, for one
/// thing; Gallery from the front and above, for things side by side.
enum class View { Front, Side, Top, ThreeQuarter, Gallery };

struct FrameOptions {
    View view = View::ThreeQuarter;
    double aspect = 16.0 / 9.0; ///< width over height of the picture
    double fov = 0.52;          ///< as in Camera [rad]
    double margin = 0.1;        ///< share of the half-picture left free on the tightest side, in [0, 1)
};

/// The nearest camera that looks along the view and has every point in the frame, with the margin.
/// For points in camera axes (u right, v up, w towards the viewer) the frame |u - c_u| <= k (c_w - w) is two
/// half-planes per point, so that the best c_u and c_w follow from the largest u + k w and -u + k w alone.
Camera frame_content(const Points& points, const FrameOptions& options);

/// The camera's axes: right, up and backward, as columns. Throws InputError when they are not defined.
Mat3 camera_axes(const Camera& camera);

/// Where a point falls: x, y in [-1, 1] inside the frame (y up), z the distance along the view [m].
Vec3 project(const Camera& camera, double aspect, const Vec3& point);

} // namespace lithe
