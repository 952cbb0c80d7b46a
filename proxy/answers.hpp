// What each end of an exchange says to its client (the contract's answer matrix).
#pragma once

#include "core/settling.hpp"
#include "core/verdict.hpp"
#include "ports/observer.hpp"
#include "reply.hpp"

namespace onceward {

// The marks of the upstream's own answer under this outcome.
Marks fresh_marks(const core::Settlement& settlement, bool stored);

// The upstream's own answer. `stored`: its outcome was committed; if not, the answer says so
// (OUT-3).
Reply fresh_reply(core::Response response, const core::Settlement& settlement, bool stored);

// Nothing was sent: the same key may be tried again.
Reply unreached_reply(const NotSent& not_sent);

// Sent, and what came of it is not known: never retryable, the same on every retry.
Reply unknown_reply(core::Reason reason);

// What a record says to a later request. A claimable record reads as one that is in progress.
Reply held_reply(core::Verdict verdict, const core::Record& record);

Reply store_unavailable_reply();

// The store failed and the tier lets such requests pass: whatever the upstream said, marked as
// unprotected.
Reply bypassed_reply(Sent sent);

Decision decision_of(const core::Settlement& settlement);
Decision decision_of(core::Verdict verdict, bool waited);

// What a gate may keep of a settlement that was just committed.
core::Record published_record(const core::Fingerprint& fingerprint, std::uint16_t fingerprint_rule,
                              core::Epoch epoch, const core::Settlement& settlement);

}  // namespace onceward
