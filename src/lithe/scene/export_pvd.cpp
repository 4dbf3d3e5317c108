// ParaView's collection: a list of times and files, and a folder with a .vtu per body and frame.
#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/scene/export_folder.hpp"

namespace lithe::exporting {
namespace {

/// For an attribute in double quotes.
std::string xml_text(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

/// The folder of NAME.pvd is NAME.
Path folder_of(const Path& target)
{
    return Path(target).replace_extension();
}

/// A body's mesh, tets where it has them, and where its vertices are before anything moves.
struct Part {
    Shown shown;
    MeshFile mesh;
    Points start = {}; ///< at rest, as placed in the first frame [m]

    bool solid() const { return shown.volume.tet_count() > 0; }
    const Points& rest() const { return solid() ? shown.volume.vertices : shown.surface.vertices; }
    Points now(const Published& body) const
    {
        return solid() ? nodes_in_world(shown, body) : surface_in_world(shown, body);
    }
};

Part make_part(const Shown& shown)
{
    Part part{.shown = shown, .mesh = {}};
    if (part.solid()) {
        part.mesh.tets = shown.volume.tets;
        part.mesh.regions = shown.volume.regions;
        part.mesh.fields = shown.volume.fields;
    } else {
        part.mesh.triangles = shown.surface.triangles;
        part.mesh.fields = shown.surface.fields;
    }
    return part;
}

class PvdExporter : public FrameSink {
public:
    explicit PvdExporter(const Path& target) : file_(target), folder_(folder_of(target)) {}

    void begin(const std::vector<Shown>& bodies, double) override
    {
        names_ = plain_names(bodies);
        for (const Shown& body : bodies) parts_.push_back(make_part(body));
    }

    void frame(const Frame& frame) override
    {
        LITHE_ASSERT(frame.bodies.size() == parts_.size());
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            const std::string name =
                folder_.write(names_[b], frame.number, ".vtu",
                              serialize_mesh(MeshFormat::Vtu, mesh_now(b, frame.bodies[b])));
            list_ += fmt::format("    <DataSet timestep=\"{}\" part=\"{}\" name=\"{}\" file=\"{}\"/>\n",
                                 frame.t, b, xml_text(parts_[b].shown.name),
                                 xml_text((folder_.target().filename() / name).string()));
        }
    }

    void finish() override
    {
        if (list_.empty()) return;
        file_.write(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n");
        file_.write(list_);
        file_.write("  </Collection>\n</VTKFile>\n");
        folder_.commit();
        file_.commit();
    }

private:
    MeshFile mesh_now(std::size_t b, const Published& body)
    {
        Part& part = parts_[b];
        if (part.start.cols() == 0) part.start = in_world(body.frame, part.rest());
        MeshFile mesh = part.mesh;
        mesh.vertices = part.now(body);
        mesh.fields.push_back({"displacement", mesh.vertices - part.start});
        if (part.solid() && body.node_velocities.cols() == mesh.vertices.cols())
            mesh.fields.push_back({"velocity", body.node_velocities});
        return mesh;
    }

    AtomicFile file_;
    StagedFolder folder_;
    std::vector<Part> parts_;
    std::vector<std::string> names_;
    std::string list_; ///< of the files so far
};

} // namespace

std::unique_ptr<FrameSink> make_pvd_exporter(const Path& target)
{
    return std::make_unique<PvdExporter>(target);
}

} // namespace lithe::exporting
