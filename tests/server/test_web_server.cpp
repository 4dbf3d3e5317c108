#include "lithe/server/web_server.hpp"

#include <fstream>
#include <random>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lithe/core/memory.hpp"
#include "lithe/world/checkpoint.hpp"
#include "scenes.hpp"
#include "stream_reader.hpp"
#include "support/count_mallocs.hpp"
#include "support/temporary_folder.hpp"

namespace lithe {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using net::ip::tcp;
using Json = nlohmann::json;
using namespace std::chrono_literals;

/// A server in a thread of its own, with the cube.
class Running {
public:
    explicit Running(ServerOptions options = {}, const char* scene = test::cube_scene)
        : server_([&] {
              options.port = 0;
              options.live.output = folder_.path();
              return std::move(options);
          }())
    {
        server_.live().load(
            [scene] { return SceneOrigin{parse_scene(scene, "cube.toml"), scene, {}, "cube"}; });
        thread_ = std::jthread([this](const std::stop_token& stop) { server_.run(stop); });
    }
    WebServer& server() { return server_; }
    unsigned short port() const { return server_.port(); }
    const test::TemporaryFolder& folder() const { return folder_; }

private:
    test::TemporaryFolder folder_;
    WebServer server_;
    std::jthread thread_;
};

tcp::socket connect(unsigned short port, net::io_context& io)
{
    tcp::socket socket(io);
    socket.connect({net::ip::address_v4::loopback(), port});
    return socket;
}

struct Answer {
    int status = 0;
    std::string body, type, cookie;
};

/// One request with any head.
Answer ask(unsigned short port, const std::string& target,
           std::vector<std::pair<std::string, std::string>> fields = {}, http::verb verb = http::verb::get,
           const std::string& body = {})
{
    net::io_context io;
    beast::tcp_stream stream(connect(port, io));
    http::request<http::string_body> request(verb, target, 11);
    request.set(http::field::host, "localhost:" + std::to_string(port));
    for (const auto& [name, value] : fields) request.set(name, value);
    request.body() = body;
    request.prepare_payload();
    http::write(stream, request);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 30);
    http::read(stream, buffer, parser);
    const auto response = parser.release();
    return {static_cast<int>(response.result_int()), response.body(),
            std::string(response[http::field::content_type]), std::string(response[http::field::set_cookie])};
}

/// A page without a picture.
class Page {
public:
    explicit Page(unsigned short port, const std::string& origin = {}, const std::string& target = "/stream")
        : socket_(connect(port, io_))
    {
        const std::string host = "localhost:" + std::to_string(port);
        socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
            if (!origin.empty()) request.set(http::field::origin, origin);
        }));
        socket_.handshake(host, target);
        socket_.read_message_max(std::size_t{1} << 30);
    }

    void say(const std::string& text)
    {
        socket_.text(true);
        socket_.write(net::buffer(text));
    }
    void command(const Json& fields) { say(fields.dump()); }

    /// The next message: JSON, or of binary ones the kind and bytes.
    struct Message {
        Json json;
        std::uint32_t kind = 0;
        std::string bytes;
    };
    Message next()
    {
        beast::flat_buffer buffer;
        socket_.read(buffer);
        Message out;
        out.bytes = beast::buffers_to_string(buffer.data());
        received += out.bytes.size();
        if (socket_.got_text())
            out.json = Json::parse(out.bytes);
        else {
            std::memcpy(&out.kind, out.bytes.data(), 4);
            if (out.kind == 2) bodies.push_back(test::read_body(out.bytes));
        }
        return out;
    }
    template <class F>
    Message until(const F& wanted)
    {
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < end)
            if (Message message = next(); wanted(message)) return message;
        throw std::runtime_error("what was waited for did not come");
    }
    Json until_type(const std::string& type)
    {
        return until([&](const Message& m) { return m.json.is_object() && m.json["type"] == type; }).json;
    }
    Message until_frame()
    {
        return until([](const Message& m) { return m.kind == 1; });
    }
    Json until_status(const std::function<bool(const Json&)>& wanted)
    {
        return until([&](const Message& m) {
                   return m.json.is_object() && m.json["type"] == "status" && wanted(m.json);
               })
            .json;
    }

    std::vector<test::ReadBody> bodies;
    std::size_t received = 0;

private:
    net::io_context io_;
    websocket::stream<tcp::socket> socket_;
};

std::uint32_t number_of(const Page::Message& frame)
{
    std::uint32_t number = 0;
    std::memcpy(&number, frame.bytes.data() + 8, 4);
    return number;
}

ServerOptions paused()
{
    return {.live = {.paused = true}};
}

TEST(WebServer, ServesThePageAndNothingElse)
{
    Running running(paused());
    const Answer page = ask(running.port(), "/");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.type, testing::StartsWith("text/html"));
    EXPECT_EQ(ask(running.port(), "/main.js").status, 200);
    for (const char* target : {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "/etc/passwd", "//etc/passwd",
                               "/./index.html", "/surface/../x.ply", "/surface/-1.ply", "/surface/1x.ply",
                               "/surface/99999999999999999999.ply", "/dropped"})
        EXPECT_EQ(ask(running.port(), target).status, 404) << target;
    EXPECT_EQ(ask(running.port(), "/", {}, http::verb::put, "x").status, 405);
    EXPECT_EQ(ask(running.port(), "/", {}, http::verb::delete_).status, 405);
}

TEST(WebServer, RefusesForeignOriginsAndHosts)
{
    Running running(paused());
    EXPECT_EQ(ask(running.port(), "/", {{"Origin", "http://evil.example"}}).status, 403);
    EXPECT_EQ(ask(running.port(), "/", {{"Host", "evil.example"}}).status, 403);
    EXPECT_EQ(ask(running.port(), "/drop?name=x.obj&client=1", {{"Origin", "http://evil.example"}},
                  http::verb::post, "v 0 0 0")
                  .status,
              403);
    EXPECT_THROW(Page(running.port(), "http://evil.example"), std::exception);
    EXPECT_THROW(Page(running.port(), "", "/other"), std::exception);
    EXPECT_NO_THROW(Page(running.port(), "http://localhost:" + std::to_string(running.port())));
    EXPECT_FALSE(std::filesystem::exists(running.folder() / "dropped"));
}

TEST(WebServer, WantsItsTokenWhenOthersMayCome)
{
    ServerOptions options = paused();
    options.token = random_token();
    Running running(options);
    EXPECT_EQ(ask(running.port(), "/").status, 403);
    EXPECT_EQ(ask(running.port(), "/main.js").status, 403);
    EXPECT_EQ(ask(running.port(), "/?token=wrong").status, 403);
    EXPECT_THROW(Page(running.port()), std::exception);
    const Answer page = ask(running.port(), "/?token=" + options.token);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.cookie, testing::HasSubstr("HttpOnly"));
    EXPECT_EQ(ask(running.port(), "/main.js", {{"Cookie", "lithe_token=" + options.token}}).status, 200);
    EXPECT_NO_THROW(Page(running.port(), "", "/stream?token=" + options.token));
    EXPECT_THAT(running.server().address(), testing::HasSubstr(options.token));
}

TEST(WebServer, TellsThePortThatIsTaken)
{
    Running running(paused());
    ServerOptions options;
    options.port = running.port();
    EXPECT_THROW(WebServer second(options), InputError);
    options.port = 0;
    options.host = "no address";
    EXPECT_THROW(WebServer third(options), InputError);
}

TEST(WebServer, StreamsBodiesOnceAndThenFrames)
{
    Running running;
    Page page(running.port());
    const Json hello = page.until_type("hello");
    EXPECT_EQ(hello["version"], protocol()["version"]);
    EXPECT_GT(hello["scenes"].size(), 5u);
    const Json scene = page.until_type("scene");
    ASSERT_EQ(page.bodies.size(), 1u);
    EXPECT_EQ(scene["bodies"][0], page.bodies[0].head["key"]);
    std::uint32_t last = 0;
    for (int k = 0; k < 5; ++k) {
        const std::uint32_t number = number_of(page.until_frame());
        EXPECT_GE(number, last);
        last = number;
    }
    const Json status = page.until_type("status");
    for (const auto& field : protocol()["messages"]["status"]) EXPECT_TRUE(status.contains(field)) << field;
    EXPECT_EQ(page.bodies.size(), 1u);
}

TEST(WebServer, PlaysPausesStepsAndResets)
{
    Running running(paused());
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "step"}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["frame"] == 1; })["playing"], false);
    page.command({{"do", "play"}});
    (void)page.until_status([](const Json& s) { return s["frame"] > 5; });
    page.command({{"do", "pause"}});
    const int frame = page.until_status([](const Json& s) { return s["playing"] == false; })["frame"];
    page.command({{"do", "scrub"}, {"frame", 2}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["shown"] == 2; })["frame"], frame);
    page.command({{"do", "reset"}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["frame"] == 0; })["t"], 0.0);
}

TEST(WebServer, GoesOnFromTheFrameThatIsShown)
{
    Running running(paused(), test::mixed_scene);
    Page page(running.port());
    (void)page.until_type("scene");
    for (int k = 0; k < 6; ++k) page.command({{"do", "step"}});
    const Json last = page.until_status([](const Json& s) { return s["frame"] == 6; });
    page.command({{"do", "scrub"}, {"frame", 2}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["shown"] == 2; })["last"], 6);
    page.command({{"do", "step"}});
    const Json third = page.until_status([](const Json& s) { return s["frame"] == 3; });
    EXPECT_EQ(third["last"], 3); // what came after is forgotten
    for (int k = 0; k < 3; ++k) page.command({{"do", "step"}});
    const Json again = page.until_status([](const Json& s) { return s["frame"] == 6; });
    EXPECT_EQ(again["energy"], last["energy"]);
}

TEST(WebServer, GravityChangesWithoutPreparing)
{
    Running running;
    Page page(running.port());
    const Json before = page.until_type("scene");
    page.command({{"do", "gravity"}, {"value", {0, -5, 0}}});
    const Json status = page.until_status(
        [](const Json& s) { return s["gravity"][1] == -5.0 && s["momentum"]["linear"] > 0.5; });
    EXPECT_EQ(status["scene"], before["scene"]);
    EXPECT_EQ(status["undo"], 1);
    page.command({{"do", "undo"}});
    (void)page.until_status([](const Json& s) { return s["gravity"][1] == 0.0; });
}

TEST(WebServer, FieldsComeToThoseWhoColourByThem)
{
    Running running({}, test::mixed_scene);
    Page page(running.port());
    const Json scene = page.until_type("scene");
    ASSERT_EQ(scene["fields"].size(), 1u);
    page.command({{"do", "overlays"}, {"on", true}, {"field", scene["fields"][0]["name"]}});
    const auto has_stress = [](const Page::Message& m) {
        if (m.kind != 3) return false;
        const Json head = test::read_packed(m.bytes).head;
        return head["fields"].size() == 2 && head["fields"][0]["top"] > 0.0;
    };
    auto message = test::read_packed(page.until(has_stress).bytes);
    EXPECT_EQ(message.sections.back().first, "values");
    EXPECT_EQ(std::ranges::max(message.sections.back().second), 255.0);
}

TEST(WebServer, ComparesWithFullSpaceWhenAsked)
{
    Running running({}, test::mixed_scene);
    Page page(running.port());
    EXPECT_TRUE(page.until_type("status")["error"].is_null());
    page.command({{"do", "compare"}, {"on", true}});
    const Json status = page.until_status([](const Json& s) {
        return !s["error"].is_null() && s["error"]["frame"] > 20 && s["error"]["max"] > 0.0;
    });
    EXPECT_EQ(status["error"]["trouble"], "");
    EXPECT_LE(status["error"]["last"], status["error"]["max"]);
    EXPECT_LT(status["error"]["max"], 1.0);
    page.command({{"do", "grab"}, {"origin", {0.25, 0.2, 5}}, {"direction", {0, 0, -1}}});
    (void)page.until_type("held");
    page.command({{"do", "compare"}, {"on", false}});
    (void)page.until_status([](const Json& s) { return s["compares"] == false && s["error"].is_null(); });
}

TEST(WebServer, SaysWhenThereIsNothingToCompare)
{
    Running running;
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "compare"}, {"on", true}});
    EXPECT_THAT(page.until_type("note")["text"].get<std::string>(),
                testing::HasSubstr("no body of the scene is reduced"));
}

TEST(WebServer, OverlaysComeWhenTheyAreWantedEvenOfASceneThatStandsStill)
{
    Running running(paused());
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "cut"}, {"on", true}, {"axis", 2}, {"offset", 0.0}});
    page.command({{"do", "overlays"}, {"on", true}, {"field", ""}});
    const auto is_cut = [](const Page::Message& m) {
        return m.kind == 3 && test::read_packed(m.bytes).head["cut"] == true;
    };
    auto message = test::read_packed(page.until(is_cut).bytes);
    EXPECT_EQ(message.head["overlays"][0]["name"], "contacts");
    EXPECT_GT(message.sections.back().second.size(), 9u);
}

TEST(WebServer, TheHandMovesTheBodyThatThePageSees)
{
    Running running;
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "grab"}, {"origin", {0, 0, 5}}, {"direction", {0, 0, -1}}});
    const Json held = page.until_type("held");
    EXPECT_EQ(held["body"], "cube");
    EXPECT_NEAR(held["point"][2].get<double>(), 0.1, 0.02);
    page.command({{"do", "drag"}, {"target", {0.0, 0.5, 0.1}}});
    const auto height = [&](const Page::Message& message) {
        if (message.kind != 1) return 0.0;
        test::StreamReader in(message.bytes);
        (void)in.take_fields(protocol()["binary"]["frame"]["header"]);
        return test::read_positions(in, page.bodies.at(0)).row(1).mean();
    };
    EXPECT_GT(height(page.until([&](const Page::Message& m) { return height(m) > 0.3; })), 0.3);
    page.command({{"do", "grab"}, {"origin", {0, 50, 5}}, {"direction", {0, 0, -1}}});
    EXPECT_TRUE(page.until_type("held")["body"].is_null());
}

TEST(WebServer, OneHoldsTheControlsAndOthersWatch)
{
    Running running;
    auto first = std::make_unique<Page>(running.port());
    EXPECT_EQ(first->until_type("control")["you"], true);
    Page second(running.port());
    EXPECT_EQ(second.until_type("control")["you"], false);
    (void)second.until_frame();
    second.command({{"do", "pause"}});
    EXPECT_THAT(second.until_type("note")["text"].get<std::string>(), testing::HasSubstr("another page"));
    second.command({{"do", "take_control"}});
    EXPECT_EQ(second.until_type("control")["you"], true);
    EXPECT_EQ(first
                  ->until([](const Page::Message& m) {
                      return m.json.is_object() && m.json["type"] == "control" && m.json["you"] == false;
                  })
                  .kind,
              0u);
    second.command({{"do", "pause"}});
    (void)second.until_status([](const Json& s) { return s["playing"] == false; });
    Page third(running.port());
    EXPECT_EQ(third.until_type("control")["you"], false);
    first.reset();
}

TEST(WebServer, SlidersPrepareAgainAndGoOn)
{
    Running running;
    Page page(running.port());
    (void)page.until_status([](const Json& s) { return s["frame"] > 3; });
    page.command({{"do", "stiffness"}, {"value", 4.0}});
    (void)page.until_type("scene");
    const Json changed = page.until_status([](const Json& s) { return s["stiffness"] == 4.0; });
    EXPECT_GT(changed["frame"], 3);
    EXPECT_EQ(changed["undo"], 1);
    page.command({{"do", "substeps"}, {"value", 3}});
    (void)page.until_status([](const Json& s) { return s["substeps"] == 3; });
    page.command({{"do", "undo"}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["undo"] == 1; })["substeps"], 1);
}

TEST(WebServer, SavedStatesContinue)
{
    Running running(paused());
    Page page(running.port());
    (void)page.until_type("scene");
    for (int k = 0; k < 3; ++k) page.command({{"do", "step"}});
    page.command({{"do", "save_state"}});
    const Json plain = page.until_type("saved");
    page.command({{"do", "friction"}, {"value", 2.0}});
    // the scene is announced at its start, when it is saved, and when it has changed
    (void)page.until([](const Page::Message& m) {
        return m.json.is_object() && m.json["type"] == "scene" && m.json["scene"] >= 3;
    });
    page.command({{"do", "step"}});
    page.command({{"do", "save_state"}});
    const Json edited = page.until_type("saved");
    for (const Json& saved : {plain, edited}) {
        ASSERT_EQ(saved["files"].size(), 2u) << saved;
        const Scene scene = read_scene(saved["files"][1].get<std::string>());
        Progress progress;
        PreparedScene prepared = prepare_scene(scene, progress);
        const int frame =
            read_checkpoint(saved["files"][0].get<std::string>(), prepared.inputs, prepared.world);
        EXPECT_EQ(frame, saved == plain ? 3 : 4);
        EXPECT_NEAR(prepared.world.time(), frame / 60.0, 1e-12);
    }
}

TEST(WebServer, DroppedFilesAreOpenedAndBadOnesExplained)
{
    Running running(paused());
    Page page(running.port());
    const std::string me = std::to_string(page.until_type("hello")["you"].get<int>());
    (void)page.until_type("scene");
    const auto drop = [&](const std::string& name, const std::string& body, const std::string& client) {
        return ask(running.port(), "/drop?name=" + name + "&client=" + client, {}, http::verb::post, body)
            .status;
    };
    EXPECT_EQ(drop("a.obj", "x", "999"), 403);
    EXPECT_EQ(drop("..", "x", me), 400);
    EXPECT_EQ(drop("broken.obj", "v 0 0 0\nv 1 0 zero\nf 1 2 3\n", me), 202);
    EXPECT_THAT(page.until_type("note")["text"].get<std::string>(), testing::HasSubstr("broken.obj:2"));
    EXPECT_EQ(drop("..%2f..%2ftet.obj",
                   "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", me),
              202);
    const Json scene = page.until_type("scene");
    EXPECT_THAT(scene["title"].get<std::string>(), testing::HasSubstr("falls on the ground"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(running.folder().path()))
        EXPECT_THAT(entry.path().string(), testing::StartsWith(running.folder().path().string()));
}

TEST(WebServer, AnswersWithFiles)
{
    Running running(paused());
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "step"}});
    (void)page.until_status([](const Json& s) { return s["frame"] == 1; });
    EXPECT_EQ(Json::parse(ask(running.port(), "/metrics.json").body)["steps"].size(), 1u);
    EXPECT_THAT(ask(running.port(), "/metrics.csv").body, testing::StartsWith("frame,t [s]"));
    EXPECT_THAT(ask(running.port(), "/surface/0.ply").body, testing::StartsWith("ply"));
    EXPECT_EQ(ask(running.port(), "/surface/7.ply").status, 404);
}

/// 10 000 messages that are no commands, as text and as binary, from clients that come and go, and broken HTTP: the server
/// stays, and still does what it is told.
TEST(WebServer, SurvivesMalformedMessages)
{
    Running running(paused());
    std::mt19937 random(3);
    int sent = 0;
    for (int client = 0; client < 50; ++client) {
        Page page(running.port());
        for (int k = 0; k < 200; ++k, ++sent) {
            std::string text = R"({"do":"grab","origin":[0,0,5],"direction":[0,0,-1]})";
            if (k % 3 == 0) text.resize(random() % 200);
            for (int edits = 0; edits < 3 && !text.empty(); ++edits)
                text[random() % text.size()] = static_cast<char>(32 + random() % 95);
            try {
                page.say(text);
            } catch (const std::exception&) {
                break; // said too much too fast, and was shown out
            }
        }
    }
    EXPECT_GE(sent, 9'000);
    for (int k = 0; k < 100; ++k) {
        net::io_context io;
        tcp::socket socket = connect(running.port(), io);
        std::string bytes = k % 2 ? "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" : "";
        for (int c = 0; c < 200; ++c)
            bytes.insert(bytes.begin() + static_cast<long>(random() % (bytes.size() + 1)),
                         static_cast<char>(random()));
        beast::error_code ignored;
        net::write(socket, net::buffer(bytes), ignored);
    }
    Page page(running.port());
    (void)page.until_type("scene");
    page.command({{"do", "take_control"}});
    page.command({{"do", "step"}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["frame"] == 1; })["playing"], false);
}

TEST(WebServer, ShowsOutThoseWhoSayTooMuch)
{
    Running running(paused());
    Page page(running.port());
    EXPECT_THROW(
        {
            for (int k = 0; k < 100'000; ++k) page.command({{"do", "pause"}});
            for (;;) (void)page.next();
        },
        std::exception);
    Page longer(running.port());
    EXPECT_THROW(
        {
            longer.say(std::string(1 << 20, ' '));
            for (;;) (void)longer.next();
        },
        std::exception);
}

/// One client reads nothing at all: the simulation and another client do not notice.
TEST(WebServer, AStuckClientSlowsNobody)
{
    Running running;
    Page stuck(running.port()), watching(running.port());
    const int first = watching.until_type("status")["frame"];
    const auto start = std::chrono::steady_clock::now();
    const Json later =
        watching.until_status([&](const Json& s) { return s["frame"].get<int>() >= first + 90; });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
    EXPECT_GT(later["t"], 0.0);
}

/// A connection was once cut by the clock of the request that it began with.
TEST(WebServer, StreamsOutliveTheTimeOfARequest)
{
    ServerOptions options = paused();
    options.request_time = 1s;
    Running running(options);
    Page page(running.port());
    (void)page.until_type("scene");
    std::this_thread::sleep_for(1500ms);
    page.command({{"do", "step"}});
    EXPECT_EQ(page.until_status([](const Json& s) { return s["frame"] == 1; })["playing"], false);
}

/// Of a running server: what streams, recordings and accounts take does not grow without end.
TEST(WebServer, MemoryStaysWithinItsBounds)
{
    if (!test::MallocCounter::works()) GTEST_SKIP() << "a sanitizer keeps what was given back";
    ServerOptions options;
    options.live.recording_bytes = 1 << 20;
    Running running(options);
    Page page(running.port());
    page.command({{"do", "speed"}, {"value", 4.0}});
    page.command({{"do", "overlays"}, {"on", true}, {"field", ""}});
    (void)page.until_status([](const Json& s) { return s["frame"] > 60; });
    const auto before = peak_memory_bytes();
    (void)page.until_status([](const Json& s) { return s["frame"] > 360; });
    EXPECT_LT(static_cast<double>(peak_memory_bytes()) - static_cast<double>(before), 8e6);
}

} // namespace
} // namespace lithe
