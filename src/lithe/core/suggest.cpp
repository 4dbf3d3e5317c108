#include "lithe/core/suggest.hpp"

#include <algorithm>
#include <utility>

namespace lithe {
namespace {

constexpr std::size_t longest_word = 64; // longer ones were not mistyped

/// Letters to insert, remove, change, or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before, last, row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

} // namespace

std::string closest_word(std::string_view word, const std::vector<std::string>& candidates)
{
    if (word.size() > longest_word) return "";
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates)
        if (const std::size_t distance = edit_distance(word, candidate); distance < least) {
            least = distance;
            best = candidate;
        }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates)
{
    const std::string best = closest_word(word, candidates);
    return best.empty() ? "" : "; did you mean '" + best + "'?";
}

} // namespace lithe
