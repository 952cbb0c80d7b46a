// The prepared statements of the key store: each touches its keys by their digests, and returns the
// clock by which it judged.
#pragma once

#include "store/pg_connection.hpp"

namespace onceward::statements {

// First claims. Parameters: digests, tokens, fingerprints, rules, tiers, leases, lock wait in text.
// Rows: the digests that were free.
extern const PgStatement insert;

// Further claims of RELEASED rows. Parameters: digests, epochs seen, tokens, fingerprints, rules,
// tiers, leases. Rows: the digests that were taken.
extern const PgStatement claim;

// Parameters: digests. Rows: digest, state, reason, kept, status, epoch, token, fingerprint, rule,
// tier, until, reserved_at, settled_at, now, body_day.
extern const PgStatement read;

// The holder's settlement of PENDING rows, and the late one of UNKNOWN rows. Parameters: digests,
// tokens, epochs, states, reasons, kept, statuses, keep, headers, bodies. Rows: the digests that
// were settled.
extern const PgStatement settle;
extern const PgStatement heal;

// A commit of its own that changes nothing: once it is acknowledged, everything this server had
// committed before is where the durability level wants it.
extern const PgStatement confirm;

// Proves that the server reads.
extern const PgStatement look;

// Overdue leases. Parameters: most, shortest lease. Rows: digests that became UNKNOWN.
extern const PgStatement sweep_pending;
// Moves the janitors' mark. Parameters: shortest lease.
extern const PgStatement move_mark;
// Records past their time, on pages from the janitors' mark. Parameters: first page, page behind
// the last, most. Rows: state before, count.
extern const PgStatement sweep_pages;
// Where the round is. Row: page, pages of the table.
extern const PgStatement round;
// Parameters: page.
extern const PgStatement set_round;
// UNKNOWN records, swept or not, oldest first. Parameters: most. Rows as `read`, and headers, body.
extern const PgStatement unknown;
// Parameters: days of the longest retention. Row: made, dropped, failed, strays.
extern const PgStatement maintain;

}  // namespace onceward::statements
