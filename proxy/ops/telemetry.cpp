// From reports to lines and numbers.
#include "ops/telemetry.hpp"

#include "ops/names.hpp"

#include <array>

namespace onceward {

namespace {

// A line's fields, without allocation.
class FieldList {
public:
    void add(std::string_view name, LogValue value) { fields_[size_++] = {name, value}; }
    void add_text(std::string_view name, std::string_view text)
    {
        if (!text.empty()) add(name, text);
    }
    void add_status(std::string_view name, int status)
    {
        if (status != 0) add(name, std::int64_t{status});
    }
    std::span<const LogField> span() const { return {fields_.data(), size_}; }

private:
    std::array<LogField, 24> fields_{};
    std::size_t size_ = 0;
};

double milliseconds(std::chrono::microseconds duration)
{
    return static_cast<double>(duration.count()) / 1000;
}

FieldList fields_of(const AccessRecord& record)
{
    FieldList fields;
    fields.add_text("request_id", record.request_id);
    fields.add_text("client_ip", record.client_ip);
    fields.add("method", record.method);
    fields.add("path", record.path.substr(0, record.path.find_first_of("?#")));
    fields.add_text("route", record.route);
    fields.add("decision", to_string(record.decision));
    fields.add_text("key_id", record.key_id);
    fields.add_text("subject_id", record.subject_id);
    fields.add("status", std::int64_t{record.status});
    fields.add_status("upstream_status", record.upstream_status);
    fields.add("t_total_ms", milliseconds(record.total));
    if (record.upstream.count() > 0) fields.add("t_upstream_ms", milliseconds(record.upstream));
    fields.add("req_bytes", static_cast<std::int64_t>(record.request_bytes));
    fields.add("resp_bytes", static_cast<std::int64_t>(record.response_bytes));
    fields.add("replayed", record.replayed);
    fields.add_text("reason", record.reason);
    fields.add_text("error_code", record.error_code);
    return fields;
}

}  // namespace

Telemetry::Telemetry(Log& log, Metrics& metrics, std::size_t worker)
    : log_(log), metrics_(metrics), shard_(metrics.shard(worker))
{
}

void Telemetry::finished(const ExchangeReport& report)
{
    const bool unstored = report.decision == Decision::unstored;
    if (!unstored && report.decision != Decision::unknown) return;
    const auto key_id = log_key_id(report.digest);
    FieldList fields;
    fields.add("key_id", key_id);
    fields.add("route", report.route);
    fields.add("decision", to_string(report.decision));
    fields.add_text("reason", reason_name(report.reason));
    fields.add_status("upstream_status", report.upstream_status);
    log_.event(unstored ? LogLevel::error : LogLevel::warn, "outcome", fields.span());
}

void Telemetry::fenced(const core::Digest& digest)
{
    shard_.add(Counter::fenced);
    const auto key_id = log_key_id(digest);
    log_.event(LogLevel::error, "fenced", {{"key_id", key_id}});
}

void Telemetry::access(const AccessRecord& record)
{
    MetricsShard::Request request;
    request.route = metrics_.route_index(record.route);
    request.decision = record.decision;
    request.status = record.status;
    request.upstream_status = record.upstream_status;
    request.total = record.total;
    if (record.upstream.count() > 0 || record.upstream_status != 0)
        request.upstream = record.upstream;
    shard_.request(request);
    if (log_.enabled(LogLevel::info))
        log_.event(LogLevel::info, "request", fields_of(record).span());
}

void Telemetry::swept(const SweepReport& report)
{
    shard_.add(Counter::became_unknown, report.became_unknown);
    shard_.add(Counter::expired, report.expired);
    shard_.add(Counter::purged, report.purged);
    metrics_.set(Level::unknown_records, static_cast<double>(report.unknown));
    metrics_.set(Level::cleaner_last_success,
                 Seconds(std::chrono::system_clock::now().time_since_epoch()).count());
    if (report.became_unknown == 0) return;
    log_.event(LogLevel::warn, "lease",
               {{"became_unknown", static_cast<std::int64_t>(report.became_unknown)}});
}

}  // namespace onceward
