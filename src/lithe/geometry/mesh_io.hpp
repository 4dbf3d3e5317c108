#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/geometry/mesh.hpp"

namespace lithe {

/// All that a mesh file may hold: a surface, a volume, or both on the same vertices.
struct MeshFile {
    Points vertices = {};
    Triangles triangles = {};
    Tets tets = {};
    std::vector<int> regions = {};        ///< empty, or one label per tet
    std::vector<VertexField> fields = {}; ///< those that the format can hold
    std::vector<std::string> notes = {};  ///< what was assumed in reading: polygons cut, parts skipped
};

enum class MeshFormat {
    Obj,    ///< .obj   surfaces; "color" as six numbers per vertex
    Ply,    ///< .ply   surfaces with fields; text, binary of either byte order
    Off,    ///< .off   surfaces; "color" as COFF
    Stl,    ///< .stl   triangles in single precision (text: as written); equal corners are welded
    Medit,  ///< .mesh  INRIA's Medit, as TetWild, CGAL and MMG write it
    Gmsh,   ///< .msh   versions 2.2 and 4.1, text and binary
    Vtk,    ///< .vtk   legacy VTK 2.0 to 5.1, text and binary; POLYDATA and UNSTRUCTURED_GRID
    Vtu,    ///< .vtu   VTK's XML for unstructured grids
    Tetgen, ///< .node and .ele together; give either name
    Vega,   ///< .veg   VegaFEM, with *INCLUDE
};

/// By the ending, whatever its case and with or without ".gz" behind it. InputError when we do not know it.
MeshFormat format_of(const std::filesystem::path& path);
bool can_hold_triangles(MeshFormat format);
bool can_hold_tets(MeshFormat format);

/// Coordinates beyond this are refused: their products would overflow. [m]
constexpr double largest_coordinate = 1e150;

enum class UpAxis { Y, Z };
enum class InvertedTets { Refuse, Keep, Flip };

struct ReadOptions {
    double scale = 1.0;                           ///< metres per unit of the file, > 0
    UpAxis up = UpAxis::Y;                        ///< of the file; from Z, (x, y, z) becomes (x, z, -y)
    InvertedTets inverted = InvertedTets::Refuse; ///< only read_tet_mesh looks at it
};

/// Everything in the file, as it is there. Throws InputError with file and line (or byte).
MeshFile read_mesh_file(const std::filesystem::path& path, const ReadOptions& options = {});
/// The file's triangles; when it has none, the boundary of its tets.
TriangleMesh read_surface(const std::filesystem::path& path, const ReadOptions& options = {});
/// The file's tets, all of volume above zero unless inverted ones are kept.
TetMesh read_tet_mesh(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from a file that was read already. `path` is for messages.
TriangleMesh surface_of(MeshFile file);
TetMesh tets_of(MeshFile file, InvertedTets inverted, const std::filesystem::path& path);

enum class Encoding {
    Usual, ///< binary for .ply .stl .vtk .vtu, text for all others
    Text,
    Binary,
};
enum class GmshVersion { V2, V4 };

struct WriteOptions {
    Encoding encoding = Encoding::Usual;
    GmshVersion gmsh = GmshVersion::V2; ///< 2.2, which every reader knows, or 4.1
};

/// Writes all coordinates so that they are read back to the last bit, except binary .stl (single precision). A file
/// appears whole or not at all. Triangles, tets and regions that the format cannot hold are an InputError; fields that
/// it cannot hold are left out.
void write_mesh_file(const std::filesystem::path& path, const MeshFile& mesh,
                     const WriteOptions& options = {});
void write_surface(const std::filesystem::path& path, const TriangleMesh& mesh,
                   const WriteOptions& options = {});
void write_tet_mesh(const std::filesystem::path& path, const TetMesh& mesh, const WriteOptions& options = {});

/// The same in memory. `name` is for messages. Gzipped bytes are unpacked first. The two files of TetGen are one after
/// the other here, nodes first; *INCLUDE of Vega is refused.
MeshFile parse_mesh(MeshFormat format, std::string_view bytes, const std::filesystem::path& name);
std::string serialize_mesh(MeshFormat format, const MeshFile& mesh, const WriteOptions& options = {});

} // namespace lithe
