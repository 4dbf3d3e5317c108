#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lithe/core/error.hpp"

namespace lithe::io {

/// An element of an XML file. The text between its tags is a view into the file, as it stands there.
struct XmlElement {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<XmlElement> children;
    std::string_view text;
    std::int64_t line = 0;

    /// The attribute, or `otherwise` where it is not given.
    std::string_view attribute(std::string_view key, std::string_view otherwise = "") const;
    /// The first child of that name, or null.
    const XmlElement* child(std::string_view key) const;
};

/// Reads the little of XML that data files use: elements, attributes, text, comments, the five named entities. No
/// document types, and so no entities that grow. The content of an element called `raw` is taken whole, up to the
/// last closing tag of that name in the file: VTK puts bytes there that are no XML.
XmlElement parse_xml(std::string_view bytes, const std::filesystem::path& file, std::string_view raw);

} // namespace lithe::io
