// The cases that broke real proxies, limits and records: T06, I01, I03, I06. See docs/wire.md.
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <cstdio>

using namespace onceward::wire;

namespace {

std::string one_chunk(std::string_view text)
{
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return std::string(size).append(text).append("\r\n");
}

}  // namespace

TEST_CASE("T06 bodies at, and one above, the limit: Content-Length and chunked alike")
{
    World world;
    const std::string most(1 << 20, 'x');
    CHECK(world.ask(post("/c", "T06-most", most)).status == 201);
    CHECK(world.origin().request(1).body.size == most.size());

    const auto chunked = [](std::string_view target, std::string_view body) {
        std::string bytes = "POST ";
        bytes.append(target).append(" HTTP/1.1\r\nHost: a\r\nIdempotency-Key: T06-chunked\r\n");
        return bytes.append("Transfer-Encoding: chunked\r\n\r\n")
            .append(one_chunk(body))
            .append("0\r\n\r\n");
    };
    const auto over = most + "x";
    check_refused(world, "Content-Length", post("/c", "T06-over", over), "T06-over", {413});
    check_refused(world, "chunked", chunked("/c", over), "T06-chunked", {413});
    CHECK(world.ask(post("/free", "T06", over)).status == 201);
    CHECK(world.ask(chunked("/free", over)).status == 201);
    CHECK(world.origin().request(world.origin().requests()).body.size == over.size());
}

TEST_CASE("T06 an answer of 8 MiB and a byte passes; keyed, its record says that it was not kept")
{
    World world;
    const std::string large((8 << 20) + 1, 'y');
    world.origin().script(sends(answer("201 Created", large, "Location: /things/8\r\n")));
    CHECK(world.ask(get("/free"), "GET").body.size == large.size());
    const auto first = world.ask(post("/c", "T06"));
    CHECK(first.status == 201);
    CHECK(first.body.bytes == large);
    CHECK(first.field("Idempotent-Stored") == "false");
    const auto again = world.ask(post("/c", "T06"));
    CHECK(again.status == 422);
    CHECK(again.code() == "replay-unavailable");
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("I01 a replay has the same fields in the same order, and a marker")
{
    World world;
    world.origin().script(sends(answer("201 Created", "made",
                                       "Set-Cookie: a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT\r\n"
                                       "X-Many: 1\r\nLocation: /things/1\r\nSet-Cookie: b=2\r\n"
                                       "Content-Disposition: attachment; filename=\"a,b.txt\"\r\n"
                                       "x-many: 2, 3\r\nX-Empty:\r\n")));
    const auto first = world.ask(post("/c", "I01"));
    CHECK(first.head.all("Set-Cookie").size() == 2);
    CHECK(first.head.all("Set-Cookie")[0] == "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT");
    CHECK_FALSE(first.has("Idempotent-Replayed"));
    const auto again = world.ask(post("/c", "I01"));
    CHECK(again.status == 201);
    CHECK(again.replayed());
    CHECK(again.body.bytes == "made");
    CHECK_FALSE(again.has("Set-Cookie"));
    CHECK(again.head.count("Date") == 1);
    std::string kept;
    for (const auto& field : again.head.fields) {
        if (field.name.starts_with("X-") || field.name.starts_with("x-") ||
            field.name == "Location" || field.name == "Content-Disposition") {
            kept += field.name + "=" + field.value + "\n";
        }
    }
    CHECK(kept ==
          "X-Many=1\nLocation=/things/1\nContent-Disposition=attachment; filename=\"a,b.txt\"\n"
          "x-many=2, 3\nX-Empty=\n");
}

TEST_CASE("I03 an answer one byte above the cap: the first client gets all of it, a retry is told")
{
    Configuration configuration;
    configuration.server = "  max_stored_response: 1KiB\n";
    World world(configuration);
    world.origin().script(
        sends(answer("201 Created", std::string(1024, 'a'), "Location: /things/9\r\n")));
    CHECK(world.ask(post("/c", "I03-fits")).status == 201);
    CHECK(world.ask(post("/c", "I03-fits")).replayed());
    world.origin().script(
        sends(answer("201 Created", std::string(1025, 'a'), "Location: /things/9\r\n")));
    const auto first = world.ask(post("/c", "I03"));
    CHECK(first.body.size == 1025);
    CHECK(first.field("Idempotent-Stored") == "false");
    const auto again = world.ask(post("/c", "I03"));
    CHECK(again.status == 422);
    CHECK(again.code() == "replay-unavailable");
    CHECK(again.json("original_status") == "201");
    CHECK(again.json("location") == "/things/9");
    CHECK(world.state("I03") == "DONE");
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("I06 what a key covers: body, path, query, method, route and subject")
{
    Configuration configuration;
    configuration.keys = "{ subject: credential }";
    configuration.routes =
        "  - { name: guarded, match: { method: [POST, PATCH], path_prefix: /c }, tier: t }\n"
        "  - { name: second, match: { method: POST, path_prefix: /d }, tier: t }\n";
    World world(configuration);
    const std::string alice = "Authorization: Basic YWxpY2U6eA==\r\n";
    const std::string bob = "Authorization: Basic Ym9iOng=\r\n";
    const auto first = world.ask(post("/c", "I06", "{}", alice));
    CHECK(first.status == 201);
    for (const auto& bytes : {post("/c", "I06", "{1}", alice), post("/c/other", "I06", "{}", alice),
                              post("/c?q=1", "I06", "{}", alice)}) {
        const auto refused = world.ask(bytes);
        CHECK(refused.status == 422);
        CHECK(refused.code() == "fingerprint-mismatch");
        CHECK_FALSE(contains(refused.body.bytes, "thing 1"));
    }
    auto patch = post("/c", "I06", "{}", alice);
    patch.replace(0, 4, "PATCH");
    CHECK(world.ask(patch, "PATCH").body.bytes == "thing 2");
    CHECK(world.ask(post("/d", "I06", "{}", alice)).body.bytes == "thing 3");
    CHECK(world.ask(post("/c", "I06", "{}", bob)).body.bytes == "thing 4");
    CHECK(world.ask(post("/c", "I06", "{}", alice)).body.bytes == "thing 1");
    const auto nobody = world.ask(post("/c", "I06"));
    CHECK(nobody.status == 400);
    CHECK(nobody.code() == "subject-missing");
    CHECK(world.origin().requests() == 4);
}

TEST_CASE(
    "I03 an answer above the cap: HTTP/1.0 clients get all of it, and leaving early changes no "
    "record")
{
    Configuration configuration;
    configuration.server = "  max_stored_response: 1KiB\n";
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, in_progress: { "
        "wait: 10s } }\n";
    World world(configuration, sends(answer("201 Created", std::string(8'000'000, 'a'))));
    Client old(world.proxy().port());
    const auto whole =
        old.ask("POST /c HTTP/1.0\r\nIdempotency-Key: I03-old\r\nContent-Length: 0\r\n\r\n");
    CHECK(whole.body.size == 8'000'000);
    CHECK(whole.body.complete);
    {
        Client client(world.proxy().port());
        client.send(post("/c", "I03-left"));
        client.read_head();
        client.socket().reset();
    }
    CHECK(world.ask(post("/c", "I03-left")).code() == "replay-unavailable");
    CHECK(world.state("I03-left") == "DONE");
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("I06 a subject that no retry would match, or that anybody could claim, is refused")
{
    Configuration configuration;
    configuration.keys = "{ subject: credential }";
    World stable(configuration);
    for (const std::string credential :
         {"Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "AWS4-HMAC-SHA256 x", "Digest y"}) {
        CAPTURE(credential);
        const auto got =
            stable.ask(post("/c", "I06", "x", "Authorization: " + credential + "\r\n"));
        CHECK(got.status == 400);
        CHECK(got.code() == "subject-missing");
    }
    CHECK(stable.origin().bytes() == 0);

    configuration.keys = "{ subject: \"header:X-User\" }";
    configuration.server = "  trusted_proxies: [10.0.0.0/8]\n";
    World stranger(configuration);
    CHECK(stranger.ask(post("/c", "I06", "x", "X-User: alice\r\n")).code() == "subject-missing");
    CHECK(stranger.ask(get("/free", "X-User: alice\r\n"), "GET").status == 201);
    CHECK_FALSE(stranger.origin().request(1).head.has("X-User"));

    configuration.server = "  trusted_proxies: [127.0.0.1/32]\n";
    World trusted(configuration);
    CHECK(trusted.ask(post("/c", "I06", "x", "X-User: alice\r\n")).body.bytes == "thing 1");
    CHECK(trusted.ask(post("/c", "I06", "x", "X-User: bob\r\n")).body.bytes == "thing 2");
    CHECK(trusted.ask(post("/c", "I06", "x", "X-User: alice\r\n")).body.bytes == "thing 1");
    CHECK(trusted.origin().request(1).head.field("X-User") == "alice");
    CHECK(trusted.state("I06", "guarded", "bob") == "DONE");
    CHECK(trusted.state("I06", "guarded", "carol") == "absent");
}
