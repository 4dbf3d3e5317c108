#include "lithe/geometry/control_lattice_io.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/geometry/lattice_cells.hpp"

namespace lithe {
namespace {

struct Line {
    std::string_view rest;
    Place place;

    std::string_view word()
    {
        const auto begin = rest.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return rest = {};
        const auto end = std::min(rest.find_first_of(" \t\r", begin), rest.size());
        const std::string_view out = rest.substr(begin, end - begin);
        rest = rest.substr(end);
        return out;
    }

    template <class T>
    std::optional<T> number()
    {
        const std::string_view before = rest, text = word();
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return value;
        rest = before;
        return std::nullopt;
    }

    template <class T>
    T needed(std::string_view what)
    {
        if (const auto value = number<T>()) return *value;
        throw InputError(place, fmt::format("expected {}, found '{}'", what, word()));
    }

    void finish()
    {
        if (const std::string_view more = word(); !more.empty())
            throw InputError(place, fmt::format("'{}' is more than this line takes", more));
    }
};

Vec3 vertex_of(Line& line)
{
    Vec3 x;
    for (int k = 0; k < 3; ++k) {
        x[k] = line.needed<double>("three coordinates");
        if (!std::isfinite(x[k])) throw InputError(line.place, "a coordinate is not finite");
    }
    line.finish();
    return x;
}

LatticeCell cell_of(Line& line, LatticeCellKind kind)
{
    LatticeCell cell{kind, {-1, -1, -1, -1, -1, -1, -1, -1}};
    const int corners = topology(kind).corner_count;
    for (int k = 0; k < corners; ++k)
        cell.vertices[static_cast<std::size_t>(k)] = line.needed<int>(fmt::format("{} vertices", corners));
    line.finish();
    return cell;
}

LatticeBone bone_of(Line& line)
{
    LatticeBone bone;
    while (const auto vertex = line.number<int>()) bone.vertices.push_back(*vertex);
    const auto begin = std::min(line.rest.find_first_not_of(" \t\r"), line.rest.size());
    const auto end = line.rest.find_last_not_of(" \t\r");
    bone.name = std::string(line.rest.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
    if (bone.vertices.size() < 2) throw InputError(line.place, "a bone needs two vertices or more");
    if (bone.name.empty())
        throw InputError(line.place, "a bone needs the name of its joint behind its vertices");
    return bone;
}

void read_line(Line line, ControlLattice& out)
{
    const std::string_view word = line.word();
    if (word.empty()) return;
    if (word == "vertex")
        out.vertices.push_back(vertex_of(line));
    else if (word == "tet")
        out.cells.push_back(cell_of(line, LatticeCellKind::Tet));
    else if (word == "prism")
        out.cells.push_back(cell_of(line, LatticeCellKind::Prism));
    else if (word == "hex")
        out.cells.push_back(cell_of(line, LatticeCellKind::Hex));
    else if (word == "bone")
        out.bones.push_back(bone_of(line));
    else
        throw InputError(line.place, fmt::format("'{}' is not known here; a line begins with vertex, tet, "
                                                 "prism, hex or bone",
                                                 word));
}

std::string_view name_of(LatticeCellKind kind)
{
    return kind == LatticeCellKind::Tet ? "tet" : kind == LatticeCellKind::Prism ? "prism" : "hex";
}

} // namespace

ControlLattice parse_lattice(std::string_view text, const std::filesystem::path& name)
{
    ControlLattice out;
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        read_line({line.substr(0, line.find('#')), {.file = name, .line = number}}, out);
    }
    if (out.cells.empty())
        throw InputError({.file = name},
                         "there is no cell in it; write 'tet 0 1 2 3' for one (docs/lattice.md)");
    return out;
}

ControlLattice read_lattice(const std::filesystem::path& file)
{
    return parse_lattice(io::read_bytes(file), file);
}

std::string lattice_text(const ControlLattice& lattice)
{
    std::string out;
    for (const Vec3& x : lattice.vertices) out += fmt::format("vertex {} {} {}\n", x[0], x[1], x[2]);
    for (const LatticeCell& cell : lattice.cells) {
        out += name_of(cell.kind);
        for (const int v : cell.vertices)
            if (v >= 0) out += fmt::format(" {}", v);
        out += '\n';
    }
    for (const LatticeBone& bone : lattice.bones) {
        out += "bone";
        for (const int v : bone.vertices) out += fmt::format(" {}", v);
        out += fmt::format(" {}\n", bone.name);
    }
    return out;
}

} // namespace lithe
