// What a record that somebody else made means for a second request with its key.
#pragma once

#include "core/record.hpp"

#include <cstdint>

namespace onceward::core {

enum class Verdict : std::uint8_t {
    replay,              // The stored answer, as it was.
    replay_unavailable,  // It was answered, but the body was not kept.
    repeat_unknown,      // The outcome is unknown and an answer was stored: the same bytes, not
                         // retryable.
    outcome_unknown,     // The outcome is unknown and there is nothing to repeat but that.
    in_progress,         // Somebody is at it: wait, or 409.
    mismatch,            // The key was used for another request: 422, before anything else is told.
    expired,             // Past its retention; never run again.
    claimable,           // Nobody has it: reserve.
};

// The order is the contract's: a mismatch outranks every state except RELEASED, which binds nothing
// unless it was re-opened (FPR-11, RSV-13).
Verdict judge(const Record& record, const Fingerprint& fingerprint);

}  // namespace onceward::core
