// HDF5 content that Lithe would not write, behind a header that is right.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hdf5.h>

#include "lithe/archive/reader.hpp"
#include "lithe/archive/writer.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace lithe;
using testing::HasSubstr;

namespace {

/// What the reader says to a file with the content that `fill(file)` makes.
std::string why_refused(const auto& fill)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "x.h5";
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_userblock(creation, archive_header_size);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
    fill(file);
    H5Fclose(file);
    H5Pclose(creation);
    H5Pclose(access);
    std::ifstream in(path, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    write_archive_header(bytes, 0);
    return test::message_of([&] { ArchiveReader(bytes, "model.lithe"); });
}

/// A dataset "x" with nothing written into it.
void make_dataset(hid_t file, hid_t type, const std::vector<hsize_t>& size, hid_t properties = H5P_DEFAULT)
{
    const hid_t space = H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

/// Chunks with these filters, none of them filled.
hid_t chunked(hsize_t chunk, const std::vector<H5Z_filter_t>& filters)
{
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunk);
    const unsigned level = 6;
    for (const H5Z_filter_t filter : filters)
        H5Pset_filter(properties, filter, 0, filter == H5Z_FILTER_DEFLATE ? 1 : 0, &level);
    return properties;
}

TEST(ForeignContent, PlainDataOfOurTypesIsRead)
{
    EXPECT_EQ(why_refused([](hid_t file) {
                  const hid_t early = H5Pcreate(H5P_DATASET_CREATE);
                  H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
                  make_dataset(file, H5T_IEEE_F32LE, {3, 4}, early);
              }),
              "nothing was thrown");
}

TEST(ForeignContent, OtherTypesAreRefused)
{
    const hid_t variable = H5Tcopy(H5T_C_S1);
    H5Tset_size(variable, H5T_VARIABLE);
    for (const hid_t type : {H5T_IEEE_F64BE, H5T_STD_U8LE, H5T_STD_REF_OBJ, variable})
        EXPECT_EQ(why_refused([&](hid_t file) { make_dataset(file, type, {3}); }),
                  "model.lithe: x is of a type that Lithe does not write; make the file again");
}

TEST(ForeignContent, MoreThanTwoDimensionsAreRefused)
{
    EXPECT_THAT(why_refused([](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {2, 2, 2}); }),
                HasSubstr("x is neither a number nor a vector nor a matrix"));
}

TEST(ForeignContent, SizesBeyondTheFileAreRefusedBeforeMemoryIsTaken)
{
    const hsize_t much = hsize_t{1} << 31;
    EXPECT_THAT(why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {much}); }),
                HasSubstr("x is larger than its bytes in the file"));
    EXPECT_THAT(why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {2 * much}); }),
                HasSubstr("x has an impossible size"));
    EXPECT_THAT(why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {4}); }), // never written
                HasSubstr("x is larger than its bytes in the file"));
    const std::vector<H5Z_filter_t> ours = {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    EXPECT_THAT(
        why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {much}, chunked(1000, ours)); }),
        HasSubstr("x is larger than its bytes in the file can hold"));
    EXPECT_THAT(
        why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {much}, chunked(1 << 18, ours)); }),
        HasSubstr("x has chunks of an impossible size"));
}

TEST(ForeignContent, OtherFiltersAreRefused)
{
    using Filters = std::vector<H5Z_filter_t>;
    for (const Filters& filters : {Filters{}, Filters{H5Z_FILTER_DEFLATE}, Filters{H5Z_FILTER_FLETCHER32},
                                   Filters{H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE}})
        EXPECT_THAT(
            why_refused([&](hid_t file) { make_dataset(file, H5T_IEEE_F64LE, {9}, chunked(9, filters)); }),
            HasSubstr("x has filters that Lithe does not use"));
}

TEST(ForeignContent, DataInOtherFilesIsRefused)
{
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, "/etc/hostname", 0, H5F_UNLIMITED);
    EXPECT_THAT(why_refused([&](hid_t file) { make_dataset(file, H5T_STD_I32LE, {1}, properties); }),
                HasSubstr("x lies in another file"));
    const hid_t compact = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(compact, H5D_COMPACT);
    EXPECT_THAT(why_refused([&](hid_t file) { make_dataset(file, H5T_STD_I32LE, {1}, compact); }),
                HasSubstr("x is stored in a way that Lithe does not write"));
}

TEST(ForeignContent, LinksAreRefused)
{
    EXPECT_THAT(
        why_refused([](hid_t file) { H5Lcreate_soft("/nowhere", file, "x", H5P_DEFAULT, H5P_DEFAULT); }),
        HasSubstr("/ has links, which Lithe does not write"));
    EXPECT_THAT(why_refused([](hid_t file) {
                    H5Lcreate_external("other.h5", "/", file, "x", H5P_DEFAULT, H5P_DEFAULT);
                }),
                HasSubstr("/ has links, which Lithe does not write"));
}

TEST(ForeignContent, CirclesAndNamedTypesAreRefused)
{
    EXPECT_THAT(
        why_refused([](hid_t file) { H5Lcreate_hard(file, "/", file, "again", H5P_DEFAULT, H5P_DEFAULT); }),
        HasSubstr("is nested too deeply"));
    EXPECT_THAT(why_refused([](hid_t file) {
                    const hid_t type = H5Tcopy(H5T_IEEE_F64LE);
                    H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
                    H5Tclose(type);
                }),
                HasSubstr("type is neither a group nor data"));
}

TEST(ForeignContent, AUnitThatIsNoTextIsRefused)
{
    EXPECT_THAT(why_refused([](hid_t file) {
                    const hid_t early = H5Pcreate(H5P_DATASET_CREATE);
                    H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
                    make_dataset(file, H5T_IEEE_F64LE, {3}, early);
                    const hid_t space = H5Screate(H5S_SCALAR);
                    H5Aclose(H5Acreate_by_name(file, "x", "unit", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                               H5P_DEFAULT, H5P_DEFAULT));
                    H5Sclose(space);
                }),
                HasSubstr("x has a damaged unit"));
}

} // namespace
