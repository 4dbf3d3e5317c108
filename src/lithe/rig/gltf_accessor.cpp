#include "lithe/rig/gltf_accessor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe::gltf {
namespace {

struct Shape {
    const char* name;
    std::size_t rows, columns;
};
constexpr Shape shapes[] = {{"SCALAR", 1, 1}, {"VEC2", 2, 1}, {"VEC3", 3, 1}, {"VEC4", 4, 1},
                            {"MAT2", 2, 2},   {"MAT3", 3, 3}, {"MAT4", 4, 4}};

const Shape& shape_of(const Value& type)
{
    const std::string name = type.text();
    for (const Shape& shape : shapes)
        if (name == shape.name) return shape;
    type.fail(fmt::format("is {}, but must be SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3 or MAT4",
                          in_quotes(type.json())));
}

Component component_of(const Value& type)
{
    const std::size_t code = type.integer(0, 65535);
    if (code < 5120 || code > 5126 || code == 5124)
        type.fail(fmt::format("is {}, but must be 5120, 5121, 5122, 5123, 5125 or 5126", code));
    return static_cast<Component>(code);
}

/// From column to column of an element: columns of matrices begin at multiples of four bytes.
std::size_t column_stride(const Accessor& accessor)
{
    const std::size_t size = accessor.rows * size_of(accessor.component);
    return accessor.columns == 1 ? size : (size + 3) / 4 * 4;
}

/// From the first byte of an element to behind its last one.
std::size_t extent(const Accessor& accessor)
{
    return (accessor.columns - 1) * column_stride(accessor) + accessor.rows * size_of(accessor.component);
}

/// The part of a view where `count` elements lie; fails when it is not inside, or not aligned.
std::string_view part_of_view(const GltfDocument& document, const Value& place, std::size_t component_size,
                              std::size_t stride, std::size_t count, std::size_t last)
{
    const int index = place["bufferView"].index(document.count("bufferViews"), "bufferViews");
    const std::string_view bytes = document.view_span(index);
    const std::size_t begin = place.integer_or("byteOffset", 0, 0, largest_integer);
    const std::size_t view_begin = item(document, "bufferViews", static_cast<std::size_t>(index))
                                       .integer_or("byteOffset", 0, 0, largest_integer);
    if (begin % component_size != 0 || (begin + view_begin) % component_size != 0)
        place.fail(fmt::format(
            "its data begins at byte {}, which is no multiple of the {} bytes of a component; export "
            "the file again",
            begin + view_begin, component_size));
    const bool inside = begin <= bytes.size() && last <= bytes.size() - begin &&
                        count - 1 <= (bytes.size() - begin - last) / stride;
    if (!inside)
        place.fail(fmt::format(
            "{} elements of {} bytes from byte {} do not fit into the {} bytes of bufferView {}; the "
            "file is damaged, export it again",
            count, stride, begin, bytes.size(), index));
    return bytes.substr(begin, (count - 1) * stride + last);
}

std::size_t stride_of_view(const GltfDocument& document, const Value& value, const Accessor& accessor)
{
    const int index = value["bufferView"].index(document.count("bufferViews"), "bufferViews");
    const Value view = item(document, "bufferViews", static_cast<std::size_t>(index));
    if (!view.has("byteStride")) return accessor.stride;
    const std::size_t stride = view["byteStride"].integer(4, 252);
    if (stride < extent(accessor))
        view["byteStride"].fail(fmt::format("is {}, but an element there has {} bytes; export the file again",
                                            stride, extent(accessor)));
    return stride;
}

std::uint32_t unsigned_at(const char* bytes, Component component)
{
    std::uint32_t value = 0;
    std::memcpy(&value, bytes, size_of(component)); // little-endian: checked in gltf_container.cpp
    return value;
}

void check_sparse_indices(const SparseValues& sparse, std::size_t count, const Value& indices)
{
    std::optional<std::uint32_t> before;
    for (std::size_t i = 0; i < sparse.count; ++i) {
        const std::uint32_t at =
            unsigned_at(sparse.indices.data() + i * size_of(sparse.index_type), sparse.index_type);
        if (at >= count || (before && at <= *before))
            indices.fail(
                fmt::format("number {} is {}, but they must rise and stay below {}; export the file again", i,
                            at, count));
        before = at;
    }
}

SparseValues sparse_of(const GltfDocument& document, const Value& value, const Accessor& accessor)
{
    SparseValues sparse;
    sparse.count = value["count"].integer(1, accessor.count);
    const Value indices = value["indices"], values = value["values"];
    sparse.index_type = component_of(indices["componentType"]);
    if (!is_unsigned(sparse.index_type))
        indices["componentType"].fail("must be 5121, 5123 or 5125: indices are unsigned integers");
    const std::size_t index_size = size_of(sparse.index_type);
    sparse.indices = part_of_view(document, indices, index_size, index_size, sparse.count, index_size);
    const std::size_t value_size = accessor.columns * column_stride(accessor);
    sparse.values = part_of_view(document, values, size_of(accessor.component), value_size, sparse.count,
                                 extent(accessor));
    check_sparse_indices(sparse, accessor.count, indices);
    return sparse;
}

/// What has no bytes in the file could ask for any amount of memory.
void check_zeros(const GltfDocument& document, const Value& count, std::size_t asked)
{
    const std::size_t most = 65536 + 64 * document.buffer_bytes();
    if (asked > most)
        count.fail(fmt::format(
            "is {}, but without a bufferView at most {} are read in a file of this size; export it "
            "again",
            asked, most));
}

/// Copies an element without the gaps between its columns.
void copy_element(const Accessor& accessor, const char* from, char* to)
{
    const std::size_t size = accessor.rows * size_of(accessor.component), stride = column_stride(accessor);
    for (std::size_t c = 0; c < accessor.columns; ++c) std::memcpy(to + c * size, from + c * stride, size);
}

template <class T>
MatX to_numbers(const std::string& packed, const Accessor& accessor, double scale)
{
    MatX numbers(static_cast<Index>(accessor.components()), static_cast<Index>(accessor.count));
    const char* from = packed.data();
    for (double& number : numbers.reshaped()) {
        T value;
        std::memcpy(&value, from, sizeof value);
        from += sizeof value;
        number = std::max(static_cast<double>(value) / scale, accessor.normalized ? -1.0 : -HUGE_VAL);
    }
    return numbers;
}

} // namespace

Value item(const GltfDocument& document, const char* list, std::size_t index)
{
    return Value(document.list(list), document.file(), std::string("/") + list)[index];
}

Range range_of(const Value& view, const GltfDocument& document)
{
    const int buffer = view["buffer"].index(document.count("buffers"), "buffers");
    const std::size_t begin = view.integer_or("byteOffset", 0, 0, largest_integer);
    const std::size_t size = view["byteLength"].integer(1, largest_integer);
    const std::size_t there =
        item(document, "buffers", static_cast<std::size_t>(buffer))["byteLength"].integer(1, largest_integer);
    if (begin > there || size > there - begin)
        view.fail(fmt::format(
            "its {} bytes from byte {} are not inside of buffer {}, which has {}; the file is damaged, "
            "export it again",
            size, begin, buffer, there));
    return {buffer, begin, size};
}

std::size_t size_of(Component component)
{
    switch (component) {
    case Component::Byte:
    case Component::UnsignedByte:
        return 1;
    case Component::Short:
    case Component::UnsignedShort:
        return 2;
    default:
        return 4;
    }
}

bool is_unsigned(Component component)
{
    return component == Component::UnsignedByte || component == Component::UnsignedShort ||
           component == Component::UnsignedInt;
}

Accessor accessor_of(const GltfDocument& document, int index)
{
    LITHE_ASSERT(index >= 0 && static_cast<std::size_t>(index) < document.count("accessors"));
    const Value value = item(document, "accessors", static_cast<std::size_t>(index));
    const Shape& shape = shape_of(value["type"]);
    Accessor accessor{.component = component_of(value["componentType"]),
                      .normalized = value.boolean_or("normalized", false),
                      .type = shape.name,
                      .rows = shape.rows,
                      .columns = shape.columns,
                      .count = value["count"].integer(1, largest_integer),
                      .stride = 0,
                      .bytes = {}};
    if (accessor.normalized &&
        (accessor.component == Component::Float || accessor.component == Component::UnsignedInt))
        value["normalized"].fail("goes with integers of one or two bytes only");
    accessor.stride = accessor.columns * column_stride(accessor);
    if (value.has("bufferView")) {
        accessor.stride = stride_of_view(document, value, accessor);
        accessor.bytes = part_of_view(document, value, size_of(accessor.component), accessor.stride,
                                      accessor.count, extent(accessor));
    } else {
        check_zeros(document, value["count"], accessor.count);
    }
    if (value.has("sparse")) accessor.sparse = sparse_of(document, value["sparse"].object(), accessor);
    return accessor;
}

std::string packed_components(const Accessor& accessor)
{
    const std::size_t size = accessor.components() * size_of(accessor.component);
    std::string packed(accessor.count * size, '\0');
    if (!accessor.bytes.empty())
        for (std::size_t i = 0; i < accessor.count; ++i)
            copy_element(accessor, accessor.bytes.data() + i * accessor.stride, packed.data() + i * size);

    const SparseValues& sparse = accessor.sparse;
    for (std::size_t i = 0; i < sparse.count; ++i) {
        const std::size_t at =
            unsigned_at(sparse.indices.data() + i * size_of(sparse.index_type), sparse.index_type);
        const char* from = sparse.values.data() + i * accessor.columns * column_stride(accessor);
        copy_element(accessor, from, packed.data() + at * size);
    }
    return packed;
}

MatX numbers_of(const Accessor& accessor)
{
    const std::string packed = packed_components(accessor);
    const auto scale = [&](double largest) { return accessor.normalized ? largest : 1.0; };
    switch (accessor.component) {
    case Component::Byte:
        return to_numbers<std::int8_t>(packed, accessor, scale(127.0));
    case Component::UnsignedByte:
        return to_numbers<std::uint8_t>(packed, accessor, scale(255.0));
    case Component::Short:
        return to_numbers<std::int16_t>(packed, accessor, scale(32767.0));
    case Component::UnsignedShort:
        return to_numbers<std::uint16_t>(packed, accessor, scale(65535.0));
    case Component::UnsignedInt:
        return to_numbers<std::uint32_t>(packed, accessor, 1.0);
    default:
        return to_numbers<float>(packed, accessor, 1.0);
    }
}

} // namespace lithe::gltf

namespace lithe {

MatX GltfDocument::numbers(int accessor) const
{
    return gltf::numbers_of(gltf::accessor_of(*this, accessor));
}

std::vector<std::uint32_t> GltfDocument::indices(int accessor) const
{
    const gltf::Accessor layout = gltf::accessor_of(*this, accessor);
    if (!gltf::is_unsigned(layout.component) || layout.normalized)
        gltf::item(*this, "accessors", static_cast<std::size_t>(accessor))["componentType"].fail(
            "must be 5121, 5123 or 5125, not normalised: these are indices; export the file again");
    const std::string packed = gltf::packed_components(layout);
    const std::size_t size = gltf::size_of(layout.component);
    std::vector<std::uint32_t> values(layout.count * layout.components());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = gltf::unsigned_at(packed.data() + i * size, layout.component);
    return values;
}

} // namespace lithe
