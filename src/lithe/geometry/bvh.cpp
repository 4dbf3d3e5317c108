#include "lithe/geometry/bvh.hpp"

#include <limits>
#include <numeric>

#include <tbb/parallel_invoke.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/box.hpp"

namespace lithe {
namespace {

constexpr int bin_count = 16;
constexpr int parallel_from = 4096; ///< smaller parts are built by one thread
constexpr int balanced_from = 64;   ///< deeper than this, parts are halved, so that no stack overflows
constexpr std::size_t task_count = 512;

/// Half the surface of a box; 0 for an empty one.
double half_area(const Box3& box)
{
    if (box.isEmpty()) return 0.0;
    const Vec3 s = box.sizes();
    return s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
}
double half_area(const FloatBox& box)
{
    return half_area(Box3(Vec3(box.lo[0], box.lo[1], box.lo[2]), Vec3(box.hi[0], box.hi[1], box.hi[2])));
}

struct Bin {
    Box3 box;
    int count = 0;
};

template <class Corners>
void element_boxes(const Points& vertices, const Corners& corners, double margin, std::vector<Box3>& boxes)
{
    boxes.resize(static_cast<std::size_t>(corners.cols()));
    parallel_for(corners.cols(), 4096, [&](Index t) {
        Box3 box;
        for (Index k = 0; k < corners.rows(); ++k) box.extend(vertices.col(corners(k, t)));
        boxes[static_cast<std::size_t>(t)] = widened(box, margin);
    });
}

} // namespace

struct Bvh::Builder {
    std::span<const Box3> items;
    std::vector<Node>& nodes;
    std::vector<Vec3> centers;
    std::vector<int> order;

    Builder(std::span<const Box3> boxes, std::vector<Node>& tree)
        : items(boxes), nodes(tree), centers(boxes.size()), order(boxes.size())
    {
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t i = 0; i < boxes.size(); ++i) centers[i] = boxes[i].center();
    }

    /// Items first .. first + count of `order` become the subtree at `node`, which has 2 count - 1 nodes: so every
    /// subtree knows its place before it is built, and threads do not meet.
    void build(int node, int first, int count, int depth)
    {
        Node& here = nodes[static_cast<std::size_t>(node)];
        if (count == 1) {
            const int item = order[static_cast<std::size_t>(first)];
            here = {.box = around(items[static_cast<std::size_t>(item)]), .right = -1, .item = item};
            return;
        }
        const int left = split(first, count, depth);
        here.right = node + 2 * left;
        here.item = -1;
        const auto build_left = [&] { build(node + 1, first, left, depth + 1); };
        const auto build_right = [&] { build(here.right, first + left, count - left, depth + 1); };
        if (count >= parallel_from)
            tbb::parallel_invoke(build_left, build_right);
        else {
            build_left();
            build_right();
        }
        here.box = merged(nodes[static_cast<std::size_t>(node + 1)].box,
                          nodes[static_cast<std::size_t>(here.right)].box);
    }

    /// Orders the range so that its first part and the rest make two good children; returns the size of the first.
    int split(int first, int count, int depth)
    {
        Box3 box;
        for (int i = first; i < first + count; ++i) box.extend(center_at(i));
        int axis = 0;
        const double width = box.sizes().maxCoeff(&axis);
        if (width > 0.0 && depth < balanced_from && count > 2) {
            const double per_bin = bin_count / width, start = box.min()[axis];
            const auto bin_of = [&](int item) {
                const double b = (centers[static_cast<std::size_t>(item)][axis] - start) * per_bin;
                return std::min(bin_count - 1, static_cast<int>(b));
            };
            const int cut = best_cut(first, count, bin_of);
            const auto begin = order.begin() + first;
            const auto middle =
                std::stable_partition(begin, begin + count, [&](int item) { return bin_of(item) < cut; });
            const int left = static_cast<int>(middle - begin);
            if (left > 0 && left < count) return left;
        }
        return halve(first, count, axis);
    }

    /// The first bin of the right child that minimises  area_left count_left + area_right count_right.
    template <class BinOf>
    int best_cut(int first, int count, const BinOf& bin_of) const
    {
        std::array<Bin, bin_count> bins;
        for (int i = first; i < first + count; ++i) {
            const int item = order[static_cast<std::size_t>(i)];
            Bin& bin = bins[static_cast<std::size_t>(bin_of(item))];
            bin.box.extend(items[static_cast<std::size_t>(item)]);
            ++bin.count;
        }
        std::array<double, bin_count> right_cost = {};
        Bin sum;
        for (int b = bin_count - 1; b > 0; --b) {
            sum.box.extend(bins[static_cast<std::size_t>(b)].box);
            sum.count += bins[static_cast<std::size_t>(b)].count;
            right_cost[static_cast<std::size_t>(b)] = half_area(sum.box) * sum.count;
        }
        sum = Bin{};
        int best = 1;
        double best_cost = std::numeric_limits<double>::infinity();
        for (int b = 1; b < bin_count; ++b) {
            sum.box.extend(bins[static_cast<std::size_t>(b - 1)].box);
            sum.count += bins[static_cast<std::size_t>(b - 1)].count;
            const double cost = half_area(sum.box) * sum.count + right_cost[static_cast<std::size_t>(b)];
            if (cost < best_cost) {
                best_cost = cost;
                best = b;
            }
        }
        return best;
    }

    int halve(int first, int count, int axis)
    {
        const auto begin = order.begin() + first;
        std::nth_element(begin, begin + count / 2, begin + count, [&](int i, int j) {
            const double x = centers[static_cast<std::size_t>(i)][axis],
                         y = centers[static_cast<std::size_t>(j)][axis];
            return x != y ? x < y : i < j;
        });
        return count / 2;
    }

    const Vec3& center_at(int i) const
    {
        return centers[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    }
};

Bvh::Bvh(std::span<const Box3> items) : items_(items.begin(), items.end())
{
    for (const Box3& item : items) box_.extend(item);
    if (items.empty()) return;
    if (items.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 2))
        throw InputError("too many items for one hierarchy of boxes");
    nodes_.resize(2 * items.size() - 1);
    Builder(items, nodes_).build(0, 0, static_cast<int>(items.size()), 0);
    find_packs();
}

/// The largest parts of the tree that are small enough. A part of n items has 2 n - 1 nodes, one after the other.
void Bvh::find_packs()
{
    std::vector<int> counts(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;)
        counts[i] =
            nodes_[i].is_leaf() ? 1 : counts[i + 1] + counts[static_cast<std::size_t>(nodes_[i].right)];
    for (std::size_t i = 0; i < nodes_.size();) {
        if (counts[i] > pack_size) {
            ++i;
            continue;
        }
        nodes_[i].pack = pack_count();
        for (const std::size_t end = i + 2 * static_cast<std::size_t>(counts[i]) - 1; i < end; ++i)
            if (nodes_[i].is_leaf()) pack_items_.push_back(nodes_[i].item);
        pack_start_.push_back(static_cast<int>(pack_items_.size()));
    }
}

void Bvh::refit(std::span<const Box3> items)
{
    LITHE_ASSERT(static_cast<Index>(items.size()) == item_count());
    items_.assign(items.begin(), items.end());
    box_.setEmpty();
    for (const Box3& item : items) box_.extend(item);
    for (std::size_t i = nodes_.size(); i-- > 0;) { // children come after their parents
        Node& node = nodes_[i];
        if (node.right < 0)
            node.box = around(items[static_cast<std::size_t>(node.item)]);
        else
            node.box = merged(nodes_[i + 1].box, nodes_[static_cast<std::size_t>(node.right)].box);
    }
}

double Bvh::cost() const
{
    if (nodes_.empty()) return 0.0;
    double sum = 0.0;
    for (const Node& node : nodes_) sum += half_area(node.box);
    const double root = half_area(nodes_[0].box);
    return root > 0.0 ? sum / root : static_cast<double>(nodes_.size());
}

/// Opens the tree against itself until there is work for any number of threads; the list does not depend on theirs.
std::vector<Bvh::NodePair> Bvh::self_pair_tasks() const
{
    std::vector<NodePair> tasks;
    if (!nodes_.empty()) tasks.push_back({0, 0});
    for (bool opened = true; opened && tasks.size() < task_count;) {
        opened = false;
        std::vector<NodePair> next;
        for (const NodePair& pair : tasks) {
            const Node& a = nodes_[static_cast<std::size_t>(pair.a)];
            const Node& b = nodes_[static_cast<std::size_t>(pair.b)];
            if (a.right < 0 || b.right < 0) {
                if (pair.a != pair.b) next.push_back(pair);
                continue;
            }
            opened = true;
            if (pair.a == pair.b) {
                next.insert(next.end(),
                            {{pair.a + 1, pair.a + 1}, {a.right, a.right}, {pair.a + 1, a.right}});
            } else if (meet(a.box, b.box)) {
                next.insert(next.end(), {{pair.a + 1, pair.b + 1},
                                         {pair.a + 1, b.right},
                                         {a.right, pair.b + 1},
                                         {a.right, b.right}});
            }
        }
        tasks = std::move(next);
    }
    return tasks;
}

void triangle_boxes(const Points& vertices, const Triangles& triangles, double margin,
                    std::vector<Box3>& boxes)
{
    element_boxes(vertices, triangles, margin, boxes);
}

void tet_boxes(const Points& vertices, const Tets& tets, double margin, std::vector<Box3>& boxes)
{
    element_boxes(vertices, tets, margin, boxes);
}

} // namespace lithe
