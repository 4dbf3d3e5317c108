#pragma once
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/body/obstacle.hpp"
#include "lithe/body/published.hpp"
#include "lithe/body/state.hpp"
#include "lithe/core/id.hpp"

namespace lithe {

class SweptSurface; // lithe/contact/collision_surface.hpp

using BodyId = Id<struct BodyTag>;

/// Which of a body's surfaces.
enum class BodySurface {
    Shown,     ///< Body::shown().surface
    Collision, ///< of Body::sweep()
    Anchors    ///< none: points that Body::attach made, by their number
};

/// A point fixed in the material of a body, on one of its surfaces or attached to it.
struct BodyPoint {
    int triangle = 0;                         ///< or number of an anchor, which has no weights
    Vec3 weights = Vec3::Constant(1.0 / 3.0); ///< barycentric, sum 1
    BodySurface surface = BodySurface::Shown;
};

/// One side of a contact, a joint anchor or a push: a weighted sum of points, perhaps on several bodies.
struct EndpointPart {
    BodyId body;
    double weight = 1.0;
    BodyPoint point = {};
};
using Endpoint = std::vector<EndpointPart>;

struct PointMotion {
    Vec3 position; ///< in the world [m]
    Vec3 velocity; ///< [m/s]
};

/// A point of a body where an impulse acts, and the place in the world at which it does: both sides of a contact feel
/// theirs at one common place, or angular momentum would be made.
struct Touch {
    BodyPoint point;
    Vec3 place = Vec3::Zero(); ///< at the start of the step [m]
};

/// By what a body answers impulses, and what they change.
enum class ResponseKind {
    Implicit, ///< by the operator of its own step: they change the prediction
    Bare, ///< by its mass alone, or what comes near it: they change the velocities of its state, and its prediction is lost
    Places ///< as Bare, but they change where it is, in [kg m]
};

/// Where a body collides by impulses, which the world finds; the rest its own solve handles, or nothing does.
enum class Collides {
    Nowhere,
    WithBodies, ///< that collide by impulses too
    Everywhere  ///< and with obstacles
};

/// What a surface does to those that touch it.
struct ContactLaw {
    double friction = 0.5;    ///< Coulomb's coefficient, >= 0
    double restitution = 0.0; ///< share of the speed that an impact gives back, in [0, 1]
};

/// Two points of one body that hold each other: where its parts are joined.
struct InnerJoint {
    BodyPoint a, b;
    double stiffness = std::numeric_limits<double>::infinity(); ///< [N/m]; hard when infinite
    double damping = 0.0;                                       ///< of a soft one [N s/m]
};

/// What the world tells a body about a step.
struct StepContext {
    double t = 0.0;              ///< at its start [s]
    double h = 0.0;              ///< its length [s]
    Vec3 gravity = Vec3::Zero(); ///< [m/s^2]
    std::span<const Obstacle> obstacles = {};
};

/// What became of a body's own solve.
struct [[nodiscard]] BodyReport {
    bool solved = true;
    std::string trouble = {}; ///< why not
    int iterations = 0;
    int linear_iterations = 0;
    double residual = 0.0; ///< relative Newton decrement at the end
    int contacts = 0;
    double penetration = 0.0; ///< deepest [m]
};

/// Energy and momentum at this moment.
struct Mechanics {
    double mass = 0.0; ///< [kg]
    double kinetic = 0.0, elastic = 0.0,
           potential = 0.0;               ///< [J]; potential: of gravity, zero at the origin's height
    Vec3 linear_momentum = Vec3::Zero();  ///< [kg m/s]
    Vec3 angular_momentum = Vec3::Zero(); ///< about the origin [kg m^2/s]
    double linear_scale = 0.0;            ///< sum m |v|: what drift of momentum is compared with
    double angular_scale = 0.0;           ///< sum |x x m v|
};

/// Anything that lives in a world. Positions are a function of few coordinates, whichever the body has; because every
/// kind answers these questions, any two kinds can share a world, be saved, be watched and be exported.
class Body {
public:
    virtual ~Body() = default;

    // the stages of a step
    /// Solves the body's own implicit step without the others: afterwards the prediction is ready, and the state is
    /// still that of the start. When it is not `solved`, the step must be abandoned.
    virtual BodyReport predict(const StepContext& step) = 0;
    /// Takes part in a problem of impulses: adds what moves of it, to answer at these points. Bodies that nothing moves
    /// add nothing.
    virtual void join(std::span<const Touch> touches, ResponseKind kind, ImpulseProblem& problem) = 0;
    /// Between `join` and `couple`, at the same time as other bodies: whatever of the answers costs work.
    virtual void prepare_answers() {}
    /// Adds `weight` times its answer at a touch of the last `join` to the constraint that the problem got last. Returns the
    /// velocity there without any impulse: that of the prediction, for Bare of the state, for Places zero.
    virtual Vec3 couple(std::size_t touch, double weight, ImpulseProblem& problem) = 0;
    /// What the impulses of the problem came to, for one of its movers: a = sum F^T j. Returns what Places does to the angular
    /// momentum about the origin; zero for the others, which do to it what their impulses say.
    virtual Vec3 take(int mover, Eigen::Ref<const VecX> change) = 0;
    /// The prediction becomes the state.
    virtual void finish() = 0;

    // where it is
    virtual PointMotion motion(const BodyPoint& point) const = 0;
    /// Of `motion`, where nobody asks for the velocity.
    virtual Vec3 position(const BodyPoint& point) const { return motion(point).position; }
    /// Where the prediction brings the point. [m]
    virtual Vec3 predicted(const BodyPoint& point) = 0;
    /// A point of its material at a place in the world, where it is now: what joints hold. It may lie inside. Throws InputError
    /// for bodies that no joint can hold.
    virtual BodyPoint attach(const Vec3& place) = 0;
    /// Holds the surface from the start of the step to the prediction; outside of steps, the surface.
    virtual Box3 swept_bounds() const = 0;
    /// In how many ways impulses can move it; 0: in none.
    virtual Index freedoms() const = 0;
    virtual Collides collides() const = 0;
    /// Whether its surface touches itself, which the world then finds.
    virtual bool meets_itself() const { return false; }
    /// Where its parts hold together, which the world sees to. The same from step to step.
    virtual std::span<const InnerJoint> inner_joints() const { return {}; }
    /// The surface by which it collides, on its way from the start of the step to the prediction; nothing for a body that
    /// collides nowhere. Valid until the next call.
    virtual const SweptSurface* sweep() = 0;
    virtual ContactLaw law() const = 0;
    /// What bodies feel of it when it goes its own way, from time t to t + h; nothing when it does not. Valid until the
    /// next call.
    virtual std::optional<Obstacle> obstacle(double t, double h) = 0;

    // when nothing happens
    /// About how fast its material moves at most [m/s]; infinite for a body that never sleeps.
    virtual double speed() const { return std::numeric_limits<double>::infinity(); }
    /// Asleep it stays where it is, whatever acts on it: predict and finish change nothing, it has no freedoms and its velocity is
    /// zero.
    virtual void set_asleep(bool) {}
    virtual bool asleep() const { return false; }

    // from outside, not during a step
    /// Moves it as a whole, with its velocities: x becomes motion.apply(x). Throws InputError for bodies that are held.
    virtual void teleport(const RigidPose& motion);
    /// Of the whole, about the centre of mass; nothing else moves then. Throws InputError for bodies that are held.
    virtual void set_velocity(const Vec3& velocity, const Vec3& angular_velocity);

    // what the world keeps and shows
    virtual void save(StateWriter& out) const = 0;
    virtual void restore(StateReader& in) = 0;
    /// Whether it is a part of the world's saved states: not so what people hold bodies by.
    virtual bool is_saved() const { return true; }
    virtual const Shown& shown() const = 0;
    virtual void publish(Published& out) const = 0;
    virtual std::vector<Overlay> overlays() const = 0;
    /// What its surface can be coloured by: numbers at its vertices.
    virtual std::span<const FieldLabel> fields() const { return {}; }
    /// The values of fields()[number], one per vertex of the surface.
    virtual VecX field(std::size_t number) const;
    virtual Mechanics mechanics(const Vec3& gravity) = 0;
};

} // namespace lithe
