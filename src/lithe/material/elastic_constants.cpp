#include "lithe/material/elastic_constants.hpp"

#include "lithe/core/error.hpp"

namespace lithe {

LameParameters lame_parameters(const ElasticConstants& constants)
{
    const double E = require_positive("young_modulus", constants.young_modulus);
    const double nu = require_between("poisson_ratio", constants.poisson_ratio, -1.0, 0.5);
    return {E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))};
}

} // namespace lithe
