#include "lithe/geometry/isosurface.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <tbb/parallel_sort.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/geometry/isosurface_polish.hpp"

namespace lithe {
namespace {

using Vec3i = Eigen::Matrix<std::int64_t, 3, 1>;
using EdgeKey = std::uint64_t;

constexpr int block = 4; ///< cubes along a side of the smallest block that is skipped whole
constexpr std::int64_t max_cubes_per_axis = 1 << 18; ///< so that an edge key fits into 64 bits
constexpr Index max_blocks = max_lattice_cells / (block * block * block);

/// Signed distance to the surface of a box.
double box_distance(const Box3& box, const Vec3& p)
{
    const Vec3 d = (p - box.center()).cwiseAbs() - 0.5 * box.sizes();
    return d.cwiseMax(0.0).norm() + std::min(d.maxCoeff(), 0.0);
}

/// A body-centred cubic lattice: the corners and the centres of n cubes of side `cell`. A point is addressed by
/// its coordinates in half cubes: corners are even, centres odd.
struct Lattice {
    Vec3 origin;
    double cell;
    Vec3i n;

    Vec3 position(const Vec3i& half) const { return origin + (0.5 * cell) * half.cast<double>(); }
    std::uint64_t id(const Vec3i& half) const
    {
        return static_cast<std::uint64_t>((half[2] * (2 * n[1] + 1) + half[1]) * (2 * n[0] + 1) + half[0]);
    }
    Vec3i half(std::uint64_t id) const
    {
        const auto nx = static_cast<std::uint64_t>(2 * n[0] + 1),
                   ny = static_cast<std::uint64_t>(2 * n[1] + 1);
        return Vec3i(static_cast<std::int64_t>(id % nx), static_cast<std::int64_t>(id / nx % ny),
                     static_cast<std::int64_t>(id / nx / ny));
    }
};

/// The directions of lattice edges, from the end with the lower id; the other seven are their opposites.
constexpr std::array<std::array<int, 3>, 7> edge_directions = {
    {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}}};

EdgeKey edge_key(const Lattice& lattice, const Vec3i& a, const Vec3i& b)
{
    const bool forward = lattice.id(a) < lattice.id(b);
    const Vec3i& low = forward ? a : b;
    const Vec3i d = forward ? Vec3i(b - a) : Vec3i(a - b);
    const auto direction = d[0] == 2 ? 0 : d[1] == 2 ? 1 : d[2] == 2 ? 2 : 3 + (d[0] + 1) / 2 + (d[1] + 1);
    return lattice.id(low) * 8 + static_cast<EdgeKey>(direction);
}

/// Corners of the cut lattice edges, three for each triangle, outward.
using Cuts = std::vector<EdgeKey>;

/// Marching tetrahedra in one tet of positive volume: appends the triangles between inside and outside. [DK91]
void march(const Lattice& lattice, const std::array<Vec3i, 4>& p, const std::array<bool, 4>& inside,
           Cuts& cuts)
{
    // the face opposite to a corner, and the even order (i j | k l) of a pair and its complement
    constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    constexpr int even[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    const auto cut = [&](int i, int j) { return edge_key(lattice, p[i], p[j]); };

    const int count = inside[0] + inside[1] + inside[2] + inside[3];
    if (count == 1 || count == 3) {
        const bool lone = count == 1; // what the lonely corner is
        const int i = inside[0] == lone ? 0 : inside[1] == lone ? 1 : inside[2] == lone ? 2 : 3;
        const int* o = opposite[i];
        cuts.push_back(cut(i, o[0]));
        cuts.push_back(cut(i, lone ? o[1] : o[2]));
        cuts.push_back(cut(i, lone ? o[2] : o[1]));
    } else if (count == 2) {
        for (const auto& [i, j, k, l] : even) {
            if (!inside[i] || !inside[j]) continue;
            const EdgeKey quad[4] = {cut(i, k), cut(i, l), cut(j, l), cut(j, k)};
            cuts.insert(cuts.end(), {quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]});
        }
    }
}

/// The lattice values in one block of cubes, each asked for at most once.
class BlockValues {
public:
    BlockValues(const Lattice& lattice, const ImplicitFunction& f, const Vec3i& base)
        : lattice_(lattice), f_(f), base_(2 * base)
    {
        values_.fill(unknown);
    }

    double operator()(const Vec3i& half)
    {
        const Vec3i at = half - base_;
        double& value = values_[static_cast<std::size_t>((at[2] * side + at[1]) * side + at[0])];
        if (value == unknown) {
            value = f_.value(lattice_.position(half));
            if (!(std::abs(value) < unknown)) value = 1e300; // NaN and infinity are outside
        }
        return value;
    }

private:
    static constexpr double unknown = std::numeric_limits<double>::max();
    static constexpr int side = 2 * block + 2; ///< half cubes, and one more centre on the upper sides
    const Lattice& lattice_;
    const ImplicitFunction& f_;
    Vec3i base_;
    std::array<double, side * side * side> values_;
};

/// The four tets around the face between the cubes with centres a and a + 2 e_axis.
void march_face(const Lattice& lattice, BlockValues& values, const Vec3i& a, int axis, Cuts& cuts)
{
    constexpr int corner[4][2] = {
        {1, 1}, {-1, 1}, {-1, -1}, {1, -1}}; // counter-clockwise seen from a + 2 e_axis
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const Vec3i b = a + 2 * Vec3i::Unit(axis);
    std::array<Vec3i, 4> ring;
    std::array<bool, 4> ring_inside;
    for (int m = 0; m < 4; ++m) {
        ring[m] = a + Vec3i::Unit(axis) + corner[m][0] * Vec3i::Unit(u) + corner[m][1] * Vec3i::Unit(v);
        ring_inside[m] = values(ring[m]) < 0.0;
    }
    const bool a_inside = values(a) < 0.0, b_inside = values(b) < 0.0;
    for (int m = 0; m < 4; ++m) {
        const int next = (m + 1) % 4;
        march(lattice, {a, b, ring[m], ring[next]}, {a_inside, b_inside, ring_inside[m], ring_inside[next]},
              cuts);
    }
}

/// All triangles of one block. A face is skipped when both its cubes are surely on one side as a whole.
Cuts march_block(const Lattice& lattice, const ImplicitFunction& f, const Vec3i& base)
{
    Cuts cuts;
    BlockValues values(lattice, f, base);
    const double sure = f.lipschitz * std::sqrt(0.75) * lattice.cell + f.slack;
    const Vec3i end = (base + Vec3i::Constant(block)).cwiseMin(lattice.n);
    for (std::int64_t k = base[2]; k < end[2]; ++k)
        for (std::int64_t j = base[1]; j < end[1]; ++j)
            for (std::int64_t i = base[0]; i < end[0]; ++i) {
                const Vec3i cube(i, j, k), a = 2 * cube + Vec3i::Ones();
                for (int axis = 0; axis < 3; ++axis) {
                    if (cube[axis] + 1 == lattice.n[axis]) continue;
                    const double fa = values(a), fb = values(a + 2 * Vec3i::Unit(axis));
                    if (std::abs(fa) > sure && std::abs(fb) > sure && (fa < 0.0) == (fb < 0.0)) continue;
                    march_face(lattice, values, a, axis, cuts);
                }
            }
    return cuts;
}

/// Which cubes of `size` cubes a side, among the children of `parents`, may hold a piece of the surface.
std::vector<Vec3i> refine(const Lattice& lattice, const ImplicitFunction& f,
                          const std::vector<Vec3i>& parents, std::int64_t size)
{
    std::vector<Vec3i> children;
    for (const Vec3i& parent : parents)
        for (int c = 0; c < 8; ++c) {
            const Vec3i child = parent + size * Vec3i(c & 1, (c >> 1) & 1, c >> 2);
            if ((child.array() < lattice.n.array()).all()) children.push_back(child);
        }
    std::vector<char> near(children.size());
    const double radius = std::sqrt(0.75) * lattice.cell * static_cast<double>(size);
    parallel_for(std::ssize(children), 64, [&](std::ptrdiff_t i) {
        const Vec3 centre = lattice.position(2 * children[i] + Vec3i::Constant(size));
        // a face looks at the cubes on both its sides, and one of them may be the neighbour's: one cube more
        const double reach = f.lipschitz * (radius + std::sqrt(3.0) * lattice.cell) + f.slack;
        near[i] = !(std::abs(f.value(centre)) > reach);
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < children.size(); ++i)
        if (near[i]) children[kept++] = children[i];
    children.resize(kept);
    return children;
}

[[noreturn]] void refuse_fine(double cell, double coarser)
{
    throw InputError(
        fmt::format("cell = {:.4g} m is too fine: more than {} million lattice cells lie near the surface; "
                    "use a cell of at least {:.3g} m",
                    cell, max_lattice_cells / 1'000'000, coarser));
}

/// The blocks near the surface, in a fixed order, found from the whole lattice downwards.
std::vector<Vec3i> blocks_near_surface(const Lattice& lattice, const ImplicitFunction& f, Progress& progress)
{
    std::int64_t size = block;
    while (size < lattice.n.maxCoeff()) size *= 2;
    std::vector<Vec3i> active = {Vec3i::Zero()};
    for (; size > block; size /= 2) {
        progress.check();
        active = refine(lattice, f, active, size / 2);
        if (std::ssize(active) > max_blocks) {
            const double excess =
                static_cast<double>(active.size() * (size / 2 / block) * (size / 2 / block));
            refuse_fine(lattice.cell,
                        1.05 * lattice.cell * std::sqrt(excess / static_cast<double>(max_blocks)));
        }
    }
    return active;
}

Lattice make_lattice(const Box3& box, double cell)
{
    const Vec3 cubes = (box.sizes() / cell).array().ceil() + 2.0; // a layer around the box, all outside
    if (cubes.maxCoeff() > static_cast<double>(max_cubes_per_axis))
        refuse_fine(cell, 1.01 * box.sizes().maxCoeff() / static_cast<double>(max_cubes_per_axis));
    Lattice lattice{Vec3::Zero(), cell, cubes.cast<std::int64_t>()};
    lattice.origin = box.center() - (0.5 * cell) * lattice.n.cast<double>();
    return lattice;
}

/// About where the surface crosses a lattice edge: the root of the line through the ends' values, and of the line
/// through it and the end of the other sign. Kept off the ends, so that no two crossings fall together.
Vec3 crossing(const Lattice& lattice, const ImplicitFunction& f, EdgeKey key)
{
    const auto& d = edge_directions[key % 8];
    const Vec3i low = lattice.half(key / 8);
    const Vec3 a = lattice.position(low), b = lattice.position(low + Vec3i(d[0], d[1], d[2]));
    const auto root = [](double t0, double f0, double t1, double f1) {
        const double t = t0 + (t1 - t0) * f0 / (f0 - f1);
        return t > t0 && t < t1 ? t : 0.5 * (t0 + t1);
    };
    const double f0 = f.value(a), f1 = f.value(b);
    const double first = root(0.0, f0, 1.0, f1), middle = f.value(a + first * (b - a));
    const double t =
        (middle < 0.0) == (f0 < 0.0) ? root(first, middle, 1.0, f1) : root(0.0, f0, first, middle);
    return a + std::clamp(t, 0.02, 0.98) * (b - a);
}

/// Joins the blocks' triangles: every cut edge becomes one vertex.
TriangleMesh join(const Lattice& lattice, const ImplicitFunction& f, const std::vector<Cuts>& blocks)
{
    std::vector<std::size_t> begin(blocks.size() + 1, 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) begin[b + 1] = begin[b] + blocks[b].size();
    Cuts edges(begin.back());
    for (std::size_t b = 0; b < blocks.size(); ++b)
        std::copy(blocks[b].begin(), blocks[b].end(), edges.begin() + begin[b]);
    tbb::parallel_sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

    TriangleMesh mesh;
    mesh.vertices.resize(3, std::ssize(edges));
    parallel_for(std::ssize(edges), 64,
                 [&](std::ptrdiff_t i) { mesh.vertices.col(i) = crossing(lattice, f, edges[i]); });
    mesh.triangles.resize(3, static_cast<Index>(begin.back() / 3));
    parallel_for(std::ssize(blocks), 1, [&](std::ptrdiff_t b) {
        int* corner = mesh.triangles.data() + begin[b];
        for (const EdgeKey key : blocks[b])
            *corner++ = static_cast<int>(std::lower_bound(edges.begin(), edges.end(), key) - edges.begin());
    });
    return mesh;
}

} // namespace

TriangleMesh isosurface(const ImplicitFunction& f, const Box3& box, double cell, Progress& progress)
{
    require_positive("cell", cell);
    if (box.isEmpty() || !box.min().allFinite() || !box.max().allFinite())
        throw InputError("the box around the surface is empty or not finite; give one that holds the shape");

    // cut off by the box: still closed where the solid leaves it
    ImplicitFunction solid = f;
    solid.lipschitz = std::max(f.lipschitz, 1.0);
    solid.value = [&](const Vec3& p) {
        const double value = f.value(p);
        return std::isnan(value) ? value : std::max(value, box_distance(box, p));
    };

    const Lattice lattice = make_lattice(box, cell);
    const std::vector<Vec3i> active = blocks_near_surface(lattice, solid, progress);
    std::vector<Cuts> cuts(active.size());
    progress.begin("surface", std::ssize(active));
    parallel_for(std::ssize(active), 1, [&](std::ptrdiff_t b) {
        cuts[b] = march_block(lattice, solid, active[b]);
        progress.advance();
    });
    progress.end();

    TriangleMesh mesh = join(lattice, solid, cuts);
    if (mesh.triangle_count() == 0)
        throw InputError(
            fmt::format("cell = {:.4g} m is too coarse: no part of the shape is found in its box of "
                        "{:.3g} x {:.3g} x {:.3g} m; use a smaller cell",
                        cell, box.sizes()[0], box.sizes()[1], box.sizes()[2]));
    cuts.clear();
    polish(solid, cell, mesh, progress);
    return mesh;
}

} // namespace lithe
