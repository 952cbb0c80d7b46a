// The cases that broke real proxies, answer side and timing: H06, U02 to U08, T01 to T06, I01 to
// I06.
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

namespace {

std::string chunk(std::string_view text, std::string_view extension = "")
{
    char size[16];
    std::snprintf(size, sizeof size, "%zx", text.size());
    std::string bytes = size;
    return bytes.append(extension).append("\r\n").append(text).append("\r\n");
}

// Unknown, the same on every retry, never executed again.
void check_unknown(World& world, const std::string& key, int status, std::size_t requests)
{
    CAPTURE(key);
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto answer = world.ask(post("/c", key));
        CHECK(answer.status == status);
        CHECK(answer.code() == "outcome-unknown");
        CHECK(answer.field("Idempotent-Retryable") == "false");
        CHECK_FALSE(answer.replayed());
        CHECK(world.state(key) == "UNKNOWN");
        CHECK(world.origin().requests() == requests);
    }
}

}  // namespace

TEST_CASE("H06 large answer heads pass, and one above the limit is an unknown outcome")
{
    World world;
    for (const std::size_t size : {5'000u, 20'000u}) {
        CAPTURE(size);
        world.origin().script(
            sends(answer("200 OK", "x", "X-Big: " + std::string(size, 'b') + "\r\n")));
        const auto key = "H06-" + std::to_string(size);
        CHECK(world.ask(post("/c", key)).field("X-Big").size() == size);
        CHECK(world.ask(post("/c", key)).field("X-Big").size() == size);
        CHECK(world.ask(get("/free"), "GET").field("X-Big").size() == size);
    }
    const auto before = world.origin().requests();
    world.origin().script(
        sends(answer("200 OK", "x", "X-Big: " + std::string(70'000, 'b') + "\r\n")));
    check_unknown(world, "H06-70", 502, before + 1);
    CHECK(world.ask(get("/free"), "GET").status == 502);
    CHECK(world.proxy().is_running());
}

TEST_CASE("U02 an answer to HEAD keeps its Content-Length and ends with its head")
{
    World world;
    world.origin().script(sends("HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n"));
    Client client(world.proxy().port());
    client.send("HEAD /free HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto answer = client.read("HEAD");
    CHECK(answer.status == 200);
    CHECK(answer.field("Content-Length") == "10485760");
    client.send("HEAD /free HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read("HEAD").status == 200);
}

TEST_CASE("U02 a body after an answer to HEAD is dropped with its connection")
{
    World world;
    world.origin().script(sends("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"));
    Client client(world.proxy().port());
    for (std::size_t number = 1; number <= 2; ++number) {
        client.send("HEAD /free HTTP/1.1\r\nHost: a\r\n\r\n");
        const auto answer = client.read("HEAD");
        CHECK(answer.status == 200);
        CHECK(answer.field("Content-Length") == "5");
        CHECK(world.origin().wait_for_end(number));
    }
    CHECK(client.reader().rest().empty());
    CHECK(world.origin().connections() == 2);
}

TEST_CASE("U04 a truncated answer to a keyed POST is never a success")
{
    World world;
    const std::vector<std::string> cut{
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhello",
        "HTTP/1.1 201 Created\r\nContent-Le"};
    std::size_t requests = 0;
    for (const auto& bytes : cut) {
        CAPTURE(bytes);
        world.origin().script(sends_and_closes(bytes));
        check_unknown(world, "U04-" + std::to_string(requests), 502, requests + 1);
        ++requests;
    }
}

TEST_CASE("U04 a truncated answer to an unguarded request looks truncated")
{
    World world;
    world.origin().script(
        sends_and_closes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
    CHECK_FALSE(world.ask(get("/free"), "GET").body.complete);
    world.origin().script(sends_and_closes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"));
    const auto cut = world.ask(get("/free"), "GET");
    CHECK((cut.status == 502 || !cut.body.complete));
    world.origin().script(sends_and_closes("HTTP/1.1 200 OK\r\nContent-Le"));
    CHECK(world.ask(get("/free"), "GET").status == 502);
}

TEST_CASE(
    "U05 a close-delimited answer reaches the client framed; keyed it proves nothing by default")
{
    Configuration configuration;
    configuration.routes =
        "  - { name: accepting, match: { method: POST, path_prefix: /accept }, tier: t,"
        " close_delimited: accept, complete_if: any }\n"
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t }\n";
    World world(configuration);
    world.origin().script(sends_and_closes("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nloaded"));
    const auto plain = world.ask(get("/free"), "GET");
    CHECK(plain.status == 200);
    CHECK(plain.body.bytes == "loaded");
    CHECK(plain.body.complete);
    CHECK(world.ask(post("/accept", "U05")).body.bytes == "loaded");
    const auto again = world.ask(post("/accept", "U05"));
    CHECK(again.replayed());
    CHECK(again.body.bytes == "loaded");
    check_unknown(world, "U05", 502, 3);
}

TEST_CASE("U07 silence is 504 and stays unknown")
{
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, timeout: 300ms "
        "}\n";
    World world(configuration, [](Call& call) { call.left_by_peer(); });
    check_unknown(world, "U07", 504, 1);
}

TEST_CASE("U07 a closed port is 502 and releases the key")
{
    World world;
    world.stop_origin();
    const auto refused = world.ask(post("/c", "U07"));
    CHECK(refused.status == 502);
    CHECK(refused.code() == "upstream-unreached");
    CHECK(refused.field("Idempotent-Retryable") == "true");
    CHECK(refused.has("Retry-After"));
    CHECK(world.state("U07") == "RELEASED");
    world.start_origin();
    CHECK(world.ask(post("/c", "U07")).status == 201);
    CHECK(world.ask(post("/c", "U07")).replayed());
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("U07 a malformed status line is 502 and stays unknown")
{
    World world;
    world.origin().script(sends("HELLO\r\n\r\n"));
    check_unknown(world, "U07", 502, 1);
    CHECK(world.ask(get("/free"), "GET").status == 502);
}

TEST_CASE("U08 chunks with extensions and a trailer, and a slow reader: every byte once")
{
    World world;
    Gate next;
    world.origin().script([&next](Call& call) {
        call.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n");
        call.send(chunk("one,", ";a=1"));
        call.wait(next);
        for (const std::string text : {"two,", "three,", "four,", "five"}) {
            call.send(chunk(text, ";b=\"x;y\""));
        }
        call.send("0;last\r\nX-Sum: 5\r\n\r\n");
    });
    Client client(world.proxy().port());
    client.send(get("/free"));
    const auto head = client.read_head();
    CHECK(status_of(head) == 200);
    CHECK(client.reader().chunked_bytes(4) == "one,");
    next.open();
    CHECK(client.reader().response_body(head, "GET").bytes == "two,three,four,five");
    client.send(get("/free"));
    const auto second = client.read("GET");
    CHECK(second.body.bytes == "one,two,three,four,five");
    CHECK(second.body.complete);
    CHECK(second.body.trailers.empty());
    const auto keyed = world.ask(post("/c", "U08"));
    CHECK(keyed.body.bytes == "one,two,three,four,five");
    CHECK(world.ask(post("/c", "U08")).body.bytes == keyed.body.bytes);
}

TEST_CASE("T01 a keyed POST on a pooled connection that breaks is not sent again")
{
    World world;
    CHECK(world.ask(get("/warm"), "GET").status == 201);
    world.origin().on_head([](Call& call) {
        if (call.request().connection == 1) call.reset();
    });
    for (const std::string body : {"", "x"}) {
        const auto before = world.origin().requests();
        const auto key = "T01-" + std::to_string(before);
        const auto answer = world.ask(post("/c", key, body));
        if (answer.status == 201) {
            // It went on a connection of its own: one attempt too.
            CHECK(world.origin().requests() == before + 1);
            continue;
        }
        CHECK(answer.status == 502);
        CHECK(answer.code() == "outcome-unknown");
        CHECK(world.ask(post("/c", key, body)).status == 502);
        CHECK(world.state(key) == "UNKNOWN");
        CHECK(world.origin().requests() == before + 1);
    }
}

TEST_CASE("T01 a pooled connection that the upstream has ended is not used")
{
    World world;
    CHECK(world.ask(post("/c", "T01-a")).status == 201);
    world.origin().close_connections();
    CHECK(world.origin().wait_for_end(1));
    CHECK(world.ask(post("/c", "T01-b")).status == 201);
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("T02 Expect: 100-continue is answered by us and not forwarded")
{
    World world;
    for (const std::string target : {"/c", "/free"}) {
        CAPTURE(target);
        Client client(world.proxy().port());
        const auto bytes = post(target, "T02", "ok", "Expect: 100-continue\r\n");
        client.send(bytes.substr(0, bytes.size() - 2));
        CHECK(status_of(client.read_head()) == 100);
        client.send("ok");
        const auto answer = client.read();
        CHECK(answer.status == 201);
        CHECK(answer.interim.empty());
        const auto request = world.origin().request(world.origin().requests());
        CHECK(request.body.bytes == "ok");
        CHECK_FALSE(request.head.has("Expect"));
    }
}

TEST_CASE(
    "T02 a duplicate with Expect needs its body for the fingerprint, then gets the stored answer")
{
    World world;
    CHECK(world.ask(post("/c", "T02", "ok")).status == 201);
    Client client(world.proxy().port());
    const auto bytes = post("/c", "T02", "ok", "Expect: 100-continue\r\n");
    client.send(bytes.substr(0, bytes.size() - 2));
    CHECK(status_of(client.read_head()) == 100);
    client.send("ok");
    CHECK(client.read().replayed());
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("T02 a final answer that the head decides is sent instead of 100")
{
    World world;
    const std::vector<std::pair<std::string, int>> heads{
        {"POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", 400},
        {"POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: a b\r\nExpect: 100-continue\r\n"
         "Content-Length: 2\r\n\r\n",
         400},
        {"POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: big\r\nExpect: 100-continue\r\n"
         "Content-Length: 99999999\r\n\r\n",
         413}};
    for (const auto& [bytes, status] : heads) {
        CAPTURE(bytes);
        Client client(world.proxy().port());
        const auto answer = client.ask(bytes);
        CHECK(answer.status == status);
        CHECK(answer.interim.empty());
        CHECK(answer.field("Connection") == "close");
        CHECK(client.closed());
    }
    CHECK(world.origin().bytes() == 0);
}
