#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lithe/core/error.hpp"

namespace lithe {

/// An index that knows what it indexes, and which life of that slot it means: an id of a removed
/// thing is never taken for the thing that came after it. Ids of different things do not convert or compare.
template <class Tag>
struct Id {
    std::uint32_t index = std::numeric_limits<std::uint32_t>::max(); ///< max means "none"
    std::uint32_t generation = 0;
    bool valid() const { return index != Id{}.index; }
    friend bool operator==(Id, Id) = default;
};

/// Owns values behind generational ids. Slots are reused, ids are not.
template <class Tag, class Value>
class IdMap {
public:
    Id<Tag> insert(Value value)
    {
        if (free_.empty()) {
            slots_.push_back({std::move(value), 0, true});
            return {static_cast<std::uint32_t>(slots_.size() - 1), 0};
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        Slot& slot = slots_[index];
        slot.value = std::move(value);
        slot.alive = true;
        return {index, slot.generation};
    }

    /// Forgets the value; its id, and every copy of it, is dead from now on.
    void erase(Id<Tag> id)
    {
        LITHE_ASSERT(contains(id));
        Slot& slot = slots_[id.index];
        slot.value = Value{};
        slot.alive = false;
        ++slot.generation;
        free_.push_back(id.index);
    }

    bool contains(Id<Tag> id) const
    {
        return id.index < slots_.size() && slots_[id.index].alive &&
               slots_[id.index].generation == id.generation;
    }
    Value& operator[](Id<Tag> id)
    {
        LITHE_ASSERT(contains(id));
        return slots_[id.index].value;
    }
    const Value& operator[](Id<Tag> id) const
    {
        LITHE_ASSERT(contains(id));
        return slots_[id.index].value;
    }
    std::size_t size() const { return slots_.size() - free_.size(); }

    /// Calls f(id, value) for every living value in the order of their slots.
    template <class F>
    void for_each(F&& f) const
    {
        for (std::uint32_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].alive) f(Id<Tag>{i, slots_[i].generation}, slots_[i].value);
    }

private:
    struct Slot {
        Value value;
        std::uint32_t generation;
        bool alive;
    };
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
};

} // namespace lithe
