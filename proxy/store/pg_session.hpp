// What all connections of one store have in common.
#pragma once

#include "store/pg_connection.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace onceward {

// Counters for metrics; any thread may read them.
struct PostgresStats {
    std::atomic<std::uint64_t> statements{0};
    std::atomic<std::uint64_t> items{0};      // Operations in them.
    std::atomic<std::uint64_t> ambiguous{0};  // Statements whose effect is not known.
    std::atomic<std::uint64_t> refused{
        0};  // Operations answered `unavailable` without being tried.
    std::atomic<std::uint64_t> lock_waits{
        0};  // Statements that met a row of another transaction for too long.
    std::atomic<std::uint64_t> split{0};        // Batches cut in two to find the one that fails.
    std::atomic<std::uint64_t> connections{0};  // Opened since the start.
    std::atomic<std::uint64_t> given_up{0};     // Connections whose answer did not come in time.
    std::atomic<std::uint64_t> ended{0};        // Backends ended through the control connection.
    std::atomic<std::uint64_t> promotions{0};   // New timelines met: another server took over.
    std::atomic<std::uint64_t> stray_bodies{
        0};  // Answers in the partition for days that nobody made.
};

struct PgLimits {
    core::Millis connect{2'000};
    core::Millis statement{1'000};   // Reservations and reads.
    core::Millis completion{3'000};  // Completions: nobody gains by giving up early.
    core::Millis housekeeping{10'000};
    core::Millis first_pause{50};  // After a failed connection, doubled up to longest_pause.
    core::Millis longest_pause{1'000};
    core::Millis lock_wait{100};  // D5.
};

// What a server says about itself and the session on a new connection.
struct PgFacts {
    std::int64_t pid = 0;
    std::int64_t started =
        0;  // Microseconds since 1970: tells a backend from a later one with its number.
    std::string timeline;  // Grows with each promotion of a standby.
    std::string fsync, full_page_writes, synchronous_commit, standby_names;
};

struct PgSession {
    PgTarget target;
    PgLimits limits;
    // Why this server must not be used, or nothing. Asked on every new connection: after a failover
    // it may be another server.
    std::function<std::string(const PgFacts&)> objection;
    std::function<void(const std::string&)> log;
    std::shared_ptr<PostgresStats> stats = std::make_shared<PostgresStats>();

    void say(const std::string& text) const
    {
        if (log) log(text);
    }
};

// Opens and sets up: no plan but the index's, no setting that could lose a warning or a commit's
// durability.
awaitable<std::optional<PgError>> begin_session(PgConnection& connection,
                                                std::shared_ptr<const PgSession> session,
                                                std::vector<const PgStatement*> statements,
                                                PgFacts& facts);

}  // namespace onceward
