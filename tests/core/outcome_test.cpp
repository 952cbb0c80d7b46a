// What a complete answer proves: the table of decision 12.
#include "core/outcome.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

namespace {

using namespace onceward::core;

constexpr auto done = Disposition::done;
constexpr auto failed = Disposition::failed;
constexpr auto released = Disposition::released;
constexpr auto unknown = Disposition::unknown;

Response answer(int status)
{
    return {status, {}, "body"};
}

Response challenge(int status)
{
    return {status, fields_of({{"www-authenticate", "Basic realm=a"}}), ""};
}

Disposition of(const Response& response, const Outcomes& outcomes = {},
               BodyEnd end = BodyEnd::framed)
{
    return judge_answer(response, end, outcomes).disposition;
}

Reason why(const Response& response, const Outcomes& outcomes = {}, BodyEnd end = BodyEnd::framed)
{
    return judge_answer(response, end, outcomes).reason;
}

struct Line {
    int status;
    Disposition disposition;
    Reason reason;
};

constexpr Line table[] = {
    {200, done, Reason::none},
    {201, done, Reason::none},
    {202, done, Reason::none},
    {204, done, Reason::none},
    {206, done, Reason::none},
    {299, done, Reason::none},
    {301, done, Reason::none},
    {303, done, Reason::none},
    {304, done, Reason::none},
    {399, done, Reason::none},
    {400, failed, Reason::none},
    {401, failed, Reason::none},  // Without a challenge.
    {402, failed, Reason::none},
    {403, failed, Reason::none},
    {404, failed, Reason::none},
    {405, failed, Reason::none},
    {407, released, Reason::declined},
    {408, unknown, Reason::timeout},
    {409, failed, Reason::none},
    {410, failed, Reason::none},
    {412, failed, Reason::none},
    {413, failed, Reason::none},
    {421, released, Reason::declined},
    {422, failed, Reason::none},
    {423, failed, Reason::none},
    {425, released, Reason::declined},
    {429, released, Reason::declined},
    {431, failed, Reason::none},
    {451, failed, Reason::none},
    {499, failed, Reason::none},
    {500, unknown, Reason::server_error},
    {501, unknown, Reason::server_error},
    {502, unknown, Reason::server_error},
    {503, unknown, Reason::server_error},
    {504, unknown, Reason::server_error},
    {511, unknown, Reason::server_error},
    {599, unknown, Reason::server_error},
};

}  // namespace

TEST_CASE("decision 12 OUT-1 complete answers by status")
{
    for (const auto& line : table) {
        CAPTURE(line.status);
        CHECK(of(answer(line.status)) == line.disposition);
        CHECK(why(answer(line.status)) == line.reason);
        CHECK(of(answer(line.status), {}, BodyEnd::accepted) == line.disposition);
    }
}

TEST_CASE("decision 12 no other status of 200 to 599 is released or taken for a success beyond 3xx")
{
    for (int status = 200; status <= 599; ++status) {
        CAPTURE(status);
        const bool declined = status == 407 || status == 421 || status == 425 || status == 429;
        CHECK((of(answer(status)) == released) == declined);
        CHECK((of(answer(status)) == done) == (status < 400));
        CHECK((of(answer(status)) == unknown) == (status >= 500 || status == 408));
    }
}

TEST_CASE("decision 12 401 is released with a challenge only; other codes ignore one")
{
    CHECK(of(challenge(401)) == released);
    CHECK(why(challenge(401)) == Reason::declined);
    CHECK(of(answer(401)) == failed);
    CHECK(of(challenge(403)) == failed);
    CHECK(of(challenge(200)) == done);
}

TEST_CASE("decision 12 a listed code beats the single codes")
{
    Outcomes outcomes;
    outcomes.list_code(429, failed);
    outcomes.list_code(408, released);
    outcomes.list_code(401, unknown);
    outcomes.list_code(503, released);
    outcomes.list_code(200, unknown);
    outcomes.list_code(500, done);
    outcomes.list_code(404, done);
    CHECK(of(answer(429), outcomes) == failed);
    CHECK(of(answer(408), outcomes) == released);
    CHECK(of(challenge(401), outcomes) == unknown);
    CHECK(of(answer(503), outcomes) == released);
    CHECK(why(answer(503), outcomes) == Reason::listed);
    CHECK(of(answer(200), outcomes) == unknown);
    CHECK(why(answer(200), outcomes) == Reason::listed);
    CHECK(of(answer(500), outcomes) == done);
    CHECK(why(answer(500), outcomes) == Reason::none);
    CHECK(of(answer(404), outcomes) == done);
    CHECK(of(answer(504), outcomes) == unknown);
    CHECK(why(answer(504), outcomes) == Reason::server_error);
}

TEST_CASE("decision 12 the single codes beat a listed class")
{
    Outcomes outcomes;
    outcomes.list_class(4, unknown);
    CHECK(of(answer(429), outcomes) == released);
    CHECK(of(answer(407), outcomes) == released);
    CHECK(of(answer(421), outcomes) == released);
    CHECK(of(answer(425), outcomes) == released);
    CHECK(of(challenge(401), outcomes) == released);

    Outcomes lax;
    lax.list_class(4, released);
    CHECK(of(answer(408), lax) == unknown);
    CHECK(why(answer(408), lax) == Reason::timeout);
    CHECK(of(answer(403), lax) == failed);  // A filter may say it after the work.
}

TEST_CASE("decision 12 a 401 without challenge is no single code: a listed class speaks for it")
{
    Outcomes outcomes;
    outcomes.list_class(4, unknown);
    CHECK(of(answer(401), outcomes) == unknown);
    CHECK(why(answer(401), outcomes) == Reason::listed);
}

TEST_CASE("decision 12 a listed class beats the class's meaning, a listed code the listed class")
{
    Outcomes outcomes;
    outcomes.list_class(5, released);
    outcomes.list_class(3, failed);
    outcomes.list_class(2, unknown);
    outcomes.list_code(500, unknown);
    outcomes.list_code(201, done);
    CHECK(of(answer(503), outcomes) == released);
    CHECK(why(answer(503), outcomes) == Reason::listed);
    CHECK(of(answer(500), outcomes) == unknown);
    CHECK(why(answer(500), outcomes) == Reason::listed);
    CHECK(of(answer(302), outcomes) == failed);
    CHECK(of(answer(200), outcomes) == unknown);
    CHECK(of(answer(201), outcomes) == done);
    CHECK(of(answer(404), outcomes) == failed);
}

TEST_CASE("D12 OUT-8 an unproved end is unknown, unless the status says that nothing was done")
{
    for (int status = 200; status <= 599; ++status) {
        CAPTURE(status);
        const bool nothing_done = of(answer(status)) == released;
        const auto judged = judge_answer(answer(status), BodyEnd::unproved, {});
        CHECK(judged.disposition == (nothing_done ? released : unknown));
        CHECK(judged.reason == (nothing_done ? Reason::declined : Reason::unproved_end));
    }
    Outcomes outcomes;
    outcomes.list_code(200, done);
    outcomes.list_class(4, failed);
    CHECK(of(answer(200), outcomes, BodyEnd::unproved) == unknown);
    CHECK(of(answer(404), outcomes, BodyEnd::unproved) == unknown);
    CHECK(of(challenge(401), outcomes, BodyEnd::unproved) == released);
}

TEST_CASE("codes and classes outside their ranges are ignored")
{
    Outcomes outcomes;
    for (int status : {-1, 0, 99, 600, 1'000'000}) {
        outcomes.list_code(status, done);
        CHECK_FALSE(outcomes.code(status));
        CHECK_FALSE(outcomes.status_class(status));
    }
    for (int hundreds : {-1, 0, 6, 599})
        outcomes.list_class(hundreds, done);
    for (int status = 100; status < 600; ++status)
        CHECK_FALSE(outcomes.status_class(status));
    outcomes.list_code(100, failed);
    outcomes.list_code(599, failed);
    CHECK(outcomes.code(100) == failed);
    CHECK(outcomes.code(599) == failed);
}
