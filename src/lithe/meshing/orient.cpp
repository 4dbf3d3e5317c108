#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/half_edges.hpp"
#include "lithe/geometry/surface_query.hpp"
#include "lithe/geometry/winding_number.hpp"
#include "lithe/meshing/checks.hpp"
#include "lithe/meshing/repair.hpp"

namespace lithe {
namespace {

/// Triangles connected across edges of two triangles.
struct Patch {
    std::vector<int> triangles;
    bool orientable = true;
    bool closed = true;
    double agreement = 1.0; ///< share of the triangles that faced the way of the majority
    double volume = 0.0;    ///< with the signs below; about the patch's centroid when it is open
    double area = 0.0;
    Box3 box;
    int turn = 1; ///< -1: all of it is to be turned
};

struct Patches {
    std::vector<Patch> list;
    std::vector<int> of;   ///< patch of each triangle
    std::vector<int> sign; ///< of each triangle: -1 when it faces against the majority of its patch
};

struct Corners {
    Vec3 a, b, c;
    Vec3 area_vector() const { return 0.5 * (b - a).cross(c - a); }
    Vec3 centroid() const { return (a + b + c) / 3.0; }
};

/// The corners in the order that makes the triangle agree with its patch.
Corners corners(const TriangleMesh& mesh, const Patches& patches, int t)
{
    const auto c = mesh.triangles.col(t);
    const bool turned = patches.sign[t] < 0;
    return {mesh.vertices.col(c[0]), mesh.vertices.col(c[turned ? 2 : 1]),
            mesh.vertices.col(c[turned ? 1 : 2])};
}

/// Collects the patch of triangle `seed`, giving each triangle the sign that makes it agree with the seed.
Patch flood(const Triangles& triangles, const std::vector<int>& twins, int seed, Patches& patches)
{
    Patch patch;
    patches.of[seed] = static_cast<int>(patches.list.size());
    patch.triangles.push_back(seed);
    for (std::size_t i = 0; i < patch.triangles.size(); ++i) {
        const int t = patch.triangles[i];
        for (int h = 3 * t; h < 3 * t + 3; ++h) {
            if (twins[h] < 0) continue;
            const int u = twins[h] / 3;
            const bool alike = half_edge_from(triangles, h) != half_edge_from(triangles, twins[h]);
            const int sign = alike ? patches.sign[t] : -patches.sign[t];
            if (patches.of[u] >= 0) {
                patch.orientable = patch.orientable && patches.sign[u] == sign;
                continue;
            }
            patches.of[u] = patches.of[seed];
            patches.sign[u] = sign;
            patch.triangles.push_back(u);
        }
    }
    std::sort(patch.triangles.begin(), patch.triangles.end());
    return patch;
}

/// Chooses the signs of a patch so that most triangles stay as they are.
void keep_majority(Patch& patch, std::vector<int>& sign)
{
    Index against = 0;
    for (const int t : patch.triangles) against += sign[t] < 0;
    const Index count = static_cast<Index>(patch.triangles.size());
    const int turn = 2 * against > count ? -1 : 1;
    for (const int t : patch.triangles) sign[t] = patch.orientable ? turn * sign[t] : 1;
    patch.agreement = static_cast<double>(std::max(against, count - against)) / static_cast<double>(count);
}

/// A patch is closed when every edge is run along as often one way as the other. Along edges of three triangles or more, where
/// patches end, it may still close itself: two boxes that touch along an edge.
void find_closed(const Triangles& triangles, const std::vector<int>& twins, Patches& patches)
{
    struct Use {
        int patch;
        std::uint64_t edge;
        int direction;
    };
    std::vector<Use> uses;
    for (int h = 0; h < static_cast<int>(twins.size()); ++h) {
        Patch& patch = patches.list[patches.of[h / 3]];
        const int from = half_edge_from(triangles, h), to = half_edge_to(triangles, h);
        if (twins[h] == border_edge) patch.closed = false;
        if (twins[h] == non_manifold_edge && from != to)
            uses.push_back(
                {patches.of[h / 3], edge_key(from, to), patches.sign[h / 3] * (from < to ? 1 : -1)});
    }
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
        return a.patch != b.patch ? a.patch < b.patch : a.edge < b.edge;
    });
    for (std::size_t i = 0; i < uses.size();) {
        int net = 0;
        std::size_t j = i;
        for (; j < uses.size() && uses[j].patch == uses[i].patch && uses[j].edge == uses[i].edge; ++j)
            net += uses[j].direction;
        if (net != 0) patches.list[uses[i].patch].closed = false;
        i = j;
    }
}

void measure(const TriangleMesh& mesh, const Patches& patches, Patch& patch)
{
    Vec3 moment = Vec3::Zero();
    for (const int t : patch.triangles) {
        const Corners x = corners(mesh, patches, t);
        const double area = x.area_vector().norm();
        patch.area += area;
        moment += area * x.centroid();
        for (const Vec3* corner : {&x.a, &x.b, &x.c}) patch.box.extend(*corner);
    }
    const Vec3 o = patch.area > 0.0 ? Vec3(moment / patch.area) : Vec3(patch.box.center());
    for (const int t : patch.triangles) {
        const Corners x = corners(mesh, patches, t);
        patch.volume += tet_volume(o, x.a, x.b, x.c);
    }
}

Patches find_patches(const TriangleMesh& mesh)
{
    const std::vector<int> twins = half_edge_twins(mesh.triangles);
    Patches patches;
    patches.of.assign(static_cast<std::size_t>(mesh.triangle_count()), -1);
    patches.sign.assign(patches.of.size(), 1);
    for (int t = 0; t < mesh.triangle_count(); ++t) {
        if (patches.of[t] >= 0) continue;
        patches.list.push_back(flood(mesh.triangles, twins, t, patches));
        keep_majority(patches.list.back(), patches.sign);
    }
    find_closed(mesh.triangles, twins, patches);
    for (Patch& patch : patches.list) measure(mesh, patches, patch);
    return patches;
}

/// Whether all of `inner` lies inside the closed patch `outer`: winding numbers at some of its triangles, exact.
bool is_inside(const TriangleMesh& mesh, const Patches& patches, const Patch& inner, const Patch& outer)
{
    const bool smaller = (inner.box.min().array() > outer.box.min().array()).all() &&
                         (inner.box.max().array() < outer.box.max().array()).all();
    if (!smaller) return false;
    constexpr std::size_t samples = 16;
    const std::size_t step = std::max<std::size_t>(1, inner.triangles.size() / samples);
    for (std::size_t i = 0; i < inner.triangles.size(); i += step) {
        const Vec3 p = corners(mesh, patches, inner.triangles[i]).centroid();
        double angle = 0.0;
        for (const int t : outer.triangles) {
            const Corners x = corners(mesh, patches, t);
            angle += solid_angle(p, x.a, x.b, x.c);
        }
        if (std::abs(angle) < 2.0 * std::numbers::pi) return false;
    }
    return true;
}

/// For each closed patch the closed patches around it, smallest first.
std::vector<std::vector<int>> find_enclosing(const TriangleMesh& mesh, const Patches& patches)
{
    std::vector<int> closed;
    for (int p = 0; p < static_cast<int>(patches.list.size()); ++p)
        if (patches.list[p].closed && patches.list[p].orientable) closed.push_back(p);

    std::vector<std::vector<int>> around(patches.list.size());
    parallel_for(static_cast<Index>(closed.size()), 1, [&](Index i) {
        const int p = closed[i];
        for (const int q : closed)
            if (q != p && is_inside(mesh, patches, patches.list[p], patches.list[q])) around[p].push_back(q);
        std::stable_sort(around[p].begin(), around[p].end(), [&](int a, int b) {
            return std::abs(patches.list[a].volume) < std::abs(patches.list[b].volume);
        });
    });
    return around;
}

/// Turns the closed patches: outward, and shells inside others as their facing or parity says.
void turn_closed(const TriangleMesh& mesh, Patches& patches, OrientReport& report)
{
    constexpr double trusted = 0.9; // agreement above which the facing of a patch is believed
    const auto around = find_enclosing(mesh, patches);
    std::vector<int> by_depth(patches.list.size());
    std::iota(by_depth.begin(), by_depth.end(), 0);
    std::stable_sort(by_depth.begin(), by_depth.end(),
                     [&](int a, int b) { return around[a].size() < around[b].size(); });

    const auto turned_to = [](const Patch& patch, double facing) {
        return patch.volume * facing < 0.0 ? -1 : 1;
    };
    std::vector<double> facing(patches.list.size(), 1.0); // +1 outward, -1 a cavity
    for (const int p : by_depth) {
        Patch& patch = patches.list[p];
        if (!patch.closed || !patch.orientable) continue;
        if (!around[p].empty()) {
            const int q = around[p].front();
            const Patch& outer = patches.list[q];
            const bool believe = patch.agreement >= trusted && outer.agreement >= trusted;
            const bool opposed = patch.volume * outer.volume < 0.0;
            if (believe)
                facing[p] = opposed ? -facing[q] : facing[q];
            else
                facing[p] = around[p].size() % 2 == 1 ? -1.0 : 1.0;
            ++(facing[p] < 0.0 ? report.cavities : report.inner_solids);
        }
        patch.turn = turned_to(patch, facing[p]);
    }
}

/// How often the surface is crossed along a ray, leaving out what lies closer than `gap`; counts up to a limit.
int count_crossings(const SurfaceQuery& surface, const Vec3& origin, const Vec3& direction, double gap)
{
    constexpr int limit = 64;
    double t = gap;
    int count = 0;
    while (count < limit) {
        const auto hit = surface.cast_ray(origin + t * direction, direction);
        if (!hit) break;
        t += hit->t + gap;
        ++count;
    }
    return count;
}

/// +1 when the line through p says that n points outside, -1 when inside, 0 when it does not tell.
int vote(const SurfaceQuery& surface, const Vec3& p, const Vec3& n, double gap)
{
    const int front = count_crossings(surface, p, n, gap), back = count_crossings(surface, p, -n, gap);
    if (front % 2 != back % 2) return front % 2 == 0 ? 1 : -1;
    if ((front == 0) != (back == 0)) return front == 0 ? 1 : -1;
    return 0;
}

/// The mean of the votes of points spread evenly over a patch.
double mean_vote(const TriangleMesh& mesh, const Patches& patches, const Patch& patch,
                 const SurfaceQuery& surface, int samples)
{
    const double gap = 1e-6 * bounds(mesh.vertices).diagonal().norm();
    Random random(1);
    double passed = 0.0;
    int taken = 0, sum = 0;
    for (const int t : patch.triangles) {
        const Corners x = corners(mesh, patches, t);
        const double area = x.area_vector().norm();
        passed += area;
        while (area > 0.0 && taken < samples && passed > (taken + 0.5) / samples * patch.area) {
            const double r = std::sqrt(random.uniform()), s = random.uniform();
            const Vec3 p = (1.0 - r) * x.a + r * (1.0 - s) * x.b + r * s * x.c;
            sum += vote(surface, p, x.area_vector() / area, gap);
            ++taken;
        }
    }
    return taken > 0 ? static_cast<double>(sum) / taken : 0.0;
}

void turn_open(const TriangleMesh& mesh, Patches& patches, OrientReport& report)
{
    std::vector<int> open;
    for (int p = 0; p < static_cast<int>(patches.list.size()); ++p)
        if (!patches.list[p].closed && patches.list[p].orientable) open.push_back(p);
    if (open.empty()) return;

    constexpr int total_samples = 200000, most = 64, least = 4;
    const int samples = std::clamp(total_samples / static_cast<int>(open.size()), least, most);
    constexpr double clear_vote = 0.2, clear_volume = 1e-3; // below these: as good as none
    const SurfaceQuery surface(mesh);
    std::vector<char> undecided(open.size(), 0);
    parallel_for(static_cast<Index>(open.size()), 1, [&](Index i) {
        Patch& patch = patches.list[open[i]];
        const double votes = mean_vote(mesh, patches, patch, surface, samples);
        const double bulge = patch.volume / std::pow(patch.area, 1.5);
        if (std::abs(votes) >= clear_vote)
            patch.turn = votes < 0.0 ? -1 : 1;
        else if (std::abs(bulge) >= clear_volume)
            patch.turn = bulge < 0.0 ? -1 : 1;
        else
            undecided[i] = 1;
    });
    report.undecided = std::count(undecided.begin(), undecided.end(), 1);
}

std::vector<std::string> describe(const OrientReport& report)
{
    std::vector<std::string> notes;
    const auto note = [&](Index count, const std::string& words) {
        if (count > 0) notes.push_back(words);
    };
    note(report.turned, fmt::format("turned {} round", counted(report.turned, "triangle")));
    note(report.cavities,
         fmt::format("took {} inside others for hollow", counted(report.cavities, "closed shell")));
    note(report.inner_solids,
         fmt::format("took {} inside others for solid", counted(report.inner_solids, "closed shell")));
    note(report.undecided,
         fmt::format("could not tell the outside of {}", counted(report.undecided, "open patch")));
    note(report.non_orientable, fmt::format("left {} with one side only (like a Moebius strip)",
                                            counted(report.non_orientable, "patch")));
    return notes;
}

} // namespace

OrientReport orient(TriangleMesh& mesh)
{
    require_valid(mesh);
    Patches patches = find_patches(mesh);
    OrientReport report;
    turn_closed(mesh, patches, report);
    turn_open(mesh, patches, report);

    for (int t = 0; t < mesh.triangle_count(); ++t) {
        if (patches.sign[t] * patches.list[patches.of[t]].turn > 0) continue;
        std::swap(mesh.triangles(1, t), mesh.triangles(2, t));
        ++report.turned;
    }
    report.patches = static_cast<Index>(patches.list.size());
    for (const Patch& patch : patches.list) {
        report.closed_patches += patch.closed;
        report.non_orientable += !patch.orientable;
    }
    report.notes = describe(report);
    return report;
}

} // namespace lithe
