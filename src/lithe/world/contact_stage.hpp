#pragma once
#include "lithe/contact/impulse_solver.hpp"
#include "lithe/world/contact_events.hpp"
#include "lithe/world/contact_finder.hpp"

namespace lithe {

struct ContactStageOptions {
    ImpulseOptions impulses = {};
    double margin = 0.004; ///< what comes nearer is in contact, as a share of the smallest body's size; > 0
    double recovery = 0.2; ///< share of an overlap that a step removes, in [0, 1]
    double bounce_speed = 0.05; ///< slower impacts give nothing back [m/s]
    /// Times that a step looks again where bodies end up: straight ways do not tell those of bodies that an impact has spun.
    int rounds = 4;
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
    explicit ContactStage(const ContactStageOptions& options = {}) { set_options(options); }

    /// On the way from the start of the step to the predictions. Bodies that a joint holds together pass through each other.
    /// Outside of steps, where they are.
    void find(const ContactStep& step, const JointStage& joints);
    /// The sleeping bodies that something awake, or an obstacle that moves, has come upon: the step needs them awake.
    void find_disturbed(std::vector<int>& out) const;
    /// Changes the velocities of impacts with restitution. True when there were any: then predictions and contacts are old.
    [[nodiscard]] bool bounce(JointStage& joints);
    /// Changes the predictions so that nothing passes through anything, and joints meet.
    ImpulseReport solve(JointStage& joints);
    double joint_gap() const { return joint_gap_; } ///< that `solve` left, the largest [m]
    /// After the step: moves what overlapped apart, a little, without any velocity.
    Parting part(JointStage& joints);

    std::span<const BodyContact> contacts() const { return finder_.contacts(); }
    /// What has pushed since the step began, pair by pair and round by round.
    std::span<const ContactEvent> pushes() const { return pushes_; }
    double slack() const { return 0.1 * finder_.margin(); } ///< touching is no overlap, up to this depth [m]
    const ContactStageOptions& options() const { return options_; }
    void set_options(const ContactStageOptions& options);
    /// The impulses of the last step, from which the next one starts; of bodies that sleep, those of the step before.
    void save(const BodyOrder& order, StateWriter& out) const;
    void restore(const BodyOrder& order, StateReader& in);
    /// The impulses of a body that was put elsewhere, or goes.
    void forget(BodyId id);

private:
    struct LastImpulse {
        std::uint64_t key;
        BodyId a, b;
        Vec3 impulse = Vec3::Zero();
    };
    /// The number of the other body, be it an obstacle.
    int other(const BodyContact& contact) const;
    Body& body(int number) const { return *step_.bodies[static_cast<std::size_t>(number)]; }
    Vec3 last_impulse(std::uint64_t key) const;
    void forget_impulses();
    void remember_impulses();
    void take_impulses();
    void note_pushes();
    void note_push(std::size_t first, std::size_t last);

    void gather_touches(const auto& keep, LoneJoints lone, JointStage& joints);
    void fill_problem(ResponseKind kind, const auto& constraint, JointStage& joints);
    double impact_speed(const BodyContact& contact) const;
    ContactLaw law_of(const BodyContact& contact) const;
    enum class Round { First, Later };
    ImpulseReport solve_once(Round round, JointStage& joints);
    double passage(const BodyContact& contact) const;
    bool passes(const BodyContact& contact) const;
    bool find_trouble();

    ContactStageOptions options_;
    ContactStep step_;
    ContactFinder finder_;

    Coupling coupling_;
    double joint_gap_ = 0.0;
    std::vector<char> changed_; ///< of each body: by the last solve
    std::vector<char> trouble_; ///< of each body: it passes into something, or something into it
    std::vector<int> kept_;     ///< contacts in the problem
    std::vector<std::size_t> side_a_, side_b_; ///< touches of the kept contacts
    std::vector<LastImpulse> last_;            ///< of the last step, by rising keys: to start from
    std::vector<ContactEvent> pushes_;
    std::size_t bounced_ = 0; ///< of these, by impacts
};

} // namespace lithe
