// The commands that only hand over: run, check, version, demo and demo-upstream.
#include "../bench/demo.hpp"
#include "../bench/demo_upstream.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "ops/version.hpp"
#include "settings/values.hpp"

#include <boost/version.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <ostream>

namespace onceward::cli {

namespace {

std::size_t count_of(const std::vector<Diagnostic>& diagnostics, Severity severity)
{
    return static_cast<std::size_t>(std::count_if(
        diagnostics.begin(), diagnostics.end(),
        [severity](const Diagnostic& diagnostic) { return diagnostic.severity == severity; }));
}

std::string counted(std::size_t count, std::string_view noun)
{
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string summary(const Settings& settings, std::size_t warnings)
{
    return counted(settings.policy.routes.routes().size(), "route") + ", " +
           counted(settings.tiers.size(), "tier") + ", " + counted(warnings, "warning");
}

// Without a file: the banner says what it would have been.
std::optional<Settings> quick_settings(const RunCommand& command, const Surroundings& around,
                                       std::string& banner_yaml)
{
    const QuickStart quick{command.upstream, command.listen, command.subject};
    auto loaded = load_quick_start(quick, around.environment);
    around.err << render_text("command line", loaded.source, loaded.diagnostics);
    if (loaded.settings) banner_yaml = equivalent_yaml(quick, loaded.settings->store.sqlite);
    return std::move(loaded.settings);
}

// The admin API shows records to whoever reaches it, so it stays on this machine.
std::optional<std::string> set_admin_listen(Settings& settings, const std::string& text)
{
    if (!text.empty()) {
        const auto parsed = parse_listen(text);
        if (const auto* wrong = std::get_if<Misread>(&parsed))
            return "--admin-listen " + wrong->what;
        settings.admin.listen = std::get<ListenAddress>(parsed);
    }
    if (settings.admin.listen && !is_loopback(*settings.admin.listen)) {
        return "the admin listener must be on a loopback address: it shows records without asking "
               "who reads";
    }
    return std::nullopt;
}

}  // namespace

int execute(const RunCommand& command, const Surroundings& around)
{
    RunOptions options;
    auto settings = command.upstream.empty() ? load_settings(around, command.config, false, false)
                                             : quick_settings(command, around, options.banner_yaml);
    if (!settings) return ExitCode::config_invalid;
    if (const auto wrong = set_admin_listen(*settings, command.admin_listen)) {
        around.err << "error: " << *wrong << "\n";
        return command.admin_listen.empty() ? ExitCode::config_invalid : ExitCode::usage;
    }
    around.err.flush();
    options.forget = command.forget;
    return around.programs.run_proxy(*settings, options);
}

int execute(const CheckCommand& command, const Surroundings& around)
{
    const auto path = config_path(command.config, around.environment);
    LoadOptions options;
    options.offline = true;
    const auto loaded = load_file(path, around.environment, options);
    const auto warnings = count_of(loaded.diagnostics, Severity::warning);
    if (command.format == OutputFormat::json) {
        around.out << render_json(path, loaded.diagnostics) << "\n";
    } else {
        around.err << render_text(path, loaded.source, loaded.diagnostics);
    }
    if (!loaded.ok()) {
        const auto errors = count_of(loaded.diagnostics, Severity::error);
        around.err << path << ": " << counted(errors, "error") << ", "
                   << counted(warnings, "warning") << "\n";
        return ExitCode::config_invalid;
    }
    const bool refused = command.strict && warnings > 0;
    if (loaded.settings && command.format == OutputFormat::table && (!command.quiet || refused)) {
        around.out << (refused ? "refused by --strict: " : "ok: ")
                   << summary(*loaded.settings, warnings) << "\n";
    }
    return refused ? ExitCode::warnings : ExitCode::ok;
}

int execute(const DemoCommand& command, const Surroundings& around)
{
    const auto proxy = demo::parse_endpoint(command.proxy);
    const auto upstream = demo::parse_endpoint(command.upstream);
    if (!proxy) return usage_error(around, "--proxy is no HOST:PORT: " + command.proxy);
    if (!upstream) return usage_error(around, "--upstream is no HOST:PORT: " + command.upstream);
    demo::DemoOptions options;
    options.proxy = *proxy;
    options.upstream = *upstream;
    options.assert_expectations = command.assert_expectations;
    return around.programs.run_demo(options);
}

int execute(const DemoUpstreamCommand& command, const Surroundings& around)
{
    const auto listen = demo::parse_endpoint(command.listen);
    if (!listen) return usage_error(around, "--listen is no HOST:PORT: " + command.listen);
    demo::DemoUpstreamOptions options;
    options.host = listen->host;
    options.port = listen->port;
    options.workers = command.workers;
    options.opening_balance = command.balance;
    options.may_exit = true;
    if (!command.delay.empty()) {
        const auto delay = parse_duration(command.delay);
        if (const auto* wrong = std::get_if<Misread>(&delay))
            return usage_error(around, "--delay " + wrong->what);
        options.behaviour.delay = std::get<core::Millis>(delay);
    }
    if (!command.fail.empty()) {
        options.behaviour.fail = demo::parse_fail_mode(command.fail);
        if (!options.behaviour.fail)
            return usage_error(around, "--fail is no STATUS[:SHARE]: " + command.fail);
    }
    if (command.status != 0) options.behaviour.status = command.status;
    if (!command.die.empty()) {
        const auto dying = demo::directed(options.behaviour, "die=" + command.die);
        if (!dying) return usage_error(around, "--die does not know: " + command.die);
        options.behaviour = *dying;
    }
    return around.programs.run_demo_upstream(options);
}

int execute(const VersionCommand&, const Surroundings& around)
{
    around.out << "onceward " << version << "\n"
               << "clang " << __clang_version__ << "\n"
               << "boost " << BOOST_VERSION / 100'000 << "." << BOOST_VERSION / 100 % 1'000 << "\n"
               << ::OpenSSL_version(OPENSSL_VERSION) << "\n";
    return ExitCode::ok;
}

}  // namespace onceward::cli
