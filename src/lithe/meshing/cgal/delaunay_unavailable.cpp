// Built instead of delaunay.cpp when LITHE_GPL is OFF.
#include "lithe/core/error.hpp"
#include "lithe/meshing/cgal/delaunay.hpp"

namespace lithe {

bool delaunay_available()
{
    return false;
}

TetMesh delaunay_tets(const TriangleMesh&, const DelaunayOptions&, Progress&)
{
    throw InputError("this build has no CGAL (LITHE_GPL=OFF); use --mesher stuffing");
}

} // namespace lithe
