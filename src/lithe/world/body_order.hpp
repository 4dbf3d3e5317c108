#pragma once
#include <span>
#include <vector>

#include "lithe/body/body.hpp"

namespace lithe {

/// The bodies of a world in the order of their slots: as numbers of a step, and of a saved state.
class BodyOrder {
public:
    void clear() { ids_.clear(); }
    /// Of a slot behind all others.
    void add(BodyId id)
    {
        if (numbers_.size() <= id.index) numbers_.resize(id.index + std::size_t{1});
        numbers_[id.index] = static_cast<int>(ids_.size());
        ids_.push_back(id);
    }

    std::span<const BodyId> ids() const { return ids_; }
    BodyId id(int number) const { return ids_[static_cast<std::size_t>(number)]; }
    bool contains(BodyId id) const
    {
        return id.index < numbers_.size() && !ids_.empty() && this->id(number(id)) == id;
    }
    int number(BodyId id) const { return numbers_[id.index]; } ///< of a body that is here
    std::span<const int> numbers() const { return numbers_; }  ///< by slot

    /// The number of a body.
    void write(BodyId id, StateWriter& out) const { out.write(std::int64_t{number(id)}); }
    BodyId read(StateReader& in) const
    {
        const std::int64_t number = in.read_integer();
        if (number < 0 || number >= static_cast<std::int64_t>(ids_.size()))
            throw InputError("the saved state names a body that is not there");
        return id(static_cast<int>(number));
    }

private:
    std::vector<BodyId> ids_;
    std::vector<int> numbers_;
};

} // namespace lithe
