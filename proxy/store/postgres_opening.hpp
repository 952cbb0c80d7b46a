// From a connection string to a database that may be used: every reason not to start is found here.
#pragma once

#include "core/retention.hpp"
#include "core/secret.hpp"
#include "store/identity.hpp"
#include "store/open_error.hpp"
#include "store/pg_session.hpp"
#include "store/tier_names.hpp"

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace onceward {

// D7. single: an acknowledged record survives a crash of the database. sync: also the loss of its
// machine.
enum class Durability : std::uint8_t { single, sync };

struct PostgresOptions {
    std::string dsn;
    std::string secret;       // `keys.secret`; empty: see secret_file. One of them must be given.
    std::string secret_file;  // `keys.secret_file`.
    std::vector<core::Tier> tiers;  // In the settings' order: Claim::tier counts in it.
    Identity identity;
    std::vector<std::string> forget;  // `--forget`.
    Durability durability = Durability::single;
    bool ephemeral = false;  // Allows a server that does not write to its disk (fsync = off).
    PgLimits limits;
    // Called when the database fails and when it works again, on the worker's thread. Must not
    // block. May be empty.
    std::function<void(const std::string&)> log;
};

struct OpenedPostgres {
    std::shared_ptr<const PgSession> session;
    core::Secret secret;
    TierNames tiers;
    std::string promise;                // What the server's settings are worth, in one sentence.
    std::vector<std::string> warnings;  // For the banner; W10 among them.
    std::string timeline;
    core::Millis shortest_lease{};
    int longest_days = 0;  // How far ahead answers expire.
};

using PostgresOpening = std::variant<std::vector<OpenError>, OpenedPostgres>;

// Blocks: only before the first request. Writes nothing unless every check is passed; then the
// canary of a new database, tiers and ledger in one transaction, and the partitions of answers.
PostgresOpening open_postgres(const PostgresOptions& options);

}  // namespace onceward
