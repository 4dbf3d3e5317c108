#include "lithe/archive/data.hpp"

namespace lithe {
namespace {

std::string to_string(Index size)
{
    return size == any_size ? "any" : std::to_string(size);
}

} // namespace

std::string to_string(const Shape& shape)
{
    return to_string(shape.rows) + " x " + to_string(shape.cols);
}

std::string to_string(ElementType type)
{
    switch (type) {
    case ElementType::Double:
        return "double";
    case ElementType::Float:
        return "float";
    case ElementType::Int32:
        return "int32";
    case ElementType::Int64:
        return "int64";
    case ElementType::Text:
        return "text";
    }
    return "";
}

std::size_t ArchiveEntry::element_bytes() const
{
    switch (type) {
    case ElementType::Double:
    case ElementType::Int64:
        return 8;
    case ElementType::Float:
    case ElementType::Int32:
        return 4;
    case ElementType::Text:
        return text_width;
    }
    return 0;
}

} // namespace lithe
