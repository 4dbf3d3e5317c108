#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lithe {

/// The candidate that `word` was probably meant to be, or "" when none is near.
std::string closest_word(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'radius'?", or "" when no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

} // namespace lithe
