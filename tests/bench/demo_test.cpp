// The demonstration service over real sockets, and the demonstration's own eyes.
#include "../bench/demo.hpp"

#include "../bench/demo_upstream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace onceward::demo;

namespace {

constexpr std::chrono::milliseconds patience{20'000};

struct Service {
    Service() : service(options()) { service.start(); }

    static DemoUpstreamOptions options()
    {
        DemoUpstreamOptions options;
        options.workers = 2;
        return options;
    }

    Endpoint endpoint() const { return {"127.0.0.1", service.port()}; }

    AccountService service;
};

HttpRequest charge(const std::string& key, const std::string& directives = "")
{
    HttpRequest request;
    request.method = "POST";
    request.target = "/v1/charges";
    request.fields = {{"Idempotency-Key", key}, {"X-Demo", directives}};
    request.body = R"({"account":"alice","amount":10})";
    return request;
}

// A server that answers one request with these bytes and closes.
class Canned {
public:
    explicit Canned(std::string bytes)
        : acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
          thread_([this, answer = std::move(bytes)] {
              auto socket = acceptor_.accept();
              std::string request;
              boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n");
              boost::asio::write(socket, boost::asio::buffer(answer));
          })
    {
    }
    ~Canned() { thread_.join(); }
    Canned(const Canned&) = delete;
    Canned& operator=(const Canned&) = delete;

    HttpAnswer fetch() { return onceward::demo::fetch({"127.0.0.1", port()}, {}, patience); }

private:
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("one connection serves request after request")
{
    Service service;
    HttpConnection connection(service.endpoint(), patience);
    CHECK(connection.exchange(charge("k")).status == 201);
    const auto again = connection.exchange(charge("k"));
    CHECK(again.find("location") == "/v1/charges/ch_2");
    CHECK(again.find("Set-Cookie").has_value());
    CHECK(service.service.ledger().counts("k").executions == 2);
}

TEST_CASE("a death closes the connection, with or without the charge done")
{
    Service service;
    auto& ledger = service.service.ledger();
    CHECK_THROWS_AS(fetch(service.endpoint(), charge("b", "die=before-charge"), patience),
                    HttpError);
    CHECK(ledger.counts("b").received == 1);
    CHECK(ledger.counts("b").executions == 0);
    // die=exit must not take this test with it.
    for (const std::string death : {"after-charge", "mid-body", "exit"}) {
        CAPTURE(death);
        const auto request = charge(death, "die=" + death);
        CHECK_THROWS_AS(fetch(service.endpoint(), request, patience), HttpError);
        CHECK(ledger.counts(death).executions == 1);
    }
}

TEST_CASE("a close-delimited answer is whole and has no length")
{
    Service service;
    const auto answer = fetch(service.endpoint(), charge("c", "die=close-delimited"), patience);
    CHECK(answer.status == 201);
    CHECK_FALSE(answer.find("Content-Length").has_value());
    CHECK(answer.body == R"({"id":"ch_1","amount":10,"balance":990})");
}

TEST_CASE("a second service on the same port is refused")
{
    Service service;
    auto options = Service::options();
    options.port = service.service.port();
    AccountService second(options);
    CHECK_THROWS_AS(second.start(), std::system_error);
}

TEST_CASE("the client reads chunks, skips interim answers and drops trailers")
{
    Canned canned(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        "HTTP/1.1 200 OK\r\nX-Spaced: \t two words \r\nX-Empty:\r\nTransfer-Encoding: "
        "chunked\r\n\r\n"
        "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: 1\r\n\r\n");
    const auto answer = canned.fetch();
    CHECK(answer.status == 200);
    CHECK(answer.body == "hello!");
    CHECK(answer.find("x-spaced") == "two words");
    CHECK(answer.find("X-Empty") == "");
    CHECK_FALSE(answer.find("X-Trailer").has_value());
}

TEST_CASE("the client never takes a cut answer for a whole one")
{
    for (const std::string_view cut :
         {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
          "nonsense\r\n\r\n"}) {
        CAPTURE(cut);
        Canned canned{std::string(cut)};
        CHECK_THROWS_AS(canned.fetch(), HttpError);
    }
}

TEST_CASE("endpoints are read strictly")
{
    const auto read = [](std::string_view text) {
        return parse_endpoint(text).value_or(Endpoint{});
    };
    CHECK(read("http://127.0.0.1:8080").text() == "127.0.0.1:8080");
    CHECK(read("http://localhost:1/").port == 1);
    CHECK(read("[::1]:9").host == "::1");
    CHECK(parse_endpoint("h:0").has_value());
    CHECK(read("[::1]:9").text() == "[::1]:9");
    for (const std::string_view wrong :
         {"", ":80", "host", "host:", "host:70000", "https://h:1", "::1:9", "h:1/path"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_endpoint(wrong).has_value());
    }
}

TEST_CASE("the demonstration fails when nothing stands before the API")
{
    Service service;
    DemoOptions options;
    options.proxy = service.endpoint();
    options.upstream = service.endpoint();
    CHECK(run_demo(options) == 0);
    options.assert_expectations = true;
    CHECK(run_demo(options) == 1);
}

TEST_CASE("the demonstration says when it reaches nobody")
{
    Service service;
    DemoOptions options;
    options.upstream = service.endpoint();
    options.proxy = {"127.0.0.1", 1};
    CHECK(run_demo(options) == 7);
}
