// SQLite's C interface as values: every return code is looked at here.
#include "store/sqlite_database.hpp"

#include <sqlite3.h>

#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

namespace onceward {

namespace {

DatabaseFault fault_of(int extended)
{
    switch (extended & 0xFF) {
        case SQLITE_FULL: return DatabaseFault::full;
        case SQLITE_READONLY: return DatabaseFault::read_only;
        case SQLITE_CORRUPT: return DatabaseFault::corrupt;
        case SQLITE_NOTADB: return DatabaseFault::not_a_database;
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return DatabaseFault::busy;
        case SQLITE_IOERR:
            return extended == SQLITE_IOERR_WRITE ? DatabaseFault::not_written : DatabaseFault::io;
        default: return DatabaseFault::other;
    }
}

DatabaseError error_of(sqlite3* handle)
{
    if (handle == nullptr) return {DatabaseFault::other, "out of memory"};
    const int extended = sqlite3_extended_errcode(handle);
    std::string text = sqlite3_errmsg(handle);
    const int primary = extended & 0xFF;
    const int system = sqlite3_system_errno(handle);
    const bool from_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
    if (from_system && system != 0) text.append(": ").append(std::strerror(system));
    return {fault_of(extended), std::move(text)};
}

DatabaseError error_of(sqlite3_stmt* handle)
{
    return error_of(sqlite3_db_handle(handle));
}

// A bad index or an endless value: a bug, never a state of the world.
void require(bool worked)
{
    if (!worked) std::abort();
}

int note_log_pages(void* pages, sqlite3*, const char*, int now)
{
    *static_cast<int*>(pages) = now;
    return SQLITE_OK;
}

}  // namespace

void throw_exception_from_error(const DatabaseError&, const boost::source_location&)
{
    std::abort();
}

bool commit_may_have_happened(DatabaseFault fault)
{
    switch (fault) {
        case DatabaseFault::full:
        case DatabaseFault::read_only:
        case DatabaseFault::not_written:
        case DatabaseFault::busy: return false;
        case DatabaseFault::io:
        case DatabaseFault::corrupt:
        case DatabaseFault::not_a_database:
        case DatabaseFault::other: return true;
    }
    return true;
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const
{
    sqlite3_finalize(handle);
}

Query::~Query()
{
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
}

Query& Query::bind(std::int64_t number)
{
    require(sqlite3_bind_int64(handle_, ++bound_, number) == SQLITE_OK);
    return *this;
}

Query& Query::bind_bytes(std::string_view bytes)
{
    // A null pointer would bind NULL; no bytes are still bytes.
    const char* start = bytes.empty() ? "" : bytes.data();
    require(sqlite3_bind_blob64(handle_, ++bound_, start, bytes.size(), SQLITE_STATIC) ==
            SQLITE_OK);
    return *this;
}

Query& Query::bind_text(std::string_view text)
{
    const char* start = text.empty() ? "" : text.data();
    require(sqlite3_bind_text64(handle_, ++bound_, start, text.size(), SQLITE_STATIC,
                                SQLITE_UTF8) == SQLITE_OK);
    return *this;
}

Query& Query::bind_null()
{
    require(sqlite3_bind_null(handle_, ++bound_) == SQLITE_OK);
    return *this;
}

DatabaseResult<Step> Query::step()
{
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return Step::row;
    if (code == SQLITE_DONE) return Step::done;
    return error_of(handle_);
}

DatabaseResult<std::int64_t> Query::run()
{
    for (;;) {
        const auto stepped = step();
        if (!stepped) return stepped.error();
        if (*stepped == Step::done) return sqlite3_changes64(sqlite3_db_handle(handle_));
    }
}

std::int64_t Query::integer(int column) const
{
    return sqlite3_column_int64(handle_, column);
}

std::string_view Query::bytes(int column) const
{
    const auto* start = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    const int size = sqlite3_column_bytes(handle_, column);
    return start == nullptr ? std::string_view{}
                            : std::string_view(start, static_cast<std::size_t>(size));
}

bool Query::is_null(int column) const
{
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* handle) const
{
    sqlite3_close_v2(handle);
}

DatabaseResult<Database> Database::open(const std::string& path)
{
    // One thread at a time uses the connection, so SQLite needs no mutex of its own.
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    Database opened;
    opened.handle_.reset(handle);
    if (code != SQLITE_OK) return error_of(handle);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return opened;
}

DatabaseResult<Statement> Database::prepare(std::string_view sql)
{
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) return error_of(handle_.get());
    return Statement(handle);
}

DatabaseResult<void> Database::execute(const char* sql)
{
    const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error_of(handle_.get());
    return {};
}

DatabaseResult<std::int64_t> Database::integer(std::string_view sql)
{
    auto statement = prepare(sql);
    if (!statement) return statement.error();
    Query query(*statement);
    const auto stepped = query.step();
    if (!stepped) return stepped.error();
    return *stepped == Step::row ? query.integer(0) : 0;
}

void Database::roll_back()
{
    // Some failures have rolled back already. A failing ROLLBACK leaves SQLite's own state rolled
    // back too.
    if (sqlite3_get_autocommit(handle_.get()) == 0) {
        sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Database::take_over_checkpoints()
{
    sqlite3_wal_autocheckpoint(handle_.get(), 0);
    sqlite3_wal_hook(handle_.get(), note_log_pages, log_pages_.get());
}

DatabaseResult<void> Database::checkpoint(Checkpoint kind)
{
    const int mode =
        kind == Checkpoint::passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
    const int code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, mode, nullptr, nullptr);
    if (code != SQLITE_OK) return error_of(handle_.get());
    *log_pages_ = 0;
    return {};
}

bool Database::read_only() const
{
    return sqlite3_db_readonly(handle_.get(), "main") != 0;
}

void Database::remember_log()
{
    struct stat found{};
    const char* log = sqlite3_filename_wal(sqlite3_db_filename(handle_.get(), "main"));
    if (stat(log, &found) != 0) return;
    log_device_ = found.st_dev;
    log_inode_ = found.st_ino;
}

bool Database::moved() const
{
    int file_moved = 0;
    sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &file_moved);
    if (file_moved != 0) return true;
    struct stat found{};
    const char* log = sqlite3_filename_wal(sqlite3_db_filename(handle_.get(), "main"));
    if (stat(log, &found) != 0) return true;
    return found.st_ino != log_inode_ || found.st_dev != log_device_;
}

}  // namespace onceward
