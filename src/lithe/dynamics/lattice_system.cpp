#include "lithe/dynamics/lattice_system.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/math/svd3.hpp"

namespace lithe {
namespace {

struct Segment {
    Vec3 a, b;
    int joint;
};

double distance(const Segment& s, const Vec3& p)
{
    const Vec3 d = s.b - s.a;
    const double length2 = d.squaredNorm();
    const double t = length2 > 0.0 ? std::clamp((p - s.a).dot(d) / length2, 0.0, 1.0) : 0.0;
    return (p - s.a - t * d).norm();
}

std::vector<Segment> bone_lines(const LatticeModel& model)
{
    std::vector<Segment> lines;
    const auto vertex = [&](int v) { return model.lattice.vertices[static_cast<std::size_t>(v)]; };
    for (std::size_t b = 0; b < model.lattice.bones.size(); ++b) {
        const std::vector<int>& chain = model.lattice.bones[b].vertices;
        lines.push_back({vertex(chain.front()), vertex(chain.back()), model.bone_joints[b]});
    }
    for (const HeldBone& bone : model.held_bones) lines.push_back({bone.head, bone.tail, bone.joint});
    return lines;
}

/// One tet of the finest level, as the integrals see it.
struct Piece {
    Eigen::Matrix<double, 3, 4> gradients; ///< of its corners' hats
    Vec3 middle;
    double volume; ///< of the body in it
};

Piece piece_of(const TetMesh& tets, Index t, float fraction)
{
    const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x(k + 1) - x(0);
    Piece piece;
    piece.gradients.rightCols<3>() = edges.inverse().transpose();
    piece.gradients.col(0) = -piece.gradients.rightCols<3>().rowwise().sum();
    piece.middle = 0.25 * (x(0) + x(1) + x(2) + x(3));
    piece.volume = edges.determinant() / 6.0 * static_cast<double>(fraction);
    return piece;
}

/// Functions that are not zero in a tet, with their values at its corners and their gradients.
struct LocalFunctions {
    std::vector<int> functions;
    std::vector<Vec4> values;
    std::vector<Vec3> gradients;

    void set(const SparseRows& basis, const Eigen::Ref<const Eigen::Vector4i>& corners, const Piece& piece)
    {
        functions.clear();
        values.clear();
        for (int k = 0; k < 4; ++k)
            for (SparseRows::InnerIterator it(basis, corners[k]); it; ++it) {
                const int f = static_cast<int>(it.col());
                const auto found = std::find(functions.begin(), functions.end(), f);
                const auto i = static_cast<std::size_t>(found - functions.begin());
                if (found == functions.end()) {
                    functions.push_back(f);
                    values.emplace_back(Vec4::Zero());
                }
                values[i][k] = it.value();
            }
        gradients.clear();
        for (const Vec4& v : values) gradients.push_back(piece.gradients * v);
    }
};

/// What the integrals over all cells need.
struct Integrands {
    const LatticeModel& model;
    const TetMesh& tets;
    const LatticeLevels& levels;
    const LatticeBasis& basis;
    std::vector<LameParameters> lame;
    std::vector<double> density;
    std::vector<Segment> bones;
};

/// int phi^a phi^b of two functions that are linear on a tet, over its volume.
double product_mean(const Vec4& a, const Vec4& b)
{
    return (a.dot(b) + a.sum() * b.sum()) / 20.0;
}

/// The sums over one cell, functions by their place in it.
class CellSums {
public:
    explicit CellSums(const Integrands& over)
        : over_(over), place_(static_cast<std::size_t>(over.basis.count()), -1)
    {
    }

    LatticeCellIntegrals integrate(std::size_t cell)
    {
        LatticeCellIntegrals out;
        const Index begin = 6 * over_.levels.first_finest_cell[cell];
        const Index end = 6 * over_.levels.first_finest_cell[cell + 1];
        find_functions(begin, end, out);
        const std::size_t n = out.functions.size();
        out.first.assign(n, 0.0);
        dense_.assign(n * (n + 1) / 2, LatticePair{-1, -1, 0.0, Mat3::Zero()});
        for (Index t = begin; t < end; ++t)
            if (fraction(t) > 0.0F) add(t, out);
        for (const LatticePair& pair : dense_)
            if (pair.a >= 0) out.pairs.push_back(pair);
        std::sort(out.pairs.begin(), out.pairs.end(), [](const LatticePair& p, const LatticePair& q) {
            return std::array{p.b, p.a} < std::array{q.b, q.a};
        });
        for (const auto& [key, value] : twists_) out.twists.push_back({key[0], key[2], key[1], value});
        twists_.clear();
        for (const int f : out.functions) place_[static_cast<std::size_t>(f)] = -1;
        return out;
    }

private:
    float fraction(Index t) const { return over_.model.fractions[static_cast<std::size_t>(t)]; }

    /// The joint of the nearest bone, where that is near enough; else -1.
    int twisting_joint(const Vec3& p) const
    {
        int joint = -1;
        double nearest = over_.model.settings.twist_radius;
        for (const Segment& bone : over_.bones)
            if (const double d = distance(bone, p); d < nearest) {
                nearest = d;
                joint = bone.joint;
            }
        return joint;
    }

    void find_functions(Index begin, Index end, LatticeCellIntegrals& out)
    {
        for (Index t = begin; t < end; ++t)
            if (fraction(t) > 0.0F)
                for (int k = 0; k < 4; ++k)
                    for (SparseRows::InnerIterator it(over_.basis.values, over_.tets.tets(k, t)); it; ++it)
                        out.functions.push_back(static_cast<int>(it.col()));
        std::sort(out.functions.begin(), out.functions.end());
        out.functions.erase(std::unique(out.functions.begin(), out.functions.end()), out.functions.end());
        for (std::size_t i = 0; i < out.functions.size(); ++i)
            place_[static_cast<std::size_t>(out.functions[i])] = static_cast<int>(i);
    }

    void add(Index t, LatticeCellIntegrals& out)
    {
        const Piece piece = piece_of(over_.tets, t, fraction(t));
        const std::size_t material = over_.model.tet_materials[static_cast<std::size_t>(t)];
        const auto [mu, lambda] = over_.lame[material];
        const double rho = over_.density[material], V = piece.volume;
        const int twisted = twisting_joint(piece.middle);
        local_.set(over_.basis.values, over_.tets.tets.col(t), piece);
        out.volume += V;
        for (std::size_t i = 0; i < local_.functions.size(); ++i) {
            const int fi = local_.functions[i];
            const auto pi = static_cast<std::size_t>(place_[static_cast<std::size_t>(fi)]);
            out.first[pi] += rho * V * local_.values[i].mean();
            const Vec3& gi = local_.gradients[i];
            for (std::size_t j = 0; j < local_.functions.size(); ++j) {
                const int fj = local_.functions[j];
                if (fj > fi) continue;
                const auto pj = static_cast<std::size_t>(place_[static_cast<std::size_t>(fj)]);
                const Vec3& gj = local_.gradients[j];
                LatticePair& pair = dense_[pi * (pi + 1) / 2 + pj];
                const double product = V * product_mean(local_.values[i], local_.values[j]);
                pair.a = fi;
                pair.b = fj;
                pair.mass += rho * product;
                if (twisted >= 0) twists_[{twisted, fj, fi}] += product;
                pair.K.noalias() += V * lambda * gi * gj.transpose() + V * mu * gj * gi.transpose();
                pair.K.diagonal().array() += V * mu * gi.dot(gj);
            }
        }
    }

    const Integrands& over_;
    std::vector<int> place_; ///< of a function among those of the cell
    std::vector<LatticePair> dense_;
    std::map<std::array<int, 3>, double> twists_; ///< by joint, b, a
    LocalFunctions local_;
};

std::vector<LatticeCellIntegrals> integrate(const Integrands& over)
{
    const auto count = static_cast<Index>(over.model.lattice.cells.size());
    std::vector<LatticeCellIntegrals> cells(static_cast<std::size_t>(count));
    parallel_blocks(count, 16, [&](Index begin, Index end) {
        CellSums sums(over);
        for (Index c = begin; c < end; ++c)
            cells[static_cast<std::size_t>(c)] = sums.integrate(static_cast<std::size_t>(c));
    });
    return cells;
}

/// W of every function for one region: of a detail, the average of its parents'.
VecX function_weights(const VecX& coarse, const LatticeLevels& levels,
                      const std::vector<LatticeFunction>& functions)
{
    std::vector<VecX> by_level = {coarse};
    for (std::size_t l = 1; l < levels.levels.size(); ++l)
        by_level.push_back(levels.levels[l].from_coarser * by_level.back());
    VecX out(static_cast<Index>(functions.size()));
    for (std::size_t f = 0; f < functions.size(); ++f)
        out[static_cast<Index>(f)] =
            by_level[static_cast<std::size_t>(functions[f].level)][functions[f].vertex];
    return out;
}

bool holds_corners(const VecX& weights, const LatticeCell& cell)
{
    return std::all_of(cell.vertices.begin(), cell.vertices.end(),
                       [&](int v) { return v < 0 || weights[v] > 0.0; });
}

/// Details of which another region has twice as much or more: they stay with those that have most.
void drop_light_details(const LatticeSystem& system, const VecX& most, RegionSpace& space)
{
    constexpr double light = 0.5;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < space.functions.size(); ++k) {
        const int f = space.functions[k];
        if (f >= static_cast<int>(system.coarse_count()) && space.weights[k] < light * most[f]) continue;
        space.functions[kept] = f;
        space.weights[kept++] = space.weights[k];
    }
    space.functions.resize(kept);
    space.weights.resize(kept);
}

void normalise(Index count, std::vector<RegionSpace>& regions)
{
    VecX sum = VecX::Zero(count);
    for (const RegionSpace& space : regions)
        for (std::size_t k = 0; k < space.functions.size(); ++k) sum[space.functions[k]] += space.weights[k];
    for (RegionSpace& space : regions)
        for (std::size_t k = 0; k < space.functions.size(); ++k) space.weights[k] /= sum[space.functions[k]];
}

std::vector<RegionSpace> make_regions(const LatticeSystem& system, const LatticeLevels& levels)
{
    std::vector<RegionSpace> regions;
    VecX most = VecX::Zero(system.count());
    for (const LatticeRegion& region : system.model->regions) {
        RegionSpace space{.joint = region.joint, .cells = {}, .functions = {}, .weights = {}};
        for (std::size_t c = 0; c < system.cells.size(); ++c) {
            if (system.cells[c].empty() || !holds_corners(region.weights, system.model->lattice.cells[c]))
                continue;
            space.cells.push_back(static_cast<int>(c));
            const std::vector<int>& inside = system.cells[c].functions;
            space.functions.insert(space.functions.end(), inside.begin(), inside.end());
        }
        std::sort(space.functions.begin(), space.functions.end());
        space.functions.erase(std::unique(space.functions.begin(), space.functions.end()),
                              space.functions.end());
        const VecX W = function_weights(region.weights, levels, system.functions);
        for (const int f : space.functions) {
            space.weights.push_back(W[f]);
            most[f] = std::max(most[f], W[f]);
        }
        if (!space.cells.empty()) regions.push_back(std::move(space));
    }
    for (RegionSpace& space : regions) drop_light_details(system, most, space);
    normalise(system.count(), regions);
    for (Index f = 0; f < system.count(); ++f)
        if (system.in_body(static_cast<int>(f)) && most[f] == 0.0)
            throw InputError(
                "lattice '" + system.model->name +
                "': a cell lies in no region: some region must have weight at all of its corners");
    return regions;
}

/// Which joint carries the ends of bones.
class BoneEnds {
public:
    explicit BoneEnds(const LatticeModel& model) : model_(model) {}

    /// Of the bones that begin at a vertex, the joint that is there, or nearest: lines between the children of a joint, which it
    /// carries, begin at these too. -1: none begins there.
    int joint_of_head(int vertex) const
    {
        const Vec3& place = model_.lattice.vertices[static_cast<std::size_t>(vertex)];
        const auto distance = [&](int joint) {
            return (model_.bind[static_cast<std::size_t>(joint)].translation() - place).norm();
        };
        int nearest = -1;
        for (std::size_t b = 0; b < model_.lattice.bones.size(); ++b) {
            const int joint = model_.bone_joints[b];
            if (model_.lattice.bones[b].vertices.front() == vertex &&
                (nearest < 0 || distance(joint) < distance(nearest)))
                nearest = joint;
        }
        return nearest;
    }
    /// What carries the far end of a bone: the bone that goes on there, else itself.
    int joint_of_tail(std::size_t bone) const
    {
        const int next = joint_of_head(model_.lattice.bones[bone].vertices.back());
        return next >= 0 ? next : model_.bone_joints[bone];
    }

private:
    const LatticeModel& model_;
};

std::vector<LatticeHold> make_holds(const LatticeModel& model)
{
    const BoneEnds ends{model};
    std::vector<LatticeHold> holds;
    std::vector<char> taken(model.lattice.vertices.size(), 0);
    const auto place = [&](int v) { return model.lattice.vertices[static_cast<std::size_t>(v)]; };
    for (std::size_t b = 0; b < model.lattice.bones.size(); ++b) {
        const std::vector<int>& chain = model.lattice.bones[b].vertices;
        const Vec3 head = place(chain.front()), tail = place(chain.back());
        const double length2 = (tail - head).squaredNorm();
        const int head_joint = ends.joint_of_head(chain.front()), tail_joint = ends.joint_of_tail(b);
        for (const int v : chain) {
            if (std::exchange(taken[static_cast<std::size_t>(v)], 1)) continue;
            const double s = v == chain.back() ? 1.0 : (place(v) - head).dot(tail - head) / length2;
            holds.push_back({v, head_joint, tail_joint, head, tail, s});
        }
    }
    return holds;
}

SparseRows rows_at_vertices(const LatticeBasis& basis)
{
    std::vector<Triplet> entries;
    for (std::size_t f = 0; f < basis.functions.size(); ++f)
        for (SparseRows::InnerIterator it(basis.values, basis.functions[f].vertex); it; ++it)
            entries.emplace_back(static_cast<int>(f), static_cast<int>(it.col()), it.value());
    SparseRows out(basis.count(), basis.count());
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
}

SparseRows surface_map(const LatticeSurface& surface, const SparseRows& basis)
{
    std::vector<Triplet> entries;
    const Embedding& at = surface.embedding;
    for (Index p = 0; p < at.point_count(); ++p)
        for (int k = 0; k < 4; ++k)
            if (at.weights(k, p) != 0.0)
                entries.emplace_back(static_cast<int>(p), at.corners(k, p), at.weights(k, p));
    SparseRows in_tets(at.point_count(), basis.rows());
    in_tets.setFromTriplets(entries.begin(), entries.end());
    return in_tets * basis;
}

/// Points along a bone that hold it.
void add_held_points(const HeldBone& bone, const TetMesh& tets, const SparseRows& basis,
                     LatticeSystem& system)
{
    constexpr int points_per_bone = 5;
    Points x(3, points_per_bone);
    for (int k = 0; k < points_per_bone; ++k)
        x.col(k) = bone.head + (bone.tail - bone.head) * k / (points_per_bone - 1.0);
    const SparseRows map = surface_map({.rest = {}, .embedding = embed(x, tets)}, basis);
    for (Index p = 0; p < map.rows(); ++p) {
        LatticePoint point;
        for (SparseRows::InnerIterator it(map, p); it; ++it) {
            point.functions.push_back(static_cast<int>(it.col()));
            point.weights.push_back(it.value());
        }
        system.held_points.push_back(std::move(point));
        system.held_targets.push_back({-1, bone.joint, bone.joint, x.col(p), x.col(p), 0.0});
    }
}

/// Of each sample its first tet, and their number at the end. In tets the functions of level 0 have constant strain, so one sample in each
/// is enough for level 1 to come; else there is one in each hex of level J.
std::vector<Index> first_tets_of_samples(const LatticeModel& model, const LatticeLevels& levels)
{
    std::vector<Index> firsts;
    const bool only_tets = std::all_of(model.lattice.cells.begin(), model.lattice.cells.end(),
                                       [](const LatticeCell& c) { return c.kind == LatticeCellKind::Tet; });
    if (only_tets && model.levels <= 1) {
        for (const Index hex : levels.first_finest_cell) firsts.push_back(6 * hex);
        return firsts;
    }
    const Index per_sample = Index(6) << (3 * (model.integration_levels - std::max(model.levels, 1)));
    for (Index t = 0; t <= 6 * static_cast<Index>(levels.finest().cells.size()); t += per_sample)
        firsts.push_back(t);
    return firsts;
}

/// Mean gradients over the body in each sample.
std::vector<StrainSample> strain_samples(const LatticeModel& model, const LatticeLevels& levels,
                                         const TetMesh& tets, const LatticeBasis& basis)
{
    std::vector<StrainSample> samples;
    LocalFunctions local;
    int cell = 0;
    const std::vector<Index> firsts = first_tets_of_samples(model, levels);
    for (std::size_t s = 0; s + 1 < firsts.size(); ++s) {
        const Index first = firsts[s];
        StrainSample sample;
        double volume = 0.0;
        std::vector<std::pair<int, Vec3>> sums;
        for (Index t = first; t < firsts[s + 1]; ++t) {
            const Piece piece = piece_of(tets, t, model.fractions[static_cast<std::size_t>(t)]);
            if (piece.volume == 0.0) continue;
            local.set(basis.values, tets.tets.col(t), piece);
            volume += piece.volume;
            for (std::size_t i = 0; i < local.functions.size(); ++i)
                sums.emplace_back(local.functions[i], piece.volume * local.gradients[i]);
        }
        if (volume == 0.0) continue;
        while (first >= 6 * levels.first_finest_cell[static_cast<std::size_t>(cell) + 1]) ++cell;
        sample.cell = cell;
        sample.volume = volume;
        std::stable_sort(sums.begin(), sums.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<Vec3> gradients;
        for (const auto& [f, g] : sums) {
            if (sample.functions.empty() || sample.functions.back() != f) {
                sample.functions.push_back(f);
                gradients.emplace_back(Vec3::Zero());
            }
            gradients.back() += g / volume;
        }
        sample.gradients.resize(3, static_cast<Index>(gradients.size()));
        for (std::size_t i = 0; i < gradients.size(); ++i)
            sample.gradients.col(static_cast<Index>(i)) = gradients[i];
        samples.push_back(std::move(sample));
    }
    return samples;
}

void require_sizes(const LatticeModel& model, const TetMesh& tets)
{
    const auto count = static_cast<std::size_t>(tets.tet_count());
    if (model.fractions.size() != count || model.tet_materials.size() != count)
        throw InputError("lattice '" + model.name + "': fractions and materials must be given for its " +
                         std::to_string(count) + " tets");
    for (const std::uint8_t m : model.tet_materials)
        if (m >= model.materials.size())
            throw InputError("lattice '" + model.name + "': a tet has material " + std::to_string(m) +
                             ", but there are " + std::to_string(model.materials.size()));
    for (const LatticeRegion& region : model.regions)
        if (region.weights.size() != static_cast<Index>(model.lattice.vertices.size()))
            throw InputError("lattice '" + model.name + "': region '" + region.name +
                             "' needs a weight for each vertex");
}

void add_first_moments(LatticeSystem& system)
{
    system.first = VecX::Zero(system.count());
    for (const LatticeCellIntegrals& cell : system.cells)
        for (std::size_t k = 0; k < cell.functions.size(); ++k)
            system.first[cell.functions[k]] += cell.first[k];
    system.mass = system.first.head(system.coarse_count()).sum();
    std::vector<Triplet> entries;
    for (const LatticeCellIntegrals& cell : system.cells)
        for (const LatticePair& pair : cell.pairs) {
            entries.emplace_back(pair.a, pair.b, pair.mass);
            if (pair.a != pair.b) entries.emplace_back(pair.b, pair.a, pair.mass);
        }
    system.M.resize(system.count(), system.count());
    system.M.setFromTriplets(entries.begin(), entries.end());
}

/// int phi inside the body over int phi.
VecX supports(const LatticeModel& model, const TetMesh& tets, const SparseRows& basis)
{
    VecX all = VecX::Zero(tets.vertex_count()), inside = all;
    for (Index t = 0; t < tets.tet_count(); ++t) {
        const auto x = [&](int k) { return Vec3(tets.vertices.col(tets.tets(k, t))); };
        const double quarter = 0.25 * tet_volume(x(0), x(1), x(2), x(3));
        for (int k = 0; k < 4; ++k) {
            all[tets.tets(k, t)] += quarter;
            inside[tets.tets(k, t)] +=
                quarter * static_cast<double>(model.fractions[static_cast<std::size_t>(t)]);
        }
    }
    return (basis.transpose() * inside).cwiseQuotient(basis.transpose() * all);
}

std::vector<LatticeSystem::Loose> loose_functions(const LatticeSystem& system)
{
    std::vector<LatticeSystem::Loose> loose;
    for (int f = 0; f < static_cast<int>(system.coarse_count()); ++f)
        if (!system.in_body(f) && !system.held[static_cast<std::size_t>(f)])
            for (const LatticeRegion& region : system.model->regions)
                if (region.weights[f] > 0.0) loose.push_back({f, region.joint, region.weights[f]});
    return loose;
}

void set_places(const LatticeLevels& levels, LatticeSystem& system)
{
    system.rest = Points::Zero(3, system.count());
    system.rest.leftCols(system.coarse_count()) = levels.levels.front().vertices;
    double edges = 0.0;
    int edge_count = 0;
    for (const LatticeCell& cell : system.model->lattice.cells)
        for (int k = 1; k < 4; ++k, ++edge_count)
            edges += (levels.levels.front().vertices.col(cell.vertices[k]) -
                      levels.levels.front().vertices.col(cell.vertices[0]))
                         .norm();
    for (const LatticeFunction& f : system.functions)
        system.size.push_back(edges / edge_count / static_cast<double>(1 << f.level));
}

} // namespace

LatticeSystem make_lattice_system(std::shared_ptr<const LatticeModel> shared)
{
    const LatticeModel& model = *shared;
    const LatticeLevels levels = subdivided(model.lattice, model.integration_levels);
    const TetMesh tets = finest_tets(levels);
    require_sizes(model, tets);
    const LatticeBasis basis = hierarchical_basis(levels, model.levels);
    Integrands over{model, tets, levels, basis, {}, {}, bone_lines(model)};
    for (const RegionParameters& m : model.materials) {
        over.lame.push_back(lame_parameters(m.material.elastic));
        over.density.push_back(require_positive("density", m.density));
    }

    LatticeSystem system;
    system.model = std::move(shared);
    system.functions = basis.functions;
    set_places(levels, system);
    system.cells = integrate(over);
    add_first_moments(system);
    system.support = supports(model, tets, basis.values);
    system.held.assign(basis.functions.size(), 0);
    system.holds = make_holds(model);
    for (const LatticeHold& hold : system.holds) system.held[static_cast<std::size_t>(hold.function)] = 1;
    for (const HeldBone& bone : model.held_bones) add_held_points(bone, tets, basis.values, system);
    system.regions = make_regions(system, levels);
    system.loose = loose_functions(system);
    system.shown = surface_map(model.shown, basis.values);
    system.collision = surface_map(model.collision, basis.values);
    system.at_vertices = rows_at_vertices(basis);
    system.strains = strain_samples(model, levels, tets, basis);
    const LatticeLevels once = subdivided(model.lattice, 1);
    system.once = finest_tets(once);
    system.once_from_coarse = once.finest().from_coarser;
    return system;
}

std::vector<RigidPose> joint_motions(const Skeleton& skeleton, const std::vector<Affine3>& bind,
                                     const std::vector<Affine3>& now)
{
    std::vector<RigidPose> motions;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        const Mat3 F = now[j].linear() * bind[j].linear().inverse();
        const Mat3 R = polar_rotation(F);
        motions.push_back({Quat(R), now[j].translation() - R * bind[j].translation()});
    }
    return motions;
}

Vec3 target(const LatticeHold& hold, const std::vector<RigidPose>& motions)
{
    const Vec3 a = motions[static_cast<std::size_t>(hold.joint_a)].apply(hold.a);
    if (hold.s == 0.0) return a;
    const Vec3 b = motions[static_cast<std::size_t>(hold.joint_b)].apply(hold.b);
    return hold.s == 1.0 ? b : Vec3((1.0 - hold.s) * a + hold.s * b);
}

} // namespace lithe
