// The shipped configuration files load, and mean what their comments say.
#include "settings/support.hpp"

#include <set>

using namespace onceward;
using namespace std::chrono_literals;

namespace {

Loaded load_shipped(const std::string& name, testing::Variables variables = {})
{
    return load_file(testing::source_path(name), testing::environment_of(std::move(variables)), {});
}

const core::Route& route_named(const Settings& settings, std::string_view name)
{
    for (const auto& route : settings.policy.routes.routes()) {
        if (route->name == name) return *route;
    }
    FAIL("no route ", name);
    return *settings.policy.routes.routes().front();
}

}  // namespace

TEST_CASE("config/minimal.yaml")
{
    const auto loaded = load_shipped("config/minimal.yaml");
    REQUIRE_MESSAGE(loaded.ok(), testing::shown(loaded));
    CHECK(loaded.diagnostics.empty());
    const auto& settings = *loaded.settings;
    CHECK(settings.file == testing::source_path("config/minimal.yaml"));
    CHECK(settings.server.listen.host == "127.0.0.1");
    CHECK(settings.server.listen.port == 8080);
    REQUIRE(settings.server.upstreams.size() == 1);
    CHECK(settings.server.upstreams[0] ==
          UpstreamUrl{"http://127.0.0.1:3000", "127.0.0.1", "3000"});
    CHECK(settings.store.sqlite == "./onceward.db");
    CHECK_FALSE(settings.store.postgres);
    CHECK(settings.policy.subject.form() == "credential:authorization");
    CHECK(settings.unbuilt.empty());
    REQUIRE(settings.tiers.size() == 1);
    const auto& route = route_named(settings, "charges");
    CHECK(route.id == "charges");
    CHECK(route.mode == core::Mode::enforce);
    CHECK(route.when_missing == core::WhenMissing::reject);
    CHECK(route.match.methods == std::vector<std::string>{"POST"});
    CHECK(route.match.kind == core::PathMatch::exact);
    CHECK(route.tier.name == "payments");
    CHECK(route.tier.retention == 14 * 24h);
    CHECK(route.tier.lease == 60s);
    CHECK(route.tier.tombstone == core::Millis(90 * 24h));
    CHECK(route.timeout == 30s);
    CHECK(route.in_progress_wait == 3s);
}

TEST_CASE("config/tiers.yaml: the server")
{
    const auto loaded =
        load_shipped("config/tiers.yaml", {{"STATE_DIRECTORY", "/var/lib/onceward"}});
    REQUIRE_MESSAGE(loaded.ok(), testing::shown(loaded));
    const auto& settings = *loaded.settings;
    CHECK(settings.server.trusted_proxies.size() == 2);
    CHECK(settings.server.trusted_proxies[1].prefix == 8);
    CHECK(settings.server.request_head_max == 32 << 10);
    CHECK(settings.server.drain_delay == 5s);
    CHECK(settings.server.via == "onceward");
    CHECK(settings.server.problem_base == "https://docs.example.com/problems/");
    CHECK(settings.server.upstreams.size() == 2);
    CHECK(settings.observability.listen->port == 9481);
    CHECK(settings.admin.listen->port == 9480);
    CHECK(settings.store.sqlite == "/var/lib/onceward/onceward.db");
    CHECK(settings.policy.key.aliases ==
          std::vector<std::string>{"X-Idempotency-Key", "PayPal-Request-Id"});
    CHECK(settings.policy.subject.form() == "credential:x-api-key");
}

TEST_CASE("config/tiers.yaml: the four tiers and their routes")
{
    const auto loaded = load_shipped("config/tiers.yaml");
    REQUIRE(loaded.ok());
    const auto& settings = *loaded.settings;
    REQUIRE(settings.tiers.size() == 4);
    CHECK(settings.tiers[0].name == "payments");
    CHECK(settings.tiers[0].retry_budget->sum() == 7 * 24h + 17min);
    CHECK(settings.tiers[1].tombstone == core::Millis(30 * 24h));
    CHECK(settings.tiers[2].on_store_error == core::OnStoreError::pass);
    CHECK(settings.tiers[3].store_response == core::StoreResponse::status_only);
    CHECK(settings.tiers[3].retention == 10min);

    const auto& charges = route_named(settings, "charges");
    CHECK(charges.outcomes.code(425) == core::Disposition::released);
    CHECK(charges.outcomes.status_class(503) == core::Disposition::unknown);
    CHECK(charges.request_body_max == 64 << 10);
    CHECK(charges.stored_response_max == 128 << 10);
    CHECK(charges.replay_headers.size() == 3);
    const auto& orders = route_named(settings, "orders");
    CHECK(orders.tier_index == 1);
    CHECK(orders.outcomes.code(503) == core::Disposition::released);
    CHECK(orders.match.methods.size() == 2);
    CHECK(orders.request_body_max == 1 << 20);
    const auto& notify = route_named(settings, "notify");
    CHECK(notify.match.matches("/v1/sms"));
    CHECK_FALSE(notify.match.matches("/v1/smss"));
    CHECK(notify.close_delimited == core::CloseDelimited::accept);
    const auto& telemetry = route_named(settings, "telemetry");
    CHECK(telemetry.mode == core::Mode::observe);
    CHECK(settings.server.upstreams.at(static_cast<std::size_t>(telemetry.upstream)).port ==
          "3100");
}

TEST_CASE(
    "config/tiers.yaml: its warnings are about what is not built yet, and nothing keeps it from "
    "running")
{
    const auto loaded = load_shipped("config/tiers.yaml");
    REQUIRE(loaded.ok());
    std::set<std::string> paths;
    for (const auto& diagnostic : loaded.diagnostics) {
        CHECK((diagnostic.code == "W90" || diagnostic.code == "W91"));
        paths.insert(diagnostic.path);
    }
    CHECK(paths == std::set<std::string>{"observability.log.sample", "store.capacity",
                                         "keys.reject_older_than_retention", "misuse",
                                         "routes.charges.fingerprint.type",
                                         "routes.charges.fingerprint.ignore",
                                         "routes.charges.client_wait",
                                         "routes.orders.enforce_percent", "routes.telemetry.mode"});
    CHECK(loaded.settings->unbuilt.size() == paths.size());
    for (const auto& unbuilt : loaded.settings->unbuilt)
        CHECK_FALSE(unbuilt.blocks_run);
}
