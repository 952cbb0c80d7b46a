// A row of the key table as it comes over the wire.
#pragma once

#include "core/record.hpp"
#include "store/pg_connection.hpp"
#include "store/tier_names.hpp"

#include <optional>

namespace onceward {

// A row with the moment at which the server read it. Its answer is read by another statement.
struct ReadRow {
    core::Digest digest;
    core::Row row;
    core::StoreTime now;
    std::int32_t body_day = 0;  // Where its answer's headers and body are; 0: it has none.
};

// Line `line` of an answer to statements::read, without headers and body. Absent when it is
// damaged: a row changed behind our back must never become an answer (T13).
std::optional<ReadRow> read_row(const PgResult& result, std::size_t line, const TierNames& tiers);

// False when the two columns from `column` on are no headers and body.
bool read_body(const PgResult& result, std::size_t line, int column, core::Response& answer);

}  // namespace onceward
