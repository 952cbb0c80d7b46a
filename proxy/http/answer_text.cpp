// Writing answers.
#include "http/answer_text.hpp"

#include "wire/text.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace onceward {

namespace {

void append_marks(std::string& head, const Marks& marks)
{
    if (marks.kept) wire::append_field(head, "Cache-Control", "no-store");
    if (marks.replayed) wire::append_field(head, "Idempotent-Replayed", "true");
    if (marks.original_date) {
        const auto moment = std::chrono::floor<std::chrono::seconds>(*marks.original_date);
        wire::append_field(head, "Idempotent-Original-Date", imf_fixdate(moment));
    }
    if (marks.retryable)
        wire::append_field(head, "Idempotent-Retryable", *marks.retryable ? "true" : "false");
    if (marks.stored == StoredMark::no) wire::append_field(head, "Idempotent-Stored", "false");
    if (marks.stored == StoredMark::status_only)
        wire::append_field(head, "Idempotent-Stored", "status-only");
    if (marks.bypassed) wire::append_field(head, "Idempotency-Status", "bypassed");
}

// An upstream's own field of this name would say something about us that we did not say (RPL-2).
bool is_our_mark(std::string_view name)
{
    return core::same_name(name, "Idempotent-Replayed") ||
           core::same_name(name, "Idempotent-Original-Date") ||
           core::same_name(name, "Idempotent-Retryable") ||
           core::same_name(name, "Idempotent-Stored") ||
           core::same_name(name, "Idempotency-Status") || core::same_name(name, "Content-Length");
}

void append_framing(std::string& head, const core::Response& response, const AnswerFrame& frame)
{
    const bool until_close = frame.body_follows && frame.minor == 0;
    if (!forbids_body(response.status)) {
        if (!frame.body_follows) {
            wire::append_field(head, "Content-Length", std::to_string(response.body.size()));
        } else if (!until_close) {
            wire::append_field(head, "Transfer-Encoding", "chunked");
        }
    }
    if (!frame.keep_alive || until_close) {
        wire::append_field(head, "Connection", "close");
    } else if (frame.minor == 0) {
        wire::append_field(head, "Connection", "keep-alive");
    }
}

}  // namespace

bool forbids_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

std::string answer_head(const core::Response& response, const Marks& marks,
                        const AnswerFrame& frame)
{
    std::string head;
    head.reserve(response.fields.encoded().size() + 384);
    wire::append_status_line(head, response.status, {});
    bool dated = false;
    for (const auto field : response.fields) {
        if (is_our_mark(field.name)) continue;
        dated = dated || core::same_name(field.name, "Date");
        wire::append_field(head, field.name, field.value);
    }
    if (!dated) wire::append_field(head, "Date", date_now());
    append_marks(head, marks);
    append_framing(head, response, frame);
    return head.append("\r\n");
}

core::Response problem_response(const core::Problem& problem, std::string_view problem_base,
                                std::string_view request_id)
{
    const auto& kind = core::kind_of(problem.code);
    const auto base =
        problem_base.empty() ? std::string_view("urn:onceward:problem:") : problem_base;
    nlohmann::ordered_json document{
        {"type", std::string(base) + std::string(kind.code)},
        {"title", kind.title},
        {"status", problem.effective_status()},
        {"detail", problem.detail},
        {"code", kind.code},
        {"retryable", kind.retryable},
        {"retry", core::to_string(kind.retry)},
    };
    if (!request_id.empty()) document["request_id"] = request_id;
    if (problem.original_status) document["original_status"] = *problem.original_status;
    if (problem.location) document["location"] = *problem.location;

    core::Response response;
    response.status = problem.effective_status();
    response.body = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    auto& fields = response.fields;
    fields.add("Content-Type", "application/problem+json");
    fields.add("Content-Language", "en");
    fields.add("Cache-Control", "no-store");
    if (!problem_base.empty()) {
        fields.add("Link",
                   "<" + std::string(base) + std::string(kind.code) + ">; rel=\"describedby\"");
    }
    if (problem.retry_after)
        fields.add("Retry-After", std::to_string(problem.retry_after->count()));
    if (response.status >= 500) {
        const auto error =
            problem.proxy_status.empty() ? "proxy_internal_error" : problem.proxy_status;
        fields.add("Proxy-Status", "onceward; error=" + error);
    }
    return response;
}

std::string imf_fixdate(std::chrono::sys_seconds moment)
{
    static constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
    static constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(moment);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(moment - day);
    char text[40];
    std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d GMT",
                  days[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                  months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text;
}

std::string_view date_now()
{
    thread_local std::chrono::sys_seconds made{};
    thread_local std::string text;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (now != made || text.empty()) {
        made = now;
        text = imf_fixdate(now);
    }
    return text;
}

}  // namespace onceward
