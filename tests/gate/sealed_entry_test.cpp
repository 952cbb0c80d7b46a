// Sealed entries: what comes out is what went in, or nothing.
#include "gate/sealed_entry.hpp"

#include "gate/records.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace onceward;
using namespace onceward::test;
using namespace std::chrono_literals;

namespace {

const core::StoreTime now{1'800'000'000'000ms};
const EntryTimes times{now, now + 60s};

}  // namespace

TEST_CASE("an entry opens to the record that was sealed, its times moved on")
{
    EntrySealer sealer(secret_of());
    const auto digest = digest_of(1);
    auto record = settled_record(std::string("bytes\0\r\n\xFF", 9));
    for (const auto state : {core::State::done, core::State::failed}) {
        record.state = state;
        const auto sealed = sealer.seal(digest, record, times);
        CHECK(sealed.size() == EntrySealer::sealed_size(record));
        const auto opened = sealer.open(digest, sealed, now + 10s);
        REQUIRE(opened);
        CHECK(same_answer(*opened, record));
        CHECK(opened->remaining == record.remaining - 10s);
        CHECK(opened->age == record.age + 10s);
    }
}

TEST_CASE("another process with the same secret opens it; another installation does not")
{
    EntrySealer here(secret_of());
    EntrySealer there(secret_of());
    EntrySealer stranger(secret_of("another secret of the same length."));
    const auto sealed = here.seal(digest_of(1), settled_record(), times);
    CHECK(there.open(digest_of(1), sealed, now));
    CHECK_FALSE(stranger.open(digest_of(1), sealed, now));
}

TEST_CASE("T24 an entry of another key is refused")
{
    EntrySealer sealer(secret_of());
    const auto sealed = sealer.seal(digest_of(1), settled_record(), times);
    CHECK(sealer.open(digest_of(1), sealed, now));
    for (unsigned other = 2; other < 200; ++other)
        CHECK_FALSE(sealer.open(digest_of(other), sealed, now));
}

TEST_CASE("T24 an old entry is refused after its time, whatever its store says")
{
    EntrySealer sealer(secret_of());
    auto record = settled_record();
    const auto sealed = sealer.seal(digest_of(1), record, times);
    CHECK(sealer.open(digest_of(1), sealed, now + 59'999ms));
    CHECK_FALSE(sealer.open(digest_of(1), sealed, now + 60s));
    record.remaining = 30s;
    const auto short_lived = sealer.seal(digest_of(1), record, times);
    CHECK(sealer.open(digest_of(1), short_lived, now + 29'999ms));
    CHECK_FALSE(sealer.open(digest_of(1), short_lived, now + 30s));
}

TEST_CASE("an entry from the future is refused, a clock a little off is not")
{
    EntrySealer sealer(secret_of());
    const auto sealed = sealer.seal(digest_of(1), settled_record(), times);
    CHECK(sealer.open(digest_of(1), sealed, now - 5s));
    CHECK_FALSE(sealer.open(digest_of(1), sealed, now - 5'001ms));
}

TEST_CASE("T17 T24 W55 no forged entry opens: 100,000 random flips, every cut, every extension")
{
    EntrySealer sealer(secret_of());
    const auto digest = digest_of(7);
    const auto sealed = sealer.seal(digest, settled_record(), times);
    std::mt19937 random(7);
    int opened = 0;
    for (int round = 0; round < 100'000; ++round) {
        auto forged = sealed;
        for (auto flips = 1 + random() % 4; flips > 0; --flips) {
            const auto bit = random() % (forged.size() * 8);
            forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << bit % 8));
        }
        if (forged == sealed) continue;
        opened += sealer.open(digest, forged, now) ? 1 : 0;
    }
    for (std::size_t size = 0; size < sealed.size(); ++size)
        opened += sealer.open(digest, std::string_view(sealed).substr(0, size), now) ? 1 : 0;
    for (int more = 0; more < 64; ++more) {
        const auto longer = sealed + std::string(1, static_cast<char>(more));
        opened += sealer.open(digest, longer, now) ? 1 : 0;
    }
    // Two halves of two genuine entries.
    const auto second = sealer.seal(digest, settled_record(R"({"paid":null})"), times);
    REQUIRE(second.size() == sealed.size());
    for (std::size_t cut = 1; cut < sealed.size(); ++cut) {
        const auto mixed = sealed.substr(0, cut) + second.substr(cut);
        if (mixed == sealed || mixed == second) continue;
        opened += sealer.open(digest, mixed, now) ? 1 : 0;
    }
    CHECK(opened == 0);
    CHECK(sealer.open(digest, sealed, now));
}

TEST_CASE("no two entries look alike, and none shows what it holds")
{
    EntrySealer sealer(secret_of());
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i) {
        const auto sealed = sealer.seal(digest_of(1), settled_record("CARDNUMBER"), times);
        CHECK(seen.insert(sealed.substr(1, 16)).second);
        CHECK(sealed.find("CARDNUMBER") == std::string::npos);
        CHECK(sealed.find("X-Order") == std::string::npos);
    }
}

TEST_CASE("T13 a status that no answer has is refused even under a good seal")
{
    EntrySealer sealer(secret_of());
    auto record = settled_record();
    for (const int status : {0, 100, 199, 600, 65'535}) {
        record.answer.status = status;
        const auto sealed = sealer.seal(digest_of(1), record, times);
        CHECK_FALSE(sealer.open(digest_of(1), sealed, now));
    }
}
