#include "lithe/server/access.hpp"

#include <gtest/gtest.h>

#include "lithe/server/page_files.hpp"

namespace lithe {
namespace {

const AccessRules at_home{};
const AccessRules with_token{.loopback_only = false, .token = "0123456789abcdef"};

TEST(Access, TakesItsOwnPage)
{
    EXPECT_FALSE(refusal(at_home, {.target = "/", .host = "localhost:8123"}));
    EXPECT_FALSE(
        refusal(at_home, {.target = "/stream", .host = "127.0.0.1:8123", .origin = "http://127.0.0.1:8123"}));
    EXPECT_FALSE(refusal(at_home, {.target = "/", .host = "[::1]:8123"}));
    // through a tunnel, the port is another one
    EXPECT_FALSE(
        refusal(at_home, {.target = "/stream", .host = "localhost:9", .origin = "http://localhost:9"}));
}

TEST(Access, RefusesForeignOrigins)
{
    for (const char* origin :
         {"http://evil.example", "null", "https://localhost:8123", "http://localhost:8124",
          "http://localhost", "http://localhost:8123.evil.example", ""})
        EXPECT_TRUE(refusal(at_home, {.target = "/stream", .host = "localhost:8123", .origin = origin}))
            << origin;
}

TEST(Access, RefusesNamesThatWereBentToThisMachine)
{
    for (const char* host : {"evil.example", "evil.example:8123", "", "localhost.evil.example",
                             "127.0.0.1.evil.example", "192.168.0.1"})
        EXPECT_TRUE(refusal(at_home, {.target = "/", .host = host})) << host;
}

TEST(Access, WantsTheTokenOnceOthersMayCome)
{
    EXPECT_TRUE(refusal(with_token, {.target = "/", .host = "there:1"}));
    for (const char* target :
         {"/?token=", "/?token=0123456789abcde", "/?token=0123456789abcdeg", "/?token=0123456789abcdef0",
          "/?nottoken=0123456789abcdef", "/?x=token=0123456789abcdef"})
        EXPECT_TRUE(refusal(with_token, {.target = target, .host = "there:1"})) << target;
    EXPECT_FALSE(refusal(with_token, {.target = "/?token=0123456789abcdef", .host = "there:1"}));
    EXPECT_FALSE(refusal(with_token, {.target = "/?a=b&token=0123456789abcdef", .host = "there:1"}));
    EXPECT_FALSE(
        refusal(with_token,
                {.target = "/main.js", .host = "there:1", .cookie = "a=b; lithe_token=0123456789abcdef"}));
    EXPECT_TRUE(refusal(
        with_token, {.target = "/main.js", .host = "there:1", .cookie = "xlithe_token=0123456789abcdef"}));
}

TEST(Access, TokensDiffer)
{
    const std::string token = random_token();
    EXPECT_EQ(token.size(), 32u);
    EXPECT_NE(token, random_token());
}

TEST(Access, NamesOfFilesStayInTheirFolder)
{
    EXPECT_EQ(harmless_name("bunny.obj"), "bunny.obj");
    EXPECT_EQ(harmless_name("../../etc/passwd"), "passwd");
    EXPECT_EQ(harmless_name("..\\..\\x.ply"), "x.ply");
    EXPECT_EQ(harmless_name(".."), "");
    EXPECT_EQ(harmless_name(".bashrc"), "bashrc");
    EXPECT_EQ(harmless_name("a b\n$(x).obj"), "a_b___x_.obj");
    EXPECT_EQ(harmless_name(std::string("a\0b", 3)), "a_b");
    EXPECT_LE(harmless_name(std::string(5000, 'a')).size(), 100u);
}

TEST(PageFiles, AreThosePathsAndNoOthers)
{
    for (const char* path : {"/index.html", "/style.css", "/main.js", "/protocol.json"})
        ASSERT_TRUE(page_file(path)) << path;
    EXPECT_NE(page_file("/index.html")->content.find("main.js"), std::string_view::npos);
    for (const char* path :
         {"/../etc/passwd", "/..", "//index.html", "index.html", "/index.html/", "/%2e%2e/x", ""})
        EXPECT_FALSE(page_file(path)) << path;
}

} // namespace
} // namespace lithe
