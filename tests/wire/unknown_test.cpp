// Whatever happens after the first byte left: never a false success, never a second execution
// (OUT-4 to OUT-8).
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

namespace {

// A first try and a retry: both this status and `outcome-unknown`, one upstream request in all.
void check_unknown(World& world, const std::string& what, const std::string& key, int status)
{
    CAPTURE(what);
    const auto before = world.origin().requests();
    for (int attempt = 0; attempt < 2; ++attempt) {
        CAPTURE(attempt);
        const auto answer = world.ask(post("/c", key));
        CAPTURE(answer.head.raw);
        CHECK(answer.status == status);
        CHECK(answer.code() == "outcome-unknown");
        CHECK(answer.field("Idempotent-Retryable") == "false");
        CHECK_FALSE(answer.has("Idempotent-Replayed"));
        CHECK(answer.has("Proxy-Status"));
    }
    CHECK(world.state(key) == "UNKNOWN");
    CHECK(world.origin().requests() == before + 1);
}

const std::string by_length = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello";
const std::string by_chunks =
    "HTTP/1.1 201 Created\r\nTransfer-Encoding: "
    "chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n";
const std::string by_close = "HTTP/1.0 201 Created\r\nX-A: b\r\n\r\nhello";

}  // namespace

TEST_CASE("OUT-8 an answer that ends at any byte before its last is unknown, whatever its framing")
{
    World world;
    int number = 0;
    for (const auto& whole : {by_length, by_chunks}) {
        for (std::size_t size = 0; size < whole.size(); ++size) {
            world.origin().script(sends_and_closes(whole.substr(0, size)));
            check_unknown(world, whole.substr(0, size), "cut-" + std::to_string(++number), 502);
        }
        world.origin().script(sends_and_closes(whole));
        const auto key = "whole-" + std::to_string(number);
        CHECK(world.ask(post("/c", key)).body.bytes == "hello");
        CHECK(world.ask(post("/c", key)).replayed());
    }
    for (std::size_t size = 0; size <= by_close.size(); ++size) {
        world.origin().script(sends_and_closes(by_close.substr(0, size)));
        check_unknown(world, by_close.substr(0, size), "cut-" + std::to_string(++number), 502);
    }
}

TEST_CASE("OUT-7 a reset at any byte of the answer is unknown")
{
    World world;
    int number = 0;
    for (const auto& whole : {by_length, by_chunks, by_close}) {
        for (std::size_t size = 0; size < whole.size(); size += 3) {
            world.origin().script([bytes = whole.substr(0, size)](Call& call) {
                call.send(bytes);
                call.reset();
            });
            check_unknown(world, whole.substr(0, size), "reset-" + std::to_string(++number), 502);
        }
    }
}

TEST_CASE("W17 the upstream resets before it has read the whole request")
{
    World world;
    world.origin().on_head([](Call& call) { call.reset(); });
    const std::string body(1 << 20, 'x');
    const auto first = world.ask(post("/c", "W17", body));
    CHECK(first.status == 502);
    CHECK(first.code() == "outcome-unknown");
    CHECK(world.ask(post("/c", "W17", body)).status == 502);
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("W17 an early complete answer to a half-sent body is the answer")
{
    World world;
    world.origin().on_head([](Call& call) {
        call.send(answer("413 Too Large", "no", "Connection: close\r\n"));
        call.finish();
    });
    const std::string body(1 << 20, 'x');
    const auto first = world.ask(post("/c", "early", body));
    CHECK((first.status == 413 || first.code() == "outcome-unknown"));
    const auto again = world.ask(post("/c", "early", body));
    CHECK(again.status == first.status);
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("OUT-7 no answer in time is 504, also in mid-head and mid-body")
{
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, timeout: 150ms "
        "}\n";
    World world(configuration);
    for (const std::string begun :
         {"", "HTTP/1.1 201 Cre", "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhel",
          "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
          "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nhalf"}) {
        world.origin().script([begun](Call& call) {
            call.send(begun);
            call.left_by_peer();
        });
        check_unknown(world, begun, "timeout-" + std::to_string(begun.size()), 504);
    }
}

TEST_CASE("OUT-13 what is not HTTP is 502 and unknown")
{
    const std::string end = "Content-Length: 5\r\n\r\nhello";
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    const std::vector<std::string> answers{
        "garbage\r\n\r\n",
        "HTTP/1.1 099 Low\r\n" + end,
        "HTTP/1.1 600 High\r\n" + end,
        "HTTP/1.1 999 High\r\n" + end,
        "HTTP/1.1 20 Short\r\n" + end,
        "HTTP/1.1 2000 Long\r\n" + end,
        "HTTP/1.1 abc Word\r\n" + end,
        "HTTP/1.1 -20 Minus\r\n" + end,
        "HTTP/3.0 200 OK\r\n" + end,
        "ICY 200 OK\r\n" + end,
        "http/1.1 200 OK\r\n" + end,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello\r\n\r\n",
        ok + "X-A: b\x01\r\n" + end,
        ok + std::string("X-A: b\0\r\n", 9) + end,
        ok + "X-A: b\rX-B: c\r\n" + end,
        ok + "X A: b\r\n" + end,
        ok + ": b\r\n" + end,
        ok + "no colon\r\n" + end,
        ok + "Transfer-Encoding: gzip\r\n\r\nhello",
        ok + "Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n" + end,
        ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: "
             "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        ok + "Content-Length: +5\r\n\r\nhello",
        ok + "Content-Length: \r\n\r\nhello",
        ok + "Content-Length: 18446744073709551621\r\n\r\nhello",
        ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff5\r\nhello\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n5;" + std::string(200'000, 'e') +
            "\r\nhello\r\n0\r\n\r\n",
    };
    World world;
    int number = 0;
    for (const auto& bytes : answers) {
        world.origin().script(sends_and_closes(bytes));
        check_unknown(world, bytes.substr(0, 120), "garbage-" + std::to_string(++number), 502);
        CHECK(world.ask(get("/free"), "GET").status >= 200);
    }
    CHECK(world.proxy().is_running());
}

TEST_CASE(
    "HTP-7 a folded field of an answer is read and passed on as one line, or the answer refused")
{
    World world;
    const std::string end = "\r\n5\r\nhello\r\n0\r\n\r\n";
    world.origin().script(sends(
        "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nTransfer-Encoding:\r\n chunked\r\n" + end));
    for (const auto& bytes : {post("/c", "fold"), post("/c", "fold"), post("/free", "fold")}) {
        const auto got = world.ask(bytes);
        if (got.status == 502) continue;
        CHECK(got.status == 200);
        CHECK(got.body.bytes == "hello");
        CHECK(contains(got.head.raw, "X-Long: one"));
        CHECK_FALSE(contains(got.head.raw, "\r\n "));
    }
}

TEST_CASE("HTP-14 a blank before an answer's colon is removed, or the answer refused")
{
    World world({}, sends_and_closes("HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 2\r\n\r\nok"));
    const auto got = world.ask(get("/free"), "GET");
    if (got.status == 200) {
        CHECK(got.field("X-A") == "b");
        CHECK_FALSE(contains(got.head.raw, "X-A :"));
    } else {
        CHECK(got.status == 502);
    }
}

TEST_CASE("OUT-12 interim answers are not the answer")
{
    World world({},
                sends("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                      "HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n" +
                      answer("201 Created", "made")));
    const auto first = world.ask(post("/c", "OUT-12"));
    CHECK(first.status == 201);
    CHECK(first.body.bytes == "made");
    const auto again = world.ask(post("/c", "OUT-12"));
    CHECK(again.replayed());
    CHECK(again.interim.empty());
    CHECK_FALSE(again.has("Link"));
    const auto old =
        world.ask("POST /c HTTP/1.0\r\nIdempotency-Key: OUT-12-old\r\nContent-Length: 0\r\n\r\n");
    CHECK(old.status == 201);
    CHECK(old.interim.empty());
}

TEST_CASE("HTP-15 a connection with bytes after the answer is not used again")
{
    World world;
    const auto evil = answer("200 OK", "evil");
    for (const std::string prefix : {"/c", "/free"}) {
        CAPTURE(prefix);
        const auto connections = world.origin().connections();
        world.origin().script(
            [evil](Call& call) { call.send(answer("200 OK", call.request().head.start) + evil); });
        CHECK(contains(world.ask(post(prefix, "HTP-15-a")).body.bytes, prefix));
        CHECK(world.origin().wait_for_end(connections == 0 ? 1 : connections));
        CHECK(contains(world.ask(post(prefix, "HTP-15-b")).body.bytes, prefix));
        CHECK(contains(world.ask(get("/third"), "GET").body.bytes, "/third"));
        CHECK(world.origin().connections() >= connections + 2);
    }
}

TEST_CASE("HTP-15 bytes that come while the connection is idle are nobody's answer")
{
    Gate say;
    Gate said;
    World world({}, [&](Call& call) {
        call.send(answer("200 OK", call.request().head.start));
        if (call.request().number > 1 || !call.wait(say)) return;
        call.send(answer("200 OK", "evil"));
        said.open();
    });
    CHECK(contains(world.ask(post("/c", "idle-a")).body.bytes, "/c"));
    say.open();
    CHECK(readable(said.descriptor(), within(patience)));
    for (const std::string key : {"idle-b", "idle-c"}) {
        const auto got = world.ask(post("/c", key));
        CHECK_FALSE(contains(got.body.bytes, "evil"));
    }
    CHECK(contains(world.ask(get("/free"), "GET").body.bytes, "/free"));
}

TEST_CASE("OUT-6 nothing was sent: released, and exactly one of many retries runs")
{
    World world;
    world.stop_origin();
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto refused = world.ask(post("/c", "OUT-6"));
        CHECK(refused.status == 502);
        CHECK(refused.code() == "upstream-unreached");
        CHECK(contains(refused.field("Proxy-Status"), "connection_refused"));
    }
    world.start_origin();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 100; ++i)
        clients.push_back(std::make_unique<Client>(world.proxy().port()));
    for (auto& client : clients)
        client->send(post("/c", "OUT-6"));
    int fresh = 0;
    for (auto& client : clients) {
        const auto got = client->read();
        CHECK((got.status == 201 || got.status == 409));
        if (got.status == 201 && !got.replayed()) ++fresh;
    }
    CHECK(fresh == 1);
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("OUT-9 the client's leaving does not end the call; a later retry replays")
{
    Gate finish;
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, in_progress: { "
        "wait: 10s } }\n";
    World world(configuration, [&finish](Call& call) {
        if (call.request().head.start.starts_with("POST")) call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    for (const std::string key : {"fin", "rst"}) {
        Client client(world.proxy().port());
        client.send(post("/c", key));
        REQUIRE(world.origin().wait_for_requests(key == "fin" ? 1 : 2));
        if (key == "fin") client.socket().close();
        if (key == "rst") client.socket().reset();
    }
    CHECK(world.ask(get("/barrier"), "GET").status == 201);
    CHECK(world.state("fin") == "PENDING");
    CHECK(world.state("rst") == "PENDING");
    finish.open();
    for (const std::string key : {"fin", "rst"}) {
        const auto again = world.ask(post("/c", key));
        CHECK(again.status == 201);
        CHECK(again.replayed());
        CHECK(again.body.bytes == "made");
    }
    CHECK(world.origin().requests() == 3);
}

TEST_CASE("W40 a client that reads only the head of its answer finds the same bytes later")
{
    World world({}, sends(answer("201 Created", std::string(200'000, 'z'))));
    {
        Client client(world.proxy().port());
        client.send(post("/c", "W40"));
        client.read_head();
        client.socket().reset();
    }
    const auto again = world.ask(post("/c", "W40"));
    CHECK(again.status == 201);
    CHECK(again.body.size == 200'000);
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("W27 an oversized answer that breaks off is unknown, not done")
{
    Configuration configuration;
    configuration.server = "  max_stored_response: 1KiB\n";
    World world(configuration,
                sends_and_closes("HTTP/1.1 201 Created\r\nContent-Length: 9999\r\n\r\n" +
                                 std::string(5000, 'q')));
    const auto first = world.ask(post("/c", "W27"));
    CHECK_FALSE(first.body.complete);
    CHECK(first.field("Idempotent-Stored") == "false");
    const auto again = world.ask(post("/c", "W27"));
    CHECK(again.status == 502);
    CHECK(again.code() == "outcome-unknown");
    CHECK(world.state("W27") == "UNKNOWN");
    CHECK(world.origin().requests() == 1);
}
