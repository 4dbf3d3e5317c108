#include "lithe/world/coupling.hpp"

#include <numeric>

#include "lithe/core/parallel.hpp"

namespace lithe {

void Coupling::begin(std::span<Body* const> bodies)
{
    bodies_ = bodies;
    problem.clear();
    aside_.clear();
    touches_.resize(bodies.size());
    for (std::vector<Touch>& of_body : touches_) of_body.clear();
}

std::size_t Coupling::add(int body, const Touch& touch)
{
    std::vector<Touch>& of_body = touches_[static_cast<std::size_t>(body)];
    of_body.push_back(touch);
    return of_body.size() - 1;
}

void Coupling::join(ResponseKind kind)
{
    movers_.assign(bodies_.size(), {0, 0});
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        movers_[i].first = problem.body_count();
        if (!touches_[i].empty()) bodies_[i]->join(touches_[i], kind, problem);
        movers_[i].second = problem.body_count();
    }
    for_each_body([&](std::size_t i) {
        if (!touches_[i].empty()) bodies_[i]->prepare_answers();
    });
}

/// In parallel.
void Coupling::for_each_body(const auto& f)
{
    parallel_for(static_cast<Index>(bodies_.size()), 1, [&](Index i) { f(static_cast<std::size_t>(i)); });
}

Vec3 Coupling::couple(int body, std::size_t touch, double weight)
{
    return bodies_[static_cast<std::size_t>(body)]->couple(touch, weight, problem);
}

double Coupling::couple_along(int body, std::size_t touch, const Vec3& direction)
{
    while (aside_.body_count() < problem.body_count())
        aside_.add_body(problem.body_size(aside_.body_count()));
    const int last = aside_.add_joint({});
    const Vec3 u = bodies_[static_cast<std::size_t>(body)]->couple(touch, 1.0, aside_);
    const ConstraintRows& rows = aside_.joint_rows();
    for (int b = rows.begin(last); b < rows.end(last); ++b) {
        const int mover = rows.blocks[static_cast<std::size_t>(b)].body;
        problem.block(mover) += direction.transpose().lazyProduct(aside_.block(mover));
    }
    return direction.dot(u);
}

ImpulseReport Coupling::solve(const ImpulseOptions& options)
{
    prepare();
    return solve_again(options);
}

Vec3 Coupling::give(std::size_t body)
{
    Vec3 brought = Vec3::Zero();
    for (int mover = movers_[body].first; mover < movers_[body].second; ++mover)
        brought += bodies_[body]->take(mover, solver_.change(mover));
    return brought;
}

void Coupling::act_alone(int body)
{
    const auto i = static_cast<std::size_t>(body);
    solver_.solve_joints_alone(movers_[i].first, movers_[i].second, problem);
    (void)give(i);
}

Vec3 Coupling::hand_out()
{
    brought_.resize(bodies_.size());
    for_each_body([&](std::size_t i) { brought_[i] = give(i); });
    return std::accumulate(brought_.begin(), brought_.end(), Vec3(Vec3::Zero()));
}

} // namespace lithe
