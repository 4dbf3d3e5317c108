#include "lithe/prepare/bone_partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lithe/core/error.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/rig/weight_mix.hpp"

namespace lithe {
namespace {

constexpr std::size_t least_tets = 12;   ///< of a bone that is a body of its own
constexpr double least_share = 1e-3;     ///< of the volume
constexpr double weight_rounding = 1e-6; ///< by which the weights of a vertex may miss one

using Neighbours =
    Eigen::Matrix<int, 4, Eigen::Dynamic>; ///< over face a (without corner a) of each tet, or -1

Neighbours tet_neighbours(const TetMesh& mesh)
{
    struct Face {
        std::array<int, 3> corners;
        int tet, side;
    };
    std::vector<Face> faces;
    faces.reserve(4 * static_cast<std::size_t>(mesh.tet_count()));
    for (int t = 0; t < mesh.tet_count(); ++t)
        for (int a = 0; a < 4; ++a) {
            std::array<int, 3> corners;
            for (int b = 0, n = 0; b < 4; ++b)
                if (b != a) corners[static_cast<std::size_t>(n++)] = mesh.tets(b, t);
            std::ranges::sort(corners);
            faces.push_back({corners, t, a});
        }
    std::ranges::sort(faces, {}, [](const Face& f) { return std::tuple(f.corners, f.tet); });
    Neighbours out = Neighbours::Constant(4, mesh.tet_count(), -1);
    for (std::size_t i = 1; i < faces.size(); ++i)
        if (const Face &f = faces[i - 1], &g = faces[i]; f.corners == g.corners) {
            out(f.side, f.tet) = g.tet;
            out(g.side, g.tet) = f.tet;
        }
    return out;
}

// --- Domains ------------------------------------------------------------------------------------------------------

/// Which tets are whose, and what of a tet a bone has by its weights.
struct Domains {
    std::vector<std::vector<int>> tets;  ///< of each bone, rising
    std::vector<std::vector<int>> bones; ///< of each tet, rising
};

double mean_weight(const SkinWeights& weights, const TetMesh& mesh, int tet, int bone)
{
    double sum = 0.0;
    for (int a = 0; a < 4; ++a)
        for (Index k = 0; k < weights.slots(); ++k)
            if (const Index v = mesh.tets(a, tet); weights.bones(k, v) == bone) sum += weights.weights(k, v);
    return 0.25 * sum;
}

/// A volume with what does not change while bones are merged.
struct Flesh {
    const TetMesh& mesh;
    Neighbours neighbours;
    VecX volume; ///< of each tet [m^3]
};

Flesh make_flesh(const TetMesh& mesh)
{
    VecX volume(mesh.tet_count());
    for (Index t = 0; t < mesh.tet_count(); ++t)
        volume[t] = tet_volume(mesh.vertices.col(mesh.tets(0, t)), mesh.vertices.col(mesh.tets(1, t)),
                               mesh.vertices.col(mesh.tets(2, t)), mesh.vertices.col(mesh.tets(3, t)));
    return {mesh, tet_neighbours(mesh), std::move(volume)};
}

/// The piece of a set of tets, connected through faces, that has the largest volume.
std::vector<int> largest_piece(const Flesh& flesh, const std::vector<int>& tets)
{
    const auto place = [&](int tet) {
        const auto at = std::ranges::lower_bound(tets, tet);
        return at != tets.end() && *at == tet ? static_cast<int>(at - tets.begin()) : -1;
    };
    UnionFind pieces(static_cast<int>(tets.size()));
    for (int i = 0; i < pieces.size(); ++i)
        for (const int other : flesh.neighbours.col(tets[static_cast<std::size_t>(i)]))
            if (const int j = other < 0 ? -1 : place(other); j >= 0) pieces.join(i, j);
    std::vector<double> volume(tets.size(), 0.0);
    for (int i = 0; i < pieces.size(); ++i)
        volume[static_cast<std::size_t>(pieces.root(i))] += flesh.volume[tets[static_cast<std::size_t>(i)]];
    const auto best = static_cast<int>(std::ranges::max_element(volume) - volume.begin());
    std::vector<int> out;
    for (int i = 0; i < pieces.size(); ++i)
        if (pieces.root(i) == best) out.push_back(tets[static_cast<std::size_t>(i)]);
    return out;
}

/// Of the bones that have a neighbour of the tet, the one with the largest weight in the tet; -1 where no neighbour has one.
int best_neighbour(const Flesh& flesh, const SkinWeights& weights, int tet,
                   const std::vector<std::vector<int>>& bones)
{
    int best = -1;
    double most = -1.0;
    for (const int other : flesh.neighbours.col(tet)) {
        if (other < 0) continue;
        for (const int bone : bones[static_cast<std::size_t>(other)])
            if (const double w = mean_weight(weights, flesh.mesh, tet, bone);
                w > most || (w == most && bone < best)) {
                best = bone;
                most = w;
            }
    }
    return best;
}

/// Gives tets that nobody has to bones next to them, layer by layer, so that every domain stays in one piece.
void adopt_orphans(const Flesh& flesh, const SkinWeights& weights, const std::vector<int>& heaviest,
                   Domains& domains)
{
    std::vector<int> orphans;
    for (int t = 0; t < flesh.mesh.tet_count(); ++t)
        if (domains.bones[static_cast<std::size_t>(t)].empty()) orphans.push_back(t);
    while (!orphans.empty()) {
        std::vector<int> left;
        std::vector<std::pair<int, int>> adopted;
        for (const int t : orphans) {
            const int bone = best_neighbour(flesh, weights, t, domains.bones);
            if (bone >= 0)
                adopted.emplace_back(t, bone);
            else
                left.push_back(t);
        }
        if (adopted.empty()) // a part of the volume that nothing connects: its heaviest bone has two pieces
            adopted.emplace_back(left.back(), heaviest[static_cast<std::size_t>(left.back())]),
                left.pop_back();
        for (const auto& [t, bone] : adopted) {
            domains.bones[static_cast<std::size_t>(t)].push_back(bone);
            std::vector<int>& own = domains.tets[static_cast<std::size_t>(bone)];
            own.insert(std::ranges::lower_bound(own, t), t);
        }
        orphans = std::move(left);
    }
}

/// Takes from every bone the tets that hang on to it by one face, where another bone has them too: they would flap.
void trim(const Flesh& flesh, Domains& domains)
{
    constexpr int passes = 4; // for rows of them
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t b = 0; b < domains.tets.size(); ++b) {
            const int bone = static_cast<int>(b);
            const auto has = [&](int t) {
                return t >= 0 && std::ranges::binary_search(domains.bones[static_cast<std::size_t>(t)], bone);
            };
            std::erase_if(domains.tets[b], [&](int t) {
                std::vector<int>& bones = domains.bones[static_cast<std::size_t>(t)];
                if (bones.size() < 2 || std::ranges::count_if(flesh.neighbours.col(t), has) > 1) return false;
                std::erase(bones, bone);
                return true;
            });
        }
}

void set_bones(Domains& domains)
{
    for (std::vector<int>& bones : domains.bones) bones.clear();
    for (std::size_t b = 0; b < domains.tets.size(); ++b)
        for (const int t : domains.tets[b])
            domains.bones[static_cast<std::size_t>(t)].push_back(static_cast<int>(b));
}

Domains find_domains(const Flesh& flesh, const SkinWeights& weights, std::size_t bone_count, double overlap)
{
    Segmentation segments = segment(flesh.mesh, weights, static_cast<Index>(bone_count), overlap);
    Domains out{.tets = std::move(segments.tets),
                .bones = std::vector<std::vector<int>>(static_cast<std::size_t>(flesh.mesh.tet_count()))};
    set_bones(out);
    trim(flesh, out);
    for (std::vector<int>& tets : out.tets)
        if (!tets.empty()) tets = largest_piece(flesh, tets);
    set_bones(out);
    adopt_orphans(flesh, weights, segments.heaviest, out);
    return out;
}

// --- Merging ------------------------------------------------------------------------------------------------------

/// Of each bone, the nearest bone above it; -1: none.
std::vector<int> parent_bones(const Character& character)
{
    std::vector<int> bone_of_joint(character.skeleton.joints.size(), -1), out;
    for (std::size_t b = character.bones.size(); b-- > 0;)
        bone_of_joint[static_cast<std::size_t>(character.bones[b].joint)] = static_cast<int>(b);
    for (std::size_t b = 0; b < character.bones.size(); ++b) {
        int joint = character.bones[b].joint, parent = bone_of_joint[static_cast<std::size_t>(joint)];
        if (parent == static_cast<int>(b)) parent = -1; // else a second bone of the same joint
        while (parent < 0 && (joint = character.skeleton.joints[static_cast<std::size_t>(joint)].parent) >= 0)
            parent = bone_of_joint[static_cast<std::size_t>(joint)];
        out.push_back(parent);
    }
    return out;
}

/// The volume that two bones have in common by their weights. [m^3]
double common_volume(const Flesh& flesh, const SkinWeights& weights, const std::vector<int>& tets, int a,
                     int b)
{
    double sum = 0.0;
    for (const int t : tets)
        sum += flesh.volume[t] *
               std::min(mean_weight(weights, flesh.mesh, t, a), mean_weight(weights, flesh.mesh, t, b));
    return sum;
}

/// Bones that were merged, and what is left.
class Merging {
public:
    Merging(const Character& character, const Flesh& flesh, const SkinWeights& weights, double overlap)
        : flesh_(flesh), given_(weights), overlap_(overlap), parents_(parent_bones(character)),
          into_(character.bones.size())
    {
        std::iota(into_.begin(), into_.end(), 0);
        update();
    }

    const std::vector<int>& into() const { return into_; } ///< of each bone the one that it goes with
    const std::vector<int>& parents() const { return parents_; }
    const SkinWeights& weights() const { return weights_; }
    const Domains& domains() const { return domains_; }
    bool alive(std::size_t bone) const { return into_[bone] == static_cast<int>(bone); }

    /// Until every bone that is left is large enough, the outermost first.
    void merge_small()
    {
        for (std::vector<int> small = small_bones(); !small.empty(); small = small_bones()) {
            for (const int bone : small) merge(bone, target(bone));
            update();
        }
    }

    void merge(int bone, int other)
    {
        for (int& i : into_)
            if (i == bone) i = other;
    }
    void update()
    {
        weights_ = weights_by_part(given_, into_);
        domains_ = find_domains(flesh_, weights_, into_.size(), overlap_);
    }

    /// Where a bone that cannot stand alone goes: to the nearest one above it, else to the one that it has most in common with.
    int target(int bone) const
    {
        for (int b = parents_[static_cast<std::size_t>(bone)]; b >= 0;
             b = parents_[static_cast<std::size_t>(b)])
            if (into_[static_cast<std::size_t>(b)] != bone) return into_[static_cast<std::size_t>(b)];
        int best = -1;
        double most = -1.0;
        for (std::size_t b = 0; b < into_.size(); ++b) {
            if (!alive(b) || static_cast<int>(b) == bone) continue;
            const double common = common_volume(
                flesh_, weights_, domains_.tets[static_cast<std::size_t>(bone)], bone, static_cast<int>(b));
            if (common > most) {
                best = static_cast<int>(b);
                most = common;
            }
        }
        return best;
    }

private:
    bool is_small(std::size_t bone) const
    {
        const std::vector<int>& tets = domains_.tets[bone];
        double own = 0.0;
        for (const int t : tets)
            own += flesh_.volume[t] * mean_weight(weights_, flesh_.mesh, t, static_cast<int>(bone));
        return tets.size() < least_tets || own < least_share * flesh_.volume.sum();
    }

    /// Bones that are too small and have none below them that is; none when a single one is left.
    std::vector<int> small_bones() const
    {
        std::vector<unsigned char> small(into_.size(), 0), waits(into_.size(), 0);
        std::size_t left = 0;
        for (std::size_t b = 0; b < into_.size(); ++b) {
            small[b] = alive(b) && is_small(b);
            left += alive(b);
        }
        for (std::size_t b = 0; b < into_.size(); ++b)
            for (int p = small[b] ? parents_[b] : -1; p >= 0; p = parents_[static_cast<std::size_t>(p)])
                waits[static_cast<std::size_t>(p)] = 1;
        std::vector<int> out;
        for (std::size_t b = 0; b < into_.size(); ++b)
            if (small[b] && !waits[b] && out.size() + 1 < left) out.push_back(static_cast<int>(b));
        return out;
    }

    const Flesh& flesh_;
    const SkinWeights& given_;
    double overlap_;
    std::vector<int> parents_, into_;
    SkinWeights weights_;
    Domains domains_;
};

// --- The tree of the parts ----------------------------------------------------------------------------------------

/// What two bones share.
struct Meeting {
    int a = 0, b = 0; ///< a < b
    bool family = false;
    double volume = 0.0; ///< [m^3]
    int vertices = 0;
};

/// All pairs of bones that share the three vertices that a joint needs, strongest first.
std::vector<Meeting> find_meetings(const Flesh& flesh, const Merging& merging)
{
    const Domains& domains = merging.domains();
    std::map<std::pair<int, int>, Meeting> all;
    const auto for_pairs = [&](const std::vector<int>& bones, const auto& f) {
        for (std::size_t i = 0; i < bones.size(); ++i)
            for (std::size_t j = i + 1; j < bones.size(); ++j) f(all[{bones[i], bones[j]}]);
    };
    std::vector<std::vector<int>> at_vertex(static_cast<std::size_t>(flesh.mesh.vertex_count()));
    for (int t = 0; t < flesh.mesh.tet_count(); ++t) {
        const std::vector<int>& bones = domains.bones[static_cast<std::size_t>(t)];
        for_pairs(bones, [&](Meeting& m) { m.volume += flesh.volume[t]; });
        for (const int v : flesh.mesh.tets.col(t)) {
            std::vector<int>& here = at_vertex[static_cast<std::size_t>(v)];
            here.insert(here.end(), bones.begin(), bones.end());
        }
    }
    for (std::vector<int>& bones : at_vertex) {
        std::ranges::sort(bones);
        bones.erase(std::unique(bones.begin(), bones.end()), bones.end());
        for_pairs(bones, [](Meeting& m) { ++m.vertices; });
    }

    const auto parent_of = [&](int bone) { // among those that are left
        for (int p = merging.parents()[static_cast<std::size_t>(bone)]; p >= 0;
             p = merging.parents()[static_cast<std::size_t>(p)])
            if (const int left = merging.into()[static_cast<std::size_t>(p)]; left != bone) return left;
        return -1;
    };
    std::vector<Meeting> out;
    for (auto& [pair, meeting] : all) {
        std::tie(meeting.a, meeting.b) = pair;
        meeting.family = parent_of(meeting.a) == meeting.b || parent_of(meeting.b) == meeting.a;
        if (meeting.vertices >= 3) out.push_back(meeting);
    }
    std::ranges::stable_sort(out, [](const Meeting& m, const Meeting& n) {
        return std::tuple(m.family, m.volume, m.vertices) > std::tuple(n.family, n.volume, n.vertices);
    });
    return out;
}

/// Of each bone those that it is joined to: a forest.
std::vector<std::vector<int>> joined_bones(const std::vector<Meeting>& meetings, std::size_t bone_count)
{
    std::vector<std::vector<int>> out(bone_count);
    UnionFind trees(static_cast<int>(bone_count));
    for (const Meeting& m : meetings) {
        if (trees.root(m.a) == trees.root(m.b)) continue;
        trees.join(m.a, m.b);
        out[static_cast<std::size_t>(m.a)].push_back(m.b);
        out[static_cast<std::size_t>(m.b)].push_back(m.a);
    }
    for (std::vector<int>& bones : out) std::ranges::sort(bones);
    return out;
}

struct TreePlace {
    int bone, parent; ///< bones; parent -1: the root
};

/// From the root outward.
std::vector<TreePlace> walk_tree(const Flesh& flesh, const Merging& merging)
{
    const std::size_t count = merging.into().size();
    const std::vector<std::vector<int>> joined = joined_bones(find_meetings(flesh, merging), count);
    const auto root = std::ranges::find(merging.parents(), -1) - merging.parents().begin();
    std::vector<TreePlace> out = {{merging.into()[static_cast<std::size_t>(root)], -1}};
    for (std::size_t i = 0; i < out.size(); ++i)
        for (const int next : joined[static_cast<std::size_t>(out[i].bone)])
            if (next != out[i].parent) out.push_back({next, out[i].bone});
    return out;
}

/// The same, after bones that meet no other, in a part of the volume that nothing connects, have gone with one.
std::vector<TreePlace> connected_tree(const Flesh& flesh, Merging& merging)
{
    for (;;) {
        std::vector<TreePlace> tree = walk_tree(flesh, merging);
        int lonely = -1;
        for (std::size_t b = 0; b < merging.into().size() && lonely < 0; ++b)
            if (merging.alive(b) &&
                std::ranges::find(tree, static_cast<int>(b), &TreePlace::bone) == tree.end())
                lonely = static_cast<int>(b);
        if (lonely < 0) return tree;
        merging.merge(lonely, merging.target(lonely));
        merging.update();
    }
}

// --- Shares -------------------------------------------------------------------------------------------------------

/// Whole numbers that sum to whole_share, each at least 1, nearest to the weights.
std::vector<int> whole_shares(const std::vector<double>& weights)
{
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> wanted;
    std::vector<int> out;
    for (const double w : weights) {
        wanted.push_back(sum > 0.0 ? whole_share * w / sum
                                   : static_cast<double>(whole_share) / static_cast<double>(weights.size()));
        out.push_back(std::max(1, static_cast<int>(wanted.back())));
    }
    const auto missing = [&](std::size_t i) { return wanted[i] - out[i]; };
    for (int left = whole_share - std::accumulate(out.begin(), out.end(), 0); left != 0;
         left += left > 0 ? -1 : 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < out.size(); ++i)
            if (left > 0 ? missing(i) > missing(best)
                         : out[i] > 1 && (out[best] == 1 || missing(i) < missing(best)))
                best = i;
        out[best] += left > 0 ? 1 : -1;
    }
    return out;
}

void set_shares(const Flesh& flesh, BonePartition& out)
{
    for (int t = 0; t < flesh.mesh.tet_count(); ++t) {
        const std::vector<int>& parts = out.tet_parts[static_cast<std::size_t>(t)];
        std::vector<double> weights;
        for (const int p : parts) weights.push_back(mean_weight(out.weights, flesh.mesh, t, p));
        const std::vector<int> shares = whole_shares(weights);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            BonePart& part = out.parts[static_cast<std::size_t>(parts[i])];
            part.tets.push_back(t);
            part.shares.push_back(shares[i]);
        }
    }
}

// --- Names --------------------------------------------------------------------------------------------------------

std::string joint_name(const Character& character, int bone)
{
    const std::string& name =
        character.skeleton
            .joints[static_cast<std::size_t>(character.bones[static_cast<std::size_t>(bone)].joint)]
            .name;
    return name.empty() ? fmt::format("bone {}", bone) : name;
}

/// The joint's, with a number where it is taken.
std::string free_name(const std::string& name, const std::vector<BonePart>& parts)
{
    const auto taken = [&](const std::string& n) {
        return std::ranges::find(parts, n, &BonePart::name) != parts.end();
    };
    std::string out = name;
    for (int k = 2; taken(out); ++k) out = fmt::format("{} {}", name, k);
    return out;
}

void note_merged(const Character& character, const BonePartition& partition, std::vector<std::string>& notes)
{
    for (std::size_t p = 0; p < partition.parts.size(); ++p) {
        std::vector<std::string> names;
        for (std::size_t b = 0; b < partition.part_of_bone.size(); ++b)
            if (partition.part_of_bone[b] == static_cast<int>(p) &&
                partition.parts[p].bone != static_cast<int>(b))
                names.push_back(joint_name(character, static_cast<int>(b)));
        if (names.empty()) continue;
        const std::size_t count = names.size(), most = 6;
        if (count > most) names.resize(most);
        notes.push_back(fmt::format("too small to be bones of their own, they move with '{}': {}{}",
                                    partition.parts[p].name, fmt::join(names, ", "),
                                    count > most ? fmt::format(" and {} more", count - most) : ""));
    }
}

} // namespace

void require_sound(const SkinWeights& weights, std::size_t bone_count)
{
    for (Index v = 0; v < weights.vertex_count(); ++v) {
        const auto column = weights.weights.col(v);
        const double sum = column.sum();
        if (!(std::abs(sum - 1.0) <= weight_rounding) || !(column.minCoeff() >= 0.0))
            throw InputError(
                fmt::format("vertex {}: its weights sum to {:.6g} and the least is {:.3g}; they must "
                            "sum to one, none below zero: normalise them, or bind anew with: "
                            "lithe rig FILE --bind -o OUT.glb",
                            v, sum, column.minCoeff()));
        for (Index k = 0; k < weights.slots(); ++k)
            if (const int bone = weights.bones(k, v); bone < 0 || bone >= static_cast<int>(bone_count))
                throw InputError(
                    fmt::format("vertex {} follows bone {}, but there are {} only", v, bone, bone_count));
    }
}

SkinWeights weights_by_part(const SkinWeights& weights, const std::vector<int>& part_of_bone)
{
    SkinWeights out{.bones = decltype(weights.bones)::Zero(weights.slots(), weights.vertex_count()),
                    .weights = MatX::Zero(weights.slots(), weights.vertex_count())};
    for (Index v = 0; v < weights.vertex_count(); ++v) {
        Index used = 0;
        for (Index k = 0; k < weights.slots(); ++k) {
            if (weights.weights(k, v) == 0.0) continue;
            const int part = part_of_bone[static_cast<std::size_t>(weights.bones(k, v))];
            Index slot = 0;
            while (slot < used && out.bones(slot, v) != part) ++slot;
            if (slot == used) out.bones(used++, v) = part;
            out.weights(slot, v) += weights.weights(k, v);
        }
    }
    return out;
}

BonePartition partition_by_bone(const Character& character, const CharacterVolume& volume, double overlap,
                                std::vector<std::string>& notes)
{
    const Flesh flesh = make_flesh(volume.tets);
    Merging merging(character, flesh, volume.weights, overlap);
    merging.merge_small();
    const std::vector<TreePlace> tree = connected_tree(flesh, merging);

    BonePartition out;
    std::vector<int> part_of(character.bones.size(), -1); // of those that are left
    for (const TreePlace& place : tree) {
        part_of[static_cast<std::size_t>(place.bone)] = static_cast<int>(out.parts.size());
        out.parts.push_back(
            {.bone = place.bone,
             .name = free_name(joint_name(character, place.bone), out.parts),
             .parent = place.parent < 0 ? -1 : part_of[static_cast<std::size_t>(place.parent)],
             .tets = {},
             .shares = {}});
    }
    for (const int bone : merging.into()) out.part_of_bone.push_back(part_of[static_cast<std::size_t>(bone)]);
    for (const std::vector<int>& bones : merging.domains().bones) {
        std::vector<int>& parts = out.tet_parts.emplace_back();
        for (const int bone : bones) parts.push_back(part_of[static_cast<std::size_t>(bone)]);
        std::ranges::sort(parts);
    }
    out.weights = weights_by_part(volume.weights, out.part_of_bone);
    set_shares(flesh, out);
    note_merged(character, out, notes);
    return out;
}

} // namespace lithe
