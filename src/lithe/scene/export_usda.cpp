// USD as text: a Mesh per body, its points (or the transform of a rigid body) sampled at every frame.
#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/version.hpp"
#include "lithe/math/color.hpp"
#include "lithe/scene/export_creases.hpp"
#include "lithe/scene/export_recording.hpp"

namespace lithe::exporting {
namespace {

/// In quotes, with what would end them escaped.
std::string in_quotes(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + '"';
}

void append_vector(const Eigen::Vector3f& v, std::string& out)
{
    fmt::format_to(std::back_inserter(out), "({}, {}, {})", v[0], v[1], v[2]);
}

std::string vectors(const Eigen::Matrix3Xf& columns)
{
    std::string out = "[";
    for (Index i = 0; i < columns.cols(); ++i) {
        if (i > 0) out += ", ";
        append_vector(columns.col(i), out);
    }
    return out + ']';
}

std::string integers(const Triangles& triangles)
{
    std::string out = "[";
    for (Index i = 0; i < triangles.size(); ++i) {
        if (i > 0) out += ", ";
        out += std::to_string(triangles.data()[i]);
    }
    return out + ']';
}

std::string extent(const Points3f& x)
{
    Eigen::Matrix3Xf ends(3, 2);
    ends << x.rowwise().minCoeff(), x.rowwise().maxCoeff();
    return vectors(ends);
}

class UsdaExporter : public RecordingSink {
public:
    explicit UsdaExporter(const Path& target) : file_(target) {}

private:
    void write() override
    {
        const Recording& all = recording();
        file_.write(fmt::format(
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = \"Lithe {}\"\n    endTimeCode = {}\n"
            "    metersPerUnit = 1\n    startTimeCode = {}\n    timeCodesPerSecond = {}\n    upAxis = "
            "\"Y\"\n)\n\n"
            "def Xform \"World\"\n{{\n",
            LITHE_VERSION, all.numbers.back(), all.numbers.front(), all.fps));
        for (std::size_t b = 0; b < all.bodies.size(); ++b) write_body(all.bodies[b], all.names[b]);
        file_.write("}\n");
        file_.commit();
    }

    void write_body(const RecordedBody& body, const std::string& name)
    {
        const CreasedSurface creased = split_at_creases(body.shown.surface);
        file_.write("    def Mesh " + in_quotes(name));
        if (name != body.shown.name) file_.write(" (displayName = " + in_quotes(body.shown.name) + ")");
        file_.write("\n    {\n");
        write_topology(body.shown.surface.triangles, creased);
        write_color(body.shown);
        if (body.deforms())
            write_samples(body, creased);
        else
            write_rigid(body, creased);
        file_.write("    }\n");
    }

    void line(const std::string& text) { file_.write("        " + text + "\n"); }

    void write_topology(const Triangles& triangles, const CreasedSurface& creased)
    {
        std::string threes = "[";
        for (Index t = 0; t < triangles.cols(); ++t) threes += t > 0 ? ", 3" : "3";
        line("uniform token subdivisionScheme = \"none\"");
        line("int[] faceVertexCounts = " + threes + "]");
        line("int[] faceVertexIndices = " + integers(triangles));
        line("int[] primvars:normals:indices = " + integers(creased.triangles));
    }

    /// The colours of USD are linear.
    void write_color(const Shown& shown)
    {
        const VertexField* field = find_color(shown.surface.fields);
        Eigen::Matrix3Xf colors(3, field ? shown.surface.vertex_count() : 1);
        for (Index v = 0; v < colors.cols(); ++v)
            colors.col(v) = linear_from_srgb(field ? Vec3(field->values.col(v)) : shown.color).cast<float>();
        line(fmt::format("color3f[] primvars:displayColor = {} (interpolation = \"{}\")", vectors(colors),
                         field ? "vertex" : "constant"));
    }

    /// `name` with one value per frame.
    template <class Value>
    void write_sampled(const std::string& name, const Value& value)
    {
        line(name + ".timeSamples = {");
        for (std::size_t f = 0; f < recording().frame_count(); ++f)
            line(fmt::format("    {}: {},", recording().numbers[f], value(f)));
        line("}");
    }

    void write_samples(const RecordedBody& body, const CreasedSurface& creased)
    {
        write_sampled("point3f[] points", [&](std::size_t f) { return vectors(world_positions(body, f)); });
        write_sampled("float3[] extent", [&](std::size_t f) { return extent(world_positions(body, f)); });
        line("normal3f[] primvars:normals (interpolation = \"faceVarying\")");
        write_sampled("normal3f[] primvars:normals", [&](std::size_t f) {
            return vectors(crease_normals(creased, world_positions(body, f)));
        });
    }

    void write_rigid(const RecordedBody& body, const CreasedSurface& creased)
    {
        const Points3f X = body.shown.surface.vertices.cast<float>();
        line("point3f[] points = " + vectors(X));
        line("float3[] extent = " + extent(X));
        line("normal3f[] primvars:normals = " + vectors(crease_normals(creased, X)) +
             " (interpolation = \"faceVarying\")");
        const auto translate = [&](std::size_t f) {
            const Vec3& t = body.poses[f].translation;
            return fmt::format("({}, {}, {})", t[0], t[1], t[2]);
        };
        const auto orient = [&](std::size_t f) {
            const Quat& q = body.poses[f].rotation;
            return fmt::format("({}, {}, {}, {})", q.w(), q.x(), q.y(), q.z());
        };
        if (moves(body.poses)) {
            write_sampled("double3 xformOp:translate", translate);
            write_sampled("quatd xformOp:orient", orient);
        } else {
            line("double3 xformOp:translate = " + translate(0));
            line("quatd xformOp:orient = " + orient(0));
        }
        line("uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]");
    }

    AtomicFile file_;
};

} // namespace

std::unique_ptr<FrameSink> make_usda_exporter(const Path& target)
{
    return std::make_unique<UsdaExporter>(target);
}

} // namespace lithe::exporting
