#include "lithe/meshing/stuffing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

using Coordinate = Eigen::Vector3i; // in half cells
constexpr double far = std::numeric_limits<double>::infinity();

// Half of the 14 edges of a vertex; the other half belongs to the neighbours. Three long, then four short.
constexpr int edge_steps[7][3] = {{2, 0, 0},  {0, 2, 0},  {0, 0, 2},  {1, 1, 1},
                                  {1, 1, -1}, {1, -1, 1}, {1, -1, -1}};

/// Of the 14 edges of a vertex; the second seven are the first turned round.
Coordinate step(int direction)
{
    const Coordinate ahead(edge_steps[direction % 7][0], edge_steps[direction % 7][1],
                           edge_steps[direction % 7][2]);
    return direction < 7 ? ahead : Coordinate(-ahead);
}

bool is_long(int direction)
{
    return direction % 7 < 3;
}

// A vertex moves to a cut point that is nearer than this share of the edge.  [LS07]
constexpr double warp_share_long = 0.24999;
constexpr double warp_share_short = 0.41189;

double warp_share(int direction)
{
    return is_long(direction) ? warp_share_long : warp_share_short;
}

/// For each set of the 14 neighbours of a vertex (a bit each): does it hang together, and is it not empty?
/// Neighbours of a vertex are themselves joined where they differ by an edge of the lattice.
class NeighbourSets {
public:
    NeighbourSets() : connected_(1u << 14)
    {
        std::array<unsigned, 14> joined{};
        for (int i = 0; i < 14; ++i)
            for (int j = 0; j < 14; ++j)
                for (int d = 0; d < 14; ++d)
                    if (step(j) - step(i) == step(d)) joined[static_cast<std::size_t>(i)] |= 1u << j;
        for (unsigned set = 1; set < connected_.size(); ++set) {
            unsigned reached = set & (~set + 1), before = 0;
            while (reached != before) {
                before = reached;
                for (std::size_t i = 0; i < 14; ++i)
                    if (before >> i & 1u) reached |= joined[i] & set;
            }
            connected_[set] = reached == set;
        }
    }
    bool connected(unsigned set) const { return connected_[set]; }

private:
    std::vector<bool> connected_;
};

} // namespace

LevelLattice::LevelLattice(LevelSet level_set, const Box3& box, const LatticeOptions& options,
                           Progress& progress)
    : level_set_(std::move(level_set)), cell_(require_positive("cell", options.cell)), reach_(options.reach),
      sampling_(options.sampling)
{
    LITHE_ASSERT(!box.isEmpty() && reach_ >= 0.0);
    const Vec3 margin = Vec3::Constant(2.0 * cell_ + reach_);
    const Vec3 cells = (box.sizes() + 2.0 * margin) / cell_;
    const Vec3 blocks = (cells / block_cells).array().ceil().max(1.0);
    if (!(blocks.prod() < 5e7 && blocks.maxCoeff() < 1e6))
        throw InputError("cell = " + std::to_string(cell_) + " is too fine for a box of size " +
                         std::to_string(box.sizes().maxCoeff()) + "; take a larger cell or a smaller count");
    blocks_ = blocks.cast<int>();
    // Off the middle by odd shares of a cell: a symmetric shape would meet whole layers of the lattice at once.
    origin_ = box.center() - 0.5 * cell_ * block_cells * blocks + cell_ * Vec3(0.13, 0.29, 0.41);
    choose_blocks(progress);

    values_.resize(stored_.size() * block_vertices);
    held_.assign(values_.size(), Held::Free);
    progress.begin("sample", static_cast<std::int64_t>(stored_.size()));
    parallel_for(static_cast<Index>(stored_.size()), 1, [&](Index b) {
        fill(stored_[static_cast<std::size_t>(b)], block_cells, values_.data() + b * block_vertices);
        progress.advance();
    });
    progress.end();
}

/// Keeps the blocks that are not wholly outside.
void LevelLattice::choose_blocks(Progress& progress)
{
    const Index count = Index{blocks_[0]} * blocks_[1] * blocks_[2];
    const auto first_cell = [this](Index b) -> Coordinate {
        return Coordinate(static_cast<int>(b % blocks_[0]), static_cast<int>(b / blocks_[0] % blocks_[1]),
                          static_cast<int>(b / (Index{blocks_[0]} * blocks_[1]))) *
               block_cells;
    };
    block_index_.assign(static_cast<std::size_t>(count), -1);
    progress.begin("scan", count);
    parallel_blocks(count, 16, [&](Index begin, Index end) {
        for (Index b = begin; b < end; ++b) {
            const Coordinate centre = 2 * first_cell(b) + Coordinate::Constant(block_cells);
            const double value = level_set_(position(centre));
            if (value < 0.0 || !one_sign(value, block_cells)) block_index_[static_cast<std::size_t>(b)] = 0;
        }
        progress.advance(end - begin);
    });
    progress.end();
    for (Index b = 0; b < count; ++b) {
        if (block_index_[static_cast<std::size_t>(b)] < 0) continue;
        block_index_[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(stored_.size());
        stored_.push_back(first_cell(b));
    }
}

/// True when a cube of `cells` cells with this value at its centre lies more than an edge away from every level.
bool LevelLattice::one_sign(double centre_value, int cells) const
{
    if (sampling_ == LatticeSampling::Everywhere) return false;
    const double radius = 0.5 * std::sqrt(3.0) * cells * cell_;
    return std::abs(centre_value) > radius + cell_ + reach_;
}

/// Fills a cube of cells of one block, halving it until it has one sign or is one cell.
void LevelLattice::fill(const Coordinate& first_cell, int cells, double* block) const
{
    const auto local = [](const Coordinate& cell) {
        const Coordinate l = cell.unaryExpr([](int c) { return c % block_cells; });
        return 2 * ((l[2] * block_cells + l[1]) * block_cells + l[0]);
    };
    const double centre = level_set_(position(2 * first_cell + Coordinate::Constant(cells)));
    if (cells == 1) {
        block[local(first_cell)] = level_set_(position(2 * first_cell));
        block[local(first_cell) + 1] = centre;
        return;
    }
    const bool uniform = one_sign(centre, cells);
    const int part = uniform ? 1 : cells / 2;
    for (int k = 0; k < cells; k += part)
        for (int j = 0; j < cells; j += part)
            for (int i = 0; i < cells; i += part) {
                const Coordinate at = first_cell + Coordinate(i, j, k);
                if (uniform)
                    block[local(at)] = block[local(at) + 1] = centre < 0.0 ? -far : far;
                else
                    fill(at, part, block);
            }
}

std::int64_t LevelLattice::slot(const Coordinate& at) const
{
    const Coordinate cell(at[0] >> 1, at[1] >> 1, at[2] >> 1);
    if ((cell.array() < 0).any() || (cell.array() >= blocks_.array() * block_cells).any()) return -1;
    const Index b = (Index{cell[2] / block_cells} * blocks_[1] + cell[1] / block_cells) * blocks_[0] +
                    cell[0] / block_cells;
    const std::int64_t stored = block_index_[static_cast<std::size_t>(b)];
    if (stored < 0) return -1;
    const int local =
        ((cell[2] % block_cells) * block_cells + cell[1] % block_cells) * block_cells + cell[0] % block_cells;
    return stored * block_vertices + 2 * local + (at[0] & 1);
}

Coordinate LevelLattice::coordinate(std::int64_t slot) const
{
    const int local = static_cast<int>(slot % block_vertices);
    const int cell = local / 2;
    const Coordinate at(cell % block_cells, cell / block_cells % block_cells,
                        cell / (block_cells * block_cells));
    return 2 * (stored_[static_cast<std::size_t>(slot / block_vertices)] + at) +
           Coordinate::Constant(local % 2);
}

std::int64_t LevelLattice::nearest_slot(const Vec3& point) const
{
    const Vec3 cells = (point - origin_) / cell_;
    const Coordinate corner = 2 * cells.array().round().matrix().cast<int>();
    const Coordinate centre = 2 * cells.array().floor().matrix().cast<int>() + Coordinate::Ones();
    const auto away = [&cells](const Coordinate& at) {
        return (cells - 0.5 * at.cast<double>()).squaredNorm();
    };
    return slot(away(corner) <= away(centre) ? corner : centre);
}

double LevelLattice::sampled_volume(double level) const
{
    const auto inside =
        std::count_if(values_.begin(), values_.end(), [level](double v) { return v < level; });
    return 0.5 * static_cast<double>(inside) * cell_ * cell_ * cell_;
}

namespace {

/// Where the surface crosses an edge of the lattice.
struct Cut {
    std::int64_t inner;
    std::int64_t outer;
    int direction;
    Vec3 point;
    double share; ///< from the inner end, in [0, 1]
};

enum class Side : std::uint8_t { Outside, On, Inside };

/// One run of the algorithm: the lattice with its cut points and warped vertices, and the tets made so far.
class Stuffing {
public:
    Stuffing(const LevelLattice& lattice, double level) : lattice_(lattice), level_(level) {}
    TetMesh run(Progress& progress);

private:
    // A corner of an output tet: a slot of the lattice, or slot_count + index of a cut point.
    using Corner = std::int64_t;
    using TetCorners = std::array<Corner, 4>;
    struct Background { ///< one lattice tet: two centres, two corners; positively oriented
        std::array<std::int64_t, 4> slot;
        std::array<Coordinate, 4> at;
    };
    struct Rail { ///< an inside vertex and the cut point towards an outside one
        int inside;
        Corner cut;
    };

    void label_sides();
    void find_cuts(Progress& progress);
    void locate(Cut& cut) const;
    void place(Cut& cut, double share) const;
    void warp();
    void warp_vertex(std::int64_t slot);
    std::int32_t cut_between(std::int64_t slot, int direction, std::int64_t other) const;
    bool may_warp(std::int64_t slot);
    bool surface_is_simple(std::int64_t slot) const;
    void push_cuts_away(std::int64_t slot);
    void make_tets(Progress& progress);
    void cut_cell(std::int64_t slot, std::vector<TetCorners>& tets) const;
    void cut_tet(const Background& tet, std::vector<TetCorners>& tets) const;
    void add(const Background& tet, TetCorners corners, std::vector<TetCorners>& tets) const;
    bool comes_first(const Background& tet, int a, int b, int outer) const;
    Corner cut_corner(const Background& tet, int a, int b) const;
    Coordinate reference(const Background& tet, Corner corner) const;
    TetMesh gather() const;

    std::int64_t neighbour(std::int64_t slot, int direction) const
    {
        return lattice_.slot(lattice_.coordinate(slot) + step(direction));
    }
    std::int32_t& cut_index(std::int64_t slot, int direction)
    {
        return cut_index_[static_cast<std::size_t>(slot * 7 + direction)];
    }

    const LevelLattice& lattice_;
    double level_;
    NeighbourSets sets_;
    std::vector<Side> side_; ///< of each slot
    std::vector<Cut> cuts_;
    std::vector<std::int32_t> cut_index_;       ///< of each slot and direction, -1: none
    std::vector<std::int32_t> warped_to_;       ///< of each slot: the cut point it moved to, -1: stays
    std::vector<std::vector<TetCorners>> tets_; ///< of each stored block
};

TetMesh Stuffing::run(Progress& progress)
{
    label_sides();
    find_cuts(progress);
    warp();
    make_tets(progress);
    return gather();
}

void Stuffing::label_sides()
{
    side_.resize(static_cast<std::size_t>(lattice_.slot_count()));
    for (std::size_t s = 0; s < side_.size(); ++s)
        side_[s] = lattice_.is_inside(static_cast<std::int64_t>(s), level_) ? Side::Inside : Side::Outside;
}

void Stuffing::find_cuts(Progress& progress)
{
    const Index slots = lattice_.slot_count();
    cut_index_.assign(static_cast<std::size_t>(slots) * 7, -1);
    for (std::int64_t s = 0; s < slots; ++s) {
        const Side side = side_[static_cast<std::size_t>(s)];
        for (int d = 0; d < 7; ++d) {
            const std::int64_t n = neighbour(s, d);
            if (n < 0 || side_[static_cast<std::size_t>(n)] == side) continue;
            cut_index(s, d) = static_cast<std::int32_t>(cuts_.size());
            const bool forward = side == Side::Inside;
            cuts_.push_back({forward ? s : n, forward ? n : s, d, Vec3::Zero(), 0.0});
        }
    }
    progress.begin("cut edges", static_cast<std::int64_t>(cuts_.size()));
    parallel_blocks(static_cast<Index>(cuts_.size()), 64, [&](Index begin, Index end) {
        for (Index c = begin; c < end; ++c) locate(cuts_[static_cast<std::size_t>(c)]);
        progress.advance(end - begin);
    });
    progress.end();
}

/// The crossing of one edge by false position with the Illinois safeguard, to a thousandth of a cell.
void Stuffing::locate(Cut& cut) const
{
    const Vec3 a = lattice_.position(lattice_.coordinate(cut.inner));
    const Vec3 b = lattice_.position(lattice_.coordinate(cut.outer));
    const double tolerance = 1e-3 * lattice_.cell();
    double t0 = 0.0, t1 = 1.0;
    double f0 = lattice_.value(cut.inner) - level_, f1 = lattice_.value(cut.outer) - level_;
    if (!(f0 < 0.0) || !(f1 >= 0.0))
        return place(cut, f0 < 0.0 ? 1.0 : 0.0); // a vertex held against its value
    LITHE_ASSERT_HEAVY(std::isfinite(f0) && std::isfinite(f1));
    int last = 0;
    cut.share = f0 / (f0 - f1);
    for (int i = 0; i < 20; ++i) {
        cut.share = t0 + (t1 - t0) * (f0 / (f0 - f1));
        const double f = lattice_.level_set()(a + cut.share * (b - a)) - level_;
        if (std::abs(f) < tolerance) break;
        const int side = f < 0.0 ? -1 : 1;
        (f < 0.0 ? t0 : t1) = cut.share;
        (f < 0.0 ? f0 : f1) = f;
        if (side == last) (f < 0.0 ? f1 : f0) *= 0.5;
        last = side;
        if ((t1 - t0) * lattice_.cell() < tolerance) break;
    }
    place(cut, cut.share);
}

void Stuffing::place(Cut& cut, double share) const
{
    const Vec3 a = lattice_.position(lattice_.coordinate(cut.inner));
    const Vec3 b = lattice_.position(lattice_.coordinate(cut.outer));
    cut.share = share;
    cut.point = a + share * (b - a);
}

void Stuffing::warp()
{
    warped_to_.assign(side_.size(), -1);
    std::vector<std::int64_t> order;
    order.reserve(2 * cuts_.size());
    for (const Cut& cut : cuts_) order.insert(order.end(), {cut.inner, cut.outer});
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    for (const std::int64_t slot : order) warp_vertex(slot);
}

/// The cut point on the edge from a vertex in one of the 14 directions, -1: none.
std::int32_t Stuffing::cut_between(std::int64_t slot, int direction, std::int64_t other) const
{
    if (other < 0) return -1;
    return cut_index_[static_cast<std::size_t>(direction < 7 ? slot * 7 + direction
                                                             : other * 7 + direction - 7)];
}

/// Moves a vertex to the nearest of the cut points that are too near to it; its edges are then cut no more. Where that would
/// tear or pinch the solid, the cut points move away from the vertex instead.
void Stuffing::warp_vertex(std::int64_t slot)
{
    const Coordinate at = lattice_.coordinate(slot);
    double nearest = far;
    std::int32_t target = -1;
    for (int d = 0; d < 14; ++d) {
        const std::int64_t other = lattice_.slot(at + step(d));
        const std::int32_t c = cut_between(slot, d, other);
        if (c < 0 || side_[static_cast<std::size_t>(other)] == Side::On) continue;
        const Cut& cut = cuts_[static_cast<std::size_t>(c)];
        const double share = cut.inner == slot ? cut.share : 1.0 - cut.share;
        const double length = share * (is_long(d) ? 1.0 : 0.5 * std::sqrt(3.0));
        if (share >= warp_share(d) || length >= nearest) continue;
        nearest = length;
        target = c;
    }
    if (target < 0) return;
    if (!lattice_.is_held(slot) && may_warp(slot))
        warped_to_[static_cast<std::size_t>(slot)] = target;
    else
        push_cuts_away(slot);
}

/// Puts the vertex on the surface if the surface stays a surface there and at the neighbours that are on it.
///
/// Around a vertex on the surface the inside vertices must hang together and so must the outside ones:
/// on the sphere of its neighbours one curve then parts them. Where the solid or a gap is one vertex thin that fails, and
/// warping would make it vanish. [LS07] warps always; the angles do not depend on it.
bool Stuffing::may_warp(std::int64_t slot)
{
    Side& side = side_[static_cast<std::size_t>(slot)];
    const Side before = side;
    side = Side::On;
    bool simple = surface_is_simple(slot);
    const Coordinate at = lattice_.coordinate(slot);
    for (int d = 0; d < 14 && simple; ++d) {
        const std::int64_t other = lattice_.slot(at + step(d));
        if (other >= 0 && side_[static_cast<std::size_t>(other)] == Side::On)
            simple = surface_is_simple(other);
    }
    if (!simple) side = before;
    return simple;
}

bool Stuffing::surface_is_simple(std::int64_t slot) const
{
    const Coordinate at = lattice_.coordinate(slot);
    unsigned inside = 0, outside = 0;
    for (int d = 0; d < 14; ++d) {
        const std::int64_t other = lattice_.slot(at + step(d));
        const Side side = other < 0 ? Side::Outside : side_[static_cast<std::size_t>(other)];
        if (side == Side::Inside) inside |= 1u << d;
        if (side == Side::Outside) outside |= 1u << d;
    }
    return sets_.connected(inside) && sets_.connected(outside);
}

/// As far as the angles ask for.
void Stuffing::push_cuts_away(std::int64_t slot)
{
    const Coordinate at = lattice_.coordinate(slot);
    for (int d = 0; d < 14; ++d) {
        const std::int64_t other = lattice_.slot(at + step(d));
        const std::int32_t c = cut_between(slot, d, other);
        if (c < 0 || side_[static_cast<std::size_t>(other)] == Side::On) continue; // it may have moved there
        Cut& cut = cuts_[static_cast<std::size_t>(c)];
        const bool inner = cut.inner == slot;
        const double share =
            inner ? std::max(cut.share, warp_share(d)) : std::min(cut.share, 1.0 - warp_share(d));
        if (share != cut.share) place(cut, share);
    }
}

void Stuffing::make_tets(Progress& progress)
{
    const Index blocks = lattice_.slot_count() / LevelLattice::block_vertices;
    tets_.resize(static_cast<std::size_t>(blocks));
    progress.begin("tets", blocks);
    parallel_for(blocks, 1, [&](Index b) {
        const std::int64_t first = b * LevelLattice::block_vertices;
        for (int v = 1; v < LevelLattice::block_vertices; v += 2)
            cut_cell(first + v, tets_[static_cast<std::size_t>(b)]);
        progress.advance();
    });
    progress.end();
}

/// The tets around the three long edges that leave the centre of a cell upwards.
void Stuffing::cut_cell(std::int64_t slot, std::vector<TetCorners>& tets) const
{
    constexpr int ring[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    const Coordinate centre = lattice_.coordinate(slot);
    Background tet;
    tet.at[0] = centre;
    tet.slot[0] = slot;
    for (int axis = 0; axis < 3; ++axis) {
        tet.at[1] = centre + 2 * Coordinate::Unit(axis);
        tet.slot[1] = lattice_.slot(tet.at[1]);
        const auto corner = [&](int i) {
            Coordinate at = centre + Coordinate::Unit(axis);
            at[(axis + 1) % 3] += ring[i][0];
            at[(axis + 2) % 3] += ring[i][1];
            return at;
        };
        for (int i = 0; i < 4; ++i) {
            tet.at[2] = corner(i);
            tet.at[3] = corner(i + 1);
            for (int v = 2; v < 4; ++v)
                tet.slot[static_cast<std::size_t>(v)] = lattice_.slot(tet.at[static_cast<std::size_t>(v)]);
            cut_tet(tet, tets);
        }
    }
}

/// The part of one lattice tet that lies inside, as none to three tets.                    [LS07]
void Stuffing::cut_tet(const Background& tet, std::vector<TetCorners>& tets) const
{
    std::array<int, 4> in{}, out{}, on{};
    int ins = 0, outs = 0, ons = 0;
    for (int v = 0; v < 4; ++v) {
        const std::int64_t s = tet.slot[static_cast<std::size_t>(v)];
        const Side side = s < 0 ? Side::Outside : side_[static_cast<std::size_t>(s)];
        if (side == Side::Inside) in[static_cast<std::size_t>(ins++)] = v;
        if (side == Side::Outside) out[static_cast<std::size_t>(outs++)] = v;
        if (side == Side::On) on[static_cast<std::size_t>(ons++)] = v;
    }
    if (ins == 0) return;
    const auto vertex = [&](int v) { return Corner{tet.slot[static_cast<std::size_t>(v)]}; };
    const auto rail = [&](int a, int o) { return Rail{a, cut_corner(tet, a, o)}; };

    if (outs == 0) {
        add(tet, {tet.slot[0], tet.slot[1], tet.slot[2], tet.slot[3]}, tets);
    } else if (ins == 1) { // a corner cut off
        TetCorners corners{vertex(in[0])};
        for (int i = 0; i < outs; ++i)
            corners[static_cast<std::size_t>(1 + i)] =
                cut_corner(tet, in[0], out[static_cast<std::size_t>(i)]);
        for (int i = 0; i < ons; ++i)
            corners[static_cast<std::size_t>(1 + outs + i)] = vertex(on[static_cast<std::size_t>(i)]);
        add(tet, corners, tets);
    } else if (outs == 2) { // a wedge between two triangles, one at each inside vertex
        const int a = in[0], b = in[1];
        std::array<std::array<Corner, 2>, 3> rails = {
            {{cut_corner(tet, a, out[0]), cut_corner(tet, b, out[0])},
             {vertex(a), vertex(b)},
             {cut_corner(tet, a, out[1]), cut_corner(tet, b, out[1])}}};
        const bool forward = comes_first(tet, b, a, out[0]);
        LITHE_ASSERT_HEAVY(forward == comes_first(tet, a, b, out[1]));
        if (!forward) std::swap(rails[0], rails[2]);
        add(tet, {rails[0][0], rails[1][0], rails[2][0], rails[2][1]}, tets);
        add(tet, {rails[0][0], rails[1][0], rails[1][1], rails[2][1]}, tets);
        add(tet, {rails[0][0], rails[0][1], rails[1][1], rails[2][1]}, tets);
    } else { // two or three inside, one outside: a pyramid or a wedge on the inside face
        std::array<Rail, 3> rails;
        for (int i = 0; i < ins; ++i)
            rails[static_cast<std::size_t>(i)] = rail(in[static_cast<std::size_t>(i)], out[0]);
        std::sort(rails.begin(), rails.begin() + ins,
                  [&](const Rail& a, const Rail& b) { return comes_first(tet, a.inside, b.inside, out[0]); });
        const Corner p0 = vertex(rails[0].inside), p1 = vertex(rails[1].inside);
        const Corner p2 = ins == 3 ? vertex(rails[2].inside) : vertex(on[0]);
        const Corner q0 = rails[0].cut, q1 = rails[1].cut, q2 = ins == 3 ? rails[2].cut : vertex(on[0]);
        if (ins == 3) add(tet, {p0, p1, p2, q2}, tets);
        add(tet, {p0, p1, q1, q2}, tets);
        add(tet, {p0, q0, q1, q2}, tets);
    }
}

/// Which way the quadrilateral between inside vertices a, b and their cut points towards `outer` is halved: the
/// diagonal joins the vertex that comes first to the cut point of the other. The neighbour tet agrees.
/// A long edge comes last, so that the diagonal meets its cut point; of two short ones the
/// one that leads up along an even number of axes comes first (the parity rule).
bool Stuffing::comes_first(const Background& tet, int a, int b, int outer) const
{
    const auto difference = [&](int v) {
        return Coordinate(tet.at[static_cast<std::size_t>(outer)] - tet.at[static_cast<std::size_t>(v)]);
    };
    const Coordinate from_a = difference(a), from_b = difference(b);
    const bool long_a = from_a.cwiseAbs().maxCoeff() == 2, long_b = from_b.cwiseAbs().maxCoeff() == 2;
    if (long_a != long_b) return long_b;
    return (from_a.array() > 0).count() % 2 == 0;
}

Stuffing::Corner Stuffing::cut_corner(const Background& tet, int a, int b) const
{
    const std::size_t i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    const Coordinate ahead = tet.at[j] - tet.at[i];
    for (int d = 0; d < 7; ++d) {
        const bool forward = ahead == step(d);
        if (!forward && ahead != -step(d)) continue;
        const std::int64_t s = forward ? tet.slot[i] : tet.slot[j];
        const std::int32_t cut = cut_index_[static_cast<std::size_t>(s * 7 + d)];
        LITHE_ASSERT_HEAVY(cut >= 0);
        return lattice_.slot_count() + cut;
    }
    LITHE_ASSERT(false);
    return -1;
}

/// Where a corner would be if nothing were warped and all cuts were midpoints, in quarter cells.
Coordinate Stuffing::reference(const Background& tet, Corner corner) const
{
    if (corner < lattice_.slot_count()) {
        for (std::size_t v = 0; v < 4; ++v)
            if (tet.slot[v] == corner) return 2 * tet.at[v];
    }
    const Cut& cut = cuts_[static_cast<std::size_t>(corner - lattice_.slot_count())];
    return lattice_.coordinate(cut.inner) + lattice_.coordinate(cut.outer);
}

/// Keeps a tet in the house order. The order is taken from the unwarped lattice, in integers: a tet
/// that the warping had turned over would come out inverted and be seen by the tests, not be hidden here.
void Stuffing::add(const Background& tet, TetCorners corners, std::vector<TetCorners>& tets) const
{
    Eigen::Matrix3i edges;
    const Coordinate base = reference(tet, corners[0]);
    for (int i = 0; i < 3; ++i)
        edges.col(i) = reference(tet, corners[static_cast<std::size_t>(i + 1)]) - base;
    if (edges.col(0).dot(edges.col(1).cross(edges.col(2))) < 0) std::swap(corners[2], corners[3]);
    tets.push_back(corners);
}

/// Numbers the corners that are used, lattice vertices first.
TetMesh Stuffing::gather() const
{
    const std::int64_t slots = lattice_.slot_count();
    std::vector<int> number(static_cast<std::size_t>(slots) + cuts_.size(), -1);
    Index tet_count = 0;
    for (const auto& block : tets_) {
        tet_count += static_cast<Index>(block.size());
        for (const TetCorners& tet : block)
            for (const Corner corner : tet) number[static_cast<std::size_t>(corner)] = 0;
    }
    int vertices = 0;
    for (int& n : number)
        if (n == 0) n = vertices++;

    TetMesh mesh;
    mesh.vertices.resize(3, vertices);
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(number.size()); ++s) {
        const int n = number[static_cast<std::size_t>(s)];
        if (n < 0) continue;
        const std::int64_t cut = s < slots ? warped_to_[static_cast<std::size_t>(s)] : s - slots;
        mesh.vertices.col(n) =
            cut < 0 ? lattice_.position(lattice_.coordinate(s)) : cuts_[static_cast<std::size_t>(cut)].point;
    }
    mesh.tets.resize(4, tet_count);
    Index t = 0;
    for (const auto& block : tets_)
        for (const TetCorners& tet : block) {
            for (int v = 0; v < 4; ++v)
                mesh.tets(v, t) = number[static_cast<std::size_t>(tet[static_cast<std::size_t>(v)])];
            ++t;
        }
    return mesh;
}

} // namespace

TetMesh stuff(const LevelLattice& lattice, double level, Progress& progress)
{
    return Stuffing(lattice, level).run(progress);
}

} // namespace lithe
