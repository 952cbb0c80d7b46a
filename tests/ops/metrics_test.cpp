// Numbers: complete from the start, valid text, and no label that a client chose.
#include "ops/metrics.hpp"

#include "ops/metrics_text.hpp"
#include "ops/telemetry.hpp"

#include <doctest/doctest.h>

#include <random>
#include <thread>

using namespace onceward;
using namespace std::chrono_literals;

namespace {

MetricsShard::Request request_of(std::size_t route, Decision decision, int status)
{
    MetricsShard::Request request;
    request.route = route;
    request.decision = decision;
    request.status = status;
    request.total = 3ms;
    return request;
}

LogOptions silent()
{
    LogOptions options;
    options.level = LogLevel::off;
    return options;
}

}  // namespace

TEST_CASE("every decision of every route is there as zero before anything happens")
{
    const Metrics metrics({"charges", "orders"}, 2);
    const MetricsText text(metrics.text());
    for (const std::string route : {"-", "charges", "orders"}) {
        for (std::size_t decision = 0; decision < size_of<Decision>; ++decision) {
            const std::string name(to_string(static_cast<Decision>(decision)));
            for (const std::string code : {"none", "2xx", "3xx", "4xx", "5xx"}) {
                CHECK(text["onceward_requests_total{route=\"" + route + "\",decision=\"" + name +
                           "\",code=\"" + code + "\"}"] == 0);
            }
        }
    }
    CHECK(text["onceward_fenced_total"] == 0);
    CHECK(text["onceward_dependency_up{dependency=\"store\"}"] == 0);
    CHECK(text["onceward_log_dropped_total"] == 0);
    CHECK(text["onceward_build_info{version=\"0.1.0\"}"] == 1);
    CHECK(text["process_resident_memory_bytes"] > 1e6);
    CHECK(text["process_start_time_seconds"] > 1.6e9);
}

TEST_CASE("requests are counted under what is configured, and the workers' numbers add up")
{
    Metrics metrics({"charges"}, 2);
    const auto charges = metrics.route_index("charges");
    metrics.shard(0).request(request_of(charges, Decision::executed, 201));
    metrics.shard(1).request(request_of(charges, Decision::executed, 201));
    auto asked = request_of(charges, Decision::unknown, 502);
    asked.total = 40ms;
    asked.upstream = 38ms;
    asked.upstream_status = 500;
    metrics.shard(1).request(asked);
    metrics.shard(0).add(Counter::fenced);
    metrics.shard(0).add(Gauge::client_connections, 5);
    metrics.shard(1).add(Gauge::client_connections, -2);
    metrics.set(Level::unknown_records, 7);
    metrics.set_log_dropped([] { return std::uint64_t{3}; });

    const MetricsText text(metrics.text());
    const std::string executed = "{route=\"charges\",decision=\"executed\"";
    CHECK(text["onceward_requests_total" + executed + ",code=\"2xx\"}"] == 2);
    CHECK(text["onceward_request_duration_seconds_count" + executed + "}"] == 2);
    CHECK(text["onceward_request_duration_seconds_sum" + executed + "}"] == doctest::Approx(0.006));
    CHECK(text["onceward_request_duration_seconds_bucket" + executed + ",le=\"0.0025\"}"] == 0);
    CHECK(text["onceward_request_duration_seconds_bucket" + executed + ",le=\"0.005\"}"] == 2);
    CHECK(text["onceward_request_duration_seconds_bucket" + executed + ",le=\"+Inf\"}"] == 2);
    const std::string unknown = "{route=\"charges\",decision=\"unknown\"}";
    CHECK(text["onceward_overhead_seconds_sum" + unknown] == doctest::Approx(0.002));
    CHECK(text["onceward_upstream_duration_seconds_count{route=\"charges\",code=\"5xx\"}"] == 1);
    CHECK(text["onceward_fenced_total"] == 1);
    CHECK(text["onceward_connections{side=\"client\"}"] == 3);
    CHECK(text["onceward_keys{state=\"unknown\"}"] == 7);
    CHECK(text["onceward_log_dropped_total"] == 3);
}

TEST_CASE("a value on a bucket's bound belongs to it, and one above all bounds is counted")
{
    Metrics metrics({}, 1);
    auto slow = request_of(0, Decision::passthrough, 200);
    slow.total = 500us;
    metrics.shard(0).request(slow);
    slow.total = 31s;
    metrics.shard(0).request(slow);
    const MetricsText text(metrics.text());
    const std::string labels = "{route=\"-\",decision=\"passthrough\"";
    CHECK(text["onceward_request_duration_seconds_bucket" + labels + ",le=\"0.0005\"}"] == 1);
    CHECK(text["onceward_request_duration_seconds_bucket" + labels + ",le=\"30\"}"] == 1);
    CHECK(text["onceward_request_duration_seconds_bucket" + labels + ",le=\"+Inf\"}"] == 2);
}

TEST_CASE("no series and no label value comes from a request")
{
    std::vector<std::string> routes;
    for (int i = 0; i < 20; ++i)
        routes.push_back("route" + std::to_string(i));
    Metrics metrics(routes, 2);
    Log log(silent());
    Telemetry telemetry(log, metrics, 0);
    std::mt19937 random(7);
    for (int i = 0; i < 5'000; ++i) {
        const std::string hostile = "evil" + std::to_string(random()) + "\"\n{}\\";
        AccessRecord record;
        record.route =
            i % 3 == 0 ? std::string_view(hostile) : std::string_view(routes[random() % 20]);
        record.path = hostile;
        record.method = hostile;
        record.key_id = hostile;
        record.request_id = hostile;
        record.reason = hostile;
        record.error_code = hostile;
        record.decision = static_cast<Decision>(random() % size_of<Decision>);
        record.status = static_cast<int>(random() % 1'000);
        record.upstream_status = static_cast<int>(random() % 1'000);
        record.total = std::chrono::microseconds(random() % 100'000'000);
        record.upstream = std::chrono::microseconds(1 + random() % 1'000);
        telemetry.access(record);
    }
    const MetricsText text(metrics.text());
    CHECK(text.values.size() <= metrics.series_ceiling());
    for (const auto& [name, values] : text.labels) {
        for (const auto& value : values)
            CHECK(value.find("evil") == std::string::npos);
    }
    CHECK(metrics.route_index("evil") == 0);
    CHECK(metrics.route_index("route7") == 8);
    auto expected = std::set<std::string>(routes.begin(), routes.end());
    expected.insert("-");
    CHECK(text.labels.at("route") == expected);
    CHECK(text.labels.at("code") == std::set<std::string>{"none", "2xx", "3xx", "4xx", "5xx"});
}

TEST_CASE("the ceiling is met when everything has happened, and not passed")
{
    Metrics metrics({"a"}, 1);
    for (std::size_t route = 0; route < 2; ++route) {
        for (std::size_t decision = 0; decision < size_of<Decision>; ++decision) {
            for (const int status : {0, 200, 300, 400, 500}) {
                auto request = request_of(route, static_cast<Decision>(decision), status);
                request.upstream = 1ms;
                request.upstream_status = status;
                metrics.shard(0).request(request);
            }
        }
    }
    for (std::size_t op = 0; op < size_of<StoreOperation>; ++op) {
        metrics.shard(0).store_operation(static_cast<StoreOperation>(op), 1ms, true);
    }
    CHECK(MetricsText(metrics.text()).values.size() == metrics.series_ceiling());
}

TEST_CASE("configured names may hold anything that a label escapes")
{
    Metrics metrics({"a\"b\\c\nd", "-"}, 1);
    CHECK(metrics.route_index("-") == 0);
    const MetricsText text(metrics.text());
    CHECK(text.labels.at("route") == std::set<std::string>{"-", "a\"b\\c\nd"});
}

TEST_CASE("counting from many threads loses nothing")
{
    Metrics metrics({"charges"}, 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&metrics] {
            for (int n = 0; n < 5'000; ++n)
                metrics.shard(0).request(request_of(1, Decision::replayed, 200));
        });
    }
    (void)metrics.text();  // A scrape meanwhile.
    for (auto& thread : threads)
        thread.join();
    const MetricsText text(metrics.text());
    CHECK(text["onceward_requests_total{route=\"charges\",decision=\"replayed\",code=\"2xx\"}"] ==
          20'000);
}
