// What `onceward migrate` does, as the schema's owner. Everything here blocks and is for the
// command line.
#pragma once

#include "store/open_error.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace onceward {

struct MigrationStatus {
    int version = 0;  // Of the database; 0: no schema.
    int needed = 0;   // By this binary.
};
using MigrationOutcome = std::variant<MigrationStatus, OpenError>;

MigrationOutcome migration_status(const std::string& owner_dsn);

// Applies what is missing, each version in a transaction of its own, one process at a time. Nothing
// is done when the schema is up to date. The status afterwards.
MigrationOutcome migrate_up(const std::string& owner_dsn);

// The same as text, from this version on, for who applies it by hand: `psql -1 -v ON_ERROR_STOP=1`.
std::string migration_sql(int from_version);

struct PurgeReport {
    std::int64_t keys =
        0;  // Tombstones past their window, and RELEASED rows that say nothing more.
    std::int64_t queue = 0;  // Closed entries of the operators' queue.
};
using PurgeOutcome = std::variant<PurgeReport, OpenError>;

// Deletes what may go; the window is checked in SQL, for each row, by a trigger. In steps of some
// pages, so that no transaction is long. `most`: rows at most.
PurgeOutcome purge(const std::string& owner_dsn, std::int64_t most);

}  // namespace onceward
