#include "lithe/contact/detect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/shapes.hpp"
#include "support/count_mallocs.hpp"
#include "support/random_matrices.hpp"

using namespace lithe;
using namespace lithe::test;

namespace {

constexpr double h = 1.0 / 60.0;

/// A body that goes straight from one pose to another.
struct Thing {
    CollisionSurface surface;
    SweptSurface swept;

    explicit Thing(const TriangleMesh& mesh, double thickness = 0.0)
        : surface(make_collision_surface(mesh, thickness)), swept(surface)
    {
    }
    explicit Thing(const RigidShape& shape) : surface(*collision_surface_of(shape)), swept(surface) {}
    Thing(const Thing&) = delete;

    Thing& go(const RigidPose& from, const RigidPose& to)
    {
        swept.start = (from.rotation.toRotationMatrix() * surface.rest).colwise() + from.translation;
        swept.end = (to.rotation.toRotationMatrix() * surface.rest).colwise() + to.translation;
        swept.update();
        return *this;
    }
    Thing& go(const Vec3& from, const Vec3& way)
    {
        return go(RigidPose{.translation = from}, RigidPose{.translation = from + way});
    }
    Thing& stay(const Vec3& at = Vec3::Zero()) { return go(at, Vec3::Zero()); }
};

const DetectOptions everything{.reduce = {.most = 0}};

std::vector<SurfaceContact> contacts(const Thing& a, const Thing& b,
                                     const DetectOptions& options = everything)
{
    DetectWork work;
    std::vector<SurfaceContact> out;
    detect_contacts(a.swept, b.swept, 1, options, work, out);
    return out;
}

/// The way of `a` against `b` that is left when all constraints are satisfied, by projections; only as a whole, without
/// turning.
Vec3 allowed_way(const std::vector<SurfaceContact>& found, Vec3 way)
{
    for (int sweep = 0; sweep < 200; ++sweep)
        for (const SurfaceContact& c : found) way += c.normal * std::max(0.0, -c.gap - c.normal.dot(way));
    return way;
}

void expect_sound(const std::vector<SurfaceContact>& found, const Thing& a, const Thing& b)
{
    std::set<std::uint64_t> keys;
    for (const SurfaceContact& c : found) {
        EXPECT_NEAR(c.normal.norm(), 1.0, 1e-9);
        EXPECT_TRUE(keys.insert(c.key).second);
        const auto place = [](const Thing& thing, const ContactSide& side) {
            Vec3 x = Vec3::Zero();
            for (int k = 0; k < 3; ++k)
                x += side.weights[k] * thing.swept.start.col(thing.surface.triangles(k, side.triangle));
            return x;
        };
        EXPECT_LT((place(a, c.a) - c.a.point).norm(), 1e-9);
        EXPECT_LT((place(b, c.b) - c.b.point).norm(), 1e-9);
        EXPECT_NEAR(c.a.weights.sum(), 1.0, 1e-9);
        EXPECT_NEAR(c.b.weights.sum(), 1.0, 1e-9);
    }
}

double deepest(const std::vector<SurfaceContact>& found)
{
    double gap = std::numeric_limits<double>::infinity();
    for (const SurfaceContact& c : found) gap = std::min(gap, c.gap);
    return gap;
}

} // namespace

// Acceptance: a ball at 50 m/s does not pass a plate of 5 mm, wherever and whichever way it comes.
TEST(Detect, AFastBallDoesNotPassAThinPlate)
{
    Random random(7);
    const double radius = 0.05;
    const Vec3 size(1.0, 0.005, 1.0);
    const RigidShape solid = BoxShape{size};
    for (const double cell : {0.1, 1.0}) {
        Thing ball(make_sphere(radius, 0.02)), plate(make_box(size, cell));
        plate.stay();
        int hits = 0;
        for (int i = 0; i < 150; ++i) {
            Vec3 direction(random.normal(), -std::abs(random.normal()) - 0.05, random.normal());
            direction.normalize();
            const Vec3 at(random.uniform(-0.52, 0.52), radius, random.uniform(-0.52, 0.52));
            const Vec3 way = 50.0 * h * direction, from = at - random.uniform(0.01, 0.99) * way;
            if (from.y() < radius + 0.004) continue; // begins outside
            const Mat3 R = random_rotation(random);
            const RigidPose pose{Quat(R), from};
            ball.go(pose, {pose.rotation, from + way});
            const auto found = contacts(ball, plate);
            expect_sound(found, ball, plate);
            const Vec3 allowed = allowed_way(found, way);
            ++hits;
            // where it ends it touches the plate at most, and it is above or beside it, never below its middle
            const Vec3 end = from + allowed;
            EXPECT_GT(signed_distance(solid, end).distance, 0.93 * radius)
                << from.transpose() << " + " << way.transpose();
            if (std::abs(end.x()) < 0.5 && std::abs(end.z()) < 0.5) {
                EXPECT_GT(end.y(), 0.0) << from.transpose() << " + " << way.transpose();
            }
        }
        EXPECT_GT(hits, 100);
    }
}

// The same with the plate's few contacts that reduction leaves.
TEST(Detect, ReductionKeepsTheBallFromPassing)
{
    Random random(8);
    const double radius = 0.05;
    Thing ball(make_sphere(radius, 0.02)), plate(make_box(Vec3(1.0, 0.005, 1.0), 0.1));
    plate.stay();
    for (int i = 0; i < 100; ++i) {
        const Vec3 from(random.uniform(-0.3, 0.3), random.uniform(0.1, 0.6), random.uniform(-0.3, 0.3));
        const Vec3 way(random.uniform(-0.2, 0.2), -50.0 * h, random.uniform(-0.2, 0.2));
        ball.go(from, way);
        const auto found = contacts(ball, plate, {});
        EXPECT_LE(found.size(), 40u);
        EXPECT_GT((from + allowed_way(found, way)).y(), 0.9 * radius);
    }
}

// A moving plate that hits a ball at rest, and both in the same fast frame.
TEST(Detect, OnlyRelativeMotionMatters)
{
    Thing ball(make_sphere(0.05, 0.02)), plate(make_box(Vec3(0.4, 0.005, 0.4), 0.1));
    const Vec3 wind(3.0, 20.0, -7.0);
    ball.go(Vec3(0.03, 0.3, 0.02), wind);
    plate.go(Vec3::Zero(), wind + Vec3(0.0, 0.8, 0.0));
    const auto moving = contacts(ball, plate);
    ball.go(Vec3(0.03, 0.3, 0.02), Vec3(0.0, -0.8, 0.0));
    plate.stay();
    const auto standing = contacts(ball, plate);
    ASSERT_EQ(moving.size(), standing.size());
    ASSERT_FALSE(standing.empty());
    EXPECT_NEAR(deepest(moving), deepest(standing), 1e-9);
}

TEST(Detect, PassingSidewaysIsNotHindered)
{
    Thing ball(make_sphere(0.05, 0.02)), box(make_box(Vec3(0.2, 0.2, 0.2), 0.05));
    box.stay();
    Random random(9);
    int near = 0;
    for (int i = 0; i < 300; ++i) {
        // past a face, an edge or a corner, nearly touching, fast
        const Mat3 R = random_rotation(random);
        const Vec3 way = 50.0 * h * R.col(0);
        const RigidShape solid = BoxShape{Vec3::Constant(0.2)};
        Vec3 closest = 0.3 * R.col(1); // brought to just beside the box
        for (int k = 0; k < 30; ++k)
            closest -= (signed_distance(solid, closest).distance - 0.0504) * R.col(1);
        const Vec3 from = closest - 0.5 * way;
        double least = 1.0;
        for (int k = 0; k <= 500; ++k)
            least = std::min(least, signed_distance(solid, from + way * (k / 500.0)).distance);
        if (least < 0.0501) continue;
        ball.go(from, way);
        const auto found = contacts(ball, box);
        near += !found.empty();
        for (const SurfaceContact& c : found) EXPECT_GE(c.normal.dot(way), -c.gap - 1e-12);
    }
    EXPECT_GT(near, 5);
}

// Sliding over a floor while gravity bends the prediction into it: nothing may stand in the way.
TEST(Detect, SlidingIsNotHindered)
{
    for (const double speed : {1.0, 10.0, 50.0}) {
        Thing box(make_box(Vec3(0.3, 0.2, 0.3), 0.1)), ball(make_sphere(0.1, 0.04)),
            floor(make_box(Vec3(6.0, 0.5, 2.0), 0.13));
        floor.stay(Vec3(0.0, -0.25, 0.0));
        const Vec3 way(speed * h, -9.81 * h * h, 0.1 * speed * h);
        box.go(Vec3(-1.0, 0.1 + 1e-5, 0.0), way);
        ball.go(Vec3(-1.0, 0.1 + 1e-5, 0.0), way);
        for (const Thing* slider : {&box, &ball}) {
            const auto found = contacts(*slider, floor);
            ASSERT_FALSE(found.empty());
            const Vec3 left = allowed_way(found, way);
            EXPECT_LT((left - Vec3(way.x(), -1e-5, way.z())).norm(), 0.002 * way.norm() + 1e-4) << speed;
        }
    }
}

TEST(Detect, BoxesAtRestOnEachOther)
{
    const Vec3 size(0.2, 0.1, 0.2);
    for (const double cell : {0.3, 0.05})
        for (const double gap : {2e-4, 0.0, -1e-5})
            for (const Vec3& shift : {Vec3(0, 0, 0), Vec3(0.03, 0, -0.02), Vec3(0.09, 0, 0.0)})
                for (const double turn : {0.0, 0.3, 0.785}) {
                    Thing upper(make_box(size, cell)), lower(make_box(size, cell));
                    lower.stay();
                    const RigidPose pose{Quat(Eigen::AngleAxisd(turn, Vec3::UnitY())),
                                         Vec3(0, 0.1 + gap, 0) + shift};
                    upper.go(pose, {pose.rotation, pose.translation - Vec3(0, 9.81 * h * h, 0)});
                    const auto found = contacts(upper, lower, {});
                    expect_sound(found, upper, lower);
                    int upward = 0;
                    Box3 patch;
                    for (const SurfaceContact& c : found) {
                        if (c.normal.y() < 0.999) {
                            EXPECT_GE(-9.81 * h * h * c.normal.y(), -c.gap - 1e-5)
                                << gap << ' ' << cell << ' ' << shift.transpose() << ' ' << turn << " n "
                                << c.normal.transpose() << " gap " << c.gap;
                            continue;
                        }
                        ++upward;
                        patch.extend(c.point());
                        EXPECT_NEAR(c.gap, gap, 1e-9);
                    }
                    EXPECT_GE(upward, 4) << gap << ' ' << cell << ' ' << shift.transpose() << ' ' << turn;
                    EXPECT_LE(upward, 16);
                    EXPECT_GT(patch.sizes().x() * patch.sizes().z(), 0.25 * (0.2 - shift.x()) * 0.2)
                        << gap << ' ' << cell << ' ' << shift.transpose() << ' ' << turn;
                }
}

// Deep in each other at the start: every normal is the short way out, and the sum of what they ask for parts the two.
TEST(Detect, DeepOverlapLeavesTheShortWay)
{
    struct Case {
        Vec3 size_a, size_b, at;
        Vec3 way; ///< the short one
    };
    for (const double cell : {0.5, 0.1})
        for (const Case& c :
             {Case{Vec3(1, 1, 1), Vec3(1, 1, 1), Vec3(0.1, 0.7, -0.05), Vec3(0, 0.3, 0)},
              Case{Vec3(0.4, 0.4, 0.4), Vec3(2, 1, 2), Vec3(0.83, 0.6, 0.1), Vec3(0, 0.1, 0)},
              Case{Vec3(2, 0.2, 0.3), Vec3(0.3, 0.2, 2), Vec3(0, 0.12, 0), Vec3(0, 0.08, 0)},
              Case{Vec3(0.2, 2, 0.2), Vec3(3, 0.01, 3), Vec3(0, 0.998, 0), Vec3(0, 0.007, 0)}}) {
            Thing a(make_box(c.size_a, cell)), b(make_box(c.size_b, cell));
            a.stay(c.at);
            b.stay();
            const auto found = contacts(a, b);
            expect_sound(found, a, b);
            ASSERT_FALSE(found.empty());
            EXPECT_LT(deepest(found), -0.99 * c.way.norm());
            for (const SurfaceContact& contact : found) {
                if (contact.gap < -1e-9) {
                    EXPECT_GT(contact.normal.dot(c.way.normalized()), 0.7)
                        << c.at.transpose() << " cell " << cell << " n " << contact.normal.transpose()
                        << " gap " << contact.gap << " at " << contact.point().transpose();
                }
            }
            EXPECT_LT((allowed_way(found, Vec3::Zero()) - c.way).norm(), 0.1 * c.way.norm())
                << allowed_way(found, Vec3::Zero()).transpose();
        }
}

TEST(Detect, DeepBallsPartAlongTheirCentres)
{
    for (const double distance : {0.19, 0.15, 0.1}) {
        Thing a(make_sphere(0.1, 0.03)), b(make_sphere(0.1, 0.03));
        const Vec3 along = Vec3(1, 2, -1).normalized();
        a.stay(distance * along);
        b.stay();
        const auto found = contacts(a, b);
        ASSERT_FALSE(found.empty());
        for (const SurfaceContact& contact : found) EXPECT_GT(contact.normal.dot(along), 0.6);
        const Vec3 way = allowed_way(found, Vec3::Zero());
        EXPECT_GT(way.normalized().dot(along), 0.97);
        EXPECT_NEAR(way.norm(), 0.2 - distance, 0.3 * (0.2 - distance) + 0.004);
    }
}

// The second end of a rod may swing down after the first has struck: it must be kept from passing as well.
TEST(Detect, BothEndsOfAFastRodAreHeld)
{
    Thing rod(make_cylinder(0.02, 1.0, 0.015)), plate(make_box(Vec3(2.0, 0.005, 2.0), 0.2));
    plate.stay();
    for (const double tilt : {0.1, 0.3, 0.5}) {
        const Quat R(Eigen::AngleAxisd(0.5 * std::numbers::pi - tilt, Vec3::UnitZ()));
        const Vec3 from(0.1, 0.55 * std::sin(tilt) + 0.1, -0.1);
        rod.go(RigidPose{R, from}, {R, from - Vec3(0.0, 50.0 * h, 0.0)});
        const auto found = contacts(rod, plate, {});
        double left = 1.0, right = -1.0;
        for (const SurfaceContact& c : found) {
            if (c.normal.y() < 0.99) continue;
            EXPECT_NEAR(c.gap, c.a.point.y() - 0.0025, 1e-6);
            left = std::min(left, c.a.point.x() - from.x());
            right = std::max(right, c.a.point.x() - from.x());
        }
        EXPECT_LT(left, -0.45 * std::cos(tilt));
        EXPECT_GT(right, 0.45 * std::cos(tilt));
    }
}

// Turning as well as going: a blade that sweeps through a ball within one step.
TEST(Detect, ATurningBladeHits)
{
    Thing blade(make_box(Vec3(1.0, 0.3, 0.005), 0.1)), ball(make_sphere(0.05, 0.02));
    ball.stay(Vec3(0.35, 0.0, 0.2));
    const Quat turn(Eigen::AngleAxisd(-1.0, Vec3::UnitY()));
    blade.go(RigidPose{}, RigidPose{turn, Vec3::Zero()});
    const auto found = contacts(ball, blade);
    ASSERT_FALSE(found.empty());
    int pushed = 0;
    for (const SurfaceContact& c : found) {
        if (c.normal.z() < 0.3) continue;
        // the predicted motion of the blade at that point violates the constraint
        const int t = c.b.triangle;
        Vec3 motion = Vec3::Zero();
        for (int k = 0; k < 3; ++k)
            motion -= c.b.weights[k] * blade.swept.point(blade.surface.triangles(k, t)).dx;
        pushed += c.normal.dot(motion) < -c.gap;
    }
    EXPECT_GT(pushed, 3);
}

TEST(Detect, RoundedShapesAreExact)
{
    Random random(12);
    Thing ball(SphereShape{0.1}), capsule(CapsuleShape{0.05, 0.4}),
        plate(make_box(Vec3(2.0, 0.005, 2.0), 2.0));
    plate.stay();
    for (int i = 0; i < 50; ++i) { // smaller than any triangle of the plate
        const Vec3 from(random.uniform(-0.5, 0.5), 0.5, random.uniform(-0.5, 0.5));
        const Vec3 way(random.uniform(-0.2, 0.2), -0.8, random.uniform(-0.2, 0.2));
        ball.go(from, way);
        EXPECT_NEAR((from + allowed_way(contacts(ball, plate), way)).y(), 0.1025, 1e-9);

        const Quat R(random_rotation(random));
        capsule.go(RigidPose{R, from}, {R, from + way});
        const double reach = 0.2 * std::abs((R * Vec3::UnitY()).y()) + 0.05;
        EXPECT_NEAR((from + allowed_way(contacts(capsule, plate), way)).y(), reach + 0.0025, 1e-9);
    }
    Thing other(SphereShape{0.2});
    ball.stay(Vec3(0.25, 0.0, 0.0));
    other.stay();
    const auto found = contacts(ball, other);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(deepest(found), -0.05, 1e-12);
    EXPECT_GT(found[0].normal.x(), 1.0 - 1e-12);
}

TEST(Detect, OpenSurfacesAreFeltFromBothSides)
{
    TriangleMesh sheet{.vertices = Points(3, 4), .triangles = Triangles(3, 2)};
    sheet.vertices << -1, 1, 1, -1, 0, 0, 0, 0, -1, -1, 1, 1;
    sheet.triangles << 0, 0, 1, 2, 2, 3;
    Thing cloth(sheet), ball(make_sphere(0.05, 0.02));
    cloth.stay();
    for (const double side : {1.0, -1.0}) {
        const Vec3 from(0.2, 0.3 * side, 0.1), way(0.05, -0.8 * side, 0.0);
        ball.go(from, way);
        EXPECT_NEAR(side * (from + allowed_way(contacts(ball, cloth), way)).y(), 0.05, 1e-3);
    }
}

namespace {

/// A bar folded about its middle, arms a gap apart, as in the tests of self-contact by tets.
struct Folded {
    TriangleMesh mesh = make_box(Vec3(2.0, 0.1, 0.3), 0.1);

    Points folded(double gap) const
    {
        Points x = mesh.vertices;
        const double radius = 0.2, half = 0.5 * std::numbers::pi * radius;
        for (Index i = 0; i < x.cols(); ++i) {
            const double s = x(0, i), t = -x(1, i);
            const double beyond = std::max(0.0, std::abs(s) - half), side = std::copysign(1.0, s);
            const double apart = radius - (radius - 0.05 - 0.5 * gap) * std::min(1.0, beyond / 0.3);
            if (std::abs(s) > half)
                x.col(i) = Vec3(half - std::abs(s), side * (apart + t), x(2, i));
            else
                x.col(i) =
                    Vec3((radius + t) * std::cos(s / radius), (radius + t) * std::sin(s / radius), x(2, i));
        }
        return x;
    }
};

} // namespace

TEST(Detect, ASurfaceMeetsItself)
{
    const Folded bar;
    const CollisionSurface surface = make_collision_surface(bar.mesh);
    SweptSurface swept(surface);
    DetectWork work;
    std::vector<SurfaceContact> found;
    const DetectOptions options{.self_distance = 0.02, .reduce = {.most = 0}};
    detect_self_contacts(swept, 1, options, work, found);
    EXPECT_TRUE(found.empty()); // at rest

    swept.start = bar.folded(0.05);
    swept.end = bar.folded(-0.06);
    swept.update();
    detect_self_contacts(swept, 1, options, work, found);
    ASSERT_GT(found.size(), 10u);
    for (const SurfaceContact& c : found) {
        EXPECT_GT(std::abs(c.normal.y()), 0.7);
        EXPECT_GT(c.normal.y() * (c.a.point.y() - c.b.point.y()), 0.0); // from b to a, through the gap
        EXPECT_GT(c.gap, 0.04);
    }

    found.clear(); // already through, by less than the margin
    swept.start = swept.end = bar.folded(-0.0005);
    swept.update();
    detect_self_contacts(swept, 1, options, work, found);
    ASSERT_GT(found.size(), 4u);
    int apart = 0;
    for (const SurfaceContact& c : found) apart += c.gap < 0.0 && std::abs(c.normal.y()) > 0.9;
    EXPECT_GT(apart, 4);

    found.clear(); // open again
    swept.start = swept.end = bar.folded(0.05);
    swept.update();
    detect_self_contacts(swept, 1, options, work, found);
    EXPECT_TRUE(found.empty());
}

namespace {

std::vector<SurfaceContact> contacts(const Thing& a, const Obstacle& b)
{
    DetectWork work;
    std::vector<SurfaceContact> out;
    detect_contacts(a.swept, b, 1, everything, work, out);
    return out;
}

} // namespace

// Every vertex that comes near a rigid shape on its way has a contact that stops it, and only those that would enter
// are stopped.
TEST(Detect, VerticesAgainstRigidShapes)
{
    Random random(21);
    int stopped = 0, passing = 0;
    Thing ball(make_sphere(0.1, 0.06));
    for (const RigidShape& shape :
         {RigidShape(PlaneShape{}), RigidShape(BoxShape{Vec3(0.4, 0.005, 0.6)}), RigidShape(SphereShape{0.2}),
          RigidShape(CapsuleShape{0.1, 0.3}), RigidShape(CylinderShape{0.2, 0.01})})
        for (int i = 0; i < 40; ++i) {
            Obstacle obstacle{.shape = &shape, .surface = nullptr, .pose_0 = {}, .pose_1 = {}};
            if (i % 2 == 1)
                obstacle.pose_1 = {exp_quat(0.3 * random_vector(random, 3)), 0.1 * random_vector(random, 3)};
            const Vec3 from(random.uniform(-0.4, 0.4), 0.45, random.uniform(-0.4, 0.4));
            ball.go(from,
                    Vec3(random.uniform(-0.5, 0.5), random.uniform(-0.9, -0.2), random.uniform(-0.5, 0.5)));
            const auto found = contacts(ball, obstacle);
            for (const int v : ball.surface.points) {
                const MovingPoint p = ball.swept.point(v);
                double least = 1.0, when = 0.0;
                const auto scan = [&](double first, double last) {
                    for (int k = 0; k <= 200; ++k) {
                        const double s = std::clamp(first + (last - first) * k / 200.0, 0.0, 1.0);
                        const RigidPose pose = interpolated(obstacle.pose_0, obstacle.pose_1, s);
                        const double d = signed_distance(shape, pose.apply_inverse(p.at(s))).distance;
                        if (d < least) when = s;
                        least = std::min(least, d);
                    }
                };
                scan(0.0, 1.0);
                scan(when - 0.005, when + 0.005);
                const auto at =
                    std::ranges::find_if(found, [&](const SurfaceContact& c) { return c.a.point == p.x; });
                if (least < 0.9e-3) {
                    ASSERT_NE(at, found.end()) << least;
                }
                if (at == found.end()) continue;
                const Vec3 material = obstacle.pose_0.apply_inverse(at->b.point);
                const Vec3 motion = p.dx - (obstacle.pose_1.apply(material) - at->b.point);
                if (least < -1e-3) {
                    ++stopped;
                    EXPECT_LT(at->normal.dot(motion), -at->gap);
                } else if (least > 1e-4) {
                    ++passing;
                    EXPECT_GE(at->normal.dot(motion), -at->gap - 1e-6);
                }
            }
        }
    EXPECT_GT(stopped, 1000);
    EXPECT_GT(passing, 5);
}

TEST(Detect, VerticesInsideAShapeLeaveByItsNormal)
{
    Thing box(make_box(Vec3::Constant(0.2), 0.2));
    const RigidShape floor = PlaneShape{};
    const Obstacle obstacle{.shape = &floor, .surface = nullptr, .pose_0 = {}, .pose_1 = {}};
    box.stay(Vec3(0.0, 0.07, 0.0));
    const auto found = contacts(box, obstacle);
    ASSERT_EQ(found.size(), 4u);
    for (const SurfaceContact& c : found) {
        EXPECT_NEAR(c.gap, -0.03, 1e-12);
        EXPECT_LT((c.normal - Vec3::UnitY()).norm(), 1e-12);
    }
}

TEST(Detect, ObstaclesAsSurfaces)
{
    const RigidShape shape = BoxShape{Vec3(0.1, 0.2, 0.3)};
    const CollisionSurface surface = *collision_surface_of(shape);
    SweptSurface swept(surface);
    const RigidPose from{exp_quat(Vec3(0.1, 0.2, 0.3)), Vec3(1, 2, 3)},
        to{exp_quat(Vec3(0.2, 0.1, 0.3)), Vec3(1, 2, 4)};
    place(Obstacle{.shape = &shape, .surface = nullptr, .pose_0 = from, .pose_1 = to}, swept);
    for (int v = 0; v < surface.vertex_count(); ++v) {
        EXPECT_LT((swept.start.col(v) - from.apply(surface.rest.col(v))).norm(), 1e-14);
        EXPECT_LT((swept.end.col(v) - to.apply(surface.rest.col(v))).norm(), 1e-14);
    }
    MovingSurface skin(make_sphere(0.3, 0.1));
    const TriangleMesh rest = skin.surface(StepEnd::Start);
    const CollisionSurface ball = make_collision_surface(rest);
    SweptSurface moving(ball);
    skin.place(StepEnd::End, 1.1 * rest.vertices);
    place(Obstacle{.shape = nullptr, .surface = &skin, .pose_0 = {}, .pose_1 = to}, moving);
    EXPECT_LT((moving.start - rest.vertices).norm(), 1e-13);
    EXPECT_LT((moving.end.col(5) - to.apply(1.1 * rest.vertices.col(5))).norm(), 1e-13);
}

TEST(Detect, ReductionKeepsTheDeepestAndTheHull)
{
    Random random(31);
    std::vector<SurfaceContact> all;
    for (std::uint64_t i = 0; i < 200; ++i) { // a disc, and a wall beside it
        SurfaceContact c;
        const double r = 0.1 * std::sqrt(random.uniform()),
                     angle = random.uniform(0.0, 2.0 * std::numbers::pi);
        c.a.point = c.b.point = Vec3(r * std::cos(angle), 0.0, r * std::sin(angle));
        c.normal = (Vec3::UnitY() + 0.05 * Vec3(random.normal(), 0.0, random.normal())).normalized();
        if (i % 10 == 0) {
            c.normal = Vec3::UnitX();
            c.a.point = c.b.point = Vec3(-0.1, random.uniform(0.0, 0.1), random.uniform(-0.1, 0.1));
        }
        c.gap = random.uniform(-1e-4, 1e-4);
        c.key = pair_key(7, i);
        all.push_back(c);
    }
    std::vector<SurfaceContact> kept = all;
    DetectWork work;
    reduce_contacts({}, 0, work, kept);
    EXPECT_LE(kept.size(), 24u);
    EXPECT_EQ(deepest(kept), deepest(all));
    int walls = 0;
    for (const SurfaceContact& c : kept) walls += c.normal.x() > 0.9;
    EXPECT_GE(walls, 3);
    for (int k = 0; k < 16; ++k) { // the kept ones reach nearly as far in every direction
        const Vec3 direction(std::cos(k * 0.3927), 0.0, std::sin(k * 0.3927));
        double reach_all = -1.0, reach_kept = -1.0;
        for (const SurfaceContact& c : all)
            if (c.normal.y() > 0.5) reach_all = std::max(reach_all, direction.dot(c.point()));
        for (const SurfaceContact& c : kept)
            if (c.normal.y() > 0.5) reach_kept = std::max(reach_kept, direction.dot(c.point()));
        EXPECT_GT(reach_kept, 0.85 * reach_all);
    }

    std::vector<SurfaceContact> shuffled = all;
    for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.index(i)]);
    reduce_contacts({}, 0, work, shuffled);
    ASSERT_EQ(shuffled.size(), kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].key, shuffled[i].key);

    std::vector<SurfaceContact> dense = all;
    reduce_contacts({.most = 12, .spacing = 0.02}, 0, work, dense);
    EXPECT_GT(dense.size(), kept.size());
    for (const SurfaceContact& c : all) { // one within the spacing of every contact, as far as gaps are alike
        const bool near = std::ranges::any_of(
            dense, [&](const SurfaceContact& d) { return (d.point() - c.point()).norm() < 0.021; });
        EXPECT_TRUE(near);
    }
    std::vector<SurfaceContact> two = all;
    reduce_contacts({}, 198, work, two); // what was there before stays
    EXPECT_EQ(two.size(), 200u);
}

namespace {

/// A heap of balls and boxes that fall onto a floor.
struct Heap {
    std::vector<std::unique_ptr<Thing>> things;
    std::vector<const SweptSurface*> surfaces;
    std::vector<std::uint64_t> ids;
    std::vector<std::pair<int, int>> pairs;
    std::vector<SurfacePair> surface_pairs; ///< the same

    Heap()
    {
        Random random(41);
        things.push_back(std::make_unique<Thing>(make_box(Vec3(3.0, 0.1, 3.0), 0.3)));
        things[0]->stay(Vec3(0.0, -0.05, 0.0));
        for (int i = 0; i < 30; ++i) {
            things.push_back(std::make_unique<Thing>(i % 2 ? make_sphere(0.1, 0.05)
                                                           : make_box(Vec3::Constant(0.16), 0.08)));
            const RigidPose pose{Quat(random_rotation(random)),
                                 Vec3(0.17 * (i % 3), 0.1 + 0.17 * (i / 9), 0.17 * ((i / 3) % 3))};
            things.back()->go(pose, {pose.rotation, pose.translation - Vec3(0.0, 0.02, 0.0)});
        }
        for (std::size_t i = 0; i < things.size(); ++i) {
            surfaces.push_back(&things[i]->swept);
            ids.push_back(i + 100);
            for (std::size_t j = 0; j < i; ++j)
                if (surfaces[i]->swept_box().intersects(surfaces[j]->swept_box()))
                    pairs.emplace_back(static_cast<int>(j), static_cast<int>(i));
        }
        for (const auto& [a, b] : pairs)
            surface_pairs.push_back(
                {.a = surfaces[static_cast<std::size_t>(a)],
                 .b = surfaces[static_cast<std::size_t>(b)],
                 .key = pair_key(ids[static_cast<std::size_t>(a)], ids[static_cast<std::size_t>(b)])});
    }
};

bool same_bits(const ContactSet& a, const ContactSet& b)
{
    return a.start == b.start && std::ranges::equal(a.contacts, b.contacts, [](const auto& p, const auto& q) {
               return p.key == q.key && p.gap == q.gap && p.normal == q.normal && p.a.point == q.a.point &&
                      p.b.point == q.b.point && p.a.triangle == q.a.triangle &&
                      p.b.triangle == q.b.triangle && p.time == q.time;
           });
}

} // namespace

TEST(Detect, ManyPairsAreTheSameForAnyNumberOfThreads)
{
    const Heap heap;
    ContactSet first;
    for (const int threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        DetectManyWork work;
        ContactSet set;
        detect_contacts(heap.surface_pairs, {}, work, set);
        ASSERT_EQ(set.start.size(), heap.pairs.size() + 1);
        if (threads == 1)
            first = set;
        else
            EXPECT_TRUE(same_bits(set, first));
    }
    ASSERT_GT(first.contacts.size(), 50u);
    std::set<std::uint64_t> keys;
    for (const SurfaceContact& c : first.contacts) EXPECT_TRUE(keys.insert(c.key).second);

    DetectWork work; // and the same as pair by pair
    for (std::size_t i = 0; i < heap.pairs.size(); ++i) {
        const auto a = static_cast<std::size_t>(heap.pairs[i].first),
                   b = static_cast<std::size_t>(heap.pairs[i].second);
        std::vector<SurfaceContact> alone;
        detect_contacts(*heap.surfaces[a], *heap.surfaces[b], pair_key(heap.ids[a], heap.ids[b]), {}, work,
                        alone);
        EXPECT_EQ(alone.size(), first.of(i).size());
    }
}

/// None of its triangles comes near one of the other; each of its vertices leaves once.
TEST(Detect, LetsOutWhatWasSwallowedWhole)
{
    Thing large(make_box(Vec3::Constant(4.0), 4.0)), small(make_box(Vec3::Constant(0.2), 0.1));
    const auto found = contacts(small.stay(), large.stay());
    std::set<std::uint64_t> keys;
    for (const SurfaceContact& contact : found) {
        EXPECT_LT(contact.gap, 0.0);
        keys.insert(contact.key);
    }
    EXPECT_EQ(found.size(), small.surface.points.size());
    EXPECT_EQ(keys.size(), found.size());
}

/// Things that drift through each other: what is remembered of earlier steps must not change what is found.
TEST(Detect, FindsTheSameWithAndWithoutAMemory)
{
    Heap heap;
    DetectManyWork remembering;
    Random random(43);
    std::size_t found = 0;
    for (int step = 0; step < 40; ++step) {
        for (auto& thing : heap.things) {
            const Vec3 way =
                0.01 * Vec3(random.uniform() - 0.5, random.uniform() - 0.7, random.uniform() - 0.5);
            thing->swept.start = thing->swept.end;
            thing->swept.end.colwise() += way;
            thing->swept.update();
        }
        DetectManyWork fresh;
        ContactSet with, without;
        detect_contacts(heap.surface_pairs, {}, remembering, with);
        detect_contacts(heap.surface_pairs, {}, fresh, without);
        EXPECT_TRUE(same_bits(with, without)) << step;
        found += without.contacts.size();
    }
    EXPECT_GT(found, 2000u);
}

TEST(Detect, AllocatesNothingTheSecondTime)
{
    if (!MallocCounter::works()) GTEST_SKIP();
    const ThreadLimit limit(1);
    Heap heap;
    DetectManyWork work;
    ContactSet set;
    detect_contacts(heap.surface_pairs, {}, work, set);
    const MallocCounter mallocs;
    for (auto& thing : heap.things) thing->swept.update();
    for (std::size_t i = 0; i < heap.pairs.size(); ++i) {
        work.found[0].clear();
        detect_contacts(*heap.surfaces[static_cast<std::size_t>(heap.pairs[i].first)],
                        *heap.surfaces[static_cast<std::size_t>(heap.pairs[i].second)], 1, {},
                        work.blocks[i / 8], work.found[0]);
    }
    EXPECT_EQ(mallocs.count(), 0);
}

// Keys persist while a contact slides along.
TEST(Detect, KeysStayFromStepToStep)
{
    Thing box(make_box(Vec3(0.2, 0.2, 0.2), 0.2)), floor(make_box(Vec3(2.0, 0.5, 2.0), 0.1));
    floor.stay(Vec3(0.0, -0.25, 0.0));
    std::set<std::uint64_t> before, after;
    box.go(Vec3(0.013, 0.1001, 0.0), Vec3(0.03, -0.002, 0.01));
    for (const SurfaceContact& c : contacts(box, floor))
        if (c.kind == ContactKind::VertexTriangle) before.insert(c.key);
    box.go(Vec3(0.063, 0.1001, 0.02), Vec3(0.03, -0.002, 0.01));
    for (const SurfaceContact& c : contacts(box, floor))
        if (c.kind == ContactKind::VertexTriangle) after.insert(c.key);
    EXPECT_EQ(before.size(), 4u);
    EXPECT_EQ(before, after);
}
