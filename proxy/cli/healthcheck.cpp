// healthcheck: for container engines and service managers that have no HTTP client at hand.
#include "cli/admin_client.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "settings/values.hpp"

#include <filesystem>
#include <ostream>

namespace onceward::cli {

namespace {

struct Question {
    demo::Endpoint where;
    std::string target;
    bool of_admin = false;
};

// Whom to ask: the observability listener where there is one, else the admin listener.
std::optional<Question> question_of(const HealthcheckCommand& command, const Settings& settings)
{
    const bool ask_admin = !command.admin.empty() || !settings.observability.listen;
    if (!ask_admin) {
        return Question{reachable(*settings.observability.listen),
                        command.ready ? "/readyz" : "/livez"};
    }
    const auto where = admin_endpoint(command.admin, settings);
    if (!where) return std::nullopt;
    return Question{*where, "/v1/status", true};
}

bool is_healthy(const Question& question, const demo::HttpAnswer& answer, bool ready)
{
    if (answer.status != 200) return false;
    const bool says_ready = answer.body.find("\"state\":\"ready\"") != std::string::npos;
    return !question.of_admin || !ready || says_ready;
}

}  // namespace

int execute(const HealthcheckCommand& command, const Surroundings& around)
{
    const auto timeout = parse_duration(command.timeout);
    if (const auto* wrong = std::get_if<Misread>(&timeout))
        return usage_error(around, "--timeout " + wrong->what);
    // A proxy that was started without a file is asked where such a proxy listens.
    const bool without_file = command.config.empty() && !std::filesystem::exists(config_path(
                                                            command.config, around.environment));
    const auto settings =
        without_file ? Settings{} : load_settings(around, command.config, true, true);
    if (!settings) return ExitCode::config_invalid;
    const auto question = question_of(command, *settings);
    if (!question)
        return usage_error(around, "there is no listener to ask: configure observability or admin");

    demo::HttpRequest request;
    request.target = question->target;
    try {
        const auto answer = demo::fetch(question->where, request, std::get<core::Millis>(timeout));
        if (is_healthy(*question, answer, command.ready)) return ExitCode::ok;
        around.err << "not " << (command.ready ? "ready" : "alive") << ": " << answer.status << " "
                   << answer.body.substr(0, 200) << "\n";
        return ExitCode::unexpected;
    } catch (const demo::HttpError& failure) {
        around.err << "error: " << question->where.text() << ": " << failure.what() << "\n";
        return ExitCode::admin_unreachable;
    }
}

}  // namespace onceward::cli
