// The gate against a real Redis: hits, misses and everything that may lie there.
#include "gate/gate_rig.hpp"
#include "gate/redis_server.hpp"

#include <random>

using namespace onceward;
using namespace onceward::test;
using namespace std::chrono_literals;

TEST_CASE("RSV-3 what was published is found by another process with the same secret")
{
    RedisServer server;
    GateRig publisher(server.url());
    GateRig reader(server.url());
    publisher.connect();
    reader.connect();
    CHECK_FALSE(reader.find(digest_of(1)));
    const auto record = settled_record();
    publisher.publish(digest_of(1), record);
    reader.wall += 3s;
    const auto found = reader.find(digest_of(1));
    REQUIRE(found);
    CHECK(same_answer(*found, record));
    CHECK(found->remaining == record.remaining - 3s);
    CHECK(reader.lookups[GateLookup::hit] == 1);
    CHECK(reader.lookups[GateLookup::miss] == 1);
}

TEST_CASE("keys are digests, values are sealed, and Redis forgets them by itself")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    auto record = settled_record("CARDNUMBER");
    rig.publish(digest_of(1), record);
    record.remaining = 30s;
    rig.publish(digest_of(2), record);

    CHECK(redis_key(digest_of(1)) == "idem:" + digest_of(1).hex());
    CHECK(server.command({"DBSIZE"}).integer == 2);
    const auto value = server.command({"GET", redis_key(digest_of(1))});
    CHECK(value.text.size() == EntrySealer::sealed_size(record));
    CHECK(value.text.find("CARDNUMBER") == std::string::npos);
    const auto long_lived = server.command({"PTTL", redis_key(digest_of(1))}).integer;
    CHECK(long_lived > 0);
    CHECK(long_lived <= 60'000);
    const auto short_lived = server.command({"PTTL", redis_key(digest_of(2))}).integer;
    CHECK(short_lived > 0);
    CHECK(short_lived <= 25'000);
}

TEST_CASE("what is not settled, ends too soon or is too large is not published")
{
    RedisServer server;
    auto options = options_for(server.url());
    options.entry_bytes_max = 1'000;
    GateRig rig(options);
    rig.connect();
    auto record = settled_record();
    for (const auto state : {core::State::pending, core::State::unknown, core::State::released,
                             core::State::expired}) {
        record.state = state;
        rig.publish(digest_of(1), record);
    }
    record = settled_record();
    record.remaining = 5s;
    rig.publish(digest_of(2), record);
    rig.publish(digest_of(3), settled_record(std::string(1'000, 'x')));
    CHECK(rig.publications[GatePublish::unfit] == 6);
    CHECK(server.command({"DBSIZE"}).integer == 0);
}

TEST_CASE("W54 FLUSHALL, eviction and restart are misses")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    rig.publish(digest_of(1), settled_record());
    CHECK(rig.find(digest_of(1)));
    server.command({"FLUSHALL"});
    CHECK_FALSE(rig.find(digest_of(1)));
    rig.publish(digest_of(1), settled_record());
    CHECK(rig.find(digest_of(1)));
}

TEST_CASE("W4 junk, other types and values of any size are misses, and nothing breaks by them")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    const auto key = redis_key(digest_of(1));
    server.command({"SET", key, ""});
    CHECK_FALSE(rig.find(digest_of(1)));
    server.command({"SET", key, "PENDING"});
    CHECK_FALSE(rig.find(digest_of(1)));
    server.command({"SET", key, std::string(60'000, '\1')});
    CHECK_FALSE(rig.find(digest_of(1)));
    server.command({"DEL", key});
    server.command({"RPUSH", key, "x"});
    CHECK_FALSE(rig.find(digest_of(1)));
    CHECK(rig.lookups[GateLookup::refused] == 4);
    CHECK(rig.lookups[GateLookup::error] == 0);
    CHECK(rig.told(GateCondition::up) == 1);
    CHECK(rig.told(GateCondition::down) == 0);

    // Publishing replaces whatever is there.
    rig.publish(digest_of(1), settled_record());
    CHECK(rig.find(digest_of(1)));
}

TEST_CASE("T25 a value of many megabytes ends the connection, not the process")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    server.command({"SETRANGE", redis_key(digest_of(1)), "20000000", "x"});
    CHECK_FALSE(rig.find(digest_of(1)));
    CHECK(rig.lookups[GateLookup::error] == 1);
    rig.run_until([&] { return rig.told(GateCondition::up) == 2; });
    CHECK(rig.news[1].second.find("size limit") != std::string::npos);
    CHECK_FALSE(rig.find(digest_of(2)));
    CHECK(rig.lookups[GateLookup::miss] == 1);
}

TEST_CASE("T24 W55 flipped bits, an entry of another key, another installation's, an old one")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    rig.publish(digest_of(1), settled_record());
    const auto key = redis_key(digest_of(1));
    const auto genuine = server.command({"GET", key}).text;

    std::mt19937 random(55);
    for (int round = 0; round < 300; ++round) {
        auto forged = genuine;
        const auto bit = random() % (forged.size() * 8);
        forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << bit % 8));
        server.command({"SET", key, forged});
        CHECK_FALSE(rig.find(digest_of(1)));
    }
    server.command({"SET", key, genuine});
    CHECK(rig.find(digest_of(1)));
    server.command({"SET", redis_key(digest_of(2)), genuine});
    CHECK_FALSE(rig.find(digest_of(2)));

    GateRig stranger(options_for(server.url()), secret_of("another secret of the same length."));
    stranger.connect();
    CHECK_FALSE(stranger.find(digest_of(1)));

    // SET without PX: Redis would keep it for ever.
    rig.wall += 60s;
    CHECK_FALSE(rig.find(digest_of(1)));
}

TEST_CASE(
    "lookups and publications of many coroutines share one connection, each with its own answer")
{
    RedisServer server;
    GateRig rig(server.url());
    rig.connect();
    for (unsigned i = 0; i < 500; ++i)
        rig.gate.publish(digest_of(i), settled_record(std::to_string(i)));
    int right = 0;
    int ended = 0;
    for (unsigned i = 0; i < 1'000; ++i) {
        boost::asio::co_spawn(rig.context, rig.gate.lookup(digest_of(i)),
                              [&right, &ended, i](std::exception_ptr, GateAnswer answer) {
                                  ++ended;
                                  const auto* found = std::get_if<GateSettled>(&answer);
                                  const bool expected = i < 500;
                                  if (!expected) right += found == nullptr ? 1 : 0;
                                  if (expected && found)
                                      right +=
                                          found->record.answer.body == std::to_string(i) ? 1 : 0;
                              });
    }
    rig.run_until([&] { return ended == 1'000; });
    CHECK(right == 1'000);
    CHECK(rig.told(GateCondition::up) == 1);
    const auto clients = server.command({"CLIENT", "LIST"}).text;
    CHECK(clients.find("name=onceward") == clients.rfind("name=onceward"));
}
