#pragma once
#include <deque>

#include "lithe/server/encode.hpp"

namespace lithe {

/// The last frames as they were sent, to look at again, each with the state of its world, to go on from. Keeps at most `limit` bytes of
/// frames, and as many of states; the oldest go.
class Recording {
public:
    explicit Recording(std::size_t limit) : limit_(limit) {}

    void add(std::uint32_t number, Bytes frame, std::string state)
    {
        if (entries_.empty()) first_ = number;
        bytes_ += frame->size();
        state_bytes_ += state.size();
        entries_.push_back({std::move(frame), std::move(state)});
        while (state_bytes_ > limit_ && first_state_ + 1 < entries_.size())
            drop_state(entries_[first_state_++]);
        while (bytes_ > limit_ && entries_.size() > 1) drop_first();
    }
    /// Those behind a frame.
    void forget_after(std::uint32_t number)
    {
        while (!entries_.empty() && first_ + entries_.size() - 1 > number) {
            bytes_ -= entries_.back().frame->size();
            drop_state(entries_.back());
            entries_.pop_back();
        }
        first_state_ = std::min(first_state_, entries_.size());
    }
    void clear()
    {
        entries_.clear();
        bytes_ = state_bytes_ = first_state_ = 0;
    }
    /// Null when it is not there (any more).
    Bytes find(std::int64_t number) const
    {
        const Entry* entry = at(number);
        return entry ? entry->frame : nullptr;
    }
    /// Null when it is not kept (any more).
    const std::string* state(std::int64_t number) const
    {
        const Entry* entry = at(number);
        return entry && !entry->state.empty() ? &entry->state : nullptr;
    }
    std::uint32_t first() const { return first_; }
    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_ + state_bytes_; }

private:
    struct Entry {
        Bytes frame;
        std::string state; ///< empty once there was no room for it
    };
    const Entry* at(std::int64_t number) const
    {
        const std::int64_t k = number - std::int64_t{first_};
        return k >= 0 && k < std::ssize(entries_) ? &entries_[static_cast<std::size_t>(k)] : nullptr;
    }
    void drop_state(Entry& entry)
    {
        state_bytes_ -= entry.state.size();
        entry.state = std::string();
    }
    void drop_first()
    {
        bytes_ -= entries_.front().frame->size();
        drop_state(entries_.front());
        entries_.pop_front();
        ++first_;
        if (first_state_ > 0) --first_state_;
    }

    std::size_t limit_;
    std::uint32_t first_ = 0; ///< number of the first frame; the others follow one by one
    std::size_t bytes_ = 0, state_bytes_ = 0;
    std::size_t first_state_ = 0; ///< entries before it have none any more
    std::deque<Entry> entries_;
};

} // namespace lithe
