#include "lithe/contact/contact_potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

/// The stiffness of sticking, as a share of the normal one. As stiff as that, the kink between sticking and sliding costs
/// Newton's method half as many iterations again; a tenth lets a block at the limit give way by ten times mu of its depth.
constexpr double sticking_share = 0.1;

const ContactSample& sample_of(const ContactScene& scene, int sample)
{
    return scene.model.samples[static_cast<std::size_t>(sample)];
}
const Obstacle& obstacle_of(const ContactScene& scene, int obstacle)
{
    return scene.obstacles[static_cast<std::size_t>(obstacle)];
}

double normal_force(const ContactScene& scene, const ObstacleContact& contact)
{
    return scene.model.stiffness * sample_of(scene, contact.sample).area * contact.depth;
}

void add_to_sample(const ContactSample& sample, const Vec3& value, Points& field)
{
    for (int a = 0; a < sample.count; ++a)
        field.col(sample.vertices[static_cast<std::size_t>(a)]) += sample.weight() * value;
}

void require_usable(std::span<const Obstacle> obstacles, const std::vector<int>& order)
{
    for (const Obstacle& obstacle : obstacles) {
        if (!obstacle.shape && !obstacle.surface) throw InputError("an obstacle has no shape");
        if (!(obstacle.friction >= 0.0) || !std::isfinite(obstacle.friction))
            throw InputError("friction = " + std::to_string(obstacle.friction) +
                             " must be at least 0 and finite");
    }
    for (std::size_t i = 1; i < order.size(); ++i)
        if (obstacles[static_cast<std::size_t>(order[i - 1])].key ==
            obstacles[static_cast<std::size_t>(order[i])].key)
            throw InputError("two obstacles have the key " +
                             std::to_string(obstacles[static_cast<std::size_t>(order[i])].key));
}

struct Ball {
    Vec3 centre;
    double radius;
};

Ball ball_around(const Points& x)
{
    const Box3 box = bounds(x);
    return {box.center(), 0.5 * box.diagonal().norm()};
}

int name_of(const ContactScene& scene, int sample)
{
    return scene.names.empty() ? sample : scene.names[static_cast<std::size_t>(sample)];
}

/// The contacts of all samples with one obstacle.
void find_contacts(const ContactScene& scene, int obstacle, StepEnd end, const Points& x, ContactWork& work)
{
    const Obstacle& solid = obstacle_of(scene, obstacle);
    parallel_for(static_cast<Index>(scene.model.samples.size()), 256, [&](Index i) {
        const auto s = static_cast<std::size_t>(i);
        if (work.ignored[s]) return;
        work.distances[s] = signed_distance(solid, end, scene.model.samples[s].position(x));
    });
    const auto first = static_cast<std::ptrdiff_t>(work.contacts.size());
    for (std::size_t s = 0; s < work.distances.size(); ++s)
        if (!work.ignored[s] && work.distances[s].distance < 0.0)
            work.contacts.push_back(
                {static_cast<int>(s), obstacle, -work.distances[s].distance, work.distances[s].normal});
    if (!scene.names.empty())
        std::sort(work.contacts.begin() + first, work.contacts.end(), [&](const auto& a, const auto& b) {
            return name_of(scene, a.sample) < name_of(scene, b.sample);
        });
}

/// All contacts, with the obstacles where they are at one end of the step.
void find_contacts(const ContactScene& scene, StepEnd end, const Points& x, ContactWork& work)
{
    work.contacts.clear();
    const Ball ball = ball_around(x);
    for (const int obstacle : work.order) {
        if (may_touch(obstacle_of(scene, obstacle), end, ball.centre, ball.radius))
            find_contacts(scene, obstacle, end, x, work);
    }
}

/// Where the sample clings to the obstacle, in its material: the remembered place, or for a new contact the one above
/// which it was at the start of the step.
Vec3 anchor_of(const ContactScene& scene, const ObstacleContact& contact, const ContactWork& work)
{
    const FrictionState& friction = scene.friction;
    const Obstacle& obstacle = obstacle_of(scene, contact.obstacle);
    const auto [first, last] =
        std::equal_range(friction.obstacle.begin(), friction.obstacle.end(), obstacle.key);
    const auto begin = friction.sample.begin() + (first - friction.obstacle.begin());
    const auto end = friction.sample.begin() + (last - friction.obstacle.begin());
    const int name = name_of(scene, contact.sample);
    const auto found = std::lower_bound(begin, end, name);
    if (found != end && *found == name)
        return friction.anchor[static_cast<std::size_t>(found - friction.sample.begin())];
    return material_at(obstacle, StepEnd::Start, work.start[static_cast<std::size_t>(contact.sample)]);
}

/// Friction as the contacts of this moment have it.
void set_rubbing(const ContactScene& scene, ContactWork& work)
{
    work.rubbing.clear();
    for (const ObstacleContact& contact : work.contacts) {
        const Obstacle& obstacle = obstacle_of(scene, contact.obstacle);
        const double mu = combined_friction(scene.model.friction, obstacle.friction);
        if (mu == 0.0) continue;
        work.rubbing.push_back(
            {contact.sample, contact.obstacle,
             place_of(obstacle, StepEnd::End, anchor_of(scene, contact, work)), contact.normal,
             mu * normal_force(scene, contact),
             sticking_share * scene.model.stiffness * sample_of(scene, contact.sample).area});
    }
}

/// The offset from the anchor along the surface.
Vec3 tangential_offset(const FrictionContact& contact, const Vec3& p)
{
    const Vec3 s = p - contact.anchor;
    return s - contact.normal.dot(s) * contact.normal;
}

/// Huber's function of |s|, with slope at most the limit.
double add_friction(const ContactScene& scene, const FrictionContact& contact, const Points& x,
                    Points& gradient)
{
    const ContactSample& sample = sample_of(scene, contact.sample);
    const Vec3 s = tangential_offset(contact, sample.position(x));
    const double length = s.norm(), pull = contact.stiffness * length;
    if (pull <= contact.limit) {
        add_to_sample(sample, contact.stiffness * s, gradient);
        return 0.5 * pull * length;
    }
    add_to_sample(sample, contact.limit / length * s, gradient);
    return contact.limit * (length - 0.5 * contact.limit / contact.stiffness);
}

double add_pair(const SelfPair& pair, const Points& x, Points& gradient)
{
    const double depth = pair.offset(x).dot(pair.normal);
    if (depth <= 0.0) return 0.0;
    const Vec3 force = pair.stiffness * depth * pair.normal; // on v_p
    gradient.col(pair.vertex) -= force;
    for (int a = 0; a < 3; ++a)
        gradient.col(pair.triangle[static_cast<std::size_t>(a)]) += pair.weights[a] * force;
    return 0.5 * pair.stiffness * depth * depth;
}

/// The energy of what is frozen; adds its gradient.
double add_frozen(const ContactScene& scene, const Points& x, Points& gradient, const ContactWork& work)
{
    double energy = 0.0;
    for (const FrictionContact& contact : work.rubbing) energy += add_friction(scene, contact, x, gradient);
    for (const SelfPair& pair : work.pairs) energy += add_pair(pair, x, gradient);
    return energy;
}

/// Whether a pair that is not found any more may close again where it was: it has opened, and not slid off its triangle.
bool may_close(const SelfPair& pair, const Points& x)
{
    const Vec3 d = pair.offset(x);
    const double along = d.dot(pair.normal);
    const Vec3 edge = x.col(pair.triangle[1]) - x.col(pair.triangle[0]);
    return along <= 0.0 && (d - along * pair.normal).squaredNorm() < edge.squaredNorm();
}

/// The pairs found now, and of the others those that may close again.
void merge_pairs(const Points& x, ContactWork& work)
{
    std::erase_if(work.pairs, [&](const SelfPair& pair) { return !may_close(pair, x); });
    work.merged.clear();
    work.merged.reserve(work.detected.capacity());
    const auto earlier = [](const SelfPair& a, const SelfPair& b) { return a.vertex < b.vertex; };
    std::set_union(work.detected.begin(), work.detected.end(), work.pairs.begin(), work.pairs.end(),
                   std::back_inserter(work.merged), earlier); // of two that match, the first range's
    work.pairs.swap(work.merged);
}

ContactStiffness at_sample(const ContactSample& sample, const Mat3& H)
{
    ContactStiffness out{{}, {}, sample.count, H};
    for (std::size_t a = 0; a < static_cast<std::size_t>(sample.count); ++a) {
        out.vertices[a] = sample.vertices[a];
        out.weights[a] = sample.weight();
    }
    return out;
}

/// Of Huber's function: k T while it sticks, limit/|s| (T - s s^T/|s|^2) while it slides.
Mat3 friction_hessian(const FrictionContact& contact, const Vec3& s)
{
    const Mat3 T = Mat3::Identity() - contact.normal * contact.normal.transpose();
    const double length = s.norm();
    if (contact.stiffness * length <= contact.limit) return contact.stiffness * T;
    return contact.limit / length * (T - s * s.transpose() / (length * length));
}

} // namespace

void begin_contact(const ContactScene& scene, const Points& x, std::span<const unsigned char> pinned,
                   ContactWork& work)
{
    work.order.resize(scene.obstacles.size());
    std::iota(work.order.begin(), work.order.end(), 0);
    std::sort(work.order.begin(), work.order.end(),
              [&](int a, int b) { return obstacle_of(scene, a).key < obstacle_of(scene, b).key; });
    require_usable(scene.obstacles, work.order);

    const std::vector<ContactSample>& samples = scene.model.samples;
    work.start.clear();
    work.ignored.clear();
    work.contacts.clear();
    work.rubbing.clear();
    work.pairs.clear();
    extend_contact(scene, x, work);
    for (std::size_t s = 0; s < samples.size(); ++s) {
        work.ignored[s] = 1;
        for (const int v : samples[s].vertices)
            if (!pinned[static_cast<std::size_t>(v)]) work.ignored[s] = 0;
    }

    // what presses at the start, turned with its obstacle
    find_contacts(scene, StepEnd::Start, x, work);
    for (ObstacleContact& contact : work.contacts)
        contact.normal = carried_normal(obstacle_of(scene, contact.obstacle),
                                        work.start[static_cast<std::size_t>(contact.sample)], contact.normal);
    set_rubbing(scene, work);
    if (scene.model.self)
        detect_self_contact(*scene.model.self, scene.model.stiffness, x, work.pairs, work.detection);
}

void extend_contact(const ContactScene& scene, const Points& x, ContactWork& work)
{
    const std::vector<ContactSample>& samples = scene.model.samples;
    for (std::size_t s = work.start.size(); s < samples.size(); ++s)
        work.start.push_back(samples[s].position(x));
    work.ignored.resize(samples.size(), 0);
    work.distances.resize(samples.size());
    work.contacts.reserve(samples.size());
    work.rubbing.reserve(samples.size());
    work.stiffness.reserve(2 * samples.size());
}

double add_contact_gradient(const ContactScene& scene, const Points& x, Points& gradient, ContactWork& work)
{
    find_contacts(scene, StepEnd::End, x, work);
    double energy = 0.0;
    for (const ObstacleContact& contact : work.contacts) {
        const ContactSample& sample = sample_of(scene, contact.sample);
        const double N = normal_force(scene, contact);
        add_to_sample(sample, -N * contact.normal, gradient);
        energy += 0.5 * N * contact.depth;
    }
    return energy + add_frozen(scene, x, gradient, work);
}

ContactChange refresh_contact(const ContactScene& scene, const Points& x, Points& gradient, ContactWork& work)
{
    work.frozen.setZero(3, x.cols());
    work.refrozen.setZero(3, x.cols());
    const double before = add_frozen(scene, x, work.frozen, work);
    set_rubbing(scene, work);
    if (scene.model.self) {
        detect_self_contact(*scene.model.self, scene.model.stiffness, x, work.detected, work.detection);
        merge_pairs(x, work);
    }
    const double after = add_frozen(scene, x, work.refrozen, work);
    gradient += work.refrozen - work.frozen;
    double force = work.frozen.squaredNorm() + work.refrozen.squaredNorm();
    for (const ObstacleContact& contact : work.contacts) force += std::pow(normal_force(scene, contact), 2);
    const double change = (work.refrozen - work.frozen).squaredNorm();
    return {after - before, change > 0.0 ? std::sqrt(change / force) : 0.0};
}

void set_contact_stiffness(const ContactScene& scene, const Points& x, ContactWork& work)
{
    work.stiffness.clear();
    for (const ObstacleContact& contact : work.contacts) {
        const ContactSample& sample = sample_of(scene, contact.sample);
        const Mat3 H = scene.model.stiffness * sample.area * contact.normal * contact.normal.transpose();
        work.stiffness.push_back(at_sample(sample, H));
    }
    for (const FrictionContact& contact : work.rubbing) {
        const ContactSample& sample = sample_of(scene, contact.sample);
        const Vec3 s = tangential_offset(contact, sample.position(x));
        work.stiffness.push_back(at_sample(sample, friction_hessian(contact, s)));
    }
    for (const SelfPair& pair : work.pairs) {
        if (pair.offset(x).dot(pair.normal) <= 0.0) continue;
        work.stiffness.push_back({{pair.vertex, pair.triangle[0], pair.triangle[1], pair.triangle[2]},
                                  {1.0, -pair.weights[0], -pair.weights[1], -pair.weights[2]},
                                  4,
                                  pair.stiffness * pair.normal * pair.normal.transpose()});
    }
}

ContactReport finish_contact(const ContactScene& scene, const Points& x, ContactWork& work,
                             FrictionState& friction)
{
    set_rubbing(scene, work);
    ContactReport report;
    const auto count = [&](double depth, double force) {
        ++report.contacts;
        report.penetration = std::max(report.penetration, depth);
        report.normal_force += force;
    };
    for (const ObstacleContact& contact : work.contacts) count(contact.depth, normal_force(scene, contact));
    for (const SelfPair& pair : work.pairs)
        if (const double depth = pair.offset(x).dot(pair.normal); depth > 0.0)
            count(depth, pair.stiffness * depth);

    clear(friction);
    friction.obstacle.reserve(work.ignored.size());
    friction.sample.reserve(work.ignored.size());
    friction.anchor.reserve(work.ignored.size());
    for (const FrictionContact& contact : work.rubbing) {
        const Obstacle& obstacle = obstacle_of(scene, contact.obstacle);
        const Vec3 p = sample_of(scene, contact.sample).position(x);
        const Vec3 s = tangential_offset(contact, p);
        const double pull = contact.stiffness * s.norm();
        const double kept = pull > contact.limit ? contact.limit / pull : 1.0;
        friction.obstacle.push_back(obstacle.key);
        friction.sample.push_back(name_of(scene, contact.sample));
        friction.anchor.push_back(material_at(obstacle, StepEnd::End, p - kept * s));
    }
    return report;
}

void contact_forces(const ContactModel& model, const Points& x, const ContactWork& work, Points& points,
                    Points& forces)
{
    const auto contact_count = static_cast<Index>(work.contacts.size());
    points.resize(3, contact_count + static_cast<Index>(work.pairs.size()));
    forces.resize(3, points.cols());
    Index i = 0;
    std::size_t rub = 0; // the rubbing ones are some of the contacts, in the same order
    for (const ObstacleContact& contact : work.contacts) {
        const ContactSample& sample = model.samples[static_cast<std::size_t>(contact.sample)];
        points.col(i) = sample.position(x);
        forces.col(i) = model.stiffness * sample.area * contact.depth * contact.normal;
        if (rub < work.rubbing.size() && work.rubbing[rub].sample == contact.sample &&
            work.rubbing[rub].obstacle == contact.obstacle) {
            const FrictionContact& rubbing = work.rubbing[rub++];
            const Vec3 s = tangential_offset(rubbing, points.col(i));
            const double pull = rubbing.stiffness * s.norm();
            forces.col(i) -= rubbing.stiffness * (pull > rubbing.limit ? rubbing.limit / pull : 1.0) * s;
        }
        ++i;
    }
    for (const SelfPair& pair : work.pairs) {
        points.col(i) = x.col(pair.vertex);
        const double depth = std::max(0.0, pair.offset(x).dot(pair.normal));
        forces.col(i++) = pair.stiffness * depth * pair.normal;
    }
}

} // namespace lithe
