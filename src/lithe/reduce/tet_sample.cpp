#include "lithe/reduce/tet_sample.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/reduce/deformation_rows.hpp"

namespace lithe {

TetSample sample_tets(const FemModel& model)
{
    constexpr Index sample_size = 1000;
    const Elements& elements = model.elements;
    double whole = 0.0;
    for (Index slot = 0; slot < elements.slot_count(); ++slot) whole += rest_volume(elements, slot);
    const bool take_all = elements.slot_count() <= sample_size;
    const double share = whole / sample_size;
    struct Point {
        int tet;
        Index slot;
        double weight;
    };
    std::vector<Point> points;
    double sum = 0.5 * share;
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        const int tet = elements.tet_of_slot[static_cast<std::size_t>(slot)];
        if (tet < 0) continue;
        const double volume = rest_volume(elements, slot), before = sum;
        sum += volume;
        const double marks = std::floor(sum / share) - std::floor(before / share);
        if (take_all)
            points.push_back({tet, slot, 1.0});
        else if (marks > 0.0)
            points.push_back({tet, slot, marks * share / volume});
    }
    std::ranges::sort(points, {}, &Point::tet);
    TetSample out;
    out.cubature.weights.resize(static_cast<Index>(points.size()));
    for (std::size_t k = 0; k < points.size(); ++k) {
        out.cubature.tets.push_back(points[k].tet);
        out.slots.push_back(points[k].slot);
        out.cubature.weights[static_cast<Index>(k)] = points[k].weight;
    }
    return out;
}

} // namespace lithe
