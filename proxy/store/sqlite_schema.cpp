// The tables of the embedded store, with the reason for each column.
#include "store/sqlite_schema.hpp"

namespace onceward {

// Answers are found by a number that only grows, kept in their record's row, and not by the digest:
// new answers then fill the last page of their table instead of each touching a random one.
// Measured with answers of 520 bytes in groups of 64: 43,000 records a second, 21,000 with the
// digest as primary key.
const char* const sqlite_schema = R"sql(
-- Times are milliseconds since 1970.
CREATE TABLE keys (
    digest      BLOB    NOT NULL PRIMARY KEY,  -- 16 bytes: subject, action and key in one.
    state       INTEGER NOT NULL,  -- 0 pending, 1 done, 2 failed, 3 unknown, 4 released, 5 expired.
    reason      INTEGER NOT NULL,  -- Why it is unknown or released; 0 otherwise.
    kept        INTEGER NOT NULL,  -- How much of the answer is kept.
    status      INTEGER NOT NULL,  -- Of the answer; 0 without one.
    epoch       INTEGER NOT NULL,  -- Grows with each claim, which unmasks a late holder.
    token       BLOB,              -- 16 bytes: which attempt holds the key. NULL once nobody does.
    fingerprint BLOB    NOT NULL,  -- 16 bytes: which request.
    fp_rule     INTEGER NOT NULL,  -- Which rule made the fingerprint.
    tier        INTEGER NOT NULL,  -- tiers.id.
    until       INTEGER NOT NULL,  -- End of the lease while pending, else of the state.
    reserved_at INTEGER NOT NULL,  -- Of the current epoch.
    settled_at  INTEGER NOT NULL,  -- 0 while pending.
    body        INTEGER            -- bodies.id; NULL without headers and body.
) STRICT, WITHOUT ROWID;

-- Overdue leases, and what a crash left behind. Only rows in flight are in it.
CREATE INDEX keys_pending ON keys (until) WHERE state = 0;

-- The operators' queue, oldest first.
CREATE INDEX keys_unknown ON keys (reserved_at) WHERE state = 3;

CREATE TABLE bodies (
    id      INTEGER NOT NULL PRIMARY KEY,
    digest  BLOB    NOT NULL,  -- Whose answer it is: never handed out under another key.
    headers BLOB    NOT NULL,  -- (u16 length, name, u32 length, value)*, as received.
    body    BLOB    NOT NULL
) STRICT;

-- Rows keep their tier when the configuration's list changes, and its times when it is removed.
CREATE TABLE tiers (
    id                INTEGER NOT NULL PRIMARY KEY,
    name              TEXT    NOT NULL UNIQUE,
    unknown_retention INTEGER NOT NULL,  -- Milliseconds.
    tombstone         INTEGER            -- Milliseconds; NULL: never purged.
) STRICT;

-- What the names of keys are made of. A start that would make old keys new ones is refused.
CREATE TABLE identity (
    kind  TEXT NOT NULL,  -- route, subject, action or canary.
    value BLOB NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace onceward
