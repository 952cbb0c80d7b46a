// The client's contract, end to end: first answers, replays, refusals, released keys.
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

TEST_CASE("RPL-1 a retry gets the first answer's status, fields and bytes, and runs nothing")
{
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte)
        every_byte.push_back(static_cast<char>(byte));
    World world({},
                sends(answer("201 Created", every_byte,
                             "Location: /things/1\r\nContent-Type: image/x\r\nETag: \"1\"\r\n")));
    const auto first = world.ask(post("/c", "RPL-1"));
    CHECK(first.status == 201);
    CHECK_FALSE(first.has("Idempotent-Replayed"));
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto again = world.ask(post("/c", "RPL-1"));
        CHECK(again.status == 201);
        CHECK(again.replayed());
        CHECK(again.body.bytes == every_byte);
        CHECK(again.field("Location") == "/things/1");
        CHECK(again.field("Content-Type") == "image/x");
        CHECK(again.field("ETag") == "\"1\"");
        CHECK(again.has("Idempotent-Original-Date"));
        CHECK(again.has("Date"));
    }
    CHECK(world.origin().requests() == 1);
    CHECK(world.state("RPL-1") == "DONE");
}

TEST_CASE("RPL-2 an upstream's own marker does not pass for ours")
{
    World world({}, sends(answer("201 Created", "x",
                                 "Idempotent-Replayed: true\r\nIdempotent-Stored: "
                                 "false\r\nIdempotent-Retryable: true\r\n")));
    const auto first = world.ask(post("/c", "RPL-2"));
    CHECK_FALSE(first.has("Idempotent-Replayed"));
    CHECK_FALSE(first.has("Idempotent-Stored"));
    CHECK_FALSE(first.has("Idempotent-Retryable"));
    CHECK(world.ask(post("/c", "RPL-2")).head.count("Idempotent-Replayed") == 1);
}

TEST_CASE("RPL-5..7 fields of one moment are not replayed")
{
    World world(
        {},
        sends(answer(
            "201 Created", "x",
            "Date: Mon, 01 Jan 2001 00:00:00 GMT\r\nAge: 5\r\nCache-Control: max-age=60\r\n"
            "Expires: Mon, 01 Jan 2035 00:00:00 GMT\r\nSet-Cookie: s=1\r\n"
            "RateLimit-Remaining: 9\r\nServer-Timing: db;dur=1\r\nVia: 1.1 x\r\nX-Kept: 1\r\n")));
    const auto first = world.ask(post("/c", "RPL-7"));
    CHECK(first.field("Date") == "Mon, 01 Jan 2001 00:00:00 GMT");
    CHECK(first.field("Set-Cookie") == "s=1");
    const auto again = world.ask(post("/c", "RPL-7"));
    CHECK(again.replayed());
    CHECK(again.field("X-Kept") == "1");
    CHECK(again.field("Date") != "Mon, 01 Jan 2001 00:00:00 GMT");
    CHECK(again.field("Cache-Control") == "no-store");
    for (const std::string name :
         {"Age", "Expires", "Set-Cookie", "RateLimit-Remaining", "Server-Timing", "Via"}) {
        CAPTURE(name);
        CHECK_FALSE(again.has(name));
    }
}

TEST_CASE("RPL-9 answers without content stay without, and HTTP/1.0 clients get a length")
{
    World world;
    world.origin().script(sends("HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"));
    for (int attempt = 0; attempt < 2; ++attempt) {
        Client client(world.proxy().port());
        const auto none = client.ask(post("/c", "RPL-9-204"));
        CHECK(none.status == 204);
        CHECK_FALSE(none.has("Transfer-Encoding"));
        CHECK_FALSE(none.has("Content-Length"));
        world.origin().script(sends(answer("200 OK", "next")));
        CHECK(client.ask(get("/next"), "GET").body.bytes == "next");
    }
    world.origin().script(sends("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"));
    for (int attempt = 0; attempt < 2; ++attempt)
        CHECK(world.ask(post("/c", "RPL-9-304")).status == 304);
    world.origin().script(
        sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nold\r\n0\r\n\r\n"));
    for (int attempt = 0; attempt < 2; ++attempt) {
        Client client(world.proxy().port());
        const auto old =
            client.ask("POST /c HTTP/1.0\r\nIdempotency-Key: RPL-9\r\nContent-Length: 0\r\n\r\n");
        CHECK(old.status == 200);
        CHECK(old.field("Content-Length") == "3");
        CHECK_FALSE(old.has("Transfer-Encoding"));
        CHECK(old.body.bytes == "old");
        CHECK(client.closed());
    }
}

TEST_CASE("RPL-10 a keyed request asks the upstream for plain bytes")
{
    World world;
    CHECK(world.ask(post("/c", "RPL-10", "x", "Accept-Encoding: gzip\r\n")).status == 201);
    CHECK(world.origin().request(1).head.all("Accept-Encoding") ==
          std::vector<std::string>{"identity"});
    CHECK(world.ask(get("/free", "Accept-Encoding: gzip\r\n"), "GET").status == 201);
    CHECK(world.origin().request(2).head.field("Accept-Encoding") == "gzip");
}

TEST_CASE(
    "KEY-6 KEY-11 quoted and bare are one key, case counts, and the field is forwarded as sent")
{
    World world;
    const auto with = [](std::string_view key) {
        std::string bytes = "POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key:   ";
        return bytes.append(key).append("  \r\nContent-Length: 0\r\n\r\n");
    };
    CHECK(world.ask(with("abc")).body.bytes == "thing 1");
    CHECK(world.ask(with("\"abc\"")).body.bytes == "thing 1");
    CHECK(world.ask(with("\"abc\";v=1")).body.bytes == "thing 1");
    CHECK(world.ask(with("ABC")).body.bytes == "thing 2");
    CHECK(world.ask(with("\"q\\\"q\"")).body.bytes == "thing 3");
    CHECK(world.origin().request(1).head.field("Idempotency-Key") == "abc");
    CHECK(world.origin().request(3).head.field("Idempotency-Key") == "\"q\\\"q\"");
}

TEST_CASE("FPR-11 another body is 422, while the first runs and after it")
{
    Gate finish;
    World world({}, [&finish](Call& call) {
        call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    Client first(world.proxy().port());
    first.send(post("/c", "FPR-11", "one"));
    REQUIRE(world.origin().wait_for_requests(1));
    const auto check = [&] {
        const auto other = world.ask(post("/c", "FPR-11", "two"));
        CHECK(other.status == 422);
        CHECK(other.code() == "fingerprint-mismatch");
        CHECK(other.json("retry") == "none");
        CHECK(other.field("Idempotent-Retryable") == "false");
    };
    check();
    finish.open();
    CHECK(first.read().status == 201);
    check();
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("RSV-6 RSV-8 a duplicate in flight is 409 with Retry-After, and the 409 is not kept")
{
    Gate finish;
    World world({}, [&finish](Call& call) {
        call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    Client first(world.proxy().port());
    first.send(post("/c", "RSV-6"));
    REQUIRE(world.origin().wait_for_requests(1));
    CHECK(world.state("RSV-6") == "PENDING");
    const auto busy = world.ask(post("/c", "RSV-6"));
    CHECK(busy.status == 409);
    CHECK(busy.code() == "in-progress");
    CHECK(busy.field("Idempotent-Retryable") == "true");
    CHECK(busy.json("retry") == "same-key");
    const auto after = busy.field("Retry-After");
    CHECK((after.size() <= 2 && std::atoi(after.c_str()) >= 1 && std::atoi(after.c_str()) <= 30));
    finish.open();
    CHECK(first.read().status == 201);
    CHECK(world.ask(post("/c", "RSV-6")).replayed());
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("EXP-4 a key past its retention is refused and never runs again")
{
    Configuration configuration;
    configuration.tier = "{ retention: 1s, lease: 60s }";
    World world(configuration);
    CHECK(world.ask(post("/c", "EXP-4")).status == 201);
    // Retention is judged by the store's clock at each read; replays before it are right too.
    const auto deadline = within(patience);
    auto answer = world.ask(post("/c", "EXP-4"));
    while (answer.replayed() && std::chrono::steady_clock::now() < deadline)
        answer = world.ask(post("/c", "EXP-4"));
    CHECK(answer.status == 422);
    CHECK(answer.code() == "key-expired");
    CHECK(world.state("EXP-4") == "EXPIRED");
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("decision 15: status_only keeps no body and says so")
{
    Configuration configuration;
    configuration.tier = "{ retention: 1h, lease: 60s, store_response: status_only }";
    World world(configuration);
    CHECK(world.ask(post("/c", "d15")).body.bytes == "thing 1");
    const auto again = world.ask(post("/c", "d15"));
    CHECK(again.status == 201);
    CHECK(again.replayed());
    CHECK(again.body.bytes.empty());
    CHECK(again.field("Location") == "/things/1");
    CHECK(again.field("Idempotent-Stored") == "status-only");
}

TEST_CASE(
    "APP-1 APP-2 GET with a key passes each time, and so does a keyless POST where the route lets "
    "it")
{
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, when_missing: "
        "pass }\n";
    World world(configuration);
    CHECK(world.ask(get("/c", "Idempotency-Key: g\r\n"), "GET").body.bytes == "thing 1");
    CHECK(world.ask(get("/c", "Idempotency-Key: g\r\n"), "GET").body.bytes == "thing 2");
    const std::string keyless = "POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    CHECK(world.ask(keyless).body.bytes == "thing 3");
    const auto again = world.ask(keyless);
    CHECK(again.body.bytes == "thing 4");
    CHECK_FALSE(again.has("Idempotent-Replayed"));
    CHECK(world.ask(post("/c", "k")).body.bytes == "thing 5");
    CHECK(world.ask(post("/c", "k")).body.bytes == "thing 5");
}

TEST_CASE("decision 23: spellings that a legacy API may take for the guarded operation are guarded")
{
    World world;
    const std::string rest = " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n";
    for (const std::string line :
         {"POST /c", "POST //c", "POST /x/../c", "POST /%63", "POST /c/", "POST /c;v=1",
          "POST /c?x", "post /c", "POST /x/%2e%2e/c", "POST /%2Fc", "POST \\c"}) {
        CAPTURE(line);
        const auto got = world.ask(line + rest + "\r\n");
        CHECK(got.status == 400);
    }
    for (const std::string name :
         {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"}) {
        CAPTURE(name);
        CHECK(world.ask("GET /c" + rest + name + ": POST\r\n\r\n", "GET").code() == "key-missing");
    }
    CHECK(world.origin().bytes() == 0);
}

TEST_CASE("ERR-1..4 an error document tells the contract and nothing of the request")
{
    World world;
    world.stop_origin();
    const auto got = world.ask(post("/c", "secret-key", "secret-body"));
    CHECK(got.status == 502);
    CHECK(got.json("type") == "urn:onceward:problem:upstream-unreached");
    CHECK(got.json("status") == "502");
    CHECK_FALSE(got.json("title").empty());
    CHECK_FALSE(got.json("detail").empty());
    CHECK(got.json("retryable") == "true");
    CHECK(got.json("retry") == "same-key");
    CHECK(got.field("Content-Language") == "en");
    CHECK(got.field("Cache-Control") == "no-store");
    CHECK(contains(got.field("Proxy-Status"), "connection_refused"));
    CHECK_FALSE(contains(got.head.raw + got.body.bytes, "secret"));
    CHECK_FALSE(contains(got.head.raw + got.body.bytes, "127.0.0.1"));
    CHECK_FALSE(contains(world.proxy().log() + world.proxy().errors(), "secret-"));
}

TEST_CASE("Connection: close of a keyed request ends the connection after its answer")
{
    World world;
    for (int attempt = 0; attempt < 2; ++attempt) {
        Client client(world.proxy().port());
        const auto got = client.ask(post("/c", "close", "x", "Connection: close\r\n"));
        CHECK(got.status == 201);
        CHECK(got.field("Connection") == "close");
        CHECK(client.closed());
    }
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("OBS-1 each decision is counted under its own name")
{
    World world;
    world.ask(post("/c", "one"));
    world.ask(post("/c", "one"));
    world.ask(post("/c", "one", "other"));
    world.origin().script(sends(answer("500 Bad", "x")));
    world.ask(post("/c", "two"));
    world.ask("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    // An answer is counted once it is written, so its reader may be early.
    const auto counted_once = [&](const std::string& decision, const std::string& code) {
        const auto series = "onceward_requests_total{route=\"guarded\",decision=\"" + decision +
                            "\",code=\"" + code + "\"}";
        const auto deadline = within(patience);
        while (world.metric(series) != "1" && std::chrono::steady_clock::now() < deadline) {
        }
        return world.metric(series) == "1";
    };
    CHECK(counted_once("executed", "2xx"));
    CHECK(counted_once("replayed", "2xx"));
    CHECK(counted_once("mismatch", "4xx"));
    CHECK(counted_once("unknown", "5xx"));
    CHECK(counted_once("rejected", "4xx"));
}
