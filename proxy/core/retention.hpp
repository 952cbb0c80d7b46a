// Tiers: how long records live, and the rule that makes their length right.
#pragma once

#include "core/record.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace onceward::core {

// What the operator states about the clients' retries. The retention must be longer than their sum,
// or the last retry would find nothing and run again (EXP-2).
struct RetryBudget {
    Millis total{};          // The longest a client keeps retrying.
    Millis skew{};           // Between the clocks involved.
    Millis replay_window{};  // Until which people or queues may replay by hand.

    Millis sum() const { return total + skew + replay_window; }
};

enum class OnStoreError : std::uint8_t { reject, pass };
enum class StoreResponse : std::uint8_t { full, status_only };

struct Tier {
    std::string name;
    Millis retention{std::chrono::days{7}};  // Of DONE and FAILED, counted from completion (EXP-1).
    Millis lease{std::chrono::seconds{60}};  // How long a record may stay PENDING.
    std::optional<RetryBudget> retry_budget;
    std::optional<Millis> tombstone{std::chrono::days{30}};  // Absent: `never` purged.
    std::optional<Millis> unknown_retention;                 // Absent: as long as the tombstone.
    OnStoreError on_store_error = OnStoreError::reject;
    StoreResponse store_response = StoreResponse::full;

    TierTimes times() const;
};

// True when a stated budget fits into the retention (E111 when not).
bool covers(Millis retention, const RetryBudget& budget);

// The lease must outlive the longest exchange by a second (E110, RSV-9).
bool lease_covers(Millis lease, Millis timeout);

// A RELEASED row says nothing after this time and may be purged (decision 6).
Millis released_keep(Millis lease);

// What one record needs: rows that live at a rate, and their bytes. For the start-up estimate.
struct StorageEstimate {
    double rows = 0;
    double bytes = 0;
};
StorageEstimate estimate_storage(double requests_per_second, Millis retention,
                                 double bytes_per_row);

}  // namespace onceward::core
