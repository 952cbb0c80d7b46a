// The demonstration service does what it is told, every time it is told.
#include "../bench/account_api.hpp"

#include <doctest/doctest.h>

using namespace onceward::demo;

namespace {

ApiRequest charge(std::string_view key, std::string_view directives = "")
{
    return {"POST", "/v1/charges", key, directives, R"({"account":"alice","amount":10})"};
}

ApiAnswer get(AccountApi& api, std::string_view target)
{
    return api.answer({"GET", target, "", "", ""});
}

}  // namespace

TEST_CASE("the same key twice is charged twice")
{
    AccountApi api(1000, {});
    const auto first = api.answer(charge("k"));
    CHECK(first.status == 201);
    CHECK(first.location == "/v1/charges/ch_1");
    CHECK(first.body == R"({"id":"ch_1","amount":10,"balance":990})");
    CHECK(api.answer(charge("k")).body == R"({"id":"ch_2","amount":10,"balance":980})");
    CHECK(get(api, "/_executions?key=k").body == R"({"key":"k","received":2,"executions":2})");
}

TEST_CASE("keys are counted byte for byte as received")
{
    AccountApi api(1000, {});
    api.answer(charge("\"k\""));
    CHECK(get(api, "/_executions?key=k").body == R"({"key":"k","received":0,"executions":0})");
    CHECK(get(api, "/_executions?key=%22k%22").body ==
          R"({"key":"\"k\"","received":1,"executions":1})");
}

TEST_CASE("too little money is a decline, and counts as an execution")
{
    AccountApi api(5, {});
    const auto answer = api.answer(charge("k"));
    CHECK(answer.status == 402);
    CHECK(answer.location.empty());
    CHECK(api.ledger().balance("alice") == 5);
    CHECK(api.ledger().counts("k").executions == 1);
    CHECK(get(api, "/_stats").body ==
          R"({"received":1,"executions":1,"charged":0,"declined":1,"keys":1})");
}

TEST_CASE("fail charges nothing; status charges and says something else")
{
    AccountApi api(1000, {});
    CHECK(api.answer(charge("f", "fail=503")).status == 503);
    CHECK(api.ledger().counts("f").received == 1);
    CHECK(api.ledger().counts("f").executions == 0);
    const auto answer = api.answer(charge("s", "status=500,delay=7"));
    CHECK(answer.status == 500);
    CHECK(answer.delay.count() == 7);
    CHECK(api.ledger().balance("alice") == 990);
}

TEST_CASE("dying before the charge leaves the money alone, dying after it does not")
{
    AccountApi api(1000, {});
    CHECK(api.answer(charge("b", "die=before-charge")).death == Death::before_charge);
    CHECK_FALSE(api.ledger().balance("alice").has_value());
    CHECK(api.answer(charge("a", "die=after-charge")).death == Death::after_charge);
    CHECK(api.ledger().balance("alice") == 990);
}

TEST_CASE("an option holds for every request, a header for one")
{
    Behaviour slow;
    slow.delay = std::chrono::milliseconds{5};
    AccountApi api(1000, slow);
    CHECK(api.answer(charge("k")).delay.count() == 5);
    CHECK(api.answer(charge("k", "delay=0")).delay.count() == 0);
}

TEST_CASE("accounts can be opened, read and forgotten")
{
    AccountApi api(1000, {});
    CHECK(api.answer({"POST", "/v1/accounts", "", "", R"({"id":"a b","balance":7})"}).status ==
          201);
    CHECK(get(api, "/v1/accounts/a%20b").body == R"({"id":"a b","balance":7})");
    CHECK(api.answer({"POST", "/_reset", "", "", ""}).status == 200);
    CHECK(get(api, "/v1/accounts/a%20b").status == 404);
}

TEST_CASE("nonsense is refused and charges nothing")
{
    AccountApi api(1000, {});
    for (const auto* body : {"", "[]", "{", R"({"account":"a"})", R"({"account":"a","amount":0})",
                             R"({"account":"a","amount":1.5})", R"({"account":1,"amount":1})"}) {
        CHECK(api.answer({"POST", "/v1/charges", "k", "", body}).status == 400);
    }
    CHECK(api.answer(charge("k", "explode=now")).status == 400);
    CHECK(api.ledger().totals().executions == 0);
    CHECK(get(api, "/elsewhere").status == 404);
}

TEST_CASE("directives and fail modes are read strictly")
{
    const auto read = directed({}, "delay=200, fail=500:0.1,status=409,die=mid-body");
    REQUIRE(read.has_value());
    const auto behaviour = read.value_or(Behaviour{});
    const auto fail = behaviour.fail.value_or(FailMode{});
    CHECK(behaviour.delay.count() == 200);
    CHECK(fail.status == 500);
    CHECK(fail.share == doctest::Approx(0.1));
    CHECK(behaviour.status == 409);
    CHECK(behaviour.death == Death::mid_body);
    CHECK(directed({}, "delay=20ms").value_or(Behaviour{}).delay.count() == 20);
    for (const std::string_view wrong :
         {"delay", "delay=", "delay=-1", "delay=1h", "die=later", "status=99", "status=600",
          "fail=0.5", "fail=500:2", "fail=500:", "x=1"}) {
        CAPTURE(wrong);
        CHECK_FALSE(directed({}, wrong).has_value());
    }
}
