// Every code that loading can report: an example that reports it, and its entry in docs/errors.md.
#include "settings/codes.hpp"

#include "settings/support.hpp"

#include <filesystem>
#include <regex>
#include <set>

using namespace onceward;
using namespace onceward::testing;

namespace {

struct Example {
    std::string code;
    std::string text;
};

std::vector<Example> syntax_examples()
{
    return {
        {"E001", "server: 'x\n"},
        {"E001", "server:\n\tupstream: x\n"},
        {"E001", "a: b: c\n"},
        {"E001", "a: @x\n"},
        {"E001", std::string("a: \0b\n", 6)},
        {"E001", "a: \xFF\n"},
        {"E003", "a: &x 1\n"},
        {"E003", "a: *x\n"},
        {"E003", "a: !!str 1\n"},
        {"E003", "a: { <<: { b: 1 } }\n"},
        {"E004", Parts{}.text() + "---\na: 1\n"},
        {"E005", "a: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n"},
        {"E006", ""},
        {"E006", "# nothing\n"},
        {"E006", "- a\n"},
        {"E006", "text\n"},
        {"E101", with_more("routes: []\n").text()},
        {"E102", with_more("rouets: []\n").text()},
        {"E103", with_server("server: { upstream: 'http://a', retention: 7d }\n").text()},
        {"E104", with_server("server: text\n").text()},
        {"E104", with_server("server:\n").text()},
        {"E104", with_server("server: { upstream: }\n").text()},
        {"E104", with_server("server: { upstream: [a] }\n").text()},
        {"E104", with_routes("routes: { name: r }\n").text()},
        {"E104", "? [a]\n: 1\n"},
        {"E105", with_routes("routes: []\n").text()},
        {"E105", with_routes("routes: [ { tier: t } ]\n").text()},
        {"E105", with_routes("routes: [ { name: r } ]\n").text()},
        {"E105", with_routes("routes: [ { name: r, tier: t, match: { method: [] } } ]\n").text()},
        {"E105", with_tier_setting("lease: 60s").text()},
        {"E105", with_tier_setting("retention: 7d, retry_budget: { skew: 1s }").text()},
        {"E106", with_more("version: 2\n").text()},
        {"E107", with_routes("routes: [ { name: 'a b', tier: t } ]\n").text()},
        {"E107", with_tiers("tiers: { 'a b': { retention: 7d } }\n").text()},
    };
}

std::vector<Example> rule_examples()
{
    return {
        {"E110", with_tier_setting("retention: 7d, lease: 30s").text()},
        {"E111", with_tier_setting("retention: 15m, retry_budget: { total: 15m }").text()},
        {"E112", with_routes("routes: [ { name: r, tier: u } ]\n").text()},
        {"E113", with_routes("routes: [ { name: r, tier: t }, { name: r, tier: t } ]\n").text()},
        {"E113",
         with_routes("routes: [ { name: a, id: x, tier: t }, { name: b, id: x, tier: t } ]\n")
             .text()},
        {"E113",
         with_routes("routes: [ { name: a, tier: t }, { name: b, id: a, tier: t } ]\n").text()},
        {"E114", with_route_setting("match: { method: GET }").text()},
        {"E114", with_route_setting("match: { method: [POST, head] }").text()},
        {"E115", with_route_setting("match: { path: /a, path_prefix: /b }").text()},
        {"E116", with_route_setting("match: { path_regex: '(' }").text()},
        {"E117", with_server("server: { workers: 1 }\n").text()},
        {"E117", with_server("").text()},
        {"E118", with_more("admin: { listen: '0.0.0.0:9480' }\n").text()},
        {"E119", with_tier_setting("retention: 7d, unknown_retention: 6d").text()},
        {"E120", with_keys("").text()},
        {"E121", with_keys("keys: { subject: none }\n").text()},
        {"E122", with_keys("keys: { subject: jwt:/sub }\n").text()},
        {"E122", with_keys("keys: { subject: client_cert }\n").text()},
        {"E122", with_keys("keys: { subject: basic_user }\n").text()},
        {"E122", with_keys("keys: { subject: cookie:session }\n").text()},
        {"E123", with_keys("keys: { subject: 'header:' }\n").text()},
        {"E123", with_keys("keys: { subject: X-Api-Key }\n").text()},
        {"E124", with_route_setting("key: json:/order_id").text()},
        {"E124", with_route_setting("key: [json:/order_id, json:/attempt]").text()},
        {"E124", with_route_setting("key_from_body: /idempotency_key").text()},
        {"E125", with_more("store: { sqlite: a, postgres: b }\n").text()},
        {"E126",
         with_keys("keys: { subject: shared, secret: 0123456789abcdef, secret_file: x }\n").text()},
        {"E127", with_keys("keys: { subject: credential, header: authorization }\n").text()},
        {"E127", with_keys("keys: { subject: credential:X-Key, header: x-key }\n").text()},
        {"E127", with_keys("keys: { subject: shared, aliases: [idempotency-key] }\n").text()},
        {"E127", with_keys("keys: { subject: shared, aliases: [A, a] }\n").text()},
        {"E128", with_more("store: { sqlite: ':memory:' }\n").text()},
        {"E128", with_more("store: { sqlite: 'file::memory:?cache=shared' }\n").text()},
        {"E303", with_keys("keys: { subject: shared, secret: short }\n").text()},
        {"E303", with_keys("keys: { subject: shared, secret_file: /nowhere/secret }\n").text()},
        {"W01", with_tier_setting("retention: 7d").text()},
        {"W06", with_routes("routes: [ { name: a, tier: t }, { name: b, tier: t } ]\n").text()},
        {"W11", with_keys("keys: { subject: header:X-User }\n").text()},
        {"W90", with_more("misuse: { window: 10m }\n").text()},
        {"W91", with_route_setting("mode: observe").text()},
    };
}

std::vector<Example> value_examples()
{
    return {
        {"E201", with_server("server: { upstream: 'http://a', timeout: 60 }\n").text()},
        {"E202", with_server("server: { upstream: 'http://a', max_request_body: 100 }\n").text()},
        {"E203", with_more("store: { single_node: yes }\n").text()},
        {"E204", with_server("server: { upstream: 'http://a', workers: 010 }\n").text()},
        {"E205", with_route_setting("mode: enforced").text()},
        {"E205", with_route_setting("match: { method: post }").text()},
        {"E206", with_server("server: { upstream: 'http://a', max_request_head: 65KiB }\n").text()},
        {"E206", with_keys("keys: { subject: shared, max_length: 1025 }\n").text()},
        {"E206", with_tier_setting("retention: 0s").text()},
        {"E207", with_server("server: { upstream: 'legacy:3000' }\n").text()},
        {"E208", with_server("server: { upstream: 'https://legacy' }\n").text()},
        {"E208", with_route_setting("upstream: 'https://legacy'").text()},
        {"E209", with_server("server: { upstream: 'http://a', listen: '8080' }\n").text()},
        {"E210", with_server("server: { upstream: 'http://a', trusted_proxies: [all] }\n").text()},
        {"E211", with_keys("keys: { subject: shared, header: 'a b' }\n").text()},
        {"E211", with_route_setting("replay_headers: ['a:']").text()},
        {"E212", with_route_setting("match: { path: a }").text()},
        {"E212", with_route_setting("match: { path: /a/ }").text()},
        {"E212", with_route_setting("match: { path_prefix: '/a?b' }").text()},
        {"E213", with_route_setting("outcomes: { done: [199] }").text()},
        {"E213", with_route_setting("outcomes: { done: [1xx] }").text()},
        {"E213", with_route_setting("outcomes: { done: [201], failed: [201] }").text()},
        {"E214", with_server("server: { upstream: 'http://a', via: 'a b' }\n").text()},
        {"E214", with_more("problem: { base: 'a\\b' }\n").text()},
        {"E214", with_more("store: { sqlite: '' }\n").text()},
        {"E214", with_more("store: { sqlite: \"a\\nb\" }\n").text()},
        {"E301", with_server("server: { upstream: '${NOT_SET}' }\n").text()},
        {"E302", with_server("server: { upstream: '${NOT SET}' }\n").text()},
    };
}

std::vector<Example> all_examples()
{
    auto all = syntax_examples();
    for (auto&& more : {rule_examples(), value_examples()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::set<std::string> codes_in(const std::string& text)
{
    const std::regex form("[EW][0-9]{2,3}");
    std::set<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), form), end; match != end; ++match) {
        found.insert(match->str());
    }
    return found;
}

}  // namespace

TEST_CASE("the parts that the examples vary have no mistakes")
{
    const auto loaded = load(Parts{}.text());
    CHECK_MESSAGE(loaded.diagnostics.empty(), shown(loaded));
    CHECK(loaded.ok());
}

TEST_CASE("each code is reported by its examples, errors stop loading and warnings do not")
{
    for (const auto& example : all_examples()) {
        const auto loaded = load(example.text);
        CHECK_MESSAGE(reports(loaded, example.code), example.code << " for\n"
                                                                  << example.text << shown(loaded));
        CHECK_MESSAGE(loaded.ok() == example.code.starts_with('W'), example.text << shown(loaded));
    }
}

TEST_CASE("a mistake is reported once")
{
    for (const auto& example : value_examples()) {
        const auto loaded = load(example.text);
        const auto codes = codes_of(loaded);
        const bool budget_too = codes.size() == 2 && codes.back() == "W01";
        CHECK_MESSAGE((codes.size() == 1 || budget_too), example.text << shown(loaded));
    }
}

TEST_CASE("every code has an example")
{
    std::set<std::string> shown_codes{"E002"};  // Its own test: a file that cannot be read.
    for (const auto& example : all_examples())
        shown_codes.insert(example.code);
    for (const auto code : codes::all)
        CHECK_MESSAGE(shown_codes.contains(std::string(code)), code);
    CHECK(shown_codes.size() == codes::all.size());
}

TEST_CASE("E002 a file that cannot be read")
{
    const auto loaded = load_file("/nowhere/onceward.yaml", environment_of({}), {});
    CHECK(codes_of(loaded) == std::vector<std::string>{"E002"});
    CHECK_FALSE(loaded.ok());
    CHECK(load_file("/", environment_of({}), {}).diagnostics.at(0).code == "E002");
}

TEST_CASE("docs/errors.md explains exactly the codes that exist")
{
    std::set<std::string> known;
    for (const auto code : codes::all)
        known.insert(std::string(code));
    std::set<std::string> headings;
    std::istringstream lines(file_text(source_path("docs/errors.md")));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("### ")) headings.merge(codes_in(line));
    }
    CHECK(headings == known);
}

TEST_CASE("no code is written anywhere but in the list")
{
    for (const auto& file : std::filesystem::directory_iterator(source_path("proxy/settings"))) {
        if (file.path().filename() == "codes.hpp") continue;
        CHECK_MESSAGE(
            !std::regex_search(file_text(file.path().string()), std::regex("\"[EW][0-9]{2,3}\"")),
            file.path().string());
    }
}
