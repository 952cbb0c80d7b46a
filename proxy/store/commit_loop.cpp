// Group commit. Trouble answers its own group and no other: the next one tries again, so that the
// store works again by itself once there is space, or the disk is back.
#include "store/commit_loop.hpp"

#include "store/inbox.hpp"

#include <algorithm>
#include <map>

namespace onceward {

namespace {

bool writes(const ItemPtr& item)
{
    return !std::holds_alternative<FindCall>(item->call) &&
           !std::holds_alternative<UnknownCall>(item->call);
}

void fail(std::span<ItemPtr> batch, StoreError error)
{
    for (auto& item : batch) {
        item->outcome = std::monostate();
        // A read that was answered from an uncertain transaction is no answer, and changed nothing.
        item->error = writes(item) ? error : StoreError::unavailable;
    }
}

template <class T>
std::optional<DatabaseError> keep(Item& item, DatabaseResult<T> result)
{
    if (!result) return result.error();
    item.outcome = std::move(*result);
    return std::nullopt;
}

// One post per worker, however many items it has in the batch.
void deliver(std::vector<ItemPtr>& batch)
{
    std::map<std::shared_ptr<Inbox>, std::vector<ItemPtr>> parcels;
    for (auto& item : batch)
        parcels[item->inbox].push_back(std::move(item));
    for (auto& [inbox, items] : parcels)
        inbox->deliver(std::move(items));
    batch.clear();
}

const DatabaseError file_gone{DatabaseFault::io,
                              "the file or its -wal file was deleted or replaced while in use; "
                              "restart onceward once it is back"};

}  // namespace

void CommitLoop::run(CommitQueue& queue, SqliteStats& stats)
{
    std::vector<ItemPtr> batch;
    for (;;) {
        queue.take(batch, limits_.batch_max);
        if (batch.empty()) break;
        run_batch(batch, stats);
        deliver(batch);
        // After the answers are on their way: nobody waits for it but the next group.
        if (database_.log_pages() > checkpoint_at_) checkpoint(stats);
        stats.log_pages.store(static_cast<std::uint64_t>(database_.log_pages()),
                              std::memory_order_relaxed);
    }
    if (!gone_) static_cast<void>(database_.checkpoint(Checkpoint::truncate));
}

void CommitLoop::run_batch(std::span<ItemPtr> batch, SqliteStats& stats)
{
    if (file_is_gone()) {
        fail(batch, StoreError::unavailable);
        note(file_gone, stats);
    } else {
        const auto now = clock_();
        auto failure = attempt(batch, now);
        // A damaged record must not take its neighbours' answers with it: each one alone.
        if (failure && failure->fault == DatabaseFault::corrupt && batch.size() > 1) {
            for (auto& item : batch) {
                item->error.reset();
                static_cast<void>(attempt({&item, 1}, now));
            }
        }
        const bool written = std::any_of(batch.begin(), batch.end(), writes);
        if (failure || written) note(failure, stats);
    }
    const auto failed = std::count_if(batch.begin(), batch.end(),
                                      [](const ItemPtr& item) { return item->error.has_value(); });
    stats.failed.fetch_add(static_cast<std::uint64_t>(failed), std::memory_order_relaxed);
    stats.batches.fetch_add(1, std::memory_order_relaxed);
    stats.items.fetch_add(batch.size(), std::memory_order_relaxed);
}

// All of it or nothing of it. On failure every item has its error.
std::optional<DatabaseError> CommitLoop::attempt(std::span<ItemPtr> batch, core::StoreTime now)
{
    std::optional<DatabaseError> failure;
    const bool writing = std::any_of(batch.begin(), batch.end(), writes);
    if (writing) {
        const auto begun = database_.execute("BEGIN IMMEDIATE");
        if (!begun) failure = begun.error();
    }
    for (auto& item : batch) {
        if (failure) break;
        failure = answer(*item, now);
    }
    if (failure) {
        database_.roll_back();
        fail(batch, StoreError::unavailable);
        return failure;
    }
    if (!writing) return std::nullopt;
    return commit(batch);
}

std::optional<DatabaseError> CommitLoop::commit(std::span<ItemPtr> batch)
{
    const auto committed = database_.execute("COMMIT");
    if (!committed) {
        database_.roll_back();
        const bool unclear = commit_may_have_happened(committed.error().fault);
        fail(batch, unclear ? StoreError::ambiguous : StoreError::unavailable);
        return committed.error();
    }
    // What went into a file without a name is lost with this process; unless somebody moves it
    // back.
    if (!file_is_gone()) return std::nullopt;
    fail(batch, StoreError::ambiguous);
    return file_gone;
}

std::optional<DatabaseError> CommitLoop::answer(Item& item, core::StoreTime now)
{
    if (const auto* call = std::get_if<ReserveCall>(&item.call)) {
        return keep(item, keys_.reserve(call->digest, call->claim, now));
    }
    if (const auto* call = std::get_if<SettleCall>(&item.call)) {
        return keep(item, keys_.settle(call->digest, call->ticket, call->settlement, now));
    }
    if (const auto* call = std::get_if<FindCall>(&item.call)) {
        return keep(item, keys_.find(call->digest, now));
    }
    if (const auto* call = std::get_if<SweepCall>(&item.call)) {
        return keep(item, keys_.sweep(call->rows, now));
    }
    return keep(item, keys_.unknown(std::get<UnknownCall>(item.call).limit, now));
}

// Two look-ups of names, some microseconds, for each group: cheaper than a timer, and nothing is
// acknowledged that a later look would have found lost.
bool CommitLoop::file_is_gone()
{
    gone_ = gone_ || database_.moved();
    return gone_;
}

// Tells a change for better or worse once, not with every group. Damage stays where it is, so it
// says nothing about the next group.
void CommitLoop::note(const std::optional<DatabaseError>& failure, SqliteStats& stats)
{
    const bool damage = failure && failure->fault == DatabaseFault::corrupt;
    const auto text = failure ? failure->text : std::string();
    if (!damage) stats.healthy.store(!failure, std::memory_order_relaxed);
    if (text == (damage ? damage_ : trouble_)) return;
    (damage ? damage_ : trouble_) = text;
    if (log_) log_(failure ? "the store failed: " + text : "the store works again");
}

void CommitLoop::checkpoint(SqliteStats& stats)
{
    const auto moved = database_.checkpoint(Checkpoint::passive);
    if (moved) {
        checkpoint_at_ = limits_.checkpoint_pages;
        stats.checkpoints.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    // The log keeps everything; the next try is worth it only after some more pages.
    checkpoint_at_ = database_.log_pages() + limits_.checkpoint_pages;
    stats.failed_checkpoints.fetch_add(1, std::memory_order_relaxed);
    if (log_) log_("moving the log into the database failed: " + moved.error().text);
}

}  // namespace onceward
