#include "lithe/fem/model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

double require_not_negative(std::string_view name, double value)
{
    if (value >= 0.0 && std::isfinite(value)) return value;
    throw InputError(std::string(name) + " = " + std::to_string(value) + " must be at least 0 and finite");
}

/// rho V of every slot.
std::vector<double> slot_masses(const Elements& elements)
{
    std::vector<double> mass;
    mass.reserve(static_cast<std::size_t>(elements.slot_count()));
    for (const ElementRegion& region : elements.regions)
        for (Index b = region.first_batch; b < region.last_batch; ++b)
            for (const double volume : elements.batches[static_cast<std::size_t>(b)].volume)
                mass.push_back(region.density * volume);
    return mass;
}

/// The parts of a block are element blocks (a, b) of its tets: each adds rho V/20, or rho V/10 where a = b.
void set_mass(FemModel& model)
{
    const StiffnessPattern& pattern = model.pattern;
    const std::vector<double> tet_mass = slot_masses(model.elements);
    model.mass.assign(pattern.row.size(), 0.0);
    for (std::size_t k = 0; k + 1 < pattern.blocks.size(); ++k) {
        const auto& block = pattern.blocks[k];
        const bool diagonal = block.upper.index == block.lower.index;
        double sum = 0.0;
        for (int p = block.first_part; p < pattern.blocks[k + 1].first_part; ++p)
            sum += tet_mass[static_cast<std::size_t>(pattern.parts[static_cast<std::size_t>(p)] / (2 * 90))];
        const double share =
            model.mass_kind == MassKind::Consistent ? (diagonal ? 0.1 : 0.05) : (diagonal ? 0.25 : 0.0);
        model.mass[static_cast<std::size_t>(block.upper.index)] = share * sum;
        model.mass[static_cast<std::size_t>(block.lower.index)] = share * sum;
    }
    model.vertex_mass = VecX::Zero(model.vertex_count());
    for (Index j = 0; j < model.vertex_count(); ++j)
        for (int k = pattern.column_start[static_cast<std::size_t>(j)];
             k < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++k)
            model.vertex_mass[j] += model.mass[static_cast<std::size_t>(k)];
}

/// E of small strains, from the stiffness at rest.
double young_modulus(const Material& material)
{
    const Mat9 H = std::visit([](const auto& law) { return law.dPdF(Mat3::Identity()); }, material);
    const double lambda = H(0, 4), mu = 0.5 * (H(0, 0) - lambda);
    return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

double default_contact_stiffness(const FemModel& model)
{
    double modulus = 0.0;
    for (const ElementRegion& region : model.elements.regions)
        modulus = std::max(modulus, young_modulus(region.material));
    return 1000.0 * modulus / bounds(model.rest).sizes().maxCoeff();
}

/// The tets in the order of the mesh that they came from.
Tets tets_of(const Elements& elements)
{
    Tets tets(4, elements.slot_count() - std::ranges::count(elements.tet_of_slot, -1));
    for (Index slot = 0; slot < elements.slot_count(); ++slot) {
        const int tet = elements.tet_of_slot[static_cast<std::size_t>(slot)];
        if (tet < 0) continue;
        const TetBatch& batch = elements.batches[static_cast<std::size_t>(slot / TetBatch::lane_count)];
        for (int a = 0; a < 4; ++a) tets(a, tet) = batch.corner[a][slot % TetBatch::lane_count];
    }
    return tets;
}

} // namespace

FemModel make_fem_model(const TetMesh& mesh, std::span<const RegionMaterial> materials,
                        const FemOptions& options)
{
    FemModel model;
    model.rest = mesh.vertices;
    model.elements = make_elements(mesh, materials);
    model.pattern = make_stiffness_pattern(model.elements);
    model.mass_kind = options.mass;
    model.damping = {require_not_negative("damping.mass", options.damping.mass),
                     require_not_negative("damping.stiffness", options.damping.stiffness)};
    set_mass(model);
    return model;
}

FemModel make_fem_model(const TetMesh& mesh, const Material& material, double density,
                        const FemOptions& options)
{
    const RegionMaterial everywhere[] = {{.label = 0, .material = material, .density = density}};
    if (mesh.regions.empty()) return make_fem_model(mesh, everywhere, options);
    TetMesh plain{mesh.vertices, mesh.tets};
    return make_fem_model(plain, everywhere, options);
}

ContactModel make_contact_model(const FemModel& model, const ContactOptions& options)
{
    ContactOptions chosen = options;
    if (options.stiffness == 0.0) chosen.stiffness = default_contact_stiffness(model);
    return make_contact_model(TetMesh{model.rest, tets_of(model.elements)}, chosen);
}

FemState rest_state(const FemModel& model)
{
    const Points zero = Points::Zero(3, model.vertex_count());
    return {.x = model.rest, .v = zero, .a = zero};
}

void multiply_mass(const FemModel& model, const Points& x, Points& y)
{
    y.resize(3, model.vertex_count());
    const StiffnessPattern& pattern = model.pattern;
    parallel_for(model.vertex_count(), 1024, [&](Index j) {
        Vec3 sum = Vec3::Zero();
        for (int k = pattern.column_start[static_cast<std::size_t>(j)];
             k < pattern.column_start[static_cast<std::size_t>(j) + 1]; ++k)
            sum += model.mass[static_cast<std::size_t>(k)] * x.col(pattern.row[static_cast<std::size_t>(k)]);
        y.col(j) = sum;
    });
}

double kinetic_energy(const FemModel& model, const FemState& state)
{
    Points Mv;
    multiply_mass(model, state.v, Mv);
    return 0.5 * Mv.cwiseProduct(state.v).sum();
}

Vec3 linear_momentum(const FemModel& model, const FemState& state)
{
    return state.v * model.vertex_mass;
}

Vec3 angular_momentum(const FemModel& model, const FemState& state)
{
    Points Mv;
    multiply_mass(model, state.v, Mv);
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model.vertex_count(); ++i) sum += Vec3(state.x.col(i)).cross(Vec3(Mv.col(i)));
    return sum;
}

} // namespace lithe
