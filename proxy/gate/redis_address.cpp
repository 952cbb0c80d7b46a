// Reading Redis URLs.
#include "gate/redis_address.hpp"

#include <charconv>
#include <optional>

namespace onceward {

namespace {

using Kind = RedisAddress::Kind;
using Error = std::string;  // Empty: none.

constexpr int database_max = 65'535;
constexpr std::string_view redis_port = "6379";
constexpr std::string_view sentinel_port = "26379";

std::optional<int> read_number(std::string_view text, int most)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (text.front() == '-' || value > most) return std::nullopt;
    return value;
}

int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> percent_decoded(std::string_view text)
{
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            bytes.push_back(text[i]);
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    return bytes;
}

// Cuts `text` at the first `mark`; what follows it is returned, absent without a mark.
std::optional<std::string_view> cut(std::string_view& text, char mark)
{
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

Error read_scheme(std::string_view& rest, RedisAddress& address)
{
    struct Scheme {
        std::string_view start;
        Kind kind;
        bool tls;
    };
    constexpr Scheme schemes[] = {
        {"redis://", Kind::tcp, false},
        {"rediss://", Kind::tcp, true},
        {"unix://", Kind::unix_socket, false},
        {"redis-sentinel://", Kind::sentinel, false},
        {"rediss-sentinel://", Kind::sentinel, true},
    };
    for (const auto& scheme : schemes) {
        if (!rest.starts_with(scheme.start)) continue;
        address.kind = scheme.kind;
        address.tls = scheme.tls;
        rest.remove_prefix(scheme.start.size());
        return {};
    }
    return "a Redis URL begins with redis://, rediss://, unix:// or redis-sentinel://";
}

Error read_credentials(std::string_view& rest, RedisAddress& address)
{
    // The last @ before the path: a password may hold one that nobody encoded.
    const bool file = address.kind == Kind::unix_socket;
    const auto at = file ? rest.find("@/") : rest.substr(0, rest.find('/')).rfind('@');
    if (at == std::string_view::npos || rest.starts_with('/')) return {};
    auto user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    const auto password = cut(user, ':');
    if (!password) return "a user needs a password: redis://USER:PASSWORD@HOST";
    const auto plain_user = percent_decoded(user);
    const auto plain_password = percent_decoded(*password);
    if (!plain_user || !plain_password) return "a % in user or password begins two hex digits";
    if (plain_password->empty()) return "the password is empty";
    address.user = *plain_user;
    address.password = *plain_password;
    return {};
}

Error read_endpoint(std::string_view text, std::string_view default_port, RedisAddress& address)
{
    RedisEndpoint endpoint{{}, std::string(default_port)};
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return "an IPv6 address ends with ]";
        endpoint.host = text.substr(1, close - 1);
        text.remove_prefix(close + 1);
        if (!text.empty() && text.front() != ':') return "after ] comes :PORT or nothing";
    } else {
        const auto colon = text.find(':');
        endpoint.host = text.substr(0, colon);
        text.remove_prefix(colon == std::string_view::npos ? text.size() : colon);
    }
    if (endpoint.host.empty()) return "the host is missing";
    if (!text.empty()) {
        const auto port = text.size() > 1 ? read_number(text.substr(1), 65'535) : std::nullopt;
        if (!port || *port == 0) return "a port is a number from 1 to 65535";
        endpoint.port = std::to_string(*port);
    }
    address.endpoints.push_back(std::move(endpoint));
    return {};
}

Error read_database(std::string_view text, RedisAddress& address)
{
    if (text.empty()) return {};
    const auto number = read_number(text, database_max);
    if (!number) return "a database is a number: redis://HOST/0";
    address.database = *number;
    return {};
}

Error read_place(std::string_view rest, RedisAddress& address)
{
    if (address.kind == Kind::unix_socket) {
        const auto path = percent_decoded(rest);
        if (!path || !path->starts_with('/'))
            return "unix:// takes an absolute path: unix:///run/redis.sock";
        if (path->size() > 107) return "the path of a socket has at most 107 bytes";
        address.path = *path;
        return {};
    }
    auto path = cut(rest, '/').value_or(std::string_view{});
    const bool sentinel = address.kind == Kind::sentinel;
    for (std::optional<std::string_view> left = rest; left;) {
        auto host = *left;
        left = sentinel ? cut(host, ',') : std::nullopt;
        auto error = read_endpoint(host, sentinel ? sentinel_port : redis_port, address);
        if (!error.empty()) return error;
    }
    if (!sentinel) return read_database(path, address);
    const auto database = cut(path, '/').value_or(std::string_view{});
    const auto master = percent_decoded(path);
    if (!master || master->empty())
        return "redis-sentinel:// names the master: redis-sentinel://HOST/MASTER";
    address.master_name = *master;
    return read_database(database, address);
}

Error read_option(std::string_view option, RedisAddress& address)
{
    const auto text = cut(option, '=');
    const auto value = text ? percent_decoded(*text) : std::nullopt;
    if (!value || value->empty()) return "an option is NAME=VALUE";
    if (option == "db") {
        if (address.kind != Kind::unix_socket)
            return "the database comes after the host: redis://HOST/0";
        return read_database(*value, address);
    }
    struct Option {
        std::string_view name;
        std::string& into;
        bool allowed;
    };
    const bool sentinel = address.kind == Kind::sentinel;
    const Option options[] = {
        {"ca", address.ca_file, address.tls},
        {"cert", address.cert_file, address.tls},
        {"key", address.key_file, address.tls},
        {"sentinel_user", address.sentinel_user, sentinel},
        {"sentinel_password", address.sentinel_password, sentinel},
    };
    for (const auto& known : options) {
        if (known.name != option) continue;
        if (!known.allowed)
            return "`" + std::string(option) + "` means nothing with this kind of URL";
        known.into = *value;
        return {};
    }
    return "unknown option `" + std::string(option.substr(0, 32)) + "`";
}

Error read_options(std::optional<std::string_view> options, RedisAddress& address)
{
    while (options) {
        auto option = *options;
        options = cut(option, '&');
        auto error = read_option(option, address);
        if (!error.empty()) return error;
    }
    if (address.cert_file.empty() != address.key_file.empty()) return "cert and key go together";
    return {};
}

}  // namespace

std::string RedisAddress::name() const
{
    if (kind == Kind::unix_socket) return "unix://" + path;
    std::string text = tls ? "rediss" : "redis";
    text += kind == Kind::sentinel ? "-sentinel://" : "://";
    for (const auto& endpoint : endpoints) {
        if (&endpoint != &endpoints.front()) text += ",";
        const bool v6 = endpoint.host.find(':') != std::string::npos;
        text += v6 ? "[" + endpoint.host + "]" : endpoint.host;
        text += ":" + endpoint.port;
    }
    if (kind == Kind::sentinel) text += "/" + master_name;
    return text + "/" + std::to_string(database);
}

std::variant<RedisAddress, std::string> parse_redis_address(std::string_view url)
{
    RedisAddress address;
    auto error = read_scheme(url, address);
    if (!error.empty()) return error;
    const auto options = cut(url, '?');
    error = read_credentials(url, address);
    if (error.empty()) error = read_place(url, address);
    if (error.empty()) error = read_options(options, address);
    if (!error.empty()) return error;
    return address;
}

}  // namespace onceward
