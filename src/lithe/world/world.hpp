#pragma once
#include <map>
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/world/contact_events.hpp"
#include "lithe/world/contact_rules.hpp"
#include "lithe/world/contact_stage.hpp"
#include "lithe/world/joint_stage.hpp"
#include "lithe/world/sleep_stage.hpp"
#include "lithe/world/world_query.hpp"

namespace lithe {

struct WorldOptions {
    Vec3 gravity = {0.0, -9.81, 0.0}; ///< [m/s^2]
    double time = 0.0;                ///< at the start [s]
    ContactStageOptions contact = {};
    JointStageOptions joints = {};
    SleepOptions sleep = {};
};

/// What a step of the world came to.
struct [[nodiscard]] StepReport {
    bool done = true;
    std::string trouble = {}; ///< which body could not be solved, and why; the world is then as it was
    int iterations = 0;       ///< of Newton, the most of any body
    int linear_iterations = 0;
    double residual = 0.0;    ///< the largest of any body
    int contacts = 0;         ///< of all bodies
    double penetration = 0.0; ///< the deepest [m]
    int sweeps = 0;           ///< of the impulses between bodies, where they took most
    double impulse_residual =
        0.0;                ///< by how much the last of them changed an impulse, as ImpulseReport::residual
    int asleep = 0;         ///< bodies
    double joint_gap = 0.0; ///< the largest that was left between points of joints [m]
    /// What moving overlapping bodies apart, without velocities, has added to the angular momentum. [kg m^2/s]
    Vec3 parting_angular_momentum = Vec3::Zero();
};

/// Bodies that share space and time. Owns them; there is nothing global, so a program may hold many worlds.
///
/// A step goes through the same stages for every mix of bodies:
///   read     obstacles where they will be, loads and controls of this step
///   predict  each body solves its own implicit step; those that say so with obstacles in it
///   detect   where bodies meet on their way, and wake those that sleep there; impacts with restitution are taken out, and
///            those bodies predict again
///   couple   impulses between bodies change the predictions
///   finish   predictions become states; what overlaps is moved apart; what rests falls asleep
/// When a body cannot be solved, no body has moved.
class World {
public:
    explicit World(const WorldOptions& options = {});

    /// Takes the body in. Throws InputError when there is one of its name already.
    BodyId add(std::unique_ptr<Body> body);
    /// Throws InputError when it is not here (any more).
    void remove(BodyId id);

    bool contains(BodyId id) const { return bodies_.contains(id); }
    Body& body(BodyId id);
    const Body& body(BodyId id) const;
    std::vector<BodyId> bodies() const; ///< in the order of their slots
    /// The body of that name, if there is one.
    std::optional<BodyId> find(std::string_view name) const;

    /// Holds two bodies together. Throws InputError for bodies that are not here or cannot be held.
    JointId add_joint(BodyId a, BodyId b, const JointOptions& joint);
    void remove_joint(JointId id);
    /// From the next step on. Throws InputError for a joint that is not here or is no hinge.
    void set_motor(JointId id, const JointMotor& motor);
    /// How the bodies of a hinge, or of a ball with limits, are turned against each other now.
    JointTurn joint_turn(JointId id) const;
    bool contains(JointId id) const { return joints_.contains(id); } ///< false once it has broken

    /// Which bodies a body, or an obstacle, collides with: all at first.
    void set_filter(BodyId id, const CollisionFilter& filter);
    /// What holds between two bodies, or a body and an obstacle. Throws InputError for numbers that are not possible.
    void set_pair(BodyId a, BodyId b, const PairRule& rule);

    /// An impulse [N s] that acts in the next step, shared by the parts of the endpoint by their weights.
    void push(const Endpoint& endpoint, const Vec3& impulse);
    /// Moves a body as a whole, with its velocities: x becomes motion.apply(x). Throws InputError for a body that is held, and
    /// for a motion that is not finite.
    void teleport(BodyId id, const RigidPose& motion);
    /// Of the whole body, about its centre of mass. Throws InputError for a body that is held, and for what is not finite.
    void set_velocity(BodyId id, const Vec3& velocity, const Vec3& angular_velocity = Vec3::Zero());
    /// And all that sleep with it.
    void wake(BodyId id);
    /// From the next step on, and wakes all bodies. [m/s^2] Throws InputError for one that is not finite.
    void set_gravity(const Vec3& gravity);

    /// Advances by h [s]; throws InputError unless it is above zero.
    StepReport step(double h);

    double time() const { return t_; } ///< [s]
    /// Between bodies, of the last step.
    std::span<const BodyContact> contacts() const { return contact_.contacts(); }
    /// Of the last step: which pairs of bodies began, went on and ended to push each other, by rising ids. What a body's own
    /// solve does with obstacles (Body::collides) is not among them.
    std::span<const ContactEvent> contact_events() const { return events_.events(); }
    /// The pairs of bodies that overlap where they are now, and how far; by rising ids. Impulses do not hold them: steps move
    /// them apart.
    struct Overlap {
        BodyId a, b;
        double depth; ///< [m]
    };
    std::vector<Overlap> overlaps();

    // Questions to all bodies and obstacles where they are now. They change nothing.
    /// The first surface that a ray meets within max_distance [m]; `direction` need not have unit length. Throws InputError for
    /// a ray without direction.
    std::optional<SurfaceHit> cast_ray(const Vec3& origin, const Vec3& direction,
                                       double max_distance = std::numeric_limits<double>::infinity());
    /// The surface nearest to a place, no farther than max_distance [m].
    std::optional<SurfaceHit> closest_point(const Vec3& place,
                                            double max_distance = std::numeric_limits<double>::infinity());

    const Vec3& gravity() const { return options_.gravity; }
    const StageTimes& stage_times() const { return times_; } ///< since the world was made
    Mechanics mechanics();                                   ///< of all bodies together

    /// Everything that moves, but for bodies that are not saved and their joints, which `restore` leaves as they are. It
    /// needs the same bodies, by name and kind, in the same order; when it throws (InputError), the world is as it was.
    void save(StateWriter& out) const;
    void restore(StateReader& in);
    std::uint64_t state_hash() const;

    std::vector<Shown> shown() const;
    Frame publish() const;

private:
    struct Push {
        BodyId body;
        BodyPoint point;
        Vec3 impulse;
    };
    struct Held {
        JointId joint;
        BodyId a, b;
    };
    /// A body as questions see it: a surface, or an obstacle that is felt by its distance.
    struct Solid {
        std::optional<Obstacle> obstacle;
        const SweptSurface* surface;
    };
    Solid solid_of(Body& body);
    BodyOrder body_order() const;
    BodyOrder saved_order() const;
    Body& require(BodyId id, std::string_view what);
    void read_touching(const BodyOrder& order, StateReader& in);
    void read_state(StateReader& in);

    void read_bodies(double h);
    void read_own_obstacles();
    void predict_body(std::size_t number, double h);
    void predict(double h);
    StepReport gather_reports() const;
    void push_bodies();
    void look(double h);
    void detect(double h);
    ImpulseReport couple(double h);
    Parting finish(double h);

    void wake_island(BodyId id, const BodyOrder& order);
    void wake_around(BodyId id);
    void wake_held();
    bool wake_disturbed(double h);
    void put_to_sleep(double h);

    WorldOptions options_;
    IdMap<BodyTag, std::unique_ptr<Body>> bodies_;
    std::map<std::string, BodyId, std::less<>> names_;
    double t_; ///< [s]
    std::vector<Push> pushes_;
    std::vector<Held> held_; ///< by joints, some of which may have broken

    // of the step at hand
    BodyOrder order_;
    std::vector<Body*> stepped_; ///< the bodies in that order
    std::vector<Obstacle> obstacles_;
    std::vector<std::vector<Obstacle>> own_obstacles_; ///< of bodies for which the rules change them
    std::vector<BodyReport> reports_;
    std::vector<int> disturbed_;
    std::vector<BodyId> woken_;
    std::vector<std::pair<int, int>> links_; ///< bodies that push or hold each other

    ContactRules rules_;
    ContactStage contact_;
    ContactEvents events_;
    SleepStage sleep_;
    JointStage joints_;
    ImpulseProblem push_problem_;
    CollisionSurface query_surface_; ///< of an obstacle that deforms, for a question
    SweptSurface query_swept_;
    StageTimes times_;
};

} // namespace lithe
