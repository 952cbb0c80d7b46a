// The embedded store's thread: groups, bounds, and the ends of workers and store.
#include "gated_clock.hpp"
#include "sqlite_rig.hpp"

#include <boost/asio/detached.hpp>

#include <thread>

using namespace onceward;
using namespace onceward::test;

namespace {

// What became of one coroutine's reservation.
struct Attempt {
    bool finished = false;
    bool won = false;
    std::optional<StoreError> error;
};

awaitable<void> reserve(KeyStore& store, core::Digest digest, core::Claim claim, Attempt& attempt)
{
    const auto reservation = co_await store.reserve(digest, claim);
    attempt.finished = true;
    if (!reservation) {
        attempt.error = reservation.error();
    } else {
        attempt.won = std::holds_alternative<core::Won>(*reservation);
    }
}

void start(boost::asio::io_context& io, KeyStore& store, unsigned key, unsigned token,
           Attempt& attempt)
{
    boost::asio::co_spawn(io, reserve(store, digest_of(key), claim_of(token), attempt),
                          boost::asio::detached);
}

// A store whose thread can be held before a group.
struct Gated {
    explicit Gated(std::size_t queue_max = 100, std::size_t batch_max = 512)
    {
        auto options = sqlite_options(directory.file("store.db"));
        options.clock = [this] { return clock(); };
        options.queue_max = queue_max;
        options.limits.batch_max = batch_max;
        store = open_store(std::move(options));
        client = store->client(io.get_executor());
    }

    // One operation that the store's thread has taken and holds.
    void hold()
    {
        clock.shut();
        start(io, *client, 1'000, 1'000, held);
        io.poll();
        clock.wait_for_arrival();
    }

    TemporaryDirectory directory;
    GatedClock clock;
    boost::asio::io_context io{1};
    std::unique_ptr<SqliteStore> store;
    std::unique_ptr<KeyStore> client;
    Attempt held;
};

}  // namespace

TEST_CASE("RSV-2 of many reservations of one key, from several workers, exactly one wins")
{
    TemporaryDirectory directory;
    const auto store = open_store(sqlite_options(directory.file("store.db")));
    constexpr unsigned workers = 4;
    constexpr unsigned each = 64;
    std::vector<Attempt> attempts(workers * each);
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            boost::asio::io_context io(1);
            const auto client = store->client(io.get_executor());
            for (unsigned i = worker * each; i < (worker + 1) * each; ++i) {
                start(io, *client, 1, i + 1, attempts[i]);
            }
            io.run();
        });
    }
    for (auto& thread : threads)
        thread.join();
    unsigned won = 0;
    for (const auto& attempt : attempts) {
        CHECK(attempt.finished);
        CHECK_FALSE(attempt.error);
        won += attempt.won ? 1 : 0;
    }
    CHECK(won == 1);
    CHECK(store->stats().items == workers * each);
}

TEST_CASE("what gathers while a group is under way is committed together")
{
    Gated gated;
    gated.hold();
    std::vector<Attempt> attempts(20);
    for (unsigned i = 0; i < 20; ++i)
        start(gated.io, *gated.client, i, i + 1, attempts[i]);
    gated.io.poll();
    gated.clock.open();
    gated.io.restart();
    gated.io.run();
    for (const auto& attempt : attempts)
        CHECK(attempt.won);
    CHECK(gated.store->stats().batches == 2);
    CHECK(gated.store->stats().items == 21);
}

TEST_CASE("a group has a largest size")
{
    Gated gated(100, 8);
    gated.hold();
    std::vector<Attempt> attempts(20);
    for (unsigned i = 0; i < 20; ++i)
        start(gated.io, *gated.client, i, i + 1, attempts[i]);
    gated.io.poll();
    gated.clock.open();
    gated.io.restart();
    gated.io.run();
    for (const auto& attempt : attempts)
        CHECK(attempt.won);
    CHECK(gated.store->stats().batches == 1 + 3);
}

TEST_CASE("a full queue refuses, and nothing was attempted")
{
    Gated gated(4);
    gated.hold();
    std::vector<Attempt> attempts(5);
    for (unsigned i = 0; i < 5; ++i)
        start(gated.io, *gated.client, i, i + 1, attempts[i]);
    gated.io.restart();
    gated.io.poll();
    CHECK(attempts[4].error == StoreError::overloaded);
    CHECK_FALSE(attempts[0].finished);
    CHECK(gated.store->stats().overloaded == 1);
    gated.clock.open();
    gated.io.run();
    for (unsigned i = 0; i < 4; ++i)
        CHECK(attempts[i].won);

    // There is room again, and the refused key is free.
    Attempt again;
    start(gated.io, *gated.client, 4, 9, again);
    gated.io.restart();
    gated.io.run();
    CHECK(again.won);
}

TEST_CASE("closing finishes what was accepted; later operations are unavailable")
{
    Gated gated;
    gated.hold();
    std::vector<Attempt> attempts(3);
    for (unsigned i = 0; i < 3; ++i)
        start(gated.io, *gated.client, i, i + 1, attempts[i]);
    gated.io.poll();
    std::thread closer([&] { gated.store->close(); });
    gated.clock.open();
    closer.join();
    gated.io.restart();
    gated.io.run();
    for (const auto& attempt : attempts)
        CHECK(attempt.won);

    Attempt late;
    start(gated.io, *gated.client, 7, 7, late);
    gated.io.restart();
    gated.io.run();
    CHECK(late.error == StoreError::unavailable);
    gated.store.reset();
    Attempt later;
    start(gated.io, *gated.client, 7, 7, later);
    gated.io.restart();
    gated.io.run();
    CHECK(later.error == StoreError::unavailable);
    CHECK_FALSE(std::filesystem::exists(gated.directory.file("store.db-wal")));
}

TEST_CASE("a worker may end while its operations wait; they take effect and nobody is called")
{
    Gated gated;
    auto io = std::make_unique<boost::asio::io_context>(1);
    auto client = gated.store->client(io->get_executor());
    gated.hold();
    Attempt lost;
    start(*io, *client, 1, 1, lost);
    io->poll();
    client.reset();
    io.reset();
    gated.clock.open();
    gated.io.restart();
    gated.io.run();
    CHECK(gated.held.won);
    CHECK_FALSE(lost.finished);

    Attempt other;
    start(gated.io, *gated.client, 1, 2, other);
    gated.io.restart();
    gated.io.run();
    CHECK(other.finished);
    CHECK_FALSE(other.won);
}

TEST_CASE("a posted completion that its worker never runs is dropped")
{
    Gated gated;
    Attempt lost;
    gated.hold();
    start(gated.io, *gated.client, 1, 1, lost);
    gated.io.poll();
    gated.clock.open();
    gated.store->close();
    // Both completions are posted now. The client goes first, as its contract says.
    gated.client.reset();
    gated.io.restart();
    gated.io.poll();
    CHECK_FALSE(lost.finished);
}

TEST_CASE("the log is moved into the file once it is long enough")
{
    SqliteRig rig([](SqliteOptions& options) { options.limits.checkpoint_pages = 8; });
    for (unsigned key = 0; key < 30; ++key)
        rig.done(rig.store().reserve(digest_of(key), claim_of(key + 1)));
    rig.sqlite().close();
    CHECK(rig.sqlite().stats().checkpoints > 1);
    CHECK(rig.sqlite().stats().failed_checkpoints == 0);
    rig.stop();
    rig.start();
    for (unsigned key = 0; key < 30; ++key)
        CHECK(rig.done(rig.store().find(digest_of(key))));
}

TEST_CASE("a claim under a tier that the store was not opened with is refused")
{
    SqliteRig rig;
    auto claim = claim_of(1);
    claim.tier = 2;
    const auto reservation = rig.result(rig.store().reserve(digest_of(1), claim));
    REQUIRE_FALSE(reservation.has_value());
    CHECK(reservation.error() == StoreError::unavailable);
}
