#pragma once
#include <span>
#include <vector>

#include "lithe/body/impulse_problem.hpp"
#include "lithe/contact/cone_newton.hpp"
#include "lithe/contact/coulomb.hpp"
#include "lithe/contact/mixing.hpp"
#include "lithe/core/union_find.hpp"

namespace lithe {

struct ImpulseOptions {
    /// Stop when no impulse changes by more than this share of the largest of its island, both measured by the energy
    /// j.K j that they could bring: so light and heavy bodies, pushes and turns compare.
    double tolerance = 1e-3;
    int max_sweeps = 30; ///< over the contacts and limits of an island, > 0
    /// Every pass over the joints takes away what the regularisation left of the one before: two or three are enough, unless
    /// masses differ by many powers of ten. > 0
    int joint_passes = 10;
};

enum class ImpulseStatus {
    Converged,
    SweepLimit, ///< the impulses are usable: momentum, cones and joints are as exact as ever
    NotFinite   ///< something of an island is infinite or not a number; the island got no impulses
};

struct [[nodiscard]] ImpulseReport {
    ImpulseStatus status = ImpulseStatus::Converged;
    int islands = 0;             ///< with at least one constraint
    int sweeps = 0;              ///< of the island that took most
    double residual = 0.0;       ///< last change over largest impulse, of the worst island
    double joint_residual = 0.0; ///< largest velocity + change + compliance * impulse of a joint [m/s]
    int touching = 0;            ///< contacts with an impulse
    int sliding = 0;             ///< of these
};

/// Finds the impulses of an ImpulseProblem: Coulomb's law at every contact, with the joints satisfied at all times.
///
/// Bodies that hang together form an island; islands do not see each other and are solved in parallel, with the same
/// bits for any number of threads. The joints of an island are eliminated by a direct solve, see JointSystem, so that
/// a contact feels the whole skeleton behind the bone it touches. Contacts and limits are swept one after the other,
/// each solved exactly while the others hold still (block Gauss-Seidel), from the impulses that the problem brings.
/// Most contacts only might touch: those without an impulse are looked at in every fifth sweep, and before the last.
/// Between two sweeps the impulses are mixed with earlier ones, see Mixing; small islands without joints that need many
/// sweeps leap: all contacts are solved at once, see ConeNewton. The joints have the last word.
///
/// Whatever the sweeps leave undone, both sides of every constraint get the same impulse: momentum is exact.
class ImpulseSolver {
public:
    /// Reads the blocks, normals, frictions and compliances. Again whenever these change; allocates only to grow.
    void prepare(const ImpulseProblem& problem);
    /// Reads velocities, gap rates, bounds and starting impulses; writes the impulses.
    ImpulseReport solve(ImpulseProblem& problem, const ImpulseOptions& options);
    /// After a solve: the contacts give back what was pressed into them, times their restitution (Poisson's law). The
    /// energy stays below that without contacts: where the restitutions of an island differ so much that it would not,
    /// all of its contacts give back less.
    void bounce(ImpulseProblem& problem);

    /// All joints of the bodies from `first` to before `last`, which hang together with no others, alone: `change` of these bodies is
    /// then what takes away the velocities that the joints have now, but for what the regularisation leaves. After a solve; threads
    /// may work on different bodies.
    void solve_joints_alone(int first, int last, ImpulseProblem& problem);

    /// a = sum G^T j: what a body has to be given.
    Eigen::Map<const VecX> change(int body) const;

private:
    struct Island {
        Index begin = 0, body_begin = 0,
              joint_begin = 0; ///< its numbers: impulses, those of bodies, of joints
        int first_contact = 0, first_limit = 0, first_articulation = 0; ///< in the orders below
        int pressing = 0;                                               ///< contacts with an impulse
        Mixing mixing = {};
        ImpulseReport report = {};
    };
    /// How large the impulses are and how much a sweep has changed them.
    struct SweepSize {
        double change = 0.0, impulse = 0.0;     ///< largest energies j.K j [J]
        double speed = 0.0, speed_change = 0.0; ///< largest |K j|, and by a change [m/s]
        double square = 0.0;                    ///< sum of the changes' energies
        void add(double response, double changed_by, double length);
    };
    /// A leap of an island, and what it has to go back to.
    struct Leap {
        ConeNewton newton;
        std::vector<ConeNewton::Contact> contacts;
        VecX numbers;
    };
    struct Settling {
        int passes = 1;
        double enough = 0.0; ///< violation of a joint that may remain [m/s]
    };
    struct Settled {
        double before = 0.0, after = 0.0; ///< largest violation of a joint [m/s]
    };
    struct Work {
        double linear = 0.0, square = 0.0; ///< p.w and p.K p [J]
    };

    /// Numbers of the impulses of contacts and limits in islands that come first.
    static Index impulses_before(const Island& island)
    {
        return 3 * island.first_contact + island.first_limit;
    }

    void find_islands(const ImpulseProblem& problem);
    void place_numbers(const ImpulseProblem& problem);
    void couple(const ImpulseProblem& problem, const ConstraintRows& rows, ConstraintLinks& couplings);
    void factorise_joints(const ImpulseProblem& problem);
    template <int Rows>
    void fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows, ConstraintLinks& couplings,
                    int c) const;
    void prepare_contact(const ImpulseProblem& problem, int c);
    void prepare_limit(const ImpulseProblem& problem, int c);

    std::span<const int> contacts_of(std::size_t island) const;
    std::span<const int> limits_of(std::size_t island) const;
    std::span<const int> articulations_of(std::size_t island) const;

    void solve_island(ImpulseProblem& problem, const ImpulseOptions& options, std::size_t island);
    void start(ImpulseProblem& problem, std::size_t island);
    void push_bodies(const ImpulseProblem& problem, std::size_t island);
    void push_joint(const ImpulseProblem& problem, int joint, const Vec3& impulse);
    double sweep_until_still(const ImpulseProblem& problem, const ImpulseOptions& options,
                             std::size_t island);
    enum class Visit { All, Pressing };
    SweepSize sweep(const ImpulseProblem& problem, std::size_t island, Visit visit);
    void sweep_contact(const ImpulseProblem& problem, int c, double* impulse, SweepSize& size);
    void sweep_limit(const ImpulseProblem& problem, int c, double& impulse, SweepSize& size);
    void follow_impulses(std::size_t island);
    Vec3 contact_velocity(const ImpulseProblem& problem, int c) const;
    double largest_approach(const ImpulseProblem& problem, std::size_t island) const;
    bool can_leap(std::size_t island) const;
    bool leap(const ImpulseProblem& problem, std::size_t island, const SweepSize& size, double speed);
    bool solve_at_once(const ImpulseProblem& problem, std::size_t island, double speed);
    Settled settle_joints(ImpulseProblem& problem, std::size_t island, const Settling& how);
    Settled settle_articulation(ImpulseProblem& problem, int articulation, const Settling& how);
    double joint_violation(const ImpulseProblem& problem, int articulation);
    void solve_joints_alone(int articulation, ImpulseProblem& problem);
    void finish(ImpulseProblem& problem, std::size_t island);
    void bounce_island(ImpulseProblem& problem, std::size_t island);
    Work work_of(const ImpulseProblem& problem, std::size_t island);

    JointSystem joints_;
    ConstraintLinks contact_links_, limit_links_;
    std::vector<CoulombContact> contacts_;
    std::vector<double> contact_response_; ///< trace of K over three [1/kg]
    std::vector<double> limit_response_;   ///< with compliance; 0 when nothing moves
    std::vector<ContactState> states_;     ///< of the contacts after the last sweep

    std::vector<Island> islands_; ///< and one more
    UnionFind sets_;              ///< of bodies
    std::vector<int> island_of_body_;
    std::vector<int> contact_order_, limit_order_, articulation_order_; ///< by island
    std::vector<int>
        pressing_; ///< places in its part of contact_order_, from the first contact of each island
    std::vector<char> is_factorised_;                              ///< per articulation
    std::vector<Settled> settled_;                                 ///< per articulation, of `settle_joints`
    std::vector<Index> numbers_of_body_, numbers_of_articulation_; ///< where they start
    std::vector<Index> body_size_;

    // An island's numbers lie together: its impulses, the a of its bodies, then L^-1 J a of its articulations.
    AlignedNumbers numbers_, scratch_;
    AlignedNumbers weights_; ///< of the impulses: the response to each
    AlignedNumbers mixing_memory_;
    std::vector<Leap> leaps_;  ///< of the islands
    AlignedNumbers joint_rhs_; ///< JointSystem::size
};

} // namespace lithe
