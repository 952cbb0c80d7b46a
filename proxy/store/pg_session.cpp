// The settings of a session, and what it learns about its server.
#include "store/pg_session.hpp"

#include <charconv>

namespace onceward {

namespace {

// Plans: with fresh statistics the planner would join a batch to the whole table by hashing it, and
// throughput falls as the table grows. Timeouts: a role's own settings must not cancel a commit
// that waits (D6). Messages: the warning about a missing standby must arrive, whatever the role's
// defaults are.
constexpr const char* settings = R"sql(
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET join_collapse_limit = 1;
SET jit = off;
SET statement_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET idle_session_timeout = 0;
SET client_min_messages = warning;
SET default_transaction_isolation = 'read committed';
SET default_transaction_read_only = off;
SET max_parallel_workers_per_gather = 0;
)sql";

constexpr const char* facts_query = R"sql(
SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint,
       CASE WHEN pg_is_in_recovery() THEN ''
            ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
       current_setting('fsync'), current_setting('full_page_writes'),
       current_setting('synchronous_commit'), current_setting('synchronous_standby_names')
FROM pg_stat_activity WHERE pid = pg_backend_pid()
)sql";

std::int64_t number_in(std::string_view text)
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

PgFacts facts_in(const PgResult& result)
{
    PgFacts facts;
    facts.pid = number_in(result.bytes(0, 0));
    facts.started = number_in(result.bytes(0, 1));
    facts.timeline = result.bytes(0, 2);
    facts.fsync = result.bytes(0, 3);
    facts.full_page_writes = result.bytes(0, 4);
    facts.synchronous_commit = result.bytes(0, 5);
    facts.standby_names = result.bytes(0, 6);
    return facts;
}

std::string set_up(const PgLimits& limits)
{
    return settings + ("SET lock_timeout = " + std::to_string(limits.lock_wait.count()) + ";") +
           facts_query;
}

}  // namespace

awaitable<std::optional<PgError>> begin_session(PgConnection& connection,
                                                std::shared_ptr<const PgSession> session,
                                                std::vector<const PgStatement*> statements,
                                                PgFacts& facts)
{
    const auto& limits = session->limits;
    auto failed = co_await connection.open(session->target, limits.connect);
    if (failed) co_return failed;
    auto told = co_await connection.command(set_up(limits), limits.connect);
    if (told.error) co_return std::move(told.error);
    if (told.result.rows() != 1) {
        co_return PgError{PgFault::cannot_connect, false,
                          "the server hides this session from itself", ""};
    }
    facts = facts_in(told.result);
    if (session->objection) {
        auto why = session->objection(facts);
        if (!why.empty()) co_return PgError{PgFault::cannot_connect, false, std::move(why), ""};
    }
    std::vector<PgStep> steps;
    for (const auto* statement : statements) {
        PgStep step;
        step.prepare = statement;
        steps.push_back(std::move(step));
    }
    if (steps.empty()) co_return std::nullopt;
    auto prepared = co_await connection.pipeline(std::move(steps), limits.connect);
    for (auto& answer : prepared) {
        if (answer.error) co_return std::move(answer.error);
    }
    session->stats->connections.fetch_add(1, std::memory_order_relaxed);
    co_return std::nullopt;
}

}  // namespace onceward
