#pragma once
#include "lithe/body/body.hpp"
#include "lithe/body/dense_mover.hpp"
#include "lithe/contact/collision_surface.hpp"
#include "lithe/dynamics/body_parts.hpp"
#include "lithe/dynamics/lattice_adapt.hpp"
#include "lithe/dynamics/lattice_reference.hpp"
#include "lithe/rig/character.hpp"

namespace lithe {

/// What is a body's own.
struct LatticeBodyOptions {
    std::string name = {};          ///< that of the model when empty
    std::optional<Vec3> color = {}; ///< sRGB; else the model's own
    Clip clip = {};                 ///< of the model's skeleton; without keys: it rests
    /// Whose skin it is, for those who write skeletons: with the model's skeleton, and its surface vertex by vertex.
    std::shared_ptr<const Character> character = nullptr;
    Playback playback = {};
    ContactLaw law = {};
    /// On vertices and faces of the collision surface. Pressure and wind are those of the start of a step while it lasts.
    std::vector<TimedLoad> loads = {};
    std::vector<LedVertices> pins = {}; ///< vertices of the collision surface
    /// Linear and Nonlinear need all bones on edges and know no loads and pins; contacts are felt as by Blended.
    LatticeScheme scheme = LatticeScheme::Blended;
};

/// A character with flesh: a skeleton that plays a clip drives a lattice of soft cells [CGC02]. Its bones give way to nothing; its
/// flesh takes part in the contact of the world.
class LatticeBody final : public Body {
public:
    /// At rest on its bones, where they are at time 0. Throws InputError for options that do not fit the model.
    LatticeBody(std::shared_ptr<const LatticeSystem> system, LatticeBodyOptions options);

    BodyReport predict(const StepContext& step) override;
    void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) override;
    Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) override;
    Vec3 take(int mover, Eigen::Ref<const VecX> change) override;
    void finish() override;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    /// In the cell that holds the place, or goes on to it.
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override;
    Collides collides() const override { return Collides::Everywhere; }
    const SweptSurface* sweep() override;
    ContactLaw law() const override { return options_.law; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }

    void save(StateWriter& out) const override;
    void restore(StateReader& in) override;
    const Shown& shown() const override { return shown_; }
    void publish(Published& out) const override;
    /// The vertices of level 0 with their edges, the bones, the details that are active, pins.
    std::vector<Overlay> overlays() const override;
    Mechanics mechanics(const Vec3& gravity) override;

    const LatticeSystem& system() const { return *system_; }
    const LatticeState& state() const { return state_; }
    const LatticeMotion& solver() const { return motion_; }
    /// How far the joints are from rest at a time.
    std::vector<RigidPose> joints_at(double t) const;

private:
    LatticePoint lattice_point(const BodyPoint& point) const;
    void set_forces(const StepContext& step);
    void set_targets(double t);
    void set_maps();
    void make_reference();

    std::shared_ptr<const LatticeSystem> system_;
    LatticeBodyOptions options_;
    Shown shown_;
    LatticeMotion motion_;
    std::unique_ptr<LatticeReference> reference_; ///< of Linear and Nonlinear
    LatticeState state_, predicted_;
    double t_ = 0.0, t_predicted_ = 0.0;   ///< [s]
    double h_ = 0.0;                       ///< of the last prediction [s]
    SparseRows shown_map_, collision_map_; ///< of the functions active now

    LatticeLoading loading_;
    std::vector<LatticeTarget> targets_;
    std::vector<LoadedFaces> loaded_; ///< of options_.loads
    CollisionSurface collision_;      ///< made when it is first asked for
    SweptSurface swept_;
    std::vector<LatticePoint> anchors_;

    // of the impulses at hand
    std::vector<LatticePoint> touched_;
    ResponseKind kind_ = ResponseKind::Implicit;
    DenseMover mover_;
};

} // namespace lithe
