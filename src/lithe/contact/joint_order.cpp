#include "lithe/contact/joint_order.hpp"

#include <algorithm>

namespace lithe {
namespace {

class Separator {
public:
    explicit Separator(const Graph& graph) : graph_(graph), alive_(graph.size(), 1), seen_(graph.size(), 0) {}

    /// The alive nodes that hang together with `start`, rising.
    std::vector<int> piece(int start)
    {
        ++round_;
        std::vector<int> found;
        reach(start, found);
        std::sort(found.begin(), found.end());
        return found;
    }

    /// Appends the nodes of a piece in the order of elimination.
    void order(const std::vector<int>& piece_nodes, std::vector<int>& nodes)
    {
        const int top = best_top(piece_nodes);
        alive_[at(top)] = 0;
        for (const int start : piece_nodes) {
            if (!alive_[at(start)]) continue; // the top, or ordered with an earlier rest
            order(piece(start), nodes);
        }
        nodes.push_back(top);
    }

private:
    static std::size_t at(int node) { return static_cast<std::size_t>(node); }

    void reach(int start, std::vector<int>& found)
    {
        const auto first = found.size();
        found.push_back(start);
        seen_[at(start)] = round_;
        for (auto next = first; next < found.size(); ++next)
            for (const int neighbour : graph_[at(found[next])]) {
                if (!alive_[at(neighbour)] || seen_[at(neighbour)] == round_) continue;
                seen_[at(neighbour)] = round_;
                found.push_back(neighbour);
            }
    }

    std::size_t largest_rest(const std::vector<int>& nodes, int top)
    {
        ++round_;
        alive_[at(top)] = 0;
        std::size_t largest = 0;
        for (const int start : nodes) {
            if (start == top || seen_[at(start)] == round_) continue;
            std::vector<int> found;
            reach(start, found);
            largest = std::max(largest, found.size());
        }
        alive_[at(top)] = 1;
        return largest;
    }

    int best_top(const std::vector<int>& nodes)
    {
        int best = nodes.front();
        std::size_t smallest = nodes.size();
        for (const int top : nodes) {
            const std::size_t largest = largest_rest(nodes, top);
            if (largest >= smallest) continue;
            smallest = largest;
            best = top;
        }
        return best;
    }

    const Graph& graph_;
    std::vector<char> alive_;
    std::vector<int> seen_;
    int round_ = 0;
};

} // namespace

EliminationOrder separator_order(const Graph& graph)
{
    Separator separator(graph);
    EliminationOrder order;
    std::vector<char> done(graph.size(), 0);
    for (std::size_t start = 0; start < graph.size(); ++start) {
        if (done[start]) continue;
        order.first_piece.push_back(static_cast<int>(order.nodes.size()));
        const std::vector<int> piece = separator.piece(static_cast<int>(start));
        for (const int node : piece) done[static_cast<std::size_t>(node)] = 1;
        separator.order(piece, order.nodes);
    }
    order.first_piece.push_back(static_cast<int>(order.nodes.size()));
    return order;
}

} // namespace lithe
