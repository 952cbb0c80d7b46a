// Requests that never end, and keys that are none: refused from the head, nothing recorded (KEY-3
// to KEY-9, W1).
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;

namespace {

const std::string head = "POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: slow\r\n";
const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
const std::string no_body = "Content-Length: 0\r\n\r\n";

}  // namespace

TEST_CASE("a request that never ends meets its deadline: 408, nothing recorded")
{
    Configuration configuration;
    configuration.server = "  head_timeout: 200ms\n  body_timeout: 200ms\n  idle_timeout: 400ms\n";
    World world(configuration);
    for (const std::string& bytes : {head, head + "Content-Length: 5\r\n\r\nhel",
                                     chunked + "5\r\nhel", chunked + "2\r\nok\r\n0\r\n"}) {
        CAPTURE(bytes);
        Client client(world.proxy().port());
        client.send(bytes);
        // A head that never ends may be answered or not; the connection ends in any case.
        if (auto got = client.reader().head()) CHECK(status_of(*got) == 408);
        CHECK(world.origin().bytes() == 0);
        CHECK(world.state("slow") == "absent");
    }
    Client idle(world.proxy().port());
    CHECK(idle.ask(get("/free"), "GET").status == 201);
    CHECK(idle.closed());
}

TEST_CASE("W1 a client that leaves in the middle of its request leaves nothing behind")
{
    World world;
    const auto whole = post("/c", "W1", "hello");
    for (const std::size_t size : {5u, 20u, 60u, static_cast<unsigned>(whole.size() - 1)}) {
        for (const bool hard : {false, true}) {
            Client client(world.proxy().port());
            client.send(whole.substr(0, size));
            if (hard) {
                client.socket().reset();
            } else {
                client.socket().close();
            }
        }
    }
    CHECK(world.ask(get("/barrier"), "GET").status == 201);
    CHECK(world.origin().requests() == 1);
    CHECK(world.state("W1") == "absent");
    CHECK(world.ask(whole).body.bytes == "thing 2");
}

TEST_CASE("KEY-3..9 missing and malformed keys are 400 and leave nothing behind")
{
    World world;
    const auto refused = [&](const std::string& line, const std::string& code) {
        CAPTURE(line);
        const auto got = world.ask("POST /c HTTP/1.1\r\nHost: a\r\n" + line + no_body);
        CHECK(got.status == 400);
        CHECK(got.code() == code);
        CHECK(got.field("Idempotent-Retryable") == "false");
        CHECK(got.field("Content-Type") == "application/problem+json");
        CHECK(got.field("Cache-Control") == "no-store");
        CHECK(got.json("retry") == "new-key");
    };
    refused("", "key-missing");
    for (const std::string value :
         {"", "\"\"", "\"abc", "\"a\"b\"", "\"a\\x\"", "\"a\"x", "\"\xc3\xa9\"", "a b", "a,b",
          "a;b", "a\\b", "a\"b", "\xc3\xa9"}) {
        refused("Idempotency-Key: " + value + "\r\n", "key-invalid");
    }
    refused("Idempotency-Key: " + std::string(256, 'k') + "\r\n", "key-invalid");
    refused("Idempotency-Key: one\r\nIdempotency-Key: one\r\n", "key-invalid");
    CHECK(world.origin().bytes() == 0);
    CHECK(world.ask(post("/c", std::string(255, 'k'))).status == 201);
}
