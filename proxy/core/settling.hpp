// From what was seen of the upstream to what the record says.
#pragma once

#include "core/outcome.hpp"
#include "core/record.hpp"
#include "core/route.hpp"

namespace onceward::core {

// A complete answer: judged, narrowed to what is kept, with the time it is kept for.
Settlement settle_answer(const Route& route, const Response& answer, BodyEnd end);

// A complete answer whose body was too large to keep.
Settlement settle_oversized(const Route& route, const Response& head, BodyEnd end);

// Sent, and no complete answer.
Settlement settle_unknown(const Route& route, Reason reason);

// Provably not sent.
Settlement settle_not_sent(const Route& route);

// The status of our own answer to an unknown outcome: 504 where time ran out, 502 where the
// connection or the bytes failed. The same on every retry (decision 13).
int unknown_status(Reason reason);

}  // namespace onceward::core
