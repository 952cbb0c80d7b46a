// The catalogue of our own answers: the only place where a status of ours is written
// (contract 1.2).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::core {

enum class ProblemCode : std::uint8_t {
    bad_request,
    key_missing,
    key_invalid,
    subject_missing,
    too_large,
    target_too_long,
    head_too_large,
    expectation_failed,
    not_implemented,
    method_not_allowed,
    store_unavailable,
    fingerprint_mismatch,
    in_progress,
    replay_unavailable,
    outcome_unknown,
    key_expired,
    upstream_unreached,
    upstream_failed,
    request_timeout,
    draining,
    loop_detected,
    internal_error,
};

// What the client may do next (decision 14). new_key only where non-execution is proved.
enum class Retry : std::uint8_t { same_key, new_key, none };

struct ProblemKind {
    int status;  // The default; outcome_unknown and upstream_unreached choose among several.
    std::string_view code;   // Stable; the last part of `type`.
    std::string_view title;  // Stable (RFC 9457 section 3.1.3).
    bool retryable;
    Retry retry;
};

const ProblemKind& kind_of(ProblemCode code);
std::string_view to_string(Retry retry);

// One occurrence of a problem.
struct Problem {
    ProblemCode code = ProblemCode::internal_error;
    int status = 0;      // Zero: the kind's default.
    std::string detail;  // A fixed sentence: no key, subject, host or payload (ERR-4).
    std::optional<std::chrono::seconds> retry_after;
    std::string proxy_status;             // RFC 9209 error token, for gateway-made 5xx (ERR-3).
    std::optional<int> original_status;   // replay_unavailable only.
    std::optional<std::string> location;  // replay_unavailable only: the stored Location.

    int effective_status() const { return status != 0 ? status : kind_of(code).status; }
};

// The status and nothing else, for the pure parts that only name a kind.
Problem problem(ProblemCode code, std::string_view detail);

}  // namespace onceward::core
