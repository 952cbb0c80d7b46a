// One client connection: read a head, check it, plan it, and answer it, one request after the
// other.
#pragma once

#include "http/edge.hpp"
#include "http/forwarding.hpp"
#include "wire/stream.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <optional>

namespace onceward {

class Session {
public:
    // `edge` outlives the session. Registers itself there.
    Session(Edge& edge, boost::asio::ip::tcp::socket socket);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Until the connection ends. The only place on the request path that catches: what is thrown
    // here is a bug, and it ends this connection, not the process.
    static awaitable<void> serve(std::unique_ptr<Session> session);

    // Ends the connection as soon as no request is under way.
    void drain();

private:
    struct Request;

    awaitable<void> run();
    awaitable<void> answer(Request& request);
    awaitable<void> reject(Request& request, core::Problem problem);
    awaitable<void> guard(Request& request, core::Guard guard);
    awaitable<void> pass(Request& request, const core::PassThrough& pass);
    awaitable<std::optional<core::Problem>> read_body(Request& request, std::size_t limit,
                                                      std::string& body);
    awaitable<void> deliver(Request& request, Reply reply);
    awaitable<void> deliver_rest(Request& request, Reply& reply);
    awaitable<void> linger();
    void log(const Request& request);

    Edge& edge_;
    wire::Stream stream_;
    Peer peer_;
    bool idle_ = true;
    bool open_ = true;  // Another request may follow.
};

}  // namespace onceward
