// The admin API.
#include "ops/admin.hpp"

#include "ops/admin_guard.hpp"
#include "ops/key_lookup.hpp"
#include "ops/record_json.hpp"
#include "ops/version.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <map>

namespace onceward {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t list_max = 200;  // Each record comes with its answer.
constexpr std::size_t list_default = 50;

// Takes an object of strings and truth values and stops at anything else, so that depth and size of
// what it builds are bounded by what it is for.
class FlatObject final : public nlohmann::json_sax<Json> {
public:
    std::map<std::string, std::string> texts;
    std::map<std::string, bool> flags;

    bool start_object(std::size_t) override { return depth_++ == 0; }
    bool end_object() override { return true; }
    bool key(string_t& name) override
    {
        name_ = name;
        return !texts.contains(name) && !flags.contains(name);
    }
    bool string(string_t& value) override
    {
        if (depth_ == 1) texts[name_] = value;
        return depth_ == 1;
    }
    bool boolean(bool value) override
    {
        if (depth_ == 1) flags[name_] = value;
        return depth_ == 1;
    }
    bool null() override { return false; }
    bool number_integer(number_integer_t) override { return false; }
    bool number_unsigned(number_unsigned_t) override { return false; }
    bool number_float(number_float_t, const string_t&) override { return false; }
    bool binary(binary_t&) override { return false; }
    bool start_array(std::size_t) override { return false; }
    bool end_array() override { return false; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return false;
    }

private:
    std::size_t depth_ = 0;
    std::string name_;
};

struct LookupBody {
    KeyQuestion question;
    bool with_body = false;
};

std::optional<LookupBody> read_lookup(const std::string& text)
{
    FlatObject object;
    if (!Json::sax_parse(text, &object)) return std::nullopt;
    LookupBody body;
    const std::map<std::string_view, std::string*> places{{"route", &body.question.route},
                                                          {"key", &body.question.key},
                                                          {"subject", &body.question.subject},
                                                          {"method", &body.question.method}};
    for (auto& [name, value] : object.texts) {
        const auto place = places.find(name);
        if (place == places.end()) return std::nullopt;
        *place->second = std::move(value);
    }
    for (const auto& [name, value] : object.flags) {
        if (name != "body") return std::nullopt;
        body.with_body = value;
    }
    return body;
}

// Absent for anything but a whole number from 1 to the maximum.
std::optional<std::size_t> read_limit(const std::optional<std::string>& text)
{
    if (!text) return list_default;
    std::size_t limit = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
    if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
    if (limit < 1 || limit > list_max) return std::nullopt;
    return limit;
}

SideResponse store_unavailable()
{
    return admin_error(503, "store-unavailable", "the store does not answer");
}

SideResponse wrong_method(std::string_view allowed)
{
    auto refused = admin_error(405, "method-not-allowed", "this resource has another method");
    refused.fields.emplace_back("Allow", std::string(allowed));
    return refused;
}

}  // namespace

Admin::Admin(AdminParts parts) : parts_(std::move(parts)) {}

SideHandler Admin::handler()
{
    return [this](SideRequest request) { return answer(std::move(request)); };
}

awaitable<SideResponse> Admin::answer(SideRequest request)
{
    auto refused = refuse_foreign(request);
    if (refused) co_return std::move(*refused);
    const bool is_lookup = request.path == "/v1/keys/lookup";
    const bool is_list = request.path == "/v1/keys";
    if (!is_lookup && !is_list && request.path != "/v1/status") {
        co_return admin_error(404, "no-such-resource", "there is no such resource");
    }
    const std::string_view method = is_lookup ? "POST" : "GET";
    if (request.method != method) co_return wrong_method(method);
    if (is_lookup) {
        auto found = co_await lookup(std::move(request));
        co_return found;
    }
    if (is_list) {
        auto listed = co_await list(std::move(request));
        co_return listed;
    }
    co_return status();
}

awaitable<SideResponse> Admin::lookup(SideRequest request)
{
    const auto body = read_lookup(request.body);
    if (!body) {
        co_return admin_error(400, "bad-request",
                              "the body must be an object of route, key, subject, method and body");
    }
    auto named = name_key(parts_.policy, parts_.key_hash, body->question);
    if (const auto* bad = std::get_if<BadQuestion>(&named)) {
        co_return admin_error(400, "bad-request", bad->why);
    }
    auto& names = std::get<KeyNames>(named);
    const auto found = co_await find_key(parts_.store, std::move(names.candidates));
    if (!found) co_return store_unavailable();
    const std::optional<FoundKey>& key = *found;
    if (!key) {
        co_return admin_error(404, "not-found",
                              "there is no record of this key, route and subject");
    }
    RecordView view;
    view.digest = key->candidate.digest;
    view.record = &key->record;
    view.route = names.route->name;
    view.method = key->candidate.method;
    if (view.record->tier < parts_.tiers.size()) view.tier = parts_.tiers[view.record->tier];
    view.with_body = body->with_body;
    co_return admin_json(200, record_json(view));
}

awaitable<SideResponse> Admin::list(SideRequest request)
{
    const auto limit = read_limit(request.parameter("limit"));
    if (request.parameter("state") != "unknown") {
        co_return admin_error(400, "bad-request", "only state=unknown can be listed");
    }
    if (!limit) co_return admin_error(400, "bad-request", "limit must be a number from 1 to 200");
    const auto records = co_await parts_.store.unknown(*limit);
    if (!records) co_return store_unavailable();
    co_return admin_json(200, record_list_json(*records, parts_.tiers));
}

SideResponse Admin::status() const
{
    const auto readiness = parts_.health.readiness();
    const auto uptime = std::chrono::steady_clock::now() - started_;
    Json json;
    json["schema"] = "onceward.status/1";
    json["instance"] = parts_.instance;
    json["version"] = version;
    json["state"] = to_string(readiness.phase);
    json["uptime_s"] = std::chrono::duration_cast<std::chrono::seconds>(uptime).count();
    json["config"]["file"] = parts_.config_file;
    for (const auto& check : readiness.checks) {
        auto& dependency = json["dependencies"][std::string(check.name)];
        dependency["up"] = check.ok;
        if (!check.detail.empty()) dependency["detail"] = check.detail;
    }
    json["in_flight"] = parts_.in_flight ? parts_.in_flight() : 0;
    json["unknown"] =
        static_cast<std::int64_t>(parts_.health.metrics().get(Level::unknown_records));
    return admin_json(200, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace onceward
