// Contract: the end of a record, and the operators' list.
#include "key_store_contract.hpp"

#include <set>

namespace onceward::test {

using core::Kept;
using core::Millis;
using core::Reason;
using core::State;

namespace {

core::Ticket claimed(StoreRig& rig, unsigned key, std::uint16_t tier = 0)
{
    auto claim = claim_of(key);
    claim.tier = tier;
    const auto reservation = rig.done(rig.store().reserve(digest_of(key), claim));
    REQUIRE(std::holds_alternative<core::Won>(reservation));
    return std::get<core::Won>(reservation).ticket;
}

void settled(StoreRig& rig, unsigned key, State state, std::uint16_t tier = 0)
{
    const auto ticket = claimed(rig, key, tier);
    rig.done(rig.store().settle(digest_of(key), ticket, settlement_of(state, 201, "answer")));
}

std::optional<core::Record> found(StoreRig& rig, unsigned key)
{
    return rig.done(rig.store().find(digest_of(key)));
}

void a_record_past_its_retention_is_a_tombstone(StoreRig& rig)
{
    settled(rig, 1, State::done);
    settled(rig, 2, State::failed);
    rig.advance(Millis{99'999});
    CHECK(found(rig, 1)->state == State::done);
    rig.advance(Millis{1});
    for (const bool swept : {false, true}) {
        if (swept) CHECK(rig.done(rig.store().sweep(100)).expired == 2);
        for (const unsigned key : {1u, 2u}) {
            const auto record = found(rig, key);
            REQUIRE(record);
            CHECK(record->state == State::expired);
            CHECK(record->kept == Kept::nothing);
            CHECK(record->answer == core::Response{});
            CHECK(record->fingerprint == fingerprint_of(1));
            const auto again = rig.done(rig.store().reserve(digest_of(key), claim_of(50)));
            REQUIRE(std::holds_alternative<core::Held>(again));
            CHECK(std::get<core::Held>(again).record.state == State::expired);
        }
    }
}

void a_tombstone_never_changes_until_it_is_purged(StoreRig& rig)
{
    const auto ticket = claimed(rig, 1);
    rig.done(rig.store().settle(digest_of(1), ticket, settlement_of(State::done, 201, "answer")));
    rig.advance(Millis{100'000});
    rig.done(rig.store().sweep(100));
    const auto late = settlement_of(State::failed, 402, "late");
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, late)) == core::Settled::fenced);

    // The window counts from the end of the retention: 1,000 s.
    rig.advance(Millis{999'999});
    CHECK(rig.done(rig.store().sweep(100)).purged == 0);
    CHECK(found(rig, 1)->state == State::expired);
    rig.advance(Millis{1});
    CHECK(rig.done(rig.store().sweep(100)).purged == 1);
    CHECK_FALSE(found(rig, 1));
}

void never_means_never(StoreRig& rig)
{
    settled(rig, 1, State::done, 1);
    rig.advance(Millis{100'000});
    CHECK(rig.done(rig.store().sweep(100)).expired == 1);
    rig.advance(std::chrono::days{36'500});
    CHECK(rig.done(rig.store().sweep(100)).purged == 0);
    const auto record = found(rig, 1);
    REQUIRE(record);
    CHECK(record->state == State::expired);
    CHECK(record->tier == 1);
}

void an_overdue_lease_waits_for_its_own_time(StoreRig& rig)
{
    claimed(rig, 1);
    rig.advance(Millis{70'000});
    const auto report = rig.done(rig.store().sweep(100));
    CHECK(report.became_unknown == 1);
    CHECK(report.expired == 0);
    auto record = found(rig, 1);
    REQUIRE(record);
    CHECK(record->state == State::unknown);
    CHECK(record->reason == Reason::lease);
    CHECK(record->remaining ==
          Millis{300'000});  // EXP-6: unknown_retention, counted from the sweep.
    CHECK(record->settled_at == rig.now());

    rig.advance(Millis{300'000});
    CHECK(found(rig, 1)->state == State::expired);
    CHECK(rig.done(rig.store().sweep(100)).expired == 1);
    CHECK(found(rig, 1)->state == State::expired);
}

void a_released_record_is_purged_after_its_time(StoreRig& rig)
{
    settled(rig, 1, State::released);
    rig.advance(Millis{99'999});
    CHECK(rig.done(rig.store().sweep(100)).purged == 0);
    rig.advance(Millis{1});
    // Not swept yet, it may still be claimed: nothing was executed.
    CHECK(found(rig, 1)->state == State::released);
    CHECK(rig.done(rig.store().sweep(100)).purged == 1);
    CHECK_FALSE(found(rig, 1));
    CHECK(claimed(rig, 1).epoch == 1);
}

void a_sweep_goes_round_in_bounded_steps(StoreRig& rig)
{
    for (unsigned key = 1; key <= 10; ++key)
        settled(rig, key, State::done);
    rig.advance(Millis{100'000});
    std::vector<std::size_t> expired;
    for (int pass = 0; pass < 3; ++pass)
        expired.push_back(rig.done(rig.store().sweep(4)).expired);
    CHECK(expired == std::vector<std::size_t>{4, 4, 2});
    CHECK(rig.done(rig.store().sweep(4)).expired == 0);

    rig.advance(Millis{1'000'000});
    std::size_t purged = 0;
    for (int pass = 0; pass < 6; ++pass)
        purged += rig.done(rig.store().sweep(4)).purged;
    CHECK(purged == 10);
}

void unknown_records_are_listed_oldest_first(StoreRig& rig)
{
    // 5: overdue and not swept. 3: settled so. 4: swept. 9 and 8: not unknown.
    claimed(rig, 4);
    rig.advance(Millis{60'000});
    rig.done(rig.store().sweep(100));
    claimed(rig, 5);
    settled(rig, 9, State::done);
    rig.advance(Millis{1'000});
    settled(rig, 3, State::unknown);
    rig.advance(Millis{59'000});
    claimed(rig, 8);

    const auto listed = rig.done(rig.store().unknown(10));
    std::vector<core::Digest> order;
    for (const auto& entry : listed)
        order.push_back(entry.digest);
    CHECK(order == std::vector<core::Digest>{digest_of(4), digest_of(5), digest_of(3)});
    REQUIRE(listed.size() == 3);
    CHECK(listed[0].record.reason == Reason::lease);
    CHECK(listed[1].record.reason == Reason::lease);
    CHECK(listed[2].record.answer.body == "answer");
    CHECK(listed[2].record.age == Millis{59'000});

    const auto first = rig.done(rig.store().unknown(2));
    REQUIRE(first.size() == 2);
    CHECK(first[0].digest == digest_of(4));
    CHECK(first[1].digest == digest_of(5));

    // Past unknown_retention they are tombstones, not unknown.
    rig.advance(Millis{400'000});
    std::set<core::Digest> still;
    for (const auto& entry : rig.done(rig.store().unknown(10)))
        still.insert(entry.digest);
    CHECK(still == std::set<core::Digest>{digest_of(5), digest_of(8)});
}

}  // namespace

ContractCases retention_cases()
{
    return {
        {"EXP-4 a record past its retention answers and is never claimed",
         a_record_past_its_retention_is_a_tombstone},
        {"EXP-3 a tombstone never changes until its window is over",
         a_tombstone_never_changes_until_it_is_purged},
        {"a tombstone kept for ever stays", never_means_never},
        {"EXP-6 an unknown record waits for unknown_retention",
         an_overdue_lease_waits_for_its_own_time},
        {"a released record is purged after its time", a_released_record_is_purged_after_its_time},
        {"a sweep goes round in bounded steps", a_sweep_goes_round_in_bounded_steps},
        {"unknown records are listed, oldest first", unknown_records_are_listed_oldest_first},
    };
}

}  // namespace onceward::test
