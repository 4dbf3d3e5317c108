#pragma once
#include <deque>

#include "lithe/server/encode.hpp"

namespace lithe {

/// The last frames as they were sent, to look at again. Keeps at most `limit` bytes; the oldest go.
class Recording {
public:
    explicit Recording(std::size_t limit) : limit_(limit) {}

    void add(std::uint32_t number, Bytes frame)
    {
        if (frames_.empty()) first_ = number;
        bytes_ += frame->size();
        frames_.push_back(std::move(frame));
        while (bytes_ > limit_ && frames_.size() > 1) {
            bytes_ -= frames_.front()->size();
            frames_.pop_front();
            ++first_;
        }
    }
    void clear()
    {
        frames_.clear();
        bytes_ = 0;
    }
    /// Null when it is not there (any more).
    Bytes find(std::int64_t number) const
    {
        const std::int64_t k = number - std::int64_t{first_};
        return k >= 0 && k < static_cast<std::int64_t>(frames_.size()) ? frames_[static_cast<std::size_t>(k)]
                                                                       : nullptr;
    }
    std::uint32_t first() const { return first_; }
    std::size_t size() const { return frames_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t limit_;
    std::uint32_t first_ = 0; ///< number of the first frame; the others follow one by one
    std::size_t bytes_ = 0;
    std::deque<Bytes> frames_;
};

} // namespace lithe
