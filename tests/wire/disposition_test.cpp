// What each complete answer of the upstream makes of its key (decision 12).
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

TEST_CASE("decision 12: recorded failures replay as they were")
{
    World world;
    for (const int status : {400, 401, 402, 403, 404, 409, 410, 422, 451}) {
        const auto key = std::to_string(status);
        CAPTURE(key);
        const auto before = world.origin().requests();
        world.origin().script(sends(answer(key + " No", "{\"declined\":" + key + "}")));
        CHECK(world.ask(post("/c", key)).status == status);
        const auto again = world.ask(post("/c", key));
        CHECK(again.status == status);
        CHECK(again.replayed());
        CHECK(again.body.bytes == "{\"declined\":" + key + "}");
        CHECK_FALSE(again.has("Proxy-Status"));
        CHECK(world.state(key) == "FAILED");
        CHECK(world.origin().requests() == before + 1);
    }
}

TEST_CASE("decision 12: 2xx and 3xx are done and replay, redirects are not followed")
{
    World world;
    for (const int status : {200, 202, 205, 206, 299, 301, 303, 307, 399}) {
        const auto key = std::to_string(status);
        CAPTURE(key);
        const auto before = world.origin().requests();
        world.origin().script(
            sends(answer(key + " Yes", status == 205 ? "" : "body", "Location: /l\r\n")));
        CHECK(world.ask(post("/c", key)).status == status);
        const auto again = world.ask(post("/c", key));
        CHECK(again.status == status);
        CHECK(again.replayed());
        CHECK(again.field("Location") == "/l");
        CHECK(world.state(key) == "DONE");
        CHECK(world.origin().requests() == before + 1);
    }
}

TEST_CASE(
    "decision 12: a 5xx is unknown with its answer: the same bytes, not retryable, in the "
    "operators' list")
{
    World world;
    for (const int status : {500, 501, 502, 503, 504, 599}) {
        const auto key = std::to_string(status);
        CAPTURE(key);
        const auto before = world.origin().requests();
        const auto text = "{\"error\":" + key + "}";
        world.origin().script(
            sends(answer(key + " Bad", text, "Retry-After: 1\r\nX-Trace: 7\r\n")));
        for (int attempt = 0; attempt < 3; ++attempt) {
            const auto got = world.ask(post("/c", key));
            CHECK(got.status == status);
            CHECK(got.body.bytes == text);
            CHECK(got.field("X-Trace") == "7");
            CHECK(got.field("Idempotent-Retryable") == "false");
            CHECK_FALSE(got.has("Idempotent-Replayed"));
        }
        CHECK(world.state(key) == "UNKNOWN");
        CHECK(world.origin().requests() == before + 1);
        const auto id = world.lookup(key).json("id");
        CHECK_FALSE(id.empty());
        CHECK(contains(world.admin("/v1/keys?state=unknown").body.bytes, id));
    }
}

TEST_CASE("decision 12: 408 is unknown")
{
    World world({}, sends(answer("408 Request Timeout", "late")));
    CHECK(world.ask(post("/c", "408")).status == 408);
    const auto again = world.ask(post("/c", "408"));
    CHECK(again.status == 408);
    CHECK(again.field("Idempotent-Retryable") == "false");
    CHECK(world.state("408") == "UNKNOWN");
    CHECK(world.origin().requests() == 1);
}

TEST_CASE(
    "RSV-13 statuses that say nothing was done release the key; the next try runs, even with "
    "another body")
{
    World world;
    const std::vector<std::pair<std::string, std::string>> released{
        {"401", "WWW-Authenticate: Basic realm=\"x\"\r\n"},
        {"407", "Proxy-Authenticate: Basic realm=\"x\"\r\n"},
        {"421", ""},
        {"425", ""},
        {"429", "Retry-After: 7\r\n"}};
    for (const auto& [status, fields] : released) {
        CAPTURE(status);
        const auto before = world.origin().requests();
        world.origin().script(sends(answer(status + " No", "later", fields)));
        const auto first = world.ask(post("/c", status));
        CHECK(std::to_string(first.status) == status);
        CHECK(first.body.bytes == "later");
        CHECK(first.field("Idempotent-Retryable") == "true");
        if (status == "429") CHECK(first.field("Retry-After") == "7");
        CHECK(world.state(status) == "RELEASED");
        world.origin().script({});
        CHECK(world.ask(post("/c", status, "another body")).status == 201);
        CHECK(world.ask(post("/c", status, "another body")).replayed());
        CHECK(world.ask(post("/c", status)).status == 422);
        CHECK(world.origin().requests() == before + 2);
    }
}

TEST_CASE("decision 12: outcomes of a route override what statuses mean")
{
    Configuration configuration;
    configuration.routes =
        "  - name: guarded\n    match: { method: POST, path_prefix: /c }\n    tier: t\n"
        "    outcomes: { done: [404, 5xx], failed: [200], released: [503, 418], unknown: [202, "
        "429] }\n";
    World world(configuration);
    const std::vector<std::pair<std::string, std::string>> meant{
        {"404", "DONE"},     {"500", "DONE"},    {"200", "FAILED"},  {"503", "RELEASED"},
        {"418", "RELEASED"}, {"202", "UNKNOWN"}, {"429", "UNKNOWN"}, {"201", "DONE"},
        {"400", "FAILED"},   {"425", "RELEASED"}};
    for (const auto& [status, state] : meant) {
        CAPTURE(status);
        world.origin().script(sends(answer(status + " X", "x")));
        CHECK(std::to_string(world.ask(post("/c", status)).status) == status);
        CHECK(world.state(status) == state);
    }
}

TEST_CASE("D12 a close-delimited answer is accepted only when it is whole by the route's own test")
{
    Configuration configuration;
    const std::string accept = " tier: t, close_delimited: accept, complete_if: ";
    configuration.routes =
        "  - { name: json, match: { method: POST, path_prefix: /json }," + accept + "json }\n" +
        "  - { name: xml, match: { method: POST, path_prefix: /xml }," + accept + "xml }\n" +
        "  - { name: any, match: { method: POST, path_prefix: /any }," + accept + "any }\n" +
        "  - { name: none, match: { method: POST, path_prefix: /none }, tier: t }\n";
    World world(configuration);
    struct Case {
        std::string target, body, state;
    };
    const std::vector<Case> cases{
        {"json", "{\"a\":[1,2]}", "DONE"}, {"json", "{\"a\":[1,2", "UNKNOWN"},
        {"json", "", "UNKNOWN"},           {"xml", "<a><b/></a>", "DONE"},
        {"xml", "<a><b/>", "UNKNOWN"},     {"any", "half", "DONE"},
        {"none", "{}", "UNKNOWN"}};
    int number = 0;
    for (const auto& [target, body, state] : cases) {
        const auto key = std::to_string(++number);
        CAPTURE(target);
        CAPTURE(body);
        world.origin().script(sends_and_closes("HTTP/1.1 200 OK\r\n\r\n" + body));
        const auto first = world.ask(post("/" + target, key));
        CHECK(first.status == (state == "DONE" ? 200 : 502));
        CHECK(world.state(key, target) == state);
        const auto again = world.ask(post("/" + target, key));
        CHECK(again.status == first.status);
        CHECK(again.replayed() == (state == "DONE"));
        CHECK(world.origin().requests() == static_cast<std::size_t>(number));
    }
}
