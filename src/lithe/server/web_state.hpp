#pragma once
#include <atomic>
#include <deque>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "lithe/server/web_server.hpp"

namespace lithe {

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
    boost::asio::io_context io{1};
    boost::asio::ip::tcp::acceptor acceptor{io};
    unsigned short port = 0;
    std::vector<std::shared_ptr<StreamClient>> clients; ///< in the order in which they came
    std::uint64_t next_client = 1, controller = 0;      ///< 0: nobody
    std::atomic<int> client_count = 0;
    std::deque<std::string> notes; ///< the last ones, for those who come later
    std::atomic<bool> pump_waits = false;
    std::unique_ptr<Live> live; ///< the last: its threads end before all else
};

} // namespace lithe
