// A small HTTP server for the side listeners: whole messages in, whole messages out, everything
// bounded.
#pragma once

#include "ports/result.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onceward {

struct SideRequest {
    std::string method;
    std::string path;   // Up to the `?`, not decoded.
    std::string query;  // Behind it.
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;

    // The value of the first field of this name, and how many there are.
    std::optional<std::string_view> field(std::string_view name) const;
    std::size_t count(std::string_view name) const;

    // The value of `name` in the query, percent-decoded; empty for a bare name. Absent when it is
    // not there.
    std::optional<std::string> parameter(std::string_view name) const;
};

struct SideResponse {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields;  // Further ones.
};

// Called on the endpoint's executor.
using SideHandler = std::function<awaitable<SideResponse>(SideRequest)>;

struct EndpointLimits {
    std::size_t head = 16 << 10;  // Bytes.
    std::size_t body = 64 << 10;
    std::size_t connections = 64;               // More are closed at once.
    std::chrono::milliseconds message{10'000};  // A whole request, or a whole answer.
    std::chrono::milliseconds idle{30'000};     // Between two requests of one connection.
};

// One listener and its connections, all on one executor that only one thread runs.
class HttpEndpoint {
public:
    // Binds and listens at once; throws boost::system::system_error, whose message names the
    // address.
    HttpEndpoint(boost::asio::any_io_executor executor, const boost::asio::ip::tcp::endpoint& where,
                 SideHandler handler, EndpointLimits limits = {});
    ~HttpEndpoint();
    HttpEndpoint(const HttpEndpoint&) = delete;
    HttpEndpoint& operator=(const HttpEndpoint&) = delete;

    // Where it listens, with the port that the system chose for port 0.
    boost::asio::ip::tcp::endpoint local() const;

    // Begins to accept.
    void start();

    // Closes the listener and every connection. Only on the executor, or when it does not run any
    // more. What the handler uses may go away once the executor has run out of work or is
    // destroyed.
    void stop();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace onceward
