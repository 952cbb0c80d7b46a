// Writing records as JSON.
#include "ops/record_json.hpp"

#include "ops/json_text.hpp"
#include "ops/names.hpp"

#include <nlohmann/json.hpp>

namespace onceward {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t preview_bytes = 2'048;

std::string dump(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json response_json(const RecordView& view)
{
    const core::Record& record = *view.record;
    Json response;
    response["status"] = record.answer.status;
    response["kept"] = kept_name(record.kept);
    response["bytes"] = record.answer.body.size();
    Json headers = Json::array();
    for (const auto field : record.answer.fields) {
        headers.push_back(Json::array({std::string(field.name), std::string(field.value)}));
    }
    response["headers"] = std::move(headers);
    if (view.with_body) response["body_preview"] = record.answer.body.substr(0, preview_bytes);
    return response;
}

Json key_json(const RecordView& view)
{
    const core::Record& record = *view.record;
    Json json;
    json["schema"] = "onceward.key/1";
    json["id"] = view.digest.hex();
    json["key_id"] = view.digest.hex().substr(0, 12);
    if (!view.route.empty()) json["route"] = view.route;
    if (!view.method.empty()) json["method"] = view.method;
    json["tier"] = view.tier;
    json["state"] = state_name(record.state);
    if (record.reason != core::Reason::none) json["reason"] = reason_name(record.reason);
    json["epoch"] = record.epoch;
    json["fingerprint"] = record.fingerprint.hex().substr(0, 8);
    json["age_ms"] = record.age.count();
    json["remaining_ms"] = record.remaining.count();
    if (record.settled_at != core::StoreTime{}) {
        std::string time;
        append_time(time,
                    std::chrono::system_clock::time_point(record.settled_at.time_since_epoch()));
        json["settled_at"] = time;
    }
    if (record.kept != core::Kept::nothing) json["response"] = response_json(view);
    return json;
}

}  // namespace

std::string record_json(const RecordView& view)
{
    return dump(key_json(view));
}

std::string record_list_json(const std::vector<Listed>& records,
                             const std::vector<std::string>& tiers)
{
    Json items = Json::array();
    for (const auto& listed : records) {
        RecordView view;
        view.digest = listed.digest;
        view.record = &listed.record;
        if (listed.record.tier < tiers.size()) view.tier = tiers[listed.record.tier];
        items.push_back(key_json(view));
    }
    Json json;
    json["schema"] = "onceward.keys/1";
    json["items"] = std::move(items);
    return dump(json);
}

}  // namespace onceward
