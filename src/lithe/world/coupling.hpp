#pragma once
#include "lithe/body/body.hpp"
#include "lithe/contact/impulse_solver.hpp"

namespace lithe {

/// Bodies that meet in one problem of impulses: they are told the points that matter, join the problem, and are given what
/// the impulses came to. Refilled for every problem; keeps its memory.
///
///   coupling.begin(bodies);
///   const std::size_t touch = coupling.add(body, {point, place}); // all points first
///   coupling.join(kind);
///   coupling.problem.add_contact({...});
///   const Vec3 u = coupling.couple(body, touch, 1.0);
///   coupling.solve({});
///   coupling.hand_out();
class Coupling {
public:
    /// Without points and constraints.
    void begin(std::span<Body* const> bodies);
    /// A point of body number `body`. Returns its number among the points of the body.
    std::size_t add(int body, const Touch& touch);
    bool touches(int body) const { return !touches_[static_cast<std::size_t>(body)].empty(); } ///< has points
    /// Lets the bodies that have points take part.
    void join(ResponseKind kind);
    /// Body::couple of that body.
    Vec3 couple(int body, std::size_t touch, double weight);
    /// The same for a limit, which has one row: `direction` times the three of the touch. Returns the velocity along it.
    double couple_along(int body, std::size_t touch, const Vec3& direction);

    /// Once all constraints are there.
    void prepare() { solver_.prepare(problem); }
    ImpulseReport solve_again(const ImpulseOptions& options) { return solver_.solve(problem, options); }
    /// The two together.
    ImpulseReport solve(const ImpulseOptions& options);
    void bounce() { solver_.bounce(problem); } ///< after a solve
    /// Lets the joints within a body act alone, by the velocities that they have now, and gives it what that comes to; it has no
    /// others. After `hand_out`; threads may do so at once for different bodies.
    void act_alone(int body);
    /// Gives every body its change. Returns what Places does to the angular momentum. [kg m^2/s]
    Vec3 hand_out();

    ImpulseProblem problem;

private:
    void for_each_body(const auto& f);
    Vec3 give(std::size_t body);

    ImpulseSolver solver_;
    ImpulseProblem aside_; ///< the same movers: where three rows are made that become one
    std::span<Body* const> bodies_;
    std::vector<std::vector<Touch>> touches_; ///< of each body
    std::vector<std::pair<int, int>> movers_; ///< of each body: from, until
    std::vector<Vec3> brought_;               ///< by each body: angular momentum [kg m^2/s]
};

} // namespace lithe
