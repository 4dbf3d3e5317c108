#include "lithe/meshing/sampled_field.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {

SampledField::SampledField(const ImplicitFunction& f, const Box3& box, const Grid& grid, Progress& progress)
    : origin_(box.min()), spacing_(grid.spacing), lipschitz_(f.lipschitz)
{
    LITHE_ASSERT(grid.spacing > 0.0 && grid.band >= 0.0 && !box.isEmpty());
    const double block = side * spacing_, half_diagonal = std::sqrt(0.75) * block;
    blocks_ =
        ((box.sizes() / block).array().floor() + 1.0).matrix().cast<int>(); // the last node is beyond the box
    table_.resize(static_cast<std::size_t>(blocks_.cast<std::int64_t>().prod()));

    slack_ =
        f.slack + f.lipschitz * 2.0 * half_diagonal; // a block without samples gives the value of its middle
    reach_ = f.lipschitz * grid.band + f.slack;
    find_blocks(f);
    fill(f, progress);
}

Vec3 SampledField::block_corner(std::size_t block) const
{
    const auto nx = static_cast<std::size_t>(blocks_[0]), ny = static_cast<std::size_t>(blocks_[1]);
    const Vec3 index(static_cast<double>(block % nx), static_cast<double>(block / nx % ny),
                     static_cast<double>(block / nx / ny));
    return origin_ + side * spacing_ * index;
}

/// Looks at the middle of every block, and makes those active that may be nearer to the zero set than the band.
void SampledField::find_blocks(const ImplicitFunction& f)
{
    const double reach = reach_ + lipschitz_ * std::sqrt(0.75) * side * spacing_;
    const Vec3 half = Vec3::Constant(0.5 * side * spacing_);
    parallel_for(std::ssize(table_), 64, [&](std::ptrdiff_t b) {
        const double value = f.value(block_corner(static_cast<std::size_t>(b)) + half);
        table_[static_cast<std::size_t>(b)].centre = static_cast<float>(value);
    });
    for (std::size_t b = 0; b < table_.size(); ++b) {
        if (std::abs(static_cast<double>(table_[b].centre)) > reach) continue;
        table_[b].first = static_cast<std::int64_t>(active_.size()) * side * side * side;
        active_.push_back(b);
    }
}

/// The samples of a cube of `size` samples a side within a block: all alike when it is far from the zero set.
void SampledField::fill_cube(const ImplicitFunction& f, const Vec3& corner, int size, float* samples) const
{
    if (size == 1) {
        *samples = static_cast<float>(f.value(corner));
        return;
    }
    const int half = size / 2;
    for (int c = 0; c < 8; ++c) {
        const Eigen::Vector3i low = half * Eigen::Vector3i(c & 1, (c >> 1) & 1, c >> 2);
        float* first = samples + (low[2] * side + low[1]) * side + low[0];
        const Vec3 at = corner + spacing_ * low.cast<double>();
        const double extent = 0.5 * (half - 1) * spacing_; // from the middle of its samples to the outer ones
        const double value = half > 1 ? f.value(at + Vec3::Constant(extent)) : 0.0;
        if (std::abs(value) <= reach_ + lipschitz_ * std::sqrt(3.0) * extent) {
            fill_cube(f, at, half, first);
            continue;
        }
        for (int i = 0; i < half * half * half; ++i)
            first[(i / (half * half) * side + i / half % half) * side + i % half] = static_cast<float>(value);
    }
}

void SampledField::fill(const ImplicitFunction& f, Progress& progress)
{
    samples_.resize(active_.size() * side * side * side);
    progress.begin("distances", std::ssize(active_));
    parallel_for(std::ssize(active_), 1, [&](std::ptrdiff_t a) {
        const std::size_t block = active_[static_cast<std::size_t>(a)];
        fill_cube(f, block_corner(block), side, samples_.data() + table_[block].first);
        progress.advance();
    });
    progress.end();
}

float SampledField::sample(const Eigen::Vector3i& node) const
{
    const Eigen::Vector3i at = node / side, in = node - side * at;
    const auto block = (static_cast<std::size_t>(at[2]) * static_cast<std::size_t>(blocks_[1]) +
                        static_cast<std::size_t>(at[1])) *
                           static_cast<std::size_t>(blocks_[0]) +
                       static_cast<std::size_t>(at[0]);
    const Block& b = table_[block];
    if (b.first < 0) return b.centre;
    return samples_[static_cast<std::size_t>(b.first) +
                    static_cast<std::size_t>((in[2] * side + in[1]) * side + in[0])];
}

double SampledField::value(const Vec3& x) const
{
    Eigen::Vector3i low;
    Vec3 s;
    for (int k = 0; k < 3; ++k) {
        const double last = side * blocks_[k] - 2;
        const double at = std::clamp((x[k] - origin_[k]) / spacing_, 0.0, last + 1.0);
        const double floor = std::min(std::floor(at), last);
        low[k] = static_cast<int>(floor);
        s[k] = at - floor;
    }
    double sum = 0.0;
    for (int c = 0; c < 8; ++c) {
        const Eigen::Vector3i corner(c & 1, (c >> 1) & 1, c >> 2);
        double weight = 1.0;
        for (int k = 0; k < 3; ++k) weight *= corner[k] ? s[k] : 1.0 - s[k];
        sum += weight * static_cast<double>(sample(low + corner));
    }
    return sum;
}

ImplicitFunction SampledField::function() const
{
    return {.value = [this](const Vec3& x) { return value(x); }, .lipschitz = lipschitz_, .slack = slack_};
}

} // namespace lithe
