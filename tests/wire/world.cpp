// The usual questions of a wire test, and the oracle of a refusal.
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace onceward::wire {

namespace {

std::string plain_get(std::string_view target)
{
    std::string bytes = "GET ";
    return bytes.append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
}

bool is_one_of(int status, std::vector<int> statuses)
{
    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

void check_refusal(World& world, std::string_view bytes, std::vector<int> statuses)
{
    Client client(world.proxy().port());
    client.send(bytes);
    const auto answer = client.read();
    CAPTURE(answer.head.raw);
    CHECK(is_one_of(answer.status, statuses));
    CHECK(answer.field("Connection") == "close");
    CHECK(answer.field("Content-Type") == "application/problem+json");
    CHECK(answer.json("status") == std::to_string(answer.status));
    if (answer.field("Connection") != "close") return;
    CHECK_MESSAGE(client.closed(), "more after a refusal: ", client.reader().rest());
}

}  // namespace

World::World(Configuration configuration, Script script)
    : configuration_(std::move(configuration)), origin_(std::make_unique<Origin>(std::move(script)))
{
    configuration_.upstream = origin_->port();
    proxy_ = std::make_unique<Proxy>(directory_, configuration_);
}

Answer World::ask(std::string_view bytes, std::string_view method)
{
    return wire::ask(proxy_->port(), bytes, method);
}

Answer World::lookup(std::string_view key, std::string_view route, std::string_view subject)
{
    std::string body = "{\"route\":\"";
    body.append(route).append("\",\"key\":\"").append(key).append("\",\"subject\":\"");
    body.append(subject).append("\"}");
    std::string bytes =
        "POST /v1/keys/lookup HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        "Content-Type: application/json\r\nContent-Length: ";
    bytes.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    return wire::ask(proxy_->admin_port(), bytes);
}

std::string World::state(std::string_view key, std::string_view route, std::string_view subject)
{
    const auto answer = lookup(key, route, subject);
    if (answer.status == 404) return "absent";
    if (answer.status != 200) return "status " + std::to_string(answer.status);
    return answer.json("state");
}

Answer World::admin(std::string_view target)
{
    return wire::ask(proxy_->admin_port(), plain_get(target), "GET");
}

Answer World::observability(std::string_view target)
{
    return wire::ask(proxy_->observability_port(), plain_get(target), "GET");
}

std::string World::metric(std::string_view series)
{
    const auto answer = observability("/metrics");
    const auto text = "\n" + answer.body.bytes;
    const auto at = text.find("\n" + std::string(series) + " ");
    if (at == std::string::npos) return "";
    const auto from = at + series.size() + 2;
    return text.substr(from, text.find('\n', from) - from);
}

void World::start_origin(Script script)
{
    origin_ = std::make_unique<Origin>(std::move(script), configuration_.upstream);
}

void World::restart_proxy()
{
    proxy_.reset();
    proxy_ = std::make_unique<Proxy>(directory_, configuration_);
}

void check_refused(World& world, const std::string& what, std::string_view bytes,
                   std::string_view key, std::vector<int> statuses)
{
    CAPTURE(what);
    auto& origin = world.origin();
    const auto requests = origin.requests();
    const auto before = origin.bytes();
    check_refusal(world, bytes, statuses);
    CHECK(world.state(key) == "absent");

    const auto afterwards = world.ask(post("/c", key, "afterwards"));
    CHECK(afterwards.status == 201);
    CHECK_FALSE(afterwards.replayed());
    REQUIRE(origin.requests() == requests + 1);
    const auto last = origin.request(requests + 1);
    CHECK(last.body.bytes == "afterwards");
    CHECK(origin.bytes() - before == last.head.raw.size() + last.body.size);
}

void check_refused_unguarded(World& world, const std::string& what, std::string_view bytes,
                             std::vector<int> statuses)
{
    CAPTURE(what);
    auto& origin = world.origin();
    const auto requests = origin.requests();
    const auto before = origin.bytes();
    check_refusal(world, bytes, statuses);

    CHECK(world.ask(get("/afterwards"), "GET").status == 201);
    REQUIRE(origin.requests() == requests + 1);
    const auto last = origin.request(requests + 1);
    CHECK(last.head.start == "GET /afterwards HTTP/1.1");
    CHECK(origin.bytes() - before == last.head.raw.size());
}

}  // namespace onceward::wire
