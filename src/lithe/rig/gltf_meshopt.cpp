#include "lithe/rig/gltf_meshopt.hpp"

#include <fmt/format.h>
#include <meshoptimizer.h>

namespace lithe::gltf {
namespace {

constexpr const char* extension_names[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};

constexpr std::size_t largest_unpacked = std::size_t{1} << 31; ///< of a buffer view [bytes]
/// The vertex codec says in two bits that 16 bytes are as before: no byte becomes more than 64.
constexpr std::size_t largest_growth = 64;

struct Packing {
    std::size_t count, stride;
    std::string mode, filter;
};

Packing packing_of(const Value& extension)
{
    return {.count = extension["count"].integer(1, largest_integer),
            .stride = extension["byteStride"].integer(1, 256),
            .mode = extension["mode"].one_of({"ATTRIBUTES", "TRIANGLES", "INDICES"}),
            .filter = extension.has("filter")
                          ? extension["filter"].one_of({"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL"})
                          : "NONE"};
}

void check_stride(const Packing& packing, const Value& stride)
{
    if (packing.mode == "ATTRIBUTES" && packing.stride % 4 != 0)
        stride.fail(fmt::format("is {}, but attributes are packed in multiples of 4", packing.stride));
    if (packing.mode != "ATTRIBUTES" && packing.stride != 2 && packing.stride != 4)
        stride.fail(fmt::format("is {}, but indices have 2 or 4 bytes", packing.stride));
    if (packing.filter == "OCTAHEDRAL" && packing.stride != 4 && packing.stride != 8)
        stride.fail(fmt::format("is {}, but octahedral normals have 4 or 8 bytes", packing.stride));
    if (packing.filter == "QUATERNION" && packing.stride != 8)
        stride.fail(fmt::format("is {}, but packed quaternions have 8 bytes", packing.stride));
}

/// Fails when that many bytes cannot make so many elements: before there is room made for them.
void check_growth(const Packing& packing, std::size_t packed_size, const Value& count)
{
    const bool possible = packing.mode == "ATTRIBUTES"
                              ? packing.count * packing.stride <= largest_growth * packed_size
                          : packing.mode == "TRIANGLES" ? packing.count / 3 <= packed_size
                                                        : packing.count <= packed_size;
    if (!possible)
        count.fail(fmt::format(
            "is {}, but {} compressed bytes cannot hold so many; the file is damaged, get it again",
            packing.count, packed_size));
}

int decode(const Packing& packing, std::string_view packed, std::string& bytes)
{
    const auto* data = reinterpret_cast<const unsigned char*>(packed.data());
    if (packing.mode == "ATTRIBUTES")
        return meshopt_decodeVertexBuffer(bytes.data(), packing.count, packing.stride, data, packed.size());
    if (packing.mode == "TRIANGLES")
        return meshopt_decodeIndexBuffer(bytes.data(), packing.count, packing.stride, data, packed.size());
    return meshopt_decodeIndexSequence(bytes.data(), packing.count, packing.stride, data, packed.size());
}

void undo_filter(const Packing& packing, std::string& bytes)
{
    if (packing.filter == "OCTAHEDRAL") meshopt_decodeFilterOct(bytes.data(), packing.count, packing.stride);
    if (packing.filter == "QUATERNION") meshopt_decodeFilterQuat(bytes.data(), packing.count, packing.stride);
    if (packing.filter == "EXPONENTIAL") meshopt_decodeFilterExp(bytes.data(), packing.count, packing.stride);
}

} // namespace

std::string meshopt_extension(const Value& view)
{
    if (!view.has("extensions")) return "";
    const Value extensions = view["extensions"];
    for (const char* name : extension_names)
        if (extensions.has(name)) return name;
    return "";
}

bool is_fallback(const Value& buffer)
{
    const std::string name = meshopt_extension(buffer);
    return !name.empty() && buffer["extensions"][name].object().boolean_or("fallback", false);
}

void check_meshopt(const Value& view, const Value& extension)
{
    const Packing packing = packing_of(extension);
    check_stride(packing, extension["byteStride"]);
    if (packing.mode != "ATTRIBUTES" && packing.filter != "NONE")
        extension["filter"].fail("goes with attributes only, not with indices");
    if (packing.mode == "TRIANGLES" && packing.count % 3 != 0)
        extension["count"].fail(fmt::format("is {}, which is no multiple of 3", packing.count));
    if (packing.count > largest_unpacked / packing.stride)
        extension["count"].fail(fmt::format("asks for more than {} bytes; split the mesh", largest_unpacked));
    if (packing.count * packing.stride != view["byteLength"].integer(1, largest_integer))
        view["byteLength"].fail(fmt::format("is not the {} x {} bytes that its compressed data holds",
                                            packing.count, packing.stride));
    if (packing.mode == "ATTRIBUTES" && view.has("byteStride") &&
        view["byteStride"].integer(1, 256) != packing.stride)
        view["byteStride"].fail(fmt::format("is not the {} of its compressed data", packing.stride));
    check_growth(packing, extension["byteLength"].integer(1, largest_integer), extension["count"]);
}

std::string unpack_meshopt(const Value& extension, std::string_view packed)
{
    const Packing packing = packing_of(extension);
    constexpr unsigned char newer_attributes = 0xa1;
    if (packing.mode == "ATTRIBUTES" && static_cast<unsigned char>(packed[0]) == newer_attributes)
        extension.fail(
            "is packed with version 1 of meshopt's vertex codec, and only version 0 is read; pack it again "
            "with EXT_meshopt_compression");
    std::string bytes(packing.count * packing.stride, '\0');
    if (decode(packing, packed, bytes) != 0)
        extension.fail("the compressed data cannot be unpacked; the file is damaged, get it again");
    undo_filter(packing, bytes);
    return bytes;
}

} // namespace lithe::gltf
