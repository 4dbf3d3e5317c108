#pragma once
#include "lithe/rig/gltf_document.hpp"

// What a document promises to whoever holds it. Each check throws InputError with the JSON pointer of the fault.
//
//   lists         of objects, with texts as names; every index is inside of its list
//   extensions    what the file requires is among what we can read
//   accessors     inside of their views, aligned, without NaN and infinity, sparse indices rising
//   nodes         are a forest; scenes list roots; rotations are not zero
//   primitives    have POSITION; their attributes have one count and the types of the specification; indices are below
//                 that count; triangles are whole; morph targets have the same count and number
//   skins         joints differ, a matrix for each; JOINTS_n of what they carry are inside, weights are not negative
//   animations    times rise from zero or later; outputs have the type and count that the target needs

namespace lithe::gltf {

/// The JSON without its bytes: asset, extensions, lists.
void check_heading(const GltfDocument& document);
/// Views are inside of the buffers, compressed ones can be unpacked.
void check_views(const GltfDocument& document);
/// All else.
void check_content(const GltfDocument& document);

// ---- parts of check_content
void check_meshes(const GltfDocument& document);
void check_skins(const GltfDocument& document);
void check_animations(const GltfDocument& document);

/// Does the file say that it uses the extension?
bool uses_extension(const GltfDocument& document, const std::string& name);
/// How many morph targets a mesh has.
std::size_t target_count(const GltfDocument& document, int mesh);

} // namespace lithe::gltf
