#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lithe/world/world.hpp"

namespace lithe {

/// One step of a run.
struct StepMetrics {
    int frame = 0;                     ///< that it leads to
    double t = 0.0;                    ///< at its end [s]
    std::vector<double> stage_seconds; ///< as in RunMetrics::stages
    StepReport report;
    Mechanics mechanics;               ///< at its end
    std::vector<Vec3> angular_momenta; ///< of each of RunMetrics::bodies, about the origin [kg m^2/s]
};

/// A run in reduced coordinates against the same in full space.
struct RunComparison {
    double max_error = 0.0, mean_error = 0.0; ///< over the frames; relative, as docs/simulate.md says
    double speed_ratio = 0.0; ///< seconds of the full predictions over those of the reduced ones
};

/// What a run did, step by step and in all. docs/metrics.md describes the file.
struct RunMetrics {
    /// Names of the bodies with a mass, in a world of few: those that are followed one by one.
    std::vector<std::string> bodies;
    Mechanics start;                 ///< before the first step
    std::vector<std::string> stages; ///< of a step, in their order
    std::vector<StepMetrics> steps;
    int frames = 0;
    int halved_steps = 0; ///< that were not solved at once and were taken in halves
    double seconds = 0.0; ///< of the run, with output
    std::uint64_t state_hash = 0;
    int threads = 1;
    std::optional<RunComparison> comparison = {};
};

/// A run in a few numbers.
struct RunSummary {
    int iterations = 0;                ///< of all steps
    int max_contacts = 0;              ///< of any step
    double max_penetration = 0.0;      ///< the deepest [m]
    int max_sweeps = 0;                ///< of the impulses, of any step
    double max_joint_gap = 0.0;        ///< that any step left [m]
    std::vector<double> stage_seconds; ///< of all steps, as in RunMetrics::stages
};
RunSummary summarise(const RunMetrics& metrics);

/// Relative to the largest  sum m|v|  (and  sum |x x m v|)  of the run.
struct MomentumDrift {
    double linear = 0.0, angular = 0.0;
};
MomentumDrift momentum_drift(const RunMetrics& metrics);

/// Version 1 of the metrics file, as JSON.
std::string to_json(const RunMetrics& metrics);

/// The hash as it stands in the file: 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

} // namespace lithe
