// The strict head check, as a table over raw bytes.
#include "wire/head.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wire = onceward::wire;
using onceward::core::ProblemCode;

namespace {

const std::vector<std::string> guarded{"Idempotency-Key", "X-Api-Key"};

std::variant<wire::RequestHead, wire::Violation> request(const std::string& lines)
{
    return wire::check_request_head("POST /c HTTP/1.1\r\n" + lines + "\r\n", {}, guarded);
}

int refusal(const std::variant<wire::RequestHead, wire::Violation>& checked)
{
    const auto* violation = std::get_if<wire::Violation>(&checked);
    return violation ? onceward::core::kind_of(violation->code).status : 0;
}

int refusal(const std::string& lines)
{
    return refusal(request(lines));
}

int start_line_refusal(const std::string& line)
{
    return refusal(wire::check_request_head(line + "\r\nHost: a\r\n\r\n", {}, guarded));
}

std::variant<wire::ResponseHead, wire::Violation> response(const std::string& text,
                                                           const std::string& method = "POST")
{
    return wire::check_response_head(text, method);
}

bool refused(const std::string& text)
{
    return std::holds_alternative<wire::Violation>(response(text));
}

}  // namespace

TEST_CASE("HTP-1 HTP-2 HTP-3 transfer codings other than one chunked are refused")
{
    CHECK(refusal("Host: a\r\nTransfer-Encoding: chunked\r\n") == 0);
    CHECK(refusal("Host: a\r\nTransfer-Encoding: CHUNKED\r\n") == 0);
    for (const auto* both : {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                             "Transfer-Encoding: identity\r\nContent-Length: 5\r\n"}) {
        CHECK(refusal("Host: a\r\n" + std::string(both)) == 400);
    }
    for (const auto* unknown : {"identity", "gzip", "xchunked", "gzip, chunked"}) {
        CHECK_MESSAGE(
            refusal("Host: a\r\nTransfer-Encoding: " + std::string(unknown) + "\r\n") == 501,
            std::string(unknown));
    }
    for (const auto* broken :
         {",chunked", "chunked,", "chunked, gzip", "chunked, chunked", "chunked\x0b",
          "\xa0"
          "chunked",
          "chunked;a=b", "", "chunked, identity"}) {
        CHECK_MESSAGE(
            refusal("Host: a\r\nTransfer-Encoding: " + std::string(broken) + "\r\n") == 400,
            std::string(broken));
    }
    CHECK(refusal("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") ==
          400);
    CHECK(refusal(wire::check_request_head("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                                           {}, guarded)) == 400);
}

TEST_CASE("HTP-4 Content-Length is one decimal number")
{
    for (const auto* length : {"0", "5", "000000000000000005"}) {
        CHECK(refusal("Host: a\r\nContent-Length: " + std::string(length) + "\r\n") == 0);
    }
    for (const auto* length :
         {"", "+5", "-1", "0x5", "1_0", "5, 5", "5 5", "18446744073709551621", "5.0"}) {
        CHECK_MESSAGE(refusal("Host: a\r\nContent-Length: " + std::string(length) + "\r\n") == 400,
                      std::string(length));
    }
    CHECK(refusal("Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n") == 400);
}

TEST_CASE("HTP-5 exactly one valid Host")
{
    for (const auto* host : {"a", "a:80", "[::1]:80", "a.b-c_d"}) {
        CHECK(refusal("Host: " + std::string(host) + "\r\n") == 0);
    }
    CHECK(refusal("X: y\r\n") == 400);
    CHECK(refusal("Host: a\r\nHost: a\r\n") == 400);
    for (const auto* host : {"", "a b", "a/b", "a@b", "a,b", "a\"b"}) {
        CHECK_MESSAGE(refusal("Host: " + std::string(host) + "\r\n") == 400, std::string(host));
    }
    CHECK(refusal(wire::check_request_head("GET / HTTP/1.0\r\n\r\n", {}, guarded)) == 0);
}

TEST_CASE("HTP-7 malformed lines are refused")
{
    for (const auto* line : {"X : y", " X: y", "\tX: y", "X", ": y", "X\x01: y", "X: a\rb",
                             "X: a\nb", "X: a\x7f", "X@: y"}) {
        CHECK_MESSAGE(refusal("Host: a\r\n" + std::string(line) + "\r\n") == 400,
                      std::string(line));
    }
    CHECK(refusal("Host: a\r\nX: " + std::string("a\0b", 3) + "\r\n") == 400);
    CHECK(refusal("Host: a\r\nX: a\r\n b\r\n") == 400);
    CHECK(refusal("Host: a\r\nX: \xe9\ttab\r\n") == 0);
    for (const auto* line :
         {"POST /c", "POST  /c HTTP/1.1", "POST /c d HTTP/1.1", "POST /c HTTP/1.2",
          "POST /c HTTP/2.0", "POST /c http/1.1", "P(ST /c HTTP/1.1", "POST c HTTP/1.1",
          "POST /a#b HTTP/1.1", "POST * HTTP/1.1", "POST /\x01 HTTP/1.1", "POST ftp://a/ HTTP/1.1",
          " /c HTTP/1.1"}) {
        CHECK_MESSAGE(start_line_refusal(line) == 400, std::string(line));
    }
    CHECK(start_line_refusal("CONNECT a:80 HTTP/1.1") == 501);
    CHECK(start_line_refusal("TRACE / HTTP/1.1") == 405);
    CHECK(start_line_refusal("OPTIONS * HTTP/1.1") == 0);
}

TEST_CASE("HTP-6 an absolute target becomes a path, its authority the host")
{
    const auto checked =
        wire::check_request_head("POST HTTP://b:81/c?d HTTP/1.1\r\nHost: a\r\n\r\n", {}, guarded);
    const auto& head = std::get<wire::RequestHead>(checked);
    CHECK(head.target == "/c?d");
    CHECK(head.host == "b:81");
    const auto bare =
        wire::check_request_head("POST http://b?d HTTP/1.1\r\nHost: a\r\n\r\n", {}, guarded);
    CHECK(std::get<wire::RequestHead>(bare).target == "/?d");
    CHECK(start_line_refusal("POST http://u@b/ HTTP/1.1") == 400);
}

TEST_CASE("HTP-8 Connection must not name what the upstream has to see")
{
    for (const auto* name :
         {"Idempotency-Key", "idempotency-key", "x-api-key", "Authorization", "Host",
          "Content-Length", "Transfer-Encoding", "X-Forwarded-For", "Cookie"}) {
        CHECK_MESSAGE(refusal("Host: a\r\nConnection: close, " + std::string(name) + "\r\n") == 400,
                      std::string(name));
    }
    const auto checked =
        request("Host: a\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nX-End: 2\r\nUpgrade: h2c\r\n");
    const auto& head = std::get<wire::RequestHead>(checked);
    CHECK_FALSE(head.keep_alive);
    const auto kept = wire::end_to_end(head.fields, head.nominated);
    CHECK_FALSE(kept.has("X-Hop"));
    CHECK_FALSE(kept.has("Upgrade"));
    CHECK_FALSE(kept.has("Connection"));
    CHECK(kept.has("X-End"));
}

TEST_CASE("HTP-12 only 100-continue can be expected")
{
    CHECK(std::get<wire::RequestHead>(request("Host: a\r\nExpect: 100-Continue\r\n"))
              .expects_continue);
    CHECK(refusal("Host: a\r\nExpect: 200-ok\r\n") == 417);
    const auto old = wire::check_request_head("POST / HTTP/1.0\r\nExpect: x\r\n\r\n", {}, guarded);
    CHECK_FALSE(std::get<wire::RequestHead>(old).expects_continue);
}

TEST_CASE("HTP-17 heads are bounded")
{
    CHECK(refusal("Host: a\r\nX: " + std::string(33'000, 'a') + "\r\n") == 431);
    CHECK(start_line_refusal("POST /" + std::string(9'000, 'a') + " HTTP/1.1") == 414);
    std::string many = "Host: a\r\n";
    for (int i = 0; i < 100; ++i)
        many += "a: b\r\n";
    CHECK(refusal(many) == 431);
    CHECK(refusal("Host: a\r\n" + std::string(300, 'n') + ": v\r\n") == 431);
}

TEST_CASE("OUT-13 a response head that is not HTTP proves nothing")
{
    for (const auto* line :
         {"HTTP/1.1 099 x", "HTTP/1.1 600 x", "HTTP/1.1 20 x", "HTTP/1.1 2000 x", "HTTP/2 200 x",
          "ICY 200 OK", "HTTP/1.1", "HTTP/1.1 abc x", "HTTP/1.1  200 x", "HTTP/1.1 200x"}) {
        CHECK_MESSAGE(refused(std::string(line) + "\r\n\r\n"), std::string(line));
    }
    CHECK_FALSE(refused("HTTP/1.1 200\r\n\r\n"));
    CHECK_FALSE(refused("HTTP/1.0 200 \r\n\r\n"));
    CHECK(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"));
    CHECK(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"));
    CHECK(refused("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n"));
    CHECK_FALSE(refused("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n"));
    CHECK(refused("HTTP/1.1 200 OK\r\nX: a\x01\r\n\r\n"));
}

TEST_CASE("HTP-14 folds and blanks before a colon are mended in answers")
{
    const auto checked =
        response("HTTP/1.1 201 Made\r\nX-A : b\r\n c\r\nContent-Length: 0\r\n\r\n");
    const auto& head = std::get<wire::ResponseHead>(checked);
    CHECK(head.fields.find("X-A") == "b   c");
    CHECK(head.reason == "Made");
    CHECK(head.framing == wire::Framing::none);
}

TEST_CASE("the body's end follows from method, status and framing fields")
{
    const auto framing = [](const std::string& text, const std::string& method = "POST") {
        return std::get<wire::ResponseHead>(response(text, method)).framing;
    };
    CHECK(framing("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n") == wire::Framing::length);
    CHECK(framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") ==
          wire::Framing::chunked);
    CHECK(framing("HTTP/1.1 200 OK\r\n\r\n") == wire::Framing::until_close);
    CHECK(framing("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n") == wire::Framing::none);
    CHECK(framing("HTTP/1.1 304 No\r\nContent-Length: 3\r\n\r\n") == wire::Framing::none);
    CHECK(framing("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD") == wire::Framing::none);
}
