#pragma once
#include <string>

#include "lithe/core/error.hpp"

namespace lithe::test {

/// What the InputError says that f throws.
std::string message_of(const auto& f)
{
    try {
        f();
    } catch (const InputError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

} // namespace lithe::test
