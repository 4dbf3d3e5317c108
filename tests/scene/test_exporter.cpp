#include <map>

#include <sys/stat.h>

#include "scene/export_test.hpp"
#include "scene/glb_reader.hpp"
#include "support/size_limit.hpp"

using namespace lithe;
namespace fs = std::filesystem;
using test::Animation;
using testing::HasSubstr;

namespace {

/// The same promises for every format.
class Exporter : public test::ExportTest, public testing::WithParamInterface<const char*> {
protected:
    fs::path target() const { return folder / GetParam(); }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Formats, Exporter,
                         testing::Values("out.glb", "out.usda", "out.pc2", "out.pvd", "frames", "out.GLB"));

TEST_P(Exporter, WeightsOfMorphsAreWrittenAsThePositionsThatTheyMake)
{
    if (fs::path ending = target().extension(); ending == ".glb" || ending == ".GLB")
        GTEST_SKIP() << "a .glb keeps the morphs";
    const test::MorphingBall ball;
    ball.play(*make_exporter(target()), 3);
    std::map<std::string, std::string> written;
    for (const std::string& name : names())
        if (fs::is_regular_file(folder / name)) written[name] = content(folder / name);
    ASSERT_FALSE(written.empty());

    const auto sink = make_exporter(target());
    sink->begin({ball.shown()}, test::MorphingBall::fps);
    for (int f = 0; f < 3; ++f) {
        Published now = ball.at(f);
        now.positions = surface_in_frame(ball.shown(), now);
        now.weights = {};
        sink->frame({.number = f, .t = f / test::MorphingBall::fps, .bodies = {now}});
    }
    sink->finish();
    for (const auto& [name, bytes] : written) EXPECT_TRUE(content(folder / name) == bytes) << name;
}

TEST_P(Exporter, WithoutFinishNothingIsLeft)
{
    {
        const auto sink = make_exporter(target());
        animation.play(*sink, 3);
    }
    EXPECT_TRUE(folder.is_empty());
    export_frames(target(), 2);
    const auto before = names();
    ASSERT_FALSE(before.empty());
    std::vector<std::string> contents;
    for (const std::string& name : before) contents.push_back(content(folder / name));
    {
        const auto sink = make_exporter(target());
        animation.play(*sink, 5);
    }
    EXPECT_EQ(names(), before);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(content(folder / before[i]), contents[i]);
}

TEST_P(Exporter, ABodyWithNothingToShowChangesNothing)
{
    export_frames(target(), 2);
    std::vector<std::string> expected;
    for (const std::string& name : names()) expected.push_back(content(folder / name));

    std::vector<Shown> bodies = animation.bodies();
    bodies.insert(bodies.begin() + 1, Shown{.name = "ghost"});
    const auto sink = make_exporter(target());
    sink->begin(bodies, Animation::fps);
    for (int f = 0; f < 2; ++f) {
        Frame frame = animation.frame(f);
        frame.bodies.insert(frame.bodies.begin() + 1, Published{});
        sink->frame(frame);
    }
    sink->finish();
    std::vector<std::string> found;
    for (const std::string& name : names()) found.push_back(content(folder / name));
    EXPECT_EQ(found, expected);
}

TEST_P(Exporter, FinishedWithoutAFrameWritesNothing)
{
    const auto sink = make_exporter(target());
    sink->begin(animation.bodies(), Animation::fps);
    sink->finish();
    EXPECT_FALSE(fs::exists(target()));
}

TEST_P(Exporter, AMissingFolderIsToldBeforeAnythingIsComputed)
{
    const fs::path inside = folder / "missing" / GetParam();
    const std::string message = test::message_of([&] { make_exporter(inside); });
    EXPECT_THAT(message, HasSubstr(inside.string()));
    EXPECT_THAT(message, HasSubstr("does not exist"));
    EXPECT_TRUE(folder.is_empty());
}

TEST_P(Exporter, APlaceThatMayNotBeWrittenIsTold)
{
    if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
    chmod(folder.path().c_str(), 0500);
    const std::string message = test::message_of([&] { make_exporter(target()); });
    chmod(folder.path().c_str(), 0700);
    EXPECT_THAT(message, HasSubstr(target().string()));
    EXPECT_THAT(message, HasSubstr("choose a place"));
}

TEST_P(Exporter, AFileThatCannotBeWrittenToItsEndIsOneErrorAndLeavesNothing)
{
    const auto write = [&] {
        const test::SizeLimit limit(1000);
        export_frames(target(), 3);
    };
    const std::string message = test::message_of(write);
    EXPECT_THAT(message, HasSubstr((folder / (fs::path(GetParam()).stem())).string()));
    EXPECT_THAT(message, HasSubstr("cannot be written"));
    EXPECT_THAT(message, Not(HasSubstr(".part"))); // names the target, not a file that nobody knows
    EXPECT_EQ(std::ranges::count(message, '\n'), 0);
    EXPECT_TRUE(folder.is_empty());
}

TEST(ExporterNames, AFullDiskIsTold)
{
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
    const test::TemporaryFolder folder;
    for (const char* name : {"full.glb", "full.usda"}) {
        fs::create_symlink("/dev/full", folder / name);
        const auto write = [&] {
            const auto sink = make_exporter(folder / name);
            test::Animation(8).play(*sink, 2);
            sink->finish();
        };
        const std::string message = test::message_of(write);
        EXPECT_THAT(message, HasSubstr(name));
        EXPECT_THAT(message, HasSubstr("free some space"));
    }
}

TEST(ExporterNames, FoldersAndFilesAreNotMixedUp)
{
    const test::TemporaryFolder folder;
    fs::create_directory(folder / "a.glb");
    fs::create_directory(folder / "a.pvd");
    std::ofstream(folder / "file") << "x";
    EXPECT_THAT(test::message_of([&] { make_exporter(folder / "a.glb"); }), HasSubstr("is a folder"));
    EXPECT_THAT(test::message_of([&] { make_exporter(folder / "a.pvd"); }), HasSubstr("is a folder"));
    EXPECT_THAT(test::message_of([&] { make_exporter(folder / "file"); }), HasSubstr("is a file"));
    EXPECT_THAT(test::message_of([&] { make_exporter(folder / "file/"); }), HasSubstr("is a file"));
}

TEST(ExporterNames, UnknownEndingsAreNamedWithTheKnownOnes)
{
    const std::string message = test::message_of([] { make_exporter("out.gltf"); });
    for (const char* said : {"out.gltf", "'.gltf'", ".glb", ".usda", ".pc2", ".pvd", "folder"})
        EXPECT_THAT(message, HasSubstr(said));
    EXPECT_THAT(test::message_of([] { make_exporter("out.usd"); }), HasSubstr("did you mean '.usda'"));
    EXPECT_THAT(test::message_of([] { make_exporter(""); }), HasSubstr("empty"));
}

TEST(ExporterNames, AnyBytesMayNameABody)
{
    const test::TemporaryFolder folder;
    const test::Animation animation(6);
    for (const char* name : {"a.glb", "a.usda", "a.pvd", "a.pc2"}) {
        Shown body = animation.bodies()[0];
        body.name = "\xff \"<\\&";
        const auto sink = make_exporter(folder / name);
        sink->begin({body}, 30.0);
        Frame frame = animation.frame(0);
        frame.bodies.resize(1);
        sink->frame(frame);
        sink->finish();
        EXPECT_TRUE(fs::exists(folder / name)) << name;
    }
}

TEST(ExporterNames, BodiesOfTheSamePlainNameDoNotOverwriteEachOther)
{
    const test::TemporaryFolder folder;
    const test::Animation animation(6);
    std::vector<Shown> bodies = {animation.bodies()[0], animation.bodies()[0]};
    bodies[0].name = "a b";
    bodies[1].name = "a/b";
    const auto sink = make_exporter(folder / "out.pc2");
    sink->begin(bodies, 30.0);
    Frame frame = animation.frame(0);
    frame.bodies = {frame.bodies[0], frame.bodies[0]};
    sink->frame(frame);
    sink->finish();
    for (const char* name : {"out_a_b.pc2", "out_a_b_2.pc2"}) EXPECT_TRUE(fs::exists(folder / name)) << name;
}
