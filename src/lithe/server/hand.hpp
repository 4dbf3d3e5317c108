#pragma once
#include "lithe/world/led_body.hpp"

namespace lithe {

/// A point that a person leads: bodies are held by a soft joint to it. Nothing is seen of it and nothing touches it.
class Hand final : public LedBody {
public:
    Hand(std::string name, const Vec3& place, double t);

    /// On a straight way from where it is at time t to `target` at t + h.
    void lead(const Vec3& target, double t, double h);
    Vec3 place(double t) const;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    ContactLaw law() const override { return {}; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }
    bool is_saved() const override { return false; }
    const Shown& shown() const override { return shown_; }
    void publish(Published& out) const override;

private:
    Shown shown_;
    Vec3 from_, to_;              ///< [m]
    double begin_, length_ = 1.0; ///< of the way, in time [s]
    std::vector<Vec3> anchors_;   ///< from the place [m]
};

} // namespace lithe
