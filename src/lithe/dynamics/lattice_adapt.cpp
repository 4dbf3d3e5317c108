#include "lithe/dynamics/lattice_adapt.hpp"

#include <algorithm>
#include <cmath>

namespace lithe {
namespace {

/// Steps between two looks at the strain.
constexpr int check_interval = 10;
/// Of the size of its cells: a coefficient that may be taken out.
constexpr double negligible = 1e-3;
/// Share of a function that must be inside the body: those that barely touch it cannot be told apart there.
constexpr double least_support = 0.1;

/// |E| = |F^T F - I| / 2 at a sample.
double strain(const StrainSample& sample, const LatticeState& state)
{
    Mat3 F = Mat3::Zero();
    for (std::size_t k = 0; k < sample.functions.size(); ++k)
        if (const int f = sample.functions[k]; state.active[static_cast<std::size_t>(f)] != Inactive)
            F.noalias() += state.x.col(f) * sample.gradients.col(static_cast<Index>(k)).transpose();
    return 0.5 * (F.transpose() * F - Mat3::Identity()).norm();
}

double threshold(const LatticeSystem& system, int level)
{
    return system.model->settings.refine_strain * std::pow(2.0, level);
}

int budget(const LatticeSystem& system)
{
    const int given = system.model->settings.most_functions;
    return given > 0 ? given : 2 * static_cast<int>(system.coarse_count());
}

bool has_active(const LatticeSystem& system, const StrainSample& sample, const LatticeState& state, int level)
{
    return std::any_of(sample.functions.begin(), sample.functions.end(), [&](int f) {
        return system.functions[static_cast<std::size_t>(f)].level == level &&
               state.active[static_cast<std::size_t>(f)] == Active;
    });
}

/// It came, or began to go, not long ago.
bool is_settling(std::size_t function, const LatticeState& state)
{
    return state.steps - state.since[function] < least_stay;
}

void set_activity(int function, Activity activity, LatticeState& state)
{
    const auto f = static_cast<std::size_t>(function);
    state.active[f] = activity;
    state.since[f] = state.steps;
    state.calm[f] = 0;
}

/// The most strained samples first.
std::vector<std::pair<double, std::size_t>> strained_samples(const std::vector<double>& strains, double least)
{
    std::vector<std::pair<double, std::size_t>> out;
    for (std::size_t s = 0; s < strains.size(); ++s)
        if (strains[s] > least) out.emplace_back(-strains[s], s);
    std::sort(out.begin(), out.end());
    return out;
}

bool refine(const LatticeSystem& system, const std::vector<double>& strains, LatticeState& state)
{
    bool changed = false;
    int room = budget(system) - active_count(state);
    if (room <= 0) return false;
    for (const auto& [minus_strain, s] : strained_samples(strains, threshold(system, 0))) {
        const StrainSample& sample = system.strains[s];
        for (int level = 0; level < system.model->levels; ++level) {
            if (-minus_strain <= threshold(system, level)) break;
            if (level > 0 && !has_active(system, sample, state, level)) break;
            for (const int f : sample.functions) {
                const auto k = static_cast<std::size_t>(f);
                if (room <= 0) return changed;
                if (system.functions[k].level != level + 1 || state.active[k] == Active) continue;
                if (is_settling(k, state) || system.support[f] < least_support) continue;
                if (state.active[k] == Inactive) --room;
                set_activity(f, Active, state);
                changed = true;
            }
        }
    }
    return changed;
}

bool coarsen(const LatticeSystem& system, const std::vector<double>& strains, LatticeState& state)
{
    const auto details = state.active.begin() + system.coarse_count();
    if (std::find(details, state.active.end(), Active) == state.active.end()) return false;
    std::vector<double> most(system.functions.size(), 0.0); // over the support
    std::vector<int> finest(system.functions.size(), 0);    // level that is active there
    for (std::size_t s = 0; s < strains.size(); ++s) {
        int level = 0;
        for (const int f : system.strains[s].functions)
            if (state.active[static_cast<std::size_t>(f)] == Active)
                level = std::max(level, system.functions[static_cast<std::size_t>(f)].level);
        for (const int f : system.strains[s].functions) {
            const auto k = static_cast<std::size_t>(f);
            most[k] = std::max(most[k], strains[s]);
            finest[k] = std::max(finest[k], level);
        }
    }
    bool changed = false;
    for (std::size_t k = static_cast<std::size_t>(system.coarse_count()); k < system.functions.size(); ++k) {
        if (state.active[k] != Active) continue;
        const int level = system.functions[k].level;
        const bool needed = most[k] >= 0.5 * threshold(system, level - 1) || finest[k] > level;
        state.calm[k] = needed ? 0 : state.calm[k] + check_interval;
        if (state.calm[k] < least_stay || is_settling(k, state)) continue;
        set_activity(static_cast<int>(k), Leaving, state);
        changed = true;
    }
    return changed;
}

bool take_out(const LatticeSystem& system, LatticeState& state)
{
    if (std::find(state.active.begin(), state.active.end(), Leaving) == state.active.end()) return false;
    bool changed = false;
    for (std::size_t k = static_cast<std::size_t>(system.coarse_count()); k < system.functions.size(); ++k) {
        if (state.active[k] != Leaving) continue;
        const auto f = static_cast<Index>(k);
        if (state.x.col(f).norm() >= negligible * system.size[k]) continue;
        state.active[k] = Inactive;
        state.x.col(f).setZero();
        state.v.col(f).setZero();
        changed = true;
    }
    return changed;
}

} // namespace

int active_count(const LatticeState& state)
{
    return static_cast<int>(
        std::count_if(state.active.begin(), state.active.end(), [](char a) { return a != Inactive; }));
}

bool adapt(const LatticeSystem& system, LatticeState& state)
{
    if (system.model->levels == 0) return false;
    ++state.steps;
    bool changed = take_out(system, state);
    if (state.steps % check_interval != 0) return changed;
    std::vector<double> strains;
    for (const StrainSample& sample : system.strains) strains.push_back(strain(sample, state));
    changed |= refine(system, strains, state);
    changed |= coarsen(system, strains, state);
    return changed;
}

} // namespace lithe
