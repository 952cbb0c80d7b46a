// A worker's own copies: what is kept, for how long, within which bounds.
#include "gate/settled_cache.hpp"

#include "gate/records.hpp"

#include <doctest/doctest.h>

using namespace onceward;
using namespace onceward::test;
using namespace std::chrono_literals;

TEST_CASE("a copy lives min(remaining - 5 s, cache_ttl)")
{
    CHECK(copy_lifetime(24h, 60s) == 60s);
    CHECK(copy_lifetime(30s, 60s) == 25s);
    CHECK(copy_lifetime(5s, 60s) == 0s);
    CHECK(copy_lifetime(0s, 60s) == 0s);

    SettledCache cache;
    auto record = settled_record();
    cache.keep(digest_of(1), record, 100s);
    record.remaining = 30s;
    cache.keep(digest_of(2), record, 100s);
    record.remaining = 5s;
    cache.keep(digest_of(3), record, 100s);
    CHECK(cache.size() == 2);
    CHECK(cache.find(digest_of(1), 159'999ms));
    CHECK_FALSE(cache.find(digest_of(1), 160s));
    const auto found = cache.find(digest_of(2), 124s);
    REQUIRE(found);
    CHECK(found->remaining == 6s);
    CHECK(found->age == settled_record().age + 24s);
    CHECK(same_answer(*found, record));
    CHECK_FALSE(cache.find(digest_of(2), 125s));
    CHECK(cache.size() == 0);
    CHECK(cache.bytes() == 0);
}

TEST_CASE("only DONE and FAILED are copied")
{
    SettledCache cache;
    auto record = settled_record();
    for (const auto state : {core::State::pending, core::State::unknown, core::State::released,
                             core::State::expired}) {
        record.state = state;
        cache.keep(digest_of(1), record, 1s);
    }
    CHECK(cache.size() == 0);
}

TEST_CASE("W38 an older epoch never replaces a newer one")
{
    SettledCache cache;
    auto newer = settled_record("newer");
    newer.epoch = 5;
    auto older = settled_record("older");
    older.epoch = 4;
    cache.keep(digest_of(1), newer, 1s);
    cache.keep(digest_of(1), older, 1s);
    CHECK(cache.find(digest_of(1), 2s)->answer.body == "newer");
    newer.epoch = 6;
    newer.answer.body = "newest";
    cache.keep(digest_of(1), newer, 1s);
    CHECK(cache.find(digest_of(1), 2s)->answer.body == "newest");
    CHECK(cache.size() == 1);
}

TEST_CASE("the bytes are bounded, and the least recently used go first")
{
    SettledCache cache({10'000, 4'000, 60s});
    const auto record = settled_record(std::string(2'000, 'x'));
    for (unsigned i = 0; i < 4; ++i)
        cache.keep(digest_of(i), record, 1s);
    CHECK(cache.find(digest_of(0), 1s));
    cache.keep(digest_of(4), record, 1s);
    CHECK(cache.find(digest_of(0), 1s));
    CHECK_FALSE(cache.find(digest_of(1), 1s));
    for (unsigned i = 10; i < 1'000; ++i) {
        cache.keep(digest_of(i), record, 1s);
        CHECK(cache.bytes() <= 10'000);
    }
    const auto size = cache.size();
    cache.keep(digest_of(5'000), settled_record(std::string(4'000, 'x')), 1s);
    CHECK_FALSE(cache.find(digest_of(5'000), 1s));
    CHECK(cache.size() == size);
}
