// The checks of a start, each with the way out.
#include "store/postgres_checks.hpp"

#include "store/postgres_schema.hpp"

#include <boost/asio/this_coro.hpp>

namespace onceward {

namespace {

constexpr core::Millis patience{10'000};

std::string user_of(const PgTarget& target)
{
    const auto* user = target.find("user");
    return user == nullptr ? "its role" : "`" + *user + "`";
}

OpenError wrong_version(std::int64_t version)
{
    const auto needed = std::to_string(postgres_schema_version);
    OpenError error{"database schema is at version " + std::to_string(version) +
                        ", this binary needs " + needed,
                    "run `onceward migrate up --owner-dsn DSN` (or `onceward migrate sql` and hand "
                    "the text to your "
                    "DBA); nothing was changed",
                    "E702"};
    if (version > postgres_schema_version) {
        error.hint = "run the onceward that made this schema, or a newer one; nothing was changed";
    }
    return error;
}

constexpr const char* rights_query = R"sql(
SELECT coalesce(bool_and(has_table_privilege('onceward.' || t, p)), false),
       has_table_privilege('onceward.keys', 'DELETE, TRUNCATE'),
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       has_function_privilege('onceward.maintain_bodies(integer)', 'EXECUTE'),
       (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'onceward' AND c.relkind IN ('r', 'p') AND c.relpersistence <> 'p')
FROM (VALUES ('keys', 'SELECT'), ('keys', 'INSERT'), ('keys', 'UPDATE'),
      ('bodies', 'SELECT'), ('bodies', 'INSERT'), ('unknown_queue', 'SELECT'),
      ('unknown_queue', 'INSERT'), ('unknown_queue', 'UPDATE'), ('tiers', 'UPDATE'),
      ('identity', 'UPDATE'), ('janitor', 'UPDATE')) AS needed(t, p)
)sql";

}  // namespace

awaitable<PgAnswer> ask_once(PgConnection& connection, std::string sql, std::vector<PgType> types,
                             PgParameters parameters)
{
    const PgStatement statement{"", sql.c_str(), std::move(types)};
    std::vector<PgStep> steps(2);
    steps[0].prepare = &statement;
    steps[1].execute = &statement;
    steps[1].parameters = std::move(parameters);
    auto answers = co_await connection.pipeline(std::move(steps), patience);
    if (answers[0].error) co_return std::move(answers[0]);
    co_return std::move(answers[1]);
}

OpenError explain(const PgTarget& target, const PgError& error)
{
    const auto place = "PostgreSQL (" + target.name() + ")";
    const auto detail = ": " + error.text;
    switch (error.fault) {
        case PgFault::cannot_connect:
        case PgFault::lost:
        case PgFault::late:
        case PgFault::shutting_down:
            return {"cannot reach " + place + detail,
                    "check `store.postgres` and that the server runs", ""};
        case PgFault::too_many_connections:
            return {place + " has no connection left" + detail,
                    "onceward needs 5 for each of `server.workers`: raise max_connections", ""};
        case PgFault::read_only:
            return {place + " is read-only" + detail,
                    "name the primary, or all hosts of the cluster", ""};
        case PgFault::denied:
            return {user_of(target) + " may not use the schema `onceward`" + detail,
                    "as its owner: GRANT onceward_proxy TO " + user_of(target), "E702"};
        case PgFault::disk_full:
            return {place + " has no space left" + detail, "free some space and start again", ""};
        case PgFault::lock_not_available:
        case PgFault::deadlock:
        case PgFault::serialization:
        case PgFault::not_durable:
        case PgFault::missing:
        case PgFault::bad_value:
        case PgFault::other: break;
    }
    return {"cannot open " + place + detail, "see the server's log", ""};
}

std::string objection_to(const PgFacts& facts, Durability durability, bool ephemeral)
{
    if (facts.fsync != "on" && !ephemeral)
        return "fsync is off: a crash of its machine loses acknowledged records";
    if (facts.full_page_writes != "on" && !ephemeral) {
        return "full_page_writes is off: a crash of its machine may damage the table of keys";
    }
    if (facts.synchronous_commit == "off") {
        return "synchronous_commit is off: a crash loses acknowledged reservations, and their "
               "requests run again";
    }
    if (durability == Durability::single) return {};
    if (facts.standby_names.empty())
        return "durability is `sync`, but synchronous_standby_names is empty";
    if (facts.synchronous_commit != "on" && facts.synchronous_commit != "remote_apply") {
        return "durability is `sync`, but synchronous_commit is " + facts.synchronous_commit;
    }
    return {};
}

std::string promise_of(const PgFacts& facts, Durability durability)
{
    if (facts.fsync != "on")
        return "nothing survives a crash of the database's machine (fsync is off)";
    if (durability == Durability::sync) {
        return "an acknowledged record survives the loss of the primary: it is on the disk of a "
               "synchronous standby "
               "(" +
               facts.standby_names + ") as well";
    }
    if (!facts.standby_names.empty() && facts.synchronous_commit != "local") {
        return "an acknowledged record survives a crash of the primary; its loss too, as long as "
               "synchronous_standby_names stays (" +
               facts.standby_names + "): `sync` would insist on it";
    }
    return "an acknowledged record survives a crash of the database's machine, not the loss of its "
           "disk: a promoted "
           "standby may lack the last records, whose requests would then run again";
}

awaitable<std::optional<OpenError>> check_schema(PgConnection& connection, const PgTarget& target,
                                                 std::vector<std::string>& warnings)
{
    const std::string version_query =
        "SELECT coalesce(max(version), 0)::bigint FROM onceward.schema_version";
    const auto version = co_await ask_once(connection, version_query, {}, {});
    if (version.error && version.error->fault == PgFault::missing) co_return wrong_version(0);
    if (version.error) co_return explain(target, *version.error);
    if (version.result.integer(0, 0) != postgres_schema_version)
        co_return wrong_version(version.result.integer(0, 0));

    const std::string query = rights_query;
    const auto rights = co_await ask_once(connection, query, {}, {});
    if (rights.error) co_return explain(target, *rights.error);
    if (rights.result.integer(0, 0) == 0 || rights.result.integer(0, 3) == 0) {
        co_return OpenError{user_of(target) + " lacks rights on the schema `onceward`",
                            "as its owner: GRANT onceward_proxy TO " + user_of(target), "E702"};
    }
    if (rights.result.integer(0, 4) > 0) {
        co_return OpenError{
            "tables of the schema `onceward` are UNLOGGED: a crash empties them, and every key is "
            "new",
            "ALTER TABLE ... SET LOGGED", ""};
    }
    if (rights.result.integer(0, 1) != 0 || rights.result.integer(0, 2) != 0) {
        warnings.push_back(
            "W10: " + user_of(target) +
            " may DELETE key records: connect as a member of onceward_proxy, which may not");
    }
    co_return std::nullopt;
}

awaitable<std::optional<OpenError>> check_pooler(PgConnection& connection,
                                                 std::shared_ptr<const PgSession> session)
{
    const std::string query = "SELECT pg_backend_pid()::bigint";
    auto first = co_await ask_once(connection, query, {}, {});
    if (first.error) co_return explain(session->target, *first.error);
    const auto pid = first.result.integer(0, 0);
    // Without a pooler, the server itself told its number when the connection began.
    if (pid == connection.protocol_pid()) co_return std::nullopt;

    const OpenError refused{
        "`store.postgres` leads to a connection pooler in transaction mode: each statement may run "
        "on another server "
        "connection, without what was prepared and set on the last one",
        "connect to PostgreSQL itself, or to a pool with pool_mode = session", ""};
    const auto executor = co_await boost::asio::this_coro::executor;
    PgConnection other(executor);
    const auto failed = co_await other.open(session->target, session->limits.connect);
    if (failed) co_return explain(session->target, *failed);
    // Whoever keeps a transaction open keeps a server connection. In session mode that is never
    // ours.
    const auto begun =
        co_await other.command("BEGIN; SELECT pg_backend_pid()", session->limits.connect);
    if (begun.error) co_return refused;
    const bool took_ours = begun.result.bytes(0, 0) == std::to_string(pid);
    const auto again = co_await ask_once(connection, query, {}, {});
    if (took_ours || again.error || again.result.integer(0, 0) != pid) co_return refused;
    co_return std::nullopt;
}

}  // namespace onceward
