// A watched store says what the watched one says, and its troubles are seen.
#include "ops/measured_store.hpp"

#include "ops/metrics_text.hpp"
#include "ops/pipe.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

using namespace onceward;

namespace {

// Answers everything in the way it was told last.
class ObedientStore final : public KeyStore {
public:
    std::optional<StoreError> error;

    awaitable<StoreResult<core::Reservation>> reserve(core::Digest, core::Claim) override
    {
        if (error) co_return *error;
        co_return core::Reservation(core::Won{{{}, 7}});
    }
    awaitable<StoreResult<core::Settled>> settle(core::Digest, core::Ticket,
                                                 core::Settlement) override
    {
        if (error) co_return *error;
        co_return core::Settled::fenced;
    }
    awaitable<StoreResult<std::optional<core::Record>>> find(core::Digest) override
    {
        if (error) co_return *error;
        co_return std::optional<core::Record>();
    }
    awaitable<StoreResult<SweepReport>> sweep(std::size_t rows) override
    {
        if (error) co_return *error;
        SweepReport report;
        report.examined = rows;
        co_return report;
    }
    awaitable<StoreResult<std::vector<Listed>>> unknown(std::size_t limit) override
    {
        if (error) co_return *error;
        co_return std::vector<Listed>(limit);
    }
};

awaitable<void> use_all(KeyStore* store, bool* right)
{
    const auto reserved = co_await store->reserve({}, {});
    const auto settled = co_await store->settle({}, {}, {});
    const auto found = co_await store->find({});
    const auto swept = co_await store->sweep(3);
    const auto listed = co_await store->unknown(2);
    *right = reserved && std::get<core::Won>(*reserved).ticket.epoch == 7 && settled &&
             *settled == core::Settled::fenced && found && !*found && swept &&
             swept->examined == 3 && listed && listed->size() == 2;
}

awaitable<void> find_once(KeyStore* store)
{
    const auto found = co_await store->find({});
    (void)found;
}

void run(awaitable<void> work)
{
    boost::asio::io_context context;
    boost::asio::co_spawn(context, std::move(work), boost::asio::detached);
    context.run();
}

}  // namespace

TEST_CASE("operations pass through, are timed, and their failures change the health once")
{
    Pipe pipe;
    Metrics metrics({}, 1);
    Health health(metrics);
    {
        LogOptions options;
        options.descriptor = pipe.writer();
        Log log(options);
        ObedientStore inner;
        MeasuredStore store(inner, {metrics.shard(0), health, log});
        bool right = false;
        run(use_all(&store, &right));
        CHECK(right);
        CHECK(metrics.up(Dependency::store));

        inner.error = StoreError::overloaded;
        run(find_once(&store));
        CHECK(metrics.up(Dependency::store));  // Load is no outage.

        inner.error = StoreError::unavailable;
        run(find_once(&store));
        run(find_once(&store));
        CHECK_FALSE(metrics.up(Dependency::store));

        inner.error.reset();
        run(find_once(&store));
        CHECK(metrics.up(Dependency::store));
    }
    pipe.close_writer();
    CHECK(lines_of(pipe.read_all()).size() == 3);  // Up, down, up.
    const MetricsText text(metrics.text());
    CHECK(text["onceward_store_errors_total{op=\"find\"}"] == 3);
    CHECK(text["onceward_store_operation_duration_seconds_count{op=\"find\"}"] == 5);
    CHECK(text["onceward_store_operation_duration_seconds_count{op=\"reserve\"}"] == 1);
}
