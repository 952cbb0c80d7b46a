// The life of one idempotency key: its states and every legal change of its row. Nothing about
// transitions lives anywhere else; a store is right when it behaves as these functions do.
#pragma once

#include "core/identifiers.hpp"
#include "core/message.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace onceward::core {

using Millis = std::chrono::milliseconds;

// A point on the store's own clock. Only a store (or a model of one) makes or compares these:
// everyone else sees durations and the flags of a Record (decision 8).
using StoreTime = std::chrono::sys_time<Millis>;

// Grows with each claim of the same key, so that a late holder can be told from the current one.
using Epoch = std::uint32_t;

// Stored as these numbers: never renumber.
enum class State : std::uint8_t {
    pending = 0,   // Reserved; the request may have been sent.
    done = 1,      // The upstream answered, completely, and meant success.
    failed = 2,    // The upstream answered, completely, and meant a business failure.
    unknown = 3,   // What happened is not proved; may carry an answer.
    released = 4,  // Provably not executed; may be claimed again.
    expired = 5,   // Past its retention: a tombstone. Nothing leaves this state.
};

// Why a record is UNKNOWN or RELEASED. Stored as these numbers: never renumber.
enum class Reason : std::uint8_t {
    none = 0,
    lease = 1,         // The holder did not report back before its lease ended.
    crash = 2,         // The embedded store was reopened while the record was PENDING.
    drain = 3,         // The proxy was told to stop and could not wait longer.
    timeout = 4,       // Sent; no complete answer before the route's timeout.
    reset = 5,         // Sent; the connection broke before an answer.
    truncated = 6,     // The answer began and broke off.
    garbage = 7,       // What came back is not HTTP.
    server_error = 8,  // A complete 5xx: it proves nothing about the work (decision 12).
    unproved_end = 9,  // The body ended with the connection, so its end is not proved (D12).
    listed = 10,       // The configuration says so of this status (`outcomes`).
    not_sent = 11,     // No byte of the request left this machine.
    declined = 12,  // The upstream says it did nothing: 401 with a challenge, 407, 421, 425, 429.
    reopened = 13,  // An operator allowed another execution; the fingerprint still binds.
};

// How much of the answer the row keeps.
enum class Kept : std::uint8_t {
    nothing = 0,      // No answer is known.
    full = 1,         // Status, kept fields and body.
    status_only = 2,  // Status and kept fields: the operator chose it (decision 15).
    too_large =
        3,  // Status and kept fields: the body was over `max_stored_response` (decision 16).
};

// One attempt's wish to hold a key.
struct Claim {
    Token token;
    Fingerprint fingerprint;
    std::uint16_t fingerprint_rule = 0;  // Which rule made the fingerprint (FPR-10).
    std::uint16_t tier = 0;              // Index of the tier in the running configuration.
    Millis lease{};                      // How long the record may stay PENDING.
};

// What the winner of a claim shows to change the record later.
struct Ticket {
    Token token;
    Epoch epoch = 0;

    bool operator==(const Ticket&) const = default;
};

// What became of the upstream call.
struct Settlement {
    State state = State::unknown;  // done, failed, unknown or released.
    Reason reason = Reason::none;
    Kept kept = Kept::nothing;
    Response answer;  // Meaningful unless kept is nothing; body empty unless kept is full.
    Millis
        keep{};  // How long the record stays in this state (retention, or until it may be purged).
};

// The row as a store holds it.
struct Row {
    State state = State::pending;
    Reason reason = Reason::none;
    Kept kept = Kept::nothing;
    Epoch epoch = 1;
    Token token;  // All zero once DONE, FAILED, RELEASED or EXPIRED: nobody holds it any more.
    Fingerprint fingerprint;
    std::uint16_t fingerprint_rule = 0;
    std::uint16_t tier = 0;
    StoreTime until{};        // PENDING: end of the lease. Else: end of the state (decision 8).
    StoreTime reserved_at{};  // Of the current epoch.
    StoreTime settled_at{};   // Of the last settlement; zero while PENDING.
    Response answer;

    bool operator==(const Row&) const = default;
};

// What a reader sees: judged by the store's clock at the moment of reading, so that an overdue
// lease already reads UNKNOWN and a record past its retention already reads EXPIRED, swept or not
// (RPL-11, EXP-5).
struct Record {
    State state = State::pending;
    Reason reason = Reason::none;
    Kept kept = Kept::nothing;
    Epoch epoch = 1;
    Fingerprint fingerprint;
    std::uint16_t fingerprint_rule = 0;
    std::uint16_t tier = 0;
    Millis remaining{};      // Until the lease or the state ends; zero when it has.
    Millis age{};            // Since it was reserved.
    StoreTime settled_at{};  // For display only (Idempotent-Original-Date).
    Response answer;
};

// What a claim found.
struct Won {
    Ticket ticket;
};
struct Held {
    Record record;
};
using Reservation = std::variant<Won, Held>;

// recorded: the row now says this, by this call or an earlier one with the same ticket. fenced: the
// ticket is no longer good, nothing was changed.
enum class Settled : std::uint8_t { recorded, fenced };

// The times that a tier gives its rows.
struct TierTimes {
    Millis unknown_retention{};       // How long an UNKNOWN row waits to be resolved (EXP-6).
    std::optional<Millis> tombstone;  // How long an EXPIRED row refuses its key; absent: for ever.
};

// Lower-case names for logs, metrics and operators; `none` is empty.
std::string_view to_string(State state);
std::string_view to_string(Reason reason);

using Slot = std::optional<Row>;

Record view(const Row& row, StoreTime now);

// Takes the key when nobody has it: no row, or RELEASED (with the same fingerprint when re-opened).
// The same token asking again while its lease lives is told that it won (decision 7).
Reservation reserve(Slot& slot, const Claim& claim, StoreTime now);

// Records the outcome when the ticket holds a PENDING row, or an UNKNOWN one of the same epoch (a
// late answer heals it, RSV-12); but UNKNOWN never replaces UNKNOWN. Repeating a settlement that is
// in force is recorded.
Settled settle(Slot& slot, const Ticket& ticket, const Settlement& settlement, StoreTime now);

// Moves a row on when its time is over: overdue PENDING to UNKNOWN(lease), DONE, FAILED and UNKNOWN
// past their time to EXPIRED without answer, and a tombstone or a RELEASED row past its window
// away. True when something changed.
bool sweep(Slot& slot, const TierTimes& times, StoreTime now);

// The embedded store's lock proves that whoever held this PENDING row is dead (decision 27).
bool declare_crashed(Slot& slot, const TierTimes& times, StoreTime now);

// An operator allows one more execution of an UNKNOWN key; audited by the caller (OUT-15).
bool reopen(Slot& slot, StoreTime now, Millis keep);

}  // namespace onceward::core
