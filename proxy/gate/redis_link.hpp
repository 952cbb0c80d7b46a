// A stream of bytes to a Redis server, whatever lies beneath: TCP, a socket file or TLS.
#pragma once

#include "gate/redis_address.hpp"
#include "ports/result.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

// Used on its executor only. At most one read and one write at a time; whoever waits holds the
// link.
class RedisLink {
public:
    using Endpoint = boost::asio::generic::stream_protocol::endpoint;
    struct Transfer {
        boost::system::error_code error;
        std::size_t bytes = 0;
    };

    virtual ~RedisLink() = default;

    // Connects and, with TLS, shakes hands and checks the peer's name.
    virtual awaitable<boost::system::error_code> connect(Endpoint endpoint) = 0;
    virtual awaitable<Transfer> read_some(std::span<char> into) = 0;
    // All of it. `bytes` stays where it is until the write has ended.
    virtual awaitable<boost::system::error_code> write(std::string_view bytes) = 0;
    // Ends what is under way with an error. May be called again.
    virtual void close() = 0;
};

std::shared_ptr<RedisLink> make_plain_link(boost::asio::any_io_executor executor);

// Certificates and rules of TLS, loaded once and shared by all workers: it does not change
// afterwards.
class RedisTls;

// Reads the files the address names; blocks, for the start only. The error says which file and why.
std::variant<std::shared_ptr<RedisTls>, std::string> load_redis_tls(const RedisAddress& address);

// The peer proves to be `host` (a name or an IP address), or connect fails.
std::shared_ptr<RedisLink> make_tls_link(boost::asio::any_io_executor executor,
                                         std::shared_ptr<RedisTls> tls, const std::string& host);

}  // namespace onceward
