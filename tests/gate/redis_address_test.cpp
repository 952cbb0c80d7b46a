// Redis URLs, read and refused.
#include "gate/redis_address.hpp"

#include <doctest/doctest.h>

using namespace onceward;
using Kind = RedisAddress::Kind;

namespace {

RedisAddress address(std::string_view url)
{
    const auto parsed = parse_redis_address(url);
    const auto* error = std::get_if<std::string>(&parsed);
    REQUIRE_MESSAGE(error == nullptr, url << ": " << *error);
    return std::get<RedisAddress>(parsed);
}

std::string error(std::string_view url)
{
    const auto parsed = parse_redis_address(url);
    REQUIRE_MESSAGE(std::holds_alternative<std::string>(parsed), url);
    return std::get<std::string>(parsed);
}

}  // namespace

TEST_CASE("plain and TLS addresses")
{
    auto plain = address("redis://cache");
    CHECK(plain.endpoints == std::vector<RedisEndpoint>{{"cache", "6379"}});
    CHECK(plain.password.empty());
    CHECK(plain.name() == "redis://cache:6379/0");

    auto full = address("rediss://app:p%40ss%2F@[::1]:6380/3?ca=/etc/ca.pem&cert=/c&key=/k");
    CHECK(full.tls);
    CHECK(full.user == "app");
    CHECK(full.password == "p@ss/");
    CHECK(full.endpoints[0] == RedisEndpoint{"::1", "6380"});
    CHECK(full.database == 3);
    CHECK(full.ca_file == "/etc/ca.pem");
    CHECK(full.cert_file == "/c");
    CHECK(full.key_file == "/k");
    CHECK(full.name() == "rediss://[::1]:6380/3");

    CHECK(address("redis://:only@h/").password == "only");
    CHECK(address("redis://u:a@b@h").password == "a@b");
}

TEST_CASE("socket files")
{
    const auto file = address("unix:///run/redis/redis.sock?db=2");
    CHECK(file.kind == Kind::unix_socket);
    CHECK(file.path == "/run/redis/redis.sock");
    CHECK(file.database == 2);
    CHECK(file.name() == "unix:///run/redis/redis.sock");
    const auto with_user = address("unix://u:p@/run/a@b.sock");
    CHECK(address("unix:///run/a@b.sock").path == "/run/a@b.sock");
    CHECK(with_user.password == "p");
    CHECK(with_user.path == "/run/a@b.sock");
}

TEST_CASE("sentinels")
{
    const auto sentinel =
        address("redis-sentinel://:pw@h1:26380,h2,[::2]/mymaster/4?sentinel_password=s%20p");
    CHECK(sentinel.kind == Kind::sentinel);
    CHECK(sentinel.endpoints ==
          std::vector<RedisEndpoint>{{"h1", "26380"}, {"h2", "26379"}, {"::2", "26379"}});
    CHECK(sentinel.master_name == "mymaster");
    CHECK(sentinel.database == 4);
    CHECK(sentinel.password == "pw");
    CHECK(sentinel.sentinel_password == "s p");
    CHECK(address("rediss-sentinel://h/m").tls);
}

TEST_CASE("what is wrong is said, and a password never is")
{
    CHECK(error("http://h").find("begins with") != std::string::npos);
    CHECK(error("redis://").find("host") != std::string::npos);
    CHECK(error("redis://:6379").find("host") != std::string::npos);
    CHECK(error("redis://h:0").find("port") != std::string::npos);
    CHECK(error("redis://h:65536").find("port") != std::string::npos);
    CHECK(error("redis://h:").find("port") != std::string::npos);
    CHECK(error("redis://h/x").find("database") != std::string::npos);
    CHECK(error("redis://h/-1").find("database") != std::string::npos);
    CHECK(error("redis://user@h").find("password") != std::string::npos);
    CHECK(error("redis://u:%zz@h").find("hex") != std::string::npos);
    CHECK(error("redis://u:@h").find("empty") != std::string::npos);
    CHECK(error("redis://[::1").find("]") != std::string::npos);
    CHECK(error("redis://h?ca=/f").find("means nothing") != std::string::npos);
    CHECK(error("rediss://h?cert=/f").find("together") != std::string::npos);
    CHECK(error("redis://h?colour=red").find("unknown option") != std::string::npos);
    CHECK(error("redis://h?db=1").find("after the host") != std::string::npos);
    CHECK(error("unix://relative").find("absolute") != std::string::npos);
    CHECK(error("unix:///" + std::string(107, 'x')).find("107") != std::string::npos);
    CHECK(error("redis-sentinel://h").find("master") != std::string::npos);
    CHECK(error("redis-sentinel://h,,i/m").find("host") != std::string::npos);
    for (const auto* url : {"redis://u:hunter2@h:x", "redis://u:hunter2@", "redis://u:hunter2@h/x"})
        CHECK(error(url).find("hunter2") == std::string::npos);
    CHECK(address("redis://u:hunter2@h").name().find("hunter2") == std::string::npos);
}
