// From what was seen of the upstream to what the record says, and for how long.
#include "core/settling.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

namespace {

using namespace onceward::core;
using namespace std::chrono_literals;

Route route()
{
    Route made;
    made.tier.retention = 7h;
    made.tier.lease = 60s;
    made.tier.tombstone = 90h;
    made.tier.unknown_retention = 80h;
    return made;
}

Response answer(int status)
{
    return {status,
            fields_of({{"Date", "Thu, 01 Jan 1970 00:00:00 GMT"},
                       {"Location", "/v1/payments/1"},
                       {"Set-Cookie", "s=1"},
                       {"ETag", "\"7\""}}),
            std::string("{\0}", 3)};
}

Settlement settled(int status, const Route& on = route(), BodyEnd end = BodyEnd::framed)
{
    return settle_answer(on, answer(status), end);
}

const Fields kept_fields = fields_of({{"Location", "/v1/payments/1"}, {"ETag", "\"7\""}});

}  // namespace

TEST_CASE("OUT-1 RPL-1 a success and a business failure are kept whole for the retention")
{
    for (int status : {201, 402}) {
        const auto made = settled(status);
        CHECK(made.state == (status == 201 ? State::done : State::failed));
        CHECK(made.reason == Reason::none);
        CHECK(made.kept == Kept::full);
        CHECK(made.answer == Response{status, kept_fields, answer(status).body});
        CHECK(made.keep == 7h);
    }
}

TEST_CASE("decision 12 a complete 5xx is unknown with its answer, for the unknown retention")
{
    const auto made = settled(500);
    CHECK(made.state == State::unknown);
    CHECK(made.reason == Reason::server_error);
    CHECK(made.kept == Kept::full);
    CHECK(made.answer == Response{500, kept_fields, answer(500).body});
    CHECK(made.keep == 80h);
}

TEST_CASE("decision 6 a released key keeps no answer, and lies until lease + 24 h")
{
    const auto made = settled(429);
    CHECK(made.state == State::released);
    CHECK(made.reason == Reason::declined);
    CHECK(made.kept == Kept::nothing);
    CHECK(made.answer == Response{});
    CHECK(made.keep == 24h + 60s);
}

TEST_CASE("D12 I6 an answer that may have been cut short is not kept")
{
    for (int status : {200, 404, 500}) {
        const auto made = settled(status, route(), BodyEnd::unproved);
        CHECK(made.state == State::unknown);
        CHECK(made.reason == Reason::unproved_end);
        CHECK(made.kept == Kept::nothing);
        CHECK(made.answer == Response{});
    }
    CHECK(settled(200, route(), BodyEnd::accepted).state == State::done);
}

TEST_CASE("decision 15 status_only keeps status and fields, never a body")
{
    Route on = route();
    on.tier.store_response = StoreResponse::status_only;
    for (int status : {201, 402, 500}) {
        const auto made = settled(status, on);
        CHECK(made.kept == Kept::status_only);
        CHECK(made.answer == Response{status, kept_fields, ""});
    }
}

TEST_CASE("decision 15 replay_headers narrows what is kept")
{
    Route on = route();
    on.replay_headers = {"location"};
    CHECK(settled(201, on).answer.fields == fields_of({{"Location", "/v1/payments/1"}}));
}

TEST_CASE("OUT-11 decision 16 an answer too large to keep leaves status and fields")
{
    const auto made = settle_oversized(route(), answer(201), BodyEnd::framed);
    CHECK(made.state == State::done);
    CHECK(made.kept == Kept::too_large);
    CHECK(made.answer == Response{201, kept_fields, ""});
    CHECK(made.keep == 7h);

    Route on = route();
    on.tier.store_response = StoreResponse::status_only;
    CHECK(settle_oversized(on, answer(201), BodyEnd::framed).kept == Kept::too_large);
    CHECK(settle_oversized(on, answer(429), BodyEnd::framed).kept == Kept::nothing);
    const auto cut = settle_oversized(route(), answer(201), BodyEnd::unproved);
    CHECK(cut.state == State::unknown);
    CHECK(cut.kept == Kept::nothing);
}

TEST_CASE("the route's outcomes decide before its tier's times are chosen")
{
    Route on = route();
    on.outcomes.list_code(503, Disposition::released);
    on.outcomes.list_code(200, Disposition::failed);
    CHECK(settled(503, on).state == State::released);
    CHECK(settled(503, on).keep == released_keep(60s));
    CHECK(settled(200, on).state == State::failed);
}

TEST_CASE("OUT-7 sent without a complete answer is unknown; not sent is released")
{
    for (const auto reason :
         {Reason::timeout, Reason::reset, Reason::truncated, Reason::garbage, Reason::drain}) {
        const auto made = settle_unknown(route(), reason);
        CHECK(made.state == State::unknown);
        CHECK(made.reason == reason);
        CHECK(made.kept == Kept::nothing);
        CHECK(made.keep == 80h);
    }
    const auto released = settle_not_sent(route());
    CHECK(released.state == State::released);
    CHECK(released.reason == Reason::not_sent);
    CHECK(released.kept == Kept::nothing);
    CHECK(released.keep == released_keep(60s));
}

TEST_CASE(
    "decision 13 an unknown outcome is 504 where time ran out, 502 where the connection failed")
{
    for (const auto reason : {Reason::lease, Reason::crash, Reason::drain, Reason::timeout}) {
        CHECK(unknown_status(reason) == 504);
    }
    for (const auto reason : {Reason::none, Reason::reset, Reason::truncated, Reason::garbage,
                              Reason::server_error, Reason::unproved_end, Reason::listed}) {
        CHECK(unknown_status(reason) == 502);
    }
}
