// Ways in: users and passwords, databases, TLS, Sentinel, and failing over.
#include "fakes/fake_redis.hpp"
#include "gate/gate_rig.hpp"
#include "gate/redis_server.hpp"

#include <atomic>
#include <fstream>
#include <thread>

using namespace onceward;
using namespace onceward::test;
using namespace std::chrono_literals;

namespace {

// A Redis on a TCP port that was free a moment ago; another one may have it by now, so tries a few.
struct TcpServer {
    explicit TcpServer(std::vector<std::string> arguments = {},
                       const std::string& option = "--port")
        : port(free_port())
    {
        arguments.insert(arguments.end(), {option, port});
        server.emplace(std::move(arguments));
    }
    std::string port;
    std::optional<RedisServer> server;
};

void check_works(GateRig& rig)
{
    rig.connect();
    rig.publish(digest_of(1), settled_record());
    CHECK(rig.find(digest_of(1)));
    CHECK_FALSE(rig.find(digest_of(2)));
    CHECK(rig.told(GateCondition::complaint) == 0);
}

// Two workers on threads of their own, with the same certificates: how many of them find digest 1.
int found_by_workers(const RedisGateOptions& options)
{
    std::atomic<int> found = 0;
    const auto work = [&] {
        boost::asio::io_context context{1};
        AsioClock clock(context);
        const auto wall = [] { return core::StoreTime{1'800'000'000'000ms}; };
        RedisGate gate(context, clock, wall, secret_of(), options, {});
        boost::asio::co_spawn(context, gate.run(), boost::asio::detached);
        const auto give_up = clock.now() + patience;
        while (!gate.is_up() && clock.now() < give_up)
            context.run_one_for(50ms);
        boost::asio::co_spawn(context, gate.lookup(digest_of(1)),
                              [&](std::exception_ptr, GateAnswer answer) {
                                  found += std::holds_alternative<GateSettled>(answer) ? 1 : 0;
                                  gate.stop();
                              });
        context.run();
    };
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
    return found;
}

std::string why_down(GateRig& rig)
{
    rig.run_until([&] { return rig.told(GateCondition::down) > 0; });
    return rig.news.back().second;
}

}  // namespace

TEST_CASE("TCP by name, without blocking the loop")
{
    TcpServer redis;
    GateRig rig("redis://localhost:" + redis.port);
    check_works(rig);
}

TEST_CASE("a password, right and wrong and missing")
{
    RedisServer server({"--requirepass", "s3cret/@"});
    GateRig right("unix://:s3cret%2F%40@" + server.socket_path());
    check_works(right);
    GateRig wrong("unix://:guess@" + server.socket_path());
    CHECK(why_down(wrong).find("AUTH was refused: WRONGPASS") != std::string::npos);
    CHECK(why_down(wrong).find("guess") == std::string::npos);
    CHECK_FALSE(wrong.find(digest_of(1)));
    GateRig missing(server.url());
    CHECK(why_down(missing).find("NOAUTH") != std::string::npos);
    CHECK_FALSE(missing.gate.is_up());
}

TEST_CASE("T24 a user who may GET and SET idem:* and nothing else is enough")
{
    RedisServer server;
    server.command({"ACL", "SETUSER", "onceward", "on", ">pw", "resetchannels", "resetkeys",
                    "~idem:*", "-@all", "+get", "+set"});
    server.command({"ACL", "SETUSER", "default", "off"});
    GateRig rig("unix://onceward:pw@" + server.socket_path());
    check_works(rig);
}

TEST_CASE("the database of the URL is used")
{
    RedisServer server;
    GateRig third(server.url() + "?db=3");
    check_works(third);
    CHECK(server.command({"DBSIZE"}).integer == 0);
    GateRig none(server.url() + "?db=400");
    CHECK(why_down(none).find("SELECT was refused") != std::string::npos);
}

TEST_CASE("T26 TLS: the right name under the right authority, and nothing else")
{
    RedisServer files;  // For its directory.
    const auto ca = files.file("ca.pem");
    const auto key = files.file("key.pem");
    REQUIRE(run_program({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                         "/CN=redis.test", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                         key, "-out", ca}) == 0);
    TcpServer redis({"--tls-cert-file", ca, "--tls-key-file", key, "--tls-ca-cert-file", ca,
                     "--tls-auth-clients", "optional"},
                    "--tls-port");

    const auto with_tls = [&](const std::string& host, const std::string& query) {
        auto options = options_for("rediss://" + host + ":" + redis.port + query);
        auto tls = load_redis_tls(options.address);
        REQUIRE(std::holds_alternative<std::shared_ptr<RedisTls>>(tls));
        options.tls = std::get<std::shared_ptr<RedisTls>>(tls);
        return options;
    };
    const auto shared = with_tls("localhost", "?ca=" + ca);
    GateRig right(shared);
    check_works(right);
    CHECK(found_by_workers(shared) == 2);
    GateRig own_certificate(with_tls("localhost", "?ca=" + ca + "&cert=" + ca + "&key=" + key));
    check_works(own_certificate);
    GateRig wrong_name(with_tls("127.0.0.1", "?ca=" + ca));
    CHECK(why_down(wrong_name).find("verify") != std::string::npos);
    GateRig unknown_authority(with_tls("localhost", ""));
    CHECK(why_down(unknown_authority).find("verify") != std::string::npos);

    const auto address = parse_redis_address("rediss://h?ca=/no/such/file");
    const auto missing = load_redis_tls(std::get<RedisAddress>(address));
    CHECK(std::get<std::string>(missing).find("/no/such/file") != std::string::npos);
}

TEST_CASE("a real Sentinel says where the master is")
{
    TcpServer redis;
    RedisServer files;
    const auto port = free_port();
    const auto configuration = files.file("sentinel.conf");
    std::ofstream(configuration) << "port " << port << "\nbind 127.0.0.1\nunixsocket "
                                 << files.file("sentinel.sock") << "\ndir " << files.file("")
                                 << "\nsentinel monitor mymaster 127.0.0.1 " << redis.port
                                 << " 1\n";
    SentinelProcess sentinel(configuration);
    GateRig rig("redis-sentinel://127.0.0.1:" + port + "/mymaster");
    check_works(rig);
    GateRig unknown("redis-sentinel://127.0.0.1:" + port + "/nobody");
    rig.run_until([&] { return true; });
    CHECK(why_down(unknown).find("does not know this name") != std::string::npos);
}

TEST_CASE("W54 failover: READONLY sends it back to the Sentinels, the first of which is dead")
{
    TcpServer demoted;
    TcpServer promoted;
    demoted.server->command({"REPLICAOF", "127.0.0.1", "1"});
    boost::asio::io_context context{1};
    int asked = 0;
    FakeRedis sentinel(context, [&](const FakeRedis::Command& command) -> std::string {
        if (command[0] != "SENTINEL") return "-ERR unknown\r\n";
        CHECK(command[2] == "mymaster");
        const auto& port = ++asked == 1 ? demoted.port : promoted.port;
        return "*2\r\n" + FakeRedis::bulk("127.0.0.1") + FakeRedis::bulk(port);
    });
    {
        GateRig rig("redis-sentinel://127.0.0.1:" + free_port() + ",127.0.0.1:" + sentinel.port() +
                    "/mymaster");
        const auto until = [&](const std::function<bool()>& reached) {
            rig.run_until([&] {
                context.restart();
                context.poll();
                return reached();
            });
        };
        until([&] { return rig.gate.is_up(); });
        CHECK(asked == 1);
        // A replica answers lookups, its entries are as good as any, and refuses what is new.
        rig.gate.publish(digest_of(1), settled_record());
        until([&] { return rig.told(GateCondition::up) == 2; });
        CHECK(asked == 2);
        CHECK(rig.news[1].second.find("read-only") != std::string::npos);
        rig.publish(digest_of(1), settled_record());
        CHECK(rig.find(digest_of(1)));
        CHECK(promoted.server->command({"DBSIZE"}).integer == 1);
    }
    sentinel.stop();
    context.restart();
    context.run();
}

TEST_CASE("nobody there: told once, tried again, and stopped at once")
{
    GateRig rig("redis://127.0.0.1:" + free_port());
    CHECK(why_down(rig).find("refused") != std::string::npos);
    CHECK_FALSE(rig.find(digest_of(1)));
    CHECK(rig.lookups[GateLookup::skipped] == 1);
    GateRig no_name("redis://no-such-host.invalid");
    CHECK_FALSE(no_name.find(digest_of(1)));
}

TEST_CASE("a real Redis Cluster is reported once, and not asked again")
{
    // The usual port of its bus is the port + 10000, which may be none.
    TcpServer redis({"--cluster-enabled", "yes", "--cluster-port", free_port()});
    GateRig rig("redis://127.0.0.1:" + redis.port);
    rig.connect();
    CHECK_FALSE(rig.find(digest_of(1)));
    rig.run_until([&] { return rig.ran; });
    CHECK_FALSE(rig.find(digest_of(1)));
    CHECK(rig.told(GateCondition::unsupported) == 1);
    CHECK(rig.news.back().second.find("Cluster (CLUSTERDOWN)") != std::string::npos);
}
