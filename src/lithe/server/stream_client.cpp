#include "lithe/server/stream_client.hpp"

namespace lithe {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using namespace std::chrono_literals;

constexpr std::size_t most_waiting_texts = 256;

} // namespace

StreamClient::StreamClient(Stream stream, WebServer::State& server)
    : server_(server), socket_(std::move(stream)),
      rate_(protocol()["limits"]["commands_per_second"].get<double>())
{
}

void StreamClient::start(const Request& request)
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

void StreamClient::say(std::string text)
{
    if (texts_.size() < most_waiting_texts)
        texts_.push_back(std::make_shared<const std::string>(std::move(text)));
    pump();
}

void StreamClient::pump()
{
    if (writes_ || closed_) return;
    const LiveView view = server_.live->view();
    if (!texts_.empty()) {
        const Bytes text = texts_.front();
        texts_.pop_front();
        return write(text, Payload::Text);
    }
    if (view.scene != scene_) return send_scene(view);
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

/// The next body that the page does not have; when it has all of them, which they are.
void StreamClient::send_scene(const LiveView& view)
{
    for (const LiveView::ShownBody& body : *view.bodies)
        if (bodies_.insert(body.key).second) return write(body.message, Payload::Binary);
    std::set<std::uint32_t> kept;
    for (const LiveView::ShownBody& body : *view.bodies) kept.insert(body.key);
    bodies_ = std::move(kept); // the page forgets the others, too
    scene_ = view.scene;
    write(view.scene_message, Payload::Text);
}

void StreamClient::close(websocket::close_code code)
{
    if (closed_) return;
    closed_ = true;
    socket_.async_close(code, [self = shared_from_this()](beast::error_code) {});
}

void StreamClient::write(Bytes bytes, Payload payload)
{
    writes_ = true;
    socket_.binary(payload == Payload::Binary);
    const net::const_buffer buffer(bytes->data(), bytes->size());
    socket_.async_write(
        buffer, [self = shared_from_this(), bytes = std::move(bytes)](beast::error_code error, std::size_t) {
            self->writes_ = false;
            if (!error) self->pump();
        });
}

void StreamClient::read()
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

} // namespace lithe
