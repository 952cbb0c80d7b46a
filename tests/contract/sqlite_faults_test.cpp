// The embedded store on a disk that fails: no false success, nothing half-done, and it works again
// by itself.
#include "faulty_disk.hpp"
#include "raw_sqlite.hpp"
#include "sqlite_rig.hpp"

#include <fstream>
#include <mutex>

using namespace onceward;
using namespace onceward::test;
using core::State;

namespace {

bool wins(StoreRig& rig, unsigned key, unsigned token)
{
    return std::holds_alternative<core::Won>(
        rig.done(rig.store().reserve(digest_of(key), claim_of(token))));
}

std::optional<StoreError> reserve_error(StoreRig& rig, unsigned key, unsigned token)
{
    const auto reservation = rig.result(rig.store().reserve(digest_of(key), claim_of(token)));
    if (reservation.has_value()) return std::nullopt;
    return reservation.error();
}

// What the store told its log; written on the store's thread.
struct Told {
    void add(const std::string& line)
    {
        const std::lock_guard lock(mutex);
        lines.push_back(line);
    }
    std::vector<std::string> take()
    {
        const std::lock_guard lock(mutex);
        return std::exchange(lines, {});
    }
    std::mutex mutex;
    std::vector<std::string> lines;
};

void overwrite(const std::string& path, std::size_t from, std::size_t bytes)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(from));
    file << std::string(bytes, '\x5A');
    REQUIRE(file.good());
}

}  // namespace

TEST_CASE(
    "W6f a full or read-only disk is unavailable, changes nothing, and heals without a restart")
{
    for (const auto fault : {DiskFault::full, DiskFault::write_refused}) {
        Told told;
        FaultyDisk disk;
        SqliteRig rig([&](SqliteOptions& options) {
            options.log = [&](const std::string& line) { told.add(line); };
        });
        CHECK(wins(rig, 1, 1));
        disk.set(fault);
        CHECK(reserve_error(rig, 2, 2) == StoreError::unavailable);
        CHECK(reserve_error(rig, 3, 3) == StoreError::unavailable);
        const auto settled = rig.result(rig.store().settle(digest_of(1), {token_of(1), 1},
                                                           settlement_of(State::done, 201, "x")));
        REQUIRE_FALSE(settled.has_value());
        CHECK(settled.error() == StoreError::unavailable);
        CHECK_FALSE(rig.sqlite().stats().healthy);

        // Reading still works, and shows what was acknowledged before, and nothing else.
        CHECK(rig.done(rig.store().find(digest_of(1)))->state == State::pending);
        CHECK_FALSE(rig.done(rig.store().find(digest_of(2))));

        disk.set(DiskFault::none);
        CHECK(wins(rig, 2, 2));
        CHECK(rig.sqlite().stats().healthy);
        CHECK(rig.done(rig.store().settle(digest_of(1), {token_of(1), 1},
                                          settlement_of(State::done, 201, "x"))) ==
              core::Settled::recorded);
        rig.stop();
        const auto lines = told.take();
        REQUIRE(lines.size() == 2);  // Once when it failed, once when it was over.
        CHECK(lines[0].starts_with("the store failed: "));
        CHECK(lines[1] == "the store works again");

        rig.start();
        CHECK(rig.done(rig.store().find(digest_of(1)))->state == State::done);
        CHECK_FALSE(rig.done(rig.store().find(digest_of(3))));
    }
}

TEST_CASE(
    "W6a a commit that the disk does not confirm is ambiguous; the same token learns the truth")
{
    FaultyDisk disk;
    SqliteRig rig;
    CHECK(wins(rig, 1, 1));
    disk.set(DiskFault::sync_fails);
    CHECK(reserve_error(rig, 2, 2) == StoreError::ambiguous);
    const auto found = rig.result(rig.store().find(digest_of(1)));
    CHECK(found.has_value());
    CHECK(reserve_error(rig, 2, 2) == StoreError::ambiguous);
    disk.set(DiskFault::none);
    CHECK(wins(rig, 2, 2));
    CHECK_FALSE(wins(rig, 2, 3));
    rig.stop();
    rig.start();
    CHECK(rig.done(rig.store().find(digest_of(2)))->state == State::unknown);
}

TEST_CASE("a file that cannot take the log's pages stops nothing")
{
    FaultyDisk disk;
    SqliteRig rig([](SqliteOptions& options) { options.limits.checkpoint_pages = 2; });
    disk.set(DiskFault::full, Breaks::database_only);
    for (unsigned key = 0; key < 10; ++key)
        CHECK(wins(rig, key, key + 1));
    CHECK(rig.sqlite().stats().failed_checkpoints > 0);
    disk.set(DiskFault::none);
    for (unsigned key = 10; key < 30; ++key)
        CHECK(wins(rig, key, key + 1));
    rig.stop();
    rig.start();
    for (unsigned key = 0; key < 30; ++key)
        CHECK(rig.done(rig.store().find(digest_of(key))));
}

TEST_CASE("a deleted, replaced or log-less file takes no more records")
{
    for (const int how : {0, 1, 2}) {
        CAPTURE(how);
        SqliteRig rig;
        CHECK(wins(rig, 1, 1));
        if (how == 0) std::filesystem::remove(rig.path());
        if (how == 1) {
            std::ofstream(rig.path() + ".other") << "another file";
            std::filesystem::rename(rig.path() + ".other", rig.path());
        }
        if (how == 2) std::filesystem::remove(rig.path() + "-wal");
        CHECK(reserve_error(rig, 2, 2) == StoreError::unavailable);
        CHECK(rig.result(rig.store().find(digest_of(1))).has_error());
        CHECK_FALSE(rig.sqlite().stats().healthy);
        rig.stop();
        if (how == 1) CHECK(std::filesystem::file_size(rig.path()) == 12);
    }
}

TEST_CASE("a damaged record is unavailable and leaves its neighbours alone")
{
    SqliteRig rig;
    for (unsigned key : {1u, 2u, 3u}) {
        CHECK(wins(rig, key, key));
        const auto settlement = settlement_of(State::done, 201, "answer");
        rig.done(rig.store().settle(digest_of(key), {token_of(key), 1}, settlement));
    }
    rig.stop();
    const auto hex = [](unsigned key) { return "x'" + digest_of(key).hex() + "'"; };
    change_behind_its_back(rig.path(), "DELETE FROM bodies WHERE digest = " + hex(1));
    change_behind_its_back(rig.path(),
                           "UPDATE bodies SET headers = x'00' WHERE digest = " + hex(2));
    rig.start();

    // All in one group: the store's thread takes them together or apart, the answers are the same.
    std::map<unsigned, bool> works;
    for (unsigned key : {1u, 2u, 3u, 4u}) {
        auto one = [](KeyStore& store, unsigned number, bool& out) -> awaitable<void> {
            const auto reservation =
                co_await store.reserve(digest_of(number), claim_of(40 + number));
            out = reservation.has_value();
        };
        boost::asio::co_spawn(rig.io, one(rig.store(), key, works[key]), [](std::exception_ptr) {});
    }
    rig.io.restart();
    rig.io.run();
    CHECK(works == std::map<unsigned, bool>{{1, false}, {2, false}, {3, true}, {4, true}});
    CHECK(rig.result(rig.store().find(digest_of(1))).has_error());
    CHECK(rig.sqlite().stats().healthy);
    CHECK(rig.done(rig.store().find(digest_of(3)))->answer.body == "answer");
    CHECK(rig.done(rig.store().find(digest_of(4)))->state == State::pending);
}

TEST_CASE("a corrupt page is unavailable, never a wrong answer")
{
    SqliteRig rig;
    constexpr unsigned keys = 300;
    for (unsigned key = 0; key < keys; ++key) {
        CHECK(wins(rig, key, key + 1));
        const auto settlement = settlement_of(State::done, 201, std::string(2'000, 'x'));
        rig.done(rig.store().settle(digest_of(key), {token_of(key + 1), 1}, settlement));
    }
    rig.stop();
    const auto size = std::filesystem::file_size(rig.path());
    overwrite(rig.path(), size / 2, size / 4);
    rig.start();
    unsigned refused = 0;
    for (unsigned key = 0; key < keys; ++key) {
        const auto found = rig.result(rig.store().find(digest_of(key)));
        if (found.has_error()) {
            CHECK(found.error() == StoreError::unavailable);
            ++refused;
        } else {
            REQUIRE(*found);
            CHECK((*found)->answer.body == std::string(2'000, 'x'));
        }
    }
    CHECK(refused > 0);
    CHECK(refused < keys);

    // Keys whose pages are whole go on.
    unsigned won = 0;
    for (unsigned key = 1'000; key < 1'200; ++key) {
        won += reserve_error(rig, key, key) == std::nullopt ? 1 : 0;
    }
    CHECK(won > 0);
}
