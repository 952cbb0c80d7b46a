// Accepting connections on one worker's share of the port.
#pragma once

#include "http/edge.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace onceward {

// The first share of a port is taken only when nobody has it; the further ones join it. Two
// processes that shared a port would each run the same key, in records of their own.
enum class PortShare : std::uint8_t { first, further };

class Listener {
public:
    // Binds at once, with SO_REUSEPORT: the kernel spreads connections over the workers. Throws
    // boost::system::system_error, whose message names the address, when that cannot be had; this
    // runs before the first accept.
    Listener(boost::asio::io_context& context, Edge& edge,
             const boost::asio::ip::tcp::endpoint& endpoint, PortShare share,
             std::size_t connections_max);

    boost::asio::ip::tcp::endpoint local() const { return acceptor_.local_endpoint(); }

    // Accepts until stop. At the connection limit, and after an error such as too many open files,
    // it pauses: the rest waits in the kernel's queue.
    awaitable<void> run();
    void stop();

private:
    void open(const boost::asio::ip::tcp::endpoint& endpoint, PortShare share,
              boost::system::error_code& error);

    boost::asio::io_context& context_;
    Edge& edge_;
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    std::size_t connections_max_;
    bool stopped_ = false;
};

}  // namespace onceward
