#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "lithe/server/access.hpp"
#include "lithe/server/live.hpp"

namespace lithe {

struct ServerOptions {
    std::string host = "127.0.0.1";        ///< address to listen at
    unsigned short port = 8123;            ///< 0: any that is free
    std::string token = {};                ///< that every request must bring; empty: none, and loopback only
    std::chrono::seconds request_time{30}; ///< within which the head of a request must have come
    LiveOptions live = {};
};

/// The page over HTTP, the stream over WebSocket, a live scene behind them. One thread does all that has to do with the
/// network; a client that is slow or stuck misses frames and slows nobody.
class WebServer {
public:
    /// Listens. Throws InputError for an address or a port that cannot be had.
    explicit WebServer(ServerOptions options);
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    std::string address() const; ///< of the page, with the token where there is one
    unsigned short port() const;
    Live& live();
    int client_count() const;

    /// Serves until it is asked to stop.
    void run(const std::stop_token& stop);

    struct State; ///< its sessions know it; see web_state.hpp

private:
    std::unique_ptr<State> state_;
};

} // namespace lithe
