// The small tables: canary, identity ledger, tiers.
#pragma once

#include "core/retention.hpp"
#include "core/secret.hpp"
#include "store/identity.hpp"
#include "store/sqlite_database.hpp"
#include "store/tier_names.hpp"

#include <string>
#include <vector>

namespace onceward {

// All of these run inside the transaction of a start.

// The tables of an empty file, with the secret's canary.
DatabaseResult<void> create_tables(Database& database, const core::Secret& secret);

// What tells whether the secret is the one that the file was made with; empty when it is gone.
DatabaseResult<std::string> read_canary(Database& database);

DatabaseResult<Ledger> read_ledger(Database& database);
DatabaseResult<void> write_ledger(Database& database, const Ledger& ledger);

// Gives each configured tier its row, by name, with the times of now; removed ones keep theirs.
DatabaseResult<TierNames> record_tiers(Database& database, const std::vector<core::Tier>& tiers);

}  // namespace onceward
