#pragma once

namespace lithe {

/// How a frame that carries a vibrating body knows its spin.
enum class SpinRule {
    Exact, ///< from the angular momentum of all that moves: that stays to rounding
    Naive  ///< as if vibrations had no angular momentum: what they have is made and lost. To compare with.
};

} // namespace lithe
