// The notations of single values.
#include "settings/values.hpp"

#include "settings/codes.hpp"
#include "settings/expand.hpp"
#include "settings/path_regex.hpp"
#include "settings/support.hpp"
#include "settings/words.hpp"

using namespace onceward;
using namespace std::chrono_literals;

namespace {

std::string read(std::string_view text)
{
    const auto parsed = parse_duration(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    return std::to_string(std::get<core::Millis>(parsed).count());
}

std::string read_size(std::string_view text)
{
    const auto parsed = parse_size(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    return std::to_string(std::get<std::uint64_t>(parsed));
}

std::string read_number(std::string_view text)
{
    const auto parsed = parse_number(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    return std::to_string(std::get<std::uint64_t>(parsed));
}

std::string read_upstream(std::string_view text)
{
    const auto parsed = parse_upstream(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    const auto& url = std::get<UpstreamUrl>(parsed);
    return url.host + " " + url.port;
}

std::string read_listen(std::string_view text)
{
    const auto parsed = parse_listen(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    const auto& address = std::get<ListenAddress>(parsed);
    return address.host + " " + std::to_string(address.port);
}

std::string read_network(std::string_view text)
{
    const auto parsed = parse_network(text);
    if (const auto* wrong = std::get_if<Misread>(&parsed)) return std::string(wrong->code);
    const auto& network = std::get<Network>(parsed);
    return network.address + "/" + std::to_string(network.prefix);
}

}  // namespace

TEST_CASE("durations have one unit")
{
    CHECK(read("500ms") == "500");
    CHECK(read("90s") == "90000");
    CHECK(read("10m") == "600000");
    CHECK(read("24h") == "86400000");
    CHECK(read("7d") == "604800000");
    CHECK(read("0s") == "0");
    for (const auto* wrong :
         {"", "10", "s", "1.5s", "1h30m", "-1s", "+1s", "1 s", "1S", "1w", "1e3s", "0x1s"}) {
        CHECK_MESSAGE(read(wrong) == "E201", wrong);
    }
}

TEST_CASE("a duration never overflows")
{
    CHECK(read("36500d") == "3153600000000");
    CHECK(read("36501d") == "E206");
    CHECK(read("999999999999999999d") == "E206");
    CHECK(read("9999999999999999999999d") == "E201");
}

TEST_CASE("a bare number tells which unit may be missing")
{
    const auto parsed = parse_duration("30");
    CHECK(std::get<Misread>(parsed).hint.starts_with("write `30s` for seconds"));
}

TEST_CASE("sizes have one unit")
{
    CHECK(read_size("512B") == "512");
    CHECK(read_size("1MiB") == "1048576");
    CHECK(read_size("256KiB") == "262144");
    CHECK(read_size("200GB") == "200000000000");
    CHECK(read_size("999999999999999999TiB") == "18446744073709551615");
    for (const auto* wrong : {"", "1024", "1mb", "1 MiB", "1M", "-1B", "1.5MiB"}) {
        CHECK_MESSAGE(read_size(wrong) == "E202", wrong);
    }
}

TEST_CASE("numbers are decimal digits only")
{
    CHECK(read_number("0") == "0");
    CHECK(read_number("1024") == "1024");
    for (const auto* wrong :
         {"", "0777", "0x1f", "1e3", "1_000", "+5", "-5", "5.0", "9999999999999999999"}) {
        CHECK_MESSAGE(read_number(wrong) == "E204", wrong);
    }
}

TEST_CASE("booleans are true and false, and the YAML 1.1 words say what to write")
{
    CHECK(std::get<bool>(parse_boolean("true")));
    CHECK_FALSE(std::get<bool>(parse_boolean("false")));
    CHECK(std::get<Misread>(parse_boolean("yes")).hint == "write `true`");
    CHECK(std::get<Misread>(parse_boolean("On")).hint == "write `true`");
    CHECK(std::get<Misread>(parse_boolean("off")).hint == "write `false`");
    CHECK(std::get<Misread>(parse_boolean("maybe")).hint == "write `true` or `false`");
}

TEST_CASE("upstream URLs")
{
    CHECK(read_upstream("http://legacy.internal:3000") == "legacy.internal 3000");
    CHECK(read_upstream("http://legacy/") == "legacy 80");
    CHECK(read_upstream("http://[::1]:81") == "::1 81");
    CHECK(read_upstream("https://legacy") == "E208");
    for (const auto* wrong :
         {"", "legacy:3000", "ftp://a", "http://", "http://a:0", "http://a:65536",
          "http://a:", "http://a/b", "http://a?b", "http://u:p@a", "http://[::1", "http://[zz]",
          "http://a b", "http://::1"}) {
        CHECK_MESSAGE(read_upstream(wrong) == "E207", wrong);
    }
}

TEST_CASE("addresses to listen on")
{
    CHECK(read_listen("0.0.0.0:8080") == "0.0.0.0 8080");
    CHECK(read_listen(":8080") == "0.0.0.0 8080");
    CHECK(read_listen("localhost:0") == "127.0.0.1 0");
    CHECK(read_listen("[::1]:9") == "::1 9");
    for (const auto* wrong :
         {"", "8080", "0.0.0.0", "example.com:80", "1.2.3.4:65536", "::1:80", "[::1]", ":"}) {
        CHECK_MESSAGE(read_listen(wrong) == "E209", wrong);
    }
    CHECK(is_loopback({"127.8.8.8", 1}));
    CHECK(is_loopback({"::1", 1}));
    CHECK_FALSE(is_loopback({"0.0.0.0", 1}));
    CHECK_FALSE(is_loopback({"::", 1}));
    CHECK_FALSE(is_loopback({"128.0.0.1", 1}));
}

TEST_CASE("networks")
{
    CHECK(read_network("10.0.0.0/8") == "10.0.0.0/8");
    CHECK(read_network("192.0.2.7") == "192.0.2.7/32");
    CHECK(read_network("2001:db8::/32") == "2001:db8::/32");
    CHECK(read_network("::1") == "::1/128");
    for (const auto* wrong :
         {"", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "10.0.0.0/08", "host"}) {
        CHECK_MESSAGE(read_network(wrong) == "E210", wrong);
    }
}

TEST_CASE("durations are shown as people say them and written as the file wants them")
{
    CHECK(show_duration(7 * 24h + 17min) == "7d 00h 17m");
    CHECK(show_duration(90s) == "1m 30s");
    CHECK(show_duration(14 * 24h) == "14d");
    CHECK(show_duration(500ms) == "500ms");
    CHECK(write_duration(35s) == "35s");
    CHECK(write_duration(60s) == "60s");
    CHECK(write_duration(90min) == "90m");
    CHECK(write_duration(8 * 24h) == "8d");
    CHECK(write_duration(1500ms) == "1500ms");
}

TEST_CASE("did you mean: two edits and a third of the word at most")
{
    const std::vector<std::string_view> known{"retention", "lease", "tier"};
    CHECK(edit_distance("retenton", "retention") == 1);
    CHECK(edit_distance("laese", "lease") == 1);
    CHECK(nearest("retenton", known) == "retention");
    CHECK(nearest("laese", known) == "lease");
    CHECK_FALSE(nearest("tie", {"lease"}));
    CHECK_FALSE(nearest("ti", known));
    CHECK(nearest("ttl", known) == "retention");
    CHECK_FALSE(nearest("ttl", {"lease"}));
    CHECK_FALSE(nearest(std::string(100'000, 'x'), known));
}

TEST_CASE("variables in values")
{
    const auto environment = testing::environment_of({{"A", "1"}, {"EMPTY", ""}, {"DOLLAR", "$"}});
    const auto expanded = [&](std::string_view text) {
        const auto value = expand(text, environment, false);
        const auto* found = std::get_if<std::string>(&value);
        return found != nullptr ? *found : std::string("-");
    };
    CHECK(expanded("x${A}y${A}") == "x1y1");
    CHECK(expanded("${EMPTY}") == "");
    CHECK(expanded("${EMPTY:-d}") == "d");
    CHECK(expanded("${NOT_SET:-d:-e}") == "d:-e");
    CHECK(expanded("${NOT_SET:-}") == "");
    CHECK(expanded("$${A}") == "${A}");
    CHECK(expanded("${DOLLAR}${A}") == "$1");
    CHECK(expanded("^/a$") == "^/a$");
    CHECK(expanded("${NOT_SET}") == "-");
    CHECK(expanded("${A") == "-");
    CHECK(expanded("${}") == "-");
    CHECK(expanded("${1A}") == "-");
    CHECK(expanded(escape_variables("a${A}$${A}")) == "a${A}$${A}");
}

TEST_CASE("path expressions match whole paths, byte by byte")
{
    const auto made = make_path_predicate("/v1/.*");
    const auto& matches = std::get<PathPredicate>(made);
    CHECK(matches("/v1/a"));
    CHECK(matches("/v1/\xFF\xFE"));
    CHECK(matches("/v1/a\nb"));
    CHECK_FALSE(matches("/x/v1/a"));
    CHECK(std::holds_alternative<std::string>(make_path_predicate("(")));
    CHECK(std::holds_alternative<std::string>(make_path_predicate("(a)\\1")));
}
