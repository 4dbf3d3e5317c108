#pragma once
#include <gtest/gtest.h>

#include "bodies.hpp"

namespace lithe::test {

/// A basis with poses to train on and others to test with.
struct CubatureScene {
    FemModel model;
    MatX U;
    MatX training, test; ///< r x count
};

/// Equilibria of a beam that is clamped at z = 0 under twelve loads (end force, twist and weight at random), each
/// at the given shares: as in a motion that starts from the rest.
inline MatX equilibria(const FemModel& model, const std::vector<double>& shares)
{
    Random random(1);
    const std::vector<int> pins = vertices_at(model.rest, 2, 0.0), tip = vertices_at(model.rest, 2, 1.0);
    std::vector<Points> loads(12, Points::Zero(3, model.vertex_count()));
    for (Points& load : loads) {
        const Vec3 end(random.uniform(-8, 8), random.uniform(-8, 8), random.uniform(-40, 40));
        const double twist = random.uniform(-25, 25);
        for (const int v : tip)
            load.col(v) +=
                end / 25.0 + twist * Vec3::UnitZ().cross(Vec3(model.rest.col(v) - Vec3(0.1, 0.1, 1.0)));
        add_gravity(model, Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)), load);
    }

    MatX out(3 * model.vertex_count(), 12 * static_cast<Index>(shares.size()));
    FemWork work;
    Index column = 0;
    for (const Points& load : loads) {
        FemState state = rest_state(model);
        for (const double share : shares) {
            Loading loading;
            loading.pins = pinned_where_they_are(model.rest, pins);
            loading.force = share * load;
            EXPECT_TRUE(solve_static(model, loading, {}, state, work).converged());
            const Points u = state.x - model.rest;
            out.col(column++) = Eigen::Map<const VecX>(u.data(), u.size());
        }
    }
    return out;
}

/// The beam of the specification's table 3.4: 4 x 4 x 20 cells, 1920 tets, rank 16, 36 projected and 24 jittered poses.
inline CubatureScene beam_of_the_table()
{
    CubatureScene scene{
        make_fem_model(box_tets({4, 4, 20}, {0.2, 0.2, 1.0}), Corotational({1e5, 0.45}), 1000.0), {}, {}, {}};
    const MatX snapshots = equilibria(scene.model, {0.1, 0.4, 1.0});
    const Basis basis = snapshot_basis(scene.model, snapshots, {.lost_energy = 0.0, .max_rank = 16}).basis;
    scene.U = basis.U;
    const MatX q = project(scene.model, basis, snapshots);
    const VecX spread = q.rowwise().norm() / 6.0;
    Random random(2);
    const auto jittered = [&](const MatX& from, Index count) {
        MatX out(16, count);
        for (Index k = 0; k < count; ++k)
            out.col(k) = from.col(static_cast<Index>(random.index(36))) +
                         0.3 * spread.cwiseProduct(VecX::NullaryExpr(16, [&] { return random.normal(); }));
        return out;
    };
    scene.training.resize(16, 60);
    scene.training << q, jittered(q, 24);
    scene.test.resize(16, 30);
    scene.test << project(scene.model, basis, equilibria(scene.model, {0.7})), jittered(q, 18);
    return scene;
}

} // namespace lithe::test
