#pragma once
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/core/timer.hpp"
#include "lithe/world/contact_stage.hpp"
#include "lithe/world/joint_stage.hpp"

namespace lithe {

struct WorldOptions {
    Vec3 gravity = {0.0, -9.81, 0.0}; ///< [m/s^2]
    ContactStageOptions contact = {};
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
    int sweeps = 0;           ///< of the impulses between bodies
    double joint_gap = 0.0;   ///< the largest that was left between points of joints [m]
    /// What moving overlapping bodies apart, without velocities, has added to the angular momentum. [kg m^2/s]
    Vec3 parting_angular_momentum = Vec3::Zero();
};

/// Bodies that share space and time. Owns them; there is nothing global, so a program may hold many worlds.
///
/// A step goes through the same stages for every mix of bodies:
///   read     obstacles where they will be, loads and controls of this step
///   predict  each body solves its own implicit step; those that say so with obstacles in it
///   detect   where bodies meet on their way; impacts with restitution are taken out, and those bodies predict again
///   couple   impulses between bodies change the predictions
///   finish   predictions become states; what overlaps is moved apart
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
    bool contains(JointId id) const { return joints_.contains(id); } ///< false once it has broken

    /// An impulse [N s] that acts in the next step, shared by the parts of the endpoint by their weights.
    void push(const Endpoint& endpoint, const Vec3& impulse);

    /// Advances by h [s]; throws InputError unless it is above zero.
    StepReport step(double h);

    double time() const { return t_; } ///< [s]
    /// Between bodies, of the last step.
    std::span<const BodyContact> contacts() const { return contact_.contacts(); }
    const Vec3& gravity() const { return options_.gravity; }
    const StageTimes& stage_times() const { return times_; } ///< since the world was made
    Mechanics mechanics();                                   ///< of all bodies together

    /// Everything that moves. `restore` needs the same bodies, by name and kind, in the same order; when it throws
    /// (InputError), the world is as it was.
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
    void read_state(StateReader& in);
    void read_obstacles(double h);
    StepReport predict(double h);
    void push_bodies();
    void detect(double h);

    WorldOptions options_;
    IdMap<BodyTag, std::unique_ptr<Body>> bodies_;
    double t_ = 0.0;
    std::vector<Push> pushes_;
    std::vector<Obstacle> obstacles_; ///< of the step at hand
    std::vector<Body*> order_;        ///< of the step at hand
    std::vector<int> numbers_;        ///< in order_, by the index of a body's id
    std::vector<BodyReport> reports_;
    ContactStage contact_;
    JointStage joints_;
    ImpulseProblem push_problem_;
    StageTimes times_;
};

} // namespace lithe
