#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/geometry/mesh.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {

/// Bytes of a state, in the order in which they were written, with no gaps. Little-endian, as every machine that we
/// run on.
class StateWriter {
public:
    void write(std::int64_t value);
    void write(double value);
    void write(const std::string& text);
    void write(const Points& points);
    void write(const std::vector<int>& values);
    void write(const RigidPose& pose);

    const std::string& bytes() const { return bytes_; }

private:
    void append(const void* data, std::size_t size);
    std::string bytes_;
};

/// Reads back what StateWriter wrote, in the same order. Throws InputError when the bytes end too early, or a count is
/// not possible.
class StateReader {
public:
    explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

    std::int64_t read_integer();
    double read_number();
    std::string read_text();
    void read(Points& points); ///< of any number of columns
    void read(std::vector<int>& values);
    RigidPose read_pose();
    bool at_end() const { return bytes_.empty(); }

private:
    void take(void* data, std::size_t size);
    std::size_t read_count(std::size_t item_size);
    std::string_view bytes_;
};

} // namespace lithe
