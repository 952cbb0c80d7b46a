// Metrics as Prometheus text.
#include "ops/metrics.hpp"
#include "ops/version.hpp"

#include <charconv>
#include <ctime>
#include <fstream>
#include <unistd.h>

namespace onceward {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::string number(double value)
{
    std::array<char, 400> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
    return std::string(text.data(), end);
}

// A label value, with what the format needs escaped. Names come from the configuration, which
// allows anything.
std::string quoted(std::string_view value)
{
    std::string text = "\"";
    for (const char c : value) {
        if (c == '\\' || c == '"') text.push_back('\\');
        if (c == '\n') {
            text.append("\\n");
        } else {
            text.push_back(c);
        }
    }
    return text.append("\"");
}

double resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds()
{
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

// Puts one text together; sums the shards as it goes.
class Exposition {
public:
    explicit Exposition(const Metrics& metrics) : metrics_(metrics) {}

    std::string text()
    {
        requests();
        histograms();
        store();
        counters();
        gauges();
        process();
        return std::move(out_);
    }

private:
    void family(std::string_view name, std::string_view type, std::string_view help)
    {
        out_.append("# HELP ").append(name).append(" ").append(help);
        out_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
    }

    void sample(std::string_view name, std::string_view labels, double value)
    {
        out_.append(name);
        if (!labels.empty()) out_.append("{").append(labels).append("}");
        out_.append(" ").append(number(value)).append("\n");
    }

    void single(std::string_view name, std::string_view type, std::string_view help, double value)
    {
        family(name, type, help);
        sample(name, {}, value);
    }

    // A histogram appears with its first value: rates of latencies do not need the zero before.
    void histogram(const std::string& name, const std::string& labels,
                   const Histogram::Bounds& bounds, const Histogram::Snapshot& snapshot)
    {
        if (snapshot.count() == 0) return;
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            below += snapshot.buckets[i];
            sample(name + "_bucket", labels + ",le=\"" + number(bounds[i]) + "\"",
                   static_cast<double>(below));
        }
        const auto count = static_cast<double>(snapshot.count());
        sample(name + "_bucket", labels + ",le=\"+Inf\"", count);
        sample(name + "_sum", labels, snapshot.sum);
        sample(name + "_count", labels, count);
    }

    template <class Select>
    Histogram::Snapshot sum_histogram(Select select) const
    {
        Histogram::Snapshot total;
        for (const auto& shard : metrics_.shards_)
            total.add(select(*shard).snapshot());
        return total;
    }

    template <class Select>
    double sum(Select select) const
    {
        double total = 0;
        for (const auto& shard : metrics_.shards_)
            total += static_cast<double>(select(*shard).load(relaxed));
        return total;
    }

    static std::string label(std::string_view name, std::string_view value)
    {
        return std::string(name).append("=").append(quoted(value));
    }

    std::string route_label(std::size_t route) const
    {
        return label("route", metrics_.routes_[route]);
    }

    template <class Enum>
    static std::string enum_label(std::string_view name, std::size_t index)
    {
        return std::string(",").append(label(name, to_string(static_cast<Enum>(index))));
    }

    void requests()
    {
        family("onceward_requests_total", "counter",
               "Requests by how they were decided and answered.");
        for (std::size_t route = 0; route < metrics_.routes_.size(); ++route) {
            for (std::size_t decision = 0; decision < size_of<Decision>; ++decision) {
                for (std::size_t code = 0; code < size_of<StatusClass>; ++code) {
                    const auto labels = route_label(route) +
                                        enum_label<Decision>("decision", decision) +
                                        enum_label<StatusClass>("code", code);
                    sample("onceward_requests_total", labels,
                           sum([&](const MetricsShard& shard) -> auto& {
                               return shard.by_route_[route].requests[decision][code];
                           }));
                }
            }
        }
    }

    template <class Enum, class Select>
    void route_histograms(const std::string& name, std::string_view label_name,
                          std::string_view help, const Histogram::Bounds& bounds, Select select)
    {
        family(name, "histogram", help);
        for (std::size_t route = 0; route < metrics_.routes_.size(); ++route) {
            for (std::size_t index = 0; index < size_of<Enum>; ++index) {
                const auto total = sum_histogram([&](const MetricsShard& shard) -> auto& {
                    return select(shard.by_route_[route])[index];
                });
                histogram(name, route_label(route) + enum_label<Enum>(label_name, index), bounds,
                          total);
            }
        }
    }

    void histograms()
    {
        using Route = MetricsShard::Route;
        route_histograms<Decision>("onceward_request_duration_seconds", "decision",
                                   "From the first byte of a request to the last of its answer.",
                                   Histogram::request_bounds,
                                   [](const Route& route) -> auto& { return route.duration; });
        route_histograms<Decision>("onceward_overhead_seconds", "decision",
                                   "The part of a request's duration that was not the upstream's.",
                                   Histogram::overhead_bounds,
                                   [](const Route& route) -> auto& { return route.overhead; });
        route_histograms<StatusClass>(
            "onceward_upstream_duration_seconds", "code",
            "From handing a request to the upstream to the end of its answer.",
            Histogram::request_bounds, [](const Route& route) -> auto& { return route.upstream; });
    }

    void store()
    {
        const std::string name = "onceward_store_operation_duration_seconds";
        family(name, "histogram", "How long the store took.");
        for (std::size_t op = 0; op < size_of<StoreOperation>; ++op) {
            const auto total = sum_histogram(
                [op](const MetricsShard& shard) -> auto& { return shard.store_duration_[op]; });
            histogram(name, label("op", to_string(static_cast<StoreOperation>(op))),
                      Histogram::overhead_bounds, total);
        }
        family("onceward_store_errors_total", "counter", "Store operations that failed.");
        for (std::size_t op = 0; op < size_of<StoreOperation>; ++op) {
            sample(
                "onceward_store_errors_total",
                label("op", to_string(static_cast<StoreOperation>(op))),
                sum([op](const MetricsShard& shard) -> auto& { return shard.store_errors_[op]; }));
        }
        family("onceward_dependency_up", "gauge", "1 while the dependency answers.");
        for (std::size_t index = 0; index < size_of<Dependency>; ++index) {
            const auto dependency = static_cast<Dependency>(index);
            sample("onceward_dependency_up", label("dependency", to_string(dependency)),
                   metrics_.up(dependency) ? 1 : 0);
        }
    }

    double total(Counter counter) const
    {
        const auto index = static_cast<std::size_t>(counter);
        return sum([index](const MetricsShard& shard) -> auto& { return shard.counters_[index]; });
    }

    void counters()
    {
        single("onceward_fenced_total", "counter",
               "Settlements refused because the row had changed.", total(Counter::fenced));
        single("onceward_head_rejected_total", "counter",
               "Requests refused for the form of their head.", total(Counter::head_rejected));
        single("onceward_fields_dropped_total", "counter", "Header fields that were not forwarded.",
               total(Counter::fields_dropped));
        family("onceward_cleaner_rows_total", "counter", "Rows that the cleaner moved on.");
        sample("onceward_cleaner_rows_total", "action=\"unknown\"", total(Counter::became_unknown));
        sample("onceward_cleaner_rows_total", "action=\"expire\"", total(Counter::expired));
        sample("onceward_cleaner_rows_total", "action=\"purge\"", total(Counter::purged));
        single("onceward_log_dropped_total", "counter", "Log lines that were lost.",
               metrics_.log_dropped_ ? static_cast<double>(metrics_.log_dropped_()) : 0);
    }

    double now(Gauge gauge) const
    {
        const auto index = static_cast<std::size_t>(gauge);
        return sum([index](const MetricsShard& shard) -> auto& { return shard.gauges_[index]; });
    }

    double now(Level level) const
    {
        return metrics_.levels_[static_cast<std::size_t>(level)].load(relaxed);
    }

    void gauges()
    {
        single("onceward_inflight_requests", "gauge", "Requests that are being handled.",
               now(Gauge::inflight_requests));
        family("onceward_connections", "gauge", "Open connections.");
        sample("onceward_connections", "side=\"client\"", now(Gauge::client_connections));
        family("onceward_keys", "gauge", "Records that wait for an operator.");
        sample("onceward_keys", "state=\"unknown\"", now(Level::unknown_records));
        single("onceward_cleaner_last_success_timestamp_seconds", "gauge",
               "When the cleaner last passed; 0 before its first time.",
               now(Level::cleaner_last_success));
        single("onceward_draining", "gauge", "1 while the process is ending.",
               now(Level::draining));
    }

    void process()
    {
        family("onceward_build_info", "gauge", "Always 1.");
        sample("onceward_build_info", label("version", version), 1);
        single("process_start_time_seconds", "gauge",
               "Start of the process, in seconds since 1970.", metrics_.started_);
        single("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
        single("process_cpu_seconds_total", "counter", "Processor time used.", cpu_seconds());
    }

    const Metrics& metrics_;
    std::string out_;
};

std::string Metrics::text() const
{
    return Exposition(*this).text();
}

std::size_t Metrics::series_ceiling() const
{
    constexpr std::size_t lines = Histogram::bucket_count + 3;  // Buckets, +Inf, sum, count.
    const std::size_t per_route = size_of<Decision> * size_of<StatusClass> +
                                  2 * size_of<Decision> * lines + size_of<StatusClass> * lines;
    const std::size_t store = size_of<StoreOperation> * (lines + 1) + size_of<Dependency>;
    constexpr std::size_t others = 16;  // The single series of counters(), gauges() and process().
    return routes_.size() * per_route + store + others;
}

}  // namespace onceward
