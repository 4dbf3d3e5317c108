#include "lithe/core/error.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace lithe {

std::string to_string(const Place& place)
{
    std::string text = place.file.string();
    if (place.line > 0) text += ":" + std::to_string(place.line);
    if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
    if (place.byte >= 0) text += " at byte " + std::to_string(place.byte);
    return text;
}

double require_between(std::string_view name, double value, double lo, double hi)
{
    if (lo < value && value < hi) return value;
    std::ostringstream message;
    message << name << " = " << value << " must lie in (" << lo << ", " << hi << ")";
    throw InputError(message.str());
}

double require_positive(std::string_view name, double value)
{
    if (value > 0.0 && std::isfinite(value)) return value;
    std::ostringstream message;
    message << name << " = " << value << " must be above 0 and finite";
    throw InputError(message.str());
}

void detail::assertion_failed(const char* condition, const char* file, int line)
{
    std::fprintf(stderr, "%s:%d: lithe broke its own promise: %s\n", file, line, condition);
    std::abort();
}

} // namespace lithe
