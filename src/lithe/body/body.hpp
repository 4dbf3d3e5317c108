#pragma once
#include <optional>
#include <span>
#include <string>

#include "lithe/body/obstacle.hpp"
#include "lithe/body/published.hpp"
#include "lithe/body/state.hpp"
#include "lithe/core/id.hpp"

namespace lithe {

using BodyId = Id<struct BodyTag>;

/// A point fixed in the material of a body, on its surface: in a triangle of Body::shown().surface.
struct BodyPoint {
    int triangle = 0;
    Vec3 weights = Vec3::Constant(1.0 / 3.0); ///< barycentric, sum 1
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

/// How a body answers impulses at k points: their velocities change by  compliance * (impulses stacked).
struct Response {
    MatX compliance; ///< 3k x 3k, symmetric, positive semidefinite [1/kg]
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
    /// How the prediction would change under impulses at these points, by the same implicit operator.
    virtual Response response(std::span<const BodyPoint> points) = 0;
    /// Changes the prediction by impulses [N s], one at each point.
    virtual void apply(std::span<const BodyPoint> points, std::span<const Vec3> impulses) = 0;
    /// The prediction becomes the state.
    virtual void finish() = 0;

    // where it is
    virtual PointMotion motion(const BodyPoint& point) const = 0;
    /// Holds the surface from the start of the step to the prediction; outside of steps, the surface.
    virtual Box3 swept_bounds() const = 0;
    /// What bodies feel of it when it goes its own way, from time t to t + h; nothing when it does not. Valid until the
    /// next call.
    virtual std::optional<Obstacle> obstacle(double t, double h) = 0;

    // what the world keeps and shows
    virtual void save(StateWriter& out) const = 0;
    virtual void restore(StateReader& in) = 0;
    virtual const Shown& shown() const = 0;
    virtual void publish(Published& out) const = 0;
    virtual std::vector<Overlay> overlays() const = 0;
    virtual Mechanics mechanics(const Vec3& gravity) = 0;
};

} // namespace lithe
