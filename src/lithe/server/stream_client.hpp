#pragma once
#include <set>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include "lithe/server/web_state.hpp"

namespace lithe {

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

/// One page: reads commands, and is sent the newest of everything as fast as it takes it.
class StreamClient : public std::enable_shared_from_this<StreamClient> {
public:
    using Stream = boost::beast::tcp_stream;
    using Request = boost::beast::http::request<boost::beast::http::string_body>;

    StreamClient(Stream stream, WebServer::State& server);
    void start(const Request& request);
    void say(std::string text);
    /// Sends what is the most urgent of what the page does not have, unless it is still taking something.
    void pump();
    void close(boost::beast::websocket::close_code code);

    std::uint64_t id = 0;
    bool wants_overlays = false;
    std::string field; ///< that it colours by; empty: none

private:
    enum class Payload { Text, Binary };
    void write(Bytes bytes, Payload payload);
    void read();
    void send_scene(const LiveView& view);

    WebServer::State& server_;
    boost::beast::websocket::stream<Stream> socket_;
    boost::beast::flat_buffer buffer_;
    RateLimit rate_;
    std::deque<Bytes> texts_;
    bool writes_ = false, closed_ = false, frame_was_last_ = false;

    // what the page has
    std::set<std::uint32_t> bodies_;
    std::uint32_t scene_ = 0;
    std::uint64_t status_ = 0, frame_ = 0, overlays_ = 0;
};

} // namespace lithe
