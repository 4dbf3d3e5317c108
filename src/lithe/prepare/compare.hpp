#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/dynamics/framed_body.hpp"
#include "lithe/dynamics/reduced_body.hpp"
#include "lithe/world/run.hpp"

namespace lithe {

/// How far a reduced run is from the full one. A body's deformation is what is left of its displacement when the best rigid
/// motion is taken out:
///
///   D = R^T (x - c) - (X - C),   R, c: the rigid motion that takes the rest closest to x,   |D|^2 = sum m_i |D_i|^2
///
/// The error of a frame is |D_full - D_reduced| over the largest |D_full| of the run, all bodies together.
class ErrorMeter {
public:
    /// One body: its nodes at rest [m] and their masses [kg].
    struct Body {
        Points rest;
        VecX masses;
    };
    explicit ErrorMeter(std::vector<Body> bodies);

    /// One frame: the nodes of each body, in the order of the bodies. [m]
    void add_frame(std::span<const Points> full, std::span<const Points> reduced);

    double last_error() const; ///< of the last frame, relative; 0 where nothing deforms
    double max_error() const;  ///< of any frame, relative
    double mean_error() const; ///< of all frames, relative

private:
    std::vector<Body> bodies_;
    std::vector<double> errors_; ///< absolute, by frame [m sqrt(kg)]
    double largest_ = 0.0;       ///< |D_full| [m sqrt(kg)]
    Points full_, reduced_;
};

/// D of one body. [m]
void set_deformation(const ErrorMeter::Body& body, const Points& x, Points& D);

/// The model that a prepared model was made from, where `placement` puts it: same tets, materials, mass, damping, pins
/// and stiffness of contact.
FullBodyModel full_body_model(const PreparedModel& model, const PreparedVolume& volume,
                              const RigidPose& placement = {}, double friction = 0.5);

/// What full space needs to know of a reduced body of a world beyond what the body itself does.
struct BodyVolume {
    std::string body; ///< its name
    std::shared_ptr<const PreparedVolume> volume;
    std::vector<TimedLoad> loads = {}; ///< of the body, on nodes and faces of the volume; in world axes
};

/// The same body in full space, as it is at the start: placement, integrator, friction and velocity of the reduced one. The
/// solver keeps its own defaults. Throws InputError when the volume is that of another model.
std::unique_ptr<FullBody> full_twin(const ReducedBody& body, const BodyVolume& full);
std::unique_ptr<FullBody> full_twin(const FramedBody& body, const BodyVolume& full);

/// The same scene in full space, beside a run in reduced coordinates: its reduced bodies as full ones, its obstacles; other
/// bodies are left out.
class FullRun {
public:
    /// Begins where `reduced` is, with its velocities. Throws InputError when no body of it is reduced, or one has no volume.
    FullRun(const World& reduced, std::span<const BodyVolume> volumes, const RunOptions& options);

    /// What a measurement needs of the reduced bodies: a few numbers, which can wait for a run that is slower.
    std::vector<Published> compared(const World& reduced) const;
    /// Goes to a frame, and measures how far the bodies were from there. Throws std::runtime_error when a step cannot be
    /// solved.
    void follow(int frame, std::span<const Published> reduced);
    void follow(int frame, const World& reduced) { follow(frame, compared(reduced)); }

    double time() const { return world_.time(); } ///< [s]
    const ErrorMeter& errors() const { return *meter_; }

    RunComparison result(const World& reduced) const;
    double seconds() const { return seconds_; } ///< that all of this took

private:
    void measure(std::span<const Published> reduced);

    struct Pair {
        BodyId full, reduced;
        std::shared_ptr<const PreparedVolume> volume;
    };
    World world_;
    RunOptions options_;
    int frame_;
    std::vector<Pair> pairs_;
    std::optional<ErrorMeter> meter_; ///< once the bodies are known
    std::vector<Points> full_, reduced_;
    double seconds_ = 0.0;
};

} // namespace lithe
