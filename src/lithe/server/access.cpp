#include "lithe/server/access.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

namespace lithe {
namespace {

/// "localhost:8123" -> "localhost", "[::1]:8123" -> "[::1]".
std::string_view host_name(std::string_view host)
{
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
}

bool is_loopback(std::string_view name)
{
    return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

/// In a time that does not tell how much of it was right.
bool same(std::string_view a, std::string_view b)
{
    unsigned difference = a.size() != b.size();
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]));
    return difference == 0;
}

std::string_view cookie_value(std::string_view cookie, std::string_view name)
{
    while (!cookie.empty()) {
        const std::size_t end = std::min(cookie.find(';'), cookie.size());
        std::string_view item = cookie.substr(0, end);
        while (item.starts_with(' ')) item.remove_prefix(1);
        if (item.starts_with(name) && item.substr(name.size()).starts_with('='))
            return item.substr(name.size() + 1);
        cookie.remove_prefix(std::min(end + 1, cookie.size()));
    }
    return {};
}

} // namespace

std::string_view path_of(std::string_view target)
{
    return target.substr(0, target.find('?'));
}

std::string_view query_value(std::string_view target, std::string_view name)
{
    const std::size_t start = target.find('?');
    if (start == std::string_view::npos) return {};
    std::string_view query = target.substr(start + 1);
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view item = query.substr(0, end);
        if (item.starts_with(name) && item.substr(name.size()).starts_with('='))
            return item.substr(name.size() + 1);
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return {};
}

std::optional<std::string> refusal(const AccessRules& rules, const RequestHead& head)
{
    if (rules.loopback_only && !is_loopback(host_name(head.host)))
        return "this server answers to localhost only";
    if (head.origin && *head.origin != fmt::format("http://{}", head.host))
        return "this server answers to its own page only";
    if (!rules.token.empty() && !same(query_value(head.target, "token"), rules.token) &&
        !same(cookie_value(head.cookie, "lithe_token"), rules.token))
        return "the address needs the token that `lithe view` printed";
    return {};
}

std::string random_token()
{
    std::random_device random;
    std::string out;
    for (int k = 0; k < 4; ++k) out += fmt::format("{:08x}", random());
    return out;
}

std::string harmless_name(std::string_view name)
{
    if (const std::size_t slash = name.find_last_of("/\\"); slash != std::string_view::npos)
        name.remove_prefix(slash + 1);
    std::string out;
    for (const char c : name.substr(0, 100)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '.' || c == '-' || c == '_';
        out += plain ? c : '_';
    }
    while (out.starts_with('.')) out.erase(0, 1);
    return out;
}

} // namespace lithe
