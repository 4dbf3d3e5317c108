#pragma once
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/collision_surface.hpp"
#include "lithe/dynamics/body_parts.hpp"
#include "lithe/dynamics/body_tets.hpp"
#include "lithe/dynamics/framed_motion.hpp"

namespace lithe {

/// The coarse surface by which a body collides, as a part of a finer one.
struct CollisionPart {
    std::vector<int> vertices; ///< of the finer surface
    Triangles triangles;       ///< of `vertices`
};

/// A prepared model that a frame carries, with what a world looks up in it: made once, shared by all bodies of the model.
struct FramedBodyModel {
    /// Throws InputError for a model that is pinned, or whose basis is not fit for a frame.
    FramedBodyModel(std::shared_ptr<const PreparedModel> model, const CollisionPart& collision);
    /// Collides with the whole of prepared->touching().
    explicit FramedBodyModel(const std::shared_ptr<const PreparedModel>& model);

    std::shared_ptr<const PreparedModel> prepared;
    FramedModel motion;
    CollisionSurface collision;                ///< about the centre of mass
    SurfaceBasis collision_basis;              ///< of its vertices
    DeformationSpheres spheres;                ///< few, over the vertices of prepared->shown
    std::shared_ptr<const BodyTets> tets = {}; ///< where they are there to look at
};

/// What is a body's own.
struct FramedBodyOptions {
    std::string name = {};                ///< that of the model when empty
    std::optional<Vec3> color = {};       ///< sRGB; else the model's own
    RigidPose placement = {};             ///< of the model at the start
    Vec3 velocity = Vec3::Zero();         ///< of the centre of mass, at the start [m/s]
    Vec3 angular_velocity = Vec3::Zero(); ///< at the start [rad/s]
    VecX q = {}, qdot = {};               ///< at the start; zero when empty
    FramedOptions motion = {};
    ContactLaw law = {};
    /// On vertices and faces of prepared->touching(). Forces and wind are in world axes, all of them are those of the start of
    /// a step while it lasts.
    std::vector<TimedLoad> loads = {};
    std::vector<ReducedForce> forces =
        {}; ///< in the frame: balanced, they move and turn nothing but the modes
};

/// A body in few coordinates that flies, spins and is hit:  x = t + R (X + S q). Of rank 0 it is rigid. A step costs nothing of
/// the size of the mesh; only what may touch is looked at, on its coarse surface.
class FramedBody final : public Body {
public:
    /// Throws InputError for options that do not fit the model.
    FramedBody(std::shared_ptr<const FramedBodyModel> model, FramedBodyOptions options);

    BodyReport predict(const StepContext& step) override;
    void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) override;
    Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) override;
    Vec3 take(int mover, Eigen::Ref<const VecX> change) override;
    void finish() override;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    /// It deforms as the nearest point of the surface does.
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override { return asleep_ ? 0 : 6 + model_->motion.rank(); }
    Collides collides() const override { return Collides::Everywhere; }
    const SweptSurface* sweep() override;
    ContactLaw law() const override { return options_.law; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }

    /// Infinite while something drives it that changes with time.
    double speed() const override;
    void set_asleep(bool asleep) override;
    bool asleep() const override { return asleep_; }
    void teleport(const RigidPose& motion) override;
    void set_velocity(const Vec3& velocity, const Vec3& angular_velocity) override;

    void save(StateWriter& out) const override;
    void restore(StateReader& in) override;
    const Shown& shown() const override { return shown_; }
    /// The frame and q: nothing of the size of the surface.
    void publish(Published& out) const override;
    std::vector<Overlay> overlays() const override;
    /// Von Mises stress, where the tets are there.
    std::span<const FieldLabel> fields() const override;
    VecX field(std::size_t number) const override;
    /// The scales are bounds, as those of ReducedBody.
    Mechanics mechanics(const Vec3& gravity) override;

    const FramedBodyModel& model() const { return *model_; }
    const FramedBodyOptions& options() const { return options_; }
    const FramedMotion& motion() const { return motion_; }
    /// Puts it anywhere, in any motion; not during a step.
    void set_state(FramedState state);

private:
    /// A point on one of its surfaces: at rest from the centre of mass, and its rows of the basis.
    struct Material {
        Vec3 X;
        Rows3 S;
    };
    /// An anchor as it is kept, a point of a surface in `out`.
    const Material& look_up(const BodyPoint& point, Material& out) const;
    /// The vertices of the collision surface.
    void place_surface(const VecX& q, const RigidPose& frame, Points& x);
    void set_load(const StepContext& step);
    void add_force(int vertex, const Vec3& f);
    PointMotion motion_of(int vertex) const; ///< of the surface that touches
    /// Of a vertex of touching(), from the centre of mass in the axes of the frame.
    Vec3 arm_of(int vertex) const;
    const ReducedSurface& touching() const { return model_->prepared->touching(); }
    bool is_driven() const;
    /// Of the axes of the model, which are not at the centre of mass.
    RigidPose model_pose(const RigidPose& frame) const;

    std::shared_ptr<const FramedBodyModel> model_;
    FramedBodyOptions options_;
    Shown shown_;
    FramedMotion motion_;
    SweptSurface swept_;
    bool asleep_ = false;
    bool is_placed_ = false; ///< swept_ and bounds_ are those of a body that sleeps
    Box3 bounds_;
    std::vector<Material> anchors_;
    FramedLoad load_;
    std::vector<LoadedFaces> faces_; ///< of options_.loads

    // of the impulses at hand
    std::vector<Touch> touches_;
    ResponseKind kind_ = ResponseKind::Implicit;
    const FrameResponse* response_ = nullptr;
    int mover_ = 0; ///< its number in the problem
    Material scratch_;
    Rows3 F_;
    VecX change_;
    double h_ = 0.0;                  ///< of the last prediction [s]
    Eigen::VectorXf q_float_, moved_; ///< scratch of sweep
};

} // namespace lithe
