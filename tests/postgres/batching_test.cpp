// Many requests at once: few statements, one winner, no deadlock.
#include "postgres/crowd.hpp"
#include "postgres/postgres_rig.hpp"

#include <algorithm>
#include <random>
#include <thread>

using namespace onceward;
using namespace onceward::test;
using Reserving = std::vector<awaitable<StoreResult<core::Reservation>>>;

TEST_CASE("what gathers during one round trip is the next statement")
{
    PostgresRig rig(PostgresRig::Clock::real);
    // The connection exists, and one statement is enough for it.
    rig.done(rig.client().reserve(digest_of(1), claim_of(1)));
    const auto& stats = rig.postgres().stats();
    CHECK(stats.statements == 1);
    const auto before = stats.items.load();

    Reserving reserving;
    for (unsigned key = 1'000; key < 1'640; ++key)
        reserving.push_back(rig.client().reserve(digest_of(key), claim_of(key)));
    const auto results = all_at_once(rig.io, std::move(reserving));
    CHECK(std::all_of(results.begin(), results.end(), is_won));
    CHECK(stats.items - before == 640);
    CHECK(stats.statements <= 1 + 1 + 4);  // The first alone or not, then 256 at a time.
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.keys") == "641");
}

TEST_CASE("RSV-6 many claims of one key in one batch: one wins, the others are told")
{
    PostgresRig rig(PostgresRig::Clock::real);
    Reserving reserving;
    for (unsigned token = 1; token <= 500; ++token)
        reserving.push_back(rig.client().reserve(digest_of(7), claim_of(token)));
    const auto results = all_at_once(rig.io, std::move(reserving));
    CHECK(std::count_if(results.begin(), results.end(), is_won) == 1);
    for (const auto& result : results) {
        REQUIRE(result.has_value());
        if (is_won(result)) continue;
        CHECK(std::get<core::Held>(*result).record.state == core::State::pending);
    }
    CHECK(rig.postgres().stats().statements <= 10);
}

TEST_CASE("W8 one key claimed from three stores at once is won once, in 50 rounds")
{
    PostgresRig rig(PostgresRig::Clock::real);
    const auto second = rig.another();
    const auto third = rig.another();
    for (unsigned round = 0; round < 50; ++round) {
        Reserving reserving;
        for (unsigned i = 0; i < 10; ++i) {
            unsigned number = round * 100 + i * 3;
            for (auto* store : {&rig.client(), second.get(), third.get()}) {
                reserving.push_back(store->reserve(digest_of(round), claim_of(++number)));
            }
        }
        const auto results = all_at_once(rig.io, std::move(reserving));
        CHECK(std::count_if(results.begin(), results.end(), is_won) == 1);
        CHECK(std::all_of(results.begin(), results.end(),
                          [](const auto& result) { return result.has_value(); }));
    }
}

TEST_CASE("a released key is claimed once by a crowd, also from two stores")
{
    PostgresRig rig(PostgresRig::Clock::real);
    const auto second = rig.another();
    const auto first =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    rig.done(rig.client().settle(digest_of(1), first, settlement_of(core::State::released, 0, "")));
    Reserving reserving;
    for (unsigned token = 2; token < 100; ++token) {
        auto& store = token % 2 == 0 ? rig.client() : *second;
        reserving.push_back(store.reserve(digest_of(1), claim_of(token)));
    }
    const auto results = all_at_once(rig.io, std::move(reserving));
    CHECK(std::count_if(results.begin(), results.end(), is_won) == 1);
    for (const auto& result : results) {
        if (is_won(result)) CHECK(std::get<core::Won>(*result).ticket.epoch == 2);
    }
}

TEST_CASE("a batch locks its keys in the order of their digests, whatever order they came in")
{
    PostgresRig rig(PostgresRig::Clock::real, [](PostgresOptions&) {}, PostgresRig::Database::own);
    rig.done(rig.client().reserve(digest_of(9'000), claim_of(1)));
    const auto out_of_order = [&](const std::string& order) {
        return rig.owner().value(
            "SELECT count(*) FROM (SELECT digest < lag(digest) OVER (ORDER BY " + order +
            ") AS back FROM onceward.keys WHERE digest <> '" + digest_of(9'000).hex() +
            "') AS steps WHERE back");
    };
    Reserving reserving;
    for (unsigned key = 0; key < 200; ++key) {
        reserving.push_back(rig.client().reserve(digest_of(key), claim_of(key + 1)));
    }
    const auto reserved = all_at_once(rig.io, std::move(reserving));
    CHECK(out_of_order("ctid") == "0");

    std::vector<awaitable<StoreResult<core::Settled>>> settling;
    for (unsigned key = 200; key-- > 0;) {
        const auto ticket = std::get<core::Won>(*reserved[key]).ticket;
        settling.push_back(
            rig.client().settle(digest_of(key), ticket,
                                settlement_of(core::State::done, 200, std::string(3'000, 'x'))));
    }
    all_at_once(rig.io, std::move(settling));
    CHECK(rig.owner().value("SELECT count(*) FROM (SELECT digest < lag(digest) OVER (ORDER BY ctid)"
                            " AS back FROM onceward.bodies) AS steps WHERE back") == "0");
}

namespace {

// One worker on its own thread: the same keys as the other one, in another order, again and again.
void reserve_in_order(PostgresStore& store, std::vector<unsigned> keys, unsigned first_token)
{
    boost::asio::io_context io{1};
    const auto client = store.client(io.get_executor());
    for (unsigned round = 0; round < 40; ++round) {
        Reserving reserving;
        for (const auto key : keys) {
            reserving.push_back(
                client->reserve(digest_of(round * 1'000 + key), claim_of(first_token + key)));
        }
        all_at_once(io, std::move(reserving));
    }
}

}  // namespace

TEST_CASE("two workers that claim the same keys in opposite orders never deadlock")
{
    PostgresRig rig(PostgresRig::Clock::real);
    std::vector<unsigned> keys;
    for (unsigned key = 0; key < 200; ++key)
        keys.push_back(key);
    auto backwards = keys;
    std::reverse(backwards.begin(), backwards.end());
    std::thread one([&] { reserve_in_order(rig.postgres(), keys, 1'000'000); });
    std::thread other([&] { reserve_in_order(rig.postgres(), backwards, 2'000'000); });
    one.join();
    other.join();
    rig.owner().run("SELECT pg_stat_force_next_flush()");
    CHECK(rig.owner().value(
              "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0");
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.keys") == "8000");
    CHECK(rig.postgres().stats().split == 0);
}

TEST_CASE("settlements of many keys, large and small, go together")
{
    PostgresRig rig(PostgresRig::Clock::real);
    Reserving reserving;
    for (unsigned key = 0; key < 300; ++key)
        reserving.push_back(rig.client().reserve(digest_of(key), claim_of(key + 1)));
    const auto reserved = all_at_once(rig.io, std::move(reserving));
    const auto before = rig.postgres().stats().statements.load();
    std::vector<awaitable<StoreResult<core::Settled>>> settling;
    for (unsigned key = 0; key < 300; ++key) {
        REQUIRE(is_won(reserved[key]));
        const auto ticket = std::get<core::Won>(*reserved[key]).ticket;
        const std::string body(key % 50 == 0 ? 1'000'000 : 20, 'x');
        settling.push_back(rig.client().settle(digest_of(key), ticket,
                                               settlement_of(core::State::done, 200, body)));
    }
    const auto settled = all_at_once(rig.io, std::move(settling));
    CHECK(std::all_of(settled.begin(), settled.end(), [](const auto& result) {
        return result && *result == core::Settled::recorded;
    }));
    CHECK(rig.postgres().stats().statements - before <= 6);
    CHECK(rig.done(rig.client().find(digest_of(250)))->answer.body.size() == 1'000'000);
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.bodies_default") == "0");
}
