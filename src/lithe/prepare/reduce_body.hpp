#pragma once
#include "lithe/core/timer.hpp"
#include "lithe/prepare/training.hpp"

namespace lithe {

/// A body made ready for real time, with all that can be told about it.
struct Reduction {
    PreparedModel model;
    PreparedVolume volume;
    StageTimes times;               ///< of its making
    std::vector<std::string> notes; ///< what was chosen on the way
};

/// From a body in full space to a reduced one: shapes and principal directions of snapshots first, where the training has
/// some, then modes and their derivatives, then an elastic model for that basis. Without training nothing is solved in
/// full space. Throws InputError for pins that move, parts that hang together by nothing, and a rank that the body does not
/// have. `times` of what came before are gone on with.
Reduction reduce_body(const BodyParts& parts, const SceneReduction& options, const TrainingData& training,
                      StageTimes times, Progress& progress);

/// The same for a body that does not deform: of rank 0.
PreparedModel rigid_model(const BodyParts& parts);

/// The vertices that pins hold, rising. Throws InputError when one of them moves or lets go.
std::vector<int> held_vertices(const std::vector<LedVertices>& pins);

} // namespace lithe
