// Plans, sizes, partitions.
#include "postgres/crowd.hpp"
#include "postgres/postgres_rig.hpp"
#include "store/pg_session.hpp"
#include "store/postgres_statements.hpp"

#include <set>

using namespace onceward;
using namespace onceward::test;
using core::Millis;
using core::State;

namespace {

// The plan that a proxy's session makes of this statement.
std::string plan_of(const std::string& database, const PgStatement& statement)
{
    boost::asio::io_context io{1};
    auto session = std::make_shared<PgSession>();
    session->target = PgTarget::parse(PrivateServer::get().proxy_dsn(database));
    PgConnection connection(io.get_executor());
    PgFacts facts;
    std::optional<PgError> failed;
    boost::asio::co_spawn(
        io, begin_session(connection, session, {&statement}, facts),
        [&](std::exception_ptr, std::optional<PgError> got) { failed = std::move(got); });
    io.run();
    REQUIRE_FALSE(failed);
    std::string nulls;
    for (std::size_t i = 0; i < statement.types.size(); ++i)
        nulls.append(i == 0 ? "NULL" : ", NULL");
    std::string plan;
    const auto command =
        std::string("EXPLAIN EXECUTE ") + statement.name + (nulls.empty() ? "" : "(" + nulls + ")");
    boost::asio::co_spawn(io, connection.command(command, Millis{10'000}),
                          [&](std::exception_ptr, PgAnswer got) {
                              if (got.error) MESSAGE(got.error->text);
                              for (std::size_t line = 0; line < got.result.rows(); ++line)
                                  plan.append(got.result.bytes(line, 0)).append("\n");
                          });
    io.restart();
    io.run();
    return plan;
}

void fill(RawPostgres& owner, int rows)
{
    owner.run(
        "INSERT INTO onceward.keys (digest, token, fingerprint, fp_rule, tier, until, reserved_at, "
        "settled_at, epoch,"
        " state, reason, kept, status, body_day) SELECT gen_random_uuid(), NULL, "
        "gen_random_uuid(), 0, 1,"
        " onceward.now_ms() + 604800000, onceward.now_ms() - " +
        std::to_string(rows) +
        " + i, onceward.now_ms(), 1, 1, 0,"
        " 1, 201, 0 FROM generate_series(1, " +
        std::to_string(rows) + ") AS i");
    owner.run("VACUUM ANALYZE onceward.keys");
}

}  // namespace

TEST_CASE("at 100,000 rows with fresh statistics every statement goes by the index")
{
    const auto database = PrivateServer::get().new_database(false);
    RawPostgres owner(PrivateServer::get().owner_dsn(database));
    fill(owner, 100'000);
    namespace sql = statements;
    for (const auto* statement : {&sql::claim, &sql::settle, &sql::heal, &sql::read}) {
        const auto plan = plan_of(database, *statement);
        CAPTURE(plan);
        CHECK(plan.find("Index Scan using keys_pkey on keys k") != std::string::npos);
        CHECK(plan.find("Index Cond: (digest = ") != std::string::npos);
        CHECK(plan.find("Seq Scan on keys") == std::string::npos);
        CHECK(plan.find("Hash") == std::string::npos);
        CHECK(plan.find("Merge Join") == std::string::npos);
        CHECK(plan.find("Materialize") == std::string::npos);
        // The batch drives, in its own order: its keys are looked up one by one.
        CHECK(plan.find("Function Scan") < plan.find("Index Scan using keys_pkey"));
    }
    CHECK(plan_of(database, sql::insert).find("Seq Scan") == std::string::npos);
    CHECK(plan_of(database, sql::sweep_pages).find("Tid Range Scan on keys") != std::string::npos);
    for (const auto* statement : {&sql::sweep_pending, &sql::move_mark, &sql::unknown}) {
        const auto plan = plan_of(database, *statement);
        CAPTURE(plan);
        CHECK(plan.find("Bitmap Index Scan on keys_reserved_at") != std::string::npos);
        CHECK(plan.find("Seq Scan on keys") == std::string::npos);
    }
}

TEST_CASE("bytes of a finished key, measured")
{
    PostgresRig rig(PostgresRig::Clock::real, [](PostgresOptions&) {}, PostgresRig::Database::own);
    constexpr unsigned rounds = 100;
    constexpr unsigned keys = 256;
    for (unsigned round = 0; round < rounds; ++round) {
        std::vector<awaitable<StoreResult<core::Reservation>>> reserving;
        std::vector<core::Digest> digests;
        for (unsigned key = 0; key < keys; ++key) {
            core::Digest digest;
            digest.bytes = core::random_token().bytes;
            digests.push_back(digest);
            reserving.push_back(rig.client().reserve(digest, claim_of(key + 1)));
        }
        const auto reserved = all_at_once(rig.io, std::move(reserving));
        std::vector<awaitable<StoreResult<core::Settled>>> settling;
        for (unsigned key = 0; key < keys; ++key) {
            const auto ticket = std::get<core::Won>(*reserved[key]).ticket;
            settling.push_back(rig.client().settle(
                digests[key], ticket, settlement_of(State::done, 201, std::string(50, 'x'))));
        }
        all_at_once(rig.io, std::move(settling));
        // What autovacuum does in the background on a server that runs on.
        if (round % 10 == 9) rig.owner().run("VACUUM onceward.keys");
    }
    rig.owner().run("SELECT pg_stat_force_next_flush()");
    const auto number = [&](const std::string& sql) { return std::stod(rig.owner().value(sql)); };
    const double rows = rounds * keys;
    const double heap = number("SELECT pg_table_size('onceward.keys')") / rows;
    const double index = number("SELECT pg_indexes_size('onceward.keys')") / rows;
    const double body =
        number(
            "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent ="
            " 'onceward.bodies'::regclass") /
        rows;
    const double tuple = number("SELECT avg(pg_column_size(k.*)) FROM onceward.keys AS k");
    MESSAGE("bytes of a finished key: ", heap, " in the table (the row itself ", tuple, "), ",
            index, " in its indexes; its answer of 50 bytes: ", body);
    CHECK(heap + index < 240);
    CHECK(number("SELECT count(*) FROM onceward.keys WHERE state = 1") == rows);
}

TEST_CASE("a day without partition loses no completion: the default one takes it, and says so")
{
    PostgresRig rig;
    auto settlement = settlement_of(State::done, 200, "far ahead");
    settlement.keep = Millis{std::chrono::days{1'000}};
    const auto ticket =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    CHECK(rig.done(rig.client().settle(digest_of(1), ticket, settlement)) ==
          core::Settled::recorded);
    CHECK(rig.done(rig.client().find(digest_of(1)))->answer.body == "far ahead");
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.bodies_default") == "1");
    rig.done(rig.client().sweep(10));
    CHECK(rig.postgres().stats().stray_bodies == 1);
    // When that day is to be made later, the rows in the way are left where they are.
    rig.advance(Millis{std::chrono::days{990}});
    const auto outcome =
        rig.owner().value("SELECT made > 10, failed FROM onceward.maintain_bodies(7)");
    CHECK(outcome == "t|1");
    CHECK(rig.done(rig.client().find(digest_of(1)))->answer.body == "far ahead");
}

TEST_CASE("answers go by dropping their day, their records stay")
{
    PostgresRig rig;
    const auto ticket =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    rig.done(rig.client().settle(digest_of(1), ticket, settlement_of(State::done, 200, "x")));
    rig.advance(Millis{std::chrono::days{1}});
    CHECK(rig.owner().value("SELECT dropped FROM onceward.maintain_bodies(7)") == "0");
    rig.advance(Millis{std::chrono::days{2}});
    CHECK(std::stoi(rig.owner().value("SELECT dropped FROM onceward.maintain_bodies(7)")) >= 1);
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.bodies") == "0");
    CHECK(rig.done(rig.client().find(digest_of(1)))->state == State::expired);
    // Somebody who reads for long does not stop the proxies: the day is dropped another time.
    RawPostgres reader(PrivateServer::get().owner_dsn(rig.database()));
    reader.run("BEGIN");
    reader.run("SELECT count(*) FROM onceward.bodies");
    rig.advance(Millis{std::chrono::days{2}});
    CHECK(std::stoi(rig.owner().value("SELECT failed FROM onceward.maintain_bodies(7)")) >= 1);
    reader.run("COMMIT");
    CHECK(rig.owner().value("SELECT failed FROM onceward.maintain_bodies(7)") == "0");
}

TEST_CASE("T13 a damaged record is no answer, and its neighbours are")
{
    PostgresRig rig;
    for (const unsigned key : {1u, 2u}) {
        const auto ticket =
            std::get<core::Won>(rig.done(rig.client().reserve(digest_of(key), claim_of(key))))
                .ticket;
        rig.done(rig.client().settle(digest_of(key), ticket, settlement_of(State::done, 200, "x")));
    }
    rig.owner().run(
        "UPDATE onceward.bodies SET headers = '\\x0003610d0a00000000' WHERE digest = '" +
        digest_of(1).hex() + "'");
    std::vector<awaitable<StoreResult<std::optional<core::Record>>>> finding;
    for (const unsigned key : {1u, 2u})
        finding.push_back(rig.client().find(digest_of(key)));
    const auto found = all_at_once(rig.io, std::move(finding));
    CHECK(found[0].has_error());
    REQUIRE(found[1].has_value());
    CHECK((*found[1])->answer.body == "x");
}
