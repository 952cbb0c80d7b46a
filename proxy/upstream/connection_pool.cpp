// Connecting to the origin, and keeping connections.
#include "upstream/connection_pool.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <vector>

namespace onceward {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);

// Ends a look-up and a connect that take too long.
class ConnectWatch final : public wire::Watched {
public:
    ConnectWatch(wire::Watchdog& watchdog, tcp::resolver& resolver, tcp::socket& socket)
        : Watched(watchdog), resolver_(resolver), socket_(socket)
    {
    }

    bool is_over() const { return over_; }

private:
    void expired() override
    {
        over_ = true;
        boost::system::error_code ignored;
        resolver_.cancel();
        socket_.close(ignored);
    }

    tcp::resolver& resolver_;
    tcp::socket& socket_;
    bool over_ = false;
};

ConnectFailure failure_of(const boost::system::error_code& error)
{
    if (error == asio::error::connection_refused) return {502, "connection_refused"};
    if (error == asio::error::timed_out) return {504, "connection_timeout"};
    // A socket that could not be opened reads as an aborted operation.
    if (error == asio::error::no_descriptors || error == asio::error::operation_aborted)
        return {503, "connection_limit_reached"};
    return {503, "destination_unavailable"};
}

}  // namespace

std::string Origin::authority() const
{
    const bool bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
    const auto name = bare_v6 ? "[" + host + "]" : host;
    return port == "80" ? name : name + ":" + port;
}

ConnectionPool::ConnectionPool(asio::io_context& context, wire::Watchdog& watchdog, Origin origin,
                               PoolLimits limits)
    : context_(context), watchdog_(watchdog), origin_(std::move(origin)), limits_(limits)
{
}

awaitable<std::variant<Connection, ConnectFailure>> ConnectionPool::acquire(
    wire::Watched::TimePoint deadline)
{
    while (!idle_.empty()) {
        auto stream = std::move(idle_.back());
        idle_.pop_back();
        // A connection that can be read now was closed, or says something nobody asked for.
        if (!stream->is_quiet()) continue;
        stream->expires_at(deadline);
        co_return Connection{std::move(stream), true};
    }
    auto connected = co_await connect(deadline);
    co_return connected;
}

awaitable<std::variant<Connection, ConnectFailure>> ConnectionPool::connect(
    wire::Watched::TimePoint deadline)
{
    tcp::resolver resolver(context_);
    tcp::socket socket(context_);
    ConnectWatch watch(watchdog_, resolver, socket);
    watch.expires_at(std::min(deadline, watchdog_.now() + limits_.connect));

    std::vector<tcp::endpoint> endpoints;
    boost::system::error_code not_literal;
    const auto address = asio::ip::make_address(origin_.host, not_literal);
    if (!not_literal) {
        endpoints.emplace_back(address, static_cast<std::uint16_t>(std::stoi(origin_.port)));
    } else {
        const auto [error, found] =
            co_await resolver.async_resolve(origin_.host, origin_.port, token);
        if (watch.is_over()) co_return ConnectFailure{504, "dns_timeout"};
        if (error) co_return ConnectFailure{502, "dns_error"};
        for (const auto& entry : found)
            endpoints.push_back(entry.endpoint());
    }
    const auto [error, endpoint] = co_await asio::async_connect(socket, endpoints, token);
    if (watch.is_over()) co_return ConnectFailure{504, "connection_timeout"};
    if (error) co_return failure_of(error);
    Connection fresh{std::make_unique<wire::Stream>(watchdog_, std::move(socket)), false};
    fresh.stream->expires_at(deadline);
    co_return fresh;
}

void ConnectionPool::give_back(std::unique_ptr<wire::Stream> stream)
{
    if (!stream->is_quiet()) return;
    while (idle_.size() >= limits_.idle_connections_max)
        idle_.pop_front();
    stream->expires_after(limits_.idle);  // The watchdog closes it; acquire then passes it over.
    idle_.push_back(std::move(stream));
    while (!idle_.front()->is_open())
        idle_.pop_front();
}

}  // namespace onceward
