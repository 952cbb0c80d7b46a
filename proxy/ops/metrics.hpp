// Counters, gauges and histograms: a fixed set, whose labels come from the configuration and never
// from a request.
#pragma once

#include "ports/observer.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onceward {

// What only grows.
enum class Counter : std::uint8_t {
    fenced,          // Settlements that met a changed row.
    head_rejected,   // Requests refused for the form of their head.
    fields_dropped,  // Fields removed from what was forwarded.
    became_unknown,  // Rows that the cleaner moved on.
    expired,
    purged,
    count_,
};

// What goes up and down; kept per worker and summed.
enum class Gauge : std::uint8_t { inflight_requests, client_connections, count_ };

// What is true of the whole process.
enum class Level : std::uint8_t {
    draining,              // 0 or 1.
    unknown_records,       // In the operators' queue.
    cleaner_last_success,  // Seconds since 1970.
    count_,
};

enum class Dependency : std::uint8_t { store, count_ };
std::string_view to_string(Dependency dependency);

enum class StoreOperation : std::uint8_t { reserve, settle, find, sweep, list, count_ };
std::string_view to_string(StoreOperation operation);

enum class StatusClass : std::uint8_t { none, c2xx, c3xx, c4xx, c5xx, count_ };
std::string_view to_string(StatusClass status_class);
// none for zero and for whatever is not 200..599.
StatusClass class_of(int status);

template <class Enum>
constexpr std::size_t size_of = static_cast<std::size_t>(Enum::count_);

using Seconds = std::chrono::duration<double>;

// Fixed buckets. Cumulative only when printed.
class Histogram {
public:
    static constexpr std::size_t bucket_count = 15;
    using Bounds = std::array<double, bucket_count>;  // Seconds, ascending.
    static constexpr Bounds request_bounds{.0005, .001, .0025, .005, .01, .025, .05, .1,
                                           .25,   .5,   1,     2.5,  5,   10,   30};
    static constexpr Bounds overhead_bounds{.00005, .0001, .00025, .0005, .001, .0025, .005, .01,
                                            .025,   .05,   .1,     .25,   .5,   1,     2.5};

    void observe(const Bounds& bounds, std::chrono::nanoseconds value);

    struct Snapshot {
        std::array<std::uint64_t, bucket_count + 1> buckets{};  // The last one: above every bound.
        double sum = 0;
        std::uint64_t count() const;
        void add(const Snapshot& other);
    };
    Snapshot snapshot() const;

private:
    std::array<std::atomic<std::uint64_t>, bucket_count + 1> buckets_{};
    std::atomic<std::uint64_t> nanoseconds_ = 0;
};

// The numbers of one worker. Any thread may write; meant for one, so that no cache line is fought
// over.
class MetricsShard {
public:
    explicit MetricsShard(std::size_t routes)
        : routes_(routes), by_route_(std::make_unique<Route[]>(routes))
    {
    }

    void add(Counter counter, std::uint64_t count = 1);
    void add(Gauge gauge, std::int64_t change);

    // One finished request. `route`: from Metrics::route_index. `upstream` is absent when it was
    // not asked.
    struct Request {
        std::size_t route = 0;
        Decision decision = Decision::passthrough;
        int status = 0;
        int upstream_status = 0;
        std::chrono::nanoseconds total{};
        std::optional<std::chrono::nanoseconds> upstream;
    };
    void request(const Request& request);
    void store_operation(StoreOperation operation, std::chrono::nanoseconds duration, bool failed);

private:
    friend class Exposition;

    struct Route {
        std::array<std::array<std::atomic<std::uint64_t>, size_of<StatusClass>>, size_of<Decision>>
            requests{};
        std::array<Histogram, size_of<Decision>> duration;
        std::array<Histogram, size_of<Decision>> overhead;
        std::array<Histogram, size_of<StatusClass>> upstream;
    };

    std::size_t routes_;
    std::unique_ptr<Route[]> by_route_;
    std::array<std::atomic<std::uint64_t>, size_of<Counter>> counters_{};
    std::array<std::atomic<std::int64_t>, size_of<Gauge>> gauges_{};
    std::array<Histogram, size_of<StoreOperation>> store_duration_;
    std::array<std::atomic<std::uint64_t>, size_of<StoreOperation>> store_errors_{};
};

// Made once, before any thread uses it.
class Metrics {
public:
    // `routes`: the configured names. One shard for each worker.
    Metrics(std::vector<std::string> routes, std::size_t shards);

    MetricsShard& shard(std::size_t index) { return *shards_[index]; }

    // Of a configured route; 0 (shown as `-`) for every other text.
    std::size_t route_index(std::string_view name) const;

    void set(Level level, double value);
    double get(Level level) const;
    void set(Dependency dependency, bool up);
    bool up(Dependency dependency) const;
    // Read when the text is made: Log::dropped.
    void set_log_dropped(std::function<std::uint64_t()> source)
    {
        log_dropped_ = std::move(source);
    }

    // The Prometheus text format, version 0.0.4. Any thread.
    std::string text() const;

    // How many series text() can have at most, whatever is requested.
    std::size_t series_ceiling() const;

private:
    friend class Exposition;

    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const
        {
            return std::hash<std::string_view>()(text);
        }
    };

    std::vector<std::string> routes_;  // [0] is `-`.
    std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_;
    std::vector<std::unique_ptr<MetricsShard>> shards_;
    std::array<std::atomic<double>, size_of<Level>> levels_{};
    std::array<std::atomic<bool>, size_of<Dependency>> up_{};
    std::function<std::uint64_t()> log_dropped_;
    double started_;
};

}  // namespace onceward
