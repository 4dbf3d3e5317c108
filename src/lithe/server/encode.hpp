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

/// Numbers at the vertices of one body, to colour it by.
struct DrawnField {
    std::uint32_t body = 0; ///< its place among those of the frames
    std::string name;       ///< FieldLabel::name
    VecX values;            ///< >= 0
};

/// Beside the frames: named points and arrows of one moment, the triangles (three points each) that a cut through the tets lays
/// open, and fields, in 256 steps from zero to the largest value of the body.
struct OverlayMessage {
    std::vector<DrawnOverlay> overlays = {};
    Points cut = Points(3, 0);
    std::vector<DrawnField> fields = {};
};
std::string encode_overlays(const OverlayMessage& message, std::uint32_t scene);

} // namespace lithe
