// What is worth counting and logging: one call per guarded request, nothing in between.
#pragma once

#include "core/record.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace onceward {

// How a request was decided; the closed set of the `decision` label.
enum class Decision : std::uint8_t {
    passthrough,  // Not guarded.
    executed,     // Sent, and its outcome recorded.
    released,     // Sent or not, provably not executed.
    replayed,     // The stored answer, at once.
    waited,       // The stored answer, after waiting for the first request.
    in_progress,  // 409.
    unknown,      // The outcome is unknown, now or from before.
    mismatch,     // 422.
    expired,      // 422.
    unavailable,  // 422, answered but not kept.
    rejected,     // Refused from its head: missing or malformed key, subject, framing.
    store_error,  // 503.
    bypassed,     // The store failed and the tier lets such requests pass.
    unstored,     // Executed, but its outcome could not be recorded (OUT-3).
    count_,
};
std::string_view to_string(Decision decision);

struct ExchangeReport {
    core::Digest digest;
    std::string route;
    Decision decision = Decision::executed;
    core::Reason reason = core::Reason::none;
    int upstream_status = 0;  // Zero: none.
    std::chrono::microseconds upstream_time{};
    std::chrono::microseconds total_time{};
};

class Observer {
public:
    virtual ~Observer() = default;
    // Once for each guarded request, when its decision is final. Must not block.
    virtual void finished(const ExchangeReport& report) = 0;
    // A settlement met a row that somebody else changed meanwhile (RSV-11): worth an alarm.
    virtual void fenced(const core::Digest& digest) = 0;
};

}  // namespace onceward
