// The embedded store: one SQLite file, one process, one thread that commits in groups (decision
// 27).
#pragma once

#include "ports/key_store.hpp"
#include "store/commit_loop.hpp"
#include "store/sqlite_opening.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace onceward {

struct SqliteOptions {
    SqliteFile file;
    std::size_t queue_max =
        8'192;  // Operations that wait for the store's thread; more are `overloaded`.
    CommitLimits limits;
    // The store's clock, read once for each group, on the store's thread; empty: the system's. The
    // system's clock is the database's clock: SQLite's julianday('now') reads the same one of the
    // same machine, only in floating-point days.
    std::function<core::StoreTime()> clock;
    // Called on the store's thread when the store fails and when it works again. Must not block.
    // May be empty.
    std::function<void(const std::string&)> log;
};

class SqliteStore;
using SqliteOpened = std::variant<std::unique_ptr<SqliteStore>, std::vector<OpenError>>;

// One per process. Shared by all workers through its clients.
class SqliteStore {
public:
    // Blocks for some milliseconds: only before the first request. Every reason not to start comes
    // back as a value; the file is then unchanged.
    static SqliteOpened open(SqliteOptions options);

    // Closes, if that was not done.
    ~SqliteStore();

    // One for each worker. All methods of the client are called on `worker`, which one thread runs,
    // and resume there. Lifetimes: the client is destroyed on its worker's thread, or after that
    // thread has ended, and before the io_context behind `worker`. Coroutines that still wait then
    // are dropped: they are never resumed, and are destroyed together with the io_context. A client
    // may outlive the store; it then answers `unavailable`. Operations cannot be cancelled: what
    // was handed over takes effect.
    std::unique_ptr<KeyStore> client(boost::asio::any_io_executor worker);

    // Finishes what was accepted, empties the log into the file, ends the thread. Later operations
    // are `unavailable`. Blocks; any thread, once.
    void close();

    // What keys and fingerprints are made with.
    const core::Secret& secret() const { return secret_; }
    // PENDING records of a process that died, UNKNOWN(crash) since the opening.
    std::size_t crashed() const { return crashed_; }
    // The file was made by this opening.
    bool created() const { return created_; }
    // It was made although its secret was there already: an earlier file is gone, and every key in
    // it is a new one now. Worth a loud warning.
    bool lost() const { return lost_; }
    const SqliteStats& stats() const { return *stats_; }

private:
    SqliteStore(SqliteOptions options, OpenedSqlite opened);

    core::Secret secret_;
    std::size_t crashed_ = 0;
    bool created_ = false;
    bool lost_ = false;
    std::size_t tiers_ = 0;
    std::shared_ptr<SqliteStats> stats_ = std::make_shared<SqliteStats>();
    std::shared_ptr<CommitQueue> queue_;
    std::thread thread_;
};

}  // namespace onceward
