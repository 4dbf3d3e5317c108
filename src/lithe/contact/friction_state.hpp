#pragma once
#include <cstdint>
#include <vector>

#include "lithe/body/state.hpp"

namespace lithe {

/// Where the touching samples of a body cling to obstacles: the memory of friction. One entry per touching pair, sorted
/// by key, then by sample. Part of the state of a body.
struct FrictionState {
    std::vector<std::uint64_t> obstacle; ///< Obstacle::key
    std::vector<int> sample;             ///< of ContactModel::samples
    std::vector<Vec3> anchor;            ///< in the material of the obstacle (material_at) [m]

    std::size_t size() const { return sample.size(); }
    friend bool operator==(const FrictionState&, const FrictionState&) = default;
};

/// Forgets everything; keeps the memory that it had taken.
void clear(FrictionState& friction);

void write(const FrictionState& friction, StateWriter& out);
/// Throws InputError as StateReader does.
void read(FrictionState& friction, StateReader& in);

} // namespace lithe
