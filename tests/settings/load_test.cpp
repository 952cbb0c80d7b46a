// Reading settings: defaults, the environment, rules across fields, running without a file.
#include "settings/support.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace onceward;
using namespace onceward::testing;
using namespace std::chrono_literals;

namespace {

const core::Route& only_route(const Loaded& loaded)
{
    REQUIRE_MESSAGE(loaded.ok(), shown(loaded));
    return *loaded.settings->policy.routes.routes().front();
}

// A file that is gone when the test ends.
struct TemporaryFile {
    std::string path;
    explicit TemporaryFile(const std::string& text)
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "onceward-settings-XXXXXX").string();
        const int handle = mkstemp(name.data());
        REQUIRE(handle >= 0);
        close(handle);
        path = name;
        std::ofstream(path) << text;
    }
    ~TemporaryFile() { std::remove(path.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace

TEST_CASE(
    "APP-1 a route without a method guards POST only, and a route without a path guards every path")
{
    const auto loaded = load(with_routes("routes: [ { name: r, tier: t } ]\n").text());
    const auto& match = only_route(loaded).match;
    CHECK(match.methods == std::vector<std::string>{"POST"});
    CHECK(match.kind == core::PathMatch::any);
    CHECK_FALSE(core::meets(match, "GET", "/"));
}

TEST_CASE("a route's outcomes beat its tier's")
{
    const auto text =
        with_routes("routes: [ { name: r, tier: t, outcomes: { failed: [503] } } ]\n");
    auto parts = text;
    parts.tiers =
        "tiers: { t: { retention: 7d, retry_budget: { total: 1m }, outcomes: { released: [503, "
        "4xx] } } }\n";
    const auto loaded = load(parts.text());
    CHECK(only_route(loaded).outcomes.code(503) == core::Disposition::failed);
    CHECK(only_route(loaded).outcomes.status_class(404) == core::Disposition::released);
}

TEST_CASE("limits of the server hold for a route that states none")
{
    auto parts = with_routes(
        "routes: [ { name: a, tier: t, match: { path: /a }, max_request_body: 2KiB },"
        " { name: b, tier: t, match: { path: /b } } ]\n");
    parts.server =
        "server: { upstream: 'http://a', max_request_body: 1KiB, max_stored_response: 3KiB }\n";
    const auto loaded = load(parts.text());
    REQUIRE(loaded.ok());
    const auto& routes = loaded.settings->policy.routes.routes();
    CHECK(routes[0]->request_body_max == 2048);
    CHECK(routes[1]->request_body_max == 1024);
    CHECK(routes[1]->stored_response_max == 3072);
}

TEST_CASE("tombstones follow the tier's name, 30 days otherwise, and may be never")
{
    const auto tombstone = [](const std::string& name, const std::string& more) {
        auto parts =
            with_tiers("tiers: { " + name + ": { retention: 10m, retry_budget: { total: 1m }" +
                       more + " } }\n");
        parts.routes = "routes: [ { name: r, tier: " + name + " } ]\n";
        return only_route(load(parts.text())).tier.tombstone;
    };
    CHECK(tombstone("payments", "") == core::Millis(90 * 24h));
    CHECK(tombstone("orders", "") == core::Millis(30 * 24h));
    CHECK(tombstone("notifications", "") == core::Millis(7 * 24h));
    CHECK(tombstone("telemetry", "") == core::Millis(24h));
    CHECK(tombstone("other", "") == core::Millis(30 * 24h));
    CHECK(tombstone("payments", ", tombstone: 2d") == core::Millis(48h));
    CHECK_FALSE(tombstone("payments", ", tombstone: never"));
}

TEST_CASE("EXP-6 an unknown outcome is never forgotten before a known one")
{
    const auto loaded =
        load(with_tier_setting("retention: 60d, retry_budget: { total: 1m }").text());
    CHECK(only_route(loaded).tier.unknown_retention == core::Millis(60 * 24h));
    const auto shorter =
        load(with_tier_setting("retention: 7d, retry_budget: { total: 1m }").text());
    CHECK_FALSE(only_route(shorter).tier.unknown_retention);
}

TEST_CASE("RSV-9 the lease is one second longer than the timeout, also when either is a default")
{
    CHECK(load(with_tier_setting("retention: 7d, lease: 31s").text()).ok());
    CHECK_FALSE(load(with_tier_setting("retention: 7d, lease: 30999ms").text()).ok());
    CHECK(load(with_route_setting("timeout: 59s").text()).ok());
    const auto loaded = load(with_route_setting("timeout: 60s").text());
    CHECK_FALSE(loaded.ok());
    CHECK(shown(loaded).find("60s by default") != std::string::npos);
    CHECK(shown(loaded).find("use at least `lease: 65s`") != std::string::npos);
}

TEST_CASE("a route that is off needs neither a tier nor a lease that fits")
{
    CHECK(load(with_routes("routes: [ { name: r, mode: off } ]\n").text()).ok());
    CHECK(load(with_routes("routes: [ { name: r, tier: t, mode: off, timeout: 10m } ]\n").text())
              .ok());
}

TEST_CASE("a key source that is not built is a warning where nothing is enforced")
{
    const auto loaded = load(with_route_setting("mode: off, key: json:/id").text());
    CHECK(codes_of(loaded) == std::vector<std::string>{"W90"});
    CHECK(load(with_route_setting("key: header").text()).diagnostics.empty());
}

TEST_CASE("store.postgres loads, but nobody may run with another store instead")
{
    const auto loaded = load(with_more("store: { postgres: 'host=db' }\n").text());
    REQUIRE(loaded.ok());
    CHECK(loaded.settings->store.postgres == "host=db");
    CHECK(loaded.settings->store.sqlite.empty());
    REQUIRE(loaded.settings->unbuilt.size() == 1);
    CHECK(loaded.settings->unbuilt[0].blocks_run);
    CHECK(loaded.settings->unbuilt[0].path == "store.postgres");
}

TEST_CASE("without a store it is a file in the state directory, or in the working directory")
{
    CHECK(load(Parts{}.text()).settings->store.sqlite == "./onceward.db");
    CHECK(load(Parts{}.text(), {{"STATE_DIRECTORY", "/var/lib/o:/var/lib/p"}})
              .settings->store.sqlite == "/var/lib/o/onceward.db");
}

TEST_CASE("ONCEWARD_SECTION__NAME wins over the file, also where the file has no such section")
{
    const auto loaded = load(with_server("server: { upstream: '${NOT_SET}' }\n").text(),
                             {{"ONCEWARD_SERVER__UPSTREAM", "http://b:1"},
                              {"ONCEWARD_SERVER__LISTEN", "127.0.0.1:7"},
                              {"ONCEWARD_STORE__SQLITE", "/data/${x}.db"},
                              {"ONCEWARD_KEYS__SECRET", "0123456789abcdef"},
                              {"ONCEWARD_SERVER__DRAIN__TIMEOUT", "7s"},
                              {"ONCEWARD_OBSERVABILITY__LOG__LEVEL", "debug"},
                              {"ONCEWARD_ADMIN__LISTEN", "off"}});
    REQUIRE_MESSAGE(loaded.ok(), shown(loaded));
    const auto& settings = *loaded.settings;
    CHECK(settings.server.upstreams[0].host == "b");
    CHECK(settings.server.listen.port == 7);
    CHECK(settings.store.sqlite == "/data/${x}.db");
    CHECK(settings.store.secret == "0123456789abcdef");
    CHECK(settings.server.drain_timeout == 7s);
    CHECK(settings.log.level == "debug");
    CHECK_FALSE(settings.admin.listen);
}

TEST_CASE("a mistake in the environment names the variable")
{
    const auto loaded = load(Parts{}.text(), {{"ONCEWARD_SERVER__LISTEN", "nonsense"}});
    CHECK_FALSE(loaded.ok());
    const auto text = shown(loaded);
    CHECK(text.find("error[E209]: server.listen is not an address") != std::string::npos);
    CHECK(text.find("= the value comes from the environment variable ONCEWARD_SERVER__LISTEN") !=
          std::string::npos);
    CHECK(text.find("-->") == std::string::npos);
}

TEST_CASE("E301 is a warning when nothing will run")
{
    const auto text = with_server("server: { upstream: '${LEGACY_URL}' }\n").text();
    const auto loaded = load(text, {}, true);
    CHECK(loaded.ok());
    CHECK(codes_of(loaded) == std::vector<std::string>{"E301"});
    CHECK(shown(loaded).starts_with("warning[E301]"));
    CHECK(load(text, {{"LEGACY_URL", "http://a"}}).ok());
    CHECK(load(with_server("server: { upstream: 'http://${HOST:-a}:${PORT:-80}' }\n").text()).ok());
}

TEST_CASE("VARIABLE_FILE stands in for VARIABLE, and is not opened offline")
{
    const auto text = with_server("server: { upstream: '${LEGACY_URL}' }\n").text();
    const TemporaryFile file("http://from-file:1\n");
    const auto loaded = load(text, {{"LEGACY_URL_FILE", file.path}});
    REQUIRE_MESSAGE(loaded.ok(), shown(loaded));
    CHECK(loaded.settings->server.upstreams[0].host == "from-file");
    CHECK(codes_of(load(text, {{"LEGACY_URL_FILE", "/nowhere/url"}})) ==
          std::vector<std::string>{"E303"});
    CHECK(load(text, {{"LEGACY_URL_FILE", "/nowhere/url"}}, true).diagnostics.empty());
}

TEST_CASE("keys.secret_file is checked unless offline")
{
    const auto text = with_keys("keys: { subject: shared, secret_file: /nowhere/secret }\n").text();
    CHECK(reports(load(text), "E303"));
    CHECK(load(text, {}, true).ok());
    const TemporaryFile file("0123456789abcdef");
    const auto loaded = load(Parts{}.text(), {{"ONCEWARD_KEYS__SECRET_FILE", file.path}});
    REQUIRE(loaded.ok());
    CHECK(loaded.settings->store.secret_file == file.path);
}

TEST_CASE("a misplaced key is told where it belongs")
{
    const auto loaded =
        load(with_server("server: { upstream: 'http://a', retention: 7d }\n").text());
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].message ==
          "`retention` is not allowed under `server`; it belongs under `tiers.<name>`");
}

TEST_CASE("subjects")
{
    const auto form = [](const std::string& subject) {
        auto parts = with_keys("keys: { subject: '" + subject + "' }\n");
        parts.server = "server: { upstream: 'http://a', trusted_proxies: [127.0.0.1] }\n";
        const auto loaded = load(parts.text());
        REQUIRE_MESSAGE(loaded.ok(), shown(loaded));
        return loaded.settings->policy.subject.form();
    };
    CHECK(form("credential") == "credential:authorization");
    CHECK(form("credential:X-Api-Key") == "credential:x-api-key");
    CHECK(form("header:X-User") == "header:x-user");
    CHECK(form("shared") == "shared");
}

TEST_CASE("without a file: one route on every path, seven days")
{
    const auto loaded = load_quick_start({"http://127.0.0.1:3000", "127.0.0.1:0", "credential"},
                                         environment_of({}));
    const auto& route = only_route(loaded);
    CHECK(loaded.settings->file.empty());
    CHECK(route.name == "default");
    CHECK(route.mode == core::Mode::enforce);
    CHECK(route.when_missing == core::WhenMissing::pass);
    CHECK(route.match.kind == core::PathMatch::any);
    CHECK(route.match.methods == std::vector<std::string>{"POST"});
    CHECK(route.tier.retention == 7 * 24h);
    CHECK(route.tier.lease == 60s);
    CHECK(loaded.settings->store.sqlite == "./onceward.db");
    CHECK(loaded.settings->server.listen.port == 0);
    CHECK(codes_of(loaded).empty());
}

TEST_CASE("without a file the same rules hold, and no place in a file is named")
{
    const auto loaded = load_quick_start({"https://a", "x", ""}, environment_of({}));
    CHECK_FALSE(loaded.ok());
    for (const auto* code : {"E120", "E208", "E209"})
        CHECK(reports(loaded, code));
    CHECK(render_text("", loaded.source, loaded.diagnostics).find("-->") == std::string::npos);
    CHECK(reports(load_quick_start({"", "", "shared"}, environment_of({})), "E117"));
}

TEST_CASE("the equivalent YAML loads to the same settings, whatever the command line holds")
{
    const QuickStart quick{"http://127.0.0.1:3000", ":8080", "credential:X-Api-Key"};
    const auto yaml = equivalent_yaml(quick, "/tmp/a b: \"c\" #${X} '\xC3\xA4.db");
    const auto loaded = load(yaml);
    REQUIRE_MESSAGE(loaded.ok(), shown(loaded));
    CHECK(loaded.settings->store.sqlite == "/tmp/a b: \"c\" #${X} '\xC3\xA4.db");
    CHECK(loaded.settings->policy.subject.form() == "credential:x-api-key");
    CHECK(equivalent_yaml(quick, "./onceward.db").find("  sqlite: ./onceward.db\n") !=
          std::string::npos);
    CHECK_FALSE(load_quick_start({"http://a\nkeys: 1", "", "shared"}, environment_of({})).ok());
}
