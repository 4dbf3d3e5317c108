#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "lithe/body/published.hpp"

/// One sink per format, each in the file of its name. All of them throw InputError, naming the target, when made for a
/// place that cannot be written to, and write nothing when finished without a single frame.
namespace lithe::exporting {

using Path = std::filesystem::path;

std::unique_ptr<FrameSink> make_usda_exporter(const Path& target);
std::unique_ptr<FrameSink> make_pc2_exporter(const Path& target);
std::unique_ptr<FrameSink> make_pvd_exporter(const Path& target);
std::unique_ptr<FrameSink> make_ply_exporter(const Path& folder);

struct GlbOptions {
    /// Largest distance of a vertex from its place, as a share of the diagonal of the body at rest; > 0.
    double tolerance = 1e-4;
    /// Most morph targets that correct the skin of a character with flesh. Where they come nearer than a thousandth of its size, it is
    /// written as it came, with its skeleton, materials and these; else as a mesh with shapes of its own. 0: always that.
    int bake_rank = 32;
};
std::unique_ptr<FrameSink> make_glb_exporter(const Path& target, const GlbOptions& options = {});

/// Names that differ, made of letters, digits and _ alone and beginning with a letter or _: for files and prims.
std::vector<std::string> plain_names(const std::vector<Shown>& bodies);

} // namespace lithe::exporting
