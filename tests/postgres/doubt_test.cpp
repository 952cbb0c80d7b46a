// Transactions in doubt, broken and given-up connections: what each of them proves, and to whom.
#include "postgres/crowd.hpp"
#include "postgres/postgres_rig.hpp"

#include <algorithm>

using namespace onceward;
using namespace onceward::test;
using core::Millis;
using Reserving = std::vector<awaitable<StoreResult<core::Reservation>>>;

namespace {

const std::string backends =
    " FROM pg_stat_activity WHERE application_name = 'onceward' AND datname = current_database()";

// A transaction of somebody else that has inserted this key and has not ended.
void hold(RawPostgres& other, unsigned key)
{
    other.run("BEGIN");
    other.run(
        "INSERT INTO onceward.keys (digest, token, fingerprint, fp_rule, tier, until, reserved_at, "
        "settled_at,"
        " epoch, state, reason, kept, status, body_day) VALUES ('" +
        digest_of(key).hex() + "', '" + token_of(999).hex() + "', '" + fingerprint_of(1).hex() +
        "', 7, 1, onceward.now_ms() + 60000, onceward.now_ms(), 0, 1, 0, 0, 0, 0, 0)");
}

// Commits wait for a standby that does not exist.
class GhostStandby {
public:
    explicit GhostStandby(RawPostgres& owner) : owner_(owner) { set("'ghost'"); }
    ~GhostStandby()
    {
        if (there_) leave();
    }
    GhostStandby(const GhostStandby&) = delete;
    GhostStandby& operator=(const GhostStandby&) = delete;

    void leave()
    {
        set("''");
        there_ = false;
    }

private:
    void set(const std::string& names)
    {
        owner_.run("ALTER SYSTEM SET synchronous_standby_names = " + names);
        owner_.run("SELECT pg_reload_conf()");
        // The checkpointer tells the backends whether there is anybody to wait for.
        while (owner_.value("SELECT quote_literal(setting) FROM pg_settings WHERE name = "
                            "'synchronous_standby_names'") != names) {
        }
        owner_.run("CHECKPOINT");
    }

    RawPostgres& owner_;
    bool there_ = true;
};

std::string waiting_for_standby(RawPostgres& owner)
{
    return owner.value("SELECT count(*)" + backends + " AND wait_event = 'SyncRep'");
}

// The reservation that is started, as soon as its commit waits, and `then`.
StoreResult<core::Reservation> reserve_in_wait(PostgresRig& rig, unsigned key,
                                               const std::function<void()>& then)
{
    std::optional<StoreResult<core::Reservation>> result;
    boost::asio::co_spawn(rig.io, rig.client().reserve(digest_of(key), claim_of(key)),
                          [&](std::exception_ptr, StoreResult<core::Reservation> got) {
                              result.emplace(std::move(got));
                          });
    run_until(rig.io, [&] { return waiting_for_standby(rig.owner()) != "0"; });
    then();
    run_until(rig.io, [&] { return result.has_value(); });
    return std::move(*result);
}

void quick(PostgresOptions& options)
{
    options.limits.statement = Millis{300};
    options.limits.first_pause = Millis{1};
    options.limits.longest_pause = Millis{20};
}
void patient(PostgresOptions& options)
{
    options.limits.statement = Millis{30'000};
    options.limits.completion = Millis{30'000};
}

}  // namespace

TEST_CASE(
    "W6d D5 a key in doubt is ambiguous, its batch is not, and the next batches do not wait for it")
{
    PostgresRig rig(PostgresRig::Clock::real);
    rig.done(rig.client().reserve(digest_of(500), claim_of(500)));
    RawPostgres other(PrivateServer::get().owner_dsn(rig.database()));
    hold(other, 7);

    Reserving reserving;
    for (unsigned key = 0; key < 64; ++key)
        reserving.push_back(rig.client().reserve(digest_of(key), claim_of(key + 1)));
    auto results = all_at_once(rig.io, std::move(reserving));
    for (unsigned key = 0; key < 64; ++key) {
        CAPTURE(key);
        if (key == 7) {
            REQUIRE(results[key].has_error());
            CHECK(results[key].error() == StoreError::ambiguous);
        } else {
            CHECK(is_won(results[key]));
        }
    }
    const auto& stats = rig.postgres().stats();
    const auto split = stats.split.load();
    CHECK(split > 0);

    // From now on the key asks alone.
    Reserving again;
    again.push_back(rig.client().reserve(digest_of(7), claim_of(8)));
    for (unsigned key = 100; key < 164; ++key)
        again.push_back(rig.client().reserve(digest_of(key), claim_of(key + 1)));
    results = all_at_once(rig.io, std::move(again));
    CHECK(results.front().has_error());
    CHECK(std::all_of(results.begin() + 1, results.end(), is_won));
    CHECK(stats.split == split);

    SUBCASE("the other transaction commits")
    {
        other.run("COMMIT");
        const auto held = rig.done(rig.client().reserve(digest_of(7), claim_of(8)));
        REQUIRE(std::holds_alternative<core::Held>(held));
        CHECK(std::get<core::Held>(held).record.state == core::State::pending);
    }
    SUBCASE("the other transaction is undone")
    {
        other.run("ROLLBACK");
        CHECK(is_won(rig.result(rig.client().reserve(digest_of(7), claim_of(8)))));
        CHECK(is_won(rig.result(rig.client().reserve(digest_of(7), claim_of(8)))));
    }
}

TEST_CASE("W6a connections that died while nobody used them cost nothing")
{
    PostgresRig rig(PostgresRig::Clock::real);
    const auto ticket =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends);
    CHECK(is_won(rig.result(rig.client().reserve(digest_of(2), claim_of(2)))));
    rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends);
    CHECK(rig.done(rig.client().settle(digest_of(1), ticket,
                                       settlement_of(core::State::done, 200, ""))) ==
          core::Settled::recorded);
}

TEST_CASE(
    "W6a a backend that ends before the reservation takes effect: ambiguous, and the same token "
    "wins")
{
    PostgresRig rig(PostgresRig::Clock::real, [](PostgresOptions& options) {
        patient(options);
        options.limits.lock_wait = Millis{30'000};
    });
    rig.done(rig.client().reserve(digest_of(500), claim_of(500)));
    RawPostgres other(PrivateServer::get().owner_dsn(rig.database()));
    hold(other, 1);
    std::optional<StoreResult<core::Reservation>> result;
    boost::asio::co_spawn(rig.io, rig.client().reserve(digest_of(1), claim_of(1)),
                          [&](std::exception_ptr, StoreResult<core::Reservation> got) {
                              result.emplace(std::move(got));
                          });
    run_until(rig.io, [&] {
        return rig.owner().value("SELECT count(*)" + backends + " AND wait_event_type = 'Lock'") !=
               "0";
    });
    rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends +
                    " AND wait_event_type = 'Lock'");
    run_until(rig.io, [&] { return result.has_value(); });
    REQUIRE(result->has_error());
    CHECK(result->error() == StoreError::ambiguous);
    other.run("ROLLBACK");
    CHECK(is_won(rig.result(rig.client().reserve(digest_of(1), claim_of(1)))));
}

TEST_CASE(
    "W6b a backend that ends after the reservation took effect: ambiguous, and the same token "
    "wins, once durable")
{
    PostgresRig rig(PostgresRig::Clock::real, patient);
    rig.done(rig.client().reserve(digest_of(500), claim_of(500)));
    GhostStandby ghost(rig.owner());
    const auto lost = reserve_in_wait(rig, 1, [&] {
        rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends +
                        " AND wait_event = 'SyncRep'");
    });
    REQUIRE(lost.has_error());
    CHECK(lost.error() == StoreError::ambiguous);
    // The row is there for everybody, and on no standby: the token finds it, and still waits (I5).
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.keys") == "2");
    const auto won = reserve_in_wait(rig, 1, [&] { ghost.leave(); });
    CHECK(is_won(won));
    CHECK(std::get<core::Won>(*won).ticket.epoch == 1);
}

TEST_CASE("W6e D6 a cancelled wait for the standby is not a success")
{
    PostgresRig rig(PostgresRig::Clock::real, patient);
    rig.done(rig.client().reserve(digest_of(500), claim_of(500)));
    GhostStandby ghost(rig.owner());
    const auto doubtful = reserve_in_wait(rig, 1, [&] {
        rig.owner().run("SELECT pg_cancel_backend(pid)" + backends + " AND wait_event = 'SyncRep'");
    });
    REQUIRE(doubtful.has_error());
    CHECK(doubtful.error() == StoreError::ambiguous);
    ghost.leave();
    CHECK(is_won(rig.result(rig.client().reserve(digest_of(1), claim_of(1)))));
}

TEST_CASE("a standby that is gone: bounded backends, refusals at once, and back by itself")
{
    PostgresRig rig(PostgresRig::Clock::real, quick);
    rig.done(rig.client().reserve(digest_of(500), claim_of(500)));
    {
        GhostStandby ghost(rig.owner());
        const auto first = rig.result(rig.client().reserve(digest_of(1), claim_of(1)));
        REQUIRE(first.has_error());
        CHECK(first.error() == StoreError::ambiguous);
        std::size_t refused = 0;
        for (unsigned key = 1'000; key < 1'200; ++key) {
            const auto result = rig.result(rig.client().reserve(digest_of(key), claim_of(key)));
            REQUIRE(result.has_error());
            if (result.error() == StoreError::unavailable) ++refused;
            const auto own = rig.result(rig.client().reserve(digest_of(1), claim_of(1)));
            REQUIRE(own.has_error());
            // Never `unavailable`: its reservation may be there, and must be given back.
            CHECK(own.error() == StoreError::ambiguous);
        }
        CHECK(refused == 200);
        CHECK(std::stoi(rig.owner().value("SELECT count(*)" + backends)) <= 5);
        CHECK(rig.postgres().stats().given_up - rig.postgres().stats().ended <= 1);
    }
    StoreResult<core::Reservation> back{StoreError::unavailable};
    run_until(rig.io, [&] {
        back = rig.result(rig.client().reserve(digest_of(1), claim_of(1)));
        return back.has_value();
    });
    CHECK(is_won(back));
    CHECK(is_won(rig.result(rig.client().reserve(digest_of(2), claim_of(2)))));
}

TEST_CASE("pg_ctl stop -m immediate: unavailable at once, and back without a restart of the proxy")
{
    PostgresRig rig(PostgresRig::Clock::real, quick);
    const auto ticket =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    auto& server = PrivateServer::get();
    server.stop_immediately();
    for (unsigned key = 10; key < 20; ++key) {
        const auto result = rig.result(rig.client().reserve(digest_of(key), claim_of(key)));
        REQUIRE(result.has_error());
        CHECK(result.error() == StoreError::unavailable);
        CHECK(rig.result(rig.client().find(digest_of(1))).has_error());
    }
    server.start();
    StoreResult<core::Settled> settled{StoreError::unavailable};
    run_until(rig.io, [&] {
        settled = rig.result(rig.client().settle(digest_of(1), ticket,
                                                 settlement_of(core::State::done, 200, "kept")));
        return settled.has_value();
    });
    CHECK(*settled == core::Settled::recorded);
    CHECK(is_won(rig.result(rig.client().reserve(digest_of(10), claim_of(10)))));
}

TEST_CASE("W32 a settlement whose acknowledgement was lost is recorded when it is repeated")
{
    PostgresRig rig(PostgresRig::Clock::real, patient);
    const auto ticket =
        std::get<core::Won>(rig.done(rig.client().reserve(digest_of(1), claim_of(1)))).ticket;
    const auto settlement = settlement_of(core::State::done, 201, "once");
    rig.done(rig.client().find(digest_of(1)));
    std::optional<StoreResult<core::Settled>> lost;
    {
        GhostStandby ghost(rig.owner());
        boost::asio::co_spawn(rig.io, rig.client().settle(digest_of(1), ticket, settlement),
                              [&](std::exception_ptr, StoreResult<core::Settled> got) {
                                  lost.emplace(std::move(got));
                              });
        run_until(rig.io, [&] { return waiting_for_standby(rig.owner()) != "0"; });
        rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends +
                        " AND wait_event = 'SyncRep'");
        run_until(rig.io, [&] { return lost.has_value(); });
    }
    REQUIRE(lost->has_error());
    CHECK(lost->error() == StoreError::ambiguous);
    CHECK(rig.done(rig.client().settle(digest_of(1), ticket, settlement)) ==
          core::Settled::recorded);
    CHECK(rig.owner().value("SELECT count(*) FROM onceward.bodies") == "1");
    CHECK(rig.done(rig.client().find(digest_of(1)))->answer.body == "once");
}

TEST_CASE("W6f no connection slot, or a server that is read-only: nothing sent, and back by itself")
{
    PostgresRig rig(PostgresRig::Clock::real, quick);
    const auto recovers = [&](const std::string& breaking, const std::string& mending) {
        rig.owner().run(breaking);
        rig.owner().run("SELECT pg_terminate_backend(pid, 5000)" + backends);
        const auto result = rig.result(rig.client().reserve(digest_of(1), claim_of(1)));
        REQUIRE(result.has_error());
        CHECK(result.error() == StoreError::unavailable);
        rig.owner().run(mending);
        run_until(rig.io, [&] {
            return is_won(rig.result(rig.client().reserve(digest_of(1), claim_of(1))));
        });
    };
    SUBCASE("53300")
    {
        recovers("ALTER ROLE onceward_proxy CONNECTION LIMIT 0",
                 "ALTER ROLE onceward_proxy CONNECTION LIMIT -1");
    }
    SUBCASE("25006")
    {
        recovers("ALTER ROLE onceward_proxy SET default_transaction_read_only = on",
                 "ALTER ROLE onceward_proxy RESET default_transaction_read_only");
    }
}
