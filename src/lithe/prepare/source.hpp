#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/embedding.hpp"
#include "lithe/scene/scene.hpp"

namespace lithe {

/// A body's geometry: tets, and the surface that is shown, embedded in them.
struct Volume {
    TetMesh tets; ///< with the field "color" where the source has colours
    TriangleMesh surface;
    Embedding embedding; ///< of the surface's vertices
};

/// Reads or makes the volume of a body, placed in the world. Notes say what was done to a surface.
Volume load_volume(const SceneBody& body, Progress& progress, std::vector<std::string>& notes);

/// Changes with every byte of the file, or of the text that describes the shape.
std::uint64_t source_hash(const SceneSource& source);

/// A mesh file as it is there, or the surface of a character at rest.
MeshFile read_mesh_or_character(const std::filesystem::path& file, const ReadOptions& options);

/// Reads or makes a surface, in its own frame.
TriangleMesh load_surface(const SceneSource& source, std::optional<double> cell, Progress& progress);

/// Runs f; an InputError that it throws is said again with the place in front. A message that has the file of
/// a mesh in it keeps it.
template <class F>
auto at_place(const Place& place, const F& f)
{
    try {
        return f();
    } catch (const InputError& error) {
        if (place.file.empty() || std::string_view(error.what()).starts_with(to_string(place))) throw;
        throw InputError(place, error.what());
    }
}

} // namespace lithe
