#include "lithe/body/state.hpp"

#include <bit>
#include <cstring>

#include "lithe/core/error.hpp"

namespace lithe {

static_assert(std::endian::native == std::endian::little, "state bytes are written as they are in memory");

void StateWriter::append(const void* data, std::size_t size)
{
    bytes_.append(static_cast<const char*>(data), size);
}

void StateWriter::write(std::int64_t value)
{
    append(&value, sizeof value);
}

void StateWriter::write(double value)
{
    append(&value, sizeof value);
}

void StateWriter::write(const std::string& text)
{
    write(static_cast<std::int64_t>(text.size()));
    append(text.data(), text.size());
}

void StateWriter::write(const Points& points)
{
    write(static_cast<std::int64_t>(points.cols()));
    append(points.data(), sizeof(double) * static_cast<std::size_t>(points.size()));
}

void StateWriter::write(const std::vector<int>& values)
{
    write(static_cast<std::int64_t>(values.size()));
    append(values.data(), sizeof(int) * values.size());
}

void StateWriter::write(const RigidPose& pose)
{
    append(pose.rotation.coeffs().data(), 4 * sizeof(double));
    append(pose.translation.data(), 3 * sizeof(double));
}

void StateReader::take(void* data, std::size_t size)
{
    if (bytes_.size() < size) throw InputError("the state ends too early; the file is damaged");
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
}

std::size_t StateReader::read_count(std::size_t item_size)
{
    const std::int64_t count = read_integer();
    if (count < 0 || static_cast<std::uint64_t>(count) > bytes_.size() / item_size)
        throw InputError("the state speaks of " + std::to_string(count) +
                         " items, more than it has bytes for; the file is damaged");
    return static_cast<std::size_t>(count);
}

std::int64_t StateReader::read_integer()
{
    std::int64_t value = 0;
    take(&value, sizeof value);
    return value;
}

double StateReader::read_number()
{
    double value = 0.0;
    take(&value, sizeof value);
    return value;
}

std::string StateReader::read_text()
{
    std::string text(read_count(1), '\0');
    take(text.data(), text.size());
    return text;
}

void StateReader::read(Points& points)
{
    points.resize(3, static_cast<Index>(read_count(3 * sizeof(double))));
    take(points.data(), sizeof(double) * static_cast<std::size_t>(points.size()));
}

void StateReader::read(std::vector<int>& values)
{
    values.resize(read_count(sizeof(int)));
    take(values.data(), sizeof(int) * values.size());
}

RigidPose StateReader::read_pose()
{
    RigidPose pose;
    take(pose.rotation.coeffs().data(), 4 * sizeof(double));
    take(pose.translation.data(), 3 * sizeof(double));
    return pose;
}

} // namespace lithe
