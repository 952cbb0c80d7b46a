// Many requests with one key at the same time: one execution, and a defined answer for everybody
// (RSV-2).
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sys/resource.h>

using namespace onceward::wire;

namespace {

// Both ends of a thousand connections are in this process and its child.
void allow_many_files()
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8'192);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::unique_ptr<Client>> connect(const Proxy& proxy, std::size_t count)
{
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < count; ++i)
        clients.push_back(std::make_unique<Client>(proxy.port()));
    return clients;
}

struct Tally {
    int fresh = 0;
    int replayed = 0;
    int in_progress = 0;
    int other = 0;
    std::set<std::string> bodies;  // Of the answers of the operation itself.
};

Tally read_all(std::vector<std::unique_ptr<Client>>& clients)
{
    Tally tally;
    for (auto& client : clients) {
        const auto answer = client->read();
        if (answer.status == 409 && answer.code() == "in-progress") {
            ++tally.in_progress;
            continue;
        }
        if (answer.status != 201) {
            ++tally.other;
            continue;
        }
        ++(answer.replayed() ? tally.replayed : tally.fresh);
        tally.bodies.insert(answer.body.bytes);
    }
    return tally;
}

Configuration waiting(const std::string& wait)
{
    Configuration configuration;
    configuration.routes =
        "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, in_progress: { "
        "wait: " +
        wait + " } }\n";
    return configuration;
}

Script after(const Gate& gate)
{
    return [&gate](Call& call) {
        call.wait(gate);
        call.send(answer("201 Created", "thing " + std::to_string(call.request().number)));
    };
}

}  // namespace

TEST_CASE("RSV-2 1,000 concurrent duplicates: exactly one execution, the rest 409 or the replay")
{
    allow_many_files();
    for (const std::string wait : {"0s", "10s"}) {
        CAPTURE(wait);
        World world(waiting(wait));
        auto clients = connect(world.proxy(), 1'000);
        for (auto& client : clients)
            client->send(post("/c", "storm"));
        const auto tally = read_all(clients);
        CHECK(tally.fresh == 1);
        CHECK(tally.other == 0);
        CHECK(tally.fresh + tally.replayed + tally.in_progress == 1'000);
        CHECK(tally.bodies.size() == 1);
        if (wait == "10s") CHECK(tally.in_progress == 0);
        CHECK(world.origin().requests() == 1);
    }
}

TEST_CASE("RSV-6 1,000 duplicates of a running request: 409 each, while another key goes on")
{
    allow_many_files();
    Gate finish;
    World world(waiting("0s"), [&finish](Call& call) {
        if (call.request().head.field("Idempotency-Key") == "\"slow\"") call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    Client first(world.proxy().port());
    first.send(post("/c", "slow"));
    REQUIRE(world.origin().wait_for_requests(1));
    auto clients = connect(world.proxy(), 1'000);
    for (auto& client : clients)
        client->send(post("/c", "slow"));
    const auto tally = read_all(clients);
    CHECK(tally.in_progress == 1'000);
    CHECK(world.ask(post("/c", "quick")).status == 201);
    finish.open();
    CHECK(first.read().status == 201);
    CHECK(world.ask(post("/c", "slow")).replayed());
    CHECK(world.origin().requests() == 2);
}

TEST_CASE("decision 13: 20 parallel taps are one fresh answer and 19 replays of it")
{
    Gate finish;
    World world(waiting("10s"), after(finish));
    auto clients = connect(world.proxy(), 20);
    for (auto& client : clients)
        client->send(post("/c", "tap"));
    REQUIRE(world.origin().wait_for_requests(1));
    finish.open();
    const auto tally = read_all(clients);
    CHECK(tally.fresh == 1);
    CHECK(tally.replayed == 19);
    CHECK(tally.bodies == std::set<std::string>{"thing 1"});
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("decision 13: waiters are told of an unknown outcome and of a release")
{
    Gate finish;
    World world(waiting("10s"), [&finish](Call& call) {
        call.wait(finish);
        if (call.request().head.field("Idempotency-Key") == "\"dies\"") {
            call.reset();
        } else {
            call.send(answer("429 Slow Down", "later"));
        }
    });
    const auto duplicates = [&](const std::string& key, std::size_t requests) {
        auto clients = connect(world.proxy(), 10);
        for (auto& client : clients)
            client->send(post("/c", key));
        REQUIRE(world.origin().wait_for_requests(requests));
        return clients;
    };
    auto dying = duplicates("dies", 1);
    auto declined = duplicates("declined", 2);
    finish.open();
    for (auto& client : dying) {
        const auto answer = client->read();
        CHECK(answer.status == 502);
        CHECK(answer.code() == "outcome-unknown");
    }
    for (auto& client : declined) {
        const auto status = client->read().status;
        CHECK((status == 429 || status == 409));
    }
    std::multiset<std::string> sent;
    for (std::size_t number = 1; number <= world.origin().requests(); ++number) {
        sent.insert(world.origin().request(number).head.field("Idempotency-Key"));
    }
    CHECK(sent.count("\"dies\"") == 1);
}

TEST_CASE("decision 13: a waiter whose time is over gets its 409")
{
    Gate finish;
    World world(waiting("200ms"), after(finish));
    Client first(world.proxy().port());
    first.send(post("/c", "wait"));
    REQUIRE(world.origin().wait_for_requests(1));
    CHECK(world.ask(post("/c", "wait")).code() == "in-progress");
    finish.open();
    CHECK(first.read().status == 201);
}

TEST_CASE("100 concurrent requests with keys of their own all run")
{
    World world;
    auto clients = connect(world.proxy(), 100);
    int number = 0;
    for (auto& client : clients)
        client->send(post("/c", "own-" + std::to_string(++number)));
    const auto tally = read_all(clients);
    CHECK(tally.fresh == 100);
    CHECK(tally.bodies.size() == 100);
    CHECK(world.origin().requests() == 100);
}

TEST_CASE(
    "W16 a crowd of keyed requests over pooled connections that keep dying: each at most once")
{
    World world({}, [](Call& call) {
        call.send(answer("201 Created", "made"));
        call.close();
    });
    for (int round = 0; round < 10; ++round) {
        auto clients = connect(world.proxy(), 20);
        int number = 0;
        for (auto& client : clients)
            client->send(post("/c", std::to_string(round) + "-" + std::to_string(++number)));
        for (auto& client : clients) {
            const auto status = client->read().status;
            CHECK((status == 201 || status == 502));
        }
    }
    CHECK(world.origin().requests() <= 200);
}
