#include "lithe/rig/tet_laplacian.hpp"

#include <cmath>
#include <vector>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// grad_i = n_i / (6 V),  n_i the inward area vector of the face across from corner i, twice its area long.
bool tet_stiffness(const TetMesh& mesh, Index t, Mat4& stiffness, double& tet_volume_out)
{
    Eigen::Matrix<double, 3, 4> x;
    for (int a = 0; a < 4; ++a) x.col(a) = mesh.vertices.col(mesh.tets(a, t));
    const double V = tet_volume(x.col(0), x.col(1), x.col(2), x.col(3));
    Eigen::Matrix<double, 3, 4> n;
    n.col(1) = (x.col(2) - x.col(0)).cross(x.col(3) - x.col(0));
    n.col(2) = (x.col(3) - x.col(0)).cross(x.col(1) - x.col(0));
    n.col(3) = (x.col(1) - x.col(0)).cross(x.col(2) - x.col(0));
    n.col(0) = -(n.col(1) + n.col(2) + n.col(3));
    stiffness = n.transpose() * n / (36.0 * std::abs(V));
    tet_volume_out = std::abs(V);
    return V != 0.0 && stiffness.allFinite();
}

} // namespace

TetLaplacian tet_laplacian(const TetMesh& mesh)
{
    std::vector<Triplet> entries(static_cast<std::size_t>(16 * mesh.tet_count()), Triplet(0, 0, 0.0));
    VecX tet_volumes = VecX::Zero(mesh.tet_count());
    parallel_for(mesh.tet_count(), 1024, [&](Index t) {
        Mat4 stiffness;
        double V = 0.0;
        if (!tet_stiffness(mesh, t, stiffness, V)) return;
        tet_volumes[t] = V;
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                entries[16 * t + 4 * a + b] = Triplet(mesh.tets(a, t), mesh.tets(b, t), stiffness(a, b));
    });

    TetLaplacian out;
    out.L.resize(mesh.vertex_count(), mesh.vertex_count());
    out.L.setFromTriplets(entries.begin(), entries.end());
    out.V = VecX::Zero(mesh.vertex_count());
    for (Index t = 0; t < mesh.tet_count(); ++t)
        for (int a = 0; a < 4; ++a) out.V[mesh.tets(a, t)] += 0.25 * tet_volumes[t];
    return out;
}

} // namespace lithe
