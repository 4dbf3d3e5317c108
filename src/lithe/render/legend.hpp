#pragma once
#include "lithe/render/image.hpp"
#include "lithe/render/scene.hpp"

namespace lithe {

/// Draws the colour map as a bar at the right border, with the field's name and the values at both ends.
void draw_legend(Image& image, const ColorBy& what);

} // namespace lithe
