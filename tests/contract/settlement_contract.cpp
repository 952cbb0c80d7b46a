// Contract: what may be recorded, by whom, and that it comes back unchanged.
#include "key_store_contract.hpp"

namespace onceward::test {

using core::Kept;
using core::Millis;
using core::Reason;
using core::Settled;
using core::State;

namespace {

core::Ticket claimed(StoreRig& rig, unsigned key, unsigned token)
{
    const auto reservation = rig.done(rig.store().reserve(digest_of(key), claim_of(token)));
    REQUIRE(std::holds_alternative<core::Won>(reservation));
    return std::get<core::Won>(reservation).ticket;
}

core::Record found(StoreRig& rig, unsigned key)
{
    const auto record = rig.done(rig.store().find(digest_of(key)));
    REQUIRE(record);
    return *record;
}

void each_state_is_recorded(StoreRig& rig)
{
    unsigned key = 0;
    for (const auto state : {State::done, State::failed, State::unknown, State::released}) {
        ++key;
        const auto ticket = claimed(rig, key, key);
        rig.advance(Millis{1'000});
        const auto settlement = settlement_of(state, 200 + static_cast<int>(key), "body");
        CHECK(rig.done(rig.store().settle(digest_of(key), ticket, settlement)) ==
              Settled::recorded);

        const auto record = found(rig, key);
        CHECK(record.state == state);
        CHECK(record.reason == settlement.reason);
        CHECK(record.kept == Kept::full);
        CHECK(record.answer == settlement.answer);
        CHECK(record.remaining == Millis{100'000});
        CHECK(record.age == Millis{1'000});
        CHECK(record.settled_at == rig.now());
    }
}

void repeating_a_settlement_is_recorded(StoreRig& rig)
{
    const auto ticket = claimed(rig, 1, 1);
    const auto settlement = settlement_of(State::done, 201, "once");
    rig.done(rig.store().settle(digest_of(1), ticket, settlement));
    rig.advance(Millis{1'000});
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, settlement)) == Settled::recorded);
    CHECK(found(rig, 1).settled_at == rig.now() - Millis{1'000});

    // Another outcome of the same attempt is not a repetition.
    const auto other = settlement_of(State::failed, 402, "twice");
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, other)) == Settled::fenced);
    CHECK(found(rig, 1).answer.body == "once");
}

void a_wrong_ticket_is_fenced(StoreRig& rig)
{
    const auto ticket = claimed(rig, 1, 1);
    const auto settlement = settlement_of(State::done, 201, "mine");
    for (const core::Ticket wrong :
         {core::Ticket{token_of(2), ticket.epoch}, core::Ticket{ticket.token, ticket.epoch + 1},
          core::Ticket{ticket.token, ticket.epoch - 1}}) {
        CHECK(rig.done(rig.store().settle(digest_of(1), wrong, settlement)) == Settled::fenced);
        CHECK(found(rig, 1).state == State::pending);
    }
    CHECK(rig.done(rig.store().settle(digest_of(2), ticket, settlement)) == Settled::fenced);
    CHECK_FALSE(rig.done(rig.store().find(digest_of(2))));
}

void the_holder_of_an_earlier_epoch_is_fenced(StoreRig& rig)
{
    const auto first = claimed(rig, 1, 1);
    rig.done(rig.store().settle(digest_of(1), first, settlement_of(State::released, 0, "")));
    const auto second = claimed(rig, 1, 2);
    CHECK(second.epoch == 2);
    const auto late = settlement_of(State::done, 201, "late");
    CHECK(rig.done(rig.store().settle(digest_of(1), first, late)) == Settled::fenced);
    CHECK(found(rig, 1).state == State::pending);
    CHECK(rig.done(rig.store().settle(digest_of(1), second, late)) == Settled::recorded);
}

void a_late_answer_heals_an_unknown_record(StoreRig& rig)
{
    // Swept to UNKNOWN, and only overdue: both heal (RSV-12).
    for (const bool swept : {true, false}) {
        const unsigned key = swept ? 1 : 2;
        const auto ticket = claimed(rig, key, key);
        rig.advance(Millis{60'000});
        if (swept) CHECK(rig.done(rig.store().sweep(100)).became_unknown == 1);
        CHECK(found(rig, key).state == State::unknown);
        const auto late = settlement_of(State::done, 201, "late but true");
        CHECK(rig.done(rig.store().settle(digest_of(key), ticket, late)) == Settled::recorded);
        CHECK(found(rig, key).state == State::done);
        CHECK(found(rig, key).answer.body == "late but true");
    }
}

void an_unknown_answer_is_kept_and_replaced_once(StoreRig& rig)
{
    const auto ticket = claimed(rig, 1, 1);
    auto failed = settlement_of(State::unknown, 500, "<h1>oops</h1>");
    failed.reason = Reason::server_error;
    rig.done(rig.store().settle(digest_of(1), ticket, failed));
    CHECK(found(rig, 1).answer == failed.answer);

    const auto another = settlement_of(State::unknown, 503, "different");
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, another)) == Settled::fenced);
    CHECK(found(rig, 1).answer == failed.answer);

    const auto success = settlement_of(State::done, 200, "");
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, success)) == Settled::recorded);
    CHECK(found(rig, 1).answer == success.answer);
    CHECK(rig.done(rig.store().settle(digest_of(1), ticket, failed)) == Settled::fenced);
    CHECK(found(rig, 1).answer == success.answer);
}

void bytes_come_back_as_they_went(StoreRig& rig)
{
    const auto ticket = claimed(rig, 1, 1);
    auto settlement =
        settlement_of(State::done, 200, std::string_view("a\0b\r\n\r\n\xFF\x80 \0", 12));
    auto& fields = settlement.answer.fields;
    fields.add("X-Twice", "one");
    fields.add("x-twice", "\xC3\xA9 \xE9, \"quoted\"");
    fields.add("X-Empty", "");
    fields.add("X-Twice", "one");
    rig.done(rig.store().settle(digest_of(1), ticket, settlement));
    const auto record = found(rig, 1);
    CHECK(record.answer.body.size() == 12);
    CHECK(record.answer == settlement.answer);
    CHECK(record.answer.fields.encoded() == fields.encoded());
}

void a_large_answer_and_an_empty_one(StoreRig& rig)
{
    const auto large = claimed(rig, 1, 1);
    auto settlement = settlement_of(State::done, 200, std::string(300'000, 'x'));
    rig.done(rig.store().settle(digest_of(1), large, settlement));
    CHECK(found(rig, 1).answer == settlement.answer);

    const auto empty = claimed(rig, 2, 2);
    settlement.answer = {204, {}, {}};
    rig.done(rig.store().settle(digest_of(2), empty, settlement));
    CHECK(found(rig, 2).answer == settlement.answer);
    CHECK(found(rig, 2).kept == Kept::full);

    const auto head = claimed(rig, 3, 3);
    settlement = settlement_of(State::done, 200, "");
    settlement.kept = Kept::too_large;
    rig.done(rig.store().settle(digest_of(3), head, settlement));
    CHECK(found(rig, 3).answer == settlement.answer);
    CHECK(found(rig, 3).kept == Kept::too_large);
}

}  // namespace

ContractCases settlement_cases()
{
    return {
        {"OUT each state is recorded with its answer", each_state_is_recorded},
        {"W32 repeating a settlement is recorded, and changes nothing",
         repeating_a_settlement_is_recorded},
        {"RSV-11 a wrong token, epoch or key is fenced", a_wrong_ticket_is_fenced},
        {"RSV-11 the holder of an earlier epoch is fenced",
         the_holder_of_an_earlier_epoch_is_fenced},
        {"RSV-12 a late answer heals an unknown record", a_late_answer_heals_an_unknown_record},
        {"D12 an unknown record keeps its answer until a proof comes",
         an_unknown_answer_is_kept_and_replaced_once},
        {"RPL body and headers come back byte by byte", bytes_come_back_as_they_went},
        {"a large answer, an empty one, a head without body", a_large_answer_and_an_empty_one},
    };
}

}  // namespace onceward::test
