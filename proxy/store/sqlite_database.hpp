// One SQLite connection and its prepared statements: the only pair of files that knows SQLite's own
// interface.
#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

struct sqlite3;
struct sqlite3_stmt;

namespace onceward {

enum class DatabaseFault : std::uint8_t {
    full,            // No space left, or a page limit was reached.
    read_only,       // The file, or its file system, takes no writes.
    not_written,     // A write was refused by the system, so its bytes are not complete.
    io,              // Another failure of the disk: what reached it is not known.
    corrupt,         // A page, a row or an answer is not what was written.
    not_a_database,  // The file is something else.
    busy,            // Another connection holds the lock.
    other,
};

struct DatabaseError {
    DatabaseFault fault = DatabaseFault::other;
    std::string text;  // SQLite's words and, where there is one, the system's.
};

template <class T>
using DatabaseResult = boost::system::result<T, DatabaseError>;

// Calling value() on a failed result is a bug: the process ends.
[[noreturn]] void throw_exception_from_error(const DatabaseError& error,
                                             const boost::source_location& where);

// False when a COMMIT that failed so has certainly left nothing behind: its last frame never became
// complete, and the next transaction writes over it. Otherwise a crash could still bring the
// transaction back.
bool commit_may_have_happened(DatabaseFault fault);

enum class Step : std::uint8_t { row, done };

// A statement compiled once; run through Query.
class Statement {
public:
    Statement() = default;
    explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}

private:
    friend class Query;
    struct Finalize {
        void operator()(sqlite3_stmt* handle) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// One execution of a statement. Ends it when destroyed, so that no lock or read snapshot stays
// behind.
class Query {
public:
    explicit Query(Statement& statement) : handle_(statement.handle_.get()) {}
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    // Each call binds the next parameter. Bytes and text are not copied: they must outlive the
    // Query.
    Query& bind(std::int64_t number);
    Query& bind_bytes(std::string_view bytes);
    Query& bind_text(std::string_view text);
    Query& bind_null();

    DatabaseResult<Step> step();
    // Steps to the end; how many rows an INSERT, UPDATE or DELETE changed.
    DatabaseResult<std::int64_t> run();

    // Columns of the current row, from 0. Views live until the next step.
    std::int64_t integer(int column) const;
    std::string_view bytes(int column) const;
    bool is_null(int column) const;

private:
    sqlite3_stmt* handle_;
    int bound_ = 0;
};

enum class Checkpoint : std::uint8_t {
    passive,   // Moves what the log holds into the file; the log's space is used again.
    truncate,  // And leaves the log empty.
};

// Used by one thread at a time.
class Database {
public:
    // Opens an existing file; does not touch its content yet.
    static DatabaseResult<Database> open(const std::string& path);

    DatabaseResult<Statement> prepare(std::string_view sql);
    // Runs any number of statements, ignoring their rows.
    DatabaseResult<void> execute(const char* sql);
    // The first column of the first row; zero without a row.
    DatabaseResult<std::int64_t> integer(std::string_view sql);
    // Ends the transaction if one is open; what it did is gone.
    void roll_back();

    // From now on the store decides when the log is moved into the file. Call once WAL mode is on.
    void take_over_checkpoints();
    // Pages in the write-ahead log after the last commit.
    int log_pages() const { return *log_pages_; }
    DatabaseResult<void> checkpoint(Checkpoint kind);

    bool read_only() const;
    // Notes which log file is in use, for moved().
    void remember_log();
    // True when the file or its log was deleted or replaced: what is written now, nobody will find
    // again.
    bool moved() const;

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    std::unique_ptr<sqlite3, Close> handle_;
    std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // Its address is known to SQLite.
    dev_t log_device_ = 0;
    ino_t log_inode_ = 0;
};

}  // namespace onceward
