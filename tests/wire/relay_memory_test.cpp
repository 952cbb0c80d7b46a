// Unguarded traffic streams: however large it is, the proxy's memory stays small.
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace onceward::wire;

namespace {

// Repeats a piece up to this many bytes.
bool send_much(Socket& socket, std::size_t bytes)
{
    const std::string piece(64 << 10, 'm');
    while (bytes > 0) {
        const auto part = std::min(bytes, piece.size());
        if (!socket.send(std::string_view(piece).substr(0, part), within(std::chrono::seconds(60))))
            return false;
        bytes -= part;
    }
    return true;
}

constexpr std::size_t hundred_megabytes = 100'000'000;
[[maybe_unused]] constexpr std::size_t growth_max_kib = 16 * 1024;

// A sanitizer's own memory is no measure of the proxy's.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONCEWARD_SANITIZED
#endif
#endif

// Resident memory that the scope's work added at its peak.
class MemoryCheck {
public:
    explicit MemoryCheck(World& world) : world_(world)
    {
        // The first requests make what stays: pools, buffers, threads.
        for (int i = 0; i < 4; ++i)
            world_.ask(get("/warm"), "GET");
        world_.proxy().reset_peak_memory();
        before_ = world_.proxy().peak_memory();
    }
    void check() const
    {
        const auto after = world_.proxy().peak_memory();
        MESSAGE("resident memory grew by ", after - before_, " KiB");
        CHECK(before_ > 0);
#if !defined(ONCEWARD_SANITIZED)
        CHECK(after <= before_ + growth_max_kib);
#endif
    }

private:
    World& world_;
    std::size_t before_ = 0;
};

}  // namespace

TEST_CASE("100 MB stream up, with at most 16 MiB more memory")
{
    World world;
    world.origin().drop_bodies();
    const MemoryCheck memory(world);
    const auto before = world.origin().requests();
    Client client(world.proxy().port());
    client.send("POST /free HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                std::to_string(hundred_megabytes) + "\r\n\r\n");
    CHECK(send_much(client.socket(), hundred_megabytes));
    CHECK(client.read().status == 201);
    CHECK(world.origin().request(before + 1).body.size == hundred_megabytes);
    memory.check();
}

TEST_CASE("100 MB stream up chunked, with at most 16 MiB more memory")
{
    World world;
    world.origin().drop_bodies();
    const MemoryCheck memory(world);
    const auto before = world.origin().requests();
    Client client(world.proxy().port());
    client.send("POST /free HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5f5e100\r\n");
    CHECK(send_much(client.socket(), hundred_megabytes));
    client.send("\r\n0\r\n\r\n");
    CHECK(client.read().status == 201);
    CHECK(world.origin().request(before + 1).body.size == hundred_megabytes);
    memory.check();
}

TEST_CASE("100 MB stream down, with at most 16 MiB more memory")
{
    World world;
    const MemoryCheck memory(world);
    world.origin().script([](Call& call) {
        call.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(hundred_megabytes) +
                  "\r\n\r\n");
        send_much(call.socket(), hundred_megabytes);
    });
    Client client(world.proxy().port());
    client.send(get("/free"));
    const auto got = client.read("GET", [](std::string_view) {});
    CHECK(got.body.size == hundred_megabytes);
    CHECK(got.body.complete);
    memory.check();
}

TEST_CASE("100 MB answer to a keyed request streams too, with at most 16 MiB more memory")
{
    World world;
    const MemoryCheck memory(world);
    world.origin().script([](Call& call) {
        call.send("HTTP/1.1 201 Created\r\nContent-Length: " + std::to_string(hundred_megabytes) +
                  "\r\n\r\n");
        send_much(call.socket(), hundred_megabytes);
    });
    Client client(world.proxy().port());
    client.send(post("/c", "large"));
    const auto got = client.read("POST", [](std::string_view) {});
    CHECK(got.body.size == hundred_megabytes);
    CHECK(world.ask(post("/c", "large")).code() == "replay-unavailable");
    memory.check();
}

TEST_CASE("a client that does not read holds the upstream back, not the proxy's memory")
{
    constexpr std::size_t size = 64 << 20;
    std::atomic<std::size_t> taken{0};
    Gate stalled;
    World world;
    const MemoryCheck memory(world);
    world.origin().script([&](Call& call) {
        call.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
        const std::string body(size, 's');
        taken = call.socket().send_until_stalled(body, std::chrono::milliseconds(500));
        stalled.open();
        call.socket().send(std::string_view(body).substr(taken), within(std::chrono::seconds(60)));
    });
    Client client(world.proxy().port());
    client.send(get("/free"));
    REQUIRE(readable(stalled.descriptor(), within(std::chrono::seconds(30))));
    CHECK(taken < size);
    CHECK(client.read("GET", [](std::string_view) {}).body.size == size);
    memory.check();
}

TEST_CASE("an upstream that does not read holds the client back, not the proxy's memory")
{
    constexpr std::size_t size = 64 << 20;
    Gate read_on;
    World world;
    const MemoryCheck memory(world);
    world.origin().drop_bodies();
    world.origin().on_head([&read_on](Call& call) { call.wait(read_on); });
    Client client(world.proxy().port());
    client.send("POST /free HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) +
                "\r\n\r\n");
    const std::string body(size, 's');
    const auto taken = client.socket().send_until_stalled(body, std::chrono::milliseconds(500));
    CHECK(taken < size);
    read_on.open();
    CHECK(client.socket().send(std::string_view(body).substr(taken),
                               within(std::chrono::seconds(60))));
    CHECK(client.read().status == 201);
    memory.check();
}
