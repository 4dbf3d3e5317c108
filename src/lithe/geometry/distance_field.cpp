#include "lithe/geometry/distance_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

constexpr double largest_grid = 0x1.0p31;
constexpr int default_resolution = 64;

double chosen_cell(const DistanceFieldOptions& options, const Box3& surface)
{
    if (!(options.margin >= 0.0) || !std::isfinite(options.margin))
        throw InputError(fmt::format("margin = {} must be finite and not negative", options.margin));
    if (options.cell != 0.0) return require_positive("cell", options.cell);
    const double longest = surface.sizes().maxCoeff();
    return longest > 0.0 ? longest / default_resolution : 1.0;
}

double mix(double a, double b, double s)
{
    return a + s * (b - a);
}

} // namespace

DistanceField::DistanceField(const SurfaceQuery& surface, const DistanceFieldOptions& options,
                             Progress& progress)
{
    const Box3 inner = bounds(surface.mesh().vertices);
    cell_ = chosen_cell(options, inner);
    const Vec3 room = inner.sizes() + Vec3::Constant(2.0 * (options.margin + cell_));
    const Vec3 cells = (room / cell_).array().ceil();
    const double total = (cells.array() + 1.0).prod();
    if (total > largest_grid)
        throw InputError(fmt::format(
            "a distance field with cell = {} would have {:.3g} samples; a cell of {:.3g} would fit", cell_,
            total, cell_ * std::cbrt(total / largest_grid) * 1.05));
    size_ = cells.cast<int>().array() + 1;
    const Vec3 half = 0.5 * cell_ * cells;
    box_ = Box3(inner.center() - half, inner.center() + half);
    values_.resize(static_cast<std::size_t>(total));

    progress.begin("distance field", size_[2]);
    const Index slice = static_cast<Index>(size_[0]) * size_[1];
    Points points(3, slice);
    for (int k = 0; k < size_[2]; ++k) {
        for (Index i = 0; i < slice; ++i) {
            const Index column = i % size_[0], row = i / size_[0];
            points.col(i) =
                box_.min() + cell_ * Vec3(static_cast<double>(column), static_cast<double>(row), k);
        }
        const VecX distances = signed_distances(surface, points);
        Eigen::Map<Eigen::VectorXf>(values_.data() + k * slice, slice) = distances.cast<float>();
        progress.advance();
    }
    progress.end();
    steepness_ = measured_steepness();
}

/// From the largest differences of neighbours along each axis: derivatives of the interpolation are means of them.
double DistanceField::measured_steepness() const
{
    const std::array<std::ptrdiff_t, 3> step = {1, size_[0],
                                                static_cast<std::ptrdiff_t>(size_[0]) * size_[1]};
    Vec3 largest = Vec3::Zero();
    for (int axis = 0; axis < 3; ++axis) {
        const auto stride = static_cast<std::size_t>(step[static_cast<std::size_t>(axis)]);
        const auto along = static_cast<std::size_t>(size_[axis]);
        for (std::size_t i = 0; i + stride < values_.size(); ++i) {
            if (i / stride % along + 1 == along) continue; // the last one along this axis
            const double change = static_cast<double>(values_[i + stride]) - static_cast<double>(values_[i]);
            largest[axis] = std::max(largest[axis], std::abs(change));
        }
    }
    return largest.norm() / cell_;
}

DistanceField::Cell DistanceField::locate(const Vec3& p) const
{
    const Vec3 at = (p - box_.min()) / cell_;
    Eigen::Vector3i low;
    Vec3 s;
    for (int k = 0; k < 3; ++k) {
        const double last = size_[k] - 2;
        const double floor = std::clamp(std::floor(at[k]), 0.0, last);
        low[k] = static_cast<int>(floor);
        s[k] = std::clamp(at[k] - floor, 0.0, 1.0);
    }
    const std::size_t index = (static_cast<std::size_t>(low[2]) * static_cast<std::size_t>(size_[1]) +
                               static_cast<std::size_t>(low[1])) *
                                  static_cast<std::size_t>(size_[0]) +
                              static_cast<std::size_t>(low[0]);
    return {values_.data() + index, s};
}

DistanceField::Sample DistanceField::sample(const Vec3& p) const
{
    if (!p.allFinite()) throw InputError("a distance field was asked for a point that is not finite");
    const Cell cell = locate(p);
    const std::ptrdiff_t row = size_[0], slice = row * size_[1];
    const auto value = [&](int i, int j, int k) {
        return static_cast<double>(cell.corner[i + j * row + k * slice]);
    };
    const double x = cell.s[0], y = cell.s[1], z = cell.s[2];

    // along x first: four values on the edges, and their differences
    double v[2][2], d[2][2];
    for (int k = 0; k < 2; ++k)
        for (int j = 0; j < 2; ++j) {
            d[k][j] = value(1, j, k) - value(0, j, k);
            v[k][j] = value(0, j, k) + x * d[k][j];
        }
    const double low = mix(v[0][0], v[0][1], y), high = mix(v[1][0], v[1][1], y);
    Sample sample;
    sample.distance = mix(low, high, z);
    sample.gradient = Vec3(mix(mix(d[0][0], d[0][1], y), mix(d[1][0], d[1][1], y), z),
                           mix(v[0][1] - v[0][0], v[1][1] - v[1][0], z), high - low) /
                      cell_;
    if (box_.contains(p)) return sample;

    // outside: plus the distance to the box, along which the value inside does not change
    const Vec3 away = p - p.cwiseMax(box_.min()).cwiseMin(box_.max());
    const double beyond = away.norm();
    for (int k = 0; k < 3; ++k)
        if (away[k] != 0.0) sample.gradient[k] = away[k] / beyond;
    sample.distance += beyond;
    return sample;
}

double DistanceField::distance(const Vec3& p) const
{
    return sample(p).distance;
}

} // namespace lithe
