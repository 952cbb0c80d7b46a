// The accept loop.
#include "http/listener.hpp"

#include "http/session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sstream>
#include <string>
#include <sys/socket.h>

namespace onceward {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds back_off{100};
using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

std::string text_of(const tcp::endpoint& endpoint)
{
    std::ostringstream text;
    text << endpoint;
    return text.str();
}

}  // namespace

Listener::Listener(asio::io_context& context, Edge& edge, const tcp::endpoint& endpoint,
                   PortShare share, std::size_t connections_max)
    : context_(context),
      edge_(edge),
      acceptor_(context),
      pause_(context),
      connections_max_(connections_max)
{
    boost::system::error_code error;
    open(endpoint, share, error);
    if (!error) return;
    // Without the place in the code that error codes carry: this is for people.
    throw boost::system::system_error({error.value(), error.category()},
                                      "cannot listen on " + text_of(endpoint));
}

// The kernel lets sockets share a port that all had SO_REUSEPORT when they were bound, except for
// the one that was there first: it may ask for it afterwards.
void Listener::open(const tcp::endpoint& endpoint, PortShare share,
                    boost::system::error_code& error)
{
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && share == PortShare::further) acceptor_.set_option(reuse_port(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.set_option(reuse_port(true), error);
    if (!error) acceptor_.listen(4'096, error);
}

awaitable<void> Listener::run()
{
    while (!stopped_) {
        if (edge_.sessions.size() >= connections_max_) {
            pause_.expires_after(back_off);
            co_await pause_.async_wait(token);
            continue;
        }
        tcp::socket socket(context_);
        const auto [error] = co_await acceptor_.async_accept(socket, token);
        if (stopped_) break;
        if (error) {
            pause_.expires_after(back_off);
            co_await pause_.async_wait(token);
            continue;
        }
        auto session = std::make_unique<Session>(edge_, std::move(socket));
        auto serving = Session::serve(std::move(session));
        asio::co_spawn(context_, std::move(serving), asio::detached);
    }
}

void Listener::stop()
{
    stopped_ = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
}

}  // namespace onceward
