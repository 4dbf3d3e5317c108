#pragma once
#include <limits>

#include "lithe/world/coupling.hpp"

namespace lithe {

/// A point at which two bodies hold each other, or two parts of one body, in the step at hand.
struct HeldPoint {
    struct Side {
        int body; ///< its number
        BodyPoint point;
        int in_group = -1;                ///< its number in the group; -1: nothing moves it, it is led
        Vec3 start = Vec3::Zero();        ///< where it is [m]
        Vec3 led_velocity = Vec3::Zero(); ///< over the step [m/s]
        std::size_t touch = 0;            ///< in the problem at hand
        bool led() const { return in_group < 0; }
    };
    Side a, b;
    double stiffness; ///< [N/m]; hard when infinite
    double damping;   ///< of a soft one [N s/m]
    bool of_joint;    ///< of the world, whose force is asked for; else within a body
    int group = 0;
    int joint = -1;            ///< in the problem at hand; -1: it takes no part
    Vec3 given = Vec3::Zero(); ///< impulse of the problems of this step, on a [N s]
    Vec3 gap = Vec3::Zero();   ///< between the predictions, after `meet` [m]

    bool hard() const { return stiffness == std::numeric_limits<double>::infinity(); }
    Vec3 stretch() const { return a.start - b.start; }
    Vec3 middle() const { return 0.5 * (a.start + b.start); }
};

/// Bodies that hang together by joints, without the rest of the world: groups do not see each other, and threads may work on
/// several. Their points are some of those of the world.
class JointGroup {
public:
    /// Without bodies and points.
    void begin();
    /// A body that impulses move, by its number, of that size [m]; 0: it has none. Returns its number in the group.
    int add(int number, Body& body, double size);
    void add(HeldPoint& point); ///< outlives the group as it is now

    void begin_step() { has_met_ = is_placed_ = false; }
    /// Where the points are now; those that are led know already.
    void place();
    void displace() { is_placed_ = false; } ///< its bodies are elsewhere now
    double size() const { return size_; }   ///< of the smallest body [m]
    /// `meet` does all that there is to do: every point is hard, lies within a body, and can meet.
    bool meets_alone() const { return is_plain_ && !taut(); }
    /// The points are farther apart than Newton's method leaves them: they cannot meet, as in a chain that is too short.
    bool taut() const;

    /// Newton's method brings the predictions of hard points together, to within `enough` of the size of the smallest body.
    /// Returns the largest distance that is left, which is more where they cannot meet. [m]
    /// `solved` is a problem of implicit response that was solved just now; the group takes part in it, or it is null. `own` is for
    /// problems of the group alone.
    double meet(double h, double enough, Coupling* solved, Coupling& own);
    bool has_met() const
    {
        return has_met_;
    } ///< in this step, and the predictions of its hard points are together
    bool was_moved() const { return was_moved_; }             ///< by the last `meet`
    std::span<const int> numbers() const { return numbers_; } ///< of its bodies
    /// Makes the velocities of hard points equal, after the step.
    void settle(Coupling& own);

private:
    /// What impulses of `meet` go through.
    struct Means {
        double h;
        Coupling* solved; ///< null: `own`
        Coupling& own;
    };
    void couple(Coupling& coupling, ResponseKind kind, double softness = ImpulseProblem::least_softness);
    double find_gaps(double h);
    void start_mixing();
    void close(const Means& means);
    double approach(const Means& means);
    void give(const VecX& distances, const Means& means);

    std::vector<Body*> bodies_;
    std::vector<int> numbers_; ///< of these
    std::vector<HeldPoint*> points_;
    std::vector<HeldPoint*> hard_; ///< of these
    VecX gaps_;                    ///< between the predictions of hard points [m]
    // of `meet`
    VecX closed_, closed_next_; ///< what its impulses would take away if nothing turned [m]
    VecX weights_;
    AlignedNumbers memory_;
    Mixing mixing_;

    bool is_placed_ = false, has_met_ = false, was_moved_ = false;
    bool is_plain_ = true; ///< all points are hard and lie within a body
    double size_ = 0.0;    ///< of the smallest body [m]
    double stretch_ = 0.0; ///< the largest of a hard point, where it was placed last [m]
};

} // namespace lithe
