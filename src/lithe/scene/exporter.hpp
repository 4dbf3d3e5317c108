#pragma once
#include <filesystem>
#include <memory>

#include "lithe/body/published.hpp"

namespace lithe {

struct ExportOptions {
    int bake_rank =
        32; ///< of a .glb: most morph targets that correct a character's skin, see GlbOptions; >= 0
};

/// The sink for a file name, by its ending (docs/output-files.md):
///
///   .glb    one node per body; a rigid one is moved by the node, another also by morph targets and their weights
///   .usda   points sampled in time (text)
///   .pc2    point cache of the deforming body, with NAME.obj beside it, the mesh that it moves; of several bodies a
///           pair NAME_<body>.pc2 and .obj each
///   .pvd    with a folder NAME of .vtu beside it: the tets of bodies that have them, with displacement and velocity
///   FOLDER/ (no ending, or a slash at the end) a .ply per frame, all bodies but backdrops in one
///
/// Throws InputError for any other ending, and when the place cannot be written to. What is written appears whole, on
/// `finish`, with the frames that came so far (none: nothing is written); without `finish`, nothing changes on disk.
std::unique_ptr<FrameSink> make_exporter(const std::filesystem::path& target,
                                         const ExportOptions& options = {});

} // namespace lithe
