#pragma once
#include <functional>
#include <span>

#include "lithe/core/progress.hpp"
#include "lithe/world/metrics.hpp"

namespace lithe {

struct RunOptions {
    double fps = 60.0;   ///< frames per second, > 0
    int substeps = 1;    ///< steps per frame, > 0
    int first_frame = 0; ///< the number of the frame that the world is at
    int last_frame = 120;
    int max_halvings = 4; ///< how often a step that is not solved is split in two before the run is given up
};

enum class RunEnd {
    Finished,
    Interrupted, ///< the user asked to stop; all is well up to the last frame
    NotSolved    ///< a step could not be solved, not even in parts
};

struct [[nodiscard]] RunReport {
    RunEnd end = RunEnd::Finished;
    int last_frame = 0;       ///< that is complete
    std::string trouble = {}; ///< when NotSolved: which body, and why
};

/// Takes the steps of one frame, and adds them to the account. A step that cannot be solved is taken in two halves.
/// `before_step` is called with the length of each step that is tried. [s]
StepReport advance_frame(World& world, const RunOptions& options, int frame, RunMetrics& metrics,
                         const std::function<void(double h)>& before_step = {});

/// Advances the world from frame to frame, hands each frame (the first one, too) to the sinks, and keeps account.
/// `on_frame` is called after each frame, for checkpoints. The sinks are begun and finished here, also after an early
/// end; exceptions (disk full) pass through.
RunReport run(World& world, const RunOptions& options, std::span<FrameSink* const> sinks, RunMetrics& metrics,
              Progress& progress, const std::function<void(int frame)>& on_frame = {});

} // namespace lithe
