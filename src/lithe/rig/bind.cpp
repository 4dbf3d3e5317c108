#include "lithe/rig/bind.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "lithe/rig/tet_laplacian.hpp"

namespace lithe {
namespace {

constexpr double least_length = 1e-9;   ///< of the skeleton's size: shorter segments do not count
constexpr double least_distance = 1e-3; ///< of the body's size: nearer vertices are held as firmly as those
constexpr double way_tolerance = 1e-3;  ///< share of the way from a bone that may be missing at the vertex
constexpr double equally_near = 1e-6;   ///< relative difference of distances
constexpr double drawn_in = 1e-3;       ///< share of a segment that it is drawn back from the skin
constexpr std::size_t most_looks = 8;   ///< segments that a vertex looks for, nearest first
constexpr std::size_t most_crossings = 64; ///< of a segment with the surface
constexpr Index bones_at_once = 16;        ///< right-hand sides of one solve
constexpr double noted_negative = 1e-3;    ///< weights below minus this are mentioned

// --- Bones as segments --------------------------------------------------------------------------------------------

double extent(const std::vector<Vec3>& positions)
{
    Box3 box;
    for (const Vec3& p : positions) box.extend(p);
    return positions.empty() ? 0.0 : box.diagonal().norm();
}

/// The segments of one joint, each with the joint as its bone.
std::vector<BoneSegment> joint_segments(const Skeleton& skeleton, const std::vector<Vec3>& positions,
                                        int joint, double shortest)
{
    const Vec3& at = positions[joint];
    std::vector<BoneSegment> out;
    bool leaf = true;
    for (int child = joint + 1; child < skeleton.joint_count(); ++child) {
        if (skeleton.joints[child].parent != joint) continue;
        leaf = false;
        const Vec3& end = positions[child];
        if ((end - at).norm() > shortest) out.push_back({joint, at, end});
    }
    const int parent = skeleton.joints[joint].parent;
    if (!leaf || parent < 0) return out;
    const Vec3 before = at - positions[parent];
    if (before.norm() > shortest) out.push_back({joint, at, at + 0.5 * before});
    return out;
}

// --- What a vertex sees -------------------------------------------------------------------------------------------

void require_usable(const TetMesh& volume, const std::vector<BoneSegment>& segments, Index bone_count,
                    const BindOptions& options)
{
    if (options.influences < 1 || options.influences > most_influences)
        throw InputError(
            fmt::format("binding: influences = {} must be 1 to {}", options.influences, most_influences));
    require_positive("heat", options.heat);
    if (segments.empty()) throw InputError("binding: the skeleton has no bone to bind to");
    for (const BoneSegment& s : segments) {
        LITHE_ASSERT(s.bone >= 0 && s.bone < bone_count);
        if (!s.a.allFinite() || !s.b.allFinite())
            throw InputError(fmt::format("binding: bone {} is not at a finite place", s.bone));
    }
    if (volume.tet_count() == 0) throw InputError("binding: the body has no tets");
    if (!volume.vertices.allFinite())
        throw InputError("binding: a vertex of the body is not at a finite place");
    if (volume.tets.minCoeff() < 0 || volume.tets.maxCoeff() >= volume.vertex_count())
        throw InputError(
            fmt::format("binding: a tet has a corner outside the {} vertices", volume.vertex_count()));
}

Vec3 nearest_point(const BoneSegment& s, const Vec3& p)
{
    const Vec3 along = s.b - s.a;
    const double length2 = along.squaredNorm();
    const double t = length2 > 0.0 ? std::clamp((p - s.a).dot(along) / length2, 0.0, 1.0) : 0.0;
    return s.a + t * along;
}

/// The shares of the way from a to b at which it crosses the surface, rising; with 0 first and 1 last.
std::vector<double> crossings(const SurfaceQuery& body, const BoneSegment& s)
{
    std::vector<double> at = {0.0};
    const Vec3 along = s.b - s.a;
    double from = 0.0;
    while (from < 1.0 && !along.isZero(0.0) && at.size() <= most_crossings) {
        const auto hit = body.cast_ray(s.a + from * along, along, 1.0 - from);
        if (!hit) break;
        at.push_back(from + hit->t);
        from = at.back() + 1e-9; // past it
    }
    at.push_back(1.0);
    return at;
}

/// The parts of a segment that are inside the body, drawn back a little from where they meet its skin.
void add_inside(const SurfaceQuery& body, const BoneSegment& s, std::vector<BoneSegment>& inside)
{
    const std::vector<double> at = crossings(body, s);
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
        const double length = at[i + 1] - at[i];
        const double begin = at[i] + (i > 0 ? drawn_in * length : 0.0);
        const double end = at[i + 1] - (i + 2 < at.size() ? drawn_in * length : 0.0);
        const auto point = [&](double t) { return Vec3(s.a + t * (s.b - s.a)); };
        if (length > least_length && body.inside(point(0.5 * (begin + end))))
            inside.push_back({s.bone, point(begin), point(end)});
    }
}

/// A bone's point sees a vertex when the straight way there meets the surface only at its end.
bool sees(const SurfaceQuery& body, const Vec3& bone_point, const Vec3& vertex)
{
    const Vec3 way = vertex - bone_point;
    return way.isZero(0.0) || !body.cast_ray(bone_point, way, 1.0 - way_tolerance);
}

/// Which bones hold a vertex, and from how far.
struct Hold {
    double distance = 0.0; ///< [m]
    std::array<int, most_looks> bones = {};
    std::size_t count = 0; ///< 0: sees none

    void add(int bone)
    {
        const auto end = bones.begin() + static_cast<std::ptrdiff_t>(count);
        if (count < bones.size() && std::find(bones.begin(), end, bone) == end) bones[count++] = bone;
    }
};

struct Candidate {
    double distance;
    const BoneSegment* segment;
};

/// The nearest segments to p, nearest first. `all` is scratch.
void find_nearest(const std::vector<BoneSegment>& segments, const Vec3& p, std::vector<Candidate>& all)
{
    all.clear();
    for (const BoneSegment& s : segments) all.push_back({(nearest_point(s, p) - p).norm(), &s});
    const auto few = static_cast<std::ptrdiff_t>(std::min(most_looks, all.size()));
    std::partial_sort(all.begin(), all.begin() + few, all.end(), [](const Candidate& a, const Candidate& b) {
        return a.distance < b.distance || (a.distance == b.distance && a.segment < b.segment);
    });
    all.resize(static_cast<std::size_t>(few));
}

/// The nearest of the candidates that `visible` lets pass, and those equally near.
template <class Visible>
Hold nearest_hold(const std::vector<Candidate>& nearest, double rounding, const Visible& visible)
{
    Hold hold;
    for (const Candidate& c : nearest) {
        if (hold.count > 0 && c.distance > hold.distance * (1.0 + equally_near) + rounding) break;
        if (!visible(*c.segment)) continue;
        if (hold.count == 0) hold.distance = c.distance;
        hold.add(c.segment->bone);
    }
    return hold;
}

std::vector<Hold> visible_holds(const TetMesh& volume, const SurfaceQuery& body,
                                const std::vector<BoneSegment>& inside, Progress& progress)
{
    const Index count = volume.vertex_count();
    const double rounding = 1e-12 * bounds(volume.vertices).diagonal().norm();
    std::vector<Hold> holds(static_cast<std::size_t>(count));
    progress.begin("looking for bones", count);
    parallel_blocks(count, 256, [&](Index begin, Index end) {
        std::vector<Candidate> nearest;
        for (Index v = begin; v < end; ++v) {
            const Vec3 p = volume.vertices.col(v);
            find_nearest(inside, p, nearest);
            holds[v] = nearest_hold(nearest, rounding,
                                    [&](const BoneSegment& s) { return sees(body, nearest_point(s, p), p); });
        }
        progress.advance(end - begin);
    });
    progress.end();
    return holds;
}

// --- Parts that see nothing ---------------------------------------------------------------------------------------

/// One vertex of each connected part, the same for all its vertices.
std::vector<int> connected_parts(const TetMesh& volume)
{
    UnionFind sets(static_cast<int>(volume.vertex_count()));
    for (Index t = 0; t < volume.tet_count(); ++t)
        for (int a = 1; a < 4; ++a) sets.join(volume.tets(0, t), volume.tets(a, t));
    std::vector<int> part;
    for (int v = 0; v < sets.size(); ++v) part.push_back(sets.root(v));
    return part;
}

/// Gives the vertices of connected parts in which nobody sees a bone the nearest one, seen or not.
void hold_blind_parts(const TetMesh& volume, const std::vector<BoneSegment>& segments,
                      std::vector<Hold>& holds, std::vector<std::string>& notes)
{
    const std::vector<int> part = connected_parts(volume);
    std::vector<char> sees_bone(holds.size(), 0);
    for (std::size_t v = 0; v < holds.size(); ++v)
        if (holds[v].count > 0) sees_bone[part[v]] = 1;

    Index vertices = 0, parts = 0;
    std::vector<Candidate> nearest;
    for (int v = 0; v < volume.vertex_count(); ++v) {
        if (sees_bone[part[v]]) continue;
        find_nearest(segments, volume.vertices.col(v), nearest);
        holds[v] = nearest_hold(nearest, 0.0, [](const BoneSegment&) { return true; });
        ++vertices;
        if (part[v] == v) ++parts;
    }
    if (vertices > 0)
        notes.push_back(
            fmt::format("parts of the body that see no bone inside and follow the nearest one: {} "
                        "({} vertices)",
                        parts, vertices));
}

// --- Heat ---------------------------------------------------------------------------------------------------------

/// V H of each vertex: how firmly its bones hold it [m].
VecX hold_strength(const std::vector<Hold>& holds, const VecX& V, double heat, double shortest)
{
    VecX VH(V.size());
    for (Index v = 0; v < V.size(); ++v) {
        const Hold& hold = holds[v];
        const double d = std::max(hold.distance, shortest);
        VH[v] = hold.count > 0 ? V[v] * heat / (d * d) : 0.0;
        if (!(V[v] > 0.0)) VH[v] = 1.0; // a vertex without tets answers to its own bones alone
    }
    return VH;
}

/// (L + diag(V H)) w_b = V H p_b for all bones: bones x vertices.
MatX diffused(const SparseMatrix& L, const VecX& VH, const std::vector<Hold>& holds, Index bone_count,
              Progress& progress)
{
    SparseMatrix A = L;
    SparseMatrix diagonal(L.rows(), L.cols());
    diagonal.setIdentity();
    diagonal.diagonal() = VH;
    A += diagonal;
    A.makeCompressed();
    progress.begin("diffusing weights", bone_count + bones_at_once);
    SparseCholesky cholesky;
    if (cholesky.factorise(A) != FactorStatus::Success)
        throw InputError("binding: the tets of the body are too flat to diffuse heat in; mesh it anew");
    progress.advance(bones_at_once);

    MatX w(bone_count, L.rows());
    for (Index first = 0; first < bone_count; first += bones_at_once) {
        const Index count = std::min(bones_at_once, bone_count - first);
        MatX b = MatX::Zero(L.rows(), count);
        for (Index v = 0; v < L.rows(); ++v) {
            const Hold& hold = holds[v];
            for (std::size_t i = 0; i < hold.count; ++i)
                if (hold.bones[i] >= first && hold.bones[i] < first + count)
                    b(v, hold.bones[i] - first) += VH[v] / static_cast<double>(hold.count);
        }
        cholesky.solve(b);
        w.middleRows(first, count) = b.transpose();
        progress.advance(count);
    }
    progress.end();
    return w;
}

void note_outside_bones(const std::vector<BoneSegment>& segments, const std::vector<BoneSegment>& inside,
                        Index bone_count, std::vector<std::string>& notes)
{
    std::vector<char> has_segment(static_cast<std::size_t>(bone_count), 0), is_inside = has_segment;
    for (const BoneSegment& s : segments) has_segment[s.bone] = 1;
    for (const BoneSegment& s : inside) is_inside[s.bone] = 1;
    for (std::size_t b = 0; b < has_segment.size(); ++b)
        if (has_segment[b] && !is_inside[b])
            notes.push_back(
                fmt::format("bone {} lies outside the body: what is inside does not follow it", b));
}

void note_negative_weights(const MatX& w, std::vector<std::string>& notes)
{
    const Index count = (w.array() < -noted_negative).count();
    if (count > 0)
        notes.push_back(fmt::format(
            "{} weights were below zero, down to {:.2g}, because of obtuse tets; they were cut to zero",
            count, w.minCoeff()));
}

} // namespace

std::vector<Bone> rest_bones(const Skeleton& skeleton)
{
    const std::vector<Affine3> world = world_transforms(skeleton, rest_pose(skeleton));
    std::vector<Vec3> positions;
    for (const Affine3& M : world) positions.push_back(M.translation());
    const double shortest = least_length * extent(positions);
    std::vector<Bone> with_length, all;
    for (int j = 0; j < skeleton.joint_count(); ++j) {
        all.push_back({j, world[j].inverse()});
        if (!joint_segments(skeleton, positions, j, shortest).empty()) with_length.push_back(all.back());
    }
    return with_length.empty() ? all : with_length;
}

std::vector<Affine3> bound_joints(const Skeleton& skeleton, const std::vector<Bone>& bones)
{
    std::vector<const Bone*> bone_of(skeleton.joints.size(), nullptr);
    for (const Bone& bone : bones) {
        LITHE_ASSERT(bone.joint >= 0 && bone.joint < skeleton.joint_count());
        bone_of[bone.joint] = &bone;
    }
    std::vector<Affine3> world;
    for (std::size_t j = 0; j < bone_of.size(); ++j) {
        const int parent = skeleton.joints[j].parent;
        const Affine3& before = parent < 0 ? skeleton.placement : world[parent];
        world.push_back(bone_of[j] ? bone_of[j]->inverse_bind.inverse()
                                   : before * skeleton.joints[j].rest.matrix());
    }
    return world;
}

std::vector<BoneSegment> bone_segments(const Skeleton& skeleton, const std::vector<Bone>& bones)
{
    std::vector<Vec3> positions;
    for (const Affine3& bound : bound_joints(skeleton, bones)) positions.push_back(bound.translation());
    const double shortest = least_length * extent(positions);
    std::vector<BoneSegment> out;
    for (std::size_t b = 0; b < bones.size(); ++b)
        for (BoneSegment s : joint_segments(skeleton, positions, bones[b].joint, shortest)) {
            s.bone = static_cast<int>(b);
            out.push_back(s);
        }
    if (!out.empty()) return out;
    for (std::size_t b = 0; b < bones.size(); ++b) { // all joints at one place: they are points
        const Vec3& at = positions[bones[b].joint];
        out.push_back({static_cast<int>(b), at, at});
    }
    return out;
}

BoundWeights bind_volume(const TetMesh& volume, const std::vector<BoneSegment>& segments, Index bone_count,
                         const BindOptions& options, Progress& progress)
{
    require_usable(volume, segments, bone_count, options);
    const SurfaceQuery body(boundary_surface(volume));
    std::vector<BoneSegment> inside;
    for (const BoneSegment& s : segments) add_inside(body, s, inside);

    BoundWeights out;
    note_outside_bones(segments, inside, bone_count, out.notes);
    std::vector<Hold> holds = visible_holds(volume, body, inside, progress);
    hold_blind_parts(volume, segments, holds, out.notes);

    const TetLaplacian laplacian = tet_laplacian(volume);
    const double shortest = least_distance * bounds(volume.vertices).diagonal().norm();
    const VecX VH = hold_strength(holds, laplacian.V, options.heat, shortest);
    const MatX w = diffused(laplacian.L, VH, holds, bone_count, progress);
    note_negative_weights(w, out.notes);
    out.weights = sparse_weights(w.cwiseMax(0.0), options.influences);
    return out;
}

} // namespace lithe
