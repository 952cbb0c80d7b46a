// The start of the PostgreSQL store, in the order in which things can be wrong.
#include "store/postgres_opening.hpp"

#include "store/postgres_checks.hpp"
#include "store/secret_file.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>

namespace onceward {

namespace {

constexpr core::Millis patience{10'000};

OpenError no_secret()
{
    return {
        "PostgreSQL needs `keys.secret_file` (or `keys.secret`): all proxies name keys with the "
        "same secret",
        "make one with `head -c 32 /dev/urandom | base64 > FILE` and keep a copy of it", ""};
}

OpenError secret_differs(const std::string& source)
{
    return {"the secret from " + source + " is not the one that this database was made with",
            "restore the old secret: with another one every old key would become new", ""};
}

// The longest that an answer is kept, but for what is kept for ever and has a place of its own.
core::Millis longest_of(const std::vector<core::Tier>& tiers)
{
    constexpr core::Millis for_ever{std::chrono::days{36'500}};
    core::Millis longest{0};
    for (const auto& tier : tiers) {
        for (const auto keep : {tier.retention, tier.times().unknown_retention}) {
            if (keep < for_ever) longest = std::max(longest, keep);
        }
    }
    return longest;
}

core::Millis shortest_lease_of(const std::vector<core::Tier>& tiers)
{
    auto shortest = core::Millis::max();
    for (const auto& tier : tiers)
        shortest = std::min(shortest, tier.lease);
    return tiers.empty() ? core::Millis{0} : shortest;
}

class Opening {
public:
    Opening(const PostgresOptions& options, boost::asio::any_io_executor executor)
        : options_(options), connection_(std::move(executor))
    {
    }

    awaitable<PostgresOpening> run()
    {
        std::vector<OpenError> refused;
        if (const auto wrong = find_secret()) refused.push_back(*wrong);
        auto session = std::make_shared<PgSession>();
        session->target = PgTarget::parse(options_.dsn);
        session->limits = options_.limits;
        session->log = options_.log;
        if (!session->target.error.empty()) {
            refused.push_back({"`store.postgres` is no connection string: " + session->target.error,
                               "write `host=... dbname=... user=...` or `postgresql://...`", ""});
        }
        if (!refused.empty()) co_return refused;
        auto first = co_await check(session);
        if (first) {
            refused.push_back(std::move(*first));
            co_return refused;
        }
        session->objection = [durability = options_.durability,
                              ephemeral = options_.ephemeral](const PgFacts& facts) {
            return objection_to(facts, durability, ephemeral);
        };
        refused = co_await enter(session->target);
        if (!refused.empty()) co_return refused;
        co_return OpenedPostgres{session,
                                 *secret_,
                                 tiers_,
                                 promise_of(facts_, options_.durability),
                                 warnings_,
                                 facts_.timeline,
                                 shortest_lease_of(options_.tiers),
                                 days()};
    }

private:
    int days() const
    {
        return static_cast<int>(
            std::chrono::ceil<std::chrono::days>(longest_of(options_.tiers)).count());
    }

    std::optional<OpenError> find_secret()
    {
        if (options_.secret.empty() && options_.secret_file.empty()) return no_secret();
        source_ = options_.secret.empty() ? "`" + options_.secret_file + "`" : "`keys.secret`";
        auto found = options_.secret.empty() ? read_secret_file(options_.secret_file)
                                             : secret_from_text(options_.secret, source_);
        if (const auto* error = std::get_if<OpenError>(&found)) return *error;
        secret_ = std::make_unique<core::Secret>(std::get<core::Secret>(std::move(found)));
        return std::nullopt;
    }

    // Nothing is written.
    awaitable<std::optional<OpenError>> check(std::shared_ptr<const PgSession> session)
    {
        const auto failed = co_await begin_session(connection_, session, {}, facts_);
        if (failed) co_return explain(session->target, *failed);
        auto pooled = co_await check_pooler(connection_, session);
        if (pooled) co_return pooled;
        auto wrong = co_await check_schema(connection_, session->target, warnings_);
        if (wrong) co_return wrong;
        const auto objection = objection_to(facts_, options_.durability, options_.ephemeral);
        if (!objection.empty()) {
            co_return OpenError{"PostgreSQL is not durable enough: " + objection,
                                "change it there; a store that may be lost can be allowed with "
                                "`store.ephemeral: true`"
                                " where fsync is the matter",
                                ""};
        }
        if (facts_.fsync != "on")
            warnings_.push_back("fsync is off: records do not survive a crash of the machine");
        co_return std::nullopt;
    }

    // One transaction, one process at a time: canary, ledger, tiers.
    awaitable<std::vector<OpenError>> enter(PgTarget target)
    {
        const std::string begin =
            "SET lock_timeout = '10s'; BEGIN; SELECT pg_advisory_xact_lock(7021830562192)";
        const auto begun = co_await connection_.command(begin, patience);
        std::vector<OpenError> refused;
        if (begun.error) failure_ = begun.error;
        if (!failure_) refused = co_await check_names();
        if (!failure_ && refused.empty()) co_await record_tiers();
        if (!failure_ && refused.empty()) co_await end_transaction();
        if (!failure_ && refused.empty()) co_await make_partitions();
        if (failure_) refused.push_back(explain(target, *failure_));
        co_return refused;
    }

    awaitable<std::vector<OpenError>> check_names()
    {
        const std::string query =
            "SELECT kind, value FROM onceward.identity WHERE active"
            " UNION ALL SELECT 'used', '' WHERE EXISTS (SELECT 1 FROM onceward.keys)";
        const auto rows = co_await ask_once(connection_, query, {}, {});
        if (rows.error) {
            failure_ = rows.error;
            co_return std::vector<OpenError>();
        }
        Ledger ledger;
        std::optional<std::string> canary;
        bool used = false;
        for (std::size_t line = 0; line < rows.result.rows(); ++line) {
            const auto kind = rows.result.bytes(line, 0);
            std::string value(rows.result.bytes(line, 1));
            if (kind == "used")
                used = true;
            else if (kind == "route")
                ledger.route_ids.insert(std::move(value));
            else if (kind == "subject")
                ledger.subject_form = std::move(value);
            else if (kind == "action")
                ledger.action_form = std::move(value);
            else if (kind == "canary")
                canary = std::move(value);
        }
        if (canary && *canary != secret_->canary())
            co_return std::vector<OpenError>{secret_differs(source_)};
        const auto check = check_identity(ledger, options_.identity, options_.forget);
        // Without a record there is no old key that could become new.
        if (!check.refusals.empty() && used) co_return check.refusals;
        if (!canary || check.updated != ledger) co_await write_ledger(check.updated);
        co_return std::vector<OpenError>();
    }

    awaitable<void> write_ledger(Ledger ledger)
    {
        PgArray kinds(PgType::text);
        PgArray values(PgType::bytea);
        const auto add = [&](std::string_view kind, const std::string& value) {
            kinds.add_bytes(kind);
            values.add_bytes(value);
        };
        add("canary", secret_->canary());
        for (const auto& id : ledger.route_ids)
            add("route", id);
        if (ledger.subject_form) add("subject", *ledger.subject_form);
        if (ledger.action_form) add("action", *ledger.action_form);
        const std::string sql =
            "WITH given AS (SELECT * FROM unnest($1::text[], $2::bytea[]) AS g(kind, value)),"
            " gone AS (UPDATE onceward.identity AS i SET active = false WHERE i.active AND NOT "
            "EXISTS"
            "  (SELECT 1 FROM given AS g WHERE g.kind = i.kind AND g.value = i.value))"
            " INSERT INTO onceward.identity (kind, value) SELECT kind, value FROM given"
            " ON CONFLICT (kind, value) DO UPDATE SET active = true";
        PgParameters parameters{kinds.take(), values.take()};
        auto written = co_await ask_once(
            connection_, sql, {PgType::text_array, PgType::bytea_array}, std::move(parameters));
        if (written.error) failure_ = std::move(written.error);
    }

    // Updated before they are inserted: an insert that meets its name would use up a number each
    // time.
    awaitable<void> record_tiers()
    {
        const std::string update =
            "UPDATE onceward.tiers SET unknown_retention = $2, tombstone = $3 WHERE name = "
            "convert_from($1, 'UTF8')"
            " AND (unknown_retention <> $2 OR tombstone IS DISTINCT FROM $3)";
        const std::string insert =
            "INSERT INTO onceward.tiers (name, unknown_retention, tombstone) SELECT "
            "convert_from($1, 'UTF8'), $2, $3"
            " WHERE NOT EXISTS (SELECT 1 FROM onceward.tiers WHERE name = convert_from($1, "
            "'UTF8'))";
        for (const auto& tier : options_.tiers) {
            const auto times = tier.times();
            PgParameters parameters{tier.name, int8_value(times.unknown_retention.count()),
                                    std::nullopt};
            if (times.tombstone) parameters[2] = int8_value(times.tombstone->count());
            for (const auto& sql : {update, insert}) {
                auto written = co_await ask_once(
                    connection_, sql, {PgType::bytea, PgType::int8, PgType::int8}, parameters);
                if (!written.error) continue;
                failure_ = std::move(written.error);
                co_return;
            }
        }
        co_await read_tiers();
    }

    awaitable<void> read_tiers()
    {
        const std::string query =
            "SELECT id, name, unknown_retention, tombstone FROM onceward.tiers";
        auto stored = co_await ask_once(connection_, query, {}, {});
        if (stored.error) {
            failure_ = std::move(stored.error);
            co_return;
        }
        const auto& rows = stored.result;
        std::map<std::string, std::pair<std::int64_t, core::TierTimes>, std::less<>> by_name;
        for (std::size_t line = 0; line < rows.rows(); ++line) {
            core::TierTimes times{core::Millis(rows.integer(line, 2)), std::nullopt};
            if (!rows.is_null(line, 3)) times.tombstone = core::Millis(rows.integer(line, 3));
            tiers_.add(rows.integer(line, 0), removed_tier, times);
            by_name[std::string(rows.bytes(line, 1))] = {rows.integer(line, 0), times};
        }
        std::uint16_t index = 0;
        for (const auto& tier : options_.tiers) {
            const auto& [id, times] = by_name.at(tier.name);
            tiers_.add(id, index++, times);
        }
    }

    awaitable<void> end_transaction()
    {
        auto committed = co_await connection_.command("COMMIT", patience);
        if (committed.error) failure_ = std::move(committed.error);
    }

    awaitable<void> make_partitions()
    {
        const std::string sql = "SELECT failed::bigint, strays FROM onceward.maintain_bodies($1)";
        PgParameters parameters{int4_value(days())};
        auto made = co_await ask_once(connection_, sql, {PgType::int4}, std::move(parameters));
        if (made.error) {
            failure_ = std::move(made.error);
        } else if (made.result.integer(0, 0) != 0 || made.result.integer(0, 1) != 0) {
            warnings_.push_back(
                "answers lie in onceward.bodies_default because days could not be made for them");
        }
    }

    const PostgresOptions& options_;
    PgConnection connection_;
    PgFacts facts_;
    std::unique_ptr<core::Secret> secret_;
    std::string source_;
    TierNames tiers_;
    std::vector<std::string> warnings_;
    std::optional<PgError> failure_;
};

}  // namespace

PostgresOpening open_postgres(const PostgresOptions& options)
{
    boost::asio::io_context context(1);
    Opening opening(options, context.get_executor());
    std::optional<PostgresOpening> result;
    boost::asio::co_spawn(context, opening.run(),
                          [&](std::exception_ptr failed, PostgresOpening opened) {
                              if (failed) std::rethrow_exception(failed);
                              result.emplace(std::move(opened));
                          });
    context.run();
    if (!result) std::abort();  // The coroutine ended, so it has said how.
    return std::move(*result);
}

}  // namespace onceward
