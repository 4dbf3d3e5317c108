#include "lithe/server/http_session.hpp"

#include <charconv>

#include "lithe/core/atomic_file.hpp"
#include "lithe/core/error.hpp"
#include "lithe/server/answers.hpp"
#include "lithe/server/page_files.hpp"
#include "lithe/server/stream_client.hpp"

namespace lithe {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = net::ip::tcp;
using namespace std::chrono_literals;

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

void serve_http(tcp::socket socket, WebServer::State& server)
{
    std::make_shared<HttpSession>(std::move(socket), server)->read();
}

} // namespace lithe
