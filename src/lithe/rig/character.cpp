#include "lithe/rig/character.hpp"

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/number_source.hpp"
#include "lithe/rig/gltf_character.hpp"
#include "lithe/rig/rig_files.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

enum class CharacterFormat { Gltf, Bvh, Shape, TextRig };

struct Ending {
    std::string_view text;
    CharacterFormat format;
};
constexpr Ending endings[] = {{".glb", CharacterFormat::Gltf},
                              {".gltf", CharacterFormat::Gltf},
                              {".bvh", CharacterFormat::Bvh},
                              {".shape", CharacterFormat::Shape},
                              {".skel.txt", CharacterFormat::TextRig}};

std::optional<CharacterFormat> find_format(const fs::path& file)
{
    const std::string name = io::lower_case(file.filename().string());
    for (const Ending& ending : endings)
        if (name.ends_with(ending.text)) return ending.format;
    return std::nullopt;
}

CharacterFormat character_format(const fs::path& file)
{
    if (const auto format = find_format(file)) return *format;
    throw InputError({.file = file}, "is no character by its ending; known are .glb .gltf .bvh .shape and "
                                     ".skel.txt (other meshes have no skeleton: lithe mesh reads them)");
}

/// Of the morph targets of a part at time t.
VecX weights_of(const SurfacePart& part, const Clip* clip, double t)
{
    if (part.morphs.empty()) return {};
    if (clip)
        for (const MorphTrack& morph : clip->morphs)
            if (morph.joint == part.joint) return morph.weights.at(t);
    return part.morph_rest;
}

} // namespace

bool holds_character(const fs::path& file)
{
    return find_format(file).has_value();
}

Character read_character(const fs::path& file, const ReadOptions& options)
{
    switch (character_format(file)) {
    case CharacterFormat::Gltf:
        return gltf_character(std::make_shared<GltfDocument>(GltfDocument::read(file)), options);
    case CharacterFormat::Bvh:
        return read_bvh(file, options);
    case CharacterFormat::Shape:
        return read_shape_rig(file, options);
    case CharacterFormat::TextRig:
        return read_text_rig(file, options);
    }
    LITHE_ASSERT(false);
}

VecX morph_weights(const Character& character, const Clip* clip, double t)
{
    std::vector<double> all;
    for (const SurfacePart& part : character.parts) {
        const VecX weights = weights_of(part, clip, t);
        all.insert(all.end(), weights.begin(), weights.end());
    }
    return Eigen::Map<const VecX>(all.data(), static_cast<Index>(all.size()));
}

Points morphed_surface(const Character& character, const Clip* clip, double t)
{
    Points X = character.surface.vertices;
    for (const SurfacePart& part : character.parts) {
        const VecX weights = weights_of(part, clip, t);
        LITHE_ASSERT(weights.size() == static_cast<Index>(part.morphs.size()));
        for (Index k = 0; k < weights.size(); ++k)
            if (weights[k] != 0.0)
                X.middleCols(part.first_vertex, part.vertex_count) += weights[k] * part.morphs[k];
    }
    return X;
}

} // namespace lithe
