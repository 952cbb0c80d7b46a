// The operations of the demonstration service.
#include "account_api.hpp"

#include <nlohmann/json.hpp>

#include <random>

namespace onceward::demo {

namespace {

using Json = nlohmann::ordered_json;

ApiAnswer json_answer(int status, const Json& body)
{
    ApiAnswer answer;
    answer.status = status;
    answer.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return answer;
}

ApiAnswer error_answer(int status, std::string_view error)
{
    return json_answer(status, Json{{"error", error}});
}

int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

std::string percent_decoded(std::string_view text)
{
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int high = at + 2 < text.size() && text[at] == '%' ? hex_digit(text[at + 1]) : -1;
        const int low = high < 0 ? -1 : hex_digit(text[at + 2]);
        if (low < 0) {
            decoded += text[at];
            continue;
        }
        decoded += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return decoded;
}

// The whole number under `name`, if the object has one.
std::optional<std::int64_t> whole_number(const Json& object, const char* name)
{
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::optional<std::string> text_value(const Json& object, const char* name)
{
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
}

Json object_of(std::string_view body)
{
    auto object = Json::parse(body, nullptr, false);
    return object.is_object() ? object : Json::object();
}

bool drawn(double share)
{
    if (share >= 1.0) return true;
    thread_local std::minstd_rand generator{std::random_device{}()};
    return std::uniform_real_distribution<double>{0.0, 1.0}(generator) < share;
}

}  // namespace

ApiAnswer AccountApi::answer(const ApiRequest& request)
{
    const auto question = request.target.find('?');
    const auto path = request.target.substr(0, question);
    const auto query =
        question == std::string_view::npos ? "" : request.target.substr(question + 1);
    const bool get = request.method == "GET" || request.method == "HEAD";
    const bool post = request.method == "POST";
    constexpr std::string_view accounts = "/v1/accounts/";
    if (post && path == "/v1/charges") return charges(request);
    if (post && path == "/v1/accounts") return open_account(request);
    if (get && path.starts_with(accounts)) return account(path.substr(accounts.size()));
    if (get && path == "/_executions") return executions(query);
    if (get && path == "/_stats") return stats();
    if (post && path == "/_reset") {
        ledger_.reset();
        return json_answer(200, Json{{"reset", true}});
    }
    return error_answer(404, "no such resource");
}

ApiAnswer AccountApi::charges(const ApiRequest& request)
{
    ledger_.received(request.key);
    const auto behaviour = directed(behaviour_, request.directives);
    if (!behaviour) return error_answer(400, "X-Demo is not understood");
    auto answer =
        behaviour->death == Death::before_charge ? ApiAnswer{}
        : behaviour->fail && drawn(behaviour->fail->share)
            ? error_answer(behaviour->fail->status, "failed on purpose; nothing was charged")
            : charged(request, *behaviour);
    answer.delay = behaviour->delay;
    answer.death = behaviour->death;
    return answer;
}

ApiAnswer AccountApi::charged(const ApiRequest& request, const Behaviour& behaviour)
{
    const auto body = object_of(request.body);
    const auto account = text_value(body, "account");
    const auto amount = whole_number(body, "amount");
    if (!account || !amount || *amount <= 0) {
        return error_answer(400, "expected {\"account\": text, \"amount\": whole number above 0}");
    }
    const auto charge = ledger_.charge(*account, *amount, request.key);
    if (charge.declined) {
        return json_answer(behaviour.status.value_or(402), Json{{"error", "insufficient balance"},
                                                                {"amount", *amount},
                                                                {"balance", charge.balance}});
    }
    const auto id = "ch_" + std::to_string(charge.number);
    auto answer = json_answer(behaviour.status.value_or(201),
                              Json{{"id", id}, {"amount", *amount}, {"balance", charge.balance}});
    answer.location = "/v1/charges/" + id;
    return answer;
}

ApiAnswer AccountApi::open_account(const ApiRequest& request)
{
    const auto body = object_of(request.body);
    const auto id = text_value(body, "id");
    const auto balance = whole_number(body, "balance");
    if (!id || !balance || *balance < 0) {
        return error_answer(400, "expected {\"id\": text, \"balance\": whole number}");
    }
    ledger_.open(*id, *balance);
    return json_answer(201, Json{{"id", *id}, {"balance", *balance}});
}

ApiAnswer AccountApi::account(std::string_view id) const
{
    const auto name = percent_decoded(id);
    const auto balance = ledger_.balance(name);
    if (!balance) return error_answer(404, "no such account");
    return json_answer(200, Json{{"id", name}, {"balance", *balance}});
}

ApiAnswer AccountApi::executions(std::string_view query) const
{
    constexpr std::string_view parameter = "key=";
    if (!query.starts_with(parameter)) return error_answer(400, "expected /_executions?key=KEY");
    const auto key = percent_decoded(query.substr(parameter.size()));
    const auto counts = ledger_.counts(key);
    return json_answer(
        200, Json{{"key", key}, {"received", counts.received}, {"executions", counts.executions}});
}

ApiAnswer AccountApi::stats() const
{
    const auto totals = ledger_.totals();
    return json_answer(200, Json{{"received", totals.received},
                                 {"executions", totals.executions},
                                 {"charged", totals.charged},
                                 {"declined", totals.declined},
                                 {"keys", totals.keys}});
}

}  // namespace onceward::demo
