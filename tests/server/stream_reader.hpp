#pragma once
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/body/published.hpp"
#include "lithe/server/protocol.hpp"

namespace lithe::test {

/// Reads binary messages by what protocol.json says of them, and by nothing that the encoder knows.
class StreamReader {
public:
    explicit StreamReader(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    T take()
    {
        if (bytes_.size() < sizeof(T)) throw std::runtime_error("the message ends too early");
        T value;
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_.remove_prefix(sizeof value);
        return value;
    }
    double take_number(const std::string& type)
    {
        if (type == "u32") return take<std::uint32_t>();
        if (type == "f32") return take<float>();
        if (type == "f64") return take<double>();
        throw std::runtime_error("a type that no header has: " + type);
    }
    /// The fields of a layout: by name, each a list.
    nlohmann::json take_fields(const nlohmann::json& layout)
    {
        nlohmann::json out;
        for (const auto& field : layout)
            for (int k = 0; k < (field.size() > 2 ? field[2].get<int>() : 1); ++k)
                out[field[0].get<std::string>()].push_back(take_number(field[1]));
        return out;
    }
    template <class T>
    std::vector<T> take_list(std::size_t count)
    {
        std::vector<T> out(count);
        for (T& value : out) value = take<T>();
        while (taken() % 4 != 0) (void)take<char>();
        return out;
    }
    void start() { start_ = bytes_.size(); }
    std::size_t taken() const { return start_ - bytes_.size(); }
    std::string_view left() const { return bytes_; }

private:
    std::string_view bytes_;
    std::size_t start_ = bytes_.size();
};

/// A packed message: its head, and its sections in their order as numbers.
struct PackedMessage {
    nlohmann::json head;
    std::vector<std::pair<std::string, std::vector<double>>> sections;
    std::size_t next = 0;

    const std::vector<double>& take(const std::string& name)
    {
        if (next >= sections.size() || sections[next].first != name)
            throw std::runtime_error("no section " + name);
        return sections[next++].second;
    }
    bool has(const std::string& name) const { return next < sections.size() && sections[next].first == name; }
};

inline PackedMessage read_packed(std::string_view bytes)
{
    StreamReader in(bytes);
    const auto header = in.take_fields(protocol()["binary"]["packed"]["header"]);
    const std::size_t length = header["json_bytes"][0].get<std::size_t>();
    PackedMessage out{nlohmann::json::parse(in.left().substr(0, length)), {}};
    out.head["kind"] = header["kind"][0];
    StreamReader data(in.left().substr(length));
    for (const auto& section : out.head["sections"]) {
        const std::string name = section["name"], type = protocol()["binary"]["sections"][name];
        const std::size_t count = section["length"];
        std::vector<double> values;
        const auto add = [&](const auto& list) { values.assign(list.begin(), list.end()); };
        if (type == "u32") add(data.take_list<std::uint32_t>(count));
        if (type == "f32") add(data.take_list<float>(count));
        if (type == "i16") add(data.take_list<std::int16_t>(count));
        if (type == "u8") add(data.take_list<std::uint8_t>(count));
        out.sections.emplace_back(name, std::move(values));
    }
    if (!data.left().empty()) throw std::runtime_error("bytes behind the last section");
    return out;
}

/// A bone as a page has it.
struct ReadBone {
    Index rank = 0;
    bool all = true;
    std::vector<double> vertices, weights, rest, scales, basis;
};
struct ReadBody {
    nlohmann::json head;
    std::vector<double> triangles, colors, rest;
    std::vector<ReadBone> bones;
};

inline ReadBody read_body(std::string_view bytes)
{
    PackedMessage in = read_packed(bytes);
    ReadBody out{in.head, in.take("triangles"), {}, {}, {}};
    if (in.has("colors")) out.colors = in.take("colors");
    out.rest = in.take("rest");
    for (const auto& head : in.head["bones"]) {
        ReadBone bone{.rank = head["rank"],
                      .all = head["all"],
                      .vertices = {},
                      .weights = {},
                      .rest = out.rest,
                      .scales = {},
                      .basis = {}};
        if (!bone.all) {
            bone.vertices = in.take("vertices");
            bone.weights = in.take("weights");
            bone.rest = in.take("rest");
        }
        if (bone.rank > 0) {
            bone.scales = in.take("scales");
            bone.basis = in.take("basis");
        }
        out.bones.push_back(std::move(bone));
    }
    return out;
}

inline RigidPose read_pose(StreamReader& in)
{
    const auto fields = in.take_fields(protocol()["binary"]["frame"]["pose"]);
    const auto& q = fields["rotation"];
    const auto& t = fields["translation"];
    return {Quat(q[3], q[0], q[1], q[2]), Vec3(t[0], t[1], t[2])};
}

/// The vertices of a body in the world, of its part of a frame: as the page makes them, in doubles.
inline Points read_positions(StreamReader& in, const ReadBody& body)
{
    const RigidPose frame = read_pose(in);
    const Index count = body.head["vertices"];
    Points x = Points::Zero(3, count);
    if (body.head["form"] == static_cast<int>(BodyForm::Positions)) {
        const auto box = in.take_fields(protocol()["binary"]["frame"]["positions"]);
        const auto steps = in.take_list<std::uint16_t>(static_cast<std::size_t>(3 * count));
        for (Index k = 0; k < 3 * count; ++k)
            x.reshaped()[k] = box["low"][k % 3].get<double>() +
                              box["size"][k % 3].get<double>() * steps[static_cast<std::size_t>(k)] / 65535.0;
        return in_world(frame, x);
    }
    for (const ReadBone& bone : body.bones) {
        const RigidPose pose = bone.all ? RigidPose{} : read_pose(in);
        std::vector<double> q;
        if (body.head["form"] == static_cast<int>(BodyForm::Bones))
            for (Index k = 0; k < bone.rank; ++k) q.push_back(in.take<float>());
        for (std::size_t i = 0; i < bone.rest.size() / 3; ++i) {
            Vec3 X(bone.rest[3 * i], bone.rest[3 * i + 1], bone.rest[3 * i + 2]);
            for (std::size_t k = 0; k < q.size(); ++k)
                for (std::size_t c = 0; c < 3; ++c)
                    X[static_cast<Index>(c)] +=
                        bone.scales[k] * q[k] * bone.basis[3 * (i * q.size() + k) + c];
            const auto vertex = bone.all ? static_cast<Index>(i) : static_cast<Index>(bone.vertices[i]);
            x.col(vertex) += (bone.all ? 1.0 : bone.weights[i]) * pose.apply(X);
        }
    }
    return in_world(frame, x);
}

} // namespace lithe::test
