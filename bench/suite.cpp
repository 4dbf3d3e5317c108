#include "suite.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

namespace lithe::bench {

std::span<const Suite> suites()
{
    static const std::array<Suite, 9> all = {{
        {"math", "3x3 decompositions and sparse solves", bench_math},
        {"geometry", "reading, queries and checks on surfaces", bench_geometry},
        {"rig", "skinning, weights and wraps of characters", bench_rig},
        {"fem", "elastic forces, stiffness and an implicit step", bench_fem},
        {"reduce", "modes, cubature and reduced steps", bench_reduce},
        {"lattice", "flesh on a skeleton in a control lattice: steps, skin, adaptation", bench_lattice},
        {"momentum", "bodies that move freely, with Bullet beside them", bench_momentum},
        {"meshing", "surfaces to tetrahedra", bench_meshing},
        {"render", "pictures", bench_render},
    }};
    return all;
}

std::string data_file(const std::string& name)
{
    const char* folder = std::getenv("LITHE_DATA");
    const std::filesystem::path path = std::filesystem::path(folder ? folder : LITHE_DATA) / name;
    return std::filesystem::exists(path) ? path.string() : std::string();
}

} // namespace lithe::bench
