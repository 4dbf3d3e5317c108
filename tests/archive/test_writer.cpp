#include <bit>
#include <csignal>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sys/resource.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using testing::HasSubstr;

namespace {

ArchiveReader reopen(ArchiveWriter& out)
{
    return {out.bytes(), "model.lithe"};
}

/// Any bits: NaN, infinities and both zeros among them.
template <class T>
T any_number()
{
    const auto bits = *rc::gen::arbitrary<std::array<std::uint8_t, sizeof(T)>>();
    return std::bit_cast<T>(bits);
}

template <class T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> any_matrix()
{
    const int rows = *rc::gen::inRange(0, 12), cols = *rc::gen::inRange(0, 12);
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> A(rows, cols);
    for (T& a : A.reshaped()) a = any_number<T>();
    return A;
}

bool same_bits(const auto& A, const auto& B)
{
    return A.rows() == B.rows() && A.cols() == B.cols() &&
           (A.size() == 0 || std::memcmp(A.data(), B.data(), sizeof(A(0, 0)) * A.size()) == 0);
}

template <class T>
void check_matrix_round_trip()
{
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const Matrix A = any_matrix<T>();
    ArchiveWriter out;
    out.write("plain", A, {.unit = "m/s"});
    out.write("packed", A, {.packing = Packing::Deflate});
    out.write("turned", A.transpose());
    out.write("vector", A.reshaped());
    const ArchiveReader in = reopen(out);
    const Shape shape{A.rows(), A.cols()};
    RC_ASSERT(same_bits(in.read<Matrix>("plain", shape), A));
    RC_ASSERT(same_bits(in.read<Matrix>("packed", {any_size, any_size}), A));
    RC_ASSERT(same_bits(in.read<Matrix>("turned", {A.cols(), A.rows()}), Matrix(A.transpose())));
    RC_ASSERT(in.read<std::vector<T>>("vector", {A.size()}).size() == static_cast<std::size_t>(A.size()));
    RC_ASSERT(in.entry("plain").unit == "m/s");
}

RC_GTEST_PROP(ArchiveWriter, MatricesOfDoublesComeBackToTheLastBit, ())
{
    check_matrix_round_trip<double>();
}

RC_GTEST_PROP(ArchiveWriter, MatricesOfFloatsComeBackToTheLastBit, ())
{
    check_matrix_round_trip<float>();
}

RC_GTEST_PROP(ArchiveWriter, MatricesOfIntegersComeBack, ())
{
    check_matrix_round_trip<std::int32_t>();
    check_matrix_round_trip<std::int64_t>();
}

RC_GTEST_PROP(ArchiveWriter, NumbersComeBackToTheLastBit, (std::int64_t integer, std::int32_t small))
{
    const auto number = any_number<double>();
    ArchiveWriter out;
    out.write("a/number", number);
    out.write("a/integer", integer);
    out.write("b", small);
    const ArchiveReader in = reopen(out);
    RC_ASSERT(std::bit_cast<std::uint64_t>(in.read<double>("a/number")) ==
              std::bit_cast<std::uint64_t>(number));
    RC_ASSERT(in.read<std::int64_t>("a/integer") == integer);
    RC_ASSERT(in.read<std::int32_t>("b") == small);
}

RC_GTEST_PROP(ArchiveWriter, TextsComeBack, ())
{
    const auto texts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::nonZero<char>()));
    ArchiveWriter out;
    out.write_texts("all", texts);
    out.write_text("one", texts.empty() ? "" : texts.front());
    const ArchiveReader in = reopen(out);
    RC_ASSERT(in.read_texts("all") == texts);
    RC_ASSERT(in.read_text("one") == (texts.empty() ? "" : texts.front()));
}

TEST(ArchiveWriter, BigPackedMatricesAreSmallAndComeBack)
{
    Eigen::MatrixXi tets(4, 200'000); // four chunks, the last of them not full
    for (Index i = 0; i < tets.size(); ++i) tets(i) = static_cast<int>(i / 7);
    std::vector<std::int64_t> column(300'000);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<std::int64_t>(i);
    ArchiveWriter out;
    out.write("tets", tets, {.packing = Packing::Deflate});
    out.write("column", column, {.packing = Packing::Deflate});
    const ArchiveReader in = reopen(out);
    EXPECT_EQ(in.read<Eigen::MatrixXi>("tets", {4, any_size}), tets);
    EXPECT_EQ(in.read<std::vector<std::int64_t>>("column", {any_size}), column);
    EXPECT_LT(in.entry("tets").stored_bytes, sizeof(int) * tets.size() / 4);
}

TEST(ArchiveWriter, ZerosPackToTheUtmostAndAreStillBelieved)
{
    ArchiveWriter out;
    out.write("zeros", MatX(MatX::Zero(3, 500'000)), {.packing = Packing::Deflate});
    EXPECT_EQ(reopen(out).read<MatX>("zeros", {3, 500'000}), MatX::Zero(3, 500'000));
}

TEST(ArchiveWriter, ExpressionsAndFixedSizesAreWrittenAsTheirMatrix)
{
    const MatX A = MatX::Random(5, 6);
    ArchiveWriter out;
    out.write("block", A.block(1, 2, 3, 2));
    out.write("sum", A + A);
    out.write("row", A.row(2));
    out.write("gravity", Vec3(0, -9.81, 0));
    out.write("row_major", Eigen::Matrix<double, 5, 6, Eigen::RowMajor>(A));
    const ArchiveReader in = reopen(out);
    EXPECT_EQ(in.read<MatX>("block", {3, 2}), A.block(1, 2, 3, 2));
    EXPECT_EQ(in.read<MatX>("sum", {5, 6}), A + A);
    EXPECT_EQ(in.read<Eigen::RowVectorXd>("row", {1, 6}), A.row(2));
    EXPECT_EQ(in.read<Vec3>("gravity"), Vec3(0, -9.81, 0));
    EXPECT_EQ(in.read<MatX>("row_major", {5, 6}), A);
}

TEST(ArchiveWriter, AnEmptyArchiveIsAnArchive)
{
    ArchiveWriter out;
    EXPECT_TRUE(reopen(out).entries().empty());
}

TEST(ArchiveWriter, SameContentSameBytes)
{
    const auto make = [](int salt) {
        const std::string dirt(100'000, static_cast<char>(salt)); // what memory held before must not show
        const std::vector<char> more(30'000, static_cast<char>(salt));
        ArchiveWriter out;
        for (int i = 0; i < 40; ++i)
            out.write("group/" + std::to_string(i), MatX(MatX::Constant(3, i, i)), {.unit = "kg"});
        out.write("packed", Eigen::MatrixXi(Eigen::MatrixXi::Constant(300, 300, 7)),
                  {.packing = Packing::Deflate});
        out.write_texts("names", {"a", "", "long enough to matter"});
        return out.bytes(5);
    };
    const std::string first = make(1);
    timespec a_second{1, 100'000'000}; // times in the file would count seconds
    nanosleep(&a_second, nullptr);
    EXPECT_EQ(make(2), first);
    EXPECT_EQ(make(255), first);
}

TEST(ArchiveWriter, BytesCanBeTakenAgainButNothingAdded)
{
    ArchiveWriter out;
    out.write("a", 1);
    const std::string before = out.bytes();
    EXPECT_EQ(out.bytes(), before);
    EXPECT_NE(out.bytes(7), before);
    EXPECT_DEATH(out.write("b", 2), "broke its own promise");
}

TEST(ArchiveWriter, ImpossiblePathsAreRefused)
{
    ArchiveWriter out;
    out.write("a/b", 1);
    const auto message = [&](std::string_view path) { return test::message_of([&] { out.write(path, 2); }); };
    EXPECT_EQ(message("a/b"), "archive path 'a/b' is written twice");
    EXPECT_EQ(message("a"), "archive path 'a' is written twice");
    EXPECT_EQ(message("a/b/c"), "archive path 'a/b/c' is inside something that is not a group");
    for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "a/..", "a/./b"})
        EXPECT_THAT(message(path), HasSubstr("has a part without a name")) << path;
    EXPECT_THAT(message(std::string_view("a\0b", 3)), HasSubstr("zero byte"));
    EXPECT_THAT(test::message_of([&] { out.write_text("t", std::string_view("a\0b", 3)); }),
                HasSubstr("zero byte"));
    EXPECT_EQ(reopen(out).entries().size(), 1u);
}

TEST(ArchiveWriter, NamesMayBeOfAnyAlphabet)
{
    ArchiveWriter out;
    out.write_text("Körper/家 1", "Hände");
    EXPECT_EQ(reopen(out).read_text("Körper/家 1"), "Hände");
}

TEST(ArchiveWriter, SavedFilesAreWholeOrNotThere)
{
    const test::TemporaryFolder folder;
    ArchiveWriter out;
    out.write("a", MatX(MatX::Random(300, 300)));
    EXPECT_THAT(test::message_of([&] { out.save("/dev/full"); }), HasSubstr("free some space"));

    rlimit old = {};
    getrlimit(RLIMIT_FSIZE, &old);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100'000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = test::message_of([&] { out.save(folder / "m.lithe"); });
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(message, HasSubstr("m.lithe: cannot be written: File too large"));
    EXPECT_TRUE(folder.is_empty());

    out.save(folder / "m.lithe", 9);
    EXPECT_EQ(ArchiveReader(folder / "m.lithe").info().inputs, 9u);
}

} // namespace
