#include "lithe/core/timer.hpp"

namespace lithe {

double StageTimes::total() const
{
    double sum = 0.0;
    for (const Stage& stage : stages_) sum += stage.seconds;
    return sum;
}

std::size_t StageTimes::index_of(std::string_view name)
{
    for (std::size_t i = 0; i < stages_.size(); ++i)
        if (stages_[i].name == name) return i;
    stages_.push_back({std::string(name)});
    return stages_.size() - 1;
}

void StageTimes::add(std::size_t index, double seconds)
{
    stages_[index].seconds += seconds;
    ++stages_[index].calls;
}

} // namespace lithe
