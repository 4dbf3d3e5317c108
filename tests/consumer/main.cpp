// A separate project that embeds Lithe: makes a tet mesh by hand, measures it, saves its surface.
#include <cstdio>

#include <lithe/core/version.hpp>
#include <lithe/geometry/mesh_io.hpp>
#include <lithe/geometry/surface_query.hpp>

int main()
{
    lithe::TetMesh tet;
    tet.vertices = lithe::Points::Zero(3, 4);
    tet.vertices.rightCols(3) = lithe::Mat3::Identity();
    tet.tets = Eigen::Vector4i(0, 1, 2, 3);

    const lithe::TriangleMesh surface = lithe::boundary_surface(tet);
    lithe::write_surface("tet.obj", surface);
    const double distance = lithe::SurfaceQuery(surface).signed_distance({-1.0, 0.2, 0.2});
    std::printf("lithe %s: volume %g, distance %g\n", LITHE_VERSION, lithe::volume(tet), distance);
    return distance == 1.0 ? 0 : 1;
}
