#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "lithe/material/material.hpp"
#include "support/random_matrices.hpp"

namespace lithe::test {

/// One law with its constants, for tests that all of them must pass.
struct Specimen {
    MaterialParameters parameters;
    Material material;
    LameParameters lame;

    double psi(const Mat3& F) const
    {
        return std::visit([&](const auto& m) { return m.psi(F); }, material);
    }
    Mat3 P(const Mat3& F) const
    {
        return std::visit([&](const auto& m) { return m.P(F); }, material);
    }
    Mat9 dPdF(const Mat3& F) const
    {
        return std::visit([&](const auto& m) { return m.dPdF(F); }, material);
    }
    Mat9 dPdF_psd(const Mat3& F) const
    {
        return std::visit([&](const auto& m) { return m.dPdF_psd(F); }, material);
    }
    std::string name() const { return std::string(material_name(parameters.kind)); }
};

inline void PrintTo(const Specimen& s, std::ostream* out)
{
    *out << s.name();
}

inline Specimen specimen(const MaterialParameters& parameters)
{
    return {parameters, make_material(parameters), lame_parameters(parameters.elastic)};
}

/// Every law, soft and stiff, nearly incompressible and auxetic.
inline std::vector<Specimen> all_specimens()
{
    std::vector<Specimen> all;
    for (const MaterialKind kind : material_kinds())
        for (const ElasticConstants& elastic :
             {ElasticConstants{1e5, 0.45}, ElasticConstants{2e3, 0.1}, ElasticConstants{7e9, -0.3}})
            all.push_back(specimen({.kind = kind, .elastic = elastic}));
    all.push_back(specimen({.kind = MaterialKind::MooneyRivlin, .mooney_ratio = 2.0}));
    all.push_back(specimen({.kind = MaterialKind::ArrudaBoyce, .limit_stretch = 1.5}));
    return all;
}

/// Random F with signed stretches in the given ranges; about half of them inverted when `invert` is below zero.
inline Mat3 random_deformation(Random& random, double smallest = 0.3, double largest = 1.8,
                               double invert = 1.0)
{
    Vec3 sigma;
    for (int i = 0; i < 3; ++i) sigma[i] = random.uniform(smallest, largest);
    if (random.uniform(-1.0, 1.0) > invert) sigma[2] *= -1.0;
    return random_rotation(random) * sigma.asDiagonal() * random_rotation(random).transpose();
}

} // namespace lithe::test
