// Retention arithmetic: the inequality, the lease, the windows and the storage estimate.
#include "core/retention.hpp"

#include <doctest/doctest.h>

namespace {

using namespace onceward::core;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("EXP-2 the retention must outlast retries, skew and replay window together")
{
    const RetryBudget budget{24h, 5min, 48h};
    CHECK(budget.sum() == 72h + 5min);
    CHECK(covers(72h + 5min + 1ms, budget));
    CHECK_FALSE(covers(72h + 5min, budget));  // EXP-5: at its end a record is expired already.
    CHECK_FALSE(covers(72h, budget));
    CHECK(covers(1ms, RetryBudget{}));
    CHECK_FALSE(covers(0ms, RetryBudget{}));
}

TEST_CASE("EXP-2 each part of the budget counts")
{
    const Millis retention = 10h;
    CHECK(covers(retention, RetryBudget{9h, 0h, 0h}));
    CHECK_FALSE(covers(retention, RetryBudget{9h, 1h, 0h}));
    CHECK_FALSE(covers(retention, RetryBudget{9h, 0h, 1h}));
    CHECK_FALSE(covers(retention, RetryBudget{0h, 1h, 9h}));
}

TEST_CASE("RSV-9 decision 13 the lease outlives the longest exchange by a second")
{
    CHECK(lease_covers(31s, 30s));
    CHECK_FALSE(lease_covers(31s - 1ms, 30s));
    CHECK_FALSE(lease_covers(30s, 30s));
    CHECK(lease_covers(60s, 30s));
}

TEST_CASE("decision 6 a RELEASED row may go after its lease and a day")
{
    CHECK(released_keep(60s) == 24h + 1min);
}

TEST_CASE("decision 6 UNKNOWN is kept as long as the tombstone unless the tier says otherwise")
{
    Tier tier;
    tier.tombstone = 90h;
    CHECK(tier.times().unknown_retention == 90h);
    CHECK(tier.times().tombstone == Millis{90h});
    tier.unknown_retention = 10h;
    CHECK(tier.times().unknown_retention == 10h);
    tier.tombstone = std::nullopt;
    CHECK(tier.times().unknown_retention == 10h);
    CHECK_FALSE(tier.times().tombstone);
    tier.unknown_retention = std::nullopt;
    CHECK(tier.times().unknown_retention == Millis::max());
}

TEST_CASE("decision 3 a tier's defaults satisfy the tier's own rules")
{
    const Tier tier;
    CHECK(tier.retention == 24h * 7);
    CHECK(tier.lease == 60s);
    CHECK(tier.on_store_error == OnStoreError::reject);
    CHECK(tier.store_response == StoreResponse::full);
    CHECK(lease_covers(tier.lease, 30s));
}

TEST_CASE("the design's estimate: 10k requests a second for 48 h at 100 bytes")
{
    const auto estimate = estimate_storage(10'000, 48h, 100);
    CHECK(estimate.rows == doctest::Approx(1.728e9));
    CHECK(estimate.bytes == doctest::Approx(172.8e9));
    CHECK(estimate_storage(0, 48h, 100).rows == 0);
    CHECK(estimate_storage(2.5, 500ms, 180).bytes == doctest::Approx(225));
}
