// What the head check refuses over a real socket, before anything is recorded or sent (HTP-1 to
// HTP-17).
#include "wire/world.hpp"

#include <doctest/doctest.h>

using namespace onceward::wire;
using namespace std::string_literals;

namespace {

// A request in which %K stands for the key of its own.
struct Vector {
    std::string what;
    std::string bytes;
    std::vector<int> statuses;
};

std::string with_key(std::string bytes, const std::string& key)
{
    std::size_t at;
    while ((at = bytes.find("%K")) != std::string::npos)
        bytes.replace(at, 2, key);
    return bytes;
}

void check_all_refused(const std::string& name, const std::vector<Vector>& vectors)
{
    World world;
    int number = 0;
    for (const auto& vector : vectors) {
        const auto key = name + "-" + std::to_string(++number);
        check_refused(world, name + " " + vector.what, with_key(vector.bytes, key), key,
                      vector.statuses);
    }
    CHECK(world.proxy().is_running());
}

const std::string start = "POST /c HTTP/1.1\r\n";
const std::string head = start + "Host: a\r\nIdempotency-Key: %K\r\n";
const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
const std::string no_body = "Content-Length: 0\r\n\r\n";

}  // namespace

TEST_CASE("HTP-1 Transfer-Encoding with Content-Length, any order, any coding")
{
    std::vector<Vector> vectors;
    for (const std::string coding : {"chunked", "identity", "xchunked", "gzip, chunked", ""}) {
        const auto transfer = "Transfer-Encoding: " + coding + "\r\n";
        vectors.push_back(
            {coding + " first", head + transfer + "Content-Length: 5\r\n\r\nhello", {400, 501}});
        vectors.push_back({coding + " last",
                           head + "Content-Length: 5\r\n" + transfer + "\r\nhello",
                           {400, 501}});
    }
    check_all_refused("HTP-1", vectors);
}

TEST_CASE("HTP-2 a Transfer-Encoding other than exactly chunked")
{
    std::vector<Vector> vectors;
    for (const std::string coding :
         {"identity", "gzip", "xchunked", "chunked, identity", "gzip, chunked", "chunked;foo=bar",
          "\"chunked\"", "chunked chunked", ""}) {
        vectors.push_back(
            {coding,
             head + "Transfer-Encoding: " + coding + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
             {400, 501}});
    }
    vectors.push_back(
        {"space before the colon", head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", {400}});
    check_all_refused("HTP-2", vectors);
}

TEST_CASE("HTP-3 Transfer-Encoding in HTTP/1.0")
{
    check_all_refused("HTP-3", {{"chunked",
                                 "POST /c HTTP/1.0\r\nHost: a\r\nIdempotency-Key: %K\r\n"
                                 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                                 {400}}});
}

TEST_CASE("HTP-4 a Content-Length that is not one number")
{
    std::vector<Vector> vectors;
    for (const std::string length :
         {"+5", "-1", "0x5", "5 5", "5,6", "1_0", "", "five", "5;a", "\"5\"",
          "18446744073709551621", "99999999999999999999999999"}) {
        vectors.push_back(
            {length, head + "Content-Length: " + length + "\r\n\r\nhello", {400, 413}});
    }
    vectors.push_back(
        {"two that differ", head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", {400}});
    check_all_refused("HTP-4", vectors);
}

TEST_CASE("HTP-5 no Host, two Hosts, a bad Host")
{
    const auto key = "Idempotency-Key: %K\r\n"s;
    std::vector<Vector> vectors{
        {"none", start + key + no_body, {400}},
        {"two", start + "Host: a\r\nHost: b\r\n" + key + no_body, {400}},
        {"two equal", start + "Host: a\r\nHost: a\r\n" + key + no_body, {400}},
    };
    for (const std::string host : {"a b", "a/b", "a@b", "a,b", "a:port", "a?b", "a#b", "[::1"}) {
        vectors.push_back({host, start + "Host: " + host + "\r\n" + key + no_body, {400}});
    }
    check_all_refused("HTP-5", vectors);
}

TEST_CASE("HTP-7 malformed lines and control characters")
{
    check_all_refused(
        "HTP-7",
        {{"space before the colon", head + "X-A : b\r\n" + no_body, {400}},
         {"space before the key's colon",
          start + "Host: a\r\nIdempotency-Key : %K\r\n" + no_body,
          {400}},
         {"leading space on the first field",
          start + " Host: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"no colon", head + "X-A\r\n" + no_body, {400}},
         {"empty name", head + ": b\r\n" + no_body, {400}},
         {"bad name", head + "X(A): b\r\n" + no_body, {400}},
         {"8-bit name", head + "X-\xC3\xA4: b\r\n" + no_body, {400}},
         {"NUL in a value", head + "X-A: b\0c\r\n"s + no_body, {400}},
         {"NUL in a name", head + "X-\0A: b\r\n"s + no_body, {400}},
         {"0x01 in a value", head + "X-A: b\x01\r\n" + no_body, {400}},
         {"DEL in a value", head + "X-A: b\x7f\r\n" + no_body, {400}},
         {"vertical tab in a value",
          head +
              "X-A: \x0b"
              "b\r\n" +
              no_body,
          {400}},
         {"bare CR in a value", head + "X-A: b\rX-B: c\r\n" + no_body, {400}},
         {"bare LF ends a field", head + "X-A: b\n" + no_body, {400}},
         {"bare LF everywhere",
          "POST /c HTTP/1.1\nHost: a\nIdempotency-Key: %K\nContent-Length: 0\n\n\r\n\r\n",
          {400}},
         {"two blanks in the request line",
          "POST  /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"no target", "POST HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body, {400}},
         {"blank in the target",
          "POST /c d HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"control character in the target",
          "POST /c\x01 HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"tab for blank",
          "POST\t/c\tHTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"method with a bad character",
          "PO(ST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"relative target",
          "POST c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"HTTP/1.2",
          "POST /c HTTP/1.2\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400, 505}},
         {"HTTP/2.0",
          "POST /c HTTP/2.0\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400, 505}},
         {"lower-case protocol",
          "POST /c http/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400}},
         {"HTTP/01.1",
          "POST /c HTTP/01.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
          {400, 505}},
         {"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 %K\r\n\r\n"s, {400}}});
}

TEST_CASE("HTP-7 a folded line in a framing, Host, key or Connection field")
{
    check_all_refused(
        "fold",
        {{"Transfer-Encoding", head + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", {400}},
         {"Transfer-Encoding with a tab",
          head + "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
          {400}},
         {"Content-Length", head + "Content-Length:\r\n 5\r\n\r\nhello", {400}},
         {"Content-Length continued", head + "Content-Length: 5\r\n 0\r\n\r\nhello", {400}},
         {"Host", start + "Host:\r\n a\r\nIdempotency-Key: %K\r\n" + no_body, {400}},
         {"Host continued", start + "Host: a\r\n b\r\nIdempotency-Key: %K\r\n" + no_body, {400}},
         {"key", start + "Host: a\r\nIdempotency-Key:\r\n %K\r\n" + no_body, {400}},
         {"key continued", start + "Host: a\r\nIdempotency-Key: %K\r\n tail\r\n" + no_body, {400}},
         {"Connection", head + "Connection: close,\r\n Idempotency-Key\r\n" + no_body, {400}},
         {"a line of blanks before the end", head + "Content-Length: 5\r\n \r\n\r\nhello", {400}}});
}

TEST_CASE("HTP-7 a fold elsewhere is refused or forwarded as one line")
{
    World world;
    const auto answer = world.ask(post("/c", "fold", "x", "X-Long: one\r\n two\r\n"));
    if (answer.status == 400) {
        CHECK(world.origin().bytes() == 0);
    } else {
        CHECK(answer.status == 201);
        CHECK(world.origin().request(1).head.field("X-Long") == "one two");
    }
}

TEST_CASE("HTP-8 fields of both connections stay where they are")
{
    World world;
    world.origin().script(
        sends(answer("200 OK", "x",
                     "Connection: X-Private\r\nX-Private: 1\r\nKeep-Alive: timeout=5\r\n"
                     "Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nX-Public: 1\r\n")));
    for (const auto& bytes : {post("/c", "HTP-8"), post("/c", "HTP-8"), post("/free", "HTP-8")}) {
        const auto got = world.ask(bytes);
        CHECK(got.status == 200);
        CHECK(got.field("X-Public") == "1");
        for (const std::string name : {"X-Private", "Keep-Alive", "Proxy-Connection", "Upgrade"}) {
            CAPTURE(name);
            CHECK_FALSE(got.has(name));
        }
    }
}

TEST_CASE("HTP-10 TRACE, CONNECT and unreadable targets never reach the upstream")
{
    World world;
    check_refused_unguarded(world, "TRACE", "TRACE /free HTTP/1.1\r\nHost: a\r\n\r\n", {405});
    check_refused_unguarded(world, "CONNECT", "CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n",
                            {501});
    check_refused_unguarded(world, "asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", {400});
}

TEST_CASE("HTP-6 absolute-form goes to the configured upstream or nowhere")
{
    World world;
    const std::string bytes =
        "POST http://evil.example/c/1 HTTP/1.1\r\nHost: a\r\n"
        "Idempotency-Key: HTP-6\r\nContent-Length: 0\r\n\r\n";
    Client client(world.proxy().port());
    const auto got = client.ask(bytes);
    if (got.status == 201) {
        // Guarded like its origin-form, and forwarded as such.
        CHECK(world.state("HTP-6") == "DONE");
        const auto head_sent = world.origin().request(1).head;
        CHECK(head_sent.start == "POST /c/1 HTTP/1.1");
        CHECK(head_sent.all("Host") == std::vector<std::string>{"evil.example"});
    } else {
        CHECK((got.status == 400 || got.status == 421));
        CHECK(world.origin().bytes() == 0);
        CHECK(world.state("HTP-6") == "absent");
    }
}

TEST_CASE("HTP-12 the Expect field")
{
    World world;
    check_refused(world, "unknown expectation",
                  "POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: E1\r\nExpect: 200-ok\r\n"
                  "Content-Length: 0\r\n\r\n",
                  "E1", {417});
    const auto old = world.ask(
        "POST /c HTTP/1.0\r\nHost: a\r\nIdempotency-Key: E2\r\n"
        "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nok");
    CHECK(old.status == 201);
    CHECK(old.interim.empty());
    const auto whole = world.ask(post("/c", "E3", "ok", "Expect: 100-continue\r\n"));
    CHECK(whole.status == 201);
    CHECK(whole.interim.size() <= 1);
}

TEST_CASE("HTP-13 a buffered request goes upstream with one Content-Length and as HTTP/1.1")
{
    World world;
    CHECK(world.ask("POST /c HTTP/1.0\r\nIdempotency-Key: HTP-13-a\r\nContent-Length: 2\r\n\r\nok")
              .status == 201);
    CHECK(world
              .ask("POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: HTP-13-b\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n")
              .status == 201);
    for (std::size_t number = 1; number <= 2; ++number) {
        const auto request = world.origin().request(number);
        CHECK(request.head.start == "POST /c HTTP/1.1");
        CHECK(request.head.all("Content-Length") == std::vector<std::string>{"2"});
        CHECK_FALSE(request.head.has("Transfer-Encoding"));
        CHECK(request.head.count("Host") == 1);
        CHECK(request.body.bytes == "ok");
    }
    // Framing is no part of the request: the same key in the other framing is the same request
    // (FPR-2).
    CHECK(world
              .ask("POST /c HTTP/1.1\r\nHost: a\r\nIdempotency-Key: HTP-13-b\r\nContent-Length: "
                   "2\r\n\r\nok")
              .replayed());
}

TEST_CASE("HTP-16 nothing is sent behind an unfinished POST of the same connection")
{
    Gate finish;
    World world({}, [&finish](Call& call) {
        if (call.request().head.start.starts_with("POST /c")) call.wait(finish);
        call.send(answer("200 OK", call.request().head.start));
    });
    Client client(world.proxy().port());
    client.send(post("/c", "HTP-16-a") + post("/d", "HTP-16-b") + get("/e"));
    REQUIRE(world.origin().wait_for_requests(1));
    CHECK(world.ask(get("/barrier"), "GET").status == 200);
    CHECK(world.origin().requests() == 2);
    finish.open();
    CHECK(client.read().body.bytes == "POST /c HTTP/1.1");
    CHECK(client.read().body.bytes == "POST /d HTTP/1.1");
    CHECK(client.read("GET").body.bytes == "GET /e HTTP/1.1");
}

TEST_CASE("HTP-17 nothing that grows without a limit")
{
    World world;
    const std::string trailers = [] {
        std::string lines;
        for (int i = 0; i < 20'000; ++i)
            lines += "X-T" + std::to_string(i) + ": 1\r\n";
        return lines;
    }();
    const auto key = [](const std::string& bytes, const std::string& name) {
        return with_key(bytes, name);
    };
    check_refused(world, "chunk extension of 1 MB",
                  key(chunked + "2;" + std::string(1 << 20, 'e') + "\r\nok\r\n0\r\n\r\n", "L1"),
                  "L1", {400, 413, 431});
    check_refused(world, "20 000 trailers",
                  key(chunked + "2\r\nok\r\n0\r\n" + trailers + "\r\n", "L2"), "L2",
                  {400, 413, 431});
    check_refused(world, "70 kB in one field",
                  key(head + "X-A: " + std::string(70'000, 'a') + "\r\n" + no_body, "L3"), "L3",
                  {431});
    check_refused(world, "a target of 70 kB",
                  key("POST /c" + std::string(70'000, 'a') +
                          " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %K\r\n" + no_body,
                      "L4"),
                  "L4", {414, 431});
    check_refused(world, "70 kB of short fields", key(head + trailers + no_body, "L5"), "L5",
                  {431});
    check_refused(world, "a request line that never ends", std::string(200'000, 'P'), "L6",
                  {400, 414, 431, 501});
    check_refused(world, "a body that is announced as too large",
                  key(head + "Content-Length: 1048577\r\n\r\n", "L7"), "L7", {413});
    CHECK(world.proxy().is_running());
}

TEST_CASE("HTP-17 an unguarded request's extensions and trailers are bounded too")
{
    World world;
    for (const auto& tail : {"2;" + std::string(1 << 20, 'e') + "\r\nok\r\n0\r\n\r\n"}) {
        Client client(world.proxy().port());
        client.send("POST /free HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + tail);
        CHECK(client.read().status == 400);
        CHECK(world.ask(get("/free"), "GET").status == 201);
    }
    CHECK(world.proxy().is_running());
}

TEST_CASE("malformed chunks of a keyed request are refused")
{
    std::vector<Vector> vectors;
    for (const std::string body :
         {"0x2\r\nok\r\n0\r\n\r\n", "+2\r\nok\r\n0\r\n\r\n", "-1\r\nok\r\n0\r\n\r\n",
          "\r\nok\r\n0\r\n\r\n", " 2\r\nok\r\n0\r\n\r\n", "2\r\nokay\r\n0\r\n\r\n",
          "2\r\nokX\r\n0\r\n\r\n", "g\r\nok\r\n0\r\n\r\n", "ffffffffffffffff1\r\nok\r\n0\r\n\r\n",
          "2\nok\r\n0\r\n\r\n", "2\r\nok\n0\r\n\r\n", "2;a=\"\n\"\r\nok\r\n0\r\n\r\n",
          "2;a\rb\r\nok\r\n0\r\n\r\n", "2\r\nok\r\n0\r\nbad trailer\r\n\r\n",
          "2\r\nok\r\n0\r\nX-A : b\r\n\r\n"}) {
        vectors.push_back({body, chunked + body, {400}});
    }
    check_all_refused("chunk", vectors);
}
