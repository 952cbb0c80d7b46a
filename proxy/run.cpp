// From settings to a running proxy and back to an exit code.
#include "run.hpp"

#include "banner.hpp"
#include "cli/embedded.hpp"
#include "ops/admin.hpp"
#include "ops/observability.hpp"
#include "worker.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <sys/resource.h>
#include <thread>

namespace onceward {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

enum Ending : int { ended = 0, refused = 3, dependency_down = 7, requests_given_up = 9 };

constexpr std::chrono::milliseconds flush_limit{2'000};

tcp::endpoint endpoint_of(const ListenAddress& address)
{
    return {asio::ip::make_address(address.host), address.port};
}

std::string text_of(const tcp::endpoint& endpoint)
{
    std::ostringstream text;
    text << endpoint;
    return text.str();
}

SqliteOptions sqlite_options(const Settings& settings, const RunOptions& options, Log& log)
{
    SqliteOptions made;
    made.file = cli::sqlite_file(settings);
    made.file.forget = options.forget;
    made.log = [&log](const std::string& text) {
        log.event(LogLevel::warn, "store", {{"message", text}});
    };
    return made;
}

std::vector<std::string> route_names(const Settings& settings)
{
    std::vector<std::string> names;
    for (const auto& route : settings.policy.routes.routes())
        names.push_back(route->name);
    return names;
}

// A proxy holds two descriptors for each client.
void raise_descriptor_limit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t worker_count(const Settings& settings)
{
    if (settings.server.workers > 0) return static_cast<std::size_t>(settings.server.workers);
    return std::max(1U, std::thread::hardware_concurrency());
}

// Everything that lives while the proxy serves. The calling thread runs the side listeners and the
// signals.
class Process {
public:
    Process(Settings settings, Log& log, SqliteStore& store)
        : settings_(std::move(settings)),
          log_(log),
          store_(store),
          policy_(edge_policy(settings_, store.secret())),
          metrics_(route_names(settings_), worker_count(settings_)),
          health_(metrics_),
          signals_(side_, SIGTERM, SIGINT),
          delay_(side_)
    {
        settings_.server.workers = static_cast<int>(worker_count(settings_));
        metrics_.set_log_dropped([&log] { return log.dropped(); });
        admin_store_ = store_.client(side_.get_executor());
    }

    // Binds every address; throws boost::system::system_error.
    void bind()
    {
        const auto open_store = [this](asio::io_context& context) {
            return store_.client(context.get_executor());
        };
        const Common common{settings_, policy_, log_, metrics_, health_, open_store};
        auto endpoint = endpoint_of(settings_.server.listen);
        for (std::size_t index = 0; index < worker_count(settings_); ++index) {
            workers_.push_back(std::make_unique<Worker>(common, index, endpoint));
            endpoint = workers_.front()->local();
        }
        if (settings_.observability.listen) {
            observability_ = std::make_unique<HttpEndpoint>(
                side_.get_executor(), endpoint_of(*settings_.observability.listen),
                observability_handler(health_, metrics_));
        }
        if (settings_.admin.listen) {
            admin_ = std::make_unique<Admin>(admin_parts());
            admin_endpoint_ = std::make_unique<HttpEndpoint>(
                side_.get_executor(), endpoint_of(*settings_.admin.listen), admin_->handler());
        }
    }

    int serve()
    {
        announce();
        for (auto& worker : workers_)
            threads_.emplace_back([&worker] { worker->run(); });
        if (observability_) observability_->start();
        if (admin_endpoint_) admin_endpoint_->start();
        wait_for_signal();
        std::thread joiner([this] {
            for (auto& thread : threads_)
                thread.join();
            asio::post(side_, [this] { finish(); });
        });
        side_.run();
        joiner.join();
        std::size_t abandoned = 0;
        for (const auto& worker : workers_)
            abandoned += worker->abandoned();
        log_.event(LogLevel::info, "stopped",
                   {{"abandoned", static_cast<std::int64_t>(abandoned)}});
        return abandoned > 0 ? requests_given_up : ended;
    }

private:
    AdminParts admin_parts()
    {
        return {.store = *admin_store_,
                .policy = policy_.plan,
                .key_hash = policy_.key_hash,
                .health = health_,
                .tiers = cli::tier_names(settings_),
                .instance = core::random_token().hex().substr(0, 8),
                .config_file = settings_.file,
                .in_flight = [this] {
                    std::size_t all = 0;
                    for (const auto& worker : workers_)
                        all += worker->in_flight();
                    return all;
                }};
    }

    void announce()
    {
        const auto proxy = text_of(workers_.front()->local());
        const auto observability =
            observability_ ? text_of(observability_->local()) : std::string();
        const auto admin = admin_endpoint_ ? text_of(admin_endpoint_->local()) : std::string();
        health_.report(Dependency::store, true);
        health_.set_phase(Phase::ready);
        log_.announce("listening",
                      {{"proxy", proxy}, {"observability", observability}, {"admin", admin}});
    }

    void wait_for_signal()
    {
        signals_.async_wait([this](const boost::system::error_code& error, int signal) {
            if (error) return;
            const auto now = std::chrono::steady_clock::now();
            log_.event(LogLevel::info, "draining", {{"signal", static_cast<std::int64_t>(signal)}});
            if (health_.phase() == Phase::draining) {
                drain(now);  // Asked twice: at once.
            } else {
                health_.set_phase(Phase::draining);
                delay_.expires_after(settings_.server.drain_delay);
                delay_.async_wait([this](const boost::system::error_code&) {
                    drain(std::chrono::steady_clock::now() + settings_.server.drain_timeout);
                });
            }
            wait_for_signal();
        });
    }

    void drain(wire::Watched::TimePoint deadline)
    {
        for (auto& worker : workers_)
            worker->drain(deadline);
    }

    // The side listeners close last, so that the end can be watched.
    void finish()
    {
        boost::system::error_code ignored;
        signals_.cancel(ignored);
        delay_.cancel();
        if (admin_endpoint_) admin_endpoint_->stop();
        if (observability_) observability_->stop();
    }

    Settings settings_;
    Log& log_;
    SqliteStore& store_;
    EdgePolicy policy_;
    Metrics metrics_;
    Health health_;
    asio::io_context side_{1};
    std::unique_ptr<KeyStore> admin_store_;
    asio::signal_set signals_;
    asio::steady_timer delay_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::thread> threads_;
    std::unique_ptr<HttpEndpoint> observability_;
    std::unique_ptr<Admin> admin_;
    std::unique_ptr<HttpEndpoint> admin_endpoint_;
};

int refuse(const std::vector<OpenError>& errors)
{
    for (const auto& error : errors) {
        std::cerr << "error" << (error.code.empty() ? "" : "[" + error.code + "]") << ": "
                  << error.message << "\n";
        if (!error.hint.empty()) std::cerr << "  = " << error.hint << "\n";
    }
    const bool configured_wrong = !errors.empty() && !errors.front().code.empty();
    return configured_wrong ? refused : dependency_down;
}

}  // namespace

int run_proxy(const Settings& settings, const RunOptions& options)
{
    for (const auto& unbuilt : settings.unbuilt) {
        if (!unbuilt.blocks_run) continue;
        std::cerr << "error: " << unbuilt.path << " is not built yet: " << unbuilt.instead << "\n";
        return refused;
    }
    raise_descriptor_limit();
    LogOptions log_options;
    log_options.format = settings.log.json ? LogFormat::json : LogFormat::text;
    log_options.level = parse_log_level(settings.log.level).value_or(LogLevel::info);
    Log log(log_options);

    auto opened = SqliteStore::open(sqlite_options(settings, options, log));
    if (const auto* errors = std::get_if<std::vector<OpenError>>(&opened)) return refuse(*errors);
    const auto store = std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
    std::cerr << banner(settings, options.banner_yaml, store->crashed()) << std::flush;
    if (store->lost()) {
        std::cerr
            << "warning: " << settings.store.sqlite
            << " is new although its secret was there: an earlier file is gone, and every key "
               "in it would run again\n";
    }

    int ending = dependency_down;
    try {
        Process process(settings, log, *store);
        process.bind();
        ending = process.serve();
        store->close();
    } catch (const boost::system::system_error& error) {
        std::cerr << "error: " << error.what() << "\n";
    }
    log.flush(flush_limit);
    return ending;
}

}  // namespace onceward
