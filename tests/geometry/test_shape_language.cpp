#include "lithe/geometry/shape_language.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lithe/core/error.hpp"
#include "lithe/core/parallel.hpp"
#include "lithe/core/random.hpp"
#include "lithe/geometry/intersections.hpp"
#include "lithe/geometry/make_shape.hpp"
#include "lithe/geometry/shape_field.hpp"
#include "support/topology.hpp"

namespace lithe {
namespace {

using testing::HasSubstr;

constexpr double pi = 3.14159265358979323846;

ShapeModel parse(std::string_view text)
{
    return parse_shape(text, "test.shape");
}

std::string error_of(std::string_view text)
{
    try {
        (void)parse(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

const ShapeJoint& joint(const ShapeModel& model, std::string_view name)
{
    const auto found = std::find_if(model.joints.begin(), model.joints.end(),
                                    [&](const ShapeJoint& j) { return j.name == name; });
    if (found == model.joints.end()) throw std::runtime_error(fmt::format("no joint {}", name));
    return *found;
}

Vec3 random_point(Random& random, double half)
{
    return Vec3(random.uniform(-half, half), random.uniform(-half, half), random.uniform(-half, half));
}

// ---- round cones and blending

TEST(RoundCone, IsTheLeastDistanceToItsBalls)
{
    Random random(1);
    for (int trial = 0; trial < 300; ++trial) {
        const Vec3 a = random_point(random, 1.0), b = random_point(random, 1.0),
                   p = random_point(random, 2.0);
        const double ra = random.uniform(0.05, 1.0),
                     rb = random.uniform(0.05, 1.0); // some ends hold the other
        double least = 1e9;
        constexpr int steps = 2000;
        for (int i = 0; i <= steps; ++i) {
            const double s = static_cast<double>(i) / steps;
            least = std::min(least, (p - a - s * (b - a)).norm() - ra - s * (rb - ra));
        }
        const double d = RoundCone(a, b, ra, rb).distance(p);
        EXPECT_LE(d, least + 1e-12);
        EXPECT_NEAR(d, least, 2e-3); // of the sampling
    }
}

TEST(RoundCone, OfTwoEqualPlacesIsABall)
{
    EXPECT_DOUBLE_EQ(RoundCone(Vec3::Zero(), Vec3::Zero(), 0.5, 0.5).distance(Vec3(2, 0, 0)), 1.5);
    EXPECT_DOUBLE_EQ(RoundCone(Vec3::Zero(), Vec3::Zero(), 0.5, 0.5).distance(Vec3::Zero()), -0.5);
}

/// m - K <= f <= m for the least distance m of the parts: what ShapeField promises to isosurface.
TEST(ShapeField, BlendsStayWithinTheirBound)
{
    const ShapeModel model = parse("joint a at 0 0 0 radius 0.3 blend 0.2\n"
                                   "joint b of a at 0.5 0 0 radius 0.2\n"
                                   "joint c of b at 0.2 0.5 0 radius 0.15\n"
                                   "ball of a at 0 0.3 0 radius 0.2\n");
    const ShapeField field(model);
    EXPECT_DOUBLE_EQ(field.slack(), 0.2);
    Random random(2);
    bool blended = false;
    for (int i = 0; i < 20000; ++i) {
        const Vec3 p = random_point(random, 1.0);
        double least = 1e9;
        for (const ShapePart& part : model.parts)
            least = std::min(least, RoundCone(part.a, part.b, part.radius_a, part.radius_b).distance(p));
        const double value = field.value(p);
        EXPECT_LE(value, least + 1e-12);
        EXPECT_GE(value, least - field.slack());
        blended |= value < least - 0.01;
    }
    EXPECT_TRUE(blended);
}

TEST(ShapeField, FilletOfTwoBallsIsTheSmoothMinimum)
{
    // on the plane half-way between two equal balls both distances agree: f = d - k/4, k = blend (1 - n.n)
    const ShapeModel model =
        parse("joint a at -0.5 0 0 radius 0.4 blend 0.1\nball of a at 1 0 0 radius 0.4\n");
    const ShapeField field(model);
    for (const double y : {0.0, 0.1, 0.3}) {
        const double l = std::hypot(0.5, y), cosine = (y * y - 0.25) / (l * l);
        const double k = 0.1 * (1.0 - std::max(0.0, cosine));
        EXPECT_NEAR(field.value(Vec3(0, y, 0)), l - 0.4 - 0.25 * k, 1e-12) << y;
    }
}

TEST(ShapeField, StraightChainDoesNotBulgeAtItsJoints)
{
    const ShapeField field(parse("joint a at 0 0 0 radius 0.1 blend 0.1\n"
                                 "joint b of a at 0.5 0 0 radius 0.1\n"
                                 "joint c of b at 0.5 0 0 radius 0.1\n"));
    for (double x = 0.0; x <= 1.0; x += 0.01) EXPECT_NEAR(field.value(Vec3(x, 0.1, 0)), 0.0, 1e-12) << x;
}

/// The value does not jump, also where parts without blend meet parts with it.
TEST(ShapeField, IsContinuousOutside)
{
    for (const BuiltinShape& shape : builtin_shapes()) {
        const ShapeField field(parse_shape(shape.text, "x"));
        Random random(3);
        for (int i = 0; i < 4000; ++i) {
            const Vec3 p = field.box().min() + random_point(random, 0.5).cwiseProduct(field.box().sizes()) +
                           0.5 * field.box().sizes();
            const Vec3 q = p + random_point(random, 1e-7);
            const double fp = field.value(p);
            if (fp < 0.0) continue;
            EXPECT_NEAR(fp, field.value(q), 2e-6) << shape.name;
        }
    }
}

TEST(ShapeField, SquashScalesTheRadiusOnly)
{
    const ShapeField field(parse("joint a at 1 1 1 radius 0.2 squash 0.5 1 2\n"));
    for (const Vec3& on : {Vec3(1.1, 1, 1), Vec3(1, 1.2, 1), Vec3(1, 1, 1.4), Vec3(0.9, 1, 1)})
        EXPECT_NEAR(field.value(on), 0.0, 1e-12);
    const ShapeField turned(parse("joint r at 0 0 0 radius 0.01\nrepeat 2 around y by 90\nball of r at 1 0 0 "
                                  "radius 0.2 squash 0.5 1 1\nend\n"));
    EXPECT_NEAR(turned.value(Vec3(0, 0, -1.1)), 0.0, 1e-12); // x turned to -z, and the flat side with it
    EXPECT_NEAR(turned.value(Vec3(0.2, 0, -1)), 0.0, 1e-12);
}

TEST(ShapeField, ColorsComeFromTheNearestPart)
{
    const ShapeField field(parse("color red = 1 0 0\ncolor blue = 0 0 1\n"
                                 "joint a at 0 0 0 radius 0.2 blend 0.1 color red\n"
                                 "joint b of a at 1 0 0 radius 0.2\n"
                                 "ball of a at 0 1 0 radius 0.2 color blue\n"));
    EXPECT_EQ(field.color(Vec3(0, -0.2, 0)), Vec3(1, 0, 0));
    EXPECT_EQ(field.color(Vec3(1.2, 0, 0)), Vec3(1, 0, 0)); // inherited
    EXPECT_EQ(field.color(Vec3(0, 1.2, 0)), Vec3(0, 0, 1));
}

// ---- the language

TEST(ShapeLanguage, PlacesAreRelativeToTheParent)
{
    const ShapeModel model = parse("let arm = 0.3   # a comment\n"
                                   "joint hips at 1 2 3 radius 0.2\n"
                                   "joint chest of hips at 0 arm*2 -0.1 radius 0.1 to 0.05\n"
                                   "joint head of chest at 0 (arm+0.1)/2 0\n");
    ASSERT_EQ(model.joints.size(), 3u);
    EXPECT_EQ(joint(model, "hips").parent, -1);
    EXPECT_TRUE(joint(model, "chest").position.isApprox(Vec3(1, 2.6, 2.9)));
    EXPECT_TRUE(joint(model, "head").position.isApprox(Vec3(1, 2.8, 2.9)));
    ASSERT_EQ(model.parts.size(), 2u); // the head has no flesh
    EXPECT_EQ(model.parts[1].radius_a, 0.1);
    EXPECT_EQ(model.parts[1].radius_b, 0.05);
    EXPECT_EQ(joint(model, "head").blend, joint(model, "hips").blend);
}

TEST(ShapeLanguage, MirrorMakesLeftAndRight)
{
    const ShapeModel model = parse("joint chest at 0 1 0 radius 0.2\n"
                                   "mirror\n"
                                   "  joint arm of chest at 0.2 0 0 radius 0.1\n"
                                   "  joint hand of arm at 0.3 -0.1 0 radius 0.1\n"
                                   "end\n");
    ASSERT_EQ(model.joints.size(), 5u);
    EXPECT_TRUE(joint(model, "hand_l").position.isApprox(Vec3(0.5, 0.9, 0)));
    EXPECT_TRUE(joint(model, "hand_r").position.isApprox(Vec3(-0.5, 0.9, 0)));
    EXPECT_EQ(model.joints[joint(model, "hand_r").parent].name, "arm_r");
}

TEST(ShapeLanguage, RepeatTurnsAndNumbers)
{
    const ShapeModel model = parse("joint body at 0 0 0 radius 0.2\n"
                                   "repeat 4 around y\n"
                                   "  joint arm*_1 of body at 0 0 1 radius 0.1\n"
                                   "  joint arm*_2 of arm*_1 at 0 copy 1 radius 0.1\n"
                                   "  joint knob of body at 0 0 2\n"
                                   "end\n");
    ASSERT_EQ(model.joints.size(), 13u);
    EXPECT_TRUE(joint(model, "arm2_2").position.isApprox(Vec3(2, 2, 0)));
    EXPECT_TRUE(joint(model, "knob_4").position.isApprox(Vec3(-2, 0, 0)));
    const ShapeModel fan =
        parse("joint body at 0 0 0 radius 0.2\nrepeat 2 around z by 90\njoint a of body at 1 0 0\nend\n");
    EXPECT_TRUE(joint(fan, "a_2").position.isApprox(Vec3(0, 1, 0)));
    const ShapeModel row = parse(
        "joint body at 0 0 0 radius 0.2\nmirror\nrepeat 3\njoint leg* of body at 0.1 0 copy\nend\nend\n");
    EXPECT_TRUE(joint(row, "leg3_r").position.isApprox(Vec3(-0.1, 0, 3)));
}

TEST(ShapeLanguage, ExpressionsAreWhatTheyLookLike)
{
    const auto value = [](const std::string& text) {
        return parse("let a = 3\njoint j at " + text + " 0 0 radius 1\n").joints[0].position[0];
    };
    EXPECT_DOUBLE_EQ(value("1+2*a"), 7.0);
    EXPECT_DOUBLE_EQ(value("(1+2)*-a"), -9.0);
    EXPECT_DOUBLE_EQ(value("8/2/2"), 2.0);
    EXPECT_DOUBLE_EQ(value("1-2-3"), -4.0);
    EXPECT_DOUBLE_EQ(value("2*sin(30)"), 2 * std::sin(pi / 6));
    EXPECT_DOUBLE_EQ(value("cos(60)"), std::cos(pi / 3));
    EXPECT_DOUBLE_EQ(value("1.5e-2"), 0.015);
}

TEST(ShapeLanguage, SkeletonTextHasALinePerJoint)
{
    const std::string text =
        skeleton_text(parse("joint a at 0 0.5 0 radius 0.2\njoint b of a at 0.25 0 0 radius 0.1\n"));
    EXPECT_THAT(text, HasSubstr("joints 2\n"));
    EXPECT_THAT(text, HasSubstr("0 -1 a  0 0.5 0  1 0 0 0 1 0 0 0 1\n"));
    EXPECT_THAT(text, HasSubstr("1 0 b  0.25 0.5 0  1 0 0 0 1 0 0 0 1\n"));
}

TEST(ShapeLanguage, ErrorsNameTheLineAndTheFix)
{
    const std::string root = "joint hips at 0 0 0 radius 0.2\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "no flesh"},
        {"# only a comment\n", "no flesh"},
        {"jiont a at 0 0 0\n", "did you mean 'joint'?"},
        {"joint\n", "needs a name"},
        {"joint 1a at 0 0 0 radius 1\n", "cannot be a name"},
        {"joint a\n", "no place"},
        {"joint a at 0 0\n", "three numbers"},
        {"joint a at 0 0 0 radus 1\n", "did you mean 'radius'?"},
        {"joint a at 0 0 0 radius\n", "needs a value"},
        {"joint a at 0 0 0 radius 0\n", "must lie between"},
        {"joint a at 0 0 0 radius -1\n", "must lie between"},
        {"joint a at 0 0 0 radius 1 radius 2\n", "given twice"},
        {"joint a at 0 0 0 radius 1 blend -1\n", "must lie between"},
        {"joint a at 0 0 0 radius 1 squash 0 1 1\n", "factors"},
        {"joint a at 0 0 0 squash 1 1 1\n", "no flesh to squash"},
        {"joint a at 0 0 0 radius 1 color red\n", "no color 'red'"},
        {"joint a of b at 0 0 0 radius 1\n", "no joint 'b'"},
        {"joint a* at 0 0 0 radius 1\n", "inside a 'repeat'"},
        {root + "joint hips at 0 0 0\n", ":2: there is a joint 'hips' already"},
        {root + "joint a of hip at 0 0 0\n", "did you mean 'hips'?"},
        {root + "ball of hips at 0 0 0\n", "write 'ball"},
        {root + "ball of hips at 0 0 0 radius 1 to 2\n", "one radius"},
        {root + "cone of hips radius 1\n", "write 'cone"},
        {root + "let x 3\n", "write 'let"},
        {root + "let x = 3\nlet x = 4\n", ":3: 'x' is set already"},
        {root + "joint a of hips at lenght 0 0\n", "no 'let' names it"},
        {"let length = 1\njoint a at lenght 0 0\n", "did you mean 'length'?"},
        {"joint a at 1/0 0 0\n", "is not between"},
        {"joint a at 1e7 0 0\n", "is not between"},
        {"joint a at nan 0 0\n", "is not a number"},
        {"joint a at (1 0 0\n", "')' is missing"},
        {"joint a at 1+ 0 0\n", "a number is missing"},
        {"joint a at 1x 0 0\n", "stopped before 'x'"},
        {"color red = 1 0\n", "write 'color"},
        {"color red = 1 0 2\n", "between 0 and 1"},
        {"end\n", "without"},
        {"mirror\n", ":1: this 'mirror' is not closed"},
        {"mirror x\nend\n", "stands alone"},
        {"mirror\nmirror\nend\nend\n", "inside a mirror"},
        {"mirror\nend x\n", ":2: nothing may follow"},
        {"repeat\nend\n", "write 'repeat"},
        {"repeat 3 around w\nend\n", "write 'repeat"},
        {"repeat 0\nend\n", "1 to 256 copies"},
        {"repeat 2.5\nend\n", "1 to 256 copies"},
        {"repeat 1000000\nend\n", "1 to 256 copies"},
        {"repeat 200\nrepeat 200\nlet x = 1\nend\nend\n", "fewer copies"},
        {"repeat 2\nrepeat 2\nrepeat 2\nrepeat 2\nrepeat 2\nend\nend\nend\nend\nend\n", "nested deeper"},
    };
    for (const auto& [text, part] : cases) {
        const std::string error = error_of(text);
        EXPECT_THAT(error, HasSubstr(part)) << text;
        EXPECT_THAT(error, testing::StartsWith("test.shape")) << text;
        EXPECT_EQ(error.find('\n'), std::string::npos) << text;
    }
}

TEST(ShapeLanguage, RefusesWhatWouldNeverEnd)
{
    EXPECT_THAT(error_of("joint a at " + std::string(100000, '(') + " 0 0\n"), HasSubstr("too deeply"));
    EXPECT_THAT(error_of("joint a at " + std::string(100000, '-') + "1 0 0\n"), HasSubstr("too deeply"));
    EXPECT_THAT(error_of(std::string(2 << 20, ' ')), HasSubstr("too long"));
    std::string chain = "joint j0 at 0 0 0 radius 1\n";
    for (int i = 1; i < 1000; ++i) chain += fmt::format("joint j{} of j{} at 0 0 0 radius 1\n", i, i - 1);
    EXPECT_THAT(error_of(chain), HasSubstr("a chain of more than"));
    EXPECT_THAT(
        error_of("joint a at 0 0 0 radius 1\nrepeat 256\nrepeat 20\nball of a at 0 0 0 radius 1\nend\nend\n"),
        HasSubstr("more than 4096 parts"));
}

/// Any text either parses or is refused in one line; nothing else happens.
RC_GTEST_PROP(ShapeLanguage, SurvivesAnyText, ())
{
    static const std::vector<std::string> words = {
        "joint", "ball",  "cone",   "of",    "at",          "a",      "b*",     "0",    "1",  "-2",  "radius",
        "to",    "blend", "squash", "color", "mirror",      "repeat", "around", "y",    "by", "end", "\n",
        "\n",    "let",   "=",      "(",     "1e308*1e308", "copy",   "#",      "sin(", "\t"};
    std::string text;
    for (const int i :
         *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, static_cast<int>(words.size()))))
        text += words[i] + " ";
    try {
        const ShapeModel model = parse(text);
        RC_ASSERT(!model.parts.empty());
    } catch (const InputError& error) {
        RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
}

// ---- the built-in characters

class Character : public testing::TestWithParam<std::string> {
protected:
    const ShapeModel model = *find_shape_model(GetParam());
};

TEST_P(Character, SkeletonIsATreeInsideTheBody)
{
    EXPECT_GE(model.joints.size(), 1u);
    EXPECT_LE(model.joints.size(), 50u);
    const ShapeField field(model);
    std::set<std::string> names;
    int roots = 0;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const ShapeJoint& joint = model.joints[j];
        EXPECT_LT(joint.parent, static_cast<int>(j));
        roots += joint.parent < 0;
        EXPECT_TRUE(names.insert(joint.name).second) << joint.name;
        EXPECT_LT(field.value(joint.position), 0.0) << joint.name;
    }
    EXPECT_EQ(roots, 1);
}

TEST_P(Character, IsAClosedManifoldOfGenusZeroAtEveryResolution)
{
    Progress progress;
    const double cell = default_cell(model);
    std::vector<double> volumes;
    for (const double factor : {1.5, 1.0, 0.8}) {
        const TriangleMesh mesh = shape_surface(model, factor * cell, progress);
        const test::Topology topology = test::topology(mesh);
        EXPECT_TRUE(topology.closed);
        EXPECT_TRUE(topology.manifold_vertex);
        EXPECT_EQ(topology.components, 1) << factor;
        EXPECT_EQ(topology.genus, 0) << factor;
        EXPECT_GT(test::smallest_angle(mesh), 5.0) << factor;
        EXPECT_TRUE(self_intersections(mesh).empty()) << factor;
        volumes.push_back(volume(mesh));
        if (factor == 1.0) {
            EXPECT_GT(mesh.triangle_count(), 10000);
            EXPECT_LT(mesh.triangle_count(), 25000);
            EXPECT_NEAR(bounds(mesh.vertices).min()[1], 0.0,
                        0.02 * bounds(mesh.vertices).sizes()[1]); // stands on y = 0
        }
        ASSERT_EQ(mesh.fields.size(), 1u);
        EXPECT_EQ(mesh.fields[0].name, "color");
        EXPECT_GE(mesh.fields[0].values.minCoeff(), 0.0);
        EXPECT_LE(mesh.fields[0].values.maxCoeff(), 1.0);
    }
    EXPECT_GT(volumes[0], 0.0);
    EXPECT_NEAR(volumes[1], volumes[2], 0.01 * volumes[2]);
    EXPECT_LT(std::abs(volumes[1] - volumes[2]), std::abs(volumes[0] - volumes[2]));
}

TEST_P(Character, StaysAClosedManifoldWhenFarTooCoarse)
{
    Progress progress;
    for (const double factor : {3.0, 6.0}) {
        const test::Topology topology =
            test::topology(shape_surface(model, factor * default_cell(model), progress));
        EXPECT_TRUE(topology.closed && topology.manifold_vertex) << factor;
    }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, Character,
                         testing::Values("biped", "cactus", "cow", "fish", "hand", "kraken", "octopus",
                                         "puffer", "shell", "ship", "trout"),
                         [](const auto& character) { return character.param; });

TEST(Characters, AreTheElevenOfTheLibrary)
{
    std::vector<std::string> names;
    for (const BuiltinShape& shape : builtin_shapes()) {
        names.emplace_back(shape.name);
        EXPECT_FALSE(shape.one_line.empty());
        EXPECT_EQ(shape.one_line.find('#'), shape.one_line.npos);
    }
    EXPECT_THAT(names, testing::UnorderedElementsAre("biped", "cactus", "cow", "fish", "hand", "kraken",
                                                     "octopus", "puffer", "shell", "ship", "trout"));
}

TEST(Characters, HandKeepsItsFiveFingersAtACentimetre)
{
    Progress progress;
    const TriangleMesh mesh = make_shape("hand", 0.01, progress);
    EXPECT_EQ(test::topology(mesh).genus, 0);
    // a horizontal cut through the fingers meets four, and the thumb lower down
    const ShapeField field(*find_shape_model("hand"));
    const auto crossings = [&](double y) {
        int count = 0;
        for (double x = -0.3; x < 0.3; x += 0.001) {
            const auto inside = [&](double at) {
                double least = 1.0;
                for (double z = -0.05; z < 0.06; z += 0.01)
                    least = std::min(least, field.value(Vec3(at, y, z)));
                return least < 0.0;
            };
            count += inside(x) && !inside(x - 0.001);
        }
        return count;
    };
    EXPECT_EQ(crossings(0.34), 4);
    EXPECT_EQ(crossings(0.23), 2); // palm and thumb
}

TEST(Characters, SameBitsForAnyNumberOfThreads)
{
    const auto make = [](int threads) {
        const ThreadLimit limit(threads);
        Progress progress;
        return make_shape("octopus", std::nullopt, progress);
    };
    const TriangleMesh one = make(1);
    for (const int threads : {2, 4}) {
        const TriangleMesh many = make(threads);
        EXPECT_EQ(one.vertices, many.vertices);
        EXPECT_EQ(one.triangles, many.triangles);
        EXPECT_EQ(one.fields[0].values, many.fields[0].values);
    }
}

} // namespace
} // namespace lithe
