#include "lithe/math/sparse.hpp"

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {

void multiply_symmetric(const SparseMatrix& A, const VecX& x, VecX& y)
{
    LITHE_ASSERT(A.isCompressed() && A.rows() == A.cols() && A.cols() == x.size());
    y.resize(x.size());
    const int* start = A.outerIndexPtr();
    const int* row = A.innerIndexPtr();
    const double* value = A.valuePtr();
    constexpr Index columns_per_task = 512;
    parallel_for(A.cols(), columns_per_task, [&](Index j) {
        double sum = 0.0;
        for (int p = start[j]; p < start[j + 1]; ++p) sum += value[p] * x[row[p]];
        y[j] = sum;
    });
}

double dot(const VecX& a, const VecX& b, std::vector<double>& partial)
{
    LITHE_ASSERT(a.size() == b.size());
    constexpr Index block = 4096;
    const auto part = [&](Index begin, Index end) {
        return a.segment(begin, end - begin).dot(b.segment(begin, end - begin));
    };
    return parallel_reduce(a.size(), block, 0.0, part, std::plus<>(), partial);
}

} // namespace lithe
