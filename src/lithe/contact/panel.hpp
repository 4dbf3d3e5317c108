#pragma once
// Products of the panels of a factor: by columns, a multiple of four rows each. Each translation unit has its own copy, see
// lithe/math/lanes.hpp.
#include <cmath>
#include <type_traits>

#include "lithe/math/lane_sums.hpp"
#include "lithe/math/types.hpp"

namespace lithe {
namespace {

/// Some rows of a panel.
template <class Number>
struct PanelOf {
    Number* values;
    Index stride;        ///< from column to column
    Index rows, columns; ///< rows are a multiple of four; those that stand for nothing are zero

    Number& operator()(Index row, Index column) const { return values[row + column * stride]; }
    Number* column(Index c) const { return values + c * stride; }
    PanelOf from(Index row, Index count) const { return {values + row, stride, count, columns}; }
    operator PanelOf<const Number>() const
        requires(!std::is_const_v<Number>)
    {
        return {values, stride, rows, columns};
    }
};
using Panel = PanelOf<double>;
using ConstPanel = PanelOf<const double>;

template <int Lanes>
void add_product(const double* A, Index stride, Index columns, const double* x, Index step, double sign,
                 const double* start, double* y)
{
    Lanes4 sums[Lanes];
    for (int l = 0; l < Lanes; ++l) sums[l] = start ? Lanes4::load(start + 4 * l) : Lanes4(0.0);
    for (Index c = 0; c < columns; ++c) {
        const Lanes4 x_c(sign * x[c * step]);
        for (int l = 0; l < Lanes; ++l) sums[l] = fma(Lanes4::load(A + c * stride + 4 * l), x_c, sums[l]);
    }
    for (int l = 0; l < Lanes; ++l) sums[l].store(y + 4 * l);
}

constexpr Index most_rows = 12; ///< at once: those of three points, which most bonds have

/// y = start + sign A x, of the first `columns` of A, at most `most_rows` rows; x has its numbers `step` apart. Without a start, zero.
/// y may be x.
inline void add_product(const ConstPanel& A, Index columns, const double* x, Index step, double sign,
                        const double* start, double* y)
{
    if (A.rows == 12) return add_product<3>(A.values, A.stride, columns, x, step, sign, start, y);
    if (A.rows == 8) return add_product<2>(A.values, A.stride, columns, x, step, sign, start, y);
    add_product<1>(A.values, A.stride, columns, x, step, sign, start, y);
}

/// f(row, rows) for some rows at a time, from the last.
inline void for_each_rows(Index rows, const auto& f)
{
    for (Index row = (rows + most_rows - 1) / most_rows * most_rows - most_rows; row >= 0; row -= most_rows)
        f(row, rows - row < most_rows ? rows - row : most_rows);
}

/// y -= A x, elsewhere than x.
inline void subtract_product(const ConstPanel& A, const double* x, double* y)
{
    for_each_rows(A.rows, [&](Index row, Index rows) {
        add_product(A.from(row, rows), A.columns, x, 1, -1.0, y + row, y + row);
    });
}

/// x = L x, with a lower triangle.
inline void multiply_lower(const ConstPanel& L, double* x)
{
    for_each_rows(L.rows, [&](Index row, Index rows) {
        const Index columns = row + rows < L.columns ? row + rows : L.columns;
        add_product(L.from(row, rows), columns, x, 1, 1.0, nullptr, x + row);
    });
}

/// Of columns c to c + 3 of A and y, from row `from` on, a multiple of four.
inline Lanes4 column_products(const ConstPanel& A, Index c, Index from, const double* y)
{
    Lanes4 sums[4] = {Lanes4(0.0), Lanes4(0.0), Lanes4(0.0), Lanes4(0.0)};
    for (Index row = from; row < A.rows; row += 4) {
        const Lanes4 y_row = Lanes4::load(y + row);
        for (int l = 0; l < 4; ++l) sums[l] = fma(Lanes4::load(A.column(c + l) + row), y_row, sums[l]);
    }
    return sums_of(sums);
}

/// The same of column c alone.
inline double column_product(const ConstPanel& A, Index c, Index from, const double* y)
{
    Lanes4 sum(0.0);
    for (Index row = from; row < A.rows; row += 4)
        sum = fma(Lanes4::load(A.column(c) + row), Lanes4::load(y + row), sum);
    return sum_of(sum);
}

/// x = L^T x, with a lower triangle.
inline void multiply_upper(const ConstPanel& L, double* x)
{
    Index c = 0; // each needs only those after it
    for (; c + 4 <= L.columns; c += 4) column_products(L, c, c, x).store(x + c);
    for (const Index from = c; c < L.columns; ++c) x[c] = column_product(L, c, from, x);
}

/// x -= A^T y
inline void subtract_transposed_product(const ConstPanel& A, const double* y, double* x)
{
    Index c = 0;
    for (; c + 4 <= A.columns; c += 4) (Lanes4::load(x + c) - column_products(A, c, 0, y)).store(x + c);
    for (; c < A.columns; ++c) x[c] -= column_product(A, c, 0, y);
}

/// C -= A B^T, with a row of B for each column of C.
inline void subtract_square(const ConstPanel& A, const ConstPanel& B, const Panel& C)
{
    for_each_rows(A.rows, [&](Index row, Index rows) {
        for (Index c = 0; c < C.columns; ++c) {
            double* column = C.column(c) + row;
            add_product(A.from(row, rows), A.columns, &B(c, 0), B.stride, -1.0, column, column);
        }
    });
}

/// A becomes A L^-T; L^-1 is given.
inline void divide_by_transposed(const Panel& A, const ConstPanel& L_inverse)
{
    for_each_rows(A.rows, [&](Index row, Index rows) {
        const Panel part = A.from(row, rows);
        for (Index c = A.columns - 1; c >= 0; --c) // each needs only those before it
            add_product(part, c + 1, &L_inverse(c, 0), L_inverse.stride, 1.0, nullptr, part.column(c));
    });
}

/// A square A = L L^T, of which the lower half is read, becomes L^-1; above its diagonal are zeros. False when A is not positive.
inline bool invert_root(const Panel& A)
{
    const Index n = A.columns;
    for (Index c = 0; c < n; ++c) { // A = L L^T
        const double pivot = A(c, c);
        if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
        const double inverse = 1.0 / std::sqrt(pivot);
        for (Index row = 0; row < A.rows; ++row) A(row, c) = row < c ? 0.0 : A(row, c) * inverse;
        for (Index j = c + 1; j < n; ++j) {
            const Lanes4 factor(-A(j, c));
            for (Index row = c / 4 * 4; row < A.rows; row += 4)
                fma(Lanes4::load(A.column(c) + row), factor, Lanes4::load(A.column(j) + row))
                    .store(A.column(j) + row);
        }
    }
    for (Index c = n - 1; c >= 0; --c) { // L^-1 by columns, from the last: each needs only those after it
        const double inverse = 1.0 / A(c, c);
        double* column = A.column(c);
        for (Index row = n - 1; row > c; --row) {
            double sum = 0.0;
            for (Index k = c + 1; k <= row; ++k) sum += A(row, k) * column[k];
            column[row] = -inverse * sum;
        }
        column[c] = inverse;
    }
    return true;
}

} // namespace
} // namespace lithe
