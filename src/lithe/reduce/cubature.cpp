#include "lithe/reduce/cubature.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/reduce/deformation_rows.hpp"

namespace lithe {
namespace {

/// The slot of every tet.
std::vector<Index> slots_of_tets(const Elements& elements)
{
    std::vector<Index> slot_of(elements.tet_of_slot.size(), -1);
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        const int tet = elements.tet_of_slot[static_cast<std::size_t>(slot)];
        if (tet >= 0) slot_of[static_cast<std::size_t>(tet)] = slot;
    }
    return slot_of;
}

struct Point {
    Index slot;
    double weight;
};

/// The points in the order of the slots, so that regions are together.
std::vector<Point> sorted_points(const Elements& elements, const Cubature& cubature)
{
    if (cubature.weights.size() != static_cast<Index>(cubature.tets.size()))
        throw InputError("the cubature has " + std::to_string(cubature.tets.size()) + " tets and " +
                         std::to_string(cubature.weights.size()) + " weights; give one for each");
    const std::vector<Index> slot_of = slots_of_tets(elements);
    std::vector<Point> points;
    for (std::size_t c = 0; c < cubature.tets.size(); ++c) {
        const int tet = cubature.tets[c];
        if (tet < 0 || tet >= static_cast<int>(slot_of.size()) || slot_of[static_cast<std::size_t>(tet)] < 0)
            throw InputError("cubature tet " + std::to_string(tet) +
                             " does not exist: is it of another mesh?");
        points.push_back({slot_of[static_cast<std::size_t>(tet)],
                          require_positive("weight of cubature tet " + std::to_string(tet),
                                           cubature.weights[static_cast<Index>(c)])});
    }
    std::ranges::sort(points, {}, &Point::slot);
    return points;
}

} // namespace

Cubature all_tets(const FemModel& model)
{
    Cubature all;
    for (const int tet : model.elements.tet_of_slot)
        if (tet >= 0) all.tets.push_back(tet);
    std::ranges::sort(all.tets);
    all.weights = VecX::Ones(static_cast<Index>(all.tets.size()));
    return all;
}

CubatureElastic::CubatureElastic(const FemModel& model, const MatX& U, const Cubature& cubature)
{
    if (U.rows() != 3 * model.vertex_count())
        throw InputError("the basis has " + std::to_string(U.rows()) + " rows, the body needs " +
                         std::to_string(3 * model.vertex_count()) + ": is it of another mesh?");
    const std::vector<Point> points = sorted_points(model.elements, cubature);
    const auto count = static_cast<Index>(points.size());
    B_.resize(9 * count, U.cols());
    weight_.resize(count);
    MatX B(9, U.cols());
    for (Index c = 0; c < count; ++c) {
        const Point& point = points[static_cast<std::size_t>(c)];
        set_deformation_rows(model.elements, U, point.slot, B);
        B_.middleRows<9>(9 * c) = B;
        weight_[c] = point.weight * rest_volume(model.elements, point.slot);
    }
    Index next = 0;
    for (const ElementRegion& region : model.elements.regions) {
        const Index first = next;
        while (next < count && points[static_cast<std::size_t>(next)].slot < 8 * region.last_batch) ++next;
        if (next > first) regions_.push_back({region.material, first, next});
    }
}

void CubatureElastic::evaluate(const VecX& q, ReducedElastic& out, Work& work) const
{
    LITHE_ASSERT(q.size() == rank());
    work.F.noalias() = B_ * q;
    work.P.resize(work.F.size());
    out.energy = 0.0;
    for (const Region& region : regions_)
        std::visit(
            [&](const auto& law) {
                for (Index c = region.first; c < region.last; ++c) {
                    Eigen::Map<Mat3> F(work.F.data() + 9 * c);
                    F += Mat3::Identity();
                    out.energy += weight_[c] * law.psi(F);
                    Eigen::Map<Mat3>(work.P.data() + 9 * c) = weight_[c] * law.P(F);
                }
            },
            region.material);
    out.gradient.noalias() = B_.transpose() * work.P;
}

void CubatureElastic::evaluate(const VecX& q, Definiteness definiteness, ReducedElastic& out,
                               Work& work) const
{
    evaluate(q, out, work);
    work.CB.resize(B_.rows(), B_.cols());
    for (const Region& region : regions_)
        std::visit(
            [&](const auto& law) {
                for (Index c = region.first; c < region.last; ++c) {
                    const Mat3 F = Eigen::Map<const Mat3>(work.F.data() + 9 * c);
                    const Mat9 C = weight_[c] *
                                   (definiteness == Definiteness::Projected ? law.dPdF_psd(F) : law.dPdF(F));
                    work.CB.middleRows<9>(9 * c).noalias() = C * B_.middleRows<9>(9 * c);
                }
            },
            region.material);
    out.stiffness.noalias() = B_.transpose() * work.CB;
}

} // namespace lithe
