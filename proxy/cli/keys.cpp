// keys: asks a running proxy through its admin listener, and the store itself when no proxy runs.
#include "cli/admin_client.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "cli/stored.hpp"
#include "ops/json_text.hpp"
#include "settings/values.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iomanip>
#include <ostream>

namespace onceward::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr core::Millis patience{10'000};

// The answer to one admin request, from wherever it came; or that nobody answered.
struct Unanswered {
    int exit_code = ExitCode::admin_unreachable;
    std::string message;
};
using Answer = std::variant<SideResponse, Unanswered>;

Answer ask_running(const demo::Endpoint& where, const SideRequest& question)
{
    demo::HttpRequest request;
    request.method = question.method;
    request.target = question.path + (question.query.empty() ? "" : "?" + question.query);
    for (const auto& [name, value] : question.fields) {
        if (name != "Host") request.fields.push_back({name, value});
    }
    request.body = question.body;
    try {
        const auto answer = demo::fetch(where, request, patience);
        SideResponse response;
        response.status = answer.status;
        response.body = answer.body;
        return response;
    } catch (const demo::HttpError& failure) {
        return Unanswered{ExitCode::admin_unreachable, where.text() + ": " + failure.what()};
    }
}

// With a proxy running its admin listener is asked; with none the store is opened (decision 33).
Answer ask(const Settings& settings, const std::string& admin, const SideRequest& request)
{
    const auto where = admin_endpoint(admin, settings);
    Unanswered nobody{ExitCode::admin_unreachable, "no admin listener is configured"};
    if (where) {
        auto answer = ask_running(*where, request);
        if (std::holds_alternative<SideResponse>(answer)) return answer;
        nobody = std::get<Unanswered>(std::move(answer));
    }
    if (!admin.empty()) return nobody;
    auto stored = ask_stored(settings, request);
    if (auto* response = std::get_if<SideResponse>(&stored)) return std::move(*response);
    const auto& closed = std::get<StoreClosed>(stored);
    return Unanswered{closed.exit_code, nobody.message + "; and the store: " + closed.message};
}

SideRequest question(std::string method, std::string path)
{
    SideRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.fields = {{"Host", "localhost"}};
    return request;
}

std::string duration_of(const Json& milliseconds)
{
    return show_duration(core::Millis(milliseconds.get<std::int64_t>() / 1'000 * 1'000));
}

std::string text_of(const Json& json, const char* name)
{
    const auto found = json.find(name);
    return found == json.end() ? "" : found->get<std::string>();
}

// Stored bytes that go to a terminal.
std::string harmless(const std::string& text)
{
    std::string out;
    append_json_string(out, text);
    return out;
}

void print_response(std::ostream& out, const Json& response)
{
    out << "response  " << response["status"].get<int>() << ", "
        << response["bytes"].get<std::int64_t>() << " B, kept "
        << response["kept"].get<std::string>() << "\n";
    for (const auto& header : response["headers"]) {
        out << "  " << header[0].get<std::string>() << ": "
            << harmless(header[1].get<std::string>()) << "\n";
    }
    const auto body = text_of(response, "body_preview");
    if (!body.empty()) out << "body      " << harmless(body) << "\n";
}

void print_record(std::ostream& out, const Json& record)
{
    const auto reason = text_of(record, "reason");
    out << "record    " << text_of(record, "id") << "\n"
        << "route     " << text_of(record, "route") << "   method " << text_of(record, "method")
        << "   tier " << text_of(record, "tier") << "\n"
        << "state     " << text_of(record, "state") << (reason.empty() ? "" : " (" + reason + ")")
        << "   epoch " << record["epoch"].get<int>() << "\n"
        << "age       " << duration_of(record["age_ms"]) << "   remaining "
        << duration_of(record["remaining_ms"]) << "\n";
    const auto settled = text_of(record, "settled_at");
    if (!settled.empty()) out << "settled   " << settled << "\n";
    if (record.contains("response")) print_response(out, record["response"]);
}

void print_list(std::ostream& out, const Json& list)
{
    const auto row = [&out](const auto& id, const auto& state, const auto& reason, const auto& age,
                            const auto& tier, const auto& answer) {
        out << std::left << std::setw(34) << id << std::setw(10) << state << std::setw(14) << reason
            << std::setw(14) << age << std::setw(16) << tier << answer << "\n";
    };
    row("RECORD", "STATE", "REASON", "AGE", "TIER", "STORED ANSWER");
    for (const auto& item : list["items"]) {
        const auto answer = item.contains("response")
                                ? std::to_string(item["response"]["status"].get<int>())
                                : std::string("-");
        row(text_of(item, "id"), text_of(item, "state"), text_of(item, "reason"),
            duration_of(item["age_ms"]), text_of(item, "tier"), answer);
    }
}

// What an admin answer that is none of ours, or an error, means for the exit code.
int report_failure(const Surroundings& around, const SideResponse& response)
{
    const auto json = Json::parse(response.body, nullptr, false);
    const bool ours = json.is_object() && json.contains("message") && json["message"].is_string();
    around.err << "error: "
               << (ours ? json["message"].get<std::string>()
                        : "unexpected answer " + std::to_string(response.status))
               << "\n";
    if (!ours) return ExitCode::unexpected;
    switch (response.status) {
        case 400: return ExitCode::usage;
        case 404: return ExitCode::not_found;
        case 503: return ExitCode::dependency_down;
        default: return ExitCode::unexpected;
    }
}

// A proxy that was started without a file is asked where such a proxy listens.
std::optional<Settings> settings_for(const Surroundings& around, const std::string& config,
                                     const std::string& admin)
{
    const bool exists = std::filesystem::exists(config_path(config, around.environment));
    if (config.empty() && !exists && !admin.empty()) return Settings{};
    return load_settings(around, config, false, true);
}

int finish(const Surroundings& around, const Answer& answer, OutputFormat output,
           void (*print)(std::ostream&, const Json&))
{
    if (const auto* nobody = std::get_if<Unanswered>(&answer)) {
        around.err << "error: " << nobody->message << "\n";
        return nobody->exit_code;
    }
    const auto& response = std::get<SideResponse>(answer);
    if (response.status != 200) return report_failure(around, response);
    if (output == OutputFormat::json) {
        around.out << response.body;
        return ExitCode::ok;
    }
    print(around.out, Json::parse(response.body));
    return ExitCode::ok;
}

}  // namespace

int execute(const KeysShowCommand& command, const Surroundings& around)
{
    const auto settings = settings_for(around, command.config, command.admin);
    if (!settings) return ExitCode::config_invalid;
    auto request = question("POST", "/v1/keys/lookup");
    request.fields.emplace_back("Content-Type", "application/json");
    Json body{{"route", command.route},
              {"key", command.key},
              {"subject", command.subject},
              {"body", command.body}};
    if (!command.method.empty()) body["method"] = command.method;
    request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return finish(around, ask(*settings, command.admin, request), command.output, print_record);
}

int execute(const KeysListCommand& command, const Surroundings& around)
{
    const auto settings = settings_for(around, command.config, command.admin);
    if (!settings) return ExitCode::config_invalid;
    auto request = question("GET", "/v1/keys");
    request.query = "state=" + command.state + "&limit=" + std::to_string(command.limit);
    return finish(around, ask(*settings, command.admin, request), command.output, print_list);
}

}  // namespace onceward::cli
