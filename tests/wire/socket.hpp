// A blocking TCP socket with deadlines, for both ends of a wire test.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace onceward::wire {

using Deadline = std::chrono::steady_clock::time_point;

// From now on. Deadlines only end a test that hangs: nothing is measured by them.
Deadline within(std::chrono::milliseconds duration);
inline constexpr std::chrono::seconds patience{10};

// A test that cannot go on.
struct WireError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// How a wait for bytes ended.
enum class Ending : std::uint8_t { bytes, closed, reset, silent };

// Owns the descriptor. Used by one thread at a time, except shut_down.
class Socket {
public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    ~Socket() { close(); }

    // To 127.0.0.1. Throws WireError when refused.
    static Socket connect(std::uint16_t port);

    // Everything, or false when the peer has gone or does not read until the deadline.
    bool send(std::string_view bytes, Deadline deadline = within(patience));
    // As much as the kernel takes until nothing more goes for `stall`: how many bytes that were.
    std::size_t send_until_stalled(std::string_view bytes, std::chrono::milliseconds stall);
    // Appends to `into` what is there, at least one byte unless it ends otherwise.
    Ending receive(std::string& into, Deadline deadline, std::size_t most = 64 << 10);

    void finish();  // No more bytes from here: FIN.
    void reset();   // RST instead of FIN, whatever is unread or unsent.
    void close();
    void shut_down();  // From any thread: ends the waits of the owner.
    int descriptor() const { return descriptor_; }
    bool is_open() const { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

// Listens on 127.0.0.1; port 0 is any free one. Returns the descriptor.
int listen_on(std::uint16_t port);
std::uint16_t port_of(int descriptor);
// A port on which nobody listens at the moment.
std::uint16_t closed_port();

// True when the descriptor can be read (or was hung up) before the deadline.
bool readable(int descriptor, Deadline deadline);

}  // namespace onceward::wire
