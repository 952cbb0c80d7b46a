// One TCP connection: a bounded receive buffer, whole heads, gathered writes, one deadline.
#pragma once

#include "ports/result.hpp"
#include "wire/head.hpp"
#include "wire/watchdog.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string_view>

namespace onceward::wire {

enum class IoError : std::uint8_t {
    closed = 1,     // The peer ended the connection in good order.
    reset = 2,      // It broke.
    timeout = 3,    // The deadline passed; the socket is closed.
    too_large = 4,  // The buffer is full and still not enough.
    malformed = 5,  // What came can never become a head.
};

template <class T>
using IoResult = boost::system::result<T, IoError>;
[[noreturn]] void throw_exception_from_error(IoError error, const boost::source_location& where);

struct Written {
    std::size_t bytes = 0;  // Handed to the kernel, also when it failed then.
    bool failed = false;
};

// Used on one executor only. At most one read and one write at a time. After any error but
// `too_large` and `malformed` the connection is useless.
class Stream final : public Watched {
public:
    Stream(Watchdog& watchdog, boost::asio::ip::tcp::socket socket);

    // The next head with its empty line, in the buffer until `consume`. `closed` only when no byte
    // of it came.
    awaitable<IoResult<std::string_view>> read_head(std::size_t bytes_max);
    // Waits up to `idle` for its first byte, then up to `whole` for the rest.
    awaitable<IoResult<std::string_view>> read_head_within(std::size_t bytes_max,
                                                           std::chrono::milliseconds idle,
                                                           std::chrono::milliseconds whole);

    // Adds bytes to the buffer; the number added, at least one.
    awaitable<IoResult<std::size_t>> fill();

    std::string_view buffered() const;
    void consume(std::size_t bytes) { buffer_.consume(bytes); }

    // All of the parts, in order. Empty parts are allowed.
    awaitable<Written> write(std::array<std::string_view, 3> parts);

    // True when nothing can be read just now and the peer has not closed: what an idle connection
    // should be.
    bool is_quiet();

    // Calls `gone` once when the peer ends or breaks the connection while nothing is being read.
    // Bytes that arrive instead end the watch. Not while a read is under way.
    void watch_end(std::function<void()> gone);
    void unwatch_end() { watch_.reset(); }

    // Ends our side in good order; the peer may still send.
    void shutdown_send();
    // Makes the peer see a reset, so that half an answer is not taken for a whole one.
    void abort();
    void close();
    bool is_open() const { return socket_.is_open(); }
    // Ends a read or write under way, with `reset`; the socket stays open.
    void cancel();

    boost::asio::ip::tcp::endpoint remote() const { return remote_; }

private:
    void expired() override;
    bool has_ended();
    IoError error_of(const boost::system::error_code& error) const;

    boost::asio::ip::tcp::socket socket_;
    boost::asio::ip::tcp::endpoint remote_;
    boost::beast::flat_buffer buffer_;
    std::shared_ptr<std::function<void()>> watch_;  // Gone, and its handler does nothing any more.
    bool timed_out_ = false;
};

}  // namespace onceward::wire
