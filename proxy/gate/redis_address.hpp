// Where Redis is and how to enter, from one URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward {

struct RedisEndpoint {
    std::string host;  // A name or an IP address without brackets.
    std::string port;
    bool operator==(const RedisEndpoint&) const = default;
};

// redis://[USER:PASSWORD@]HOST[:PORT][/DB]            plain TCP
// rediss://...                                        TLS
// unix://[USER:PASSWORD@]/PATH[?db=N]                 a socket file
// redis-sentinel://[...@]HOST[:PORT][,HOST[:PORT]]*/MASTER[/DB]   (rediss-sentinel: TLS for all)
// After `?`: ca=FILE, cert=FILE and key=FILE with TLS; sentinel_user=, sentinel_password= with
// Sentinel.
// `:PASSWORD@` means the default user. User, password and values are percent-decoded.
struct RedisAddress {
    enum class Kind : std::uint8_t { tcp, unix_socket, sentinel };

    Kind kind = Kind::tcp;
    bool tls = false;
    std::vector<RedisEndpoint> endpoints;  // tcp: one. sentinel: the sentinels. unix_socket: none.
    std::string path;                      // unix_socket.
    std::string master_name;               // sentinel.
    std::string user;                      // Empty: the default user.
    std::string password;                  // Empty: no AUTH.
    std::string sentinel_user;
    std::string sentinel_password;
    int database = 0;
    std::string ca_file;    // Whom to trust; empty: the system's authorities.
    std::string cert_file;  // Our own certificate and its key; empty: none.
    std::string key_file;

    bool operator==(const RedisAddress&) const = default;

    // For logs and banners: never a password.
    std::string name() const;
};

// The address, or what is wrong with the URL in one sentence that repeats no secret.
std::variant<RedisAddress, std::string> parse_redis_address(std::string_view url);

}  // namespace onceward
