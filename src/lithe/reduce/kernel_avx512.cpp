// Compiled for AVX-512 (see CMakeLists.txt); nothing but the kernels may be in here, see lithe/math/lanes.hpp.
#include "lithe/reduce/kernel.hpp"

namespace lithe::detail {

ReduceKernels reduce_kernels_avx512()
{
    return make_reduce_kernels<Lanes8>();
}

} // namespace lithe::detail
