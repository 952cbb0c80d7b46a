// The admin listener: who is let in, and what it shows.
#include "ops/admin.hpp"

#include "ops/admin_guard.hpp"
#include "ops/key_lookup.hpp"
#include "ops/served.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>

using namespace onceward;
using nlohmann::json;

namespace {

// Holds records by digest; fails when told to.
class ShelfStore final : public KeyStore {
public:
    std::map<core::Digest, core::Record> records;
    bool down = false;

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest, core::Claim) override
    {
        co_return StoreError::unavailable;
    }
    awaitable<StoreResult<core::Settled>> settle(core::Digest, core::Ticket,
                                                 core::Settlement) override
    {
        co_return StoreError::unavailable;
    }
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest digest) override
    {
        if (down) co_return StoreError::unavailable;
        const auto found = records.find(digest);
        if (found == records.end()) co_return std::optional<core::Record>();
        co_return std::optional<core::Record>(found->second);
    }
    awaitable<StoreResult<SweepReport>> sweep(std::size_t) override
    {
        co_return StoreError::unavailable;
    }
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        if (down) co_return StoreError::unavailable;
        std::vector<Listed> listed;
        for (const auto& [digest, record] : records) {
            if (record.state == core::State::unknown && listed.size() < limit)
                listed.push_back({digest, record});
        }
        co_return listed;
    }
};

core::Policy policy_of(core::SubjectKind kind)
{
    core::Route route;
    route.name = "charges";
    route.id = "charges-v1";
    route.match.methods = {"POST", "PATCH"};
    core::Policy policy;
    policy.routes = core::RouteTable({route});
    policy.subject.kind = kind;
    return policy;
}

core::Record done_record()
{
    core::Record record;
    record.state = core::State::done;
    record.kept = core::Kept::full;
    record.tier = 0;
    record.age = std::chrono::hours{3};
    record.remaining = std::chrono::hours{24};
    record.settled_at = core::StoreTime{std::chrono::milliseconds{1'764'583'331'007}};
    record.answer.status = 201;
    record.answer.fields.add("Location", "/v1/charges/7");
    record.answer.body = "{\"id\":7}\xff" + std::string(3'000, 'x');
    return record;
}

struct House {
    explicit House(core::SubjectKind kind = core::SubjectKind::credential) : policy(policy_of(kind))
    {
    }

    ShelfStore store;
    core::Policy policy;
    core::KeyedHash hash{std::string(32, 'k')};
    Metrics metrics{{"charges"}, 1};
    Health health{metrics};
    Admin admin{{.store = store,
                 .policy = policy,
                 .key_hash = hash,
                 .health = health,
                 .tiers = {"payments"},
                 .instance = "a1",
                 .config_file = "onceward.yaml",
                 .in_flight = [] { return std::size_t{4}; }}};

    core::Digest digest(std::string_view key, std::string_view subject,
                        std::string_view method) const
    {
        core::KeyScope scope;
        scope.subject = subject;
        scope.route_id = "charges-v1";
        scope.method = method;
        scope.key = key;
        return core::key_digest(hash, scope);
    }
};

const std::string lookup = R"({"route":"charges","key":"k1","subject":"Bearer s"})";

}  // namespace

TEST_CASE("only loopback hosts, and only those that are one")
{
    for (const auto* host : {"localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "[::1]", "::1"}) {
        CHECK_MESSAGE(is_loopback_host(host), host);
    }
    for (const auto* host : {"127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                             "", "127.1", "0.0.0.0", "10.0.0.1", "[::]", "[::2]", "2130706433",
                             "0x7f.0.0.1", "example.com", "[]"}) {
        CHECK_MESSAGE(!is_loopback_host(host), host);
    }
}

TEST_CASE("requests under another name are refused: DNS rebinding")
{
    House house;
    const Served served(house.admin.handler());
    const auto status_with = [&](const std::string& host_lines) {
        return status_of(
            served.send("GET /v1/status HTTP/1.1\r\nConnection: close\r\n" + host_lines + "\r\n"));
    };
    CHECK(status_with("Host: localhost\r\n") == 200);
    CHECK(status_with("Host: localhost:9480\r\n") == 200);
    CHECK(status_with("Host: 127.0.0.1:9480\r\n") == 200);
    CHECK(status_with("Host: [::1]:9480\r\n") == 200);
    CHECK(status_with("Host: evil.example\r\n") == 403);
    CHECK(status_with("Host: 127.0.0.1.evil.example\r\n") == 403);
    CHECK(status_with("Host: 127.evil.example:9480\r\n") == 403);
    CHECK(status_with("Host: localhost:x\r\n") == 403);
    CHECK(status_with("Host: localhost:1:2\r\n") == 403);
    CHECK(status_with("Host: [::1\r\n") == 403);
    CHECK(status_with("Host: localhost\r\nHost: localhost\r\n") != 200);
    CHECK(status_with("") == 403);
}

TEST_CASE("requests of web pages are refused")
{
    House house;
    const Served served(house.admin.handler());
    CHECK(status_of(served.get("/v1/status", "Origin: http://evil.example\r\n")) == 403);
    CHECK(status_of(served.get("/v1/status", "Origin: null\r\n")) == 403);
    CHECK(status_of(served.get("/v1/status", "Origin: http://127.0.0.1:3000\r\n")) == 403);
    CHECK(status_of(served.get("/v1/status", "Origin: http://127.0.0.1\r\n")) == 200);
    CHECK(status_of(served.get("/v1/status", "Sec-Fetch-Site: cross-site\r\n")) == 403);
    CHECK(status_of(served.get("/v1/status", "Sec-Fetch-Site: same-site\r\n")) == 403);
    CHECK(status_of(served.get("/v1/status", "Sec-Fetch-Site: none\r\n")) == 200);
    CHECK(status_of(served.get("/v1/status", "Sec-Fetch-Site: same-origin\r\n")) == 200);
}

TEST_CASE("a lookup is a POST of JSON and nothing else")
{
    House house;
    const Served served(house.admin.handler());
    CHECK(status_of(served.get("/v1/keys/lookup")) == 405);
    CHECK(status_of(served.post("/v1/keys/lookup", lookup, "")) == 415);
    CHECK(status_of(served.post("/v1/keys/lookup", lookup, "Content-Type: text/plain\r\n")) == 415);
    CHECK(status_of(served.post("/v1/keys/lookup", lookup,
                                "Content-Type: application/x-www-form-urlencoded\r\n")) == 415);
    CHECK(status_of(served.post("/v1/keys/lookup", lookup,
                                "Content-Type: application/json-patch+json\r\n")) == 415);
    CHECK(status_of(served.post("/v1/keys/lookup", lookup,
                                "Content-Type: Application/JSON; charset=utf-8\r\n")) == 404);
    CHECK(status_of(served.post("/v1/keys", lookup)) == 405);
    CHECK(status_of(served.post("/v1/status", lookup)) == 405);
    CHECK(status_of(served.send(
              "DELETE /v1/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 405);
    CHECK(status_of(served.get("/v1/nothing")) == 404);
}

TEST_CASE("every answer tells browsers to keep their hands off")
{
    House house;
    const Served served(house.admin.handler());
    for (const auto& answer :
         {served.get("/v1/status"), served.get("/x"), served.post("/v1/keys/lookup", "[]")}) {
        CHECK(answer.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
        CHECK(answer.find(
                  "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n") !=
              std::string::npos);
        CHECK(answer.find("Cache-Control: no-store\r\n") != std::string::npos);
        CHECK(answer.find("Access-Control-") == std::string::npos);
    }
}

TEST_CASE("a body that is deep, long or something else is refused without being built")
{
    House house;
    const Served served(house.admin.handler());
    const auto status_with = [&](const std::string& body) {
        return status_of(served.post("/v1/keys/lookup", body));
    };
    CHECK(status_with(std::string(60'000, '[')) == 400);
    std::string deep;
    for (int i = 0; i < 10'000; ++i)
        deep += "{\"a\":";
    CHECK(status_with(deep) == 400);
    CHECK(status_with(R"({"route":{"a":"b"}})") == 400);
    CHECK(status_with(R"({"route":"charges","key":["k1"]})") == 400);
    CHECK(status_with(R"({"route":"charges","route":"charges"})") == 400);
    CHECK(status_with(R"({"route":"charges","key":"k1","sudo":"yes"})") == 400);
    CHECK(status_with(R"({"route":"charges","key":1})") == 400);
    CHECK(status_with("") == 400);
    CHECK(status_with("{}") == 400);
    CHECK(status_with("\"charges\"") == 400);
    CHECK(status_with(lookup + lookup) == 400);
    CHECK(status_with("{\"route\":\"" + std::string(70'000, 'x') + "\"}") == 413);
}

TEST_CASE("a record is found by route, key and subject, and shown without key and body")
{
    House house;
    house.store.records[house.digest("k1", "Bearer s", "PATCH")] = done_record();
    const Served served(house.admin.handler());
    const auto answer = served.post("/v1/keys/lookup", lookup);
    CHECK(status_of(answer) == 200);
    const auto record = json::parse(body_of(answer));
    CHECK(record["schema"] == "onceward.key/1");
    CHECK(record["id"] == house.digest("k1", "Bearer s", "PATCH").hex());
    CHECK(record["key_id"] == record["id"].get<std::string>().substr(0, 12));
    CHECK(record["route"] == "charges");
    CHECK(record["method"] == "PATCH");
    CHECK(record["tier"] == "payments");
    CHECK(record["state"] == "DONE");
    CHECK(record["age_ms"] == 10'800'000);
    CHECK(record["settled_at"] == "2025-12-01T10:02:11.007Z");
    CHECK(record["response"]["status"] == 201);
    CHECK(record["response"]["bytes"] == 3'009);
    CHECK(record["response"]["headers"] ==
          json::array({json::array({"Location", "/v1/charges/7"})}));
    CHECK_FALSE(record["response"].contains("body_preview"));
    CHECK(answer.find("k1") == std::string::npos);
    CHECK(answer.find("Bearer") == std::string::npos);
}

TEST_CASE("the body is shown when asked for, no more than 2 KiB of it")
{
    House house;
    house.store.records[house.digest("k1", "Bearer s", "POST")] = done_record();
    const Served served(house.admin.handler());
    const auto answer = served.post(
        "/v1/keys/lookup", R"({"route":"charges","key":"k1","subject":"Bearer s","body":true})");
    const auto preview =
        json::parse(body_of(answer))["response"]["body_preview"].get<std::string>();
    CHECK(preview.starts_with("{\"id\":7}\xef\xbf\xbdxx"));
    CHECK(preview.size() == 2'048 + 2);  // One byte became the three of U+FFFD.
}

TEST_CASE("KEY-4 quoted and bare keys are the same key; route ids and a stated method work too")
{
    House house;
    house.store.records[house.digest("k1", "Bearer s", "POST")] = done_record();
    const Served served(house.admin.handler());
    const auto status_with = [&](const std::string& body) {
        return status_of(served.post("/v1/keys/lookup", body));
    };
    CHECK(status_with(R"({"route":"charges","key":"\"k1\"","subject":"Bearer s"})") == 200);
    CHECK(status_with(
              R"({"route":"charges-v1","key":"k1","subject":"Bearer s","method":"post"})") == 200);
    CHECK(status_with(R"({"route":"charges","key":"k1","subject":"Bearer s","method":"PATCH"})") ==
          404);
    CHECK(status_with(R"({"route":"charges","key":"k1","subject":"Bearer other"})") == 404);
    CHECK(status_with(R"({"route":"charges","key":"k2","subject":"Bearer s"})") == 404);
    CHECK(status_with(R"({"route":"nowhere","key":"k1","subject":"Bearer s"})") == 400);
    CHECK(status_with(R"({"route":"charges","key":"k1"})") == 400);
    CHECK(status_with(R"({"route":"charges","key":"k1","subject":"a\nb"})") == 400);
    CHECK(status_with(R"({"route":"charges","key":"\"k1","subject":"Bearer s"})") == 400);
}

TEST_CASE("SCP shared callers need no subject")
{
    House house(core::SubjectKind::shared);
    house.store.records[house.digest("k1", "", "POST")] = done_record();
    const Served served(house.admin.handler());
    CHECK(status_of(served.post("/v1/keys/lookup", R"({"route":"charges","key":"k1"})")) == 200);
}

TEST_CASE("the queue of unknown outcomes is listed")
{
    House house;
    for (const auto* key : {"a", "b", "c"}) {
        auto& record = house.store.records[house.digest(key, "Bearer s", "POST")];
        record.state = core::State::unknown;
        record.reason = core::Reason::timeout;
        record.tier = 0xFFFF;
    }
    house.store.records[house.digest("d", "Bearer s", "POST")] = done_record();
    const Served served(house.admin.handler());
    const auto list = json::parse(body_of(served.get("/v1/keys?state=unknown")));
    CHECK(list["schema"] == "onceward.keys/1");
    REQUIRE(list["items"].size() == 3);
    CHECK(list["items"][0]["state"] == "UNKNOWN");
    CHECK(list["items"][0]["reason"] == "timeout");
    CHECK_FALSE(list["items"][0].contains("response"));
    CHECK(json::parse(body_of(served.get("/v1/keys?state=unknown&limit=2")))["items"].size() == 2);
    for (const auto* query :
         {"", "?state=done", "?state=unknown&limit=0", "?state=unknown&limit=201",
          "?state=unknown&limit=1x", "?state=unknown&limit=-1", "?limit=5"}) {
        CHECK_MESSAGE(status_of(served.get(std::string("/v1/keys") + query)) == 400, query);
    }
}

TEST_CASE("a store that is down is told apart from a key that is not there")
{
    House house;
    house.store.down = true;
    const Served served(house.admin.handler());
    CHECK(status_of(served.post("/v1/keys/lookup", lookup)) == 503);
    CHECK(status_of(served.get("/v1/keys?state=unknown")) == 503);
    CHECK(status_of(served.get("/v1/status")) == 200);
}

TEST_CASE("status says what the process is at")
{
    House house;
    house.health.set_phase(Phase::ready);
    house.health.report(Dependency::store, true);
    house.metrics.set(Level::unknown_records, 2);
    const Served served(house.admin.handler());
    const auto status = json::parse(body_of(served.get("/v1/status")));
    CHECK(status["schema"] == "onceward.status/1");
    CHECK(status["state"] == "ready");
    CHECK(status["instance"] == "a1");
    CHECK(status["config"]["file"] == "onceward.yaml");
    CHECK(status["dependencies"]["store"]["up"] == true);
    CHECK(status["in_flight"] == 4);
    CHECK(status["unknown"] == 2);
}
