#pragma once
#include <memory>
#include <mutex>

#include "lithe/world/coupling.hpp"

namespace lithe {

/// Couplings for short use on any thread, taken and given back: few of them serve many groups of bodies one after the other, and
/// what they fill stays near. Which of them serves whom makes no difference.
class CouplingPool {
public:
    /// f(coupling), of whatever was in it before.
    void lend(const auto& f)
    {
        std::unique_ptr<Coupling> coupling = take();
        f(*coupling);
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(coupling));
    }

private:
    std::unique_ptr<Coupling> take()
    {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return std::make_unique<Coupling>();
        std::unique_ptr<Coupling> coupling = std::move(free_.back());
        free_.pop_back();
        return coupling;
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Coupling>> free_;
};

} // namespace lithe
