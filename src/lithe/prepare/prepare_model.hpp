#pragma once
#include "lithe/prepare/reduce_body.hpp"

namespace lithe {

/// A model of one body of a scene, as its `reduction` (the defaults where it has none) and the scene's training say.
Reduction prepare_model(const Scene& scene, const SceneBody& body, Progress& progress);

/// The scene for a model of a mesh or a shape alone.
Scene model_scene(const SceneSource& source);

/// Whether the source of a model, found beside it or here, is no longer what the model was made from.
enum class Freshness {
    Fresh,
    Stale,  ///< the source has other bytes now
    Unknown ///< the source is not to be found, or was no file
};
Freshness freshness(const ReductionRecord& record, const std::filesystem::path& model_file);

/// Says in a record what the model was made from; its settings are there already.
void record_source(const SceneSource& source, ReductionRecord& record);

} // namespace lithe
