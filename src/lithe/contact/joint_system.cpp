#include "lithe/contact/joint_system.hpp"

#include <algorithm>
#include <map>

#include "lithe/contact/row_products.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

/// Of a joint's own response: keeps D definite where joints repeat each other.
constexpr double regularisation = 1e-9;

using Panel = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
using ConstPanel = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;

std::span<const ConstraintRows::Block> blocks_of(const ConstraintRows& rows, int c)
{
    return {rows.blocks.data() + rows.begin(c), static_cast<std::size_t>(rows.end(c) - rows.begin(c))};
}

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

void sort_and_thin(std::vector<int>& numbers)
{
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

struct FoundBonds {
    std::vector<std::vector<int>> joints,
        bodies; ///< of each bond; bodies by their numbers among the held ones
};

/// Joints with the same bodies, in the order in which they were added.
FoundBonds joints_by_bodies(const ImpulseProblem& problem, const std::vector<int>& held)
{
    FoundBonds found;
    std::map<std::vector<int>, std::size_t> bond_of_bodies;
    for (int joint = 0; joint < static_cast<int>(problem.joints.size()); ++joint) {
        std::vector<int> bodies;
        for (const auto& block : blocks_of(problem.joint_rows(), joint))
            bodies.push_back(held[at(block.body)]);
        if (bodies.empty()) continue;
        sort_and_thin(bodies);
        const auto [place, is_new] = bond_of_bodies.try_emplace(bodies, found.joints.size());
        if (is_new) {
            found.joints.emplace_back();
            found.bodies.push_back(bodies);
        }
        found.joints[place->second].push_back(joint);
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

/// L becomes its inverse, column by column from the last; what is above the diagonal becomes zero.
void invert_lower(Panel& L)
{
    for (Index c = L.cols() - 1; c >= 0; --c) {
        const double inverse = 1.0 / L(c, c);
        for (Index r = L.rows() - 1; r > c; --r)
            L(r, c) = -inverse * L.row(r).segment(c + 1, r - c).dot(L.col(c).segment(c + 1, r - c));
        L(c, c) = inverse;
    }
    L.triangularView<Eigen::StrictlyUpper>().setZero();
}

} // namespace

std::span<const int> JointSystem::below(std::size_t bond) const
{
    const int first = bonds_[bond].first_below;
    return {below_.data() + first, at(bonds_[bond + 1].first_below - first)};
}

Index JointSystem::end(int articulation) const
{
    return bonds_[first_bond(articulation + 1)].row;
}

std::span<const int> JointSystem::joints(int articulation) const
{
    const int first = first_joint_[first_bond(articulation)];
    const int last = first_joint_[first_bond(articulation + 1)];
    return {joints_.data() + first, at(last - first)};
}

void JointSystem::analyse(const ImpulseProblem& problem)
{
    find_structure(problem);
    if (structure_ == last_structure_ && !first_bond_.empty()) return;
    last_structure_ = structure_;
    find_bonds(problem);
    find_panels();
    find_products(problem);
}

void JointSystem::find_structure(const ImpulseProblem& problem)
{
    held_.assign(at(problem.body_count()), -1);
    bodies_.clear();
    structure_.clear();
    for (int joint = 0; joint < static_cast<int>(problem.joints.size()); ++joint) {
        structure_.push_back(-1);
        for (const auto& block : blocks_of(problem.joint_rows(), joint)) {
            int& held = held_[at(block.body)];
            if (held < 0) {
                held = static_cast<int>(bodies_.size());
                bodies_.push_back(block.body);
            }
            structure_.push_back(held);
            structure_.push_back(static_cast<int>(problem.body_size(block.body)));
        }
    }
}

void JointSystem::find_bonds(const ImpulseProblem& problem)
{
    const FoundBonds found = joints_by_bodies(problem, held_);
    const Graph graph = neighbours_of(found, bodies_.size());
    const EliminationOrder order = separator_order(graph);
    first_bond_ = order.first_piece;
    bonds_.assign(order.nodes.size() + 1, {});
    number_rows(order.nodes, found.joints, problem.joints.size());
    find_below(order.nodes, graph);

    articulation_of_held_.assign(bodies_.size(), -1);
    lowest_bond_.assign(bodies_.size(), -1);
    held_of_.assign(at(articulation_count()), -1);
    for (int articulation = 0; articulation < articulation_count(); ++articulation)
        for (auto k = first_bond(articulation); k < first_bond(articulation + 1); ++k)
            for (const int held : found.bodies[at(order.nodes[k])]) {
                articulation_of_held_[at(held)] = articulation;
                held_of_[at(articulation)] = held;
                if (lowest_bond_[at(held)] < 0) lowest_bond_[at(held)] = static_cast<int>(k);
            }
}

/// Rows and joints by the order of elimination.
void JointSystem::number_rows(const std::vector<int>& order, const std::vector<std::vector<int>>& joints,
                              std::size_t joint_count)
{
    joints_.clear();
    first_joint_.clear();
    row_of_joint_.assign(joint_count, -1);
    bond_of_joint_.assign(joint_count, -1);
    size_ = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const auto& here = joints[at(order[k])];
        first_joint_.push_back(static_cast<int>(joints_.size()));
        bonds_[k].row = size_;
        bonds_[k].size = static_cast<int>(3 * here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            row_of_joint_[at(here[i])] = size_ + static_cast<Index>(3 * i);
            bond_of_joint_[at(here[i])] = static_cast<int>(k);
            joints_.push_back(here[i]);
        }
        size_ += padded(bonds_[k].size);
    }
    bonds_.back().row = size_;
    first_joint_.push_back(static_cast<int>(joints_.size()));
}

/// The later neighbours of each bond. What is eliminated leaves its neighbours joined to each other: the first of them
/// inherits the rest.
void JointSystem::find_below(const std::vector<int>& order, const Graph& graph)
{
    std::vector<int> position(graph.size());
    for (std::size_t k = 0; k < order.size(); ++k) position[at(order[k])] = static_cast<int>(k);
    std::vector<std::vector<int>> later(order.size());
    below_.clear();
    for (std::size_t k = 0; k < order.size(); ++k) {
        auto& mine = later[k];
        for (const int neighbour : graph[at(order[k])])
            if (position[at(neighbour)] > static_cast<int>(k)) mine.push_back(position[at(neighbour)]);
        sort_and_thin(mine);
        if (!mine.empty()) {
            auto& heir = later[at(mine.front())];
            heir.insert(heir.end(), mine.begin() + 1, mine.end());
        }
        bonds_[k].first_below = static_cast<int>(below_.size());
        below_.insert(below_.end(), mine.begin(), mine.end());
    }
    bonds_.back().first_below = static_cast<int>(below_.size());
}

void JointSystem::find_panels()
{
    Index values = 0;
    for (std::size_t k = 0; k + 1 < bonds_.size(); ++k) {
        Bond& bond = bonds_[k];
        bond.panel = values;
        bond.panel_rows = bond.size;
        for (const int later : below(k)) bond.panel_rows += bonds_[at(later)].size;
        values += bond.panel_rows * bond.size;
    }
    bonds_.back().panel = values;
    values_.assign(static_cast<std::size_t>(values), 0.0);
}

/// The row of a panel at which a later bond starts.
Index JointSystem::place_below(std::size_t bond, int later) const
{
    Index row = bonds_[bond].size;
    for (const int other : below(bond)) {
        if (other == later) return row;
        row += bonds_[at(other)].size;
    }
    LITHE_ASSERT(false);
    return 0;
}

void JointSystem::find_products(const ImpulseProblem& problem)
{
    const ConstraintRows& rows = problem.joint_rows();
    std::vector<std::vector<BlockPlace>> by_body(bodies_.size());
    for (const int joint : joints_)
        for (const auto& block : blocks_of(rows, joint))
            by_body[at(held_[at(block.body)])].push_back({joint, block.offset});
    blocks_of_held_.clear();
    first_block_.assign(1, 0);
    for (const auto& places : by_body) {
        blocks_of_held_.insert(blocks_of_held_.end(), places.begin(), places.end());
        first_block_.push_back(static_cast<int>(blocks_of_held_.size()));
    }

    // for the columns of b, the rows of a that are eliminated with it or later
    std::vector<std::vector<Product>> of_bond(bonds_.size() - 1);
    for (std::size_t held = 0; held < bodies_.size(); ++held)
        for (const BlockPlace& b : by_body[held])
            for (const BlockPlace& a : by_body[held]) {
                if (row(a.joint) < row(b.joint)) continue;
                const auto k = at(bond_of_joint_[at(b.joint)]);
                const int bond_a = bond_of_joint_[at(a.joint)];
                const Bond& bond = bonds_[k];
                const Index panel_row =
                    (at(bond_a) == k ? 0 : place_below(k, bond_a)) + row(a.joint) - bonds_[at(bond_a)].row;
                const Index column = row(b.joint) - bond.row;
                of_bond[k].push_back({a.offset, b.offset, padded(problem.body_size(bodies_[held])),
                                      bond.panel + panel_row + column * bond.panel_rows, bond.panel_rows});
            }
    products_.clear();
    first_product_.assign(1, 0);
    for (const auto& products : of_bond) {
        products_.insert(products_.end(), products.begin(), products.end());
        first_product_.push_back(static_cast<int>(products_.size()));
    }
}

void JointSystem::assemble(const ImpulseProblem& problem, std::size_t k)
{
    const Bond& bond = bonds_[k];
    const double* blocks = problem.joint_rows().values.data();
    double* values = values_.data();
    std::fill(values + bond.panel, values + bonds_[k + 1].panel, 0.0);
    for (auto i = at(first_product_[k]); i < at(first_product_[k + 1]); ++i) {
        const Product& p = products_[i];
        Eigen::Map<Mat3, 0, Eigen::OuterStride<>>(values + p.place, Eigen::OuterStride<>(p.stride)) +=
            times_transposed<3, 3>(blocks + p.offset_a, blocks + p.offset_b, p.size);
    }
    for (auto i = at(first_joint_[k]); i < at(first_joint_[k + 1]); ++i) {
        const int joint = joints_[i];
        const Index column = row(joint) - bond.row;
        double* diagonal = values + bond.panel + column * (bond.panel_rows + 1);
        const double response =
            diagonal[0] + diagonal[bond.panel_rows + 1] + diagonal[2 * bond.panel_rows + 2];
        for (Index c = 0; c < 3; ++c)
            diagonal[c * (bond.panel_rows + 1)] +=
                problem.joints[at(joint)].compliance + regularisation * response / 3.0;
    }
}

/// Turns the assembled columns of a bond into columns of L, with the inverse on the diagonal.
bool JointSystem::eliminate(std::size_t k)
{
    const Bond& bond = bonds_[k];
    const Eigen::OuterStride<> stride(bond.panel_rows);
    Panel top(values_.data() + bond.panel, bond.size, bond.size, stride);
    const Eigen::LLT<Eigen::Ref<MatX, 0, Eigen::OuterStride<>>> cholesky(top);
    if (cholesky.info() != Eigen::Success || !top.diagonal().allFinite()) return false;
    invert_lower(top);
    // X L^-T in place, from the last column: each needs only those before it
    Panel X(values_.data() + bond.panel + bond.size, bond.panel_rows - bond.size, bond.size, stride);
    for (Index c = bond.size - 1; c >= 0; --c) {
        X.col(c) *= top(c, c);
        for (Index before = 0; before < c; ++before) X.col(c) += top(c, before) * X.col(before);
    }
    update_below(k);
    return true;
}

/// Takes X_i X_j^T from the columns of every pair of bonds below.
void JointSystem::update_below(std::size_t k)
{
    const Bond& bond = bonds_[k];
    const double* x = values_.data() + bond.panel + bond.size;
    const auto X = [&](Index row, const Bond& other) {
        return ConstPanel(x + row, other.size, bond.size, Eigen::OuterStride<>(bond.panel_rows));
    };
    const std::span<const int> later = below(k);
    Index row_j = 0;
    for (std::size_t j = 0; j < later.size(); ++j) {
        const Bond& target = bonds_[at(later[j])];
        const std::span<const int> places = below(at(later[j]));
        std::size_t next = 0;
        Index row_i = row_j, place = 0, place_of_next = target.size;
        for (std::size_t i = j; i < later.size(); ++i) {
            const Bond& other = bonds_[at(later[i])];
            if (i > j) {
                while (places[next] != later[i]) place_of_next += bonds_[at(places[next++])].size;
                place = place_of_next;
            }
            Panel(values_.data() + target.panel + place, other.size, target.size,
                  Eigen::OuterStride<>(target.panel_rows))
                .noalias() -= X(row_i, other).lazyProduct(X(row_j, target).transpose());
            row_i += other.size;
        }
        row_j += target.size;
    }
}

bool JointSystem::factorise(const ImpulseProblem& problem, int articulation)
{
    for (auto k = first_bond(articulation); k < first_bond(articulation + 1); ++k) assemble(problem, k);
    for (auto k = first_bond(articulation); k < first_bond(articulation + 1); ++k)
        if (!eliminate(k)) return false;
    return true;
}

void JointSystem::solve(int articulation, double* b, double* scratch) const
{
    using Segment = Eigen::Map<VecX>;
    const auto first = first_bond(articulation), last = first_bond(articulation + 1);
    const auto panel = [&](std::size_t k, Index row, Index rows) {
        const Bond& bond = bonds_[k];
        return ConstPanel(values_.data() + bond.panel + row, rows, bond.size,
                          Eigen::OuterStride<>(bond.panel_rows));
    };
    for (auto k = first; k < last; ++k) { // L y = b
        const Index size = bonds_[k].size;
        Segment y(b + bonds_[k].row, size), inner(scratch + bonds_[k].row, size);
        inner.noalias() = panel(k, 0, size).lazyProduct(y);
        y = inner;
        Index row = size;
        for (const int later : below(k)) {
            const Bond& other = bonds_[at(later)];
            Segment(b + other.row, other.size).noalias() -= panel(k, row, other.size).lazyProduct(y);
            row += other.size;
        }
    }
    for (auto k = last; k-- > first;) { // L^T x = y
        const Index size = bonds_[k].size;
        Segment x(b + bonds_[k].row, size), inner(scratch + bonds_[k].row, size);
        Index row = size;
        for (const int later : below(k)) {
            const Bond& other = bonds_[at(later)];
            x.noalias() -=
                panel(k, row, other.size).transpose().lazyProduct(Segment(b + other.row, other.size));
            row += other.size;
        }
        inner.noalias() = panel(k, 0, size).transpose().lazyProduct(x);
        x = inner;
    }
}

void JointSystem::append_parts(std::span<const ConstraintRows::Block> blocks, std::vector<Part>& parts) const
{
    // The bonds of a body lie on one way to the top; ways that meet go on together.
    const auto first = parts.size();
    for (const auto& block : blocks) {
        const int held = held_[at(block.body)];
        int bond = held < 0 ? -1 : lowest_bond_[at(held)];
        while (bond >= 0) {
            const Bond& b = bonds_[at(bond)];
            parts.push_back({b.row, padded(b.size), bond, articulation_of(block.body)});
            const auto later = below(at(bond));
            bond = later.empty() ? -1 : later.front();
        }
    }
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, parts.end(), [](const Part& a, const Part& b) { return a.bond < b.bond; });
    parts.erase(
        std::unique(begin, parts.end(), [](const Part& a, const Part& b) { return a.bond == b.bond; }),
        parts.end());
}

template <int Rows>
void JointSystem::fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows,
                             std::span<const ConstraintRows::Block> blocks, std::span<const Part> parts,
                             double* values) const
{
    using Columns = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Rows>, 0, Eigen::OuterStride<>>;
    const auto columns = [&](double* part_values, const Part& part) {
        return Columns(part_values, bonds_[at(part.bond)].size, Rows, Eigen::OuterStride<>(part.size));
    };
    Index total = 0;
    for (const Part& part : parts) total += Rows * part.size;
    std::fill(values, values + total, 0.0);

    // J G^T
    const double* joint_values = problem.joint_rows().values.data();
    for (const auto& block : blocks) {
        const int held = held_[at(block.body)];
        if (held < 0) continue;
        for (auto i = at(first_block_[at(held)]); i < at(first_block_[at(held) + 1]); ++i) {
            const BlockPlace& place = blocks_of_held_[i];
            const int bond = bond_of_joint_[at(place.joint)];
            double* target = values;
            auto part = parts.begin();
            for (; part->bond != bond; ++part) target += Rows * part->size;
            columns(target, *part).template middleRows<3>(row(place.joint) - part->row) +=
                times_transposed<3, Rows>(joint_values + place.offset, rows.values.data() + block.offset,
                                          padded(problem.body_size(block.body)));
        }
    }

    // L Y = J G^T
    double* mine = values;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto k = at(parts[p].bond);
        const Bond& bond = bonds_[k];
        const Eigen::OuterStride<> stride(bond.panel_rows);
        Columns Y = columns(mine, parts[p]);
        const ConstPanel L_inverse(values_.data() + bond.panel, bond.size, bond.size, stride);
        for (Index r = bond.size - 1; r >= 0; --r) // lower triangle: each row needs only those before it
            Y.row(r) = (L_inverse.row(r).head(r + 1).lazyProduct(Y.topRows(r + 1))).eval();
        double* target = mine + Rows * parts[p].size;
        std::size_t next = p + 1;
        Index row_below = bond.size;
        for (const int later : below(k)) {
            while (parts[next].bond != later) target += Rows * parts[next++].size;
            const Index size = bonds_[at(later)].size;
            const ConstPanel X(values_.data() + bond.panel + row_below, size, bond.size, stride);
            columns(target, parts[next]).noalias() -= X.lazyProduct(Y);
            row_below += size;
        }
        mine += Rows * parts[p].size;
    }
}

template void JointSystem::fill_parts<1>(const ImpulseProblem&, const ConstraintRows&,
                                         std::span<const ConstraintRows::Block>, std::span<const Part>,
                                         double*) const;
template void JointSystem::fill_parts<3>(const ImpulseProblem&, const ConstraintRows&,
                                         std::span<const ConstraintRows::Block>, std::span<const Part>,
                                         double*) const;

} // namespace lithe
