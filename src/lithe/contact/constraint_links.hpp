#pragma once
#include <vector>

#include "lithe/contact/joint_system.hpp"

namespace lithe {

/// A block of a constraint, and the numbers it acts on.
struct ConstraintLink {
    const double* block;
    Index numbers, size;
};

/// The links of all constraints of one kind: blocks G of bodies, then parts Y that act through the joints.
struct ConstraintLinks {
    std::vector<int> first, first_part; ///< per constraint; `first` has one more
    std::vector<ConstraintLink> links;
    std::vector<JointSystem::Part> parts; ///< in the order of their links
    AlignedNumbers part_values;
    std::vector<int> first_of_parts; ///< per constraint: in parts
};

} // namespace lithe
