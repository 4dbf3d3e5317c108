#pragma once
#include <map>
#include <memory>

#include "lithe/body/body.hpp"
#include "lithe/contact/broad_phase.hpp"
#include "lithe/contact/detect.hpp"
#include "lithe/world/body_order.hpp"
#include "lithe/world/contact_rules.hpp"
#include "lithe/world/joint_stage.hpp"

namespace lithe {

/// Whether it is elsewhere, or otherwise, at the end of the step.
bool moves(const Obstacle& obstacle);

/// A step, as the stages are told of it. What it refers to has to last as long as the step does.
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
    std::size_t round = 0;       ///< of the step, in which it was found
};

/// Finds the contacts of a step between bodies that collide by impulses, on the ways from its start to the predictions.
/// When impulses have changed the predictions it looks again, but only at pairs that now go where nobody has looked.
class ContactFinder {
public:
    /// `margin`: what comes nearer is in contact, as a share of the smallest body's size; > 0
    void set_margin(double margin) { share_ = margin; }

    /// Bodies that a joint holds together pass through each other. Outside of steps, where they are.
    void find(const ContactStep& step, const JointStage& joints);
    /// Along the ways as they are now, when those of some bodies have changed.
    void find_again(std::span<const char> changed, const JointStage& joints);

    std::span<const BodyContact> contacts() const { return contacts_; }
    std::span<BodyContact> contacts() { return contacts_; }
    double margin() const { return detect_.margin; } ///< [m]
    std::size_t round() const { return round_; }     ///< how often it has looked again in this step
    bool asleep(int number) const { return asleep_[static_cast<std::size_t>(number)] != 0; }
    /// What side a of a contact goes relative to side b, from the start to the predictions as they were last looked at.
    Vec3 way(const BodyContact& contact) const;
    /// Of side b, an obstacle. [m/s]
    Vec3 obstacle_velocity(const BodyContact& contact) const;

private:
    /// What may touch in this step: two bodies, or a body and an obstacle.
    struct Pair {
        int a;
        int b = -1;
        std::size_t obstacle = 0;
        const SweptSurface* surface = nullptr; ///< of the obstacle; null: felt by distance
        std::size_t round = 0;                 ///< in which it was looked at
        std::size_t first = 0, last = 0;       ///< its contacts
        NearPair* near = nullptr;              ///< of this round, where its surfaces stray; null: not known

        auto place() const { return std::tuple(a, b, obstacle); }
    };
    /// An obstacle as a surface, kept from step to step.
    struct ObstacleSurface {
        CollisionSurface surface;
        SweptSurface swept;
        RigidPose pose_0 = {}, pose_1 = {}; ///< where it was placed last
        bool is_placed = false;
    };
    bool collide(int a, int b, const JointStage& joints) const;
    void find_boxes();
    void find_margin();
    void find_pairs(const JointStage& joints);
    void find_body_pairs(const JointStage& joints);
    void find_obstacle_pairs(const JointStage& joints);
    void find_swept_bodies();
    void sweep_bodies();
    void remember_ends();
    void recall_pairs();
    bool changed(const Pair& pair) const;
    void recall(std::size_t i, NearPair& near);
    bool strays(const Pair& pair, NearPair& near) const;
    void detect_pairs();
    SurfacePair surfaces_of(const Pair& pair) const;
    ObstacleSurface* surface_of(const Obstacle& obstacle);
    const SweptSurface* placed(const Obstacle& obstacle);
    const SweptSurface& swept(int body) const { return *surfaces_[static_cast<std::size_t>(body)]; }
    int most_contacts(const Pair& pair) const;
    Body& body(int number) const { return *step_.bodies[static_cast<std::size_t>(number)]; }

    double share_ = 0.004;
    ContactStep step_;
    std::vector<char> asleep_; ///< of each body
    DetectOptions detect_;
    std::size_t round_ = 0;     ///< of the step
    std::vector<char> changed_; ///< of each body, since the last round

    BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<std::pair<int, int>> body_pairs_;
    std::vector<Pair> pairs_, last_pairs_;   ///< of this round, and of the one before by their places
    std::vector<SurfacePair> surface_pairs_; ///< those to look at, as detection wants them
    DetectManyWork detect_work_;
    ContactSet found_;
    std::vector<NearPair> near_;                ///< to work with, by block of pairs
    std::vector<NearPair> near_of_pairs_;       ///< of those that stray
    std::vector<int> swept_bodies_;             ///< those that may touch something
    std::vector<const SweptSurface*> surfaces_; ///< of those that did in this step; null for others
    std::vector<std::vector<Points>> ends_;     ///< of their surfaces, by round and body
    std::map<std::uint64_t, std::unique_ptr<ObstacleSurface>>
        obstacle_surfaces_; ///< by the key; null: felt by distance
    std::vector<BodyContact> contacts_, last_contacts_;
};

} // namespace lithe
