#pragma once
#include <span>
#include <vector>

#include "lithe/body/published.hpp"
#include "lithe/core/progress.hpp"
#include "lithe/render/image.hpp"
#include "lithe/render/render.hpp"

namespace lithe::cli {

/// Keeps some frames of a run.
class FrameKeeper final : public FrameSink {
public:
    explicit FrameKeeper(std::vector<int> numbers) : numbers_(std::move(numbers)) {}

    void begin(const std::vector<Shown>& bodies, double) override { bodies_ = bodies; }
    void frame(const Frame& frame) override;
    void finish() override {}

    const std::vector<Shown>& bodies() const { return bodies_; }
    const std::vector<Frame>& frames() const { return frames_; }

private:
    std::vector<int> numbers_;
    std::vector<Shown> bodies_;
    std::vector<Frame> frames_;
};

/// How the frames of a run are drawn.
struct FrameView {
    Camera camera;
    RenderOptions options;
};
/// From one camera that has everything in sight in all of these.
FrameView view_of(const std::vector<Shown>& bodies, std::span<const Frame> frames,
                  const RenderOptions& options);
Image draw_frame(const std::vector<Shown>& bodies, const Frame& frame, const FrameView& view,
                 Progress& progress);

/// Pictures of one size side by side, `columns` in a row.
Image contact_sheet(std::span<const Image> pictures, int columns);

/// All vertices of the surfaces in one list: what a camera has to have in sight.
Points content_of(const RenderScene& scene);

} // namespace lithe::cli
