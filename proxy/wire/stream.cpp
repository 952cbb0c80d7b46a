// One TCP connection. The only place where sockets are read and written.
#include "wire/stream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstdlib>
#include <sys/socket.h>

namespace onceward::wire {

namespace asio = boost::asio;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_size = 8 << 10;  // Of one read: most heads and bodies need one.

// How far a head has come: where it ends, or that it never will.
struct HeadSearch {
    std::size_t looked_at = 0;
    bool malformed = false;

    // Position after the empty line, or 0.
    std::size_t look(std::string_view text)
    {
        if (looked_at == 0 && !text.empty() && static_cast<unsigned char>(text[0]) <= 0x20)
            malformed = true;
        if (looked_at == 0 && !text.empty() && static_cast<unsigned char>(text[0]) >= 0x7F)
            malformed = true;
        for (auto end = text.find('\n', looked_at); end != std::string_view::npos;
             end = text.find('\n', end + 1)) {
            if (end == 0 || text[end - 1] != '\r') {
                malformed = true;
                return 0;
            }
            if (end >= 3 && text[end - 2] == '\n') return end + 1;
        }
        looked_at = text.size();
        return 0;
    }
};

enum class Peeked : std::uint8_t { nothing, bytes, ended };

Peeked peek(int descriptor)
{
    char byte;
    const auto got = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) return Peeked::bytes;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Peeked::nothing : Peeked::ended;
}

}  // namespace

void throw_exception_from_error(IoError, const boost::source_location&)
{
    std::abort();
}

Stream::Stream(Watchdog& watchdog, asio::ip::tcp::socket socket)
    : Watched(watchdog), socket_(std::move(socket)), buffer_(receive_buffer_max)
{
    boost::system::error_code ignored;
    remote_ = socket_.remote_endpoint(ignored);
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

awaitable<IoResult<std::string_view>> Stream::read_head(std::size_t bytes_max)
{
    HeadSearch search;
    for (;;) {
        const auto end = search.look(buffered());
        if (search.malformed) co_return IoError::malformed;
        if (end > bytes_max || (end == 0 && buffer_.size() >= bytes_max))
            co_return IoError::too_large;
        if (end != 0) co_return buffered().substr(0, end);

        const bool begun = !buffered().empty();
        const auto added = co_await fill();
        if (added) continue;
        const bool cut = added.error() == IoError::closed && begun;
        co_return cut ? IoError::reset : added.error();
    }
}

awaitable<IoResult<std::string_view>> Stream::read_head_within(std::size_t bytes_max,
                                                               std::chrono::milliseconds idle,
                                                               std::chrono::milliseconds whole)
{
    if (buffered().empty()) {
        expires_after(idle);
        const auto added = co_await fill();
        if (!added) co_return added.error();
    }
    expires_after(whole);
    const auto head = co_await read_head(bytes_max);
    co_return head;
}

awaitable<IoResult<std::size_t>> Stream::fill()
{
    const auto room = buffer_.max_size() - buffer_.size();
    if (room == 0) co_return IoError::too_large;
    const auto space = buffer_.prepare(std::min(room, read_size));
    const auto [error, bytes] = co_await socket_.async_read_some(space, token);
    if (error) co_return error_of(error);
    buffer_.commit(bytes);
    co_return bytes;
}

std::string_view Stream::buffered() const
{
    const auto bytes = buffer_.cdata();
    return {static_cast<const char*>(bytes.data()), bytes.size()};
}

awaitable<Written> Stream::write(std::array<std::string_view, 3> parts)
{
    std::array<asio::const_buffer, 3> buffers;
    for (std::size_t i = 0; i < parts.size(); ++i)
        buffers[i] = asio::buffer(parts[i]);
    const auto [error, bytes] = co_await asio::async_write(socket_, buffers, token);
    co_return Written{bytes, static_cast<bool>(error)};
}

bool Stream::is_quiet()
{
    if (!socket_.is_open() || buffer_.size() != 0) return false;
    return peek(socket_.native_handle()) == Peeked::nothing;
}

bool Stream::has_ended()
{
    return !socket_.is_open() || peek(socket_.native_handle()) == Peeked::ended;
}

void Stream::watch_end(std::function<void()> gone)
{
    watch_ = std::make_shared<std::function<void()>>(std::move(gone));
    const std::weak_ptr<std::function<void()>> watch = watch_;
    socket_.async_wait(
        asio::ip::tcp::socket::wait_read, [this, watch](const boost::system::error_code& error) {
            const auto watched = watch.lock();  // While it lives, so does this stream.
            if (!watched || error || !has_ended()) return;
            watch_.reset();
            (*watched)();
        });
}

void Stream::shutdown_send()
{
    boost::system::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Stream::abort()
{
    boost::system::error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close();
}

void Stream::close()
{
    boost::system::error_code ignored;
    socket_.close(ignored);
}

void Stream::cancel()
{
    boost::system::error_code ignored;
    socket_.cancel(ignored);
}

void Stream::expired()
{
    timed_out_ = true;
    close();
}

IoError Stream::error_of(const boost::system::error_code& error) const
{
    if (timed_out_) return IoError::timeout;
    return error == asio::error::eof ? IoError::closed : IoError::reset;
}

}  // namespace onceward::wire
