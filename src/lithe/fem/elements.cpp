#include "lithe/fem/elements.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

int label_of(const TetMesh& mesh, Index tet)
{
    return mesh.regions.empty() ? 0 : mesh.regions[static_cast<std::size_t>(tet)];
}

void require_usable(const TetMesh& mesh, std::span<const RegionMaterial> materials)
{
    if (mesh.tet_count() == 0) throw InputError("the mesh has no tets; make some from its surface first");
    if (!mesh.regions.empty() && static_cast<Index>(mesh.regions.size()) != mesh.tet_count())
        throw InputError("the mesh has " + std::to_string(mesh.regions.size()) + " region labels for " +
                         std::to_string(mesh.tet_count()) + " tets; give one for each or none");
    if (!mesh.vertices.allFinite()) throw InputError("the mesh has a vertex that is not finite; remove it");
    for (std::size_t i = 0; i < materials.size(); ++i) {
        (void)require_positive("density", materials[i].density);
        for (std::size_t j = 0; j < i; ++j)
            if (materials[i].label == materials[j].label)
                throw InputError("region " + std::to_string(materials[i].label) +
                                 " has two materials; remove one");
    }
    std::vector<bool> used(static_cast<std::size_t>(mesh.vertex_count()), false);
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        for (const int v : mesh.tets.col(t)) {
            if (v < 0 || v >= mesh.vertex_count())
                throw InputError("tet " + std::to_string(t) + " uses vertex " + std::to_string(v) +
                                 ", but there are " + std::to_string(mesh.vertex_count()));
            used[static_cast<std::size_t>(v)] = true;
        }
        if (std::ranges::none_of(materials, [&](const auto& m) { return m.label == label_of(mesh, t); }))
            throw InputError("region " + std::to_string(label_of(mesh, t)) + " of tet " + std::to_string(t) +
                             " has no material; give it one");
    }
    const auto lonely = std::ranges::find(used, false);
    if (lonely != used.end())
        throw InputError("vertex " + std::to_string(lonely - used.begin()) +
                         " belongs to no tet; drop unused vertices");
}

void set_lane(const TetMesh& mesh, Index tet, TetBatch& batch, int lane)
{
    const Eigen::Vector4i corner = mesh.tets.col(tet);
    Mat3 D;
    for (int a = 0; a < 3; ++a) D.col(a) = mesh.vertices.col(corner[a + 1]) - mesh.vertices.col(corner[0]);
    const double volume = D.determinant() / 6.0;
    const Mat3 inverse = D.inverse();
    if (!(volume > 0.0) || !inverse.allFinite())
        throw InputError("tet " + std::to_string(tet) + " is inverted or flat (volume " +
                         std::to_string(volume) + "); flip or remove it");
    for (int e = 0; e < 9; ++e) batch.inverse_rest[e][lane] = inverse.data()[e];
    batch.volume[lane] = volume;
    for (int a = 0; a < 4; ++a) batch.corner[a][lane] = corner[a];
}

} // namespace

Elements make_elements(const TetMesh& mesh, std::span<const RegionMaterial> materials)
{
    require_usable(mesh, materials);
    Elements out;
    out.vertex_count = mesh.vertex_count();
    for (const RegionMaterial& region : materials) {
        ElementRegion placed{region.material, region.density, static_cast<Index>(out.batches.size()), 0};
        for (Index t = 0; t < mesh.tet_count(); ++t) {
            if (label_of(mesh, t) != region.label) continue;
            if (out.slot_count() % TetBatch::lane_count == 0) out.batches.emplace_back();
            set_lane(mesh, t, out.batches.back(), static_cast<int>(out.slot_count() % TetBatch::lane_count));
            out.tet_of_slot.push_back(static_cast<int>(t));
        }
        while (out.slot_count() % TetBatch::lane_count != 0) {
            const int lane = static_cast<int>(out.slot_count() % TetBatch::lane_count);
            set_lane(mesh, out.tet_of_slot[static_cast<std::size_t>(out.slot_count() / 8 * 8)],
                     out.batches.back(), lane);
            out.batches.back().volume[lane] = 0.0;
            out.tet_of_slot.push_back(-1);
        }
        placed.last_batch = static_cast<Index>(out.batches.size());
        if (placed.last_batch > placed.first_batch) out.regions.push_back(placed);
    }
    return out;
}

namespace {

/// Calls f(slot, corners) for every tet.
template <class F>
void for_each_tet(const Elements& elements, const F& f)
{
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        if (elements.tet_of_slot[static_cast<std::size_t>(slot)] < 0) continue;
        const TetBatch& batch = elements.batches[static_cast<std::size_t>(slot / 8)];
        int corner[4];
        for (int a = 0; a < 4; ++a) corner[a] = batch.corner[a][slot % 8];
        f(static_cast<int>(slot), corner);
    }
}

/// An element block that adds to (i, j), i <= j.
struct Part {
    int i, j, code;
    friend auto operator<=>(const Part&, const Part&) = default;
};

std::vector<Part> all_parts(const Elements& elements)
{
    constexpr int corners_of_slot[10][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1},
                                            {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    std::vector<Part> parts;
    parts.reserve(static_cast<std::size_t>(10 * elements.slot_count()));
    for_each_tet(elements, [&](int slot, const int* corner) {
        for (int s = 0; s < 10; ++s) {
            const int i = corner[corners_of_slot[s][0]], j = corner[corners_of_slot[s][1]];
            parts.push_back({std::min(i, j), std::max(i, j), 2 * (90 * slot + 9 * s) + (i > j ? 1 : 0)});
        }
    });
    std::sort(parts.begin(), parts.end());
    return parts;
}

/// Columns of vertex neighbours, from the sorted parts.
void set_columns(const std::vector<Part>& parts, Index vertex_count, StiffnessPattern& out)
{
    std::vector<std::pair<int, int>> entries; // (column, row)
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (p > 0 && parts[p].i == parts[p - 1].i && parts[p].j == parts[p - 1].j) continue;
        entries.emplace_back(parts[p].j, parts[p].i);
        if (parts[p].i != parts[p].j) entries.emplace_back(parts[p].i, parts[p].j);
    }
    std::sort(entries.begin(), entries.end());
    out.column_start.assign(static_cast<std::size_t>(vertex_count) + 1, 0);
    for (const auto& [column, row] : entries) {
        ++out.column_start[static_cast<std::size_t>(column) + 1];
        out.row.push_back(row);
    }
    std::partial_sum(out.column_start.begin(), out.column_start.end(), out.column_start.begin());
}

SparseMatrix zero_matrix(const StiffnessPattern& pattern)
{
    const Index n = static_cast<Index>(pattern.column_start.size()) - 1;
    SparseMatrix zero(3 * n, 3 * n);
    zero.resizeNonZeros(9 * pattern.block_count());
    int at = 0;
    for (Index j = 0; j < n; ++j)
        for (int c = 0; c < 3; ++c) {
            zero.outerIndexPtr()[3 * j + c] = at;
            for (int k = pattern.column_start[static_cast<std::size_t>(j)];
                 k < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++k)
                for (int r = 0; r < 3; ++r)
                    zero.innerIndexPtr()[at++] = 3 * pattern.row[static_cast<std::size_t>(k)] + r;
        }
    zero.outerIndexPtr()[3 * n] = at;
    std::fill(zero.valuePtr(), zero.valuePtr() + zero.nonZeros(), 0.0);
    return zero;
}

StiffnessPattern::Place place(const StiffnessPattern& pattern, int i, int j)
{
    const int start = pattern.column_start[static_cast<std::size_t>(j)];
    const int end = pattern.column_start[static_cast<std::size_t>(j) + 1];
    const auto found = std::lower_bound(pattern.row.begin() + start, pattern.row.begin() + end, i);
    const int index = static_cast<int>(found - pattern.row.begin());
    return {index, 9 * start + 3 * (index - start), 3 * (end - start)};
}

void set_blocks(const std::vector<Part>& parts, StiffnessPattern& out)
{
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (p == 0 || parts[p].i != parts[p - 1].i || parts[p].j != parts[p - 1].j) {
            const int i = parts[p].i, j = parts[p].j;
            out.blocks.push_back({place(out, i, j), place(out, j, i), static_cast<int>(p)});
        }
        out.parts.push_back(parts[p].code);
    }
    out.blocks.push_back({{}, {}, static_cast<int>(parts.size())});
}

void set_vertex_corners(const Elements& elements, StiffnessPattern& out)
{
    out.vertex_start.assign(static_cast<std::size_t>(elements.vertex_count) + 1, 0);
    for_each_tet(elements, [&](int, const int* corner) {
        for (int a = 0; a < 4; ++a) ++out.vertex_start[static_cast<std::size_t>(corner[a]) + 1];
    });
    std::partial_sum(out.vertex_start.begin(), out.vertex_start.end(), out.vertex_start.begin());
    out.vertex_corners.resize(static_cast<std::size_t>(out.vertex_start.back()));
    std::vector<int> next(out.vertex_start.begin(), out.vertex_start.end() - 1);
    for_each_tet(elements, [&](int slot, const int* corner) {
        for (int a = 0; a < 4; ++a)
            out.vertex_corners[static_cast<std::size_t>(next[static_cast<std::size_t>(corner[a])]++)] =
                12 * slot + 3 * a;
    });
}

} // namespace

StiffnessPattern make_stiffness_pattern(const Elements& elements)
{
    if (elements.slot_count() > 10'000'000)
        throw InputError("the body has " + std::to_string(elements.slot_count()) +
                         " tets; at most ten million fit 32-bit places");
    StiffnessPattern out;
    const std::vector<Part> parts = all_parts(elements);
    set_columns(parts, elements.vertex_count, out);
    out.zero = zero_matrix(out);
    set_blocks(parts, out);
    set_vertex_corners(elements, out);
    return out;
}

void adopt_pattern(const StiffnessPattern& pattern, SparseMatrix& A)
{
    const SparseMatrix& zero = pattern.zero;
    const bool same =
        A.cols() == zero.cols() && A.nonZeros() == zero.nonZeros() &&
        std::equal(zero.outerIndexPtr(), zero.outerIndexPtr() + zero.cols() + 1, A.outerIndexPtr()) &&
        std::equal(zero.innerIndexPtr(), zero.innerIndexPtr() + zero.nonZeros(), A.innerIndexPtr());
    if (!same) A = zero;
}

} // namespace lithe
