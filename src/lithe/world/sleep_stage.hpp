#pragma once
#include <span>
#include <utility>
#include <vector>

#include "lithe/core/union_find.hpp"
#include "lithe/world/body_order.hpp"

namespace lithe {

struct SleepOptions {
    bool enabled = false;
    /// A body rests when it is slower than this share of sqrt(g size): than one that has fallen by a five thousandth of its size.
    /// So tall towers and grains, the moon and the earth rest alike; without gravity nothing does. > 0
    double speed = 0.02;
    double seconds = 0.5; ///< that all bodies of an island have to rest before it sleeps [s], > 0
};

/// Lets bodies sleep that rest. Those that touch or are jointed form an island, which falls asleep and wakes as one.
/// Asleep, bodies are as good as obstacles: they take no step, and among themselves nothing is looked for.
class SleepStage {
public:
    explicit SleepStage(const SleepOptions& options = {}); ///< Throws InputError for numbers out of range.
    bool enabled() const { return options_.enabled; }

    void add(BodyId id, const Body& body);

    /// A step as it ended. `links` are numbers of bodies that push or hold each other.
    struct Step {
        std::span<Body* const> bodies;
        const BodyOrder& order;
        std::span<const std::pair<int, int>> links;
        double gravity; ///< its size [m/s^2]
        double h;       ///< [s]
    };
    void end_step(const Step& step);

    /// The bodies that sleep with this one, itself too; none when it is awake.
    void island_of(BodyId id, const BodyOrder& order, std::vector<BodyId>& out) const;
    /// It has to rest anew before it sleeps.
    void disturb(BodyId id);

    void save(const BodyOrder& order, StateWriter& out) const;
    void restore(const BodyOrder& order, StateReader& in);

private:
    struct Rest {
        double size = 0.0;  ///< of the body [m]
        double quiet = 0.0; ///< for so long it has been slow [s]
        BodyId island = {}; ///< the first body of its island, while it sleeps
    };
    const Rest& rest(BodyId id) const { return rests_[id.index]; }

    SleepOptions options_;
    std::vector<Rest> rests_;   ///< by slot
    UnionFind islands_;         ///< of the bodies of a step
    std::vector<double> quiet_; ///< of the islands of a step, by root [s]
};

} // namespace lithe
