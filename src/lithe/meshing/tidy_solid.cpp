#include "lithe/meshing/tidy_solid.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "lithe/core/error.hpp"
#include "lithe/core/union_find.hpp"
#include "lithe/geometry/half_edges.hpp"

namespace lithe {
namespace {

/// The corners of the face opposite to each corner, outward.
constexpr int face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

constexpr int no_neighbour = -1;

/// The tet behind each face (4 t + corner), or none. Faces are sorted into buckets by their smallest vertex.
std::vector<int> face_neighbours(const Tets& tets)
{
    struct Face {
        std::uint64_t others; ///< the two larger vertices
        int place;
    };
    const int vertices = tets.size() > 0 ? tets.maxCoeff() + 1 : 0;
    std::vector<int> first(static_cast<std::size_t>(vertices) + 1, 0);
    std::vector<Face> faces(static_cast<std::size_t>(4 * tets.cols()));
    const auto smallest = [&tets](int t, int f) {
        const auto& c = face_corners[f];
        return std::min({tets(c[0], t), tets(c[1], t), tets(c[2], t)});
    };
    for (int t = 0; t < tets.cols(); ++t)
        for (int f = 0; f < 4; ++f) ++first[static_cast<std::size_t>(smallest(t, f)) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<int> next(first.begin(), first.end());
    for (int t = 0; t < tets.cols(); ++t)
        for (int f = 0; f < 4; ++f) {
            const auto& c = face_corners[f];
            const int lo = smallest(t, f), hi = std::max({tets(c[0], t), tets(c[1], t), tets(c[2], t)});
            const int middle = tets(c[0], t) + tets(c[1], t) + tets(c[2], t) - lo - hi;
            faces[static_cast<std::size_t>(next[static_cast<std::size_t>(lo)]++)] = {edge_key(middle, hi),
                                                                                     4 * t + f};
        }
    std::vector<int> neighbours(faces.size(), no_neighbour);
    for (int v = 0; v < vertices; ++v) {
        const auto begin = faces.begin() + first[static_cast<std::size_t>(v)];
        const auto end = faces.begin() + first[static_cast<std::size_t>(v) + 1];
        std::sort(begin, end, [](const Face& a, const Face& b) { return a.others < b.others; });
        for (auto face = begin; face != end && face + 1 != end; ++face) {
            if (face->others != (face + 1)->others) continue;
            neighbours[static_cast<std::size_t>(face->place)] = (face + 1)->place / 4;
            neighbours[static_cast<std::size_t>((face + 1)->place)] = face->place / 4;
        }
    }
    return neighbours;
}

double tet_volume_of(const TetMesh& mesh, int t)
{
    return tet_volume(mesh.vertices.col(mesh.tets(0, t)), mesh.vertices.col(mesh.tets(1, t)),
                      mesh.vertices.col(mesh.tets(2, t)), mesh.vertices.col(mesh.tets(3, t)));
}

void keep_tets(TetMesh& mesh, const std::vector<bool>& keep)
{
    Index kept = 0;
    for (Index t = 0; t < mesh.tet_count(); ++t) {
        if (!keep[static_cast<std::size_t>(t)]) continue;
        mesh.tets.col(kept) = mesh.tets.col(t);
        if (!mesh.regions.empty())
            mesh.regions[static_cast<std::size_t>(kept)] = mesh.regions[static_cast<std::size_t>(t)];
        ++kept;
    }
    mesh.tets.conservativeResize(4, kept);
    if (!mesh.regions.empty()) mesh.regions.resize(static_cast<std::size_t>(kept));
}

/// The tets at each of some vertices, in one array.
class Stars {
public:
    explicit Stars(const TetMesh& mesh) : first_(static_cast<std::size_t>(mesh.vertex_count()) + 1, 0)
    {
        for (const int v : mesh.tets.reshaped()) ++first_[static_cast<std::size_t>(v) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        tets_.resize(static_cast<std::size_t>(first_.back()));
        std::vector<int> next(first_.begin(), first_.end() - 1);
        for (int t = 0; t < mesh.tet_count(); ++t)
            for (int c = 0; c < 4; ++c)
                tets_[static_cast<std::size_t>(next[static_cast<std::size_t>(mesh.tets(c, t))]++)] = t;
    }
    std::vector<int> at(int v) const
    {
        return {tets_.begin() + first_[static_cast<std::size_t>(v)],
                tets_.begin() + first_[static_cast<std::size_t>(v) + 1]};
    }

private:
    std::vector<int> first_, tets_;
};

bool has_corner(const Tets& tets, int t, int v)
{
    return (tets.col(t).array() == v).any();
}

/// Groups `star` by common faces that contain all of `corners`. Sorted by their first tet.
std::vector<std::vector<int>> fans(const Tets& tets, const std::vector<int>& neighbours,
                                   const std::vector<int>& star, std::initializer_list<int> corners)
{
    UnionFind sets(static_cast<int>(star.size()));
    const auto index = [&star](int t) {
        return static_cast<int>(std::lower_bound(star.begin(), star.end(), t) - star.begin());
    };
    for (const int t : star)
        for (int f = 0; f < 4; ++f) {
            const int other = neighbours[static_cast<std::size_t>(4 * t + f)];
            const bool holds =
                std::none_of(corners.begin(), corners.end(), [&](int v) { return tets(f, t) == v; });
            if (other != no_neighbour && holds) sets.join(index(t), index(other));
        }
    std::vector<std::vector<int>> groups;
    std::vector<int> group_of(star.size(), -1);
    for (int i = 0; i < static_cast<int>(star.size()); ++i) {
        int& group = group_of[static_cast<std::size_t>(sets.root(i))];
        if (group < 0) {
            group = static_cast<int>(groups.size());
            groups.emplace_back();
        }
        groups[static_cast<std::size_t>(group)].push_back(star[static_cast<std::size_t>(i)]);
    }
    return groups;
}

double volume_of(const TetMesh& mesh, const std::vector<int>& tets)
{
    return std::accumulate(tets.begin(), tets.end(), 0.0,
                           [&mesh](double sum, int t) { return sum + tet_volume_of(mesh, t); });
}

/// The edges of the boundary at which more than two of its faces meet.
std::vector<std::uint64_t> crowded_edges(const Tets& tets, const std::vector<int>& neighbours)
{
    std::vector<std::uint64_t> edges;
    for (std::size_t f = 0; f < neighbours.size(); ++f) {
        if (neighbours[f] != no_neighbour) continue;
        const auto& c = face_corners[f % 4];
        const Index t = static_cast<Index>(f / 4);
        for (int i = 0; i < 3; ++i) edges.push_back(edge_key(tets(c[i], t), tets(c[(i + 1) % 3], t)));
    }
    std::sort(edges.begin(), edges.end());
    std::vector<std::uint64_t> crowded;
    for (std::size_t i = 0; i + 2 < edges.size(); ++i)
        if (edges[i] == edges[i + 2] && (crowded.empty() || crowded.back() != edges[i]))
            crowded.push_back(edges[i]);
    return crowded;
}

/// Drops all but the largest fan around each edge where the solid touches itself. True if there was one.
bool part_edges(TetMesh& mesh, std::vector<int>& neighbours, TidyReport& report)
{
    const std::vector<std::uint64_t> crowded = crowded_edges(mesh.tets, neighbours);
    if (crowded.empty()) return false;
    const Stars stars(mesh);
    std::vector<bool> keep(static_cast<std::size_t>(mesh.tet_count()), true);
    for (const std::uint64_t key : crowded) {
        const int a = static_cast<int>(key >> 32), b = static_cast<int>(key & 0xffffffffu);
        std::vector<int> around = stars.at(a);
        std::erase_if(around, [&](int t) { return !has_corner(mesh.tets, t, b); });
        const auto groups = fans(mesh.tets, neighbours, around, {a, b});
        const auto largest =
            std::max_element(groups.begin(), groups.end(), [&](const auto& x, const auto& y) {
                return volume_of(mesh, x) < volume_of(mesh, y);
            });
        for (auto group = groups.begin(); group != groups.end(); ++group)
            if (group != largest)
                for (const int t : *group) keep[static_cast<std::size_t>(t)] = false;
    }
    report.dropped_tets += std::count(keep.begin(), keep.end(), false);
    keep_tets(mesh, keep);
    neighbours = face_neighbours(mesh.tets);
    return true;
}

/// Gives each corner of the solid that ends in a vertex its own copy of it.
void split_vertices(TetMesh& mesh, const std::vector<int>& neighbours, TidyReport& report)
{
    const Stars stars(mesh);
    std::vector<int> origin; // of the new vertices
    const int old_count = static_cast<int>(mesh.vertex_count());
    std::vector<bool> bare(static_cast<std::size_t>(old_count), false); // on the boundary
    for (std::size_t f = 0; f < neighbours.size(); ++f)
        for (const int c : face_corners[f % 4])
            if (neighbours[f] == no_neighbour)
                bare[static_cast<std::size_t>(mesh.tets(c, static_cast<Index>(f / 4)))] = true;
    for (int v = 0; v < old_count; ++v) {
        if (!bare[static_cast<std::size_t>(v)]) continue;
        const std::vector<int> star = stars.at(v);
        const auto groups = fans(mesh.tets, neighbours, star, {v});
        for (std::size_t g = 1; g < groups.size(); ++g) {
            const int copy = old_count + static_cast<int>(origin.size());
            origin.push_back(v);
            for (const int t : groups[g])
                for (int c = 0; c < 4; ++c)
                    if (mesh.tets(c, t) == v) mesh.tets(c, t) = copy;
        }
    }
    const Index added = static_cast<Index>(origin.size());
    mesh.vertices.conservativeResize(3, old_count + added);
    for (VertexField& field : mesh.fields)
        field.values.conservativeResize(Eigen::NoChange, old_count + added);
    for (Index i = 0; i < added; ++i) {
        mesh.vertices.col(old_count + i) = mesh.vertices.col(origin[static_cast<std::size_t>(i)]);
        for (VertexField& field : mesh.fields)
            field.values.col(old_count + i) = field.values.col(origin[static_cast<std::size_t>(i)]);
    }
    report.split_vertices += added;
}

/// The vertices whose boundary faces form more than one fan.
std::vector<int> pinched_vertices(const TetMesh& mesh, const std::vector<int>& neighbours)
{
    std::vector<std::array<int, 3>> faces; // vertex, and the two others in order: one entry per corner
    for (std::size_t f = 0; f < neighbours.size(); ++f) {
        if (neighbours[f] != no_neighbour) continue;
        const auto& c = face_corners[f % 4];
        const Index t = static_cast<Index>(f / 4);
        for (int i = 0; i < 3; ++i)
            faces.push_back({mesh.tets(c[i], t), mesh.tets(c[(i + 1) % 3], t), mesh.tets(c[(i + 2) % 3], t)});
    }
    std::sort(faces.begin(), faces.end());
    std::vector<int> pinched;
    for (std::size_t begin = 0, end = 0; begin < faces.size(); begin = end) {
        while (end < faces.size() && faces[end][0] == faces[begin][0]) ++end;
        std::size_t length = 0; // of the fan from the first face on
        int at = faces[begin][1];
        do {
            const auto next = std::lower_bound(faces.begin() + static_cast<Index>(begin),
                                               faces.begin() + static_cast<Index>(end),
                                               std::array<int, 3>{faces[begin][0], at, -1});
            at = (*next)[2];
            ++length;
        } while (at != faces[begin][1] && length < end - begin);
        if (length < end - begin) pinched.push_back(faces[begin][0]);
    }
    return pinched;
}

/// Drops the smallest tet on the boundary at each vertex that pinches a hollow. True if there was one.
bool open_pinches(TetMesh& mesh, std::vector<int>& neighbours, TidyReport& report)
{
    const std::vector<int> pinched = pinched_vertices(mesh, neighbours);
    if (pinched.empty()) return false;
    const Stars stars(mesh);
    std::vector<bool> keep(static_cast<std::size_t>(mesh.tet_count()), true);
    for (const int v : pinched) {
        int smallest = -1;
        for (const int t : stars.at(v)) {
            bool bare = false;
            for (int f = 0; f < 4; ++f)
                bare |=
                    mesh.tets(f, t) != v && neighbours[static_cast<std::size_t>(4 * t + f)] == no_neighbour;
            if (bare && (smallest < 0 || tet_volume_of(mesh, t) < tet_volume_of(mesh, smallest)))
                smallest = t;
        }
        keep[static_cast<std::size_t>(smallest)] = false;
    }
    report.dropped_tets += std::count(keep.begin(), keep.end(), false);
    keep_tets(mesh, keep);
    neighbours = face_neighbours(mesh.tets);
    return true;
}

void drop_specks(TetMesh& mesh, const std::vector<int>& neighbours, double share, TidyReport& report)
{
    UnionFind parts(static_cast<int>(mesh.tet_count()));
    for (std::size_t f = 0; f < neighbours.size(); ++f)
        if (neighbours[f] != no_neighbour) parts.join(static_cast<int>(f / 4), neighbours[f]);
    std::vector<double> volumes(static_cast<std::size_t>(mesh.tet_count()), 0.0);
    double whole = 0.0;
    for (int t = 0; t < mesh.tet_count(); ++t) {
        const double v = tet_volume_of(mesh, t);
        volumes[static_cast<std::size_t>(parts.root(t))] += v;
        whole += v;
    }
    std::vector<bool> keep(static_cast<std::size_t>(mesh.tet_count()));
    for (int t = 0; t < mesh.tet_count(); ++t) {
        const double v = volumes[static_cast<std::size_t>(parts.root(t))];
        keep[static_cast<std::size_t>(t)] = v >= share * whole;
        if (parts.root(t) != t) continue;
        ++(v >= share * whole ? report.parts : report.dropped_parts);
        if (v < share * whole) report.dropped_volume += v;
    }
    keep_tets(mesh, keep);
}

} // namespace

TidyReport tidy_solid(TetMesh& mesh, const TidyOptions& options)
{
    TidyReport report;
    std::vector<int> neighbours = face_neighbours(mesh.tets); // splitting a vertex does not change it
    do {
        while (part_edges(mesh, neighbours, report)) {
        } // each round drops a tet, so they end
        split_vertices(mesh, neighbours, report);
    } while (open_pinches(mesh, neighbours, report));
    drop_specks(mesh, neighbours, options.speck_share, report);
    drop_unused_vertices(mesh);
    return report;
}

} // namespace lithe
