#pragma once
#include "lithe/geometry/io/text_scanner.hpp"
#include "lithe/geometry/mesh_io.hpp"

/// One reader and one writer per format, each in the file of its name. `name` is for messages.
namespace lithe::io {

using Path = std::filesystem::path;

MeshFile parse_obj(std::string_view bytes, const Path& name);
MeshFile parse_ply(std::string_view bytes, const Path& name);
MeshFile parse_off(std::string_view bytes, const Path& name);
MeshFile parse_stl(std::string_view bytes, const Path& name);
MeshFile parse_medit(std::string_view bytes, const Path& name);
MeshFile parse_gmsh(std::string_view bytes, const Path& name);
MeshFile parse_vtk(std::string_view bytes, const Path& name);
MeshFile parse_vtu(std::string_view bytes, const Path& name);
/// Nodes and elements one after the other in the same bytes.
MeshFile parse_tetgen(std::string_view bytes, const Path& name);
MeshFile parse_tetgen(TextScanner& nodes, TextScanner& elements);

enum class Includes { Refuse, Follow };
MeshFile parse_vega(std::string_view bytes, const Path& name, Includes includes);

/// Writers get a mesh whose parts the format can hold, and Text or Binary.
std::string write_obj(const MeshFile& mesh, const WriteOptions& options);
std::string write_ply(const MeshFile& mesh, const WriteOptions& options);
std::string write_off(const MeshFile& mesh, const WriteOptions& options);
std::string write_stl(const MeshFile& mesh, const WriteOptions& options);
std::string write_medit(const MeshFile& mesh, const WriteOptions& options);
std::string write_gmsh(const MeshFile& mesh, const WriteOptions& options);
std::string write_vtk(const MeshFile& mesh, const WriteOptions& options);
std::string write_vtu(const MeshFile& mesh, const WriteOptions& options);
std::string write_tetgen(const MeshFile& mesh, const WriteOptions& options);
std::string write_tetgen_nodes(const MeshFile& mesh);
std::string write_tetgen_elements(const MeshFile& mesh);
std::string write_vega(const MeshFile& mesh, const WriteOptions& options);

} // namespace lithe::io
