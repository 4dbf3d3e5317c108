#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lithe {

/// Seconds since it was made or restarted.
class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void restart() { start_ = Clock::now(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Where the time went, by stage, in the order in which the stages first ran.
class StageTimes {
public:
    struct Stage {
        std::string name;
        double seconds = 0.0;
        std::int64_t calls = 0;
    };

    /// Adds the life of this object to its stage.
    class Scope {
    public:
        Scope(StageTimes& times, std::string_view name) : times_(times), index_(times.index_of(name)) {}
        ~Scope() { times_.add(index_, watch_.seconds()); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        StageTimes& times_;
        std::size_t index_;
        Stopwatch watch_;
    };

    [[nodiscard]] Scope measure(std::string_view name) { return Scope(*this, name); }
    const std::vector<Stage>& stages() const { return stages_; }
    double total() const;

private:
    std::size_t index_of(std::string_view name);
    void add(std::size_t index, double seconds);
    std::vector<Stage> stages_;
};

} // namespace lithe
