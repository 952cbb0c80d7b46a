// Judging a held record.
#include "core/verdict.hpp"

namespace onceward::core {

namespace {

Verdict judge_settled(const Record& record)
{
    switch (record.kept) {
        case Kept::full:
        case Kept::status_only: return Verdict::replay;
        case Kept::too_large:
        case Kept::nothing: return Verdict::replay_unavailable;
    }
    return Verdict::replay_unavailable;
}

}  // namespace

Verdict judge(const Record& record, const Fingerprint& fingerprint)
{
    const bool binding = record.state != State::released || record.reason == Reason::reopened;
    if (binding && record.fingerprint != fingerprint) return Verdict::mismatch;

    switch (record.state) {
        case State::pending: return Verdict::in_progress;
        case State::done:
        case State::failed: return judge_settled(record);
        case State::unknown:
            return record.kept == Kept::full || record.kept == Kept::status_only
                       ? Verdict::repeat_unknown
                       : Verdict::outcome_unknown;
        case State::released: return Verdict::claimable;
        case State::expired: return Verdict::expired;
    }
    return Verdict::outcome_unknown;
}

}  // namespace onceward::core
