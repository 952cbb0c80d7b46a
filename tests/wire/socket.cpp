// POSIX sockets with poll for the deadlines.
#include "wire/socket.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace onceward::wire {

namespace {

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int milliseconds_left(Deadline deadline)
{
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

bool ready(int descriptor, short events, Deadline deadline)
{
    for (;;) {
        pollfd entry{descriptor, events, 0};
        const int count = ::poll(&entry, 1, milliseconds_left(deadline));
        if (count > 0) return true;
        if (count == 0) return false;
        if (errno != EINTR) throw WireError("poll failed");
    }
}

}  // namespace

Deadline within(std::chrono::milliseconds duration)
{
    return std::chrono::steady_clock::now() + duration;
}

bool readable(int descriptor, Deadline deadline)
{
    return ready(descriptor, POLLIN, deadline);
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept
{
    if (this != &other) {
        close();
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

Socket Socket::connect(std::uint16_t port)
{
    Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!made.is_open()) throw WireError("no socket left");
    const auto address = loopback(port);
    if (::connect(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
        0) {
        throw WireError("connection refused on port " + std::to_string(port));
    }
    const int on = 1;
    ::setsockopt(made.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

bool Socket::send(std::string_view bytes, Deadline deadline)
{
    while (!bytes.empty()) {
        if (!is_open() || !ready(descriptor_, POLLOUT, deadline)) return false;
        const auto sent =
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::size_t Socket::send_until_stalled(std::string_view bytes, std::chrono::milliseconds stall)
{
    std::size_t total = 0;
    while (total < bytes.size() && is_open() && ready(descriptor_, POLLOUT, within(stall))) {
        const auto sent = ::send(descriptor_, bytes.data() + total, bytes.size() - total,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent < 0) break;
        total += static_cast<std::size_t>(sent);
    }
    return total;
}

Ending Socket::receive(std::string& into, Deadline deadline, std::size_t most)
{
    for (;;) {
        if (!is_open()) return Ending::closed;
        if (!ready(descriptor_, POLLIN, deadline)) return Ending::silent;
        const auto before = into.size();
        into.resize(before + most);
        const auto got = ::recv(descriptor_, into.data() + before, most, MSG_DONTWAIT);
        into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got > 0) return Ending::bytes;
        if (got == 0) return Ending::closed;
        if (errno != EAGAIN && errno != EINTR) return Ending::reset;
    }
}

void Socket::finish()
{
    ::shutdown(descriptor_, SHUT_WR);
}

void Socket::reset()
{
    const linger at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void Socket::close()
{
    if (is_open()) ::close(std::exchange(descriptor_, -1));
}

void Socket::shut_down()
{
    ::shutdown(descriptor_, SHUT_RDWR);
}

int listen_on(std::uint16_t port)
{
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto address = loopback(port);
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(descriptor, 1024) != 0) {
        ::close(descriptor);
        throw WireError("cannot listen on port " + std::to_string(port));
    }
    return descriptor;
}

std::uint16_t port_of(int descriptor)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

std::uint16_t closed_port()
{
    const Socket taken(listen_on(0));
    return port_of(taken.descriptor());
}

}  // namespace onceward::wire
