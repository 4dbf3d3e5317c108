#include <gtest/gtest.h>

#include "lithe/geometry/shapes.hpp"
#include "lithe/prepare/select.hpp"
#include "support/message_of.hpp"

namespace lithe {
namespace {

using test::message_of;

/// A box of 2 x 1 x 1 m about the origin with 4 x 2 x 2 cells, red where x < 0 and blue elsewhere.
TetMesh two_colours()
{
    TetMesh mesh = make_box_tets(Vec3(2, 1, 1), 0.5);
    VertexField color{"color", MatX::Zero(3, mesh.vertex_count())};
    for (Index v = 0; v < mesh.vertex_count(); ++v)
        color.values(mesh.vertices(0, v) < -1e-9 ? 0 : 2, v) = 1.0;
    mesh.fields.push_back(color);
    return mesh;
}

TEST(Select, VerticesInABoxABallAListAndAll)
{
    const TetMesh mesh = two_colours();
    EXPECT_EQ(select_vertices(BoxSelector{Vec3(-1.1, -1, -1), Vec3(-0.9, 1, 1)}, mesh).size(),
              9u);                                                                       // one face
    EXPECT_EQ(select_vertices(SphereSelector{Vec3(1, 0.5, 0.5), 0.1}, mesh).size(), 1u); // one corner
    EXPECT_EQ(select_vertices(ListSelector{{7, 3, 7}}, mesh), (std::vector<int>{3, 7}));
    EXPECT_EQ(select_vertices(AllSelector{}, mesh).size(), static_cast<std::size_t>(mesh.vertex_count()));
}

TEST(Select, VerticesAndTetsByColour)
{
    const TetMesh mesh = two_colours();
    const std::vector<int> red = select_vertices(ColorSelector{Vec3(1, 0, 0), 0.1}, mesh);
    EXPECT_EQ(red.size(), 2u * 9u);
    for (const int v : red) EXPECT_LT(mesh.vertices(0, v), 0.0);
    const std::vector<int> tets = select_tets(ColorSelector{Vec3(1, 0, 0), 0.1}, mesh);
    EXPECT_EQ(tets.size(), 4u * 6u); // the first layer of cells; the second has corners of both colours
}

TEST(Select, TetsByLabel)
{
    TetMesh mesh = two_colours();
    mesh.regions.assign(static_cast<std::size_t>(mesh.tet_count()), 3);
    mesh.regions[5] = 8;
    EXPECT_EQ(select_tets(8, mesh), std::vector<int>{5});
    EXPECT_EQ(message_of([&] { (void)select_tets(4, mesh); }), "no tet has the label 4; there are 3, 8");
}

TEST(Select, FacesBetweenSelectedVertices)
{
    const TetMesh mesh = two_colours();
    const std::vector<int> side = select_vertices(BoxSelector{Vec3(0.9, -1, -1), Vec3(1.1, 1, 1)}, mesh);
    const Triangles faces = select_faces(side, mesh);
    EXPECT_EQ(faces.cols(), 8);
    for (Index t = 0; t < faces.cols(); ++t) { // outward: along +x
        const Vec3 a = mesh.vertices.col(faces(0, t)), b = mesh.vertices.col(faces(1, t)),
                   c = mesh.vertices.col(faces(2, t));
        EXPECT_GT((b - a).cross(c - a)[0], 0.0);
    }
    EXPECT_NE(message_of([&] { (void)select_faces(std::vector<int>{side[0]}, mesh); }).find("no face"),
              std::string::npos);
}

TEST(Select, SaysWhatWouldBeThereWhenNothingIs)
{
    const TetMesh mesh = two_colours();
    EXPECT_EQ(message_of([&] { (void)select_vertices(SphereSelector{Vec3(5, 0, 0), 1.0}, mesh); }),
              "no vertex is selected here; the body reaches from [-1, -0.5, -0.5] to [1, 0.5, 0.5]");
    EXPECT_EQ(message_of([&] { (void)select_vertices(ListSelector{{45}}, mesh); }),
              "there is no vertex 45; the tets have 45 (0 to 44)");
    TetMesh plain = mesh;
    plain.fields.clear();
    EXPECT_NE(message_of([&] {
                  (void)select_vertices(ColorSelector{Vec3(1, 0, 0), 0.1}, plain);
              }).find("no vertex colours"),
              std::string::npos);
}

} // namespace
} // namespace lithe
