// Any bytes as a mesh file of one format: they are a mesh or an InputError, and a mesh that was read can be written
// and read again without a change.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lithe/core/error.hpp"
#include "lithe/geometry/mesh_io.hpp"

namespace {

using namespace lithe;

constexpr MeshFormat format = LITHE_FUZZ_FORMAT;

/// .stl numbers its vertices by their first use, so that only the corners' positions can be compared.
Points corner_positions(const MeshFile& mesh)
{
    return mesh.vertices(Eigen::all, mesh.triangles.reshaped());
}

void check_round_trip(const MeshFile& mesh, const WriteOptions& options)
{
    const MeshFile again = parse_mesh(format, serialize_mesh(format, mesh, options), "written");
    LITHE_ASSERT(again.triangles.cols() == mesh.triangles.cols());
    LITHE_ASSERT(corner_positions(again) == corner_positions(mesh));
    if (format == MeshFormat::Stl) return;
    LITHE_ASSERT(again.vertices == mesh.vertices);
    LITHE_ASSERT(again.triangles == mesh.triangles);
    LITHE_ASSERT(again.tets == mesh.tets);
    LITHE_ASSERT(again.regions == mesh.regions);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    MeshFile mesh;
    try {
        mesh = parse_mesh(format, std::string_view(reinterpret_cast<const char*>(data), size), "fuzzed");
    } catch (const InputError&) {
        return 0;
    }
    check_round_trip(mesh, {.encoding = Encoding::Text});
    if (format == MeshFormat::Ply || format == MeshFormat::Gmsh || format == MeshFormat::Vtk ||
        format == MeshFormat::Vtu)
        check_round_trip(mesh, {.encoding = Encoding::Binary, .gmsh = GmshVersion::V4});
    return 0;
}
