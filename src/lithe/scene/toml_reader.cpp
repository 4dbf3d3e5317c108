#include "lithe/scene/toml_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/suggest.hpp"

namespace lithe {
namespace {

constexpr int deepest_value = 32;         // lists and tables in each other
constexpr int longest_key = 16;           // names joined by dots
constexpr std::size_t longest_quote = 60; // of the file's text in a message

/// Finds lists and dotted keys that nest too deeply, before the parser sees them: what it builds of a key with 100 000
/// dots is taken down by recursion. Knows of TOML's grammar only where text ends and comments begin.
class NestingCheck {
public:
    NestingCheck(std::string_view text, const std::filesystem::path& name) : text_(text), place_{name, 1} {}

    void run()
    {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'')
                skip_text(c);
            else if (c == '#')
                at_ = std::min(text_.find('\n', at_), text_.size());
            else
                take(c);
        }
    }

private:
    void take(char c)
    {
        if (c == '\n') new_line();
        if (c == '[' || c == '{') require(++depth_ <= deepest_value, "lists and tables nest", deepest_value);
        if ((c == ']' || c == '}') && depth_ > 0) --depth_;
        if (c == '.') require(++dots_ < longest_key, "a dotted name goes", longest_key);
        if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) dots_ = 0;
        ++at_;
    }

    void new_line()
    {
        ++place_.line;
        line_start_ = at_ + 1;
    }

    /// Past "..." or """...""", or the same of '. One line of text ends at the end of the line whatever happens.
    void skip_text(char quote)
    {
        const bool long_text = text_.substr(at_, 3) == std::string(3, quote);
        const std::string_view end = text_.substr(at_, long_text ? 3 : 1);
        for (at_ += end.size(); at_ < text_.size(); ++at_) {
            if (text_.substr(at_).starts_with(end)) {
                at_ += end.size();
                return;
            }
            if (text_[at_] == '\n' && !long_text) return;
            if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
            if (text_[at_] == '\n') new_line();
        }
    }

    void require(bool holds, std::string_view what, int limit)
    {
        if (holds) return;
        place_.column = static_cast<std::int64_t>(at_ - line_start_) + 1;
        throw InputError(place_, fmt::format("{} more than {} deep; no scene needs that", what, limit));
    }

    std::string_view text_;
    std::size_t at_ = 0, line_start_ = 0;
    int depth_ = 0, dots_ = 0;
    Place place_;
};

/// `text` without line ends and other control characters, at most `longest` bytes of it, whole characters.
std::string one_line(std::string_view text, std::size_t longest)
{
    const bool cut = text.size() > longest;
    if (cut) {
        std::size_t size = longest;
        while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
            --size; // within a character
        text = text.substr(0, size);
    }
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
    return cut ? line + "..." : line;
}

toml::table parse(std::string_view text, const std::filesystem::path& name)
{
    if (text.size() > largest_toml_file)
        throw InputError({name}, fmt::format("is too large; at most {} bytes are read", largest_toml_file));
    NestingCheck(text, name).run();
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        std::string_view what = error.description();
        if (constexpr std::string_view prefix = "Error while "; what.starts_with(prefix))
            what.remove_prefix(prefix.size());
        const Place place{name, error.source().begin.line, -1, error.source().begin.column};
        throw InputError(place, fmt::format("this is not TOML: {}", one_line(what, 300)));
    }
}

std::string title_of(const std::string& path)
{
    return path.empty() ? "a scene" : fmt::format("[{}]", path);
}

std::string joined(const std::string& path, std::string_view key)
{
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

} // namespace

std::string shortened(std::string_view text)
{
    return one_line(text, longest_quote);
}

std::string in_quotes(std::string_view text)
{
    return fmt::format("\"{}\"", shortened(text));
}

// ---- ranges

bool Range::holds(double value) const
{
    return (low_end == End::Open ? value > low : value >= low) &&
           (high_end == End::Open ? value < high : value <= high);
}

std::string Range::rule() const
{
    if (std::isinf(high))
        return fmt::format("must be {} {:g}", low_end == End::Open ? "above" : "at least", low);
    return fmt::format("must lie in {}{:g}, {:g}{}", low_end == End::Open ? '(' : '[', low, high,
                       high_end == End::Open ? ')' : ']');
}

Range above(double low)
{
    return {.low = low, .low_end = Range::End::Open};
}
Range at_least(double low)
{
    return {.low = low};
}
Range inside(double low, double high)
{
    return {low, high, Range::End::Open, Range::End::Open};
}
Range from_to(double low, double high)
{
    return {low, high};
}

// ---- documents

TomlDocument::TomlDocument(std::string_view text, std::filesystem::path name)
    : name_(std::move(name)), root_(parse(text, name_))
{
}

TableReader TomlDocument::root()
{
    return {*this, root_, title_of(""), ""};
}

Place TomlDocument::place(const toml::source_region& source) const
{
    return {name_, source.begin.line, -1, source.begin.column};
}

// ---- values

TomlValue::TomlValue(TomlDocument& document, const toml::node& node, std::string name, std::string path)
    : document_(&document), node_(&node), name_(std::move(name)), path_(std::move(path))
{
}

Place TomlValue::place() const
{
    return document_->place(node_->source());
}

std::string TomlValue::written() const
{
    if (const auto* value = node_->as_string()) return in_quotes(value->get());
    if (const auto* value = node_->as_integer()) return fmt::format("{}", value->get());
    if (const auto* value = node_->as_floating_point()) return fmt::format("{}", value->get());
    if (const auto* value = node_->as_boolean()) return value->get() ? "true" : "false";
    if (const auto* value = node_->as_array()) return fmt::format("a list of {}", value->size());
    return node_->is_table() ? "a table" : "a date or a time";
}

void TomlValue::fail(std::string_view what) const
{
    throw InputError(place(), fmt::format("{} = {} {}", shortened(name_), written(), what));
}

void TomlValue::fail_type(std::string_view wanted) const
{
    const char* kind = node_->is_string() ? "the text " : node_->is_number() ? "the number " : "";
    throw InputError(place(),
                     fmt::format("{} must be {}, but is {}{}", shortened(name_), wanted, kind, written()));
}

double TomlValue::measured(const Quantity& quantity) const
{
    if (const auto* value = node_->as_integer()) return static_cast<double>(value->get());
    if (const auto* value = node_->as_floating_point()) return value->get();
    if (quantity.units.empty()) fail_type("a number");
    const auto* value = node_->as_string();
    if (value == nullptr)
        fail_type(fmt::format("{}, a number or text such as \"{}\"", quantity.name, quantity.example));
    try {
        return parse_quantity(value->get(), quantity);
    } catch (const InputError& error) {
        fail(error.what());
    }
}

double TomlValue::number(const Quantity& quantity, const Range& range) const
{
    const double value = measured(quantity);
    const bool infinity_is_fine = range.infinity == Range::Infinity::Allow && std::isinf(value);
    if (!std::isfinite(value) && !infinity_is_fine) fail("must be finite");
    if (!infinity_is_fine && std::abs(value) > largest_number)
        fail(fmt::format("is too large; numbers go up to {:g}", largest_number));
    if (!range.holds(value))
        fail(range.rule() + (quantity.units.empty() ? "" : fmt::format(" {}", quantity.units.front().name)));
    return value * quantity.si;
}

Vec3 TomlValue::vector(const Quantity& quantity, const Range& range) const
{
    const std::string wanted = "three numbers, as in [0, 1, 0]";
    const std::vector<TomlValue> values = items(3, wanted);
    return {values[0].number(quantity, range), values[1].number(quantity, range),
            values[2].number(quantity, range)};
}

int TomlValue::integer(int low, int high) const
{
    const auto* value = node_->as_integer();
    if (value == nullptr) fail_type("a whole number");
    if (value->get() < low || value->get() > high) fail(fmt::format("must lie in [{}, {}]", low, high));
    return static_cast<int>(value->get());
}

bool TomlValue::boolean() const
{
    const auto* value = node_->as_boolean();
    if (value == nullptr) fail_type("true or false");
    return value->get();
}

std::string TomlValue::text() const
{
    const auto* value = node_->as_string();
    if (value == nullptr) fail_type("text in quotes");
    if (value->get().empty()) fail("must not be empty");
    if (std::any_of(value->get().begin(), value->get().end(),
                    [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }))
        fail("must be one line of printable characters");
    return value->get();
}

Vec3 TomlValue::color() const
{
    const std::string wanted = "a colour, as in [1, 0.5, 0] or \"#ff8000\"";
    if (!is_text()) {
        (void)items(3, wanted);
        return vector(quantity::number, from_to(0.0, 1.0));
    }
    const std::string hex = text();
    if (hex.size() != 7 || hex[0] != '#') fail_type(wanted);
    Vec3 color;
    for (int k = 0; k < 3; ++k) {
        const int high = hex_digit(hex[static_cast<std::size_t>(1 + 2 * k)]),
                  low = hex_digit(hex[static_cast<std::size_t>(2 + 2 * k)]);
        if (high < 0 || low < 0) fail_type(wanted);
        color[k] = (16 * high + low) / 255.0;
    }
    return color;
}

std::size_t TomlValue::choice(std::span<const std::string_view> names) const
{
    const auto* value = node_->as_string();
    if (value == nullptr) fail_type(fmt::format("one of {}, in quotes", fmt::join(names, ", ")));
    const auto found = std::find(names.begin(), names.end(), value->get());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    fail(fmt::format("is not one of {}{}", fmt::join(names, ", "),
                     did_you_mean(value->get(), {names.begin(), names.end()})));
}

std::size_t TomlValue::length(std::string_view wanted) const
{
    const auto* values = node_->as_array();
    if (values == nullptr) fail_type(wanted);
    return values->size();
}

TomlValue TomlValue::item(std::size_t i) const
{
    LITHE_ASSERT(is_list() && i < node_->as_array()->size());
    return {*document_, (*node_->as_array())[i], fmt::format("{}[{}]", name_, i), path_};
}

std::vector<TomlValue> TomlValue::items(std::size_t count, std::string_view wanted) const
{
    if (length(wanted) != count) fail_type(wanted);
    std::vector<TomlValue> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(item(i));
    return values;
}

TableReader TomlValue::table(const std::string& title, const std::string& path) const
{
    const auto* value = node_->as_table();
    if (value == nullptr) fail_type(fmt::format("a table, as in [{0}] or {1} = {{...}}", path_, name_));
    return {*document_, *value, title.empty() ? title_of(path_) : title, path.empty() ? path_ : path};
}

std::size_t TomlValue::table_count() const
{
    if (is_table())
        throw InputError(place(),
                         fmt::format("{0} must be a list of tables; write [[{0}]] instead of [{0}]", path_));
    return length(fmt::format("a list of tables, as in [[{}]]", path_));
}

TableReader TomlValue::table(std::size_t i) const
{
    return item(i).table(fmt::format("[[{}]]", path_));
}

// ---- tables

TableReader::TableReader(TomlDocument& document, const toml::table& table, std::string title,
                         std::string path)
    : document_(&document), table_(&table), title_(std::move(title)), path_(std::move(path))
{
}

std::optional<TomlValue> TableReader::find(std::string_view key)
{
    asked_.emplace(key);
    const std::string path = joined(path_, key);
    document_->note_asked(path);
    const toml::node* node = table_->get(key);
    if (node == nullptr) return std::nullopt;
    return TomlValue(*document_, *node, std::string(key), path);
}

std::vector<TomlValue> TableReader::entries()
{
    std::vector<TomlValue> result;
    for (const auto& [key, node] : *table_) {
        asked_.emplace(key.str());
        result.emplace_back(*document_, node, std::string(key.str()), path_);
    }
    return result;
}

void TableReader::finish() const
{
    // The first of them in the file; the table itself is in the order of the alphabet.
    const toml::key* first = nullptr;
    for (const auto& [key, node] : *table_) {
        const auto before = [](const toml::key& a, const toml::key& b) {
            return a.source().begin < b.source().begin;
        };
        if (!asked_.contains(key.str()) && (first == nullptr || before(key, *first))) first = &key;
    }
    if (first == nullptr) return;
    std::string help = did_you_mean(first->str(), {asked_.begin(), asked_.end()});
    if (help.empty()) help = fmt::format("; known are {}", fmt::join(asked_, ", "));
    throw InputError(document_->place(first->source()),
                     fmt::format("unknown key '{}' in {}{}", shortened(first->str()), title_, help));
}

std::string_view TableReader::at_most_one_of(std::span<const std::string_view> keys) const
{
    std::string_view found;
    for (const std::string_view key : keys) {
        if (!has(key)) continue;
        if (!found.empty()) fail_at(key, fmt::format("{} has both {} and {}; keep one", title_, found, key));
        found = key;
    }
    return found;
}

std::string_view TableReader::one_of(std::span<const std::string_view> keys) const
{
    const std::string_view found = at_most_one_of(keys);
    if (found.empty()) fail(fmt::format("{} needs one of {}", title_, fmt::join(keys, ", ")));
    return found;
}

void TableReader::require(std::string_view key) const
{
    if (!has(key)) fail(fmt::format("{} needs the key {}", title_, key));
}

Place TableReader::place() const
{
    return document_->place(table_->source());
}

Place TableReader::place(std::string_view key) const
{
    const auto found = table_->find(key);
    LITHE_ASSERT(found != table_->end());
    return document_->place(found->first.source());
}

void TableReader::fail(std::string_view what) const
{
    throw InputError(place(), std::string(what));
}

void TableReader::fail_at(std::string_view key, std::string_view what) const
{
    throw InputError(place(key), std::string(what));
}

} // namespace lithe
