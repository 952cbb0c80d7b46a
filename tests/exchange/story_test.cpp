// The stories of one key when everything works but the client repeats itself.
#include "exchange/story.hpp"

using namespace onceward;
using namespace onceward::test;
using core::ProblemCode;
using core::Reason;
using core::State;

TEST_CASE("OUT-2 a first request runs, is recorded, and only then answered")
{
    Story story;
    const auto call = story.ask();
    REQUIRE(story.upstream.sends() == 1);
    CHECK(story.row().state == State::pending);
    CHECK(story.exchange.in_flight() == 1);
    CHECK_FALSE(*call);

    story.answer(Answered{created("receipt")});
    CHECK(response_of(call) == created("receipt"));
    CHECK_FALSE((*call)->marks.replayed);
    CHECK((*call)->marks.stored == StoredMark::none);
    CHECK(story.row().state == State::done);
    CHECK(story.exchange.in_flight() == 0);
    REQUIRE(story.observer.reports.size() == 1);
    CHECK(story.observer.reports[0].decision == Decision::executed);
    CHECK(story.observer.reports[0].route == "charges");
    CHECK(story.observer.reports[0].upstream_status == 201);
}

TEST_CASE("RPL-1 RPL-2 a retry gets the stored answer, marked, without cookie, and nothing is sent")
{
    Story story;
    story.upstream.will(Answered{created("receipt")});
    story.ask();
    story.advance(1h);
    const auto retry = story.ask();

    const auto& replayed = response_of(retry);
    CHECK(replayed.status == 201);
    CHECK(replayed.body == "receipt");
    CHECK(replayed.fields.find("Location") == "/charges/1");
    CHECK_FALSE(replayed.fields.has("Set-Cookie"));
    CHECK((*retry)->marks.replayed);
    CHECK((*retry)->marks.original_date == core::StoreTime{ScriptedStore::start});
    CHECK(story.upstream.sends() == 1);
    CHECK(story.observer.reports.back().decision == Decision::replayed);
}

TEST_CASE("OUT-15 a business failure is recorded and replayed, never run again")
{
    Story story;
    story.upstream.will(Answered{status(402, "declined")});
    CHECK(response_of(story.ask()).status == 402);
    const auto retry = story.ask();
    CHECK(response_of(retry) == status(402, "declined"));
    CHECK((*retry)->marks.replayed);
    CHECK(story.row().state == State::failed);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("FPR-11 another request under the same key is a mismatch in every state")
{
    Story story;
    SUBCASE("PENDING, at once") {}
    SUBCASE("DONE")
    {
        story.upstream.will(Answered{created("receipt")});
    }
    SUBCASE("FAILED")
    {
        story.upstream.will(Answered{status(402)});
    }
    SUBCASE("UNKNOWN")
    {
        story.upstream.will(NoAnswer{Reason::reset});
    }
    SUBCASE("UNKNOWN with an answer")
    {
        story.upstream.will(Answered{status(500)});
    }
    story.ask();
    bool past_retention = false;
    SUBCASE("as it is") {}
    SUBCASE("past its retention, or its lease")
    {
        past_retention = true;
    }
    if (past_retention) story.advance(24h * 400);

    const auto other = story.ask("pay 1000");
    CHECK(is_problem(other, 422, ProblemCode::fingerprint_mismatch));
    CHECK((*other)->marks.retryable == false);
    CHECK(story.upstream.sends() == 1);
    CHECK(story.observer.reports.back().decision == Decision::mismatch);
}

TEST_CASE("RSV-13 a released key binds nothing: another request may take it")
{
    Story story;
    story.upstream.will(NotSent{502, "connection_refused"});
    story.ask();
    story.upstream.will(Answered{created("receipt")});
    CHECK(response_of(story.ask("pay 1000")).body == "receipt");
    CHECK(story.row().epoch == 2);
    CHECK(is_problem(story.ask("pay 10"), 422, ProblemCode::fingerprint_mismatch));
}

TEST_CASE("RSV-6 RSV-8 a duplicate in flight waits, then gets 409, which is not stored")
{
    Story story;
    const auto first = story.ask();
    const auto duplicate = story.ask();
    story.advance(2999ms);
    CHECK_FALSE(*duplicate);
    story.advance(1ms);
    CHECK(is_problem(duplicate, 409, ProblemCode::in_progress));
    CHECK(problem_of(duplicate).retry_after >= 1s);
    CHECK((*duplicate)->marks.retryable == true);

    story.answer(Answered{created("receipt")});
    CHECK(response_of(first).status == 201);
    CHECK(response_of(story.ask()).status == 201);
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE(
    "RSV-7 a waiter on the holder's worker is woken and replays, without waiting for its next look")
{
    Story story;
    story.ask();
    const auto duplicate = story.ask();
    const auto looks = story.store.finds;
    story.answer(Answered{created("receipt")});
    CHECK(response_of(duplicate).body == "receipt");
    CHECK((*duplicate)->marks.replayed);
    CHECK(story.store.finds == looks + 1);
    CHECK(story.clock.time() == 0ms);
    CHECK(story.observer.reports.back().decision == Decision::waited);
}

TEST_CASE("W48 a waiter on another worker looks for itself, less and less often")
{
    Story story;
    story.ask();
    const auto duplicate = story.ask_on(story.elsewhere);
    story.advance(25ms);
    CHECK(story.store.finds == 1);
    story.advance(50ms);
    CHECK(story.store.finds == 2);
    story.advance(1s);
    CHECK(story.store.finds < 10);
    story.answer(Answered{created("receipt")});
    CHECK_FALSE(*duplicate);
    story.advance(250ms);
    CHECK((*duplicate)->marks.replayed);
}

TEST_CASE("RSV-7 waiters are bounded: the one too many gets its 409 at once")
{
    ExchangeLimits limits;
    limits.waiters_max = 2;
    Story story(limits);
    story.ask();
    const auto second = story.ask();
    const auto third = story.ask();
    const auto fourth = story.ask();
    CHECK_FALSE(*second);
    CHECK_FALSE(*third);
    CHECK(is_problem(fourth, 409, ProblemCode::in_progress));
}

TEST_CASE("RSV-7 a route that does not wait answers 409 at once")
{
    Story story;
    story.route.in_progress_wait = 0ms;
    story.ask();
    CHECK(is_problem(story.ask(), 409, ProblemCode::in_progress));
}

TEST_CASE("OUT-6 what was not sent is released, and the retry runs")
{
    Story story;
    const auto first = story.ask();
    const auto waiter = story.ask();
    story.answer(NotSent{503, "connection_limit_reached"});
    CHECK(is_problem(first, 503, ProblemCode::upstream_unreached));
    CHECK((*first)->marks.retryable == true);
    CHECK(problem_of(first).proxy_status == "connection_limit_reached");
    CHECK(story.row().state == State::released);
    CHECK(story.row().reason == Reason::not_sent);
    // A crowd of waiters does not knock at a failing upstream one after the other.
    CHECK(is_problem(waiter, 409, ProblemCode::in_progress));

    story.upstream.will(Answered{created("receipt")});
    CHECK(response_of(story.ask()).status == 201);
    CHECK(story.row().epoch == 2);
    CHECK(story.upstream.sends() == 2);
}

TEST_CASE("OUT-1 an answer that declines before the work releases the key, and is passed on")
{
    Story story;
    story.upstream.will(Answered{status(429, "slow down")});
    const auto first = story.ask();
    CHECK(response_of(first) == status(429, "slow down"));
    CHECK((*first)->marks.retryable == true);
    CHECK(story.row().state == State::released);
    CHECK(story.row().reason == Reason::declined);
    CHECK(story.observer.reports.back().decision == Decision::released);
}

TEST_CASE("EXP-4 past its retention the key is refused and never runs again, swept or not")
{
    Story story;
    story.upstream.will(Answered{created("receipt")});
    story.ask();
    story.advance(story.route.tier.retention);
    CHECK(is_problem(story.ask(), 422, ProblemCode::key_expired));
    CHECK((*story.ask())->marks.retryable == false);
    CHECK(story.row().state == State::done);  // Nobody swept (RPL-11).
    core::sweep(*&story.store.rows.at(story.key), story.route.tier.times(), story.store.now());
    CHECK(story.row().state == State::expired);
    CHECK(is_problem(story.ask(), 422, ProblemCode::key_expired));
    CHECK(story.upstream.sends() == 1);
}

TEST_CASE("RSV-3 the gate chooses the question, never the answer")
{
    Story story;
    story.upstream.will(Answered{created("receipt")});

    SUBCASE("it says that somebody may hold a free key: the key is reserved all the same")
    {
        story.gate.says = GatePending{};
        CHECK(response_of(story.ask()).status == 201);
        CHECK(story.store.finds == 1);
        CHECK(story.upstream.sends() == 1);
    }
    SUBCASE("it has forgotten a recorded key: the store knows")
    {
        story.ask();
        story.gate.says = GateMiss{};
        CHECK((*story.ask())->marks.replayed);
    }
    SUBCASE("it remembers a recorded key: no question reaches the store")
    {
        story.gate.remembers = true;
        story.ask();
        const auto claims = story.store.claims.size();
        const auto again = story.ask();
        CHECK(response_of(again).body == "receipt");
        CHECK((*again)->marks.replayed);
        CHECK_FALSE((*again)->marks.original_date);  // The gate was not told the store's time.
        CHECK(story.store.claims.size() == claims);
        CHECK(is_problem(story.ask("pay 1000"), 422, ProblemCode::fingerprint_mismatch));
    }
}

TEST_CASE("RSV-3 only what is committed and final is published")
{
    Story story;
    story.upstream.will(Answered{status(500)});
    story.ask();
    CHECK(story.gate.entries.empty());
    story.key = core::Digest{{9}};
    story.store.settle_faults = {store_down, store_down};
    story.upstream.will(Answered{created("receipt")});
    const auto call = story.ask();
    CHECK(story.gate.entries.empty());
    story.advance(10s);
    CHECK(*call);
    CHECK(story.gate.entries.size() == 1);
}

TEST_CASE("OUT-8 OUT-11 an oversized answer streams while its row is PENDING")
{
    Story story;
    using Piece = BodyStream::Piece;
    const auto rest = [](std::deque<Piece> pieces) {
        return std::make_unique<ScriptedBody>(std::move(pieces));
    };
    std::string body;

    SUBCASE("its end is recorded before the client sees it, and a retry hears that it was not kept")
    {
        story.upstream.will(Oversized{
            created("begin"), core::BodyEnd::framed,
            rest({{BodyStream::State::more, " middle"}, {BodyStream::State::ended, " end"}})});
        const auto call = story.ask();
        CHECK((*call)->marks.stored == StoredMark::no);
        CHECK(story.row().state == State::pending);
        CHECK(story.exchange.in_flight() == 1);
        CHECK(story.observer.reports.empty());
        CHECK(story.drain(**call, body) == BodyStream::State::ended);
        CHECK(body == " middle end");
        CHECK(story.row().state == State::done);
        CHECK(story.row().kept == core::Kept::too_large);
        CHECK(story.observer.reports.size() == 1);
        CHECK(story.exchange.in_flight() == 0);

        const auto retry = story.ask();
        CHECK(is_problem(retry, 422, ProblemCode::replay_unavailable));
        CHECK(problem_of(retry).original_status == 201);
        CHECK(problem_of(retry).location == "/charges/1");
    }
    SUBCASE("broken off, it is UNKNOWN")
    {
        story.upstream.will(Oversized{created("begin"), core::BodyEnd::framed,
                                      rest({{BodyStream::State::truncated, ""}})});
        const auto call = story.ask();
        CHECK(story.drain(**call, body) == BodyStream::State::truncated);
        CHECK(story.row().state == State::unknown);
        CHECK(story.row().reason == Reason::truncated);
        CHECK(is_problem(story.ask(), 502, ProblemCode::outcome_unknown));
    }
    SUBCASE("its end is not proved: the client must not take it for whole (D12)")
    {
        story.upstream.will(Oversized{created("begin"), core::BodyEnd::unproved,
                                      rest({{BodyStream::State::ended, " end"}})});
        const auto call = story.ask();
        CHECK(story.drain(**call, body) == BodyStream::State::truncated);
        CHECK(body == " end");
        CHECK(story.row().state == State::unknown);
        CHECK(story.row().reason == Reason::unproved_end);
    }
    SUBCASE("RSV-11 fenced meanwhile, its end is not told as the key's outcome")
    {
        story.upstream.will(Oversized{created("begin"), core::BodyEnd::framed,
                                      rest({{BodyStream::State::ended, " end"}})});
        const auto call = story.ask();
        story.row().state = State::expired;
        CHECK(story.drain(**call, body) == BodyStream::State::truncated);
        CHECK(story.row().state == State::expired);
        CHECK(story.observer.fenced_keys.size() == 1);
    }
    SUBCASE("a server error that large is no more retryable than a small one")
    {
        story.upstream.will(Oversized{status(500, "begin"), core::BodyEnd::framed,
                                      rest({{BodyStream::State::ended, ""}})});
        const auto call = story.ask();
        CHECK((*call)->marks.retryable == false);
        CHECK(story.drain(**call, body) == BodyStream::State::ended);
        CHECK(story.row().state == State::unknown);
        CHECK(is_problem(story.ask(), 502, ProblemCode::outcome_unknown));
    }
    CHECK(story.upstream.sends() == 1);
}
