// A small blocking HTTP/1.1 client: one connection, one exchange at a time, a deadline on each.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::demo {

struct Endpoint {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;

    std::string text() const;  // HOST:PORT, an IPv6 address in brackets.
};

// "http://host:port", "host:port" or "[::1]:port"; absent when it is none of these. Port 0 is for
// listening only.
std::optional<Endpoint> parse_endpoint(std::string_view text);

struct HttpField {
    std::string name;
    std::string value;
};

struct HttpRequest {
    std::string method = "GET";
    std::string target = "/";
    std::vector<HttpField> fields;  // Host and Content-Length are added.
    std::string body;
};

struct HttpAnswer {
    int status = 0;
    std::vector<HttpField> fields;
    std::string body;  // After transfer decoding.

    // The first field of that name, whatever its case.
    std::optional<std::string_view> find(std::string_view name) const;
};

// Connection refused, closed early, malformed, or late.
class HttpError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Used by one thread at a time.
class HttpConnection {
public:
    // Connects at once; throws HttpError.
    HttpConnection(const Endpoint& endpoint, std::chrono::milliseconds timeout);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    // Sends the request and reads its final answer; throws HttpError. After `Connection: close` or
    // an error the connection is of no further use.
    HttpAnswer exchange(const HttpRequest& request);

private:
    using Clock = std::chrono::steady_clock;

    void connect(const Endpoint& endpoint);
    void send(std::string_view bytes);
    bool receive();  // Appends to received_; false at the end of the stream.
    void wait(short events);
    std::string take_line();
    std::string take(std::size_t count);
    HttpAnswer read_head();
    void read_body(HttpAnswer& answer, bool head_only);
    std::string take_chunks();
    std::string take_rest();

    const std::string authority_;
    const std::chrono::milliseconds timeout_;
    Clock::time_point deadline_;
    int socket_ = -1;
    std::string received_;  // Bytes not yet used up.
};

// One request on a connection of its own.
HttpAnswer fetch(const Endpoint& endpoint, const HttpRequest& request,
                 std::chrono::milliseconds timeout);

}  // namespace onceward::demo
