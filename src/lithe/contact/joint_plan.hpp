#pragma once
#include <span>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// How the joints of one articulation are eliminated: all that depends on which of its bodies each joint holds, and not on numbers.
/// Articulations that are jointed alike share it.
///
/// Joints between the same bodies form a bond; bonds that share a body are neighbours in the matrix. Bonds are eliminated from
/// the ends of the graph to its middle, in an order in which few stand above any one of them: what touches a body sees
/// the bonds from there to the top only, five or six in a skeleton of twenty.
///
/// Joints, bodies and blocks have numbers within the articulation, in the order in which the joints name them.
struct JointPlan {
    struct Bond {
        Index row = 0; ///< first of its rows
        int size = 0;  ///< its rows
        int first_below =
            0; ///< its neighbours that are eliminated later: all_below[first_below] until the next bond's
        Index panel = 0;      ///< of its columns of L in the values: itself, then those below; by columns
        Index panel_rows = 0; ///< each of them filled up to a multiple of four
    };
    struct BlockPlace { ///< of a joint's block
        int joint, block;
    };
    /// A B^T of two blocks of joints, added to a place in a panel.
    struct Product {
        int block_a, block_b;
        Index size, place, stride;
    };

    std::vector<Bond> bonds; ///< in the order of elimination, and one more
    std::vector<int> all_below;
    std::vector<int> joints;      ///< by bond
    std::vector<int> first_joint; ///< of each bond in `joints`, and one more
    std::vector<Index> row_of_joint;
    std::vector<int> bond_of_joint;
    std::vector<int> lowest_bond;   ///< of each body
    std::vector<BlockPlace> blocks; ///< of the joints on each body
    std::vector<int> first_block;   ///< of each body, and one more
    std::vector<Product> products;  ///< by bond
    std::vector<int> first_product; ///< of each bond, and one more
    Index rows = 0;                 ///< of all bonds, each filled up to a multiple of four
    Index values = 0;               ///< of all panels

    int bond_count() const { return static_cast<int>(bonds.size()) - 1; }
    std::span<const int> below(int bond) const
    {
        const auto first = static_cast<std::size_t>(bonds[static_cast<std::size_t>(bond)].first_below);
        const auto last = static_cast<std::size_t>(bonds[static_cast<std::size_t>(bond) + 1].first_below);
        return std::span(all_below).subspan(first, last - first);
    }
};

/// `pattern` has for each joint a -1, then the number and the size of each body that it has a block for.
JointPlan make_joint_plan(std::span<const int> pattern);

} // namespace lithe
