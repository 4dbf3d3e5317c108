#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "lithe/core/atomic_file.hpp"
#include "lithe/core/hash.hpp"
#include "lithe/core/version.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string sample()
{
    ArchiveWriter out;
    out.write("body/basis", MatX(MatX::Random(6, 4)), {.unit = "m"});
    out.write("body/tets", Eigen::MatrixXi(Eigen::MatrixXi::Random(4, 9)), {.packing = Packing::Deflate});
    out.write_text("name", "hand");
    return out.bytes(77);
}

std::string why_refused(std::string_view bytes)
{
    return test::message_of([&] { ArchiveReader(bytes, "model.lithe"); });
}

/// Overwrites bytes of the header and makes its hash right again.
template <class T>
std::string with_header_field(std::string file, std::size_t offset, const T& value)
{
    std::memcpy(file.data() + offset, &value, sizeof value);
    const std::uint64_t hash = hash_bytes(std::string_view(file).substr(0, archive_header_size - 8));
    std::memcpy(file.data() + archive_header_size - 8, &hash, 8);
    return file;
}

} // namespace

TEST(ArchiveHeader, SaysWhoWroteTheFileAndFromWhat)
{
    const std::string file = sample();
    const ArchiveReader in(file, "model.lithe");
    EXPECT_EQ(in.info().format, 1u);
    EXPECT_EQ(in.info().producer, LITHE_VERSION);
    EXPECT_EQ(in.info().inputs, 77u);
    EXPECT_EQ(in.info().content, hash_bytes(std::string_view(file).substr(512)));
}

TEST(ArchiveHeader, EveryTruncationIsNoticed)
{
    const std::string file = sample();
    for (std::size_t size = 0; size < file.size(); ++size)
        EXPECT_THAT(why_refused(std::string_view(file).substr(0, size)), StartsWith("model.lithe: is "))
            << size;
    EXPECT_THAT(why_refused(""), HasSubstr("is empty"));
    EXPECT_THAT(why_refused(std::string_view(file).substr(0, 100)), HasSubstr("cut off within its header"));
    EXPECT_THAT(why_refused(std::string_view(file).substr(0, 600)), HasSubstr("is cut off: it has 88 bytes"));
    EXPECT_THAT(why_refused(file + "x"), HasSubstr("is too long"));
}

TEST(ArchiveHeader, EveryFlippedBitIsNoticed)
{
    std::string file = sample();
    for (std::size_t i = 0; i < file.size(); ++i)
        for (int bit = 0; bit < 8; bit += i < archive_header_size ? 1 : 3) {
            file[i] = static_cast<char>(file[i] ^ (1 << bit));
            EXPECT_THROW(ArchiveReader(file, "model.lithe"), InputError) << i;
            file[i] = static_cast<char>(file[i] ^ (1 << bit));
        }
    EXPECT_NO_THROW(ArchiveReader(file, "model.lithe"));
    file[700] = static_cast<char>(file[700] + 1);
    EXPECT_THAT(why_refused(file), HasSubstr("is damaged"));
    file[20] = static_cast<char>(file[20] + 1);
    EXPECT_THAT(why_refused(file), HasSubstr("damaged header"));
}

TEST(ArchiveHeader, OtherFilesAreRefused)
{
    EXPECT_THAT(why_refused("v 0 0 0\n"), HasSubstr("is not a .lithe file"));
    EXPECT_THAT(why_refused(std::string(5000, '\0')), HasSubstr("is not a .lithe file"));
    EXPECT_THAT(why_refused("\x89HDF\r\n\x1a\n and so on"), HasSubstr("is not a .lithe file"));
}

TEST(ArchiveHeader, ANewerFormatIsRefusedWithItsVersion)
{
    std::string file = with_header_field(sample(), 8, std::uint32_t{3});
    file = with_header_field(file, 40, std::array<char, 6>{"0.9.0"});
    EXPECT_EQ(why_refused(file),
              "model.lithe: was written by Lithe 0.9.0 in format 3, but this program reads "
              "up to 1; use a newer Lithe or make the file again");
    EXPECT_NE(why_refused(with_header_field(sample(), 8, std::uint32_t{0})), "nothing was thrown");
}

TEST(ArchiveHeader, ContentThatDoesNotBeginAsOursNeverReachesTheLibrary)
{
    for (const std::size_t offset : {8u, 9u, 10u, 12u, 20u, 28u}) {
        std::string file = sample();
        file[512 + offset] = static_cast<char>(file[512 + offset] ^ 1);
        write_archive_header(file, 0);
        EXPECT_THAT(why_refused(file), HasSubstr("does not hold what Lithe writes; make it again")) << offset;
    }
    std::string file(600, 'x');
    write_archive_header(file, 0);
    EXPECT_THAT(why_refused(file), HasSubstr("does not hold what Lithe writes"));
}

TEST(ArchiveHeader, FilesAreCheckedAsBytesAre)
{
    const test::TemporaryFolder folder;
    const std::string file = sample();
    write_file(folder / "whole.lithe", file);
    EXPECT_EQ(ArchiveReader(folder / "whole.lithe").read_text("name"), "hand");
    write_file(folder / "half.lithe", std::string_view(file).substr(0, file.size() / 2));
    EXPECT_THAT(test::message_of([&] { ArchiveReader(folder / "half.lithe"); }), HasSubstr("is cut off"));
    write_file(folder / "empty.lithe", "");
    EXPECT_THAT(test::message_of([&] { ArchiveReader(folder / "empty.lithe"); }), HasSubstr("is empty"));
    EXPECT_THAT(test::message_of([&] { ArchiveReader(folder / "none.lithe"); }),
                HasSubstr("none.lithe: cannot be opened: No such file"));
    EXPECT_THAT(test::message_of([&] { ArchiveReader{folder.path()}; }), HasSubstr("is not a file"));
}
