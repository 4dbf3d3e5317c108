#pragma once
#include <cmath>
#include <optional>

#include "lithe/dynamics/lattice_system.hpp"
#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/geometry/shapes.hpp"
#include "lithe/reduce/make_lattice_model.hpp"
#include "lithe/rig/bind.hpp"

namespace lithe::test {

/// A beam of `across` x `across` x `along` cubes, six tets each, along z from the origin, with two bones on its axis that meet in the
/// middle.
struct LatticeBeam {
    int across = 4, along = 16;
    double cell = 0.06; ///< [m]
    double young = 1e5, poisson = 0.4, density = 1000.0;
    double blend = 1.0; ///< length of the blend zone, in widths
    int levels = 0, integration_levels = 1;
    double twist_radius = 0.06;                 ///< [m]
    std::optional<double> twist_stiffness = {}; ///< k_t [N/m^5]; without: young / twist_radius^2

    double width() const { return across * cell; }
    double joint_height() const { return along / 2 * cell; }
    int vertex(int x, int y, int z) const { return x + (across + 1) * (y + (across + 1) * z); }
};

inline ControlLattice lattice_of(const LatticeBeam& beam)
{
    ControlLattice lattice;
    const int n = beam.across;
    for (int z = 0; z <= beam.along; ++z)
        for (int y = 0; y <= n; ++y)
            for (int x = 0; x <= n; ++x)
                lattice.vertices.push_back(beam.cell * Vec3(x - 0.5 * n, y - 0.5 * n, z));
    constexpr int steps[6][2] = {{1, 3}, {2, 6}, {4, 5}, {3, 2}, {6, 4}, {5, 1}};
    for (int z = 0; z < beam.along; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x)
                for (const auto& [a, b] : steps) {
                    const auto corner = [&](int k) {
                        return beam.vertex(x + (k & 1), y + ((k >> 1) & 1), z + (k >> 2));
                    };
                    lattice.cells.push_back(
                        {LatticeCellKind::Tet, {corner(0), corner(a), corner(b), corner(7), -1, -1, -1, -1}});
                }
    lattice.bones = {{"lower", {}}, {"upper", {}}};
    for (int z = 0; z <= beam.along; ++z) {
        if (z <= beam.along / 2) lattice.bones[0].vertices.push_back(beam.vertex(n / 2, n / 2, z));
        if (z >= beam.along / 2) lattice.bones[1].vertices.push_back(beam.vertex(n / 2, n / 2, z));
    }
    return lattice;
}

inline Skeleton skeleton_of(const LatticeBeam& beam)
{
    Skeleton skeleton;
    skeleton.joints = {
        {.name = "lower", .parent = -1, .rest = {}},
        {.name = "upper", .parent = 0, .rest = {.translation = {0.0, 0.0, beam.joint_height()}}}};
    return skeleton;
}

inline LatticeModel model_of(const LatticeBeam& beam)
{
    LatticeModel model{.name = "beam",
                       .lattice = lattice_of(beam),
                       .skeleton = skeleton_of(beam),
                       .bind = world_transforms(skeleton_of(beam), rest_pose(skeleton_of(beam))),
                       .bone_joints = {0, 1},
                       .held_bones = {},
                       .levels = beam.levels,
                       .integration_levels = beam.integration_levels,
                       .fractions = {},
                       .tet_materials = {},
                       .materials = {{.label = 0,
                                      .material = {.kind = MaterialKind::Corotational,
                                                   .elastic = {beam.young, beam.poisson}},
                                      .density = beam.density}},
                       .regions = {},
                       .shown = {},
                       .collision = {},
                       .settings = {},
                       .record = {}};
    const std::size_t tets = model.lattice.cells.size() * std::size_t(24)
                             << (3 * (beam.integration_levels - 1));
    model.fractions.assign(tets, 1.0F);
    model.tet_materials.assign(tets, 0);
    LatticeRegion lower{"lower", 0, VecX(static_cast<Index>(model.lattice.vertices.size()))};
    LatticeRegion upper{"upper", 1, lower.weights};
    for (Index v = 0; v < lower.weights.size(); ++v) {
        const double z = model.lattice.vertices[static_cast<std::size_t>(v)].z() - beam.joint_height();
        upper.weights[v] = std::clamp(z / (beam.blend * beam.width()) + 0.5, 0.0, 1.0);
        lower.weights[v] = 1.0 - upper.weights[v];
    }
    model.regions = {lower, upper};
    model.settings.twist_radius = beam.twist_radius;
    model.settings.twist_stiffness = beam.twist_stiffness.value_or(
        beam.twist_radius > 0.0 ? beam.young / (beam.twist_radius * beam.twist_radius) : 0.0);
    return model;
}

inline std::shared_ptr<const LatticeSystem> system_of(const LatticeBeam& beam)
{
    return std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(model_of(beam))));
}

/// The upper bone turned about x at the joint, both then moved.
inline std::vector<RigidPose> bent(const LatticeBeam& beam, double angle, const RigidPose& motion = {})
{
    const Vec3 joint(0.0, 0.0, beam.joint_height());
    const Quat turn(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    return {motion, {motion.rotation * turn, motion.apply(joint - turn * joint)}};
}

/// A box of flesh inside the beam, with a skin that follows two bones.
inline LatticeDescription flesh_in(const LatticeBeam& beam, double skin_cell)
{
    const double length = beam.along * beam.cell;
    const Vec3 size(0.8 * beam.width(), 0.8 * beam.width(), length - 0.4 * beam.cell);
    LatticeDescription d;
    d.name = "flesh";
    d.lattice = lattice_of(beam);
    d.bone_joints = {0, 1};
    d.skeleton = skeleton_of(beam);
    d.shown = make_box(size, skin_cell);
    d.shown.vertices.colwise() += Vec3(0.0, 0.0, 0.5 * length);
    d.closed = d.collision = make_box(size, 0.5 * beam.width());
    d.closed.vertices.colwise() += Vec3(0.0, 0.0, 0.5 * length);
    d.collision.vertices = d.closed.vertices;
    d.bones = rest_bones(d.skeleton);
    MatX dense(2, d.shown.vertex_count());
    for (Index v = 0; v < dense.cols(); ++v) {
        const double z = (d.shown.vertices(2, v) - beam.joint_height()) / beam.width();
        dense(1, v) = std::clamp(z + 0.5, 0.0, 1.0);
        dense(0, v) = 1.0 - dense(1, v);
    }
    d.weights = sparse_weights(dense);
    d.materials = {{.label = 0,
                    .material = {.kind = MaterialKind::Corotational, .elastic = {beam.young, beam.poisson}},
                    .density = beam.density}};
    d.levels = beam.levels;
    d.integration_levels = beam.integration_levels;
    return d;
}

inline std::shared_ptr<const LatticeSystem> system_of(const LatticeDescription& description)
{
    Progress progress;
    return std::make_shared<const LatticeSystem>(
        make_lattice_system(std::make_shared<const LatticeModel>(make_lattice_model(description, progress))));
}

} // namespace lithe::test
