#include "lithe/core/progress.hpp"

#include <algorithm>
#include <cmath>

#include <unistd.h>

#include "lithe/core/error.hpp"

namespace lithe {

void Progress::begin(std::string_view stage, std::int64_t total)
{
    check();
    std::lock_guard lock(mutex_);
    stage_ = stage;
    total_ = std::max<std::int64_t>(total, 1);
    done_ = 0;
    percent_ = 0;
    if (sink_) sink_({stage_, 0.0});
}

void Progress::advance(std::int64_t steps)
{
    check();
    if (!sink_) return;
    const std::int64_t done = done_.fetch_add(steps) + steps;
    const int percent = static_cast<int>(std::min<std::int64_t>(100, 100 * done / total_));
    if (percent <= percent_.load()) return;
    std::lock_guard lock(mutex_);
    if (percent <= percent_.load()) return;
    percent_ = percent;
    sink_({stage_, percent / 100.0});
}

void Progress::end()
{
    std::lock_guard lock(mutex_);
    if (sink_ && percent_ < 100) sink_({stage_, 1.0});
    percent_ = 100;
}

void Progress::check() const
{
    if (stop_.stop_requested()) throw Interrupted();
}

ProgressPrinter::Style ProgressPrinter::style_for(std::FILE* stream)
{
    return isatty(fileno(stream)) ? Style::Bar : Style::Lines;
}

void ProgressPrinter::operator()(const ProgressEvent& event)
{
    if (event.stage != stage_ || event.fraction == 0.0) {
        stage_ = event.stage;
        start_ = Clock::now();
        quarter_ = 0;
        bar_shown_ = false;
    }
    const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
    if (style_ == Style::Bar)
        print_bar(event, elapsed);
    else
        print_line(event, elapsed);
}

void ProgressPrinter::print_bar(const ProgressEvent& event, double elapsed)
{
    constexpr int width = 30;
    if (elapsed < 0.3 && !bar_shown_) return; // short stages would only flicker
    bar_shown_ = true;
    const int filled = static_cast<int>(std::lround(width * event.fraction));
    const std::string left = event.fraction > 0.0 && event.fraction < 1.0
                                 ? format_duration(elapsed * (1.0 / event.fraction - 1.0)) + " left"
                                 : format_duration(elapsed);
    std::fprintf(stream_, "\r\033[K%-24s [%s%s] %3.0f %%  %s", stage_.c_str(),
                 std::string(filled, '#').c_str(), std::string(width - filled, '.').c_str(),
                 100.0 * event.fraction, left.c_str());
    if (event.fraction >= 1.0) std::fputc('\n', stream_);
    std::fflush(stream_);
}

void ProgressPrinter::print_line(const ProgressEvent& event, double elapsed)
{
    const int quarter = static_cast<int>(4.0 * event.fraction);
    if (quarter <= quarter_ || elapsed < 1.0) return;
    quarter_ = quarter;
    const std::string left =
        quarter < 4 ? ", " + format_duration(elapsed * (1.0 / event.fraction - 1.0)) + " left" : "";
    std::fprintf(stream_, "%s: %.0f %% after %s%s\n", stage_.c_str(), 100.0 * event.fraction,
                 format_duration(elapsed).c_str(), left.c_str());
    std::fflush(stream_);
}

std::string format_duration(double seconds)
{
    const auto total = static_cast<long long>(std::llround(std::max(0.0, seconds)));
    if (total < 60) return std::to_string(total) + " s";
    if (total < 3600) return std::to_string(total / 60) + " min " + std::to_string(total % 60) + " s";
    return std::to_string(total / 3600) + " h " + std::to_string(total % 3600 / 60) + " min";
}

} // namespace lithe
