#pragma once
#include <map>
#include <span>
#include <vector>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/contact/joint_plan.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/math/aligned_numbers.hpp"

namespace lithe {

/// The joints of an ImpulseProblem as one linear system, factorised along the graph of the bodies:
///
///   D = J J^T + compliance = L L^T,   J the joints' rows
///
/// What hangs together is an articulation: independent of all others, so that threads may work on several. How it is eliminated is
/// its JointPlan, which is kept for the next that is jointed alike: so any joints may come and go from one problem to the next.
///
/// Hard joints that contradict or repeat each other (three points on two rigid bodies) make D singular: every joint
/// gets a compliance of 1e-9 of its own response. Joints none of whose bodies answers take no part.
class JointSystem {
public:
    /// Finds the articulations and their plans.
    void analyse(const ImpulseProblem& problem);
    /// The numbers of one articulation. False when they are not finite; then there is no factor.
    [[nodiscard]] bool factorise(const ImpulseProblem& problem, int articulation);

    int articulation_count() const { return static_cast<int>(articulations_.size()) - 1; }
    /// -1 when no joint holds it.
    int articulation_of(int body) const { return held_[static_cast<std::size_t>(body)].articulation; }
    /// The first body of it.
    int body_of(int articulation) const { return of(articulation).body; }

    // The rows of all joints, each bond filled up with zeros to a multiple of four.
    Index size() const { return size_; }
    Index begin(int articulation) const { return of(articulation).row; }
    Index end(int articulation) const { return begin(articulation) + of(articulation).plan->rows; }
    /// Joints of an articulation, and where the three rows of each are.
    std::span<const int> joints(int articulation) const;
    Index row(int joint) const { return row_of_joint_[static_cast<std::size_t>(joint)]; }
    /// D^-1 b in place; b has `size()` numbers, of which only those of the articulation are touched. Where no joint is, zero.
    void solve(int articulation, double* b) const;

    // The part of a constraint that acts through the joints: Y = L^-1 J G^T for its blocks G. With all joints kept
    // satisfied, its response is G G^T - Y^T Y.
    struct Part {
        Index row;  ///< of the joints' rows
        Index size; ///< a multiple of four
        int bond;   ///< of the articulation
        int articulation;
        auto place() const { return std::pair(articulation, bond); }
    };
    /// Appends the parts that a constraint on these bodies has.
    void append_parts(std::span<const ConstraintRows::Block> blocks, std::vector<Part>& parts) const;
    /// Fills the parts' blocks: `Rows` x size each, row by row, one after the other from `values`.
    template <int Rows>
    void fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows,
                    std::span<const ConstraintRows::Block> blocks, std::span<const Part> parts,
                    double* values) const;

private:
    struct Articulation {
        const JointPlan* plan = nullptr;
        int body = -1;                        ///< one of the problem
        int first_joint = 0, first_block = 0; ///< in joints_ and offsets_
        Index row = 0;                        ///< of its first row
        Index panel = 0;                      ///< of its first value
    };
    /// A body of the problem in its articulation.
    struct Held {
        int articulation = -1, body = -1;
    };

    const Articulation& of(int articulation) const
    {
        return articulations_[static_cast<std::size_t>(articulation)];
    }
    void find_articulations(const ImpulseProblem& problem);
    void read_pattern(const ImpulseProblem& problem, int articulation);
    const JointPlan& plan_of_pattern();
    void forget_plans();
    Index offset(const Articulation& at, int block) const
    {
        return offsets_[static_cast<std::size_t>(at.first_block + block)];
    }
    void assemble(const ImpulseProblem& problem, const Articulation& at, int bond);
    bool eliminate(const Articulation& at, int bond);
    void update_below(const Articulation& at, int bond);

    std::map<std::vector<int>, JointPlan> plans_; ///< by their patterns
    std::vector<int> pattern_;                    ///< of the articulation at hand
    UnionFind sets_;                              ///< of bodies
    std::vector<Articulation> articulations_{1};  ///< and one more
    std::vector<int> articulation_of_joint_;      ///< -1: takes no part
    std::vector<Held> held_;                      ///< of each body of the problem
    std::vector<int> joints_;                     ///< by articulation
    std::vector<Index> offsets_;                  ///< of their blocks, by articulation
    std::vector<Index> row_of_joint_;             ///< -1: takes no part
    AlignedNumbers values_;                       ///< the panels; on the diagonal the inverses of L's blocks
    Index size_ = 0;
};

} // namespace lithe
