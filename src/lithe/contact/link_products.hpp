#pragma once
// Products of the links of constraints. Each translation unit has its own copy, see row_products.hpp.
#include <span>

#include "lithe/contact/constraint_links.hpp"
#include "lithe/contact/row_products.hpp"

namespace lithe {
namespace {

template <int Rows>
using Vec = Eigen::Matrix<double, Rows, 1>;

inline std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

inline std::span<const ConstraintLink> blocks_of(const ConstraintLinks& couplings, int c)
{
    const int begin = couplings.first[at(c)];
    return {couplings.links.data() + begin, at(couplings.first_part[at(c)] - begin)};
}

inline std::span<const ConstraintLink> parts_of(const ConstraintLinks& couplings, int c)
{
    const int begin = couplings.first_part[at(c)];
    return {couplings.links.data() + begin, at(couplings.first[at(c) + 1] - begin)};
}

/// The change of velocity at a constraint:  G a - Y^T y.
template <int Rows>
Vec<Rows> change_at(const ConstraintLinks& couplings, int c, const double* numbers)
{
    Vec<Rows> change = Vec<Rows>::Zero();
    for (const ConstraintLink& link : blocks_of(couplings, c))
        change += times<Rows>(link.block, numbers + link.numbers, link.size);
    for (const ConstraintLink& link : parts_of(couplings, c))
        change -= times<Rows>(link.block, numbers + link.numbers, link.size);
    return change;
}

/// a += G^T j
template <int Rows>
void push_directly(const ConstraintLinks& couplings, int c, const Vec<Rows>& impulse, double* numbers)
{
    for (const ConstraintLink& link : blocks_of(couplings, c))
        add_transposed<Rows>(link.block, impulse, numbers + link.numbers, link.size);
}

/// a += G^T j,  y += Y j
template <int Rows>
void push(const ConstraintLinks& couplings, int c, const Vec<Rows>& impulse, double* numbers)
{
    push_directly<Rows>(couplings, c, impulse, numbers);
    for (const ConstraintLink& link : parts_of(couplings, c))
        add_transposed<Rows>(link.block, impulse, numbers + link.numbers, link.size);
}

/// The sum of block times its transpose over links.
template <int Rows>
Eigen::Matrix<double, Rows, Rows> square_of(std::span<const ConstraintLink> links)
{
    Eigen::Matrix<double, Rows, Rows> sum = Eigen::Matrix<double, Rows, Rows>::Zero();
    for (const ConstraintLink& link : links)
        sum += times_transposed<Rows, Rows>(link.block, link.block, link.size);
    return sum;
}

} // namespace
} // namespace lithe
