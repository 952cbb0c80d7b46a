// From a path to a database that may be used: every reason not to start is found here, before
// anything changes.
#pragma once

#include "core/retention.hpp"
#include "core/secret.hpp"
#include "store/identity.hpp"
#include "store/open_error.hpp"
#include "store/sqlite_database.hpp"
#include "store/sqlite_keys.hpp"
#include "store/sqlite_place.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace onceward {

struct SqliteFile {
    SqlitePlace place;
    std::string secret;       // `keys.secret`; empty: see secret_file.
    std::string secret_file;  // `keys.secret_file`; empty: `PATH.secret`, made on first start.
    std::vector<core::Tier> tiers;  // In the settings' order: Claim::tier counts in it.
    Identity identity;
    std::vector<std::string> forget;  // `--forget`.
};

struct OpenedSqlite {
    Database database;
    SqliteKeys keys;
    core::Secret secret;
    std::size_t crashed = 0;  // PENDING rows of a process that died: UNKNOWN(crash) now.
    bool created = false;     // The file is new: no earlier record is known.
    bool lost = false;        // It is new although its secret is not: an earlier file is gone.
};

using SqliteOpening = std::variant<OpenedSqlite, std::vector<OpenError>>;

// Takes the lock, checks schema, secret and identity, and writes nothing unless all of them are
// right; then makes the tables of a new file, updates tiers and ledger and declares what a dead
// process held UNKNOWN, in one transaction.
SqliteOpening open_sqlite(const SqliteFile& file, core::StoreTime now);

}  // namespace onceward
