// Unguarded traffic: streamed both ways, unchanged but for what belongs to one connection.
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

TEST_CASE("a request and its answer pass, chunked both ways, on one connection each")
{
    World world({}, sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                          "chunked\r\n\r\n3\r\none\r\n4;x\r\n two\r\n0\r\n\r\n"));
    Client client(world.proxy().port());
    for (int i = 0; i < 3; ++i) {
        client.send(
            "PUT /free HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
            "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
        const auto got = client.read();
        CHECK(got.body.bytes == "one two");
        CHECK(got.body.complete);
    }
    for (std::size_t number = 1; number <= 3; ++number) {
        const auto request = world.origin().request(number);
        CHECK(request.head.start == "PUT /free HTTP/1.1");
        CHECK(request.body.bytes == "abc");
        CHECK(request.head.count("Content-Length") + request.head.count("Transfer-Encoding") == 1);
    }
    CHECK(world.origin().connections() == 1);
}

TEST_CASE("bytes arrive one by one, in both directions")
{
    World world({}, [](Call& call) {
        for (const char byte : answer("200 OK", "slow"))
            call.send(std::string_view(&byte, 1));
    });
    Client client(world.proxy().port());
    for (const char byte : post("/free", "x", "drip"))
        client.send(std::string_view(&byte, 1));
    CHECK(client.read().body.bytes == "slow");
    CHECK(world.origin().request(1).body.bytes == "drip");
    for (const char byte : post("/c", "x", "drip"))
        client.send(std::string_view(&byte, 1));
    CHECK(client.read().body.bytes == "slow");
}

TEST_CASE("answers without a body: HEAD, 204, 304")
{
    World world;
    const std::vector<std::pair<std::string, std::string>> answers{
        {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"},
        {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {"GET", "HTTP/1.1 204 No Content\r\n\r\n"},
        {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: \"a\"\r\n\r\n"}};
    Client client(world.proxy().port());
    for (const auto& [method, bytes] : answers) {
        CAPTURE(bytes);
        world.origin().script(sends(bytes));
        client.send(method + " /free HTTP/1.1\r\nHost: a\r\n\r\n");
        const auto got = client.read(method);
        CHECK(bytes.starts_with("HTTP/1.1 " + std::to_string(got.status)));
        if (got.status == 204)
            CHECK_FALSE((got.has("Content-Length") || got.has("Transfer-Encoding")));
    }
    world.origin().script(sends(answer("200 OK", "still in step")));
    CHECK(client.ask(get("/free"), "GET").body.bytes == "still in step");
}

TEST_CASE("interim answers reach HTTP/1.1 clients and no HTTP/1.0 client")
{
    World world(
        {}, sends("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer("200 OK", "final")));
    const auto modern = world.ask(get("/free"), "GET");
    CHECK(modern.body.bytes == "final");
    REQUIRE(modern.interim.size() == 1);
    CHECK(modern.interim[0].field("Link") == "</a>");
    const auto old = world.ask("GET /free HTTP/1.0\r\n\r\n", "GET");
    CHECK(old.body.bytes == "final");
    CHECK(old.interim.empty());
}

TEST_CASE("HTTP/1.0 clients and upstreams")
{
    World world(
        {}, sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    Client old(world.proxy().port());
    const auto got = old.ask("GET /free HTTP/1.0\r\n\r\n", "GET");
    CHECK(got.body.bytes == "abc");
    CHECK_FALSE(got.has("Transfer-Encoding"));
    CHECK(old.closed());
    CHECK(world.origin().request(1).head.start == "GET /free HTTP/1.1");
    CHECK(world.origin().request(1).head.count("Host") == 1);

    world.origin().script(sends(answer("200 OK", "kept")));
    Client kept(world.proxy().port());
    for (int i = 0; i < 2; ++i) {
        const auto again = kept.ask("GET /free HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET");
        CHECK(again.body.bytes == "kept");
        if (again.field("Connection") != "keep-alive") break;
    }

    world.origin().script(sends_and_closes("HTTP/1.0 200 OK\r\n\r\nuntil the end"));
    Client modern(world.proxy().port());
    const auto framed = modern.ask(get("/free"), "GET");
    CHECK(framed.body.bytes == "until the end");
    CHECK(framed.body.complete);
}

TEST_CASE("Connection: close of either side ends its own connection only")
{
    World world;
    Client client(world.proxy().port());
    CHECK(client.ask(get("/free"), "GET").status == 201);
    const auto last = client.ask(get("/free", "Connection: close\r\n"), "GET");
    CHECK(last.field("Connection") == "close");
    CHECK(client.closed());
    world.origin().script([](Call& call) {
        call.send(answer("200 OK", "bye", "Connection: close\r\n"));
        call.close();
    });
    Client other(world.proxy().port());
    for (int i = 0; i < 3; ++i) {
        const auto got = other.ask(get("/free"), "GET");
        CHECK(got.body.bytes == "bye");
        CHECK(got.field("Connection") != "close");
    }
}

TEST_CASE("T05 an event reaches the client before the next one exists")
{
    Gate next;
    World world({}, [&next](Call& call) {
        call.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
            "chunked\r\n\r\n");
        call.send("9\r\ndata: 1\n\n\r\n");
        call.wait(next);
        call.send("9\r\ndata: 2\n\n\r\n0\r\n\r\n");
    });
    Client client(world.proxy().port());
    client.send(get("/events"));
    CHECK(client.read_head().field("Content-Type") == "text/event-stream");
    CHECK(client.reader().chunked_bytes(9) == "data: 1\n\n");
    // A keyed stream is answered when it is whole, because its end is part of its outcome.
    Client keyed(world.proxy().port());
    keyed.send(post("/c", "T05"));
    REQUIRE(world.origin().wait_for_requests(2));
    next.open();
    CHECK(client.reader().chunked_bytes(9) == "data: 2\n\n");
    CHECK(keyed.read().body.bytes == "data: 1\n\ndata: 2\n\n");
    CHECK(world.ask(post("/c", "T05")).body.bytes == "data: 1\n\ndata: 2\n\n");
}

TEST_CASE("T05 a close-delimited stream flows too")
{
    Gate next;
    World world({}, [&next](Call& call) {
        call.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
        call.wait(next);
        call.send("data: 2\n\n");
        call.close();
    });
    Client client(world.proxy().port());
    client.send(get("/events"));
    client.read_head();
    CHECK(client.reader().chunked_bytes(9) == "data: 1\n\n");
    next.open();
    CHECK(client.reader().chunked_bytes(9) == "data: 2\n\n");
}

TEST_CASE("an upload reaches the upstream while it goes on")
{
    Gate seen;
    World world;
    world.origin().on_head([&seen](Call& call) {
        if (call.request().head.start.starts_with("POST")) seen.open();
    });
    Client client(world.proxy().port());
    client.send("POST /free HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
    CHECK(readable(seen.descriptor(), within(patience)));
    client.send("world");
    CHECK(client.read().status == 201);
    CHECK(world.origin().request(1).body.bytes == "helloworld");
}

TEST_CASE("an early answer during an upload reaches the client")
{
    World world;
    world.origin().on_head([](Call& call) {
        call.send(answer("413 Too Large", "enough", "Connection: close\r\n"));
        call.finish();
    });
    Client client(world.proxy().port());
    client.send("POST /free HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegun");
    const auto got = client.read();
    CHECK(got.status == 413);
    CHECK(got.body.bytes == "enough");
    CHECK(client.closed());
}

TEST_CASE("a client that leaves ends the upstream's connection of an unguarded request")
{
    World world({}, [](Call& call) {
        call.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun");
        call.left_by_peer();
    });
    for (const bool hard : {false, true}) {
        const auto connections = world.origin().connections();
        Client client(world.proxy().port());
        client.send(get("/free"));
        client.read_head();
        if (hard) client.socket().reset();
        if (!hard) client.socket().close();
        CHECK(world.origin().wait_for_end(connections + 1));
    }
}

TEST_CASE("a client that leaves before the answer's head ends the upstream's connection")
{
    World world({}, [](Call& call) { call.left_by_peer(); });
    Client client(world.proxy().port());
    client.send(get("/free"));
    REQUIRE(world.origin().wait_for_requests(1));
    client.socket().close();
    CHECK(world.origin().wait_for_end(1));
}

TEST_CASE("HTP-14 a missing Date is added, a present one and the order of fields are kept")
{
    World world;
    CHECK(world.ask(get("/free"), "GET").head.count("Date") == 1);
    CHECK(world.ask(post("/c", "HTP-14")).head.count("Date") == 1);
    world.origin().script(sends(
        answer("200 OK", "x",
               "B: 1\r\nDate: Tue, 02 Jan 2001 00:00:00 GMT\r\nSet-Cookie: a=1\r\nA: 2\r\nb: 3\r\n"
               "Set-Cookie: c=2\r\nServer: legacy\r\n")));
    for (const auto& bytes : {get("/free"), post("/c", "HTP-14-b")}) {
        const auto got = world.ask(bytes, bytes.substr(0, bytes.find(' ')));
        std::string order;
        for (const auto& field : got.head.fields) {
            if (field.name != "Content-Length" && field.name != "Connection")
                order += field.name + "=" + field.value + ";";
        }
        CHECK(order ==
              "B=1;Date=Tue, 02 Jan 2001 00:00:00 "
              "GMT;Set-Cookie=a=1;A=2;b=3;Set-Cookie=c=2;Server=legacy;");
    }
}

TEST_CASE(
    "an unguarded request is otherwise unchanged: order, case, duplicates and odd bytes of its "
    "fields")
{
    World world;
    const std::string fields =
        "X-b: 1\r\nx-A: \xe4\xf6 tab\there\r\nX-B: 2\r\nCookie: a=1; b=2\r\nAccept: "
        "*/*\r\nX-Empty:\r\n"
        "User-Agent: old/1.0\r\nAuthorization: Basic eDp5\r\nX_Under: 1\r\n";
    CHECK(world.ask(get("/a?b=c&d", fields), "GET").status == 201);
    const auto head = world.origin().request(1).head;
    std::string order;
    for (const auto& field : head.fields) {
        if (field.name == "Host" || field.name.starts_with("X-Forwarded-") ||
            field.name == "Forwarded" || field.name == "Connection") {
            continue;
        }
        order += field.name + ": " + field.value + "\r\n";
    }
    const auto spaced = fields.substr(0, fields.find("X-Empty:") + 8) + " " +
                        fields.substr(fields.find("X-Empty:") + 8);
    CHECK(order == spaced);
}

TEST_CASE(
    "HTP-19 forwarding fields say who called: replaced from a stranger, continued from a trusted "
    "proxy")
{
    const std::string claimed =
        "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
        "Forwarded: for=6.6.6.6\r\n";
    for (const bool trusted : {false, true}) {
        CAPTURE(trusted);
        Configuration configuration;
        if (trusted) configuration.server = "  trusted_proxies: [127.0.0.0/8]\n";
        World world(configuration);
        for (const auto& bytes : {get("/free", claimed), post("/c", "HTP-19", "x", claimed)}) {
            CHECK(world.ask(bytes, bytes.substr(0, bytes.find(' '))).status == 201);
            const auto head = world.origin().request(world.origin().requests()).head;
            CAPTURE(head.raw);
            CHECK(head.all("X-Forwarded-For") ==
                  std::vector<std::string>{trusted ? "6.6.6.6, 127.0.0.1" : "127.0.0.1"});
            CHECK(head.all("X-Forwarded-Proto") ==
                  std::vector<std::string>{trusted ? "https" : "http"});
            CHECK(head.all("X-Forwarded-Host") == std::vector<std::string>{trusted ? "evil" : "a"});
            CHECK(contains(head.raw, "for=6.6.6.6") == trusted);
            CHECK(contains(head.field("Forwarded"), "for=127.0.0.1"));
        }
    }
}

TEST_CASE("HTP-9 Via: off unless asked; when on, our own name in it is a loop")
{
    World plain;
    CHECK(plain.ask(get("/free"), "GET").status == 201);
    CHECK_FALSE(plain.origin().request(1).head.has("Via"));

    Configuration configuration;
    configuration.server = "  via: once-a\n";
    World world(configuration);
    CHECK(world.ask(get("/free", "Via: 1.0 other\r\n"), "GET").status == 201);
    const auto via = world.origin().request(1).head.all("Via");
    REQUIRE_FALSE(via.empty());
    CHECK(contains(via.back(), "1.1 once-a"));
    const auto before = world.origin().bytes();
    const auto loop = world.ask(get("/free", "Via: 1.1 once-a\r\n"), "GET");
    CHECK(loop.status == 502);
    CHECK(world.ask(post("/c", "loop", "x", "Via: 1.0 x, 1.1 once-a\r\n")).status == 502);
    CHECK(world.origin().bytes() == before);
    CHECK(world.state("loop") == "absent");
}

TEST_CASE("an unguarded request to a closed port is 502, to a silent upstream 504")
{
    Configuration configuration;
    configuration.server = "  timeout: 300ms\n";
    World world(configuration, [](Call& call) { call.left_by_peer(); });
    CHECK(world.ask(get("/free"), "GET").status == 504);
    world.stop_origin();
    const auto refused = world.ask(get("/free"), "GET");
    CHECK(refused.status == 502);
    CHECK(refused.field("Content-Type") == "application/problem+json");
}

TEST_CASE("a GET is sent again when its pooled connection was closed, not when time ran out")
{
    Configuration configuration;
    configuration.server = "  timeout: 300ms\n";
    World world(configuration);
    Client client(world.proxy().port());
    CHECK(client.ask(get("/warm"), "GET").status == 201);
    world.origin().script([](Call& call) { call.left_by_peer(); });
    CHECK(client.ask(get("/free"), "GET").status == 504);
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("decision 23: a GET that asks for another method is not sent again")
{
    World world;
    Client client(world.proxy().port());
    CHECK(client.ask(get("/warm"), "GET").status == 201);
    world.origin().on_head([](Call& call) { call.reset(); });
    const auto got = client.ask(get("/free", "X-HTTP-Method-Override: POST\r\n"), "GET");
    CHECK(got.status == 502);
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("OUT-12 an upstream that sends nothing but interim answers is 502, not silence")
{
    std::string flood;
    for (int i = 0; i < 100; ++i)
        flood.append("HTTP/1.1 100 Continue\r\n\r\n");
    World world({}, sends(flood + answer("200 OK", "late")));
    const auto got = world.ask(get("/free"), "GET");
    CHECK(got.status == 502);
    CHECK(got.field("Content-Type") == "application/problem+json");
}

TEST_CASE("half a request does not look like a whole one to the upstream")
{
    World world;
    for (const std::string begun :
         {"Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
        CAPTURE(begun);
        const auto number = world.origin().requests() + 1;
        Client client(world.proxy().port());
        client.send("POST /free HTTP/1.1\r\nHost: a\r\n" + begun);
        REQUIRE(world.origin().wait_for_requests(number));
        client.socket().close();
        CHECK(world.origin().wait_for_end(number));
        CHECK_FALSE(world.origin().request(number).body.complete);
    }
}

TEST_CASE("T01 an unguarded POST on a pooled connection that breaks is not sent again")
{
    World world;
    CHECK(world.ask(get("/warm"), "GET").status == 201);
    world.origin().on_head([](Call& call) { call.reset(); });
    const auto got = world.ask(post("/free", "x"));
    CHECK(got.status == 502);
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("a GET with a body and OPTIONS * pass as they are")
{
    World world;
    CHECK(world.ask(get("/search", "Content-Length: 2\r\n") + "ok", "GET").status == 201);
    CHECK(world.origin().request(1).body.bytes == "ok");
    CHECK(world.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS").status == 201);
    CHECK(world.origin().request(2).head.start == "OPTIONS * HTTP/1.1");
}

TEST_CASE("APP-6 fields that a CGI upstream would take for guarded ones are dropped")
{
    World world;
    const std::string fields =
        "Idempotency_Key: evil\r\nX_Forwarded_For: 6.6.6.6\r\nContent_Length: 3\r\nX_Other: "
        "kept\r\n";
    for (const auto& bytes : {post("/c", "APP-6", "x", fields), get("/free", fields)}) {
        CHECK(world.ask(bytes, bytes.substr(0, bytes.find(' '))).status == 201);
        const auto head = world.origin().request(world.origin().requests()).head;
        for (const std::string name : {"Idempotency_Key", "X_Forwarded_For", "Content_Length"}) {
            CAPTURE(name);
            CHECK_FALSE(head.has(name));
        }
        CHECK(head.field("X_Other") == "kept");
    }
}
