#include "lithe/geometry/shape_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lithe/core/parallel.hpp"

namespace lithe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;

struct ConeSample {
    double d;
    Vec3 n;
};

ConeSample ball_sample(const Vec3& v, double radius)
{
    const double length = v.norm();
    return {length - radius, length > 0.0 ? Vec3(v / length) : Vec3(Vec3::UnitY())};
}

/// In the plane through the axis, with y along it and x away from it, the surface between the two tangent
/// circles is a straight line with normal n = (cos A, sin A), sin A = (r_a - r_b) / l. A point's nearest ball
/// has its centre at s = y - x tan A; beyond the ends it is an end ball; in between the distance is
/// x cos A + y sin A - r_a.
ConeSample cone_sample(const RoundCone& cone, const Vec3& p)
{
    const Vec3 v = p - cone.a;
    if (cone.length == 0.0) return ball_sample(v, cone.radius_a);
    const double y = v.dot(cone.along);
    const Vec3 across = v - y * cone.along;
    const double x = across.norm();
    const double s = y - x * cone.tan_A;
    if (s <= 0.0) return ball_sample(v, cone.radius_a);
    if (s >= cone.length) return ball_sample(v - cone.length * cone.along, cone.radius_b);
    const Vec3 away = x > 0.0 ? Vec3(across / x) : cone.along.unitOrthogonal();
    return {x * cone.cos_A + y * cone.sin_A - cone.radius_a, cone.cos_A * away + cone.sin_A * cone.along};
}

} // namespace

RoundCone::RoundCone(const Vec3& start, const Vec3& end, double start_radius, double end_radius)
    : a(start), along(end - start), length(along.norm()), radius_a(start_radius), radius_b(end_radius)
{
    const double difference = radius_a - radius_b;
    if (length <= std::abs(difference)) { // one end ball holds the other
        if (difference < 0.0) a = end, radius_a = radius_b;
        length = 0.0;
        return;
    }
    along /= length;
    sin_A = difference / length;
    cos_A = std::sqrt(1.0 - sin_A * sin_A);
    tan_A = sin_A / cos_A;
}

double RoundCone::distance(const Vec3& p) const
{
    return cone_sample(*this, p).d;
}

ShapeField::ShapeField(const ShapeModel& model)
{
    nodes_.resize(model.joints.size());
    for (const ShapePart& part : model.parts) nodes_[part.joint].parts.push_back(prepare(part));
    double bound = 1.0;
    for (std::size_t j = nodes_.size();
         j-- > 0;) { // children come after their parents: their boxes are ready
        Node& node = nodes_[j];
        node.bound = 1.0;
        for (const Part& part : node.parts) {
            node.box.extend(part.box);
            node.bound = std::min(node.bound, part.bound);
            slack_ = std::max(slack_, part.blend);
        }
        std::reverse(node.children.begin(), node.children.end());
        for (const int child : node.children) {
            node.box.extend(nodes_[child].box);
            node.bound = std::min(node.bound, nodes_[child].bound);
        }
        bound = std::min(bound, node.bound);
        if (model.joints[j].parent >= 0)
            nodes_[model.joints[j].parent].children.push_back(static_cast<int>(j));
        else
            roots_.insert(roots_.begin(), static_cast<int>(j));
        box_.extend(node.box);
    }
    // a subtree's values reach below the values of its parts by up to the slack
    box_.min().array() -= slack_ / bound;
    box_.max().array() += slack_ / bound;
}

ShapeField::Part ShapeField::prepare(const ShapePart& part)
{
    Part result;
    const Vec3& s = part.squash;
    result.to_round = s.cwiseInverse().asDiagonal() * part.frame.transpose();
    result.round = (s.array() == 1.0).all();
    if (result.round) result.to_round = Mat3::Identity();
    result.cone = RoundCone(result.to_round * part.a, result.to_round * part.b, part.radius_a, part.radius_b);
    result.scale = s.minCoeff();
    result.bound = s.minCoeff() / s.maxCoeff();
    result.blend = part.blend;
    result.color = part.color;
    // half sizes of an ellipsoid along the world's axes: |row of frame * diag(s)|
    const Vec3 half = (part.frame * s.asDiagonal()).rowwise().norm();
    for (const auto& [centre, radius] : {std::pair(part.a, part.radius_a), std::pair(part.b, part.radius_b)})
        result.box.extend(Box3(centre - radius * half, centre + radius * half));
    return result;
}

ShapeField::Sample ShapeField::sample(const Part& part, const Vec3& p)
{
    if (part.round) {
        const ConeSample round = cone_sample(part.cone, p);
        return {round.d, round.n, part.blend, part.color, part.blend};
    }
    const ConeSample squashed = cone_sample(part.cone, part.to_round * p);
    const Vec3 n = (part.to_round.transpose() * squashed.n).normalized();
    return {part.scale * squashed.d, n, part.blend, part.color, part.blend};
}

ShapeField::Sample ShapeField::blended(const Sample& a, const Sample& b) const
{
    const Sample &near = a.d <= b.d ? a : b, &far = a.d <= b.d ? b : a;
    const double gap = far.d - near.d;
    if (!(gap < slack_)) return near;
    Sample result = near;
    const double k = std::min(a.blend, b.blend) * (1.0 - std::clamp(a.n.dot(b.n), 0.0, 1.0));
    if (gap < k) result.d -= 0.25 * (1.0 - gap / k) * (1.0 - gap / k) * k;

    // what later blends go by must not jump where near and far change places: mixed half and half there
    const double mix = 0.5 * (1.0 - gap / slack_) * (1.0 - gap / slack_);
    result.n += mix * (far.n - near.n);
    result.blend += mix * (far.blend - near.blend);

    const double fade = std::min(a.fade, b.fade); // colours may jump
    if (gap < fade) result.color += 0.5 * (1.0 - gap / fade) * (1.0 - gap / fade) * (far.color - near.color);
    return result;
}

/// Boxes that are too far away to matter are skipped; this changes no value, since blending leaves alone what is
/// more than the largest blend apart.
ShapeField::Sample ShapeField::subtree(int index, const Vec3& p) const
{
    const Node& node = nodes_[index];
    const auto reaches = [&](const Box3& box, double bound, double limit) {
        return bound * bound * box.squaredExteriorDistance(p) <= limit * limit;
    };
    Sample all = nothing();
    for (const Part& part : node.parts)
        if (reaches(part.box, part.bound, std::max(0.0, all.d) + slack_)) all = blended(all, sample(part, p));
    for (const int c : node.children) {
        const Node& child = nodes_[c];
        if (reaches(child.box, child.bound, std::max(0.0, all.d) + 2.0 * slack_))
            all = blended(all, subtree(c, p));
    }
    return all;
}

ShapeField::Sample ShapeField::nothing()
{
    return {infinity, Vec3::UnitY(), 0.0, Vec3::Zero(), 0.0};
}

ShapeField::Sample ShapeField::sample(const Vec3& p) const
{
    Sample best = nothing();
    for (const int root : roots_)
        if (const Sample s = subtree(root, p); s.d < best.d) best = s;
    return best;
}

double ShapeField::value(const Vec3& p) const
{
    return sample(p).d;
}
Vec3 ShapeField::color(const Vec3& p) const
{
    return sample(p).color;
}

namespace {

/// The colour around a point of the surface, so that the edges of colours are not ragged.
Vec3 mean_color(const ShapeField& field, const Vec3& p, const Vec3& normal, double radius)
{
    constexpr int count = 8;
    const Vec3 u = normal.unitOrthogonal(), w = normal.cross(u);
    Vec3 sum = 2.0 * field.color(p);
    for (int i = 0; i < count; ++i) {
        const double angle = 2.0 * pi * i / count, r = i % 2 ? radius : 0.6 * radius;
        sum += field.color(p + r * (std::cos(angle) * u + std::sin(angle) * w));
    }
    return sum / (count + 2.0);
}

} // namespace

TriangleMesh shape_surface(const ShapeModel& model, double cell, Progress& progress)
{
    const ShapeField field(model);
    const ImplicitFunction f{[&](const Vec3& p) { return field.value(p); }, 1.0, field.slack()};
    TriangleMesh mesh = isosurface(f, field.box(), cell, progress);
    VertexField color{"color", MatX(3, mesh.vertex_count())};
    const Points normals = vertex_normals(mesh);
    parallel_for(mesh.vertex_count(), 64, [&](std::ptrdiff_t v) {
        color.values.col(v) = mean_color(field, mesh.vertices.col(v), normals.col(v), 0.5 * cell);
    });
    mesh.fields.push_back(std::move(color));
    return mesh;
}

namespace {

/// The area of a part that the rest of the shape does not hide, from samples on it. [m^2]
double exposed_area(const ShapePart& part, const ShapeField& field)
{
    constexpr int count = 64;
    constexpr double golden_angle = pi * (3.0 - 2.2360679774997896964);
    const Vec3 axis = part.b - part.a;
    const double length = axis.norm();
    const Vec3 along = length > 0.0 ? Vec3(axis / length) : Vec3(Vec3::UnitY());
    const Vec3 u = along.unitOrthogonal(), w = along.cross(u);
    const Mat3 squash = part.frame * part.squash.asDiagonal() * part.frame.transpose();
    const double stretch = std::pow(part.squash.prod(), 2.0 / 3.0);
    const auto exposed = [&](const Vec3& centre, const Vec3& arm) {
        return field.value(centre + squash * arm) > -0.02 * arm.norm();
    };
    double sum = 0.0;
    for (int i = 0; i < count; ++i) { // a spiral along the side, and one over each end ball
        const double t = (i + 0.5) / count, angle = i * golden_angle;
        const Vec3 around = std::cos(angle) * u + std::sin(angle) * w;
        const double r = part.radius_a + t * (part.radius_b - part.radius_a);
        if (exposed(part.a + t * axis, r * around)) sum += 2.0 * pi * r * length / count;
        const Vec3 on_ball =
            (2.0 * t - 1.0) * along + std::sqrt(1.0 - (2.0 * t - 1.0) * (2.0 * t - 1.0)) * around;
        const double ra = part.radius_a, rb = part.radius_b;
        if (exposed(part.a, ra * on_ball)) sum += 4.0 * pi * ra * ra / count;
        if (length > 0.0 && exposed(part.b, rb * on_ball)) sum += 4.0 * pi * rb * rb / count;
    }
    return sum * stretch;
}

} // namespace

double default_cell(const ShapeModel& model)
{
    constexpr double triangles = 18000.0;
    constexpr double triangle_area = 0.45; // of isosurface, in squared cells, as measured
    const ShapeField field(model);
    double sum = 0.0;
    for (const ShapePart& part : model.parts) sum += exposed_area(part, field);
    return std::sqrt(sum / (triangles * triangle_area));
}

} // namespace lithe
