#include "lithe/server/encode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lithe/core/error.hpp"

namespace lithe {
namespace {

static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::json;

template <class T>
void put(std::string& out, T value)
{
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_vector(std::string& out, const Vec3& x)
{
    for (int c = 0; c < 3; ++c) put(out, static_cast<float>(x[c]));
}

void put_pose(std::string& out, const RigidPose& pose)
{
    for (int c = 0; c < 4; ++c) put(out, static_cast<float>(pose.rotation.coeffs()[c])); // x y z w
    put_vector(out, pose.translation);
}

void put_numbers(std::string& out, const VecX& q)
{
    for (Index k = 0; k < q.size(); ++k) put(out, static_cast<float>(q[k]));
}

void pad(std::string& out)
{
    out.resize((out.size() + 3) / 4 * 4, '\0');
}

/// A JSON head that says which sections follow, and the sections.
class Packed {
public:
    Json head = Json::object();

    template <class T>
    void add(const char* name, const std::vector<T>& values)
    {
        head["sections"].push_back({{"name", name}, {"length", values.size()}});
        data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        pad(data_);
    }

    std::string bytes(BinaryKind kind, std::uint32_t scene) const
    {
        std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
        text.resize((text.size() + 3) / 4 * 4, ' ');
        std::string out;
        put(out, static_cast<std::uint32_t>(kind));
        put(out, scene);
        put(out, static_cast<std::uint32_t>(text.size()));
        return out + text + data_;
    }

private:
    std::string data_;
};

std::vector<float> floats(const Points& x)
{
    std::vector<float> out(static_cast<std::size_t>(x.size()));
    std::transform(x.data(), x.data() + x.size(), out.begin(),
                   [](double v) { return static_cast<float>(v); });
    return out;
}

std::vector<std::uint8_t> color_bytes(const MatX& colors)
{
    std::vector<std::uint8_t> out;
    for (Index v = 0; v < colors.cols(); ++v)
        for (Index c = 0; c < 3; ++c)
            out.push_back(static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(colors(c, v), 0.0, 1.0))));
    return out;
}

/// S = basis * scale, with 16 bits per entry; vertex by vertex, shape by shape, three coordinates.
void add_basis(const SurfaceMorphs& S, Packed& out)
{
    const Index vertices = S.rows() / 3;
    std::vector<float> scales(static_cast<std::size_t>(S.cols()));
    for (Index k = 0; k < S.cols(); ++k)
        scales[static_cast<std::size_t>(k)] = vertices > 0 ? S.col(k).cwiseAbs().maxCoeff() / 32767.0f : 0.0f;
    std::vector<std::int16_t> basis;
    basis.reserve(static_cast<std::size_t>(S.size()));
    for (Index v = 0; v < vertices; ++v)
        for (Index k = 0; k < S.cols(); ++k)
            for (Index c = 0; c < 3; ++c) {
                const float scale = scales[static_cast<std::size_t>(k)];
                basis.push_back(
                    static_cast<std::int16_t>(scale > 0.0f ? std::lround(S(3 * v + c, k) / scale) : 0));
            }
    out.add("scales", scales);
    out.add("basis", basis);
}

/// A surface on one frame is a skin on one bone that all vertices follow, from where they are at rest.
void add_single_bone(const Shown& shown, Packed& out)
{
    out.head["bones"].push_back({{"rank", shown.morphs ? shown.morphs->cols() : 0}, {"all", true}});
    if (shown.morphs && shown.morphs->cols() > 0) add_basis(*shown.morphs, out);
}

void add_bones(const std::vector<SkinBone>& skin, Packed& out)
{
    for (const SkinBone& bone : skin) {
        out.head["bones"].push_back({{"rank", bone.basis.cols()}, {"all", false}});
        out.add("vertices", std::vector<std::uint32_t>(bone.vertices.begin(), bone.vertices.end()));
        std::vector<float> weights;
        for (const double w : bone.weights) weights.push_back(static_cast<float>(w));
        out.add("weights", weights);
        out.add("rest", floats(bone.rest));
        if (bone.basis.cols() > 0) add_basis(bone.basis, out);
    }
}

/// 16 bits per coordinate in the box around all.
void put_positions(const Points& x, std::string& out)
{
    const Box3 box = bounds(x);
    const Vec3 low = box.min().cast<float>().cast<double>();
    const Vec3 size = (box.max() - low).cwiseMax(0.0);
    put_vector(out, low);
    put_vector(out, size);
    const Vec3 per_step = size.unaryExpr([](double s) { return s > 0.0 ? 65535.0 / s : 0.0; });
    const std::size_t begin = out.size();
    out.resize(begin + static_cast<std::size_t>(x.size()) * 2);
    char* to = out.data() + begin;
    for (Index v = 0; v < x.cols(); ++v)
        for (int c = 0; c < 3; ++c, to += 2) {
            const double step = std::clamp((x(c, v) - low[c]) * per_step[c], 0.0, 65535.0);
            const auto rounded = static_cast<std::uint16_t>(step + 0.5);
            std::memcpy(to, &rounded, 2);
        }
    pad(out);
}

} // namespace

BodyForm form_of(const Shown& shown)
{
    if (shown.skin) return BodyForm::Bones;
    if (shown.morphs) return shown.morphs->cols() > 0 ? BodyForm::Bones : BodyForm::Rigid;
    return shown.rigid ? BodyForm::Rigid : BodyForm::Positions;
}

std::string encode_body(const Shown& shown, const BodyLabel& label)
{
    Packed out;
    const Triangles& T = shown.surface.triangles;
    out.head = {{"key", label.key},
                {"led", label.led},
                {"name", shown.name},
                {"form", static_cast<std::uint32_t>(form_of(shown))},
                {"vertices", shown.surface.vertex_count()},
                {"triangles", T.cols()},
                {"color", vector_json(shown.color)},
                {"backdrop", shown.backdrop},
                {"tets", shown.volume.tet_count()},
                {"bones", Json::array()},
                {"sections", Json::array()}};
    out.add("triangles", std::vector<std::uint32_t>(T.data(), T.data() + T.size()));
    if (const VertexField* color = find_color(shown.surface.fields))
        out.add("colors", color_bytes(color->values));
    out.add("rest", floats(shown.surface.vertices));
    if (shown.skin)
        add_bones(*shown.skin, out);
    else
        add_single_bone(shown, out);
    return out.bytes(BinaryKind::Body, 0);
}

void FrameEncoder::begin(const FrameStamp& stamp, std::uint32_t body_count)
{
    bytes_.clear();
    put(bytes_, static_cast<std::uint32_t>(BinaryKind::Frame));
    put(bytes_, stamp.scene);
    put(bytes_, stamp.number);
    put(bytes_, body_count);
    put(bytes_, stamp.t);
}

void FrameEncoder::add_body(const Shown& shown, const Published& now)
{
    put_pose(bytes_, now.frame);
    switch (form_of(shown)) {
    case BodyForm::Rigid:
        return;
    case BodyForm::Positions:
        return put_positions(surface_in_frame(shown, now), bytes_);
    case BodyForm::Bones:
        if (!shown.skin) {
            LITHE_ASSERT(now.weights.size() == shown.morphs->cols());
            return put_numbers(bytes_, now.weights);
        }
        LITHE_ASSERT(now.bones.size() == shown.skin->size());
        for (const Published::Bone& bone : now.bones) {
            put_pose(bytes_, bone.frame);
            put_numbers(bytes_, bone.q);
        }
    }
}

void FrameEncoder::add_holds(std::span<const Hold> holds)
{
    put(bytes_, static_cast<std::uint32_t>(holds.size()));
    for (const Hold& hold : holds) {
        put_vector(bytes_, hold.point);
        put_vector(bytes_, hold.target);
        put(bytes_, static_cast<float>(hold.force));
    }
}

namespace {

void add_field(const DrawnField& field, Packed& out)
{
    const double top = field.values.size() > 0 ? field.values.maxCoeff() : 0.0;
    out.head["fields"].push_back({{"body", field.body}, {"name", field.name}, {"top", top}});
    std::vector<std::uint8_t> steps;
    for (const double value : field.values)
        steps.push_back(static_cast<std::uint8_t>(top > 0.0 ? std::lround(255.0 * value / top) : 0));
    out.add("values", steps);
}

} // namespace

std::string encode_overlays(const OverlayMessage& message, std::uint32_t scene)
{
    Packed out;
    const Points& cut = message.cut;
    out.head = {{"overlays", Json::array()},
                {"cut", cut.cols() > 0},
                {"fields", Json::array()},
                {"sections", Json::array()}};
    for (const DrawnOverlay& overlay : message.overlays) {
        const bool arrows = overlay.vectors.cols() > 0;
        out.head["overlays"].push_back(
            {{"name", overlay.name}, {"arrows", arrows}, {"lengths", overlay.arrows == Arrows::Lengths}});
        out.add("points", floats(overlay.points));
        if (arrows) out.add("vectors", floats(overlay.vectors));
    }
    if (cut.cols() > 0) out.add("points", floats(cut));
    for (const DrawnField& field : message.fields) add_field(field, out);
    return out.bytes(BinaryKind::Overlays, scene);
}

} // namespace lithe
