#pragma once
#include <optional>

#include "command.hpp"

#include "lithe/prepare/prepare_scene.hpp"

namespace lithe::cli {

/// Where a run goes besides the screen.
struct SimulateOutputs {
    std::vector<std::string> files;          ///< by their endings; see make_exporter
    std::optional<std::string> metrics = {}; ///< JSON
    std::optional<std::string> checkpoint = {};
    int checkpoint_every = 60;               ///< frames
    int bake_rank = 32;                      ///< see ExportOptions
    std::optional<std::string> compare = {}; ///< "full": run the same in full space beside it, and measure
};

struct SimulateResult {
    RunMetrics metrics;
    RunReport report;
};

/// Runs a prepared scene, from `prepared.run.first_frame` on, with progress, outputs, metrics and checkpoints.
/// `watchers` see the frames too.
SimulateResult simulate(PreparedScene& prepared, const SimulateOutputs& outputs, Session& session,
                        std::span<FrameSink* const> watchers = {});

/// Throws (exit 1) when the run ended early, saying at which frame and why.
void require_finished(const RunReport& report);

} // namespace lithe::cli
