#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/contact/detect.hpp"

namespace lithe {
namespace {

constexpr double same_direction = 0.94; ///< cosine of about 20 degrees
constexpr int least_per_cluster = 3;
constexpr double gap_cost =
    0.5; ///< a contact that is so much farther off must lie twice as far out to be as good
constexpr double least_spread = 0.05; ///< of the patch: nearer to one that is kept, a contact adds nothing
/// Of the patch: differences below this decide nothing, or rounding would choose other contacts of a resting body in
/// every step, and what their impulses were would be forgotten.
constexpr double noise = 1e-3;

/// Gives every contact the first cluster whose normal agrees with its own.
void find_clusters(DetectWork& work)
{
    work.cluster.clear();
    work.cluster_normals.clear();
    for (const SurfaceContact& contact : work.sorted) {
        const auto agrees = [&](const Vec3& n) { return n.dot(contact.normal) > same_direction; };
        const auto at = std::ranges::find_if(work.cluster_normals, agrees);
        work.cluster.push_back(static_cast<int>(at - work.cluster_normals.begin()));
        if (at == work.cluster_normals.end()) work.cluster_normals.push_back(contact.normal);
    }
}

/// The contacts of one cluster, in the plane across its normal.
class Patch {
public:
    Patch(int cluster, DetectWork& work, std::vector<SurfaceContact>& kept)
        : work_(work), kept_(kept), n_(work.cluster_normals[static_cast<std::size_t>(cluster)])
    {
        work.order.clear();
        for (int i = 0; i < static_cast<int>(work.sorted.size()); ++i)
            if (work.cluster[static_cast<std::size_t>(i)] == cluster) work.order.push_back(i);
        work.spread.assign(work.order.size(), std::numeric_limits<double>::infinity());
    }

    /// The outermost in eight directions, those that are farthest from all that are kept, and the deepest.
    void keep(const ReduceOptions& options, int most)
    {
        for (std::size_t k = 1; k < work_.order.size(); ++k)
            if (at(k).gap < at(deepest_).gap) deepest_ = k;
        keep_hull(options, most - 1);
        if (!deepest_taken_) take(deepest_);
    }

private:
    void keep_hull(const ReduceOptions& options, int most)
    {
        Index axis = 0;
        n_.cwiseAbs().minCoeff(&axis);
        const Vec3 u = n_.cross(Vec3::Unit(axis)).normalized(), v = n_.cross(u);
        double size = 0.0;
        for (std::size_t k = 0; k < work_.order.size(); ++k)
            size = std::max(size, across(at(k).point() - at(0).point()).norm());
        tolerance_ = noise * size;
        for (const Vec3& direction :
             {u, Vec3(-u), v, Vec3(-v), Vec3(u + v), Vec3(-u - v), Vec3(u - v), Vec3(v - u)}) {
            const std::size_t outer = outermost(direction.normalized());
            if (taken_ < most && work_.spread[outer] > least_spread * size) take(outer);
        }
        for (;;) {
            const std::size_t next = farthest();
            const bool apart = options.spacing > 0.0 && work_.spread[next] > options.spacing;
            if ((taken_ >= most && !apart) || work_.spread[next] <= least_spread * size) return;
            take(next);
        }
    }
    const SurfaceContact& at(std::size_t k) const
    {
        return work_.sorted[static_cast<std::size_t>(work_.order[k])];
    }
    double gap_excess(std::size_t k) const { return gap_cost * (at(k).gap - at(deepest_).gap); }
    Vec3 across(const Vec3& d) const { return d - n_.dot(d) * n_; }

    void take(std::size_t next)
    {
        kept_.push_back(at(next));
        ++taken_;
        deepest_taken_ = deepest_taken_ || next == deepest_;
        for (std::size_t k = 0; k < work_.order.size(); ++k)
            work_.spread[k] = std::min(work_.spread[k], across(at(k).point() - at(next).point()).norm());
    }
    std::size_t outermost(const Vec3& direction) const
    {
        return best([&](std::size_t k) { return direction.dot(at(k).point()) - gap_excess(k); });
    }
    std::size_t farthest() const
    {
        return best([&](std::size_t k) { return work_.spread[k] - gap_excess(k); });
    }
    /// Of those that are about as good as the best, the first.
    template <class Score>
    std::size_t best(const Score& score) const
    {
        double highest = score(0);
        for (std::size_t k = 1; k < work_.order.size(); ++k) highest = std::max(highest, score(k));
        std::size_t found = 0;
        while (score(found) < highest - tolerance_) ++found;
        return found;
    }

    DetectWork& work_;
    std::vector<SurfaceContact>& kept_;
    Vec3 n_;
    double tolerance_ = 0.0; ///< [m]
    std::size_t deepest_ = 0;
    bool deepest_taken_ = false;
    int taken_ = 0;
};

} // namespace

void reduce_contacts(const ReduceOptions& options, std::size_t first, DetectWork& work,
                     std::vector<SurfaceContact>& contacts)
{
    if (contacts.size() <= first + 1 || options.most == 0) return;
    work.sorted.assign(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end());
    std::ranges::sort(work.sorted, {}, &SurfaceContact::key);
    find_clusters(work);
    const int clusters = static_cast<int>(work.cluster_normals.size());
    const int share = (2 * options.most + clusters - 1) / clusters;
    const int most = std::min(options.most, std::max(least_per_cluster, share));
    contacts.resize(first);
    for (int c = 0; c < clusters; ++c) Patch(c, work, contacts).keep(options, most);
}

} // namespace lithe
