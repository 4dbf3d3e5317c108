#include <cstring>

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_document.hpp"
#include "support/data.hpp"
#include "support/gltf_samples.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

using test::bending_square;
using test::message_of;
using test::with_changed_json;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = GltfDocument::Json;

template <class T>
std::string bytes_of(std::initializer_list<T> values)
{
    return {reinterpret_cast<const char*>(std::data(values)), sizeof(T) * values.size()};
}

/// A document of one buffer, and what `lists` says of it.
GltfDocument document_of(const std::string& bytes, const std::string& lists)
{
    const std::string json = R"({"asset": {"version": "2.0"}, "buffers": [{"byteLength": )" +
                             std::to_string(bytes.size()) + "}], " + lists + "}";
    return GltfDocument::parse(gltf::join_container(json, bytes, "sample.glb"), "sample.glb");
}

/// What reading says when the JSON at `pointer` is another.
std::string complaint(const std::string& pointer, const std::string& value)
{
    const std::string glb = with_changed_json(bending_square().to_glb(), [&](Json& json) {
        json[Json::json_pointer(pointer)] = Json::parse(value);
    });
    return message_of([&] { GltfDocument::parse(glb, "man.glb"); });
}

/// The raw bits of all components of an accessor.
std::string bits(const GltfDocument& document, std::size_t accessor)
{
    return gltf::packed_components(gltf::accessor_of(document, static_cast<int>(accessor)));
}

/// The JSON without what writing may change: where in which buffer bytes lie.
Json without_places(Json json)
{
    json.erase("buffers");
    if (json.contains("bufferViews"))
        for (Json& view : json["bufferViews"]) {
            view.erase("buffer");
            view.erase("byteOffset");
        }
    return json;
}

void expect_same(const GltfDocument& a, const GltfDocument& b)
{
    EXPECT_EQ(without_places(a.json()), without_places(b.json()));
    ASSERT_EQ(a.count("accessors"), b.count("accessors"));
    for (std::size_t i = 0; i < a.count("accessors"); ++i)
        EXPECT_EQ(bits(a, i), bits(b, i)) << "accessor " << i;
}

// ---- numbers

TEST(GltfDocument, NumbersOfEveryComponentType)
{
    const std::string bytes = bytes_of<std::int8_t>({-128, -127, 127, 0}) +
                              bytes_of<std::int16_t>({-32768, 32767}) + bytes_of<std::uint16_t>({65535, 1}) +
                              bytes_of<std::uint32_t>({4000000000u}) + bytes_of<float>({0.1f});
    const GltfDocument d =
        document_of(bytes, R"("bufferViews": [{"buffer": 0, "byteLength": 20}], "accessors": [
        {"bufferView": 0, "componentType": 5120, "count": 3, "type": "SCALAR"},
        {"bufferView": 0, "componentType": 5120, "count": 3, "type": "SCALAR", "normalized": true},
        {"bufferView": 0, "componentType": 5121, "count": 3, "type": "SCALAR", "normalized": true},
        {"bufferView": 0, "byteOffset": 4, "componentType": 5122, "count": 2, "type": "SCALAR", "normalized": true},
        {"bufferView": 0, "byteOffset": 8, "componentType": 5123, "count": 1, "type": "VEC2", "normalized": true},
        {"bufferView": 0, "byteOffset": 8, "componentType": 5123, "count": 2, "type": "SCALAR"},
        {"bufferView": 0, "byteOffset": 12, "componentType": 5125, "count": 1, "type": "SCALAR"},
        {"bufferView": 0, "byteOffset": 16, "componentType": 5126, "count": 1, "type": "SCALAR"}])");
    EXPECT_EQ(d.numbers(0), (MatX(1, 3) << -128, -127, 127).finished());
    EXPECT_EQ(d.numbers(1), (MatX(1, 3) << -1, -1, 1).finished()); // max(c / 127, -1)
    EXPECT_EQ(d.numbers(2), (MatX(1, 3) << 128.0 / 255, 129.0 / 255, 127.0 / 255).finished());
    EXPECT_EQ(d.numbers(3), (MatX(1, 2) << -1, 1).finished());
    EXPECT_EQ(d.numbers(4), (MatX(2, 1) << 1, 1.0 / 65535).finished());
    EXPECT_THAT(d.indices(5), ElementsAre(65535, 1));
    EXPECT_THAT(d.indices(6), ElementsAre(4000000000u));
    EXPECT_EQ(d.numbers(6)(0), 4e9);
    EXPECT_EQ(d.numbers(7)(0), double(0.1f));
    EXPECT_EQ(message_of([&] { d.indices(0); }),
              "sample.glb: /accessors/0/componentType: must be 5121, 5123 or 5125, not "
              "normalised: these are indices; export the file again");
}

TEST(GltfDocument, StridesLeaveOutWhatLiesBetween)
{
    const std::string bytes = bytes_of<std::uint16_t>({1, 2, 99, 99, 3, 4, 99, 99, 5, 6});
    const GltfDocument d = document_of(
        bytes, R"("bufferViews": [{"buffer": 0, "byteLength": 20, "byteStride": 8}], "accessors": [
        {"bufferView": 0, "componentType": 5123, "count": 3, "type": "VEC2"}])");
    EXPECT_EQ(d.numbers(0), (MatX(2, 3) << 1, 3, 5, 2, 4, 6).finished());
}

TEST(GltfDocument, ColumnsOfSmallMatricesBeginAtMultiplesOfFour)
{
    const std::string bytes = bytes_of<std::uint8_t>({1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0}) +
                              bytes_of<std::uint8_t>({1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0}) +
                              bytes_of<std::uint16_t>({1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9});
    const GltfDocument d =
        document_of(bytes, R"("bufferViews": [{"buffer": 0, "byteLength": 50}], "accessors": [
        {"bufferView": 0, "componentType": 5121, "count": 2, "type": "MAT2"},
        {"bufferView": 0, "byteOffset": 16, "componentType": 5121, "count": 1, "type": "MAT3"},
        {"bufferView": 0, "byteOffset": 28, "componentType": 5123, "count": 1, "type": "MAT3"}])");
    EXPECT_EQ(d.numbers(0), (MatX(4, 2) << 1, 5, 2, 6, 3, 7, 4, 8).finished());
    EXPECT_EQ(d.numbers(1), VecX::LinSpaced(9, 1, 9));
    EXPECT_EQ(d.numbers(2), VecX::LinSpaced(9, 1, 9));
}

constexpr const char* sparse_lists =
    R"("bufferViews": [{"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12,
    "byteLength": 4}, {"buffer": 0, "byteOffset": 16, "byteLength": 8}], "accessors": [
    {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR", "sparse": {"count": 2,
     "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 2}}},
    {"componentType": 5126, "count": 5, "type": "SCALAR", "sparse": {"count": 2,
     "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 2}}},
    {"componentType": 5126, "count": 2, "type": "VEC3"}])";

TEST(GltfDocument, SparseValuesReplaceSome)
{
    const GltfDocument d =
        document_of(bytes_of<float>({1, 2, 3}) + bytes_of<std::uint16_t>({0, 2}) + bytes_of<float>({-7, -9}),
                    sparse_lists);
    EXPECT_EQ(d.numbers(0), (MatX(1, 3) << -7, 2, -9).finished());
    EXPECT_EQ(d.numbers(1), (MatX(1, 5) << -7, 0, -9, 0, 0).finished()); // without a view: on zeros
    EXPECT_EQ(d.numbers(2), MatX::Zero(3, 2));
    expect_same(d, GltfDocument::parse(d.to_glb(), "again.glb"));
}

TEST(GltfDocument, SparseIndicesRiseAndStayInside)
{
    const auto reading = [](std::uint16_t a, std::uint16_t b) {
        const std::string bytes =
            bytes_of<float>({1, 2, 3}) + bytes_of<std::uint16_t>({a, b}) + bytes_of<float>({-7, -9});
        return message_of([&] { document_of(bytes, sparse_lists); });
    };
    EXPECT_EQ(reading(0, 3),
              "sample.glb: /accessors/0/sparse/indices: number 1 is 3, but they must rise and stay below 3; "
              "export the file again");
    EXPECT_THAT(reading(1, 1), HasSubstr("/accessors/0/sparse/indices: number 1 is 1, but they must rise"));
}

TEST(GltfDocument, NumbersThatAreNoneAreRefused)
{
    const auto reading = [](float number) {
        return message_of([&] {
            document_of(bytes_of<float>({1, 2, 3, 4, number, 6}),
                        R"("bufferViews": [{"buffer": 0, "byteLength": 24}], "accessors": [
                        {"bufferView": 0, "componentType": 5126, "count": 2, "type": "VEC3"}])");
        });
    };
    EXPECT_EQ(
        reading(std::nanf("")),
        "sample.glb: /accessors/0: element 1 has a component that is nan; mend it where the file was made");
    EXPECT_THAT(reading(HUGE_VALF), HasSubstr("element 1 has a component that is inf"));
    EXPECT_EQ(reading(5), "nothing was thrown");
}

// ---- containers and URIs

TEST(GltfDocument, CutAndForeignContainersAreRefused)
{
    const std::string glb = bending_square().to_glb();
    const auto reading = [](std::string_view bytes) {
        return message_of([&] { GltfDocument::parse(bytes, "a.glb"); });
    };
    for (std::size_t size = 0; size < glb.size(); size += 7)
        EXPECT_THAT(reading(glb.substr(0, size)), HasSubstr("a.glb")) << size;
    EXPECT_THAT(reading(glb.substr(0, 8)), HasSubstr("a.glb: is cut short within its header"));
    EXPECT_THAT(reading(glb.substr(0, 100)), HasSubstr("a.glb: its header says "));
    EXPECT_THAT(reading("solid cube"), HasSubstr("a.glb:1:1: here the JSON breaks off or goes wrong"));
    EXPECT_THAT(reading("{\n \"asset\": ]"), HasSubstr("a.glb:2:11: "));
    EXPECT_THAT(reading("[]"), HasSubstr("a.glb: must be an object, not an array"));
    EXPECT_THAT(reading("{\"a\": 1e999}"), HasSubstr("a.glb: its JSON has a number beyond the range"));
    std::string old = glb;
    old[4] = 1;
    EXPECT_THAT(reading(old), HasSubstr("a.glb: is a .glb of version 1; only version 2 is read"));
    std::string no_json = glb;
    no_json[16] = 'X';
    EXPECT_THAT(reading(no_json), HasSubstr("a.glb at byte 12: the first chunk must be JSON"));
    std::string long_chunk = glb;
    long_chunk[15] = 127;
    EXPECT_THAT(reading(long_chunk), HasSubstr("a.glb at byte 12: a chunk of "));
}

TEST(GltfDocument, DeepNestingIsRefusedNotFollowed)
{
    const std::string deep(1000000, '[');
    EXPECT_THAT(message_of([&] { GltfDocument::parse("{\"extras\": \"[[\\\"\", \"a\":" + deep, "a.gltf"); }),
                HasSubstr("a.gltf:1:279: the JSON is nested deeper than 256"));
}

TEST(GltfDocument, UnknownChunksAndTrailingBytesArePassedOver)
{
    const GltfDocument d = bending_square();
    std::string glb = d.to_glb();
    glb += bytes_of<std::uint32_t>({4, 0x12345678, 42});
    const auto size = static_cast<std::uint32_t>(glb.size());
    std::memcpy(glb.data() + 8, &size, 4);
    expect_same(d, GltfDocument::parse(glb + "junk", "a.glb"));
}

TEST(GltfDocument, BuffersInTheTextAndBesideIt)
{
    const test::TemporaryFolder folder;
    write_file(folder / "a b%.bin", bytes_of<float>({1, 2}) + "padding");
    const std::string lists = R"("bufferViews": [{"buffer": 0, "byteLength": 8}], "accessors": [
        {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"}]})";
    const auto text = [&](const std::string& uri) {
        return R"({"asset": {"version": "2.0"}, "buffers": [{"byteLength": 8, "uri": ")" + uri + "\"}], " +
               lists;
    };
    const auto reading = [&](const std::string& uri) {
        return message_of([&] { GltfDocument::parse(text(uri), "a.gltf", folder.path()); });
    };
    const MatX expected = (MatX(1, 2) << 1, 2).finished();
    const GltfDocument beside = GltfDocument::parse(text("a%20b%25.bin"), "a.gltf", folder.path());
    const std::string in_text = "data:application/octet-stream;base64," + io::base64(bytes_of<float>({1, 2}));
    EXPECT_EQ(beside.numbers(0), expected);
    EXPECT_EQ(GltfDocument::parse(text(in_text), "a.gltf").numbers(0), expected);
    EXPECT_EQ(GltfDocument::parse(beside.to_glb(), "a.glb").numbers(0), expected);

    EXPECT_EQ(reading("../a.bin"),
              "a.gltf: /buffers/0/uri: \"../a.bin\" leaves the folder of this file; put the file "
              "beside it, and name it without '..', '\\' or a leading '/'");
    EXPECT_THAT(reading("x/%2e%2E/../a.bin"), HasSubstr("leaves the folder"));
    EXPECT_THAT(reading("/etc/passwd"), HasSubstr("leaves the folder"));
    EXPECT_THAT(reading("..%5Ca.bin"), HasSubstr("leaves the folder"));
    EXPECT_THAT(reading("file:///etc/passwd"), HasSubstr("is an address, not a file"));
    EXPECT_THAT(reading("https://example.org/a.bin"), HasSubstr("is an address, not a file"));
    EXPECT_THAT(reading("a%2.bin"), HasSubstr("a '%' is not followed by two hexadecimal digits"));
    EXPECT_THAT(reading("a%00.bin"), HasSubstr("names no file"));
    EXPECT_THAT(reading("b.bin"),
                HasSubstr("/buffers/0/uri: \"b.bin\" is not there; put it beside this file"));
    EXPECT_THAT(reading("data:text/plain,abc"), HasSubstr("only base64 is read"));
    EXPECT_THAT(reading("data:;base64,AAAA="), HasSubstr("its base64 is cut short"));
    EXPECT_THAT(reading("data:;base64,A=AA"), HasSubstr("a '=' before the end"));
    EXPECT_THAT(reading("data:;base64,A!AA"), HasSubstr("a.gltf: /buffers/0/uri: "));
    EXPECT_EQ(reading("data:;base64,AAAA"),
              "a.gltf: /buffers/0/byteLength: is 8, but its data has 3 bytes; the file is cut "
              "short, get it again");
    EXPECT_THAT(message_of([&] { GltfDocument::parse(text("a.bin"), "a.gltf"); }),
                HasSubstr("a document in memory has no folder"));
}

TEST(GltfDocument, MoreThanFourGigabytesDoNotFitIntoAGlb)
{
    constexpr std::size_t size = (std::size_t{1} << 32) - 40; // addresses only: nobody looks at the bytes
    void* pages = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const std::string_view binary(static_cast<const char*>(pages), size);
    EXPECT_EQ(message_of([&] { gltf::join_container("{\"asset\":{}}", binary, "big.glb"); }),
              "big.glb: 4294967296 bytes are more than a .glb can hold (4 GB); write a .gltf");
    munmap(pages, size);
}

// ---- what is checked

struct Fault {
    const char* pointer;
    const char* value;
    const char* complaint;
};

class GltfFaults : public testing::TestWithParam<Fault> {};

TEST_P(GltfFaults, AreNamedWithTheirPlace)
{
    EXPECT_THAT(complaint(GetParam().pointer, GetParam().value),
                HasSubstr(std::string("man.glb: ") + GetParam().complaint));
}

constexpr Fault heading_faults[] = {
    {"/asset", "{}", "/asset: 'version' is missing"},
    {"/asset/version", "\"1.0\"", "/asset/version: is \"1.0\"; only glTF 2 is read"},
    {"/asset/version", "\"two\"", "/asset/version: is \"two\", which is no version"},
    {"/asset/version", "\"2.\"", "/asset/version: is \"2.\", which is no version"},
    {"/asset/minVersion", "\"2.1\"", "/asset/minVersion: is \"2.1\"; glTF up to 2.0 is read"},
    {"/nodes", "{}", "/nodes: must be an array, not an object"},
    {"/nodes/0", "7", "/nodes/0: must be an object, not 7"},
    {"/nodes/0/name", "7", "/nodes/0/name: must be a text, not 7"},
    {"/extensionsUsed", "[1]", "/extensionsUsed/0: must be a text, not 1"},
    {"/extensionsRequired", "[\"KHR_draco_mesh_compression\"]",
     "/extensionsRequired/0: the meshes are compressed with KHR_draco_mesh_compression, which is not read; "
     "export without "
     "Draco compression, or let a glTF tool undo it"},
    {"/extensionsRequired", "[\"KHR_materials_unlit\", \"ACME_fur\"]",
     "/extensionsRequired/1: the file requires the extension \"ACME_fur\", which is not read; export without "
     "it"},
};
INSTANTIATE_TEST_SUITE_P(Heading, GltfFaults, testing::ValuesIn(heading_faults));

constexpr Fault data_faults[] = {
    {"/buffers/0/byteLength", "0", "/buffers/0/byteLength: must be an integer from 1 to "},
    {"/buffers/0/byteLength", "99999", "/buffers/0/byteLength: is 99999, but its data has "},
    {"/buffers/1", "{\"byteLength\": 4}", "/buffers/1: has no 'uri', and the file has no BIN chunk for it"},
    {"/bufferViews/0/buffer", "1", "/bufferViews/0/buffer: is 1, but the file has only 1 buffers"},
    {"/bufferViews/0/buffer", "-1", "/bufferViews/0/buffer: must be an index into 'buffers', not -1"},
    {"/bufferViews/0/byteLength", "9007199254740991",
     "/bufferViews/0: its 9007199254740991 bytes from byte 0 are not inside"},
    {"/bufferViews/0/byteOffset", "9007199254740991",
     "/bufferViews/0: its 48 bytes from byte 9007199254740991 are not"},
    {"/bufferViews/0/byteStride", "6", "/bufferViews/0/byteStride: is 6, which is no multiple of 4"},
    {"/bufferViews/0/byteStride", "8", "/bufferViews/0/byteStride: is 8, but an element there has 12 bytes"},
    {"/accessors/0/count", "5",
     "/accessors/0: 5 elements of 12 bytes from byte 0 do not fit into the 48 bytes of"},
    {"/accessors/0/count", "9007199254740991", "/accessors/0: 9007199254740991 elements of 12 bytes"},
    {"/accessors/0/count", "0", "/accessors/0/count: must be an integer from 1"},
    {"/accessors/0/count", "4.0", "/accessors/0/count: must be an integer from 1"},
    {"/accessors/0/byteOffset", "2",
     "/accessors/0: its data begins at byte 2, which is no multiple of the 4 bytes"},
    {"/accessors/0/type", "\"VEC5\"", "/accessors/0/type: is \"VEC5\", but must be SCALAR"},
    {"/accessors/0/componentType", "5124", "/accessors/0/componentType: is 5124, but must be 5120"},
    {"/accessors/0/normalized", "true",
     "/accessors/0/normalized: goes with integers of one or two bytes only"},
    {"/accessors/0/min", "[0, 0]", "/accessors/0/min: has 2 numbers instead of 3"},
    {"/accessors/0/bufferView", "99", "/accessors/0/bufferView: is 99, but the file has only 9 bufferViews"},
    {"/accessors/9", R"({"componentType": 5126, "count": 2000000000, "type": "MAT4"})",
     "/accessors/9/count: is 2000000000, but without a bufferView at most "},
};
INSTANTIATE_TEST_SUITE_P(Data, GltfFaults, testing::ValuesIn(data_faults));

constexpr Fault node_faults[] = {
    {"/nodes/1/children", "[0]", "/nodes/0: is below itself: the nodes form a cycle"},
    {"/nodes/2/children", "[1]", "/nodes/2/children/0: node 1 is a child of node 0 already"},
    {"/nodes/2/children", "[9]", "/nodes/2/children/0: is 9, but the file has only 3 nodes"},
    {"/nodes/2/mesh", "1", "/nodes/2/mesh: is 1, but the file has only 1 meshes"},
    {"/nodes/2/skin", "1", "/nodes/2/skin: is 1, but the file has only 1 skins"},
    {"/nodes/2/camera", "0", "/nodes/2/camera: is 0, but the file has only 0 cameras"},
    {"/nodes/2/weights", "[0, 1]", "/nodes/2/weights: has 2 numbers instead of 1"},
    {"/nodes/0/weights", "[0]", "/nodes/0/weights: are of no use: the node has no mesh"},
    {"/nodes/1/translation", "[0, 1]", "/nodes/1/translation: has 2 numbers instead of 3"},
    {"/nodes/1/scale", "[0, 1, \"a\"]", "/nodes/1/scale/2: must be a number, not \"a\""},
    {"/nodes/1/rotation", "[0, 0, 0, 0]", "/nodes/1/rotation: is no unit quaternion"},
    {"/nodes/1/matrix", "[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "/nodes/1/matrix: stands beside translation"},
    {"/scenes/0/nodes", "[1]", "/scenes/0/nodes/0: node 1 has a parent; a scene lists roots only"},
    {"/scenes/0/nodes", "[0, 0]", "/scenes/0/nodes/1: node 0 is listed twice"},
    {"/scene", "1", "/scene: is 1, but the file has only 1 scenes"},
};
INSTANTIATE_TEST_SUITE_P(Nodes, GltfFaults, testing::ValuesIn(node_faults));

constexpr Fault mesh_faults[] = {
    {"/meshes/0/primitives", "[]", "/meshes/0/primitives: has 0 entries, but at least 1 are needed"},
    {"/meshes/0/primitives/0/attributes", "{}", "/meshes/0/primitives/0/attributes: has no POSITION"},
    {"/meshes/0/primitives/0/attributes/POSITION", "2",
     "/meshes/0/primitives/0/attributes/POSITION: is VEC4, but POSITION must"},
    {"/meshes/0/primitives/0/attributes/NORMAL", "4",
     "/meshes/0/primitives/0/attributes/NORMAL: has 2 elements, but POSITION"},
    {"/meshes/0/primitives/0/attributes/TEXCOORD_1", "0",
     "/meshes/0/primitives/0/attributes/TEXCOORD_1: is VEC3, but TEXCOORD"},
    {"/meshes/0/primitives/0/attributes/a~1b", "77",
     "/meshes/0/primitives/0/attributes/a~1b: is 77, but the file has only 9"},
    {"/meshes/0/primitives/0/attributes/JOINTS_0", "2",
     "/meshes/0/primitives/0/attributes/JOINTS_0: has components of type 5126, which JOINTS must not have; "
     "export"},
    {"/accessors/1/normalized", "true",
     "/meshes/0/primitives/0/attributes/JOINTS_0: has components of type 5123 (normalised)"},
    {"/meshes/0/primitives/0/attributes/JOINTS_1", "1",
     "/meshes/0/primitives/0/attributes/JOINTS_1: has no WEIGHTS_1 beside"},
    {"/meshes/0/primitives/0/indices", "8", "/accessors/8/componentType: must be 5121, 5123 or 5125"},
    {"/meshes/0/primitives/0/indices", "1", "/meshes/0/primitives/0/indices: must be of type SCALAR"},
    {"/accessors/3/count", "5", "/meshes/0/primitives/0: its 5 corners are not whole triangles"},
    {"/meshes/0/primitives/0/mode", "7",
     "/meshes/0/primitives/0/mode: must be an integer from 0 to 6, not 7"},
    {"/meshes/0/primitives/0/material", "1",
     "/meshes/0/primitives/0/material: is 1, but the file has only 1 materials"},
    {"/meshes/0/primitives/0/targets/0/POSITION", "4",
     "/meshes/0/primitives/0/targets/0/POSITION: has 2 elements, but"},
    {"/meshes/0/primitives/0/targets/0/POSITION", "2", "/meshes/0/primitives/0/targets/0/POSITION: is VEC4"},
    {"/meshes/0/primitives/1", R"({"attributes": {"POSITION": 0}, "mode": 0})",
     "/meshes/0/primitives/1: has 0 morph targets, but the first primitive has 1"},
    {"/meshes/0/weights", "[]", "/meshes/0/weights: has 0 numbers instead of 1"},
    {"/skins/0/joints", "[]", "/skins/0/joints: has 0 entries"},
    {"/skins/0/joints", "[1, 1]", "/skins/0/joints/1: node 1 is listed twice"},
    {"/skins/0/joints", "[1, 3]", "/skins/0/joints/1: is 3, but the file has only 3 nodes"},
    {"/skins/0/joints", "[1]", "/nodes/2/skin: skin 0 has 1 joints, but a vertex of mesh 0 follows joint 1"},
    {"/skins/0/joints", "[0, 1, 2]", "/skins/0/inverseBindMatrices: has 2 matrices for 3 joints"},
    {"/skins/0/inverseBindMatrices", "0", "/skins/0/inverseBindMatrices: must be of type MAT4 with floats"},
    {"/skins/0/skeleton", "3", "/skins/0/skeleton: is 3, but the file has only 3 nodes"},
};
INSTANTIATE_TEST_SUITE_P(Meshes, GltfFaults, testing::ValuesIn(mesh_faults));

constexpr Fault animation_faults[] = {
    {"/animations/0/channels", "[]", "/animations/0/channels: has 0 entries"},
    {"/animations/0/channels/0/sampler", "2",
     "/animations/0/channels/0/sampler: is 2, but the file has only 2 samplers"},
    {"/animations/0/channels/0/target/node", "3",
     "/animations/0/channels/0/target/node: is 3, but the file has only 3 nodes"},
    {"/animations/0/channels/0/target/path", "\"colour\"",
     "/animations/0/channels/0/target/path: is \"colour\", but must be"},
    {"/animations/0/channels/0/target/path", "\"scale\"",
     "/animations/0/samplers/0/output: is VEC4, but a scale is VEC3"},
    {"/animations/0/channels/0/target/path", "\"weights\"",
     "/animations/0/channels/0/target/node: has no morph targets whose weights could move"},
    {"/animations/0/channels/1", R"({"sampler": 0, "target": {"node": 1, "path": "rotation"}})",
     "/animations/0/channels/1/target: the rotation of node 1 is moved twice"},
    {"/animations/0/samplers/0/input", "0",
     "/animations/0/samplers/0/input: times must be of type SCALAR with floats"},
    {"/animations/0/samplers/0/input", "99",
     "/animations/0/samplers/0/input: is 99, but the file has only 9 accessors"},
    {"/animations/0/samplers/0/output", "2",
     "/animations/0/samplers/0/output: has 4 values, but 2 times need 1 each"},
    {"/animations/0/samplers/0/interpolation", "\"CUBICSPLINE\"",
     "/animations/0/samplers/0/output: has 2 values, but 2 times need 3 each"},
    {"/animations/0/samplers/0/interpolation", "\"SINE\"",
     "/animations/0/samplers/0/interpolation: is \"SINE\", but must"},
    {"/animations/0/samplers/1/output", "3",
     "/animations/0/samplers/1/output: a weights must be floats or normalised integers"},
};
INSTANTIATE_TEST_SUITE_P(Animations, GltfFaults, testing::ValuesIn(animation_faults));

constexpr Fault material_faults[] = {
    {"/materials/0/pbrMetallicRoughness", "3", "/materials/0/pbrMetallicRoughness: must be an object"},
    {"/materials/0/pbrMetallicRoughness/baseColorTexture", "{\"index\": 0}",
     "/materials/0/pbrMetallicRoughness/baseColorTexture/index: is 0, but the file has only 0 textures"},
    {"/materials/0/pbrMetallicRoughness/baseColorTexture", "3",
     "/materials/0/pbrMetallicRoughness/baseColorTexture: must be an object"},
    {"/materials/0/pbrMetallicRoughness/baseColorFactor", "[1]",
     "/materials/0/pbrMetallicRoughness/baseColorFactor: has 1 numbers instead of 4"},
    {"/materials/0/extensions", R"({"KHR_materials_sheen": {"sheenColorTexture": {"index": 5}}})",
     "/materials/0/extensions/KHR_materials_sheen/sheenColorTexture/index: is 5, but"},
    {"/materials/0/alphaMode", "\"GLASS\"",
     "/materials/0/alphaMode: is \"GLASS\", but must be one of OPAQUE, MASK, BLEND"},
    {"/textures", "[{\"source\": 0}]", "/textures/0/source: is 0, but the file has only 0 images"},
    {"/textures", "[{\"sampler\": 0}]", "/textures/0/sampler: is 0, but the file has only 0 samplers"},
    {"/textures", R"([{"extensions": {"KHR_texture_basisu": {"source": 1}}}])",
     "/textures/0/extensions/KHR_texture_basisu/source: is 1"},
    {"/samplers", "[{\"wrapS\": \"REPEAT\"}]", "/samplers/0/wrapS: must be an integer from 0"},
    {"/cameras", "[{\"type\": \"fisheye\"}]", "/cameras/0/type: is \"fisheye\", but must be one of"},
    {"/cameras", "[{\"type\": \"perspective\"}]", "/cameras/0: has no 'perspective'"},
    {"/images", "[{}]", "/images/0: must have either a 'uri' or a 'bufferView'"},
    {"/images", "[{\"bufferView\": 99}]", "/images/0/bufferView: is 99, but"},
};
INSTANTIATE_TEST_SUITE_P(Materials, GltfFaults, testing::ValuesIn(material_faults));

/// What reading says when one number of an accessor is another.
template <class T>
std::string complaint_about_number(std::size_t accessor, std::size_t component, T number)
{
    std::string glb = bending_square().to_glb();
    const GltfDocument d = GltfDocument::parse(glb, "man.glb");
    const auto binary =
        static_cast<std::size_t>(gltf::split_container(glb, "man.glb").binary->data() - glb.data());
    const std::size_t at =
        d.list("bufferViews")[accessor]["byteOffset"].get<std::size_t>() + component * sizeof number;
    std::memcpy(glb.data() + binary + at, &number, sizeof number);
    return message_of([&] { GltfDocument::parse(glb, "man.glb"); });
}

TEST(GltfDocument, ContentIsChecked)
{
    EXPECT_EQ(complaint_about_number<std::uint16_t>(3, 4, 4),
              "man.glb: /meshes/0/primitives/0/indices: number 4 is 4, but there are 4 vertices; export the "
              "file again");
    EXPECT_EQ(complaint_about_number<std::uint16_t>(1, 5, 2),
              "man.glb: /nodes/2/skin: skin 0 has 2 joints, but a vertex of mesh 0 follows joint 2; export "
              "the file again");
    EXPECT_EQ(complaint_about_number(2, 0, -0.5f), "man.glb: /meshes/0/primitives/0/attributes/WEIGHTS_0: "
                                                   "has negative weights; mend them where the file was made");
    EXPECT_EQ(complaint_about_number(5, 0, 0.5f),
              "man.glb: /animations/0/samplers/0/input: time 1 is 0.5 s after 0.5 s; "
              "times must rise, export the file again");
    EXPECT_EQ(complaint_about_number(5, 0, -0.5f),
              "man.glb: /animations/0/samplers/0/input: the first time is -0.5 s; times begin at 0 or later");
    EXPECT_EQ(
        complaint_about_number(6, 3, 0.0f),
        "man.glb: /animations/0/samplers/0/output: element 0 is no unit quaternion; export the file again");
    EXPECT_THAT(complaint_about_number(4, 20, std::nanf("")),
                HasSubstr("man.glb: /accessors/4: element 1 has"));
    EXPECT_EQ(complaint_about_number(6, 3, 1.0f), "nothing was thrown");
}

TEST(GltfDocument, QuantisedPositionsNeedTheirExtension)
{
    const std::string bytes = bytes_of<std::int16_t>({0, 0, 0, 0, 32767, 0, -32768, 0, 0, 100, 0, 0});
    const std::string lists =
        R"("bufferViews": [{"buffer": 0, "byteLength": 24, "byteStride": 8}], "accessors": [
        {"bufferView": 0, "componentType": 5122, "count": 3, "type": "VEC3", "normalized": true}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}])";
    const GltfDocument d = document_of(bytes, R"("extensionsRequired": ["KHR_mesh_quantization"], )" + lists);
    EXPECT_EQ(d.numbers(0), (MatX(3, 3) << 0, 1, 0, 0, 0, 100.0 / 32767, 0, -1, 0).finished());
    expect_same(d, GltfDocument::parse(d.to_glb(), "again.glb"));
    EXPECT_EQ(
        message_of([&] { document_of(bytes, lists); }),
        "sample.glb: /meshes/0/primitives/0/attributes/POSITION: has components of type 5122 (normalised), "
        "which "
        "POSITION must not have without the extension KHR_mesh_quantization; name it in extensionsUsed");
}

TEST(GltfDocument, DracoIsReadOnlyFromItsUncompressedCopy)
{
    const auto reading = [](bool copy) {
        const std::string glb = with_changed_json(bending_square().to_glb(), [&](Json& json) {
            json["extensionsUsed"] = {"KHR_draco_mesh_compression"};
            json["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"] = {
                {"bufferView", 0}};
            if (!copy) json["accessors"][0].erase("bufferView");
        });
        return message_of([&] { GltfDocument::parse(glb, "man.glb"); });
    };
    EXPECT_EQ(reading(true), "nothing was thrown");
    EXPECT_EQ(reading(false),
              "man.glb: /meshes/0/primitives/0/extensions/KHR_draco_mesh_compression: the mesh is only there "
              "compressed with Draco, which is not read; export without Draco compression, or let a glTF "
              "tool undo it");
}

TEST(GltfDocument, MessagesStayOnOneLine)
{
    const std::string text = complaint("/nodes/0/children", R"(["a\nb"])") +
                             complaint("/extensionsRequired", R"(["a\nb"])") +
                             complaint("/meshes/0/primitives/0/attributes/a\nb", "99");
    EXPECT_EQ(text.find('\n'), text.npos);
    EXPECT_THAT(text, HasSubstr("attributes/a?b: is 99"));
}

// ---- changing and writing

TEST(GltfDocument, WhatIsAddedComesBack)
{
    const GltfDocument d = bending_square(), again = GltfDocument::parse(d.to_glb(), "again.glb");
    expect_same(d, again);
    EXPECT_EQ(again.json()["unknown"]["to"], "us");
    EXPECT_EQ(again.numbers(0)(1, 3), double(0.7f));
    EXPECT_EQ(again.list("accessors")[0]["max"][1].get<float>(), 0.7f);
    EXPECT_EQ(again.list("accessors")[0]["max"][1].get<double>(), double(0.7f));
    EXPECT_EQ(again.list("accessors")[0]["min"], Json({0.0, 0.0, 0.0}));
    EXPECT_THAT(again.indices(3), ElementsAre(0, 1, 2, 0, 2, 3));
    EXPECT_EQ(again.list("bufferViews")[3]["target"], 34963);
    EXPECT_FALSE(again.list("bufferViews")[4].contains("target"));
    EXPECT_EQ(again.count("nothing"), 0u);
}

TEST(GltfDocument, LargeIndicesHaveFourBytes)
{
    GltfDocument d;
    EXPECT_EQ(d.add_indices({0, 65534}), 0);
    EXPECT_EQ(d.add_indices({0, 65535}), 1);
    EXPECT_EQ(d.list("accessors")[0]["componentType"], 5123);
    EXPECT_EQ(d.list("accessors")[1]["componentType"], 5125);
    const GltfDocument again = GltfDocument::parse(d.to_glb(), "a.glb");
    EXPECT_THAT(again.indices(0), ElementsAre(0, 65534));
    EXPECT_THAT(again.indices(1), ElementsAre(0, 65535));
}

TEST(GltfDocument, AddingLeavesWhatIsThereAlone)
{
    const GltfDocument before = GltfDocument::parse(bending_square().to_glb(), "a.glb");
    GltfDocument after = before;
    const int added = after.add_accessor(Eigen::MatrixXf::Constant(16, 3, 2.0f));
    EXPECT_EQ(added, 9);
    const GltfDocument again = GltfDocument::parse(after.to_glb(), "b.glb");
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(bits(before, i), bits(again, i));
    EXPECT_EQ(after.numbers(added), MatX::Constant(16, 3, 2.0));
    EXPECT_EQ(again.numbers(added), MatX::Constant(16, 3, 2.0));
    EXPECT_EQ(again.count("buffers"), 1u);
    EXPECT_EQ(before.count("accessors"), 9u);
}

TEST(GltfDocument, GltfWithItsBytesBesideIt)
{
    const test::TemporaryFolder folder;
    const GltfDocument d = bending_square();
    d.write(folder / "a man.gltf");
    const GltfDocument again = GltfDocument::read(folder / "a man.gltf");
    expect_same(d, again);
    EXPECT_EQ(again.list("buffers")[0]["uri"], "a%20man.bin");
    again.write(folder / "b.glb");
    expect_same(d, GltfDocument::read(folder / "b.glb"));
    EXPECT_FALSE(GltfDocument::read(folder / "b.glb").list("buffers")[0].contains("uri"));
    EXPECT_THAT(message_of([&] { d.write(folder / "c.obj"); }),
                HasSubstr("c.obj: a glTF file is written as .glb or .gltf"));
    EXPECT_THAT(message_of([&] { d.write(folder / "no" / "c.gltf"); }), HasSubstr("c.bin"));
    EXPECT_THAT(message_of([&] { GltfDocument::read(folder / "d.glb"); }),
                HasSubstr("d.glb: does not exist"));
}

TEST(GltfDocument, WritesAnEmptyDocument)
{
    const GltfDocument d = GltfDocument::parse(GltfDocument().to_glb(), "a.glb");
    EXPECT_EQ(d.json(), Json::parse(R"({"asset": {"version": "2.0"}})"));
}

TEST(GltfDocument, ImagesAreTakenIn)
{
    const test::TemporaryFolder folder;
    const std::string png = std::string("\x89PNG\r\n\x1a\n") + "pixels",
                      jpeg = std::string("\xff\xd8\xff") + "pixels";
    write_file(folder / "a.png", png);
    write_file(folder / "bad.txt", "text");
    GltfDocument d = GltfDocument::parse(
        R"({"asset": {"version": "2.0"}, "images": [{"uri": "a.png", "name": "skin"}, {"uri": "data:image/jpeg;base64,)" +
            io::base64(jpeg) + R"("}], "textures": [{"source": 1}]})",
        "a.gltf", folder.path());
    EXPECT_EQ(d.image_bytes(0), png);
    const GltfDocument again = GltfDocument::parse(d.to_glb(), "a.glb");
    EXPECT_EQ(again.image_bytes(0), png);
    EXPECT_EQ(again.image_bytes(1), jpeg);
    EXPECT_EQ(again.list("images")[0],
              Json::parse(R"({"name": "skin", "mimeType": "image/png", "bufferView": 0})"));
    EXPECT_EQ(again.list("images")[1]["mimeType"], "image/jpeg");
    d.edit_list("images")[0]["uri"] = "bad.txt";
    EXPECT_EQ(message_of([&] { d.to_glb(); }),
              "a.gltf: /images/0: is neither PNG nor JPEG, KTX2 or WebP; convert it to one of them");
    d.edit_list("images")[0]["uri"] = "lost.png";
    EXPECT_THAT(message_of([&] { d.to_glb(); }),
                HasSubstr("a.gltf: /images/0/uri: \"lost.png\" is not there"));
}

TEST(GltfDocument, SeveralBuffersBecomeOne)
{
    const auto uri = [](float number) {
        return "data:;base64," + io::base64(bytes_of<float>({number, number + 1}).substr(1));
    };
    const GltfDocument d = GltfDocument::parse(
        R"({"asset": {"version": "2.0"}, "buffers": [{"name": "one", "byteLength": 7, "uri": ")" + uri(1) +
            R"("}, {"byteLength": 7, "uri": ")" + uri(5) +
            R"("}], "bufferViews": [{"buffer": 1, "byteLength": 4, "byteOffset": 3}, {"buffer": 0, "byteLength": 7}],
               "accessors": [{"bufferView": 0, "componentType": 5121, "count": 4, "type": "SCALAR"},
                             {"bufferView": 1, "componentType": 5121, "count": 7, "type": "SCALAR"}]})",
        "a.gltf");
    const GltfDocument again = GltfDocument::parse(d.to_glb(), "a.glb");
    expect_same(d, again);
    EXPECT_EQ(again.list("buffers"), Json::parse(R"([{"name": "one", "byteLength": 23}])"));
    EXPECT_EQ(again.list("bufferViews")[0]["byteOffset"], 19);
    EXPECT_FALSE(again.list("bufferViews")[1].contains("byteOffset"));
}

class GltfFiles : public testing::TestWithParam<const char*> {};

TEST_P(GltfFiles, ComeBackBitForBit)
{
    LITHE_DATA_OR_SKIP(file, std::string("rigs/") + GetParam());
    const GltfDocument d = GltfDocument::read(file), again = GltfDocument::parse(d.to_glb(), "again.glb");
    expect_same(d, again);
    EXPECT_GT(d.count("accessors"), 80u);
    for (std::size_t i = 0; i < d.count("images"); ++i)
        EXPECT_EQ(d.image_bytes(static_cast<int>(i)), again.image_bytes(static_cast<int>(i)));
    const test::TemporaryFolder folder;
    d.write(folder / "again.gltf");
    expect_same(d, GltfDocument::read(folder / "again.gltf"));
}

INSTANTIATE_TEST_SUITE_P(Rigs, GltfFiles, testing::Values("CesiumMan.glb", "Cow.glb", "RiggedFigure.glb"));

TEST(GltfDocument, LimitsOfRealPositionsAreWhatTheFileSays)
{
    LITHE_DATA_OR_SKIP(file, "rigs/CesiumMan.glb");
    const GltfDocument d = GltfDocument::read(file);
    const int accessor = d.list("meshes")[0]["primitives"][0]["attributes"]["POSITION"].get<int>();
    const MatX positions = d.numbers(accessor);
    ASSERT_EQ(positions.cols(), 3273);
    for (Index k = 0; k < 3; ++k) {
        EXPECT_EQ(positions.row(k).minCoeff(), d.list("accessors")[accessor]["min"][k].get<double>());
        EXPECT_EQ(positions.row(k).maxCoeff(), d.list("accessors")[accessor]["max"][k].get<double>());
    }
}

} // namespace
} // namespace lithe
