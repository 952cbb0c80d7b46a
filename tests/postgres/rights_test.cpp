// What nobody may do to a key record, whatever program he uses (decision 11).
#include "postgres/crowd.hpp"
#include "postgres/postgres_rig.hpp"
#include "store/postgres_migrate.hpp"

using namespace onceward;
using namespace onceward::test;
using core::State;

TEST_CASE("the proxy's role can neither delete nor empty nor change the schema")
{
    PostgresRig rig;
    rig.done(rig.store().reserve(digest_of(1), claim_of(1)));
    RawPostgres proxy(PrivateServer::get().proxy_dsn(rig.database()));
    for (const char* table : {"keys", "bodies", "unknown_queue", "tiers", "identity", "janitor"}) {
        CAPTURE(table);
        const auto name = std::string("onceward.") + table;
        CHECK(proxy.failure("DELETE FROM " + name) == "42501");
        CHECK(proxy.failure("TRUNCATE " + name) == "42501");
        CHECK(proxy.failure("DROP TABLE " + name) == "42501");
        CHECK(proxy.failure("ALTER TABLE " + name + " DISABLE TRIGGER ALL") == "42501");
    }
    CHECK(proxy.failure("CREATE TABLE onceward.mine (a int)") == "42501");
    CHECK(proxy.failure("SET session_replication_role = replica") == "42501");
    CHECK(proxy.failure("UPDATE onceward.schema_version SET version = 9") == "42501");
}

TEST_CASE("no role, not even the owner, takes a record back or forgets it inside its window")
{
    PostgresRig rig;
    const auto change = [&](RawPostgres& who, int state) {
        return who.failure("UPDATE onceward.keys SET state = " + std::to_string(state));
    };
    RawPostgres proxy(PrivateServer::get().proxy_dsn(rig.database()));
    const auto ticket =
        std::get<core::Won>(rig.done(rig.store().reserve(digest_of(1), claim_of(1)))).ticket;
    rig.done(rig.store().settle(digest_of(1), ticket, settlement_of(State::done, 200, "x")));
    for (auto* who : {&proxy, &rig.owner()}) {
        for (const int state : {0, 2, 3, 4})
            CHECK(change(*who, state) == "23000");
        CHECK(who->failure("UPDATE onceward.keys SET epoch = epoch + 1") == "23000");
        CHECK(who->failure("UPDATE onceward.keys SET digest = gen_random_uuid()") == "23000");
    }
    CHECK(rig.owner().failure("DELETE FROM onceward.keys") == "23000");
    CHECK(rig.owner().failure("TRUNCATE onceward.keys") == "23000");
    CHECK(rig.done(rig.store().find(digest_of(1)))->state == State::done);

    rig.advance(core::Millis{100'000});
    rig.done(rig.client().sweep(100));
    for (const int state : {0, 1, 2, 3, 4})
        CHECK(change(rig.owner(), state) == "23000");
    CHECK(rig.owner().failure("DELETE FROM onceward.keys") == "23000");
    rig.advance(core::Millis{1'000'000});
    const auto report = purge(PrivateServer::get().owner_dsn(rig.database()), 100);
    CHECK(std::get<PurgeReport>(report).keys == 1);
    CHECK_FALSE(rig.done(rig.store().find(digest_of(1))));
}

TEST_CASE("a released record is claimed only under the next epoch")
{
    PostgresRig rig;
    const auto ticket =
        std::get<core::Won>(rig.done(rig.store().reserve(digest_of(1), claim_of(1)))).ticket;
    rig.done(rig.store().settle(digest_of(1), ticket, settlement_of(State::released, 0, "")));
    RawPostgres proxy(PrivateServer::get().proxy_dsn(rig.database()));
    CHECK(proxy.failure("UPDATE onceward.keys SET state = 0") == "23000");
    proxy.run("UPDATE onceward.keys SET state = 0, epoch = epoch + 1");
}

TEST_CASE("the proxy deletes nothing: all its work, and no deleted row")
{
    PostgresRig rig;
    for (unsigned key = 1; key <= 60; ++key) {
        const auto ticket =
            std::get<core::Won>(rig.done(rig.client().reserve(digest_of(key), claim_of(key))))
                .ticket;
        const State states[] = {State::done, State::failed, State::unknown, State::released};
        if (key % 5 != 0)
            rig.done(rig.client().settle(digest_of(key), ticket,
                                         settlement_of(states[key % 4], 200, "x")));
    }
    for (int pass = 0; pass < 10; ++pass) {
        rig.advance(core::Millis{100'000});
        rig.done(rig.client().sweep(1'000));
        rig.done(rig.client().unknown(100));
    }
    rig.owner().run("SELECT pg_stat_force_next_flush()");
    run_until(rig.io, [&] {
        return rig.owner().value(
                   "SELECT sum(n_tup_ins) >= 60 FROM pg_stat_user_tables WHERE relname = 'keys'") ==
               "t";
    });
    CHECK(rig.owner().value("SELECT sum(n_tup_del) FROM pg_stat_user_tables") == "0");
}
