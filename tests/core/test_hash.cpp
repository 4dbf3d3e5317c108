#include <string>

#include <gtest/gtest.h>

#include "lithe/core/hash.hpp"

using namespace lithe;

namespace {

/// "abc...zabc..."
std::string letters(std::size_t count)
{
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
    return text;
}

} // namespace

TEST(Hash, AgreesWithXxhsumForEveryKindOfRemainder)
{
    EXPECT_EQ(hash_bytes(""), 0xef46db3751d8e999u);
    EXPECT_EQ(hash_bytes("abc"), 0x44bc2cf5ad770999u);
    EXPECT_EQ(hash_bytes(letters(4)), 0xde0327b0d25d92ccu);
    EXPECT_EQ(hash_bytes(letters(7)), 0x1860940e2902822du);
    EXPECT_EQ(hash_bytes(letters(12)), 0x4b09b7d3a233d4b3u);
    EXPECT_EQ(hash_bytes(letters(31)), 0xf7d421c242541ac9u);
    EXPECT_EQ(hash_bytes(letters(32)), 0x4da6cbe536cf55c7u);
    EXPECT_EQ(hash_bytes(letters(63)), 0xa12b47d9d143a6bcu);
    EXPECT_EQ(hash_bytes(letters(100)), 0x79c9fa152bb53c71u);
}

TEST(Hash, ChangesWithEveryBitAndWithTheLength)
{
    const std::string bytes = letters(301);
    const std::uint64_t hash = hash_bytes(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
            EXPECT_NE(hash_bytes(changed), hash);
        }
    EXPECT_NE(hash_bytes(bytes + '\0'), hash);
}
