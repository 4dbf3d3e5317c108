#pragma once
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "lithe/core/error.hpp"
#include "lithe/math/types.hpp"
#include "lithe/scene/units.hpp"

namespace lithe {

// Reads TOML into plain structs with one call per key. A table remembers which keys were asked for; `finish` refuses
// the rest. So the code that reads a key is the only list of the keys that there are.

/// No number in a file may be farther from zero: the products of larger ones overflow.
inline constexpr double largest_number = 1e150;

/// Larger files are refused. [bytes]
inline constexpr std::size_t largest_toml_file = 16u << 20;

/// Which numbers are allowed, in the plain unit of their quantity.
struct Range {
    enum class End { Open, Closed };
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    End low_end = End::Closed, high_end = End::Closed;
    enum class Infinity { Refuse, Allow } infinity = Infinity::Refuse;

    bool holds(double value) const;
    std::string rule() const; ///< "must be above 0"
};
Range above(double low);
Range at_least(double low);
Range inside(double low, double high);  ///< without its ends
Range from_to(double low, double high); ///< with them

class TableReader;

/// A parsed file. Throws InputError with the place for what is not TOML, is larger than 16 MB, or nests too deeply.
class TomlDocument {
public:
    TomlDocument(std::string_view text, std::filesystem::path name);

    TableReader root();
    const std::filesystem::path& name() const { return name_; }
    Place place(const toml::source_region& source) const;

    /// Every key that was asked for, such as "body.pin.box".
    const std::set<std::string>& asked() const { return asked_; }
    void note_asked(std::string key) { asked_.insert(std::move(key)); }

private:
    std::filesystem::path name_;
    toml::table root_;
    std::set<std::string> asked_;
};

/// One value of the file. What it is asked to be and is not is an InputError at its place.
class TomlValue {
public:
    TomlValue(TomlDocument& document, const toml::node& node, std::string name, std::string path);

    bool is_text() const { return node_->is_string(); }
    bool is_list() const { return node_->is_array(); }
    bool is_table() const { return node_->is_table(); }

    double number(const Quantity& quantity, const Range& range) const; ///< SI
    Vec3 vector(const Quantity& quantity, const Range& range) const;   ///< three of them
    int integer(int low, int high) const;
    bool boolean() const;
    std::string text() const; ///< of printable characters, not empty
    Vec3 color() const;       ///< [red, green, blue], each in [0, 1], or "#rrggbb"
    /// The place in `names` of the text.
    std::size_t choice(std::span<const std::string_view> names) const;
    /// How long a list is; `wanted` says in words what it should be. Lists may have millions of values, which are
    /// looked at one by one.
    std::size_t length(std::string_view wanted) const;
    TomlValue item(std::size_t i) const;
    /// All values of a short list, which must have that many.
    std::vector<TomlValue> items(std::size_t count, std::string_view wanted) const;
    /// `title` is how messages call the table, `path` how `asked` does; both from the key when empty.
    TableReader table(const std::string& title = "", const std::string& path = "") const;
    std::size_t table_count() const; ///< [[name]]: a list of tables
    TableReader table(std::size_t i) const;

    Place place() const;
    const std::string& name() const { return name_; }
    /// "scene.toml:3:9: young = -1 ..." for the value of a key.
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void fail_type(std::string_view wanted) const;

private:
    double measured(const Quantity& quantity) const; ///< in the plain unit
    std::string written() const;                     ///< the value as people would recognise it, on one line

    TomlDocument* document_;
    const toml::node* node_;
    std::string name_; ///< of the key, as messages call it: "position[1]"
    std::string path_; ///< of the key, from the root, without the numbers: "body.pin.box"
};

class TableReader {
public:
    TableReader(TomlDocument& document, const toml::table& table, std::string title, std::string path);

    std::optional<TomlValue> find(std::string_view key);
    /// target = how(value), when the file has the key.
    template <class T, class How>
    void read(std::string_view key, T& target, const How& how)
    {
        if (const auto value = find(key)) target = how(*value);
    }
    /// [[key]]: add(table) for each of them; there may be none.
    template <class Add>
    void read_tables(std::string_view key, const Add& add)
    {
        const auto value = find(key);
        for (std::size_t i = 0, count = value ? value->table_count() : 0; i < count; ++i)
            add(value->table(i));
    }
    std::vector<TomlValue> entries(); ///< of a table whose keys are free names

    /// Refuses the keys that nobody asked for.
    void finish() const;

    bool has(std::string_view key) const { return table_->contains(key); }
    /// Which of the keys the table has; more than one is refused.
    std::string_view at_most_one_of(std::span<const std::string_view> keys) const;
    /// The same, and none is refused as well.
    std::string_view one_of(std::span<const std::string_view> keys) const;
    void require(std::string_view key) const; ///< that the table has it

    Place place() const;                     ///< of the table
    Place place(std::string_view key) const; ///< of a key that it has
    [[noreturn]] void fail(std::string_view what) const;
    /// At a key that the table has.
    [[noreturn]] void fail_at(std::string_view key, std::string_view what) const;

private:
    TomlDocument* document_;
    const toml::table* table_;
    std::string title_; ///< "[[body]]"
    std::string path_;  ///< "body"; empty for the root
    std::set<std::string, std::less<>> asked_;
};

/// What TableReader::read may be told.
namespace as {
inline auto number(const Quantity& quantity, const Range& range = {})
{
    return [quantity, range](const TomlValue& value) { return value.number(quantity, range); };
}
inline auto vector(const Quantity& quantity, const Range& range = {})
{
    return [quantity, range](const TomlValue& value) { return value.vector(quantity, range); };
}
inline auto integer(int low, int high)
{
    return [low, high](const TomlValue& value) { return value.integer(low, high); };
}
inline auto boolean()
{
    return [](const TomlValue& value) { return value.boolean(); };
}
inline auto text()
{
    return [](const TomlValue& value) { return value.text(); };
}
inline auto color()
{
    return [](const TomlValue& value) { return value.color(); };
}
template <class T, std::size_t n>
auto choice(const std::array<std::pair<std::string_view, T>, n>& choices)
{
    return [&choices](const TomlValue& value) {
        std::array<std::string_view, n> names;
        for (std::size_t i = 0; i < n; ++i) names[i] = choices[i].first;
        return choices[value.choice(names)].second;
    };
}
} // namespace as

/// Text of a file for a message: one line of printable characters, not too long.
std::string shortened(std::string_view text);
std::string in_quotes(std::string_view text); ///< the same in quotes

} // namespace lithe
