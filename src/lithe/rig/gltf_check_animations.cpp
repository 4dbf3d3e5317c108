#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/rig/gltf_accessor.hpp"
#include "lithe/rig/gltf_check.hpp"

namespace lithe::gltf {
namespace {

class AnimationCheck {
public:
    AnimationCheck(const GltfDocument& document, const Value& animation)
        : document_(document), channels_(animation["channels"].array(1)),
          samplers_(animation["samplers"].array(1))
    {
    }

    void run()
    {
        for (std::size_t i = 0; i < samplers_.size(); ++i) check_sampler(samplers_[i].object());
        for (std::size_t i = 0; i < channels_.size(); ++i) check_channel(channels_[i].object());
    }

private:
    Accessor accessor_at(const Value& value) const
    {
        return accessor_of(document_, value.index(document_.count("accessors"), "accessors"));
    }

    void check_sampler(const Value& sampler) const
    {
        const Value input = sampler["input"];
        const Accessor times = accessor_at(input);
        if (times.type != "SCALAR" || times.component != Component::Float)
            input.fail("times must be of type SCALAR with floats; export the file again");
        check_times(input, numbers_of(times));
        accessor_at(sampler["output"]);
        if (sampler.has("interpolation")) sampler["interpolation"].one_of({"LINEAR", "STEP", "CUBICSPLINE"});
        if (is_cubic(sampler) && times.count < 2) input.fail("a spline needs two times at least");
    }

    static void check_times(const Value& input, const MatX& times)
    {
        if (times(0) < 0.0)
            input.fail(fmt::format("the first time is {} s; times begin at 0 or later", times(0)));
        for (Index i = 1; i < times.size(); ++i)
            if (!(times(i) > times(i - 1)))
                input.fail(fmt::format("time {} is {} s after {} s; times must rise, export the file again",
                                       i, times(i), times(i - 1)));
    }

    static bool is_cubic(const Value& sampler)
    {
        return sampler.text_or("interpolation", "LINEAR") == "CUBICSPLINE";
    }

    void check_channel(const Value& channel)
    {
        const auto sampler = static_cast<std::size_t>(channel["sampler"].index(samplers_.size(), "samplers"));
        const Value target = channel["target"].object();
        const std::string path = target["path"].text();
        if (path == "pointer" && target.has("extensions")) return; // moves what is no node; kept, not read
        target["path"].one_of({"translation", "rotation", "scale", "weights"});
        std::size_t values_per_key = 1;
        if (target.has("node")) {
            const int node = target["node"].index(document_.count("nodes"), "nodes");
            if (!targets_.insert({node, path}).second)
                target.fail(
                    fmt::format("the {} of node {} is moved twice; export the file again", path, node));
            if (path == "weights") values_per_key = morph_count(target["node"]);
            check_output(samplers_[sampler], path, values_per_key);
        }
    }

    std::size_t morph_count(const Value& node_index) const
    {
        const Json& node = document_.list("nodes")[node_index.json().get<std::size_t>()];
        const std::size_t count =
            node.contains("mesh") ? target_count(document_, node["mesh"].get<int>()) : 0;
        if (count == 0)
            node_index.fail("has no morph targets whose weights could move; export the file again");
        return count;
    }

    void check_output(const Value& sampler, const std::string& path, std::size_t values_per_key) const
    {
        const Value output = sampler["output"];
        const Accessor values = accessor_at(output), times = accessor_at(sampler["input"]);
        const std::string type = path == "rotation" ? "VEC4" : path == "weights" ? "SCALAR" : "VEC3";
        if (values.type != type) output.fail(fmt::format("is {}, but a {} is {}", values.type, path, type));
        const bool may_be_integer = path == "rotation" || path == "weights";
        if (values.component != Component::Float && !(may_be_integer && values.normalized))
            output.fail(fmt::format("a {} must be floats{}; export the file again", path,
                                    may_be_integer ? " or normalised integers" : ""));
        const std::size_t rows = is_cubic(sampler) ? 3 : 1;
        if (values.count % (rows * values_per_key) != 0 ||
            values.count / (rows * values_per_key) != times.count)
            output.fail(fmt::format("has {} values, but {} times need {} each; export the file again",
                                    values.count, times.count, rows * values_per_key));
        if (path == "rotation") check_rotations(output, numbers_of(values), static_cast<Index>(rows));
    }

    /// Zero is no rotation. Of a spline, values lie between their tangents.
    static void check_rotations(const Value& output, const MatX& values, Index rows)
    {
        for (Index i = rows / 2; i < values.cols(); i += rows)
            if (const double norm = values.col(i).norm(); !(norm > 1e-6 && norm < 1e6))
                output.fail(fmt::format("element {} is no unit quaternion; export the file again", i));
    }

    const GltfDocument& document_;
    Value channels_, samplers_;
    std::set<std::pair<int, std::string>> targets_;
};

} // namespace

void check_animations(const GltfDocument& document)
{
    for (std::size_t i = 0; i < document.count("animations"); ++i)
        AnimationCheck(document, item(document, "animations", i)).run();
}

} // namespace lithe::gltf
