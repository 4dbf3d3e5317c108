#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/math/types.hpp"

namespace lithe {

/// One joint of a modelled shape's skeleton.
struct ShapeJoint {
    std::string name;
    int parent = -1;              ///< -1: a root; else below its own index
    Vec3 position = Vec3::Zero(); ///< [m]
    double radius = 0.0;          ///< of the flesh at the joint [m]; 0: the joint has no flesh of its own
    double blend = 0.0;           ///< how wide its flesh flows into its parent's [m]
};

/// A piece of flesh: a round cone, the union of the balls whose centre runs from a to b while their radius runs
/// from radius_a to radius_b. With a = b it is a ball.
struct ShapePart {
    int joint = 0;                           ///< it belongs to this joint's flesh
    Vec3 a = Vec3::Zero(), b = Vec3::Zero(); ///< [m]
    double radius_a = 0.0, radius_b = 0.0;   ///< [m], > 0
    Vec3 squash = Vec3::Ones();              ///< factors on the radius along the columns of `frame`
    Mat3 frame = Mat3::Identity();           ///< orthogonal
    double blend = 0.0;                      ///< how wide it flows into the joint's earlier parts [m]
    Vec3 color = Vec3::Constant(0.8);        ///< each component in [0, 1]
};

/// A shape as written in the modelling language (docs/shape-language.md): a skeleton, and flesh on it.
struct ShapeModel {
    std::vector<ShapeJoint> joints; ///< parents before children
    std::vector<ShapePart> parts;
};

/// Reads the language. `name` is the file's name for messages. Throws InputError with the line, what is wrong
/// there and how to mend it. Work and result are bounded whatever the text says.
ShapeModel parse_shape(std::string_view text, const std::filesystem::path& name);

/// Reads a .shape file.
ShapeModel read_shape(const std::filesystem::path& file);

/// The skeleton as text: a line per joint with index, parent, name, position and orientation (the identity).
std::string skeleton_text(const ShapeModel& model);

} // namespace lithe
