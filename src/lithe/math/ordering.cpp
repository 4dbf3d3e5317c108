#include "lithe/math/ordering.hpp"

#include <mutex>
#include <numeric>
#include <string>

#include <metis.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

static_assert(IDXTYPEWIDTH == 32, "METIS must be built with 32-bit indices");

/// The graph of A: its pattern without the diagonal.
struct Graph {
    std::vector<idx_t> start, neighbour;
};

Graph graph_of(const SparseMatrix& A)
{
    Graph graph;
    graph.start.reserve(static_cast<std::size_t>(A.cols() + 1));
    graph.neighbour.reserve(static_cast<std::size_t>(A.nonZeros()));
    graph.start.push_back(0);
    for (int j = 0; j < A.cols(); ++j) {
        for (int p = A.outerIndexPtr()[j]; p < A.outerIndexPtr()[j + 1]; ++p)
            if (A.innerIndexPtr()[p] != j) graph.neighbour.push_back(A.innerIndexPtr()[p]);
        graph.start.push_back(static_cast<idx_t>(graph.neighbour.size()));
    }
    return graph;
}

} // namespace

std::vector<int> transposed_places(const SparseMatrix& A)
{
    if (A.cols() == 0) throw InputError("the matrix is empty; it needs at least one row");
    if (A.rows() != A.cols())
        throw InputError("the matrix is " + std::to_string(A.rows()) + " x " + std::to_string(A.cols()) +
                         "; it must be square");
    if (!A.isCompressed()) throw InputError("the matrix is not compressed; call makeCompressed() first");

    const int* start = A.outerIndexPtr();
    const int* row = A.innerIndexPtr();
    std::vector<int> next(start,
                          start + A.cols()); // in each column, the first entry whose mirror is yet to come
    std::vector<int> mirror(static_cast<std::size_t>(A.nonZeros()));
    for (int j = 0; j < A.cols(); ++j) {
        for (int p = start[j]; p < start[j + 1]; ++p) {
            const int i = row[p];
            const int q = next[static_cast<std::size_t>(i)]++;
            if (q >= start[i + 1] || row[q] != j)
                throw InputError("the matrix is not symmetric: entry (" + std::to_string(i) + ", " +
                                 std::to_string(j) + ") or one before it has no mirror image");
            mirror[static_cast<std::size_t>(p)] = q;
        }
    }
    return mirror;
}

std::vector<int> nested_dissection(const SparseMatrix& A)
{
    (void)transposed_places(A); // for its checks: METIS would crash
    Graph graph = graph_of(A);
    std::vector<int> order(static_cast<std::size_t>(A.cols()));
    std::iota(order.begin(), order.end(), 0);
    if (graph.neighbour.empty()) return order; // a diagonal matrix, which METIS does not take

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    idx_t count = static_cast<idx_t>(A.cols());
    std::vector<idx_t> position(order.size());
    // METIS draws from the one generator of the C library: two at a time would give other orders
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const int status = METIS_NodeND(&count, graph.start.data(), graph.neighbour.data(), nullptr, options,
                                    order.data(), position.data());
    if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
    LITHE_ASSERT(status == METIS_OK);
    return order;
}

void require_permutation(std::span<const int> order, Index count)
{
    if (static_cast<Index>(order.size()) != count)
        throw InputError("the elimination order has " + std::to_string(order.size()) +
                         " entries, the matrix " + std::to_string(count) + " rows");
    std::vector<char> seen(order.size(), 0);
    for (const int k : order) {
        if (k < 0 || k >= count || seen[static_cast<std::size_t>(k)])
            throw InputError("the elimination order is not a permutation: " + std::to_string(k) +
                             " is out of range or comes twice");
        seen[static_cast<std::size_t>(k)] = 1;
    }
}

} // namespace lithe
