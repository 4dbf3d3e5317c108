#pragma once
#include "lithe/body/body.hpp"

namespace lithe {

/// A body that goes its own way, whatever touches it: others feel it as an obstacle. It has no state but the time.
class LedBody : public Body {
public:
    BodyReport predict(const StepContext& step) final
    {
        t_predicted_ = step.t + step.h;
        h_ = step.h;
        return {};
    }
    void finish() final { t_ = t_predicted_; }

    // Nothing moves it.
    void join(std::span<const Touch>, ResponseKind, ImpulseProblem&) final {}
    Vec3 couple(std::size_t, double, ImpulseProblem&) final { return Vec3::Zero(); }
    Vec3 take(int, Eigen::Ref<const VecX>) final { return Vec3::Zero(); }
    Index freedoms() const final { return 0; }
    Collides collides() const final { return Collides::Nowhere; }
    const SweptSurface* sweep() final { return nullptr; }

    void save(StateWriter& out) const final { out.write(t_); }
    void restore(StateReader& in) final { t_ = t_predicted_ = in.read_number(); }
    std::vector<Overlay> overlays() const final { return {}; }
    Mechanics mechanics(const Vec3&) final { return {}; }

protected:
    double t_ = 0.0, t_predicted_ = 0.0; ///< [s]
    double h_ = 1.0;                     ///< of the last step, over which velocities are measured [s]
};

} // namespace lithe
