// Health and numbers over HTTP.
#include "ops/observability.hpp"

#include "ops/json_text.hpp"

namespace onceward {

namespace {

SideResponse text(int status, std::string body)
{
    SideResponse response;
    response.status = status;
    response.body = std::move(body);
    response.fields = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
    return response;
}

std::string readiness_text(const Readiness& readiness, bool verbose)
{
    std::string body;
    for (const auto& check : readiness.checks) {
        if (verbose) {
            body.append(check.ok ? "[+] " : "[-] ").append(check.name);
            body.append(check.ok ? " ok" : " ").append(check.detail).append("\n");
        } else if (!check.ok) {
            body.append("degraded: ")
                .append(check.name)
                .append(" ")
                .append(check.detail)
                .append("\n");
        }
    }
    std::string state(to_string(readiness.phase));
    return verbose ? body + state + "\n" : state + "\n" + body;
}

std::string readiness_json(const Readiness& readiness)
{
    std::string body = "{\"schema\":\"onceward.readiness/1\",\"state\":";
    append_json_string(body, to_string(readiness.phase));
    body.append(",\"checks\":[");
    for (const auto& check : readiness.checks) {
        if (body.back() != '[') body.push_back(',');
        body.append("{\"name\":");
        append_json_string(body, check.name);
        body.append(check.ok ? ",\"ok\":true" : ",\"ok\":false").append(",\"detail\":");
        append_json_string(body, check.detail);
        body.push_back('}');
    }
    return body.append("]}\n");
}

SideResponse readyz(const SideRequest& request, const Health& health)
{
    const auto readiness = health.readiness();
    const int status = readiness.accepts_traffic() ? 200 : 503;
    const auto accept = request.field("Accept").value_or("");
    if (accept.find("application/json") != std::string_view::npos) {
        auto response = text(status, readiness_json(readiness));
        response.content_type = "application/json";
        return response;
    }
    return text(status, readiness_text(readiness, request.parameter("verbose").has_value()));
}

awaitable<SideResponse> answer(SideRequest request, const Health* health, const Metrics* metrics)
{
    co_return answer_observability(request, *health, *metrics);
}

}  // namespace

SideResponse answer_observability(const SideRequest& request, const Health& health,
                                  const Metrics& metrics)
{
    const bool known =
        request.path == "/livez" || request.path == "/readyz" || request.path == "/metrics";
    if (!known) return text(404, "not found\n");
    if (request.method != "GET") {
        auto response = text(405, "method not allowed\n");
        response.fields.emplace_back("Allow", "GET");
        return response;
    }
    if (request.path == "/livez") return text(200, "ok\n");
    if (request.path == "/readyz") return readyz(request, health);
    auto response = text(200, metrics.text());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
}

SideHandler observability_handler(const Health& health, const Metrics& metrics)
{
    const auto* seen_health = &health;
    const auto* seen_metrics = &metrics;
    return [seen_health, seen_metrics](SideRequest request) {
        return answer(std::move(request), seen_health, seen_metrics);
    };
}

}  // namespace onceward
