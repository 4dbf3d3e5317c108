#include "lithe/geometry/lattice_cells.hpp"

#include <algorithm>

namespace lithe {
namespace {

constexpr std::array<int, 2> tet_edges[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
constexpr LatticeFace tet_faces[] = {{0, 2, 1, -1}, {0, 1, 3, -1}, {0, 3, 2, -1}, {1, 2, 3, -1}};
constexpr std::array<int, 3> tet_neighbours[] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

constexpr std::array<int, 2> prism_edges[] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5},
                                              {5, 3}, {0, 3}, {1, 4}, {2, 5}};
constexpr LatticeFace prism_faces[] = {
    {0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};
constexpr std::array<int, 3> prism_neighbours[] = {{1, 2, 3}, {2, 0, 4}, {0, 1, 5},
                                                   {5, 4, 0}, {3, 5, 1}, {4, 3, 2}};

constexpr std::array<int, 2> hex_edges[] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                            {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
constexpr LatticeFace hex_faces[] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
constexpr std::array<int, 3> hex_neighbours[] = {{1, 2, 4}, {3, 0, 5}, {0, 3, 6}, {2, 1, 7},
                                                 {6, 5, 0}, {4, 7, 1}, {7, 4, 2}, {5, 6, 3}};

const LatticeCellTopology tet_topology = {4, tet_edges, tet_faces, tet_neighbours};
const LatticeCellTopology prism_topology = {6, prism_edges, prism_faces, prism_neighbours};
const LatticeCellTopology hex_topology = {8, hex_edges, hex_faces, hex_neighbours};

} // namespace

const LatticeCellTopology& topology(LatticeCellKind kind)
{
    switch (kind) {
    case LatticeCellKind::Tet:
        return tet_topology;
    case LatticeCellKind::Prism:
        return prism_topology;
    default:
        return hex_topology;
    }
}

LatticeFace face_key(const LatticeCell& cell, const LatticeFace& face)
{
    LatticeFace key = {-1, -1, -1, -1};
    const int n = face_size(face);
    for (int k = 0; k < n; ++k) key[k] = cell.vertices[face[k]];
    std::sort(key.begin(), key.begin() + n);
    return key;
}

std::array<int, 2> edge_key(int a, int b)
{
    return {std::min(a, b), std::max(a, b)};
}

} // namespace lithe
