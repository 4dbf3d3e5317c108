#pragma once
#include <span>
#include <vector>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/contact/joint_order.hpp"

namespace lithe {

/// Aligned, so that Eigen sums in the same order wherever the memory comes from: same input, same bits.
using AlignedNumbers = std::vector<double, Eigen::aligned_allocator<double>>;

/// The joints of an ImpulseProblem as one linear system, factorised along the graph of the bodies:
///
///   D = J J^T + compliance = L L^T,   J the joints' rows
///
/// Joints between the same bodies form a bond; bonds that share a body are neighbours in the matrix. What hangs together
/// is an articulation: independent of all others, so that threads may work on several. Bonds are eliminated from
/// the ends of the graph to its middle, in an order in which few stand above any one of them: what touches a body sees
/// the bonds from there to the top only, five or six in a skeleton of twenty.
///
/// Hard joints that contradict or repeat each other (three points on two rigid bodies) make D singular: every joint
/// gets a compliance of 1e-9 of its own response. Joints none of whose bodies answers take no part.
class JointSystem {
public:
    /// Finds the bonds and their order. Costs nothing when the joints touch the same bodies as at the last call.
    void analyse(const ImpulseProblem& problem);
    /// The numbers of one articulation. False when they are not finite; then there is no factor.
    [[nodiscard]] bool factorise(const ImpulseProblem& problem, int articulation);

    int articulation_count() const { return static_cast<int>(first_bond_.size()) - 1; }
    /// -1 when no joint holds it.
    int articulation_of(int body) const
    {
        const int held = held_[static_cast<std::size_t>(body)];
        return held < 0 ? -1 : articulation_of_held_[static_cast<std::size_t>(held)];
    }
    /// Any body of it.
    int body_of(int articulation) const
    {
        return bodies_[static_cast<std::size_t>(held_of_[static_cast<std::size_t>(articulation)])];
    }

    // The rows of all joints in the order of elimination, each bond filled up with zeros to a multiple of four.
    Index size() const { return size_; }
    Index begin(int articulation) const { return bonds_[first_bond(articulation)].row; }
    Index end(int articulation) const;
    /// Joints of an articulation, and where the three rows of each are.
    std::span<const int> joints(int articulation) const;
    Index row(int joint) const { return row_of_joint_[static_cast<std::size_t>(joint)]; }
    /// D^-1 b in place; b and scratch have `size()` numbers, of which only those of the articulation are touched.
    void solve(int articulation, double* b, double* scratch) const;

    // The part of a constraint that acts through the joints: Y = L^-1 J G^T for its blocks G. With all joints kept
    // satisfied, its response is G G^T - Y^T Y.
    struct Part {
        Index row;  ///< of the joints' rows
        Index size; ///< a multiple of four
        int bond;
        int articulation;
    };
    /// Appends the parts that a constraint on these bodies has.
    void append_parts(std::span<const ConstraintRows::Block> blocks, std::vector<Part>& parts) const;
    /// Fills the parts' blocks: `Rows` x size each, row by row, one after the other from `values`.
    template <int Rows>
    void fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows,
                    std::span<const ConstraintRows::Block> blocks, std::span<const Part> parts,
                    double* values) const;

private:
    struct Bond {
        Index row = 0; ///< first of its rows
        int size = 0;  ///< its rows
        int first_below =
            0; ///< its neighbours that are eliminated later: below_[first_below] until the next bond's
        Index panel = 0; ///< of its columns of L in values_: itself, then those below; by columns
        Index panel_rows = 0;
    };
    struct BlockPlace { ///< of a joint's block
        int joint;
        Index offset;
    };
    /// A B^T of two blocks of joints, added to a place in a panel.
    struct Product {
        Index offset_a, offset_b, size, place, stride;
    };

    std::size_t first_bond(int articulation) const
    {
        return static_cast<std::size_t>(first_bond_[static_cast<std::size_t>(articulation)]);
    }
    std::span<const int> below(std::size_t bond) const;
    Index place_below(std::size_t bond, int later) const;
    void find_structure(const ImpulseProblem& problem);
    void find_bonds(const ImpulseProblem& problem);
    void number_rows(const std::vector<int>& order, const std::vector<std::vector<int>>& joints,
                     std::size_t joint_count);
    void find_below(const std::vector<int>& order, const Graph& graph);
    void find_panels();
    void find_products(const ImpulseProblem& problem);
    void assemble(const ImpulseProblem& problem, std::size_t bond);
    bool eliminate(std::size_t bond);
    void update_below(std::size_t bond);

    // Bodies that joints hold have numbers of their own, in the order in which joints name them: those of the problem change
    // whenever another body takes part in it.
    std::vector<int> held_;   ///< of each body of the problem; -1 without joints
    std::vector<int> bodies_; ///< of the problem, by these numbers
    std::vector<int> structure_,
        last_structure_;      ///< joints' bodies and their sizes: what the analysis depends on
    std::vector<Bond> bonds_; ///< in the order of elimination, and one more
    std::vector<int> below_;
    std::vector<int> first_bond_;                         ///< of each articulation, and one more
    std::vector<int> held_of_;                            ///< of each articulation, one
    std::vector<int> articulation_of_held_, lowest_bond_; ///< per held body
    std::vector<int> joints_;                             ///< by bond
    std::vector<int> first_joint_;                        ///< of each bond in joints_, and one more
    std::vector<Index> row_of_joint_;                     ///< -1: takes no part
    std::vector<int> bond_of_joint_;
    std::vector<BlockPlace> blocks_of_held_; ///< of the joints on each held body
    std::vector<int> first_block_;           ///< per held body, and one more
    std::vector<Product> products_;          ///< by bond
    std::vector<int> first_product_;         ///< of each bond, and one more
    AlignedNumbers values_;                  ///< the panels; on the diagonal the inverses of L's blocks
    Index size_ = 0;
};

} // namespace lithe
