#pragma once
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/collision_surface.hpp"
#include "lithe/dynamics/body_parts.hpp"
#include "lithe/dynamics/body_tets.hpp"
#include "lithe/reduce/reduced_solve.hpp"

namespace lithe {

/// A prepared model with what a world looks up in it: made once, shared by all bodies of the model.
struct ReducedBodyModel {
    explicit ReducedBodyModel(std::shared_ptr<const PreparedModel> model);

    std::shared_ptr<const PreparedModel> prepared;
    ReducedContactSurface contact;             ///< prepared->touching()
    DeformationSpheres shown;                  ///< few, over the vertices of prepared->shown
    std::shared_ptr<const BodyTets> tets = {}; ///< where they are there to look at
};

/// What is a body's own.
struct ReducedBodyOptions {
    std::string name = {};          ///< that of the model when empty
    std::optional<Vec3> color = {}; ///< sRGB; else the model's own
    RigidPose placement = {};       ///< of the frame in which the model stands; it does not move
    Integrator integrator = Integrator::BackwardEuler;
    ReducedNewmarkOptions newmark = {};           ///< `newton` of it serves every integrator
    double friction = 0.5;                        ///< Coulomb's coefficient of its surface, >= 0
    std::optional<double> contact_stiffness = {}; ///< k [Pa/m], > 0; else the model's
    /// On vertices and faces of prepared->touching(). Forces and wind are in world axes. Pressure and wind are those of the
    /// start of a step while it lasts.
    std::vector<TimedLoad> loads = {};
    std::vector<ReducedForce> forces = {};
    VecX velocity = {}; ///< dq/dt at the start, r; zero when empty
};

/// A body in few coordinates, x = placement (X + U q), that is held in space by its pins or by its frame. A step costs nothing of
/// the size of the mesh: gravity, energies and momenta come from mass integrals, and of the surface only what may touch an
/// obstacle, or what a load acts on, is looked at.
class ReducedBody final : public Body {
public:
    /// At rest. Throws InputError for options that do not fit the model.
    ReducedBody(std::shared_ptr<const ReducedBodyModel> model, ReducedBodyOptions options);
    /// With a model that no other body shares.
    ReducedBody(std::shared_ptr<const PreparedModel> model, ReducedBodyOptions options);

    BodyReport predict(const StepContext& step) override;
    void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) override;
    Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) override;
    Vec3 take(int mover, Eigen::Ref<const VecX> change) override;
    void finish() override;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    /// It deforms as the nearest vertex of the surface does.
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override { return prepared().rank(); }
    Collides collides() const override
    {
        return is_dynamic(options_.integrator) ? Collides::WithBodies : Collides::Nowhere;
    }
    const SweptSurface* sweep() override;
    ContactLaw law() const override { return {.friction = options_.friction}; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }

    void save(StateWriter& out) const override;
    void restore(StateReader& in) override;
    const Shown& shown() const override { return shown_; }
    /// The frame and q: nothing of the size of the surface.
    void publish(Published& out) const override;
    std::vector<Overlay> overlays() const override;
    /// Von Mises stress, where the tets are there.
    std::span<const FieldLabel> fields() const override;
    VecX field(std::size_t number) const override;
    /// The scales are bounds: sum m |v| <= sqrt(mass 2 T), and that times the farthest point from the origin.
    Mechanics mechanics(const Vec3& gravity) override;

    const ReducedBodyModel& model() const { return *model_; }
    const ReducedBodyOptions& options() const { return options_; }
    const ReducedState& state() const { return state_; }
    const ReducedContactWork& contact() const { return work_.contact; } ///< of the last solve

private:
    /// A load in reduced coordinates: a force, or what acts on faces.
    struct ReducedLoad {
        VecX force = {}; ///< of a ForceLoad with factor 1
        LoadedFaces faces = {};
    };
    ReducedLoad reduced(const TimedLoad& timed) const;
    void add_surface_load(const Load& load, double factor, LoadedFaces& faces);
    void set_force(const StepContext& step);
    void set_obstacles(std::span<const Obstacle> obstacles);
    SolveReport set_start_acceleration(const StepContext& step);
    SolveReport solve(double h);
    const ReducedSurface& surface_of(const BodyPoint& point) const;
    struct Anchor {
        int vertex; ///< of prepared().shown
        Vec3 X;     ///< at rest, in the frame
    };
    Vec3 rest_of(const BodyPoint& point) const;
    /// U^T at the point, r x 3.
    Eigen::Matrix<double, Eigen::Dynamic, 3> basis_at(const BodyPoint& point) const;
    const PreparedModel& prepared() const { return *model_->prepared; }

    std::shared_ptr<const ReducedBodyModel> model_;
    ReducedBodyOptions options_;
    ReducedContactModel contact_;
    std::vector<ReducedLoad> loads_; ///< of options_.loads
    Shown shown_;

    ReducedState state_, predicted_;
    bool has_acceleration_ = false; ///< state_.a goes with q and v; Newmark's first step needs it made
    ReducedWork work_;
    ReducedElastic elastic_; ///< scratch of mechanics
    ReducedElasticWork elastic_work_;
    VecX force_;                      ///< of the step at hand
    std::vector<Obstacle> obstacles_; ///< of the step at hand, in the frame
    StepRates rates_;                 ///< of the last prediction
    CollisionSurface collision_;      ///< prepared().touching(); made when it is first asked for
    SweptSurface swept_;
    std::vector<Anchor> anchors_;
    std::vector<Touch> touches_; ///< of the impulses at hand
    ResponseKind kind_ = ResponseKind::Implicit;
    int mover_ = 0; ///< its number in their problem
};

} // namespace lithe
