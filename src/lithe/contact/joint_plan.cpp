#include "lithe/contact/joint_plan.hpp"

#include <algorithm>
#include <map>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/contact/joint_order.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

void sort_and_thin(std::vector<int>& numbers)
{
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Puts lists behind each other.
template <class T>
void flatten(const std::vector<std::vector<T>>& lists, std::vector<T>& all, std::vector<int>& first)
{
    first.assign(1, 0);
    for (const auto& list : lists) {
        all.insert(all.end(), list.begin(), list.end());
        first.push_back(static_cast<int>(all.size()));
    }
}

/// The joints as the pattern tells of them.
struct Joints {
    std::vector<std::vector<int>> bodies;                   ///< of each joint
    std::vector<int> size_of;                               ///< of each body
    std::vector<std::vector<JointPlan::BlockPlace>> blocks; ///< of each body
};
Joints read(std::span<const int> pattern)
{
    Joints out;
    int block = 0;
    for (std::size_t i = 0; i < pattern.size();) {
        if (pattern[i] < 0) {
            out.bodies.emplace_back();
            ++i;
            continue;
        }
        const int body = pattern[i++], size = pattern[i++];
        if (out.size_of.size() <= at(body)) {
            out.size_of.resize(at(body) + 1);
            out.blocks.resize(at(body) + 1);
        }
        out.size_of[at(body)] = size;
        out.bodies.back().push_back(body);
        out.blocks[at(body)].push_back({static_cast<int>(out.bodies.size()) - 1, block++});
    }
    return out;
}

struct FoundBonds {
    std::vector<std::vector<int>> joints, bodies; ///< of each bond
};

/// Joints with the same bodies, in their order.
FoundBonds joints_by_bodies(const Joints& joints)
{
    FoundBonds found;
    std::map<std::vector<int>, std::size_t> bond_of_bodies;
    for (std::size_t joint = 0; joint < joints.bodies.size(); ++joint) {
        std::vector<int> bodies = joints.bodies[joint];
        sort_and_thin(bodies);
        const auto [place, is_new] = bond_of_bodies.try_emplace(bodies, found.joints.size());
        if (is_new) {
            found.joints.emplace_back();
            found.bodies.push_back(bodies);
        }
        found.joints[place->second].push_back(static_cast<int>(joint));
    }
    return found;
}

/// Bonds that share a body.
Graph neighbours_of(const FoundBonds& found, std::size_t body_count)
{
    std::vector<std::vector<int>> bonds_of_body(body_count);
    for (std::size_t bond = 0; bond < found.bodies.size(); ++bond)
        for (const int body : found.bodies[bond]) bonds_of_body[at(body)].push_back(static_cast<int>(bond));
    Graph graph(found.bodies.size());
    for (const auto& sharing : bonds_of_body)
        for (const int a : sharing)
            for (const int b : sharing)
                if (a != b) graph[at(a)].push_back(b);
    for (auto& neighbours : graph) sort_and_thin(neighbours);
    return graph;
}

/// Rows and joints by the order of elimination.
void number_rows(const std::vector<int>& order, const FoundBonds& found, std::size_t joint_count,
                 JointPlan& plan)
{
    plan.row_of_joint.resize(joint_count);
    plan.bond_of_joint.resize(joint_count);
    plan.bonds.assign(order.size() + 1, {});
    for (std::size_t k = 0; k < order.size(); ++k) {
        const auto& here = found.joints[at(order[k])];
        plan.first_joint.push_back(static_cast<int>(plan.joints.size()));
        plan.bonds[k].row = plan.rows;
        plan.bonds[k].size = static_cast<int>(3 * here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            plan.row_of_joint[at(here[i])] = plan.rows + static_cast<Index>(3 * i);
            plan.bond_of_joint[at(here[i])] = static_cast<int>(k);
            plan.joints.push_back(here[i]);
        }
        plan.rows += padded(plan.bonds[k].size);
    }
    plan.bonds.back().row = plan.rows;
    plan.first_joint.push_back(static_cast<int>(plan.joints.size()));
}

/// The later neighbours of each bond. What is eliminated leaves its neighbours joined to each other: the first of them
/// inherits the rest.
void find_below(const std::vector<int>& order, const Graph& graph, JointPlan& plan)
{
    std::vector<int> position(graph.size());
    for (std::size_t k = 0; k < order.size(); ++k) position[at(order[k])] = static_cast<int>(k);
    std::vector<std::vector<int>> later(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        auto& mine = later[k];
        for (const int neighbour : graph[at(order[k])])
            if (position[at(neighbour)] > static_cast<int>(k)) mine.push_back(position[at(neighbour)]);
        sort_and_thin(mine);
        if (!mine.empty()) {
            auto& heir = later[at(mine.front())];
            heir.insert(heir.end(), mine.begin() + 1, mine.end());
        }
        plan.bonds[k].first_below = static_cast<int>(plan.all_below.size());
        plan.all_below.insert(plan.all_below.end(), mine.begin(), mine.end());
    }
    plan.bonds.back().first_below = static_cast<int>(plan.all_below.size());
}

void find_panels(JointPlan& plan)
{
    for (int k = 0; k < plan.bond_count(); ++k) {
        JointPlan::Bond& bond = plan.bonds[at(k)];
        bond.panel = plan.values;
        bond.panel_rows = padded(bond.size);
        for (const int later : plan.below(k)) bond.panel_rows += padded(plan.bonds[at(later)].size);
        plan.values += bond.panel_rows * bond.size;
    }
    plan.bonds.back().panel = plan.values;
}

/// The row of a panel at which a later bond starts.
Index place_below(const JointPlan& plan, int bond, int later)
{
    Index row = padded(plan.bonds[at(bond)].size);
    for (const int other : plan.below(bond)) {
        if (other == later) return row;
        row += padded(plan.bonds[at(other)].size);
    }
    LITHE_ASSERT(false);
    return 0;
}

/// For the columns of b, the rows of a that are eliminated with it or later.
void find_products(const Joints& joints, JointPlan& plan)
{
    std::vector<std::vector<JointPlan::Product>> of_bond(at(plan.bond_count()));
    for (std::size_t body = 0; body < joints.blocks.size(); ++body)
        for (const JointPlan::BlockPlace& b : joints.blocks[body])
            for (const JointPlan::BlockPlace& a : joints.blocks[body]) {
                const Index row_a = plan.row_of_joint[at(a.joint)], row_b = plan.row_of_joint[at(b.joint)];
                if (row_a < row_b) continue;
                const int k = plan.bond_of_joint[at(b.joint)], bond_a = plan.bond_of_joint[at(a.joint)];
                const JointPlan::Bond& bond = plan.bonds[at(k)];
                const Index panel_row =
                    (bond_a == k ? 0 : place_below(plan, k, bond_a)) + row_a - plan.bonds[at(bond_a)].row;
                const Index column = row_b - bond.row;
                of_bond[at(k)].push_back({a.block, b.block, padded(joints.size_of[body]),
                                          bond.panel + panel_row + column * bond.panel_rows,
                                          bond.panel_rows});
            }
    flatten(of_bond, plan.products, plan.first_product);
}

} // namespace

JointPlan make_joint_plan(std::span<const int> pattern)
{
    const Joints joints = read(pattern);
    const FoundBonds found = joints_by_bodies(joints);
    const Graph graph = neighbours_of(found, joints.size_of.size());
    const EliminationOrder order = separator_order(graph);
    JointPlan plan;
    number_rows(order.nodes, found, joints.bodies.size(), plan);
    find_below(order.nodes, graph, plan);
    find_panels(plan);
    plan.lowest_bond.assign(joints.size_of.size(), -1);
    for (int k = plan.bond_count() - 1; k >= 0; --k)
        for (const int body : found.bodies[at(order.nodes[at(k)])]) plan.lowest_bond[at(body)] = k;
    flatten(joints.blocks, plan.blocks, plan.first_block);
    find_products(joints, plan);
    return plan;
}

} // namespace lithe
