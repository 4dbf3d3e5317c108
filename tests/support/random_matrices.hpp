#pragma once
#include "lithe/core/random.hpp"
#include "lithe/math/types.hpp"

namespace lithe::test {

inline VecX random_vector(Random& random, Index size)
{
    return VecX::NullaryExpr(size, [&] { return random.uniform(-1.0, 1.0); });
}

inline MatX random_matrix(Random& random, Index rows, Index cols)
{
    return MatX::NullaryExpr(rows, cols, [&] { return random.uniform(-1.0, 1.0); });
}

inline Mat3 random_rotation(Random& random)
{
    const Eigen::Quaterniond q(random.normal(), random.normal(), random.normal(), random.normal());
    return q.normalized().toRotationMatrix();
}

} // namespace lithe::test
