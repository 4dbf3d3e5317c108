#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "lithe/math/types.hpp"

namespace lithe {

/// What server and page say to each other is described once, in viewer/protocol.json, which is compiled in. Commands are
/// checked against it here; tests hold the encoders of frames, and the page's decoders, against it.
const nlohmann::json& protocol();

enum class BinaryKind : std::uint32_t { Frame = 1, Body = 2, Overlays = 3 };
/// How a body's surface travels.
enum class BodyForm : std::uint32_t {
    Rigid = 0,    ///< a frame
    Bones = 1,    ///< frames and weights of shapes; the shapes are sent once
    Positions = 2 ///< all vertices, 16 bits per coordinate in the box around them
};

/// What a page asks for: a name of protocol()["commands"] with just the fields that stand there, in their ranges.
struct Command {
    std::string name;
    nlohmann::json fields;

    double number(const char* field) const { return fields.at(field).get<double>(); }
    std::int64_t integer(const char* field) const { return fields.at(field).get<std::int64_t>(); }
    bool flag(const char* field) const { return fields.at(field).get<bool>(); }
    std::string text(const char* field) const { return fields.at(field).get<std::string>(); }
    Vec3 point(const char* field) const;
};

nlohmann::json vector_json(const Vec3& v);            ///< three numbers
std::string json_text(const nlohmann::json& message); ///< with what is no UTF-8 replaced

/// Reads `{"do": NAME, ...}`. Throws InputError for everything else, whatever the bytes.
Command parse_command(std::string_view text);

} // namespace lithe
