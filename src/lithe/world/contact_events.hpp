#pragma once
#include <functional>
#include <span>
#include <vector>

#include "lithe/body/body.hpp"

namespace lithe {

/// What a pair of bodies does in a step.
enum class ContactPhase {
    Begin, ///< they push each other, and did not in the step before
    Stay,  ///< they still do
    End    ///< they no longer do
};

/// Two bodies, one of them perhaps an obstacle, and what became of their contact. `a` comes before `b` in World::bodies();
/// they are the same for a body that touches itself.
struct ContactEvent {
    BodyId a, b;
    ContactPhase phase = ContactPhase::Begin;
    Vec3 impulse = Vec3::Zero(); ///< on a, of all their points in the step [N s]
    // at the deepest of their points; zero when they part
    double depth = 0.0;         ///< overlap at the start of the step, below zero when they were apart [m]
    Vec3 place = Vec3::Zero();  ///< [m]
    Vec3 normal = Vec3::Zero(); ///< unit, from b to a
    double speed = 0.0;         ///< at which they neared each other at the start of the step [m/s]
};

/// Tells from what pushed in a step which pairs begin, go on and end. The pairs that touch are state.
class ContactEvents {
public:
    /// Of the step at hand: some points of a pair that push. The phase does not matter.
    void add(const ContactEvent& push);
    /// The step is over. Pairs that sleep go on without an event.
    void close(const std::function<bool(BodyId, BodyId)>& sleeps);
    std::span<const ContactEvent> events() const { return events_; }

    struct Pair {
        BodyId a, b;
    };
    /// That pushed each other in the last step, or sleep.
    std::span<const Pair> touching() const { return touching_; }
    void set_touching(std::vector<Pair> pairs);
    /// A body that goes ends nothing: there is none to tell of.
    void remove(BodyId id);
    void clear();

private:
    std::vector<ContactEvent> pushes_, events_;
    std::vector<Pair> touching_, before_; ///< by rising slots
};

} // namespace lithe
