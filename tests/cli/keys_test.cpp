// keys and healthcheck, against side listeners that are really there, and against the store when
// none is.
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/stored.hpp"
#include "ops/served.hpp"
#include "settings/load.hpp"
#include "store/sqlite_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace onceward;
using namespace onceward::cli;

namespace {

// Notes what it was asked and answers the same to everything.
struct Oracle {
    SideResponse response;
    SideRequest asked;

    static awaitable<SideResponse> answer(Oracle* self, SideRequest request)
    {
        self->asked = std::move(request);
        co_return self->response;
    }
    SideHandler handler()
    {
        return [this](SideRequest request) { return answer(this, std::move(request)); };
    }
};

std::string address_of(const Served& served)
{
    return "127.0.0.1:" + std::to_string(served.where().port());
}

// An address on which nobody listens.
std::string nobody()
{
    boost::asio::io_context context;
    boost::asio::ip::tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), 0});
    return "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
}

awaitable<void> reserve_once(KeyStore* store, core::Digest digest)
{
    core::Claim claim;
    claim.token = core::random_token();
    claim.lease = std::chrono::minutes{1};
    const auto reserved = co_await store->reserve(digest, claim);
    CHECK(reserved.has_value());
}

// A store with one PENDING record of key k1, left behind as by a process that died.
void leave_record(const Settings& settings)
{
    SqliteOptions options;
    options.file.place = {settings.store.sqlite, false, true, true};
    options.file.tiers = settings.tiers;
    for (const auto& route : settings.policy.routes.routes())
        options.file.identity.route_ids.push_back(route->id);
    options.file.identity.subject_form = settings.policy.subject.form();
    auto opened = SqliteStore::open(options);
    REQUIRE(std::holds_alternative<std::unique_ptr<SqliteStore>>(opened));
    auto& store = std::get<std::unique_ptr<SqliteStore>>(opened);
    core::KeyScope scope;
    scope.subject = "Bearer s";
    scope.route_id = "charges";
    scope.method = "POST";
    scope.key = "k1";
    boost::asio::io_context context(1);
    const auto client = store->client(context.get_executor());
    const auto digest = core::key_digest(store->secret().key_hash(), scope);
    boost::asio::co_spawn(context, reserve_once(client.get(), digest), boost::asio::detached);
    context.run();
    store->close();
}

}  // namespace

TEST_CASE("keys show asks the admin listener and prints what it says")
{
    Oracle oracle;
    oracle.response.body =
        R"({"schema":"onceward.key/1","id":"b41c","key_id":"b41c","route":"charges",)"
        R"("method":"POST","tier":"payments",)"
        R"("state":"DONE","epoch":1,"fingerprint":"77d0","age_ms":7320000,"remaining_ms":60000,)"
        R"("settled_at":"2025-12-01T10:02:11.007Z",)"
        R"("response":{"status":201,"kept":"full","bytes":412,)"
        R"("headers":[["Location","/v1/charges/7"]]}})"
        "\n";
    const Served served(oracle.handler());
    CommandLine program;
    const std::vector<std::string> words{"keys",      "show",     "k1",
                                         "--subject", "Bearer s", "--route",
                                         "charges",   "--admin",  address_of(served)};
    program.environment["ONCEWARD_CONFIG"] = "/nonexistent/onceward.yaml";
    CHECK(program(words) == 0);
    CHECK(program.out.str().find("state     DONE   epoch 1\n") != std::string::npos);
    CHECK(program.out.str().find("response  201, 412 B, kept full\n") != std::string::npos);
    CHECK(program.out.str().find("Location: \"/v1/charges/7\"") != std::string::npos);
    CHECK(oracle.asked.method == "POST");
    CHECK(oracle.asked.path == "/v1/keys/lookup");
    CHECK(oracle.asked.field("Content-Type") == "application/json");
    const auto body = nlohmann::json::parse(oracle.asked.body);
    CHECK(body["key"] == "k1");
    CHECK(body["subject"] == "Bearer s");

    auto as_json = words;
    as_json.insert(as_json.end(), {"-o", "json"});
    CHECK(program(as_json) == 0);
    CHECK(program.out.str() == oracle.response.body);

    oracle.response.status = 404;
    oracle.response.body = R"({"error":"not-found","message":"there is no record"})";
    CHECK(program(words) == ExitCode::not_found);
    CHECK(program.err.str() == "error: there is no record\n");
    oracle.response.status = 503;
    CHECK(program(words) == ExitCode::dependency_down);
    oracle.response.status = 400;
    CHECK(program(words) == ExitCode::usage);
    oracle.response.body = "<html>";
    CHECK(program(words) == ExitCode::unexpected);
}

TEST_CASE("keys list prints a table, also of nothing")
{
    Oracle oracle;
    oracle.response.body = R"({"schema":"onceward.keys/1","items":[]})";
    const Served served(oracle.handler());
    CommandLine program;
    program.environment["ONCEWARD_CONFIG"] = "/nonexistent/onceward.yaml";
    CHECK(program({"keys", "list", "--state", "unknown", "--limit", "3", "--admin",
                   address_of(served)}) == 0);
    CHECK(program.out.str().starts_with("RECORD"));
    CHECK(oracle.asked.query == "state=unknown&limit=3");
    oracle.response.body =
        R"({"items":[{"id":"ab","state":"UNKNOWN","reason":"timeout","age_ms":61000,)"
        R"("tier":"payments"}]})";
    CHECK(program({"keys", "list", "--state", "unknown", "--admin", address_of(served)}) == 0);
    CHECK(program.out.str().find("timeout") != std::string::npos);
    CHECK(program.out.str().find("1m 01s") != std::string::npos);
}

TEST_CASE("nobody to ask is exit 4")
{
    CommandLine program;
    program.environment["ONCEWARD_CONFIG"] = "/nonexistent/onceward.yaml";
    CHECK(program({"keys", "list", "--state", "unknown", "--admin", nobody()}) ==
          ExitCode::admin_unreachable);
    CHECK(program({"healthcheck", "--admin", nobody()}) == ExitCode::admin_unreachable);
}

TEST_CASE("decision 33 with the proxy stopped the store itself is opened")
{
    const Directory directory;
    auto text = sample_config(directory.path("a.db"));
    text += "admin:\n  listen: " + nobody() + "\n";
    const auto config = directory.file("a.yaml", text);
    CommandLine program;
    const std::vector<std::string> show{"keys",      "show",     "k1",      "-c",     config,
                                        "--subject", "Bearer s", "--route", "charges"};
    CHECK(program(show) == ExitCode::admin_unreachable);
    CHECK_FALSE(std::filesystem::exists(directory.path("a.db")));  // Looking makes nothing.

    const auto settings =
        load_file(config, [](std::string_view) { return std::nullopt; }, {}).settings;
    REQUIRE(settings);
    leave_record(*settings);
    CHECK(program(show) == 0);
    CHECK(program.out.str().find("state     UNKNOWN (crash)") != std::string::npos);
    CHECK(program({"keys", "list", "--state", "unknown", "-c", config}) == 0);
    CHECK(program.out.str().find("crash") != std::string::npos);
    auto other = show;
    other[2] = "k2";
    CHECK(program(other) == ExitCode::not_found);
}

TEST_CASE("healthcheck asks the observability listener where there is one")
{
    Oracle oracle;
    const Served served(oracle.handler());
    const Directory directory;
    auto text = sample_config(directory.path("a.db"));
    text += "observability:\n  listen: " + address_of(served) + "\n";
    const auto config = directory.file("a.yaml", text);
    CommandLine program;
    CHECK(program({"healthcheck", "-c", config}) == 0);
    CHECK(oracle.asked.path == "/livez");
    CHECK(program({"healthcheck", "--ready", "-c", config}) == 0);
    CHECK(oracle.asked.path == "/readyz");
    oracle.response.status = 503;
    CHECK(program({"healthcheck", "--ready", "-c", config}) == ExitCode::unexpected);
    CHECK(program({"healthcheck", "--timeout", "5", "-c", config}) == ExitCode::usage);
}

TEST_CASE("healthcheck without observability asks the admin listener for its state")
{
    Oracle oracle;
    oracle.response.body = R"({"schema":"onceward.status/1","state":"draining"})";
    const Served served(oracle.handler());
    CommandLine program;
    program.environment["ONCEWARD_CONFIG"] = "/nonexistent/onceward.yaml";
    CHECK(program({"healthcheck", "--admin", address_of(served)}) == 0);
    CHECK(oracle.asked.path == "/v1/status");
    CHECK(program({"healthcheck", "--ready", "--admin", address_of(served)}) ==
          ExitCode::unexpected);
    oracle.response.body = R"({"schema":"onceward.status/1","state":"ready"})";
    CHECK(program({"healthcheck", "--ready", "--admin", address_of(served)}) == 0);
}
