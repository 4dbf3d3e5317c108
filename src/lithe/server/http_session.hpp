#pragma once
#include "lithe/server/web_state.hpp"

namespace lithe {

/// Answers one HTTP request after the other on a connection, until it becomes a stream or ends.
void serve_http(boost::asio::ip::tcp::socket socket, WebServer::State& server);

} // namespace lithe
