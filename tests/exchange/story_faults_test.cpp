// The stories of one key when the upstream, the store or this process fails.
#include "exchange/story.hpp"

using namespace onceward;
using namespace onceward::test;
using core::ProblemCode;
using core::Reason;
using core::State;

TEST_CASE("OUT-7 sent without an answer: 502 or 504, the same on every retry, sent once")
{
    Story story;
    int expected = 502;
    Reason reason = Reason::reset;
    SUBCASE("the connection broke") {}
    SUBCASE("the answer broke off")
    {
        reason = Reason::truncated;
    }
    SUBCASE("the answer was not HTTP")
    {
        reason = Reason::garbage;
    }
    SUBCASE("time ran out")
    {
        expected = 504;
        reason = Reason::timeout;
    }
    story.upstream.will(NoAnswer{reason});
    const auto first = story.ask();
    for (int retry = 0; retry < 3; ++retry) {
        const auto call = retry == 0 ? first : story.ask();
        CHECK(is_problem(call, expected, ProblemCode::outcome_unknown));
        CHECK((*call)->marks.retryable == false);
        CHECK_FALSE((*call)->marks.replayed);
    }
    CHECK(story.row().state == State::unknown);
    CHECK(story.row().reason == reason);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("Decision 12: a complete 5xx is stored and repeated, unmarked and not retryable")
{
    Story story;
    story.upstream.will(Answered{status(500, "half done")});
    for (int call = 0; call < 3; ++call) {
        const auto reply = story.ask();
        CHECK(response_of(reply) == status(500, "half done"));
        CHECK((*reply)->marks.retryable == false);
        CHECK_FALSE((*reply)->marks.replayed);
    }
    CHECK(story.row().state == State::unknown);
    CHECK(story.row().reason == Reason::server_error);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("D12 a body whose end is not proved is neither passed on nor stored as an answer")
{
    Story story;
    story.upstream.will(Answered{created("rece"), core::BodyEnd::unproved});
    CHECK(is_problem(story.ask(), 502, ProblemCode::outcome_unknown));
    CHECK(story.row().state == State::unknown);
    CHECK(is_problem(story.ask(), 502, ProblemCode::outcome_unknown));
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("RSV-14 without a store nothing is sent")
{
    Story story;
    SUBCASE("down")
    {
        story.store.always = store_down;
    }
    SUBCASE("its queue is full")
    {
        story.store.always = StoreFault{StoreError::overloaded, false};
    }
    const auto call = story.ask();
    CHECK(is_problem(call, 503, ProblemCode::store_unavailable));
    CHECK((*call)->marks.retryable == true);
    CHECK(story.upstream.sends() == 0);
    CHECK(story.observer.reports.back().decision == Decision::store_error);
}

TEST_CASE("RSV-14 a tier that prefers doubled to refused passes the request, marked as unprotected")
{
    Story story;
    story.route.tier.on_store_error = core::OnStoreError::pass;
    story.store.always = store_down;
    story.upstream.will(Answered{created("receipt")});
    const auto call = story.ask();
    CHECK(response_of(call).status == 201);
    CHECK((*call)->marks.bypassed);
    CHECK(story.observer.reports.back().decision == Decision::bypassed);
}

TEST_CASE("W6a W6b an ambiguous reservation is asked for again with the same token")
{
    Story story;
    story.upstream.will(Answered{created("receipt")});
    SUBCASE("it was made")
    {
        story.store.reserve_faults = {lost_after};
    }
    SUBCASE("it was not made")
    {
        story.store.reserve_faults = {lost_before};
    }
    SUBCASE("several times")
    {
        story.store.reserve_faults = {lost_before, lost_after, lost_after};
    }
    const auto call = story.ask();
    CHECK_FALSE(*call);
    story.advance(1s);
    CHECK(response_of(call).status == 201);
    REQUIRE(story.store.claims.size() >= 2);
    for (const auto& claim : story.store.claims)
        CHECK(claim.token == story.store.claims[0].token);
    CHECK(story.row().epoch == 1);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE(
    "Decision 7: a reservation in doubt for too long is refused, and given back in the background")
{
    Story story;
    story.store.reserve_faults = {lost_after};
    story.store.always = lost_before;
    const auto call = story.ask();
    story.advance(1900ms);
    CHECK_FALSE(*call);
    story.advance(200ms);
    CHECK(is_problem(call, 503, ProblemCode::store_unavailable));
    CHECK(story.row().state == State::pending);

    story.store.always.reset();
    story.advance(5s);
    CHECK(story.row().state == State::released);
    CHECK(story.row().epoch == 1);
    CHECK(story.upstream.sends() == 0);
    story.upstream.will(Answered{created("receipt")});
    CHECK(response_of(story.ask()).status == 201);
}

TEST_CASE("I7 a reservation in doubt is not given back when its request was passed unprotected")
{
    Story story;
    story.route.tier.on_store_error = core::OnStoreError::pass;
    story.store.reserve_faults = {lost_after};
    story.store.always = lost_before;
    story.upstream.will(Answered{created("receipt")});
    const auto call = story.ask();
    story.advance(3s);
    CHECK((*call)->marks.bypassed);

    story.store.always.reset();
    story.advance(30s);
    CHECK(story.row().state == State::pending);
    story.advance(60s);
    CHECK(is_problem(story.ask(), 504, ProblemCode::outcome_unknown));
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE(
    "OUT-3 a commit that fails: the true answer, marked unstored, and recorded in the background")
{
    Story story;
    const auto call = story.ask();
    story.store.always = store_down;
    story.answer(Answered{created("receipt")});
    story.advance(1900ms);
    CHECK_FALSE(*call);
    story.advance(200ms);
    CHECK(response_of(call) == created("receipt"));
    CHECK((*call)->marks.stored == StoredMark::no);
    CHECK(story.observer.reports.back().decision == Decision::unstored);
    CHECK(story.row().state == State::pending);
    CHECK(story.exchange.in_flight() == 1);  // A drain must still wait for it.

    story.store.always.reset();
    SUBCASE("the store comes back")
    {
        story.advance(10s);
        CHECK(story.row().state == State::done);
        CHECK(story.observer.fenced_keys.empty());
        CHECK(response_of(story.ask()).body == "receipt");
    }
    SUBCASE("a drain comes first: it records what is known")
    {
        CHECK(story.abandon() == 1);
        CHECK(story.row().state == State::done);
        story.advance(10s);
    }
    SUBCASE("somebody else changed the row meanwhile")
    {
        story.row().epoch = 2;
        story.advance(10s);
        CHECK(story.row().state == State::pending);
        CHECK(story.observer.fenced_keys.size() == 1);
    }
    CHECK(story.exchange.in_flight() == 0);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("OUT-3 a commit acknowledged late is no failure")
{
    Story story;
    story.store.settle_faults = {lost_after};
    story.upstream.will(Answered{created("receipt")});
    const auto call = story.ask();
    CHECK_FALSE(*call);
    story.advance(50ms);
    CHECK((*call)->marks.stored == StoredMark::none);
    CHECK(story.store.settles == 2);
    CHECK(story.observer.fenced_keys.empty());
}

TEST_CASE("RSV-11 RSV-12 a fenced holder tells what the row says, and raises an alarm")
{
    Story story;
    const auto first = story.ask();
    auto& slot = story.store.rows.at(story.key);

    SUBCASE("an operator allowed another execution, which was recorded")
    {
        story.advance(61s);
        core::sweep(slot, story.route.tier.times(), story.store.now());
        REQUIRE(core::reopen(slot, story.store.now(), 24h));
        const auto second = story.ask();
        REQUIRE(story.upstream.held() == 2);
        story.upstream.will(Answered{created("never")});
        story.answer(Answered{created("late")});
        CHECK(is_problem(first, 409, ProblemCode::in_progress));
        CHECK(story.row().state == State::pending);
        story.answer(Answered{created("second")});
        CHECK(response_of(second).body == "second");
        CHECK(story.observer.fenced_keys.size() == 1);
        CHECK(response_of(story.ask()).body == "second");
    }
    SUBCASE("the row is past its retention")
    {
        slot->state = State::expired;
        story.answer(Answered{created("late")});
        CHECK(is_problem(first, 422, ProblemCode::key_expired));
        CHECK(story.observer.fenced_keys.size() == 1);
    }
    SUBCASE("the row is gone: nothing can be told")
    {
        slot.reset();
        story.answer(Answered{created("late")});
        CHECK(is_problem(first, 502, ProblemCode::outcome_unknown));
    }
}

TEST_CASE("RSV-10 RSV-12 a dead lease is unknown; the late answer of the same holder heals it")
{
    Story story;
    const auto first = story.ask();
    story.advance(60s);
    CHECK(is_problem(story.ask(), 504, ProblemCode::outcome_unknown));
    core::sweep(story.store.rows.at(story.key), story.route.tier.times(), story.store.now());
    story.answer(Answered{created("receipt")});
    CHECK(response_of(first).status == 201);
    CHECK(response_of(story.ask()).body == "receipt");
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("W56 a drain records what is in flight as UNKNOWN, and a late answer heals it")
{
    Story story;
    const auto call = story.ask();
    CHECK(story.abandon() == 1);
    CHECK(story.row().state == State::unknown);
    CHECK(story.row().reason == Reason::drain);
    CHECK(is_problem(story.ask(), 504, ProblemCode::outcome_unknown));
    story.answer(Answered{created("receipt")});
    CHECK(response_of(call).status == 201);
    CHECK(story.row().state == State::done);
    CHECK(story.abandon() == 0);
}

TEST_CASE("a drain waits for a dead store once, not for each request in flight")
{
    Story story;
    for (unsigned char i = 1; i <= 5; ++i) {
        story.key.bytes[0] = i;
        story.ask();
    }
    story.store.always = store_down;
    const auto abandoned = story.begin_abandon();
    story.advance(3s);
    CHECK(*abandoned == 5);
}

TEST_CASE("W6g a lease nearly used up before sending: given back, not sent")
{
    Story story;
    story.store.reserve_takes = 31s;
    const auto call = story.ask();
    CHECK(is_problem(call, 503, ProblemCode::upstream_unreached));
    CHECK(story.upstream.sends() == 0);
    CHECK(story.row().state == State::released);

    story.store.reserve_takes = 30s;  // Exactly enough is left.
    story.upstream.will(Answered{created("receipt")});
    CHECK(response_of(story.ask()).status == 201);
}

TEST_CASE("I4 a waiter whose store fails is told so, and may come again")
{
    Story story;
    story.ask();
    const auto waiter = story.ask();
    story.store.find_faults = {store_down};
    story.advance(25ms);
    CHECK(is_problem(waiter, 503, ProblemCode::store_unavailable));
    CHECK((*waiter)->marks.retryable == true);
}
