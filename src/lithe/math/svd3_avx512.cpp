// Compiled for AVX-512 (see CMakeLists.txt); nothing but the kernels may be in here, see lanes.hpp.
#include "lithe/math/svd3_kernel.hpp"

namespace lithe::detail {

void svd3_blocks_avx512(const double* F, double* U, double* sigma, double* V, long blocks)
{
    svd3_blocks<Lanes8>(F, U, sigma, V, blocks);
}

void polar_blocks_avx512(const double* F, double* R, long blocks)
{
    polar_blocks<Lanes8>(F, R, blocks);
}

} // namespace lithe::detail
