// The catalogue of our own answers.
#include "core/problem.hpp"

namespace onceward::core {

namespace {

constexpr ProblemKind bad_request{400, "bad-request", "The request is not acceptable HTTP", false,
                                  Retry::none};
constexpr ProblemKind key_missing{400, "key-missing", "This operation needs an idempotency key",
                                  false, Retry::new_key};
constexpr ProblemKind key_invalid{400, "key-invalid", "The idempotency key is malformed", false,
                                  Retry::new_key};
constexpr ProblemKind subject_missing{
    400, "subject-missing", "The caller of this key cannot be determined", false, Retry::none};
constexpr ProblemKind too_large{413, "too-large", "The request body is too large", false,
                                Retry::none};
constexpr ProblemKind target_too_long{414, "too-large", "The request target is too long", false,
                                      Retry::none};
constexpr ProblemKind head_too_large{431, "too-large", "The request head is too large", false,
                                     Retry::none};
constexpr ProblemKind expectation_failed{417, "bad-request", "The expectation is not supported",
                                         false, Retry::none};
constexpr ProblemKind not_implemented{
    501, "bad-request", "The request needs something not implemented here", false, Retry::none};
constexpr ProblemKind method_not_allowed{405, "bad-request", "The method is not allowed here",
                                         false, Retry::none};
constexpr ProblemKind store_unavailable{
    503, "store-unavailable", "The idempotency store is unavailable", true, Retry::same_key};
constexpr ProblemKind fingerprint_mismatch{
    422, "fingerprint-mismatch", "The key was used for a different request", false, Retry::none};
constexpr ProblemKind in_progress{
    409, "in-progress", "The first request with this key is still running", true, Retry::same_key};
constexpr ProblemKind replay_unavailable{422, "replay-unavailable",
                                         "The operation was answered but its answer was not kept",
                                         false, Retry::none};
constexpr ProblemKind outcome_unknown{
    502, "outcome-unknown", "The outcome of this operation is unknown", false, Retry::none};
constexpr ProblemKind key_expired{422, "key-expired", "The key is past its retention", false,
                                  Retry::none};
constexpr ProblemKind upstream_unreached{
    502, "upstream-unreached", "The upstream could not be reached", true, Retry::same_key};
constexpr ProblemKind upstream_failed{502, "upstream-failed",
                                      "The upstream did not answer properly", false, Retry::none};
constexpr ProblemKind request_timeout{408, "bad-request", "The request did not arrive in time",
                                      false, Retry::none};
constexpr ProblemKind draining{503, "draining", "This proxy is shutting down", true,
                               Retry::same_key};
constexpr ProblemKind loop_detected{502, "upstream-failed", "The request came back to this proxy",
                                    false, Retry::none};
constexpr ProblemKind internal_error{500, "internal-error", "The proxy failed", false, Retry::none};

}  // namespace

const ProblemKind& kind_of(ProblemCode code)
{
    switch (code) {
        case ProblemCode::bad_request: return bad_request;
        case ProblemCode::key_missing: return key_missing;
        case ProblemCode::key_invalid: return key_invalid;
        case ProblemCode::subject_missing: return subject_missing;
        case ProblemCode::too_large: return too_large;
        case ProblemCode::target_too_long: return target_too_long;
        case ProblemCode::head_too_large: return head_too_large;
        case ProblemCode::expectation_failed: return expectation_failed;
        case ProblemCode::not_implemented: return not_implemented;
        case ProblemCode::method_not_allowed: return method_not_allowed;
        case ProblemCode::store_unavailable: return store_unavailable;
        case ProblemCode::fingerprint_mismatch: return fingerprint_mismatch;
        case ProblemCode::in_progress: return in_progress;
        case ProblemCode::replay_unavailable: return replay_unavailable;
        case ProblemCode::outcome_unknown: return outcome_unknown;
        case ProblemCode::key_expired: return key_expired;
        case ProblemCode::upstream_unreached: return upstream_unreached;
        case ProblemCode::upstream_failed: return upstream_failed;
        case ProblemCode::request_timeout: return request_timeout;
        case ProblemCode::draining: return draining;
        case ProblemCode::loop_detected: return loop_detected;
        case ProblemCode::internal_error: return internal_error;
    }
    return internal_error;
}

std::string_view to_string(Retry retry)
{
    switch (retry) {
        case Retry::same_key: return "same-key";
        case Retry::new_key: return "new-key";
        case Retry::none: return "none";
    }
    return "none";
}

Problem problem(ProblemCode code, std::string_view detail)
{
    Problem made;
    made.code = code;
    made.detail = detail;
    return made;
}

}  // namespace onceward::core
