#pragma once
#include "lithe/body/body.hpp"
#include "lithe/math/keyframes.hpp"

namespace lithe {

struct ObstacleModel {
    RigidShape shape;
    Shown shown;                             ///< rigid, in the frame of the shape
    Keyframes<RigidPose> path = RigidPose{}; ///< where it is over time
    double friction = 0.5;                   ///< Coulomb's coefficient of its surface, >= 0
};

/// A rigid solid that goes its way whatever touches it: at rest, or along a path. It has no state but the time.
class ObstacleBody final : public Body {
public:
    /// Throws InputError for a size or a friction that is not possible.
    explicit ObstacleBody(ObstacleModel model);

    BodyReport predict(const StepContext& step) override;
    // Nothing moves it.
    void join(std::span<const Touch>, ResponseKind, ImpulseProblem&) override {}
    Vec3 couple(std::size_t, double, ImpulseProblem&) override { return Vec3::Zero(); }
    Vec3 take(int, Eigen::Ref<const VecX>) override { return Vec3::Zero(); }
    void finish() override { t_ = t_predicted_; }

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override { return 0; }
    Collides collides() const override { return Collides::Nowhere; }
    const SweptSurface* sweep() override { return nullptr; }
    ContactLaw law() const override { return {.friction = model_.friction}; }
    std::optional<Obstacle> obstacle(double t, double h) override;

    void save(StateWriter& out) const override { out.write(t_); }
    void restore(StateReader& in) override { t_ = t_predicted_ = in.read_number(); }
    const Shown& shown() const override { return model_.shown; }
    void publish(Published& out) const override { out.frame = model_.path.at(t_); }
    std::vector<Overlay> overlays() const override { return {}; }
    Mechanics mechanics(const Vec3&) override { return {}; }

    const ObstacleModel& model() const { return model_; }

private:
    Vec3 place(const BodyPoint& point, double t) const;
    ObstacleModel model_;
    double t_ = 0.0, t_predicted_ = 0.0; ///< [s]
    std::vector<Vec3> anchors_;          ///< in the frame [m]
    double h_ = 1.0;                     ///< of the last step, over which velocities are measured [s]
};

} // namespace lithe
