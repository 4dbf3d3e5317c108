#include "lithe/server/web_server.hpp"

#include <charconv>
#include <deque>
#include <set>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <fmt/format.h>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "lithe/server/answers.hpp"
#include "lithe/server/page_files.hpp"

namespace lithe {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;
using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::size_t most_connections = 64, most_waiting_texts = 256, most_kept_notes = 30;
/// What the system may hold back of a slow client's stream: more would only be old when it arrives.
constexpr int send_buffer_bytes = 256 * 1024;

std::string_view view_of(boost::string_view text)
{
    return {text.data(), text.size()};
}

RequestHead head_of(const http::request_header<>& request)
{
    RequestHead head{.target = view_of(request.target())};
    head.host = view_of(request[http::field::host]);
    if (request.count(http::field::origin) > 0) head.origin = view_of(request[http::field::origin]);
    head.cookie = view_of(request[http::field::cookie]);
    return head;
}

Json scene_list()
{
    Json out = Json::array();
    for (const BuiltinScene& scene : builtin_scenes())
        out.push_back(
            {{"name", scene.name}, {"title", parse_scene(scene.text, std::string(scene.name)).title}});
    return out;
}

/// Lets a client say so much in a second, and twice that at once.
class RateLimit {
public:
    explicit RateLimit(double per_second) : per_second_(per_second), left_(2.0 * per_second) {}
    [[nodiscard]] bool take()
    {
        const auto now = std::chrono::steady_clock::now();
        left_ = std::min(2.0 * per_second_,
                         left_ + per_second_ * std::chrono::duration<double>(now - last_).count());
        last_ = now;
        if (left_ < 1.0) return false;
        left_ -= 1.0;
        return true;
    }

private:
    double per_second_, left_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace

class StreamClient;

/// All of it runs in the one thread of the network, but for what Live is told to call.
struct WebServer::State {
    explicit State(ServerOptions server_options);

    void accept();
    void pump_all();
    void broadcast(const std::string& text);
    void enter(const std::shared_ptr<StreamClient>& client);
    void leave(std::uint64_t id);
    void command(StreamClient& from, std::string_view text);
    void tell_control();
    void count_audience();

    ServerOptions options;
    AccessRules access;
    std::size_t connections = 0; ///< open ones that are no streams; they count themselves, and end with `io`
    net::io_context io{1};
    tcp::acceptor acceptor{io};
    unsigned short port = 0;
    std::vector<std::shared_ptr<StreamClient>> clients; ///< in the order in which they came
    std::uint64_t next_client = 1, controller = 0;      ///< 0: nobody
    std::atomic<int> client_count = 0;
    std::deque<std::string> notes; ///< the last ones, for those who come later
    std::atomic<bool> pump_waits = false;
    std::unique_ptr<Live> live; ///< the last: its threads end before all else
};

/// One page: reads commands, and is sent the newest of everything as fast as it takes it.
class StreamClient : public std::enable_shared_from_this<StreamClient> {
public:
    StreamClient(beast::tcp_stream stream, WebServer::State& server)
        : server_(server), socket_(std::move(stream)),
          rate_(protocol()["limits"]["commands_per_second"].get<double>())
    {
    }

    void start(const http::request<http::string_body>& request)
    {
        beast::get_lowest_layer(socket_).expires_never(); // the stream has its own clock
        auto timeout = websocket::stream_base::timeout::suggested(beast::role_type::server);
        timeout.idle_timeout = 60s;
        socket_.set_option(timeout);
        socket_.read_message_max(protocol()["limits"]["command_bytes"].get<std::size_t>());
        socket_.auto_fragment(false);
        socket_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
            if (error) return;
            self->server_.enter(self);
            self->read();
        });
    }

    void say(std::string text)
    {
        if (texts_.size() < most_waiting_texts)
            texts_.push_back(std::make_shared<const std::string>(std::move(text)));
        pump();
    }

    /// Sends what is the most urgent of what the page does not have, unless it is still taking something.
    void pump()
    {
        if (writes_ || closed_) return;
        const LiveView view = server_.live->view();
        if (!texts_.empty()) {
            const Bytes text = texts_.front();
            texts_.pop_front();
            return write(text, Payload::Text);
        }
        if (view.scene != scene_) {
            for (const LiveView::ShownBody& body : *view.bodies)
                if (bodies_.insert(body.key).second) return write(body.message, Payload::Binary);
            std::set<std::uint32_t> kept;
            for (const LiveView::ShownBody& body : *view.bodies) kept.insert(body.key);
            bodies_ = std::move(kept); // the page forgets the others, too
            scene_ = view.scene;
            return write(view.scene_message, Payload::Text);
        }
        if (view.status_count != status_) {
            status_ = view.status_count;
            return write(view.status, Payload::Text);
        }
        const bool overlays_wait = wants_overlays && view.overlay_count != overlays_;
        const bool frame_waits = view.frame_count != frame_;
        if (overlays_wait && (frame_was_last_ || !frame_waits)) {
            overlays_ = view.overlay_count;
            frame_was_last_ = false;
            return write(view.overlays, Payload::Binary);
        }
        if (!frame_waits) return;
        frame_ = view.frame_count;
        frame_was_last_ = true;
        write(view.frame, Payload::Binary);
    }

    void close(websocket::close_code code)
    {
        if (closed_) return;
        closed_ = true;
        socket_.async_close(code, [self = shared_from_this()](beast::error_code) {});
    }

    std::uint64_t id = 0;
    bool wants_overlays = false;

private:
    enum class Payload { Text, Binary };

    void write(Bytes bytes, Payload payload)
    {
        writes_ = true;
        socket_.binary(payload == Payload::Binary);
        const net::const_buffer buffer(bytes->data(), bytes->size());
        socket_.async_write(buffer, [self = shared_from_this(),
                                     bytes = std::move(bytes)](beast::error_code error, std::size_t) {
            self->writes_ = false;
            if (!error) self->pump();
        });
    }

    void read()
    {
        socket_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
            if (error) {
                self->closed_ = true;
                return self->server_.leave(self->id);
            }
            const auto data = self->buffer_.cdata();
            if (self->rate_.take())
                self->server_.command(*self, {static_cast<const char*>(data.data()), data.size()});
            else
                self->close(websocket::close_code::policy_error);
            self->buffer_.clear();
            self->read();
        });
    }

    WebServer::State& server_;
    websocket::stream<beast::tcp_stream> socket_;
    beast::flat_buffer buffer_;
    RateLimit rate_;
    std::deque<Bytes> texts_;
    bool writes_ = false, closed_ = false, frame_was_last_ = false;

    // what the page has
    std::set<std::uint32_t> bodies_;
    std::uint32_t scene_ = 0;
    std::uint64_t status_ = 0, frame_ = 0, overlays_ = 0;
};

namespace {

/// One HTTP request after the other on a connection, until it becomes a stream or ends.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
public:
    HttpSession(tcp::socket socket, WebServer::State& server) : server_(server), stream_(std::move(socket))
    {
        ++server_.connections;
    }
    ~HttpSession() { --server_.connections; }

    /// The head comes first: who may not ask is not listened to any further.
    void read()
    {
        parser_.emplace();
        parser_->header_limit(16 * 1024);
        parser_->body_limit(protocol()["limits"]["drop_bytes"].get<std::uint64_t>());
        stream_.expires_after(server_.options.request_time);
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](beast::error_code error, std::size_t) {
                                    if (!error) self->check();
                                });
    }

private:
    using Request = http::request<http::string_body>;
    using Response = http::response<http::string_body>;

    void check()
    {
        const Request& request = parser_->get();
        const RequestHead head = head_of(request);
        if (const auto why = refusal(server_.access, head)) return refuse(http::status::forbidden, *why);
        if (websocket::is_upgrade(request)) {
            if (path_of(head.target) != "/stream")
                return refuse(http::status::not_found, "the stream is elsewhere");
            auto client = std::make_shared<StreamClient>(std::move(stream_), server_);
            return client->start(parser_->release());
        }
        stream_.expires_after(300s);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](beast::error_code error, std::size_t) {
                             if (!error) self->answer();
                         });
    }

    void answer()
    {
        request_ = parser_->release();
        const std::string path(path_of(view_of(request_.target())));
        if (request_.method() == http::verb::post && path == "/drop") return take_drop();
        if (request_.method() != http::verb::get)
            return refuse(http::status::method_not_allowed, "only GET, and POST /drop");
        if (const PageFile* file = page_file(path == "/" ? "/index.html" : path))
            return respond(http::status::ok, file->type, std::string(file->content));
        if (path == "/metrics.json")
            return ask("application/json", [](LiveScene& scene) { return to_json(scene.metrics()); });
        if (path == "/metrics.csv")
            return ask("text/csv", [](LiveScene& scene) { return metrics_csv(scene.metrics()); });
        if (std::size_t k = 0; path.starts_with("/surface/") && path.ends_with(".ply")) {
            const char* end = path.data() + path.size() - 4;
            if (const auto read = std::from_chars(path.data() + 9, end, k);
                read.ec == std::errc() && read.ptr == end)
                return ask("application/octet-stream",
                           [k](LiveScene& scene) { return surface_file(scene, k); });
        }
        refuse(http::status::not_found, "there is nothing at this address");
    }

    /// What only the simulation knows is answered between two of its steps.
    void ask(std::string_view type, std::function<std::string(LiveScene&)> question)
    {
        server_.live->ask(
            [self = shared_from_this(), type, question = std::move(question)](LiveScene* scene) {
                std::string text;
                http::status status = http::status::ok;
                try {
                    if (!scene) throw InputError("there is no scene yet");
                    text = question(*scene);
                } catch (const std::exception& error) {
                    text = error.what();
                    status = http::status::not_found;
                }
                net::post(self->server_.io, [self, type, status, text = std::move(text)]() mutable {
                    self->respond(status, status == http::status::ok ? type : "text/plain", std::move(text));
                });
            });
    }

    /// A mesh, model, character or scene that was dropped on the page: kept in the output folder, and opened.
    void take_drop()
    {
        const std::string_view target = view_of(request_.target());
        const std::string name = harmless_name(query_value(target, "name"));
        if (name.empty()) return refuse(http::status::bad_request, "the file has no name");
        if (query_value(target, "client") != std::to_string(server_.controller))
            return refuse(http::status::forbidden, "another page holds the controls; take them over first");
        const std::filesystem::path folder = server_.options.live.output / "dropped";
        try {
            std::filesystem::create_directories(folder);
            write_file(folder / name, request_.body());
        } catch (const std::exception& error) {
            return refuse(http::status::internal_server_error, error.what());
        }
        server_.live->load([file = folder / name] { return open_scene(file); });
        respond(http::status::accepted, "text/plain", "opening " + name + "\n");
    }

    void refuse(http::status status, const std::string& why) { respond(status, "text/plain", why + "\n"); }

    void respond(http::status status, std::string_view type, std::string body)
    {
        Response response(status, 11);
        response.set(http::field::content_type, boost::string_view(type.data(), type.size()));
        response.set(http::field::cache_control, "no-store");
        response.set("X-Content-Type-Options", "nosniff");
        response.set("Referrer-Policy", "no-referrer");
        response.set(
            "Content-Security-Policy",
            "default-src 'self'; img-src 'self' blob: data:; media-src blob:; frame-ancestors 'none'");
        const std::string& token = server_.access.token;
        if (!token.empty() && status == http::status::ok)
            response.set(http::field::set_cookie,
                         "lithe_token=" + token + "; HttpOnly; SameSite=Strict; Path=/");
        const bool keep = status == http::status::ok && request_.keep_alive();
        response.keep_alive(keep);
        response.body() = std::move(body);
        response.prepare_payload();
        response_ = std::move(response);
        stream_.expires_after(120s);
        http::async_write(stream_, response_,
                          [self = shared_from_this(), keep](beast::error_code error, std::size_t) {
                              if (error) return;
                              if (keep) return self->read();
                              beast::error_code ignored;
                              self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                          });
    }

    WebServer::State& server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    Request request_;
    Response response_;
};

} // namespace

WebServer::State::State(ServerOptions server_options)
    : options(std::move(server_options)),
      access{.loopback_only = options.token.empty(), .token = options.token}
{
    beast::error_code error;
    const auto address = net::ip::make_address(options.host, error);
    if (error)
        throw InputError(fmt::format("--host {}: not an address, as 0.0.0.0 or 192.168.1.5", options.host));
    const tcp::endpoint endpoint(address, options.port);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(net::socket_base::reuse_address(true));
    acceptor.bind(endpoint, error);
    if (error)
        throw InputError(fmt::format("port {} at {} cannot be had ({}); choose another with --port",
                                     options.port, options.host, error.message()));
    acceptor.listen();
    port = acceptor.local_endpoint().port();
    const auto changed = [this] {
        if (pump_waits.exchange(true)) return;
        net::post(io, [this] {
            pump_waits = false;
            pump_all();
        });
    };
    const auto message = [this](const std::string& text) {
        net::post(io, [this, text] { broadcast(text); });
    };
    live = std::make_unique<Live>(options.live, LiveEvents{changed, message});
    accept();
}

void WebServer::State::accept()
{
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
        if (!error && connections + clients.size() < most_connections) {
            beast::error_code ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            socket.set_option(net::socket_base::send_buffer_size(send_buffer_bytes), ignored);
            std::make_shared<HttpSession>(std::move(socket), *this)->read();
        }
        if (acceptor.is_open()) accept();
    });
}

void WebServer::State::pump_all()
{
    for (const auto& client : clients) client->pump();
}

void WebServer::State::broadcast(const std::string& text)
{
    if (text.find("\"type\":\"note\"") != std::string::npos) {
        notes.push_back(text);
        if (notes.size() > most_kept_notes) notes.pop_front();
    }
    for (const auto& client : clients) client->say(text);
}

void WebServer::State::enter(const std::shared_ptr<StreamClient>& client)
{
    static const std::string scenes = scene_list().dump();
    client->id = next_client++;
    clients.push_back(client);
    if (controller == 0) controller = client->id;
    client->say(fmt::format(R"({{"type":"hello","version":{},"you":{},"scenes":{}}})",
                            protocol()["version"].get<int>(), client->id, scenes));
    for (const std::string& note : notes) client->say(note);
    count_audience();
    tell_control();
}

void WebServer::State::leave(std::uint64_t id)
{
    std::erase_if(clients, [&](const auto& client) { return client->id == id; });
    if (controller == id) {
        controller = clients.empty() ? 0 : clients.front()->id;
        live->submit({"release", {}});
    }
    count_audience();
    tell_control();
}

void WebServer::State::count_audience()
{
    int want = 0;
    for (const auto& client : clients) want += client->wants_overlays ? 1 : 0;
    client_count = static_cast<int>(clients.size());
    live->set_audience(client_count, want);
}

void WebServer::State::tell_control()
{
    for (const auto& client : clients)
        client->say(
            Json{{"type", "control"}, {"you", client->id == controller}, {"watchers", clients.size() - 1}}
                .dump());
}

void WebServer::State::command(StreamClient& from, std::string_view text)
{
    const auto complain = [&](const std::string& why) {
        from.say(Json{{"type", "note"}, {"level", "error"}, {"text", why}}.dump(
            -1, ' ', false, Json::error_handler_t::replace));
    };
    try {
        Command command = parse_command(text);
        if (command.name == "overlays") {
            from.wants_overlays = command.flag("on");
            count_audience();
        } else if (command.name == "take_control") {
            controller = from.id;
            tell_control();
        } else if (from.id == controller)
            live->submit(std::move(command));
        else
            complain("another page holds the controls; take them over first");
    } catch (const InputError& error) {
        complain(error.what());
    }
}

WebServer::WebServer(ServerOptions options) : state_(std::make_unique<State>(std::move(options))) {}

WebServer::~WebServer()
{
    state_->live.reset(); // its jobs hold sessions
    state_->clients.clear();
}

std::string WebServer::address() const
{
    const std::string& host = state_->options.host;
    const bool everywhere = host == "0.0.0.0" || host == "::";
    const std::string name = everywhere ? "localhost" : host.find(':') == host.npos ? host : "[" + host + "]";
    std::string out = fmt::format("http://{}:{}/", name, state_->port);
    if (!state_->access.token.empty()) out += "?token=" + state_->access.token;
    return out;
}

unsigned short WebServer::port() const
{
    return state_->port;
}

Live& WebServer::live()
{
    return *state_->live;
}

int WebServer::client_count() const
{
    return state_->client_count;
}

void WebServer::run(const std::stop_token& stop)
{
    const std::stop_callback ask_to_stop(stop, [this] { state_->io.stop(); });
    if (!stop.stop_requested()) state_->io.run();
}

} // namespace lithe
