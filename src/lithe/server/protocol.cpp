#include "lithe/server/protocol.hpp"

#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/server/page_files.hpp"

namespace lithe {
namespace {

using Json = nlohmann::json;

constexpr double farthest = 1e6; ///< a coordinate of a command [m]

bool is_point(const Json& value)
{
    if (!value.is_array() || value.size() != 3) return false;
    for (const Json& x : value)
        if (!x.is_number() || !(std::abs(x.get<double>()) <= farthest)) return false;
    return true;
}

bool in_range(const Json& value, const Json& rule)
{
    const double x = value.get<double>();
    return x >= rule.at("min").get<double>() && x <= rule.at("max").get<double>();
}

bool fits(const Json& value, const Json& rule)
{
    const std::string& type = rule.at("type").get_ref<const std::string&>();
    if (type == "number") return value.is_number() && in_range(value, rule);
    if (type == "integer") return value.is_number_integer() && in_range(value, rule);
    if (type == "boolean") return value.is_boolean();
    if (type == "point") return is_point(value);
    return value.is_string() &&
           value.get_ref<const std::string&>().size() <= rule.at("max").get<std::size_t>();
}

} // namespace

const Json& protocol()
{
    static const Json description = Json::parse(page_file("/protocol.json")->content);
    return description;
}

Json vector_json(const Vec3& v)
{
    return {v[0], v[1], v[2]};
}

std::string json_text(const Json& message)
{
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Vec3 Command::point(const char* field) const
{
    const Json& x = fields.at(field);
    return {x[0].get<double>(), x[1].get<double>(), x[2].get<double>()};
}

Command parse_command(std::string_view text)
{
    if (text.size() > protocol()["limits"]["command_bytes"].get<std::size_t>())
        throw InputError("a command is too long");
    Json message = Json::parse(text, nullptr, false);
    if (!message.is_object() || !message.contains("do") || !message["do"].is_string())
        throw InputError("a command must be a JSON object with a name in \"do\"");
    Command out{message["do"].get<std::string>(), {}};
    const auto rules = protocol()["commands"].find(out.name);
    if (rules == protocol()["commands"].end()) throw InputError("there is no such command");
    message.erase("do");
    if (message.size() != rules->size())
        throw InputError("'" + out.name + "' has other fields than it should");
    for (const auto& [field, rule] : rules->items())
        if (!message.contains(field) || !fits(message[field], rule))
            throw InputError("'" + out.name + "': '" + field + "' is missing, or not what it should be");
    out.fields = std::move(message);
    return out;
}

} // namespace lithe
