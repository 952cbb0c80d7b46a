// Reading and writing the notations of single values.
#include "settings/values.hpp"

#include "settings/codes.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

namespace onceward {

namespace {

constexpr std::uint64_t millis_max = 36'500ULL * 24 * 3'600 * 1'000;

template <std::size_t Count>
using Units = std::array<std::pair<std::string_view, std::uint64_t>, Count>;

constexpr Units<5> duration_units{
    {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

constexpr Units<9> size_units{{{"B", 1},
                               {"KB", 1'000},
                               {"MB", 1'000'000},
                               {"GB", 1'000'000'000},
                               {"TB", 1'000'000'000'000},
                               {"KiB", 1ULL << 10},
                               {"MiB", 1ULL << 20},
                               {"GiB", 1ULL << 30},
                               {"TiB", 1ULL << 40}}};

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t shown_max = 80;
    if (text.size() <= shown_max) return "`" + std::string(text) + "`";
    return "`" + std::string(text.substr(0, shown_max)) + "...`";
}

std::string_view digits_of(std::string_view text)
{
    return text.substr(0, static_cast<std::size_t>(
                              std::find_if_not(text.begin(), text.end(), is_digit) - text.begin()));
}

// At most 18 digits, so that it cannot overflow.
std::optional<std::uint64_t> decimal(std::string_view digits)
{
    if (digits.empty() || digits.size() > 18) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : digits)
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    return value;
}

// NUMBER UNIT, or nothing; overflow counts as the largest value.
template <std::size_t Count>
std::optional<std::uint64_t> with_unit(std::string_view text, const Units<Count>& units)
{
    const auto digits = digits_of(text);
    const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& candidate) {
        return candidate.first == text.substr(digits.size());
    });
    const auto value = decimal(digits);
    if (!value || unit == units.end()) return std::nullopt;
    if (*value > std::numeric_limits<std::uint64_t>::max() / unit->second) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    return *value * unit->second;
}

bool is_bare_number(std::string_view text)
{
    return !text.empty() && digits_of(text).size() == text.size();
}

std::string two_digits(std::int64_t value)
{
    return value < 10 ? "0" + std::to_string(value) : std::to_string(value);
}

std::optional<std::uint16_t> port_of(std::string_view text, std::uint64_t least)
{
    const auto value = decimal(text);
    const bool fits =
        value && digits_of(text).size() == text.size() && *value >= least && *value <= 65'535;
    if (!fits) return std::nullopt;
    return static_cast<std::uint16_t>(*value);
}

bool is_ip(int family, const std::string& text)
{
    if (text.find('\0') != std::string::npos) return false;
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(family, text.c_str(), bytes.data()) == 1;
}

// "host:port", "host", "[v6]:port", "[v6]" into host (without brackets) and port (empty when
// absent).
struct Authority {
    std::string host;
    std::string_view port;
    bool bracketed = false;
    bool well_formed = true;
};

Authority split_authority(std::string_view text)
{
    Authority authority;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        authority.bracketed = true;
        authority.well_formed = close != std::string_view::npos;
        if (!authority.well_formed) return authority;
        authority.host = text.substr(1, close - 1);
        rest = text.substr(close + 1);
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        authority.host = text.substr(0, colon);
        rest = text.substr(colon);
    }
    if (rest.empty()) return authority;
    authority.well_formed = rest.starts_with(':') && rest.size() > 1;
    authority.port = rest.substr(1);
    return authority;
}

bool is_host(const Authority& authority)
{
    if (authority.bracketed) return is_ip(AF_INET6, authority.host);
    return !authority.host.empty() && authority.host.size() <= 253 &&
           std::all_of(authority.host.begin(), authority.host.end(), [](char c) {
               return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_';
           });
}

}  // namespace

Parsed<core::Millis> parse_duration(std::string_view text)
{
    const auto value = with_unit(text, duration_units);
    if (value && *value <= millis_max) return core::Millis{static_cast<std::int64_t>(*value)};
    if (value) return Misread{codes::range, "is longer than 36500d", ""};
    if (is_bare_number(text)) {
        const std::string number(text);
        return Misread{codes::duration, "needs a unit: " + quoted(text),
                       "write `" + number + "s` for seconds, or `" + number + "ms`, `" + number +
                           "m`, `" + number + "h`, `" + number + "d`"};
    }
    return Misread{codes::duration, "is not a duration: " + quoted(text),
                   "write a whole number and one unit: 500ms, 90s, 10m, 24h, 7d"};
}

Parsed<std::uint64_t> parse_size(std::string_view text)
{
    const auto value = with_unit(text, size_units);
    if (value) return *value;
    if (is_bare_number(text)) {
        return Misread{
            codes::size, "needs a unit: " + quoted(text),
            "write `" + std::string(text) + "B` for bytes, or KiB, MiB, GiB, KB, MB, GB"};
    }
    return Misread{codes::size, "is not a size: " + quoted(text),
                   "write a whole number and one unit: 512B, 256KiB, 1MiB, 200GB"};
}

Parsed<std::uint64_t> parse_number(std::string_view text)
{
    const bool octal_like = text.size() > 1 && text.starts_with('0');
    const auto value = is_bare_number(text) && !octal_like ? decimal(text) : std::nullopt;
    if (value) return *value;
    return Misread{codes::number, "is not a whole number: " + quoted(text),
                   "write decimal digits only, without sign, leading zero, exponent or underscore"};
}

Parsed<bool> parse_boolean(std::string_view text)
{
    if (text == "true") return true;
    if (text == "false") return false;
    constexpr std::array<std::string_view, 6> yes{"yes", "on", "y", "1", "enabled", "t"};
    constexpr std::array<std::string_view, 6> no{"no", "off", "n", "0", "disabled", "f"};
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string hint = "write `true` or `false`";
    if (lower == "true" || std::find(yes.begin(), yes.end(), lower) != yes.end())
        hint = "write `true`";
    if (lower == "false" || std::find(no.begin(), no.end(), lower) != no.end())
        hint = "write `false`";
    return Misread{codes::boolean, "is neither true nor false: " + quoted(text), hint};
}

Parsed<UpstreamUrl> parse_upstream(std::string_view text)
{
    const std::string form = "write http://HOST or http://HOST:PORT";
    if (text.starts_with("https://")) {
        return Misread{codes::upstream_tls, "asks for TLS to the upstream, which is not built yet",
                       "write `http://...`, and reach the upstream over a network that you trust"};
    }
    if (!text.starts_with("http://")) {
        return Misread{codes::url, "is not an http URL: " + quoted(text), form};
    }
    auto rest = text.substr(std::string_view("http://").size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.find_first_of("/?#") != std::string_view::npos) {
        return Misread{codes::url, "has a path: " + quoted(text),
                       "request targets are forwarded unchanged; " + form};
    }
    if (rest.find('@') != std::string_view::npos) {
        return Misread{codes::url, "has a user name or password",
                       "credentials come from the clients; " + form};
    }
    const auto authority = split_authority(rest);
    const auto port =
        authority.port.empty() ? std::optional<std::uint16_t>(80) : port_of(authority.port, 1);
    if (!authority.well_formed || !is_host(authority) || !port) {
        return Misread{codes::url, "has no valid host and port: " + quoted(text), form};
    }
    return UpstreamUrl{std::string(text), authority.host, std::to_string(*port)};
}

Parsed<ListenAddress> parse_listen(std::string_view text)
{
    Authority authority = split_authority(text);
    const auto port = port_of(authority.port, 0);
    if (authority.host.empty() && !authority.bracketed) authority.host = "0.0.0.0";
    if (authority.host == "localhost") authority.host = "127.0.0.1";
    const bool address = is_ip(authority.bracketed ? AF_INET6 : AF_INET, authority.host);
    if (authority.well_formed && port && address) return ListenAddress{authority.host, *port};
    return Misread{
        codes::address, "is not an address to listen on: " + quoted(text),
        "write 0.0.0.0:8080, :8080, 127.0.0.1:8080 or [::]:8080; port 0 takes any free one"};
}

Parsed<Network> parse_network(std::string_view text)
{
    const auto slash = std::min(text.find('/'), text.size());
    Network network{std::string(text.substr(0, slash)), 0};
    const bool v4 = is_ip(AF_INET, network.address);
    const bool v6 = !v4 && is_ip(AF_INET6, network.address);
    const std::uint64_t longest = v4 ? 32 : 128;
    const auto written = text.substr(std::min(slash + 1, text.size()));
    const auto parsed =
        slash < text.size() ? parse_number(written) : Parsed<std::uint64_t>(longest);
    const auto* prefix = std::get_if<std::uint64_t>(&parsed);
    if ((v4 || v6) && prefix != nullptr && *prefix <= longest) {
        network.prefix = static_cast<int>(*prefix);
        return network;
    }
    return Misread{codes::network, "is not a network: " + quoted(text),
                   "write an address or ADDRESS/PREFIX: 10.0.0.0/8, 192.0.2.7, 2001:db8::/32"};
}

bool is_loopback(const ListenAddress& address)
{
    std::array<unsigned char, 4> v4{};
    if (inet_pton(AF_INET, address.host.c_str(), v4.data()) == 1) return v4[0] == 127;
    in6_addr v6{};
    if (inet_pton(AF_INET6, address.host.c_str(), &v6) != 1) return false;
    return std::equal(std::begin(v6.s6_addr), std::end(v6.s6_addr),
                      std::begin(in6addr_loopback.s6_addr));
}

bool is_token(std::string_view text)
{
    static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || is_letter(c) || marks.find(c) != std::string_view::npos;
    });
}

bool is_plain_name(std::string_view text)
{
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || is_letter(c) || c == '_' || c == '-' || c == '.';
    });
}

std::string show_duration(core::Millis duration)
{
    constexpr std::array<std::pair<std::int64_t, char>, 4> parts{
        {{86'400'000, 'd'}, {3'600'000, 'h'}, {60'000, 'm'}, {1'000, 's'}}};
    auto rest = duration.count();
    if (rest < 1'000 || rest % 1'000 != 0) return std::to_string(rest) + "ms";
    std::string text;
    for (const auto& [size, unit] : parts) {
        if (rest == 0) break;
        const auto count = rest / size;
        rest %= size;
        if (text.empty() && count == 0) continue;
        text += text.empty() ? std::to_string(count) : " " + two_digits(count);
        text += unit;
    }
    return text;
}

std::string write_duration(core::Millis duration)
{
    const auto millis = static_cast<std::uint64_t>(duration.count());
    if (millis == 0) return "0s";
    if (millis == 60'000 || millis % 1'000 != 0)
        return millis == 60'000 ? "60s" : std::to_string(millis) + "ms";
    for (auto unit = duration_units.rbegin(); unit != duration_units.rend(); ++unit) {
        if (millis % unit->second == 0)
            return std::to_string(millis / unit->second) + std::string(unit->first);
    }
    return std::to_string(millis) + "ms";
}

std::string show_size(std::uint64_t bytes)
{
    for (const std::string_view unit : {"GiB", "MiB", "KiB"}) {
        const auto found =
            std::find_if(size_units.begin(), size_units.end(),
                         [unit](const auto& candidate) { return candidate.first == unit; });
        if (bytes != 0 && bytes % found->second == 0) {
            return std::to_string(bytes / found->second) + std::string(unit);
        }
    }
    return std::to_string(bytes) + "B";
}

}  // namespace onceward
