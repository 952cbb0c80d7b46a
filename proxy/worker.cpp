// Composing one worker.
#include "worker.hpp"

#include "http/session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <limits>
#include <sys/resource.h>

namespace onceward {

namespace asio = boost::asio;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds drain_look{10};
constexpr std::chrono::milliseconds gauge_interval{1'000};

std::vector<std::unique_ptr<ConnectionPool>> make_pools(asio::io_context& context,
                                                        wire::Watchdog& watchdog,
                                                        const ServerSettings& server)
{
    std::vector<std::unique_ptr<ConnectionPool>> pools;
    PoolLimits limits;
    limits.idle = server.upstream_idle;
    for (const auto& upstream : server.upstreams) {
        Origin origin{upstream.host, upstream.port};
        pools.push_back(
            std::make_unique<ConnectionPool>(context, watchdog, std::move(origin), limits));
    }
    return pools;
}

ExchangeLimits exchange_limits(const Settings& settings)
{
    ExchangeLimits limits;
    limits.waiters_max = settings.waiters_max;
    return limits;
}

// What clients may hold of the process's descriptors: half of all but a few, because each may need
// a second one to the upstream. Otherwise idle clients could take the last one from the store and
// from the side listeners, and a health check would end a process that works.
std::size_t connections_allowed()
{
    constexpr std::size_t kept_back = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
    const std::size_t descriptors = limit.rlim_cur;
    return descriptors > kept_back ? (descriptors - kept_back) / 2 : 0;
}

std::size_t connections_per_worker(const Settings& settings)
{
    const auto workers = static_cast<std::size_t>(std::max(1, settings.server.workers));
    const auto all = std::min(settings.server.connections_max, connections_allowed());
    return std::max<std::size_t>(1, all / workers);
}

}  // namespace

EdgePolicy edge_policy(const Settings& settings, const core::Secret& secret)
{
    const auto& server = settings.server;
    TrustedNetworks trusted;
    for (const auto& network : server.trusted_proxies)
        trusted.add(network.address, network.prefix);
    EdgePolicy policy{
        .plan = settings.policy,
        .head_limits = {},
        .timeouts = {server.idle_timeout, server.head_timeout, server.body_timeout, server.timeout},
        .trusted = std::move(trusted),
        .via = server.via,
        .problem_base = server.problem_base,
        .key_hash = secret.key_hash(),
        .fingerprint_hash = secret.fingerprint_hash(),
        .guarded_names = guarded_names_of(settings.policy),
    };
    policy.head_limits.bytes_max = server.request_head_max;
    return policy;
}

Worker::Worker(Common common, std::size_t index, const asio::ip::tcp::endpoint& endpoint)
    : common_(common),
      telemetry_(common.log, common.metrics, index),
      client_(common.open_store(context_)),
      store_(*client_, {telemetry_.shard(), common.health, common.log}),
      pools_(make_pools(context_, watchdog_, common.settings.server)),
      upstream_(pool_pointers()),
      exchange_({store_, gate_, upstream_, clock_, telemetry_}, exchange_limits(common.settings)),
      edge_{
          .policy = common.policy,
          .exchange = exchange_,
          .watchdog = watchdog_,
          .pools = pool_pointers(),
          .log_access = [this](const AccessRecord& record) { telemetry_.access(record); },
          .head_rejected =
              [this](core::ProblemCode) { telemetry_.shard().add(Counter::head_rejected); },
          .fields_dropped =
              [this](std::size_t count) { telemetry_.shard().add(Counter::fields_dropped, count); },
          .sessions = {}},
      listener_(context_, edge_, endpoint, index == 0 ? PortShare::first : PortShare::further,
                connections_per_worker(common.settings))
{
    if (index == 0) {
        janitor_.emplace(store_, clock_, JanitorPace{},
                         [this](const SweepReport& report) { telemetry_.swept(report); });
    }
}

Worker::~Worker()
{
    context_.abandon();
}

std::vector<ConnectionPool*> Worker::pool_pointers() const
{
    std::vector<ConnectionPool*> pointers;
    for (const auto& pool : pools_)
        pointers.push_back(pool.get());
    return pointers;
}

void Worker::run()
{
    watchdog_.start();
    asio::co_spawn(context_, listener_.run(), asio::detached);
    asio::co_spawn(context_, report_gauges(), asio::detached);
    if (janitor_) asio::co_spawn(context_, janitor_->run(), asio::detached);
    context_.run();
}

void Worker::drain(wire::Watched::TimePoint deadline)
{
    asio::post(context_, [this, deadline] {
        deadline_ = std::min(deadline_, deadline);
        if (draining_) return;
        draining_ = true;
        edge_.draining = true;
        listener_.stop();
        if (janitor_) janitor_->stop();
        const auto sessions = edge_.sessions;
        for (auto* session : sessions)
            session->drain();
        asio::co_spawn(context_, finish_drain(), asio::detached);
    });
}

awaitable<void> Worker::finish_drain()
{
    asio::steady_timer look(context_);
    while (!edge_.sessions.empty() && watchdog_.now() < deadline_) {
        look.expires_after(drain_look);
        co_await look.async_wait(token);
    }
    abandoned_ = co_await exchange_.abandon_in_flight();
    context_.stop();
}

// Numbers that are cheaper to read now and then than to keep.
awaitable<void> Worker::report_gauges()
{
    auto& shard = telemetry_.shard();
    std::int64_t connections = 0;
    std::int64_t requests = 0;
    asio::steady_timer timer(context_);
    for (;;) {
        const auto connections_now = static_cast<std::int64_t>(edge_.sessions.size());
        const auto requests_now = static_cast<std::int64_t>(exchange_.in_flight());
        shard.add(Gauge::client_connections, connections_now - connections);
        shard.add(Gauge::inflight_requests, requests_now - requests);
        connections = connections_now;
        requests = requests_now;
        in_flight_.store(exchange_.in_flight(), std::memory_order_relaxed);
        timer.expires_after(gauge_interval);
        const auto [error] = co_await timer.async_wait(token);
        if (error) break;
    }
}

}  // namespace onceward
