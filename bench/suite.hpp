#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/core/progress.hpp"
#include "lithe/core/timer.hpp"

namespace lithe::bench {

/// Median and spread over the runs of one measurement.
struct Timing {
    double median, fastest, slowest; ///< [s]
    int runs;
};

/// Another way to the same answer, measured in the same run.
struct Peer {
    std::string name;
    double value; ///< in the unit of the result
};

struct Result {
    std::string name;
    double value;
    std::string unit;
    std::string note; ///< what was measured, on what, and what bounds it
    double low, high; ///< spread over the runs, in the unit of the value
    int runs;
    std::optional<Peer> peer = {};
};

struct SuiteReport {
    std::vector<Result> results;
    std::vector<std::string> skipped; ///< what was not measured, and why
};

struct Suite {
    std::string name;
    std::string what;
    SuiteReport (*run)(Progress& progress);
};

/// All suites, in the order of the rooms.
std::span<const Suite> suites();

SuiteReport bench_math(Progress& progress);
SuiteReport bench_geometry(Progress& progress);
SuiteReport bench_rig(Progress& progress);
SuiteReport bench_fem(Progress& progress);
SuiteReport bench_reduce(Progress& progress);
SuiteReport bench_lattice(Progress& progress);
SuiteReport bench_momentum(Progress& progress);
SuiteReport bench_meshing(Progress& progress);
SuiteReport bench_render(Progress& progress);

/// How long a character of 20k triangles takes to get its lattice; of the suite "lattice".
Result lattice_preparation(Progress& progress);

/// The tets of armadillo_52k, which belong to two suites.
void bench_tets(SuiteReport& report, Progress& progress);

/// The median of numbers that were measured, and the spread.
inline Timing summary(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return {values[values.size() / 2], values.front(), values.back(), static_cast<int>(values.size())};
}

template <class Work>
double seconds_of(const Work& work)
{
    const Stopwatch watch;
    work();
    return watch.seconds();
}

/// Calls `work` once to warm up and `runs` times on the clock.
template <class Work>
Timing measure(int runs, Progress& progress, const Work& work)
{
    std::vector<double> seconds;
    for (int i = -1; i < runs; ++i) {
        progress.check();
        const double taken = seconds_of(work);
        if (i >= 0) seconds.push_back(taken);
    }
    return summary(std::move(seconds));
}

/// How many times as long one thing takes as another, in turns, so that a busy machine slows down both. They return their seconds.
template <class Work, class Other>
Timing measure_ratio(int runs, Progress& progress, const Work& work, const Other& other)
{
    std::vector<double> ratios;
    for (int i = -1; i < runs; ++i) {
        progress.check();
        const double taken = work();
        const double by_other = other();
        if (i >= 0) ratios.push_back(taken / by_other);
    }
    return summary(std::move(ratios));
}

/// A result whose value is the time of `timing` times `per` (1e6 / count for microseconds an item).
inline Result result(std::string name, const Timing& timing, double per, std::string unit, std::string note)
{
    return {std::move(name),      per * timing.median,  std::move(unit), std::move(note),
            per * timing.fastest, per * timing.slowest, timing.runs};
}

/// A file of the optional data set (LITHE_DATA, in the environment or as configured), or empty.
std::string data_file(const std::string& name);

} // namespace lithe::bench
