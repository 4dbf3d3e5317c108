#include "suite.hpp"

#include <fmt/format.h>

#include "lithe/prepare/prepare_character.hpp"
#include "lithe/prepare/prepare_lattice.hpp"

namespace lithe::bench {

Result lattice_preparation(Progress& progress)
{
    std::vector<std::string> notes;
    const Character cow =
        load_character({.from = std::string("cow"), .read = {}, .place = {}}, progress, notes);
    std::size_t vertices = 0;
    const Timing timing = measure(5, progress, [&] {
        notes.clear();
        vertices = prepare_lattice(cow, {}, progress, notes).lattice.vertices.size();
    });
    return {
        "prepare_s",
        timing.median,
        "s",
        fmt::format("shape:cow of {} triangles with {} bones: closed body, lattice of {} vertices, integrals",
                    cow.surface.triangle_count(), cow.bones.size(), vertices),
        timing.fastest,
        timing.slowest,
        timing.runs};
}

} // namespace lithe::bench
