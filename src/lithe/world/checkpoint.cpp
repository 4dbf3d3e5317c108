#include "lithe/world/checkpoint.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/hash.hpp"

namespace lithe {
namespace {

struct Header {
    char name[8] = {'L', 'i', 't', 'h', 'e', 'C', 'k', 'p'};
    std::uint64_t version = 2;
    std::uint64_t length = 0; ///< of the rest [bytes]
    std::uint64_t hash = 0;   ///< of the rest
    std::uint64_t inputs = 0;
};
static_assert(sizeof(Header) == 40);

std::string read_bytes(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    if (!in) throw InputError({.file = file}, "the checkpoint cannot be opened");
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The state behind a header that fits.
std::string_view checked_state(const std::string& bytes, const std::filesystem::path& file,
                               std::uint64_t inputs)
{
    Header header;
    const Header expected;
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), expected.name, sizeof expected.name) != 0)
        throw InputError({.file = file}, "is not a checkpoint of Lithe");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.version != expected.version)
        throw InputError({.file = file}, "is a checkpoint of version " + std::to_string(header.version) +
                                             ", but this program reads version " +
                                             std::to_string(expected.version));
    const std::string_view state = std::string_view(bytes).substr(sizeof header);
    if (state.size() != header.length || hash_bytes(state) != header.hash)
        throw InputError({.file = file},
                         "the checkpoint is damaged (its length or hash is not what it says)");
    if (header.inputs != inputs)
        throw InputError({.file = file},
                         "the checkpoint is of another scene, or the scene or its meshes were changed "
                         "since; run without --resume");
    return state;
}

} // namespace

void write_checkpoint(const std::filesystem::path& file, const World& world, const CheckpointInfo& info)
{
    StateWriter state;
    state.write(std::int64_t{info.frame});
    world.save(state);
    const Header header{
        .length = state.bytes().size(), .hash = hash_bytes(state.bytes()), .inputs = info.inputs};
    AtomicFile out(file);
    out.write(std::string_view(reinterpret_cast<const char*>(&header), sizeof header));
    out.write(state.bytes());
    out.commit();
}

int read_checkpoint(const std::filesystem::path& file, std::uint64_t inputs, World& world)
{
    const std::string bytes = read_bytes(file);
    StateReader state(checked_state(bytes, file, inputs));
    const auto frame = static_cast<int>(state.read_integer());
    world.restore(state);
    return frame;
}

} // namespace lithe
