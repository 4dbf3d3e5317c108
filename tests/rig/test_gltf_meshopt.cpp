#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <meshoptimizer.h>

#include "lithe/core/random.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "support/gltf_samples.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::message_of;
using test::with_changed_json;
using testing::HasSubstr;
using Json = GltfDocument::Json;

std::string packed_vertices(const void* data, std::size_t count, std::size_t stride)
{
    std::string packed(meshopt_encodeVertexBufferBound(count, stride), '\0');
    packed.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(packed.data()), packed.size(),
                                             data, count, stride));
    return packed;
}

std::string packed_triangles(const std::vector<unsigned>& indices, std::size_t vertex_count)
{
    std::string packed(meshopt_encodeIndexBufferBound(indices.size(), vertex_count), '\0');
    packed.resize(meshopt_encodeIndexBuffer(reinterpret_cast<unsigned char*>(packed.data()), packed.size(),
                                            indices.data(), indices.size()));
    return packed;
}

std::string packed_sequence(const std::vector<unsigned>& indices, std::size_t vertex_count)
{
    std::string packed(meshopt_encodeIndexSequenceBound(indices.size(), vertex_count), '\0');
    packed.resize(meshopt_encodeIndexSequence(reinterpret_cast<unsigned char*>(packed.data()), packed.size(),
                                              indices.data(), indices.size()));
    return packed;
}

/// How a compressed view is described, and the accessor that looks at it.
struct View {
    std::size_t count, stride;
    std::string mode = "ATTRIBUTES", filter = "NONE";
    int component = 5126;
    std::string type = "VEC3";
    bool normalized = false;
    std::string extension = "EXT_meshopt_compression";
};

/// A .glb with the packed bytes in its BIN chunk, and a second buffer that stands for what comes out of them.
std::string glb_of(const std::string& packed, const View& view)
{
    const std::size_t size = view.count * view.stride;
    const std::string accessor_count = std::to_string(view.count);
    const std::string stride =
        view.mode == "ATTRIBUTES" ? fmt::format(R"("byteStride": {},)", view.stride) : "";
    const std::string json = fmt::format(
        R"({{"asset": {{"version": "2.0"}}, "extensionsUsed": ["{0}"], "extensionsRequired": ["{0}"],
            "buffers": [{{"byteLength": {1}}}, {{"byteLength": {2}, "extensions": {{"{0}": {{"fallback": true}}}}}}],
            "bufferViews": [{{"buffer": 1, "byteLength": {2}, {3} "extensions": {{"{0}": {{"buffer": 0, "byteLength": {1},
              "byteStride": {4}, "count": {5}, "mode": "{6}", "filter": "{7}"}}}}}}],
            "accessors": [{{"bufferView": 0, "componentType": {8}, "count": {5}, "type": "{9}", "normalized": {10}}}]}})",
        view.extension, packed.size(), size, stride, view.stride, view.count, view.mode, view.filter,
        view.component, view.type, view.normalized);
    return gltf::join_container(json, packed, "packed.glb");
}

GltfDocument document_of(const std::string& packed, const View& view)
{
    return GltfDocument::parse(glb_of(packed, view), "packed.glb");
}

/// Multiples of 1/64: what is quite random does not become smaller.
std::vector<float> random_floats(std::size_t count)
{
    Random random(1);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = static_cast<float>(std::round(random.uniform(-64.0, 64.0)) / 64.0);
    return numbers;
}

TEST(GltfMeshopt, AttributesComeBackBitForBit)
{
    for (const char* extension : {"EXT_meshopt_compression", "KHR_meshopt_compression"}) {
        const std::vector<float> numbers = random_floats(3 * 1000); // several blocks of the codec
        const GltfDocument d = document_of(packed_vertices(numbers.data(), 1000, 12),
                                           {.count = 1000, .stride = 12, .extension = extension});
        const Eigen::MatrixXf expected = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), 3, 1000);
        EXPECT_EQ(d.numbers(0), expected.cast<double>());
        EXPECT_EQ(d.view_bytes(0).size(), 12000u);
    }
}

TEST(GltfMeshopt, InterleavedAttributesAreReadWithTheirStride)
{
    const std::vector<float> numbers = random_floats(4 * 20);
    const GltfDocument d = document_of(packed_vertices(numbers.data(), 20, 16), {.count = 20, .stride = 16});
    const Eigen::MatrixXf expected = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), 4, 20).topRows(3);
    EXPECT_EQ(d.numbers(0), expected.cast<double>());
}

/// A strip of triangles, folded so that the codec has to look back.
std::vector<unsigned> strip(unsigned triangle_count)
{
    std::vector<unsigned> indices;
    for (unsigned t = 0; t < triangle_count; ++t)
        for (const unsigned k : {t, t + 1 + t % 2, t + 2 - t % 2}) indices.push_back(k % 50);
    return indices;
}

TEST(GltfMeshopt, TrianglesComeBackUpToTheirFirstCorner)
{
    const std::vector<unsigned> indices = strip(100);
    for (const std::size_t size : {2u, 4u}) {
        const GltfDocument d =
            document_of(packed_triangles(indices, 50), {.count = indices.size(),
                                                        .stride = size,
                                                        .mode = "TRIANGLES",
                                                        .component = size == 2 ? 5123 : 5125,
                                                        .type = "SCALAR"});
        const std::vector<std::uint32_t> found = d.indices(0);
        ASSERT_EQ(found.size(), indices.size());
        for (std::size_t t = 0; t < 100; ++t) {
            std::vector<std::uint32_t> corners(found.begin() + 3 * t, found.begin() + 3 * t + 3);
            for (int turn = 0; turn < 3 && corners[0] != indices[3 * t]; ++turn)
                std::rotate(corners.begin(), corners.begin() + 1, corners.end());
            EXPECT_THAT(corners,
                        testing::ElementsAre(indices[3 * t], indices[3 * t + 1], indices[3 * t + 2]));
        }
    }
}

TEST(GltfMeshopt, SequencesComeBackAsTheyWere)
{
    const std::vector<unsigned> indices = {0, 5, 1, 4, 4, 99, 3};
    const GltfDocument d =
        document_of(packed_sequence(indices, 100),
                    {.count = 7, .stride = 4, .mode = "INDICES", .component = 5125, .type = "SCALAR"});
    EXPECT_THAT(d.indices(0), testing::ElementsAreArray(indices));
}

/// Unit vectors of four components.
Eigen::MatrixXf directions(Index count, Index dimensions)
{
    Eigen::MatrixXf vectors = Eigen::MatrixXf::Zero(4, count);
    const std::vector<float> numbers = random_floats(static_cast<std::size_t>(4 * count));
    vectors.topRows(dimensions) =
        Eigen::Map<const Eigen::MatrixXf>(numbers.data(), 4, count).topRows(dimensions);
    vectors.colwise().normalize();
    return vectors;
}

TEST(GltfMeshopt, OctahedralNormals)
{
    const Eigen::MatrixXf normals = directions(67, 3);
    for (const std::size_t stride : {4u, 8u}) {
        std::string filtered(67 * stride, '\0');
        meshopt_encodeFilterOct(filtered.data(), 67, stride, stride == 4 ? 8 : 16, normals.data());
        const GltfDocument d =
            document_of(packed_vertices(filtered.data(), 67, stride), {.count = 67,
                                                                       .stride = stride,
                                                                       .filter = "OCTAHEDRAL",
                                                                       .component = stride == 4 ? 5120 : 5122,
                                                                       .normalized = true});
        const double step = stride == 4 ? 1.0 / 127 : 1.0 / 32767;
        EXPECT_LT((d.numbers(0) - normals.topRows(3).cast<double>()).cwiseAbs().maxCoeff(), 2.0 * step);
    }
}

TEST(GltfMeshopt, Quaternions)
{
    const Eigen::MatrixXf rotations = directions(67, 4);
    std::string filtered(67 * 8, '\0');
    meshopt_encodeFilterQuat(filtered.data(), 67, 8, 16, rotations.data());
    const GltfDocument d = document_of(packed_vertices(filtered.data(), 67, 8), {.count = 67,
                                                                                 .stride = 8,
                                                                                 .filter = "QUATERNION",
                                                                                 .component = 5122,
                                                                                 .type = "VEC4",
                                                                                 .normalized = true});
    const MatX found = d.numbers(0);
    for (Index i = 0; i < 67; ++i) // q and -q are one rotation
        EXPECT_NEAR(std::abs(found.col(i).dot(rotations.col(i).cast<double>())), 1.0, 1e-4);
}

TEST(GltfMeshopt, ExponentsShared)
{
    const std::vector<float> numbers = random_floats(3 * 67);
    std::string filtered(67 * 12, '\0');
    meshopt_encodeFilterExp(filtered.data(), 67, 12, 24, numbers.data());
    const GltfDocument d = document_of(packed_vertices(filtered.data(), 67, 12),
                                       {.count = 67, .stride = 12, .filter = "EXPONENTIAL"});
    const Eigen::MatrixXf expected = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), 3, 67);
    EXPECT_LT((d.numbers(0) - expected.cast<double>()).cwiseAbs().maxCoeff(), 3e-7);
    // By hand: 24 bits of mantissa -3, 8 bits of exponent 4: -3 * 2^4.
    const std::int32_t word = (4 << 24) | (-3 & 0xffffff);
    EXPECT_EQ(document_of(packed_vertices(&word, 1, 4),
                          {.count = 1, .stride = 4, .filter = "EXPONENTIAL", .type = "SCALAR"})
                  .numbers(0)(0),
              -48.0);
}

TEST(GltfMeshopt, StaysCompressedOnTheWayBack)
{
    const std::vector<float> numbers = random_floats(3 * 100);
    GltfDocument d = document_of(packed_vertices(numbers.data(), 100, 12), {.count = 100, .stride = 12});
    const int added = d.add_accessor(Eigen::MatrixXf::Ones(1, 2));
    const GltfDocument again = GltfDocument::parse(d.to_glb(), "again.glb");
    EXPECT_EQ(again.numbers(0), d.numbers(0));
    EXPECT_EQ(again.numbers(added), MatX::Ones(1, 2));
    ASSERT_EQ(again.count("buffers"), 2u); // all bytes, and the one that stands for what is unpacked
    EXPECT_EQ(again.list("buffers")[1]["extensions"]["EXT_meshopt_compression"]["fallback"], true);
    EXPECT_EQ(again.list("bufferViews")[0]["buffer"], 1);
    EXPECT_EQ(again.list("bufferViews")[0]["extensions"]["EXT_meshopt_compression"]["buffer"], 0);
    EXPECT_EQ(again.list("bufferViews")[1]["buffer"], 0);
}

struct Fault {
    const char* pointer;
    const char* value;
    const char* complaint;
};

TEST(GltfMeshopt, FaultsAreNamedWithTheirPlace)
{
    const std::string extension = "/bufferViews/0/extensions/EXT_meshopt_compression/";
    const Fault faults[] = {
        {"mode", "\"ZIP\"", "mode: is \"ZIP\", but must be one of ATTRIBUTES, TRIANGLES, INDICES"},
        {"filter", "\"COLOR\"",
         "filter: is \"COLOR\", but must be one of NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL"},
        {"filter", "\"OCTAHEDRAL\"", "byteStride: is 12, but octahedral normals have 4 or 8 bytes"},
        {"filter", "\"QUATERNION\"", "byteStride: is 12, but packed quaternions have 8 bytes"},
        {"mode", "\"INDICES\"", "byteStride: is 12, but indices have 2 or 4 bytes"},
        {"byteStride", "10", "byteStride: is 10, but attributes are packed in multiples of 4"},
        {"byteStride", "260", "byteStride: must be an integer from 1 to 256, not 260"},
        {"count", "0", "count: must be an integer from 1"},
        {"count", "900000000", "count: asks for more than 2147483648 bytes; split the mesh"},
        {"buffer", "1", "buffer: has no data; compressed data cannot lie in a fallback buffer"},
        {"buffer", "2", "buffer: is 2, but the file has only 2 buffers"},
        {"byteLength", "99999", " its 99999 bytes from byte 0 are not inside of buffer 0"},
        {"byteLength", "20", "count: is 200, but 20 compressed bytes cannot hold so many"},
        {"byteLength", "1000", " the compressed data cannot be unpacked; the file is damaged, get it again"},
    };
    const std::vector<float> numbers = random_floats(3 * 200);
    const std::string glb = glb_of(packed_vertices(numbers.data(), 200, 12), {.count = 200, .stride = 12});
    for (const Fault& fault : faults) {
        const std::string changed = with_changed_json(glb, [&](Json& json) {
            json[Json::json_pointer(extension + fault.pointer)] = Json::parse(fault.value);
        });
        std::string place = "p.glb: " + extension;
        if (fault.complaint[0] == ' ') place.back() = ':';
        EXPECT_THAT(message_of([&] { GltfDocument::parse(changed, "p.glb"); }),
                    HasSubstr(place + fault.complaint));
    }
}

TEST(GltfMeshopt, SizesMustAgree)
{
    const std::vector<float> numbers = random_floats(3 * 200);
    const std::string packed = packed_vertices(numbers.data(), 200, 12),
                      glb = glb_of(packed, {.count = 200, .stride = 12});
    const auto complaint = [&](const auto& change) {
        const std::string changed =
            with_changed_json(glb, [&](Json& json) { change(json["bufferViews"][0]); });
        return message_of([&] { GltfDocument::parse(changed, "p.glb"); });
    };
    EXPECT_EQ(complaint([](Json& view) { view["byteLength"] = 2388; }),
              "p.glb: /bufferViews/0/byteLength: is not the 200 x 12 bytes that its compressed data holds");
    EXPECT_EQ(complaint([](Json& view) { view["byteStride"] = 16; }),
              "p.glb: /bufferViews/0/byteStride: is not the 12 of its compressed data");
    EXPECT_EQ(
        complaint([](Json& view) { view.erase("extensions"); }),
        "p.glb: /bufferViews/0/buffer: has no data, and this view is not compressed; export the file again");
    EXPECT_THAT(message_of([&] { document_of(packed, {.count = 200, .stride = 4, .mode = "TRIANGLES"}); }),
                HasSubstr("/count: is 200, which is no multiple of 3"));
    EXPECT_THAT(message_of([&] {
                    document_of(packed,
                                {.count = 3, .stride = 4, .mode = "TRIANGLES", .filter = "EXPONENTIAL"});
                }),
                HasSubstr("/filter: goes with attributes only, not with indices"));
}

TEST(GltfMeshopt, NewerVertexCodecIsNamed)
{
    const std::vector<float> numbers = random_floats(3 * 20);
    std::string packed = packed_vertices(numbers.data(), 20, 12);
    packed[0] = '\xa1';
    EXPECT_THAT(message_of([&] { document_of(packed, {.count = 20, .stride = 12}); }),
                HasSubstr("is packed with version 1 of meshopt's vertex codec, and only version 0 is read"));
}

TEST(GltfMeshopt, DamagedBytesAreRefusedOrReadInBounds)
{
    const std::vector<unsigned> indices = strip(100);
    const std::string packed = packed_triangles(indices, 50);
    const View view = {.count = 300, .stride = 2, .mode = "TRIANGLES", .component = 5123, .type = "SCALAR"};
    for (std::size_t i = 0; i < packed.size(); ++i) {
        std::string damaged = packed;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
        const std::string said =
            message_of([&] { EXPECT_EQ(document_of(damaged, view).indices(0).size(), 300u); });
        EXPECT_TRUE(said == "nothing was thrown" || said.find("cannot be unpacked") != said.npos) << said;
    }
}

TEST(GltfMeshopt, OrdinaryFallbackBytesAreKept)
{
    const std::vector<float> numbers = random_floats(3 * 20);
    const std::string packed = packed_vertices(numbers.data(), 20, 12);
    const std::string plain(reinterpret_cast<const char*>(numbers.data()), 240);
    const std::string json = fmt::format(
        R"({{"asset": {{"version": "2.0"}}, "extensionsUsed": ["EXT_meshopt_compression"],
            "buffers": [{{"byteLength": {1}}}], "bufferViews": [{{"buffer": 0, "byteLength": 240, "extensions":
              {{"EXT_meshopt_compression": {{"buffer": 0, "byteOffset": 240, "byteLength": {0}, "byteStride": 12, "count": 20,
              "mode": "ATTRIBUTES"}}}}}}],
            "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 20, "type": "VEC3"}}]}})",
        packed.size(), packed.size() + 240);
    const GltfDocument d = GltfDocument::parse(gltf::join_container(json, plain + packed, "a.glb"), "a.glb");
    EXPECT_EQ(d.view_bytes(0), plain);
    const std::string again =
        with_changed_json(d.to_glb(), [](Json& changed) { changed["bufferViews"][0].erase("extensions"); });
    EXPECT_EQ(GltfDocument::parse(again, "b.glb").view_bytes(0), plain);
}

} // namespace
} // namespace lithe
