#pragma once
#include "lithe/rig/character.hpp"
#include "lithe/rig/skinning.hpp"
#include "lithe/world/led_body.hpp"

namespace lithe {

struct KinematicCharacterModel {
    std::string name;
    std::shared_ptr<const Character> character; ///< with a surface and weights
    Clip clip = {};                             ///< of its skeleton; without keys: it rests
    Playback playback = {};
    SkinningMethod skinning = SkinningMethod::Linear;
    /// What bodies touch: closed, outward, at rest as the character is. It follows the same bones.
    TriangleMesh closed;
    SkinWeights closed_weights;
    double friction = 0.5;           ///< Coulomb's coefficient of the skin, >= 0
    Vec3 color = {0.62, 0.64, 0.67}; ///< sRGB; of a surface without colours
};

/// A character that plays a clip whatever touches it: its skin is an obstacle that deforms. It has no state but the time.
class KinematicCharacter final : public LedBody {
public:
    /// Throws InputError for a friction or a playback that is not possible, and for a character without surface or weights.
    explicit KinematicCharacter(KinematicCharacterModel model);

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    ContactLaw law() const override { return {.friction = model_.friction}; }
    std::optional<Obstacle> obstacle(double t, double h) override;
    const Shown& shown() const override { return shown_; }
    void publish(Published& out) const override;

    const KinematicCharacterModel& model() const { return model_; }

private:
    std::vector<Affine3> joints_at(double t) const; ///< in the world
    Points surface_at(double t) const;              ///< that is shown, in the world
    Points closed_at(double t) const;               ///< that is touched, in the world
    Vec3 place(const BodyPoint& point, const Points& surface) const;

    KinematicCharacterModel model_;
    Shown shown_;
    MovingSurface touched_;
    std::optional<double> placed_until_; ///< time of the end at which `touched_` is placed [s]
};

} // namespace lithe
