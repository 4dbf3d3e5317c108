// Any bytes as a glTF file: they are a document that can be read to its last number and written so that it reads the same,
// or an InputError of one line. And a document is a character that can be posed at any time, or such an error.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/gltf_document.hpp"

namespace {

using namespace lithe;

bool is_unsigned(const gltf::Accessor& accessor)
{
    return gltf::is_unsigned(accessor.component) && !accessor.normalized;
}

void look_at_everything(const GltfDocument& document)
{
    for (int i = 0; i < static_cast<int>(document.count("accessors")); ++i) {
        const gltf::Accessor accessor = gltf::accessor_of(document, i);
        const MatX numbers = document.numbers(i);
        LITHE_ASSERT(numbers.allFinite() && numbers.cols() > 0);
        if (is_unsigned(accessor)) LITHE_ASSERT(Index(document.indices(i).size()) == numbers.size());
    }
    for (int i = 0; i < static_cast<int>(document.count("bufferViews")); ++i)
        LITHE_ASSERT(!document.view_bytes(i).empty());
}

void expect_same(const GltfDocument& a, const GltfDocument& b)
{
    LITHE_ASSERT(a.count("accessors") == b.count("accessors"));
    for (int i = 0; i < static_cast<int>(a.count("accessors")); ++i)
        LITHE_ASSERT(gltf::packed_components(gltf::accessor_of(a, i)) ==
                     gltf::packed_components(gltf::accessor_of(b, i)));
}

/// Images in files that are not there cannot be taken in: "" then.
std::string written(const GltfDocument& document)
{
    try {
        return document.to_glb();
    } catch (const InputError& error) {
        LITHE_ASSERT(std::string_view(error.what()).starts_with("fuzzed: /images/"));
        return "";
    }
}

void expect_one_line(const InputError& error)
{
    const std::string_view what = error.what();
    LITHE_ASSERT(what.starts_with("fuzzed") && what.find('\n') == what.npos);
}

void pose(const Character& character)
{
    Pose pose;
    for (const Clip& clip : character.clips)
        for (const double share : {0.0, 0.3, 1.0}) {
            pose_at(character.skeleton, clip, clip.begin() + share * clip.duration(), pose);
            (void)world_transforms(character.skeleton, pose);
            (void)morphed_surface(character, &clip, share * clip.duration());
        }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    GltfDocument document;
    try {
        document = GltfDocument::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzzed");
    } catch (const InputError& error) {
        expect_one_line(error);
        return 0;
    }
    look_at_everything(document);
    const std::string glb = written(document);
    if (!glb.empty()) expect_same(document, GltfDocument::parse(glb, "again")); // must not throw
    try {
        pose(gltf_character(std::make_shared<const GltfDocument>(std::move(document))));
    } catch (const InputError& error) {
        expect_one_line(error);
    }
    return 0;
}
