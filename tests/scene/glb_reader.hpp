#pragma once
#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "lithe/math/rigid_pose.hpp"

namespace lithe::test {

/// Reads a .glb back by the specification alone, and plays its animation at the times of its key frames.
class GlbReader {
public:
    explicit GlbReader(const std::string& file) : file_(file)
    {
        check(word(0) == 0x46546C67 && word(4) == 2 && word(8) == file.size(), "header");
        const std::size_t text = word(12);
        check(word(16) == 0x4E4F534A && text % 4 == 0, "JSON chunk");
        json = nlohmann::json::parse(file.substr(20, text));
        const std::size_t bin = 20 + text;
        check(word(bin + 4) == 0x004E4942 && bin + 8 + word(bin) == file.size(), "BIN chunk");
        check(json["buffers"][0]["byteLength"] == word(bin), "length of the buffer");
        bytes_ = file.substr(bin + 8);
    }

    nlohmann::json json;

    /// A column per element. Only what we write: float, unsigned int, and unsigned short in [0, 1].
    MatX accessor(std::size_t index) const
    {
        const auto& a = json["accessors"][index];
        const auto& view = json["bufferViews"][a["bufferView"].get<std::size_t>()];
        const Index rows = a["type"] == "SCALAR" ? 1 : a["type"] == "VEC3" ? 3 : 4;
        const int component = a["componentType"];
        const std::size_t size = component == 5123 ? 2 : 4, offset = view["byteOffset"];
        MatX values(rows, a["count"].get<Index>());
        check(offset % 4 == 0, "alignment");
        check(view["byteLength"] == values.size() * size && offset + values.size() * size <= bytes_.size(),
              "view");
        for (Index i = 0; i < values.size(); ++i)
            values.data()[i] = number(bytes_.data() + offset + size * static_cast<std::size_t>(i), component);
        return values;
    }
    const nlohmann::json& node(const std::string& name) const
    {
        for (const auto& node : json["nodes"])
            if (node["name"] == name) return node;
        throw std::runtime_error("no node " + name);
    }
    const nlohmann::json& primitive(const std::string& name) const
    {
        return json["meshes"][node(name)["mesh"].get<std::size_t>()]["primitives"][0];
    }
    std::size_t target_count(const std::string& name) const
    {
        return primitive(name).contains("targets") ? primitive(name)["targets"].size() : 0;
    }

    /// The values of one animated property, a column per frame; empty when it is not animated.
    MatX channel(const std::string& name, const std::string& path) const
    {
        if (!json.contains("animations")) return {};
        const auto& animation = json["animations"][0];
        for (const auto& channel : animation["channels"])
            if (json["nodes"][channel["target"]["node"].get<std::size_t>()]["name"] == name &&
                channel["target"]["path"] == path)
                return accessor(animation["samplers"][channel["sampler"].get<std::size_t>()]["output"]);
        return {};
    }

    RigidPose pose(const std::string& name, Index frame) const
    {
        const auto& at = node(name);
        Vec3 t = Vec3::Zero();
        Vec4 q = Vec4::Unit(3);
        if (at.contains("translation"))
            for (int k = 0; k < 3; ++k) t[k] = at["translation"][k];
        if (at.contains("rotation"))
            for (int k = 0; k < 4; ++k) q[k] = at["rotation"][k];
        if (const MatX all = channel(name, "translation"); all.size() > 0) t = all.col(frame);
        if (const MatX all = channel(name, "rotation"); all.size() > 0) q = all.col(frame);
        return {Quat(q), t};
    }

    /// An attribute with the morph targets added, in the node.
    MatX morphed(const std::string& name, const std::string& attribute, Index frame) const
    {
        const auto& from = primitive(name);
        MatX value = accessor(from["attributes"][attribute]);
        const MatX weights = channel(name, "weights");
        const Index count = static_cast<Index>(target_count(name));
        for (Index k = 0; k < count; ++k)
            value += weights(0, frame * count + k) * accessor(from["targets"][k][attribute]);
        return value;
    }

    /// The vertices of a body in the world.
    MatX positions(const std::string& name, Index frame) const
    {
        const RigidPose at = pose(name, frame);
        return (at.rotation.toRotationMatrix() * morphed(name, "POSITION", frame)).colwise() + at.translation;
    }

private:
    static void check(bool good, const char* what)
    {
        if (!good) throw std::runtime_error(std::string("bad ") + what);
    }
    std::uint32_t word(std::size_t at) const
    {
        std::uint32_t value = 0;
        check(at + 4 <= file_.size(), "end");
        std::memcpy(&value, file_.data() + at, 4);
        return value;
    }
    static double number(const char* at, int component)
    {
        if (component == 5126) return take<float>(at);
        if (component == 5125) return take<std::uint32_t>(at);
        check(component == 5123, "component type");
        return take<std::uint16_t>(at) / 65535.0;
    }
    template <class T>
    static T take(const char* at)
    {
        T value;
        std::memcpy(&value, at, sizeof(T));
        return value;
    }

    std::string file_, bytes_;
};

} // namespace lithe::test
