#pragma once
// Products of short, wide row blocks: Rows x size, row by row, size a multiple of four; see ConstraintRows. Each
// translation unit has its own copy, see lithe/math/lanes.hpp.
#include "lithe/math/lane_sums.hpp"
#include "lithe/math/types.hpp"

namespace lithe {
namespace {

/// G x
template <int Rows>
Eigen::Matrix<double, Rows, 1> times(const double* G, const double* x, Index size)
{
    Lanes4 sums[Rows];
    for (Lanes4& sum : sums) sum = Lanes4(0.0);
    for (Index k = 0; k < size; k += 4) {
        const Lanes4 x_k = Lanes4::load(x + k);
        for (int i = 0; i < Rows; ++i) sums[i] = fma(Lanes4::load(G + i * size + k), x_k, sums[i]);
    }
    Eigen::Matrix<double, Rows, 1> product;
    sums_of<Rows>(sums, product.data());
    return product;
}

/// x += G^T j
template <int Rows>
void add_transposed(const double* G, const Eigen::Matrix<double, Rows, 1>& j, double* x, Index size)
{
    Lanes4 factors[Rows];
    for (int i = 0; i < Rows; ++i) factors[i] = Lanes4(j[i]);
    for (Index k = 0; k < size; k += 4) {
        Lanes4 sum = Lanes4::load(x + k);
        for (int i = 0; i < Rows; ++i) sum = fma(Lanes4::load(G + i * size + k), factors[i], sum);
        sum.store(x + k);
    }
}

/// A B^T
template <int RowsA, int RowsB>
Eigen::Matrix<double, RowsA, RowsB> times_transposed(const double* A, const double* B, Index size)
{
    Lanes4 sums[RowsB * RowsA]; // by columns of the product
    for (Lanes4& sum : sums) sum = Lanes4(0.0);
    for (Index k = 0; k < size; k += 4) {
        Lanes4 b[RowsB];
        for (int j = 0; j < RowsB; ++j) b[j] = Lanes4::load(B + j * size + k);
        for (int i = 0; i < RowsA; ++i) {
            const Lanes4 a = Lanes4::load(A + i * size + k);
            for (int j = 0; j < RowsB; ++j) sums[j * RowsA + i] = fma(a, b[j], sums[j * RowsA + i]);
        }
    }
    Eigen::Matrix<double, RowsA, RowsB> product;
    sums_of<RowsA * RowsB>(sums, product.data());
    return product;
}

} // namespace
} // namespace lithe
