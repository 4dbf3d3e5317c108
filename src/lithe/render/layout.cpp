#include "lithe/render/layout.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {

namespace {

constexpr double gap = 0.25; ///< between neighbours, as a share of the larger one

std::vector<Placement> arrange_row(std::span<const Box3> boxes)
{
    std::vector<Placement> placements;
    double x = 0.0, last = 0.0;
    for (const Box3& box : boxes) {
        const double width = box.sizes().x();
        if (!placements.empty()) x += gap * std::max(width, last);
        placements.push_back({1.0, {x - box.min().x(), -box.min().y(), -box.center().z()}});
        x += width;
        last = width;
    }
    return placements;
}

/// Each thing is scaled to fill a cube of side 1; the first row stands farthest back.
std::vector<Placement> arrange_grid(std::span<const Box3> boxes)
{
    const auto columns =
        static_cast<std::size_t>(std::ceil(std::sqrt(1.6 * static_cast<double>(boxes.size()))));
    std::vector<Placement> placements;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box3& box = boxes[i];
        const double size = box.sizes().maxCoeff(), scale = size > 0.0 ? 1.0 / size : 1.0;
        const Vec3 foot(box.center().x(), box.min().y(), box.center().z());
        const auto column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
        const Vec3 cell((1.0 + gap) * column, 0.0, 1.5 * row); // View::Gallery sees those behind between two
        placements.push_back({scale, cell - scale * foot});
    }
    return placements;
}

} // namespace

std::vector<Placement> arrange(std::span<const Box3> boxes, Arrangement arrangement)
{
    switch (arrangement) {
    case Arrangement::Row:
        return arrange_row(boxes);
    case Arrangement::Grid:
        return arrange_grid(boxes);
    case Arrangement::AsIs:
        break;
    }
    return std::vector<Placement>(boxes.size());
}

} // namespace lithe
