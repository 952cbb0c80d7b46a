// Deciding what a record will say.
#include "core/settling.hpp"

#include "core/stored_fields.hpp"

namespace onceward::core {

namespace {

Millis keep_of(const Tier& tier, State state)
{
    switch (state) {
        case State::done:
        case State::failed: return tier.retention;
        case State::unknown: return tier.times().unknown_retention;
        case State::released: return released_keep(tier.lease);
        case State::pending:
        case State::expired: break;  // Not settlements.
    }
    return tier.retention;
}

State state_of(Disposition disposition)
{
    switch (disposition) {
        case Disposition::done: return State::done;
        case Disposition::failed: return State::failed;
        case Disposition::released: return State::released;
        case Disposition::unknown: return State::unknown;
    }
    return State::unknown;
}

Settlement settlement(const Route& route, State state, Reason reason)
{
    Settlement made;
    made.state = state;
    made.reason = reason;
    made.keep = keep_of(route.tier, state);
    return made;
}

}  // namespace

Settlement settle_answer(const Route& route, const Response& answer, BodyEnd end)
{
    const auto judged = judge_answer(answer, end, route.outcomes);
    auto made = settlement(route, state_of(judged.disposition), judged.reason);
    // An answer that may have been cut short is no answer, and a released key keeps none.
    if (made.state == State::released || judged.reason == Reason::unproved_end) return made;

    made.answer.status = answer.status;
    made.answer.fields = storable(answer.fields, route.replay_headers);
    made.kept = Kept::status_only;
    if (route.tier.store_response == StoreResponse::full) {
        made.kept = Kept::full;
        made.answer.body = answer.body;
    }
    return made;
}

Settlement settle_oversized(const Route& route, const Response& head, BodyEnd end)
{
    auto made = settle_answer(route, head, end);
    made.answer.body.clear();
    if (made.kept != Kept::nothing) made.kept = Kept::too_large;
    return made;
}

Settlement settle_unknown(const Route& route, Reason reason)
{
    return settlement(route, State::unknown, reason);
}

Settlement settle_not_sent(const Route& route)
{
    return settlement(route, State::released, Reason::not_sent);
}

int unknown_status(Reason reason)
{
    switch (reason) {
        case Reason::lease:
        case Reason::crash:
        case Reason::drain:
        case Reason::timeout: return 504;
        case Reason::none:
        case Reason::reset:
        case Reason::truncated:
        case Reason::garbage:
        case Reason::server_error:
        case Reason::unproved_end:
        case Reason::listed:
        case Reason::not_sent:
        case Reason::declined:
        case Reason::reopened: return 502;
    }
    return 502;
}

}  // namespace onceward::core
