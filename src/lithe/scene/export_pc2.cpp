// Point Cache 2: a header of 32 bytes, then the positions of all points, sample after sample, in single precision. The
// mesh that they move comes as .obj with the same order of vertices.
#include <cstring>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/geometry/mesh_io.hpp"
#include "lithe/scene/export_recording.hpp"

namespace lithe::exporting {
namespace {

struct Header {
    char signature[12] = "POINTCACHE2";
    std::int32_t version = 1;
    std::int32_t points;
    float start;       ///< number of the first frame
    float rate = 1.0F; ///< frames per sample
    std::int32_t samples;
};
static_assert(sizeof(Header) == 32);

template <class T>
void write_raw(AtomicFile& file, const T* data, std::size_t count)
{
    file.write(std::as_bytes(std::span(data, count)));
}

class Pc2Exporter : public RecordingSink {
public:
    explicit Pc2Exporter(Path target) : target_(std::move(target))
    {
        const AtomicFile probe(target_); // can a file be made here at all?
    }

    void begin(const std::vector<Shown>& bodies, double fps) override
    {
        RecordingSink::begin(bodies, fps);
        const auto deforming = std::ranges::count(bodies, false, &Shown::rigid);
        if (deforming == 0)
            throw InputError({.file = target_},
                             "nothing to write: a point cache holds bodies that deform, and "
                             "all are rigid here; write a .glb");
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            if (bodies[b].rigid) continue;
            Path name = target_;
            if (deforming > 1)
                name.replace_filename(target_.stem().string() + "_" + recording().names[b] +
                                      target_.extension().string());
            Path mesh = name;
            mesh.replace_extension(".obj");
            parts_.push_back({b, std::make_unique<AtomicFile>(name), std::make_unique<AtomicFile>(mesh)});
        }
    }

private:
    /// A body and its two files, opened early so that what cannot be written is known before the simulation.
    struct Part {
        std::size_t body;
        std::unique_ptr<AtomicFile> cache, mesh;
    };

    void write() override
    {
        for (Part& part : parts_) {
            write_cache(recording().bodies[part.body], *part.cache);
            write_mesh(recording().bodies[part.body], *part.mesh);
        }
        for (Part& part : parts_) {
            part.mesh->commit();
            part.cache->commit();
        }
    }

    void write_cache(const RecordedBody& body, AtomicFile& file) const
    {
        const Header header = {.points = static_cast<std::int32_t>(body.vertex_count()),
                               .start = static_cast<float>(recording().numbers.front()),
                               .samples = static_cast<std::int32_t>(recording().frame_count())};
        write_raw(file, &header, 1);
        for (std::size_t f = 0; f < recording().frame_count(); ++f) {
            const Points3f x = world_positions(body, f);
            write_raw(file, x.data(), static_cast<std::size_t>(x.size()));
        }
    }

    static void write_mesh(const RecordedBody& body, AtomicFile& file)
    {
        MeshFile mesh;
        mesh.vertices = world_positions(body, 0).cast<double>();
        mesh.triangles = body.shown.surface.triangles;
        if (const VertexField* color = find_color(body.shown.surface.fields)) mesh.fields.push_back(*color);
        file.write(serialize_mesh(MeshFormat::Obj, mesh));
    }

    Path target_;
    std::vector<Part> parts_;
};

} // namespace

std::unique_ptr<FrameSink> make_pc2_exporter(const Path& target)
{
    return std::make_unique<Pc2Exporter>(target);
}

} // namespace lithe::exporting
