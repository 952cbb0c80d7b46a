// The legacy API: send a guarded request once, and tell what is proved about it.
#pragma once

#include "core/message.hpp"
#include "core/outcome.hpp"
#include "core/record.hpp"
#include "core/route.hpp"
#include "ports/result.hpp"

#include <memory>
#include <string>
#include <variant>

namespace onceward {

// A complete answer.
struct Answered {
    core::Response response;
    core::BodyEnd end = core::BodyEnd::framed;
};

// No byte of the request was handed to the network: the key may be released (D12, OUT-6).
struct NotSent {
    int status = 502;               // 502, 503 or 504 as RFC 9209 section 2.3 says.
    std::string_view proxy_status;  // RFC 9209 error token: connection_refused, dns_error, ...
};

// At least one byte may have left, and no complete answer came back (OUT-7).
struct NoAnswer {
    core::Reason reason = core::Reason::reset;  // timeout, reset, truncated or garbage.
};

// The rest of an answer that is too large to be kept.
class BodyStream {
public:
    virtual ~BodyStream() = default;

    enum class State : std::uint8_t { more, ended, truncated };
    struct Piece {
        State state = State::more;
        std::string bytes;  // May be empty only when the state is not `more`.
    };
    // The next bytes. After `ended` or `truncated` it must not be called again. Ends by the
    // exchange's deadline.
    virtual awaitable<Piece> next() = 0;
};

// The head of an answer and the first bytes of a body that goes on beyond `stored_response_max`.
struct Oversized {
    core::Response response;
    core::BodyEnd end =
        core::BodyEnd::framed;  // What `ended` will prove; unproved for close-delimited.
    std::unique_ptr<BodyStream> rest;
};

using Sent = std::variant<Answered, NotSent, NoAnswer, Oversized>;

class Upstream {
public:
    virtual ~Upstream() = default;

    // Sends the request once, whatever happens, and reads the answer within the route's timeout,
    // connect to last byte. Never fails otherwise than by its result. Interim answers are skipped
    // (OUT-12).
    virtual awaitable<Sent> send(std::shared_ptr<const core::Route> route,
                                 core::Request request) = 0;
};

}  // namespace onceward
