#include "lithe/geometry/lattice_levels.hpp"

#include <algorithm>

#include "lithe/core/error.hpp"
#include "lithe/geometry/lattice_cells.hpp"

namespace lithe {
namespace {

/// Things named by keys, numbered by their order.
template <class Key>
struct Numbering {
    std::vector<Key> keys;

    explicit Numbering(std::vector<Key> all) : keys(std::move(all))
    {
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    int count() const { return static_cast<int>(keys.size()); }
    int of(const Key& key) const
    {
        return static_cast<int>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
    }
};

Numbering<std::array<int, 2>> edges_of(const std::vector<LatticeCell>& cells)
{
    std::vector<std::array<int, 2>> keys;
    for (const LatticeCell& cell : cells)
        for (const auto& [a, b] : topology(cell.kind).edges)
            keys.push_back(edge_key(cell.vertices[a], cell.vertices[b]));
    return Numbering(std::move(keys));
}

Numbering<LatticeFace> faces_of(const std::vector<LatticeCell>& cells)
{
    std::vector<LatticeFace> keys;
    for (const LatticeCell& cell : cells)
        for (const LatticeFace& face : topology(cell.kind).faces) keys.push_back(face_key(cell, face));
    return Numbering(std::move(keys));
}

/// From one level to the next.
class Subdivision {
public:
    explicit Subdivision(const LatticeLevel& coarse)
        : coarse_(coarse), edges_(edges_of(coarse.cells)), faces_(faces_of(coarse.cells)),
          first_edge_(static_cast<int>(coarse.vertices.cols())), first_face_(first_edge_ + edges_.count()),
          first_cell_(first_face_ + faces_.count())
    {
    }

    LatticeLevel fine() const
    {
        LatticeLevel fine;
        fine.from_coarser = averages();
        fine.vertices = coarse_.vertices * fine.from_coarser.transpose();
        for (std::size_t c = 0; c < coarse_.cells.size(); ++c) add_hexes(static_cast<int>(c), fine.cells);
        fine.on_bone = coarse_.on_bone;
        fine.on_bone.resize(static_cast<std::size_t>(fine.vertices.cols()), 0);
        for (const auto& [a, b] : coarse_.bone_edges) {
            const int middle = first_edge_ + edges_.of(edge_key(a, b));
            fine.on_bone[static_cast<std::size_t>(middle)] = 1;
            fine.bone_edges.push_back({a, middle});
            fine.bone_edges.push_back({middle, b});
        }
        return fine;
    }

private:
    SparseRows averages() const
    {
        std::vector<Triplet> entries;
        for (int v = 0; v < first_edge_; ++v) entries.emplace_back(v, v, 1.0);
        for (int e = 0; e < edges_.count(); ++e) add_average(first_edge_ + e, edges_.keys[e], entries);
        for (int f = 0; f < faces_.count(); ++f) add_average(first_face_ + f, faces_.keys[f], entries);
        for (std::size_t c = 0; c < coarse_.cells.size(); ++c)
            add_average(first_cell_ + static_cast<int>(c), coarse_.cells[c].vertices, entries);
        SparseRows S(first_cell_ + static_cast<int>(coarse_.cells.size()), first_edge_);
        S.setFromTriplets(entries.begin(), entries.end());
        return S;
    }

    template <class Corners>
    static void add_average(int row, const Corners& corners, std::vector<Triplet>& entries)
    {
        const auto used = std::count_if(corners.begin(), corners.end(), [](int v) { return v >= 0; });
        for (const int v : corners)
            if (v >= 0) entries.emplace_back(row, v, 1.0 / static_cast<double>(used));
    }

    void add_hexes(int c, std::vector<LatticeCell>& hexes) const
    {
        const LatticeCell& cell = coarse_.cells[static_cast<std::size_t>(c)];
        const LatticeCellTopology& shape = topology(cell.kind);
        const auto edge = [&](int a, int b) {
            return first_edge_ + edges_.of(edge_key(cell.vertices[a], cell.vertices[b]));
        };
        for (int v = 0; v < shape.corner_count; ++v) {
            const auto& [n1, n2, n3] = shape.neighbours[static_cast<std::size_t>(v)];
            hexes.push_back({LatticeCellKind::Hex,
                             {cell.vertices[v], edge(v, n1), edge(v, n2), face(cell, v, n1, n2), edge(v, n3),
                              face(cell, v, n1, n3), face(cell, v, n2, n3), first_cell_ + c}});
        }
    }

    /// The vertex in the middle of the face with corners a, b and c.
    int face(const LatticeCell& cell, int a, int b, int c) const
    {
        const auto has = [](const LatticeFace& f, int corner) {
            return std::find(f.begin(), f.end(), corner) != f.end();
        };
        for (const LatticeFace& f : topology(cell.kind).faces)
            if (has(f, a) && has(f, b) && has(f, c)) return first_face_ + faces_.of(face_key(cell, f));
        LITHE_ASSERT(false);
        return -1;
    }

    const LatticeLevel& coarse_;
    Numbering<std::array<int, 2>> edges_;
    Numbering<LatticeFace> faces_;
    int first_edge_, first_face_, first_cell_; ///< new vertices
};

LatticeLevel level_zero(const ControlLattice& lattice)
{
    LatticeLevel level;
    level.vertices.resize(3, static_cast<Index>(lattice.vertices.size()));
    for (std::size_t v = 0; v < lattice.vertices.size(); ++v)
        level.vertices.col(static_cast<Index>(v)) = lattice.vertices[v];
    level.cells = lattice.cells;
    level.on_bone.assign(lattice.vertices.size(), 0);
    for (const LatticeBone& bone : lattice.bones) {
        for (const int v : bone.vertices) level.on_bone[static_cast<std::size_t>(v)] = 1;
        for (std::size_t k = 1; k < bone.vertices.size(); ++k)
            level.bone_edges.push_back({bone.vertices[k - 1], bone.vertices[k]});
    }
    return level;
}

Index finest_cells(LatticeCellKind kind, int subdivisions)
{
    if (subdivisions == 0) return 1;
    return Index(topology(kind).corner_count) << (3 * (subdivisions - 1));
}

} // namespace

LatticeLevels subdivided(const ControlLattice& lattice, int subdivisions)
{
    LatticeLevels result;
    result.levels.push_back(level_zero(lattice));
    for (int l = 0; l < subdivisions; ++l) result.levels.push_back(Subdivision(result.levels.back()).fine());
    result.first_finest_cell = {0};
    for (const LatticeCell& cell : lattice.cells)
        result.first_finest_cell.push_back(result.first_finest_cell.back() +
                                           finest_cells(cell.kind, subdivisions));
    return result;
}

TetMesh finest_tets(const LatticeLevels& levels)
{
    LITHE_ASSERT(levels.count() > 0);
    // From corner 0 to corner 7 along the axes in every order; x is bit 0.
    constexpr int steps[6][2] = {{1, 3}, {2, 6}, {4, 5}, {3, 2}, {6, 4}, {5, 1}};
    const LatticeLevel& finest = levels.finest();
    TetMesh mesh{.vertices = finest.vertices, .tets = Tets(4, 6 * static_cast<Index>(finest.cells.size()))};
    Index t = 0;
    for (const LatticeCell& hex : finest.cells)
        for (const auto& [a, b] : steps)
            mesh.tets.col(t++) << hex.vertices[0], hex.vertices[a], hex.vertices[b], hex.vertices[7];
    return mesh;
}

SparseRows prolongation(const LatticeLevels& levels, int level)
{
    const Index n = levels.levels[static_cast<std::size_t>(level)].vertices.cols();
    SparseRows P(n, n);
    P.setIdentity();
    for (int l = level + 1; l <= levels.count(); ++l)
        P = SparseRows(levels.levels[static_cast<std::size_t>(l)].from_coarser * P);
    return P;
}

LatticeBasis hierarchical_basis(const LatticeLevels& levels, int highest_level)
{
    LITHE_ASSERT(highest_level <= levels.count());
    LatticeBasis basis;
    std::vector<Triplet> entries;
    Index known = 0; // vertices of the level before
    for (int l = 0; l <= highest_level; ++l) {
        const LatticeLevel& level = levels.levels[static_cast<std::size_t>(l)];
        std::vector<int> column(static_cast<std::size_t>(level.vertices.cols()), -1);
        for (Index v = known; v < level.vertices.cols(); ++v) {
            if (l > 0 && level.on_bone[static_cast<std::size_t>(v)]) continue;
            column[static_cast<std::size_t>(v)] = basis.count();
            basis.functions.push_back({l, static_cast<int>(v)});
        }
        known = level.vertices.cols();
        const SparseRows P = prolongation(levels, l);
        for (Index r = 0; r < P.rows(); ++r)
            for (SparseRows::InnerIterator it(P, r); it; ++it)
                if (const int c = column[static_cast<std::size_t>(it.col())]; c >= 0)
                    entries.emplace_back(static_cast<int>(r), c, it.value());
    }
    basis.values.resize(levels.finest().vertices.cols(), basis.count());
    basis.values.setFromTriplets(entries.begin(), entries.end());
    return basis;
}

} // namespace lithe
