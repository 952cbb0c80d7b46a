// The tables of the embedded store.
#pragma once

#include <cstdint>

namespace onceward {

// Grows with every change of the tables.
inline constexpr std::int64_t sqlite_schema_version = 1;

// Marks a SQLite file as ours ("ONCE"), so that another program's database is never touched.
inline constexpr std::int64_t sqlite_application_id = 0x4F4E4345;

// Creates all tables in an empty file.
extern const char* const sqlite_schema;

}  // namespace onceward
