#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lithe::gltf {

using Json = nlohmann::ordered_json;

/// A value of a glTF file's JSON that knows where it is, so that whatever is wrong with it can be said with its JSON pointer.
/// Lives shorter than the JSON and the file name that it looks at.
class Value {
public:
    Value(const Json& json, const std::filesystem::path& file, std::string pointer = {})
        : json_(&json), file_(&file), pointer_(std::move(pointer))
    {
    }

    const Json& json() const { return *json_; }
    const std::filesystem::path& file() const { return *file_; }
    /// Throws InputError "FILE: /json/pointer: what".
    [[noreturn]] void fail(const std::string& what) const;
    /// "FILE: /json/pointer", the beginning of what `fail` says.
    std::string place() const;

    // ---- into it
    bool has(const std::string& key) const { return json_->is_object() && json_->contains(key); }
    Value operator[](const std::string& key) const; ///< fails when it is not there
    Value operator[](std::size_t item) const;
    std::size_t size() const { return json_->size(); }

    // ---- what it must be; each fails when it is not
    const Value& object() const;
    const Value& array(std::size_t least = 0) const;
    std::string text() const;
    std::string one_of(const std::vector<std::string>& words) const;
    bool boolean() const;
    double number() const;
    std::size_t integer(std::size_t lo, std::size_t hi) const;
    /// An index into a list of that many things.
    int index(std::size_t count, const char* list) const;
    /// An array of so many numbers.
    std::vector<double> numbers(std::size_t count) const;

    // ---- what may be missing
    std::size_t integer_or(const std::string& key, std::size_t otherwise, std::size_t lo,
                           std::size_t hi) const;
    bool boolean_or(const std::string& key, bool otherwise) const;
    std::string text_or(const std::string& key, const std::string& otherwise) const;

private:
    const Json* json_;
    const std::filesystem::path* file_;
    std::string pointer_;
};

/// The text in quotes on one line, whatever is in it, cut when it is long.
std::string in_quotes(const Json& value);

/// More than any count or offset in a file of bytes can be.
constexpr std::size_t largest_integer = std::size_t{1} << 53;

} // namespace lithe::gltf
