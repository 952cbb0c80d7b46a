// What a server must be like before records are entrusted to it.
#pragma once

#include "store/postgres_opening.hpp"

#include <optional>

namespace onceward {

// One statement with parameters, prepared for this one time.
awaitable<PgAnswer> ask_once(PgConnection& connection, std::string sql, std::vector<PgType> types,
                             PgParameters parameters);

OpenError explain(const PgTarget& target, const PgError& error);

// Why a server with these settings must not be used at this level, or nothing.
std::string objection_to(const PgFacts& facts, Durability durability, bool ephemeral);
std::string promise_of(const PgFacts& facts, Durability durability);

// The schema is there, in this version, with ordinary tables, and this role may do what it must.
// What it may do beyond that is added to `warnings`.
awaitable<std::optional<OpenError>> check_schema(PgConnection& connection, const PgTarget& target,
                                                 std::vector<std::string>& warnings);

// A pooler that gives each transaction another server connection loses prepared statements,
// settings and locks.
awaitable<std::optional<OpenError>> check_pooler(PgConnection& connection,
                                                 std::shared_ptr<const PgSession> session);

}  // namespace onceward
