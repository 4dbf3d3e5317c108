#include "lithe/reduce/contact_modes.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Distances along the edges of a surface to the nearest of some centres, which come one by one.
class EdgeDistances {
public:
    EdgeDistances(const Points& rest, const Triangles& surface)
        : neighbours_(static_cast<std::size_t>(rest.cols())),
          distance_(static_cast<std::size_t>(rest.cols()), -1.0),
          centre_(static_cast<std::size_t>(rest.cols()), -1)
    {
        for (Index t = 0; t < surface.cols(); ++t)
            for (int a = 0; a < 3; ++a) {
                const int v = surface(a, t), w = surface((a + 1) % 3, t);
                const double length = (rest.col(v) - rest.col(w)).norm();
                neighbours_[static_cast<std::size_t>(v)].push_back({w, length});
                neighbours_[static_cast<std::size_t>(w)].push_back({v, length});
                distance_[static_cast<std::size_t>(v)] = infinity; // -1 stays where there is no surface
            }
    }

    /// The first of the vertices that are farthest from all centres.
    int farthest() const { return static_cast<int>(std::ranges::max_element(distance_) - distance_.begin()); }
    /// Which centre is the nearest; -1 for vertices inside the body and where no centre leads to.
    const std::vector<int>& centre() const { return centre_; }

    void add_centre(int vertex, int number)
    {
        std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>
            queue;
        const auto reach = [&](int v, double distance) {
            const auto at = static_cast<std::size_t>(v);
            if (distance >= distance_[at]) return;
            distance_[at] = distance;
            centre_[at] = number;
            queue.emplace(distance, v);
        };
        reach(vertex, 0.0);
        while (!queue.empty()) {
            const auto [distance, v] = queue.top();
            queue.pop();
            if (distance > distance_[static_cast<std::size_t>(v)]) continue;
            for (const auto& [w, length] : neighbours_[static_cast<std::size_t>(v)])
                reach(w, distance + length);
        }
    }

private:
    std::vector<std::vector<std::pair<int, double>>> neighbours_;
    std::vector<double> distance_; ///< [m]
    std::vector<int> centre_;
};

/// A third of the triangles around each vertex; zero inside the body. [m^2]
VecX vertex_areas(const Points& rest, const Triangles& surface)
{
    VecX areas = VecX::Zero(rest.cols());
    for (Index t = 0; t < surface.cols(); ++t) {
        const Vec3 a = rest.col(surface(0, t)), b = rest.col(surface(1, t)), c = rest.col(surface(2, t));
        for (int k = 0; k < 3; ++k) areas[surface(k, t)] += (b - a).cross(c - a).norm() / 6.0;
    }
    return areas;
}

/// The share of a unit force that each free vertex of the patch carries.
VecX patch_shares(const SurfacePatch& patch, const VecX& areas, const std::vector<unsigned char>& pinned)
{
    VecX shares = VecX::Zero(areas.size());
    for (const int v : patch) {
        if (v < 0 || v >= areas.size() || !(areas[v] > 0.0))
            throw InputError("vertex " + std::to_string(v) +
                             " of a patch is not on the surface; choose vertices of the surface");
        if (pinned[static_cast<std::size_t>(v)] == 0) shares[v] = areas[v];
    }
    if (patch.empty()) throw InputError("a patch of the surface has no vertices; remove it");
    const double sum = shares.sum();
    return sum > 0.0 ? VecX(shares / sum) : shares;
}

} // namespace

std::vector<SurfacePatch> surface_patches(const Points& rest, const Triangles& surface, Index count)
{
    std::vector<int> vertices(surface.data(), surface.data() + surface.size());
    std::ranges::sort(vertices);
    vertices.erase(std::ranges::unique(vertices).begin(), vertices.end());
    if (count < 1 || count > static_cast<Index>(vertices.size()))
        throw InputError("the surface cannot be cut into " + std::to_string(count) + " patches; it has " +
                         std::to_string(vertices.size()) + " vertices");
    EdgeDistances distances(rest, surface);
    for (Index k = 0; k < count; ++k) distances.add_centre(distances.farthest(), static_cast<int>(k));
    std::vector<SurfacePatch> patches(static_cast<std::size_t>(count));
    for (const int v : vertices)
        if (const int c = distances.centre()[static_cast<std::size_t>(v)]; c >= 0)
            patches[static_cast<std::size_t>(c)].push_back(v);
    return patches;
}

Basis contact_modes(RestSystem& system, const Triangles& surface, const std::vector<SurfacePatch>& patches)
{
    const FemModel& model = system.model();
    const VecX areas = vertex_areas(model.rest, surface);
    std::vector<unsigned char> pinned(static_cast<std::size_t>(model.vertex_count()), 0);
    for (const int v : system.pinned_vertices()) pinned[static_cast<std::size_t>(v)] = 1;

    MatX loads = MatX::Zero(3 * model.vertex_count(), 3 * static_cast<Index>(patches.size()));
    Index column = 0;
    for (const SurfacePatch& patch : patches) {
        const VecX shares = patch_shares(patch, areas, pinned);
        if (shares.maxCoeff() == 0.0) continue;
        for (Index c = 0; c < 3; ++c, ++column)
            for (const int v : patch) loads(3 * v + c, column) = shares[v];
    }
    if (column == 0) throw InputError("all vertices of the patches are pinned; choose others");
    loads.conservativeResize(Eigen::NoChange, column);
    (void)system.solve(loads);
    MassQr qr = mass_qr(model, loads);
    return {.U = std::move(qr.Q),
            .kind = BasisKind::ContactModes,
            .provenance = "static contact modes of " + std::to_string(column / 3) + " patches",
            .mass_orthonormal = true};
}

} // namespace lithe
