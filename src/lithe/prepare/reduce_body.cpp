#include "lithe/prepare/reduce_body.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lithe/reduce/modal_derivatives.hpp"
#include "lithe/reduce/reduced_poses.hpp"

namespace lithe {
namespace {

constexpr Index largest_automatic_polynomial = 40; ///< beyond it a step by cubature is the cheaper one

/// Each connected part must be held, or there must be one only: parts that are free of each other have no basis in common.
void require_one_piece(const RestSystem& system)
{
    const Index parts = system.component_count();
    if (parts > 1 && system.rigid_motions().cols() > 0)
        throw InputError(fmt::format(
            "the body has {} parts that nothing connects, and not all of them are pinned; pin each, or "
            "prepare each as a body of its own",
            parts));
}

void require_rank(const RestSystem& system, Index rank)
{
    if (rank > system.elastic_freedoms())
        throw InputError(fmt::format(
            "a rank of {} is more than the body has: {} of its {} vertices are pinned, which "
            "leaves {} ways to deform; ask for fewer",
            rank, system.pinned_vertices().size(), system.model().vertex_count(), system.elastic_freedoms()));
}

bool all_of_kind(const std::vector<RegionParameters>& materials, MaterialKind kind)
{
    return std::ranges::all_of(materials, [&](const RegionParameters& m) { return m.material.kind == kind; });
}

ElasticChoice elastic_choice(const SceneReduction& options, const std::vector<RegionParameters>& materials,
                             Index rank)
{
    if (options.elastic != ElasticChoice::Automatic) return options.elastic;
    if (all_of_kind(materials, MaterialKind::Linear)) return ElasticChoice::Linear;
    if (all_of_kind(materials, MaterialKind::StVenantKirchhoff) && rank <= largest_automatic_polynomial)
        return ElasticChoice::Polynomial;
    return ElasticChoice::Cubature;
}

/// How many modes are differentiated for a basis of that rank: their pairs are several times as many as are kept.
Index mode_count(const RestSystem& system, Index rank)
{
    return std::min(system.elastic_freedoms(), std::clamp<Index>((2 * rank + 2) / 3, 4, 24));
}

/// Modes and derivatives, strongest first; modes alone where the elasticity is linear.
Basis modal_basis(RestSystem& system, Index rank, ElasticChoice elastic, ReductionRecord& record,
                  Progress& progress)
{
    const bool linear = elastic == ElasticChoice::Linear;
    const Modes modes = linear_modes(system, {.count = linear ? rank : mode_count(system, rank)}, progress);
    record.eigenvalues = modes.eigenvalues;
    if (linear) return modes.basis;
    PrincipalBasis principal =
        modal_derivative_basis(system, modes, {.lost_energy = 0.0, .max_rank = rank}, progress);
    record.singular_values = std::move(principal.singular_values);
    return std::move(principal.basis);
}

Basis first_columns(Basis basis, Index count)
{
    if (basis.rank() > count) basis.U = MatX(basis.U.leftCols(count));
    return basis;
}

/// What was seen comes first, what the modes add fills up to the rank.
Basis make_basis(RestSystem& system, Index rank, ElasticChoice elastic, const MatX& snapshots,
                 ReductionRecord& record, Progress& progress)
{
    Basis modal = modal_basis(system, rank, elastic, record, progress);
    if (snapshots.cols() == 0) return modal;
    PrincipalBasis seen = snapshot_basis(system.model(), snapshots, {.max_rank = rank});
    record.singular_values = std::move(seen.singular_values);
    if (seen.basis.rank() == rank) return std::move(seen.basis);
    return first_columns(join(system.model(), std::array{seen.basis, modal}), rank);
}

CubaturePoses make_poses(const FemModel& model, const Basis& basis, const SceneReduction& options,
                         const MatX& snapshots, Progress& progress)
{
    const Index held_out = options.poses / 4, training = options.poses - held_out;
    if (snapshots.cols() > 0)
        return snapshot_poses(model, basis, snapshots,
                              {.training = training, .held_out = held_out, .seed = options.seed});
    return random_poses(model, basis.U, {.training = training, .held_out = held_out, .seed = options.seed},
                        progress);
}

void set_record(const TrainedCubature& trained, const CubaturePoses& poses, ReductionRecord& record)
{
    record.training_poses = poses.training.cols();
    record.held_out_poses = poses.held_out.cols();
    record.training_error = trained.training_error;
    record.held_out_error = trained.held_out_error;
    record.point_counts = trained.point_counts;
    record.training_errors = trained.training_errors;
    record.held_out_errors = trained.held_out_errors;
}

CubatureElastic make_cubature(const FemModel& model, const Basis& basis, const SceneReduction& options,
                              const MatX& snapshots, Reduction& out, Progress& progress)
{
    const CubaturePoses poses = [&] {
        const auto time = out.times.measure("poses");
        return make_poses(model, basis, options, snapshots, progress);
    }();
    const auto time = out.times.measure("cubature");
    TrainedCubature trained = train_cubature(
        model, basis.U, poses, {.tolerance = options.tolerance, .rule = options.rule, .seed = options.seed},
        progress);
    set_record(trained, poses, out.model.record);
    out.model.record.tolerance = options.tolerance;
    if (trained.status != CubatureStatus::Converged)
        out.notes.push_back(
            fmt::format("the cubature stopped at {} points with an error of {:.2g}, above the "
                        "tolerance of {:.2g}; give more poses, or a larger tolerance",
                        trained.cubature.size(), trained.held_out_error, options.tolerance));
    out.volume.cubature = std::move(trained.cubature);
    return CubatureElastic(model, basis.U, out.volume.cubature);
}

ElasticModel make_elastic(const FemModel& model, const Basis& basis, ElasticChoice choice,
                          const SceneReduction& options, const MatX& snapshots, Reduction& out,
                          Progress& progress)
{
    if (choice == ElasticChoice::Cubature)
        return make_cubature(model, basis, options, snapshots, out, progress);
    const auto time = out.times.measure("elasticity");
    if (choice == ElasticChoice::Linear) return make_linear_elastic(model, basis.U);
    return StvkPolynomial(model, basis.U, progress);
}

/// The materials that some tet has: those of the elastic model, in its order.
std::vector<RegionParameters> used_materials(const BodyParts& parts)
{
    std::vector<RegionParameters> out = parts.materials;
    const std::vector<int>& labels = parts.model.shown.volume.regions;
    std::erase_if(out, [&](const RegionParameters& region) {
        return std::ranges::find(labels, region.label) == labels.end();
    });
    return out;
}

/// The surface that touches, where it is not the one that is shown.
std::optional<ReducedSurface> make_boundary(const FullBodyModel& model, const MatX& U)
{
    std::vector<int> origin;
    TriangleMesh surface = boundary_surface(model.shown.volume, origin);
    if (surface.vertex_count() == model.shown.surface.vertex_count() &&
        surface.vertices == model.shown.surface.vertices)
        return std::nullopt;
    surface.fields.clear();
    return make_reduced_surface(std::move(surface), embed_vertices(origin, model.shown.volume), U);
}

} // namespace

std::vector<int> held_vertices(const std::vector<LedVertices>& pins)
{
    std::vector<int> out;
    for (const LedVertices& led : pins) {
        if (!led.motion.is_constant() || std::isfinite(led.release))
            throw InputError(
                "the pins of a reduced body hold still; one that moves or lets go needs full space: "
                "leave out the reduction, or the motion of the pin");
        out.insert(out.end(), led.vertices.begin(), led.vertices.end());
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

Reduction reduce_body(const BodyParts& parts, const SceneReduction& options, const MatX& snapshots,
                      Progress& progress)
{
    const FemModel& fem = parts.model.fem;
    Reduction out;
    out.volume.pins = held_vertices(parts.model.pins);
    ReductionRecord& record = out.model.record;
    const Index rank = options.rank.value_or(30);
    const ElasticChoice choice = elastic_choice(options, parts.materials, rank);
    Basis basis = [&] {
        const auto time = out.times.measure("basis");
        RestSystem system(fem, out.volume.pins);
        require_one_piece(system);
        require_rank(system, rank);
        return make_basis(system, rank, choice, snapshots, record, progress);
    }();
    record.basis = basis.provenance;
    ElasticModel elastic = make_elastic(fem, basis, choice, options, snapshots, out, progress);
    const auto time = out.times.measure("integrals");
    out.model.name = parts.model.shown.name;
    out.model.reduced = make_reduced_model(fem, basis.U, std::move(elastic));
    out.model.integrals = make_mass_integrals(fem, basis.U);
    out.model.shown = make_reduced_surface(parts.model.shown.surface, parts.model.embedding, basis.U);
    out.model.boundary = make_boundary(parts.model, basis.U);
    out.model.contact_stiffness = parts.model.contact.stiffness;
    out.model.pinned = !out.volume.pins.empty();
    out.model.mass_kind = fem.mass_kind;
    out.model.materials = used_materials(parts);
    out.volume.mesh = parts.model.shown.volume;
    out.volume.embedding = parts.model.embedding;
    out.volume.U = std::move(basis.U);
    return out;
}

} // namespace lithe
