// Compiled for AVX-512 (see CMakeLists.txt); nothing but the kernels may be in here, see lithe/math/lanes.hpp.
#include "lithe/fem/kernel.hpp"

namespace lithe::detail {

FemKernels fem_kernels_avx512()
{
    return make_kernels<Lanes8>();
}

} // namespace lithe::detail
