#pragma once
#include <map>
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/broad_phase.hpp"
#include "lithe/contact/detect.hpp"
#include "lithe/contact/impulse_solver.hpp"

namespace lithe {

struct ContactStageOptions {
    ImpulseOptions impulses = {};
    double margin = 0.004; ///< what comes nearer is in contact, as a share of the smallest body's size; > 0
    double recovery = 0.2; ///< share of an overlap that a step removes, in [0, 1]
    double bounce_speed = 0.05; ///< slower impacts give nothing back [m/s]
    /// Times that a step looks again where bodies end up: straight ways do not tell those of bodies that an impact has spun.
    int rounds = 4;
};

/// Two bodies, or a body and an obstacle, that touch in this step.
struct BodyContact {
    int a = 0;  ///< bodies are numbers in the list that the stage was given
    int b = -1; ///< -1: an obstacle
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

    /// On the way from the start of the step to the predictions.
    void find(std::span<Body* const> bodies, std::span<const Obstacle> obstacles, double h);
    /// Changes the velocities of impacts with restitution. True when there were any: then predictions and contacts are old.
    [[nodiscard]] bool bounce();
    /// Changes the predictions so that nothing passes through anything.
    ImpulseReport solve();
    /// After the step: moves what overlapped apart, a little, without any velocity.
    Parting part();

    std::span<const BodyContact> contacts() const { return contacts_; }
    const ContactStageOptions& options() const { return options_; }
    void set_options(const ContactStageOptions& options) { options_ = options; }
    /// The impulses of the last step, from which the next one starts.
    void save(StateWriter& out) const;
    void restore(StateReader& in);

private:
    /// An obstacle as a surface, kept from step to step.
    struct ObstacleSurface {
        CollisionSurface surface;
        SweptSurface swept;
    };
    void find_margin();
    void find_body_pairs();
    void find_obstacle_pairs();
    void add_found(int a, int b, std::size_t obstacle, const std::vector<SurfaceContact>& found);
    ObstacleSurface* surface_of(const Obstacle& obstacle);
    SweptSurface& swept(int body);

    void gather_touches(const auto& keep);
    void fill_problem(ResponseKind kind, const auto& constraint);
    Vec3 obstacle_velocity(const BodyContact& contact) const;
    double impact_speed(const BodyContact& contact) const;
    ContactLaw law_of(const BodyContact& contact) const;
    Vec3 hand_out();
    ImpulseReport solve_once(bool along_ways);
    bool some_pass();
    Vec3 way(const BodyContact& contact);

    ContactStageOptions options_;
    std::span<Body* const> bodies_;
    std::span<const Obstacle> obstacles_;
    double h_ = 0.0;
    DetectOptions detect_;

    BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<std::pair<int, int>> pairs_;
    std::vector<const SweptSurface*> surfaces_; ///< of the bodies that may touch something; null for others
    std::map<std::uint64_t, std::unique_ptr<ObstacleSurface>>
        obstacle_surfaces_; ///< by the key; null: felt by distance
    DetectWork work_;
    std::vector<SurfaceContact> found_;
    std::vector<BodyContact> contacts_;

    ImpulseProblem problem_;
    ImpulseSolver solver_;
    std::vector<int> kept_;                   ///< contacts in the problem
    std::vector<std::vector<Touch>> touches_; ///< of each body
    std::vector<int> side_a_, side_b_;        ///< touches of the kept contacts
    std::vector<std::pair<int, int>> movers_; ///< of each body: from, until
    std::map<std::uint64_t, Vec3> last_;      ///< impulses of the last step by their keys, to start from
};

} // namespace lithe
