// A folder with one .ply per frame: all bodies but backdrops as one surface in the world, with their colours.
#include "lithe/core/error.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/scene/export_folder.hpp"

namespace lithe::exporting {
namespace {

/// The surfaces one after the other; positions are filled in frame by frame.
MeshFile joined(const std::vector<Shown>& bodies)
{
    Index vertices = 0, triangles = 0;
    for (const Shown& body : bodies) {
        vertices += body.surface.vertex_count();
        triangles += body.surface.triangle_count();
    }
    MeshFile mesh;
    mesh.vertices.resize(3, vertices);
    mesh.triangles.resize(3, triangles);
    mesh.fields.push_back({"color", MatX(3, vertices)});
    Index v = 0, t = 0;
    for (const Shown& body : bodies) {
        const TriangleMesh& surface = body.surface;
        const Index n = surface.vertex_count(), m = surface.triangle_count();
        mesh.triangles.middleCols(t, m) = surface.triangles.array() + static_cast<int>(v);
        if (const VertexField* color = find_color(surface.fields))
            mesh.fields[0].values.middleCols(v, n) = color->values;
        else
            mesh.fields[0].values.middleCols(v, n).colwise() = body.color;
        v += n;
        t += m;
    }
    return mesh;
}

class PlyExporter : public FrameSink {
public:
    explicit PlyExporter(const Path& folder) : folder_(folder) {}

    void begin(const std::vector<Shown>& bodies, double) override
    {
        bodies_ = bodies;
        for (Shown& body : bodies_)
            if (body.backdrop) body.surface = {};
        mesh_ = joined(bodies_);
    }

    void frame(const Frame& frame) override
    {
        LITHE_ASSERT(frame.bodies.size() == bodies_.size());
        Index v = 0;
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            const Index n = bodies_[b].surface.vertex_count();
            mesh_.vertices.middleCols(v, n) = surface_in_world(bodies_[b], frame.bodies[b]);
            v += n;
        }
        folder_.write("frame", frame.number, ".ply", serialize_mesh(MeshFormat::Ply, mesh_));
        begun_ = true;
    }

    void finish() override
    {
        if (begun_) folder_.commit();
    }

private:
    StagedFolder folder_;
    std::vector<Shown> bodies_;
    MeshFile mesh_;
    bool begun_ = false; ///< there is a frame
};

} // namespace

std::unique_ptr<FrameSink> make_ply_exporter(const Path& folder)
{
    return std::make_unique<PlyExporter>(folder);
}

} // namespace lithe::exporting
