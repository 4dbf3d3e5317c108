#include "lithe/geometry/io/xml.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "scene/export_test.hpp"

using namespace lithe;
using test::Animation;

using ExportPvd = test::ExportTest;

namespace {

const MatX& field(const MeshFile& mesh, const std::string& name)
{
    for (const VertexField& field : mesh.fields)
        if (field.name == name) return field.values;
    throw std::runtime_error("no field " + name);
}

} // namespace

TEST_F(ExportPvd, ListsAFilePerBodyAndFrame)
{
    export_frames(folder / "out.pvd", 3);
    const std::string text = content(folder / "out.pvd");
    const io::XmlElement root = io::parse_xml(text, "out.pvd", "none");
    const io::XmlElement& list = *root.child("Collection");
    ASSERT_EQ(list.children.size(), 12u);
    for (std::size_t i = 0; i < list.children.size(); ++i) {
        const io::XmlElement& entry = list.children[i];
        EXPECT_NEAR(std::stod(std::string(entry.attribute("timestep"))),
                    static_cast<int>(i / 4) / Animation::fps, 1e-15);
        EXPECT_EQ(entry.attribute("part"), std::to_string(i % 4));
        EXPECT_EQ(entry.attribute("name"), animation.bodies()[i % 4].name);
        EXPECT_TRUE(std::filesystem::exists(folder / std::string(entry.attribute("file")))) << i;
    }
}

TEST_F(ExportPvd, TetsWithDisplacementVelocityAndRegions)
{
    export_frames(folder / "out.pvd", 3);
    const MeshFile mesh = read_mesh_file(folder / "out/soft_block_0002.vtu");
    const TetMesh& volume = animation.bodies()[Animation::block].volume;
    EXPECT_EQ(mesh.tets, volume.tets);
    EXPECT_EQ(mesh.regions, volume.regions);
    EXPECT_EQ(mesh.triangles.cols(), 0);
    const Published now = animation.frame(2).bodies[Animation::block];
    const Points x = nodes_in_world(animation.bodies()[Animation::block], now);
    EXPECT_EQ((mesh.vertices - x).cwiseAbs().maxCoeff(), 0.0);
    const Points u = x - in_world(now.frame, volume.vertices);
    EXPECT_GT(u.cwiseAbs().maxCoeff(), 0.01);
    EXPECT_LE((field(mesh, "displacement") - u).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_EQ(field(mesh, "velocity"), now.node_velocities);
}

TEST_F(ExportPvd, SurfacesWithoutTetsAsTriangles)
{
    export_frames(folder / "out.pvd", 3);
    const MeshFile mesh = read_mesh_file(folder / "out/box_0002.vtu");
    EXPECT_EQ(mesh.triangles, animation.bodies()[Animation::box].surface.triangles);
    EXPECT_EQ((mesh.vertices - animation.positions(Animation::box, 2)).cwiseAbs().maxCoeff(), 0.0);
    const Points u = animation.positions(Animation::box, 2) - animation.positions(Animation::box, 0);
    EXPECT_LE((field(mesh, "displacement") - u).cwiseAbs().maxCoeff(), 1e-15);
}
