#include "lithe/geometry/mesh_io.hpp"
#include "scene/export_test.hpp"

using namespace lithe;
using test::Animation;

using ExportPly = test::ExportTest;

TEST_F(ExportPly, AllBodiesInOneMeshPerFrame)
{
    export_frames(folder / "frames", 3);
    EXPECT_EQ(names(), (std::vector<std::string>{"frames", "frames/frame_0000.ply", "frames/frame_0001.ply",
                                                 "frames/frame_0002.ply"}));
    const TriangleMesh mesh = read_surface(folder / "frames/frame_0002.ply");
    Index v = 0, t = 0;
    for (int b = 0; b < 4; ++b) {
        const Points wanted = animation.positions(b, 2);
        const Triangles& triangles = animation.bodies()[static_cast<std::size_t>(b)].surface.triangles;
        ASSERT_LE(v + wanted.cols(), mesh.vertex_count());
        EXPECT_EQ((mesh.vertices.middleCols(v, wanted.cols()) - wanted).cwiseAbs().maxCoeff(), 0.0);
        EXPECT_EQ(mesh.triangles.middleCols(t, triangles.cols()),
                  Triangles(triangles.array() + static_cast<int>(v)));
        v += wanted.cols();
        t += triangles.cols();
    }
    EXPECT_EQ(v, mesh.vertex_count());
    EXPECT_EQ(t, mesh.triangle_count());
}

TEST_F(ExportPly, ColoursOfVerticesAndOfBodies)
{
    export_frames(folder / "frames/", 1);
    const TriangleMesh mesh = read_surface(folder / "frames/frame_0000.ply");
    ASSERT_EQ(mesh.fields.size(), 1u);
    const MatX& color = mesh.fields[0].values;
    const TriangleMesh& torus = animation.bodies()[Animation::torus].surface;
    const double step = 0.51 / 255.0; // colours are bytes
    EXPECT_LE((color.leftCols(torus.vertex_count()) - torus.fields[0].values).cwiseAbs().maxCoeff(), step);
    EXPECT_LE((color.rightCols<1>() - animation.bodies()[Animation::floor].color).cwiseAbs().maxCoeff(),
              step);
}

TEST_F(ExportPly, ASecondRunReplacesItsFramesAndLeavesTheRest)
{
    export_frames(folder / "frames", 4);
    std::ofstream(folder / "frames/notes.txt") << "mine";
    std::ofstream(folder / "frames/frame_last.ply") << "mine too";
    const std::string before = content(folder / "frames/frame_0001.ply");
    const auto sink = make_exporter(folder / "frames");
    sink->begin(animation.bodies(), Animation::fps);
    sink->frame(animation.frame(1));
    Frame changed = animation.frame(5);
    changed.number = 2;
    sink->frame(changed); // as a run that is continued after frame 0, and ends earlier
    EXPECT_EQ(content(folder / "frames/frame_0001.ply"), before);
    sink->finish();
    EXPECT_EQ(names(), (std::vector<std::string>{"frames", "frames/frame_0000.ply", "frames/frame_0001.ply",
                                                 "frames/frame_0002.ply", "frames/frame_last.ply",
                                                 "frames/notes.txt"}));
    EXPECT_EQ(read_surface(folder / "frames/frame_0002.ply").vertices.col(0),
              animation.positions(Animation::torus, 5).col(0));
}
