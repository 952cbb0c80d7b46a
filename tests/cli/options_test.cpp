// The command line: what is asked for, and what is said about mistakes.
#include "cli/options.hpp"

#include "cli/exit_code.hpp"

#include <doctest/doctest.h>

using namespace onceward::cli;

namespace {

using Words = std::vector<std::string>;

template <class Values>
Values parsed(Words words)
{
    auto result = parse_command_line(std::move(words));
    if (const auto* told = std::get_if<Told>(&result)) FAIL(told->text);
    return std::get<Values>(std::get<Command>(result));
}

Told told(Words words)
{
    auto result = parse_command_line(std::move(words));
    REQUIRE(std::holds_alternative<Told>(result));
    return std::get<Told>(result);
}

}  // namespace

TEST_CASE("run takes a file, or an upstream with what goes with it")
{
    const auto file =
        parsed<RunCommand>({"run", "-c", "a.yaml", "--forget", "old", "--forget", "older"});
    CHECK(file.config == "a.yaml");
    CHECK(file.forget == Words{"old", "older"});

    const auto quick =
        parsed<RunCommand>({"run", "--upstream", "http://127.0.0.1:3000", "--subject", "shared",
                            "--listen=127.0.0.1:0", "--admin-listen", "127.0.0.1:0"});
    CHECK(quick.upstream == "http://127.0.0.1:3000");
    CHECK(quick.subject == "shared");
    CHECK(quick.listen == "127.0.0.1:0");
    CHECK(quick.admin_listen == "127.0.0.1:0");

    CHECK(told({"run", "-c", "a.yaml", "--upstream", "http://a"}).exit_code == ExitCode::usage);
    CHECK(told({"run", "--listen", ":8080"}).exit_code == ExitCode::usage);
    CHECK(told({"run", "--subject", "shared"}).exit_code == ExitCode::usage);
    CHECK(told({"run", "--forget"}).exit_code == ExitCode::usage);
}

TEST_CASE("explain takes headers one by one and keeps its positions")
{
    const auto explain =
        parsed<ExplainCommand>({"explain", "POST", "/v1/charges", "-H", "Idempotency-Key: \"k\"",
                                "-H", "Authorization: Bearer s", "-d", "@body.json"});
    CHECK(explain.method == "POST");
    CHECK(explain.url == "/v1/charges");
    CHECK(explain.headers == Words{"Idempotency-Key: \"k\"", "Authorization: Bearer s"});
    CHECK(explain.data == "@body.json");
    const auto mixed = parsed<ExplainCommand>({"explain", "-H", "A: b", "POST", "/"});
    CHECK(mixed.headers == Words{"A: b"});
    CHECK(mixed.method == "POST");
    CHECK(told({"explain", "POST"}).exit_code == ExitCode::usage);
}

TEST_CASE("keys has verbs of its own")
{
    const auto show =
        parsed<KeysShowCommand>({"keys", "show", "k1", "--subject", "Bearer s", "--route",
                                 "charges", "--method", "POST", "-o", "json"});
    CHECK(show.key == "k1");
    CHECK(show.subject == "Bearer s");
    CHECK(show.output == OutputFormat::json);
    CHECK(told({"keys", "show", "k1"}).exit_code == ExitCode::usage);

    const auto list =
        parsed<KeysListCommand>({"keys", "list", "--state", "unknown", "--limit", "7"});
    CHECK(list.limit == 7);
    CHECK(list.output == OutputFormat::table);
    CHECK(told({"keys", "list", "--state", "done"}).exit_code == ExitCode::usage);
    CHECK(told({"keys", "list", "--state", "unknown", "--limit", "0"}).exit_code ==
          ExitCode::usage);
    CHECK(told({"keys"}).exit_code == ExitCode::usage);
}

TEST_CASE("the other commands")
{
    const auto check =
        parsed<CheckCommand>({"check", "-c", "a.yaml", "--format", "json", "--strict", "-q"});
    CHECK(check.strict);
    CHECK(check.quiet);
    CHECK(check.format == OutputFormat::json);
    const auto health =
        parsed<HealthcheckCommand>({"healthcheck", "--ready", "--timeout", "500ms"});
    CHECK(health.ready);
    CHECK(health.timeout == "500ms");
    CHECK(parsed<DemoCommand>({"demo", "--assert"}).assert_expectations);
    CHECK(parsed<DemoUpstreamCommand>({"demo-upstream", "--fail", "500:0.1"}).fail == "500:0.1");
    parsed<VersionCommand>({"version"});
    parsed<VersionCommand>({"--version"});
}

TEST_CASE("a mistyped command is met with the one that was meant")
{
    const auto mistyped = told({"chekc"});
    CHECK(mistyped.exit_code == ExitCode::usage);
    CHECK(mistyped.text.find("unknown command `chekc`; did you mean `check`?") !=
          std::string::npos);
    const auto verb = told({"keys", "shwo", "k1"});
    CHECK(verb.exit_code == ExitCode::usage);
    CHECK(verb.text.find("did you mean `show`?") != std::string::npos);
    const auto strange = told({"frobnicate"});
    CHECK(strange.text.find("did you mean") == std::string::npos);
    CHECK(strange.text.find("healthcheck") != std::string::npos);
}

TEST_CASE("help is no mistake; nothing and nonsense are")
{
    CHECK(told({"--help"}).exit_code == ExitCode::ok);
    CHECK(told({"--help"}).text.find("demo-upstream") != std::string::npos);
    const auto run_help = told({"run", "--help"});
    CHECK(run_help.exit_code == ExitCode::ok);
    CHECK(run_help.text.find("--forget") != std::string::npos);
    CHECK(run_help.text.find("Usage: onceward run") != std::string::npos);
    CHECK(told({"keys", "show", "-h"}).text.find("--subject") != std::string::npos);
    CHECK(told({}).exit_code == ExitCode::usage);
    CHECK(told({"run", "--frob"}).exit_code == ExitCode::usage);
    CHECK(told({"run", "--frob"}).text.find("onceward run --help") != std::string::npos);
    CHECK(told({"check", "--format", "yaml"}).exit_code == ExitCode::usage);
}
