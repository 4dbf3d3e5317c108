#pragma once
#include <algorithm>
#include <cmath>
#include <memory>

#include "fem/beams.hpp"
#include "lithe/core/progress.hpp"
#include "lithe/dynamics/articulated_body.hpp"
#include "lithe/reduce/modes.hpp"

namespace lithe::test {

/// A bar along x whose bones overlap, each with `rank` modes of its own stretch of the bar; 0: rigid. The skin's weights rise and fall
/// straight over the overlaps. Neighbours are joined at three points in the middle of the overlap.
struct BoneBar {
    int bones = 3;
    int cells = 6;   ///< of a bone along x
    int overlap = 2; ///< of them
    double cell = 0.1;
    double young = 1e5;
    static constexpr double poisson = 0.3;
    double density = 1000.0;
    Index rank = 6;

    int stride() const { return cells - overlap; }
    double start(int bone) const { return cell * stride() * bone; }
    double length() const { return cell * (stride() * bones + overlap); }
    double weight(int bone, double x) const
    {
        const double ramp = cell * overlap;
        const double rise = bone == 0 ? 1.0 : (x - start(bone)) / ramp;
        const double fall = bone == bones - 1 ? 1.0 : (start(bone) + cell * cells - x) / ramp;
        return std::clamp(std::min(rise, fall), 0.0, 1.0);
    }
};

inline int vertex_at(const Points& X, const Vec3& x)
{
    for (Index v = 0; v < X.cols(); ++v)
        if ((X.col(v) - x).norm() < 1e-9) return static_cast<int>(v);
    return -1;
}

inline BoneModel make_bone_bar(const BoneBar& bar)
{
    const auto mesh_of = [&](double from, int along) {
        TetMesh mesh = box_tets({along, 2, 2}, bar.cell * Vec3(along, 2, 2));
        mesh.vertices.colwise() += Vec3(from, 0, 0);
        return mesh;
    };
    BoneModel model;
    model.name = "bar";
    model.materials = {
        {.label = 0,
         .material = {.kind = MaterialKind::Corotational, .elastic = {bar.young, BoneBar::poisson}},
         .density = bar.density}};
    std::vector<TetMesh> meshes;
    std::vector<MatX> bases;
    for (int k = 0; k < bar.bones; ++k) {
        meshes.push_back(mesh_of(bar.start(k), bar.cells));
        const FemModel fem =
            make_fem_model(meshes.back(), Corotational({bar.young, BoneBar::poisson}), bar.density);
        MatX S(3 * fem.vertex_count(), 0);
        if (bar.rank > 0) {
            Progress progress;
            RestSystem system(fem, {});
            S = make_framed_basis(fem, linear_modes(system, {.count = bar.rank}, progress).basis.U,
                                  FrameAxes::StiffnessDiagonal)
                    .S;
        }
        bases.push_back(S);
        model.bones.push_back({.name = "bone" + std::to_string(k),
                               .parent = k - 1,
                               .reduced = make_reduced_model(fem, S, make_linear_elastic(fem, S)),
                               .tensors = make_frame_tensors(fem, S)});
    }
    std::vector<int> origin;
    const TriangleMesh surface =
        boundary_surface(mesh_of(0.0, bar.stride() * bar.bones + bar.overlap), origin);
    const auto point = [&](int k, const Vec3& x) {
        const auto i = static_cast<std::size_t>(k);
        const int v = vertex_at(meshes[i].vertices, x);
        return BonePoint{x - model.bones[i].tensors.centre, bases[i].middleRows(3 * v, 3)};
    };
    model.shown.rest = surface;
    for (int k = 0; k < bar.bones; ++k) {
        SkinBone& skin = model.shown.skin.emplace_back();
        for (int v = 0; v < surface.vertex_count(); ++v)
            if (bar.weight(k, surface.vertices(0, v)) > 1e-9) skin.vertices.push_back(v);
        const auto n = static_cast<Index>(skin.vertices.size());
        skin.weights.resize(n);
        skin.rest.resize(3, n);
        skin.basis.resize(3 * n, bar.rank);
        for (Index i = 0; i < n; ++i) {
            const Vec3 x = surface.vertices.col(skin.vertices[static_cast<std::size_t>(i)]);
            const BonePoint at = point(k, x);
            skin.weights[i] = bar.weight(k, x[0]);
            skin.rest.col(i) = at.X;
            skin.basis.middleRows<3>(3 * i) = at.S.cast<float>();
        }
        const auto part = static_cast<std::size_t>(k);
        if (bar.rank > 0)
            model.bones[part].volume = std::make_shared<const PreparedVolume>(PreparedVolume{
                .mesh = meshes[part],
                .pins = {},
                .U = bases[part],
                .cubature = {},
                .embedding = embed(surface.vertices(Eigen::all, skin.vertices), meshes[part])});
    }
    model.collision = model.shown;
    for (int k = 1; k < bar.bones; ++k) {
        const double x = bar.start(k) + 0.5 * bar.cell * bar.overlap, c = bar.cell;
        PreparedBoneJoint joint{.a = k - 1, .b = k, .points = {}};
        for (const Vec3& at : {Vec3(x, 0, 0), Vec3(x, 2 * c, 0), Vec3(x, 0, 2 * c)})
            joint.points.push_back({point(k - 1, at), point(k, at)});
        model.joints.push_back(joint);
    }
    return model;
}

inline std::shared_ptr<const ArticulatedModel> bone_bar(const BoneBar& bar = {})
{
    return std::make_shared<const ArticulatedModel>(std::make_shared<const BoneModel>(make_bone_bar(bar)));
}

} // namespace lithe::test
