#include "lithe/contact/impulse_solver.hpp"

#include <algorithm>
#include <cmath>

#include "lithe/contact/link_products.hpp"
#include "lithe/contact/sort_by_set.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

std::span<const ConstraintRows::Block> blocks_of(const ConstraintRows& rows, int c)
{
    return {rows.blocks.data() + rows.begin(c), at(rows.end(c) - rows.begin(c))};
}

void join_bodies(const ConstraintRows& rows, int count, UnionFind& sets)
{
    for (int c = 0; c < count; ++c) {
        const auto blocks = blocks_of(rows, c);
        for (const auto& block : blocks) sets.join(blocks.front().body, block.body);
    }
}

/// The largest s <= 1 with  s b + s^2 a / 2 <= c,  a and c not negative: 1 for equal restitutions, but for rounding.
double share_within(double b, double a, double c)
{
    if (b + 0.5 * a <= c * (1.0 + 1e-12)) return 1.0;
    return std::clamp(2.0 * c / (b + std::sqrt(b * b + 2.0 * a * c)), 0.0, 1.0);
}

} // namespace

void ImpulseSolver::SweepSize::add(double response, double changed_by, double length)
{
    change = std::max(change, response * changed_by * changed_by);
    impulse = std::max(impulse, response * length * length);
    speed = std::max(speed, response * length);
    speed_change = std::max(speed_change, response * changed_by);
    square += response * changed_by * changed_by;
}

std::span<const int> ImpulseSolver::contacts_of(std::size_t island) const
{
    const int begin = islands_[island].first_contact, end = islands_[island + 1].first_contact;
    return {contact_order_.data() + begin, at(end - begin)};
}
std::span<const int> ImpulseSolver::limits_of(std::size_t island) const
{
    const int begin = islands_[island].first_limit, end = islands_[island + 1].first_limit;
    return {limit_order_.data() + begin, at(end - begin)};
}
std::span<const int> ImpulseSolver::articulations_of(std::size_t island) const
{
    const int begin = islands_[island].first_articulation, end = islands_[island + 1].first_articulation;
    return {articulation_order_.data() + begin, at(end - begin)};
}

Eigen::Map<const VecX> ImpulseSolver::change(int body) const
{
    return {numbers_.data() + numbers_of_body_[at(body)], body_size_[at(body)]};
}

void ImpulseSolver::prepare(const ImpulseProblem& problem)
{
    joints_.analyse(problem);
    find_islands(problem);
    place_numbers(problem);
    factorise_joints(problem);
    couple(problem, problem.contact_rows(), contact_links_);
    couple(problem, problem.limit_rows(), limit_links_);
    const auto contact_count = problem.contacts.size(), limit_count = problem.limits.size();
    contacts_.resize(contact_count);
    contact_response_.resize(contact_count);
    states_.assign(contact_count, ContactState::Separating);
    pressing_.resize(contact_order_.size());
    limit_response_.resize(limit_count);
    parallel_for(static_cast<Index>(contact_count), 16,
                 [&](Index c) { prepare_contact(problem, static_cast<int>(c)); });
    parallel_for(static_cast<Index>(limit_count), 64,
                 [&](Index c) { prepare_limit(problem, static_cast<int>(c)); });
}

void ImpulseSolver::find_islands(const ImpulseProblem& problem)
{
    const int bodies = problem.body_count();
    sets_.reset(bodies);
    const auto contact_count = static_cast<int>(problem.contacts.size());
    const auto limit_count = static_cast<int>(problem.limits.size());
    join_bodies(problem.contact_rows(), contact_count, sets_);
    join_bodies(problem.joint_rows(), static_cast<int>(problem.joints.size()), sets_);
    join_bodies(problem.limit_rows(), limit_count, sets_);

    // roots are the lowest of their sets, so they come first
    int islands = 0;
    island_of_body_.resize(at(bodies));
    for (int body = 0; body < bodies; ++body) {
        const int lowest = sets_.root(body);
        island_of_body_[at(body)] = lowest == body ? islands++ : island_of_body_[at(lowest)];
    }
    islands_.assign(at(islands) + 1, {});
    if (leaps_.size() < at(islands)) leaps_.resize(at(islands));

    const auto of_rows = [&](const ConstraintRows& rows) {
        return [&](int c) {
            const auto blocks = blocks_of(rows, c);
            return blocks.empty() ? -1 : island_of_body_[at(blocks.front().body)];
        };
    };
    sort_by_set(
        contact_count, at(islands), of_rows(problem.contact_rows()),
        [&](std::size_t i) -> int& { return islands_[i].first_contact; }, contact_order_);
    sort_by_set(
        limit_count, at(islands), of_rows(problem.limit_rows()),
        [&](std::size_t i) -> int& { return islands_[i].first_limit; }, limit_order_);
    sort_by_set(
        joints_.articulation_count(), at(islands),
        [&](int articulation) { return island_of_body_[at(joints_.body_of(articulation))]; },
        [&](std::size_t i) -> int& { return islands_[i].first_articulation; }, articulation_order_);
}

void ImpulseSolver::place_numbers(const ImpulseProblem& problem)
{
    const auto bodies = at(problem.body_count());
    numbers_of_body_.resize(bodies);
    body_size_.resize(bodies);
    numbers_of_articulation_.resize(at(joints_.articulation_count()));
    // first how many numbers each island has, then where they start
    for (int body = 0; body < problem.body_count(); ++body) {
        body_size_[at(body)] = problem.body_size(body);
        Island& island = islands_[at(island_of_body_[at(body)])];
        numbers_of_body_[at(body)] = island.joint_begin;
        island.joint_begin += padded(problem.body_size(body));
    }
    Index next = 0;
    for (std::size_t i = 0; i + 1 < islands_.size(); ++i) {
        Island& island = islands_[i];
        island.begin = next;
        island.body_begin = next + static_cast<Index>(3 * contacts_of(i).size() + limits_of(i).size());
        next = island.joint_begin += island.body_begin;
        for (const int articulation : articulations_of(i)) {
            numbers_of_articulation_[at(articulation)] = next;
            next += joints_.end(articulation) - joints_.begin(articulation);
        }
    }
    islands_.back().begin = next;
    for (std::size_t body = 0; body < bodies; ++body)
        numbers_of_body_[body] += islands_[at(island_of_body_[body])].body_begin;
    numbers_.assign(static_cast<std::size_t>(next), 0.0);
    weights_.resize(static_cast<std::size_t>(next));
    scratch_.resize(static_cast<std::size_t>(next));
    mixing_memory_.resize(static_cast<std::size_t>(Mixing::room(impulses_before(islands_.back()))));
    joint_rhs_.assign(static_cast<std::size_t>(joints_.size()), 0.0);
}

void ImpulseSolver::factorise_joints(const ImpulseProblem& problem)
{
    is_factorised_.resize(at(joints_.articulation_count()));
    settled_.resize(at(joints_.articulation_count()));
    parallel_for(joints_.articulation_count(), 1, [&](Index a) {
        const auto articulation = static_cast<int>(a);
        is_factorised_[at(articulation)] = joints_.factorise(problem, articulation);
    });
}

void ImpulseSolver::couple(const ImpulseProblem& problem, const ConstraintRows& rows,
                           ConstraintLinks& couplings)
{
    couplings.first.clear();
    couplings.first_part.clear();
    couplings.links.clear();
    couplings.parts.clear();
    couplings.first_of_parts.clear();
    Index values = 0;
    for (int c = 0; c < static_cast<int>(rows.first.size()); ++c) {
        const auto blocks = blocks_of(rows, c);
        couplings.first.push_back(static_cast<int>(couplings.links.size()));
        for (const auto& block : blocks)
            couplings.links.push_back({rows.values.data() + block.offset, numbers_of_body_[at(block.body)],
                                       padded(problem.body_size(block.body))});
        couplings.first_part.push_back(static_cast<int>(couplings.links.size()));
        const auto first = couplings.parts.size();
        couplings.first_of_parts.push_back(static_cast<int>(first));
        joints_.append_parts(blocks, couplings.parts);
        for (auto p = first; p < couplings.parts.size(); ++p) {
            const JointSystem::Part& part = couplings.parts[p];
            const Index numbers =
                numbers_of_articulation_[at(part.articulation)] + part.row - joints_.begin(part.articulation);
            couplings.links.push_back({nullptr, numbers, part.size});
            values += rows.rows * part.size;
        }
    }
    couplings.first.push_back(static_cast<int>(couplings.links.size()));
    couplings.first_of_parts.push_back(static_cast<int>(couplings.parts.size()));

    couplings.part_values.resize(static_cast<std::size_t>(values));
    const double* next = couplings.part_values.data();
    for (ConstraintLink& link : couplings.links) {
        if (link.block) continue;
        link.block = next;
        next += rows.rows * link.size;
    }
}

template <int Rows>
void ImpulseSolver::fill_parts(const ImpulseProblem& problem, const ConstraintRows& rows,
                               ConstraintLinks& couplings, int c) const
{
    const int begin = couplings.first_of_parts[at(c)], end = couplings.first_of_parts[at(c) + 1];
    if (begin == end) return;
    const auto offset = couplings.links[at(couplings.first_part[at(c)])].block - couplings.part_values.data();
    joints_.fill_parts<Rows>(problem, rows, blocks_of(rows, c),
                             {couplings.parts.data() + begin, at(end - begin)},
                             couplings.part_values.data() + offset);
}

void ImpulseSolver::prepare_contact(const ImpulseProblem& problem, int c)
{
    fill_parts<3>(problem, problem.contact_rows(), contact_links_, c);
    const Mat3 free = square_of<3>(blocks_of(contact_links_, c));
    const Mat3 K = free - square_of<3>(parts_of(contact_links_, c));
    const ImpulseContact& contact = problem.contacts[at(c)];
    contacts_[at(c)] = CoulombContact(K, contact.normal, contact.friction, free.trace() / 3.0);
    contact_response_[at(c)] = K.trace() / 3.0;
}

void ImpulseSolver::prepare_limit(const ImpulseProblem& problem, int c)
{
    fill_parts<1>(problem, problem.limit_rows(), limit_links_, c);
    const double free = square_of<1>(blocks_of(limit_links_, c))(0);
    const double K = free - square_of<1>(parts_of(limit_links_, c))(0);
    const double compliance = problem.limits[at(c)].compliance;
    limit_response_[at(c)] = K + compliance > 1e-8 * free ? K + compliance : 0.0;
}

ImpulseReport ImpulseSolver::solve(ImpulseProblem& problem, const ImpulseOptions& options)
{
    LITHE_ASSERT(options.max_sweeps > 0 && problem.contacts.size() == contacts_.size());
    const std::size_t islands = islands_.size() - 1;
    parallel_for(static_cast<Index>(islands), 1,
                 [&](Index i) { solve_island(problem, options, static_cast<std::size_t>(i)); });
    ImpulseReport all;
    for (std::size_t i = 0; i < islands; ++i) {
        const ImpulseReport& one = islands_[i].report;
        all.status = std::max(all.status, one.status);
        all.islands += one.islands;
        all.sweeps = std::max(all.sweeps, one.sweeps);
        all.residual = std::max(all.residual, one.residual);
        all.joint_residual = std::max(all.joint_residual, one.joint_residual);
        all.touching += one.touching;
        all.sliding += one.sliding;
    }
    return all;
}

void ImpulseSolver::solve_island(ImpulseProblem& problem, const ImpulseOptions& options, std::size_t island)
{
    ImpulseReport& report = islands_[island].report;
    report = {};
    const bool has_contacts = !contacts_of(island).empty() || !limits_of(island).empty();
    const auto articulations = articulations_of(island);
    if (!has_contacts && articulations.empty()) return;
    report.islands = 1;

    start(problem, island);
    if (report.status == ImpulseStatus::NotFinite) return finish(problem, island);
    if (!has_contacts) {
        report.joint_residual = settle_joints(problem, island, {.passes = options.joint_passes}).after;
        return finish(problem, island);
    }
    (void)settle_joints(problem, island, {.passes = 1});
    const int rounds = 5;
    constexpr double far_better = 1e-4; // than the contacts
    for (int round = 0; round < rounds; ++round) {
        const double speed = sweep_until_still(problem, options, island);
        if (articulations.empty()) break;
        // The joints' regularisation may have given way to the contacts: then these look again.
        const Settled settled =
            settle_joints(problem, island,
                          {.passes = options.joint_passes, .enough = far_better * options.tolerance * speed});
        report.joint_residual = settled.after;
        const bool good = settled.before <= options.tolerance * speed;
        if (good || report.sweeps >= options.max_sweeps) break;
    }
    finish(problem, island);
}

/// The starting impulses act on the bodies; nothing has gone through the joints yet.
void ImpulseSolver::start(ImpulseProblem& problem, std::size_t island)
{
    const Index begin = islands_[island].begin;
    std::fill(numbers_.begin() + begin, numbers_.begin() + islands_[island + 1].begin, 0.0);
    for (const int articulation : articulations_of(island)) {
        for (const int joint : joints_.joints(articulation)) problem.joints[at(joint)].impulse.setZero();
        if (!is_factorised_[at(articulation)]) islands_[island].report.status = ImpulseStatus::NotFinite;
    }
    const bool usable = islands_[island].report.status == ImpulseStatus::Converged;
    double* impulse = numbers_.data() + begin;
    double* weight = weights_.data() + begin;
    for (const int c : contacts_of(island)) {
        Eigen::Map<Vec3> j(impulse);
        if (usable && contacts_[at(c)].movable()) j = problem.contacts[at(c)].impulse;
        std::fill(weight, weight + 3, contact_response_[at(c)]);
        impulse += 3;
        weight += 3;
    }
    for (const int c : limits_of(island)) {
        const ImpulseLimit& limit = problem.limits[at(c)];
        if (usable && limit_response_[at(c)] > 0.0)
            *impulse = std::clamp(limit.impulse, limit.lower, limit.upper);
        *weight++ = limit_response_[at(c)];
        ++impulse;
    }
    push_bodies(problem, island);
}

/// a = sum G^T j, from nothing.
void ImpulseSolver::push_bodies(const ImpulseProblem& problem, std::size_t island)
{
    std::fill(numbers_.begin() + islands_[island].body_begin, numbers_.begin() + islands_[island].joint_begin,
              0.0);
    const double* impulse = numbers_.data() + islands_[island].begin;
    for (const int c : contacts_of(island)) {
        push_directly<3>(contact_links_, c, Vec3::Map(impulse), numbers_.data());
        impulse += 3;
    }
    for (const int c : limits_of(island))
        push_directly<1>(limit_links_, c, Vec<1>(*impulse++), numbers_.data());
    for (const int articulation : articulations_of(island))
        for (const int joint : joints_.joints(articulation))
            push_joint(problem, joint, problem.joints[at(joint)].impulse);
}

void ImpulseSolver::push_joint(const ImpulseProblem& problem, int joint, const Vec3& impulse)
{
    const ConstraintRows& rows = problem.joint_rows();
    for (const auto& block : blocks_of(rows, joint))
        add_transposed<3>(rows.values.data() + block.offset, impulse,
                          numbers_.data() + numbers_of_body_[at(block.body)],
                          padded(body_size_[at(block.body)]));
}

/// Sweeps until the impulses change little. Returns the largest change of velocity by one of them [m/s].
///
/// Where heavy bodies press on light ones a sweep passes on no more than the light ones can stop: impulses are almost still
/// long before they are right, and only velocities show it. While an island can leap it is asked for both, and for more: what a
/// stack has left of its speed is how fast it creeps.
double ImpulseSolver::sweep_until_still(const ImpulseProblem& problem, const ImpulseOptions& options,
                                        std::size_t island)
{
    constexpr int patience = 6, patience_after_leap = 2, pressing_sweeps = 4;
    constexpr int eager =
        30; // sweeps, after which every one is of all contacts: whoever wants so many wants to be exact
    Island& here = islands_[island];
    ImpulseReport& report = here.report;
    double* numbers = numbers_.data() + here.begin;
    const auto start_mixing = [&] {
        here.mixing.start(here.body_begin - here.begin, weights_.data() + here.begin,
                          mixing_memory_.data() + Mixing::room(impulses_before(here)));
    };
    int leaps = can_leap(island) ? 3 : 0, next_leap = report.sweeps + patience;
    const double speed =
        leaps > 0 ? std::max(0.1 * options.tolerance, 1e-7) * largest_approach(problem, island) : 0.0;
    start_mixing();
    int pressing_left = 0;
    double kept_residual = 0.0; // of what the mixing goes back to
    for (;;) {
        here.mixing.before(numbers);
        const bool last = report.sweeps + 1 >= options.max_sweeps;
        const bool some = pressing_left > 0 && leaps == 0 && report.sweeps < eager && !last;
        const Visit visit = some ? Visit::Pressing : Visit::All;
        pressing_left = visit == Visit::All ? pressing_sweeps : pressing_left - 1;
        const int pressing_before = here.pressing;
        const SweepSize size = sweep(problem, island, visit);
        if (here.pressing != pressing_before) here.mixing.forget();
        ++report.sweeps;
        report.residual = size.impulse > 0.0 ? std::sqrt(size.change / size.impulse) : 0.0;
        const bool looks_still = report.residual <= options.tolerance;
        if (looks_still && visit == Visit::Pressing) {
            pressing_left = 0; // so far: now the others
            continue;
        }
        const bool still = looks_still && (leaps == 0 || size.speed_change <= speed);
        report.status = still ? ImpulseStatus::Converged : ImpulseStatus::SweepLimit;
        if (!still && !last && leaps > 0 && (looks_still || report.sweeps >= next_leap)) {
            --leaps;
            const bool leapt = leap(problem, island, size, speed);
            next_leap = report.sweeps + patience_after_leap;
            if (leapt) {
                start_mixing();
                continue;
            }
        }
        if (!still && last && !here.mixing.finish(numbers)) report.residual = kept_residual;
        if (still || last) {
            push_bodies(problem, island); // what was mixed has round-off that they would keep as momentum
            return size.speed;
        }
        std::copy(numbers, numbers + (here.body_begin - here.begin), scratch_.data() + here.begin);
        if (here.mixing.after(numbers)) kept_residual = report.residual;
        follow_impulses(island);
    }
}

/// Bodies and joints go along with impulses that were mixed; scratch_ has those that they know.
void ImpulseSolver::follow_impulses(std::size_t island)
{
    const double* impulse = numbers_.data() + islands_[island].begin;
    const double* known = scratch_.data() + islands_[island].begin;
    for (const int c : contacts_of(island)) {
        const Vec3 change = Vec3::Map(impulse) - Vec3::Map(known);
        if (!change.isZero(0.0)) push<3>(contact_links_, c, change, numbers_.data());
        impulse += 3;
        known += 3;
    }
    for (const int c : limits_of(island)) {
        const Vec<1> change(*impulse++ - *known++);
        if (change[0] != 0.0) push<1>(limit_links_, c, change, numbers_.data());
    }
}

Vec3 ImpulseSolver::contact_velocity(const ImpulseProblem& problem, int c) const
{
    const ImpulseContact& contact = problem.contacts[at(c)];
    return contact.velocity + contact.gap_rate * contact.normal +
           change_at<3>(contact_links_, c, numbers_.data());
}

/// Of the contacts, without impulses [m/s].
double ImpulseSolver::largest_approach(const ImpulseProblem& problem, std::size_t island) const
{
    double largest = 0.0;
    for (const int c : contacts_of(island)) {
        const ImpulseContact& contact = problem.contacts[at(c)];
        largest = std::max(largest, (contact.velocity + contact.gap_rate * contact.normal).norm());
    }
    return largest;
}

/// Contacts alone, between few bodies.
bool ImpulseSolver::can_leap(std::size_t island) const
{
    return limits_of(island).empty() && articulations_of(island).empty() &&
           islands_[island].joint_begin - islands_[island].body_begin <= ConeNewton::most_numbers;
}

/// All contacts at once, to `speed` [m/s], and a sweep from there. Goes back, and says false, when that changes impulses more
/// than the last sweep did, `size`.
bool ImpulseSolver::leap(const ImpulseProblem& problem, std::size_t island, const SweepSize& size,
                         double speed)
{
    const Index begin = islands_[island].begin;
    Eigen::Map<VecX> numbers(numbers_.data() + begin, islands_[island + 1].begin - begin);
    VecX& before = leaps_[island].numbers;
    before = numbers;
    if (!solve_at_once(problem, island, speed)) return false;
    ++islands_[island].report.sweeps;
    if (sweep(problem, island, Visit::All).square <= size.square) return true;
    numbers = before;
    return false;
}

bool ImpulseSolver::solve_at_once(const ImpulseProblem& problem, std::size_t island, double speed)
{
    Leap& leap = leaps_[island];
    const Island& here = islands_[island];
    leap.contacts.clear();
    double* impulse = numbers_.data() + here.begin;
    for (const int c : contacts_of(island)) {
        const ImpulseContact& contact = problem.contacts[at(c)];
        if (contacts_[at(c)].movable())
            leap.contacts.push_back({.blocks = blocks_of(contact_links_, c),
                                     .velocity = contact.velocity + contact.gap_rate * contact.normal,
                                     .normal = contact.normal,
                                     .friction = contact.friction,
                                     .response = contact_response_[at(c)],
                                     .impulse = Vec3::Map(impulse)});
        impulse += 3;
    }
    if (!leap.newton.solve(leap.contacts, here.body_begin, here.joint_begin - here.body_begin,
                           numbers_.data() + here.body_begin, speed))
        return false;
    impulse = numbers_.data() + here.begin;
    auto found = leap.contacts.begin();
    for (const int c : contacts_of(island)) {
        if (contacts_[at(c)].movable()) Vec3::Map(impulse) = (found++)->impulse;
        impulse += 3;
    }
    push_bodies(problem, island);
    return true;
}

void ImpulseSolver::sweep_contact(const ImpulseProblem& problem, int c, double* impulse, SweepSize& size)
{
    if (!contacts_[at(c)].movable()) return;
    Eigen::Map<Vec3> j(impulse);
    const ContactImpulse found = contacts_[at(c)].solve_again(contact_velocity(problem, c), j);
    const Vec3 change = found.impulse - j;
    j = found.impulse;
    states_[at(c)] = found.state;
    if (!change.isZero(0.0)) push<3>(contact_links_, c, change, numbers_.data());
    size.add(contact_response_[at(c)], change.norm(), j.norm());
}

void ImpulseSolver::sweep_limit(const ImpulseProblem& problem, int c, double& j, SweepSize& size)
{
    const double response = limit_response_[at(c)];
    if (response == 0.0) return;
    const ImpulseLimit& limit = problem.limits[at(c)];
    const double w =
        limit.velocity + change_at<1>(limit_links_, c, numbers_.data())[0] + limit.compliance * j;
    const double change = std::clamp(j - w / response, limit.lower, limit.upper) - j;
    j += change;
    if (change != 0.0) push<1>(limit_links_, c, Vec<1>(change), numbers_.data());
    size.add(response, std::abs(change), std::abs(j));
}

/// Every contact, or every one that presses, then every limit, solved while all others hold still.
ImpulseSolver::SweepSize ImpulseSolver::sweep(const ImpulseProblem& problem, std::size_t island, Visit visit)
{
    SweepSize size;
    Island& here = islands_[island];
    const auto contacts = contacts_of(island);
    int* pressing = pressing_.data() + here.first_contact;
    double* impulses = numbers_.data() + here.begin;
    if (visit == Visit::Pressing) {
        for (int i = 0; i < here.pressing; ++i)
            sweep_contact(problem, contacts[at(pressing[i])], impulses + 3 * pressing[i], size);
    } else {
        here.pressing = 0;
        for (int k = 0; k < static_cast<int>(contacts.size()); ++k) {
            sweep_contact(problem, contacts[at(k)], impulses + 3 * k, size);
            if (!Vec3::Map(impulses + 3 * k).isZero(0.0)) pressing[here.pressing++] = k;
        }
    }
    double* limit = impulses + 3 * static_cast<Index>(contacts.size());
    for (const int c : limits_of(island)) sweep_limit(problem, c, *limit++, size);
    return size;
}

/// Fills the right-hand side  velocity + J a + compliance j  of an articulation. Returns the largest of a joint.
double ImpulseSolver::joint_violation(const ImpulseProblem& problem, int articulation)
{
    const ConstraintRows& rows = problem.joint_rows();
    double largest = 0.0;
    for (const int joint : joints_.joints(articulation)) {
        const ImpulseJoint& j = problem.joints[at(joint)];
        Vec3 violation = j.velocity + j.compliance * j.impulse;
        for (const auto& block : blocks_of(rows, joint))
            violation += times<3>(rows.values.data() + block.offset,
                                  numbers_.data() + numbers_of_body_[at(block.body)],
                                  padded(body_size_[at(block.body)]));
        Eigen::Map<Vec3>(joint_rhs_.data() + joints_.row(joint)) = violation;
        largest = std::max(largest, violation.norm());
    }
    return largest;
}

/// Satisfies the joints for what their bodies do now.
ImpulseSolver::Settled ImpulseSolver::settle_joints(ImpulseProblem& problem, std::size_t island,
                                                    const Settling& how)
{
    const std::span<const int> articulations = articulations_of(island);
    parallel_for(std::ssize(articulations), 1, [&](Index i) {
        const int articulation = articulations[static_cast<std::size_t>(i)];
        settled_[at(articulation)] = settle_articulation(problem, articulation, how);
    });
    // what the contacts said to the joints has been heard
    std::fill(numbers_.begin() + islands_[island].joint_begin, numbers_.begin() + islands_[island + 1].begin,
              0.0);
    Settled settled;
    for (const int articulation : articulations) {
        settled.before = std::max(settled.before, settled_[at(articulation)].before);
        settled.after = std::max(settled.after, settled_[at(articulation)].after);
    }
    return settled;
}

ImpulseSolver::Settled ImpulseSolver::settle_articulation(ImpulseProblem& problem, int articulation,
                                                          const Settling& how)
{
    Settled settled;
    settled.before = settled.after = joint_violation(problem, articulation);
    for (int pass = 0; pass < how.passes; ++pass) {
        if (how.enough > 0.0 && settled.after <= how.enough) break;
        joints_.solve(articulation, joint_rhs_.data());
        for (const int joint : joints_.joints(articulation)) {
            const Vec3 change = -Eigen::Map<const Vec3>(joint_rhs_.data() + joints_.row(joint));
            problem.joints[at(joint)].impulse += change;
            push_joint(problem, joint, change);
        }
        if (how.passes == 1) break;
        const double last = settled.after;
        settled.after = joint_violation(problem, articulation);
        if (settled.after <= 1e-13 * settled.before || settled.after > 0.7 * last) break;
    }
    return settled;
}

void ImpulseSolver::solve_joints_alone(int first, int last, ImpulseProblem& problem)
{
    for (int body = first; body < last; ++body) {
        double* numbers = numbers_.data() + numbers_of_body_[at(body)];
        std::fill(numbers, numbers + padded(body_size_[at(body)]), 0.0);
    }
    for (int body = first; body < last; ++body) {
        const int articulation = joints_.articulation_of(body);
        if (articulation < 0 || !is_factorised_[at(articulation)]) continue;
        if (joints_.body_of(articulation) == body) solve_joints_alone(articulation, problem);
    }
}

/// Of one articulation, whose bodies are given nothing yet.
void ImpulseSolver::solve_joints_alone(int articulation, ImpulseProblem& problem)
{
    const std::span<const int> joints = joints_.joints(articulation);
    for (const int joint : joints)
        Eigen::Map<Vec3>(joint_rhs_.data() + joints_.row(joint)) = problem.joints[at(joint)].velocity;
    joints_.solve(articulation, joint_rhs_.data());
    for (const int joint : joints) {
        Vec3& impulse = problem.joints[at(joint)].impulse;
        impulse = -Eigen::Map<const Vec3>(joint_rhs_.data() + joints_.row(joint));
        push_joint(problem, joint, impulse);
    }
}

/// Hands the impulses over. Numbers that are not finite are worth nothing, and go no further.
void ImpulseSolver::finish(ImpulseProblem& problem, std::size_t island)
{
    ImpulseReport& report = islands_[island].report;
    Eigen::Map<VecX> all(numbers_.data() + islands_[island].begin,
                         islands_[island + 1].begin - islands_[island].begin);
    if (!all.allFinite()) {
        report.status = ImpulseStatus::NotFinite;
        all.setZero();
        for (const int articulation : articulations_of(island))
            for (const int joint : joints_.joints(articulation)) problem.joints[at(joint)].impulse.setZero();
    }
    const double* impulse = numbers_.data() + islands_[island].begin;
    for (const int c : contacts_of(island)) {
        problem.contacts[at(c)].impulse = Eigen::Map<const Vec3>(impulse);
        impulse += 3;
        if (problem.contacts[at(c)].impulse.isZero(0.0)) continue;
        ++report.touching;
        if (states_[at(c)] == ContactState::Sliding) ++report.sliding;
    }
    for (const int c : limits_of(island)) problem.limits[at(c)].impulse = *impulse++;
}

void ImpulseSolver::bounce(ImpulseProblem& problem)
{
    parallel_for(static_cast<Index>(islands_.size()) - 1, 1,
                 [&](Index i) { bounce_island(problem, static_cast<std::size_t>(i)); });
}

/// p.w and p.K p of impulses p at the contacts, w the velocities now. The p are in scratch_, where impulses are in
/// numbers_; the rest of it is overwritten.
ImpulseSolver::Work ImpulseSolver::work_of(const ImpulseProblem& problem, std::size_t island)
{
    const Index begin = islands_[island].begin, body_begin = islands_[island].body_begin,
                joint_begin = islands_[island].joint_begin, end = islands_[island + 1].begin;
    std::fill(scratch_.begin() + body_begin, scratch_.begin() + end, 0.0);
    Work work;
    const double* p = scratch_.data() + begin;
    for (const int c : contacts_of(island)) {
        const Vec3 w = problem.contacts[at(c)].velocity + change_at<3>(contact_links_, c, numbers_.data());
        work.linear += Eigen::Map<const Vec3>(p).dot(w);
        push<3>(contact_links_, c, Vec3(Eigen::Map<const Vec3>(p)), scratch_.data());
        p += 3;
    }
    work.square =
        Eigen::Map<const VecX>(scratch_.data() + body_begin, joint_begin - body_begin).squaredNorm() -
        Eigen::Map<const VecX>(scratch_.data() + joint_begin, end - joint_begin).squaredNorm();
    return work;
}

/// With the impulses j of the solve and w the velocities after them, the contacts have taken j.K j / 2 - j.w of energy.
/// Impulses p on top bring p.w + p.K p / 2.
void ImpulseSolver::bounce_island(ImpulseProblem& problem, std::size_t island)
{
    const auto contacts = contacts_of(island);
    const auto bounces = [&](int c) { return problem.contacts[at(c)].restitution > 0.0; };
    if (std::none_of(contacts.begin(), contacts.end(), bounces)) return;
    const auto set_p = [&](const auto& part) {
        double* p = scratch_.data() + islands_[island].begin;
        for (const int c : contacts) {
            Vec3::Map(p) = part(c, problem.contacts[at(c)]);
            p += 3;
        }
    };
    set_p([](int, const ImpulseContact& contact) { return contact.impulse; });
    const Work pressed = work_of(problem, island);
    const double taken = 0.5 * pressed.square - pressed.linear;

    // sticking contacts give back along the normal, if there is enough energy for it
    set_p([&](int c, const ImpulseContact& contact) -> Vec3 {
        const Vec3 back = contact.restitution * contact.impulse;
        return states_[at(c)] == ContactState::Sticking ? back.dot(contact.normal) * contact.normal : back;
    });
    Work work = work_of(problem, island);
    double share = 1.0;
    if (work.linear + 0.5 * work.square > taken) {
        set_p(
            [](int, const ImpulseContact& contact) -> Vec3 { return contact.restitution * contact.impulse; });
        work = work_of(problem, island);
        share = share_within(work.linear, work.square, taken);
    }
    const double* p = scratch_.data() + islands_[island].begin;
    for (const int c : contacts) {
        const Vec3 more = share * Eigen::Map<const Vec3>(p);
        problem.contacts[at(c)].impulse += more;
        push_directly<3>(contact_links_, c, more, numbers_.data());
        p += 3;
    }
    if (!articulations_of(island).empty())
        (void)settle_joints(problem, island, {.passes = ImpulseOptions{}.joint_passes});
}

} // namespace lithe
