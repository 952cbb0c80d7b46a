// The catalogue of our own answers: statuses, codes and what the client may do next (decision 14).
#include "core/problem.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace {

using namespace onceward::core;

struct Line {
    ProblemCode problem;
    int status;
    std::string_view code;
    Retry retry;
};

// Codes are clients' interface: a change here breaks them.
constexpr Line catalogue[] = {
    {ProblemCode::bad_request, 400, "bad-request", Retry::none},
    {ProblemCode::key_missing, 400, "key-missing", Retry::new_key},
    {ProblemCode::key_invalid, 400, "key-invalid", Retry::new_key},
    {ProblemCode::subject_missing, 400, "subject-missing", Retry::none},
    {ProblemCode::too_large, 413, "too-large", Retry::none},
    {ProblemCode::target_too_long, 414, "too-large", Retry::none},
    {ProblemCode::head_too_large, 431, "too-large", Retry::none},
    {ProblemCode::expectation_failed, 417, "bad-request", Retry::none},
    {ProblemCode::not_implemented, 501, "bad-request", Retry::none},
    {ProblemCode::method_not_allowed, 405, "bad-request", Retry::none},
    {ProblemCode::store_unavailable, 503, "store-unavailable", Retry::same_key},
    {ProblemCode::fingerprint_mismatch, 422, "fingerprint-mismatch", Retry::none},
    {ProblemCode::in_progress, 409, "in-progress", Retry::same_key},
    {ProblemCode::replay_unavailable, 422, "replay-unavailable", Retry::none},
    {ProblemCode::outcome_unknown, 502, "outcome-unknown", Retry::none},
    {ProblemCode::key_expired, 422, "key-expired", Retry::none},
    {ProblemCode::upstream_unreached, 502, "upstream-unreached", Retry::same_key},
    {ProblemCode::upstream_failed, 502, "upstream-failed", Retry::none},
    {ProblemCode::request_timeout, 408, "bad-request", Retry::none},
    {ProblemCode::draining, 503, "draining", Retry::same_key},
    {ProblemCode::loop_detected, 502, "upstream-failed", Retry::none},
    {ProblemCode::internal_error, 500, "internal-error", Retry::none},
};

}  // namespace

TEST_CASE("contract 1.2 decision 14 the catalogue")
{
    CHECK(std::size(catalogue) == static_cast<std::size_t>(ProblemCode::internal_error) + 1);
    int place = 0;
    for (const auto& line : catalogue) {
        CAPTURE(line.code);
        const auto& kind = kind_of(line.problem);
        CHECK(static_cast<int>(line.problem) == place++);
        CHECK(kind.status == line.status);
        CHECK(kind.code == line.code);
        CHECK(kind.retry == line.retry);
        CHECK(kind.retryable == (line.retry == Retry::same_key));
        CHECK_FALSE(kind.title.empty());
    }
}

TEST_CASE("decision 14 new-key is said only where non-execution is proved")
{
    for (const auto& line : catalogue) {
        const bool nothing_ran =
            line.problem == ProblemCode::key_missing || line.problem == ProblemCode::key_invalid;
        CHECK((kind_of(line.problem).retry == Retry::new_key) == nothing_ran);
    }
}

TEST_CASE("decision 14 the words of `retry`")
{
    CHECK(to_string(Retry::same_key) == "same-key");
    CHECK(to_string(Retry::new_key) == "new-key");
    CHECK(to_string(Retry::none) == "none");
}

TEST_CASE("ERR-1 a problem's status is its kind's unless it says another")
{
    Problem made = problem(ProblemCode::outcome_unknown, "a sentence");
    CHECK(made.detail == "a sentence");
    CHECK(made.effective_status() == 502);
    made.status = 504;
    CHECK(made.effective_status() == 504);
    CHECK_FALSE(made.retry_after);
    CHECK_FALSE(made.original_status);
    CHECK_FALSE(made.location);
}
