// SQLite used directly, for tests only.
#include "raw_sqlite.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

namespace onceward::test {

namespace {

struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using File = std::unique_ptr<sqlite3, Close>;
using Rows = std::unique_ptr<sqlite3_stmt, Close>;

File open(const std::string& path)
{
    sqlite3* opened = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &opened) == SQLITE_OK);
    return File(opened);
}

Rows query(const File& file, const std::string& sql)
{
    sqlite3_stmt* statement = nullptr;
    const int prepared = sqlite3_prepare_v2(file.get(), sql.c_str(), -1, &statement, nullptr);
    INFO(sqlite3_errmsg(file.get()));
    REQUIRE(prepared == SQLITE_OK);
    return Rows(statement);
}

std::string bytes(const Rows& rows, int column)
{
    const auto* start = static_cast<const char*>(sqlite3_column_blob(rows.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), column));
    return start == nullptr ? std::string() : std::string(start, size);
}

template <class Identifier>
Identifier identifier(const Rows& rows, int column)
{
    Identifier read;
    const auto text = bytes(rows, column);
    std::copy_n(text.begin(), std::min(text.size(), read.bytes.size()), read.bytes.begin());
    return read;
}

core::StoreTime time(const Rows& rows, int column)
{
    return core::StoreTime(core::Millis(sqlite3_column_int64(rows.get(), column)));
}

core::Row row(const Rows& rows)
{
    core::Row read;
    read.state = static_cast<core::State>(sqlite3_column_int(rows.get(), 1));
    read.reason = static_cast<core::Reason>(sqlite3_column_int(rows.get(), 2));
    read.kept = static_cast<core::Kept>(sqlite3_column_int(rows.get(), 3));
    read.answer.status = sqlite3_column_int(rows.get(), 4);
    read.epoch = static_cast<core::Epoch>(sqlite3_column_int64(rows.get(), 5));
    read.token = identifier<core::Token>(rows, 6);
    read.fingerprint = identifier<core::Fingerprint>(rows, 7);
    read.fingerprint_rule = static_cast<std::uint16_t>(sqlite3_column_int(rows.get(), 8));
    read.tier = static_cast<std::uint16_t>(sqlite3_column_int(rows.get(), 9) - 1);
    read.until = time(rows, 10);
    read.reserved_at = time(rows, 11);
    read.settled_at = time(rows, 12);
    const auto fields = core::Fields::decode(bytes(rows, 13));
    REQUIRE(fields);
    read.answer.fields = *fields;
    read.answer.body = bytes(rows, 14);
    return read;
}

}  // namespace

void change_behind_its_back(const std::string& path, const std::string& sql)
{
    const auto file = open(path);
    const int done = sqlite3_exec(file.get(), sql.c_str(), nullptr, nullptr, nullptr);
    INFO(sqlite3_errmsg(file.get()));
    REQUIRE(done == SQLITE_OK);
}

std::string ask_file(const std::string& path, const std::string& sql)
{
    const auto file = open(path);
    const auto rows = query(file, sql);
    REQUIRE(sqlite3_step(rows.get()) == SQLITE_ROW);
    return bytes(rows, 0);
}

std::map<core::Digest, core::Row> rows_in_file(const std::string& path)
{
    const auto file = open(path);
    const auto rows =
        query(file,
              "SELECT k.digest, state, reason, kept, status, epoch, token, fingerprint, fp_rule,"
              " tier, until, reserved_at, settled_at, headers, b.body"
              " FROM keys k LEFT JOIN bodies b ON b.id = k.body AND b.digest = k.digest");
    std::map<core::Digest, core::Row> all;
    while (sqlite3_step(rows.get()) == SQLITE_ROW)
        all[identifier<core::Digest>(rows, 0)] = row(rows);
    return all;
}

}  // namespace onceward::test
