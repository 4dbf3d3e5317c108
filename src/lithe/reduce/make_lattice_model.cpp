#include "lithe/reduce/make_lattice_model.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/distance_field.hpp"
#include "lithe/geometry/lattice_check.hpp"
#include "lithe/geometry/lattice_levels.hpp"
#include "lithe/rig/bind.hpp"

namespace lithe {
namespace {

/// Samples of the distance along the longest side of the body.
constexpr double field_resolution = 100.0;
/// Weights of a region below this are none.
constexpr double least_weight = 0.02;

/// 64 points in a tet by their barycentric coordinates: a Kronecker sequence in the cube, folded into the tet by sorting.
std::array<Vec4, 64> tet_samples()
{
    constexpr double g = 1.2207440846057596; // g^4 = g + 1: the most even one in three dimensions
    std::array<Vec4, 64> samples;
    for (std::size_t k = 0; k < samples.size(); ++k) {
        double u[3];
        for (int i = 0; i < 3; ++i)
            u[i] = std::fmod(0.5 + static_cast<double>(k + 1) * std::pow(g, -i - 1), 1.0);
        std::sort(u, u + 3);
        samples[k] = Vec4(u[0], u[1] - u[0], u[2] - u[1], 1.0 - u[2]);
    }
    return samples;
}

float inside_fraction(const Eigen::Matrix<double, 3, 4>& x, const DistanceField& field,
                      const std::array<Vec4, 64>& samples)
{
    const Vec3 middle = x.rowwise().mean();
    const double radius = (x.colwise() - middle).colwise().norm().maxCoeff();
    const double distance = field.distance(middle);
    if (distance > field.steepness() * radius) return 0.0F;
    if (distance < -field.steepness() * radius) return 1.0F;
    const auto inside = std::count_if(samples.begin(), samples.end(),
                                      [&](const Vec4& w) { return field.distance(x * w) < 0.0; });
    return static_cast<float>(inside) / static_cast<float>(samples.size());
}

void require_joints(const LatticeDescription& d)
{
    const auto require = [&](int joint, const std::string& bone) {
        if (joint < 0 || joint >= d.skeleton.joint_count())
            throw InputError(fmt::format("'{}': bone '{}' hangs on joint {}, but the skeleton has {}", d.name,
                                         bone, joint, d.skeleton.joint_count()));
    };
    if (d.bone_joints.size() != d.lattice.bones.size())
        throw InputError(fmt::format("'{}': the lattice has {} bones, but joints are given for {}", d.name,
                                     d.lattice.bones.size(), d.bone_joints.size()));
    for (std::size_t b = 0; b < d.bone_joints.size(); ++b) require(d.bone_joints[b], d.lattice.bones[b].name);
    for (const HeldBone& bone : d.held_bones) require(bone.joint, bone.name);
    if (d.bone_joints.empty() && d.held_bones.empty())
        throw InputError(fmt::format("'{}': there is no bone to drive the lattice", d.name));
}

/// The joints that carry bones, rising.
std::vector<int> carrying_joints(const LatticeDescription& d)
{
    std::vector<int> joints = d.bone_joints;
    for (const HeldBone& bone : d.held_bones) joints.push_back(bone.joint);
    std::sort(joints.begin(), joints.end());
    joints.erase(std::unique(joints.begin(), joints.end()), joints.end());
    return joints;
}

/// Of each joint, the region that it belongs to: its own, that of its nearest ancestor that has one, or the first.
std::vector<int> region_of_joints(const Skeleton& skeleton, const std::vector<int>& carrying)
{
    std::vector<int> region(skeleton.joints.size(), -1);
    for (std::size_t j = 0; j < region.size(); ++j) {
        const auto own = std::lower_bound(carrying.begin(), carrying.end(), static_cast<int>(j));
        const int parent = skeleton.joints[j].parent;
        if (own != carrying.end() && *own == static_cast<int>(j))
            region[j] = static_cast<int>(own - carrying.begin());
        else if (parent >= 0)
            region[j] = region[static_cast<std::size_t>(parent)];
    }
    for (int& r : region) r = std::max(r, 0);
    return region;
}

Points lattice_points(const ControlLattice& lattice)
{
    Points x(3, static_cast<Index>(lattice.vertices.size()));
    for (Index v = 0; v < x.cols(); ++v) x.col(v) = lattice.vertices[static_cast<std::size_t>(v)];
    return x;
}

/// regions x lattice vertices.
MatX raw_weights(const LatticeDescription& d, const std::vector<int>& carrying)
{
    const std::vector<int> region = region_of_joints(d.skeleton, carrying);
    const MatX by_bone = dense_weights(carried(d.weights, d.shown, lattice_points(d.lattice)),
                                       static_cast<Index>(d.bones.size()));
    MatX W = MatX::Zero(static_cast<Index>(carrying.size()), by_bone.cols());
    for (std::size_t b = 0; b < d.bones.size(); ++b)
        W.row(region[static_cast<std::size_t>(d.bones[b].joint)]) += by_bone.row(static_cast<Index>(b));
    // On a bone, the bones there share.
    MatX on_bones = MatX::Zero(W.rows(), W.cols());
    for (std::size_t b = 0; b < d.lattice.bones.size(); ++b)
        for (const int v : d.lattice.bones[b].vertices)
            on_bones(region[static_cast<std::size_t>(d.bone_joints[b])], v) = 1.0;
    for (Index v = 0; v < W.cols(); ++v)
        if (on_bones.col(v).sum() > 0.0) W.col(v) = on_bones.col(v);
    return W;
}

void normalise(MatX& W)
{
    for (Index v = 0; v < W.cols(); ++v) {
        W.col(v) = (W.col(v).array() < least_weight * W.col(v).sum()).select(0.0, W.col(v));
        W.col(v) /= W.col(v).sum();
    }
}

/// Half of each vertex's weights are the mean of its neighbours': regions overlap by a cell at least.
MatX smoothed(const MatX& W, const ControlLattice& lattice)
{
    MatX sums = MatX::Zero(W.rows(), W.cols());
    VecX counts = VecX::Zero(W.cols());
    for (const LatticeCell& cell : lattice.cells)
        for (const int a : cell.vertices)
            for (const int b : cell.vertices)
                if (a >= 0 && b >= 0 && a != b) {
                    sums.col(a) += W.col(b);
                    counts[a] += 1.0;
                }
    MatX out = W;
    for (Index v = 0; v < W.cols(); ++v)
        if (counts[v] > 0.0) out.col(v) = 0.5 * W.col(v) + 0.5 / counts[v] * sums.col(v);
    return out;
}

/// Gives the heaviest region a little of the corners that it misses, in cells that no region holds whole.
void cover_cells(const ControlLattice& lattice, MatX& W)
{
    for (const LatticeCell& cell : lattice.cells) {
        VecX sum = VecX::Zero(W.rows()), least = VecX::Ones(W.rows());
        for (const int v : cell.vertices)
            if (v >= 0) {
                sum += W.col(v);
                least = least.cwiseMin(W.col(v));
            }
        if (least.maxCoeff() > 0.0) continue;
        Index heaviest = 0;
        sum.maxCoeff(&heaviest);
        for (const int v : cell.vertices)
            if (v >= 0) W(heaviest, v) = std::max(W(heaviest, v), 2.0 * least_weight);
    }
}

double softest(const std::vector<RegionParameters>& materials)
{
    double E = materials.front().material.elastic.young_modulus;
    for (const RegionParameters& m : materials) E = std::min(E, m.material.elastic.young_modulus);
    return E;
}

std::vector<std::uint8_t> materials_of(const TetMesh& tets, const LatticeDescription& d)
{
    std::vector<std::uint8_t> out(static_cast<std::size_t>(tets.tet_count()), 0);
    if (!d.material_at) return out;
    for (Index t = 0; t < tets.tet_count(); ++t) {
        Vec3 middle = Vec3::Zero();
        for (int k = 0; k < 4; ++k) middle += 0.25 * tets.vertices.col(tets.tets(k, t));
        out[static_cast<std::size_t>(t)] = static_cast<std::uint8_t>(d.material_at(middle));
    }
    return out;
}

void require_fits(const LatticeDescription& d)
{
    if (const auto fault = first_fault(d.lattice, d.closed)) throw InputError(d.name + ": " + *fault);
    require_joints(d);
    if (d.materials.empty() || d.materials.size() > 255)
        throw InputError(
            fmt::format("'{}': there are {} materials; 1 to 255 can be used", d.name, d.materials.size()));
    if (d.levels < 0 || d.integration_levels < std::max(1, d.levels) || d.integration_levels > 5)
        throw InputError(
            fmt::format("'{}': {} levels integrated at level {}: it must be as fine as the levels, and "
                        "1 to 5",
                        d.name, d.levels, d.integration_levels));
}

} // namespace

std::vector<float> inside_fractions(const TetMesh& tets, const TriangleMesh& closed, Progress& progress)
{
    const double size = bounds(closed.vertices).sizes().maxCoeff();
    const SurfaceQuery query(closed);
    const DistanceField field(query, {.cell = size / field_resolution, .margin = 0.05 * size}, progress);
    const std::array<Vec4, 64> samples = tet_samples();
    std::vector<float> fractions(static_cast<std::size_t>(tets.tet_count()));
    parallel_for(tets.tet_count(), 1024, [&](Index t) {
        Eigen::Matrix<double, 3, 4> x;
        for (int k = 0; k < 4; ++k) x.col(k) = tets.vertices.col(tets.tets(k, t));
        fractions[static_cast<std::size_t>(t)] = inside_fraction(x, field, samples);
    });
    return fractions;
}

std::vector<LatticeRegion> regions_of(const LatticeDescription& d)
{
    const std::vector<int> carrying = carrying_joints(d);
    MatX W = smoothed(raw_weights(d, carrying), d.lattice);
    normalise(W);
    cover_cells(d.lattice, W);
    for (Index v = 0; v < W.cols(); ++v) W.col(v) /= W.col(v).sum();

    std::vector<LatticeRegion> regions;
    for (std::size_t r = 0; r < carrying.size(); ++r)
        regions.push_back({d.skeleton.joints[static_cast<std::size_t>(carrying[r])].name, carrying[r],
                           W.row(static_cast<Index>(r)).transpose()});
    std::erase_if(regions, [](const LatticeRegion& region) { return region.weights.isZero(0.0); });
    return regions;
}

Twist chosen_twist(const LatticeDescription& d)
{
    const SurfaceQuery query(d.closed);
    double sum = 0.0;
    int count = 0;
    const auto measure = [&](const Vec3& head, const Vec3& tail) {
        sum += query.closest_point(0.5 * (head + tail)).distance;
        ++count;
    };
    for (const LatticeBone& bone : d.lattice.bones)
        measure(d.lattice.vertices[static_cast<std::size_t>(bone.vertices.front())],
                d.lattice.vertices[static_cast<std::size_t>(bone.vertices.back())]);
    for (const HeldBone& bone : d.held_bones) measure(bone.head, bone.tail);
    const double radius = 0.25 * sum / std::max(count, 1);
    return {radius, radius > 0.0 ? softest(d.materials) / (radius * radius) : 0.0};
}

LatticeModel make_lattice_model(const LatticeDescription& d, Progress& progress)
{
    require_fits(d);
    LatticeModel model{.name = d.name,
                       .lattice = d.lattice,
                       .skeleton = d.skeleton,
                       .bind = bound_joints(d.skeleton, d.bones),
                       .bone_joints = d.bone_joints,
                       .held_bones = d.held_bones,
                       .levels = d.levels,
                       .integration_levels = d.integration_levels,
                       .fractions = {},
                       .tet_materials = {},
                       .materials = d.materials,
                       .regions = regions_of(d),
                       .shown = {d.shown, {}},
                       .collision = {d.collision, {}},
                       .settings = d.settings,
                       .record = {}};
    const TetMesh tets = finest_tets(subdivided(d.lattice, d.integration_levels));
    model.fractions = inside_fractions(tets, d.closed, progress);
    if (std::all_of(model.fractions.begin(), model.fractions.end(), [](float f) { return f == 0.0F; }))
        throw InputError(fmt::format("'{}': the lattice misses the body: nothing of it is inside", d.name));
    model.tet_materials = materials_of(tets, d);
    model.shown.embedding = embed(d.shown.vertices, tets);
    model.collision.embedding = embed(d.collision.vertices, tets);
    if (model.settings.twist_radius == 0.0) {
        const Twist twist = chosen_twist(d);
        model.settings.twist_radius = twist.radius;
        model.settings.twist_stiffness = twist.stiffness;
    }
    return model;
}

} // namespace lithe
