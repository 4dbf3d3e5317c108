#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "support/message_of.hpp"

using namespace lithe;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Points = Eigen::Matrix<double, 3, Eigen::Dynamic>;

ArchiveReader reopen(ArchiveWriter& out)
{
    return {out.bytes(), "model.lithe"};
}

ArchiveReader sample()
{
    ArchiveWriter out;
    out.write("body/basis", MatX(MatX::Zero(3, 20)));
    out.write("body/rest", Points(Points::Ones(3, 5)), {.unit = "m"});
    out.write("body/tets", std::vector<int>{1, 2, 3});
    out.write("density", 1000.0, {.unit = "kg/m^3"});
    out.write_text("material/law", "neo_hookean");
    out.write_texts("names", {"a", "bc", ""});
    return reopen(out);
}

std::string why_refused(const auto& read)
{
    return test::message_of([&] { (void)read(); });
}

} // namespace

TEST(ArchiveReader, ListsWhatIsThere)
{
    const ArchiveReader in = sample();
    EXPECT_THAT(in.children(""), ElementsAre("body", "density", "material", "names"));
    EXPECT_THAT(in.children("body"), ElementsAre("basis", "rest", "tets"));
    EXPECT_THAT(in.children("bod"), IsEmpty());
    EXPECT_THAT(in.children("body/basis"), IsEmpty());
    EXPECT_TRUE(in.has("body"));
    EXPECT_TRUE(in.has("body/basis"));
    EXPECT_FALSE(in.has("bod"));
    EXPECT_FALSE(in.has("body/"));
    EXPECT_FALSE(in.has(""));
    ASSERT_EQ(in.entries().size(), 6u);
    const ArchiveEntry& rest = in.entries()[1];
    EXPECT_EQ(rest.path, "body/rest");
    EXPECT_EQ(rest.type, ElementType::Double);
    EXPECT_EQ(rest.shape, (Shape{3, 5}));
    EXPECT_EQ(rest.unit, "m");
    EXPECT_EQ(rest.stored_bytes, 15 * sizeof(double));
    EXPECT_EQ(in.entry("density").shape, (Shape{1, 1}));
    EXPECT_EQ(in.entry("body/basis").unit, "");
}

TEST(ArchiveReader, AMissingPathIsNamedWithTheNearestThereIs)
{
    const ArchiveReader in = sample();
    EXPECT_EQ(why_refused([&] { return in.read<double>("densty"); }),
              "model.lithe: has no densty; did you mean 'density'?");
    EXPECT_EQ(why_refused([&] { return in.read<MatX>("cubature/weights", {any_size, 1}); }),
              "model.lithe: has no cubature/weights");
    EXPECT_EQ(why_refused([&] { return in.read<MatX>("body", {any_size, any_size}); }),
              "model.lithe: has no body");
}

TEST(ArchiveReader, AWrongShapeIsToldWithBothShapes)
{
    const ArchiveReader in = sample();
    EXPECT_EQ(why_refused([&] { return in.read<MatX>("body/basis", {3, 30}); }),
              "model.lithe: body/basis has 3 x 20 numbers, but 3 x 30 are needed");
    EXPECT_EQ(why_refused([&] { return in.read<MatX>("body/basis", {4, any_size}); }),
              "model.lithe: body/basis has 3 x 20 numbers, but 4 x any are needed");
    EXPECT_EQ(why_refused([&] { return in.read<VecX>("body/basis", {3}); }),
              "model.lithe: body/basis has 3 x 20 numbers, but 3 x 1 are needed");
    EXPECT_EQ(why_refused([&] { return in.read<Mat3>("body/rest"); }),
              "model.lithe: body/rest has 3 x 5 numbers, but 3 x 3 are needed");
    EXPECT_EQ(why_refused([&] { return in.read<double>("body/rest"); }),
              "model.lithe: body/rest has 3 x 5 numbers, but 1 x 1 are needed");
    EXPECT_EQ(why_refused([&] { return in.read<std::vector<int>>("body/tets", {4}); }),
              "model.lithe: body/tets has 3 x 1 numbers, but 4 x 1 are needed");
    EXPECT_EQ(why_refused([&] { return in.read_text("names"); }),
              "model.lithe: names has 3 x 1 texts, but 1 x 1 are needed");
    EXPECT_EQ(why_refused([&] { return in.read_texts("names", 2); }),
              "model.lithe: names has 3 x 1 texts, but 2 x 1 are needed");
}

TEST(ArchiveReader, AWrongTypeIsTold)
{
    const ArchiveReader in = sample();
    EXPECT_EQ(why_refused([&] { return in.read<Eigen::MatrixXf>("body/basis", {3, 20}); }),
              "model.lithe: body/basis holds double numbers, but float numbers are needed");
    EXPECT_EQ(why_refused([&] { return in.read<std::vector<std::int64_t>>("body/tets", {3}); }),
              "model.lithe: body/tets holds int32 numbers, but int64 numbers are needed");
    EXPECT_EQ(why_refused([&] { return in.read<double>("material/law"); }),
              "model.lithe: material/law holds text, but double numbers are needed");
    EXPECT_EQ(why_refused([&] { return in.read_text("density"); }),
              "model.lithe: density holds double numbers, but text is needed");
}

TEST(ArchiveReader, TypesOfAFixedSizeNeedNoShape)
{
    const ArchiveReader in = sample();
    EXPECT_EQ(in.read<Points>("body/rest", {any_size, 5}), Points::Ones(3, 5));
    using Five = Eigen::Matrix<double, 3, 5>;
    EXPECT_EQ(in.read<Five>("body/rest"), Five::Ones());
    EXPECT_EQ(in.read<Eigen::Vector3i>("body/tets"), Eigen::Vector3i(1, 2, 3));
}

TEST(ArchiveReader, ManyThreadsReadOneArchiveAndTheirOwn)
{
    const MatX shared = MatX::Random(50, 40);
    ArchiveWriter out;
    out.write("shared", shared);
    const ArchiveReader in = reopen(out);
    const auto work = [&](int number, int& mistakes) {
        for (int i = 0; i < 50; ++i) {
            ArchiveWriter own;
            own.write("number", number);
            own.write("matrix", MatX(MatX::Constant(20, 20, number)));
            const ArchiveReader again = reopen(own);
            mistakes += again.read<int>("number") != number;
            mistakes += again.read<MatX>("matrix", {20, 20}) != MatX::Constant(20, 20, number);
            mistakes += in.read<MatX>("shared", {50, 40}) != shared;
        }
    };
    std::array<int, 4> mistakes = {};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back(work, i, std::ref(mistakes[i]));
    }
    EXPECT_THAT(mistakes, ElementsAre(0, 0, 0, 0));
}

TEST(ArchiveReader, MovesTakeTheContentAlong)
{
    ArchiveReader first = sample();
    ArchiveReader second = std::move(first);
    first = std::move(second);
    EXPECT_EQ(first.read<double>("density"), 1000.0);
}
