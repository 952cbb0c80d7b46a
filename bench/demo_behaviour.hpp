// How the demonstration service misbehaves: by option for all requests, by header for one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace onceward::demo {

// When the connection (or the process) dies instead of answering properly.
enum class Death : std::uint8_t {
    none,
    before_charge,    // Reset, nothing done.
    after_charge,     // Reset, the work done.
    mid_body,         // The work done; reset in the middle of a body of stated length.
    close_delimited,  // The work done; a whole body whose end is only the end of the connection.
    process           // The work done; the process ends at once, as if killed.
};

// `--fail 500:0.1`: this share of the charges is answered with `status`, and nothing is charged.
struct FailMode {
    int status = 500;
    double share = 1.0;
};

struct Behaviour {
    std::chrono::milliseconds delay{0};  // Between the charge and the answer.
    std::optional<FailMode> fail;
    std::optional<int> status;  // The charge is made but answered with this status.
    Death death = Death::none;
};

// "500", "500:0.1"; absent when it is neither.
std::optional<FailMode> parse_fail_mode(std::string_view text);

// `base` with the words of an X-Demo header: delay=200,fail=500[:0.1],status=503,die=after-charge.
// Absent when a word is not understood.
std::optional<Behaviour> directed(Behaviour base, std::string_view directives);

}  // namespace onceward::demo
