#include <bit>
#include <cmath>
#include <locale>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "support/data.hpp"
#include "support/meshes.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A way of writing a format.
struct Variant {
    std::string name;
    MeshFormat format;
    std::string ending;
    WriteOptions options = {};
    bool triangles = true, tets = false;
};

void PrintTo(const Variant& variant, std::ostream* out)
{
    *out << variant.name;
}

const std::vector<Variant> variants = {
    {"obj", MeshFormat::Obj, ".obj"},
    {"ply_binary", MeshFormat::Ply, ".ply"},
    {"ply_text", MeshFormat::Ply, ".ply", {.encoding = Encoding::Text}},
    {"off", MeshFormat::Off, ".off"},
    {"medit", MeshFormat::Medit, ".mesh", {}, true, true},
    {"medit_gz", MeshFormat::Medit, ".mesh.gz", {}, true, true},
    {"gmsh2_text", MeshFormat::Gmsh, ".msh", {}, true, true},
    {"gmsh2_binary", MeshFormat::Gmsh, ".msh", {.encoding = Encoding::Binary}, true, true},
    {"gmsh4_text", MeshFormat::Gmsh, ".msh", {.gmsh = GmshVersion::V4}, true, true},
    {"gmsh4_binary",
     MeshFormat::Gmsh,
     ".msh",
     {.encoding = Encoding::Binary, .gmsh = GmshVersion::V4},
     true,
     true},
    {"vtk_binary", MeshFormat::Vtk, ".vtk", {}, true, true},
    {"vtk_text", MeshFormat::Vtk, ".vtk", {.encoding = Encoding::Text}, true, true},
    {"vtu_binary", MeshFormat::Vtu, ".vtu", {}, true, true},
    {"vtu_text", MeshFormat::Vtu, ".vtu", {.encoding = Encoding::Text}, true, true},
    {"tetgen", MeshFormat::Tetgen, ".node", {}, false, true},
    {"vega", MeshFormat::Vega, ".veg", {}, false, true},
};

/// Coordinates whose digits are hard to print: random bits of every size, numbers next to round ones, -0.
Points awkward_points(Index count, std::uint64_t seed)
{
    Random random(seed);
    Points points(3, count);
    for (double& x : points.reshaped()) {
        const double mantissa = random.uniform(-2.0, 2.0);
        x = std::ldexp(mantissa, static_cast<int>(random.index(600)) - 300);
    }
    points(0, 0) = -0.0;
    points(1, 0) = std::nextafter(0.1, 1.0);
    points(2, 0) = std::numeric_limits<double>::denorm_min();
    return points;
}

MeshFile surface_file()
{
    const TriangleMesh cube = test::unit_cube();
    return {.vertices = awkward_points(cube.vertex_count(), 1), .triangles = cube.triangles};
}

MeshFile tet_file()
{
    const TetMesh cube = test::unit_cube_tets(2);
    MeshFile file{.vertices = awkward_points(cube.vertex_count(), 2), .tets = cube.tets};
    for (int t = 0; t < cube.tet_count(); ++t) file.regions.push_back(t % 5 - 2);
    return file;
}

void expect_same_bits(const Points& a, const Points& b)
{
    ASSERT_EQ(a.cols(), b.cols());
    for (Index i = 0; i < a.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint64_t>(a.data()[i]), std::bit_cast<std::uint64_t>(b.data()[i]))
            << a.data()[i] << " and " << b.data()[i];
}

void expect_same(const MeshFile& a, const MeshFile& b)
{
    expect_same_bits(a.vertices, b.vertices);
    EXPECT_EQ(a.triangles, b.triangles);
    EXPECT_EQ(a.tets, b.tets);
    EXPECT_EQ(a.regions, b.regions);
}

MeshFile parse(MeshFormat format, std::string_view text)
{
    return parse_mesh(format, text, "test");
}

/// The corners of every triangle, for formats that number vertices anew.
std::vector<Vec3> corner_positions(const Points& vertices, const Triangles& triangles)
{
    std::vector<Vec3> corners;
    for (const int v : triangles.reshaped()) corners.emplace_back(vertices.col(v));
    return corners;
}

} // namespace

class MeshIoFormat : public testing::TestWithParam<Variant> {};
class MeshIoSurface : public MeshIoFormat {};
class MeshIoVolume : public MeshIoFormat {};
class MeshIoBoth : public MeshIoFormat {};

namespace {

/// The variants that hold what is asked for.
std::vector<Variant> holding(bool triangles, bool tets)
{
    std::vector<Variant> chosen;
    for (const Variant& variant : variants)
        if ((variant.triangles || !triangles) && (variant.tets || !tets)) chosen.push_back(variant);
    return chosen;
}

std::string name_of(const testing::TestParamInfo<Variant>& parameter)
{
    return parameter.param.name;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Formats, MeshIoFormat, testing::ValuesIn(variants), name_of);
INSTANTIATE_TEST_SUITE_P(Formats, MeshIoSurface, testing::ValuesIn(holding(true, false)), name_of);
INSTANTIATE_TEST_SUITE_P(Formats, MeshIoVolume, testing::ValuesIn(holding(false, true)), name_of);
INSTANTIATE_TEST_SUITE_P(Formats, MeshIoBoth, testing::ValuesIn(holding(true, true)), name_of);

TEST_P(MeshIoSurface, KeepsEveryBit)
{
    const test::TemporaryFolder folder;
    const auto path = folder / ("surface" + GetParam().ending);
    write_mesh_file(path, surface_file(), GetParam().options);
    expect_same(read_mesh_file(path), surface_file());
}

TEST_P(MeshIoVolume, KeepsEveryBitAndRegion)
{
    const test::TemporaryFolder folder;
    const auto path = folder / ("volume" + GetParam().ending);
    write_mesh_file(path, tet_file(), GetParam().options);
    expect_same(read_mesh_file(path), tet_file());

    MeshFile plain = tet_file();
    plain.regions.clear();
    write_mesh_file(path, plain, GetParam().options);
    expect_same(read_mesh_file(path), plain);
}

TEST_P(MeshIoBoth, KeepsSurfaceAndVolumeTogether)
{
    MeshFile both = tet_file();
    both.triangles = surface_file().triangles;
    expect_same(parse(GetParam().format, serialize_mesh(GetParam().format, both, GetParam().options)), both);
}

TEST_P(MeshIoFormat, RefusesWhatItCannotHold)
{
    const Variant& variant = GetParam();
    const test::TemporaryFolder folder;
    const auto path = folder / ("refused" + variant.ending);
    if (!variant.tets) {
        EXPECT_THROW(write_mesh_file(path, tet_file()), InputError);
    }
    if (!variant.triangles) {
        EXPECT_THROW(write_mesh_file(path, surface_file()), InputError);
    }
    EXPECT_THROW(write_mesh_file(path, {.vertices = surface_file().vertices}), InputError);
    MeshFile broken = variant.tets ? tet_file() : surface_file();
    broken.vertices(1, 3) = std::nan("");
    EXPECT_THROW(write_mesh_file(path, broken), InputError);
    EXPECT_TRUE(folder.is_empty());
}

RC_GTEST_PROP(MeshIo, EveryFiniteCoordinateSurvivesEveryTextFormat, ())
{
    const auto bits = *rc::gen::arbitrary<std::uint64_t>();
    const double x = std::bit_cast<double>(bits);
    RC_PRE(std::abs(x) <= largest_coordinate);
    MeshFile mesh{.vertices = Points::Zero(3, 3), .triangles = Triangles(3, 1)};
    mesh.triangles.col(0) << 0, 1, 2;
    mesh.vertices(1, 1) = x;
    for (const MeshFormat format : {MeshFormat::Obj, MeshFormat::Off, MeshFormat::Medit, MeshFormat::Gmsh}) {
        const MeshFile again = parse(format, serialize_mesh(format, mesh));
        RC_ASSERT(std::bit_cast<std::uint64_t>(again.vertices(1, 1)) == bits);
    }
}

TEST(MeshIo, FieldsSurviveWhereTheFormatHoldsThem)
{
    MeshFile mesh = surface_file();
    mesh.fields.push_back({"temperature", MatX::Random(1, mesh.vertices.cols())});
    mesh.fields.push_back({"velocity", MatX::Random(3, mesh.vertices.cols())});
    for (const Variant& variant : variants) {
        if (variant.format != MeshFormat::Ply && variant.format != MeshFormat::Vtk &&
            variant.format != MeshFormat::Vtu)
            continue;
        const MeshFile again = parse(variant.format, serialize_mesh(variant.format, mesh, variant.options));
        ASSERT_EQ(again.fields.size(), 2u) << variant.name;
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(again.fields[i].name, mesh.fields[i].name) << variant.name;
            EXPECT_EQ(again.fields[i].values, mesh.fields[i].values) << variant.name;
        }
    }
}

/// A field of another format may have a name that means something else in .ply.
TEST(MeshIo, AFieldCalledXDoesNotBecomeTheCoordinate)
{
    MeshFile mesh = surface_file();
    mesh.fields.push_back({"x", MatX::Constant(1, mesh.vertices.cols(), 5.0)});
    const MeshFile again = parse(MeshFormat::Ply, serialize_mesh(MeshFormat::Ply, mesh));
    expect_same(again, mesh);
    ASSERT_EQ(again.fields.size(), 1u);
    EXPECT_EQ(again.fields[0].name, "x_");
}

TEST(MeshIo, ColorsSurviveWithinAByte)
{
    MeshFile mesh = surface_file();
    mesh.fields.push_back({"color", (MatX::Random(3, mesh.vertices.cols()).array() + 1.0) / 2.0});
    for (const MeshFormat format :
         {MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Off, MeshFormat::Vtk, MeshFormat::Vtu}) {
        const MeshFile again = parse(format, serialize_mesh(format, mesh));
        ASSERT_EQ(again.fields.size(), 1u);
        EXPECT_EQ(again.fields[0].name, "color");
        EXPECT_LE((again.fields[0].values - mesh.fields[0].values).cwiseAbs().maxCoeff(),
                  0.5 / 255.0 + 1e-15);
    }
}

TEST(MeshIo, StlKeepsTheTrianglesAndWeldsTheirCorners)
{
    const TriangleMesh cube =
        boundary_surface(test::unit_cube_tets(3)); // thirds are not exact in single precision
    const MeshFile mesh{.vertices = cube.vertices, .triangles = cube.triangles};
    const MeshFile text =
        parse(MeshFormat::Stl, serialize_mesh(MeshFormat::Stl, mesh, {.encoding = Encoding::Text}));
    EXPECT_EQ(text.vertices.cols(), cube.vertices.cols());
    EXPECT_EQ(corner_positions(text.vertices, text.triangles),
              corner_positions(cube.vertices, cube.triangles));

    const MeshFile binary = parse(MeshFormat::Stl, serialize_mesh(MeshFormat::Stl, mesh));
    EXPECT_EQ(binary.vertices.cols(), cube.vertices.cols());
    const Points rounded = cube.vertices.cast<float>().cast<double>();
    EXPECT_EQ(corner_positions(binary.vertices, binary.triangles), corner_positions(rounded, cube.triangles));
}

TEST(MeshIo, BinaryStlThatBeginsWithSolid)
{
    const TriangleMesh cube = test::unit_cube();
    std::string bytes =
        serialize_mesh(MeshFormat::Stl, {.vertices = cube.vertices, .triangles = cube.triangles});
    bytes.replace(0, 12, "solid cube  ");
    EXPECT_EQ(parse(MeshFormat::Stl, bytes).triangles.cols(), 12);
    std::fill(bytes.begin(), bytes.begin() + 80, ' '); // now no zero byte is left in the header
    bytes.replace(0, 5, "solid");
    EXPECT_EQ(parse(MeshFormat::Stl, bytes).triangles.cols(), 12);
}

TEST(MeshIo, ObjInAllItsShapes)
{
    const MeshFile mesh = parse(MeshFormat::Obj, "# a comment\r\n"
                                                 "mtllib x.mtl\r\no thing\r\n"
                                                 "v 0 0 0 1 0.5 0\r\nv +1 0 0 1 0.5 0\r\n"
                                                 "v 1 1 \\\r\n 0 1 0.5 0\r\nv 0 1e0 0 1 0.5 0\r\n"
                                                 "vt 0 0\r\nvn 0 0 1\r\ng part\r\ns off\r\n"
                                                 "f 1/1/1 2//1 3/1\r\nf -4 -2 \\\r\n-1\r\nl 1 2\r\n");
    EXPECT_EQ(mesh.vertices.cols(), 4);
    EXPECT_EQ(mesh.vertices.col(2), Vec3(1, 1, 0));
    Triangles expected(3, 2);
    expected << 0, 0, 1, 2, 2, 3;
    EXPECT_EQ(mesh.triangles, expected);
    ASSERT_EQ(mesh.fields.size(), 1u);
    EXPECT_EQ(mesh.fields[0].values.col(3), Vec3(1, 0.5, 0));
    EXPECT_THAT(mesh.notes, ElementsAre("skipped 1 lines that are neither vertices nor faces"));
}

TEST(MeshIo, FacesMayStandBeforeTheirVertices)
{
    EXPECT_EQ(parse(MeshFormat::Obj, "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").triangles.cols(), 1);
}

TEST(MeshIo, OldMacLineEnds)
{
    EXPECT_EQ(parse(MeshFormat::Obj, "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r").triangles.cols(), 1);
}

/// The area of triangles that do not overlap and do not leave the polygon is the polygon's.
TEST(MeshIo, ConcavePolygonsAreCutWithinTheirOutline)
{
    const char* comb = "v 0 0 0\nv 5 0 0\nv 5 3 0\nv 4 3 0\nv 4 1 0\nv 3 1 0\nv 3 3 0\nv 2 3 0\nv 2 1 0\nv 1 "
                       "1 0\nv 1 3 0\nv 0 3 0\n"
                       "f 1 2 3 4 5 6 7 8 9 10 11 12\n";
    const MeshFile mesh = parse(MeshFormat::Obj, comb);
    ASSERT_EQ(mesh.triangles.cols(), 10);
    EXPECT_NEAR(area(TriangleMesh{mesh.vertices, mesh.triangles}), 11.0, 1e-12);
    for (Index t = 0; t < 10; ++t) {
        const auto x = [&](int k) { return Vec3(mesh.vertices.col(mesh.triangles(k, t))); };
        EXPECT_GE((x(1) - x(0)).cross(x(2) - x(0)).z(), 0.0);
    }
    EXPECT_THAT(mesh.notes, ElementsAre("1 polygon was cut into triangles"));
}

TEST(MeshIo, PolygonsOfEveryFacingKeepTheirOrientation)
{
    Random random(7);
    for (int trial = 0; trial < 50; ++trial) { // an L shape, turned at random
        const Eigen::Quaterniond R =
            Eigen::Quaterniond(random.normal(), random.normal(), random.normal(), random.normal())
                .normalized();
        MeshFile corner;
        std::string text;
        for (const Vec3& p :
             {Vec3(0, 0, 0), Vec3(2, 0, 0), Vec3(2, 1, 0), Vec3(1, 1, 0), Vec3(1, 2, 0), Vec3(0, 2, 0)}) {
            const Vec3 x = R * p;
            text +=
                "v " + std::to_string(x[0]) + " " + std::to_string(x[1]) + " " + std::to_string(x[2]) + "\n";
        }
        const MeshFile mesh = parse(MeshFormat::Obj, text + "f 1 2 3 4 5 6\n");
        EXPECT_NEAR(area(TriangleMesh{mesh.vertices, mesh.triangles}), 3.0, 1e-4);
        for (Index t = 0; t < mesh.triangles.cols(); ++t) {
            const auto x = [&](int k) { return Vec3(mesh.vertices.col(mesh.triangles(k, t))); };
            EXPECT_GT((x(1) - x(0)).cross(x(2) - x(0)).dot(R * Vec3::UnitZ()), 0.0);
        }
    }
}

TEST(MeshIo, BigEndianPlyWithExtraElementsAndLists)
{
    std::string bytes =
        "ply\nformat binary_big_endian 1.0\nobj_info x\nelement vertex 3\nproperty float x\nproperty float "
        "y\n"
        "property short quality\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar "
        "blue\n"
        "element material 1\nproperty list ushort char text\nelement face 1\nproperty uchar flags\n"
        "property list uchar uint vertex_index\nend_header\n";
    const auto put = [&](auto value) {
        auto raw = std::bit_cast<std::array<char, sizeof(value)>>(value);
        std::reverse(raw.begin(), raw.end());
        bytes.append(raw.data(), raw.size());
    };
    for (int v = 0; v < 3; ++v) {
        put(v == 1 ? 1.0f : 0.0f);
        put(v == 2 ? 0.5f : 0.0f);
        put(std::int16_t(-7 * v));
        put(0.25f);
        for (int k = 0; k < 3; ++k) put(std::uint8_t(51 * k));
    }
    put(std::uint16_t(4));
    bytes += "abcd";
    put(std::uint8_t(9));
    put(std::uint8_t(3));
    for (int k = 0; k < 3; ++k) put(std::uint32_t(k));

    const MeshFile mesh = parse(MeshFormat::Ply, bytes);
    EXPECT_EQ(mesh.vertices.col(1), Vec3(1, 0, 0.25));
    EXPECT_EQ(mesh.vertices.col(2), Vec3(0, 0.5, 0.25));
    ASSERT_EQ(mesh.fields.size(), 2u);
    EXPECT_EQ(mesh.fields[0].name, "quality");
    EXPECT_EQ(mesh.fields[0].values(0, 2), -14.0);
    EXPECT_EQ(mesh.fields[1].values.col(0), Vec3(0, 0.2, 0.4));
    EXPECT_THAT(mesh.notes, ElementsAre("skipped 1 elements 'material'"));
}

TEST(MeshIo, OffWithCommentsColorsAndPolygons)
{
    const MeshFile mesh =
        parse(MeshFormat::Off, "COFF # header\n4 1 0\n# vertices\n0 0 0 255 0 0 255\n1 0 0 255 0 51 255\n"
                               "1 1 0 0 0 0 255\n0 1 0 0 0 0 255\n4 0 1 2 3 0.5 0.5 0.5\n");
    EXPECT_EQ(mesh.triangles.cols(), 2);
    ASSERT_EQ(mesh.fields.size(), 1u);
    EXPECT_EQ(mesh.fields[0].values.col(1), Vec3(1, 0, 0.2));
}

TEST(MeshIo, MeditSkipsSectionsThatDoNotConcernUs)
{
    const MeshFile mesh =
        parse(MeshFormat::Medit,
              "MeshVersionFormatted 1\nDimension\n3\nVertices 4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
              "Edges 1\n1 2 7\nNormals\n1\n0.1 0.2 -3e-1\nQuadrilaterals 1\n1 2 3 4 0\n"
              "Tetrahedra 1\n1 2 3 4 9\nEnd\n");
    EXPECT_EQ(mesh.triangles.cols(), 2);
    EXPECT_THAT(mesh.regions, ElementsAre(9));
    EXPECT_THAT(mesh.notes, ElementsAre("1 polygon was cut into triangles", "skipped 1 section 'Edges'",
                                        "skipped 1 section 'Normals'"));
}

TEST(MeshIo, GmshWithSparseTagsAndQuadraticTets)
{
    std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "
                       "\"body\"\n$EndPhysicalNames\n$Nodes\n11\n999 5 5 5\n";
    for (int v = 0; v < 10; ++v)
        text += std::to_string(100 + 7 * v) + " " + std::to_string(v == 1) + " " + std::to_string(v == 2) +
                " " + std::to_string(v == 3) + "\n";
    text += "$EndNodes\n$Elements\n2\n1 15 2 0 1 100\n2 11 2 4 1";
    for (int v = 0; v < 10; ++v) text += " " + std::to_string(100 + 7 * v);
    const MeshFile mesh = parse(MeshFormat::Gmsh, text + "\n$EndElements\n");
    ASSERT_EQ(mesh.tets.cols(), 1);
    EXPECT_EQ(mesh.vertices.cols(), 4); // the nodes on the edges, and the one that nothing uses, are gone
    EXPECT_THAT(mesh.regions, ElementsAre(4));
    EXPECT_NEAR(volume(TetMesh{mesh.vertices, mesh.tets}), 1.0 / 6.0, 1e-15);
    EXPECT_THAT(mesh.notes, testing::Contains(HasSubstr("quadratic")));
}

TEST(MeshIo, Vtk5WithOffsetsAndDataOfManyKinds)
{
    const MeshFile mesh =
        parse(MeshFormat::Vtk,
              "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
              "0 0 0 1 0 0 0 1 0 0 0 1\nMETADATA\nINFORMATION 0\n\nCELLS 3 7\nOFFSETS vtktypeint64\n0 4 7\n"
              "CONNECTIVITY vtktypeint64\n0 1 2 3 0 2 1\nCELL_TYPES 2\n10\n5\n"
              "CELL_DATA 2\nSCALARS material int 1\nLOOKUP_TABLE default\n3 0\n"
              "POINT_DATA 4\nSCALARS heat double\nLOOKUP_TABLE default\n1 2 3 4\n"
              "VECTORS u float\n1 0 0 2 0 0 3 0 0 4 0 0\nFIELD more 1\nid 1 4 int\n7 8 9 10\n");
    EXPECT_EQ(mesh.tets.cols(), 1);
    EXPECT_EQ(mesh.triangles.cols(), 1);
    EXPECT_THAT(mesh.regions, ElementsAre(3));
    ASSERT_EQ(mesh.fields.size(), 3u);
    EXPECT_EQ(mesh.fields[0].values(0, 3), 4.0);
    EXPECT_EQ(mesh.fields[1].values.col(2), Vec3(3, 0, 0));
    EXPECT_EQ(mesh.fields[2].name, "id");
}

TEST(MeshIo, VtkStripsTurnEverySecondTriangle)
{
    const MeshFile mesh =
        parse(MeshFormat::Vtk, "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n"
                               "0 0 0 1 0 0 0 1 0 1 1 0\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n");
    ASSERT_EQ(mesh.triangles.cols(), 2);
    for (Index t = 0; t < 2; ++t) {
        const auto x = [&](int k) { return Vec3(mesh.vertices.col(mesh.triangles(k, t))); };
        EXPECT_EQ((x(1) - x(0)).cross(x(2) - x(0)), Vec3(0, 0, 1));
    }
}

namespace {

template <class T>
std::string raw(std::initializer_list<T> values)
{
    return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

/// One tet as .vtu, whose four arrays are stored by `store` (which returns attributes and content).
template <class Store>
std::string tet_vtu(const std::string& file_attributes, const Store& store, const std::string& tail = "")
{
    const auto array = [&](const std::string& type, const std::string& name, const std::string& bytes) {
        const auto [attributes, content] = store(bytes);
        return "<DataArray type='" + type + "' Name='" + name + "' " + attributes + ">" + content +
               "</DataArray>";
    };
    const std::string points = raw({0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0});
    return "<?xml version='1.0'?><!-- a tet --><VTKFile type='UnstructuredGrid' " + file_attributes +
           "><UnstructuredGrid><Piece NumberOfPoints='4' NumberOfCells='1'><Points>" +
           array("Float64", "p", points) + "</Points><Cells>" +
           array("Int32", "connectivity", raw<std::int32_t>({0, 1, 2, 3})) +
           array("Int32", "offsets", raw<std::int32_t>({4})) +
           array("UInt8", "types", raw<std::uint8_t>({10})) + "</Cells></Piece></UnstructuredGrid>" + tail +
           "</VTKFile>";
}

void expect_unit_tet(const MeshFile& mesh)
{
    EXPECT_EQ(mesh.vertices, test::unit_tet().vertices);
    EXPECT_EQ(mesh.tets, test::unit_tet().tets);
}

using Stored = std::pair<std::string, std::string>;

std::string length32(const std::string& bytes)
{
    return raw<std::uint32_t>({static_cast<std::uint32_t>(bytes.size())});
}

} // namespace

TEST(MeshIo, VtuInlineBase64)
{
    expect_unit_tet(parse(MeshFormat::Vtu, tet_vtu("", [](const std::string& bytes) {
                              return Stored("format='binary'",
                                            "\n  " + io::base64(length32(bytes) + bytes) + "\n");
                          })));
}

TEST(MeshIo, VtuCompressedInTwoBlocks)
{
    expect_unit_tet(parse(
        MeshFormat::Vtu,
        tet_vtu("compressor='vtkZLibDataCompressor' header_type='UInt64'", [](const std::string& bytes) {
            const std::size_t half = bytes.size() / 2;
            const std::string a = io::gzip(bytes.substr(0, half)), b = io::gzip(bytes.substr(half));
            const std::string header =
                raw<std::uint64_t>({2, bytes.size(), bytes.size() - half, a.size(), b.size()});
            return Stored("format='binary'", io::base64(header) + io::base64(a + b));
        })));
}

TEST(MeshIo, VtuAppendedRawAndBase64)
{
    for (const bool encoded : {false, true}) {
        std::string appended;
        const auto store = [&](const std::string& bytes) {
            const std::string offset = std::to_string(appended.size());
            appended += encoded ? io::base64(length32(bytes) + bytes) : length32(bytes) + bytes;
            return Stored("format='appended' offset='" + offset + "'", "");
        };
        (void)tet_vtu("", store); // fills `appended`
        const std::string tail = std::string("<AppendedData encoding='") + (encoded ? "base64" : "raw") +
                                 "'>\n _" + appended + "\n</AppendedData>";
        appended.clear();
        expect_unit_tet(parse(MeshFormat::Vtu, tet_vtu("byte_order='LittleEndian'", store, tail)));
    }
}

TEST(MeshIo, VtuPiecesNumberTheirOwnPoints)
{
    const std::string piece =
        "<Piece NumberOfPoints='3' NumberOfCells='1'><Points><DataArray type='Float32' "
        "NumberOfComponents='3'>"
        "0 0 0 1 0 0 0 1 0</DataArray></Points><Cells><DataArray type='Int32' Name='connectivity'>0 1 "
        "2</DataArray>"
        "<DataArray type='Int32' Name='offsets'>3</DataArray><DataArray type='UInt8' "
        "Name='types'>5</DataArray></Cells>"
        "<PointData><DataArray type='Float32' Name='a &amp; b'>1 2 3</DataArray></PointData></Piece>";
    const MeshFile mesh = parse(MeshFormat::Vtu, "<VTKFile type='UnstructuredGrid'><UnstructuredGrid>" +
                                                     piece + piece + "</UnstructuredGrid></VTKFile>");
    EXPECT_EQ(mesh.vertices.cols(), 6);
    EXPECT_EQ(mesh.triangles.col(1), Eigen::Vector3i(3, 4, 5));
    ASSERT_EQ(mesh.fields.size(), 1u);
    EXPECT_EQ(mesh.fields[0].name, "a & b");
    EXPECT_EQ(mesh.fields[0].values(0, 5), 3.0);
}

TEST(MeshIo, TetgenCountsFromZeroOrOneAndReadsAttributes)
{
    for (const int first : {0, 1}) {
        std::string text = "# nodes\n4 3 2 1\n";
        for (int v = 0; v < 4; ++v)
            text += std::to_string(v + first) + "  " + std::to_string(v == 1) + " " + std::to_string(v == 2) +
                    " " + std::to_string(v == 3) + "  0.5 7 1\n";
        text += "1 4 1\n" + std::to_string(first);
        for (int v = 0; v < 4; ++v) text += " " + std::to_string(v + first);
        const MeshFile mesh = parse(MeshFormat::Tetgen, text + " 3.0\n");
        expect_unit_tet(mesh);
        EXPECT_THAT(mesh.regions, ElementsAre(3));
        ASSERT_EQ(mesh.fields.size(), 2u);
        EXPECT_EQ(mesh.fields[1].name, "attribute_2");
        EXPECT_EQ(mesh.fields[1].values(0, 3), 7.0);
    }
}

TEST(MeshIo, TetgenIsReadByEitherName)
{
    const test::TemporaryFolder folder;
    write_tet_mesh(folder / "cube.ele", test::unit_cube_tets(2));
    EXPECT_EQ(read_tet_mesh(folder / "cube.node").tets, test::unit_cube_tets(2).tets);
    EXPECT_EQ(read_tet_mesh(folder / "cube.ele").vertices, test::unit_cube_tets(2).vertices);
}

TEST(MeshIo, VegaFollowsIncludesAndReadsSets)
{
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "parts");
    write_file(folder / "parts/the nodes.txt", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n");
    write_file(folder / "parts/all.veg",
               "*VERTICES\n*INCLUDE the nodes.txt\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 1 3 2 5\n");
    write_file(
        folder / "a.veg",
        "*INCLUDE parts/all.veg\n*MATERIAL soft\nENU, 1000, 1E6, 0.4\n*MATERIAL hard\nENU, 1000, 1E9, 0.4\n"
        "*SET lower\n2,\n*REGION\nallElements, soft\n*REGION\nlower, hard\n");
    const TetMesh mesh = read_tet_mesh(folder / "a.veg");
    EXPECT_EQ(mesh.tet_count(), 2);
    EXPECT_THAT(mesh.regions, ElementsAre(1, 2));
}

TEST(MeshIo, ScaleAndUpAxis)
{
    const test::TemporaryFolder folder;
    write_tet_mesh(folder / "a.mesh", test::unit_tet());
    const TetMesh mesh = read_tet_mesh(folder / "a.mesh", {.scale = 0.5, .up = UpAxis::Z});
    EXPECT_EQ(mesh.vertices.col(1), Vec3(0.5, 0, 0));
    EXPECT_EQ(mesh.vertices.col(2), Vec3(0, 0, -0.5));
    EXPECT_EQ(mesh.vertices.col(3), Vec3(0, 0.5, 0)); // what was up is up
    EXPECT_NEAR(volume(mesh), 0.125 / 6.0, 1e-15);    // a rotation, no mirror
}

TEST(MeshIo, SurfaceOfAFileWithTetsOnlyIsTheirBoundary)
{
    const test::TemporaryFolder folder;
    write_tet_mesh(folder / "cube.veg", test::unit_cube_tets(3));
    const TriangleMesh surface = read_surface(folder / "cube.veg");
    EXPECT_EQ(surface.triangle_count(), 108);
    EXPECT_EQ(surface.vertex_count(), 56);
    EXPECT_NEAR(volume(surface), 1.0, 1e-14);
}

TEST(MeshIo, SurfaceOfAFileWithBothDropsInnerVertices)
{
    const test::TemporaryFolder folder;
    const TetMesh cube = test::unit_cube_tets(2);
    std::vector<int> origin;
    MeshFile both{
        .vertices = cube.vertices, .triangles = boundary_surface(cube, origin).triangles, .tets = cube.tets};
    for (int& v : both.triangles.reshaped()) v = origin[static_cast<std::size_t>(v)];
    write_mesh_file(folder / "both.mesh", both);
    EXPECT_EQ(read_surface(folder / "both.mesh").vertex_count(), 26);
    EXPECT_NEAR(volume(read_surface(folder / "both.mesh")), 1.0, 1e-14);
}

TEST(MeshIo, InvertedTetsAreKeptOrFlippedOnWish)
{
    const test::TemporaryFolder folder;
    TetMesh mesh = test::unit_cube_tets(2);
    for (const Index t : {3, 7, 20}) std::swap(mesh.tets(0, t), mesh.tets(1, t));
    write_tet_mesh(folder / "a.mesh", mesh);
    EXPECT_EQ(read_tet_mesh(folder / "a.mesh", {.inverted = InvertedTets::Keep}).tets, mesh.tets);
    const TetMesh flipped = read_tet_mesh(folder / "a.mesh", {.inverted = InvertedTets::Flip});
    EXPECT_NEAR(volume(flipped), 1.0, 1e-14);
    EXPECT_EQ(flipped.tets.col(0), mesh.tets.col(0));
}

TEST(MeshIo, EndingsInAnyCaseAndPacked)
{
    EXPECT_EQ(format_of("a/b.OBJ"), MeshFormat::Obj);
    EXPECT_EQ(format_of("b.Mesh.GZ"), MeshFormat::Medit);
    EXPECT_EQ(format_of("b.ele"), MeshFormat::Tetgen);
    EXPECT_EQ(format_of("x.ply.gz"), MeshFormat::Ply);
}

TEST(MeshIo, PathsWithSpacesAndLettersOfOtherLanguages)
{
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "mes données");
    for (const std::string ending : {".obj", ".ply", ".stl", ".mesh.gz", ".vtu"}) {
        const auto path = folder / ("mes données/Häschen 兎 №1" + ending);
        write_surface(path, test::unit_cube());
        EXPECT_EQ(read_surface(path).triangle_count(), 12);
    }
    write_tet_mesh(folder / "mes données/ж з.node", test::unit_cube_tets(1));
    EXPECT_EQ(read_tet_mesh(folder / "mes données/ж з.ele").tet_count(), 6);
}

namespace {

struct CommaForPoint : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

} // namespace

TEST(MeshIo, NumbersDoNotDependOnTheLocale)
{
    MeshFile mesh{.vertices = awkward_points(5000, 3), .triangles = Triangles(3, 1)};
    mesh.triangles.col(0) << 1, 4000, 2;
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaForPoint));
    const std::string text = serialize_mesh(MeshFormat::Obj, mesh);
    const MeshFile again = parse(MeshFormat::Obj, text);
    std::locale::global(before);
    expect_same(again, mesh);
    EXPECT_EQ(text.find(','), text.npos);
}

namespace {

struct DataMesh {
    const char* name;
    Index vertices, triangles, tets;
};

} // namespace

/// Counts as the data set's own table gives them.
TEST(MeshIo, DataSetCounts)
{
    LITHE_DATA_OR_SKIP(folder, "meshes");
    for (const DataMesh& expected :
         std::initializer_list<DataMesh>{{"meshes/blub_fish.obj", 10786, 21568, 0},
                                         {"meshes/human_man.obj", 6890, 13776, 0},
                                         {"meshes/stanford/armadillo_52k.obj", 26002, 52000, 0},
                                         {"tets/beam_450.veg", 208, 0, 450},
                                         {"tets/stanford/asian_dragon_2.6k.veg", 959, 0, 2591},
                                         {"tets/rod_2k.msh", 630, 0, 1722},
                                         {"tets/stanford/bunny_19k.msh", 4670, 0, 19379},
                                         {"tets/octopus_2k.mesh", 977, 0, 2160},
                                         {"tets/hand_530k.mesh.gz", 95833, 36164, 530367}}) {
        const MeshFile mesh = read_mesh_file(folder.parent_path() / expected.name);
        EXPECT_EQ(mesh.vertices.cols(), expected.vertices) << expected.name;
        if (expected.triangles > 0) {
            EXPECT_EQ(mesh.triangles.cols(), expected.triangles) << expected.name;
        }
        EXPECT_EQ(mesh.tets.cols(), expected.tets) << expected.name;
    }
}

/// Every mesh of the data set through every format that can hold it; the largest through the fewest.
TEST(MeshIo, DataSetSurvivesEveryFormat)
{
    LITHE_DATA_OR_SKIP(folder, "meshes");
    int files = 0;
    for (const char* part : {"meshes", "tets"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.parent_path() / part)) {
            if (!entry.is_regular_file() || entry.path().extension() == ".txt" ||
                entry.file_size() > 1'000'000)
                continue;
            const MeshFile mesh = read_mesh_file(entry.path());
            if (mesh.tets.cols() > 0) {
                EXPECT_NO_THROW(read_tet_mesh(entry.path())) << entry.path();
            }
            ++files;
            for (const Variant& variant : variants) {
                if ((mesh.tets.cols() > 0 && !variant.tets) ||
                    (mesh.triangles.cols() > 0 && !variant.triangles))
                    continue;
                if (variant.ending.ends_with(".gz")) continue;
                SCOPED_TRACE(entry.path().string() + " as " + variant.name);
                expect_same(parse(variant.format, serialize_mesh(variant.format, mesh, variant.options)),
                            mesh);
            }
        }
    EXPECT_GE(files, 30);
}
