// The embedded store's process is killed at any moment: nothing acknowledged is lost, and what was
// under way becomes unknown (W11, W31).
#include "child_process.hpp"
#include "raw_sqlite.hpp"
#include "sqlite_rig.hpp"

#include <boost/asio/detached.hpp>

#include <random>
#include <set>

using namespace onceward;
using namespace onceward::test;
using core::State;

namespace {

constexpr const char* path_variable = "ONCEWARD_TEST_PATH";
constexpr unsigned rounds = 50;
constexpr unsigned clients = 16;

core::Settlement answer_for(unsigned key)
{
    return settlement_of(State::done, 201,
                         "answer of " + std::to_string(key) + std::string(key % 3'000, '.'));
}

// Says R before it might send, S before it might answer: exactly when the world may learn of it.
awaitable<void> work(KeyStore& store, unsigned& next_key)
{
    for (;;) {
        const auto key = next_key++;
        const auto digest = digest_of(key);
        auto claim = claim_of(key);
        const auto reservation = co_await store.reserve(digest, claim);
        if (!reservation || !std::holds_alternative<core::Won>(*reservation)) {
            say("failed " + std::to_string(key));
            co_return;
        }
        say("R " + std::to_string(key));
        const auto ticket = std::get<core::Won>(*reservation).ticket;
        auto settlement = answer_for(key);
        const auto settled = co_await store.settle(digest, ticket, settlement);
        if (!settled || *settled != core::Settled::recorded) {
            say("failed " + std::to_string(key));
            co_return;
        }
        say("S " + std::to_string(key));
    }
}

// What the child has said until it was killed after `lines` lines.
struct Acknowledged {
    std::set<unsigned> reserved;
    std::set<unsigned> settled;
};

Acknowledged run_until_killed(const std::string& path, unsigned first_key, unsigned lines)
{
    ChildProcess child("child: reserves and settles until it is killed",
                       {{path_variable, path}, {"ONCEWARD_TEST_FIRST", std::to_string(first_key)}});
    Acknowledged acknowledged;
    unsigned heard = 0;
    while (const auto line = child.line()) {
        if (++heard == lines) child.kill();
        REQUIRE(line->size() > 2);
        const auto key = static_cast<unsigned>(std::stoul(line->substr(2)));
        REQUIRE((line->front() == 'R' || line->front() == 'S'));
        (line->front() == 'R' ? acknowledged.reserved : acknowledged.settled).insert(key);
    }
    REQUIRE(heard >= lines);
    return acknowledged;
}

void check_nothing_is_lost(const std::string& path, const Acknowledged& acknowledged)
{
    open_store(sqlite_options(path))->close();
    const auto rows = rows_in_file(path);
    for (const auto& [digest, row] : rows) {
        CHECK(row.state != State::pending);
    }
    for (const unsigned key : acknowledged.reserved) {
        const auto row = rows.find(digest_of(key));
        REQUIRE(row != rows.end());
        // Settled, acknowledged or not, or unknown because of the crash.
        if (row->second.state == State::done) {
            CHECK(row->second.answer == answer_for(key).answer);
        } else {
            CHECK(row->second.state == State::unknown);
            CHECK(row->second.reason == core::Reason::crash);
            CHECK_FALSE(acknowledged.settled.contains(key));
        }
    }
    for (const unsigned key : acknowledged.settled)
        CHECK(acknowledged.reserved.contains(key));
}

}  // namespace

TEST_CASE("child: reserves and settles until it is killed" * doctest::skip())
{
    const auto store = open_store(sqlite_options(told_to_child(path_variable)));
    auto next_key = static_cast<unsigned>(std::stoul(told_to_child("ONCEWARD_TEST_FIRST")));
    boost::asio::io_context io(1);
    const auto client = store->client(io.get_executor());
    for (unsigned i = 0; i < clients; ++i) {
        boost::asio::co_spawn(io, work(*client, next_key), boost::asio::detached);
    }
    io.run();
}

TEST_CASE("I5 kill -9 at any moment loses nothing acknowledged; what was pending is unknown")
{
    TemporaryDirectory directory;
    const auto path = directory.file("store.db");
    std::mt19937 random(20'261);
    unsigned first_key = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const unsigned lines = 1 + static_cast<unsigned>(random() % 300);
        const auto acknowledged = run_until_killed(path, first_key, lines);
        check_nothing_is_lost(path, acknowledged);
        first_key += 100'000;
    }
}

TEST_CASE("W11 a crash makes PENDING unknown at once, whatever its lease")
{
    SqliteRig rig;
    const auto reservation = rig.done(rig.store().reserve(digest_of(1), claim_of(1)));
    const auto ticket = std::get<core::Won>(reservation).ticket;
    auto endless = claim_of(2);
    endless.tier = 1;
    rig.done(rig.store().reserve(digest_of(2), endless));
    rig.done(rig.store().reserve(digest_of(3), claim_of(3)));
    rig.done(rig.store().settle(digest_of(3), {token_of(3), 1},
                                settlement_of(State::failed, 402, "no")));
    rig.stop();  // The same for the file as a crash: a graceful stop settles nothing by itself.
    rig.advance(core::Millis{5'000});
    rig.start();
    CHECK(rig.sqlite().crashed() == 2);
    const auto record = rig.done(rig.store().find(digest_of(1)));
    REQUIRE(record);
    CHECK(record->state == State::unknown);
    CHECK(record->reason == core::Reason::crash);
    CHECK(record->remaining == core::Millis{300'000});
    CHECK(rig.done(rig.store().find(digest_of(2)))->remaining > std::chrono::days{365'000});
    CHECK(rig.done(rig.store().find(digest_of(3)))->state == State::failed);
    CHECK(rig.done(rig.store().unknown(10)).size() == 2);

    // As core says: the ticket is still the right one, should it turn up after all.
    const auto settlement = settlement_of(State::done, 201, "late");
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, settlement)) ==
          core::Settled::recorded);
}
