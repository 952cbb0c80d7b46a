// Everything that one thread owns: the only place where adapters are chosen. Workers share nothing
// but the settings, the numbers, the log, the port and the store's queue (decision 26).
#pragma once

#include "asio_clock.hpp"
#include "exchange.hpp"
#include "gate/open_gate.hpp"
#include "http/listener.hpp"
#include "janitor.hpp"
#include "ops/measured_store.hpp"
#include "ops/telemetry.hpp"
#include "settings/settings.hpp"
#include "upstream/http_upstream.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace onceward {

// What all workers read.
struct Common {
    const Settings& settings;
    const EdgePolicy& policy;
    Log& log;
    Metrics& metrics;
    Health& health;
    // A store client for the worker that runs on this context.
    std::function<std::unique_ptr<KeyStore>(boost::asio::io_context&)> open_store;
};

class Worker {
public:
    // Binds its share of the port; throws boost::system::system_error when that fails.
    Worker(Common common, std::size_t index, const boost::asio::ip::tcp::endpoint& endpoint);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    boost::asio::ip::tcp::endpoint local() const { return listener_.local(); }

    // Runs on the calling thread until it has drained.
    void run();

    // Any thread. Stops accepting, ends idle connections, lets requests finish until `deadline`;
    // whatever is still in flight then is recorded as UNKNOWN(drain), and run returns. May be
    // called again with an earlier deadline.
    void drain(wire::Watched::TimePoint deadline);

    // After run: how many requests were given up.
    std::size_t abandoned() const { return abandoned_; }
    std::size_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

private:
    // Lets the handlers that are left be destroyed while what they refer to still lives.
    struct Context : boost::asio::io_context {
        using boost::asio::io_context::io_context;
        void abandon() { shutdown(); }
    };

    std::vector<ConnectionPool*> pool_pointers() const;
    awaitable<void> finish_drain();
    awaitable<void> report_gauges();

    Common common_;
    Context context_{1};
    AsioClock clock_{context_};
    wire::Watchdog watchdog_{context_};
    Telemetry telemetry_;
    std::unique_ptr<KeyStore> client_;
    MeasuredStore store_;
    OpenGate gate_;
    std::vector<std::unique_ptr<ConnectionPool>> pools_;
    HttpUpstream upstream_;
    Exchange exchange_;
    Edge edge_;
    Listener listener_;
    std::optional<Janitor> janitor_;  // The first worker's.
    wire::Watched::TimePoint deadline_ = wire::Watched::TimePoint::max();
    bool draining_ = false;
    std::size_t abandoned_ = 0;
    std::atomic<std::size_t> in_flight_ = 0;
};

// The edge's immutable policy from the settings and the installation's secret.
EdgePolicy edge_policy(const Settings& settings, const core::Secret& secret);

}  // namespace onceward
