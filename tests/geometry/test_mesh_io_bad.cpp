// What a mesh file can do wrong: each gets one line that says where, what, and what to do, and nothing is written.
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "support/meshes.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

/// The message of the InputError that `action` throws; anything else fails the test.
template <class Action>
std::string error_of(const Action& action)
{
    try {
        action();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "not an InputError: " << error.what();
        return "";
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

std::string parse_error(MeshFormat format, std::string_view bytes)
{
    return error_of([&] { (void)parse_mesh(format, bytes, "f"); });
}

struct Variant {
    const char* name;
    MeshFormat format;
    WriteOptions options = {};
    bool tets = false;
};

const std::vector<Variant> variants = {
    {"obj", MeshFormat::Obj},
    {"ply_binary", MeshFormat::Ply},
    {"ply_text", MeshFormat::Ply, {.encoding = Encoding::Text}},
    {"off", MeshFormat::Off},
    {"stl_binary", MeshFormat::Stl},
    {"stl_text", MeshFormat::Stl, {.encoding = Encoding::Text}},
    {"medit", MeshFormat::Medit, {}, true},
    {"gmsh2_text", MeshFormat::Gmsh, {}, true},
    {"gmsh2_binary", MeshFormat::Gmsh, {.encoding = Encoding::Binary}, true},
    {"gmsh4_text", MeshFormat::Gmsh, {.gmsh = GmshVersion::V4}, true},
    {"gmsh4_binary", MeshFormat::Gmsh, {.encoding = Encoding::Binary, .gmsh = GmshVersion::V4}, true},
    {"vtk_binary", MeshFormat::Vtk, {}, true},
    {"vtk_text", MeshFormat::Vtk, {.encoding = Encoding::Text}, true},
    {"vtu_binary", MeshFormat::Vtu, {}, true},
    {"vtu_text", MeshFormat::Vtu, {.encoding = Encoding::Text}, true},
    {"tetgen", MeshFormat::Tetgen, {}, true},
    {"vega", MeshFormat::Vega, {}, true},
};

std::string valid_bytes(const Variant& variant, int cells = 1)
{
    const TetMesh cube = test::unit_cube_tets(cells);
    const TriangleMesh surface = boundary_surface(cube);
    if (!variant.tets)
        return serialize_mesh(variant.format, {.vertices = surface.vertices, .triangles = surface.triangles},
                              variant.options);
    MeshFile mesh{.vertices = cube.vertices, .tets = cube.tets};
    if (cells == 1) mesh.regions = {1, 2, 3, 4, 5, 6};
    return serialize_mesh(variant.format, mesh, variant.options);
}

} // namespace

class MeshIoBadBytes : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Formats, MeshIoBadBytes, testing::ValuesIn(variants),
                         [](const auto& param) { return std::string(param.param.name); });

/// Cut anywhere, a file is refused with a message, or read where what is missing was not needed.
TEST_P(MeshIoBadBytes, CutShortAnywhere)
{
    const std::string bytes = valid_bytes(GetParam());
    ASSERT_NO_THROW(parse_mesh(GetParam().format, bytes, "f"));
    int refused = 0;
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        try {
            (void)parse_mesh(GetParam().format, std::string_view(bytes).substr(0, length), "f");
        } catch (const InputError& error) {
            ++refused;
            EXPECT_THAT(error.what(), StartsWith("f"));
        }
    }
    EXPECT_GT(refused, static_cast<int>(bytes.size() / 4));
}

TEST_P(MeshIoBadBytes, CutInTheMiddleSaysWhere)
{
    const std::string bytes = valid_bytes(GetParam(), 3);
    if (GetParam().format == MeshFormat::Obj) return; // a part of an .obj is one with fewer faces
    const std::string message =
        parse_error(GetParam().format, std::string_view(bytes).substr(0, bytes.size() / 2));
    const bool binary =
        std::string_view(GetParam().name).ends_with("_binary") && GetParam().format != MeshFormat::Vtu;
    EXPECT_THAT(message, StartsWith(binary ? "f at byte " : "f:"));
    EXPECT_THAT(message, testing::AnyOf(HasSubstr("cut short"), HasSubstr("where")));
}

/// Any byte changed to any of a few: no crash, no hang, no memory; a mesh or an InputError.
TEST_P(MeshIoBadBytes, AnyByteChanged)
{
    const std::string bytes = valid_bytes(GetParam());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const char c : {'\0', '\xff', '9', '-', ' ', '\n', '<'}) {
            std::string changed = bytes;
            changed[i] = c;
            try {
                (void)parse_mesh(GetParam().format, changed, "f");
            } catch (const InputError&) {
            }
        }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 1 << 20) << "more than 1 GB [kB]";
}

TEST_P(MeshIoBadBytes, Empty)
{
    EXPECT_EQ(parse_error(GetParam().format, ""), "f: is empty; a mesh was expected");
}

TEST(MeshIoBad, MissingEmptyAndFolder)
{
    const test::TemporaryFolder folder;
    const auto read = [&](const char* name) {
        return error_of([&] { (void)read_mesh_file(folder / name); });
    };
    EXPECT_THAT(read("none.obj"), AllOf(HasSubstr("none.obj: does not exist"), HasSubstr("check the name")));
    write_file(folder / "empty.ply", "");
    EXPECT_THAT(read("empty.ply"), HasSubstr("empty.ply: is empty"));
    std::filesystem::create_directory(folder / "folder.obj");
    EXPECT_THAT(read("folder.obj"), HasSubstr("folder.obj: is a folder"));
    EXPECT_THAT(error_of([] { (void)read_mesh_file("/dev/null/a.obj"); }), HasSubstr("does not exist"));
    EXPECT_THAT(read("none.node"), HasSubstr("does not exist"));
    write_file(folder / "alone.node", "1 3 0 0\n1 0 0 0\n");
    EXPECT_THAT(read("alone.node"),
                AllOf(HasSubstr("alone.ele: does not exist"), HasSubstr("belong together")));
}

TEST(MeshIoBad, UnknownEndings)
{
    const auto ending = [](const char* name) { return error_of([&] { (void)format_of(name); }); };
    EXPECT_THAT(ending("a.objj"), AllOf(HasSubstr("unknown ending '.objj'"), HasSubstr(".obj .ply .off"),
                                        HasSubstr("did you mean '.obj'?")));
    EXPECT_THAT(ending("a.meshb"), HasSubstr("did you mean '.mesh'?"));
    EXPECT_THAT(ending("a.docx"), Not(HasSubstr("did you mean")));
    EXPECT_THAT(ending("mesh"), HasSubstr("has no ending"));
    const test::TemporaryFolder folder;
    EXPECT_THROW(write_surface(folder / "a.xyz", test::unit_cube()), InputError);
    EXPECT_TRUE(folder.is_empty());
}

TEST(MeshIoBad, NotFiniteAndHugeCoordinates)
{
    const std::string tail = "\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for (const char* value : {"nan", "inf", "-inf", "1e999"})
        EXPECT_THAT(parse_error(MeshFormat::Obj, "v 0 0 " + std::string(value) + tail),
                    AllOf(StartsWith("f:1: vertex 1 is not finite"), HasSubstr("repair")));
    EXPECT_THAT(parse_error(MeshFormat::Obj, "v 0 0 1e151" + tail),
                AllOf(StartsWith("f:1: "), HasSubstr("huge")));
    EXPECT_NO_THROW(parse_mesh(MeshFormat::Obj, "v 0 0 1e-999" + tail, "f"));

    std::string stl(84, ' ');
    stl[80] = 1, stl[81] = stl[82] = stl[83] = 0;
    stl.append(50, '\0');
    stl.replace(96, 4, std::string("\0\0\xc0\x7f", 4)); // NaN as the first coordinate
    EXPECT_THAT(parse_error(MeshFormat::Stl, stl),
                AllOf(StartsWith("f at byte 108: "), HasSubstr("not finite")));
}

TEST(MeshIoBad, ScaleThatMakesCoordinatesHuge)
{
    const test::TemporaryFolder folder;
    write_surface(folder / "a.obj", test::unit_cube());
    EXPECT_THAT(error_of([&] { (void)read_mesh_file(folder / "a.obj", {.scale = 1e200}); }),
                HasSubstr("smaller scale"));
    EXPECT_THAT(error_of([&] { (void)read_mesh_file(folder / "a.obj", {.scale = -1.0}); }),
                HasSubstr("scale"));
}

TEST(MeshIoBad, IndicesOutOfRange)
{
    const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    EXPECT_THAT(parse_error(MeshFormat::Obj, vertices + "f 1 2 4\nf 1 2 3\n"),
                AllOf(StartsWith("f:4: vertex 4 does not exist"), HasSubstr("has 3")));
    EXPECT_THAT(parse_error(MeshFormat::Obj, vertices + "f 1 2 0\n"),
                StartsWith("f:4: vertex 0 does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, vertices + "f 1 2 -4\n"),
                StartsWith("f:4: vertex -4 does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, vertices + "f 1 2\n"), HasSubstr("2 corners"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, vertices + "f 1 2 99999999999999999999\n"),
                HasSubstr("too large"));
    EXPECT_THAT(parse_error(MeshFormat::Off, "OFF 3 1 0 0 0 0 1 0 0 0 1 0\n3 0 1 3\n"),
                StartsWith("f:2: vertex 3 does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Off, "OFF 3 1 0 0 0 0 1 0 0 0 1 0\n3 0 1 -1\n"),
                StartsWith("f:2: vertex -1 does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Medit,
                            "MeshVersionFormatted 2\nDimension 3\nTetrahedra\n1\n1 2 3 5 0\nVertices\n4\n"
                            "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nEnd\n"),
                StartsWith("f:5: vertex 5 does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n7 0 0 "
                                              "0\n$EndNodes\n$Elements\n1\n1 2 0 7 7 8\n"),
                StartsWith("f:10: node 8 does not exist"));
}

TEST(MeshIoBad, NeitherTrianglesNorTets)
{
    EXPECT_THAT(parse_error(MeshFormat::Obj, "v 0 0 0\nv 1 0 0\n"),
                StartsWith("f: has 2 vertices but neither triangles nor tetrahedra"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, "hello world\n"), HasSubstr("neither triangles nor tetrahedra"));
    EXPECT_THAT(parse_error(MeshFormat::Off, "OFF 1 0 0\n0 0 0\n"), HasSubstr("neither"));
    EXPECT_THAT(parse_error(MeshFormat::Stl, std::string(84, '\0')), HasSubstr("neither"));
    EXPECT_THAT(
        parse_error(MeshFormat::Vtu, "<VTKFile type='UnstructuredGrid'><UnstructuredGrid/></VTKFile>"),
        HasSubstr("neither"));
}

TEST(MeshIoBad, NoTetsWhereTetsAreNeeded)
{
    const test::TemporaryFolder folder;
    write_surface(folder / "a.obj", test::unit_cube());
    EXPECT_THAT(error_of([&] { (void)read_tet_mesh(folder / "a.obj"); }),
                AllOf(HasSubstr("12 triangles but no tetrahedra"), HasSubstr("--tets")));
}

TEST(MeshIoBad, InvertedAndFlatTets)
{
    const test::TemporaryFolder folder;
    TetMesh mesh = test::unit_cube_tets(1);
    std::swap(mesh.tets(0, 2), mesh.tets(1, 2));
    std::swap(mesh.tets(0, 5), mesh.tets(1, 5));
    write_tet_mesh(folder / "a.mesh", mesh);
    EXPECT_THAT(
        error_of([&] { (void)read_tet_mesh(folder / "a.mesh"); }),
        AllOf(HasSubstr("2 of 6 tetrahedra are inverted"), HasSubstr("number 3"), HasSubstr("--flip-tets")));
    mesh.tets.col(4).setConstant(1);
    write_tet_mesh(folder / "a.mesh", mesh);
    EXPECT_THAT(error_of([&] { (void)read_tet_mesh(folder / "a.mesh", {.inverted = InvertedTets::Flip}); }),
                HasSubstr("1 of 6 tetrahedra have no volume"));
}

TEST(MeshIoBad, HeadersThatClaimTenGigabytes)
{
    const auto refused = [](MeshFormat format, const std::string& bytes) {
        EXPECT_THAT(parse_error(format, bytes),
                    AllOf(HasSubstr("claims "),
                          testing::AnyOf(HasSubstr("bytes"), HasSubstr("more than"), HasSubstr("smaller"))));
    };
    refused(MeshFormat::Ply, "ply\nformat binary_little_endian 1.0\nelement vertex 900000000\nproperty float "
                             "x\nproperty float y\nproperty float z\nend_header\n\1\2\3");
    refused(MeshFormat::Ply, "ply\nformat ascii 1.0\nelement vertex 9000000000\nproperty float x\nproperty "
                             "float y\nproperty float z\nend_header\n1 2 3\n");
    refused(MeshFormat::Off, "OFF\n1000000000 1 0\n0 0 0\n");
    refused(MeshFormat::Off, "OFF\n1 1 0\n0 0 0\n2000000000 0 0 0\n");
    refused(MeshFormat::Stl, std::string(80, '\0') + "\xff\xff\xff\x0f" + std::string(100, '\0'));
    refused(MeshFormat::Medit, "MeshVersionFormatted 2\nDimension 3\nVertices\n1000000000\n0 0 0 0\n");
    refused(MeshFormat::Medit, "MeshVersionFormatted 2\nDimension 3\nTetrahedra\n1000000000000\n1 2 3 4 0\n");
    refused(MeshFormat::Gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1000000000\n1 0 0 0\n");
    refused(MeshFormat::Gmsh,
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1000000000 1 1000000000\n3 1 0 1000000000\n1\n");
    refused(MeshFormat::Gmsh, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1000000000\n1\n");
    refused(MeshFormat::Vtk,
            "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 800000000 double\nabc");
    refused(MeshFormat::Vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 double\n0 0 "
                             "0\nPOLYGONS 1000000000 4000000000\n3 0 0 0\n");
    refused(MeshFormat::Vtu,
            "<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='1000000000' "
            "NumberOfCells='1'><Points>"
            "<DataArray type='Float64'>0 0 0</DataArray></Points></Piece></UnstructuredGrid></VTKFile>");
    refused(MeshFormat::Vtu,
            "<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='1' "
            "NumberOfCells='1'><Points>"
            "<DataArray type='Float64' "
            "format='binary'>////fwAAAAAA</DataArray></Points></Piece></UnstructuredGrid></VTKFile>");
    refused(MeshFormat::Tetgen, "1000000000 3 0 0\n1 0 0 0\n");
    EXPECT_THAT(parse_error(MeshFormat::Vega, "*VERTICES\n1000000000 3 0 0\n1 0 0 0\n"),
                HasSubstr("cut short"));
    EXPECT_THAT(parse_error(MeshFormat::Off, "OFF\n-1 1 0\n0 0 0\n"),
                HasSubstr("claims -1 vertices; the count is damaged"));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 1 << 20);
}

TEST(MeshIoBad, PackedTrapsAndDamage)
{
    const std::string trap = io::gzip(std::string(40 << 20, ' '));
    EXPECT_LT(trap.size(), 60'000u);
    EXPECT_THAT(parse_error(MeshFormat::Medit, trap), HasSubstr("unpack to more than"));
    std::string packed = io::gzip("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    EXPECT_NO_THROW(parse_mesh(MeshFormat::Obj, packed, "f"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, packed.substr(0, packed.size() - 12)), HasSubstr("cut short"));
    packed[14] ^= 0x55;
    EXPECT_THAT(parse_error(MeshFormat::Obj, packed), HasSubstr("compressed data"));
}

TEST(MeshIoBad, OutputThatCannotBeWritten)
{
    const auto write = [](const std::filesystem::path& path) {
        return error_of([&] { write_surface(path, test::unit_cube()); });
    };
    const test::TemporaryFolder folder;
    EXPECT_THAT(write(folder / "none/a.obj"), AllOf(HasSubstr("a.obj: cannot be written"),
                                                    HasSubstr("does not exist"), HasSubstr("make it first")));
    EXPECT_THAT(write("/proc/a.obj"), HasSubstr("/proc/a.obj: cannot be opened for writing"));
    EXPECT_THAT(write(folder.path()), HasSubstr("no ending"));
    std::filesystem::create_symlink("/dev/full", folder / "full.obj");
    EXPECT_THAT(write(folder / "full.obj"), AllOf(HasSubstr("No space left"), HasSubstr("free some space")));
    std::filesystem::remove(folder / "full.obj");
    EXPECT_TRUE(folder.is_empty());
}

TEST(MeshIoBad, AFailedWriteKeepsTheOldFile)
{
    const test::TemporaryFolder folder;
    write_surface(folder / "a.stl", test::unit_cube());
    TriangleMesh huge = test::unit_cube();
    huge.vertices *= 1e60;
    EXPECT_THAT(error_of([&] { write_surface(folder / "a.stl", huge); }), HasSubstr("single precision"));
    EXPECT_EQ(read_surface(folder / "a.stl").triangle_count(), 12);
    EXPECT_NO_THROW(write_surface(folder / "b.stl", huge, {.encoding = Encoding::Text}));
    EXPECT_THAT(error_of([&] { write_surface(folder / "a.obj", huge, {.encoding = Encoding::Binary}); }),
                HasSubstr("text only"));
    EXPECT_THAT(error_of([&] { write_tet_mesh(folder / "a.obj", test::unit_tet()); }),
                AllOf(HasSubstr("cannot hold tetrahedra"), HasSubstr(".mesh")));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.obj"));
}

TEST(MeshIoBad, WhatIsNotSupportedIsRefusedBySaying)
{
    EXPECT_THAT(parse_error(MeshFormat::Off, "OFF BINARY\n"), HasSubstr("binary OFF"));
    EXPECT_THAT(parse_error(MeshFormat::Off, "4OFF\n1 1 1\n"), HasSubstr("save it as OFF or COFF"));
    EXPECT_THAT(parse_error(MeshFormat::Gmsh, "$MeshFormat\n4 0 8\n"),
                HasSubstr("save it as version 2.2 or 4.1"));
    EXPECT_THAT(
        parse_error(MeshFormat::Vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n"),
        HasSubstr("only POLYDATA"));
    EXPECT_THAT(parse_error(MeshFormat::Vtu, "<VTKFile type='PolyData'/>"),
                HasSubstr("only UnstructuredGrid"));
    EXPECT_THAT(parse_error(MeshFormat::Vtu, "<!DOCTYPE lolz [<!ENTITY lol 'lol'>]><VTKFile/>"),
                HasSubstr("document types"));
    EXPECT_THAT(
        parse_error(MeshFormat::Vtu, "<VTKFile type='UnstructuredGrid' compressor='vtkLZ4DataCompressor'/>"),
        HasSubstr("vtkZLibDataCompressor"));
    EXPECT_THAT(parse_error(MeshFormat::Tetgen, "1 3 0 0\n1 0 0 0\n1 3 0\n1 1 1 1\n"),
                HasSubstr("3 nodes per element"));
    EXPECT_THAT(parse_error(MeshFormat::Tetgen, "1 2 0 0\n1 0 0\n"), HasSubstr("2 dimensions"));
    EXPECT_THAT(parse_error(MeshFormat::Medit, "MeshVersionFormatted 2\nDimension 2\n"),
                StartsWith("f:2: has 2 dimensions"));
    EXPECT_THAT(parse_error(MeshFormat::Vega, "*VERTICES\n1 3 0 0\n1 0 0 0\n*ELEMENTS\nCUBIC\n"),
                StartsWith("f:5: holds cubes"));
    EXPECT_THAT(parse_error(MeshFormat::Vega, "*INCLUDE x\n"), HasSubstr("*INCLUDE"));
    EXPECT_THAT(parse_error(MeshFormat::Ply,
                            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n"),
                HasSubstr("lack one of"));
    EXPECT_THAT(parse_error(MeshFormat::Ply, "ply\nformat martian 1.0\nend_header\n"), HasSubstr("martian"));
    EXPECT_THAT(parse_error(MeshFormat::Obj, "v 1 2 x\n"),
                StartsWith("f:1: found 'x' where a number should stand"));
}

TEST(MeshIoBad, VegaThatIncludesItself)
{
    const test::TemporaryFolder folder;
    write_file(folder / "a.veg", "*INCLUDE a.veg\n");
    EXPECT_THAT(error_of([&] { (void)read_mesh_file(folder / "a.veg"); }), HasSubstr("include itself"));
    write_file(folder / "b.veg", "*VERTICES\n*INCLUDE none.txt\n");
    EXPECT_THAT(error_of([&] { (void)read_mesh_file(folder / "b.veg"); }),
                HasSubstr("none.txt: does not exist"));
}

TEST(MeshIoBad, XmlNestedWithoutEnd)
{
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "<a>";
    EXPECT_THAT(parse_error(MeshFormat::Vtu, deep), HasSubstr("nested"));
}

TEST(MeshIoBad, NumbersAtTheEndsOfTheirRange)
{
    const std::string nodes = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
    for (const char* index : {"-9223372036854775808", "9223372036854775807", "2147483648"})
        EXPECT_THAT(parse_error(MeshFormat::Tetgen, nodes + "1 4 0\n1 1 2 3 " + index + "\n"),
                    HasSubstr("does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Tetgen, "1 3 0 0\n-9223372036854775808 0 0 0\n1 4 0\n1 1 1 1 1\n"),
                HasSubstr("must be 0 or 1"));
    EXPECT_THAT(
        parse_error(
            MeshFormat::Vega,
            "*VERTICES\n1 3 0 0\n1 0 0 0\n*ELEMENTS\nTET\n1 4 0\n1 1 1 1 1\n*SET s\n-9223372036854775808\n"
            "*REGION\ns, m\n*REGION\ns, m\n"),
        HasSubstr("which does not exist"));
    EXPECT_THAT(parse_error(MeshFormat::Medit, "MeshVersionFormatted 2\nDimension 3\nVertices 1\n0 0 0 "
                                               "0\nTetrahedra 1\n1 1 1 1 99999999999\nEnd\n"),
                HasSubstr("region number 99999999999 is too large"));
}

TEST(MeshIoBad, VtkCellsThatDoNotMatchTheirData)
{
    const std::string head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 "
                             "1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\n";
    const std::string region = "CELL_DATA 1\nSCALARS region int 1\nLOOKUP_TABLE default\n7\n";
    EXPECT_NO_THROW(parse_mesh(MeshFormat::Vtk, head + region, "f"));
    EXPECT_THAT(parse_error(MeshFormat::Vtk, head + region + "POLYGONS 1 4\n3 0 1 2\n"),
                HasSubstr("2 cells but regions for 1"));
    EXPECT_THAT(parse_error(MeshFormat::Vtk, head + "CELL_DATA 2\n"),
                HasSubstr("data for 2 cells, but there are 1"));
    EXPECT_THAT(parse_error(MeshFormat::Vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET "
                                             "UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
                                             "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n"),
                HasSubstr("3 corners where its type needs 4"));
}
