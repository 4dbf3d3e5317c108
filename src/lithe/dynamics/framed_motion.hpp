#pragma once
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "lithe/math/rigid_pose.hpp"
#include "lithe/reduce/frame_tensors.hpp"
#include "lithe/reduce/reduced_solve.hpp"
#include "lithe/reduce/spin_rule.hpp"

namespace lithe {

/// A mass of the coordinates, N = L L^T: entries of a diagonal where it has no others, else factorised.
class ModalMass {
public:
    void set_diagonal(const VecX& entries);
    /// Where N is not positive definite, with as little added to its diagonal as works.
    void set(const MatX& N);
    Index rank() const { return rank_; }

    void multiply_root(const VecX& x, VecX& y) const; ///< y = L x
    void solve_root(VecX& x) const;                   ///< L^-1 x
    void solve_root_transposed(VecX& x) const;        ///< L^-T x
    void whiten(Eigen::Ref<Rows3> S) const;           ///< S L^-T
    /// out = R S L^-T
    void whiten_turned(const Mat3& R, const Eigen::Ref<const Rows3>& S, Eigen::Ref<Rows3> out) const;

private:
    Index rank_ = 0;
    bool diagonal_ = true;
    VecX root_, inverse_root_; ///< of a diagonal
    MatX N_;
    Eigen::LLT<MatX> llt_{MatX(0, 0)}; ///< of nothing at first: one that was never computed may not be copied
};

/// A reduced body that a frame carries: all that does not change while it moves.
struct FramedModel {
    FrameTensors tensors;
    ElasticModel elastic;
    RayleighDamping damping = {};

    // made from these
    MatX rest_stiffness;            ///< K at rest, r x r
    bool diagonal_mass = true;      ///< Mq has no other entries
    bool diagonal_stiffness = true; ///< K at rest has no other entries
    bool linear = true;             ///< K is the same everywhere
    ModalMass mass;                 ///< Mq
    MatX modes;                     ///< of rest_stiffness and Mq, r x r, of unit mass
    VecX frequencies;               ///< omega of them, rising [rad/s]
    double lowest_frequency = 0.0;  ///< the first of them, 0 when there are none
    double highest_frequency = 0.0; ///< the last

    Index rank() const { return tensors.rank(); }
    bool diagonal() const { return linear && diagonal_mass && diagonal_stiffness; }
};

/// Throws InputError when ranks differ, the basis is not fit for a frame (see make_framed_basis), or the body is as
/// require_inertia refuses. Rank 0 is a rigid body.
FramedModel make_framed_model(FrameTensors tensors, ElasticModel elastic,
                              const RayleighDamping& damping = {});

/// All that must be saved to continue a motion:  x = t + R (X + S q).
struct FramedState {
    RigidPose frame;        ///< t is the centre of mass
    Vec3 v = Vec3::Zero();  ///< of the centre of mass [m/s]
    Vec3 L = Vec3::Zero();  ///< angular momentum about it, in world axes [kg m^2/s]
    VecX q = {}, qdot = {}; ///< r
};
FramedState rest_state(const FramedModel& model, const RigidPose& frame = {});

enum class FramedScheme {
    /// Elastic forces and damping of the end of the step, other forces of its start: robust, first order, damps.
    BackwardEuler,
    /// Forces a share theta into the step, in the momenta: second order and without damping for theta = 1/2.
    Theta
};
enum class FrameKind {
    Free,      ///< moved by forces and by the body's own motion
    Prescribed ///< goes its own way; the coordinates live in it
};

struct FramedOptions {
    FramedScheme scheme = FramedScheme::BackwardEuler;
    double theta = 0.5; ///< of Theta, in [1/2, 1]
    FrameKind frame = FrameKind::Free;
    SpinRule spin = SpinRule::Exact;  ///< Naive: for free frames by BackwardEuler only
    ReducedNewtonOptions newton = {}; ///< of BackwardEuler with elasticity that is not linear
};

/// What acts during a step.
struct FramedLoad {
    Vec3 force = Vec3::Zero();  ///< total, in the world [N]
    Vec3 torque = Vec3::Zero(); ///< about the centre of mass, in the world [N m]
    VecX modal = {};            ///< S^T R^T f, r; none when empty
};

/// How a prescribed frame goes through a step.
struct PrescribedFrame {
    RigidPose pose_1;                         ///< at the end
    Vec3 velocity = Vec3::Zero();             ///< over the step, in the world [m/s]
    Vec3 angular_velocity = Vec3::Zero();     ///< over the step, in the world [rad/s]
    Vec3 angular_acceleration = Vec3::Zero(); ///< [rad/s^2]
};

struct [[nodiscard]] FramedReport {
    bool solved = true;      ///< false: not to its tolerance; momenta are right all the same
    int iterations = 0;      ///< of Newton's method for the coordinates
    int turn_iterations = 0; ///< of Newton's method for the rotation
    /// |Omega| over the lowest frequency. Above 1/2, linear elasticity is not to be trusted.
    double spin = 0.0;
    /// So far deformed that rotation and coordinates mean nearly the same: what couples them was held back.
    bool guarded = false;
};

/// How velocities answer impulses under a mass N of the coordinates. In the axes of the frame, an impulse j at an arm
/// rho, where the basis has the rows S, changes them by
///
///   dOmega = I_F^-1 Y^T j,   dqdot = N^-1 (S^T j - B^T dOmega),
///   I_F = I - B N^-1 B^T,   Y = -[rho] - S N^-1 B^T
///
/// so that the velocity at a point m changes by  F_m F_k^T j_k  with  F = [1/sqrt(mass), Y C^-T, S L^-T],
/// I_F = C C^T, N = L L^T. Solvers need only F and the sum  a = sum F_k^T j_k.
class FrameResponse {
public:
    /// Refers to `mass`.
    void set(const FrameTensors& tensors, const FrameConfiguration& configuration, const ModalMass& mass,
             FrameKind kind);
    /// World axes are those of the frame turned by R. Of an impulse a `share` counts, but for the centre of mass all.
    void place(const Mat3& R, double share);

    Index size() const { return 6 + mass_->rank(); }
    /// 3 x (6 + r), in world axes. Allocates when F is not of that size.
    void factor(const Vec3& arm, const Eigen::Ref<const Rows3>& S, Rows3& F) const;

    /// What the impulses behind `a` do, all of them.
    struct Change {
        Vec3 v, L;     ///< in the world
        Vec3 Omega;    ///< in the frame
        VecX qdot;     ///< N^-1 (S^T j - B^T dOmega)
        VecX momentum; ///< S^T j
    };
    void change(const VecX& a, Change& out) const;
    const Mat3& axes() const { return R_; } ///< of the frame, in the world
    double share() const { return share_; }

    /// The spin and the rates of the coordinates that have the angular momentum l in the frame, and none of their own.
    void share_out(const Vec3& l, Vec3& Omega, VecX& qdot) const;
    /// b becomes (N - B^T I^-1 B)^-1 b.
    void solve(VecX& b) const;
    bool guarded() const { return guarded_; }

private:
    const ModalMass* mass_ = nullptr;
    double inverse_root_mass_ = 0.0; ///< 1/sqrt(mass), 0 for a prescribed frame
    Mat3 R_ = Mat3::Identity();
    double share_ = 1.0, root_share_ = 1.0;
    Mat3 C_ = Mat3::Zero();           ///< I_F = C C^T, lower
    Mat3 C_inverse_T_ = Mat3::Zero(); ///< zero for a prescribed frame, which does not answer
    Rows3 B_white_;                   ///< B L^-T
    bool guarded_ = false;
};

/// Energy of a body, in its parts [J].
struct FramedEnergy {
    double translation = 0.0;
    double rotation = 0.0; ///< omega . I omega / 2 with the omega of the whole body, I^-1 R^T L
    double vibration = 0.0;
    double elastic = 0.0;
    double kinetic() const { return translation + rotation + vibration; }
    double total() const { return kinetic() + elastic; }
};

/// One body's motion. State are the momenta in the world, v and L; the frame's spin is always derived from them,
///
///   Omega = I(q)^-1 (R^T L - B(q) qdot),
///
/// so that they are kept to rounding by every scheme. The mass of the coordinates is Mt = Mq - B^T I^-1 B.
///
/// A step: `predict` finds the velocities at which the body goes through it, `apply` changes them by impulses, `advance`
/// moves it. Impulses of that stage answer through the implicit operator, at the configuration of the start.
///
/// With Theta, loads and impulses act throughout the step: of their torques and of what they do to the coordinates, a
/// share theta counts for its velocities, and all of it for what is there at its end. So impulses do no more work than
/// j . (velocity over the step), however stiff the body is. The centre of mass takes the share theta of loads, but all
/// of an impulse: that keeps the angular momentum of two bodies that push each other. With theta = 1/2, a spin or a
/// vibration that impulses stop dead over the step is reversed at its end. Take impacts out before, with bare
/// impulses, or take such steps with theta = 1.
///
/// Between steps, `bare_response` and `apply_bare` change the state at once, through the mass alone.
///
/// Nothing is allocated once buffers are sized, and nothing of the size of the mesh is touched.
class FramedMotion {
public:
    /// Refers to `model`. Throws InputError for options out of range and a state of another size.
    FramedMotion(const FramedModel& model, FramedState state, const FramedOptions& options = {});
    FramedMotion(const FramedMotion&) = delete; // its responses refer to its masses
    FramedMotion& operator=(const FramedMotion&) = delete;

    // a step
    FramedReport predict(double h, const FramedLoad& load = {});
    /// The same for FrameKind::Prescribed; `modal` may be empty.
    FramedReport predict(double h, const PrescribedFrame& frame, const VecX& modal);
    const FrameResponse& response() const;
    void apply(const VecX& a); ///< a = sum F^T j with the factors of `response`
    /// Where the prediction ends: frame and q are those that `advance` will set.
    struct End {
        RigidPose frame;
        Mat3 axes; ///< of the frame, in the world
        VecX q;
        Vec3 position(const Vec3& X, const Eigen::Ref<const Rows3>& S) const
        {
            return axes * (X + times(S, q)) + frame.translation;
        }
    };
    const End& end();
    /// The same as it is known, nothing outside of a step or before `end` was asked for.
    const End* known_end() const { return step_.active && step_.ended ? &end_ : nullptr; }
    bool in_step() const { return step_.active; } ///< between predict and advance
    FramedReport advance();
    /// Leaves a step that was begun; the state is that of its start.
    void abandon() { step_.active = false; }

    // between steps
    /// The mass alone, but for modes above 1/h, which do not answer: an impact is over before h, and in it they push back
    /// with all that they took. So balls hand on their speed however coarse the steps are for their vibrations.
    const FrameResponse& bare_response(double h);
    void apply_bare(const VecX& a); ///< a = sum F^T j with the factors of the last bare_response
    /// Of a point, in the world, if modes that do not answer stood still and all momenta were the same: impulses work
    /// against its mean before and after. At the last bare_response.
    Vec3 bare_velocity(const Vec3& arm, const Eigen::Ref<const Rows3>& S) const;
    /// Moves it by what the impulses behind `a` would move it in a unit of time, and keeps its velocities and momenta.
    void displace(const VecX& a);

    // points: rest X from the centre of mass, rows S of the basis there
    Vec3 arm(const Vec3& X, const Eigen::Ref<const Rows3>& S) const; ///< X + S q
    Vec3 arm_to(const Vec3& x) const;     ///< of a point in the world, in the frame
    Vec3 position(const Vec3& arm) const; ///< in the world
    /// Axes of the frame in the world, as columns.
    const Mat3& axes() const { return mass_response_.axes(); }
    /// In the world; between predict and advance, over the step.
    Vec3 velocity(const Vec3& arm, const Eigen::Ref<const Rows3>& S) const;

    // what it is
    const FramedModel& model() const { return *model_; }
    const FramedOptions& options() const { return options_; }
    const FramedState& state() const { return state_; }
    const FrameConfiguration& configuration() const { return configuration_; }
    const Vec3& Omega() const { return Omega_; } ///< of the state, in the frame [rad/s]
    void set_state(FramedState state);           ///< of the same size; ends a step that was begun
    /// The share of theta from the next step on.
    void set_theta(double theta);

    FramedEnergy energy();
    Vec3 linear_momentum() const { return model_->tensors.mass * state_.v; }
    Vec3 angular_momentum() const; ///< of all that moves, about the world's origin

private:
    /// A step between predict and advance.
    struct Step {
        bool active = false;
        double h = 0.0;                              ///< [s]
        Vec3 v = Vec3::Zero(), Omega = Vec3::Zero(); ///< over the step; Omega in the frame
        VecX u;                                      ///< (q_1 - q_0)/h
        Vec3 dv = Vec3::Zero(), dL = Vec3::Zero();   ///< by all loads and impulses
        VecX p_0, p_1, dp; ///< the coordinates' momentum and what loads and impulses give it; of Theta
        PrescribedFrame path = {}; ///< of a prescribed frame
        bool solved = true;        ///< u and Omega go with dL and dp; of Theta
        bool ended = false;        ///< end_ and end_configuration_ go with u and Omega
        FramedReport end_report = {};
        Vec3 to_middle = Vec3::Zero(); ///< from Omega to that of the midpoint rule, when it was found last
        int turn_iterations = 0;
    };
    struct Objective {
        double phi = 0.0;
        double size = 0.0; ///< of its parts
    };

    void set_rows(const VecX& q, FrameConfiguration& out) const;
    void configure_at(const VecX& q, FrameConfiguration& out) const;
    void refresh(); ///< what depends on the configuration
    void derive_spin();
    Vec3 unseen_momentum() const; ///< angular, that a naive frame does not know of; in the frame

    // elasticity, damping and mass of the coordinates
    void set_gradient(const VecX& q); ///< work_.gradient
    void add_damping(double factor, const VecX& u, VecX& out);
    const MatX& damping_stiffness() const;
    void set_damping_stiffness();
    void multiply_modal(const VecX& x, VecX& y) const;   ///< y = Mq x
    void multiply_mass(const VecX& x, VecX& y) const;    ///< y = Mt x
    void set_implicit_matrix(double tau, const MatX& K); ///< work_.N = Mq + tau C + tau^2 K
    void set_implicit_mass(double tau, const MatX& K);   ///< the same, ready to be solved with
    void set_implicit_response(double tau, double share, const MatX& K);

    void set_bare_mass(double h);
    void set_bare_rates();
    void begin_step(double h, const VecX& modal);
    FramedReport report_of(bool solved, int iterations) const;

    // BackwardEuler
    void derive_step_spin();
    void gyrate(const VecX& x, VecX& out);
    void turn_velocities();
    FramedReport solve_euler();
    FramedReport solve_euler_newton();
    Objective euler_objective(const VecX& u);
    bool search_line(double decrement, const Objective& at);

    // Theta
    FramedReport begin_theta(const FramedLoad& load);
    FramedReport solve_theta();
    double theta_residual(const VecX& u, const Vec3& Omega);
    void set_theta_matrix();

    const FramedModel* model_;
    FramedOptions options_;
    FramedState state_;
    FrameConfiguration configuration_; ///< at state_.q
    Vec3 Omega_ = Vec3::Zero();
    FrameResponse mass_response_; ///< of Mq alone, at configuration_

    Step step_;
    ModalMass implicit_mass_;
    double implicit_tau_ = -1.0; ///< that it was made for; below zero: for none that could serve again
    FrameResponse implicit_response_;
    ModalMass bare_mass_;
    double bare_h_ = -1.0;           ///< that it was made for
    Vec3 bare_Omega_ = Vec3::Zero(); ///< with the modes at rest that do not answer [rad/s]
    VecX bare_qdot_;                 ///< the same
    FrameResponse bare_response_;
    End end_;
    FrameConfiguration end_configuration_, middle_;

    ReducedElastic elastic_;
    ReducedElasticWork elastic_work_;
    MatX K_start_; ///< at the start of the step: of the damping

    /// Scratch.
    struct Work {
        VecX gradient, force, qs, product, momentum, x, p, Ap, r, z, u, q, trial, residual, step;
        MatX G, N, matrix, centrifugal;
        Rows9 rates;
        Rows3 inertia_gradient;
        Vec3 Omega, l, y;
        Eigen::PartialPivLU<MatX> lu;
        FrameResponse::Change change;
    } work_;
};

} // namespace lithe
