// The checks of a start, in the order in which they can be wrong.
#include "store/sqlite_opening.hpp"

#include "store/secret_file.hpp"
#include "store/sqlite_ledger.hpp"
#include "store/sqlite_schema.hpp"

#include <filesystem>

namespace onceward {

namespace {

using Refused = std::vector<OpenError>;

OpenError explain(const std::string& path, const DatabaseError& error)
{
    const auto detail = " (" + error.text + ")";
    switch (error.fault) {
        case DatabaseFault::busy:
            return {"`" + path +
                        "` is locked: another onceward process has this file open; an embedded "
                        "store serves "
                        "one process",
                    "stop the other process, or give this one a `store.sqlite` of its own", ""};
        case DatabaseFault::not_a_database:
            return {"`" + path + "` is not a database" + detail,
                    "give `store.sqlite` another path; nothing was changed", ""};
        case DatabaseFault::corrupt:
            return {"`" + path + "` is damaged" + detail,
                    "restore it from a backup; keys that are lost with it would run again", ""};
        case DatabaseFault::read_only:
            return {"`" + path + "` cannot be written" + detail,
                    "let the user that runs onceward own the file and its directory", ""};
        case DatabaseFault::full:
            return {"no space left for `" + path + "`" + detail, "free some space and start again",
                    ""};
        case DatabaseFault::not_written:
        case DatabaseFault::io:
        case DatabaseFault::other: break;
    }
    return {"cannot open `" + path + "`" + detail, "check the disk and the file's owner", ""};
}

OpenError newer_schema(std::int64_t version)
{
    return {"database schema is at version " + std::to_string(version) + ", this binary needs " +
                std::to_string(sqlite_schema_version),
            "run the onceward that wrote this file; nothing was changed", "E702"};
}

OpenError foreign(const std::string& path)
{
    return {"`" + path + "` is the database of another program",
            "give `store.sqlite` another path; nothing was changed", ""};
}

OpenError secret_missing(const std::string& path, const std::string& secret_file)
{
    return {"`" + path + "` has records, but its secret `" + secret_file + "` is missing",
            "put the secret back: with another one every old key would become new; if the records "
            "may be forgotten, move the database away",
            "E704"};
}

OpenError secret_differs(const std::string& path, const std::string& source)
{
    return {"the secret from " + source + " is not the one that `" + path + "` was made with",
            "restore the old secret: with another one every old key would become new; if the "
            "records may be forgotten, move the database away",
            "E704"};
}

// What must hold before the first lock is taken and before WAL mode is entered: with an exclusive
// lock SQLite keeps the log's index in its own memory, so there is no shared mapping that a second
// process could join.
constexpr const char* before_reading =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
    "PRAGMA mmap_size = 0; PRAGMA cache_size = -32768;";
// FULL: every commit is on the disk before it is reported. NORMAL would lose reservations in a
// power cut.
constexpr const char* before_writing =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;";

class Opening {
public:
    explicit Opening(const SqliteFile& file) : file_(file), path_(file.place.path) {}

    SqliteOpening run(core::StoreTime now)
    {
        if (const auto refused = prepare_place(file_.place)) return Refused{*refused};
        std::error_code no_directory;
        const auto name = std::filesystem::absolute(path_, no_directory).string();
        auto database = Database::open(name.empty() ? path_ : name);
        if (!database) return refuse(database.error());
        database_ = &*database;
        if (const auto refused = check_file()) return Refused{*refused};
        const auto found = find_secret();
        if (const auto* refused = std::get_if<OpenError>(&found)) return Refused{*refused};
        const auto& secret = std::get<core::Secret>(found);
        auto keys = enter(secret, now);
        if (const auto* refused = std::get_if<Refused>(&keys)) {
            database_->roll_back();
            return *refused;
        }
        database_->remember_log();
        return OpenedSqlite{std::move(*database),
                            std::get<SqliteKeys>(std::move(keys)),
                            secret,
                            crashed_,
                            fresh_,
                            lost_};
    }

private:
    Refused refuse(const DatabaseError& error) const { return {explain(path_, error)}; }

    // Takes the lock; nothing is written.
    std::optional<OpenError> check_file()
    {
        if (database_->read_only()) {
            return explain(path_, {DatabaseFault::read_only, "no permission"});
        }
        const auto set = database_->execute(before_reading);
        if (!set) return explain(path_, set.error());
        const auto application = database_->integer("PRAGMA application_id");
        if (!application) return explain(path_, application.error());
        const auto tables = database_->integer("SELECT count(*) FROM sqlite_schema");
        if (!tables) return explain(path_, tables.error());
        const auto version = database_->integer("PRAGMA user_version");
        if (!version) return explain(path_, version.error());

        fresh_ = *application == 0 && *tables == 0 && *version == 0;
        if (fresh_) return std::nullopt;
        if (*application != sqlite_application_id) return foreign(path_);
        if (*version != sqlite_schema_version) return newer_schema(*version);
        return std::nullopt;
    }

    // A new secret is made, and is on the disk, before the first record can be named with it.
    SecretOrError find_secret()
    {
        const auto beside = path_ + ".secret";
        if (!file_.secret.empty()) {
            secret_source_ = "`keys.secret`";
            return secret_from_text(file_.secret, secret_source_);
        }
        const bool given = !file_.secret_file.empty();
        const auto& name = given ? file_.secret_file : beside;
        secret_source_ = "`" + name + "`";
        std::error_code ignored;
        const bool there = std::filesystem::exists(name, ignored);
        lost_ = !given && there && fresh_;
        if (given || there) return read_secret_file(name);
        if (!fresh_) return secret_missing(path_, name);
        return create_secret_file(name);
    }

    // One transaction: schema, canary, ledger, tiers, crashed rows.
    std::variant<SqliteKeys, Refused> enter(const core::Secret& secret, core::StoreTime now)
    {
        const auto begun = database_->execute(before_writing);
        if (!begun) return refuse(begun.error());
        database_->take_over_checkpoints();
        const auto locked = database_->execute("BEGIN IMMEDIATE");
        if (!locked) return refuse(locked.error());
        if (auto refused = check_names(secret); !refused.empty()) return refused;

        auto tiers = record_tiers(*database_, file_.tiers);
        if (!tiers) return refuse(tiers.error());
        auto rows = SqliteRows::prepare(*database_, std::move(*tiers));
        if (!rows) return refuse(rows.error());
        SqliteKeys keys(std::move(*rows));
        const auto crashed = keys.declare_crashed(now);
        if (!crashed) return refuse(crashed.error());
        crashed_ = *crashed;
        const auto committed = database_->execute("COMMIT");
        if (!committed) return refuse(committed.error());
        return keys;
    }

    // Canary and ledger.
    Refused check_names(const core::Secret& secret)
    {
        if (fresh_) {
            const auto created = create_tables(*database_, secret);
            if (!created) return refuse(created.error());
        }
        const auto canary = read_canary(*database_);
        if (!canary) return refuse(canary.error());
        if (*canary != secret.canary()) return {secret_differs(path_, secret_source_)};

        const auto ledger = read_ledger(*database_);
        if (!ledger) return refuse(ledger.error());
        const auto check = check_identity(*ledger, file_.identity, file_.forget);
        // Without a record there is no old key that could become new.
        const auto records =
            database_->integer("SELECT count(*) FROM (SELECT 1 FROM keys LIMIT 1)");
        if (!records) return refuse(records.error());
        if (!check.refusals.empty() && *records != 0) return check.refusals;
        if (check.updated == *ledger) return {};
        const auto written = write_ledger(*database_, check.updated);
        if (!written) return refuse(written.error());
        return {};
    }

    const SqliteFile& file_;
    const std::string& path_;
    Database* database_ = nullptr;
    std::string secret_source_;
    std::size_t crashed_ = 0;
    bool fresh_ = false;
    bool lost_ = false;
};

}  // namespace

SqliteOpening open_sqlite(const SqliteFile& file, core::StoreTime now)
{
    return Opening(file).run(now);
}

}  // namespace onceward
