#include "lithe/geometry/make_shape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/core/suggest.hpp"
#include "lithe/geometry/shape_field.hpp"
#include "lithe/geometry/shapes.hpp"

#include "lithe/geometry/builtin_shapes.inc" // made from characters/*.shape: embedded_texts, by name

namespace lithe {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double default_triangles = 5000.0;

struct Parameter {
    std::string_view key;
    Vec3 value; ///< the default [m]; lengths use the first number only
    bool is_size = false;
};

struct SimpleShape {
    std::string_view name, one_line;
    std::array<Parameter, 3> parameters; ///< an empty key: none
};

constexpr std::string_view size_form = "1x0.5x0.5";

const std::array<SimpleShape, 6>& simple_shapes()
{
    static const std::array<SimpleShape, 6> shapes = {{
        {"box", "a box: size=XxYxZ", {{{"size", Vec3(1, 1, 1), true}}}},
        {"beam",
         "a box along x: length, height, width",
         {{{"length", Vec3(1, 0, 0)}, {"height", Vec3(0.1, 0, 0)}, {"width", Vec3(0.1, 0, 0)}}}},
        {"sphere", "a sphere: radius", {{{"radius", Vec3(0.5, 0, 0)}}}},
        {"capsule",
         "a cylinder with round ends: radius, length between the centres of the ends",
         {{{"radius", Vec3(0.2, 0, 0)}, {"length", Vec3(0.6, 0, 0)}}}},
        {"cylinder",
         "a cylinder: radius, length",
         {{{"radius", Vec3(0.2, 0, 0)}, {"length", Vec3(1, 0, 0)}}}},
        {"torus",
         "a ring: major radius, minor radius",
         {{{"major", Vec3(0.4, 0, 0)}, {"minor", Vec3(0.15, 0, 0)}}}},
    }};
    return shapes;
}

/// A simple shape with its sizes filled in.
struct Request {
    const SimpleShape* shape;
    std::array<Vec3, 3> values;
    double length(int i) const { return values[i][0]; }
    Vec3 box_size() const { return shape->name == "box" ? values[0] : Vec3(length(0), length(1), length(2)); }
};

[[noreturn]] void fail(std::string_view spec, const std::string& what)
{
    throw InputError(fmt::format("shape '{}': {}", spec.substr(0, 200), what));
}

double parse_length(std::string_view spec, std::string_view text)
{
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value > 0.0) || !(value <= 1e6))
        fail(spec, fmt::format("'{}' is not a length in metres between 0 and 1e6", text));
    return value;
}

Vec3 parse_size(std::string_view spec, std::string_view text)
{
    Vec3 size;
    for (int k = 0; k < 3; ++k) {
        const std::size_t stop = k < 2 ? text.find('x') : text.size();
        if (stop == text.npos) fail(spec, fmt::format("a size is three lengths, as in size={}", size_form));
        size[k] = parse_length(spec, text.substr(0, stop));
        text.remove_prefix(std::min(stop + 1, text.size()));
    }
    return size;
}

/// Reads "key=value,key=value" into the defaults.
Request parse_request(std::string_view spec, const SimpleShape& shape, std::string_view settings)
{
    Request request{&shape, {}};
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < shape.parameters.size(); ++i) {
        request.values[i] = shape.parameters[i].value;
        if (!shape.parameters[i].key.empty()) keys.emplace_back(shape.parameters[i].key);
    }
    while (!settings.empty()) {
        const std::size_t stop = std::min(settings.find(','), settings.size());
        const std::string_view setting = settings.substr(0, stop);
        settings.remove_prefix(std::min(stop + 1, settings.size()));
        const std::size_t equals = setting.find('=');
        if (equals == setting.npos)
            fail(spec, fmt::format("'{}' is not KEY=VALUE; {} takes {}", setting, shape.name,
                                   fmt::join(keys, ", ")));
        const std::string_view key = setting.substr(0, equals), value = setting.substr(equals + 1);
        const auto found = std::find(keys.begin(), keys.end(), key);
        if (found == keys.end())
            fail(spec, fmt::format("there is no '{}'{}; {} takes {}", key, did_you_mean(key, keys),
                                   shape.name, fmt::join(keys, ", ")));
        const auto i = static_cast<std::size_t>(found - keys.begin());
        request.values[i] =
            shape.parameters[i].is_size ? parse_size(spec, value) : Vec3(parse_length(spec, value), 0, 0);
    }
    return request;
}

double surface_area(const Request& request)
{
    const double a = request.length(0), b = request.length(1);
    if (request.shape->name == "sphere") return 4.0 * pi * a * a;
    if (request.shape->name == "capsule") return 4.0 * pi * a * a + 2.0 * pi * a * b;
    if (request.shape->name == "cylinder") return 2.0 * pi * a * (a + b);
    if (request.shape->name == "torus") return 4.0 * pi * pi * a * b;
    const Vec3 s = request.box_size();
    return 2.0 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]);
}

double cell_or_default(const Request& request, std::optional<double> cell)
{
    return cell ? *cell : std::sqrt(surface_area(request) / (0.45 * default_triangles));
}

TriangleMesh make(const Request& request, double cell)
{
    const std::string_view name = request.shape->name;
    if (name == "sphere") return make_sphere(request.length(0), cell);
    if (name == "capsule") return make_capsule(request.length(0), request.length(1), cell);
    if (name == "cylinder") return make_cylinder(request.length(0), request.length(1), cell);
    if (name == "torus") return make_torus(request.length(0), request.length(1), cell);
    return make_box(request.box_size(), cell);
}

std::optional<Request> find_simple(std::string_view spec)
{
    const std::string_view name = spec.substr(0, spec.find(':'));
    for (const SimpleShape& shape : simple_shapes())
        if (shape.name == name)
            return parse_request(spec, shape, name.size() == spec.size() ? "" : spec.substr(name.size() + 1));
    return std::nullopt;
}

[[noreturn]] void fail_unknown(std::string_view spec)
{
    std::vector<std::string> names;
    for (const SimpleShape& shape : simple_shapes()) names.emplace_back(shape.name);
    for (const BuiltinShape& shape : builtin_shapes()) names.emplace_back(shape.name);
    const std::string_view name = spec.substr(0, spec.find(':'));
    fail(spec, fmt::format("there is no such shape{}; known are {}, and files that end in .shape",
                           did_you_mean(name, names), fmt::join(names, ", ")));
}

} // namespace

std::span<const BuiltinShape> builtin_shapes()
{
    static const std::vector<BuiltinShape> shapes = [] {
        std::vector<BuiltinShape> result;
        for (const auto& [name, text] : embedded_texts) { // the first line is "# what it is"
            const std::string_view all = text;
            result.push_back({name, all.substr(2, all.find('\n') - 2), all});
        }
        return result;
    }();
    return shapes;
}

std::optional<ShapeModel> find_shape_model(std::string_view spec)
{
    for (const BuiltinShape& shape : builtin_shapes())
        if (shape.name == spec) return parse_shape(shape.text, fmt::format("{}.shape", shape.name));
    if (spec.ends_with(".shape")) return read_shape(std::filesystem::path(spec));
    return std::nullopt;
}

TriangleMesh make_shape(std::string_view spec, std::optional<double> cell, Progress& progress)
{
    if (cell) require_positive("cell", *cell);
    if (const auto model = find_shape_model(spec))
        return shape_surface(*model, cell ? *cell : default_cell(*model), progress);
    if (const auto request = find_simple(spec)) return make(*request, cell_or_default(*request, cell));
    fail_unknown(spec);
}

std::optional<TetMesh> make_shape_tets(std::string_view spec, std::optional<double> cell)
{
    const auto request = find_simple(spec);
    if (!request || (request->shape->name != "box" && request->shape->name != "beam")) return std::nullopt;
    return make_box_tets(request->box_size(), cell_or_default(*request, cell));
}

std::optional<RigidShape> find_rigid_shape(std::string_view spec)
{
    if (spec == "plane") return PlaneShape{};
    const auto request = find_simple(spec);
    if (!request) return std::nullopt;
    const std::string_view name = request->shape->name;
    if (name == "sphere") return SphereShape{request->length(0)};
    if (name == "capsule") return CapsuleShape{request->length(0), request->length(1)};
    if (name == "cylinder") return CylinderShape{request->length(0), request->length(1)};
    if (name == "box" || name == "beam") return BoxShape{request->box_size()};
    return std::nullopt;
}

std::string list_shapes()
{
    std::string text;
    for (const BuiltinShape& shape : builtin_shapes())
        text += fmt::format("{:10}{}\n", shape.name, shape.one_line);
    for (const SimpleShape& shape : simple_shapes())
        text += fmt::format("{:10}{}\n", shape.name, shape.one_line);
    return text + fmt::format("{:10}{}\n", "FILE.shape", " a file of your own in the modelling language");
}

} // namespace lithe
