#include <gtest/gtest.h>

#include "lithe/rig/gltf_document.hpp"
#include "support/gltf_samples.hpp"

namespace lithe {
namespace {

using test::bending_square;

TEST(GltfAppend, NumbersOfBothStayTheirs)
{
    const GltfDocument one = bending_square(), other = bending_square();
    GltfDocument both = one;
    both.append(other);
    const GltfDocument read = GltfDocument::parse(both.to_glb(), "both.glb");
    const int count = static_cast<int>(one.count("accessors"));
    ASSERT_EQ(read.count("accessors"), 2u * one.count("accessors"));
    for (int a = 0; a < count; ++a) {
        EXPECT_EQ(read.numbers(a), one.numbers(a)) << a;
        EXPECT_EQ(read.numbers(count + a), one.numbers(a)) << a;
    }
}

TEST(GltfAppend, EverythingRefersToItsOwn)
{
    GltfDocument both = bending_square();
    const std::size_t nodes = both.count("nodes"), accessors = both.count("accessors");
    both.append(bending_square());
    const GltfDocument read = GltfDocument::parse(both.to_glb(), "both.glb"); // checks all indices
    const auto& json = read.json();
    EXPECT_EQ(json["scenes"].size(), 1u);
    EXPECT_EQ(json["scenes"][0]["nodes"], (GltfDocument::Json{0, 2, nodes, nodes + 2}));
    EXPECT_EQ(json["nodes"][nodes]["children"][0], nodes + 1);
    EXPECT_EQ(json["nodes"][nodes + 2]["mesh"], 1);
    EXPECT_EQ(json["nodes"][nodes + 2]["skin"], 1);
    EXPECT_EQ(json["meshes"][1]["primitives"][0]["attributes"]["POSITION"], accessors);
    EXPECT_EQ(json["meshes"][1]["primitives"][0]["targets"][0]["POSITION"], accessors + 7);
    EXPECT_EQ(json["skins"][1]["joints"][1], nodes + 1);
    EXPECT_EQ(json["animations"][1]["channels"][0]["target"]["node"], nodes + 1);
    EXPECT_EQ(json["animations"][1]["samplers"][1]["output"], accessors + 8);
}

TEST(GltfAppend, TexturesAndTheirImagesMoveAlong)
{
    GltfDocument textured = bending_square();
    textured.edit_list("images").push_back({{"uri", "data:image/png;base64,iVBORw0KGgo="}});
    textured.edit_list("samplers").push_back(GltfDocument::Json::object());
    textured.edit_list("textures").push_back({{"source", 0}, {"sampler", 0}});
    textured.edit_list("materials")[0]["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", 0}};
    GltfDocument both = textured;
    both.append(textured);
    EXPECT_EQ(both.list("materials")[1]["pbrMetallicRoughness"]["baseColorTexture"]["index"], 1);
    EXPECT_EQ(both.list("textures")[1], (GltfDocument::Json{{"source", 1}, {"sampler", 1}}));
    EXPECT_EQ(both.image_bytes(1), both.image_bytes(0));
    EXPECT_FALSE(both.list("images")[1].contains("uri"));
}

TEST(GltfAppend, AnEmptyDocumentTakesAll)
{
    GltfDocument empty;
    empty.append(bending_square());
    EXPECT_EQ(empty.list("nodes"), bending_square().list("nodes"));
    EXPECT_NO_THROW((void)GltfDocument::parse(empty.to_glb(), "one.glb"));
}

} // namespace
} // namespace lithe
