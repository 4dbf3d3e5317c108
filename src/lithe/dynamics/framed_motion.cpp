#include "lithe/dynamics/framed_motion.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Eigenvalues>

#include "lithe/core/error.hpp"
#include "lithe/math/lane_sums.hpp"

namespace lithe {
namespace {

/// Off the diagonal, as a share of the diagonal: less is rounding.
constexpr double diagonal_share = 1e-10;
/// The least eigenvalue of I^-1 I_F that impulses and velocities are found with. Bent by half its length, a beam has 0.2.
constexpr double least_coupling = 1e-3;

bool is_diagonal(const MatX& A)
{
    const VecX scale = A.diagonal().cwiseAbs().cwiseSqrt();
    for (Index j = 0; j < A.cols(); ++j)
        for (Index i = 0; i < A.rows(); ++i)
            if (i != j && !(std::abs(A(i, j)) <= diagonal_share * scale[i] * scale[j])) return false;
    return true;
}

Index rank_of(const ElasticModel& elastic)
{
    if (const auto* linear = std::get_if<LinearElastic>(&elastic)) return linear->K.rows();
    if (const auto* polynomial = std::get_if<StvkPolynomial>(&elastic)) return polynomial->rank();
    return std::get<CubatureElastic>(elastic).rank();
}

MatX stiffness_at_rest(const ElasticModel& elastic, Index rank)
{
    if (rank == 0) return MatX(0, 0);
    ReducedElastic at;
    ReducedElasticWork work;
    evaluate_stiffness(elastic, VecX::Zero(rank), at, work);
    return 0.5 * (at.stiffness + at.stiffness.transpose());
}

/// A B^T of two matrices of three rows, each row one stretch of memory.
Mat3 row_products(const Eigen::Ref<const Rows3>& A, const Eigen::Ref<const Rows3>& B)
{
    const Index n = A.cols(), whole = n / 4 * 4;
    Lanes4 sums[9]; // by columns of the product
    for (Lanes4& sum : sums) sum = Lanes4(0.0);
    for (Index k = 0; k < whole; k += 4) {
        Lanes4 b[3];
        for (Index j = 0; j < 3; ++j) b[j] = Lanes4::load(B.data() + j * B.outerStride() + k);
        for (Index i = 0; i < 3; ++i) {
            const Lanes4 a = Lanes4::load(A.data() + i * A.outerStride() + k);
            for (Index j = 0; j < 3; ++j) sums[3 * j + i] = fma(a, b[j], sums[3 * j + i]);
        }
    }
    Mat3 out;
    sums_of<9>(sums, out.data());
    for (Index k = whole; k < n; ++k)
        for (Index j = 0; j < 3; ++j)
            for (Index i = 0; i < 3; ++i) out(i, j) += A(i, k) * B(j, k);
    return out;
}

/// out = R S D with D diagonal, 3 x r.
void turn_rows(const Mat3& R, const Eigen::Ref<const Rows3>& S, const VecX& D, Eigen::Ref<Rows3> out)
{
    const double *s_0 = S.data(), *s_1 = s_0 + S.outerStride(), *s_2 = s_1 + S.outerStride();
    const double* d = D.data();
    for (Index i = 0; i < 3; ++i) {
        const double a = R(i, 0), b = R(i, 1), c = R(i, 2);
        double* __restrict__ row = out.data() + i * out.outerStride();
        for (Index k = 0; k < S.cols(); ++k) row[k] = d[k] * (a * s_0[k] + b * s_1[k] + c * s_2[k]);
    }
}

void require_columns_centred(const FrameTensors& tensors)
{
    for (Index a = 0; a < tensors.rank(); ++a)
        if (!(tensors.linear.col(a).norm() <= 1e-8 * std::sqrt(tensors.mass * tensors.Mq(a, a))))
            throw InputError("column " + std::to_string(a) +
                             " of the basis moves the centre of mass; make the basis fit for a frame first");
}

/// The largest share of a midpoint spin that rounding explains.
constexpr double spin_rounding = 1e-13;
constexpr int most_spin_iterations = 20;
/// Steps are halved this often before the frame is turned by the spin of its start.
constexpr int most_halvings = 8;

/// The frame's rotation while I, B qdot and L stay what they are.
struct Turning {
    Mat3 I;  ///< in the frame, half way
    Vec3 Bu; ///< B qdot, in the frame, half way
    Vec3 L;  ///< in the world
    Quat rotation;
    Vec3 Omega; ///< over the last piece
    int iterations = 0;
};

/// Finds Omega with  I Omega + B qdot = exp(-h/2 [Omega]) R^T L  by Newton's method from the Omega at hand. Returns
/// whether it did; only then is Omega another.
bool find_spin(double h, Turning& at)
{
    const Vec3 l = at.rotation.conjugate() * at.L;
    const double tolerance = spin_rounding * (l.norm() + at.Bu.norm());
    Vec3 Omega = at.Omega;
    Vec3 y = exp_quat(-0.5 * h * Omega) * l;
    Vec3 g = at.I * Omega + at.Bu - y;
    for (int i = 0; i < most_spin_iterations; ++i) {
        if (g.norm() <= tolerance) {
            at.Omega = Omega;
            return true;
        }
        ++at.iterations;
        const Mat3 A = at.I - 0.5 * h * skew(y) * exp_so3_jacobian(-0.5 * h * Omega);
        const Vec3 step = A.inverse() * g;
        bool nearer = false;
        for (double share = 1.0; share > 1e-2 && !nearer; share *= 0.5) {
            const Vec3 trial = Omega - share * step;
            const Vec3 y_trial = exp_quat(-0.5 * h * trial) * l;
            const Vec3 g_trial = at.I * trial + at.Bu - y_trial;
            nearer = g_trial.norm() < g.norm();
            if (!nearer) continue;
            Omega = trial;
            y = y_trial;
            g = g_trial;
        }
        if (!nearer) break;
    }
    // As near as rounding lets it come.
    if (!(g.norm() <= 100.0 * tolerance)) return false;
    at.Omega = Omega;
    return true;
}

/// Turns the frame by h: in one piece, or in as many as its spin asks for.
void turn(double h, int halvings, Turning& at)
{
    if (!find_spin(h, at)) {
        at.Omega = at.I.inverse() * (at.rotation.conjugate() * at.L - at.Bu);
        if (halvings < most_halvings) {
            turn(0.5 * h, halvings + 1, at);
            turn(0.5 * h, halvings + 1, at);
            return;
        }
    }
    at.rotation = (at.rotation * exp_quat(h * at.Omega)).normalized();
}

} // namespace

void ModalMass::set_diagonal(const VecX& entries)
{
    rank_ = entries.size();
    diagonal_ = true;
    root_ = entries.cwiseSqrt();
    inverse_root_ = root_.cwiseInverse();
}

void ModalMass::set(const MatX& N)
{
    rank_ = N.rows();
    diagonal_ = false;
    N_ = N;
    llt_.compute(N_);
    const double diagonal = N_.diagonal().cwiseAbs().maxCoeff();
    for (double share = 1e-8; llt_.info() != Eigen::Success && share < 10.0; share *= 10.0) {
        N_.diagonal().array() += share * diagonal;
        llt_.compute(N_);
    }
}

void ModalMass::multiply_root(const VecX& x, VecX& y) const
{
    if (diagonal_)
        y = root_.cwiseProduct(x);
    else
        y.noalias() = llt_.matrixL() * x;
}

void ModalMass::solve_root(VecX& x) const
{
    if (diagonal_)
        x.array() *= inverse_root_.array();
    else
        llt_.matrixL().solveInPlace(x);
}

void ModalMass::solve_root_transposed(VecX& x) const
{
    if (diagonal_)
        x.array() *= inverse_root_.array();
    else
        llt_.matrixU().solveInPlace(x);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is a view, and S is written through it
void ModalMass::whiten(Eigen::Ref<Rows3> S) const
{
    if (diagonal_)
        for (Index k = 0; k < 3; ++k) S.row(k).array() *= inverse_root_.transpose().array();
    else
        llt_.matrixU().solveInPlace<Eigen::OnTheRight>(S);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as above
void ModalMass::whiten_turned(const Mat3& R, const Eigen::Ref<const Rows3>& S, Eigen::Ref<Rows3> out) const
{
    if (diagonal_) return turn_rows(R, S, inverse_root_, out);
    for (Index k = 0; k < 3; ++k) out.row(k) = R(k, 0) * S.row(0) + R(k, 1) * S.row(1) + R(k, 2) * S.row(2);
    whiten(out);
}

FramedModel make_framed_model(FrameTensors tensors, ElasticModel elastic, const RayleighDamping& damping)
{
    const Index r = tensors.rank();
    if (rank_of(elastic) != r)
        throw InputError("the elastic model has rank " + std::to_string(rank_of(elastic)) + ", the basis " +
                         std::to_string(r));
    require_inertia(tensors);
    require_columns_centred(tensors);
    FramedModel out;
    out.tensors = std::move(tensors);
    out.elastic = std::move(elastic);
    out.damping = damping;
    const MatX& Mq = out.tensors.Mq;
    out.rest_stiffness = stiffness_at_rest(out.elastic, r);
    out.diagonal_mass = is_diagonal(Mq);
    out.diagonal_stiffness = is_diagonal(out.rest_stiffness);
    out.linear = std::holds_alternative<LinearElastic>(out.elastic);
    if (r > 0 && Mq.llt().info() != Eigen::Success)
        throw InputError("columns of the basis depend on each other; make the basis fit for a frame first");
    if (out.diagonal_mass)
        out.mass.set_diagonal(Mq.diagonal());
    else
        out.mass.set(Mq);

    FrameConfiguration rest;
    configure(out.tensors, VecX::Zero(r), rest);
    FrameResponse response;
    response.set(out.tensors, rest, out.mass, FrameKind::Free);
    if (response.guarded())
        throw InputError(
            "the basis can turn the body as its frame does; make the basis fit for a frame first");
    if (r > 0) {
        const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> eigen(out.rest_stiffness, Mq);
        out.modes = eigen.eigenvectors();
        out.frequencies = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
        out.lowest_frequency = out.frequencies[0];
        out.highest_frequency = out.frequencies[r - 1];
    }
    return out;
}

FramedState rest_state(const FramedModel& model, const RigidPose& frame)
{
    const VecX zero = VecX::Zero(model.rank());
    return {.frame = frame, .q = zero, .qdot = zero};
}

void FrameResponse::set(const FrameTensors& tensors, const FrameConfiguration& configuration,
                        const ModalMass& mass, FrameKind kind)
{
    mass_ = &mass;
    B_white_ = configuration.B();
    mass.whiten(B_white_);
    guarded_ = false;
    if (kind == FrameKind::Prescribed) {
        inverse_root_mass_ = 0.0;
        C_.setZero();
        C_inverse_T_.setZero();
        return;
    }
    inverse_root_mass_ = 1.0 / std::sqrt(tensors.mass);
    Mat3 I_F = configuration.I - row_products(B_white_, B_white_);
    guarded_ = Eigen::LLT<Mat3>(I_F - least_coupling * configuration.I).info() != Eigen::Success;
    if (guarded_) { // raises the eigenvalues of I^-1 I_F
        const Mat3 A = configuration.I.llt().matrixL();
        const Mat3 A_inverse = A.inverse();
        const Eigen::SelfAdjointEigenSolver<Mat3> eigen(A_inverse * I_F * A_inverse.transpose());
        const Mat3 AV = A * eigen.eigenvectors();
        I_F = AV * eigen.eigenvalues().cwiseMax(least_coupling).asDiagonal() * AV.transpose();
    }
    C_ = I_F.llt().matrixL();
    C_inverse_T_ = C_.inverse().transpose();
}

void FrameResponse::place(const Mat3& R, double share)
{
    R_ = R;
    share_ = share;
    root_share_ = std::sqrt(share);
}

void FrameResponse::factor(const Vec3& arm, const Eigen::Ref<const Rows3>& S, Rows3& F) const
{
    const Index r = mass_->rank();
    LITHE_ASSERT_HEAVY(S.cols() == r);
    F.resize(3, 6 + r);
    auto white = F.rightCols(r);
    mass_->whiten_turned(root_share_ * R_, S, white);
    F.leftCols<3>() = inverse_root_mass_ * Mat3::Identity();
    const Mat3 RY = -root_share_ * R_ * skew(arm) - row_products(white, B_white_);
    F.middleCols<3>(3) = RY * C_inverse_T_;
}

void FrameResponse::change(const VecX& a, Change& out) const
{
    LITHE_ASSERT(a.size() == size());
    const double unshare = 1.0 / root_share_;
    const Vec3 turn_part = unshare * a.segment<3>(3);
    out.v = inverse_root_mass_ * a.head<3>();
    out.Omega = C_inverse_T_ * turn_part;
    out.qdot = unshare * a.tail(mass_->rank());
    mass_->multiply_root(out.qdot, out.momentum);
    out.L = R_ * (C_ * turn_part + B_white_ * out.qdot);
    out.qdot.noalias() -= B_white_.transpose() * out.Omega;
    mass_->solve_root_transposed(out.qdot);
}

void FrameResponse::share_out(const Vec3& l, Vec3& Omega, VecX& qdot) const
{
    // I Omega + B qdot = l,  B^T Omega + N qdot = 0
    Omega = C_inverse_T_ * (C_inverse_T_.transpose() * l);
    qdot.noalias() = -B_white_.transpose() * Omega;
    mass_->solve_root_transposed(qdot);
}

void FrameResponse::solve(VecX& b) const
{
    // (N - B^T I^-1 B)^-1 = N^-1 + N^-1 B^T I_F^-1 B N^-1
    mass_->solve_root(b);
    const Vec3 spin = C_inverse_T_ * (C_inverse_T_.transpose() * Vec3(B_white_ * b));
    b.noalias() += B_white_.transpose() * spin;
    mass_->solve_root_transposed(b);
}

FramedMotion::FramedMotion(const FramedModel& model, FramedState state, const FramedOptions& options)
    : model_(&model), options_(options)
{
    set_theta(options.theta);
    if (options.scheme == FramedScheme::Theta && options.frame == FrameKind::Prescribed)
        throw InputError("a body in a prescribed frame goes by backward Euler; theta is for free frames");
    if (options.spin == SpinRule::Naive &&
        (options.scheme == FramedScheme::Theta || options.frame == FrameKind::Prescribed))
        throw InputError("a naive spin is for free bodies by backward Euler");
    set_state(std::move(state));
}

void FramedMotion::set_theta(double theta)
{
    if (!(theta >= 0.5 && theta <= 1.0))
        throw InputError("theta = " + std::to_string(theta) + " must lie in [0.5, 1]");
    LITHE_ASSERT(!step_.active);
    options_.theta = theta;
}

void FramedMotion::set_state(FramedState state)
{
    if (state.q.size() != model_->rank() || state.qdot.size() != model_->rank())
        throw InputError("the state has " + std::to_string(state.q.size()) + " coordinates and " +
                         std::to_string(state.qdot.size()) + " velocities, the body " +
                         std::to_string(model_->rank()) + " of each");
    state_ = std::move(state);
    step_.active = false;
    configure_at(state_.q, configuration_);
    Omega_ = configuration_.I_inverse *
             (state_.frame.rotation.conjugate() * state_.L - configuration_.B() * state_.qdot);
    refresh();
}

/// To a naive frame, vibrations do not turn the body: B = 0.
void FramedMotion::set_rows(const VecX& q, FrameConfiguration& out) const
{
    frame_rows(model_->tensors, q, out.W);
    if (options_.spin == SpinRule::Naive) out.W.bottomRows<3>().setZero();
}

void FramedMotion::configure_at(const VecX& q, FrameConfiguration& out) const
{
    set_rows(q, out);
    configure_from_rows(model_->tensors, q, out);
}

Vec3 FramedMotion::unseen_momentum() const
{
    if (options_.spin == SpinRule::Exact) return Vec3::Zero();
    return model_->tensors.angular_momentum(state_.q, state_.qdot);
}

void FramedMotion::refresh()
{
    mass_response_.set(model_->tensors, configuration_, model_->mass, options_.frame);
    mass_response_.place(state_.frame.rotation.toRotationMatrix(), 1.0);
    derive_spin();
}

void FramedMotion::derive_spin()
{
    const Vec3 Bu = configuration_.B() * state_.qdot;
    if (options_.frame == FrameKind::Prescribed)
        state_.L = state_.frame.rotation * (configuration_.I * Omega_ + Bu);
    else
        Omega_ = configuration_.I_inverse * (axes().transpose() * state_.L - Bu);
}

// Elasticity, damping and mass of the coordinates.

void FramedMotion::set_gradient(const VecX& q)
{
    if (model_->diagonal()) {
        work_.gradient = model_->rest_stiffness.diagonal().cwiseProduct(q);
        return;
    }
    evaluate_gradient(model_->elastic, q, elastic_, elastic_work_);
    work_.gradient = elastic_.gradient;
}

void FramedMotion::multiply_modal(const VecX& x, VecX& y) const
{
    if (model_->diagonal_mass)
        y = model_->tensors.Mq.diagonal().cwiseProduct(x);
    else
        y.noalias() = model_->tensors.Mq * x;
}

void FramedMotion::multiply_mass(const VecX& x, VecX& y) const
{
    multiply_modal(x, y);
    if (options_.frame == FrameKind::Prescribed) return;
    const Vec3 Bx = configuration_.B() * x;
    y.noalias() -= configuration_.H.transpose() * Bx;
}

void FramedMotion::add_damping(double factor, const VecX& u, VecX& out)
{
    if (model_->damping.mass != 0.0) {
        multiply_modal(u, work_.product);
        out += (factor * model_->damping.mass) * work_.product;
    }
    if (model_->damping.stiffness == 0.0) return;
    const double beta = factor * model_->damping.stiffness;
    if (model_->diagonal())
        out += beta * model_->rest_stiffness.diagonal().cwiseProduct(u);
    else
        out.noalias() += beta * (damping_stiffness() * u);
}

const MatX& FramedMotion::damping_stiffness() const
{
    return model_->linear ? model_->rest_stiffness : K_start_;
}

void FramedMotion::set_damping_stiffness()
{
    if (model_->linear || model_->damping.stiffness == 0.0) return;
    evaluate_stiffness(model_->elastic, state_.q, elastic_, elastic_work_);
    K_start_ = elastic_.stiffness;
}

void FramedMotion::set_implicit_matrix(double tau, const MatX& K)
{
    work_.N = (1.0 + tau * model_->damping.mass) * model_->tensors.Mq + (tau * tau) * K;
    if (model_->damping.stiffness != 0.0) work_.N += (tau * model_->damping.stiffness) * damping_stiffness();
}

void FramedMotion::set_implicit_mass(double tau, const MatX& K)
{
    if (implicit_tau_ == tau) return;
    if (model_->diagonal())
        implicit_mass_.set_diagonal((1.0 + tau * model_->damping.mass) * model_->tensors.Mq.diagonal() +
                                    (tau * model_->damping.stiffness + tau * tau) * K.diagonal());
    else {
        set_implicit_matrix(tau, K);
        implicit_mass_.set(work_.N);
    }
    if (model_->linear) implicit_tau_ = tau;
}

void FramedMotion::set_implicit_response(double tau, double share, const MatX& K)
{
    set_implicit_mass(tau, K);
    implicit_response_.set(model_->tensors, configuration_, implicit_mass_, options_.frame);
    implicit_response_.place(axes(), share);
}

// The step.

void FramedMotion::begin_step(double h, const VecX& modal)
{
    LITHE_ASSERT(h > 0.0 && !step_.active);
    LITHE_ASSERT(modal.size() == 0 || modal.size() == model_->rank());
    step_.active = true;
    step_.ended = false;
    step_.h = h;
    step_.turn_iterations = 0;
    step_.to_middle.setZero();
    step_.end_report = {};
    set_damping_stiffness();
}

FramedReport FramedMotion::report_of(bool solved, int iterations) const
{
    const double spin = Omega_.norm();
    return {.solved = solved,
            .iterations = iterations,
            .turn_iterations = step_.turn_iterations,
            .spin = model_->lowest_frequency > 0.0 ? spin / model_->lowest_frequency : 0.0,
            .guarded = mass_response_.guarded() || configuration_.degenerate};
}

FramedReport FramedMotion::predict(double h, const FramedLoad& load)
{
    LITHE_ASSERT(options_.frame == FrameKind::Free);
    begin_step(h, load.modal);
    step_.dv = h / model_->tensors.mass * load.force;
    step_.dL = h * load.torque;
    if (options_.scheme == FramedScheme::Theta) return begin_theta(load);

    turn_velocities();
    // F = c + H^T (Omega x l + Idot Omega - torque) + modal force: what the frame's turning does to the coordinates
    const Quat into_frame = state_.frame.rotation.conjugate();
    const Vec3 l = into_frame * state_.L;
    const Vec3 turning =
        Omega_.cross(l) + configuration_.inertia_rate(state_.qdot) * Omega_ - into_frame * load.torque;
    configuration_.centrifugal(Omega_, work_.force);
    work_.force.noalias() += configuration_.H.transpose() * turning;
    if (load.modal.size() > 0) work_.force += load.modal;

    const FramedReport report = solve_euler();
    step_.v = state_.v + step_.dv;
    derive_step_spin();
    return report;
}

FramedReport FramedMotion::predict(double h, const PrescribedFrame& frame, const VecX& modal)
{
    LITHE_ASSERT(options_.frame == FrameKind::Prescribed);
    begin_step(h, modal);
    const Quat into_frame = state_.frame.rotation.conjugate();
    step_.path = frame;
    step_.v = frame.velocity;
    step_.Omega = Omega_ = into_frame * frame.angular_velocity;

    turn_velocities();
    configuration_.centrifugal(Omega_, work_.force);
    work_.force.noalias() -= configuration_.B().transpose() * (into_frame * frame.angular_acceleration);
    if (modal.size() > 0) work_.force += modal;
    return solve_euler();
}

void FramedMotion::derive_step_spin()
{
    if (options_.frame == FrameKind::Prescribed) return;
    const Vec3 l = axes().transpose() * (state_.L + step_.dL);
    step_.Omega = configuration_.I_inverse * (l - configuration_.B() * step_.u);
}

/// out = h Mt^-1 G x.
void FramedMotion::gyrate(const VecX& x, VecX& out)
{
    out.noalias() = step_.h * (work_.G * x);
    mass_response_.solve(out);
}

/// Coriolis forces over the step by Cayley's map, which keeps the energy:
///
///   (Mt + h G) qs = (Mt - h G) qdot,   or with A = h Mt^-1 G and y = qs + qdot:   (1 - A^2) y = 2 (1 - A) qdot
///
/// A is antisymmetric in the product of Mt, so conjugate gradients solve the latter: in about five iterations when the
/// frame turns by 0.1 rad, and in r/2 at most.
void FramedMotion::turn_velocities()
{
    Work& w = work_;
    w.qs = state_.qdot;
    if (model_->rank() < 2 || Omega_.isZero(0.0)) return;
    gyroscopic(model_->tensors, Omega_, w.G);
    const auto product = [&](const VecX& a, const VecX& b) {
        multiply_mass(b, w.product);
        return a.dot(w.product);
    };
    gyrate(state_.qdot, w.Ap);
    w.x = 2.0 * (state_.qdot - w.Ap); // the right-hand side, and where we begin
    const double enough = 1e-32 * product(w.x, w.x);
    gyrate(w.x, w.Ap);
    gyrate(w.Ap, w.r);
    w.p = w.r;
    double rr = product(w.r, w.r);
    for (Index i = 0; i < model_->rank() + 8 && rr > enough; ++i) {
        gyrate(w.p, w.Ap);
        const double alpha = rr / (product(w.p, w.p) + product(w.Ap, w.Ap));
        gyrate(w.Ap, w.z);
        w.x += alpha * w.p;
        w.r -= alpha * (w.p - w.z);
        const double next = product(w.r, w.r);
        w.p = w.r + (next / rr) * w.p;
        rr = next;
    }
    w.qs = w.x - state_.qdot;
}

/// (Mt + h C + h^2 K) u = Mt qs - h dPsi/dq(q_0) + h F, for elasticity that is linear.
FramedReport FramedMotion::solve_euler()
{
    if (!model_->linear) return solve_euler_newton();
    set_implicit_response(step_.h, 1.0, model_->rest_stiffness);
    set_gradient(state_.q);
    multiply_mass(work_.qs, step_.u);
    step_.u += step_.h * (work_.force - work_.gradient);
    implicit_response_.solve(step_.u);
    return report_of(true, 1);
}

/// phi(u) = |u - qs|_Mt^2/2 + h |u|_C^2/2 + Psi(q_0 + h u) - h F.u, which a step minimises; its gradient in
/// work_.residual.
FramedMotion::Objective FramedMotion::euler_objective(const VecX& u)
{
    Work& w = work_;
    w.q = state_.q + step_.h * u;
    evaluate_gradient(model_->elastic, w.q, elastic_, elastic_work_);
    w.z = u - w.qs;
    multiply_mass(w.z, w.residual);
    const double inertia = 0.5 * w.z.dot(w.residual);
    w.z.setZero(u.size());
    add_damping(step_.h, u, w.z);
    const double damping = 0.5 * u.dot(w.z), load = step_.h * w.force.dot(u);
    w.residual += w.z + step_.h * (elastic_.gradient - w.force);
    return {inertia + damping + elastic_.energy - load,
            inertia + damping + std::abs(elastic_.energy) + std::abs(load)};
}

/// Moves u by the largest of the step, its half, its quarter ... that lowers phi enough.
bool FramedMotion::search_line(double decrement, const Objective& at)
{
    for (double share = 1.0; share > 1e-8; share *= 0.5) {
        work_.trial = step_.u + share * work_.step;
        const Objective trial = euler_objective(work_.trial);
        if (!(trial.phi <= at.phi - 1e-4 * share * decrement + 1e-13 * at.size)) continue;
        step_.u.swap(work_.trial);
        return true;
    }
    return false;
}

FramedReport FramedMotion::solve_euler_newton()
{
    const ReducedNewtonOptions& newton = options_.newton;
    step_.u = work_.qs;
    bool solved = false;
    int iterations = 0;
    while (iterations < newton.max_iterations && !solved) {
        ++iterations;
        const Objective at = euler_objective(step_.u);
        evaluate_stiffness(model_->elastic, work_.q, elastic_, elastic_work_);
        set_implicit_response(step_.h, 1.0, elastic_.stiffness);
        work_.step = -work_.residual;
        implicit_response_.solve(work_.step);
        const double decrement = -work_.residual.dot(work_.step);
        if (newton.max_iterations == 1) {
            step_.u += work_.step;
            solved = true;
            break;
        }
        solved = decrement <= newton.decrement * at.size;
        if (!search_line(decrement, at)) break;
    }
    return report_of(solved, iterations);
}

const FrameResponse& FramedMotion::response() const
{
    LITHE_ASSERT(step_.active);
    return implicit_response_;
}

void FramedMotion::apply(const VecX& a)
{
    LITHE_ASSERT(step_.active);
    FrameResponse::Change& change = work_.change;
    implicit_response_.change(a, change);
    const double share = implicit_response_.share();
    step_.u += share * change.qdot;
    step_.ended = false;
    if (options_.frame == FrameKind::Prescribed) return;
    step_.v += change.v;
    step_.dv += change.v;
    step_.dL += change.L;
    if (options_.scheme == FramedScheme::Theta) {
        step_.Omega += share * change.Omega; // a first guess, from which the end of the step is solved for
        step_.dp += change.momentum;
        step_.solved = false;
    } else {
        derive_step_spin();
    }
}

const FramedMotion::End& FramedMotion::end()
{
    LITHE_ASSERT(step_.active);
    if (step_.ended) return end_;
    if (options_.scheme == FramedScheme::Theta && !step_.solved) step_.end_report = solve_theta();
    end_.q = state_.q + step_.h * step_.u;
    set_rows(end_.q, end_configuration_); // the rest when the step is taken
    end_.frame.translation = state_.frame.translation + step_.h * step_.v;
    const Quat& R = state_.frame.rotation;
    if (options_.frame == FrameKind::Prescribed) {
        end_.frame = step_.path.pose_1;
    } else if (options_.scheme == FramedScheme::Theta) {
        end_.frame.rotation = (R * exp_quat(step_.h * step_.Omega)).normalized();
    } else {
        work_.q = state_.q + 0.5 * step_.h * step_.u;
        middle_.W = 0.5 * (configuration_.W + end_configuration_.W);
        configure_from_rows(model_->tensors, work_.q, middle_);
        Turning turning{.I = middle_.I,
                        .Bu = middle_.B() * step_.u,
                        .L = state_.L + step_.dL,
                        .rotation = R,
                        .Omega = step_.Omega + step_.to_middle};
        turn(step_.h, 0, turning);
        step_.to_middle = turning.Omega - step_.Omega;
        end_.frame.rotation = turning.rotation;
        step_.turn_iterations = turning.iterations;
    }
    end_.axes = end_.frame.rotation.toRotationMatrix();
    step_.ended = true;
    return end_;
}

FramedReport FramedMotion::advance()
{
    end();
    state_.frame = end_.frame;
    state_.q.swap(end_.q);
    std::swap(configuration_, end_configuration_);
    configure_from_rows(model_->tensors, state_.q, configuration_);
    step_.active = false;
    if (options_.frame == FrameKind::Prescribed) {
        state_.v = step_.path.velocity;
        Omega_ = state_.frame.rotation.conjugate() * step_.path.angular_velocity;
        state_.qdot = step_.u;
        refresh();
        return report_of(true, 0);
    }
    state_.v += step_.dv;
    state_.L += step_.dL;
    if (options_.scheme == FramedScheme::Theta) {
        // qdot = Mt^-1 (p - H^T R^T L)
        mass_response_.set(model_->tensors, configuration_, model_->mass, options_.frame);
        const Vec3 l = state_.frame.rotation.conjugate() * state_.L;
        state_.qdot = step_.p_1;
        state_.qdot.noalias() -= configuration_.H.transpose() * l;
        mass_response_.solve(state_.qdot);
    } else {
        state_.qdot = step_.u;
    }
    refresh();
    return report_of(step_.end_report.solved, step_.end_report.iterations);
}

// Theta.

/// With the momentum of the coordinates, p = B^T Omega + Mq qdot, and all but it and L half way, q_m = q_0 + h u/2:
///
///   Mq u + B^T Omega = p_0 + theta (dp + h f),   I Omega + B u = exp(-h/2 [Omega]) R^T (L + theta dL)
///   f = -G(Omega) u + c(q_m, Omega) - dPsi/dq(q_0 + theta h u) - C u,   p_1 = p_0 + dp + h f
FramedReport FramedMotion::begin_theta(const FramedLoad& load)
{
    const double theta = options_.theta, h = step_.h;
    multiply_modal(state_.qdot, step_.p_0);
    step_.p_0.noalias() += configuration_.B().transpose() * Omega_;
    step_.dp.setZero(model_->rank());
    if (load.modal.size() > 0) step_.dp = h * load.modal;
    step_.u = state_.qdot;
    step_.Omega = Omega_;
    step_.v = state_.v + theta * step_.dv;
    if (model_->linear)
        set_implicit_response(theta * h, theta, model_->rest_stiffness);
    else {
        evaluate_stiffness(model_->elastic, state_.q, elastic_, elastic_work_);
        set_implicit_response(theta * h, theta, elastic_.stiffness);
    }
    return solve_theta();
}

/// How far both equations are from holding, in the norm of kinetic energy; the residuals in work_.residual, h f in
/// work_.force.
double FramedMotion::theta_residual(const VecX& u, const Vec3& Omega)
{
    Work& w = work_;
    const Index r = model_->rank();
    const double h = step_.h, theta = options_.theta;
    frame_rates(model_->tensors, u, w.rates);
    middle_.W = configuration_.W + 0.5 * h * w.rates;
    w.q = state_.q + 0.5 * h * u;
    configure_from_rows(model_->tensors, w.q, middle_);

    w.q = state_.q + theta * h * u;
    set_gradient(w.q);
    middle_.centrifugal(Omega, w.force);
    w.force.noalias() -= w.rates.bottomRows<3>().transpose() * Omega;
    w.force -= w.gradient;
    add_damping(-1.0, u, w.force);
    w.force *= h;

    multiply_modal(u, w.momentum);
    w.momentum.noalias() += middle_.B().transpose() * Omega;
    w.momentum -= step_.p_0 + theta * (step_.dp + w.force);
    w.l = state_.frame.rotation.conjugate() * (state_.L + theta * step_.dL);
    w.y = exp_quat(-0.5 * h * Omega) * w.l;
    const Vec3 turning = middle_.I * Omega + middle_.B() * u - w.y;
    w.residual.resize(r + 3);
    w.residual << w.momentum, turning;
    model_->mass.solve_root(w.momentum);
    return std::sqrt(w.momentum.squaredNorm() + std::max(0.0, turning.dot(middle_.I_inverse * turning)));
}

/// The derivative of the residuals by (u, Omega), at the last ones, factorised.
void FramedMotion::set_theta_matrix()
{
    Work& w = work_;
    const Index r = model_->rank();
    const double h = step_.h, theta = options_.theta;
    if (!model_->linear) evaluate_stiffness(model_->elastic, w.q, elastic_, elastic_work_);
    set_implicit_matrix(theta * h, model_->linear ? model_->rest_stiffness : elastic_.stiffness);
    gyroscopic(model_->tensors, step_.Omega, w.G);
    centrifugal_stiffness(model_->tensors, step_.Omega, w.centrifugal);
    middle_.inertia_gradient(step_.Omega, w.inertia_gradient);

    const auto Bdot = w.rates.bottomRows<3>();
    w.matrix.resize(r + 3, r + 3);
    w.matrix.topLeftCorner(r, r) = w.N + (0.5 + theta) * h * w.G - (0.5 * theta * h * h) * w.centrifugal;
    w.matrix.topRightCorner(r, 3) = (middle_.B() + (theta * h) * (Bdot - w.inertia_gradient)).transpose();
    w.matrix.bottomLeftCorner(3, r) = middle_.B() + (0.5 * h) * (w.inertia_gradient - Bdot);
    w.matrix.bottomRightCorner<3, 3>() =
        middle_.I - 0.5 * h * skew(w.y) * exp_so3_jacobian(-0.5 * h * step_.Omega);
    w.lu.compute(w.matrix);
}

/// Newton's method from the u and Omega at hand, with one factorisation for as long as it serves. Every iteration comes
/// nearer, so what is found is never worse than the guess.
FramedReport FramedMotion::solve_theta()
{
    constexpr int most_iterations = 40;
    constexpr double tolerance = 1e-13; // of all momenta, in the norm of kinetic energy
    Work& w = work_;
    const Index r = model_->rank();
    double norm = theta_residual(step_.u, step_.Omega);
    w.x = step_.p_0.cwiseAbs() + step_.dp.cwiseAbs() + step_.h * w.gradient.cwiseAbs();
    model_->mass.solve_root(w.x);
    const double scale =
        std::max(norm, std::sqrt(w.x.squaredNorm() + w.l.dot(configuration_.I_inverse * w.l)));

    bool fresh = false, stale = true;
    int iterations = 0;
    while (norm > tolerance * scale && iterations < most_iterations) {
        ++iterations;
        if (stale) set_theta_matrix();
        fresh = stale;
        w.step = w.lu.solve(w.residual);
        const double before = norm;
        for (double share = 1.0; share > 1e-3; share *= 0.5) {
            w.u = step_.u - share * w.step.head(r);
            w.Omega = step_.Omega - share * w.step.tail<3>();
            norm = theta_residual(w.u, w.Omega);
            if (norm < before) break;
            if (!fresh) break; // another matrix first
        }
        if (norm < before) {
            step_.u.swap(w.u);
            step_.Omega = w.Omega;
        } else {
            norm = theta_residual(step_.u, step_.Omega);
            if (fresh) break;
        }
        stale = norm > 0.1 * before;
    }
    step_.p_1 = step_.p_0 + step_.dp + w.force;
    step_.solved = true;
    step_.ended = false;
    return report_of(norm <= 1e3 * tolerance * scale, iterations);
}

// Between steps.

/// Of a mode that is to stay as it is, in an impact: its mass times this.
constexpr double unmoved = 1e8;

/// Mq, and modes with h omega > 1 so heavy that they do not answer.
void FramedMotion::set_bare_mass(double h)
{
    if (bare_h_ == h) return;
    bare_h_ = h;
    const VecX& omega = model_->frequencies;
    if (model_->diagonal_mass && model_->diagonal_stiffness) {
        const auto k = model_->rest_stiffness.diagonal();
        work_.x = model_->tensors.Mq.diagonal();
        for (Index a = 0; a < model_->rank(); ++a)
            if (h * h * k[a] > work_.x[a]) work_.x[a] *= unmoved;
        bare_mass_.set_diagonal(work_.x);
        return;
    }
    work_.N = model_->tensors.Mq;
    for (Index a = 0; a < model_->rank(); ++a) {
        if (h * omega[a] <= 1.0) continue;
        multiply_modal(model_->modes.col(a), work_.momentum);
        work_.N.noalias() += unmoved * work_.momentum * work_.momentum.transpose();
    }
    bare_mass_.set(work_.N);
}

/// Stops the modes that do not answer, and gives the angular momentum that they had to the others.
void FramedMotion::set_bare_rates()
{
    work_.x.setZero(model_->rank());
    if (model_->diagonal_mass && model_->diagonal_stiffness) {
        for (Index a = 0; a < model_->rank(); ++a)
            if (bare_h_ * bare_h_ * model_->rest_stiffness(a, a) > model_->tensors.Mq(a, a))
                work_.x[a] = state_.qdot[a];
    } else {
        multiply_modal(state_.qdot, work_.momentum);
        for (Index a = 0; a < model_->rank(); ++a)
            if (bare_h_ * model_->frequencies[a] > 1.0)
                work_.x += model_->modes.col(a).dot(work_.momentum) * model_->modes.col(a);
    }
    const Vec3 l = configuration_.B() * work_.x;
    bare_response_.share_out(l, bare_Omega_, bare_qdot_);
    bare_Omega_ += Omega_;
    bare_qdot_ += state_.qdot - work_.x;
}

const FrameResponse& FramedMotion::bare_response(double h)
{
    LITHE_ASSERT(h > 0.0 && !step_.active);
    if (h * model_->highest_frequency <= 1.0) {
        bare_response_ = mass_response_;
        bare_Omega_ = Omega_;
        bare_qdot_ = state_.qdot;
        return bare_response_;
    }
    set_bare_mass(h);
    bare_response_.set(model_->tensors, configuration_, bare_mass_, options_.frame);
    bare_response_.place(axes(), 1.0);
    set_bare_rates();
    return bare_response_;
}

Vec3 FramedMotion::bare_velocity(const Vec3& arm, const Eigen::Ref<const Rows3>& S) const
{
    return state_.v + axes() * (bare_Omega_.cross(arm) + times(S, bare_qdot_));
}

void FramedMotion::apply_bare(const VecX& a)
{
    LITHE_ASSERT(!step_.active);
    FrameResponse::Change& change = work_.change;
    bare_response_.change(a, change);
    state_.qdot += change.qdot;
    if (options_.frame == FrameKind::Free) {
        state_.v += change.v;
        state_.L += change.L;
    }
    derive_spin();
}

void FramedMotion::displace(const VecX& a)
{
    LITHE_ASSERT(!step_.active);
    FrameResponse::Change& change = work_.change;
    bare_response_.change(a, change);
    state_.q += change.qdot;
    if (options_.frame == FrameKind::Free) {
        state_.frame.translation += change.v;
        state_.frame.rotation = (state_.frame.rotation * exp_quat(change.Omega)).normalized();
    }
    configure_at(state_.q, configuration_);
    refresh();
}

// Points and sums.

Vec3 FramedMotion::arm(const Vec3& X, const Eigen::Ref<const Rows3>& S) const
{
    return X + times(S, state_.q);
}

Vec3 FramedMotion::arm_to(const Vec3& x) const
{
    return axes().transpose() * (x - state_.frame.translation);
}

Vec3 FramedMotion::position(const Vec3& arm) const
{
    return axes() * arm + state_.frame.translation;
}

Vec3 FramedMotion::velocity(const Vec3& arm, const Eigen::Ref<const Rows3>& S) const
{
    const Vec3& v = step_.active ? step_.v : state_.v;
    const Vec3& Omega = step_.active ? step_.Omega : Omega_;
    const VecX& u = step_.active ? step_.u : state_.qdot;
    return v + axes() * (Omega.cross(arm) + times(S, u));
}

FramedEnergy FramedMotion::energy()
{
    FramedEnergy out;
    const Vec3 l = state_.frame.rotation.conjugate() * state_.L;
    multiply_mass(state_.qdot, work_.product);
    out.translation = 0.5 * model_->tensors.mass * state_.v.squaredNorm();
    out.vibration = 0.5 * state_.qdot.dot(work_.product);
    out.rotation = 0.5 * l.dot(configuration_.I_inverse * l);
    if (options_.frame == FrameKind::Prescribed)
        out.rotation = Omega_.dot(l) - 0.5 * Omega_.dot(configuration_.I * Omega_);
    out.rotation += Omega_.dot(unseen_momentum());
    if (model_->rank() == 0) return out;
    evaluate_gradient(model_->elastic, state_.q, elastic_, elastic_work_);
    out.elastic = elastic_.energy;
    return out;
}

Vec3 FramedMotion::angular_momentum() const
{
    // by the velocities of now, not by the L that they were derived from
    const Vec3 l = configuration_.I * Omega_ + configuration_.B() * state_.qdot + unseen_momentum();
    return state_.frame.rotation * l + state_.frame.translation.cross(linear_momentum());
}

} // namespace lithe
