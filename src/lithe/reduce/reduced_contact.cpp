#include "lithe/reduce/reduced_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/error.hpp"
#include "lithe/reduce/symmetric_product.hpp"

namespace lithe {
namespace {

/// Small leaves look at fewer samples, large ones at fewer spheres; a sphere costs as much as a sample.
constexpr Index samples_per_leaf = 8;
/// Samples this share of the body's size away from an obstacle are looked at anyway: asking again costs more.
constexpr double least_margin = 1.0 / 200.0;
/// Rows of the stiffness that are multiplied at once.
constexpr Index factor_rows = 32;

ContactScene active_scene(const ReducedContactScene& scene, const ReducedContactWork& work)
{
    return {work.active, scene.obstacles, scene.friction, work.names};
}

using FlatView = Eigen::Map<VecX>;

/// The basis at all active samples, transposed.
auto active_basis(const ReducedContactWork& work)
{
    return work.U_T.leftCols(3 * work.active_count());
}
FlatView flat(Points& points, const ReducedContactWork& work)
{
    return {points.data(), 3 * work.active_count()};
}

/// Room for one more sample; rarely, for many more.
void make_room(Index rank, ReducedContactWork& work)
{
    const Index count = work.active_count();
    if (count < work.x.cols()) return;
    const Index room = std::max<Index>(64, 2 * count);
    work.U_T.conservativeResize(rank, 3 * room);
    for (Points* points : {&work.rest, &work.start, &work.x, &work.gradient}) {
        points->conservativeResize(3, room);
        points->rightCols(room - count).setZero();
    }
    work.not_held.resize(static_cast<std::size_t>(room), 0);
}

/// Whether a ball of the body may touch an obstacle in this solve.
class Nearness {
public:
    Nearness(std::span<const Obstacle> obstacles, double margin, bool at_start)
        : obstacles_(obstacles), margin_(margin), at_start_(at_start)
    {
    }
    bool operator()(const Vec3& centre, double radius) const
    {
        return std::ranges::any_of(obstacles_, [&](const Obstacle& obstacle) {
            return may_touch(obstacle, StepEnd::End, centre, radius + margin_) ||
                   (at_start_ && may_touch(obstacle, StepEnd::Start, centre, radius));
        });
    }

private:
    std::span<const Obstacle> obstacles_;
    double margin_;
    bool at_start_; ///< also where the obstacles are at the start of the step
};

/// Looks at one sample at q, and makes it active when it is near.
void look_at(const ReducedContactSurface& surface, int sample, const VecX& q, const Nearness& near,
             ReducedContactWork& work)
{
    int& place = work.place[static_cast<std::size_t>(sample)];
    if (place >= 0) return;
    make_room(q.size(), work);
    ++work.samples_looked_at;
    const Index next = work.active_count();
    const ContactSample& of = surface.samples[static_cast<std::size_t>(sample)];
    auto U_T = work.U_T.middleCols<3>(3 * next);
    sample_basis(surface.surface, of, U_T);
    work.rest.col(next) = sample_rest(surface.surface, of);
    const auto position = [&](const VecX& at) {
        return Vec3(work.rest.col(next) + Vec3(U_T.col(0).dot(at), U_T.col(1).dot(at), U_T.col(2).dot(at)));
    };
    if (!near(position(q), 0.0)) return;
    work.start.col(next) = position(work.q_start);
    place = static_cast<int>(next);
    work.names.push_back(sample);
    work.active.samples.push_back({{place, place, place}, 1, of.area});
}

/// Makes all samples active that may touch while no sample moves by more than the margin.
void ask(const ReducedContactScene& scene, const VecX& q, bool at_start, ReducedContactWork& work)
{
    const ReducedContactSurface& surface = *scene.model.surface;
    const Nearness near(scene.obstacles, work.margin, at_start);
    work.q_asked = q;
    work.spheres_looked_at += surface.spheres.visit(
        q, [&](const DeformationSpheres::Ball& ball) { return near(ball.centre, ball.radius); },
        [&](std::span<const int> items) {
            for (const int sample : items) look_at(surface, sample, q, near, work);
        });
}

/// Asks again where q has gone too far.
void follow(const ReducedContactScene& scene, const VecX& q, ReducedContactWork& work)
{
    work.dq = q - work.q_asked;
    const double motion = scene.model.surface->spheres.motion(work.dq);
    if (motion <= work.margin) return;
    work.margin = std::max(work.margin, 0.5 * motion);
    ask(scene, q, false, work);
    extend_contact(active_scene(scene, work), work.start, work.contact);
}

/// g += sum_s U_s^T f_s; the forces become zero again.
void gather(VecX& g, ReducedContactWork& work)
{
    g.noalias() += active_basis(work) * flat(work.gradient, work);
    work.gradient.setZero();
}

/// Rows L of H = L^T L, one for each pivot that is not zero; returns their number.
int factorise(Mat3 H, Mat3& L)
{
    const double smallest = 1e-14 * H.trace();
    for (int count = 0; count < 3; ++count) {
        Index pivot = 0;
        const double d = H.diagonal().maxCoeff(&pivot);
        if (d <= smallest) return count;
        L.row(count) = H.row(pivot) / std::sqrt(d);
        H -= L.row(count).transpose() * L.row(count);
    }
    return 3;
}

} // namespace

ReducedContactSurface::ReducedContactSurface(const ReducedSurface& touching)
    : surface(touching), samples(make_contact_samples(touching.rest)),
      spheres(touching, samples, samples_per_leaf)
{
}

void begin_contact(const ReducedContactScene& scene, const VecX& q, const VecX& expected,
                   ReducedContactWork& work)
{
    const ReducedContactSurface& surface = *scene.model.surface;
    for (const int name : work.names) work.place[static_cast<std::size_t>(name)] = -1;
    work.place.resize(surface.samples.size(), -1);
    if (work.U_T.rows() != q.size()) { // room made for another model, or none
        work.U_T.resize(q.size(), 0);
        work.x.resize(3, 0);
    }
    work.names.clear();
    work.active.samples.clear();
    work.active.stiffness = scene.model.stiffness;
    work.active.friction = scene.model.friction;
    work.spheres_looked_at = work.samples_looked_at = 0;
    work.margin = std::max(2.0 * surface.spheres.motion(expected), least_margin * surface.spheres.size());
    work.q_start = q;
    ask(scene, q, true, work);
    begin_contact(active_scene(scene, work), work.start, work.not_held, work.contact);
}

double add_contact_gradient(const ReducedContactScene& scene, const VecX& q, VecX& gradient,
                            ReducedContactWork& work)
{
    if (!q.allFinite()) return std::numeric_limits<double>::quiet_NaN();
    follow(scene, q, work);
    flat(work.x, work) = flat(work.rest, work);
    flat(work.x, work).noalias() += active_basis(work).transpose() * q;
    const double energy =
        add_contact_gradient(active_scene(scene, work), work.x, work.gradient, work.contact);
    gather(gradient, work);
    return energy;
}

ContactChange refresh_contact(const ReducedContactScene& scene, VecX& gradient, ReducedContactWork& work)
{
    const ContactChange change =
        refresh_contact(active_scene(scene, work), work.x, work.gradient, work.contact);
    gather(gradient, work);
    return change;
}

void add_contact_stiffness(const ReducedContactScene& scene, MatX& A, ReducedContactWork& work)
{
    const Index rank = A.cols();
    set_contact_stiffness(active_scene(scene, work), work.x, work.contact);
    work.factors.setZero(factor_rows, rank);
    Index filled = 0;
    const auto multiply = [&] {
        if (filled == 0) return;
        symmetric_product(work.factors, work.factors, work.product);
        A += work.product;
        work.factors.setZero();
        filled = 0;
    };
    for (const ContactStiffness& part : work.contact.stiffness) {
        Mat3 L;
        const int count = factorise(part.H, L);
        if (filled + count > factor_rows) multiply();
        const auto U_T = work.U_T.middleCols<3>(3 * static_cast<Index>(part.vertices[0]));
        for (int k = 0; k < count; ++k)
            work.factors.row(filled++) =
                (U_T.col(0) * L(k, 0) + U_T.col(1) * L(k, 1) + U_T.col(2) * L(k, 2)).transpose();
    }
    multiply();
}

ContactReport finish_contact(const ReducedContactScene& scene, ReducedContactWork& work,
                             FrictionState& friction)
{
    return finish_contact(active_scene(scene, work), work.x, work.contact, friction);
}

void contact_forces(const ReducedContactWork& work, Points& points, Points& forces)
{
    contact_forces(work.active, work.x, work.contact, points, forces);
}

} // namespace lithe
