#include "lithe/scene/exporter.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/scene/export_formats.hpp"

namespace lithe {
namespace {

/// The ending with A-Z made small.
std::string ending_of(const std::filesystem::path& path)
{
    std::string ending = path.extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return ending;
}

/// Hands on the bodies that have something to show; no format has to think of the others.
class VisibleBodies final : public FrameSink {
public:
    explicit VisibleBodies(std::unique_ptr<FrameSink> next) : next_(std::move(next)) {}

    void begin(const std::vector<Shown>& bodies, double fps) override
    {
        std::vector<Shown> visible;
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            if (bodies[b].surface.triangle_count() == 0) continue;
            visible.push_back(bodies[b]);
            kept_.push_back(b);
        }
        frame_.bodies.resize(kept_.size());
        next_->begin(visible, fps);
    }
    void frame(const Frame& frame) override
    {
        frame_.number = frame.number;
        frame_.t = frame.t;
        for (std::size_t k = 0; k < kept_.size(); ++k) frame_.bodies[k] = frame.bodies[kept_[k]];
        next_->frame(frame_);
    }
    void finish() override { next_->finish(); }

private:
    std::unique_ptr<FrameSink> next_;
    std::vector<std::size_t> kept_; ///< indices of the visible bodies
    Frame frame_;
};

std::unique_ptr<FrameSink> make_format(const std::filesystem::path& target, const ExportOptions& options)
{
    if (target.empty()) throw InputError("the name of an output file is empty");
    if (!target.has_filename()) return exporting::make_ply_exporter(target.parent_path());
    const std::string ending = ending_of(target);
    if (ending.empty()) return exporting::make_ply_exporter(target);
    if (ending == ".glb") return exporting::make_glb_exporter(target, {.bake_rank = options.bake_rank});
    if (ending == ".usda") return exporting::make_usda_exporter(target);
    if (ending == ".pc2") return exporting::make_pc2_exporter(target);
    if (ending == ".pvd") return exporting::make_pvd_exporter(target);
    const std::vector<std::string> known = {".glb", ".usda", ".pc2", ".pvd"};
    throw InputError({.file = target}, "has the unknown ending '" + ending +
                                           "'; animations are .glb .usda .pc2 .pvd, or a folder (a name "
                                           "without ending) for a .ply per frame" +
                                           did_you_mean(ending, known));
}

} // namespace

std::unique_ptr<FrameSink> make_exporter(const std::filesystem::path& target, const ExportOptions& options)
{
    return std::make_unique<VisibleBodies>(make_format(target, options));
}

} // namespace lithe
