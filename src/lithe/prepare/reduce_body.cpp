#include "lithe/prepare/reduce_body.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lithe/reduce/choose_rank.hpp"
#include "lithe/reduce/contact_modes.hpp"
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

/// Contact modes come first and must leave room for the others.
void require_room(const SceneReduction& options)
{
    if (options.rank && 3 * options.contact_modes >= *options.rank)
        throw InputError(
            fmt::format("{} patches for contact take {} coordinates and leave none of {} for the rest; ask "
                        "for fewer, or for a higher rank",
                        options.contact_modes, 3 * options.contact_modes, *options.rank));
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

/// How many modes are differentiated for a basis of that rank: their pairs are at least twice as many as are kept.
Index mode_count(const RestSystem& system, Index rank)
{
    const auto for_pairs = static_cast<Index>(std::ceil(std::sqrt(4.0 * static_cast<double>(rank))));
    return std::min(system.elastic_freedoms(),
                    std::max(for_pairs, std::clamp<Index>((2 * rank + 2) / 3, 4, 24)));
}

/// What all parts of a reduction look at.
struct Job {
    const BodyParts& parts;
    const SceneReduction& options;
    const TrainingData& training;
    Reduction& out;
    Progress& progress;

    const FemModel& fem() const { return parts.model.fem; }
    const MatX& snapshots() const { return training.snapshots; }
    ReductionRecord& record() const { return out.model.record; }
    bool linear() const
    {
        return options.elastic == ElasticChoice::Linear ||
               (options.elastic == ElasticChoice::Automatic &&
                all_of_kind(parts.materials, MaterialKind::Linear));
    }
};

/// Modes and derivatives, strongest first; modes alone where the elasticity is linear.
Basis modal_basis(const Job& job, RestSystem& system, Index rank)
{
    const Index count = job.linear() ? rank : mode_count(system, rank);
    const Modes modes = linear_modes(system, {.count = count}, job.progress);
    job.record().eigenvalues = modes.eigenvalues;
    if (job.linear()) return modes.basis;
    PrincipalBasis principal =
        modal_derivative_basis(system, modes, {.lost_energy = 0.0, .max_rank = rank}, job.progress);
    job.record().singular_values = std::move(principal.singular_values);
    return std::move(principal.basis);
}

Basis contact_basis(const Job& job, RestSystem& system)
{
    std::vector<int> origin;
    Triangles surface = boundary_surface(job.parts.model.shown.volume, origin).triangles;
    for (int& v : surface.reshaped()) v = origin[static_cast<std::size_t>(v)];
    return contact_modes(system, surface,
                         surface_patches(job.fem().rest, surface, job.options.contact_modes));
}

Basis shape_basis(const Job& job)
{
    const Basis given{.U = job.training.shapes,
                      .kind = BasisKind::Shapes,
                      .provenance = fmt::format("{} shapes", job.training.shapes.cols())};
    return mass_orthonormalised(job.fem(), given);
}

Basis first_columns(Basis basis, Index count)
{
    if (basis.rank() <= count) return basis;
    basis.U = MatX(basis.U.leftCols(count));
    basis.provenance = fmt::format("the first {} of {}", count, basis.provenance);
    return basis;
}

/// What must survive comes first: shapes, responses to contact, then what was seen; the modes fill up to the rank.
Basis make_basis(const Job& job, RestSystem& system, Index rank)
{
    std::vector<Basis> bases;
    if (job.training.shapes.cols() > 0) bases.push_back(shape_basis(job));
    if (job.options.contact_modes > 0) bases.push_back(contact_basis(job, system));
    Basis modal = modal_basis(job, system, rank);
    if (job.snapshots().cols() > 0) {
        PrincipalBasis seen = snapshot_basis(job.fem(), job.snapshots(), {.max_rank = rank});
        job.record().singular_values = std::move(seen.singular_values);
        bases.push_back(std::move(seen.basis));
    }
    bases.push_back(std::move(modal));
    return bases.size() == 1 ? std::move(bases.front()) : first_columns(join(job.fem(), bases), rank);
}

/// The largest rank that is tried, and, for a rank that is given, so many columns more that its error can be told.
Index widest_rank(const Job& job, const RestSystem& system)
{
    constexpr Index most_automatic = 80;
    const Index wanted = job.options.rank.value_or(most_automatic);
    if (job.linear()) return std::min(wanted, system.elastic_freedoms());
    return std::min(job.options.rank ? wanted + (wanted + 2) / 3 : wanted, system.elastic_freedoms());
}

/// Poses that errors of ranks are measured on: none that a cubature is trained with.
MatX reference_poses(const Job& job, const Basis& basis)
{
    constexpr Index count = 24;
    const std::uint64_t seed = job.options.seed + 1'000'003;
    if (job.snapshots().cols() > 0)
        return snapshot_poses(job.fem(), basis, job.snapshots(),
                              {.training = count, .held_out = 0, .seed = seed})
            .training;
    return random_poses(job.fem(), basis.U,
                        {.training = count, .held_out = 0, .loads = PoseLoads::Pushes, .seed = seed},
                        job.progress)
        .training;
}

/// Cuts the basis where it is asked to be cut, and keeps the errors of the ranks that were looked at.
Basis sized(const Job& job, Basis wide)
{
    if (job.linear()) return wide;
    const MatX references = reference_poses(job, wide);
    if (job.options.rank) {
        const Index rank = std::min(*job.options.rank, wide.rank());
        job.record().ranks = {(rank + 3) / 4, (rank + 1) / 2, (3 * rank + 3) / 4, rank};
        job.record().ranks.erase(std::ranges::unique(job.record().ranks).begin(), job.record().ranks.end());
        job.record().rank_errors = rank_errors(job.fem(), wide, references, job.record().ranks, job.progress);
        return first_columns(std::move(wide), rank);
    }
    RankChoice choice = choose_rank(job.fem(), wide, references, job.options.tolerance, job.progress);
    if (choice.status != RankStatus::Converged)
        job.out.notes.push_back(
            fmt::format("no rank up to {} is known to be within the tolerance of {:.2g}: took all {}",
                        3 * wide.rank() / 4, job.options.tolerance, wide.rank()));
    job.record().ranks = std::move(choice.ranks);
    job.record().rank_errors = std::move(choice.errors);
    return first_columns(std::move(wide), choice.rank);
}

Basis reduced_basis(const Job& job)
{
    RestSystem system(job.fem(), job.out.volume.pins);
    require_one_piece(system);
    if (job.options.rank) require_rank(system, *job.options.rank);
    require_room(job.options);
    Basis wide = [&] {
        const auto time = job.out.times.measure("basis");
        return make_basis(job, system, widest_rank(job, system));
    }();
    const auto time = job.out.times.measure("rank");
    Basis basis = sized(job, std::move(wide));
    if (basis.rank() < job.options.rank.value_or(0))
        job.out.notes.push_back(fmt::format("the modes and derivatives span {} coordinates only, not {}",
                                            basis.rank(), *job.options.rank));
    return basis;
}

CubaturePoses make_poses(const Job& job, const Basis& basis)
{
    const auto time = job.out.times.measure("poses");
    const Index poses = job.options.poses.value_or(std::max<Index>(200, 8 * basis.rank()));
    const Index held_out = poses / 4, training = poses - held_out;
    if (job.snapshots().cols() > 0)
        return snapshot_poses(job.fem(), basis, job.snapshots(),
                              {.training = training, .held_out = held_out, .seed = job.options.seed});
    return random_poses(job.fem(), basis.U,
                        {.training = training, .held_out = held_out, .seed = job.options.seed}, job.progress);
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

CubatureElastic make_cubature(const Job& job, const Basis& basis)
{
    const SceneReduction& options = job.options;
    const CubaturePoses poses = make_poses(job, basis);
    const auto time = job.out.times.measure("cubature");
    TrainedCubature trained = train_cubature(
        job.fem(), basis.U, poses,
        {.tolerance = options.tolerance, .rule = options.rule, .seed = options.seed}, job.progress);
    set_record(trained, poses, job.record());
    job.record().tolerance = options.tolerance;
    if (trained.status != CubatureStatus::Converged)
        job.out.notes.push_back(fmt::format("the cubature stopped at {} points with an error of {:.2g}, "
                                            "above the tolerance of {:.2g}; give more "
                                            "poses, or a larger tolerance",
                                            trained.cubature.size(), trained.held_out_error,
                                            options.tolerance));
    job.out.volume.cubature = std::move(trained.cubature);
    return CubatureElastic(job.fem(), basis.U, job.out.volume.cubature);
}

ElasticModel make_elastic(const Job& job, const Basis& basis)
{
    const ElasticChoice choice = elastic_choice(job.options, job.parts.materials, basis.rank());
    if (choice == ElasticChoice::Cubature) return make_cubature(job, basis);
    const auto time = job.out.times.measure("elasticity");
    if (choice == ElasticChoice::Linear) return make_linear_elastic(job.fem(), basis.U);
    return StvkPolynomial(job.fem(), basis.U, job.progress);
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

/// A model from its basis and elasticity.
PreparedModel assembled(const BodyParts& parts, const MatX& U, ElasticModel elastic)
{
    const FemModel& fem = parts.model.fem;
    PreparedModel out;
    out.name = parts.model.shown.name;
    out.reduced = make_reduced_model(fem, U, std::move(elastic));
    out.tensors = make_frame_tensors(fem, U);
    out.shown = make_reduced_surface(parts.model.shown.surface, parts.model.embedding, U);
    out.boundary = make_boundary(parts.model, U);
    out.contact_stiffness = parts.model.contact.stiffness;
    out.mass_kind = fem.mass_kind;
    out.materials = used_materials(parts);
    return out;
}

/// A body without pins moves freely: the frame takes what is rigid of its motion.
void make_fit_for_a_frame(const Job& job, Basis& basis)
{
    FramedBasis framed = make_framed_basis(job.fem(), basis.U,
                                           job.linear() ? FrameAxes::StiffnessDiagonal : FrameAxes::AsGiven);
    if (!framed.dropped.empty())
        job.out.notes.push_back(fmt::format("{} columns of the basis were rigid motions and are left out",
                                            framed.dropped.size()));
    basis.U = std::move(framed.S);
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

Reduction reduce_body(const BodyParts& parts, const SceneReduction& options, const TrainingData& training,
                      StageTimes times, Progress& progress)
{
    Reduction out;
    out.times = std::move(times);
    out.volume.pins = held_vertices(parts.model.pins);
    const Job job{parts, options, training, out, progress};
    Basis basis = reduced_basis(job);
    if (out.volume.pins.empty()) make_fit_for_a_frame(job, basis);
    out.model.record.basis = basis.provenance;
    ElasticModel elastic = make_elastic(job, basis);
    const auto time = out.times.measure("integrals");
    ReductionRecord record = std::move(out.model.record);
    out.model = assembled(parts, basis.U, std::move(elastic));
    out.model.record = std::move(record);
    out.model.pinned = !out.volume.pins.empty();
    out.volume.mesh = parts.model.shown.volume;
    out.volume.embedding = parts.model.embedding;
    out.volume.U = std::move(basis.U);
    return out;
}

PreparedModel rigid_model(const BodyParts& parts)
{
    const MatX none(3 * parts.model.fem.vertex_count(), 0);
    return assembled(parts, none, make_linear_elastic(parts.model.fem, none));
}

} // namespace lithe
