// The store's thread: takes what has gathered, commits it as one transaction, and only then
// reports.
#pragma once

#include "store/commit_queue.hpp"
#include "store/sqlite_database.hpp"
#include "store/sqlite_keys.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace onceward {

// Counters for metrics; any thread may read them.
struct SqliteStats {
    std::atomic<std::uint64_t> batches{0};      // Transactions, and groups of reads.
    std::atomic<std::uint64_t> items{0};        // Operations in them.
    std::atomic<std::uint64_t> failed{0};       // Operations answered `unavailable` or `ambiguous`.
    std::atomic<std::uint64_t> overloaded{0};   // Operations refused because the queue was full.
    std::atomic<std::uint64_t> checkpoints{0};  // Times that the log was moved into the file.
    std::atomic<std::uint64_t> failed_checkpoints{0};
    std::atomic<std::uint64_t> log_pages{0};  // Pages in the log now.
    std::atomic<bool> healthy{
        true};  // False while groups fail as a whole: the disk, not one record.
};

struct CommitLimits {
    std::size_t batch_max = 512;   // Operations in one transaction.
    int checkpoint_pages = 1'000;  // The log is moved into the file when it is longer than this.
};

// Constructed anywhere, then used by one thread only.
class CommitLoop {
public:
    using Clock = std::function<core::StoreTime()>;
    using Log = std::function<void(const std::string&)>;

    CommitLoop(Database database, SqliteKeys keys, CommitLimits limits, Clock clock, Log log)
        : database_(std::move(database)),
          keys_(std::move(keys)),
          limits_(limits),
          clock_(std::move(clock)),
          log_(std::move(log)),
          checkpoint_at_(limits.checkpoint_pages)
    {
    }

    // Runs until the queue is closed and empty; then empties the log into the file.
    void run(CommitQueue& queue, SqliteStats& stats);

private:
    void run_batch(std::span<ItemPtr> batch, SqliteStats& stats);
    std::optional<DatabaseError> attempt(std::span<ItemPtr> batch, core::StoreTime now);
    std::optional<DatabaseError> answer(Item& item, core::StoreTime now);
    std::optional<DatabaseError> commit(std::span<ItemPtr> batch);
    bool file_is_gone();
    void note(const std::optional<DatabaseError>& failure, SqliteStats& stats);
    void checkpoint(SqliteStats& stats);

    Database database_;
    SqliteKeys keys_;
    CommitLimits limits_;
    Clock clock_;
    Log log_;
    int checkpoint_at_;
    bool gone_ = false;
    std::string trouble_;  // What was last logged of the disk; empty while all is well.
    std::string damage_;   // What was last logged of a damaged record or page.
};

}  // namespace onceward
