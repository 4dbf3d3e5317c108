#include "lithe/server/web_server.hpp"

#include <fmt/format.h>

#include "lithe/core/error.hpp"
#include "lithe/scene/builtin_scenes.hpp"
#include "lithe/server/http_session.hpp"
#include "lithe/server/stream_client.hpp"

namespace lithe {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using tcp = net::ip::tcp;
using Json = nlohmann::json;

constexpr std::size_t most_connections = 64, most_kept_notes = 30;
/// What the system may hold back of a slow client's stream: more would only be old when it arrives.
constexpr int send_buffer_bytes = 256 * 1024;

Json scene_list()
{
    Json out = Json::array();
    for (const BuiltinScene& scene : builtin_scenes())
        out.push_back(
            {{"name", scene.name}, {"title", parse_scene(scene.text, std::string(scene.name)).title}});
    return out;
}

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
            serve_http(std::move(socket), *this);
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
    Audience audience{.clients = static_cast<int>(clients.size())};
    for (const auto& client : clients) {
        audience.wants_overlays = audience.wants_overlays || client->wants_overlays;
        if (client->wants_overlays && !client->field.empty()) audience.fields.insert(client->field);
    }
    client_count = audience.clients;
    live->set_audience(std::move(audience));
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
        from.say(json_text({{"type", "note"}, {"level", "error"}, {"text", why}}));
    };
    try {
        Command command = parse_command(text);
        if (command.name == "overlays") {
            from.wants_overlays = command.flag("on");
            from.field = command.text("field");
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
