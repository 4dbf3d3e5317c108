#pragma once
#include <vector>

namespace lithe {

/// Neighbours of each node.
using Graph = std::vector<std::vector<int>>;

/// An elimination order of a small graph, the pieces that hang together one after the other. In every piece, the node
/// that leaves the smallest largest rest goes last, then the same in the rests: on a tree the way from any node to the
/// top is as short as a logarithm. Costs the square of the nodes of a piece.
struct EliminationOrder {
    std::vector<int> nodes;       ///< entry k: eliminated k-th
    std::vector<int> first_piece; ///< where each piece starts, and one more
};
EliminationOrder separator_order(const Graph& graph);

} // namespace lithe
