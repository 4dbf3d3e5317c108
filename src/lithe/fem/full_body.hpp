#pragma once
#include <array>
#include <limits>

#include "lithe/body/dense_mover.hpp"
#include "lithe/contact/collision_surface.hpp"
#include "lithe/fem/integrator.hpp"
#include "lithe/fem/loads.hpp"
#include "lithe/geometry/embedding.hpp"
#include "lithe/math/keyframes.hpp"

namespace lithe {

/// Vertices held, or led along a motion:  x(t) = motion(t) applied about `about` to where they are at rest.
struct LedVertices {
    std::vector<int> vertices;
    Keyframes<RigidPose> motion = RigidPose{};
    Vec3 about = Vec3::Zero();                                ///< [m]
    double release = std::numeric_limits<double>::infinity(); ///< free from this time on [s]
};

/// A load on a part of the body, scaled over time.
struct TimedLoad {
    Load load;
    std::vector<int> vertices; ///< that share a ForceLoad
    Triangles faces = {};      ///< outward, that a PressureLoad or WindLoad acts on
    Keyframes<double> factor = 1.0;
};

/// All that does not change while the body moves.
struct FullBodyModel {
    FemModel fem;
    Shown shown;                        ///< its surface follows the tets through `embedding`
    Embedding embedding;                ///< of shown.surface's vertices
    std::vector<LedVertices> pins = {}; ///< a vertex belongs to the first that names it
    std::vector<TimedLoad> loads = {};
    ContactModel contact = {}; ///< how it touches obstacles and itself; see make_contact_model
    Integrator integrator = Integrator::BackwardEuler;
    NewmarkOptions newmark = {}; ///< `newton` of it serves every integrator
};

/// A body of one material that shows the boundary of its tets and feels obstacles; everything else as in FullBodyModel.
FullBodyModel make_full_body_model(std::string name, const TetMesh& mesh, const Material& material,
                                   double density, const FemOptions& options = {},
                                   const ContactOptions& contact = {});

/// A body in the coordinates of all its nodes: the reference that all others are compared with.
class FullBody final : public Body {
public:
    /// At rest where the model is, with these velocities of the nodes (none when empty). Throws InputError for
    /// pins, loads or an embedding that do not fit the model.
    explicit FullBody(FullBodyModel model, const Points& velocities = {});

    BodyReport predict(const StepContext& step) override;
    void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) override;
    Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) override;
    Vec3 take(int mover, Eigen::Ref<const VecX> change) override;
    void finish() override;

    PointMotion motion(const BodyPoint& point) const override;
    Vec3 predicted(const BodyPoint& point) override;
    /// In the tet that holds the place, or goes on to it.
    BodyPoint attach(const Vec3& place) override;
    Box3 swept_bounds() const override;
    Index freedoms() const override { return 3 * model_.fem.vertex_count(); }
    Collides collides() const override
    {
        return is_dynamic(model_.integrator) ? Collides::WithBodies : Collides::Nowhere;
    }
    const SweptSurface* sweep() override;
    ContactLaw law() const override { return {.friction = model_.contact.friction}; }
    std::optional<Obstacle> obstacle(double, double) override { return {}; }
    /// Throw InputError for a body with pins.
    void teleport(const RigidPose& motion) override;
    void set_velocity(const Vec3& velocity, const Vec3& angular_velocity) override;

    void save(StateWriter& out) const override;
    void restore(StateReader& in) override;
    const Shown& shown() const override { return model_.shown; }
    void publish(Published& out) const override;
    std::vector<Overlay> overlays() const override;
    /// Von Mises stress.
    std::span<const FieldLabel> fields() const override;
    VecX field(std::size_t number) const override;
    Mechanics mechanics(const Vec3& gravity) override;

    const FullBodyModel& model() const { return model_; }
    const FemState& state() const { return state_; }
    /// Puts its nodes anywhere, in any motion, at time t; not during a step. Throws InputError for another number of nodes.
    void set_state(const Points& x, const Points& v, double t);

private:
    void set_pins(double t);
    void begin_anew();
    void set_forces(const StepContext& step);
    SolveReport set_start_acceleration(const StepContext& step);
    SolveReport solve(double h);
    /// A point as a sum of nodes. Those of one tet among them can stand for points beside it.
    struct NodeWeights {
        std::array<int, 12> nodes = {};
        std::array<double, 12> weights = {};
    };
    NodeWeights node_weights(const BodyPoint& point) const;
    /// The same for the place at which a touch acts: beside the surface, the tet there goes on straight.
    NodeWeights node_weights(const Touch& touch) const;
    Vec3 sum(const NodeWeights& at, const Points& values) const;
    /// J^T for the touches at hand, 3n x 3k: what forces there are at the free nodes.
    MatX spread() const;
    /// Columns become A^-1 columns, A being the operator of the last prediction.
    void solve_columns(MatX& columns);

    FullBodyModel model_;
    FemState state_, predicted_;
    bool has_acceleration_ = false; ///< state_.a goes with x and v; Newmark's first step needs it made
    FemWork work_;
    ElasticWork energy_work_;
    Loading loading_;
    std::vector<SurfacePressure> pressures_; ///< that loading_ refers to
    Points wind_;                            ///< scratch of set_forces [N]
    StepRates rates_;                        ///< of the last prediction

    CollisionSurface collision_; ///< the boundary of its tets; made when it is first asked for
    std::vector<int> collision_nodes_, collision_tets_; ///< of its vertices; behind its triangles
    SweptSurface swept_;
    std::vector<NodeWeights> anchors_;

    // of the impulses at hand
    std::vector<NodeWeights> touched_;
    ResponseKind kind_ = ResponseKind::Implicit;
    MatX answers_; ///< A^-1 J^T, 3n x 3k
    DenseMover mover_;
};

} // namespace lithe
