#include "lithe/reduce/symmetric_product.hpp"

#include "lithe/core/error.hpp"
#include "lithe/reduce/kernel.hpp"

namespace lithe {

namespace detail {
ReduceKernels reduce_kernels_avx512();
}

ReduceKernels reduce_kernels(SimdLevel level)
{
    if (level == SimdLevel::Avx512)
        return detail::reduce_kernels_avx512(); // itself compiled for it: call it only there
    return level == SimdLevel::Avx2 ? make_reduce_kernels<Lanes4>() : make_reduce_kernels<Lanes1>();
}

void symmetric_product(const MatX& A, const MatX& B, MatX& K, SimdLevel level)
{
    LITHE_ASSERT(A.rows() == B.rows() && A.cols() == B.cols() && A.rows() % Lanes4::width == 0);
    K.resize(A.cols(), A.cols());
    ReduceKernels kernel = reduce_kernels(level);
    if (A.rows() % kernel.lanes != 0) kernel = make_reduce_kernels<Lanes4>();
    kernel.symmetric_product(A.data(), B.data(), A.rows(), A.cols(), K.data());
}

} // namespace lithe
