// glTF 2.0, binary: a JSON text that describes the scene, and one block of bytes with all numbers.
#include <algorithm>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/core/version.hpp"
#include "lithe/math/color.hpp"
#include "lithe/scene/export_creases.hpp"
#include "lithe/scene/export_morphs.hpp"

namespace lithe::exporting {
namespace {

using Json = nlohmann::ordered_json;

// Numbers that the specification gives to things.
enum class Component { UnsignedShort = 5123, UnsignedInt = 5125, Float = 5126 };
enum class Use { Animation = 0, Vertices = 34962, Indices = 34963 };

/// The block of numbers, and the accessors that say what lies where in it.
class NumberBlock {
public:
    /// A column per element, of 1, 3 or 4 components; returns the accessor.
    int add(const Eigen::MatrixXf& columns, Use use)
    {
        const int accessor = add_raw(columns.data(), columns.size(), use);
        describe(columns.rows(), columns.cols(), Component::Float);
        const Eigen::VectorXf low = columns.rowwise().minCoeff(), high = columns.rowwise().maxCoeff();
        accessors.back()["min"] = std::vector<float>(low.begin(), low.end());
        accessors.back()["max"] = std::vector<float>(high.begin(), high.end());
        return accessor;
    }
    int add_indices(const Triangles& triangles)
    {
        const Eigen::Matrix<std::uint32_t, 3, Eigen::Dynamic> indices = triangles.cast<std::uint32_t>();
        const int accessor = add_raw(indices.data(), indices.size(), Use::Indices);
        describe(1, indices.size(), Component::UnsignedInt);
        return accessor;
    }
    /// Four components in [0, 1], in steps of 1/65535.
    int add_colors(const Eigen::MatrixXd& rgba)
    {
        const Eigen::Matrix<std::uint16_t, 4, Eigen::Dynamic> steps =
            (rgba.array() * 65535.0).round().cast<std::uint16_t>();
        const int accessor = add_raw(steps.data(), steps.size(), Use::Vertices);
        describe(4, steps.cols(), Component::UnsignedShort);
        accessors.back()["normalized"] = true;
        return accessor;
    }

    Json views = Json::array(), accessors = Json::array();
    std::string bytes;

private:
    template <class T>
    int add_raw(const T* data, Index count, Use use)
    {
        const std::size_t size = sizeof(T) * static_cast<std::size_t>(count);
        views.push_back({{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", size}});
        if (use != Use::Animation) views.back()["target"] = static_cast<int>(use);
        bytes.append(reinterpret_cast<const char*>(data), size);
        bytes.resize((bytes.size() + 3) / 4 * 4); // all our components begin at multiples of their size
        accessors.push_back({{"bufferView", views.size() - 1}});
        return static_cast<int>(accessors.size()) - 1;
    }
    void describe(Index rows, Index count, Component component)
    {
        accessors.back()["componentType"] = static_cast<int>(component);
        accessors.back()["count"] = count;
        accessors.back()["type"] = rows == 1 ? "SCALAR" : rows == 3 ? "VEC3" : "VEC4";
    }
};

/// Columns of the surface's vertices for those of the creased surface, whose vertices may be doubled.
Eigen::Matrix3Xf spread(const Eigen::Matrix3Xf& columns, const CreasedSurface& creased)
{
    return columns(Eigen::all, creased.origin);
}

MatX vertex_colors(const TriangleMesh& surface, const CreasedSurface& creased) ///< linear RGBA, 4 x vertices
{
    const MatX& srgb = find_color(surface.fields)->values;
    MatX rgba = MatX::Ones(4, creased.vertex_count());
    for (Index v = 0; v < rgba.cols(); ++v)
        rgba.col(v).head<3>() = linear_from_srgb(srgb.col(creased.origin[v]));
    return rgba;
}

Points3f as_points(const Eigen::VectorXf& flat)
{
    return flat.reshaped(3, flat.size() / 3);
}

MatX pseudo_inverse(const MatX& W)
{
    const MatX WWt = W * W.transpose();
    const Eigen::LDLT<MatX> ldlt(WWt);
    if (ldlt.info() == Eigen::Success && ldlt.rcond() > 1e-12) return ldlt.solve(W).transpose();
    // A body's own shapes may be more than there are frames, or never move.
    return W.completeOrthogonalDecomposition().pseudoInverse();
}

/// What each shape adds to the normals of the base, 3n x r. Normals are no linear function of the weights; this is the best
/// fit over all frames, per vertex, of
///
///   n_0 + sum_k w_kf n_k = s n_f
///
/// where the scale s is free too, since viewers normalise the sum.
Eigen::MatrixXf normal_targets(const CreasedSurface& creased, const Morphs& morphs, const Points3f& base)
{
    const MatX W = morphs.weights.cast<double>();
    const MatX fit = pseudo_inverse(W);                     // frames x r
    const VecX ones = fit.colwise().sum(),                  // how the weights fit the constant 1,
        left = VecX::Ones(W.cols()) - W.transpose() * ones; // and what they leave of it
    MatX targets = MatX::Zero(base.size(), morphs.count());
    VecX along = VecX::Zero(base.size());
    for (Index f = 0; f < W.cols(); ++f) {
        const VecX n = crease_normals(creased, morphs.shape(f)).cast<double>().reshaped();
        targets.noalias() += n * fit.row(f);
        along += left[f] * n;
    }
    for (Index v = 0; v < base.cols(); ++v) {
        const Vec3 n_0 = base.col(v).cast<double>();
        const double inverse = n_0.dot(along.segment<3>(3 * v)) / std::max(left.squaredNorm(), 1e-12);
        const double s = 1.0 / std::clamp(inverse, 0.1, 10.0);
        targets.middleRows<3>(3 * v) = s * targets.middleRows<3>(3 * v) - n_0 * ones.transpose();
    }
    return targets.cast<float>();
}

class GlbWriter {
public:
    explicit GlbWriter(const Recording& recording, const GlbOptions& options)
        : recording_(recording), options_(options)
    {
        if (recording_.frame_count() > 1) {
            Eigen::MatrixXf times(1, recording_.frame_count());
            for (Index f = 0; f < times.cols(); ++f) times(0, f) = static_cast<float>(recording_.times[f]);
            times_ = block_.add(times, Use::Animation);
        }
        for (const RecordedBody& body : recording_.bodies) add_body(body);
    }

    void write(AtomicFile& file)
    {
        std::string text =
            document().dump(-1, ' ', false, Json::error_handler_t::replace); // names may be any bytes
        text.resize((text.size() + 3) / 4 * 4, ' ');
        const std::uint64_t size = 12 + 8 + text.size() + 8 + block_.bytes.size();
        if (size > std::numeric_limits<std::uint32_t>::max())
            throw InputError(
                {.file = file.target()},
                "would be larger than the 4 GB that a .glb can be; write fewer frames, or a .pc2");
        write_words(file, {0x46546C67, 2, size}); // "glTF"
        write_words(file, {text.size(), 0x4E4F534A});
        file.write(text);
        write_words(file, {block_.bytes.size(), 0x004E4942});
        file.write(block_.bytes);
    }

private:
    static void write_words(AtomicFile& file, std::initializer_list<std::uint64_t> words)
    {
        for (const std::uint64_t word : words) {
            const auto value = static_cast<std::uint32_t>(word);
            file.write(std::as_bytes(std::span(&value, 1)));
        }
    }

    void add_body(const RecordedBody& body)
    {
        const CreasedSurface creased = split_at_creases(body.shown.surface);
        Json node = {{"name", body.shown.name}, {"mesh", meshes_.size()}};
        if (body.deforms() && recording_.frame_count() > 1) {
            const double size = bounds(body.shown.surface.vertices).diagonal().norm();
            const Morphs morphs = find_morphs(body, options_.tolerance * size);
            add_motion(morphs.poses, node);
            add_morphs(body, creased, morphs);
        } else {
            const Points3f positions = body.positions_in_pose(0);
            add_motion(body.poses, node);
            add_mesh(body, creased, positions, crease_normals(creased, positions));
        }
        nodes_.push_back(std::move(node));
    }

    void add_mesh(const RecordedBody& body, const CreasedSurface& creased, const Points3f& positions,
                  const Points3f& normals)
    {
        Json attributes = {{"POSITION", block_.add(spread(positions, creased), Use::Vertices)},
                           {"NORMAL", block_.add(normals, Use::Vertices)}};
        if (find_color(body.shown.surface.fields))
            attributes["COLOR_0"] = block_.add_colors(vertex_colors(body.shown.surface, creased));
        add_material(body.shown);
        Json primitive = {{"attributes", std::move(attributes)},
                          {"indices", block_.add_indices(creased.triangles)},
                          {"material", materials_.size() - 1}};
        Json primitives = Json::array({std::move(primitive)});
        meshes_.push_back({{"name", body.shown.name}, {"primitives", std::move(primitives)}});
    }

    /// Colours of the vertices are multiplied with that of the material: white where there are any.
    void add_material(const Shown& shown)
    {
        const Vec3 rgb =
            find_color(shown.surface.fields) ? Vec3(Vec3::Ones()) : linear_from_srgb(shown.color);
        materials_.push_back({{"name", shown.name},
                              {"pbrMetallicRoughness",
                               {{"baseColorFactor", {rgb[0], rgb[1], rgb[2], 1.0}},
                                {"metallicFactor", 0.0},
                                {"roughnessFactor", 0.6}}},
                              {"doubleSided", true}});
    }

    /// The first pose stands in the node; channels only for what changes.
    void add_motion(const std::vector<RigidPose>& poses, Json& node)
    {
        Eigen::MatrixXf translations(3, poses.size()), rotations(4, poses.size());
        for (Index f = 0; f < translations.cols(); ++f) {
            translations.col(f) = poses[f].translation.cast<float>();
            rotations.col(f) = poses[f].rotation.normalized().coeffs().cast<float>(); // x y z w
            if (f > 0 && rotations.col(f).dot(rotations.col(f - 1)) < 0.0F) rotations.col(f) *= -1.0F;
        }
        const Eigen::Vector3f t = translations.col(0);
        const Eigen::Vector4f r = rotations.col(0);
        if (t != Eigen::Vector3f::Zero()) node["translation"] = std::vector<float>(t.begin(), t.end());
        if (r != Eigen::Vector4f::Unit(3)) node["rotation"] = std::vector<float>(r.begin(), r.end());
        if ((translations.colwise() - t).cwiseAbs().maxCoeff() > 0.0F)
            add_channel("translation", translations);
        if ((rotations.colwise() - r).cwiseAbs().maxCoeff() > 0.0F) add_channel("rotation", rotations);
    }

    void add_morphs(const RecordedBody& body, const CreasedSurface& creased, const Morphs& morphs)
    {
        const Points3f base = as_points(morphs.base), base_normals = crease_normals(creased, base);
        add_mesh(body, creased, base, base_normals);
        if (morphs.count() == 0) return;
        const Eigen::MatrixXf normals = normal_targets(creased, morphs, base_normals);
        Json targets = Json::array(), names = Json::array();
        for (Index k = 0; k < morphs.count(); ++k) {
            targets.push_back(
                {{"POSITION", block_.add(spread(as_points(morphs.targets.col(k)), creased), Use::Vertices)},
                 {"NORMAL", block_.add(as_points(normals.col(k)), Use::Vertices)}});
            names.push_back("shape " + std::to_string(k + 1));
        }
        Json& mesh = meshes_.back();
        mesh["primitives"][0]["targets"] = std::move(targets);
        const Eigen::VectorXf first = morphs.weights.col(0);
        mesh["weights"] = std::vector<float>(first.begin(), first.end());
        mesh["extras"]["targetNames"] = std::move(names);
        if (morphs.scale.size() > 0)
            mesh["extras"]["coordinates"] = {
                {"offset", std::vector<double>(morphs.offset.begin(), morphs.offset.end())},
                {"scale", std::vector<double>(morphs.scale.begin(), morphs.scale.end())}};
        add_channel("weights", morphs.weights.reshaped(1, morphs.weights.size()));
    }

    void add_channel(const char* path, const Eigen::MatrixXf& values)
    {
        samplers_.push_back(
            {{"input", times_}, {"interpolation", "LINEAR"}, {"output", block_.add(values, Use::Animation)}});
        channels_.push_back(
            {{"sampler", samplers_.size() - 1}, {"target", {{"node", nodes_.size()}, {"path", path}}}});
    }

    Json document() const
    {
        Json all;
        all["asset"] = {{"version", "2.0"}, {"generator", "Lithe " LITHE_VERSION}};
        all["scene"] = 0;
        Json roots = Json::array();
        for (std::size_t n = 0; n < nodes_.size(); ++n) roots.push_back(n);
        all["scenes"] = Json::array({{{"nodes", std::move(roots)}}});
        all["nodes"] = nodes_;
        all["meshes"] = meshes_;
        all["materials"] = materials_;
        if (!channels_.empty())
            all["animations"] =
                Json::array({{{"name", "simulation"}, {"channels", channels_}, {"samplers", samplers_}}});
        all["accessors"] = block_.accessors;
        all["bufferViews"] = block_.views;
        all["buffers"] = Json::array({{{"byteLength", block_.bytes.size()}}});
        return all;
    }

    const Recording& recording_;
    GlbOptions options_;
    NumberBlock block_;
    int times_ = -1; ///< accessor of the times of all frames
    Json nodes_ = Json::array(), meshes_ = Json::array(), materials_ = Json::array();
    Json channels_ = Json::array(), samplers_ = Json::array();
};

class GlbExporter : public RecordingSink {
public:
    GlbExporter(const Path& target, const GlbOptions& options) : file_(target), options_(options)
    {
        require_positive("tolerance", options.tolerance);
    }

private:
    void write() override
    {
        GlbWriter(recording(), options_).write(file_);
        file_.commit();
    }

    AtomicFile file_;
    GlbOptions options_;
};

} // namespace

std::unique_ptr<FrameSink> make_glb_exporter(const Path& target, const GlbOptions& options)
{
    return std::make_unique<GlbExporter>(target, options);
}

} // namespace lithe::exporting
