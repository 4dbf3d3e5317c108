#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace lithe {

/// Who may talk to the server.
struct AccessRules {
    bool loopback_only = true;
    std::string token = {}; ///< every request must bring it when it is not empty
};

/// What a request says about itself.
struct RequestHead {
    std::string_view target;    ///< path and query, as it came
    std::string_view host = {}; ///< header Host
    std::optional<std::string_view> origin = {};
    std::string_view cookie = {};
};

/// The path of a target without its query.
std::string_view path_of(std::string_view target);
/// The value of a query parameter; empty when it is not there. Not unescaped: what we look for needs no escapes.
std::string_view query_value(std::string_view target, std::string_view name);

/// Why the request is refused; nothing when it is not. A page of another site that the same browser shows has another Origin;
/// a name that was bent to this machine (DNS rebinding) is no name of loopback.
std::optional<std::string> refusal(const AccessRules& rules, const RequestHead& head);

/// 32 hexadecimal digits from the system's source of randomness.
std::string random_token();

/// A name that a file of ours can have, from one that a stranger gave: no folders, no dots in front; empty when nothing is left.
std::string harmless_name(std::string_view name);

} // namespace lithe
