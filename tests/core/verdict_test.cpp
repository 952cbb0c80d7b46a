// What a held record means for a second request: every state, reason, kept part and fingerprint.
#include "core/verdict.hpp"

#include <doctest/doctest.h>

namespace {

using namespace onceward::core;

Fingerprint print(unsigned char with)
{
    Fingerprint made;
    made.bytes.fill(with);
    return made;
}

struct Line {
    State state;
    Reason reason;
    Kept kept;
    Verdict same;   // The request that the record is about.
    Verdict other;  // Another one under the same key.
};

constexpr Line table[] = {
    {State::pending, Reason::none, Kept::nothing, Verdict::in_progress, Verdict::mismatch},

    {State::done, Reason::none, Kept::full, Verdict::replay, Verdict::mismatch},
    {State::done, Reason::none, Kept::status_only, Verdict::replay, Verdict::mismatch},
    {State::done, Reason::none, Kept::too_large, Verdict::replay_unavailable, Verdict::mismatch},
    {State::done, Reason::none, Kept::nothing, Verdict::replay_unavailable, Verdict::mismatch},

    {State::failed, Reason::none, Kept::full, Verdict::replay, Verdict::mismatch},
    {State::failed, Reason::none, Kept::status_only, Verdict::replay, Verdict::mismatch},
    {State::failed, Reason::none, Kept::too_large, Verdict::replay_unavailable, Verdict::mismatch},
    {State::failed, Reason::none, Kept::nothing, Verdict::replay_unavailable, Verdict::mismatch},

    {State::unknown, Reason::lease, Kept::nothing, Verdict::outcome_unknown, Verdict::mismatch},
    {State::unknown, Reason::crash, Kept::nothing, Verdict::outcome_unknown, Verdict::mismatch},
    {State::unknown, Reason::reset, Kept::nothing, Verdict::outcome_unknown, Verdict::mismatch},
    {State::unknown, Reason::server_error, Kept::full, Verdict::repeat_unknown, Verdict::mismatch},
    {State::unknown, Reason::server_error, Kept::status_only, Verdict::repeat_unknown,
     Verdict::mismatch},
    {State::unknown, Reason::server_error, Kept::too_large, Verdict::outcome_unknown,
     Verdict::mismatch},

    // Nothing was executed, so nothing binds; unless an operator re-opened an operation that may
    // have been.
    {State::released, Reason::not_sent, Kept::nothing, Verdict::claimable, Verdict::claimable},
    {State::released, Reason::declined, Kept::nothing, Verdict::claimable, Verdict::claimable},
    {State::released, Reason::listed, Kept::nothing, Verdict::claimable, Verdict::claimable},
    {State::released, Reason::reopened, Kept::nothing, Verdict::claimable, Verdict::mismatch},

    {State::expired, Reason::none, Kept::nothing, Verdict::expired, Verdict::mismatch},
    {State::expired, Reason::reset, Kept::nothing, Verdict::expired, Verdict::mismatch},
};

}  // namespace

TEST_CASE("FPR-11 RSV-13 judge: the table")
{
    for (const auto& line : table) {
        Record record;
        record.state = line.state;
        record.reason = line.reason;
        record.kept = line.kept;
        record.fingerprint = print(1);
        CAPTURE(static_cast<int>(line.state));
        CAPTURE(static_cast<int>(line.reason));
        CAPTURE(static_cast<int>(line.kept));
        CHECK(judge(record, print(1)) == line.same);
        CHECK(judge(record, print(2)) == line.other);
    }
}

TEST_CASE("I6 never a success without a recorded answer: only DONE and FAILED replay")
{
    for (int state = 0; state <= 5; ++state) {
        for (int kept = 0; kept <= 3; ++kept) {
            Record record;
            record.state = static_cast<State>(state);
            record.kept = static_cast<Kept>(kept);
            const auto verdict = judge(record, record.fingerprint);
            const bool settled = record.state == State::done || record.state == State::failed;
            const bool has_answer = record.kept == Kept::full || record.kept == Kept::status_only;
            CAPTURE(state);
            CAPTURE(kept);
            CHECK((verdict == Verdict::replay) == (settled && has_answer));
            CHECK((verdict == Verdict::claimable) == (record.state == State::released));
        }
    }
}
