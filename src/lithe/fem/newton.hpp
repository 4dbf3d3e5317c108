#pragma once
#include <optional>
#include <span>
#include <vector>

#include "lithe/contact/contact_potential.hpp"
#include "lithe/fem/elasticity.hpp"
#include "lithe/fem/follower_pressure.hpp"
#include "lithe/fem/newton_matrix.hpp"
#include "lithe/math/conjugate_gradient.hpp"
#include "lithe/math/sparse_cholesky.hpp"

namespace lithe {

/// Vertices that are where they are told to be.
struct PinnedVertices {
    std::vector<int> vertices; ///< each once
    Points targets;            ///< a column for each: its position at the end of the step [m]
};

/// What acts on a body from outside during a step. Spans and pointers must outlive the solve.
struct Loading {
    Points force = {}; ///< 3 x n [N]; none when empty
    PinnedVertices pins = {};
    std::span<const SurfacePressure> pressures = {}; ///< follow the surface while it moves
    std::span<const Obstacle> obstacles = {};        ///< felt where `contact` is set
    const ContactModel* contact = nullptr;           ///< how the body touches; none: it feels nothing
};

enum class LinearSolver {
    Automatic,        ///< Cholesky up to `largest_cholesky` unknowns, conjugate gradients above
    Cholesky,         ///< sparse; the symbolic phase is done once per work
    ConjugateGradient ///< with a 3 x 3 block-Jacobi preconditioner
};
inline constexpr Index largest_cholesky = 200'000;

struct NewtonOptions {
    int max_iterations = 200; ///< > 0
    /// Stop when the Newton decrement -g.d falls below this share of the larger of: twice the energy that the first
    /// step gained, and the energies that are minimised. 1e-7 is about 3e-4 in position; rounding ends it in any case.
    double decrement = 1e-7;
    LinearSolver linear_solver = LinearSolver::Automatic;
    CgOptions cg = {.max_iterations = 2000, .relative_residual = 1e-6};
};

enum class SolveStatus {
    Converged,
    IterationLimit,
    LineSearchFailed,    ///< no share of the Newton step lowers the energy
    NotPositiveDefinite, ///< the matrix stayed singular after regularisation: too few pins?
    NotFinite            ///< NaN or infinity in the forces or the state
};
const char* to_string(SolveStatus status);

struct [[nodiscard]] SolveReport {
    SolveStatus status = SolveStatus::IterationLimit;
    int iterations = 0;              ///< of all passes together
    int linear_iterations = 0;       ///< of conjugate gradients, all together
    double decrement = 0.0;          ///< -g.d of the last iteration [J]
    double relative_decrement = 0.0; ///< the same as the share that is compared with the option
    double regularisation = 0.0;     ///< largest share of the diagonal that had to be added to get on
    ContactReport contact = {};      ///< at the end of a solve that converged

    bool converged() const { return status == SolveStatus::Converged; }
};

/// Buffers and factorisations, sized on first use; nothing in here means anything between calls.
struct FemWork {
    ElasticWork elastic;
    SparseMatrix K, K_lag, A;
    SparseCholesky cholesky;
    CgWork cg;
    std::optional<BlockJacobiPreconditioner> preconditioner;
    std::vector<unsigned char> pinned;       ///< per vertex
    Points x, x_trial, g, g_trial;           ///< iterates and gradients
    Points mass_centre, damping_centre;      ///< x_M, x_D of the objective
    Points start, pin_step, offset, product; ///< offset and product: scratch of the objective
    VecX d, rhs, flat, flat_product;
    std::vector<double> partial;
    ContactWork contact;
    FrictionState friction; ///< of the end of the step
    PressureWork pressure;
    Couplings couplings;  ///< of self-contact, beyond the pattern of A
    SparseMatrix coupled; ///< A with them; used in its place where there are some

    const SparseMatrix& system() const { return couplings.empty() ? A : coupled; }
    SparseMatrix& system() { return couplings.empty() ? A : coupled; }
};

/// What one static solve or one step of an integrator minimises, with D = alpha M + beta K_lag:
///
///   Phi(x) = c_M/2 |x - x_M|_M^2 + c_D/2 |x - x_D|_D^2 + Psi(x) - f.(x - x_start) + Phi_contact(x) + Phi_p(x)
///
/// Phi_contact and Phi_p are in contact_potential.hpp and follower_pressure.hpp. Static: c_M = c_D = 0. Backward Euler and Newmark differ in the four numbers only (solve.cpp).
struct Objective {
    double mass_weight = 0.0;    ///< c_M [1/s^2]; x_M is work.mass_centre
    double damping_weight = 0.0; ///< c_D [1/s]; x_D is work.damping_centre
};

/// Checks the loading and puts it into `work`: the pins, and work.pin_step, from `x` to their targets.
void prepare_loading(const FemModel& model, const Loading& loading, const Points& x, FemWork& work);

/// Minimises Phi by Newton's method with projected Hessians and a backtracking line search, from work.start; the
/// minimiser is in work.x. Pins move to their targets in the first iteration, with everything else following linearly.
/// What friction and self-contact take as given is renewed when it has converged, until that settles. `friction` is that
/// of the start of the step; that of its end is in work.friction.
SolveReport minimise(const FemModel& model, const Loading& loading, const FrictionState& friction,
                     const Objective& objective, const NewtonOptions& newton, FemWork& work);

/// What the body touches in a solve under this loading; nothing where it touches nothing.
std::optional<ContactScene> contact_scene(const Loading& loading, const FrictionState& friction);

/// Solves work.system() d = work.rhs into work.d, as `newton` says. Pinned rows must be those of I.
SolveStatus solve_linear(const NewtonOptions& newton, SolveReport& report, FemWork& work);

/// work.A = m M + k K_lag + K, with rows and columns of pinned vertices replaced by those of the identity.
void assemble_system(const FemModel& model, double m, double k, FemWork& work);

} // namespace lithe
