// The cases that broke real proxies, request side: R01 to R12, H02, H03, H06. See docs/wire.md.
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace onceward::wire;

namespace {

// The head that every case begins with; its key is the case's own.
std::string head(std::string_view key)
{
    std::string bytes = "POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: \"";
    return bytes.append(key).append("\"\r\n");
}

// Each vector once keyed on a guarded route and once keyless on an unguarded path.
void check_vectors_refused(World& world, const std::string& name,
                           const std::vector<std::string>& vectors, std::vector<int> statuses)
{
    int number = 0;
    for (const auto& rest : vectors) {
        const auto key = name + "-" + std::to_string(++number);
        check_refused(world, name + ": " + rest, head(key) + rest, key, statuses);
        check_refused_unguarded(world, name + " unguarded: " + rest,
                                "POST /free HTTP/1.1\r\nHost: a\r\n" + rest, statuses);
    }
}

// "once": executed with this body, chunked framing and trailers gone; or refused without a trace.
void check_once_or_refused(World& world, const std::string& what, const std::string& bytes,
                           const std::string& key, std::string_view body)
{
    CAPTURE(what);
    const auto before = world.origin().requests();
    const auto answer = world.ask(bytes);
    CAPTURE(answer.head.raw);
    if (answer.status == 400) {
        CHECK(world.origin().requests() == before);
        CHECK(world.state(key) == "absent");
        return;
    }
    CHECK(answer.status == 201);
    REQUIRE(world.origin().requests() == before + 1);
    const auto request = world.origin().request(before + 1);
    CHECK(request.body.bytes == body);
    CHECK(request.body.framing == Framing::length);
    CHECK(request.head.count("Content-Length") == 1);
    CHECK_FALSE(request.head.has("Transfer-Encoding"));
    CHECK(request.head.all("Idempotency-Key") == std::vector<std::string>{"\"" + key + "\""});
    CHECK_FALSE(contains(request.head.raw, "evil"));
}

}  // namespace

TEST_CASE("R01 Content-Length and chunked together are refused")
{
    World world;
    const std::string smuggled = "20\r\nGET / HTTP/1.1\r\nHost: gotcha\r\n\r\n\r\n0\r\n\r\n";
    check_vectors_refused(world, "R01",
                          {"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled,
                           "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + smuggled},
                          {400});
}

TEST_CASE("R02 Transfer-Encoding: gzip with Content-Length is refused in both orders")
{
    World world;
    check_vectors_refused(world, "R02",
                          {"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
                           "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello"},
                          {400, 501});
}

TEST_CASE("R04 fields in a trailer never count as header fields")
{
    World world;
    const std::vector<std::string> trailers{"Content-Length: 3\r\n", "Connection: close\r\n",
                                            "Transfer-Encoding: identity\r\n",
                                            "Idempotency-Key: \"evil\"\r\n"};
    auto all = trailers;
    all.push_back(trailers[0] + trailers[1] + trailers[2] + trailers[3]);
    int number = 0;
    for (const auto& trailer : all) {
        const auto key = "R04-" + std::to_string(++number);
        check_once_or_refused(
            world, trailer,
            head(key) + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + trailer + "\r\n",
            key, "ok");
    }
    CHECK(world.state("evil") == "absent");
}

TEST_CASE("R04 a key that comes in a trailer only is a missing key")
{
    World world;
    const auto answer = world.ask(
        "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nok\r\n0\r\nIdempotency-Key: \"evil\"\r\n\r\n");
    CHECK(answer.status == 400);
    CHECK(answer.code() == "key-missing");
    CHECK(world.origin().bytes() == 0);
    CHECK(world.state("evil") == "absent");
}

TEST_CASE("R04 an unguarded request's trailers are dropped")
{
    World world;
    const auto answer = world.ask(
        "POST /free HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nok\r\n0\r\nX-Role: admin\r\nIdempotency-Key: \"evil\"\r\n\r\n");
    CHECK(answer.status == 201);
    const auto request = world.origin().request(1);
    CHECK(request.body.bytes == "ok");
    CHECK(request.body.trailers.empty());
    CHECK_FALSE(request.head.has("X-Role"));
    CHECK_FALSE(request.head.has("Idempotency-Key"));
}

TEST_CASE("R06 the last chunk cut into three segments ends one request, not the process")
{
    World world;
    for (const std::string target : {"/c", "/free"}) {
        CAPTURE(target);
        const auto before = world.origin().requests();
        Client client(world.proxy().port());
        client.send("POST " + target +
                    " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: R06\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n0\r\n");
        // The pauses are the input: they make three segments of what would be one.
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        client.send("\r");
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        client.send("\n");
        CHECK(client.read().status == 201);
        REQUIRE(world.origin().requests() == before + 1);
        CHECK(world.origin().request(before + 1).body.size == 0);
        CHECK(world.ask(get("/free"), "GET").status == 201);
        CHECK(world.proxy().is_running());
    }
}

TEST_CASE("R07 an empty Content-Length is refused")
{
    World world;
    check_vectors_refused(
        world, "R07",
        {"Content-Length: \r\nContent-Length: 34\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
         "Content-Length: \r\n\r\n",
         "Content-Length:\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400});
}

TEST_CASE("R09 odd transfer codings with Content-Length are refused")
{
    World world;
    std::vector<std::string> vectors;
    for (const std::string coding :
         {",chunked", "chunked,", "chunked, gzip", "chunked, chunked", "chunked\x0b", "identity",
          "\xa0"
          "chunked"}) {
        vectors.push_back("Content-Length: 5\r\nTransfer-Encoding: " + coding + "\r\n\r\nhello");
        vectors.push_back("Transfer-Encoding: " + coding + "\r\nContent-Length: 5\r\n\r\nhello");
    }
    const std::string twice = "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n";
    vectors.push_back(twice + "\r\n5\r\nhello\r\n0\r\n\r\n");
    vectors.push_back(twice + "Content-Length: 5\r\n\r\nhello");
    check_vectors_refused(world, "R09", vectors, {400, 501});
}

TEST_CASE("R11 a Content-Length that is not one decimal number is refused")
{
    World world;
    check_vectors_refused(
        world, "R11",
        {"Content-Length: 1\r\nContent-Length: 0\r\n\r\nx", "Content-Length: +5\r\n\r\nhello",
         "Content-Length: 1_0\r\n\r\n0123456789",
         "Content-Length: 18446744073709551621\r\n\r\nhello"},
        {400});
}

TEST_CASE("R11 equal Content-Lengths are refused, or reach the upstream as one")
{
    World world;
    const std::vector<std::string> twice{"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
                                         "Content-Length: 5, 5\r\n\r\nhello"};
    int number = 0;
    for (const auto& rest : twice) {
        const auto key = "R11-" + std::to_string(++number);
        check_once_or_refused(world, rest, head(key) + rest, key, "hello");
    }
}

TEST_CASE("R12 three pipelined requests get three answers in order")
{
    World world;
    world.origin().script([](Call& call) {
        call.send(
            answer("200 OK", call.request().head.start + " got " + call.request().body.bytes));
    });
    Client client(world.proxy().port());
    client.send(post("/c", "R12-a", "body A") + post("/d", "R12-b", "body B") + get("/e"));
    CHECK(client.read().body.bytes == "POST /c HTTP/1.1 got body A");
    CHECK(client.read().body.bytes == "POST /d HTTP/1.1 got body B");
    CHECK(client.read("GET").body.bytes == "GET /e HTTP/1.1 got ");
    CHECK(world.origin().requests() == 3);
    CHECK(world.origin().request(1).head.field("Idempotency-Key") == "\"R12-a\"");
    CHECK(world.origin().request(2).head.field("Idempotency-Key") == "\"R12-b\"");
}

TEST_CASE("R12 pipelined requests larger than any buffer keep their order and their bytes")
{
    World world({}, [](Call& call) {
        call.send(answer("200 OK", std::to_string(call.request().body.size)));
    });
    Client client(world.proxy().port());
    std::string all;
    for (const std::size_t size : {200'000u, 1u, 300'001u}) {
        all += post("/c", "R12-" + std::to_string(size), std::string(size, 'p'));
        all += post("/free", "x", std::string(size + 1, 'q'));
    }
    client.send(all);
    for (const std::string size : {"200000", "200001", "1", "2", "300001", "300002"}) {
        CHECK(client.read().body.bytes == size);
    }
    CHECK(world.origin().requests() == 6);
}

TEST_CASE("R12 the same key twice in one pipeline is one upstream call")
{
    World world;
    Client client(world.proxy().port());
    client.send(post("/c", "R12", "body") + post("/c", "R12", "body"));
    const auto first = client.read();
    const auto second = client.read();
    CHECK(first.status == 201);
    CHECK_FALSE(first.replayed());
    CHECK(second.replayed());
    CHECK(second.body.bytes == first.body.bytes);
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("H02 the target's bytes reach the upstream unchanged and are part of the fingerprint")
{
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: / }, tier: t }\n";
    World world(configuration);
    const std::string target = "/api/queues/%2F/a//b/../c;v=1?x=%zz&a;b=1";
    CHECK(world.ask(get(target), "GET").status == 201);
    CHECK(world.origin().request(1).head.start == "GET " + target + " HTTP/1.1");
    CHECK(world.ask(post(target, "H02")).status == 201);
    CHECK(world.origin().request(2).head.start == "POST " + target + " HTTP/1.1");
    CHECK(world.ask(post(target, "H02")).replayed());
    for (const std::string other :
         {"/api/queues/%2f/a//b/../c;v=1?x=%zz&a;b=1", "/api/queues/%2F/a/c;v=1?x=%zz&a;b=1",
          "/api/queues/%2F/a//b/../c;v=1?x=%zz&b=1;a"}) {
        const auto refused = world.ask(post(other, "H02"));
        CHECK(refused.status == 422);
        CHECK(refused.code() == "fingerprint-mismatch");
    }
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("H03 a client cannot have the key or other needed fields removed by nominating them")
{
    World world;
    int number = 0;
    for (const std::string name :
         {"Idempotency-Key", "Host", "Content-Length", "Authorization", "Transfer-Encoding",
          "idempotency-KEY", "X-Forwarded-For", "X-HTTP-Method", "X-Method-Override"}) {
        const auto key = "H03-" + std::to_string(++number);
        check_refused(world, name, post("/c", key, "x", "Connection: close, " + name + "\r\n"), key,
                      {400});
    }
}

TEST_CASE("H03 nominated and hop-by-hop fields do not reach the upstream")
{
    World world;
    const auto answer =
        world.ask(post("/c", "H03", "x",
                       "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
                       "Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
                       "TE: trailers\r\nUpgrade: h2c\r\nProxy-Authorization: Basic eA==\r\n"
                       "X-End: 1\r\n"));
    CHECK(answer.status == 201);
    const auto head = world.origin().request(1).head;
    for (const std::string name : {"X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade",
                                   "Proxy-Authorization", "Transfer-Encoding"}) {
        CAPTURE(name);
        CHECK_FALSE(head.has(name));
    }
    CHECK(head.field("X-End") == "1");
    CHECK(head.field("Idempotency-Key") == "\"H03\"");
    CHECK(head.field("X-Forwarded-For") == "127.0.0.1");
    CHECK(head.field("Host") == "a");
}

TEST_CASE("H06 a large request head passes within the limit and is refused above it")
{
    World world;
    const auto seven =
        world.ask(post("/c", "H06", "x", "X-Big: " + std::string(7'000, 'b') + "\r\n"));
    CHECK(seven.status == 201);
    CHECK(world.origin().request(1).head.field("X-Big").size() == 7'000);
    const std::string huge = "X-Big: " + std::string(70'000, 'b') + "\r\n";
    check_refused(world, "70 kB keyed", post("/c", "H06-70", "x", huge), "H06-70", {431});
    check_refused_unguarded(world, "70 kB unguarded", get("/free", huge), {431});
    CHECK(world.proxy().is_running());
}
