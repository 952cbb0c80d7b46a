// The notations of single values: durations, sizes, numbers, URLs, addresses. Pure text in, value
// or reason out.
#pragma once

#include "settings/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

// Why a text is no value, and what to write instead.
struct Misread {
    std::string_view code;
    std::string what;  // Continues "`listen` ": "is not a duration: `10`".
    std::string hint;  // Empty: none.
};

template <class Value>
using Parsed = std::variant<Value, Misread>;

// 500ms, 90s, 10m, 24h, 7d; a unit is always needed. At most 36500d.
Parsed<core::Millis> parse_duration(std::string_view text);
// 512B, 256KiB, 1MiB, 200GB; a unit is always needed. Bytes.
Parsed<std::uint64_t> parse_size(std::string_view text);
// Decimal digits only, without sign, leading zero, exponent or underscore.
Parsed<std::uint64_t> parse_number(std::string_view text);
// Only `true` and `false`.
Parsed<bool> parse_boolean(std::string_view text);

// http://host[:port][/]
Parsed<UpstreamUrl> parse_upstream(std::string_view text);
// IPV4:PORT, [IPV6]:PORT, localhost:PORT, :PORT (all IPv4 addresses).
Parsed<ListenAddress> parse_listen(std::string_view text);
// ADDRESS or ADDRESS/PREFIX.
Parsed<Network> parse_network(std::string_view text);
// 127.0.0.0/8 or ::1.
bool is_loopback(const ListenAddress& address);

// A name of RFC 9110's `token`: letters, digits and !#$%&'*+-.^_`|~
bool is_token(std::string_view text);
// Names of tiers and routes: 1 to 64 letters, digits, `_`, `-`, `.`
bool is_plain_name(std::string_view text);

// "14d", "7d 00h 17m", "1m 30s", "500ms".
std::string show_duration(core::Millis duration);
// As one could write it in the file: "35s", "8d", "1500ms".
std::string write_duration(core::Millis duration);
std::string show_size(std::uint64_t bytes);

}  // namespace onceward
