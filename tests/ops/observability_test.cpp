// Probes and scrapes, over real sockets.
#include "ops/observability.hpp"

#include "ops/metrics_text.hpp"
#include "ops/served.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace onceward;

namespace {

struct Process {
    Metrics metrics{{"charges"}, 1};
    Health health{metrics};
    Served served{observability_handler(health, metrics)};
};

}  // namespace

TEST_CASE("livez looks at the process only")
{
    Process process;
    for (const auto phase : {Phase::starting, Phase::ready, Phase::draining}) {
        process.health.set_phase(phase);
        process.health.report(Dependency::store, false);
        CHECK(status_of(process.served.get("/livez")) == 200);
    }
}

TEST_CASE("readyz follows the phase, and a store that fails later does not take the process out")
{
    Process process;
    CHECK(status_of(process.served.get("/readyz")) == 503);
    CHECK(body_of(process.served.get("/readyz")).starts_with("starting\n"));

    CHECK(process.health.report(Dependency::store, true));
    CHECK_FALSE(process.health.report(Dependency::store, true));
    process.health.set_phase(Phase::ready);
    auto answer = process.served.get("/readyz");
    CHECK(status_of(answer) == 200);
    CHECK(body_of(answer) == "ready\n");

    CHECK(process.health.report(Dependency::store, false));
    answer = process.served.get("/readyz");
    CHECK(status_of(answer) == 200);
    CHECK(body_of(answer).starts_with("ready\ndegraded: store down since 20"));

    process.health.set_phase(Phase::draining);
    CHECK(status_of(process.served.get("/readyz")) == 503);
    CHECK(MetricsText(body_of(process.served.get("/metrics")))["onceward_draining"] == 1);
}

TEST_CASE("readyz tells more when asked")
{
    Process process;
    process.health.set_phase(Phase::ready);
    CHECK(body_of(process.served.get("/readyz?verbose")) == "[-] store not reached yet\nready\n");
    process.health.report(Dependency::store, true);
    CHECK(body_of(process.served.get("/readyz?verbose")) == "[+] store ok\nready\n");
    const auto answer = process.served.get("/readyz", "Accept: application/json\r\n");
    const auto json = nlohmann::json::parse(body_of(answer));
    CHECK(json["state"] == "ready");
    CHECK(json["checks"][0]["name"] == "store");
    CHECK(json["checks"][0]["ok"] == true);
}

TEST_CASE("metrics come as Prometheus text")
{
    Process process;
    const auto answer = process.served.get("/metrics");
    CHECK(status_of(answer) == 200);
    CHECK(answer.find("Content-Type: text/plain; version=0.0.4") != std::string::npos);
    CHECK_NOTHROW(MetricsText(body_of(answer)));
}

TEST_CASE("nothing else is here")
{
    Process process;
    for (const std::string path : {"/", "/v1/keys", "/metrics/", "/livez/x", "/%6civez"}) {
        CHECK(status_of(process.served.get(path)) == 404);
    }
    const auto answer = process.served.post("/readyz", "{}");
    CHECK(status_of(answer) == 405);
    CHECK(answer.find("Allow: GET") != std::string::npos);
}

TEST_CASE("the endpoint bounds what it reads")
{
    Process process;
    const auto& served = process.served;
    CHECK(status_of(served.send("GET /livez HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x') +
                                "\r\n\r\n")) == 431);
    CHECK(status_of(served.send(
              "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n")) == 413);
    CHECK(status_of(served.send("no http at all\r\n\r\n")) == 400);
    CHECK(
        status_of(served.send(
            "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")) ==
        400);
}

TEST_CASE("what the parser throws at ends its connection, not the process")
{
    Process process;
    const std::string chunked =
        "GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    for (const std::string& trailer :
         {std::string(70'000, 'a') + ": b", "a: " + std::string(70'000, 'b')}) {
        process.served.send(chunked + trailer + "\r\n\r\n");
        CHECK(status_of(process.served.get("/livez")) == 200);
    }
}

TEST_CASE("connections are kept, used again and closed when told")
{
    Process process;
    const std::string one = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string last = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const auto answer = process.served.send(one + one + last);
    std::size_t answers = 0;
    for (auto at = answer.find("HTTP/1.1 200"); at != std::string::npos;
         at = answer.find("HTTP/1.1 200", at + 1)) {
        ++answers;
    }
    CHECK(answers == 3);
}

TEST_CASE("a silent connection ends by itself")
{
    Metrics metrics({}, 1);
    Health health(metrics);
    EndpointLimits limits;
    limits.idle = std::chrono::milliseconds{50};
    limits.message = std::chrono::milliseconds{50};
    const Served served(observability_handler(health, metrics), limits);
    CHECK(served.send("").empty());
    CHECK(served.send("GET /livez HTTP/1.1\r\nHost:").empty());
}

TEST_CASE("stop ends open connections")
{
    Process process;
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    socket.connect(process.served.where());
    boost::asio::write(socket,
                       boost::asio::buffer(std::string("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")));
    char first = 0;
    boost::asio::read(socket, boost::asio::buffer(&first, 1));  // It is being served.
    process.served.stop();
    std::string rest;
    boost::system::error_code error;
    boost::asio::read(socket, boost::asio::dynamic_buffer(rest), error);
    CHECK(error);
}

TEST_CASE("an address that is taken is named")
{
    const Process process;
    boost::asio::io_context context;
    const auto handler = [](SideRequest) -> awaitable<SideResponse> { co_return SideResponse{}; };
    const auto port = std::to_string(process.served.where().port());
    std::string message;
    try {
        const HttpEndpoint second(context.get_executor(), process.served.where(), handler);
    } catch (const boost::system::system_error& failure) {
        message = failure.what();
    }
    CHECK(message.find("127.0.0.1:" + port) != std::string::npos);
}
