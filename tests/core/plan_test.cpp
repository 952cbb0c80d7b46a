// What a request's head leads to: pass through, a refusal, or a guarded operation.
#include "core/plan.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace onceward::core;

Policy policy(WhenMissing when_missing = WhenMissing::reject, Mode mode = Mode::enforce)
{
    Route payments;
    payments.name = "payments";
    payments.id = "pay";
    payments.match = {{"POST", "PATCH"}, PathMatch::prefix, "/v1/payments", {}};
    payments.when_missing = when_missing;
    payments.mode = mode;
    std::vector<Route> routes;
    routes.push_back(std::move(payments));
    return {RouteTable(std::move(routes)), {}, {SubjectKind::credential, "Authorization"}};
}

const Field key{"Idempotency-Key", "\"k-1\""};
const Field credential{"Authorization", "Bearer sk_live_1"};

Plan planned(std::initializer_list<Field> list, const Policy& under = policy(),
             std::string_view method = "POST", std::string_view target = "/v1/payments")
{
    return plan(under, method, target, fields_of(list), false);
}

// The refusal's code, or "passed", "keyless" or "guarded".
std::string said(const Plan& plan)
{
    if (const auto* passed = std::get_if<PassThrough>(&plan)) {
        return passed->keyless ? "keyless" : "passed";
    }
    if (std::holds_alternative<Guard>(plan)) return "guarded";
    const auto& rejected = std::get<Reject>(plan);
    CHECK(rejected.route == "payments");
    CHECK(rejected.problem.effective_status() == 400);
    CHECK_FALSE(rejected.problem.detail.empty());
    return std::string(kind_of(rejected.problem.code).code);
}

}  // namespace

TEST_CASE("a keyed request on an enforcing route is guarded under its parts")
{
    const auto result = planned({key, credential});
    const auto* guard = std::get_if<Guard>(&result);
    REQUIRE(guard);
    CHECK(guard->route->id == "pay");
    CHECK(guard->method == "POST");
    CHECK(guard->subject == "Bearer sk_live_1");
    CHECK(guard->key == "k-1");
}

TEST_CASE("APP-1 requests that meet no enforcing route pass, with a key or without")
{
    CHECK(said(planned({key, credential}, policy(), "GET")) == "passed");
    CHECK(said(planned({key, credential}, policy(), "DELETE")) == "passed");
    CHECK(said(planned({key, credential}, policy(), "POST", "/v1/other")) == "passed");
    CHECK(said(planned({}, policy(), "GET")) == "passed");
    const Field bad{"Idempotency-Key", "a b"};
    CHECK(said(planned({bad}, policy(), "GET")) == "passed");
    CHECK(said(planned({key}, policy(WhenMissing::reject, Mode::off))) == "passed");
    CHECK(said(planned({key}, policy(WhenMissing::reject, Mode::observe))) == "passed");
}

TEST_CASE("APP-2 a missing key is refused, or passes where the route allows it")
{
    CHECK(said(planned({credential})) == "key-missing");
    CHECK(said(planned({})) == "key-missing");
    CHECK(said(planned({credential}, policy(WhenMissing::pass))) == "keyless");
    CHECK(said(planned({}, policy(WhenMissing::pass))) == "keyless");
}

TEST_CASE("KEY-3 KEY-8 KEY-9 a malformed key is refused, also where a missing one would pass")
{
    for (const auto when : {WhenMissing::reject, WhenMissing::pass}) {
        const auto under = policy(when);
        CHECK(said(planned({{"Idempotency-Key", "\"k"}, credential}, under)) == "key-invalid");
        CHECK(said(planned({{"Idempotency-Key", ""}, credential}, under)) == "key-invalid");
        CHECK(said(planned({key, key, credential}, under)) == "key-invalid");
    }
}

TEST_CASE("decision 19 a key without a subject is refused; the key is looked at first")
{
    CHECK(said(planned({key})) == "subject-missing");
    CHECK(said(planned({key, {"Authorization", "Digest username=\"a\""}})) == "subject-missing");
    CHECK(said(planned({key, credential, credential})) == "subject-missing");
    CHECK(said(planned({{"Idempotency-Key", "\"k"}})) == "key-invalid");
    CHECK(said(planned({key}, policy(WhenMissing::pass))) == "subject-missing");
}

TEST_CASE("SCP-4 the trusted peer's word reaches the subject")
{
    auto under = policy();
    under.subject = {SubjectKind::trusted_header, "X-Consumer"};
    const Fields fields = fields_of({key, {"X-Consumer", "merchant 7"}});
    const auto trusted = plan(under, "POST", "/v1/payments", fields, true);
    REQUIRE(said(trusted) == "guarded");
    CHECK(std::get<Guard>(trusted).subject == "merchant 7");
    CHECK(said(plan(under, "POST", "/v1/payments", fields, false)) == "subject-missing");
}

TEST_CASE("decision 23 every method-override header is tried, in any case")
{
    for (const std::string_view name : {"X-HTTP-Method-Override", "X-HTTP-Method",
                                        "X-Method-Override", "x-http-method-override"}) {
        CAPTURE(name);
        const auto result = planned({key, credential, {name, "patch"}}, policy(), "GET");
        const auto* guard = std::get_if<Guard>(&result);
        REQUIRE(guard);
        CHECK(guard->method == "PATCH");
        CHECK(said(planned({credential, {name, "POST"}}, policy(), "GET")) == "key-missing");
    }
    const auto twice = planned(
        {key, credential, {"X-HTTP-Method", "PUT"}, {"X-HTTP-Method", "POST"}}, policy(), "GET");
    CHECK(said(twice) == "guarded");
}
