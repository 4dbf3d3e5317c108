#pragma once
#include <map>
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/broad_phase.hpp"
#include "lithe/contact/detect.hpp"
#include "lithe/contact/impulse_solver.hpp"
#include "lithe/world/body_order.hpp"
#include "lithe/world/contact_events.hpp"
#include "lithe/world/contact_rules.hpp"
#include "lithe/world/joint_stage.hpp"

namespace lithe {

struct ContactStageOptions {
    ImpulseOptions impulses = {};
    double margin = 0.004; ///< what comes nearer is in contact, as a share of the smallest body's size; > 0
    double recovery = 0.2; ///< share of an overlap that a step removes, in [0, 1]
    double bounce_speed = 0.05; ///< slower impacts give nothing back [m/s]
    /// Times that a step looks again where bodies end up: straight ways do not tell those of bodies that an impact has spun.
    int rounds = 4;
};

/// Whether it is elsewhere, or otherwise, at the end of the step.
bool moves(const Obstacle& obstacle);

/// A step, as the stage is told of it. What it refers to has to last as long as the step does.
struct ContactStep {
    std::span<Body* const> bodies;
    const BodyOrder* order = nullptr; ///< of these bodies
    std::span<const Obstacle> obstacles;
    const ContactRules* rules = nullptr;
    double h = 0.0; ///< [s]
};

/// Two bodies, or a body and an obstacle, that touch in this step.
struct BodyContact {
    int a = 0;  ///< bodies are numbers in the list that the stage was given
    int b = -1; ///< -1: an obstacle; a for a body that touches itself
    std::size_t obstacle = 0;
    SurfaceContact at;
    Vec3 impulse = Vec3::Zero(); ///< on a, of the last solve [N s]
};

/// What became of bodies that overlapped.
struct Parting {
    double deepest = 0.0;                 ///< overlap [m]
    Vec3 angular_momentum = Vec3::Zero(); ///< that their new places bring [kg m^2/s]
};

/// Finds the contacts of a step between bodies that collide by impulses, and solves for the impulses: all on bodies as
/// their interface shows them, whatever kind they are.
class ContactStage {
public:
    explicit ContactStage(const ContactStageOptions& options = {}) : options_(options) {}

    /// On the way from the start of the step to the predictions. Bodies that a joint holds together pass through each other.
    /// Outside of steps, where they are.
    void find(const ContactStep& step, const JointStage& joints);
    /// The sleeping bodies that something awake, or an obstacle that moves, has come upon: the step needs them awake.
    void find_disturbed(std::vector<int>& out) const;
    /// Changes the velocities of impacts with restitution. True when there were any: then predictions and contacts are old.
    [[nodiscard]] bool bounce(JointStage& joints);
    /// Changes the predictions so that nothing passes through anything.
    ImpulseReport solve(JointStage& joints);
    /// After the step: moves what overlapped apart, a little, without any velocity.
    Parting part(JointStage& joints);

    std::span<const BodyContact> contacts() const { return contacts_; }
    /// What has pushed since the step began, pair by pair and round by round.
    std::span<const ContactEvent> pushes() const { return pushes_; }
    double slack() const { return 0.1 * detect_.margin; } ///< touching is no overlap, up to this depth [m]
    const ContactStageOptions& options() const { return options_; }
    void set_options(const ContactStageOptions& options) { options_ = options; }
    /// The impulses of the last step, from which the next one starts; of bodies that sleep, those of the step before.
    void save(const BodyOrder& order, StateWriter& out) const;
    void restore(const BodyOrder& order, StateReader& in);
    /// The impulses of a body that was put elsewhere, or goes.
    void forget(BodyId id);

private:
    /// What may touch in this step: two bodies, or a body and an obstacle.
    struct Pair {
        int a;
        int b = -1;
        std::size_t obstacle = 0;
        const SweptSurface* surface = nullptr; ///< of the obstacle; null: felt by distance
    };
    struct LastImpulse {
        std::uint64_t key;
        BodyId a, b;
        Vec3 impulse = Vec3::Zero();
    };
    /// An obstacle as a surface, kept from step to step.
    struct ObstacleSurface {
        CollisionSurface surface;
        SweptSurface swept;
    };
    bool asleep(int number) const { return asleep_[static_cast<std::size_t>(number)] != 0; }
    bool collide(int a, int b, const JointStage& joints) const;
    /// The number of the other body, be it an obstacle.
    int other(const BodyContact& contact) const;
    void find_margin();
    void find_body_pairs(const JointStage& joints);
    void find_obstacle_pairs(const JointStage& joints);
    void find_swept_bodies();
    void sweep_bodies();
    void remember_ends();
    void detect_pairs();
    ObstacleSurface* surface_of(const Obstacle& obstacle);
    const SweptSurface& swept(int body) const { return *surfaces_[static_cast<std::size_t>(body)]; }
    int most_contacts(const Pair& pair) const;
    Body& body(int number) const { return *step_.bodies[static_cast<std::size_t>(number)]; }
    Vec3 last_impulse(std::uint64_t key) const;
    void forget_impulses();
    void remember_impulses();
    void take_impulses();
    void note_pushes();
    void note_push(std::size_t first, std::size_t last);

    void gather_touches(const auto& keep, JointStage& joints);
    void fill_problem(ResponseKind kind, const auto& constraint, JointStage& joints);
    Vec3 obstacle_velocity(const BodyContact& contact) const;
    double impact_speed(const BodyContact& contact) const;
    ContactLaw law_of(const BodyContact& contact) const;
    ImpulseReport solve_once(bool along_ways, JointStage& joints);
    double passage(const BodyContact& contact) const;
    bool some_pass() const;
    bool some_are_deflected() const;
    Vec3 way(const BodyContact& contact) const;

    ContactStageOptions options_;
    ContactStep step_;
    std::vector<char> asleep_; ///< of each body
    DetectOptions detect_;

    BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<std::pair<int, int>> body_pairs_;
    std::vector<Pair> pairs_;
    std::vector<SurfacePair> surface_pairs_; ///< the same, as detection wants them
    DetectManyWork detect_work_;
    ContactSet found_;
    std::vector<int> swept_bodies_;             ///< those that may touch something
    std::vector<const SweptSurface*> surfaces_; ///< of those; null for others
    std::vector<Points> ends_;                  ///< of their surfaces, when contacts were looked for
    std::map<std::uint64_t, std::unique_ptr<ObstacleSurface>>
        obstacle_surfaces_; ///< by the key; null: felt by distance
    std::vector<BodyContact> contacts_;

    Coupling coupling_;
    std::vector<int> kept_;                    ///< contacts in the problem
    std::vector<std::size_t> side_a_, side_b_; ///< touches of the kept contacts
    std::vector<LastImpulse> last_;            ///< of the last step, by rising keys: to start from
    std::vector<ContactEvent> pushes_;
    std::size_t bounced_ = 0; ///< of these, by impacts
};

} // namespace lithe
