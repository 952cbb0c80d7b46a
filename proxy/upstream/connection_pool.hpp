// Keep-alive connections to one origin server, for one worker.
#pragma once

#include "wire/stream.hpp"

#include <boost/asio/io_context.hpp>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

struct Origin {
    std::string host;  // A name or an IP address.
    std::string port;

    // host[:port], for a request that has no Host of its own.
    std::string authority() const;
};

struct PoolLimits {
    std::chrono::milliseconds idle{
        std::chrono::seconds{4}};  // Must be below the origin's own (OUT-5).
    std::chrono::milliseconds connect{std::chrono::seconds{10}};
    std::size_t idle_connections_max = 256;
};

// Why no connection could be had: status and token of RFC 9209 section 2.3. Nothing was sent.
struct ConnectFailure {
    int status = 502;
    std::string_view proxy_status;
};

struct Connection {
    std::unique_ptr<wire::Stream> stream;
    bool reused = false;  // It has carried a request before, and may have been closed without our
                          // knowing yet.
};

class ConnectionPool {
public:
    ConnectionPool(boost::asio::io_context& context, wire::Watchdog& watchdog, Origin origin,
                   PoolLimits limits);

    // A connection on which nothing waits to be read: an idle one, or a new one. Within `deadline`.
    awaitable<std::variant<Connection, ConnectFailure>> acquire(wire::Watched::TimePoint deadline);
    awaitable<std::variant<Connection, ConnectFailure>> connect(wire::Watched::TimePoint deadline);

    // Only after a complete answer on a persistent connection; anything left unread closes it
    // (HTP-15).
    void give_back(std::unique_ptr<wire::Stream> stream);

    const Origin& origin() const { return origin_; }
    wire::Watched::TimePoint now() const { return watchdog_.now(); }

private:
    boost::asio::io_context& context_;
    wire::Watchdog& watchdog_;
    Origin origin_;
    PoolLimits limits_;
    std::deque<std::unique_ptr<wire::Stream>> idle_;  // The most recently used at the back.
};

}  // namespace onceward
