// The batches of the key store: what gathers becomes one statement, and what one key spoils is
// found by halves.
#pragma once

#include "store/pg_batcher.hpp"
#include "store/postgres_rows.hpp"

#include <chrono>
#include <map>
#include <memory>

namespace onceward {

// Keys whose reservation met a transaction in doubt: their next tries go alone, so that the others
// do not wait with them (decision 27). One per worker.
class TroubledKeys {
public:
    void add(const core::Digest& digest);
    void remove(const core::Digest& digest) { until_.erase(digest); }
    bool has(const core::Digest& digest) const;

private:
    std::map<core::Digest, std::chrono::steady_clock::time_point> until_;
};

// Did the statement meet its row? Not bool: a Boost 1.81 result<bool> becomes true when it is
// copied.
enum class Met : std::uint8_t { yes, no };

struct PgInsert {
    core::Digest digest;
    core::Claim claim;
    std::int16_t tier = 0;  // tiers.id.
};

// yes: this claim's row was made. no: the key had a row already, or another claim of this batch
// got it.
class InsertBatcher final : public PgBatcher<PgInsert, Met> {
public:
    InsertBatcher(PgLane& lane, std::size_t most, TroubledKeys& troubled)
        : PgBatcher(lane, most), troubled_(troubled)
    {
    }

private:
    awaitable<void> work(Batch batch) override;
    awaitable<void> attempt(Batch batch, core::Millis patience);
    void answer(const Batch& batch, const PgResult& result);

    TroubledKeys& troubled_;
};

struct PgClaim {
    core::Digest digest;
    core::Epoch epoch = 0;  // Of the RELEASED row that was read.
    core::Claim claim;
    std::int16_t tier = 0;
};

// yes: this claim holds the key now, under the next epoch.
class ClaimBatcher final : public PgBatcher<PgClaim, Met> {
public:
    using PgBatcher::PgBatcher;

private:
    awaitable<void> work(Batch batch) override;
    bool joins(const Batch& batch, const Item& item) const override;
};

struct PgSettle {
    core::Digest digest;
    core::Ticket ticket;
    std::shared_ptr<const core::Settlement> settlement;
};

// yes: the row says so now. no: no row met the guard. `statement` is settle or heal.
class SettleBatcher final : public PgBatcher<PgSettle, Met> {
public:
    SettleBatcher(PgLane& lane, const PgStatement* statement)
        : PgBatcher(lane, pg_batch_max), statement_(statement)
    {
    }

private:
    awaitable<void> work(Batch batch) override;
    awaitable<void> attempt(Batch batch);
    bool joins(const Batch& batch, const Item& item) const override;

    const PgStatement* statement_;
};

struct PgRead {
    core::Digest digest;
};

// The row, or nothing when there is none.
class ReadBatcher final : public PgBatcher<PgRead, std::shared_ptr<const ReadRow>> {
public:
    ReadBatcher(PgLane& lane, const TierNames& tiers) : PgBatcher(lane, pg_batch_max), tiers_(tiers)
    {
    }

private:
    // By the partitions that they are in.
    using Wanted = std::map<std::int32_t, std::vector<std::shared_ptr<ReadRow>>>;

    awaitable<void> work(Batch batch) override;
    awaitable<bool> read_bodies(std::int32_t day, std::vector<std::shared_ptr<ReadRow>> rows);
    awaitable<PgAnswer> select_bodies(std::string partition, std::string digests);

    const TierNames& tiers_;
};

struct PgConfirm {};

// One commit for all that wait for one.
class ConfirmBatcher final : public PgBatcher<PgConfirm, Met> {
public:
    explicit ConfirmBatcher(PgLane& lane) : PgBatcher(lane, pg_batch_max) {}

private:
    awaitable<void> work(Batch batch) override;
};

// One statement by itself.
struct PgPlain {
    const PgStatement* statement = nullptr;
    PgParameters parameters;
};

class PlainBatcher final : public PgBatcher<PgPlain, std::shared_ptr<const PgResult>> {
public:
    explicit PlainBatcher(PgLane& lane) : PgBatcher(lane, 1) {}

private:
    awaitable<void> work(Batch batch) override;
};

}  // namespace onceward
