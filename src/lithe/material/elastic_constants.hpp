#pragma once

namespace lithe {

/// What a person measures. Checked and converted once, when a material is made.
struct ElasticConstants {
    double young_modulus = 1e5; ///< E [Pa], > 0
    double poisson_ratio = 0.4; ///< nu [-], in (-1, 1/2)
};

/// What the formulas want.
struct LameParameters {
    double mu;     ///< shear modulus [Pa]
    double lambda; ///< first Lame parameter [Pa]

    double bulk_modulus() const { return lambda + 2.0 / 3.0 * mu; } ///< [Pa]
};

/// Throws InputError when a constant is out of its range.
LameParameters lame_parameters(const ElasticConstants& constants);

} // namespace lithe
