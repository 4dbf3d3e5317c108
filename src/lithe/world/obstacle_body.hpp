#pragma once
#include "lithe/math/keyframes.hpp"
#include "lithe/world/led_body.hpp"

namespace lithe {

struct ObstacleModel {
    RigidShape shape;
    Shown shown;                             ///< rigid, in the frame of the shape
    Keyframes<RigidPose> path = RigidPose{}; ///< where it is over time
    double friction = 0.5;                   ///< Coulomb's coefficient of its surface, >= 0
};

/// A rigid solid that goes its way whatever touches it: at rest, or along a path. It has no state but the time.
class ObstacleBody final : public LedBody {
public:
    /// Throws InputError for a size or a friction that is not possible.
    explicit ObstacleBody(ObstacleModel model);

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    ContactLaw law() const override { return {.friction = model_.friction}; }
    std::optional<Obstacle> obstacle(double t, double h) override;
    const Shown& shown() const override { return model_.shown; }
    void publish(Published& out) const override { out.frame = model_.path.at(t_); }

    const ObstacleModel& model() const { return model_; }

private:
    Vec3 place(const BodyPoint& point, double t) const;
    ObstacleModel model_;
    std::vector<Vec3> anchors_; ///< in the frame [m]
};

} // namespace lithe
