// Blocking sockets with poll(2) deadlines.
#include "http_client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace onceward::demo {

namespace {

constexpr std::size_t line_limit = 64 << 10;

bool same_name(std::string_view left, std::string_view right)
{
    const auto lower = [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

[[noreturn]] void fail(std::string_view what)
{
    throw HttpError(std::string(what) + ": " + std::strerror(errno));
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10)
{
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

std::string wire_form(const HttpRequest& request, const std::string& authority)
{
    std::string bytes = request.method + " " + request.target + " HTTP/1.1\r\nHost: " + authority;
    for (const auto& field : request.fields)
        bytes += "\r\n" + field.name + ": " + field.value;
    if (!request.body.empty() || request.method == "POST") {
        bytes += "\r\nContent-Length: " + std::to_string(request.body.size());
    }
    return bytes + "\r\n\r\n" + request.body;
}

}  // namespace

std::string Endpoint::text() const
{
    const bool bracketed = host.find(':') != std::string::npos;
    return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text)
{
    constexpr std::string_view scheme = "http://";
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
    if (text.ends_with('/')) text.remove_suffix(1);
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    auto host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find_first_of(":/@") != std::string_view::npos) {
        return std::nullopt;
    }
    const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || host.empty()) return std::nullopt;
    return Endpoint{std::string(host), *port};
}

std::optional<std::string_view> HttpAnswer::find(std::string_view name) const
{
    for (const auto& field : fields) {
        if (same_name(field.name, name)) return field.value;
    }
    return std::nullopt;
}

HttpConnection::HttpConnection(const Endpoint& endpoint, std::chrono::milliseconds timeout)
    : authority_(endpoint.text()), timeout_(timeout), deadline_(Clock::now() + timeout)
{
    connect(endpoint);
}

HttpConnection::~HttpConnection()
{
    if (socket_ >= 0) ::close(socket_);
}

void HttpConnection::connect(const Endpoint& endpoint)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto port = std::to_string(endpoint.port);
    if (const int error = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
        error != 0) {
        throw HttpError(authority_ + ": " + ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    for (const auto* address = found; address != nullptr; address = address->ai_next) {
        const int candidate = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (candidate < 0) continue;
        if (::connect(candidate, address->ai_addr, address->ai_addrlen) == 0) {
            const int on = 1;
            ::setsockopt(candidate, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            socket_ = candidate;
            return;
        }
        const int kept = errno;
        ::close(candidate);
        errno = kept;
    }
    fail("cannot connect to " + authority_);
}

void HttpConnection::wait(short events)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    pollfd waited{socket_, events, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready == 0)
        throw HttpError(authority_ + ": no answer within " + std::to_string(timeout_.count()) +
                        " ms");
    if (ready < 0 && errno != EINTR) fail(authority_);
}

void HttpConnection::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        wait(POLLOUT);
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) fail("sending to " + authority_);
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool HttpConnection::receive()
{
    while (true) {
        wait(POLLIN);
        std::array<char, 16 << 10> bytes{};
        const auto got = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got > 0) received_.append(bytes.data(), static_cast<std::size_t>(got));
        if (got >= 0) return got > 0;
        if (errno != EAGAIN && errno != EINTR) fail("reading from " + authority_);
    }
}

std::string HttpConnection::take_line()
{
    while (true) {
        if (const auto end = received_.find("\r\n"); end != std::string::npos) {
            auto line = received_.substr(0, end);
            received_.erase(0, end + 2);
            return line;
        }
        if (received_.size() > line_limit) throw HttpError(authority_ + ": a line without end");
        if (!receive()) throw HttpError(authority_ + ": closed before the answer was complete");
    }
}

std::string HttpConnection::take(std::size_t count)
{
    while (received_.size() < count) {
        if (!receive()) throw HttpError(authority_ + ": closed in the middle of a body");
    }
    auto bytes = received_.substr(0, count);
    received_.erase(0, count);
    return bytes;
}

std::string HttpConnection::take_rest()
{
    while (receive()) {
    }
    return std::exchange(received_, {});
}

std::string HttpConnection::take_chunks()
{
    std::string body;
    while (true) {
        const auto line = take_line();
        const auto size = parse_number<std::size_t>(
            std::string_view(line).substr(0, line.find_first_of("; ")), 16);
        if (!size) throw HttpError(authority_ + ": malformed chunk");
        if (*size == 0) break;
        body += take(*size);
        if (!take_line().empty()) throw HttpError(authority_ + ": malformed chunk");
    }
    while (!take_line().empty()) {
    }
    return body;
}

HttpAnswer HttpConnection::read_head()
{
    const auto line = take_line();
    const auto status =
        line.size() >= 12 ? parse_number<int>(std::string_view(line).substr(9, 3)) : std::nullopt;
    if (!line.starts_with("HTTP/1.") || !status)
        throw HttpError(authority_ + ": not an HTTP/1 answer");
    HttpAnswer answer;
    answer.status = *status;
    for (auto field = take_line(); !field.empty(); field = take_line()) {
        const auto colon = field.find(':');
        if (colon == std::string::npos) throw HttpError(authority_ + ": malformed field");
        const auto start = std::min(field.find_first_not_of(" \t", colon + 1), field.size());
        const auto stop = field.find_last_not_of(" \t") + 1;
        answer.fields.push_back(
            {field.substr(0, colon), field.substr(start, std::max(start, stop) - start)});
    }
    return answer;
}

void HttpConnection::read_body(HttpAnswer& answer, bool head_only)
{
    if (head_only || answer.status == 204 || answer.status == 304) return;
    if (answer.find("Transfer-Encoding")) {
        answer.body = take_chunks();
    } else if (const auto text = answer.find("Content-Length")) {
        const auto length = parse_number<std::size_t>(*text);
        if (!length) throw HttpError(authority_ + ": malformed Content-Length");
        answer.body = take(*length);
    } else {
        answer.body = take_rest();
    }
}

HttpAnswer HttpConnection::exchange(const HttpRequest& request)
{
    deadline_ = Clock::now() + timeout_;
    send(wire_form(request, authority_));
    auto answer = read_head();
    while (answer.status < 200)
        answer = read_head();
    read_body(answer, request.method == "HEAD");
    return answer;
}

HttpAnswer fetch(const Endpoint& endpoint, const HttpRequest& request,
                 std::chrono::milliseconds timeout)
{
    HttpConnection connection(endpoint, timeout);
    return connection.exchange(request);
}

}  // namespace onceward::demo
