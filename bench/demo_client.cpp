// The demonstration's requests.
#include "demo_client.hpp"

#include <nlohmann/json.hpp>

#include <latch>
#include <map>
#include <memory>
#include <thread>

namespace onceward::demo {

namespace {

using Json = nlohmann::ordered_json;

HttpRequest request_of(const DemoOptions& options, const ChargeOrder& order)
{
    HttpRequest request;
    request.method = "POST";
    request.target = "/v1/charges";
    request.fields = {{"Authorization", options.credential},
                      {"Idempotency-Key", order.key},
                      {"Content-Type", "application/json"}};
    if (!order.directives.empty()) request.fields.push_back({"X-Demo", order.directives});
    request.body = Json{{"account", order.account}, {"amount", order.amount}}.dump();
    return request;
}

HttpAnswer failed(const HttpError& error)
{
    HttpAnswer answer;
    answer.body = error.what();
    return answer;
}

Json ask(const DemoOptions& options, const HttpRequest& request)
{
    const auto answer = fetch(options.upstream, request, options.timeout);
    auto body = Json::parse(answer.body, nullptr, false);
    if (answer.status >= 300 || !body.is_object()) {
        throw HttpError("the legacy API at " + options.upstream.text() + " answered " +
                        std::to_string(answer.status) + " to " + request.target);
    }
    return body;
}

Json ask(const DemoOptions& options, const std::string& target)
{
    HttpRequest request;
    request.target = target;
    return ask(options, request);
}

// One of the parallel clients: connects, waits for the others, sends.
HttpAnswer send_together(const DemoOptions& options, const ChargeOrder& order, std::latch& ready)
{
    std::unique_ptr<HttpConnection> connection;
    HttpAnswer answer;
    try {
        connection = std::make_unique<HttpConnection>(options.proxy, options.timeout);
    } catch (const HttpError& error) {
        answer = failed(error);
    }
    ready.arrive_and_wait();
    if (!connection) return answer;
    try {
        return connection->exchange(request_of(options, order));
    } catch (const HttpError& error) {
        return failed(error);
    }
}

}  // namespace

HttpAnswer send_charge(const DemoOptions& options, const ChargeOrder& order)
{
    try {
        return fetch(options.proxy, request_of(options, order), options.timeout);
    } catch (const HttpError& error) {
        return failed(error);
    }
}

std::vector<HttpAnswer> send_charges(const DemoOptions& options,
                                     const std::vector<ChargeOrder>& orders)
{
    std::vector<HttpAnswer> answers(orders.size());
    std::latch ready(static_cast<std::ptrdiff_t>(orders.size()));
    std::vector<std::jthread> clients;
    for (std::size_t at = 0; at < orders.size(); ++at) {
        clients.emplace_back([&, at] { answers[at] = send_together(options, orders[at], ready); });
    }
    clients.clear();  // Joins them.
    return answers;
}

void open_account(const DemoOptions& options, const std::string& account, int balance)
{
    HttpRequest request;
    request.method = "POST";
    request.target = "/v1/accounts";
    request.body = Json{{"id", account}, {"balance", balance}}.dump();
    ask(options, request);
}

std::int64_t balance_of(const DemoOptions& options, const std::string& account)
{
    return ask(options, "/v1/accounts/" + account).value("balance", std::int64_t{-1});
}

KeyCounts counts_of(const DemoOptions& options, const std::string& key)
{
    const auto counts = ask(options, "/_executions?key=" + key);
    return {counts.value("received", std::uint64_t{0}),
            counts.value("executions", std::uint64_t{0})};
}

void require_reachable(const DemoOptions& options)
{
    HttpRequest request;
    request.target = "/_stats";
    ask(options, request);
    fetch(options.proxy, request, options.timeout);
}

bool replayed(const HttpAnswer& answer)
{
    return answer.find("Idempotent-Replayed") == "true";
}

std::string problem_code(const HttpAnswer& answer)
{
    const auto type = answer.find("Content-Type");
    if (!type || !type->starts_with("application/problem+json")) return {};
    const auto problem = Json::parse(answer.body, nullptr, false);
    return problem.is_object() ? problem.value("code", std::string{}) : std::string{};
}

std::string label(const HttpAnswer& answer)
{
    if (answer.status == 0) return "no answer";
    auto text = std::to_string(answer.status);
    if (replayed(answer)) text += " replayed";
    if (const auto code = problem_code(answer); !code.empty()) text += " " + code;
    return text;
}

std::string label(const std::vector<HttpAnswer>& answers)
{
    std::map<std::string, int> counts;
    for (const auto& answer : answers)
        ++counts[label(answer)];
    std::string text;
    for (const auto& [name, count] : counts) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
    }
    return text;
}

}  // namespace onceward::demo
