// The owner's side of the schema.
#include "store/postgres_migrate.hpp"

#include "store/postgres_checks.hpp"
#include "store/postgres_schema.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <exception>

namespace onceward {

namespace {

constexpr core::Millis connecting{10'000};
constexpr core::Millis patience{600'000};
constexpr std::int64_t pages_in_a_step = 1'000;

// One connection, used from a blocking caller.
class Owner {
public:
    explicit Owner(const std::string& dsn)
        : target_(PgTarget::parse(dsn)), connection_(context_.get_executor())
    {
        if (!target_.error.empty()) {
            failure_ = OpenError{"this is no connection string: " + target_.error,
                                 "see `--owner-dsn`", ""};
            return;
        }
        run(connection_.open(target_, connecting), [this](std::optional<PgError> failed) {
            if (failed) failure_ = explain(target_, *failed);
        });
    }

    const std::optional<OpenError>& failure() const { return failure_; }

    // Absent answers: failure() says why.
    std::optional<PgResult> command(std::string sql)
    {
        return take([&](auto keep) {
            run(connection_.command(std::move(sql), patience), std::move(keep));
        });
    }
    std::optional<PgResult> ask(std::string sql, std::vector<PgType> types, PgParameters parameters)
    {
        return take([&](auto keep) {
            run(ask_once(connection_, std::move(sql), std::move(types), std::move(parameters)),
                std::move(keep));
        });
    }

    // 0 without a schema, -1 when that cannot be told.
    int version()
    {
        const auto there = ask("SELECT to_regclass('onceward.schema_version') IS NOT NULL", {}, {});
        if (!there) return -1;
        if (there->integer(0, 0) == 0) return 0;
        const auto version =
            ask("SELECT coalesce(max(version), 0) FROM onceward.schema_version", {}, {});
        return version ? static_cast<int>(version->integer(0, 0)) : -1;
    }

private:
    template <class T, class Keep>
    void run(awaitable<T> operation, Keep keep)
    {
        boost::asio::co_spawn(context_, std::move(operation),
                              [&](std::exception_ptr failed, T result) {
                                  if (failed) std::rethrow_exception(failed);
                                  keep(std::move(result));
                              });
        context_.restart();
        context_.run();
    }

    template <class Start>
    std::optional<PgResult> take(Start start)
    {
        if (failure_) return std::nullopt;
        std::optional<PgResult> result;
        start([&](PgAnswer answer) {
            if (answer.error) {
                failure_ = explain(target_, *answer.error);
            } else {
                result.emplace(std::move(answer.result));
            }
        });
        return result;
    }

    boost::asio::io_context context_{1};
    PgTarget target_;
    PgConnection connection_;
    std::optional<OpenError> failure_;
};

MigrationOutcome status_of(Owner& owner)
{
    const int version = owner.version();
    if (const auto& failure = owner.failure(); failure) return *failure;
    return MigrationStatus{version, postgres_schema_version};
}

}  // namespace

MigrationOutcome migration_status(const std::string& owner_dsn)
{
    Owner owner(owner_dsn);
    return status_of(owner);
}

MigrationOutcome migrate_up(const std::string& owner_dsn)
{
    Owner owner(owner_dsn);
    for (const auto& step : postgres_steps()) {
        // A second process waits here and then finds the work done.
        owner.command("BEGIN; SELECT pg_advisory_xact_lock(7021830562193)");
        const int version = owner.version();
        if (version >= 0 && version < step.version) owner.command(step.sql);
        owner.command("COMMIT");
        if (const auto& failure = owner.failure(); failure) return *failure;
    }
    return status_of(owner);
}

std::string migration_sql(int from_version)
{
    std::string sql;
    for (const auto& step : postgres_steps()) {
        if (step.version > from_version)
            sql.append("-- onceward schema, version " + std::to_string(step.version))
                .append(step.sql);
    }
    return sql;
}

PurgeOutcome purge(const std::string& owner_dsn, std::int64_t most)
{
    Owner owner(owner_dsn);
    PurgeReport report;
    const auto size = owner.ask(
        "SELECT pg_relation_size('onceward.keys') / current_setting('block_size')::bigint", {}, {});
    const auto pages = size ? size->integer(0, 0) : 0;
    for (std::int64_t page = 0; page < pages && report.keys < most; page += pages_in_a_step) {
        const auto gone = owner.ask(
            "WITH clock AS MATERIALIZED (SELECT onceward.now_ms() AS now), due AS ("
            " SELECT digest FROM onceward.keys WHERE ctid >= ('(' || $1 || ',0)')::tid"
            " AND ctid < ('(' || $2 || ',0)')::tid AND state IN (4, 5) AND until <= (SELECT now "
            "FROM clock)"
            " LIMIT $3 FOR UPDATE SKIP LOCKED),"
            " gone AS (DELETE FROM onceward.keys AS k USING due WHERE k.digest = due.digest "
            "RETURNING k.digest),"
            " listed AS (DELETE FROM onceward.unknown_queue AS q USING gone WHERE q.digest = "
            "gone.digest)"
            " SELECT count(*) FROM gone",
            {PgType::int8, PgType::int8, PgType::int8},
            {int8_value(page), int8_value(page + pages_in_a_step), int8_value(most - report.keys)});
        if (!gone) break;
        report.keys += gone->integer(0, 0);
    }
    const auto closed = owner.ask(
        "WITH gone AS (DELETE FROM onceward.unknown_queue WHERE NOT open RETURNING 1) SELECT "
        "count(*) FROM gone",
        {}, {});
    if (const auto& failure = owner.failure(); failure) return *failure;
    if (closed) report.queue = closed->integer(0, 0);
    return report;
}

}  // namespace onceward
