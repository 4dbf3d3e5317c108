#include "lithe/geometry/io/xml.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/geometry/io/number_source.hpp"

namespace lithe::io {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr int deepest = 32;

class XmlParser {
public:
    XmlParser(std::string_view bytes, const std::filesystem::path& file, std::string_view raw)
        : bytes_(bytes), file_(file), raw_(raw)
    {
    }

    XmlElement document()
    {
        skip_to_element();
        return element(0);
    }

private:
    [[noreturn]] void fail(const std::string& what) const
    {
        throw InputError({.file = file_, .line = line_}, what);
    }

    void advance(std::size_t count)
    {
        line_ += std::count(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                            bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n');
        at_ += count;
    }
    std::string_view rest() const { return bytes_.substr(at_); }
    /// Moves behind the next `end` and returns what stood before it.
    std::string_view take_until(std::string_view end)
    {
        const std::size_t length = rest().find(end);
        if (length == std::string_view::npos)
            fail(fmt::format("ends where {} should follow; the file is cut short", end));
        const std::string_view text = rest().substr(0, length);
        advance(length + end.size());
        return text;
    }
    void skip_blanks() { advance(std::min(rest().find_first_not_of(blanks), rest().size())); }

    /// Passes over a comment or an instruction; false when something else stands here.
    bool skip_comment()
    {
        if (rest().starts_with("<!--")) return take_until("-->"), true;
        if (rest().starts_with("<?")) return take_until("?>"), true;
        if (rest().starts_with("<!")) fail("document types and CDATA are not supported; remove them");
        return false;
    }

    void skip_to_element()
    {
        do {
            skip_blanks();
        } while (skip_comment());
        if (!rest().starts_with('<')) fail("is not XML: the first element is missing");
    }

    std::string_view name()
    {
        const std::size_t length = std::min(rest().find_first_of(" \t\r\n/>=<\"'"), rest().size());
        if (length == 0) fail("a name is missing in a tag");
        const std::string_view text = rest().substr(0, length);
        advance(length);
        return text;
    }

    /// name="value" or name='value'
    std::pair<std::string, std::string> attribute()
    {
        std::string key(name());
        skip_blanks();
        if (!rest().starts_with('=')) fail(fmt::format("the attribute {} has no value", in_quotes(key)));
        advance(1);
        skip_blanks();
        if (!rest().starts_with('"') && !rest().starts_with('\''))
            fail(fmt::format("the value of {} is not quoted", in_quotes(key)));
        const std::string quote(rest().substr(0, 1));
        advance(1);
        return {std::move(key), decoded(take_until(quote))};
    }

    static std::string decoded(std::string_view text)
    {
        constexpr std::pair<std::string_view, char> entities[] = {
            {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
        std::string out;
        while (!text.empty()) {
            std::size_t used = 1;
            char letter = text[0];
            for (const auto& [entity, meaning] : entities)
                if (text.starts_with(entity)) {
                    used = entity.size();
                    letter = meaning;
                }
            out += letter;
            text.remove_prefix(used);
        }
        return out;
    }

    /// Stands at '<' of an opening tag; leaves behind its closing tag.
    XmlElement element(int depth)
    {
        if (depth > deepest) fail(fmt::format("elements are nested more than {} deep", deepest));
        XmlElement out;
        out.line = line_;
        advance(1);
        out.name = name();
        for (skip_blanks(); !rest().starts_with('>') && !rest().starts_with("/>"); skip_blanks()) {
            if (rest().empty()) fail("ends within a tag; the file is cut short");
            out.attributes.push_back(attribute());
        }
        const bool closed = rest().starts_with('/');
        advance(closed ? 2 : 1);
        if (!closed) content(out, depth);
        return out;
    }

    void content(XmlElement& out, int depth)
    {
        const std::string closing = "</" + out.name;
        if (out.name == raw_) {
            const std::size_t end = rest().rfind(closing);
            if (end == std::string_view::npos)
                fail(fmt::format("ends where {}> should follow; the file is cut short", closing));
            out.text = rest().substr(0, end);
            advance(end);
        }
        while (!rest().starts_with(closing)) {
            const std::size_t length = rest().find('<');
            if (length == std::string_view::npos)
                fail(fmt::format("ends where {}> should follow; the file is cut short", closing));
            if (out.text.empty()) out.text = rest().substr(0, length);
            advance(length);
            if (rest().starts_with(closing)) break;
            if (rest().starts_with("</"))
                fail(fmt::format("found another closing tag where {}> should stand", closing));
            if (!skip_comment()) out.children.push_back(element(depth + 1));
        }
        take_until(">");
    }

    std::string_view bytes_;
    std::filesystem::path file_;
    std::string_view raw_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
};

} // namespace

std::string_view XmlElement::attribute(std::string_view key, std::string_view otherwise) const
{
    for (const auto& [name_here, value] : attributes)
        if (name_here == key) return value;
    return otherwise;
}

const XmlElement* XmlElement::child(std::string_view key) const
{
    for (const XmlElement& element : children)
        if (element.name == key) return &element;
    return nullptr;
}

XmlElement parse_xml(std::string_view bytes, const std::filesystem::path& file, std::string_view raw)
{
    return XmlParser(bytes, file, raw).document();
}

} // namespace lithe::io
