// Commands and their exit codes, without starting anything that stays.
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace onceward;
using namespace onceward::cli;

TEST_CASE("run hands the settings over and returns what comes back")
{
    const Directory directory;
    const auto config = directory.file("a.yaml", sample_config(directory.path("a.db")));
    CommandLine program;
    program.exit_code_of_run = ExitCode::drain_deadline;
    CHECK(program({"run", "-c", config, "--forget", "old", "--admin-listen", "127.0.0.1:0"}) == 9);
    REQUIRE(program.ran);
    CHECK(program.ran->policy.routes.routes().size() == 2);
    CHECK(program.ran->admin.listen->port == 0);
    CHECK(program.options.forget == std::vector<std::string>{"old"});
    CHECK(program.options.banner_yaml.empty());
}

TEST_CASE("run without a file says what the file would have been")
{
    CommandLine program;
    CHECK(program({"run", "--upstream", "http://127.0.0.1:3000", "--subject", "credential"}) == 0);
    REQUIRE(program.ran);
    CHECK(program.options.banner_yaml.find("http://127.0.0.1:3000") != std::string::npos);
}

TEST_CASE("run refuses what it cannot run with")
{
    const Directory directory;
    CommandLine program;
    CHECK(program({"run", "-c", directory.path("missing.yaml")}) == ExitCode::config_invalid);
    CHECK(program.err.str().find("E002") != std::string::npos);
    CHECK(program({"run", "--upstream", "http://127.0.0.1:3000"}) == ExitCode::config_invalid);
    CHECK(program.err.str().find("E120") != std::string::npos);
    const auto config = directory.file("a.yaml", sample_config(directory.path("a.db")));
    CHECK(program({"run", "-c", config, "--admin-listen", "0.0.0.0:9480"}) == ExitCode::usage);
    CHECK(program.err.str().find("loopback") != std::string::npos);
    CHECK(program({"run", "-c", config, "--admin-listen", "somewhere"}) == ExitCode::usage);
    CHECK_FALSE(program.ran);
}

TEST_CASE("the default file is looked for only when none is named")
{
    const Directory directory;
    CommandLine program;
    program.environment["ONCEWARD_CONFIG"] =
        directory.file("a.yaml", sample_config(directory.path("a.db")));
    CHECK(program({"check"}) == 0);
    CHECK(program({"check", "-c", directory.path("missing.yaml")}) == ExitCode::config_invalid);
    CHECK(program({"run", "--upstream", "http://127.0.0.1:3001", "--subject", "shared"}) == 0);
    CHECK(program.ran->server.upstreams.front().port == "3001");
}

TEST_CASE("check prints one line, on stdout, when all is well")
{
    const Directory directory;
    const auto config = directory.file("a.yaml", sample_config(directory.path("a.db")));
    CommandLine program;
    CHECK(program({"check", "-c", config}) == 0);
    CHECK(program.out.str() == "ok: 2 routes, 1 tier, 0 warnings\n");
    CHECK(program.err.str().empty());
    CHECK(program({"check", "-q", "-c", config}) == 0);
    CHECK(program.out.str().empty());
    CHECK_FALSE(std::filesystem::exists(directory.path("a.db")));
}

TEST_CASE("check points at mistakes, on stderr or as JSON")
{
    const Directory directory;
    const auto text = sample_config(directory.path("a.db")) + "frob: 1\n";
    const auto config = directory.file("a.yaml", text);
    CommandLine program;
    CHECK(program({"check", "-c", config}) == ExitCode::config_invalid);
    CHECK(program.out.str().empty());
    CHECK(program.err.str().find("error[E102]") != std::string::npos);
    CHECK(program.err.str().find("1 error, 0 warnings") != std::string::npos);
    CHECK(program({"check", "-c", config, "--format", "json"}) == ExitCode::config_invalid);
    const auto json = nlohmann::json::parse(program.out.str());
    REQUIRE(json.size() == 1);
    CHECK(json[0]["code"] == "E102");
}

TEST_CASE("check --strict turns warnings into an exit code")
{
    const Directory directory;
    auto text = sample_config(directory.path("a.db"));
    text.erase(text.find("    retry_budget"), text.find("routes:") - text.find("    retry_budget"));
    const auto config = directory.file("a.yaml", text);
    CommandLine program;
    CHECK(program({"check", "-c", config}) == 0);
    CHECK(program.err.str().find("W01") != std::string::npos);
    CHECK(program({"check", "-c", config, "--strict"}) == ExitCode::warnings);
}

TEST_CASE("explain tells which routes were tried, and why not")
{
    const Directory directory;
    const auto config = directory.file("a.yaml", sample_config(directory.path("a.db")));
    CommandLine program;
    const auto explain = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"explain", "-c", config});
        CHECK(program(std::move(words)) == 0);
        return program.out.str();
    };
    auto text = explain({"POST", "https://api.example.com/v1/charges?x=1", "-H",
                         "Idempotency-Key: \"k-1\"", "-H", "Authorization: Bearer s", "-d", "{}"});
    CHECK(text.find("POST https://api.example.com/v1/charges?x=1\n") == 0);
    CHECK(text.find("orders \u2717 path prefix /v1/orders, charges \u2713") != std::string::npos);
    CHECK(text.find("tier payments   retention 14d") != std::string::npos);
    CHECK(text.find("would be GUARDED on route charges") != std::string::npos);
    CHECK(text.find("Bearer") == std::string::npos);
    CHECK(text.find("k-1") == std::string::npos);

    text = explain({"GET", "/v1/charges"});
    CHECK(text.find("orders \u2717 path prefix /v1/orders, charges \u2717 method") !=
          std::string::npos);
    CHECK(text.find("would PASS THROUGH: no route meets it") != std::string::npos);

    text = explain({"POST", "/v1/charges", "-H", "Authorization: Bearer s"});
    CHECK(text.find("would be REJECTED with 400 key-missing") != std::string::npos);
    text = explain({"POST", "/v1/orders/7"});
    CHECK(text.find("would PASS THROUGH unprotected: it has no key") != std::string::npos);
    text = explain({"GET", "/v1/charges", "-H", "X-HTTP-Method-Override: POST", "-H",
                    "Idempotency-Key: k", "-H", "Authorization: Bearer s"});
    CHECK(text.find("would be GUARDED on route charges") != std::string::npos);
    CHECK(text.find("met as      what a lenient server may see") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(directory.path("a.db")));
    CHECK_FALSE(std::filesystem::exists(directory.path("a.db.secret")));
}

TEST_CASE("explain refuses what is no request")
{
    CommandLine program;
    CHECK(program({"explain", "PO ST", "/"}) == ExitCode::usage);
    CHECK(program({"explain", "POST", "/", "-H", "no colon"}) == ExitCode::usage);
    CHECK(program({"explain", "POST", "/", "-d", "@/nonexistent/body"}) == ExitCode::usage);
}

TEST_CASE("demo and its upstream get their options")
{
    CommandLine program;
    CHECK(program({"demo", "--proxy", "127.0.0.1:81", "--assert"}) == 0);
    CHECK(program.demo->proxy.port == 81);
    CHECK(program.demo->upstream.port == 3000);
    CHECK(program.demo->assert_expectations);
    CHECK(program({"demo", "--proxy", "nowhere"}) == ExitCode::usage);

    CHECK(program({"demo-upstream", "--listen", "127.0.0.1:0", "--delay", "200ms", "--fail",
                   "500:0.5", "--die", "after-charge", "--balance", "5"}) == 0);
    CHECK(program.demo_upstream->port == 0);
    CHECK(program.demo_upstream->behaviour.delay.count() == 200);
    CHECK(program.demo_upstream->behaviour.fail->share == 0.5);
    CHECK(program.demo_upstream->behaviour.death == demo::Death::after_charge);
    CHECK(program.demo_upstream->opening_balance == 5);
    CHECK(program({"demo-upstream", "--delay", "200"}) == ExitCode::usage);
    CHECK(program({"demo-upstream", "--die", "laughing"}) == ExitCode::usage);
    CHECK(program({"demo-upstream", "--fail", "often"}) == ExitCode::usage);
}

TEST_CASE("version is data")
{
    CommandLine program;
    CHECK(program({"version"}) == 0);
    CHECK(program.out.str().starts_with("onceward 0.1.0\n"));
    CHECK(program.err.str().empty());
}

TEST_CASE("mistakes go to stderr, help to stdout")
{
    CommandLine program;
    CHECK(program({"chekc"}) == ExitCode::usage);
    CHECK(program.out.str().empty());
    CHECK(program.err.str().find("did you mean `check`?") != std::string::npos);
    CHECK(program({"run", "--help"}) == 0);
    CHECK(program.err.str().empty());
}
