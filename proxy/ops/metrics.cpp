// Counting, with relaxed atomics only: the request path takes no lock.
#include "ops/metrics.hpp"

#include <algorithm>

namespace onceward {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

template <class Enum>
std::size_t at(Enum value)
{
    return static_cast<std::size_t>(value);
}

}  // namespace

std::string_view to_string(Dependency dependency)
{
    switch (dependency) {
        case Dependency::store: return "store";
        case Dependency::count_: break;
    }
    return "store";
}

std::string_view to_string(StoreOperation operation)
{
    switch (operation) {
        case StoreOperation::reserve: return "reserve";
        case StoreOperation::settle: return "settle";
        case StoreOperation::find: return "find";
        case StoreOperation::sweep: return "sweep";
        case StoreOperation::list: return "list";
        case StoreOperation::count_: break;
    }
    return "find";
}

std::string_view to_string(StatusClass status_class)
{
    switch (status_class) {
        case StatusClass::none: return "none";
        case StatusClass::c2xx: return "2xx";
        case StatusClass::c3xx: return "3xx";
        case StatusClass::c4xx: return "4xx";
        case StatusClass::c5xx: return "5xx";
        case StatusClass::count_: break;
    }
    return "none";
}

StatusClass class_of(int status)
{
    switch (status / 100) {
        case 2: return StatusClass::c2xx;
        case 3: return StatusClass::c3xx;
        case 4: return StatusClass::c4xx;
        case 5: return StatusClass::c5xx;
        default: return StatusClass::none;
    }
}

void Histogram::observe(const Bounds& bounds, std::chrono::nanoseconds value)
{
    value = std::max(value, std::chrono::nanoseconds{0});
    const double seconds = Seconds(value).count();
    const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
    buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(value.count()), relaxed);
}

Histogram::Snapshot Histogram::snapshot() const
{
    Snapshot snapshot;
    for (std::size_t i = 0; i < buckets_.size(); ++i)
        snapshot.buckets[i] = buckets_[i].load(relaxed);
    snapshot.sum = static_cast<double>(nanoseconds_.load(relaxed)) / 1e9;
    return snapshot;
}

std::uint64_t Histogram::Snapshot::count() const
{
    std::uint64_t count = 0;
    for (const auto bucket : buckets)
        count += bucket;
    return count;
}

void Histogram::Snapshot::add(const Snapshot& other)
{
    for (std::size_t i = 0; i < buckets.size(); ++i)
        buckets[i] += other.buckets[i];
    sum += other.sum;
}

void MetricsShard::add(Counter counter, std::uint64_t count)
{
    counters_[at(counter)].fetch_add(count, relaxed);
}

void MetricsShard::add(Gauge gauge, std::int64_t change)
{
    gauges_[at(gauge)].fetch_add(change, relaxed);
}

void MetricsShard::request(const Request& request)
{
    Route& route = by_route_[request.route < routes_ ? request.route : 0];
    const auto decision = std::min(at(request.decision), size_of<Decision> - 1);
    route.requests[decision][at(class_of(request.status))].fetch_add(1, relaxed);
    route.duration[decision].observe(Histogram::request_bounds, request.total);
    const auto upstream = request.upstream.value_or(std::chrono::nanoseconds{0});
    route.overhead[decision].observe(Histogram::overhead_bounds, request.total - upstream);
    if (request.upstream) {
        route.upstream[at(class_of(request.upstream_status))].observe(Histogram::request_bounds,
                                                                      upstream);
    }
}

void MetricsShard::store_operation(StoreOperation operation, std::chrono::nanoseconds duration,
                                   bool failed)
{
    store_duration_[at(operation)].observe(Histogram::overhead_bounds, duration);
    if (failed) store_errors_[at(operation)].fetch_add(1, relaxed);
}

Metrics::Metrics(std::vector<std::string> routes, std::size_t shards)
    : started_(Seconds(std::chrono::system_clock::now().time_since_epoch()).count())
{
    routes_.emplace_back("-");
    index_.emplace("-", 0);
    for (auto& name : routes) {
        if (index_.emplace(name, routes_.size()).second) routes_.push_back(std::move(name));
    }
    for (std::size_t i = 0; i < std::max<std::size_t>(shards, 1); ++i) {
        shards_.push_back(std::make_unique<MetricsShard>(routes_.size()));
    }
}

std::size_t Metrics::route_index(std::string_view name) const
{
    const auto found = index_.find(name);
    return found == index_.end() ? 0 : found->second;
}

void Metrics::set(Level level, double value)
{
    levels_[at(level)].store(value, relaxed);
}

double Metrics::get(Level level) const
{
    return levels_[at(level)].load(relaxed);
}

void Metrics::set(Dependency dependency, bool up)
{
    up_[at(dependency)].store(up, relaxed);
}

bool Metrics::up(Dependency dependency) const
{
    return up_[at(dependency)].load(relaxed);
}

}  // namespace onceward
