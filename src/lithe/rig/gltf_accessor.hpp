#pragma once
#include "lithe/rig/gltf_document.hpp"
#include "lithe/rig/gltf_value.hpp"

namespace lithe::gltf {

/// An item of one of the document's lists, with its place.
Value item(const GltfDocument& document, const char* list, std::size_t index);

/// Bytes of a buffer.
struct Range {
    int buffer;
    std::size_t begin, size;
};
/// What 'buffer', 'byteOffset' and 'byteLength' say; fails when it is not inside the buffer.
Range range_of(const Value& view, const GltfDocument& document);

/// The numbers that the specification gives to the types of components.
enum class Component {
    Byte = 5120,
    UnsignedByte = 5121,
    Short = 5122,
    UnsignedShort = 5123,
    UnsignedInt = 5125,
    Float = 5126
};

std::size_t size_of(Component component);
bool is_unsigned(Component component);

/// Values that replace some of an accessor's.
struct SparseValues {
    std::size_t count = 0; ///< 0: none
    Component index_type = Component::UnsignedByte;
    std::string_view indices = {}, values = {};
};

/// What an accessor says, checked: all its bytes are inside of its views.
struct Accessor {
    Component component;
    bool normalized;
    std::string type;          ///< "VEC3"
    std::size_t rows, columns; ///< of an element; columns of matrices begin at multiples of 4 bytes
    std::size_t count;         ///< of elements
    std::size_t stride;        ///< from element to element [bytes]
    std::string_view bytes;    ///< from the first element on; empty: all zero
    SparseValues sparse = {};

    std::size_t components() const { return rows * columns; }
};

/// Fails with the pointer of what is wrong.
Accessor accessor_of(const GltfDocument& document, int index);

/// All components, one after the other as `component`, sparse values put in: count x components() of them.
std::string packed_components(const Accessor& accessor);

/// The same as numbers: components x count.
MatX numbers_of(const Accessor& accessor);

} // namespace lithe::gltf
