#pragma once
#include <cstdint>
#include <mutex>
#include <utility>

#include <hdf5.h>

#include "lithe/archive/data.hpp"

/// What writer and reader share of the C library; only the .cpp files of this room include it.
namespace lithe::hdf5 {

/// While one lives, this thread alone of ours is in the library, and the library does not print its errors.
class Session {
public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

private:
    std::scoped_lock<std::mutex> lock_;
    H5E_auto2_t print_ = nullptr;
    void* print_data_ = nullptr;
};

/// Owns an id of the library; below 0 means that the call which gave it failed.
class Handle {
public:
    using Close = herr_t (*)(hid_t);
    Handle() = default;
    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle()
    {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }
    hid_t release() { return std::exchange(id_, -1); }
    bool valid() const { return id_ >= 0; }

private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

/// The type of numbers in the file: little-endian, which is also ours in memory.
hid_t number_type(ElementType type);

/// Properties of links whose names are UTF-8.
Handle utf8_names();

/// A name for a file in memory. The library takes files of one name for one file, so each owner has its own, which
/// no file on a disk can have.
std::string memory_name(const void* owner);

/// Texts of a fixed width, padded with zeros.
Handle text_type(std::size_t width);

} // namespace lithe::hdf5
