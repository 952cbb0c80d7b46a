// Contract: who may have a key.
#include "key_store_contract.hpp"

namespace onceward::test {

using core::Millis;
using core::Reason;
using core::State;

namespace {

core::Ticket won(const core::Reservation& reservation)
{
    REQUIRE(std::holds_alternative<core::Won>(reservation));
    return std::get<core::Won>(reservation).ticket;
}

core::Record held(const core::Reservation& reservation)
{
    REQUIRE(std::holds_alternative<core::Held>(reservation));
    return std::get<core::Held>(reservation).record;
}

void first_claim_wins_the_second_is_told(StoreRig& rig)
{
    auto& store = rig.store();
    const auto ticket = won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    CHECK(ticket == core::Ticket{token_of(1), 1});

    rig.advance(Millis{10'000});
    const auto record = held(rig.done(store.reserve(digest_of(1), claim_of(2, 5))));
    CHECK(record.state == State::pending);
    CHECK(record.epoch == 1);
    CHECK(record.fingerprint == fingerprint_of(1));
    CHECK(record.fingerprint_rule == 7);
    CHECK(record.remaining == Millis{50'000});
    CHECK(record.age == Millis{10'000});

    CHECK(won(rig.done(store.reserve(digest_of(2), claim_of(3)))).epoch == 1);
}

void repeating_with_its_own_token_wins_again(StoreRig& rig)
{
    auto& store = rig.store();
    won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    rig.advance(Millis{59'999});
    CHECK(won(rig.done(store.reserve(digest_of(1), claim_of(1)))) == core::Ticket{token_of(1), 1});

    // One millisecond later the lease is over: the permission to send is gone.
    rig.advance(Millis{1});
    const auto record = held(rig.done(store.reserve(digest_of(1), claim_of(1))));
    CHECK(record.state == State::unknown);
    CHECK(record.reason == Reason::lease);
}

void a_settled_key_is_not_won_by_its_own_token(StoreRig& rig)
{
    auto& store = rig.store();
    const auto ticket = won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    rig.done(store.settle(digest_of(1), ticket, settlement_of(State::done, 201, "made")));
    CHECK(held(rig.done(store.reserve(digest_of(1), claim_of(1)))).state == State::done);
}

void an_overdue_lease_reads_unknown_and_is_not_taken_over(StoreRig& rig)
{
    auto& store = rig.store();
    won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    rig.advance(Millis{60'000});
    const auto record = held(rig.done(store.reserve(digest_of(1), claim_of(2))));
    CHECK(record.state == State::unknown);
    CHECK(record.reason == Reason::lease);
    CHECK(record.remaining == Millis{0});

    rig.done(store.sweep(100));
    CHECK(held(rig.done(store.reserve(digest_of(1), claim_of(3)))).state == State::unknown);
}

void a_released_key_is_claimed_once_by_any_request(StoreRig& rig)
{
    auto& store = rig.store();
    const auto first = won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    rig.done(store.settle(digest_of(1), first, settlement_of(State::released, 429, "slow down")));
    const auto released = rig.done(store.find(digest_of(1)));
    REQUIRE(released);
    CHECK(released->state == State::released);
    CHECK(released->answer.body == "slow down");

    // Another fingerprint: a RELEASED record binds nobody (FPR).
    rig.advance(Millis{5'000});
    CHECK(won(rig.done(store.reserve(digest_of(1), claim_of(2, 9)))) ==
          core::Ticket{token_of(2), 2});
    const auto record = held(rig.done(store.reserve(digest_of(1), claim_of(3, 9))));
    CHECK(record.state == State::pending);
    CHECK(record.epoch == 2);
    CHECK(record.fingerprint == fingerprint_of(9));
    CHECK(record.answer == core::Response{});
    CHECK(record.age == Millis{0});
}

void a_reopened_key_still_binds_its_fingerprint(StoreRig& rig)
{
    auto& store = rig.store();
    const auto first = won(rig.done(store.reserve(digest_of(1), claim_of(1, 4))));
    auto reopened = settlement_of(State::released, 0, "");
    reopened.reason = Reason::reopened;
    rig.done(store.settle(digest_of(1), first, reopened));

    const auto record = held(rig.done(store.reserve(digest_of(1), claim_of(2, 5))));
    CHECK(record.state == State::released);
    CHECK(record.reason == Reason::reopened);
    CHECK(won(rig.done(store.reserve(digest_of(1), claim_of(3, 4)))).epoch == 2);
}

void find_tells_without_taking(StoreRig& rig)
{
    auto& store = rig.store();
    CHECK_FALSE(rig.done(store.find(digest_of(1))));
    won(rig.done(store.reserve(digest_of(1), claim_of(1))));
    const auto record = rig.done(store.find(digest_of(1)));
    REQUIRE(record);
    CHECK(record->state == State::pending);
    CHECK(record->tier == 0);
}

}  // namespace

ContractCases claim_cases()
{
    return {
        {"RSV-6 the first claim wins, the second is told", first_claim_wins_the_second_is_told},
        {"RSV-14 the same token wins again while its lease lives",
         repeating_with_its_own_token_wins_again},
        {"a settled key is not won by its own token", a_settled_key_is_not_won_by_its_own_token},
        {"RSV-10 an overdue lease is unknown, not free",
         an_overdue_lease_reads_unknown_and_is_not_taken_over},
        {"RSV-13 a released key is claimed once, binding nobody",
         a_released_key_is_claimed_once_by_any_request},
        {"a re-opened key still binds its fingerprint", a_reopened_key_still_binds_its_fingerprint},
        {"find tells without taking", find_tells_without_taking},
    };
}

}  // namespace onceward::test
