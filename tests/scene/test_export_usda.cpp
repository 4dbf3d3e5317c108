#include "scene/export_test.hpp"

using namespace lithe;
using test::Animation;
using testing::HasSubstr;

namespace {

class ExportUsda : public test::ExportTest {
protected:
    ExportUsda()
    {
        export_frames(folder / "out.usda", 4);
        text_ = content(folder / "out.usda");
    }
    /// What lies between the braces of a prim.
    std::string prim(const std::string& name) const
    {
        const std::size_t begin = text_.find("def Mesh \"" + name + "\"");
        if (begin == std::string::npos) return "";
        return text_.substr(begin, text_.find("\n    }\n", begin) - begin);
    }
    /// All numbers of the value that follows `key`, up to the end of the line.
    static std::vector<double> numbers(const std::string& text, const std::string& key, std::size_t from = 0)
    {
        const std::size_t at = text.find(key, from), begin = at + key.size();
        if (at == std::string::npos) return {};
        std::string line = text.substr(begin, text.find('\n', begin) - begin);
        for (char& c : line)
            if (std::string_view("()[],").find(c) != std::string_view::npos) c = ' ';
        std::istringstream words(line);
        return {std::istream_iterator<double>(words), {}};
    }
    /// The value of a sampled attribute at a frame.
    static std::vector<double> sample(const std::string& prim, const std::string& name, int frame)
    {
        const std::size_t at = prim.find(name + ".timeSamples = {");
        return at == std::string::npos ? std::vector<double>()
                                       : numbers(prim, "\n            " + std::to_string(frame) + ":", at);
    }
    std::string text_;
};

} // namespace

TEST_F(ExportUsda, TheStageSaysItsUnits)
{
    EXPECT_TRUE(text_.starts_with("#usda 1.0\n"));
    for (const char* said : {"upAxis = \"Y\"", "metersPerUnit = 1\n", "timeCodesPerSecond = 24\n",
                             "startTimeCode = 0\n", "endTimeCode = 3\n", "defaultPrim = \"World\""})
        EXPECT_THAT(text_, HasSubstr(said));
    EXPECT_EQ(std::ranges::count(text_, '{'), std::ranges::count(text_, '}'));
    EXPECT_EQ(std::ranges::count(text_, '('), std::ranges::count(text_, ')'));
}

TEST_F(ExportUsda, PointsOfADeformingBodyAtEveryFrame)
{
    const std::string torus = prim("torus");
    for (int f = 0; f < 4; ++f) {
        const Points wanted = animation.positions(Animation::torus, f);
        const std::vector<double> found = sample(torus, "points", f);
        ASSERT_EQ(found.size(), static_cast<std::size_t>(wanted.size())) << f;
        for (Index i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted.data()[i], 1e-6);
        EXPECT_EQ(sample(torus, "primvars:normals", f).size(), static_cast<std::size_t>(wanted.size()));
        EXPECT_EQ(sample(torus, "extent", f).size(), 6u);
    }
    const std::vector<double> corners = numbers(torus, "faceVertexIndices = ");
    const Triangles& triangles = animation.bodies()[Animation::torus].surface.triangles;
    ASSERT_EQ(corners.size(), static_cast<std::size_t>(triangles.size()));
    for (Index i = 0; i < triangles.size(); ++i) ASSERT_EQ(corners[i], triangles.data()[i]);
    EXPECT_EQ(numbers(torus, "faceVertexCounts = ").size(), static_cast<std::size_t>(triangles.cols()));
}

TEST_F(ExportUsda, ARigidBodyByItsTransform)
{
    const std::string box = prim("box");
    EXPECT_THAT(box, Not(HasSubstr("points.timeSamples")));
    const RigidPose pose = animation.frame(3).bodies[Animation::box].frame;
    const std::vector<double> t = sample(box, "xformOp:translate", 3), q = sample(box, "xformOp:orient", 3);
    ASSERT_EQ(t.size(), 3u);
    ASSERT_EQ(q.size(), 4u);
    EXPECT_EQ(Vec3(t[0], t[1], t[2]), pose.translation);
    EXPECT_EQ(Vec4(q[0], q[1], q[2], q[3]),
              Vec4(pose.rotation.w(), pose.rotation.x(), pose.rotation.y(), pose.rotation.z()));
    EXPECT_THAT(prim("floor"), Not(HasSubstr("timeSamples"))); // it never moves
}

TEST_F(ExportUsda, NamesArePlainAndTheirOwnNameIsKept)
{
    EXPECT_THAT(prim("soft_block"), HasSubstr("displayName = \"soft block\""));
}
