// The gate when Redis is silent, late, wrong, gone, or somebody else.
#include "fakes/fake_redis.hpp"
#include "gate/gate_rig.hpp"
#include "gate/redis_server.hpp"

using namespace onceward;
using namespace onceward::test;
using namespace std::chrono_literals;

namespace {

using Command = FakeRedis::Command;

std::string url_of(const FakeRedis& redis)
{
    return "redis://127.0.0.1:" + redis.port();
}

// A rig made late: its fake needs the rig's own context, and the rig needs the fake's port.
struct FakeWorld {
    explicit FakeWorld(FakeRedis::Script script,
                       const std::function<void(RedisGateOptions&)>& change = {})
        : redis(context, std::move(script))
    {
        auto options = options_for(url_of(redis));
        if (change) change(options);
        rig.emplace(std::move(options));
    }
    ~FakeWorld()
    {
        rig.reset();
        redis.stop();
        context.restart();
        context.run();
    }

    void until(const std::function<bool()>& reached)
    {
        rig->run_until([&] {
            context.restart();
            context.poll();
            return reached();
        });
    }

    // Both loops turn until the lookup has ended.
    GateAnswer lookup(unsigned key)
    {
        std::optional<GateAnswer> answer;
        boost::asio::co_spawn(rig->context, rig->gate.lookup(digest_of(key)),
                              [&answer](std::exception_ptr, GateAnswer got) { answer = got; });
        until([&] { return answer.has_value(); });
        return *answer;
    }
    void connect()
    {
        until([&] { return rig->gate.is_up(); });
    }

    boost::asio::io_context context{1};
    FakeRedis redis;
    std::optional<GateRig> rig;
};

bool is_miss(const GateAnswer& answer)
{
    return std::holds_alternative<GateMiss>(answer);
}

}  // namespace

TEST_CASE(
    "W4 a stopped Redis is a miss within the limit, the breaker opens, and it heals by itself")
{
    RedisServer server;
    auto options = options_for(server.url());
    options.lookup_limit = 5ms;
    GateRig rig(options);
    rig.connect();
    rig.publish(digest_of(1), settled_record());

    server.freeze();
    int ended = 0;
    for (unsigned i = 0; i < 8; ++i) {
        boost::asio::co_spawn(rig.context, rig.gate.lookup(digest_of(1)),
                              [&](std::exception_ptr, GateAnswer answer) {
                                  ++ended;
                                  CHECK(is_miss(answer));
                              });
    }
    rig.run_until([&] { return ended == 8; });
    CHECK_FALSE(rig.gate.is_up());
    // Not connected: not asked, so nobody waits.
    const auto skipped = rig.lookups[GateLookup::skipped];
    CHECK(is_miss(rig.lookup(digest_of(1))));
    CHECK(rig.lookups[GateLookup::skipped] == skipped + 1);
    rig.gate.publish(digest_of(2), settled_record());
    CHECK(rig.publications[GatePublish::dropped] >= 1);

    server.thaw();
    rig.run_until([&] { return rig.find(digest_of(1)).has_value(); });
    CHECK_FALSE(rig.gate.is_skipping());
}

TEST_CASE("W4 a Redis that lets us in and then does not answer opens the breaker")
{
    FakeWorld world(
        [](const Command& command) -> std::string {
            return command[0] == "GET" ? "" : FakeRedis::ok;
        },
        [](RedisGateOptions& options) {
            options.lookup_limit = 5ms;
            options.breaker = {3, std::chrono::hours{1}, std::chrono::hours{1}};
        });
    // However many wait, a connection that ends without their replies is one failure.
    for (int round = 1; round <= 3; ++round) {
        world.until([&] { return world.rig->told(GateCondition::up) == round; });
        CHECK_FALSE(world.rig->gate.is_skipping());
        int ended = 0;
        for (unsigned i = 0; i < 20; ++i) {
            boost::asio::co_spawn(world.rig->context, world.rig->gate.lookup(digest_of(i)),
                                  [&](std::exception_ptr, GateAnswer) { ++ended; });
        }
        world.until([&] { return ended == 20; });
    }
    CHECK(world.rig->gate.is_skipping());
    world.until([&] { return world.rig->told(GateCondition::up) == 4; });
    const auto asked = world.redis.count("GET");
    CHECK(is_miss(world.lookup(1)));
    CHECK(world.redis.count("GET") == asked);
    CHECK(world.rig->lookups[GateLookup::error] == 60);
    CHECK(world.rig->lookups[GateLookup::skipped] == 1);
}

TEST_CASE("a worker may end with lookups under way: nobody who waits outlives its loop")
{
    RedisServer server;
    bool destroyed = false;
    struct Witness {
        bool* told;
        ~Witness() { *told = true; }
    };
    struct Context : boost::asio::io_context {
        void abandon() { shutdown(); }
    };
    Context context;
    AsioClock clock(context);
    RedisGate gate(context, clock, [] { return core::StoreTime{}; }, secret_of(),
                   options_for(server.url()), {});
    boost::asio::co_spawn(context, gate.run(), boost::asio::detached);
    while (!gate.is_up())
        context.run_one();
    server.freeze();
    auto witness = std::make_unique<Witness>(&destroyed);
    boost::asio::co_spawn(context, gate.lookup(digest_of(1)),
                          [held = std::move(witness)](std::exception_ptr, GateAnswer) {});
    context.poll();
    CHECK_FALSE(destroyed);
    gate.stop();
    context.abandon();
    CHECK(destroyed);
    server.thaw();
}

TEST_CASE("W54 a killed Redis is a miss, and its successor is found")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    rig.publish(digest_of(1), settled_record());
    server.kill();
    CHECK_FALSE(rig.find(digest_of(1)));
    rig.run_until([&] { return !rig.gate.is_up(); });
    CHECK_FALSE(rig.find(digest_of(1)));
    server.start();
    rig.connect();
    rig.run_until([&] {
        rig.publish(digest_of(1), settled_record());
        return rig.find(digest_of(1)).has_value();
    });
    CHECK(rig.told(GateCondition::down) == 1);
    CHECK(rig.told(GateCondition::up) == 2);
}

TEST_CASE("a late reply is never taken for the next one's")
{
    EntrySealer sealer(secret_of());
    const core::StoreTime wall{1'800'000'000'000ms};
    const auto entry = sealer.seal(digest_of(1), settled_record(), {wall, wall + 60s});
    bool silent = true;
    FakeWorld world(
        [&](const Command& command) -> std::string {
            if (command[0] != "GET") return FakeRedis::ok;
            if (silent) return {};
            return FakeRedis::nil;
        },
        [](RedisGateOptions& options) { options.lookup_limit = 5ms; });
    world.connect();
    CHECK(is_miss(world.lookup(1)));
    CHECK(world.rig->lookups[GateLookup::error] == 1);

    // The reply comes now, on the connection that was given up.
    world.redis.say(0, FakeRedis::bulk(entry));
    silent = false;
    world.until([&] { return world.rig->told(GateCondition::up) == 2; });
    // A loaded machine may miss the 5 ms: then it is an error, and asked again.
    world.until([&] {
        CHECK(is_miss(world.lookup(2)));
        return world.rig->lookups[GateLookup::miss] > 0;
    });
    CHECK(world.rig->lookups[GateLookup::refused] == 0);
    CHECK(world.rig->lookups[GateLookup::hit] == 0);
    CHECK(world.redis.connections() >= 2);
}

TEST_CASE("a server that accepts and says nothing is left after the step's limit")
{
    FakeWorld world([](const Command&) { return std::string(); },
                    [](RedisGateOptions& options) { options.limits.dial_step = 5ms; });
    world.until([&] { return world.redis.connections() >= 3; });
    CHECK(world.rig->told(GateCondition::up) == 0);
    CHECK(world.rig->told(GateCondition::down) == 1);
    CHECK(world.rig->news[0].second.find("no answer in time") != std::string::npos);
    CHECK(is_miss(world.lookup(1)));
}

TEST_CASE("an answer that nobody asked for ends the connection")
{
    FakeWorld world([](const Command& command) -> std::string {
        return command[0] == "GET" ? FakeRedis::nil : FakeRedis::ok;
    });
    world.connect();
    world.redis.say(0, "+SURPRISE\r\n");
    world.until([&] { return world.rig->told(GateCondition::up) == 2; });
    CHECK(world.rig->news[1].second.find("nobody asked for") != std::string::npos);
    CHECK(is_miss(world.lookup(1)));
    CHECK(world.rig->lookups[GateLookup::miss] == 1);
}

TEST_CASE("T25 hostile answers are misses")
{
    std::string deep;
    for (int i = 0; i < 100; ++i)
        deep += "*1\r\n";
    const std::string answers[] = {"$99999999999999\r\n" + std::string(300'000, 'x'),
                                   "*2147483647\r\n" + std::string(200'000, ':'),
                                   "$-5\r\n",
                                   "*-7\r\n",
                                   deep,
                                   "HTTP/1.1 400 Bad Request\r\n\r\n",
                                   ":99999999999999999999999999\r\n",
                                   std::string(100, '\0') + "\r\n",
                                   "%1\r\n+a\r\n+b\r\n",
                                   "*1\r\n$1\r\na\r\n",
                                   ":1\r\n",
                                   "+PENDING\r\n",
                                   "-\r\n"};
    for (const auto& hostile : answers) {
        CAPTURE(hostile.substr(0, 40));
        FakeWorld world([&](const Command& command) -> std::string {
            return command[0] == "GET" ? hostile : FakeRedis::ok;
        });
        world.connect();
        CHECK(is_miss(world.lookup(1)));
        CHECK(world.rig->lookups[GateLookup::miss] == 0);
        CHECK(world.rig->lookups[GateLookup::hit] == 0);
    }
}

TEST_CASE("a Redis Cluster is reported once, and not asked again")
{
    for (const std::string answer :
         {"-MOVED 3999 10.0.0.7:6381\r\n", "-ASK 3999 10.0.0.7:6381\r\n"}) {
        FakeWorld world([&](const Command& command) -> std::string {
            return command[0] == "GET" || command[0] == "SET" ? answer : FakeRedis::ok;
        });
        world.connect();
        CHECK(is_miss(world.lookup(1)));
        world.until([&] { return world.rig->ran; });
        for (int i = 0; i < 20; ++i)
            CHECK(is_miss(world.lookup(1)));
        world.rig->gate.publish(digest_of(1), settled_record());
        CHECK(world.redis.count("GET") == 1);
        CHECK(world.redis.count("SET") == 0);
        CHECK(world.redis.connections() == 1);
        CHECK(world.rig->told(GateCondition::unsupported) == 1);
        CHECK(world.rig->told(GateCondition::down) == 0);
        CHECK(world.rig->news.back().second.find("Cluster") != std::string::npos);
    }
}

TEST_CASE("publications wait in a bounded queue, and what does not fit is dropped and counted")
{
    FakeWorld world(
        [](const Command& command) -> std::string {
            return command[0] == "SET" ? "" : FakeRedis::ok;
        },
        [](RedisGateOptions& options) { options.limits.pipe.unsent_max = 100'000; });
    world.connect();
    // The fake's loop does not turn meanwhile: its sockets fill, then the queue does.
    const auto record = settled_record(std::string(10'000, 'x'));
    int sent = 0;
    for (unsigned i = 0; i < 5'000; ++i) {
        world.rig->gate.publish(digest_of(i), record);
        if (i % 8 == 0) world.rig->context.poll();
    }
    sent = world.rig->publications[GatePublish::sent];
    const int dropped = world.rig->publications[GatePublish::dropped];
    CHECK(sent + dropped == 5'000);
    CHECK(dropped > 0);
    CHECK(sent > 0);
    world.until([&] { return world.redis.count("SET") == static_cast<std::size_t>(sent); });
}

TEST_CASE("commands without a reply are bounded, too")
{
    FakeWorld world(
        [](const Command& command) -> std::string {
            return command[0] == "SET" ? "" : FakeRedis::ok;
        },
        [](RedisGateOptions& options) { options.limits.pipe.in_flight_max = 10; });
    world.connect();
    for (unsigned i = 0; i < 25; ++i) {
        world.rig->gate.publish(digest_of(i), settled_record());
        world.rig->context.restart();
        world.rig->context.poll();
    }
    CHECK(world.rig->publications[GatePublish::sent] == 10);
    CHECK(world.rig->publications[GatePublish::dropped] == 15);
    CHECK(is_miss(world.lookup(1)));
    CHECK(world.rig->lookups[GateLookup::error] == 1);
}

TEST_CASE("a refusal is a complaint, told once for its kind, and never in the peer's own words")
{
    FakeWorld world([](const Command& command) -> std::string {
        if (command[0] == "GET") return "-NOPERM secret words of the peer\r\n";
        if (command[0] == "SET") return "-oh\x01-dear\r\n";
        return FakeRedis::ok;
    });
    world.connect();
    for (int i = 0; i < 2; ++i) {
        CHECK(is_miss(world.lookup(1)));
        world.rig->gate.publish(digest_of(1), settled_record());
    }
    world.until([&] { return world.rig->told(GateCondition::complaint) == 2; });
    for (int i = 0; i < 5; ++i)
        world.lookup(1);
    CHECK(world.rig->told(GateCondition::complaint) == 2);
    for (const auto& [condition, why] : world.rig->news) {
        CHECK(why.find("peer") == std::string::npos);
        CHECK(why.find('\x01') == std::string::npos);
    }
    CHECK(world.rig->gate.is_up());
}

TEST_CASE("a thread that was busy does not take Redis for slow")
{
    EntrySealer sealer(secret_of());
    const core::StoreTime wall{1'800'000'000'000ms};
    const auto record = settled_record(std::string(2'000, 'x'));
    const auto entry = sealer.seal(digest_of(1), record, {wall, wall + 60s});
    FakeWorld world(
        [&](const Command& command) -> std::string {
            return command[0] == "GET" ? FakeRedis::bulk(entry) : FakeRedis::ok;
        },
        [](RedisGateOptions& options) { options.lookup_limit = 100ms; });
    world.connect();
    int ended = 0;
    for (unsigned i = 0; i < 200; ++i) {
        boost::asio::co_spawn(world.rig->context, world.rig->gate.lookup(digest_of(1)),
                              [&ended](std::exception_ptr, GateAnswer) { ++ended; });
    }
    world.rig->context.restart();
    world.rig->context.poll();
    // The proxy's loop stands still until long after the limit; all replies have come meanwhile,
    // more than one read can take.
    const auto late = world.rig->clock.now() + 150ms;
    while (world.rig->clock.now() < late) {
        world.context.restart();
        world.context.poll();
    }
    REQUIRE(world.redis.count("GET") == 200);
    world.until([&] { return ended == 200; });
    CHECK(world.rig->lookups[GateLookup::hit] == 200);
    CHECK(world.rig->lookups[GateLookup::error] == 0);
}

TEST_CASE("an open breaker closes with the first answer, and failures count in a row only")
{
    bool silent = true;
    FakeWorld world(
        [&](const Command& command) -> std::string {
            if (command[0] != "GET") return FakeRedis::ok;
            return silent ? "" : FakeRedis::nil;
        },
        [](RedisGateOptions& options) {
            options.lookup_limit = 50ms;
            options.breaker = {2, 1ms, 1ms};
        });
    const auto ask_until = [&](GateLookup how, int times) {
        world.until([&] {
            world.lookup(1);
            return world.rig->lookups[how] >= times;
        });
    };
    ask_until(GateLookup::error, 2);
    CHECK(world.rig->gate.is_skipping());
    silent = false;
    ask_until(GateLookup::miss, 1);
    CHECK_FALSE(world.rig->gate.is_skipping());
    silent = true;
    ask_until(GateLookup::error, 3);
    CHECK_FALSE(world.rig->gate.is_skipping());
    ask_until(GateLookup::error, 4);
    CHECK(world.rig->gate.is_skipping());
}
