#include "lithe/rig/gltf_value.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe::gltf {
namespace {

/// A key as part of a JSON pointer, kept on one line.
std::string pointer_part(const std::string& key)
{
    std::string part = "/";
    for (const char c : key) {
        if (c == '~')
            part += "~0";
        else if (c == '/')
            part += "~1";
        else
            part += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
    return part;
}

/// Numbers that a program put in have a sign, numbers of a file only when they are below zero.
bool is_count(const Json& json)
{
    return json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
}

} // namespace

std::string in_quotes(const Json& value)
{
    constexpr std::size_t longest = 60;
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

std::string Value::place() const
{
    const std::string file = to_string(Place{.file = *file_});
    return pointer_.empty() ? file : file + ": " + pointer_;
}

void Value::fail(const std::string& what) const
{
    throw InputError(place() + ": " + what);
}

Value Value::operator[](const std::string& key) const
{
    object();
    const auto found = json_->find(key);
    if (found == json_->end())
        fail(fmt::format("'{}' is missing; the file is not valid glTF, export it again", key));
    return {*found, *file_, pointer_ + pointer_part(key)};
}

Value Value::operator[](std::size_t item) const
{
    LITHE_ASSERT(json_->is_array() && item < json_->size());
    return {(*json_)[item], *file_, fmt::format("{}/{}", pointer_, item)};
}

const Value& Value::object() const
{
    if (!json_->is_object()) fail(fmt::format("must be an object, not {}", in_quotes(*json_)));
    return *this;
}

const Value& Value::array(std::size_t least) const
{
    if (!json_->is_array()) fail(fmt::format("must be an array, not {}", in_quotes(*json_)));
    if (json_->size() < least)
        fail(fmt::format("has {} entries, but at least {} are needed", json_->size(), least));
    return *this;
}

std::string Value::text() const
{
    if (!json_->is_string()) fail(fmt::format("must be a text, not {}", in_quotes(*json_)));
    return json_->get<std::string>();
}

std::string Value::one_of(const std::vector<std::string>& words) const
{
    const std::string word = text();
    if (std::find(words.begin(), words.end(), word) == words.end())
        fail(fmt::format("is {}, but must be one of {}", in_quotes(*json_), fmt::join(words, ", ")));
    return word;
}

bool Value::boolean() const
{
    if (!json_->is_boolean()) fail(fmt::format("must be true or false, not {}", in_quotes(*json_)));
    return json_->get<bool>();
}

double Value::number() const
{
    if (!json_->is_number()) fail(fmt::format("must be a number, not {}", in_quotes(*json_)));
    return json_->get<double>();
}

std::size_t Value::integer(std::size_t lo, std::size_t hi) const
{
    if (!is_count(*json_) || json_->get<std::uint64_t>() < lo || json_->get<std::uint64_t>() > hi)
        fail(fmt::format("must be an integer from {} to {}, not {}", lo, hi, in_quotes(*json_)));
    return json_->get<std::size_t>();
}

int Value::index(std::size_t count, const char* list) const
{
    if (!is_count(*json_)) fail(fmt::format("must be an index into '{}', not {}", list, in_quotes(*json_)));
    if (json_->get<std::uint64_t>() >= count)
        fail(fmt::format("is {}, but the file has only {} {}; it is damaged, export it again",
                         in_quotes(*json_), count, list));
    return json_->get<int>();
}

std::vector<double> Value::numbers(std::size_t count) const
{
    array();
    if (size() != count) fail(fmt::format("has {} numbers instead of {}", size(), count));
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back((*this)[i].number());
    return values;
}

std::size_t Value::integer_or(const std::string& key, std::size_t otherwise, std::size_t lo,
                              std::size_t hi) const
{
    return has(key) ? (*this)[key].integer(lo, hi) : otherwise;
}

bool Value::boolean_or(const std::string& key, bool otherwise) const
{
    return has(key) ? (*this)[key].boolean() : otherwise;
}

std::string Value::text_or(const std::string& key, const std::string& otherwise) const
{
    return has(key) ? (*this)[key].text() : otherwise;
}

} // namespace lithe::gltf
