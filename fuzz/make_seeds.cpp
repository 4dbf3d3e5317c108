// make_seeds FOLDER: writes small valid files, a folder per fuzz target, for the fuzzers to begin with.
#include <cstdio>
#include <string>

#include <meshoptimizer.h>

#include "lithe/archive/writer.hpp"
#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/rig/gltf_container.hpp"
#include "lithe/rig/gltf_document.hpp"

namespace {

using namespace lithe;
namespace fs = std::filesystem;

/// Two tets that share a face, and the faces around them, with fields and regions.
MeshFile volume()
{
    MeshFile mesh{.vertices = Points(3, 5), .triangles = Triangles(3, 6), .tets = Tets(4, 2)};
    mesh.vertices << 0, 1, 0, 0, 1.5, 0, 0, 1, 0, 1.25, 0, 0, 0, 1, 1e-3;
    mesh.triangles << 0, 0, 0, 1, 1, 2, 2, 1, 3, 2, 4, 3, 1, 3, 2, 4, 3, 4;
    mesh.tets << 0, 1, 1, 2, 2, 3, 3, 4;
    mesh.regions = {1, 7};
    mesh.fields = {{"color", MatX::Constant(3, 5, 0.5)}, {"heat", MatX::Constant(1, 5, -2.5)}};
    return mesh;
}

MeshFile surface()
{
    MeshFile mesh = volume();
    mesh.tets.resize(4, 0);
    mesh.regions.clear();
    return mesh;
}

MeshFile tets_only()
{
    MeshFile mesh = volume();
    mesh.triangles.resize(3, 0);
    return mesh;
}

struct Seed {
    const char* target;
    MeshFormat format;
    MeshFile mesh;
    WriteOptions options = {};
};

/// What our writers do not write, but our readers read.
struct HandMadeSeed {
    const char* target;
    const char* text;
};

constexpr HandMadeSeed hand_made[] = {
    {"obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 .5 0\nv 0 2 0\nvn 0 0 1\nvt 0 0\ng a\nf 1/1/1 2//1 3/1 4 \\\n "
            "5\nf -1 -2 -3\nl 1 2\n"},
    {"off", "OFF # c\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n"},
    {"off", "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n1 1 0 0 0 1\n3 0 1 2\n"},
    {"medit", "MeshVersionFormatted 1\nDimension\n3\nVertices 4\n0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\nEdges "
              "1\n1 2 3\nQuadrilaterals 1\n1 2 3 4 0\nEnd\n"},
    {"gmsh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 "
             "\"a\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n5 1 0 0\n7 1 1 0\n9 0 1 0\n"
             "$EndNodes\n$Elements\n2\n1 3 2 1 1 1 5 7 9\n2 15 0 1\n$EndElements\n"},
    {"vtk", "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 "
            "1 0 0 0 1\nMETADATA\nx\n\nCELLS 3 7\n"
            "OFFSETS vtktypeint64\n0 4 7\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 2 1\nCELL_TYPES "
            "2\n10\n5\nCELL_DATA 2\nSCALARS material int 1\n"
            "LOOKUP_TABLE default\n3 0\nPOINT_DATA 4\nVECTORS u float\n1 0 0 2 0 0 3 0 0 4 0 0\nFIELD m "
            "1\nid 1 4 int\n7 8 9 10\n"},
    {"vtk", "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 "
            "0\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n"
            "POINT_DATA 4\nCOLOR_SCALARS c 3\n0 0 0 0 0 0 0 0 0 1 1 1\n"},
    {"vtu", "<VTKFile type='UnstructuredGrid' compressor='vtkZLibDataCompressor'><UnstructuredGrid><Piece "
            "NumberOfPoints='1' NumberOfCells='1'><Points>"
            "<DataArray type='UInt8' "
            "format='binary'>AQAAAAMAAAADAAAACwAAAA==eJxjYGAAAAADAAE=</DataArray></Points></Piece></"
            "UnstructuredGrid></VTKFile>"},
    {"vtu", "<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='3' "
            "NumberOfCells='1'><Points><DataArray type='UInt8' "
            "format='appended' offset='0'/></Points><Cells><DataArray type='UInt8' Name='connectivity'>0 1 "
            "2</DataArray><DataArray type='UInt8' "
            "Name='offsets'>3</DataArray><DataArray type='UInt8' "
            "Name='types'>5</DataArray></Cells></Piece></UnstructuredGrid>"
            "<AppendedData encoding='base64'>_CQAAAAAAAAEAAAABAAA=</AppendedData></VTKFile>"},
    {"tetgen", "4 3 1 1\n0 0 0 0 .5 1\n1 1 0 0 .5 1\n2 0 1 0 .5 1\n3 0 0 1 .5 1\n1 4 1\n0 0 1 2 3 2.0\n"},
    {"vega", "*VERTICES\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 "
             "3\n*MATERIAL a\nENU, 1, 2, 0.3\n*SET s\n0,\n"
             "*REGION\nallElements, a\n*REGION\ns, a\n"},
    {"bvh",
     "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 0 0\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation "
     "Yrotation Xrotation\n\tJOINT Leg\n\t{\n\t\tOFFSET 0 -2 .5\n\t\tCHANNELS 3 Zrotation Yrotation "
     "Xrotation\n\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 -1 0\n\t\t}\n\t}\n}\nMOTION\nFrames: 2\nFrame Time: "
     ".0083333\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 -170 8e1 9\n"},
    {"bvh", "HIERARCHY ROOT a b { OFFSET 1 0 0 CHANNELS 1 Yrotation }\r\nROOT b\r\n{\r\nOFFSET 0 0 0\r\n}\r\n"
            "MOTION\r\nFrames: 1\r\nFrame Time: 1\r\n90"},
    {"bvh",
     "# skel v1\njoints 2\n0 -1 hip  0 1 0  1 0 0 0 1 0 0 0 1\n1 0 left knee  0 .5 0  0 -1 0 1 0 0 0 0 1\n"
     "fps 30 frames 2 joints 2\nframe 0\n1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0 0 0 1 0\nframe 1\n"
     "0 -1 0 .5 1 0 0 0 0 0 1 0\n1 .1 0 0 0 2 0 0 0 0 0 0\n"
     "vertices 2 joints 2\n1 0 1\n2 0 .25 1 .7501\n"},
    {"scene", "[[body]]\nshape = \"sphere:radius=0.1\"\nposition = [0, 0.5, 0]\n[[obstacle]]\nshape = "
              "\"plane\"\n"},
    {"scene", "title = \"t\"\n[time]\nfps = 60\nsubsteps = 2\nframes = 9\nmethod = \"newmark\"\n"
              "newmark_beta = 0.3\nnewmark_gamma = 0.6\n[world]\ngravity = [0, \"-9.81 m/s^2\", 0]\n"
              "[solver]\ntolerance = 1e-8\nmax_iterations = 30\nlinear = \"cholesky\"\n"
              "[material.a]\nkind = \"mooney_rivlin\"\nyoung = \"50 kPa\"\npoisson = 0.4\n"
              "density = \"1 g/cm^3\"\nmooney_ratio = 0.3\n[[body]]\nname = 'a'\nshape = \"box\"\n"
              "material = \"a\"\nmass = \"lumped\"\ncolor = \"#ff8000\"\nself_contact = true\n"},
    {"scene", "[[body]]\nshape = \"box:size=1x2x3\"\ntets = 100\nrotation = [90, 0, \"1 rad\"]\n"
              "velocity = [0, 0, 1]\nangular_velocity = [0, \"10 rpm\", 0]\nfriction = 0.5\n"
              "contact_stiffness = \"2 MPa/m\"\ndamping = {mass = 0, stiffness = \"2 ms\"}\n"
              "[[body.region]]\nlabel = 1\nmaterial = {kind = \"arruda_boyce\", limit_stretch = 3}\n"
              "[[body.pin]]\nbox = [[-inf, 0, 0], [inf, 1, 1]]\nabout = [0, 0, 0]\nrelease = 2\n"
              "motion = [{time = 0}, {time = 1, translation = [0, 1, 0], rotation = [0, 360, 0]}]\n"
              "[[body.load]]\nwind = [1, 0, 0]\nair_density = 1.2\ndrag = 1\nfactor = [[0, 0], [1, 1]]\n"
              "sphere = {centre = [0, 0, 0], radius = 1}\n[[body.load]]\nforce = [0, 1, 0]\n"
              "vertices = [0, 1]\n[[body.load]]\npressure = 3\ncolor = [1, 0, 0]\ntolerance = 0.1\n"
              "[[obstacle]]\nshape = \"torus:major=2,minor=1\"\ncell = 0.1\nposition = [0, -5, 0]\n"
              "path = [{time = 0}, {time = 1, position = [1, 0, 0], rotation = [0, 90, 0]}]\n"},
};

/// Small, because a fuzzer gets nowhere in large files.
std::string archive_of_plain_data()
{
    ArchiveWriter out;
    out.write("body/basis", MatX(MatX::Constant(2, 3, 0.5)), {.unit = "m"});
    out.write("rank", std::int64_t{4});
    out.write_texts("names", {"a", "bc"});
    return out.bytes();
}

std::string archive_of_packed_data()
{
    ArchiveWriter out;
    out.write("tets", std::vector<int>(9, 1), {.packing = Packing::Deflate});
    return out.bytes();
}

// ---- glTF

using Json = GltfDocument::Json;
constexpr int vertices = 34962;

Eigen::MatrixXf square()
{
    return Eigen::MatrixXf{{0, 1, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 0.5f}};
}

std::string plain_gltf()
{
    GltfDocument document;
    document.add_accessor(square(), vertices);
    document.add_indices({0, 1, 2, 0, 2, 3});
    document.edit().update(Json::parse(R"({"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}], "textures": [{"source": 0}],
        "images": [{"uri": "data:image/png;base64,iVBORw0KGgo="}]})"));
    return document.to_glb();
}

std::string animated_gltf()
{
    GltfDocument document;
    using Joints = Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic>;
    Joints joints = Joints::Zero(4, 4);
    joints.row(0) << 0, 1, 1, 0;
    Eigen::MatrixXf weights = Eigen::MatrixXf::Zero(4, 4), bind(16, 2);
    weights.row(0).setOnes();
    bind.colwise() = Eigen::Matrix4f::Identity().reshaped();
    document.add_accessor(square(), vertices);
    document.add_joints(joints);
    document.add_accessor(weights, vertices);
    document.add_accessor(bind);
    document.add_accessor(Eigen::MatrixXf{{0, 1}});
    document.add_accessor(Eigen::MatrixXf{{0, 0}, {0, 0}, {0, 0.6f}, {1, 0.8f}});
    document.add_accessor(square(), vertices);
    document.edit().update(Json::parse(R"({"scenes": [{"nodes": [0, 2]}],
        "nodes": [{"children": [1]}, {"translation": [1, 0, 0]}, {"mesh": 0, "skin": 0, "weights": [0.5]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "mode": 5,
                                    "targets": [{"POSITION": 6}]}]}],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 3, "skeleton": 0}],
        "animations": [{"samplers": [{"input": 4, "output": 5, "interpolation": "STEP"}, {"input": 4, "output": 4}],
                        "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                                     {"sampler": 1, "target": {"node": 2, "path": "weights"}}]}]})"));
    return document.to_glb();
}

/// Four vertices of two bytes a component, one of them replaced.
constexpr const char* quantised_gltf =
    R"({"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_mesh_quantization"],
    "buffers": [{"byteLength": 32, "uri": "data:;base64,AAAAAAAAAAABAAAAAAAAAAEAAQAAAAAAAAABAAAAAAA="}],
    "bufferViews": [{"buffer": 0, "byteLength": 32, "byteStride": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 6}],
    "accessors": [{"bufferView": 0, "componentType": 5122, "count": 4, "type": "VEC3", "normalized": true, "sparse":
      {"count": 1, "indices": {"bufferView": 1, "componentType": 5121}, "values": {"bufferView": 1}}},
      {"componentType": 5121, "count": 4, "type": "MAT2"}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "_MATRIX": 1}, "mode": 0}]}]})";

/// The square packed with a filter for exponents, and its triangles.
std::string packed_gltf()
{
    const Eigen::MatrixXf positions = square();
    const unsigned indices[] = {0, 1, 2, 0, 2, 3};
    std::string filtered(48, '\0'), bytes(meshopt_encodeVertexBufferBound(4, 12), '\0'),
        triangles(meshopt_encodeIndexBufferBound(6, 4), '\0');
    meshopt_encodeFilterExp(filtered.data(), 4, 12, 15, positions.data());
    const auto data = [](std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); };
    bytes.resize(meshopt_encodeVertexBuffer(data(bytes), bytes.size(), filtered.data(), 4, 12));
    triangles.resize(meshopt_encodeIndexBuffer(data(triangles), triangles.size(), indices, 6));

    Json json = Json::parse(R"({"asset": {"version": "2.0"}, "buffers": [{}, {"byteLength": 60, "extensions":
        {"EXT_meshopt_compression": {"fallback": true}}}], "bufferViews": [{"buffer": 1, "byteLength": 48, "byteStride": 12,
        "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteStride": 12, "count": 4, "mode": "ATTRIBUTES",
        "filter": "EXPONENTIAL"}}}, {"buffer": 1, "byteOffset": 48, "byteLength": 12, "extensions":
        {"EXT_meshopt_compression": {"buffer": 0, "byteStride": 2, "count": 6, "mode": "TRIANGLES"}}}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]})");
    const auto extension = [&](int view) -> Json& {
        return json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"];
    };
    extension(0)["byteLength"] = bytes.size();
    extension(1)["byteOffset"] = bytes.size();
    extension(1)["byteLength"] = triangles.size();
    bytes += triangles;
    json["buffers"][0] = {{"byteLength", bytes.size()}};
    return gltf::join_container(json.dump(), bytes, "seed.glb");
}

void write_seeds(const fs::path& folder)
{
    constexpr auto text = Encoding::Text, binary = Encoding::Binary;
    const Seed seeds[] = {
        {"obj", MeshFormat::Obj, surface()},
        {"ply", MeshFormat::Ply, surface(), {.encoding = text}},
        {"ply", MeshFormat::Ply, surface(), {.encoding = binary}},
        {"off", MeshFormat::Off, surface()},
        {"stl", MeshFormat::Stl, surface(), {.encoding = text}},
        {"stl", MeshFormat::Stl, surface(), {.encoding = binary}},
        {"medit", MeshFormat::Medit, volume()},
        {"gmsh", MeshFormat::Gmsh, volume(), {.encoding = text}},
        {"gmsh", MeshFormat::Gmsh, volume(), {.encoding = binary}},
        {"gmsh", MeshFormat::Gmsh, volume(), {.encoding = text, .gmsh = GmshVersion::V4}},
        {"gmsh", MeshFormat::Gmsh, volume(), {.encoding = binary, .gmsh = GmshVersion::V4}},
        {"vtk", MeshFormat::Vtk, volume(), {.encoding = text}},
        {"vtk", MeshFormat::Vtk, surface(), {.encoding = binary}},
        {"vtu", MeshFormat::Vtu, volume(), {.encoding = text}},
        {"vtu", MeshFormat::Vtu, volume(), {.encoding = binary}},
        {"tetgen", MeshFormat::Tetgen, tets_only()},
        {"vega", MeshFormat::Vega, tets_only()},
    };
    int number = 0;
    const auto write = [&](const char* target, std::string_view bytes) {
        fs::create_directories(folder / target);
        write_file(folder / target / ("seed_" + std::to_string(number++)), bytes);
    };
    for (const Seed& seed : seeds) write(seed.target, serialize_mesh(seed.format, seed.mesh, seed.options));
    write("archive", ArchiveWriter().bytes());
    write("archive", archive_of_plain_data());
    write("archive", archive_of_packed_data());
    for (const char which : {'\1', '\2', '\5'}) // modes, eigenvalues, masses: two numbers each
        write("bullet", std::string(1, which) + std::string("\2\0\0\0", 4) +
                            std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40", 16));
    for (const std::string& seed : {plain_gltf(), animated_gltf(), packed_gltf()})
        write("gltf", GltfDocument::parse(seed, "seed.glb").to_glb());
    write("gltf", GltfDocument::parse(quantised_gltf, "seed.gltf").to_glb());
    write("gltf", quantised_gltf);
    for (const HandMadeSeed& seed : hand_made) write(seed.target, seed.text);
    for (const BuiltinShape& shape : builtin_shapes()) write("shape", shape.text);
    write_mesh_file(folder / "medit" / "seed.mesh.gz", volume());
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_seeds FOLDER\n");
        return 2;
    }
    try {
        write_seeds(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_seeds: %s\n", error.what());
        return 1;
    }
    return 0;
}
