#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "lithe/fem/elasticity.hpp"
#include "lithe/geometry/io/bytes.hpp"
#include "lithe/math/sparse_cholesky.hpp"
#include "lithe/prepare/training.hpp"

namespace lithe {
namespace {

namespace fs = std::filesystem;

/// All samples of a point cache.
std::vector<Points> read_point_cache(const fs::path& file)
{
    static_assert(std::endian::native == std::endian::little);
    const std::string bytes = io::read_bytes(file);
    constexpr std::size_t header = 32;
    const auto number = [&](std::size_t at) {
        std::int32_t value;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    if (bytes.size() < header || std::memcmp(bytes.data(), "POINTCACHE2", 12) != 0)
        throw InputError({file}, "is not a point cache: it does not begin with POINTCACHE2");
    const std::int64_t points = number(16), samples = number(28);
    if (points < 1 || samples < 1 ||
        static_cast<std::uint64_t>(points) * static_cast<std::uint64_t>(samples) >
            (bytes.size() - header) / 12)
        throw InputError({file},
                         fmt::format("has {} bytes, too few for {} samples of {} points; write it again",
                                     bytes.size(), samples, points));
    std::vector<Points> out;
    for (std::int64_t s = 0; s < samples; ++s) {
        Eigen::Matrix<float, 3, Eigen::Dynamic> x(3, points);
        std::memcpy(x.data(), bytes.data() + header + static_cast<std::size_t>(12 * points * s),
                    static_cast<std::size_t>(12 * points));
        if (!x.allFinite()) throw InputError({file}, fmt::format("sample {} is not finite", s));
        out.push_back(x.cast<double>());
    }
    return out;
}

/// Vertices of all frames of an animation, as they are in the file.
std::vector<Points> read_frames(const fs::path& file)
{
    if (file.extension() == ".pc2") return read_point_cache(file);
    if (!fs::is_directory(file)) return {read_mesh_file(file).vertices};
    std::vector<fs::path> meshes;
    for (const auto& entry : fs::directory_iterator(file))
        if (entry.is_regular_file()) meshes.push_back(entry.path());
    if (meshes.empty()) throw InputError({file}, "is an empty folder; it should hold a mesh for each frame");
    std::ranges::sort(meshes);
    std::vector<Points> out;
    for (const fs::path& mesh : meshes) out.push_back(read_mesh_file(mesh).vertices);
    return out;
}

/// Positions of the body's mesh file in the world.
Points placed(const Points& x, const SceneBody& body)
{
    Points out = body.source.read.scale * x;
    if (body.source.read.up == UpAxis::Z)
        for (Index v = 0; v < out.cols(); ++v) out.col(v) = Vec3(out(0, v), out(2, v), -out(1, v));
    return in_world(body.placement, out);
}

/// Tet vertices from surface vertices: the displacement of least elastic energy that moves the surface as it is told,
///
///   min u.K u/2 + k/2 |E u - s|^2,   k far above the stiffness.
///
/// Affine motions come out exactly, turns of any angle among them.
class Extension {
public:
    explicit Extension(const FullBodyModel& model) : model_(model)
    {
        ElasticWork work;
        elastic_hessian(model.fem, model.fem.rest, Definiteness::Projected, A_, work);
        k_ = 1e4 * A_.diagonal().maxCoeff();
        for (Index p = 0; p < model.embedding.point_count(); ++p)
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 4; ++b)
                    add(model.embedding.corners(a, p), model.embedding.corners(b, p),
                        k_ * model.embedding.weights(a, p) * model.embedding.weights(b, p));
        for (const LedVertices& pin : model.pins)
            for (const int v : pin.vertices) add(v, v, k_);
        cholesky_.analyse(A_);
        if (cholesky_.factorise(A_) != FactorStatus::Success)
            throw InputError(
                "the surface does not say how all of the body moves; give snapshots of its tets");
    }

    /// Positions of the tets' vertices for those of the surface.
    Points operator()(const Points& surface)
    {
        const Points s = surface - deform(model_.embedding, model_.fem.rest);
        MatX u = MatX::Zero(model_.fem.rest.size(), 1);
        for (Index p = 0; p < s.cols(); ++p)
            for (int a = 0; a < 4; ++a)
                u.middleRows<3>(3 * model_.embedding.corners(a, p)) +=
                    k_ * model_.embedding.weights(a, p) * s.col(p);
        cholesky_.solve(u);
        return model_.fem.rest + Eigen::Map<const Points>(u.data(), 3, u.rows() / 3);
    }

private:
    void add(int i, int j, double value)
    {
        for (int c = 0; c < 3; ++c) A_.coeffRef(3 * i + c, 3 * j + c) += value;
    }
    const FullBodyModel& model_;
    SparseMatrix A_;
    double k_ = 0.0;
    SparseCholesky cholesky_;
};

/// Refuses a snapshot in which pinned vertices are elsewhere, by more than a thousandth of the body.
void require_still_pins(const FullBodyModel& model, const Points& x, const fs::path& file)
{
    const double size = bounds(model.fem.rest).diagonal().norm();
    for (const LedVertices& pin : model.pins)
        for (const int v : pin.vertices)
            if (const double moved = (x.col(v) - model.fem.rest.col(v)).norm(); moved > 1e-3 * size)
                throw InputError({file},
                                 fmt::format("moves vertex {}, which is pinned, by {:.3g} m; pin what stands "
                                             "still in it, or give another",
                                             v, moved));
}

} // namespace

Points extended_into_tets(const FullBodyModel& model, const Points& surface)
{
    return Extension(model)(surface);
}

VecX deformation(const BodyParts& parts, const Points& x)
{
    const FemModel& fem = parts.model.fem;
    Points u = x - fem.rest;
    if (parts.model.pins.empty()) set_deformation({fem.rest, fem.vertex_mass}, x, u);
    for (const LedVertices& pin : parts.model.pins)
        for (const int v : pin.vertices) u.col(v).setZero();
    return Eigen::Map<const VecX>(u.data(), u.size());
}

MatX read_snapshots(const fs::path& file, const SceneBody& body, const BodyParts& parts)
{
    const FullBodyModel& model = parts.model;
    std::vector<Points> frames = read_frames(file);
    const Index count = frames.front().cols(), tets = model.fem.vertex_count(),
                shown = model.shown.surface.vertex_count();
    for (const Points& x : frames)
        if (x.cols() != count || (count != tets && count != shown))
            throw InputError(
                {file},
                fmt::format("has {} vertices, of another mesh: the tets of '{}' have {}, its surface {}",
                            x.cols(), body.name, tets, shown));
    const Points rest = count == tets ? model.fem.rest : deform(model.embedding, model.fem.rest);
    if ((placed(frames.front(), body) - rest).norm() < (frames.front() - rest).norm())
        for (Points& x : frames) x = placed(x, body);
    std::optional<Extension> extension;
    if (count != tets) extension.emplace(model);
    MatX out(model.fem.rest.size(), static_cast<Index>(frames.size()));
    for (std::size_t f = 0; f < frames.size(); ++f) {
        const Points x = extension ? (*extension)(frames[f]) : frames[f];
        require_still_pins(model, x, file);
        out.col(static_cast<Index>(f)) = deformation(parts, x);
    }
    return out;
}

} // namespace lithe
