// Death, drain and a failing disk: nothing acknowledged is lost, nothing runs twice (windows A to
// E, W56).
#include "wire/world.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

using namespace onceward::wire;

namespace {

// What became of one key at the client.
struct Outcome {
    int status = 0;  // Zero: no answer.
    std::string body;
};

// Sends keyed requests, one after the other, until the proxy has gone.
void send_until_gone(std::uint16_t port, const std::string& prefix,
                     std::map<std::string, Outcome>& outcomes)
{
    for (int number = 0; number < 1'000; ++number) {
        const auto key = prefix + std::to_string(number);
        auto& outcome = outcomes[key];
        try {
            const auto answer = ask(port, post("/c", key, key));
            if (answer.body.complete) outcome = {answer.status, answer.body.bytes};
        } catch (const WireError&) {
            return;
        }
    }
}

// How often the origin got each key's body.
std::map<std::string, int> executions(const Origin& origin)
{
    std::map<std::string, int> counted;
    for (std::size_t number = 1; number <= origin.requests(); ++number) {
        ++counted[origin.request(number).head.field("Idempotency-Key")];
    }
    return counted;
}

void limit_file_size(const Proxy& proxy, rlim_t bytes)
{
    const rlimit limit{bytes, RLIM_INFINITY};
    REQUIRE(::prlimit(proxy.pid(), RLIMIT_FSIZE, &limit, nullptr) == 0);
}

void check_store_unavailable(World& world, const std::string& key)
{
    const auto before = world.origin().bytes();
    const auto refused = world.ask(post("/c", key));
    CHECK(refused.status == 503);
    CHECK(refused.code() == "store-unavailable");
    CHECK(refused.has("Retry-After"));
    CHECK(refused.field("Idempotent-Retryable") == "true");
    CHECK(world.origin().bytes() == before);
    CHECK(world.ask(get("/free"), "GET").status == 201);
}

}  // namespace

TEST_CASE("W18 kill -9 in the middle of a call: unknown after the restart, executed once")
{
    Gate finish;
    World world({}, [&finish](Call& call) { call.wait(finish); });
    Client client(world.proxy().port());
    client.send(post("/c", "W18"));
    REQUIRE(world.origin().wait_for_requests(1));
    world.proxy().kill();
    finish.open();
    world.restart_proxy();
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto again = world.ask(post("/c", "W18"));
        CHECK(again.status == 504);
        CHECK(again.code() == "outcome-unknown");
        CHECK(again.field("Idempotent-Retryable") == "false");
    }
    CHECK(world.ask(post("/c", "W18", "other body")).status == 422);
    CHECK(world.state("W18") == "UNKNOWN");
    CHECK(
        contains(world.admin("/v1/keys?state=unknown").body.bytes, world.lookup("W18").json("id")));
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("W40 kill -9 after the answer: the retry replays it")
{
    World world;
    const auto first = world.ask(post("/c", "W40"));
    world.proxy().kill();
    world.restart_proxy();
    const auto again = world.ask(post("/c", "W40"));
    CHECK(again.status == first.status);
    CHECK(again.replayed());
    CHECK(again.body.bytes == first.body.bytes);
    CHECK(again.field("Location") == first.field("Location"));
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("OUT-2 kill -9 at any moment: what was answered is replayed, nothing runs twice")
{
    World world;
    for (int round = 0; round < 6; ++round) {
        CAPTURE(round);
        std::array<std::map<std::string, Outcome>, 6> outcomes;
        std::vector<std::thread> threads;
        const auto port = world.proxy().port();
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            const auto prefix = std::to_string(round) + "-" + std::to_string(i) + "-";
            threads.emplace_back(
                [port, prefix, &into = outcomes[i]] { send_until_gone(port, prefix, into); });
        }
        const bool reached = world.origin().wait_for_requests(world.origin().requests() + 20 +
                                                              static_cast<std::size_t>(round) * 7);
        world.proxy().kill();
        for (auto& thread : threads)
            thread.join();
        REQUIRE(reached);
        world.restart_proxy();
        for (const auto& map : outcomes) {
            for (const auto& [key, outcome] : map) {
                CAPTURE(key);
                const auto again = world.ask(post("/c", key, key));
                if (outcome.status == 201) {
                    CHECK(again.replayed());
                    CHECK(again.body.bytes == outcome.body);
                } else {
                    CHECK((again.status == 201 || again.status == 504));
                }
            }
        }
    }
    for (const auto& [key, count] : executions(world.origin())) {
        CAPTURE(key);
        CHECK(count == 1);
    }
}

TEST_CASE("W56 SIGTERM finishes what is in flight, takes nothing new, exits 0")
{
    Gate finish;
    World world({}, [&finish](Call& call) {
        if (!contains(call.request().head.start, "late")) call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    Client keyed(world.proxy().port());
    keyed.send(post("/c", "W56"));
    Client plain(world.proxy().port());
    plain.send(get("/free"));
    REQUIRE(world.origin().wait_for_requests(2));
    world.proxy().terminate();
    const auto refuses = [&] {
        try {
            return world.ask(post("/c/late", "late")).status == 503;
        } catch (const WireError&) {
            return true;
        }
    };
    const auto deadline = within(patience);
    bool refused = false;
    while (!refused && std::chrono::steady_clock::now() < deadline)
        refused = refuses();
    CHECK(refused);
    finish.open();
    const auto last = keyed.read();
    CHECK(last.body.bytes == "made");
    CHECK(last.field("Connection") == "close");
    CHECK(plain.read("GET").body.bytes == "made");
    CHECK(world.proxy().wait() == 0);
    world.restart_proxy();
    CHECK(world.ask(post("/c", "W56")).replayed());
    CHECK(executions(world.origin())["\"W56\""] == 1);
}

TEST_CASE("W56 an idle keep-alive connection does not hold up a drain")
{
    World world;
    Client idle(world.proxy().port());
    CHECK(idle.ask(get("/free"), "GET").status == 201);
    Client fresh(world.proxy().port());
    world.proxy().terminate();
    CHECK(world.proxy().wait(within(std::chrono::seconds(15))) == 0);
}

TEST_CASE("W56 what outlasts the drain becomes unknown at once, and the exit code is 9")
{
    Configuration configuration;
    configuration.server = "  drain: { timeout: 300ms }\n";
    Gate never;
    World world(configuration, [&never](Call& call) { call.wait(never); });
    Client client(world.proxy().port());
    client.send(post("/c", "W56"));
    REQUIRE(world.origin().wait_for_requests(1));
    world.proxy().terminate();
    CHECK(world.proxy().wait() == 9);
    world.restart_proxy();
    const auto again = world.ask(post("/c", "W56"));
    CHECK(again.status == 504);
    CHECK(again.code() == "outcome-unknown");
    CHECK(world.lookup("W56").json("reason") == "drain");
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("decision 3: a second process on the same file is refused, the first goes on")
{
    World world;
    CHECK(world.ask(post("/c", "first")).status == 201);
    const auto failed = start_and_fail(world.directory(), world.configuration());
    REQUIRE(failed);
    CHECK(failed->exit_code.value_or(0) != 0);
    CHECK(contains(failed->errors, "records.db"));
    CHECK(world.ask(post("/c", "first")).replayed());
    CHECK(world.ask(post("/c", "second")).status == 201);
}

TEST_CASE("a second process with records of its own does not get a share of the port")
{
    World world;
    const auto listen = "127.0.0.1:" + std::to_string(world.proxy().port());
    ::setenv("ONCEWARD_SERVER__LISTEN", listen.c_str(), 1);
    const Directory elsewhere;
    const auto failed = start_and_fail(elsewhere, world.configuration());
    ::unsetenv("ONCEWARD_SERVER__LISTEN");
    REQUIRE(failed);
    CHECK(failed->exit_code == 7);
    CHECK(contains(failed->errors, "cannot listen on " + listen + ": Address already in use"));
    CHECK_FALSE(contains(failed->errors, "in function"));
    CHECK(world.ask(post("/c", "mine")).status == 201);
}

TEST_CASE("clients cannot take the last descriptors from health checks and the upstream")
{
    Origin origin;
    const Directory directory;
    Configuration configuration;
    configuration.upstream = origin.port();
    Launch launch;
    launch.descriptors = 128;
    Proxy proxy(directory, configuration, launch);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 150; ++i)
        clients.push_back(std::make_unique<Client>(proxy.port()));
    CHECK(ask(proxy.observability_port(), get("/livez"), "GET").status == 200);
    CHECK(clients.front()->ask(post("/c", "served")).status == 201);
}

TEST_CASE("RSV-14 a full disk is 503 before the first byte; with room again the same key runs once")
{
    World world;
    CHECK(world.ask(post("/c", "before")).status == 201);
    limit_file_size(world.proxy(), 1);
    check_store_unavailable(world, "full");
    check_store_unavailable(world, "full");
    limit_file_size(world.proxy(), RLIM_INFINITY);
    const auto before = world.origin().requests();
    CHECK(world.ask(post("/c", "full")).status == 201);
    CHECK(world.ask(post("/c", "full")).replayed());
    CHECK(world.ask(post("/c", "before")).replayed());
    CHECK(world.origin().requests() == before + 1);
}

TEST_CASE(
    "OUT-3 the disk fills while the upstream works: the true answer, marked, and never a second "
    "execution")
{
    Gate finish;
    World world({}, [&finish](Call& call) {
        call.wait(finish);
        call.send(answer("201 Created", "made"));
    });
    Client client(world.proxy().port());
    client.send(post("/c", "OUT-3"));
    REQUIRE(world.origin().wait_for_requests(1));
    limit_file_size(world.proxy(), 1);
    finish.open();
    const auto first = client.read();
    CHECK(first.status == 201);
    CHECK(first.body.bytes == "made");
    CHECK(first.field("Idempotent-Stored") == "false");
    limit_file_size(world.proxy(), RLIM_INFINITY);
    const auto again = world.ask(post("/c", "OUT-3"));
    CHECK((again.replayed() || again.status == 409 || again.status == 503 || again.status == 504));
    CHECK(world.origin().requests() == 1);
    world.proxy().kill();
    world.restart_proxy();
    const auto later = world.ask(post("/c", "OUT-3"));
    CHECK((later.replayed() || later.status == 504));
    CHECK(world.origin().requests() == 1);
}

TEST_CASE("RSV-14 on_store_error: pass lets such requests through, marked")
{
    Configuration configuration;
    configuration.tier = "{ retention: 1h, lease: 60s, on_store_error: pass }";
    World world(configuration);
    limit_file_size(world.proxy(), 1);
    const auto passed = world.ask(post("/c", "pass"));
    CHECK(passed.status == 201);
    CHECK(passed.field("Idempotency-Status") == "bypassed");
}

TEST_CASE("RSV-14 a corrupt file is refused at the start, by name")
{
    World world;
    CHECK(world.ask(post("/c", "corrupt")).status == 201);
    world.proxy().kill();
    const auto path = world.directory().file("records.db");
    const auto size = std::filesystem::file_size(path);
    for (const std::string suffix : {"-wal", "-shm", "-journal"})
        std::filesystem::remove(path + suffix);
    std::ofstream(path, std::ios::binary) << std::string(size, '\x5a');
    const auto failed = start_and_fail(world.directory(), world.configuration());
    REQUIRE(failed);
    CHECK(failed->exit_code == 7);
    CHECK(contains(failed->errors, "records.db"));
    CHECK(executions(world.origin())["\"corrupt\""] == 1);
}

TEST_CASE(
    "RSV-14 a file that is damaged while the proxy runs: 503 or the truth, never a wrong answer or "
    "a second execution")
{
    World world;
    const std::string body(200'000, 'b');
    world.origin().script(sends(answer("201 Created", body)));
    CHECK(world.ask(post("/c", "stored")).status == 201);
    world.proxy().terminate();
    CHECK(world.proxy().wait() == 0);
    world.restart_proxy();
    const auto path = world.directory().file("records.db");
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    file << std::string(std::filesystem::file_size(path) - 4096, '\x5a');
    file.close();
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto again = world.ask(post("/c", "stored"));
        const bool true_replay = again.replayed() && again.body.bytes == body;
        CHECK((true_replay || again.code() == "store-unavailable"));
        const auto other = world.ask(post("/c", "new"));
        CHECK((other.body.bytes == body || other.code() == "store-unavailable"));
        CHECK(world.ask(get("/free"), "GET").status == 201);
    }
    CHECK(executions(world.origin())["\"stored\""] == 1);
    CHECK(executions(world.origin())["\"new\""] <= 1);
}

TEST_CASE("RSV-14 a read-only file is refused at the start, by name")
{
    World world;
    CHECK(world.ask(post("/c", "before")).status == 201);
    world.proxy().terminate();
    CHECK(world.proxy().wait() == 0);
    for (const auto& entry : std::filesystem::directory_iterator(world.directory().path())) {
        ::chmod(entry.path().c_str(), 0444);
    }
    ::chmod(world.directory().path().c_str(), 0555);
    const auto failed = start_and_fail(world.directory(), world.configuration(), Launch{true});
    ::chmod(world.directory().path().c_str(), 0755);
    REQUIRE(failed);
    CHECK(failed->exit_code == 7);
    CHECK(contains(failed->errors, "records.db"));
    CHECK(world.origin().requests() == 1);
}
