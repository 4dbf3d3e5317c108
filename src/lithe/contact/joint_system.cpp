#include "lithe/contact/joint_system.hpp"

#include <algorithm>

#include "lithe/contact/panel.hpp"
#include "lithe/contact/row_products.hpp"
#include "lithe/contact/sort_by_set.hpp"
#include "lithe/core/error.hpp"

namespace lithe {
namespace {

std::span<const ConstraintRows::Block> blocks_of(const ConstraintRows& rows, int c)
{
    return {rows.blocks.data() + rows.begin(c), static_cast<std::size_t>(rows.end(c) - rows.begin(c))};
}

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

/// The columns of a bond, in values that belong to the articulation from `here.panel` on.
template <class Number>
PanelOf<Number> panel_of(const auto& here, int k, Number* values)
{
    const JointPlan::Bond& bond = here.plan->bonds[at(k)];
    return {values + here.panel + bond.panel, bond.panel_rows, bond.panel_rows, bond.size};
}

} // namespace

std::span<const int> JointSystem::joints(int articulation) const
{
    const auto first = at(of(articulation).first_joint);
    return std::span(joints_).subspan(first, at(of(articulation + 1).first_joint) - first);
}

void JointSystem::analyse(const ImpulseProblem& problem)
{
    find_articulations(problem);
    offsets_.clear();
    row_of_joint_.assign(problem.joints.size(), -1);
    size_ = 0;
    Index values = 0;
    for (int articulation = 0; articulation < articulation_count(); ++articulation) {
        Articulation& here = articulations_[at(articulation)];
        here.first_block = static_cast<int>(offsets_.size());
        here.row = size_;
        here.panel = values;
        read_pattern(problem, articulation);
        here.plan = &plan_of_pattern();
        size_ += here.plan->rows;
        values += here.plan->values;
        const std::span<const int> mine = joints(articulation);
        for (std::size_t k = 0; k < mine.size(); ++k)
            row_of_joint_[at(mine[k])] = here.row + here.plan->row_of_joint[k];
    }
    values_.resize(static_cast<std::size_t>(values));
    forget_plans();
}

/// By their first joints; and the joints of each.
void JointSystem::find_articulations(const ImpulseProblem& problem)
{
    const ConstraintRows& rows = problem.joint_rows();
    const auto count = static_cast<int>(problem.joints.size());
    sets_.reset(problem.body_count());
    for (int joint = 0; joint < count; ++joint) {
        const auto blocks = blocks_of(rows, joint);
        for (const auto& block : blocks) sets_.join(blocks.front().body, block.body);
    }
    int articulations = 0;
    articulations_.clear();
    held_.assign(at(problem.body_count()), {});
    articulation_of_joint_.assign(at(count), -1);
    for (int joint = 0; joint < count; ++joint) {
        const auto blocks = blocks_of(rows, joint);
        if (blocks.empty()) continue;
        const int body = sets_.root(blocks.front().body);
        int& articulation = held_[at(body)].articulation;
        if (articulation < 0) {
            articulation = articulations++;
            articulations_.push_back({.body = body});
        }
        articulation_of_joint_[at(joint)] = articulation;
    }
    articulations_.emplace_back();
    sort_by_set(
        count, at(articulations), [&](int joint) { return articulation_of_joint_[at(joint)]; },
        [&](std::size_t a) -> int& { return articulations_[a].first_joint; }, joints_);
}

/// Numbers the bodies of an articulation, and finds its blocks.
void JointSystem::read_pattern(const ImpulseProblem& problem, int articulation)
{
    pattern_.clear();
    int bodies = 0;
    for (const int joint : joints(articulation)) {
        pattern_.push_back(-1);
        for (const auto& block : blocks_of(problem.joint_rows(), joint)) {
            Held& held = held_[at(block.body)];
            if (held.body < 0) held = {articulation, bodies++};
            pattern_.push_back(held.body);
            pattern_.push_back(static_cast<int>(problem.body_size(block.body)));
            offsets_.push_back(block.offset);
        }
    }
}

const JointPlan& JointSystem::plan_of_pattern()
{
    const auto known = plans_.find(pattern_);
    return known != plans_.end() ? known->second
                                 : plans_.emplace(pattern_, make_joint_plan(pattern_)).first->second;
}

/// When there are many, those that nobody uses now.
void JointSystem::forget_plans()
{
    constexpr std::size_t most = 64;
    if (plans_.size() <= most + articulations_.size()) return;
    std::erase_if(plans_, [&](const auto& known) {
        return std::ranges::none_of(articulations_,
                                    [&](const Articulation& here) { return here.plan == &known.second; });
    });
}

void JointSystem::assemble(const ImpulseProblem& problem, const Articulation& here, int k)
{
    const JointPlan& plan = *here.plan;
    const JointPlan::Bond& bond = plan.bonds[at(k)];
    const double* blocks = problem.joint_rows().values.data();
    double* values = values_.data() + here.panel;
    std::fill(values + bond.panel, values + plan.bonds[at(k) + 1].panel, 0.0);
    for (auto i = at(plan.first_product[at(k)]); i < at(plan.first_product[at(k) + 1]); ++i) {
        const JointPlan::Product& p = plan.products[i];
        Eigen::Map<Mat3, 0, Eigen::OuterStride<>>(values + p.place, Eigen::OuterStride<>(p.stride)) +=
            times_transposed<3, 3>(blocks + offset(here, p.block_a), blocks + offset(here, p.block_b),
                                   p.size);
    }
    for (auto i = at(plan.first_joint[at(k)]); i < at(plan.first_joint[at(k) + 1]); ++i) {
        const int joint = joints_[at(here.first_joint + plan.joints[i])];
        const Index column = plan.row_of_joint[at(plan.joints[i])] - bond.row;
        double* diagonal = values + bond.panel + column * (bond.panel_rows + 1);
        const double response =
            diagonal[0] + diagonal[bond.panel_rows + 1] + diagonal[2 * bond.panel_rows + 2];
        for (Index c = 0; c < 3; ++c)
            diagonal[c * (bond.panel_rows + 1)] +=
                problem.joints[at(joint)].compliance + problem.softness * response / 3.0;
    }
}

/// Turns the assembled columns of a bond into columns of L, with the inverse on the diagonal.
bool JointSystem::eliminate(const Articulation& here, int k)
{
    const Panel columns = panel_of(here, k, values_.data());
    const Index rows = padded(columns.columns);
    const Panel top = columns.from(0, rows);
    if (!invert_root(top)) return false;
    divide_by_transposed(columns.from(rows, columns.rows - rows), top);
    update_below(here, k);
    return true;
}

/// Takes X_i X_j^T from the columns of every pair of bonds below.
void JointSystem::update_below(const Articulation& here, int k)
{
    const JointPlan& plan = *here.plan;
    const Panel X = panel_of(here, k, values_.data());
    const std::span<const int> later = plan.below(k);
    const auto rows_of = [&](int bond) { return padded(plan.bonds[at(bond)].size); };
    Index row_j = rows_of(k);
    for (std::size_t j = 0; j < later.size(); ++j) {
        const Panel target = panel_of(here, later[j], values_.data());
        const std::span<const int> places = plan.below(later[j]);
        std::size_t next = 0;
        Index row_i = row_j, place = 0, place_of_next = rows_of(later[j]);
        for (std::size_t i = j; i < later.size(); ++i) {
            const Index rows = rows_of(later[i]);
            if (i > j) {
                while (places[next] != later[i]) place_of_next += rows_of(places[next++]);
                place = place_of_next;
            }
            subtract_square(X.from(row_i, rows), X.from(row_j, rows_of(later[j])), target.from(place, rows));
            row_i += rows;
        }
        row_j += rows_of(later[j]);
    }
}

bool JointSystem::factorise(const ImpulseProblem& problem, int articulation)
{
    const Articulation& here = of(articulation);
    for (int k = 0; k < here.plan->bond_count(); ++k) assemble(problem, here, k);
    for (int k = 0; k < here.plan->bond_count(); ++k)
        if (!eliminate(here, k)) return false;
    return true;
}

void JointSystem::solve(int articulation, double* b) const
{
    const Articulation& here = of(articulation);
    const JointPlan& plan = *here.plan;
    b += here.row;
    for (int k = 0; k < plan.bond_count(); ++k) { // L y = b
        const ConstPanel L = panel_of(here, k, values_.data());
        double* y = b + plan.bonds[at(k)].row;
        Index row = padded(L.columns);
        multiply_lower(L.from(0, row), y);
        for (const int later : plan.below(k)) {
            const JointPlan::Bond& other = plan.bonds[at(later)];
            subtract_product(L.from(row, padded(other.size)), y, b + other.row);
            row += padded(other.size);
        }
    }
    for (int k = plan.bond_count() - 1; k >= 0; --k) { // L^T x = y
        const ConstPanel L = panel_of(here, k, values_.data());
        double* x = b + plan.bonds[at(k)].row;
        Index row = padded(L.columns);
        for (const int later : plan.below(k)) {
            const JointPlan::Bond& other = plan.bonds[at(later)];
            subtract_transposed_product(L.from(row, padded(other.size)), b + other.row, x);
            row += padded(other.size);
        }
        multiply_upper(L.from(0, padded(L.columns)), x);
    }
}

void JointSystem::append_parts(std::span<const ConstraintRows::Block> blocks, std::vector<Part>& parts) const
{
    // The bonds of a body lie on one way to the top; ways that meet go on together.
    const auto first = parts.size();
    for (const auto& block : blocks) {
        const Held& held = held_[at(block.body)];
        if (held.articulation < 0) continue;
        const Articulation& here = of(held.articulation);
        for (int bond = here.plan->lowest_bond[at(held.body)]; bond >= 0;) {
            const JointPlan::Bond& b = here.plan->bonds[at(bond)];
            parts.push_back({here.row + b.row, padded(b.size), bond, held.articulation});
            const auto later = here.plan->below(bond);
            bond = later.empty() ? -1 : later.front();
        }
    }
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, parts.end(), [](const Part& a, const Part& b) { return a.place() < b.place(); });
    parts.erase(
        std::unique(begin, parts.end(), [](const Part& a, const Part& b) { return a.place() == b.place(); }),
        parts.end());
}

template <int Rows>
void JointSystem::fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows,
                             std::span<const ConstraintRows::Block> blocks, std::span<const Part> parts,
                             double* values) const
{
    using Columns = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Rows>, 0, Eigen::OuterStride<>>;
    const auto columns = [&](double* part_values, const Part& part) {
        return Columns(part_values, of(part.articulation).plan->bonds[at(part.bond)].size, Rows,
                       Eigen::OuterStride<>(part.size));
    };
    Index total = 0;
    for (const Part& part : parts) total += Rows * part.size;
    std::fill(values, values + total, 0.0);

    // J G^T
    const double* joint_values = problem.joint_rows().values.data();
    for (const auto& block : blocks) {
        const Held& held = held_[at(block.body)];
        if (held.articulation < 0) continue;
        const Articulation& here = of(held.articulation);
        const JointPlan& plan = *here.plan;
        for (auto i = at(plan.first_block[at(held.body)]); i < at(plan.first_block[at(held.body) + 1]); ++i) {
            const JointPlan::BlockPlace& place = plan.blocks[i];
            const std::pair bond(held.articulation, plan.bond_of_joint[at(place.joint)]);
            double* target = values;
            auto part = parts.begin();
            for (; part->place() != bond; ++part) target += Rows * part->size;
            const Index row = here.row + plan.row_of_joint[at(place.joint)] - part->row;
            columns(target, *part).template middleRows<3>(row) += times_transposed<3, Rows>(
                joint_values + offset(here, place.block), rows.values.data() + block.offset,
                padded(problem.body_size(block.body)));
        }
    }

    // L Y = J G^T
    double* mine = values;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const Articulation& here = of(parts[p].articulation);
        const ConstPanel L = panel_of(here, parts[p].bond, values_.data());
        const Panel Y{mine, parts[p].size, parts[p].size, Rows};
        for (Index c = 0; c < Rows; ++c) multiply_lower(L.from(0, Y.rows), Y.column(c));
        double* target = mine + Rows * Y.rows;
        std::size_t next = p + 1;
        Index row = Y.rows;
        for (const int later : here.plan->below(parts[p].bond)) {
            while (parts[next].bond != later) target += Rows * parts[next++].size;
            const ConstPanel X = L.from(row, parts[next].size);
            for (Index c = 0; c < Rows; ++c) subtract_product(X, Y.column(c), target + c * parts[next].size);
            row += X.rows;
        }
        mine += Rows * Y.rows;
    }
}

template void JointSystem::fill_parts<1>(const ImpulseProblem&, const ConstraintRows&,
                                         std::span<const ConstraintRows::Block>, std::span<const Part>,
                                         double*) const;
template void JointSystem::fill_parts<3>(const ImpulseProblem&, const ConstraintRows&,
                                         std::span<const ConstraintRows::Block>, std::span<const Part>,
                                         double*) const;

} // namespace lithe
