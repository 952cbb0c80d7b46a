// The tables of the PostgreSQL store, as versioned steps (decisions 8 and 11).
#pragma once

#include <span>

namespace onceward {

inline constexpr int postgres_schema_version = 1;

// What `onceward migrate` runs, once, to come from the version before.
struct PostgresStep {
    int version = 0;
    const char* sql = nullptr;
};

std::span<const PostgresStep> postgres_steps();

}  // namespace onceward
