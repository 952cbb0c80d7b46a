// Every legal change of a record.
#include "core/record.hpp"

namespace onceward::core {

namespace {

StoreTime after(StoreTime now, std::optional<Millis> duration)
{
    if (!duration || StoreTime::max() - now <= *duration) return StoreTime::max();
    return now + *duration;
}

bool claimable(const Row& row, const Claim& claim)
{
    if (row.state != State::released) return false;
    return row.reason != Reason::reopened || row.fingerprint == claim.fingerprint;
}

Row claimed(const Claim& claim, Epoch epoch, StoreTime now)
{
    Row row;
    row.epoch = epoch;
    row.token = claim.token;
    row.fingerprint = claim.fingerprint;
    row.fingerprint_rule = claim.fingerprint_rule;
    row.tier = claim.tier;
    row.until = after(now, claim.lease);
    row.reserved_at = now;
    return row;
}

bool holds(const Row& row, const Ticket& ticket)
{
    return row.token == ticket.token && row.epoch == ticket.epoch;
}

// The settlement took effect earlier and only its acknowledgement was lost.
bool repeated(const Row& row, const Ticket& ticket, const Settlement& settlement)
{
    return row.epoch == ticket.epoch && row.state == settlement.state &&
           row.answer.status == settlement.answer.status;
}

void to_unknown(Row& row, Reason reason, const TierTimes& times, StoreTime now)
{
    row.state = State::unknown;
    row.reason = reason;
    row.until = after(now, times.unknown_retention);
    row.settled_at = now;
}

void to_tombstone(Row& row, const TierTimes& times)
{
    row.until = after(row.until, times.tombstone);
    row.state = State::expired;
    row.token = {};
    row.kept = Kept::nothing;
    row.answer = {};
}

}  // namespace

std::string_view to_string(State state)
{
    switch (state) {
        case State::pending: return "pending";
        case State::done: return "done";
        case State::failed: return "failed";
        case State::unknown: return "unknown";
        case State::released: return "released";
        case State::expired: return "expired";
    }
    return "unknown";
}

std::string_view to_string(Reason reason)
{
    switch (reason) {
        case Reason::none: return "";
        case Reason::lease: return "lease";
        case Reason::crash: return "crash";
        case Reason::drain: return "drain";
        case Reason::timeout: return "timeout";
        case Reason::reset: return "reset";
        case Reason::truncated: return "truncated";
        case Reason::garbage: return "garbage";
        case Reason::server_error: return "server_error";
        case Reason::unproved_end: return "unproved_end";
        case Reason::listed: return "listed";
        case Reason::not_sent: return "not_sent";
        case Reason::declined: return "declined";
        case Reason::reopened: return "reopened";
    }
    return "";
}

Record view(const Row& row, StoreTime now)
{
    Record record{
        row.state, row.reason, row.kept, row.epoch,      row.fingerprint, row.fingerprint_rule,
        row.tier,  {},         {},       row.settled_at, row.answer};
    const bool over = now >= row.until;
    record.remaining = over ? Millis{0} : row.until - now;
    record.age = now > row.reserved_at ? now - row.reserved_at : Millis{0};
    if (!over) return record;

    switch (row.state) {
        case State::pending:
            record.state = State::unknown;
            record.reason = Reason::lease;
            break;
        case State::done:
        case State::failed:
        case State::unknown:
            record.state = State::expired;
            record.kept = Kept::nothing;
            record.answer = {};
            break;
        case State::released:
        case State::expired: break;
    }
    return record;
}

Reservation reserve(Slot& slot, const Claim& claim, StoreTime now)
{
    if (!slot) {
        slot = claimed(claim, 1, now);
        return Won{{claim.token, 1}};
    }
    if (claimable(*slot, claim)) {
        slot = claimed(claim, slot->epoch + 1, now);
        return Won{{claim.token, slot->epoch}};
    }
    const bool own = slot->state == State::pending && slot->token == claim.token;
    if (own && now < slot->until) return Won{{claim.token, slot->epoch}};
    return Held{view(*slot, now)};
}

Settled settle(Slot& slot, const Ticket& ticket, const Settlement& settlement, StoreTime now)
{
    if (!slot) return Settled::fenced;
    if (repeated(*slot, ticket, settlement)) return Settled::recorded;
    const bool open =
        slot->state == State::pending ||
        (slot->state == State::unknown && settlement.state != State::unknown && now < slot->until);
    if (!open || !holds(*slot, ticket)) return Settled::fenced;

    slot->state = settlement.state;
    slot->reason = settlement.reason;
    slot->kept = settlement.kept;
    slot->answer = settlement.answer;
    slot->until = after(now, settlement.keep);
    slot->settled_at = now;
    if (settlement.state != State::unknown) slot->token = {};
    return Settled::recorded;
}

bool sweep(Slot& slot, const TierTimes& times, StoreTime now)
{
    if (!slot || now < slot->until) return false;
    switch (slot->state) {
        case State::pending: to_unknown(*slot, Reason::lease, times, now); return true;
        case State::done:
        case State::failed:
        case State::unknown: to_tombstone(*slot, times); return true;
        case State::released:
        case State::expired: slot.reset(); return true;
    }
    return false;
}

bool declare_crashed(Slot& slot, const TierTimes& times, StoreTime now)
{
    if (!slot || slot->state != State::pending) return false;
    to_unknown(*slot, Reason::crash, times, now);
    return true;
}

bool reopen(Slot& slot, StoreTime now, Millis keep)
{
    if (!slot || slot->state != State::unknown || now >= slot->until) return false;
    slot->state = State::released;
    slot->reason = Reason::reopened;
    slot->kept = Kept::nothing;
    slot->answer = {};
    slot->token = {};
    slot->until = after(now, keep);
    slot->settled_at = now;
    return true;
}

}  // namespace onceward::core
