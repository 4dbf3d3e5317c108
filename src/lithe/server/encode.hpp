#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lithe/body/published.hpp"
#include "lithe/server/protocol.hpp"

namespace lithe {

/// Bytes that several clients may be sent at once.
using Bytes = std::shared_ptr<const std::string>;

BodyForm form_of(const Shown& shown);

/// What a page knows a body by.
struct BodyLabel {
    std::uint32_t key = 0; ///< the body's own number, never used again
    bool led = false;      ///< goes its own way: an obstacle
};

/// The constant part of a body, sent once: triangles, colours, and what the page needs to make positions of frames. Shapes are
/// rounded to 16 bits of the largest entry of their column.
std::string encode_body(const Shown& shown, const BodyLabel& label);

/// Something that a hand or a pin holds.
struct Hold {
    Vec3 point, target; ///< in the world [m]
    double force = 0.0; ///< [N]
};

/// Which frame of which scene.
struct FrameStamp {
    std::uint32_t scene = 0;
    std::uint32_t number = 0;
    double t = 0.0; ///< [s]
};

/// Begins a frame; then come add_body for each body in their order, and add_holds.
class FrameEncoder {
public:
    void begin(const FrameStamp& stamp, std::uint32_t body_count);
    void add_body(const Shown& shown, const Published& now);
    void add_holds(std::span<const Hold> holds);
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// What the arrows of an overlay measure: forces are drawn to a scale that suits the scene, lengths as they are.
enum class Arrows { Forces, Lengths };
struct DrawnOverlay : Overlay {
    Arrows arrows = Arrows::Forces;
};

/// Named points and arrows of one moment, and the triangles (three points each) that a cut through the tets lays open.
std::string encode_overlays(std::span<const DrawnOverlay> overlays, const Points& cut, std::uint32_t scene);

} // namespace lithe
