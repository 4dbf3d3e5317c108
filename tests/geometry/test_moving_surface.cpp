#include "lithe/geometry/moving_surface.hpp"

#include <gtest/gtest.h>

#include "lithe/geometry/shapes.hpp"
#include "lithe/math/rigid_pose.hpp"

namespace lithe {
namespace {

TriangleMesh ball()
{
    return make_sphere(1.0, 0.1);
}

Points moved(const Points& X, const RigidPose& pose)
{
    return (pose.rotation.toRotationMatrix() * X).colwise() + pose.translation;
}

const RigidPose turned{Quat(Eigen::AngleAxisd(0.7, Vec3(1.0, 2.0, -1.0).normalized())), {0.4, -1.0, 2.0}};

TEST(MovingSurface, IsAtRestFirst)
{
    const MovingSurface surface(ball());
    for (const StepEnd end : {StepEnd::Start, StepEnd::End}) {
        EXPECT_LT(surface.signed_distance(end, Vec3(0.5, 0.0, 0.0)).distance, -0.4);
        EXPECT_NEAR(surface.place_of(end, Vec3(0.0, 1.0, 0.0)).y(), 1.0, 1e-12);
    }
}

TEST(MovingSurface, MeasuresFromWhereItIsAtEachEnd)
{
    MovingSurface surface(ball());
    const SurfaceQuery rest(ball());
    surface.place(StepEnd::End, moved(ball().vertices, turned));
    for (const Vec3& X :
         {Vec3(0.2, 0.1, -0.4), Vec3(0.9, 0.0, 0.1), Vec3(0.55, 0.55, 0.55), Vec3(0.7, 0.7, 0.1)}) {
        EXPECT_NEAR(surface.signed_distance(StepEnd::Start, X).distance, rest.signed_distance(X), 1e-12);
        const SignedDistance there = surface.signed_distance(StepEnd::End, turned.apply(X));
        EXPECT_NEAR(there.distance, rest.signed_distance(X), 1e-9);
        const SignedDistance here = surface.signed_distance(StepEnd::Start, X);
        EXPECT_LT((there.normal - turned.rotation * here.normal).norm(), 1e-6);
    }
}

TEST(MovingSurface, NormalIsTheWayOutOnBothSides)
{
    const MovingSurface surface(ball());
    for (const double r : {0.8, 0.99}) {
        const SignedDistance found = surface.signed_distance(StepEnd::End, r * Vec3(0.6, 0.8, 0.0));
        EXPECT_GT(found.normal.dot(Vec3(0.6, 0.8, 0.0)), 0.99);
        EXPECT_LT(found.distance, 0.0);
    }
    const SignedDistance outside = surface.signed_distance(StepEnd::End, Vec3(0.75, 0.75, 0.0));
    EXPECT_GT(outside.distance, 0.0);
    EXPECT_GT(outside.normal.dot(Vec3(1.0, 1.0, 0.0).normalized()), 0.99);
}

TEST(MovingSurface, FarOutsideItGivesTheDistanceToItsBox)
{
    const MovingSurface surface(ball());
    const SignedDistance far = surface.signed_distance(StepEnd::Start, Vec3(5.0, 0.0, 0.0));
    EXPECT_NEAR(far.distance, 5.0 - surface.box(StepEnd::Start).max().x(), 1e-12);
    EXPECT_LT((far.normal - Vec3::UnitX()).norm(), 1e-12);
}

TEST(MovingSurface, MaterialMovesWithIt)
{
    MovingSurface surface(ball());
    Points squeezed = ball().vertices;
    squeezed.row(1) *= 0.3;
    surface.place(StepEnd::End, moved(squeezed, turned));
    // the same material point, found at the start and at the end
    const Vec3 X = surface.material_at(StepEnd::Start, Vec3(0.6, 0.75, 0.1));
    EXPECT_LT((surface.place_of(StepEnd::Start, X) - X).norm(), 1e-12);
    const Vec3 x = surface.place_of(StepEnd::End, X);
    EXPECT_LT((turned.apply_inverse(x) - Vec3(X.x(), 0.3 * X.y(), X.z())).norm(), 1e-12);
    EXPECT_LT((surface.material_at(StepEnd::End, x) - X).norm(), 1e-6);
    // the surface has become flat there
    EXPECT_GT((turned.rotation.conjugate() * surface.normal_of(StepEnd::End, X)).y(),
              surface.normal_of(StepEnd::Start, X).y());
}

TEST(MovingSurface, AdvancesToTheNextStep)
{
    MovingSurface surface(ball());
    surface.place(StepEnd::End, moved(ball().vertices, turned));
    surface.advance();
    const Vec3 X = ball().vertices.col(7);
    EXPECT_LT((surface.place_of(StepEnd::Start, X) - turned.apply(X)).norm(), 1e-12);
}

TEST(MovingSurface, MayTouchMissesNothing)
{
    const MovingSurface surface(ball());
    EXPECT_TRUE(surface.may_touch(StepEnd::Start, Vec3::Zero(), 0.0));
    EXPECT_TRUE(surface.may_touch(StepEnd::Start, Vec3(1.5, 0.0, 0.0), 0.6));
    EXPECT_FALSE(surface.may_touch(StepEnd::Start, Vec3(1.5, 0.0, 0.0), 0.4));
    EXPECT_FALSE(surface.may_touch(StepEnd::Start, Vec3(0.9, 0.9, 0.9), 0.3));
}

} // namespace
} // namespace lithe
