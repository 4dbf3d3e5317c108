#pragma once
#include <filesystem>
#include <memory>

#include "lithe/body/published.hpp"

namespace lithe {

/// The sink for a file name, by its ending:
///
///   .glb    one node per body; a rigid one is moved by the node, another by morph targets and their weights
///   .usda   points sampled in time (text)
///   .pc2    point cache of the one deforming body, with NAME.obj beside it, the mesh that it moves
///   .pvd    with a folder of .vtu beside it: the tets of bodies that have them, with displacement and velocity
///   FOLDER/ (no ending, or a slash at the end) a .ply per frame, all bodies in one
///
/// Throws InputError for any other ending, and when the place cannot be written to.
std::unique_ptr<FrameSink> make_exporter(const std::filesystem::path& target);

} // namespace lithe
