#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lithe/core/progress.hpp"
#include "lithe/geometry/mesh.hpp"
#include "lithe/geometry/rigid_shape.hpp"
#include "lithe/geometry/shape_language.hpp"

namespace lithe {

/// A character that comes with the library, as the text of the modelling language.
struct BuiltinShape {
    std::string_view name;
    std::string_view one_line; ///< what it is
    std::string_view text;
};

/// biped, cactus, cow, fish, hand, kraken, octopus, puffer, shell, ship, trout.
std::span<const BuiltinShape> builtin_shapes();

/// Makes the surface that a specification names:
///
///   hand                             a built-in character
///   path/to/own.shape                a file in the modelling language
///   box:size=1x0.2x0.3               a simple shape with its sizes in metres; what is left out has a default
///   beam:length=1,width=0.1,height=0.1
///   sphere:radius=0.5    capsule:radius=0.1,length=0.5    cylinder:radius=0.1,length=0.5
///   torus:major=1,minor=0.3
///
/// `cell` [m] is about the length of an edge; without it, one that suits the shape. Throws InputError for a
/// name, key or value that is not known, with a suggestion.
TriangleMesh make_shape(std::string_view spec, std::optional<double> cell, Progress& progress);

/// The regular tets of a box or beam; nothing for the other shapes, which have no regular tets.
std::optional<TetMesh> make_shape_tets(std::string_view spec, std::optional<double> cell);

/// The exact solid of "plane" (all below y = 0), a box, beam, sphere, capsule or cylinder; nothing for shapes that are
/// solids only by their surface. Throws InputError as make_shape does for a key or value that is not known.
std::optional<RigidShape> find_rigid_shape(std::string_view spec);

/// The model, with its skeleton, of a built-in character or a .shape file; nothing for the simple shapes.
std::optional<ShapeModel> find_shape_model(std::string_view spec);

/// What make_shape knows, a line for each.
std::string list_shapes();

} // namespace lithe
