// Answers as the client reads them.
#include "http/answer_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace onceward;

namespace {

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

core::Response created()
{
    core::Response response;
    response.status = 201;
    response.fields.add("Location", "/charges/1");
    response.fields.add("Idempotent-Replayed", "true");
    response.body = "ok";
    return response;
}

}  // namespace

TEST_CASE("RPL-2 the replay marker is ours: on replays only")
{
    Marks marks;
    const auto fresh = answer_head(created(), marks, {});
    CHECK_FALSE(contains(fresh, "Idempotent-Replayed"));
    CHECK(fresh.starts_with("HTTP/1.1 201 Created\r\nLocation: /charges/1\r\n"));
    CHECK(fresh.ends_with("Content-Length: 2\r\n\r\n"));

    marks.kept = true;
    marks.replayed = true;
    marks.original_date = core::StoreTime(std::chrono::seconds(784'111'777));
    const auto replay = answer_head(created(), marks, {});
    CHECK(contains(replay, "\r\nIdempotent-Replayed: true\r\n"));
    CHECK(contains(replay, "\r\nCache-Control: no-store\r\n"));
    CHECK(contains(replay, "\r\nIdempotent-Original-Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
}

TEST_CASE("HTP-14 RPL-9 framing fits the client and the status")
{
    AnswerFrame frame;
    frame.body_follows = true;
    CHECK(contains(answer_head(created(), {}, frame), "Transfer-Encoding: chunked\r\n"));
    frame.minor = 0;
    const auto old = answer_head(created(), {}, frame);
    CHECK_FALSE(contains(old, "Transfer-Encoding"));
    CHECK_FALSE(contains(old, "Content-Length"));
    CHECK(contains(old, "Connection: close\r\n"));

    auto empty = created();
    empty.status = 204;
    empty.body.clear();
    CHECK_FALSE(contains(answer_head(empty, {}, {}), "Content-Length"));
    AnswerFrame ends;
    ends.keep_alive = false;
    CHECK(contains(answer_head(created(), {}, ends), "Connection: close\r\n"));
}

TEST_CASE("HTP-14 a Date is added when the upstream sent none, and only then")
{
    auto dated = created();
    dated.fields.add("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
    const auto head = answer_head(dated, {}, {});
    CHECK(head.find("Date:") == head.rfind("Date:"));
    CHECK(contains(answer_head(created(), {}, {}), "\r\nDate: "));
}

TEST_CASE("ERR-1 ERR-2 ERR-3 a problem document is complete, and says only what it may")
{
    auto problem = core::problem(core::ProblemCode::in_progress, "wait");
    problem.retry_after = std::chrono::seconds(1);
    const auto response = problem_response(problem, "", "r-1");
    const auto document = nlohmann::json::parse(response.body);
    CHECK(response.status == 409);
    CHECK(document["type"] == "urn:onceward:problem:in-progress");
    CHECK(document["status"] == 409);
    CHECK(document["code"] == "in-progress");
    CHECK(document["retryable"] == true);
    CHECK(document["retry"] == "same-key");
    CHECK(document["request_id"] == "r-1");
    CHECK(response.fields.find("Content-Type") == "application/problem+json");
    CHECK(response.fields.find("Content-Language") == "en");
    CHECK(response.fields.find("Cache-Control") == "no-store");
    CHECK(response.fields.find("Retry-After") == "1");
    CHECK_FALSE(response.fields.has("Proxy-Status"));

    auto unknown = core::problem(core::ProblemCode::outcome_unknown, "find out");
    unknown.status = 504;
    unknown.proxy_status = "http_response_timeout";
    const auto based = problem_response(unknown, "https://docs.example/p/", "");
    CHECK(based.fields.find("Proxy-Status") == "onceward; error=http_response_timeout");
    CHECK(nlohmann::json::parse(based.body)["type"] == "https://docs.example/p/outcome-unknown");
    CHECK(based.fields.find("Link") ==
          "<https://docs.example/p/outcome-unknown>; rel=\"describedby\"");
}

TEST_CASE("a hostile Location in a problem document stays one JSON string")
{
    auto problem = core::problem(core::ProblemCode::replay_unavailable, "kept no body");
    problem.original_status = 201;
    problem.location = "/\"},\xff{";
    const auto document = nlohmann::json::parse(problem_response(problem, "", "").body);
    CHECK(document["original_status"] == 201);
    CHECK(document["location"] == "/\"},\xef\xbf\xbd{");
}
