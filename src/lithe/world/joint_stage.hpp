#pragma once
#include <algorithm>

#include "lithe/body/joint.hpp"
#include "lithe/world/body_order.hpp"
#include "lithe/world/coupling_pool.hpp"
#include "lithe/world/joint_angle.hpp"
#include "lithe/world/joint_group.hpp"

namespace lithe {

using JointId = Id<struct JointTag>;

struct JointStageOptions {
    /// How far apart points may be at the end of a step, as a share of the size of the smallest body that hangs together
    /// with them. > 0
    double gap = 5e-8;
};

/// Joints of bodies that a problem does not touch.
enum class LoneJoints {
    Leave,
    TakeIn ///< but for those that JointStage::meet solves alone just as well
};

/// Joints of a world, as constraints of its steps. Points of two bodies are led to meet at the end of the step, by the same
/// impulses that keep bodies from passing through each other; Newton's method on where the bodies really end takes what straight
/// ways leave (pre-stabilisation), and after the step their velocities are made equal (post-stabilisation).
class JointStage {
public:
    struct Joint {
        struct Point {
            BodyPoint a, b;
        };
        BodyId a, b;
        JointOptions options;
        std::vector<Point> points = {};
        std::optional<std::pair<JointAxes, JointAxes>> axes = {}; ///< of a and b, where there are angles
        Vec3 force = Vec3::Zero();                                ///< on a, of the last step [N]
    };
    explicit JointStage(const JointStageOptions& options = {});

    /// A body by its id.
    struct End {
        BodyId id;
        Body& body;
    };
    /// Throws InputError for numbers that are not possible and for bodies that no joint can hold.
    JointId add(const End& a, const End& b, const JointOptions& options);
    void remove(JointId id);
    bool contains(JointId id) const { return joints_.contains(id); } ///< false once it has broken
    /// Throws InputError for a joint that no motor can turn, and for numbers that are not possible.
    void set_motor(JointId id, const JointMotor& motor);
    const Joint& operator[](JointId id) const { return joints_[id]; }
    /// Those of a body that goes.
    void remove_body(BodyId id);
    /// Which of those between these bodies still hold, and their motors. `restore` removes those that did not; throws InputError
    /// for one that is not here.
    void save(const BodyOrder& order, StateWriter& out) const;
    void restore(const BodyOrder& order, StateReader& in);

    /// The step at hand: body `id` is bodies[number_of[id.index]].
    /// Bodies bring their inner joints.
    void begin(std::span<Body* const> bodies, std::span<const int> number_of, double h);
    bool hold_together(int a, int b) const
    {
        return std::ranges::binary_search(held_, std::pair(std::min(a, b), std::max(a, b)));
    }
    /// Adds the points of the joints of bodies that have points in the problem already, and of what hangs together with them.
    void add_touches(LoneJoints lone, Coupling& coupling);
    /// Adds the joints to a problem that the bodies have joined.
    void add_constraints(ResponseKind kind, Coupling& coupling);
    /// Of a problem of implicit response that was solved: what comes later in the step goes on from there.
    void take_impulses(const ImpulseProblem& problem);
    /// Of the problem that was solved last: joints that were too weak for their impulses are gone afterwards.
    void break_weak(const ImpulseProblem& problem);

    /// Brings the predictions of hard points together, of what takes no part in the problem of a step that is solved first: with
    /// which it shares nothing, so that both may be done at once.
    void meet_alone();
    /// The same for what took part in a problem, once it is solved. Notes the bodies that it has changed. Returns the largest distance
    /// that is left. [m]
    double meet(Coupling& solved, std::vector<char>& changed);
    /// The predictions have become states.
    void finish();
    /// What takes part in the last problem was moved by it.
    void displace();
    /// Makes the velocities of the points equal, after the step.
    void settle();

private:
    /// Damps the turns of two bodies against each other, across the force between them.
    struct Brace {
        JointId joint;
        std::size_t point; ///< one of the joint
        std::size_t touch_a = 0, touch_b = 0;
        int constraint = -1;       ///< in the problem at hand; -1: none
        Vec3 given = Vec3::Zero(); ///< impulse of this step [N s]
    };
    Body& body(int number) const { return *bodies_[static_cast<std::size_t>(number)]; }
    std::vector<JointId> between(const BodyOrder& order) const;
    bool has_the_same(std::span<Body* const> bodies) const;
    bool is_as_before(std::span<Body* const> bodies);
    void measure(std::span<Body* const> bodies);
    void gather(std::span<const int> number_of);
    void add_point(JointId joint, HeldPoint::Side a, HeldPoint::Side b, double stiffness, double damping);
    void find_groups();
    void lead_points();
    void place_points();
    void add_touches(Brace& brace, Coupling& coupling);
    void add_constraint(Brace& brace, Coupling& coupling);
    void find_part(LoneJoints lone, const Coupling& coupling);
    bool takes_part(std::size_t point) const { return takes_part_[at_group(points_[point])] != 0; }
    static std::size_t at_group(const HeldPoint& point) { return static_cast<std::size_t>(point.group); }
    template <class F>
    void for_each_group(const F& f);
    Vec3 velocity(const HeldPoint::Side& side, double sign, ResponseKind kind, Coupling& coupling) const;
    void hold(const HeldPoint& point, ImpulseProblem& problem) const;

    JointStageOptions options_;
    IdMap<JointTag, Joint> joints_;
    int revision_ = 0; ///< of joints_, and of the bodies that were there

    // of the step at hand
    std::span<Body* const> bodies_;
    double h_ = 0.0;
    std::vector<char> takes_part_; ///< of each group, in the problem at hand
    bool have_met_ = false;        ///< `meet` was called in this step
    bool are_placed_ = false;      ///< the points know where they are
    bool knows_ways_ = false;      ///< of those that are led

    // the same from step to step, unless joints or bodies come and go
    int last_revision_ = -1;
    std::vector<Body*> last_bodies_;
    std::vector<char> is_led_, was_led_;      ///< of each body: nothing moves it
    std::vector<HeldPoint> points_;           ///< joint by joint, then those of inner joints
    std::vector<JointId> joint_of_;           ///< of each point; none for inner joints
    std::vector<Brace> braces_;               ///< of hard balls and hinges
    std::vector<double> responses_;           ///< of each point to its own impulse [1/kg]
    std::vector<JointAngle> angles_;          ///< of joints with limits or motors
    std::vector<JointId> joint_of_angle_;     ///< of each of these
    std::vector<std::size_t> point_of_angle_; ///< and one of its points
    std::vector<std::pair<int, int>> held_;   ///< bodies that a joint holds together, sorted
    std::vector<double> sizes_;               ///< of each body [m]
    std::vector<JointGroup> groups_;          ///< the first group_count_ of them
    std::size_t group_count_ = 0;
    std::vector<double> gaps_; ///< of each group
    std::unique_ptr<CouplingPool> couplings_ =
        std::make_unique<CouplingPool>(); ///< of groups, for their own problems
};

} // namespace lithe
