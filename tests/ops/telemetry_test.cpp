// The access line and what it must never hold.
#include "ops/telemetry.hpp"

#include "ops/metrics_text.hpp"
#include "ops/pipe.hpp"
#include "ops/version.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

using namespace onceward;
using nlohmann::json;

namespace {

// What a block of telemetry wrote, as parsed lines.
template <class Block>
std::vector<json> logged(Metrics& metrics, Block block)
{
    Pipe pipe;
    {
        LogOptions options;
        options.descriptor = pipe.writer();
        Log log(options);
        Telemetry telemetry(log, metrics, 0);
        block(telemetry);
    }
    pipe.close_writer();
    std::vector<json> lines;
    for (const auto& line : lines_of(pipe.read_all()))
        lines.push_back(json::parse(line));
    return lines;
}

core::Digest digest_of(unsigned char byte)
{
    core::Digest digest;
    digest.bytes.fill(byte);
    return digest;
}

}  // namespace

TEST_CASE("one line per request, with the path but not the query, and numbers beside it")
{
    Metrics metrics({"charges"}, 1);
    const auto key_id = log_key_id(digest_of(0xAB));
    const auto lines = logged(metrics, [&](Telemetry& telemetry) {
        AccessRecord record;
        record.request_id = "r1";
        record.client_ip = "192.0.2.7";
        record.method = "POST";
        record.path = "/v1/charges?token=secret#x";
        record.route = "charges";
        record.decision = Decision::replayed;
        record.key_id = key_id;
        record.status = 201;
        record.total = std::chrono::microseconds{1'500};
        record.request_bytes = 30;
        record.response_bytes = 412;
        record.replayed = true;
        telemetry.access(record);
    });
    REQUIRE(lines.size() == 1);
    const json& line = lines[0];
    CHECK(line["event"] == "request");
    CHECK(line["level"] == "info");
    CHECK(line["path"] == "/v1/charges");
    CHECK(line["key_id"] == "abababababab");
    CHECK(line["decision"] == "replayed");
    CHECK(line["status"] == 201);
    CHECK(line["t_total_ms"] == 1.5);
    CHECK(line["replayed"] == true);
    CHECK(line["resp_bytes"] == 412);
    CHECK_FALSE(line.contains("upstream_status"));
    CHECK_FALSE(line.contains("error_code"));
    CHECK(line.dump().find("secret") == std::string::npos);
    const MetricsText text(metrics.text());
    CHECK(text["onceward_requests_total{route=\"charges\",decision=\"replayed\",code=\"2xx\"}"] ==
          1);
}

TEST_CASE("a full record fits into the line")
{
    Metrics metrics({}, 1);
    const auto lines = logged(metrics, [](Telemetry& telemetry) {
        AccessRecord record;
        record.request_id = record.client_ip = record.method = record.path = record.route = "x";
        record.key_id = record.subject_id = record.reason = record.error_code = "x";
        record.upstream_status = 500;
        record.upstream = std::chrono::microseconds{1};
        telemetry.access(record);
    });
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].size() == 3 + 17);
}

TEST_CASE("unknown and unrecorded outcomes are told even when no client is left")
{
    Metrics metrics({"charges"}, 1);
    const auto lines = logged(metrics, [](Telemetry& telemetry) {
        ExchangeReport report;
        report.digest = digest_of(1);
        report.route = "charges";
        telemetry.finished(report);  // Executed: its access line says it all.
        report.decision = Decision::unknown;
        report.reason = core::Reason::timeout;
        telemetry.finished(report);
        report.decision = Decision::unstored;
        report.upstream_status = 201;
        telemetry.finished(report);
        telemetry.fenced(report.digest);
    });
    REQUIRE(lines.size() == 3);
    CHECK(lines[0]["event"] == "outcome");
    CHECK(lines[0]["level"] == "warn");
    CHECK(lines[0]["reason"] == "timeout");
    CHECK(lines[1]["level"] == "error");
    CHECK(lines[1]["upstream_status"] == 201);
    CHECK(lines[2]["event"] == "fenced");
    CHECK(lines[2]["key_id"] == "010101010101");
    CHECK(MetricsText(metrics.text())["onceward_fenced_total"] == 1);
}

TEST_CASE("the cleaner's work is counted")
{
    Metrics metrics({}, 1);
    const auto lines = logged(metrics, [](Telemetry& telemetry) {
        SweepReport report;
        report.expired = 4;
        report.purged = 5;
        telemetry.swept(report);
        report.became_unknown = 2;
        telemetry.swept(report);
    });
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["became_unknown"] == 2);
    const MetricsText text(metrics.text());
    CHECK(text["onceward_cleaner_rows_total{action=\"unknown\"}"] == 2);
    CHECK(text["onceward_cleaner_rows_total{action=\"expire\"}"] == 8);
    CHECK(text["onceward_cleaner_rows_total{action=\"purge\"}"] == 10);
    CHECK(text["onceward_cleaner_last_success_timestamp_seconds"] > 1.6e9);
}

TEST_CASE("the program's version is the project's")
{
    std::ifstream file(ONCEWARD_SOURCE_DIR "/CMakeLists.txt");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    CHECK(text.find("project(onceward VERSION " + std::string(version) + " ") != std::string::npos);
}
