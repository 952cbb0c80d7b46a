// HTTP messages as the two ends of a wire test read them: strictly, with every byte kept.
#pragma once

#include "wire/socket.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::wire {

struct Field {
    std::string name;
    std::string value;
};

struct Head {
    std::string raw;    // With its empty line.
    std::string start;  // Without CRLF.
    std::vector<Field> fields;

    // The first one's value; empty when absent, which tests that care about tell by count.
    std::string field(std::string_view name) const;
    std::size_t count(std::string_view name) const;
    std::vector<std::string> all(std::string_view name) const;
    bool has(std::string_view name) const { return count(name) > 0; }
};

// What says where the body ends.
enum class Framing : std::uint8_t { none, length, chunked, to_close };

struct Body {
    std::string bytes;     // Empty when they went to a sink.
    std::size_t size = 0;  // Of the content.
    Framing framing = Framing::none;
    bool complete = false;
    std::vector<Field> trailers;
};

// Takes the content piece by piece instead of keeping it.
using Sink = std::function<void(std::string_view)>;

bool same_name(std::string_view a, std::string_view b);
bool contains(std::string_view text, std::string_view part);

// Reads messages from one connection. Throws WireError on what is not HTTP and when the peer falls
// silent.
class Reader {
public:
    // `received`: grows by every byte that arrives, even of a message that never ends.
    explicit Reader(Socket& socket, std::atomic<std::size_t>* received = nullptr)
        : socket_(socket), received_(received)
    {
    }

    // Absent when the connection ends before, or within, a head.
    std::optional<Head> head(Deadline deadline = within(patience));
    Body request_body(const Head& head, const Sink& sink = {},
                      Deadline deadline = within(patience));
    // `method`: of the request that is answered.
    Body response_body(const Head& head, std::string_view method, const Sink& sink = {},
                       Deadline deadline = within(patience));
    // Content until at least `size` bytes of it (of a chunked body) have come; for streams.
    std::string chunked_bytes(std::size_t size, Deadline deadline = within(patience));

    // Nothing more comes: true when the peer ended the connection before the deadline.
    bool at_end(Deadline deadline = within(patience));
    // Bytes received and not taken yet.
    const std::string& rest() const { return buffer_; }

private:
    Ending receive(Deadline deadline);
    bool more(Deadline deadline);
    bool line(std::string& into, Deadline deadline);
    void counted(Body& body, std::size_t size, const Sink& sink, Deadline deadline);
    void chunks(Body& body, const Sink& sink, Deadline deadline);
    void until_closed(Body& body, const Sink& sink, Deadline deadline);
    bool take(Body& body, std::size_t size, const Sink& sink, Deadline deadline);

    Socket& socket_;
    std::atomic<std::size_t>* received_;
    std::string buffer_;
};

int status_of(const Head& head);

}  // namespace onceward::wire
